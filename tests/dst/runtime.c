/*
 * tests/dst/runtime.c - the life of simulated actors: what actors/runtime/actor.c does for one process,
 * and what musterd does for a tree of them.
 *
 * Start: a new incarnation, peer records, bind, the actor's `start`, and its new record to every
 * other one some milliseconds later. End: every process that reads a link of it, or has one of it,
 * gets a record, too; who starts it again, and when, is decided by the world.
 */
#include "runtime.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "json.h"
#include "log.h"
#include "obj.h"

enum { PEER_RECORD_MS = 30, ROUNDS_MAX = 100 };

/* A call of the world into a process, at a time. */
struct call {
	TAILQ_ENTRY(call)	 next;
	struct runtime_actor	*actor;
	runtime_fn		*fn;
	uint64_t		 n;
};

static sim_fn turn, run_call, peer_record;
static void leave(struct runtime_actor *);
static void end(struct runtime_actor *);
static void send_records(struct runtime_actor *);
static void add_peer(struct runtime_actor *, const struct runtime_actor *);
static struct secret token(const struct runtime_actor *, const struct runtime_actor *);
static void on_tick(evutil_socket_t, short, void *);
static void log_sink(const char *, size_t);

static struct runtime_actor *starting;	/* its program's main runs */
static struct runtime *present;		/* of log lines */
static const char *present_name = "";

struct runtime *
runtime_new(struct sim *sim, const struct runtime_hooks *hooks, void *world)
{
	struct runtime *r = obj_alloc(sizeof(*r));

	r->sim = sim;
	r->sockets = sockets_new(sim);
	TAILQ_INIT(&r->http.exchanges);
	r->hooks = *hooks;
	r->world = world;
	present = r;
	runtime_clock_use(sim);
	log_open("dst", LOG_CONSOLE, sim->tracing ? LEVEL_DEBUG : LEVEL_ERROR);
	log_set_sink(log_sink);
	return r;
}

void
runtime_free(struct runtime **rp)
{
	struct runtime *r = *rp;

	for (unsigned i = 0; i < r->nactors; i++)
		runtime_kill(r->actors[i]);
	for (unsigned i = 0; i < r->nactors; i++)
		free(r->actors[i]);
	http_server_free(&r->http);
	sockets_free(&r->sockets);
	runtime_clock_use(NULL);
	present = NULL;
	free(r);
	*rp = NULL;
}

struct runtime_actor *
runtime_add(struct runtime *r, unsigned tree, enum role role, runtime_main *program, const char *settings)
{
	struct runtime_actor *const ra = obj_alloc(sizeof(*ra));

	MUST(r->nactors < RUNTIME_ACTORS && tree < RUNTIME_TREES);
	r->actors[r->nactors++] = ra;
	snprintf(ra->name, sizeof(ra->name), "%s.%u", role_name(role), tree);
	ra->runtime = r;
	ra->tree = tree;
	ra->role = role;
	ra->program = program;
	ra->settings = settings;
	ra->node = (struct sim_node){ .name = ra->name, .turn = turn, .arg = ra };
	TAILQ_INIT(&ra->calls);
	return ra;
}

/* ---- Start and end ---- */

int
actor_main(const struct actor_spec *spec, int argc, char **argv)
{
	(void)argc, (void)argv;
	MUST(starting != NULL);
	MUST(spec->name == NULL || strcmp(spec->name, role_name(starting->role)) == 0);
	starting->actor = (struct actor){ .magic = ACTOR_MAGIC, .spec = spec };
	return 0;
}

void
runtime_start(struct runtime_actor *ra)
{
	struct actor *const a = &ra->actor;
	struct bus_owner owner = runtime_bus_owner(ra);
	char *argv[] = { ra->name, NULL };

	MUST(!ra->node.up);
	SIM_TRACE(ra->runtime->sim, "%s starts", ra->name);
	starting = ra;
	MUST(ra->program(1, argv) == 0);
	starting = NULL;
	sim_node_start(ra->runtime->sim, &ra->node);
	ra->inside = true;
	present_name = ra->name;
	memset(ra->effects, 0, sizeof(ra->effects));
	ra->status[0] = '\0';
	a->boot = (struct boot){ .role = ra->role, .incarnation = ++ra->runtime->incarnations };
	ra->incarnation = a->boot.incarnation;
	snprintf(a->boot.run_dir, sizeof(a->boot.run_dir), "/tree%u", ra->tree);
	snprintf(a->boot.instance, sizeof(a->boot.instance), "tree%u", ra->tree);
	a->settings = settings_parse(ra->settings);
	a->base = runtime_loop_new(ra);
	a->self = obj_alloc(a->spec->state_size + 1);
	if (a->spec->prepare != NULL)
		a->spec->prepare(a, a->self);
	random_secret(&a->random, sizeof(a->random));
	msgpack_sbuffer_init(&a->buffer);
	for (size_t i = 0; i < a->spec->nrows; i++) {
		for (unsigned l = 0; l < LINK_MAX; l++)
			owner.wanted[l] |= link_table[l].values & UINT64_C(1) << a->spec->rows[i].message;
	}
	a->bus = bus_new(a->base, a->boot.run_dir, ra->role, ra->incarnation, NULL, &owner);
	work_open(a);
	for (unsigned i = 0; i < ra->runtime->nactors; i++)
		add_peer(ra, ra->runtime->actors[i]);
	a->running = true;
	MUST(bus_bind(a->bus));
	if (a->spec->start != NULL)
		a->spec->start(a, a->self);
	if (a->spec->tick != NULL) {
		const int64_t ms = a->spec->tick_ms;

		a->tick = event_new(a->base, -1, EV_PERSIST, on_tick, a);
		event_add(a->tick,
		    &(struct timeval){ .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 });
	}
	bus_touch(a->bus);
	send_records(ra);
	leave(ra);
}

void
runtime_kill(struct runtime_actor *ra)
{
	if (!ra->node.up || ra->killed)
		return;
	SIM_TRACE(ra->runtime->sim, "%s is killed", ra->name);
	ra->killed = true;
	if (!ra->inside)
		end(ra);
}

void
runtime_terminate(struct runtime_actor *ra)
{
	struct actor *const a = &ra->actor;

	if (!ra->node.up || a->stop_asked)
		return;
	SIM_TRACE(ra->runtime->sim, "%s is to stop", ra->name);
	a->stop_asked = true;
	ra->inside = true;
	if (a->spec->ending != NULL)
		a->spec->ending(a, a->self);
	else
		actor_exit(a, 0);
	leave(ra);
}

static void
end(struct runtime_actor *ra)
{
	struct actor *const a = &ra->actor;
	struct call *c;

	ra->inside = true;
	/* A `done` may request again; that ends in the next round. */
	for (int i = 0; i == 0 || (ra->open_writes > 0 && i < ROUNDS_MAX); i++)
		bus_end_writes(a->bus);
	MUST(ra->open_writes == 0);
	if (a->spec->stop != NULL)
		a->spec->stop(a, a->self);
	if (a->tick != NULL)
		event_free(a->tick);
	work_close(a);
	bus_free(&a->bus);
	settings_free(&a->settings);
	msgpack_sbuffer_destroy(&a->buffer);
	event_base_free(a->base);
	free(a->self);
	a->self = NULL;
	while ((c = TAILQ_FIRST(&ra->calls)) != NULL) {
		TAILQ_REMOVE(&ra->calls, c, next);
		free(c);
	}
	sim_node_crash(ra->runtime->sim, &ra->node);
	ra->inside = ra->killed = false;
	ra->kill_at = 0;
	send_records(ra);
	ra->runtime->hooks.ended(ra);
}

/* ---- The supervisor's records of peers ---- */

static void
send_records(struct runtime_actor *about)
{
	struct runtime *const r = about->runtime;

	for (unsigned i = 0; i < r->nactors; i++) {
		struct runtime_actor *const to = r->actors[i];
		const int64_t at_ms = r->sim->now_ms + 1 + (int64_t)sim_random(r->sim, PEER_RECORD_MS);

		if (to != about && to->tree == about->tree && to->node.up)
			sim_node_at(r->sim, &to->node, at_ms, peer_record, to, about->role);
	}
}

/* The state as it is by then: the last record counts. */
static void
peer_record(struct sim *sim, void *arg, uint64_t n)
{
	struct runtime_actor *const to = arg;

	(void)sim;
	to->inside = true;
	present_name = to->name;
	for (unsigned i = 0; i < to->runtime->nactors; i++) {
		if (to->runtime->actors[i]->role == (enum role)n)
			add_peer(to, to->runtime->actors[i]);
	}
	leave(to);
}

static void
add_peer(struct runtime_actor *to, const struct runtime_actor *peer)
{
	if (peer == to || peer->tree != to->tree)
		return;
	const struct secret expected = token(peer, to), presented = token(to, peer);
	bus_peer(to->actor.bus, peer->role, peer->incarnation, &expected, &presented,
	    peer->node.up ? PEER_UP : PEER_DOWN);
}

static struct secret
token(const struct runtime_actor *consumer, const struct runtime_actor *producer)
{
	struct secret s = { .len = 32 };

	memcpy(s.bytes, &consumer->incarnation, sizeof(consumer->incarnation));
	s.bytes[8] = (uint8_t)consumer->role;
	s.bytes[9] = (uint8_t)producer->role;
	return s;
}

/* ---- Turns ---- */

static void
turn(struct sim *sim, void *arg, uint64_t n)
{
	struct runtime_actor *const ra = arg;

	(void)sim, (void)n;
	ra->inside = true;
	present_name = ra->name;
	if (!runtime_loop_turn(ra->actor.base))
		sockets_wake(ra->runtime->sockets, ra);
	leave(ra);
}

/* A callback has returned. */
static void
leave(struct runtime_actor *ra)
{
	ra->inside = false;
	present_name = "";
	if (ra->killed || ra->actor.ending) {
		end(ra);
		return;
	}
	const int64_t loop_ms = runtime_loop_due_ms(ra->actor.base);
	const int64_t socket_ms = sockets_due_ms(ra->runtime->sockets, ra);
	const int64_t at_ms = loop_ms < socket_ms ? loop_ms : socket_ms;
	if (at_ms != INT64_MAX)
		sim_wake(ra->runtime->sim, &ra->node, at_ms);
}

void
runtime_at(struct runtime_actor *ra, int64_t at_ms, runtime_fn *fn, uint64_t n)
{
	if (!ra->node.up)
		return;
	struct call *const c = obj_alloc(sizeof(*c));
	c->actor = ra;
	c->fn = fn;
	c->n = n;
	TAILQ_INSERT_TAIL(&ra->calls, c, next);
	sim_node_at(ra->runtime->sim, &ra->node, at_ms, run_call, c, 0);
}

static void
run_call(struct sim *sim, void *arg, uint64_t n)
{
	const struct call c = *(struct call *)arg;
	struct runtime_actor *const ra = c.actor;

	(void)sim, (void)n;
	TAILQ_REMOVE(&ra->calls, (struct call *)arg, next);
	free(arg);
	ra->inside = true;
	present_name = ra->name;
	c.fn(&ra->actor, ra->actor.self, c.n);
	leave(ra);
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct actor *const a = arg;

	(void)fd, (void)what;
	a->spec->tick(a, a->self, present->sim->now_ms);
}

const char *
runtime_explain(struct runtime_actor *ra, const char *resource, const char *name)
{
	static char buf[EXPLAIN_MAX];
	struct json j = { .buf = buf, .size = sizeof(buf) };

	if (!ra->node.up || ra->actor.spec->explain == NULL)
		return "";
	json_open(&j, NULL, '{');
	ra->actor.spec->explain(&ra->actor, ra->actor.self, resource, name, &j);
	json_close(&j, '}');
	return json_end(&j) > 0 ? buf : "";
}

static void
log_sink(const char *line, size_t len)
{
	if (present == NULL || !present->sim->tracing)
		return;
	while (len > 0 && line[len - 1] == '\n')
		len--;
	sim_trace(present->sim, "  %s: %.*s", present_name, (int)len, line);
}
