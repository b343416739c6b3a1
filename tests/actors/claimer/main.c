/*
 * tests/actors/claimer/main.c - one VM per Widget, drained and deleted with it.
 *
 *	kube-watcher ==kube.test-claimer==> key "widgets/<namespace>/<name>"
 *	node-state   ==facts==============> the key of the Widget whose VM the Node is
 *	reconcile: view.c reads both mirrors and the last list -> plan.c -> at most one write or one call
 */
#include <stdio.h>
#include <string.h>

#include "actors/provider/meter.h"
#include "claimer.h"
#include "clock.h"
#include "json.h"
#include "obj.h"

enum { TICK_MS = 1000, BRAKE_MOST = 10, BRAKE_WINDOW_MS = 60 * 1000 };

static int64_t busy_until_ms(struct reconciler *);
static void plan(struct reconciler *, const struct reconcile_item *, struct reconcile_step *);
static void name_object(struct view *, const struct reconcile_item *, struct reconcile_write *);
static void perform(struct view *, const struct reconcile_item *, const struct claimer_plan *,
    struct reconcile_step *);
static void read_live(struct reconcile_step *);
static void drain_node(struct view *, struct reconcile_step *);
static int64_t wait_ms(const struct view *, int64_t);
static void send_warning(struct view *, const struct claimer_plan *, const struct reconcile_write *);
static void forget(struct claimer *, const struct work *);
static void explain(struct actor *, void *, const char *, const char *, struct json *);

static const struct actor_row rows[] = {
	/* message        only from           handler             */
	{ MSG_WIDGET,     ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_KIND,       ROLE_KUBE_WATCHER,  reconcile_on_kind   },
	{ MSG_LEADER,     ROLE_KUBE_WATCHER,  reconcile_on_leader },
	{ MSG_SNAP_END,   ROLE_KUBE_WATCHER,  reconcile_on_synced },
	{ MSG_NODE_FACT,  ROLE_NODE_STATE,    reconcile_on_object },
	{ MSG_SNAP_END,   ROLE_NODE_STATE,    reconcile_on_synced },
};

static const struct reconcile_kind kinds[] = {
	[CLAIMER_WIDGETS] = { .group = CLAIMER_GROUP, .resource = "widgets", .message = MSG_WIDGET,
	    .counted = true },
	/* Read through node-state, so an own write may be newer (A11). */
	[CLAIMER_NODES] = { .group = "", .resource = "nodes", .link = LINK_FACTS },
};

static const struct reconcile_spec reconcile = {
	.kinds = kinds, .nkinds = NITEMS(kinds), .links = { LINK_KUBE_TEST_CLAIMER, LINK_FACTS }, .nlinks = 2,
	.refused_reason = "Refused", .noun = "Widgets", .keys = view_keys, .plan = plan,
	.busy_until_ms = busy_until_ms,
};

/* How each verb is performed. */
static const struct {
	enum step_form	 form;
	effect_start	*start;
	const char	*what;		/* of a call, for explain; of a write, the action of its Event */
} performed[CLAIMER_VERB_MAX] = {
	[CLAIMER_NOTHING] = { STEP_NOTHING, NULL,         NULL },
	[CLAIMER_WAIT]    = { STEP_WAIT,    NULL,         "Wait" },
	[CLAIMER_HOLD]    = { STEP_WRITE,   NULL,         "AddFinalizer" },
	[CLAIMER_INTEND]  = { STEP_WRITE,   NULL,         "Intend" },
	[CLAIMER_BIND]    = { STEP_WRITE,   NULL,         "Bind" },
	[CLAIMER_LABEL]   = { STEP_WRITE,   NULL,         "LabelNode" },
	[CLAIMER_RELEASE] = { STEP_WRITE,   NULL,         "RemoveFinalizer" },
	[CLAIMER_LIST]    = { STEP_EFFECT,  wire_list,    "list VMs" },
	[CLAIMER_CREATE]  = { STEP_EFFECT,  wire_create,  "create VM" },
	[CLAIMER_DRAIN]   = { STEP_WAIT,    NULL,         "Drain" },
	[CLAIMER_DESTROY] = { STEP_EFFECT,  wire_destroy, "delete VM" },
};

static void
start(struct actor *a, void *self)
{
	struct claimer *const c = self;

	reconcile_start(&c->r, a, &reconcile);
	c->claims = keytab_new(sizeof(struct claim));
	c->nodes = id_index_new();
	c->widgets = id_index_new();
	c->policy = drain_kubectl;
	c->policy.limit_ms = actor_setting_i64(a, "drain-timeout");
	c->drains = drain_set_new(&c->r, LINK_KUBE_TEST_CLAIMER, &c->policy);
	brake_init(&c->brake, BRAKE_MOST, BRAKE_WINDOW_MS);
	shared_list_open(&c->list);
	if (!wire_open(c, actor_setting(a, "api-url"), actor_setting(a, "token-file")))
		actor_exit(a, EXIT_CONFIG);
}

static void
stop(struct actor *a, void *self)
{
	struct claimer *const c = self;

	call_effects_close(&c->calls);
	shared_list_close(&c->list);
	drain_set_free(&c->drains);
	id_index_free(&c->nodes);
	id_index_free(&c->widgets);
	keytab_free(&c->claims);
	free(c->vms);
	reconcile_stop(a, self);
}

static const struct actor_spec spec = {
	.name = "test-claimer", .state_size = sizeof(struct claimer), .rows = rows, .nrows = NITEMS(rows),
	.start = start, .tick = reconcile_tick, .tick_ms = TICK_MS, .work = reconcile_work,
	.explain = explain, .ending = reconcile_ending, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

struct claimer *
test_claimer_of(struct reconciler *r)
{
	return (struct claimer *)r;
}

struct claim *
claimer_claim(struct claimer *c, const char *key)
{
	return keytab_value(c->claims, keytab_add(c->claims, key, strlen(key), NULL));
}

static int64_t
busy_until_ms(struct reconciler *r)
{
	return drain_set_busy_until_ms(test_claimer_of(r)->drains);
}

/* ---- Plan ---- */

static void
plan(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct claimer *const c = test_claimer_of(r);
	struct view v;

	view_read(&v, c, i->work, clock_mono_ms());
	if (i->live != NULL && i->read->kind == CLAIMER_NODES)
		view_read_live_node(&v, i->live);
	const struct claimer_plan p = claimer_plan(&v.in);
	step->form = performed[p.verb].form;
	step->verb = claimer_verb_name(p.verb);
	step->why = v.in.doubtful && p.verb == CLAIMER_WAIT ? brake_text(v.doubt) : p.why;
	if (v.in.exists) {
		name_object(&v, i, &step->write);
		perform(&v, i, &p, step);
		send_warning(&v, &p, &step->write);
	} else {
		step->forget = true;
		forget(c, i->work);
	}
}

/* The object of the step, whatever its form: Events are about it. */
static void
name_object(struct view *v, const struct reconcile_item *i, struct reconcile_write *w)
{
	const char *const ns = v->work->key + strlen("widgets/");
	const char *const name = strchr(ns, '/') + 1;

	*w = (struct reconcile_write){ .kind = CLAIMER_WIDGETS, .trace = i->work->trace };
	snprintf(w->ns, sizeof(w->ns), "%.*s", (int)(name - 1 - ns), ns);
	snprintf(w->name, sizeof(w->name), "%s", name);
	snprintf(w->uid, sizeof(w->uid), "%.*s", (int)v->widget.uid.len, v->widget.uid.p);
}

static void
perform(struct view *v, const struct reconcile_item *i, const struct claimer_plan *p,
    struct reconcile_step *step)
{
	const int64_t now_ms = clock_mono_ms();

	step->write.action = step->what = performed[p->verb].what;
	step->start = performed[p->verb].start;
	step->number = v->vm;
	if (p->verb == CLAIMER_WAIT)
		step->after_ms = wait_ms(v, now_ms);
	if (p->verb == CLAIMER_DRAIN)
		drain_node(v, step);
	if (p->verb == CLAIMER_LIST)
		shared_list_join(&v->c->list, v->work, step, now_ms);
	if (p->verb == CLAIMER_DESTROY) {
		step->destroys = true;
		if (i->live == NULL || i->read->kind != CLAIMER_WIDGETS)
			read_live(step);
	}
	if (step->form == STEP_WRITE && !write_fill(v, p->verb, &step->write)) {
		step->form = STEP_WAIT;
		step->why = "the time of the cluster is not known yet";
		step->after_ms = RECONCILE_REQUEUE_MS;
	}
}

/* A6: kube-watcher itself may be behind the API server. The plan that follows has the answer. */
static void
read_live(struct reconcile_step *step)
{
	step->form = STEP_READ;
	step->verb = "read";
	step->why = "its VM is to be deleted: is its Widget?";
}

static void
drain_node(struct view *v, struct reconcile_step *step)
{
	drain_set_step(v->c->drains, v->work, &v->node, INT64_MAX, step);
	/* What was listed before is as old as the drain was long. */
	v->claim->after = v->c->list.begun;
}

/* When another list may show more. */
static int64_t
wait_ms(const struct view *v, int64_t now_ms)
{
	const int64_t due_ms = absence_due_ms(&v->claim->absence, CLAIMER_APART_MS);
	/* The list that decides next begins when the last one is too old, which may be later than that. */
	const int64_t old_ms = v->c->list.began_ms + CLAIMER_LIST_AGE_MS;
	const int64_t second_ms = due_ms > old_ms ? due_ms : old_ms;
	const int64_t next_ms = v->claim->absence.seen ? second_ms : v->settled_ms;

	if (v->in.doubtful)
		meter_braked(v->doubt);
	if (next_ms < now_ms || next_ms - now_ms >= CLAIMER_APPEAR_MS)
		return CLAIMER_APPEAR_MS;
	return next_ms - now_ms + 1;
}

/* Once, when it begins: the journal has the plan before. */
static void
send_warning(struct view *v, const struct claimer_plan *p, const struct reconcile_write *about)
{
	const struct journal_entry *const before =
	    journal_find(v->c->r.journal, v->work->key, v->work->len);

	if (p->event != NULL && v->c->r.leading && (before == NULL || before->why != p->why))
		reconcile_event(&v->c->r, about, "Warning", p->event, wire_str_of(p->why));
}

static void
forget(struct claimer *c, const struct work *w)
{
	drain_set_drop(c->drains, w->key);
	keytab_remove(c->claims, keytab_find(c->claims, w->key, w->len));
}

/* ---- Explain ---- */

static void
explain(struct actor *a, void *self, const char *resource, const char *name, struct json *out)
{
	struct claimer *const c = self;
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "%s/%s", resource, name);
	const struct work w = { .key = key, .len = (size_t)n };
	struct view v;

	(void)a;
	if (n < 0 || (size_t)n >= sizeof(key) || strcmp(resource, "widgets") != 0)
		return;
	const struct journal_entry *const entry = journal_find(c->r.journal, key, (size_t)n);
	if (entry == NULL || entry->why == NULL || keytab_find(c->claims, key, (size_t)n) == KEYTAB_NONE)
		return;
	const struct absence absence = claimer_claim(c, key)->absence;
	view_read(&v, c, &w, clock_mono_ms());
	v.claim->absence = absence;	/* a question is no observation */
	json_open(out, "inputs", '{');
	if (v.vm != 0)
		json_int(out, "vm", v.vm);
	json_str(out, "intent", v.in.intent == INTENT_NONE ? "none" : v.in.intent == INTENT_OPEN
	    ? "its call was not sent" : "its call may have been sent");
	if (v.in.node)
		json_strn(out, "node", v.node.key.p, v.node.key.len);
	json_int(out, "VMs in the last list", (int64_t)c->nvms);
	drain_set_explain(c->drains, key, out);
	json_close(out, '}');
	journal_put_plan(entry, out);
	journal_put_write(entry, out);
}
