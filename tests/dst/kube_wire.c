/*
 * tests/dst/kube_wire.c - the network between an instance and the model server: lists, calls and answers that
 * are late, lost, cut or refused. Streams are in kube_stream.c.
 *
 * Events at the server are scheduled with sim_at, events at the client with sim_node_at: a stopped process
 * receives them when it continues, a crashed one never.
 */
#include <stdlib.h>
#include <string.h>

#include "kube_wire.h"
#include "obj.h"

static sim_fn list_arrives, list_answer, list_fails, write_arrives, write_answer, write_timeout,
    lease_arrives, lease_answer, lease_timeout;
static void list_snapshot(struct kube_call *, uint64_t);
static bool list_rejected(struct kube_call *);
static enum lease_result lease_execute(struct kube_world *, struct kube_call *);
static void lease_store(struct kube_world *, const struct lease_record *);
static sim_fn lease_hint;
static int64_t retry_after(struct sim *);

struct kube_call *
wire_call(struct kube_instance *in, enum kube_call_kind ask)
{
	struct kube_call *c = obj_alloc(sizeof(*c));

	c->next = in->world->calls;
	in->world->calls = c;
	c->instance = in;
	c->life = in->node.life;
	c->kind = ask;
	return c;
}

void
wire_free(struct kube_world *w)
{
	while (w->calls != NULL) {
		struct kube_call *c = w->calls;

		w->calls = c->next;
		free(c);
	}
}

/* Schedules an event at the client; it is dropped if the client's process has crashed since the call. */
void
wire_at_client(struct kube_call *c, int64_t at_ms, sim_fn *fn, uint64_t n)
{
	struct kube_instance *in = c->instance;

	if (in->node.up && in->node.life == c->life)
		sim_node_at(in->world->sim, &in->node, at_ms, fn, c, n);
}

int64_t
wire_lag(struct kube_world *w)
{
	return 1 + (int64_t)sim_random(w->sim, (uint64_t)w->latency_ms);
}

void
wire_read(struct kube_instance *in, const struct reflector_step *step)
{
	struct kube_world *w = in->world;
	struct kube_call *c = wire_call(in, step->ask.watch ? CALL_WATCH : CALL_LIST);
	const char *cont = step->ask.cont;

	in->reading = c;
	c->id = step->ask.id;
	c->from = step->ask.rv == NULL ? 0 : kube_number(step->ask.rv);
	c->limit = step->ask.limit;
	c->initial = step->ask.initial_events;
	c->timeout_ms = (int64_t)step->ask.timeout_s * 1000;
	c->any = kube_broken(w, BREAK_KUBE_ANY_VERSION) && !in->reflector.synced && c->from == 0;
	c->replica = (uint32_t)sim_random(w->sim, KUBE_REPLICAS);
	c->restores = w->server.restores;
	if (cont != NULL) {		/* "<version>.<offset>" */
		char text[KUBE_TEXT];

		memcpy(text, cont, strlen(cont) + 1);
		char *dot = strchr(text, '.');
		*dot = '\0';
		c->snapshot = kube_number(text);
		c->offset = (uint32_t)kube_number(dot + 1);
	}
	const int64_t at_ms = w->sim->now_ms + wire_lag(w);
	if (sim_chance(w->sim, w->faults.refuse)) {
		c->failure = (struct reflector_failure){
			.reason = "", .refused = true, .retry_after_ms = -1
		};
		wire_at_client(c, at_ms, list_fails, 0);
	} else if (!sim_chance(w->sim, w->faults.lose)) {
		sim_at(w->sim, at_ms, c->kind == CALL_WATCH ? stream_arrives : list_arrives, c, 0);
	}
}

void
wire_stop(struct kube_call *c)
{
	c->over = true;
}

/* The server rejects a request for a list or a watch. */
void
wire_reject(struct kube_call *c, int status, const char *reason, bool too_large)
{
	struct kube_world *w = c->instance->world;

	c->failure = (struct reflector_failure){
		.status = status, .reason = reason, .too_large = too_large, .retry_after_ms = -1,
	};
	if (status == 429 || too_large)
		c->failure.retry_after_ms = retry_after(w->sim);
	wire_at_client(c, w->sim->now_ms + wire_lag(w), list_fails, 0);
}

/* Rejects a request at random, as an overloaded or failing server does. True: it did. */
bool
wire_server_fault(struct kube_call *c)
{
	struct kube_world *w = c->instance->world;

	if (sim_chance(w->sim, w->faults.limit)) {
		wire_reject(c, 429, "TooManyRequests", false);
		return true;
	}
	if (sim_chance(w->sim, w->faults.fail)) {
		wire_reject(c, sim_chance(w->sim, 500) ? 500 : 503, "InternalError", false);
		return true;
	}
	return false;
}

/*
 * A list may be empty by mistake; but not for a new instance, which could not detect it, and not when the
 * list confirms another one.
 */
void
wire_empty_list(struct kube_call *c)
{
	struct kube_server *s = &c->instance->world->server;

	c->falsely_empty = s->empty_lists > 0 && c->instance->ready && !c->instance->reflector.confirm;
	s->empty_lists -= c->falsely_empty;
}

/* ---- Lists ---- */

static void
list_arrives(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;
	struct kube_world *w = c->instance->world;
	struct kube_server *s = &w->server;

	(void)n;
	if (c->over || wire_server_fault(c) || list_rejected(c))
		return;
	if (c->offset == 0) {
		list_snapshot(c, c->any || c->from > 0 ? s->seen[c->replica] : s->rv);
		wire_empty_list(c);
	}
	SIM_TRACE(sim, "server: list for %s at %d from %u%s", c->instance->name, (int)c->snapshot, c->offset,
	    c->falsely_empty ? ", falsely empty" : "");
	wire_at_client(c, sim->now_ms + wire_lag(w), list_answer, 0);
}

static void
list_snapshot(struct kube_call *c, uint64_t rv)
{
	c->snapshot = rv;
}

static bool
list_rejected(struct kube_call *c)
{
	struct kube_world *w = c->instance->world;
	struct kube_server *s = &w->server;

	if (c->restores != s->restores) {
		wire_reject(c, 500, "InternalError", false);
		return true;
	}
	if (c->offset == 0)
		c->instance->list_restores = s->restores;
	if (c->offset > 0 && (c->snapshot < s->compacted || c->instance->list_restores != s->restores)) {
		wire_reject(c, 410, "Expired", false);
		return true;
	}
	if (c->from > s->seen[c->replica]) {
		if (c->from > s->rv || sim_chance(w->sim, 500)) {
			wire_reject(c, 504, "Timeout", true);
			return true;
		}
		s->seen[c->replica] = s->rv;
	}
	return false;
}

static void
list_answer(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;
	struct kube_instance *in = c->instance;
	struct kube_world *w = in->world;

	(void)n;
	if (c->over)
		return;
	c->over = true;
	if (c->restores != w->server.restores) {
		list_fails(sim, c, 1);
		return;
	}
	const struct kube_state state = server_at(&w->server, c->snapshot);
	const bool cut = sim_chance(sim, w->faults.cut);
	uint32_t given = 0, key = c->offset;

	reflector_accepted(&in->reflector, c->id, sim->now_ms);
	for (; key < w->server.keys && !c->falsely_empty && (c->limit == 0 || given < c->limit); key++) {
		if (state.objects[key].uid == 0)
			continue;
		if (cut && sim_chance(sim, 300))
			break;
		watcher_item(in, c->id, key, &state.objects[key]);
		given++;
	}
	if (cut) {
		list_fails(sim, c, 1);
		return;
	}
	c->offset = key;
	c->last_page = c->falsely_empty || key >= w->server.keys;
	watcher_page(in, c);
	watcher_drive(in);
}

/* n: the connection broke, whatever c->failure is. */
static void
list_fails(struct sim *sim, void *arg, uint64_t n)
{
	static const struct reflector_failure broke = { .reason = "", .retry_after_ms = -1 };
	struct kube_call *c = arg;

	if (c->over && n == 0)
		return;
	c->over = true;
	SIM_TRACE(sim, "%s: request %u fails: %d %s", c->instance->name, c->id,
	    n == 0 ? c->failure.status : 0, n == 0 ? c->failure.reason : "broken");
	reflector_failed(&c->instance->reflector, c->id, n == 0 ? &c->failure : &broke, sim->now_ms);
	watcher_drive(c->instance);
}

/* ---- Writes ---- */

void
wire_write(struct kube_instance *in, uint32_t slot, uint32_t write_id, int64_t timeout_ms)
{
	struct kube_world *w = in->world;
	struct kube_call *c = wire_call(in, CALL_WRITE);
	const int64_t margin_ms = w->lease_ms / 3 * 4 / 5;

	c->slot = slot;
	c->write_id = write_id;
	c->restore_epoch = store_restore_epoch(in->store);
	if (kube_broken(w, BREAK_KUBE_TIMEOUT))
		timeout_ms = 2 * w->lease_ms;
	c->lag_ms = timeout_ms;
	if (sim_chance(w->sim, w->faults.refuse)) {
		wire_at_client(c, w->sim->now_ms + wire_lag(w), write_answer, 0);
		return;
	}
	c->sent = true;
	wire_at_client(c, w->sim->now_ms + timeout_ms, write_timeout, 0);
	if (sim_chance(w->sim, w->faults.lose))
		return;
	/* Slow: up to the margin that the lease leaves after the client's timeout. */
	const bool slow = sim_chance(w->sim, w->faults.slow);
	const int64_t lag_ms =
	    slow ? (int64_t)sim_random(w->sim, (uint64_t)(timeout_ms + margin_ms)) : wire_lag(w);
	w->arriving++;
	sim_at(w->sim, w->sim->now_ms + lag_ms, write_arrives, c, 0);
}

static void
write_arrives(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;
	struct kube_world *w = c->instance->world;
	const struct kube_write *what = &w->writes[c->write_id].request;
	const bool fails = sim_chance(sim, w->faults.fail);
	bool done = false;

	(void)n;
	w->arriving--;
	c->restores = w->server.restores;
	if (sim_chance(sim, w->faults.limit)) {
		c->reply = (struct kube_reply){ .status = 429, .reason = "TooManyRequests" };
	} else if (fails && sim_chance(sim, 500)) {
		c->reply = (struct kube_reply){ .status = 500, .reason = "InternalError" };
	} else {
		c->reply = server_execute(&w->server, sim, what, &done);
		if (fails)	/* executed, but the answer is an error */
			c->reply = (struct kube_reply){ .status = 504, .reason = "Timeout" };
	}
	SIM_TRACE(sim, "server: write %u of %s on n%u: %d %s%s", c->write_id, c->instance->name,
	    what->key, c->reply.status, c->reply.reason, done ? ", executed" : "");
	if (done) {
		actor_executed(w, c->write_id);
		wire_server_changed(w);
	}
	if (sim_chance(sim, w->faults.lose_answer))
		return;
	const bool late = sim_chance(sim, w->faults.write_late);
	c->due_ms = sim->now_ms + (late ? (int64_t)sim_random(sim, (uint64_t)c->lag_ms) : wire_lag(w));
	wire_at_client(c, c->due_ms, write_answer, 0);
}

/*
 * A restore breaks the connections of the server. What the client's kernel has received may still be read
 * much later, by a process that was stopped.
 */
void
wire_break(struct kube_world *w)
{
	for (struct kube_call *c = w->calls; c != NULL; c = c->next) {
		if (c->kind == CALL_WRITE && !c->over && c->due_ms > w->sim->now_ms)
			c->reply = (struct kube_reply){ .status = 0, .reason = "" };
	}
}

static void
write_answer(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;

	(void)sim, (void)n;
	if (c->over)
		return;
	c->over = true;
	watcher_written(c->instance, c);
}

/* n: the write was already repeated. */
static void
write_timeout(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;

	if (c->over)
		return;
	if (kube_broken(c->instance->world, BREAK_KUBE_REPEAT) && n == 0) {
		c->instance->world->arriving++;
		sim_at(sim, sim->now_ms + 1, write_arrives, c, 0);
		wire_at_client(c, sim->now_ms + c->lag_ms, write_timeout, 1);
		return;
	}
	c->reply = (struct kube_reply){ .status = 0, .reason = "" };
	write_answer(sim, c, 0);
}

/* ---- The Lease ---- */

void
wire_lease(struct kube_instance *in, const struct lease_step *step)
{
	struct kube_world *w = in->world;
	struct kube_call *c = wire_call(in, CALL_LEASE);
	const bool refused = sim_chance(w->sim, w->faults.refuse);
	const bool lost = sim_chance(w->sim, w->faults.lose) || w->sim->now_ms < in->cut_off_ms;

	c->step = *step;
	c->result = LEASE_FAILED;
	if (step->rv != NULL)
		memcpy(c->rv, step->rv, strlen(step->rv) + 1);
	wire_at_client(c, w->sim->now_ms + (refused ? wire_lag(w) : step->timeout_ms), lease_timeout, 0);
	/*
	 * A CREATE has no precondition: one that arrives after its Lease was created and deleted again
	 * cannot be detected.
	 */
	const bool slow = step->verb != LEASE_CREATE && sim_chance(w->sim, w->faults.lease_late / 4);
	const int64_t lag_ms =
	    slow ? (int64_t)sim_random(w->sim, (uint64_t)step->timeout_ms * 2) : wire_lag(w);
	if (!refused && !lost)
		sim_at(w->sim, w->sim->now_ms + lag_ms, lease_arrives, c, 0);
}

static void
lease_arrives(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;
	struct kube_world *w = c->instance->world;

	(void)n;
	if (sim_chance(sim, w->faults.limit))
		c->result = LEASE_FAILED;
	else
		c->result = lease_execute(w, c);
	const bool late = sim_chance(sim, w->faults.lease_late);
	const int64_t lag_ms = late ? (int64_t)sim_random(sim, (uint64_t)c->step.timeout_ms) : wire_lag(w);
	if (!sim_chance(sim, w->faults.lose_answer))
		wire_at_client(c, sim->now_ms + lag_ms, lease_answer, 0);
}

static enum lease_result
lease_execute(struct kube_world *w, struct kube_call *c)
{
	struct kube_server *s = &w->server;

	if (c->step.verb == LEASE_CREATE) {
		if (s->has_lease)
			return LEASE_CONFLICT;
		s->has_lease = true;
		lease_store(w, &c->step.record);
	} else if (!s->has_lease) {
		return LEASE_MISSING;
	} else if (c->step.verb == LEASE_UPDATE) {
		if (strcmp(c->rv, s->lease.rv) != 0)
			return LEASE_CONFLICT;
		lease_store(w, &c->step.record);
	}
	c->seen = s->lease;
	if (kube_broken(w, BREAK_KUBE_RENEWAL))
		c->seen.digest = 1;
	return LEASE_OK;
}

static void
lease_store(struct kube_world *w, const struct lease_record *r)
{
	struct kube_server *s = &w->server;

	if (strcmp(s->lease.record.holder, r->holder) != 0)
		SIM_TRACE(w->sim, "server: the holder of the Lease is now \"%s\"", r->holder);
	s->lease.record = *r;
	wire_lease_changed(w);
}

/* In some histories the instances also watch the Lease. */
void
wire_lease_changed(struct kube_world *w)
{
	w->server.lease.digest++;
	kube_rv(w->server.lease.rv, kube_number(w->server.lease.rv) + 1);
	for (int i = 0; w->hints && i < KUBE_INSTANCES; i++) {
		struct kube_instance *in = &w->instances[i];

		if (in->node.up && !sim_chance(w->sim, w->faults.lose))
			sim_node_at(w->sim, &in->node, w->sim->now_ms + wire_lag(w), lease_hint, in, 0);
	}
}

static void
lease_hint(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_instance *in = arg;

	(void)n;
	lease_changed(&in->lease, sim->now_ms);
	watcher_drive(in);
}

static void
lease_answer(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;

	(void)sim, (void)n;
	if (c->over)
		return;
	c->over = true;
	watcher_elected(c->instance, c);
}

static void
lease_timeout(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;

	if (!c->over)
		c->result = LEASE_FAILED;
	lease_answer(sim, c, n);
}

static int64_t
retry_after(struct sim *sim)
{
	static const int64_t values[] = { -1, 0, 1000, 3000, 99999000 };

	return values[sim_random(sim, NITEMS(values))];
}
