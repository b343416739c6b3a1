/*
 * actors/insight/work.c - one key: look at both mirrors, plan, do that one thing, hear how it ended.
 *
 * A key stays in work while its write is under way, so an object never has two. At most ERRANDS_MAX keys have
 * one; the others are parked, and each slot that is not needed any more goes to the next of them.
 */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "insight.h"
#include "log.h"
#include "obj.h"
#include "status.h"

enum { WRITE_MS = 8000, READ_MS = 8000 };

/* One look at a key. */
struct look {
	struct insight		*in;
	const struct work	*work;
	enum sort		 sort;
	struct wire_str		 name;
	struct status		 state, stored;
	bool			 wanted, found, deleting;
	char			 uid[128], rv[128];
	uint64_t		 trace;		/* of what causes a write */
	struct insight_plan	 plan;
	enum work_result	 result;
	int64_t			 after_ms;
};

/* How a verb is said. */
static const struct {
	enum op		 op;
	const char	*subresource, *action;
	bool		 uid, rv;
} speech[INSIGHT_VERB_MAX] = {
	[INSIGHT_CREATE] = { OP_CREATE, "",       "Create",       false, false },
	[INSIGHT_STATUS] = { OP_UPDATE, "status", "UpdateStatus", true,  true },
	[INSIGHT_DELETE] = { OP_DELETE, "",       "Delete",       true,  false },
};

static void saw_state(const struct change *, void *);
static void look_at_stored(struct look *);
static void saw_stored(const struct change *, void *);
static void decide(struct look *);
static void act(struct look *);
static size_t write_body(struct look *);
static void park(struct look *);
static void next_errand(struct insight *);
static struct errand *errand_of(const struct look *);
static write_done wrote, read_live, noted;
static void remember(struct insight *, const struct errand *, const struct write_result *);
static void tell(struct insight *, const struct errand *, const struct write_result *,
    const struct insight_next *);
static void tell_refused(struct insight *, const struct errand *, const struct write_result *);
static void finish(struct insight *, struct errand *, const struct insight_next *);
static void copy(char *, size_t, struct wire_str);

enum work_result
insight_work(struct actor *a, void *self, const struct work *w, int64_t *after_ms)
{
	struct insight *const in = self;
	struct look look = { .in = in, .work = w, .trace = w->trace, .result = WORK_DONE };

	look.sort = sort_of_key(w->key, w->len, &look.name);
	MUST(look.sort != SORT_MAX);
	if (!actor_get(a, LINK_NODES, w->key, w->len, saw_state, &look))
		look_at_stored(&look);
	*after_ms = look.after_ms;
	return look.result;
}

/* ---- Looking: what the mirrors hold lasts as long as they show it, so all the rest happens inside ---- */

static void
saw_state(const struct change *c, void *arg)
{
	struct look *const look = arg;

	look->wanted = true;
	look->trace = c->trace;
	sort_table[look->sort].read_state(&look->state, look->name, c->value);
	look_at_stored(look);
}

static void
look_at_stored(struct look *look)
{
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "%s/%.*s", sort_table[look->sort].resource,
	    (int)look->name.len, look->name.p);

	MUST(n > 0 && (size_t)n < sizeof(key));
	if (!actor_get(look->in->actor, LINK_KUBE_INSIGHT, key, (size_t)n, saw_stored, look))
		decide(look);
}

static void
saw_stored(const struct change *c, void *arg)
{
	struct look *const look = arg;

	look->found = true;
	look->deleting = sort_table[look->sort].deleted(c->value).len > 0;
	sort_table[look->sort].read_insight(&look->stored, c->value);
	/* The echo of our own creation is no cause; whatever changes a status is. */
	if (!look->wanted || look->stored.fields[FIELD_NAME].len > 0)
		look->trace = look->work->trace;
	copy(look->uid, sizeof(look->uid), c->uid);
	copy(look->rv, sizeof(look->rv), c->rv);
	decide(look);
}

/* ---- Deciding and doing ---- */

static void
decide(struct look *look)
{
	struct insight *const in = look->in;
	const struct work *const w = look->work;
	const struct kept *const kept = &in->kept[look->sort];
	struct journal_entry *const entry = journal_entry(in->journal, w->key, w->len);
	const struct insight_scene scene = {
		.on = kept->on, .synced = in->nodes_synced && in->kube_synced,
		.fresh = actor_fresh(in->actor, LINK_NODES) && actor_fresh(in->actor, LINK_KUBE_INSIGHT),
		.leading = in->leading, .refused = entry->refused, .kind = kept->kind,
		.hold_ms = kept->hold_until_ms - clock_mono_ms(),
		.state = look->wanted ? &look->state : NULL, .stored = look->found ? &look->stored : NULL,
		.deleting = look->deleting, .now_us = clock_wall_ms() * 1000,
	};

	insight_plan(&scene, &look->plan);
	entry->verb = look->plan.verb;
	entry->why = look->plan.why;
	entry->field = look->plan.field;
	if (look->plan.verb == INSIGHT_NOTHING || look->plan.verb == INSIGHT_WAIT) {
		look->result = look->plan.after_ms > 0 ? WORK_AFTER : WORK_DONE;
		look->after_ms = look->plan.after_ms;
		if (!look->wanted && !look->found)
			journal_drop(in->journal, w->key, w->len);
		next_errand(in);
	} else if (in->under_way >= ERRANDS_MAX) {
		park(look);
	} else {
		act(look);
	}
}

static void
act(struct look *look)
{
	struct insight *const in = look->in;
	const enum insight_verb verb = look->plan.verb;
	char name[OBJECT_KEY_MAX + 1];
	struct errand *const e = errand_of(look);

	copy(name, sizeof(name), look->name);
	log_emit(verb == INSIGHT_DELETE ? LEVEL_INFO : LEVEL_DEBUG, 0, "writing an insight",
	    LOG_KVS(KV_S(OBJECT, e->key), KV_S(VERB, insight_verb_name(verb)), KV_S(WHY, look->plan.why),
	    KV_S(VALUE, look->plan.field)));
	const struct write_ask ask = {
		.op = speech[verb].op, .group = INSIGHT_GROUP, .resource = sort_table[look->sort].resource,
		.name = name, .subresource = speech[verb].subresource,
		.uid = speech[verb].uid ? look->uid : "", .rv = speech[verb].rv ? look->rv : "",
		.body = in->body, .body_len = write_body(look), .timeout_ms = WRITE_MS,
		.trace = look->trace,
	};
	in->under_way++;
	actor_write(in->actor, LINK_KUBE_INSIGHT, &ask, wrote, e);
	look->result = WORK_PENDING;
}

static size_t
write_body(struct look *look)
{
	struct insight *const in = look->in;
	const char *const api = in->kept[look->sort].api;
	size_t len;

	if (look->plan.verb == INSIGHT_DELETE)
		return 0;
	if (look->plan.verb == INSIGHT_CREATE)
		len = status_create_body(in->body, sizeof(in->body), look->sort, api, look->name);
	else
		len = status_update_body(
		    in->body, sizeof(in->body), look->sort, api, &look->state, &look->plan);
	/* Only one message varies, and it was cut: 32,768 characters at 6 bytes each are not half of it. */
	MUST(len > 0);
	return len;
}

static void
park(struct look *look)
{
	struct errand *const e = errand_of(look);	/* a name: the macro evaluates its argument thrice */

	STAILQ_INSERT_TAIL(&look->in->parked, e, next);
	look->result = WORK_PENDING;
}

/* The world may have moved meanwhile: a parked key is looked at anew. */
static void
next_errand(struct insight *in)
{
	struct errand *const e = STAILQ_FIRST(&in->parked);

	if (e == NULL || in->under_way >= ERRANDS_MAX)
		return;
	STAILQ_REMOVE_HEAD(&in->parked, next);
	actor_finish(in->actor, e->key, e->len, WORK_AFTER, 0);
	free(e);
}

static struct errand *
errand_of(const struct look *look)
{
	struct errand *const e = obj_alloc(sizeof(*e));

	e->key = look->work->key;
	e->len = look->work->len;
	e->sort = look->sort;
	e->verb = look->plan.verb;
	memcpy(e->uid, look->uid, sizeof(e->uid));
	return e;
}

/* ---- How it ended ---- */

static void
wrote(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	struct insight *const in = self;
	struct errand *const e = arg;
	const struct insight_next next = insight_next(r->op, r->outcome, r->retry_after_ms);

	remember(in, e, r);
	tell(in, e, r, &next);
	if (next.stand_by)
		in->leading = false;
	if (next.hold)
		in->kept[e->sort].hold_until_ms = clock_mono_ms() + INSIGHT_HOLD_MS;
	if (next.refused)
		journal_entry(in->journal, e->key, e->len)->refused = true;
	if (!next.read_live) {
		finish(in, e, &next);
		return;
	}
	const struct write_ask ask = {
		.op = OP_GET, .group = INSIGHT_GROUP, .resource = sort_table[e->sort].resource,
		.name = strchr(e->key, '/') + 1, .timeout_ms = READ_MS, .trace = r->trace,
	};
	actor_write(a, LINK_KUBE_INSIGHT, &ask, read_live, e);
}

static void
read_live(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	const struct insight_next next = insight_next(r->op, r->outcome, r->retry_after_ms);

	(void)a;
	finish(self, arg, &next);
}

static void
noted(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	(void)a, (void)self, (void)arg;
	if (r->outcome != OUTCOME_OK)
		log_debug("an Event was not taken", KV_S(REASON, outcome_name(r->outcome)),
		    KV_SN(WHY, r->message.p, r->message.len));
}

static void
remember(struct insight *in, const struct errand *e, const struct write_result *r)
{
	struct journal_entry *const entry = journal_entry(in->journal, e->key, e->len);
	char message[JOURNAL_MESSAGE_MAX];

	copy(message, sizeof(message), r->message);
	free(entry->message);
	entry->message = message[0] != '\0' ? obj_strdup(message) : NULL;
	entry->op = r->op;
	entry->status = speech[e->verb].subresource[0] != '\0';
	entry->outcome = r->outcome;
	entry->at_us = clock_wall_ms() * 1000;
}

static void
tell(struct insight *in, const struct errand *e, const struct write_result *r,
    const struct insight_next *next)
{
	const struct sort_row *const row = &sort_table[e->sort];
	const char *const verb = op_table[r->op].name;

	if (r->outcome == OUTCOME_OK)
		return;
	if (next->refused) {
		tell_refused(in, e, r);
	} else if (next->hold && in->kept[e->sort].hold_until_ms <= clock_mono_ms()) {
		/* Once for all that were under way. */
		log_error("an insight may not be written", KV_S(KEY, e->key), KV_S(VERB, verb),
		    KV_S(RESOURCE, row->resource), KV_S(CAUSE, speech[e->verb].subresource),
		    KV_SN(WHY, r->message.p, r->message.len), KV_I(NEXT_MS, INSIGHT_HOLD_MS),
		    KV_S(HINT, "bind the ClusterRole of deploy/rbac.yaml"));
	} else if (next->stand_by && in->leading) {
		log_info("standing by", KV_S(WHY, outcome_text(r->outcome)));
	} else if (!next->hold && !next->stand_by) {
		log_info("an insight was not written; it is looked at again", KV_S(KEY, e->key),
		    KV_S(VERB, verb), KV_S(REASON, outcome_name(r->outcome)),
		    KV_SN(WHY, r->message.p, r->message.len));
	}
}

/* Terminal, so it is said where people look: in the log, and as an Event on the insight. */
static void
tell_refused(struct insight *in, const struct errand *e, const struct write_result *r)
{
	log_error("the server refuses an insight: not tried again before it or its object changes",
	    KV_S(KEY, e->key), KV_S(VERB, op_table[r->op].name), KV_SN(WHY, r->message.p, r->message.len),
	    KV_SN(CAUSE, r->causes.p, r->causes.len),
	    KV_S(HINT, "are the CRDs those of this version? kubectl apply -f deploy/crds"));
	const size_t len = status_refusal_body(in->body, sizeof(in->body), speech[e->verb].action,
	    r->causes.len > 0 ? r->causes : r->message);
	const struct write_ask ask = {
		.op = OP_EVENT, .group = INSIGHT_GROUP, .resource = sort_table[e->sort].resource,
		.name = strchr(e->key, '/') + 1, .uid = e->uid, .body = in->body, .body_len = len,
		.timeout_ms = WRITE_MS, .trace = r->trace,
	};
	actor_write(in->actor, LINK_KUBE_INSIGHT, &ask, noted, NULL);
}

static void
finish(struct insight *in, struct errand *e, const struct insight_next *next)
{
	MUST(in->under_way > 0);
	in->under_way--;
	actor_finish(in->actor, e->key, e->len, next->result, next->after_ms);
	free(e);
	next_errand(in);
}

static void
copy(char *to, size_t size, struct wire_str s)
{
	snprintf(to, size, "%.*s", (int)s.len, s.len > 0 ? s.p : "");
}
