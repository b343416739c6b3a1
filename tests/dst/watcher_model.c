/*
 * tests/dst/watcher_model.c - a modelled kube-watcher: the program of an actor that publishes the
 * cluster's objects over the product's links and answers writes with every outcome.
 *
 * As the real one it publishes complete snapshots only, puts the answer to a write into its store before
 * the outcome is sent, sends a mutation only while its Lease outlives the request, and one per object.
 * Leading ends by its own clock: while it is stopped, its readers still have the old value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "cluster.h"
#include "kube-watcher/result_items.h"
#include "obj.h"

enum {
	TICK_MS		= 500,
	LIST_MAX_MS	= 800,
	LAG_MS		= 20,
	LAG_MAX_MS	= 6000,
	LEASE_MS	= 15 * 1000,
	REQUEST_MS	= 5 * 1000,	/* HTTP timeout of a write */
	LATE_MS		= 3 * 1000,	/* so long after it a request may still take effect */
	QUICK_MS	= 30,
};

struct watcher {
	struct cluster	*cluster;
	unsigned	 tree;
	enum link	 links[ROLE_MAX];	/* LINK_MAX: that role has none, or is not configured */
	uint64_t	 seen_rv;
	enum kind_state	 states[KIND_MAX];	/* as published; LISTING: not yet */
	bool		 listed, leader_known, ready;
	bool		 leading;		/* as published */
	int64_t		 since_ms, until_ms, published_until_ms;
	int64_t		 cluster_ms;		/* as published */
};

static runtime_fn list, catch_up, deliver;
static void publish_kind(struct actor *, struct watcher *, enum kind);
static void publish_object(struct actor *, struct watcher *, const struct cluster_object *, bool);
static void elect(struct actor *, struct watcher *, int64_t);
static void open_links(struct actor *, struct watcher *);
static enum outcome refusal(struct watcher *, const struct write_in *, const struct flight *, int64_t);
static struct flight *flight_new(struct actor *, struct watcher *, const struct write_in *);
static void copy(char *, size_t, struct wire_str);
static bool is_mutation(enum op);
static sim_fn arrive;
static json_t *object_before(const struct cluster_object *, enum op);
static void answer_flight(struct flight *, int64_t);
static void send_items(struct actor *, const struct flight *);
static void send_object(struct result_items *, const struct flight *, const struct cluster_object *);
static void flight_ended(struct flight *);
static struct flight *find_flight(struct cluster *, uint64_t);
static bool unreachable(const struct watcher *);
static int64_t delay(struct cluster *, uint64_t);

static void
start(struct actor *a, void *self)
{
	struct watcher *const w = self;
	struct runtime_actor *const ra = runtime_actor_of(a);

	w->cluster = ra->runtime->world;
	w->tree = ra->tree;
	for (unsigned r = 0; r < ROLE_MAX; r++)
		w->links[r] = LINK_MAX;
	for (unsigned l = 0; l < LINK_MAX; l++) {
		bool read = false;

		for (unsigned r = 0; link_table[l].binder == ROLE_KUBE_WATCHER && r < ROLE_MAX; r++) {
			if (!link_connects((enum link)l, (enum role)r) || !actor_has_peer(a, (enum role)r))
				continue;
			w->links[r] = (enum link)l;
			read = true;
		}
		if (link_table[l].binder == ROLE_KUBE_WATCHER && !read)
			actor_link_ready(a, (enum link)l);
	}
	runtime_at(ra, w->cluster->sim->now_ms + delay(w->cluster, LIST_MAX_MS), list, 0);
}

static void
tick(struct actor *a, void *self, int64_t now_ms)
{
	struct watcher *const w = self;

	elect(a, w, now_ms);
	if (unreachable(w))
		return;
	if (!w->listed)
		list(a, self, 0);
	for (unsigned k = 0; w->listed && k < KIND_MAX; k++)
		publish_kind(a, w, (enum kind)k);
}

static void
on_write(struct actor *a, void *self, const struct write_in *in)
{
	struct watcher *const w = self;
	struct cluster *const c = w->cluster;
	const int64_t now_ms = c->sim->now_ms;
	struct flight *const f = flight_new(a, w, in);
	const bool mutation = is_mutation(f->request.op);

	f->answer.outcome = refusal(w, in, f, now_ms);
	if (f->answer.outcome != OUTCOME_OK) {
		f->answer.why = "not sent";
		answer_flight(f, now_ms + delay(c, QUICK_MS));
		return;
	}
	f->sent = true;
	if (mutation && sim_chance(c->sim, c->faults.late)) {
		/* The outcome comes first, the effect after it. */
		f->late = true;
		f->answer = (struct cluster_answer){ .outcome = OUTCOME_UNKNOWN, .why = "no answer" };
		answer_flight(f, now_ms + REQUEST_MS);
		sim_at(c->sim, now_ms + REQUEST_MS + delay(c, LATE_MS), arrive, c, f->id);
		return;
	}
	f->answer_lost = mutation && sim_chance(c->sim, c->faults.lost);
	const uint64_t max_ms = sim_chance(c->sim, c->faults.slow) ? REQUEST_MS / 2 : QUICK_MS;
	sim_at(c->sim, now_ms + delay(c, max_ms), arrive, c, f->id);
}

static const struct actor_spec spec = {
	.name = "kube-watcher", .state_size = sizeof(struct watcher), .start = start, .tick = tick,
	.tick_ms = TICK_MS, .on_write = on_write,
};

int
watcher_model_main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

bool
watcher_model_leads(struct runtime_actor *r)
{
	const struct watcher *const w = r->actor.self;

	return w != NULL && w->leading && w->until_ms - r->runtime->sim->now_ms >= REQUEST_MS + LATE_MS;
}

/* ---- What it has seen ---- */

void
watcher_model_notify(struct cluster *c)
{
	for (unsigned i = 0; i < RUNTIME_TREES; i++) {
		const uint64_t max_ms = sim_chance(c->sim, c->faults.lag) ? LAG_MAX_MS : LAG_MS;

		if (c->watchers[i] != NULL)
			runtime_at(c->watchers[i], c->sim->now_ms + delay(c, max_ms), catch_up, 0);
	}
}

static void
list(struct actor *a, void *self, uint64_t n)
{
	struct watcher *const w = self;

	(void)n;
	if (w->listed || unreachable(w))
		return;
	w->listed = true;
	catch_up(a, self, 0);
	for (unsigned k = 0; k < KIND_MAX; k++)
		publish_kind(a, w, (enum kind)k);
	open_links(a, w);
}

/* Everything that has changed since the last time, as it is now. */
static void
catch_up(struct actor *a, void *self, uint64_t n)
{
	struct watcher *const w = self;

	(void)n;
	if (!w->listed || unreachable(w))
		return;
	for (unsigned i = 0; i < w->cluster->count; i++) {
		if (w->cluster->objects[i].rv > w->seen_rv)
			publish_object(a, w, &w->cluster->objects[i], false);
	}
	w->seen_rv = w->cluster->rv;
}

static void
publish_kind(struct actor *a, struct watcher *w, enum kind k)
{
	const struct kind_row *const row = &kind_table[k];
	const enum kind_state state = w->cluster->absent[k] ? KIND_STATE_ABSENT : KIND_STATE_SYNCED;

	if (w->states[k] == state)
		return;
	w->states[k] = state;
	const union msg_body body = { .kind = {
		.group = wire_str_of(row->group), .resource = wire_str_of(row->resource),
		.version = wire_str_of(cluster_version(k)), .state = state, .detail = wire_str_of(""),
	} };
	char key[128];

	snprintf(key, sizeof(key), ":kind/%s", row->resource);
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (w->links[r] != LINK_MAX && (row->readers >> r & 1) != 0)
			MUST(actor_publish(a, w->links[r], key, "", "", MSG_KIND, &body, 0) == E_OK);
	}
}

/* own: the answer to a write, which is sent even if no field that is read has changed. */
static void
publish_object(struct actor *a, struct watcher *w, const struct cluster_object *o, bool own)
{
	const uint64_t trace = actor_new_trace(a);
	struct projected p;

	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (w->links[r] == LINK_MAX || (kind_table[o->kind].readers >> r & 1) == 0)
			continue;
		if (o->json == NULL) {
			actor_retract(a, w->links[r], o->key, trace);
			continue;
		}
		if (!cluster_project(o, (enum role)r, &p)) {
			sim_fail(w->cluster->sim, "%s cannot be read: %s", o->key, p.error);
			return;
		}
		MUST(p.nvalues == 1);
		MUST(actor_publish_packed(a, w->links[r], o->key, p.uid, p.rv,
		    (enum msg)kind_table[o->kind].message, p.values[0].bytes, p.values[0].len, trace, own)
		    == E_OK);
	}
}

static void
open_links(struct actor *a, struct watcher *w)
{
	if (w->ready || !w->listed || !w->leader_known)
		return;
	w->ready = true;
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (w->links[r] != LINK_MAX)
			actor_link_ready(a, w->links[r]);
	}
}

/* ---- The Lease ---- */

static void
elect(struct actor *a, struct watcher *w, int64_t now_ms)
{
	struct cluster *const c = w->cluster;
	const bool mine = c->holder == (int)w->tree;

	if (!unreachable(w) && (mine || c->holder == -1 || c->until_ms <= now_ms)) {
		const bool taken = !mine || c->until_ms <= now_ms;

		c->term += taken;
		/* What this instance sent before this process started may still be on its way. */
		if (taken || w->since_ms == 0)
			w->since_ms = now_ms;
		c->holder = (int)w->tree;
		c->until_ms = w->until_ms = now_ms + LEASE_MS;
	} else if (!mine && !unreachable(w)) {
		w->until_ms = 0;
	}
	const bool leading = w->until_ms > now_ms;
	const int64_t cluster_ms = unreachable(w) ? w->cluster_ms : RUNTIME_EPOCH_MS + c->clock_ms;
	if (w->leader_known && leading == w->leading && cluster_ms == w->cluster_ms
	    && w->until_ms - w->published_until_ms < LEASE_MS / 3)
		return;
	const union msg_body body = { .leader = {
		.leading = leading, .identity = wire_str_of(actor_instance(a)), .holder = wire_str_of(""),
		.term = c->term, .since_ms = w->since_ms, .until_ms = w->until_ms,
		.cluster_ms = cluster_ms,
	} };
	w->cluster_ms = cluster_ms;
	w->leading = leading;
	w->leader_known = true;
	w->published_until_ms = w->until_ms;
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (w->links[r] != LINK_MAX)
			MUST(actor_publish(a, w->links[r], ":leader", "", "", MSG_LEADER, &body, 0) == E_OK);
	}
	open_links(a, w);
}

/* ---- Writes ---- */

/* The outcome of what is not sent; OK: it is. */
static enum outcome
refusal(struct watcher *w, const struct write_in *in, const struct flight *f, int64_t now_ms)
{
	const struct cluster_faults *const faults = &w->cluster->faults;
	struct sim *const sim = w->cluster->sim;
	const struct flight *other;

	if (in->deadline_ms <= now_ms)
		return OUTCOME_EXPIRED;
	if (!is_mutation(f->request.op))
		return unreachable(w) ? OUTCOME_FAILED : OUTCOME_OK;
	if (w->until_ms - now_ms < REQUEST_MS + LATE_MS)
		return OUTCOME_NOT_LEADER;
	LIST_FOREACH(other, &w->cluster->flights, next) {
		if (other != f && !other->answered && other->watcher == f->watcher
		    && other->incarnation == f->incarnation && is_mutation(other->request.op)
		    && other->request.kind == f->request.kind
		    && strcmp(other->request.name, f->request.name) == 0)
			return OUTCOME_BUSY;
	}
	const struct {
		uint32_t	per_mille;
		enum outcome	outcome;
	} all[] = {
		{ faults->failed, OUTCOME_FAILED }, { faults->limited, OUTCOME_LIMITED },
		{ faults->busy, OUTCOME_BUSY }, { faults->denied, OUTCOME_DENIED },
		{ faults->expired, OUTCOME_EXPIRED },
	};
	for (size_t i = 0; i < NITEMS(all); i++) {
		if (sim_chance(sim, all[i].per_mille))
			return all[i].outcome;
	}
	return unreachable(w) ? OUTCOME_FAILED : OUTCOME_OK;
}

static struct flight *
flight_new(struct actor *a, struct watcher *w, const struct write_in *in)
{
	struct flight *const f = obj_alloc(sizeof(*f));
	char group[128], resource[128], namespace[CLUSTER_NAME_MAX], name[CLUSTER_NAME_MAX];

	f->id = ++w->cluster->flight_ids;
	f->cluster = w->cluster;
	f->handle = in->handle;
	f->watcher = runtime_actor_of(a);
	f->incarnation = actor_incarnation(a);
	f->from = in->from;
	f->request.op = (enum op)in->body->op;
	copy(group, sizeof(group), in->body->group);
	copy(resource, sizeof(resource), in->body->resource);
	f->request.kind = kind_find(group, resource);
	copy(namespace, sizeof(namespace), in->body->ns);
	copy(name, sizeof(name), in->body->name);
	cluster_name(f->request.name, namespace, name);
	copy(f->request.subresource, sizeof(f->request.subresource), in->body->subresource);
	copy(f->request.uid, sizeof(f->request.uid), in->body->uid);
	copy(f->request.rv, sizeof(f->request.rv), in->body->rv);
	copy(f->request.fields, sizeof(f->request.fields), in->body->fields);
	f->request.len = in->body->body.len;
	f->request.body = obj_memdup(in->body->body.len > 0 ? in->body->body.p : "", in->body->body.len);
	LIST_INSERT_HEAD(&w->cluster->flights, f, next);
	return f;
}

static void
copy(char *to, size_t size, struct wire_str s)
{
	const int n = snprintf(to, size, "%.*s", (int)s.len, s.len > 0 ? s.p : "");

	MUST(n >= 0 && (size_t)n < size);
}

static bool
is_mutation(enum op op)
{
	return op != OP_GET && op != OP_LIST && op != OP_EVENT;
}

/* The request is at the server. */
static void
arrive(struct sim *sim, void *arg, uint64_t id)
{
	struct cluster *const c = arg;
	struct flight *const f = find_flight(c, id);
	const struct cluster_answer outcome = f->answer;
	json_t *before = NULL;

	f->arrived = true;
	if (c->down || c->cut[f->watcher->tree]) {
		f->answer = (struct cluster_answer){ .outcome = OUTCOME_FAILED, .why = "no connection" };
	} else {
		const struct cluster_object *const o =
		    f->request.kind == KIND_MAX ? NULL : cluster_find(c, f->request.kind, f->request.name);

		before = o != NULL ? object_before(o, f->request.op) : NULL;
		f->answer = cluster_execute(c, &f->request);
		SIM_TRACE(sim, "server: %s %s/%s of %s: %s", op_table[f->request.op].name,
		    f->request.kind == KIND_MAX ? "?" : kind_table[f->request.kind].resource,
		    f->request.name, f->watcher->name, outcome_name(f->answer.outcome));
		if (c->executed != NULL)
			c->executed(c, f, before);
		json_decref(before);
	}
	if (f->answer_lost)
		f->answer = (struct cluster_answer){ .outcome = OUTCOME_UNKNOWN, .why = "no answer" };
	if (f->late) {
		f->answer = outcome;
		flight_ended(f);
		return;
	}
	answer_flight(f, sim->now_ms + (f->answer_lost ? REQUEST_MS : delay(c, QUICK_MS)));
}

/* Patches and reads leave the JSON that they find as it is. */
static json_t *
object_before(const struct cluster_object *o, enum op op)
{
	if (op == OP_MERGE || op == OP_JSON || op == OP_GET || op == OP_LIST || op == OP_EVENT)
		return json_incref(o->json);
	return json_deep_copy(o->json);
}

/* The outcome reaches the kube-watcher that sent it, if that one is still there. */
static void
answer_flight(struct flight *f, int64_t at_ms)
{
	if (f->watcher->node.up && actor_incarnation(&f->watcher->actor) == f->incarnation)
		runtime_at(f->watcher, at_ms, deliver, f->id);
}

static void
deliver(struct actor *a, void *self, uint64_t id)
{
	struct watcher *const w = self;
	struct flight *const f = find_flight(w->cluster, id);
	const struct cluster_answer *const r = &f->answer;
	char rv[32] = "";
	const struct cluster_object *const o =
	    f->request.kind == KIND_MAX ? NULL : cluster_find(w->cluster, f->request.kind, f->request.name);
	const bool about = o != NULL && (r->outcome == OUTCOME_OK || r->outcome == OUTCOME_NOT_FOUND)
	    && f->request.op != OP_EVENT;

	if (about)
		publish_object(a, w, o, true);
	if (about && o->json != NULL)
		snprintf(rv, sizeof(rv), "%llu", (unsigned long long)o->rv);
	const struct body_result result = {
		.outcome = r->outcome, .status = r->status, .reason = wire_str_of(""),
		.message = wire_str_of(r->why != NULL ? r->why : ""), .causes = wire_str_of(""),
		.rv = wire_str_of(rv), .retry_after_ms = r->outcome == OUTCOME_LIMITED ? 1000 : 0,
	};
	if (r->outcome == OUTCOME_OK && (f->request.op == OP_LIST || f->request.op == OP_GET))
		send_items(a, f);
	actor_result(a, f->handle, &result, &(const char *){ about ? o->key : "" }, about ? 1 : 0);
	f->answered = true;
	flight_ended(f);
}

/* What the sender does not watch comes with the answer: LIVE kinds projected, others as JSON. */
static void
send_items(struct actor *a, const struct flight *f)
{
	struct cluster *const c = f->cluster;
	struct result_items items = { .actor = a, .handle = f->handle, .sender = f->from };

	if (f->request.kind == KIND_MAX || (kind_table[f->request.kind].readers >> f->from & 1) != 0)
		return;
	for (unsigned i = 0; i < c->count; i++) {
		const struct cluster_object *const o = &c->objects[i];

		if (o->kind == f->request.kind && o->json != NULL
		    && (f->request.op == OP_LIST ? cluster_selects(o, f->request.fields)
						 : strcmp(o->name, f->request.name) == 0))
			send_object(&items, f, o);
	}
	MUST(items.skipped == 0);
}

static void
send_object(struct result_items *items, const struct flight *f, const struct cluster_object *o)
{
	static struct projection *live[KIND_MAX];
	const struct kind_row *const row = &kind_table[o->kind];
	const enum kind k = kind_find_live(row->group, row->resource, f->from);
	const char *const text = cluster_text(o);

	if (k != KIND_MAX && live[k] == NULL)
		live[k] = projection_new(k, kind_table[k].versions, UINT64_C(1) << f->from);
	if (k != KIND_MAX)
		result_items_live(items, k, live[k], text, strlen(text));
	else
		result_items_raw(items, row->resource, "", o->name, text, strlen(text));
}

static void
flight_ended(struct flight *f)
{
	if (!f->answered || (f->late && !f->arrived))
		return;
	LIST_REMOVE(f, next);
	free(f->request.body);
	free(f);
}

static struct flight *
find_flight(struct cluster *c, uint64_t id)
{
	struct flight *f;

	LIST_FOREACH(f, &c->flights, next) {
		if (f->id == id)
			return f;
	}
	MUST(false);
}

static bool
unreachable(const struct watcher *w)
{
	return w->cluster->down || w->cluster->cut[w->tree];
}

/* Some time from 0 to max. */
static int64_t
delay(struct cluster *c, uint64_t max_ms)
{
	return (int64_t)sim_random(c->sim, max_ms + 1);
}
