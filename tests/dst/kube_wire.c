/*
 * tests/dst/kube_wire.c - the network between an instance and the model server: lists, calls and answers that
 * are late, lost, cut or refused. Streams are in kube_stream.c.
 *
 * What the server does happens in the world's time; what the client hears happens in its own (sim_node_at): a
 * stopped process hears it when it goes on, a dead one never.
 */
#include <stdlib.h>
#include <string.h>

#include "kube_wire.h"
#include "obj.h"

static sim_fn list_arrives, list_answer, list_fails, write_arrives, write_answer, write_timeout,
    lease_arrives, lease_answer, lease_timeout;
static void list_snapshot(struct kube_call *, uint64_t);
static bool list_refused(struct kube_call *);
static enum lease_result lease_execute(struct kube_world *, struct kube_call *);
static void lease_store(struct kube_world *, const struct lease_record *);
static sim_fn lease_hint;
static int64_t retry_after(struct sim *);

struct kube_call *
wire_call(struct kube_instance *in, enum kube_ask ask)
{
	struct kube_call *c = obj_alloc(sizeof(*c));

	c->next = in->world->calls;
	in->world->calls = c;
	c->instance = in;
	c->life = in->node.life;
	c->ask = ask;
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

/* In the client's time. */
void
wire_hear(struct kube_call *c, int64_t at_ms, sim_fn *fn, uint64_t n)
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
	struct kube_call *c = wire_call(in, step->ask.watch ? ASK_WATCH : ASK_LIST);
	const char *cont = step->ask.cont;

	in->reading = c;
	c->id = step->ask.id;
	c->from = step->ask.rv == NULL ? 0 : kube_number(step->ask.rv);
	c->limit = step->ask.limit;
	c->initial = step->ask.initial_events;
	c->timeout_ms = (int64_t)step->ask.timeout_s * 1000;
	c->any = kube_broken(w, BREAK_KUBE_ANY_VERSION) && !in->reflector.synced && c->from == 0;
	c->replica = (uint32_t)sim_random(w->sim, KUBE_REPLICAS);
	c->server_life = w->server.lives;
	if (cont != NULL) {		/* "<version>.<offset>" */
		char text[KUBE_TEXT];

		memcpy(text, cont, strlen(cont) + 1);
		char *dot = strchr(text, '.');
		*dot = '\0';
		c->snapshot = kube_number(text);
		c->offset = (uint32_t)kube_number(dot + 1);
	}
	const int64_t at_ms = w->sim->now_ms + wire_lag(w);
	if (sim_chance(w->sim, w->weather.refuse)) {
		c->failure = (struct reflector_failure){
			.reason = "", .refused = true, .retry_after_ms = -1
		};
		wire_hear(c, at_ms, list_fails, 0);
	} else if (!sim_chance(w->sim, w->weather.lose)) {
		sim_at(w->sim, at_ms, c->ask == ASK_WATCH ? stream_arrives : list_arrives, c, 0);
	}
}

void
wire_stop(struct kube_call *c)
{
	c->over = true;
}

/* A request for a list or a watch that the server turns down. */
void
wire_turn_down(struct kube_call *c, int status, const char *reason, bool too_large)
{
	struct kube_world *w = c->instance->world;

	c->failure = (struct reflector_failure){
		.status = status, .reason = reason, .too_large = too_large, .retry_after_ms = -1,
	};
	if (status == 429 || too_large)
		c->failure.retry_after_ms = retry_after(w->sim);
	wire_hear(c, w->sim->now_ms + wire_lag(w), list_fails, 0);
}

/* What any server does on a bad day. True: it did. */
bool
wire_bad_day(struct kube_call *c)
{
	struct kube_world *w = c->instance->world;

	if (sim_chance(w->sim, w->weather.limit)) {
		wire_turn_down(c, 429, "TooManyRequests", false);
		return true;
	}
	if (sim_chance(w->sim, w->weather.fail)) {
		wire_turn_down(c, sim_chance(w->sim, 500) ? 500 : 503, "InternalError", false);
		return true;
	}
	return false;
}

/* A list that is empty though it should not be. Whoever is new could not know; nobody is lied to twice. */
void
wire_lie(struct kube_call *c)
{
	struct kube_server *s = &c->instance->world->server;

	c->lie = s->lies > 0 && c->instance->ready && !c->instance->reflector.confirm;
	s->lies -= c->lie;
}

/* ---- Lists ---- */

static void
list_arrives(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;
	struct kube_world *w = c->instance->world;
	struct kube_server *s = &w->server;

	(void)n;
	if (c->over || wire_bad_day(c) || list_refused(c))
		return;
	if (c->offset == 0) {
		list_snapshot(c, c->any || c->from > 0 ? s->seen[c->replica] : s->rv);
		wire_lie(c);
	}
	SIM_SAY(sim, "server: list for %s at %d from %u%s", c->instance->name, (int)c->snapshot, c->offset,
	    c->lie ? ", a lie" : "");
	wire_hear(c, sim->now_ms + wire_lag(w), list_answer, 0);
}

static void
list_snapshot(struct kube_call *c, uint64_t rv)
{
	c->snapshot = rv;
}

static bool
list_refused(struct kube_call *c)
{
	struct kube_world *w = c->instance->world;
	struct kube_server *s = &w->server;

	if (c->server_life != s->lives) {
		wire_turn_down(c, 500, "InternalError", false);
		return true;
	}
	if (c->offset == 0)
		c->instance->list_life = s->lives;
	if (c->offset > 0 && (c->snapshot < s->compacted || c->instance->list_life != s->lives)) {
		wire_turn_down(c, 410, "Expired", false);
		return true;
	}
	if (c->from > s->seen[c->replica]) {
		if (c->from > s->rv || sim_chance(w->sim, 500)) {
			wire_turn_down(c, 504, "Timeout", true);
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
	if (c->server_life != w->server.lives) {
		list_fails(sim, c, 1);
		return;
	}
	const struct kube_state state = server_at(&w->server, c->snapshot);
	const bool cut = sim_chance(sim, w->weather.cut);
	uint32_t given = 0, key = c->offset;

	reflector_accepted(&in->reflector, c->id, sim->now_ms);
	for (; key < w->server.keys && !c->lie && (c->limit == 0 || given < c->limit); key++) {
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
	c->last_page = c->lie || key >= w->server.keys;
	watcher_page(in, c);
	watcher_drive(in);
}

/* n: whatever c->failure says, the connection broke. */
static void
list_fails(struct sim *sim, void *arg, uint64_t n)
{
	static const struct reflector_failure broke = { .reason = "", .retry_after_ms = -1 };
	struct kube_call *c = arg;

	if (c->over && n == 0)
		return;
	c->over = true;
	SIM_SAY(sim, "%s: request %u fails: %d %s", c->instance->name, c->id, n == 0 ? c->failure.status : 0,
	    n == 0 ? c->failure.reason : "broken");
	reflector_failed(&c->instance->reflector, c->id, n == 0 ? &c->failure : &broke, sim->now_ms);
	watcher_drive(c->instance);
}

/* ---- Writes ---- */

void
wire_write(struct kube_instance *in, uint32_t slot, uint32_t deed, int64_t timeout_ms)
{
	struct kube_world *w = in->world;
	struct kube_call *c = wire_call(in, ASK_WRITE);
	const int64_t margin_ms = w->lease_ms / 3 * 4 / 5;

	c->slot = slot;
	c->deed = deed;
	c->time = store_restore_epoch(in->store);
	if (kube_broken(w, BREAK_KUBE_TIMEOUT))
		timeout_ms = 2 * w->lease_ms;
	c->lag_ms = timeout_ms;
	if (sim_chance(w->sim, w->weather.refuse)) {
		wire_hear(c, w->sim->now_ms + wire_lag(w), write_answer, 0);
		return;
	}
	c->sent = true;
	wire_hear(c, w->sim->now_ms + timeout_ms, write_timeout, 0);
	if (sim_chance(w->sim, w->weather.lose))
		return;
	/* Slow: up to the margin that the lease leaves after the client has given up. */
	const bool slow = sim_chance(w->sim, w->weather.slow);
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
	const struct kube_write *what = &w->deeds[c->deed].write;
	const bool fails = sim_chance(sim, w->weather.fail);
	bool done = false;

	(void)n;
	w->arriving--;
	c->server_life = w->server.lives;
	if (sim_chance(sim, w->weather.limit)) {
		c->reply = (struct kube_reply){ .status = 429, .reason = "TooManyRequests" };
	} else if (fails && sim_chance(sim, 500)) {
		c->reply = (struct kube_reply){ .status = 500, .reason = "InternalError" };
	} else {
		c->reply = server_execute(&w->server, sim, what, &done);
		if (fails)	/* done, and then something went wrong */
			c->reply = (struct kube_reply){ .status = 504, .reason = "Timeout" };
	}
	SIM_SAY(sim, "server: write %u of %s on n%u: %d %s%s", c->deed, c->instance->name,
	    what->key, c->reply.status, c->reply.reason, done ? ", done" : "");
	if (done) {
		actor_executed(w, c->deed);
		wire_news(w);
	}
	if (sim_chance(sim, w->weather.lose_answer))
		return;
	const bool tardy = sim_chance(sim, w->weather.tardy);
	c->due_ms = sim->now_ms + (tardy ? (int64_t)sim_random(sim, (uint64_t)c->lag_ms) : wire_lag(w));
	wire_hear(c, c->due_ms, write_answer, 0);
}

/*
 * The connections of a server that is restored break. What the client's machine has already may be read
 * long after: a process that was stopped finds it.
 */
void
wire_break(struct kube_world *w)
{
	for (struct kube_call *c = w->calls; c != NULL; c = c->next) {
		if (c->ask == ASK_WRITE && !c->over && c->due_ms > w->sim->now_ms)
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

/* n: it was sent once more already. */
static void
write_timeout(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;

	if (c->over)
		return;
	if (kube_broken(c->instance->world, BREAK_KUBE_REPEAT) && n == 0) {
		c->instance->world->arriving++;
		sim_at(sim, sim->now_ms + 1, write_arrives, c, 0);
		wire_hear(c, sim->now_ms + c->lag_ms, write_timeout, 1);
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
	struct kube_call *c = wire_call(in, ASK_LEASE);
	const bool refused = sim_chance(w->sim, w->weather.refuse);
	const bool lost = sim_chance(w->sim, w->weather.lose) || w->sim->now_ms < in->cut_off_ms;

	c->step = *step;
	c->result = LEASE_FAILED;
	if (step->rv != NULL)
		memcpy(c->rv, step->rv, strlen(step->rv) + 1);
	wire_hear(c, w->sim->now_ms + (refused ? wire_lag(w) : step->timeout_ms), lease_timeout, 0);
	/*
	 * A CREATE has no precondition: one that comes after its Lease was made and deleted again
	 * fools everybody.
	 */
	const bool slow = step->verb != LEASE_CREATE && sim_chance(w->sim, w->weather.late / 4);
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
	if (sim_chance(sim, w->weather.limit))
		c->result = LEASE_FAILED;
	else
		c->result = lease_execute(w, c);
	const bool late = sim_chance(sim, w->weather.late);
	const int64_t lag_ms = late ? (int64_t)sim_random(sim, (uint64_t)c->step.timeout_ms) : wire_lag(w);
	if (!sim_chance(sim, w->weather.lose_answer))
		wire_hear(c, sim->now_ms + lag_ms, lease_answer, 0);
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
	if (kube_broken(w, BREAK_KUBE_SIGN_OF_LIFE))
		c->seen.digest = 1;
	return LEASE_OK;
}

static void
lease_store(struct kube_world *w, const struct lease_record *r)
{
	struct kube_server *s = &w->server;

	if (strcmp(s->lease.record.holder, r->holder) != 0)
		SIM_SAY(w->sim, "server: the Lease is of \"%s\" now", r->holder);
	s->lease.record = *r;
	wire_lease_changed(w);
}

/* In some histories the instances watch it as well. */
void
wire_lease_changed(struct kube_world *w)
{
	w->server.lease.digest++;
	kube_rv(w->server.lease.rv, kube_number(w->server.lease.rv) + 1);
	for (int i = 0; w->hints && i < KUBE_INSTANCES; i++) {
		struct kube_instance *in = &w->instances[i];

		if (in->node.up && !sim_chance(w->sim, w->weather.lose))
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
	static const int64_t said[] = { -1, 0, 1000, 3000, 99999000 };

	return said[sim_random(sim, NITEMS(said))];
}
