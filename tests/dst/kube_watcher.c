/*
 * tests/dst/kube_watcher.c - one instance of the watcher: reflector, store, plan and lease, put
 * together as the actor's own files do it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "world_kube.h"

static sim_fn turn;
static int64_t drive_reading(struct kube_instance *);
static int64_t drive_writes(struct kube_instance *);
static int64_t drive_lease(struct kube_instance *);
static void perform(struct kube_instance *, const struct reflector_step *);
static void publish_all(struct kube_instance *);
static void publish(struct kube_instance *, enum store_change, uint32_t, const struct kube_object *);
static void check_age(struct kube_instance *, uint32_t, const struct kube_object *);
static store_gone_fn on_gone;
static uint32_t key_of(const char *);
static struct list_diff diff_of(const struct kube_instance *, const char *);
static void merge(struct kube_instance *, const struct kube_call *, enum plan_merge);

/* A version of an object, with its texts. */
struct version_text {
	struct object_version	version;
	char			key[KUBE_TEXT], uid[KUBE_TEXT], rv[KUBE_TEXT];
};
static void format_version(struct version_text *, uint32_t, const struct kube_object *);

void
watcher_start(struct kube_instance *in)
{
	struct kube_world *w = in->world;
	const struct reflector_config config = {
		.watchlist = true, .page = 3, .relist_ms = w->relist_ms,
	};
	const struct lease_config lease = {
		.elect = w->elect, .duration_ms = w->lease_ms, .identity = in->name,
	};

	in->node.name = in->name;
	in->node.turn = turn;
	in->node.arg = in;
	in->server = (struct reflector_server){ 0 };
	in->store = store_new();
	in->ready = in->accepting_rollback = in->leaving = in->unmarked = false;
	memset(in->view, 0, sizeof(in->view));
	in->reading = NULL;
	reflector_init(&in->reflector, &config, &in->server, random_next(&w->sim->random));
	plan_init(&in->plan, 50, 20, random_next(&w->sim->random), w->sim->now_ms);
	lease_init(&in->lease, &lease, random_next(&w->sim->random), w->sim->now_ms);
	SIM_TRACE(w->sim, "%s starts", in->name);
	sim_node_start(w->sim, &in->node);
}

void
watcher_crash(struct kube_instance *in)
{
	sim_node_crash(in->world->sim, &in->node);
	watcher_free(in);
	actor_lost_watcher(in);
}

void
watcher_free(struct kube_instance *in)
{
	if (in->reading != NULL)
		wire_stop(in->reading);
	in->reading = NULL;
	store_free(&in->store);
}

/* Accepts no new writes, then releases the Lease, unless one of its writes may still arrive. */
void
watcher_leave(struct kube_instance *in)
{
	in->leaving = true;
	sim_wake(in->world->sim, &in->node, in->world->sim->now_ms);
}

static void
turn(struct sim *sim, void *arg, uint64_t n)
{
	(void)sim, (void)n;
	watcher_drive(arg);
}

void
watcher_drive(struct kube_instance *in)
{
	const int64_t reading_ms = drive_reading(in), lease_ms = drive_lease(in);
	const int64_t writes_ms = drive_writes(in);
	int64_t at_ms = reading_ms < lease_ms ? reading_ms : lease_ms;

	at_ms = writes_ms < at_ms ? writes_ms : at_ms;
	if (at_ms != INT64_MAX)
		sim_wake(in->world->sim, &in->node, at_ms);
}

/* ---- Reading ---- */

static int64_t
drive_reading(struct kube_instance *in)
{
	for (;;) {
		const struct reflector_step step = reflector_next(&in->reflector, in->world->sim->now_ms);

		if (step.verb == REFLECT_WAIT)
			return step.at_ms;
		perform(in, &step);
	}
}

static void
perform(struct kube_instance *in, const struct reflector_step *step)
{
	struct kube_world *w = in->world;

	switch (step->verb) {
	case REFLECT_DISCOVER:
		reflector_discovered(&in->reflector, true, w->sim->now_ms);
		break;
	case REFLECT_BEGIN:
		in->accepting_rollback = step->accept_rollback;
		in->begun_restores = w->server.restores;
		if (step->accept_rollback)
			in->noticed_restores = in->begun_restores;
		if (!in->unmarked)
			store_begin(in->store, step->accept_rollback && !kube_broken(w, BREAK_KUBE_ROLLBACK));
		in->unmarked = false;
		if (kube_broken(w, BREAK_KUBE_READY_GATE) && !in->ready) {
			publish_all(in);
			in->ready = true;
		}
		break;
	case REFLECT_WATCHLIST:
	case REFLECT_LIST:
	case REFLECT_WATCH:
		SIM_TRACE(w->sim, "%s requests: %s %u rv \"%s\" continue \"%s\" (%s)", in->name,
		    step->verb == REFLECT_LIST ? "list" : step->ask.initial_events ? "watch-list" : "watch",
		    step->ask.id, step->ask.rv == NULL ? "" : step->ask.rv,
		    step->ask.cont == NULL ? "" : step->ask.cont, reflector_reason_name(step->reason));
		wire_read(in, step);
		break;
	case REFLECT_STOP:
		if (in->reading != NULL)
			wire_stop(in->reading);
		in->reading = NULL;
		break;
	case REFLECT_COMMIT:
		SIM_TRACE(w->sim, "%s: complete at %s", in->name, step->rv);
		if (kube_broken(w, BREAK_KUBE_SWEEP))
			store_drop(in->store);
		else
			store_commit(in->store, step->rv, on_gone, in);
		in->accepting_rollback = false;
		in->noticed_restores = in->begun_restores;
		break;
	case REFLECT_DROP:
		SIM_TRACE(w->sim, "%s: dropped (%s)", in->name, reflector_reason_name(step->reason));
		if (kube_broken(w, BREAK_KUBE_DROP))
			store_commit(in->store, in->reflector.list_rv, on_gone, in);
		else if (kube_broken(w, BREAK_KUBE_MARKS))
			in->unmarked = true;
		else
			store_drop(in->store);
		in->accepting_rollback = false;
		break;
	case REFLECT_SYNCED:
		if (!in->ready)
			publish_all(in);
		in->ready = true;
		break;
	case REFLECT_ALARM:
	case REFLECT_WAIT:
		break;
	}
}

/* The first complete list of this watcher replaces what the actor had from the one before. */
static void
publish_all(struct kube_instance *in)
{
	for (uint32_t key = 0; key < in->world->server.keys; key++) {
		const struct kube_object *o = &in->view[key];

		if (o->uid != 0) {
			/* After a restore, versions may be older. */
			if (in->published_restores == in->world->server.restores)
				check_age(in, key, o);
			actor_put(in, key, o);
		} else if (in->mirror[key].uid != 0) {
			actor_gone(in, key);
		}
	}
	in->published_restores = in->world->server.restores;
}

void
watcher_item(struct kube_instance *in, uint32_t id, uint32_t key, const struct kube_object *o)
{
	struct version_text text;

	if (reflector_item(&in->reflector, id, in->world->sim->now_ms) == TAKE_SKIP)
		return;
	format_version(&text, key, o);
	publish(in, store_seen(in->store, &text.version), key, o);
}

void
watcher_event(struct kube_instance *in, uint32_t id, const struct kube_event *e)
{
	struct version_text text;

	format_version(&text, e->key, &e->object);
	if (reflector_event(&in->reflector, id, e->type, text.rv, in->world->sim->now_ms) == TAKE_SKIP
	    && !kube_broken(in->world, BREAK_KUBE_REPLAY))
		return;
	SIM_TRACE(in->world->sim, "%s gets %s n%u u%u rv %s", in->name,
	    e->type == WATCH_ADDED ? "ADDED" : e->type == WATCH_DELETED ? "DELETED" : "MODIFIED", e->key,
	    e->object.uid, text.rv);
	publish(in,
	    e->type == WATCH_DELETED ? store_deleted(in->store, &text.version)
				     : store_seen(in->store, &text.version),
	    e->key, &e->object);
}

void
watcher_bookmark(struct kube_instance *in, uint32_t id, uint64_t rv, bool initial_end)
{
	char text[KUBE_TEXT];

	kube_rv(text, rv);
	const struct list_diff p = diff_of(in, text);
	reflector_bookmark(&in->reflector, id, text, initial_end, &p, in->world->sim->now_ms);
	drive_reading(in);
}

void
watcher_page(struct kube_instance *in, const struct kube_call *c)
{
	char rv[KUBE_TEXT], cont[2 * KUBE_TEXT] = "";

	kube_rv(rv, c->snapshot);
	const struct list_diff p = diff_of(in, rv);
	if (!c->last_page)
		snprintf(cont, sizeof(cont), "%s.%u", rv, c->offset);
	reflector_page(&in->reflector, c->id, rv, cont, &p, in->world->sim->now_ms);
}

static struct list_diff
diff_of(const struct kube_instance *in, const char *rv)
{
	if (kube_broken(in->world, BREAK_KUBE_CONFIRM))
		return (struct list_diff){ 0 };
	return store_list_diff(in->store, rv);
}

/* ---- Publishing ---- */

static void
publish(struct kube_instance *in, enum store_change change, uint32_t key, const struct kube_object *o)
{
	if (change == STORE_IGNORE && kube_broken(in->world, BREAK_KUBE_OLDER)
	    && !in->world->server.ended[o->uid])
		change = STORE_UPDATED;
	if (change != STORE_IGNORE)
		in->view[key] = change == STORE_GONE ? (struct kube_object){ 0 } : *o;
	if (!in->ready)
		return;
	switch (change) {
	case STORE_IGNORE:
	case STORE_SKIPPED:	/* every object of this world can be decoded */
		break;
	case STORE_ADDED:
	case STORE_UPDATED:
	case STORE_REPLACED:
		check_age(in, key, o);
		actor_put(in, key, o);
		break;
	case STORE_GONE:
		actor_gone(in, key);
		break;
	}
}

/* The mirror never goes back within a uid, except by a list that was confirmed. */
static void
check_age(struct kube_instance *in, uint32_t key, const struct kube_object *o)
{
	const struct kube_object *had = &in->mirror[key];

	if (had->uid == o->uid && o->rv < had->rv && !in->accepting_rollback)
		sim_fail(in->world->sim, "%s goes back: n%u from %d to %d", in->name, key,
		    (int)had->rv, (int)o->rv);
}

static void
on_gone(const char *key, size_t len, void *arg)
{
	struct kube_instance *in = arg;
	const uint32_t k = key_of(key);

	(void)len;
	in->view[k] = (struct kube_object){ 0 };
	if (in->ready)
		actor_gone(in, k);
}

/* ---- Writes ---- */

static int64_t
drive_writes(struct kube_instance *in)
{
	static const struct lease always = { .elect = false, .until_ms = INT64_MAX };
	struct kube_world *w = in->world;
	const struct lease *lease = kube_broken(w, BREAK_KUBE_LEASE) ? &always : &in->lease;

	for (;;) {
		const struct plan_step step = plan_next(&in->plan, lease, w->sim->now_ms);

		if (step.verb == PLAN_WAIT)
			return step.at_ms;
		if (step.verb == PLAN_SEND)
			wire_write(in, step.slot, in->jobs[step.slot], step.timeout_ms);
		else
			actor_answered(in, in->jobs[step.slot], step.outcome, NULL);
	}
}

void
watcher_written(struct kube_instance *in, const struct kube_call *c)
{
	struct kube_world *w = in->world;
	const bool sent = c->sent && !kube_broken(w, BREAK_KUBE_UNKNOWN);
	const struct plan_result r = plan_answered(&in->plan, c->slot, &(struct plan_answer){
		.sent = sent, .status = c->reply.status,
		.reason = c->reply.reason == NULL ? "" : c->reply.reason,
		.retry_after_ms = c->reply.status == 429 ? 1000 : -1, .body = c->reply.body,
		.predates_restore =
		    c->restore_epoch != store_restore_epoch(in->store)
		    && !kube_broken(w, BREAK_KUBE_PREDATES),
	}, w->sim->now_ms);

	SIM_TRACE(w->sim, "%s: write %u: %s%s", in->name, c->write_id, outcome_name(r.outcome),
	    r.again ? ", again" : "");
	if (!r.again) {
		if (!kube_broken(w, BREAK_KUBE_OWN_WRITE))
			merge(in, c, r.merge);
		/*
		 * A restore undoes the writes before it. A watcher that has not detected it holds higher
		 * versions and cannot detect that an answer is newer: nothing holds until its next list.
		 */
		const bool holds = c->restores == w->server.restores
		    && in->noticed_restores == w->server.restores;
		actor_answered(in, c->write_id, r.outcome, holds ? &c->reply : NULL);
	}
	watcher_drive(in);
}

static void
merge(struct kube_instance *in, const struct kube_call *c, enum plan_merge how)
{
	struct kube_world *w = in->world;
	const struct kube_write *what = &w->writes[c->write_id].request;
	const char *stream_rv = kube_broken(w, BREAK_KUBE_OVERTAKEN) ? "" : in->reflector.rv;
	struct version_text text;

	if (how == MERGE_OBJECT) {
		format_version(&text, what->key, &c->reply.object);
		publish(in, store_answered(in->store, &text.version, stream_rv), what->key, &c->reply.object);
	} else if (how == MERGE_GONE) {
		const struct kube_object o = { .uid = what->uid };

		format_version(&text, what->key, &o);
		publish(in, kube_broken(w, BREAK_KUBE_TOMBSTONE) ? store_deleted(in->store, &text.version)
		    : store_removed(in->store, &text.version), what->key, &o);
	}
}

/* ---- The Lease ---- */

static int64_t
drive_lease(struct kube_instance *in)
{
	struct kube_world *w = in->world;
	const int64_t wall_us = 1700000000000000 + w->sim->now_ms * 1000 + in->index * INT64_C(3600000000);

	if (in->leaving && !in->lease.stopping
	    && (plan_settled(&in->plan, w->sim->now_ms)
	    || (kube_broken(w, BREAK_KUBE_RELEASE) && plan_under_way(&in->plan) == 0)))
		lease_stop(&in->lease, w->sim->now_ms);
	if (kube_broken(w, BREAK_KUBE_FORMER_PROCESS))
		in->lease.resumed = false;
	if (kube_broken(w, BREAK_KUBE_DELETED) && in->lease.missing)
		in->lease.known = false;
	for (;;) {
		const struct lease_step step = lease_next(&in->lease, w->sim->now_ms, wall_us);

		if (step.verb == LEASE_WAIT)
			return step.at_ms;
		if (step.verb == LEASE_STOPPED)
			return INT64_MAX;
		wire_lease(in, &step);
	}
}

void
watcher_elected(struct kube_instance *in, const struct kube_call *c)
{
	if (kube_broken(in->world, BREAK_KUBE_SEND_TIME))
		in->lease.asked_ms = in->world->sim->now_ms;
	lease_answered(
	    &in->lease, c->result, c->result == LEASE_OK ? &c->seen : NULL, in->world->sim->now_ms);
	watcher_drive(in);
}

/* ---- What must hold ---- */

void
watcher_check(struct kube_instance *in)
{
	struct kube_world *w = in->world;

	if (!in->node.up)
		return;
	if (store_count(in->store) > w->server.keys || store_tombstones(in->store) > KUBE_WRITES_MAX)
		sim_fail(w->sim, "%s: the store holds %u keys and %u tombstones", in->name,
		    store_count(in->store), store_tombstones(in->store));
	if (store_bytes(in->store) > 64 * 1024)
		sim_fail(w->sim, "%s: the store holds %d bytes", in->name, (int)store_bytes(in->store));
}

const char *
watcher_unsettled(struct kube_instance *in)
{
	const struct kube_server *s = &in->world->server;

	for (uint32_t key = 0; key < s->keys; key++) {
		const struct kube_object *o = &s->now.objects[key], *shown = &in->mirror[key];

		if (shown->uid != o->uid || shown->rv != o->rv)
			return "a mirror is not what the server has";
	}
	if (!in->node.up)
		return "an instance is down";
	if (!in->ready || reflector_state(&in->reflector) != KIND_STATE_SYNCED)
		return "an instance is not synced";
	if (in->plan.count > 0)
		return "a write is in flight";
	if (in->compared_rv == s->rv && in->compared_life == in->node.life)
		return NULL;	/* every change of the store is in the mirror */
	for (uint32_t key = 0; key < s->keys; key++) {
		char name[KUBE_TEXT], rv[KUBE_TEXT];
		const struct kube_object *o = &s->now.objects[key];

		kube_key(name, key);
		if (store_rv(in->store, name, strlen(name), rv, sizeof(rv)) != (o->uid != 0))
			return o->uid != 0 ? "an object is not in a store"
					   : "a store holds an object that is gone";
		if (o->uid != 0 && kube_number(rv) != o->rv)
			return "a store holds another version than the server";
	}
	in->compared_rv = s->rv;
	in->compared_life = in->node.life;
	return NULL;
}

/* ---- Texts ---- */

static void
format_version(struct version_text *text, uint32_t key, const struct kube_object *o)
{
	kube_key(text->key, key);
	kube_uid(text->uid, o->uid);
	kube_rv(text->rv, o->rv);
	text->version = (struct object_version){
		.key = text->key, .key_len = strlen(text->key), .uid = text->uid, .rv = text->rv };
}

static uint32_t
key_of(const char *name)
{
	return (uint32_t)(name[7] - '0') * 10 + (uint32_t)(name[8] - '0');
}
