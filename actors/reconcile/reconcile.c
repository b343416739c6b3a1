/* actors/reconcile/reconcile.c - one key: plan, perform at most one effect, handle its outcome. */
#include <stdio.h>
#include <string.h>

#include "bodies.h"
#include "clock.h"
#include "log.h"
#include "obj.h"
#include "reconcile.h"

enum { WRITE_MS = 8000, ANSWER_LATE_MS = 1000 };	/* the latter: actor_write's own margin */

/* A key whose effect is in flight. The work queue's key is valid until actor_finish. */
struct inflight_effect {
	struct work		 work;
	const char		*what;		/* of an effect that is no write */
	struct reconcile_write	 write;
};

/* A key that waits, still in work, until an effect of another key ends. */
struct deferred_key {
	STAILQ_ENTRY(deferred_key) next;
	const char	*key;
	size_t		 len;
};

static void plan_key(struct reconciler *, const struct reconcile_item *, struct reconcile_step *);
static bool is_held(struct reconciler *, const struct work *);
static struct gate_facts facts_of(const struct reconciler *, const struct work *, bool);
static bool own_write_seen(struct reconciler *, struct journal_entry *, struct reconcile_step *);
static enum work_result perform(struct reconciler *, const struct work *, struct inflight_effect *,
    const struct reconcile_step *, int64_t *);
static void note_in_flight(struct reconciler *, int64_t);
static void request_write(struct reconciler *, struct inflight_effect *, enum op, write_done *);
static void defer(struct reconciler *, const struct work *);
static void start_deferred(struct reconciler *);
static write_done on_read, on_written, on_refreshed, on_event_sent;
static void remember_own_write(
    struct reconciler *, const struct inflight_effect *, const struct write_result *);
static void record(struct reconciler *, const struct inflight_effect *, const char *, const char *,
    struct wire_str);
static void log_outcome(struct reconciler *, const struct inflight_effect *, const struct write_result *,
    const struct outcome_action *);
static void report_refused(struct reconciler *, const struct inflight_effect *, const char *, struct wire_str,
    struct wire_str);
static void apply(struct reconciler *, const struct inflight_effect *, const struct outcome_action *);
static void finish(struct reconciler *, struct inflight_effect *, enum work_result, int64_t);

void
reconcile_start(struct reconciler *r, struct actor *a, const struct reconcile_spec *spec)
{
	MUST(spec->nkinds <= RECONCILE_KINDS_MAX && spec->nlinks <= RECONCILE_LINKS_MAX);
	r->actor = a;
	r->spec = spec;
	r->journal = keytab_new(sizeof(struct journal_entry));
	STAILQ_INIT(&r->deferred);
	for (unsigned k = 0; k < spec->nkinds; k++) {
		const struct reconcile_kind *const row = &spec->kinds[k];

		r->kinds[k].enabled = row->setting == NULL || actor_setting_i64(a, row->setting) != 0;
		r->kinds[k].state = row->message == 0 ? KIND_STATE_SYNCED : KIND_STATE_LISTING;
		snprintf(r->kinds[k].group, sizeof(r->kinds[k].group), "%s", row->group);
	}
}

void
reconcile_stop(struct actor *a, void *self)
{
	struct reconciler *const r = self;
	struct deferred_key *d;

	(void)a;
	while ((d = STAILQ_FIRST(&r->deferred)) != NULL) {
		STAILQ_REMOVE_HEAD(&r->deferred, next);
		free(d);
	}
	journal_free(&r->journal);
}

enum work_result
reconcile_work(struct actor *a, void *self, const struct work *w, int64_t *after_ms)
{
	struct reconcile_step step;

	(void)a;
	reconcile_end_if_idle(self);
	plan_key(self, &(struct reconcile_item){ .work = w }, &step);
	return perform(self, w, NULL, &step, after_ms);
}

/* ---- Plan ---- */

static void
plan_key(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct journal_entry *const entry = journal_entry(r->journal, i->work->key, i->work->len);
	const struct gate_facts facts = facts_of(r, i->work, entry->refused);

	*step = (struct reconcile_step){ .form = STEP_NOTHING };
	if (!gate_plan(&facts, step))
		step->forget = entry->own == NULL && !is_held(r, i->work);
	else if (i->live != NULL || own_write_seen(r, entry, step))
		r->spec->plan(r, i, step);
	gate_step(&facts, step);
	entry->changed = false;
	entry->verb = step->verb;
	entry->why = step->why;
	entry->field = step->field;
}

/* Whether a mirror has an object under the key itself: else a key that cannot be planned is not kept. */
static bool
is_held(struct reconciler *r, const struct work *w)
{
	struct change c;
	union msg_body value;

	for (unsigned l = 0; l < r->spec->nlinks; l++) {
		if (actor_read(r->actor, r->spec->links[l], w->key, w->len, &c, &value))
			return true;
	}
	return false;
}

static struct gate_facts
facts_of(const struct reconciler *r, const struct work *w, bool refused)
{
	const struct reconcile_spec *const spec = r->spec;
	const unsigned needed = spec->kinds_of != NULL ? spec->kinds_of(w->key, w->len) : ~0u;
	const int64_t now_ms = clock_mono_ms();
	struct gate_facts f = { .ending = r->ending, .enabled = true, .synced = reconcile_synced(r),
		.fresh = true, .leading = r->leading, .refused = refused, .state = KIND_STATE_SYNCED };

	for (unsigned l = 0; l < spec->nlinks; l++)
		f.fresh = f.fresh && actor_fresh(r->actor, spec->links[l]);
	for (unsigned n = 0; n < spec->nkinds; n++) {
		const struct reconcile_kind_state *const k = &r->kinds[n];

		if ((needed >> n & 1) == 0)
			continue;
		f.enabled = f.enabled && k->enabled;
		if (f.state == KIND_STATE_SYNCED)
			f.state = k->state;
		if (f.hold_ms < k->hold_until_ms - now_ms)
			f.hold_ms = k->hold_until_ms - now_ms;
	}
	return f;
}

/* A11. False: *step is to wait for the link, or to read live because it did not catch up. */
static bool
own_write_seen(struct reconciler *r, struct journal_entry *entry, struct reconcile_step *step)
{
	const struct own_write *const o = entry->own;
	const int64_t now_ms = clock_mono_ms();
	char key[OBJECT_KEY_MAX + 1];
	struct change c;
	union msg_body value;

	if (o == NULL)
		return true;
	const struct reconcile_kind *const row = &r->spec->kinds[o->write.kind];
	MUST(object_key(key, sizeof(key), row->resource, o->write.ns, o->write.name));
	const bool found = actor_read(r->actor, row->link, key, strlen(key), &c, &value);
	switch (own_write_check(o, found ? &c : NULL, now_ms)) {
	case OWN_WRITE_SEEN:
		free(entry->own);
		entry->own = NULL;
		return true;
	case OWN_WRITE_WAIT:
		*step = (struct reconcile_step){ .form = STEP_WAIT, .verb = "wait",
			.why = "its own write has not come back yet", .after_ms = o->until_ms - now_ms };
		return false;
	case OWN_WRITE_READ:
		*step = (struct reconcile_step){ .form = STEP_READ, .verb = "read",
			.why = "its own write did not come back in time", .write = o->write };
		return false;
	}
	MUST(false);
}

/* ---- Perform ---- */

/* f: the slot that the key has already, after a live read; NULL: none. */
static enum work_result
perform(struct reconciler *r, const struct work *w, struct inflight_effect *f,
    const struct reconcile_step *step, int64_t *after_ms)
{
	if (step->form == STEP_NOTHING || step->form == STEP_WAIT) {
		if (step->forget)
			journal_drop(r->journal, w->key, w->len);
		if (f == NULL)
			start_deferred(r);
		*after_ms = step->after_ms;
		return step->after_ms > 0 ? WORK_AFTER : WORK_DONE;
	}
	if (f == NULL && r->inflight >= RECONCILE_INFLIGHT_MAX) {
		defer(r, w);
		return WORK_PENDING;
	}
	if (f == NULL) {
		f = obj_alloc(sizeof(*f));
		f->work = *w;
		r->inflight++;
	}
	f->what = step->what;
	f->write = step->write;
	note_in_flight(r, step->form == STEP_EFFECT ? RECONCILE_EFFECT_MS : WRITE_MS + ANSWER_LATE_MS);
	log_emit(step->destroys ? LEVEL_INFO : LEVEL_DEBUG, 0,
	    step->form == STEP_WRITE ? "write requested" : "effect requested",
	    LOG_KVS(KV_S(OBJECT, w->key), KV_S(VERB, step->verb), KV_S(WHY, step->why),
	    KV_S(VALUE, step->field != NULL ? step->field : "")));
	if (step->form == STEP_EFFECT)
		step->start(r, f, &f->work, step);
	else if (step->form == STEP_READ)
		request_write(r, f, OP_GET, on_read);
	else
		request_write(r, f, f->write.op, on_written);
	return WORK_PENDING;
}

static void
note_in_flight(struct reconciler *r, int64_t most_ms)
{
	const int64_t until_ms = clock_mono_ms() + most_ms;

	if (r->inflight == 1 || r->inflight_until_ms < until_ms)
		r->inflight_until_ms = until_ms;
}

static void
request_write(struct reconciler *r, struct inflight_effect *f, enum op op, write_done *done)
{
	const struct reconcile_write *const w = &f->write;
	const bool get = op == OP_GET;
	const struct write_request request = {
		.op = op, .group = r->spec->kinds[w->kind].group,
		.resource = r->spec->kinds[w->kind].resource, .ns = w->ns, .name = w->name,
		.subresource = get ? NULL : w->subresource, .uid = get ? NULL : w->uid,
		.rv = get ? NULL : w->rv, .body = r->body, .body_len = get ? 0 : w->body_len,
		.timeout_ms = WRITE_MS, .trace = w->trace,
	};

	actor_write(r->actor, r->spec->links[0], &request, done, f);
}

static void
defer(struct reconciler *r, const struct work *w)
{
	struct deferred_key *const d = obj_alloc(sizeof(*d));	/* not inside the macro: it repeats it */

	d->key = w->key;
	d->len = w->len;
	STAILQ_INSERT_TAIL(&r->deferred, d, next);
}

/* The inputs may have changed meanwhile: a deferred key is planned from the start. */
static void
start_deferred(struct reconciler *r)
{
	struct deferred_key *const d = STAILQ_FIRST(&r->deferred);

	if (d == NULL || r->inflight >= RECONCILE_INFLIGHT_MAX)
		return;
	STAILQ_REMOVE_HEAD(&r->deferred, next);
	actor_finish(r->actor, d->key, d->len, WORK_AFTER, 0);
	free(d);
}

/* ---- Outcomes ---- */

static void
on_read(struct actor *a, void *self, const struct write_result *result, void *arg)
{
	struct inflight_effect *const f = arg;
	const struct reconcile_write read = f->write;
	struct reconcile_step step;
	int64_t after_ms = 0;

	(void)a;
	if (result->outcome != OUTCOME_OK && result->outcome != OUTCOME_NOT_FOUND) {
		finish(self, f, WORK_RETRY, result->retry_after_ms);
		return;
	}
	plan_key(self, &(struct reconcile_item){ .work = &f->work, .read = &read, .live = result }, &step);
	const enum work_result next = perform(self, &f->work, f, &step, &after_ms);
	if (next != WORK_PENDING)
		finish(self, f, next, after_ms);
}

static void
on_written(struct actor *a, void *self, const struct write_result *result, void *arg)
{
	struct reconciler *const r = self;
	struct inflight_effect *const f = arg;
	const struct outcome_action action =
	    outcome_action(result->op, result->outcome, result->retry_after_ms);

	(void)a;
	record(r, f, op_table[result->op].name, outcome_name(result->outcome), result->message);
	log_outcome(r, f, result, &action);
	remember_own_write(r, f, result);
	apply(r, f, &action);
	if (action.hold)
		r->kinds[f->write.kind].hold_until_ms = clock_mono_ms() + RECONCILE_HOLD_MS;
	if (!action.read_live || r->ending) {
		finish(r, f, action.result, action.after_ms);
		return;
	}
	request_write(r, f, OP_GET, on_refreshed);
}

static void
on_refreshed(struct actor *a, void *self, const struct write_result *result, void *arg)
{
	const struct outcome_action action =
	    outcome_action(result->op, result->outcome, result->retry_after_ms);

	(void)a;
	remember_own_write(self, arg, result);
	finish(self, arg, action.result, action.after_ms);
}

void
reconcile_effect_done(struct reconciler *r, struct inflight_effect *f, const char *outcome,
    struct wire_str message, const struct outcome_action *action)
{
	record(r, f, f->what, outcome, message);
	if (action->refused)
		report_refused(r, f, f->what, message, wire_str_of(""));
	else if (action->result == WORK_RETRY)
		log_info("effect failed: the key is reconciled again", KV_S(KEY, f->work.key),
		    KV_S(VERB, f->what), KV_S(OUTCOME, outcome), KV_SN(WHY, message.p, message.len));
	apply(r, f, action);
	finish(r, f, action->result, action->after_ms);
}

const struct reconcile_write *
reconcile_effect_write(const struct inflight_effect *f)
{
	return &f->write;
}

/* Only for a kind that is read through another actor. A live read after an unknown outcome counts too. */
static void
remember_own_write(struct reconciler *r, const struct inflight_effect *f, const struct write_result *result)
{
	if (r->spec->kinds[f->write.kind].link == 0 || f->write.unseen || result->outcome != OUTCOME_OK)
		return;
	struct journal_entry *const entry = journal_entry(r->journal, f->work.key, f->work.len);
	if (entry->own == NULL)
		entry->own = obj_alloc(sizeof(*entry->own));
	entry->own->write = f->write;
	entry->own->until_ms = clock_mono_ms() + OWN_WRITE_MS;
	snprintf(entry->own->rv, sizeof(entry->own->rv), "%.*s", (int)result->rv.len, result->rv.p);
}

static void
record(struct reconciler *r, const struct inflight_effect *f, const char *what, const char *outcome,
    struct wire_str message)
{
	struct journal_entry *const entry = journal_entry(r->journal, f->work.key, f->work.len);
	char text[JOURNAL_MESSAGE_MAX];

	snprintf(text, sizeof(text), "%.*s", (int)message.len, message.len > 0 ? message.p : "");
	free(entry->message);
	entry->message = text[0] != '\0' ? obj_strdup(text) : NULL;
	entry->what = what;
	entry->subresource = f->write.subresource;
	entry->outcome = outcome;
	entry->at_us = clock_wall_ms() * 1000;
}

static void
log_outcome(struct reconciler *r, const struct inflight_effect *f, const struct write_result *result,
    const struct outcome_action *action)
{
	const unsigned kind = f->write.kind;
	const char *const verb = op_table[result->op].name;

	if (result->outcome == OUTCOME_OK)
		return;
	if (action->refused) {
		report_refused(r, f, verb, result->message, result->causes);
	} else if (action->hold && r->kinds[kind].hold_until_ms <= clock_mono_ms()) {
		/* Once for all writes that were in flight. */
		log_error("writing is forbidden", KV_S(KEY, f->work.key), KV_S(VERB, verb),
		    KV_S(RESOURCE, r->spec->kinds[kind].resource),
		    KV_S(CAUSE, f->write.subresource != NULL ? f->write.subresource : ""),
		    KV_SN(WHY, result->message.p, result->message.len), KV_I(NEXT_MS, RECONCILE_HOLD_MS),
		    KV_S(HINT, "bind the ClusterRole of deploy/rbac.yaml"));
	} else if (action->not_leader && r->leading) {
		log_info("leadership lost", KV_S(WHY, outcome_text(result->outcome)));
	} else if (!action->hold && !action->not_leader) {
		log_info("not written: the key is reconciled again", KV_S(KEY, f->work.key), KV_S(VERB, verb),
		    KV_S(REASON, outcome_name(result->outcome)),
		    KV_SN(WHY, result->message.p, result->message.len));
	}
}

/* Terminal, so it is reported in the log and as an Event on the object. */
static void
report_refused(struct reconciler *r, const struct inflight_effect *f, const char *verb,
    struct wire_str message, struct wire_str causes)
{
	log_error("refused by the server: not tried again until the object or its inputs change",
	    KV_S(KEY, f->work.key), KV_S(VERB, verb), KV_SN(WHY, message.p, message.len),
	    KV_SN(CAUSE, causes.p, causes.len),
	    KV_S(HINT, f->what != NULL ? "change the object" :
		"are the CRDs those of this version? kubectl apply -f deploy/crds"));
	reconcile_event(r, &f->write, "Warning", r->spec->refused_reason, causes.len > 0 ? causes : message);
}

void
reconcile_event(struct reconciler *r, const struct reconcile_write *about, const char *type,
    const char *reason, struct wire_str note)
{
	char body[EVENT_BODY_MAX];
	const size_t len = event_body(body, type, reason, about->action, note);
	const struct write_request request = {
		.op = OP_EVENT, .group = r->spec->kinds[about->kind].group,
		.resource = r->spec->kinds[about->kind].resource, .ns = about->ns, .name = about->name,
		.uid = about->uid, .body = body, .body_len = len, .timeout_ms = WRITE_MS,
		.trace = about->trace,
	};

	actor_write(r->actor, r->spec->links[0], &request, on_event_sent, NULL);
}

static void
on_event_sent(struct actor *a, void *self, const struct write_result *result, void *arg)
{
	(void)a, (void)self, (void)arg;
	if (result->outcome != OUTCOME_OK)
		log_debug("Event not written", KV_S(REASON, outcome_name(result->outcome)),
		    KV_SN(WHY, result->message.p, result->message.len));
}

static void
apply(struct reconciler *r, const struct inflight_effect *f, const struct outcome_action *action)
{
	struct journal_entry *const entry = journal_entry(r->journal, f->work.key, f->work.len);

	if (action->not_leader)
		r->leading = false;
	/* What has changed while it was in flight is another write: that one was not refused. */
	if (action->refused)
		entry->refused = !entry->changed;
}

static void
finish(struct reconciler *r, struct inflight_effect *f, enum work_result result, int64_t after_ms)
{
	MUST(r->inflight > 0);
	r->inflight--;
	actor_finish(r->actor, f->work.key, f->work.len, result, after_ms);
	free(f);
	start_deferred(r);
	reconcile_end_if_idle(r);
}
