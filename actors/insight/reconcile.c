/*
 * actors/insight/reconcile.c - reconciles one key: reads both mirrors, plans, starts at most one
 * write, handles its outcome.
 *
 * A key stays in work while its write is in flight, so an object never has two. At most
 * INFLIGHT_MAX keys have one; the others are deferred, and each slot that becomes free starts the
 * next of them.
 */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "insight.h"
#include "log.h"
#include "obj.h"

enum { WRITE_MS = 8000, READ_MS = 8000 };

/* One reconciliation of a key. */
struct reconcile {
	struct insight		*in;
	const struct work	*work;
	enum insight_kind	 kind;
	struct wire_str		 name;
	struct insight_status	 desired, stored;
	bool			 is_desired, is_stored, deleting;
	char			 uid[128], rv[128];
	uint64_t		 trace;		/* of the change that causes a write */
	struct insight_plan	 plan;
	enum work_result	 result;
	int64_t			 after_ms;
};

static const struct {
	enum op		 op;
	const char	*subresource, *action;
	bool		 uid, rv;	/* preconditions */
} write_for_verb[INSIGHT_VERB_MAX] = {
	[INSIGHT_CREATE] = { OP_CREATE, "",       "Create",       false, false },
	[INSIGHT_STATUS] = { OP_UPDATE, "status", "UpdateStatus", true,  true },
	[INSIGHT_DELETE] = { OP_DELETE, "",       "Delete",       true,  false },
};

static void read_desired(const struct change *, void *);
static void find_stored(struct reconcile *);
static void read_stored(const struct change *, void *);
static void decide(struct reconcile *);
static void start_write(struct reconcile *);
static size_t write_body(struct reconcile *);
static void defer(struct reconcile *);
static void start_deferred(struct insight *);
static struct inflight_write *inflight_new(const struct reconcile *);
static write_done on_written, on_read, on_event_sent;
static void record_write(struct insight *, const struct inflight_write *, const struct write_result *);
static void log_outcome(struct insight *, const struct inflight_write *, const struct write_result *,
    const struct outcome_action *);
static void report_refused(struct insight *, const struct inflight_write *, const struct write_result *);
static void finish(struct insight *, struct inflight_write *, const struct outcome_action *);
static void copy(char *, size_t, struct wire_str);

enum work_result
insight_reconcile(struct actor *a, void *self, const struct work *w, int64_t *after_ms)
{
	struct insight *const in = self;
	struct reconcile r = { .in = in, .work = w, .trace = w->trace, .result = WORK_DONE };

	r.kind = insight_kind_of_key(w->key, w->len, &r.name);
	MUST(r.kind != INSIGHT_KIND_MAX);
	if (!actor_get(a, LINK_NODES, w->key, w->len, read_desired, &r))
		find_stored(&r);
	*after_ms = r.after_ms;
	return r.result;
}

/* ---- Both mirrors: their views are valid inside these calls, so the rest happens inside, too ---- */

static void
read_desired(const struct change *c, void *arg)
{
	struct reconcile *const r = arg;

	r->is_desired = true;
	r->trace = c->trace;
	insight_kinds[r->kind].read_state(&r->desired, r->name, c->value);
	find_stored(r);
}

static void
find_stored(struct reconcile *r)
{
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "%s/%.*s", insight_kinds[r->kind].resource,
	    (int)r->name.len, r->name.p);

	MUST(n > 0 && (size_t)n < sizeof(key));
	if (!actor_get(r->in->actor, LINK_KUBE_INSIGHT, key, (size_t)n, read_stored, r))
		decide(r);
}

static void
read_stored(const struct change *c, void *arg)
{
	struct reconcile *const r = arg;

	r->is_stored = true;
	r->deleting = insight_kinds[r->kind].deleted(c->value).len > 0;
	insight_kinds[r->kind].read_insight(&r->stored, c->value);
	/* The event of our own create does not cause a write; a change of the status does. */
	if (!r->is_desired || r->stored.fields[FIELD_NAME].len > 0)
		r->trace = r->work->trace;
	copy(r->uid, sizeof(r->uid), c->uid);
	copy(r->rv, sizeof(r->rv), c->rv);
	decide(r);
}

/* ---- Plan, and start a write ---- */

static void
decide(struct reconcile *r)
{
	struct insight *const in = r->in;
	const struct work *const w = r->work;
	const struct insight_kind_state *const k = &in->kinds[r->kind];
	struct journal_entry *const entry = journal_entry(in->journal, w->key, w->len);
	const struct insight_input input = {
		.enabled = k->enabled, .synced = in->nodes_synced && in->kube_synced,
		.fresh = actor_fresh(in->actor, LINK_NODES) && actor_fresh(in->actor, LINK_KUBE_INSIGHT),
		.leading = in->leading, .refused = entry->refused, .state = k->state,
		.hold_ms = k->hold_until_ms - clock_mono_ms(),
		.desired = r->is_desired ? &r->desired : NULL, .stored = r->is_stored ? &r->stored : NULL,
		.deleting = r->deleting, .now_us = clock_wall_ms() * 1000,
	};

	insight_plan(&input, &r->plan);
	entry->verb = r->plan.verb;
	entry->why = r->plan.why;
	entry->field = r->plan.field;
	if (r->plan.verb == INSIGHT_NOTHING || r->plan.verb == INSIGHT_WAIT) {
		r->result = r->plan.after_ms > 0 ? WORK_AFTER : WORK_DONE;
		r->after_ms = r->plan.after_ms;
		if (!r->is_desired && !r->is_stored)
			journal_drop(in->journal, w->key, w->len);
		start_deferred(in);
	} else if (in->inflight >= INFLIGHT_MAX) {
		defer(r);
	} else {
		start_write(r);
	}
}

static void
start_write(struct reconcile *r)
{
	struct insight *const in = r->in;
	const enum insight_verb verb = r->plan.verb;
	char name[OBJECT_KEY_MAX + 1];
	struct inflight_write *const w = inflight_new(r);

	copy(name, sizeof(name), r->name);
	log_emit(verb == INSIGHT_DELETE ? LEVEL_INFO : LEVEL_DEBUG, 0, "write requested",
	    LOG_KVS(KV_S(OBJECT, w->key), KV_S(VERB, insight_verb_name(verb)), KV_S(WHY, r->plan.why),
	    KV_S(VALUE, r->plan.field)));
	const struct write_request request = {
		.op = write_for_verb[verb].op, .group = INSIGHT_GROUP,
		.resource = insight_kinds[r->kind].resource, .name = name,
		.subresource = write_for_verb[verb].subresource,
		.uid = write_for_verb[verb].uid ? r->uid : "", .rv = write_for_verb[verb].rv ? r->rv : "",
		.body = in->body, .body_len = write_body(r), .timeout_ms = WRITE_MS,
		.trace = r->trace,
	};
	in->inflight++;
	actor_write(in->actor, LINK_KUBE_INSIGHT, &request, on_written, w);
	r->result = WORK_PENDING;
}

static size_t
write_body(struct reconcile *r)
{
	struct insight *const in = r->in;
	const char *const api = in->kinds[r->kind].api;
	size_t len;

	if (r->plan.verb == INSIGHT_DELETE)
		return 0;
	if (r->plan.verb == INSIGHT_CREATE)
		len = status_create_body(in->body, sizeof(in->body), r->kind, api, r->name);
	else
		len = status_update_body(
		    in->body, sizeof(in->body), r->kind, api, &r->desired, &r->plan);
	/* Only one message varies, and it was cut: 32,768 characters of 6 bytes are not half of it. */
	MUST(len > 0);
	return len;
}

static void
defer(struct reconcile *r)
{
	struct inflight_write *const w = inflight_new(r);	/* not inside the macro: it repeats it */

	STAILQ_INSERT_TAIL(&r->in->deferred, w, next);
	r->result = WORK_PENDING;
}

/* The inputs may have changed meanwhile: a deferred key is reconciled from the start. */
static void
start_deferred(struct insight *in)
{
	struct inflight_write *const w = STAILQ_FIRST(&in->deferred);

	if (w == NULL || in->inflight >= INFLIGHT_MAX)
		return;
	STAILQ_REMOVE_HEAD(&in->deferred, next);
	actor_finish(in->actor, w->key, w->len, WORK_AFTER, 0);
	free(w);
}

static struct inflight_write *
inflight_new(const struct reconcile *r)
{
	struct inflight_write *const w = obj_alloc(sizeof(*w));

	w->key = r->work->key;
	w->len = r->work->len;
	w->kind = r->kind;
	w->verb = r->plan.verb;
	memcpy(w->uid, r->uid, sizeof(w->uid));
	return w;
}

/* ---- Outcomes ---- */

static void
on_written(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	struct insight *const in = self;
	struct inflight_write *const w = arg;
	const struct outcome_action action = outcome_action(r->op, r->outcome, r->retry_after_ms);

	record_write(in, w, r);
	log_outcome(in, w, r, &action);
	if (action.not_leader)
		in->leading = false;
	if (action.hold)
		in->kinds[w->kind].hold_until_ms = clock_mono_ms() + INSIGHT_HOLD_MS;
	if (action.refused)
		journal_entry(in->journal, w->key, w->len)->refused = true;
	if (!action.read_live) {
		finish(in, w, &action);
		return;
	}
	const struct write_request request = {
		.op = OP_GET, .group = INSIGHT_GROUP, .resource = insight_kinds[w->kind].resource,
		.name = strchr(w->key, '/') + 1, .timeout_ms = READ_MS, .trace = r->trace,
	};
	actor_write(a, LINK_KUBE_INSIGHT, &request, on_read, w);
}

static void
on_read(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	const struct outcome_action action = outcome_action(r->op, r->outcome, r->retry_after_ms);

	(void)a;
	finish(self, arg, &action);
}

static void
on_event_sent(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	(void)a, (void)self, (void)arg;
	if (r->outcome != OUTCOME_OK)
		log_debug("Event not written", KV_S(REASON, outcome_name(r->outcome)),
		    KV_SN(WHY, r->message.p, r->message.len));
}

static void
record_write(struct insight *in, const struct inflight_write *w, const struct write_result *r)
{
	struct journal_entry *const entry = journal_entry(in->journal, w->key, w->len);
	char message[JOURNAL_MESSAGE_MAX];

	copy(message, sizeof(message), r->message);
	free(entry->message);
	entry->message = message[0] != '\0' ? obj_strdup(message) : NULL;
	entry->op = r->op;
	entry->status = write_for_verb[w->verb].subresource[0] != '\0';
	entry->outcome = r->outcome;
	entry->at_us = clock_wall_ms() * 1000;
}

static void
log_outcome(struct insight *in, const struct inflight_write *w, const struct write_result *r,
    const struct outcome_action *action)
{
	const struct insight_kind_row *const row = &insight_kinds[w->kind];
	const char *const verb = op_table[r->op].name;

	if (r->outcome == OUTCOME_OK)
		return;
	if (action->refused) {
		report_refused(in, w, r);
	} else if (action->hold && in->kinds[w->kind].hold_until_ms <= clock_mono_ms()) {
		/* Once for all writes that were in flight. */
		log_error("writing insights is forbidden", KV_S(KEY, w->key), KV_S(VERB, verb),
		    KV_S(RESOURCE, row->resource), KV_S(CAUSE, write_for_verb[w->verb].subresource),
		    KV_SN(WHY, r->message.p, r->message.len), KV_I(NEXT_MS, INSIGHT_HOLD_MS),
		    KV_S(HINT, "bind the ClusterRole of deploy/rbac.yaml"));
	} else if (action->not_leader && in->leading) {
		log_info("leadership lost", KV_S(WHY, outcome_text(r->outcome)));
	} else if (!action->hold && !action->not_leader) {
		log_info("insight not written: its key is reconciled again", KV_S(KEY, w->key),
		    KV_S(VERB, verb), KV_S(REASON, outcome_name(r->outcome)),
		    KV_SN(WHY, r->message.p, r->message.len));
	}
}

/* Terminal, so it is reported in the log and as an Event on the insight. */
static void
report_refused(struct insight *in, const struct inflight_write *w, const struct write_result *r)
{
	log_error("insight refused by the server: not tried again until it or its object changes",
	    KV_S(KEY, w->key), KV_S(VERB, op_table[r->op].name), KV_SN(WHY, r->message.p, r->message.len),
	    KV_SN(CAUSE, r->causes.p, r->causes.len),
	    KV_S(HINT, "are the CRDs those of this version? kubectl apply -f deploy/crds"));
	const size_t len = status_refused_event(in->body, sizeof(in->body), write_for_verb[w->verb].action,
	    r->causes.len > 0 ? r->causes : r->message);
	const struct write_request request = {
		.op = OP_EVENT, .group = INSIGHT_GROUP, .resource = insight_kinds[w->kind].resource,
		.name = strchr(w->key, '/') + 1, .uid = w->uid, .body = in->body, .body_len = len,
		.timeout_ms = WRITE_MS, .trace = r->trace,
	};
	actor_write(in->actor, LINK_KUBE_INSIGHT, &request, on_event_sent, NULL);
}

static void
finish(struct insight *in, struct inflight_write *w, const struct outcome_action *action)
{
	MUST(in->inflight > 0);
	in->inflight--;
	actor_finish(in->actor, w->key, w->len, action->result, action->after_ms);
	free(w);
	start_deferred(in);
}

static void
copy(char *to, size_t size, struct wire_str s)
{
	snprintf(to, size, "%.*s", (int)s.len, s.len > 0 ? s.p : "");
}
