/*
 * tests/dst/session_consumer.c - the consuming end, as bus_in.c does it, and slow workers on
 * its keys.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "world_session.h"

static sim_fn turn, finish_work;
static bool caught_up(const struct session_world *, const struct consumer *);
static bool receive(struct session_world *, struct consumer *);
static void on_frame(struct session_world *, struct consumer *, const struct sim_frame *);
static void break_frame(
    const struct session_world *, const struct consumer *, struct envelope *, union msg_body *);
static void on_change(enum mirror_change, const struct body_item *, void *);
static const char *impossible(const struct tracked *, enum mirror_change, const struct body_item *);
static int64_t send_frames(struct session_world *, struct consumer *, bool);
static bool send_hello(struct session_world *, struct consumer *);
static bool send_ack(struct session_world *, struct consumer *);
static void started_over(struct session_world *, struct consumer *, enum resync);
static void work(struct session_world *, struct consumer *);
static struct tracked *track(struct consumer *, struct wire_str);
static void worked_off(struct consumer *, uint32_t);
static void compare(enum mirror_change, const struct body_item *, void *);

/* What on_change and compare need, through a void pointer. */
struct ends {
	struct session_world	*w;
	struct consumer		*c;
	const char		*wrong;
	uint64_t		 hash;
};

void
consumer_start(struct session_world *w, uint32_t i)
{
	struct consumer *c = &w->consumers[i];

	snprintf(c->name, sizeof(c->name), "c%u", i);
	c->index = i;
	c->incarnation++;
	c->node.name = c->name;
	c->node.turn = turn;
	c->node.arg = w;
	c->node.n = i;
	c->mirror = mirror_new();
	c->pool = intern_new();
	if (i % 2 == 1)
		mirror_intern(c->mirror, c->pool);
	c->queue = workqueue_new(random_next(&w->sim->random));
	c->keys = keytab_new(0);
	session_in_init(&c->session, c->window, random_next(&w->sim->random));
	SIM_TRACE(w->sim, "%s starts, incarnation %d, window %d", c->name, (int)c->incarnation,
	    (int)c->window);
	sim_node_start(w->sim, &c->node);
}

void
consumer_crash(struct session_world *w, uint32_t i)
{
	struct consumer *c = &w->consumers[i];

	sim_node_crash(w->sim, &c->node);
	mirror_free(&c->mirror);
	MUST(c->pool == NULL || intern_count(c->pool) == 0);
	intern_free(&c->pool);
	workqueue_free(&c->queue);
	keytab_free(&c->keys);
	free(c->tracked);
	c->tracked = NULL;
	c->tracked_cap = c->unclean = c->workers = 0;
	c->clock = 0;
	c->writable = c->settled = false;
}

void
consumer_producer_up(struct session_world *w, uint32_t i, uint64_t incarnation)
{
	struct consumer *c = &w->consumers[i];

	if (!c->node.up)
		return;
	const struct in_step step = session_in_producer_up(&c->session, incarnation, w->sim->now_ms);
	if (step.verb == IN_RESYNC)
		started_over(w, c, step.reason);
	sim_wake(w->sim, &c->node, w->sim->now_ms);
}

void
consumer_check(struct session_world *w, struct consumer *c)
{
	const struct peer *peer = &w->producer.peers[c->index];
	const struct session_out *out = &peer->session;

	if (!caught_up(w, c))
		return;
	if (mirror_count(c->mirror) != keytab_count(peer->sent.keys)
	    || mirror_hash(c->mirror) != peer->sent.hash)
		sim_fail(w->sim,
		    "%s has applied all that was sent (epoch %d.%u seq %d), but its mirror differs: "
		    "%d keys, sent %u",
		    c->name, (int)EPOCH_INCARNATION(out->epoch), (uint32_t)out->epoch,
		    (int)out->seq, (int)mirror_count(c->mirror), keytab_count(peer->sent.keys));
}

const char *
consumer_unsettled(struct session_world *w, struct consumer *c)
{
	static char text[128];
	struct ends ends = { .w = w, .c = c };
	const char *wrong = NULL;

	if (!c->node.up)
		wrong = "is down";
	else if (!caught_up(w, c))
		wrong = "has not caught up with the producer";
	else if (mirror_count(c->mirror) != w->truth.present)
		wrong = "has not as many keys as the truth";
	else if (c->unclean > 0 || c->workers > 0)
		wrong = "has keys that changed after they were last worked on";
	if (wrong == NULL && c->settled && c->settled_hash == mirror_hash(c->mirror)
	    && c->settled_rv == w->truth.rv)
		return NULL;
	if (wrong == NULL) {
		mirror_each(c->mirror, compare, &ends);
		wrong = ends.wrong == NULL && ends.hash != mirror_hash(c->mirror)
		    ? "counts its hash wrong"
		    : ends.wrong;
	}
	c->settled = wrong == NULL;
	c->settled_rv = w->truth.rv;
	c->settled_hash = wrong == NULL ? mirror_hash(c->mirror) : 0;
	if (wrong == NULL)
		return NULL;
	snprintf(text, sizeof(text), "%s %s%s", c->name, ends.wrong != NULL ? "holds " : "", wrong);
	return text;
}

/* Both ends are live in the same session, and all that was sent was applied. */
static bool
caught_up(const struct session_world *w, const struct consumer *c)
{
	const struct peer *peer = &w->producer.peers[c->index];

	return c->node.up && c->session.state == IN_LIVE && w->producer.node.up && peer->open
	    && peer->session.state == OUT_LIVE && peer->session.epoch == c->session.epoch
	    && peer->session.seq == c->session.seq;
}

/* ---- A turn of its loop ---- */

static void
turn(struct sim *sim, void *arg, uint64_t n)
{
	struct session_world *w = arg;
	struct consumer *c = &w->consumers[n];

	const bool more = receive(w, c);
	int64_t at_ms = send_frames(w, c, !more);
	work(w, c);
	const int64_t queue_ms =
	    c->workers < c->workers_max ? workqueue_due_ms(c->queue, sim->now_ms) : INT64_MAX;
	at_ms = queue_ms < at_ms ? queue_ms : at_ms;
	int64_t pipe_ms = sim_pipe_due_ms(&c->conn.down);
	if (pipe_ms != INT64_MAX && pipe_ms < sim->now_ms + c->slow_ms)
		pipe_ms = sim->now_ms + c->slow_ms;
	sim_wake(sim, &c->node, pipe_ms < at_ms ? pipe_ms : at_ms);
}

/* True: stopped early, more is waiting. */
static bool
receive(struct session_world *w, struct consumer *c)
{
	const int limit = c->slow_ms > 0 ? 1 : TURN_FRAMES;
	struct sim_frame bytes;

	for (int n = 0; n < limit && sim_pipe_read(w->sim, &c->conn.down, &bytes); n++) {
		on_frame(w, c, &bytes);
		free(bytes.bytes);
	}
	return sim_pipe_due_ms(&c->conn.down) <= w->sim->now_ms;
}

static void
on_frame(struct session_world *w, struct consumer *c, const struct sim_frame *bytes)
{
	struct ends ends = { .w = w, .c = c };
	struct frame f;
	union msg_body body;

	if (world_open(w, &c->node, bytes, &f, &body) != NULL) {
		started_over(w, c, session_in_refuse(&c->session, w->sim->now_ms).reason);
		return;
	}
	const uint32_t bodies = f.bodies + 1;
	if (c->session.state > IN_HELLO)
		break_frame(w, c, &f.env, &body);
	const struct in_view v = { .count = mirror_count(c->mirror), .hash = mirror_hash(c->mirror) };
	const struct in_step step = session_in_frame(&c->session, &f.env, &body, bodies, &v, w->sim->now_ms);
	switch (step.verb) {
	case IN_BEGIN:
		mirror_begin(c->mirror);
		if (broken(w, BREAK_STALE_MIRROR))
			mirror_clear(c->mirror, on_change, &ends);
		break;
	case IN_ITEMS:
		for (uint32_t i = 0; i < bodies; i++) {
			mirror_apply(c->mirror, &body.item, on_change, &ends);
			if (i + 1 < bodies && !frame_next(&f, &w->arena, &body))
				sim_fail(w->sim, "a frame of %u items does not parse to its end", bodies);
		}
		break;
	case IN_END:
		if (!broken(w, BREAK_SWEEP))
			mirror_sweep(c->mirror, on_change, &ends);
		break;
	case IN_RESYNC:
		started_over(w, c, step.reason);
		break;
	default:
		break;
	}
}

/* Two of the rules that can be broken change a frame. */
static void
break_frame(
    const struct session_world *w, const struct consumer *c, struct envelope *env, union msg_body *body)
{
	if (broken(w, BREAK_EMPTY_BEAT) && env->type == MSG_BEAT) {
		env->seq = c->session.seq;
		body->beat.exact = false;
	}
	if (broken(w, BREAK_EPOCH) && env->type != MSG_SNAP_BEGIN)
		env->epoch = c->session.epoch;
}

static void
on_change(enum mirror_change kind, const struct body_item *item, void *arg)
{
	static const char *const kinds[] = {
		[MIRROR_ADDED] = "added", [MIRROR_UPDATED] = "updated", [MIRROR_GONE] = "gone",
	};
	const struct ends *ends = arg;
	struct session_world *w = ends->w;
	struct consumer *c = ends->c;
	const uint64_t rv = text_number(item->rv);

	SIM_TRACE(w->sim, "  %s: %.*s %s, uid %.*s rv %d version %d", c->name, (int)item->key.len,
	    item->key.p, kinds[kind], (int)item->uid.len, item->uid.p == NULL ? "" : item->uid.p,
	    (int)rv, (int)item->version);
	if (kind == MIRROR_GONE && !truth_was_removed(&w->truth, item))
		sim_fail(w->sim, "%s reports %.*s (rv %d) gone, but it was not removed", c->name,
		    (int)item->key.len, item->key.p, (int)rv);
	struct tracked *t = track(c, item->key);
	const char *wrong = impossible(t, kind, item);
	if (wrong != NULL)
		sim_fail(w->sim, "%s: %.*s (rv %d, then %d) %s: %s", c->name, (int)item->key.len,
		    item->key.p, (int)t->rv, (int)rv, kinds[kind], wrong);
	c->unclean += !t->unclean;
	t->unclean = true;
	t->rv = rv;
	t->uid = text_number(item->uid);
	t->value = hash64(item->value.p, item->value.len);
	t->held = kind != MIRROR_GONE;
	t->changed = ++c->clock;
	if (!(t->in_work && broken(w, BREAK_DEDUP)))
		workqueue_add(c->queue, item->key.p, item->key.len,
		    c->session.state == IN_SNAPSHOT ? WORK_INITIAL : WORK_LIVE, item->trace,
		    w->sim->now_ms);
}

/* Why a change cannot follow the one before it; NULL: it can. */
static const char *
impossible(const struct tracked *t, enum mirror_change kind, const struct body_item *item)
{
	if (t->held != (kind != MIRROR_ADDED))
		return t->held ? "it was present already" : "it was not present";
	if (text_number(item->rv) < t->rv)
		return "it goes back in time";
	if (kind == MIRROR_UPDATED && text_number(item->uid) != t->uid)
		return "with another uid, it must be gone first";
	if (kind == MIRROR_UPDATED && hash64(item->value.p, item->value.len) == t->value)
		return "nothing has changed";
	return NULL;
}

/* Sends HELLOs and ACKs; returns when to send again. */
static int64_t
send_frames(struct session_world *w, struct consumer *c, bool drained)
{
	const int64_t now_ms = w->sim->now_ms;
	const bool writable = c->conn.up.open;

	if (writable && !c->writable)
		session_in_connected(&c->session, now_ms);
	c->writable = writable;
	for (int n = 0; n < 1000; n++) {
		if (broken(w, BREAK_SILENCE))
			c->session.received_ms = now_ms;
		const struct in_step step = session_in_next(&c->session, drained, now_ms);

		switch (step.verb) {
		case IN_SEND_HELLO:
			if (broken(w, BREAK_NONCE))
				c->session.nonce = 1;
			session_in_sent(&c->session, step.verb, writable && send_hello(w, c), now_ms);
			continue;
		case IN_SEND_ACK:
			if (!send_ack(w, c)) {
				session_in_sent(&c->session, step.verb, false, now_ms);
				return now_ms + SESSION_HELLO_MIN_MS;
			}
			session_in_sent(&c->session, step.verb, true, now_ms);
			continue;
		case IN_RESYNC:
			started_over(w, c, step.reason);
			continue;
		default:
			return step.at_ms;
		}
	}
	sim_fail(w->sim, "%s has frames to send without end", c->name);
	return INT64_MAX;
}

static bool
send_hello(struct session_world *w, struct consumer *c)
{
	const union msg_body body = { .hello = {
		.role = wire_str_of("test-consumer-1"), .incarnation = c->incarnation,
		.schema = msg_schema_hash(),
		.window = c->window, .nonce = c->session.nonce,
	} };

	return world_send(w, &c->conn.up, &(struct envelope){ .type = MSG_HELLO }, &body) == SIM_SENT;
}

static bool
send_ack(struct session_world *w, struct consumer *c)
{
	const union msg_body body = { .ack = { .credit = c->window } };
	const struct envelope env = { .type = MSG_ACK, .epoch = c->session.epoch, .seq = c->session.seq };

	return world_send(w, &c->conn.up, &env, &body) == SIM_SENT;
}

static void
started_over(struct session_world *w, struct consumer *c, enum resync reason)
{
	SIM_TRACE(w->sim, "%s starts over: %s", c->name, resync_name(reason));
	c->resyncs++;
	if (reason == RESYNC_HASH || reason == RESYNC_COUNT)
		sim_fail(w->sim, "%s starts over because of %s: that is a bug at one of the ends", c->name,
		    resync_name(reason));
	if (w->no_faults)
		sim_fail(w->sim, "%s starts over because of %s, though there was no fault", c->name,
		    resync_name(reason));
	if (w->final_changes_made)
		sim_fail(w->sim,
		    "%s starts over because of %s, though all was settled and there was no fault since",
		    c->name, resync_name(reason));
}

/* ---- Work on keys ---- */

static void
work(struct session_world *w, struct consumer *c)
{
	struct work job;

	while (c->workers < c->workers_max && workqueue_next(c->queue, w->sim->now_ms, &job)) {
		const uint32_t id = keytab_find(c->keys, job.key, job.len);

		if (id == KEYTAB_NONE) {
			sim_fail(w->sim, "%s gets work on %s, which needs none", c->name, job.key);
			return;
		}
		struct tracked *t = &c->tracked[id];
		if (t->in_work)
			sim_fail(w->sim, "%s: two workers on %s", c->name, job.key);
		t->in_work = true;
		t->seen = t->changed;
		c->workers++;
		const uint64_t takes_ms = w->sim->faults_over ? 5 : sim_chance(w->sim, 50) ? 3000 : 30;
		SIM_TRACE(w->sim, "%s works on %s", c->name, job.key);
		sim_node_at(w->sim, &c->node,
		    w->sim->now_ms + (int64_t)sim_random(w->sim, takes_ms), finish_work, w,
		    (uint64_t)c->index << 32 | id);
	}
}

static void
finish_work(struct sim *sim, void *arg, uint64_t n)
{
	struct session_world *w = arg;
	struct consumer *c = &w->consumers[n >> 32];
	const uint32_t id = (uint32_t)n;
	struct tracked *t = &c->tracked[id];
	enum work_result result = WORK_DONE;
	size_t len;

	if (sim_chance(sim, w->work_failures))
		result = sim_chance(sim, 500) ? WORK_RETRY : WORK_AFTER;
	const char *key = keytab_key(c->keys, id, &len);
	MUST(key != NULL && t->in_work);
	workqueue_finish(c->queue, key, len, result,
	    result == WORK_DONE ? 0 : (int64_t)sim_random(sim, 500), sim->now_ms);
	t->in_work = false;
	c->workers--;
	if (result == WORK_DONE && t->changed == t->seen)
		worked_off(c, id);
	sim_wake(sim, &c->node, sim->now_ms);
}

static struct tracked *
track(struct consumer *c, struct wire_str key)
{
	bool added;
	const uint32_t id = keytab_add(c->keys, key.p, key.len, &added);

	if (id >= c->tracked_cap) {
		c->tracked_cap = id < 16 ? 16 : 2 * id;
		c->tracked = obj_realloc(c->tracked, c->tracked_cap * sizeof(*c->tracked));
	}
	if (added)
		c->tracked[id] = (struct tracked){ 0 };
	return &c->tracked[id];
}

/* Work began after the last change, and succeeded. */
static void
worked_off(struct consumer *c, uint32_t id)
{
	c->tracked[id].unclean = false;
	c->unclean--;
	if (!c->tracked[id].held)
		keytab_remove(c->keys, id);
}

static void
compare(enum mirror_change kind, const struct body_item *item, void *arg)
{
	struct ends *ends = arg;

	(void)kind;
	ends->hash ^= link_store_item_hash(hash64(item->key.p, item->key.len), item->version);
	if (ends->wrong == NULL)
		ends->wrong = truth_differs(&ends->w->truth, item);
}
