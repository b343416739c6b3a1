/* actors/provider/drain_set.c - drains by key: begun when needed, advanced by the plan of the key. */
#include "drain_set.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "json.h"
#include "log.h"
#include "obj.h"

struct drain_set {
	uint32_t			 magic;
#define DRAIN_SET_MAGIC	0x44524e53u
	struct reconciler		*r;
	enum link			 link;
	const struct drain_policy	*policy;
	struct drain_pool		 pool;
	struct keytab			*drains;	/* struct keyed_drain * */
};

struct keyed_drain {
	struct actor	*actor;
	char		*key;
	char		*node;
	struct drain	*drain;		/* NULL: it has ended */
	enum drain_verb	 state;
	bool		 pods_gone;
	char		 error[DRAIN_ERROR_MAX];	/* the last one that was logged */
	char		 limit[DRAIN_ERROR_MAX];	/* the last one that ended it */
};

static struct keyed_drain *find(const struct drain_set *, const char *);
static struct keyed_drain *begin(struct drain_set *, const struct work *, struct wire_str);
static void report_limit(struct drain_set *, const struct keyed_drain *, const struct reconcile_write *);
static void read_node(const struct drain_set *, const struct change *, struct drain_target *);
static void log_error_once(struct keyed_drain *);
static void on_progress(void *);
static bool is_of_node(const struct keyed_drain *, struct wire_str);
static void release(struct keyed_drain *);

struct drain_set *
drain_set_new(struct reconciler *r, enum link kube, const struct drain_policy *policy)
{
	struct drain_set *s;

	OBJ_NEW(s, DRAIN_SET_MAGIC);
	s->r = r;
	s->link = kube;
	s->policy = policy;
	drain_pool_init(&s->pool);
	s->drains = keytab_new(sizeof(struct keyed_drain *));
	return s;
}

void
drain_set_free(struct drain_set **sp)
{
	struct drain_set *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, DRAIN_SET_MAGIC);
	KEYTAB_EACH(s->drains, id)
		release(*(struct keyed_drain **)keytab_value(s->drains, id));
	keytab_free(&s->drains);
	OBJ_FREE(s);
}

enum drain_verb
drain_set_state(const struct drain_set *s, const char *key)
{
	const struct keyed_drain *const d = find(s, key);

	return d != NULL ? d->state : DRAIN_WAIT;
}

bool
drain_set_pods_gone(const struct drain_set *s, const char *key)
{
	const struct keyed_drain *const d = find(s, key);

	return d != NULL && d->pods_gone;
}

void
drain_set_step(struct drain_set *s, const struct work *w, const struct change *node, int64_t deadline_ms,
    struct reconcile_step *step)
{
	const int64_t now_ms = clock_mono_ms();
	const size_t prefix = strlen("nodes/");
	struct keyed_drain *d = find(s, w->key);
	struct drain_target target = { .trace = w->trace };
	char uid[128], rv[128];

	OBJ_CHECK(s, DRAIN_SET_MAGIC);
	MUST(node->key.len > prefix);
	step->form = STEP_WAIT;
	if (!s->r->leading) {
		step->why = "this instance is not the leader";
		return;
	}
	const struct wire_str name = { node->key.p + prefix, node->key.len - (uint32_t)prefix };
	if (d != NULL && !is_of_node(d, name)) {
		drain_set_drop(s, w->key);
		d = NULL;
	}
	if (d == NULL)
		d = begin(s, w, name);
	MUST(d->drain != NULL);
	snprintf(uid, sizeof(uid), "%.*s", (int)node->uid.len, node->uid.p);
	snprintf(rv, sizeof(rv), "%.*s", (int)node->rv.len, node->rv.p);
	target.uid = uid;
	target.rv = rv;
	read_node(s, node, &target);
	drain_deadline(d->drain, deadline_ms);
	const struct drain_step next = drain_advance(d->drain, &target, now_ms);
	step->why = next.why;
	step->after_ms = next.at_ms != INT64_MAX ? next.at_ms - now_ms : 0;
	d->pods_gone = next.pods_gone;
	log_error_once(d);
	if (next.verb == DRAIN_WAIT)
		return;
	if (next.verb == DRAIN_GAVE_UP) {
		snprintf(d->limit, sizeof(d->limit), "%s", drain_limit(d->drain));
		report_limit(s, d, &step->write);
	}
	log_info(next.verb == DRAIN_DONE ? "the Node is drained" : "a limit ended the drain of the Node",
	    KV_S(KEY, d->key), KV_SN(NODE, node->key.p + prefix, node->key.len - prefix),
	    KV_S(WHY, next.verb == DRAIN_DONE ? next.why : d->limit));
	if (next.verb == DRAIN_GAVE_UP && s->policy->then == DRAIN_THEN_KEEP)
		return;
	d->state = next.verb;
	drain_free(&d->drain);
	step->after_ms = 1;
}

int64_t
drain_set_busy_until_ms(const struct drain_set *s)
{
	int64_t until_ms = 0;

	OBJ_CHECK(s, DRAIN_SET_MAGIC);
	KEYTAB_EACH(s->drains, id) {
		const struct keyed_drain *const d = *(struct keyed_drain **)keytab_value(s->drains, id);
		const int64_t its_ms = d->drain != NULL ? drain_busy_until_ms(d->drain) : 0;

		if (until_ms < its_ms)
			until_ms = its_ms;
	}
	return until_ms;
}

void
drain_set_explain(const struct drain_set *s, const char *key, struct json *out)
{
	const struct keyed_drain *const d = find(s, key);

	if (d == NULL)
		return;
	json_str(out, "drain",
	    d->state == DRAIN_DONE ? "done" : d->state == DRAIN_GAVE_UP ? "gave up" : "runs");
	if (d->drain == NULL)
		return;
	if (d->limit[0] != '\0')
		json_str(out, "drain ended", d->limit);
	json_int(out, "drain pods", (int64_t)drain_count(d->drain));
	if (drain_error(d->drain)[0] != '\0')
		json_str(out, "drain error", drain_error(d->drain));
}

void
drain_set_drop(struct drain_set *s, const char *key)
{
	struct keyed_drain *const d = find(s, key);

	if (d == NULL)
		return;
	keytab_remove(s->drains, keytab_find(s->drains, key, strlen(key)));
	release(d);
}

static struct keyed_drain *
find(const struct drain_set *s, const char *key)
{
	OBJ_CHECK(s, DRAIN_SET_MAGIC);
	const uint32_t id = keytab_find(s->drains, key, strlen(key));

	return id == KEYTAB_NONE ? NULL : *(struct keyed_drain **)keytab_value(s->drains, id);
}

static struct keyed_drain *
begin(struct drain_set *s, const struct work *w, struct wire_str node)
{
	struct keyed_drain *const d = obj_alloc(sizeof(*d));
	char *const name = obj_strndup(node.p, node.len);

	d->actor = s->r->actor;
	d->key = obj_strndup(w->key, w->len);
	d->state = DRAIN_WAIT;
	d->drain = drain_new(&(struct drain_config){ .actor = s->r->actor, .link = s->link, .node = name,
	    .pool = &s->pool, .policy = s->policy, .started_ms = clock_mono_ms(), .deadline_ms = INT64_MAX,
	    .progress = on_progress, .arg = d });
	log_info("the Node is being drained", KV_S(KEY, d->key), KV_S(NODE, name),
	    KV_S(VALUE, s->policy->name));
	d->node = name;
	*(struct keyed_drain **)keytab_value(s->drains, keytab_add(s->drains, w->key, w->len, NULL)) = d;
	return d;
}

/* About no object, if what the machine was for is gone: the log has it. */
static void
report_limit(struct drain_set *s, const struct keyed_drain *d, const struct reconcile_write *about)
{
	if (about->name[0] != '\0')
		reconcile_event(s->r, about, "Warning", "DrainFailed", wire_str_of(d->limit));
}

static void
read_node(const struct drain_set *s, const struct change *node, struct drain_target *out)
{
	const struct body_node_fact *const b = &node->value->node_fact;
	struct wire_str value;

	out->has_taints = b->taints.count > 0;
	out->has_labels = b->labels.count > 0;
	out->labelled = s->policy->label != NULL && map_get(b->labels, s->policy->label, &value)
	    && wire_str_is(value, s->policy->label_value);
	out->cordoned = b->unschedulable;
	out->tainted = s->policy->taint != NULL && rows_have(b->taints, s->policy->taint);
}

static void
log_error_once(struct keyed_drain *d)
{
	const char *const error = drain_error(d->drain);

	if (strcmp(error, d->error) == 0)
		return;
	snprintf(d->error, sizeof(d->error), "%s", error);
	if (error[0] != '\0')
		log_info("a drain is delayed", KV_S(KEY, d->key), KV_S(WHY, error));
}

static void
on_progress(void *arg)
{
	const struct keyed_drain *const d = arg;

	actor_enqueue(d->actor, d->key, strlen(d->key), WORK_LIVE, 0);
}

/* The Node of a key may become another one: its address was that of another machine. */
static bool
is_of_node(const struct keyed_drain *d, struct wire_str name)
{
	return strlen(d->node) == name.len && memcmp(d->node, name.p, name.len) == 0;
}

static void
release(struct keyed_drain *d)
{
	drain_free(&d->drain);
	free(d->node);
	free(d->key);
	free(d);
}
