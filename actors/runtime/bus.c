/*
 * actors/runtime/bus.c - the pump over all link ends of one actor, and the peer records of the
 * supervisor.
 */
#include "bus.h"

#include <errno.h>
#include <string.h>

#include "bus_private.h"
#include "clock.h"
#include "obj.h"

_Static_assert(LINK_MAX <= UINT8_MAX && ROLE_MAX <= UINT8_MAX, "the ends of a bus name both in a byte");

static void pump(evutil_socket_t, short, void *);
static void list_ends(struct bus *);
static void merge(struct turn *, struct turn);
static struct stat_series *series(enum stat_id, enum link, const char *, const char *);

struct bus *
bus_new(struct event_base *base, const char *run_dir, enum role role, uint64_t incarnation,
    struct tap *tap, const struct bus_owner *owner)
{
	struct bus *b;

	OBJ_NEW(b, BUS_MAGIC);
	b->base = base;
	b->run_dir = run_dir;
	b->role = role;
	b->incarnation = incarnation;
	b->tap = tap;
	b->hop_log = hop_log_new();
	b->pool = intern_new();
	b->owner = *owner;
	msg_arena_init(&b->arena);
	msg_arena_init(&b->arena_gone);
	msg_arena_init(&b->arena_read);
	msgpack_sbuffer_init(&b->buffer);
	b->pump = event_new(base, -1, 0, pump, b);
	b->timer = event_new(base, -1, 0, pump, b);
	MUST(b->pump != NULL && b->timer != NULL);
	return b;
}

void
bus_free(struct bus **bp)
{
	struct bus *b;

	if (*bp == NULL)
		return;
	OBJ_TAKE(b, bp, BUS_MAGIC);
	for (unsigned l = 0; l < LINK_MAX; l++) {
		out_free(&b->outs[l]);
		for (unsigned r = 0; r < ROLE_MAX; r++)
			in_free(&b->ins[l][r]);
	}
	write_client_free(&b->write_client);
	write_server_free(&b->write_server);
	hop_log_free(&b->hop_log);
	intern_free(&b->pool);	/* after the stores and mirrors that use it */
	event_free(b->pump);
	event_free(b->timer);
	msg_arena_free(&b->arena);
	msg_arena_free(&b->arena_gone);
	msg_arena_free(&b->arena_read);
	msgpack_sbuffer_destroy(&b->buffer);
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		secret_wipe(&b->peers[r].expected);
		secret_wipe(&b->peers[r].presented);
	}
	OBJ_FREE(b);
}

bool
bus_bind(struct bus *b)
{
	for (unsigned l = 0; l < LINK_MAX; l++) {
		if (!link_binds((enum link)l, b->role))
			continue;
		b->outs[l] = out_new(b, (enum link)l);
		if (b->outs[l] == NULL)
			return false;
	}
	list_ends(b);
	return true;
}

void
bus_peer(struct bus *b, enum role who, uint64_t incarnation, const struct secret *expected,
    const struct secret *presented, enum peer_state state)
{
	struct peer *p = &b->peers[who];

	p->known = true;
	p->incarnation = incarnation;
	p->state = state;
	p->expected = expected != NULL ? *expected : (struct secret){ 0 };
	p->presented = presented != NULL ? *presented : (struct secret){ 0 };
	for (unsigned l = 0; l < LINK_MAX; l++) {
		struct bus_in **in = &b->ins[l][who];

		if (b->outs[l] != NULL && link_connects((enum link)l, who))
			out_peer_gone(b->outs[l], who, incarnation);
		if (who == b->role || !link_binds((enum link)l, who) || !link_connects((enum link)l, b->role)
		    || (b->owner.wanted[l] & link_table[l].values) == 0)
			continue;
		if (state == PEER_OFF) {
			if (*in != NULL) {
				in_drop(*in);
				write_client_lost(b, (enum link)l);
			}
			in_free(in);
			list_ends(b);	/* at once: handlers of the next link may read the list */
			continue;
		}
		if (*in == NULL) {
			*in = in_new(b, (enum link)l, who);
			list_ends(b);
		}
		if (state == PEER_UP)
			in_producer_up(*in, incarnation, clock_mono_ms());
	}
	bus_touch(b);
}

static void
list_ends(struct bus *b)
{
	b->nouts = b->nins = 0;
	for (unsigned l = 0; l < LINK_MAX; l++) {
		if (b->outs[l] != NULL)
			b->out_ends[b->nouts++] = (uint8_t)l;
		for (unsigned r = 0; r < ROLE_MAX; r++) {
			if (b->ins[l][r] != NULL)
				b->in_ends[b->nins++] = (struct in_end){ (uint8_t)l, (uint8_t)r };
		}
	}
}

bool
bus_has_peer(const struct bus *b, enum role who)
{
	return b->peers[who].known && b->peers[who].state != PEER_OFF;
}

struct link_store *
bus_store(struct bus *b, enum link l)
{
	return b->outs[l] == NULL ? NULL : b->outs[l]->store;
}

void
bus_touch(struct bus *b)
{
	event_active(b->pump, EV_TIMEOUT, 0);
}

void
bus_wake(void *arg)
{
	bus_touch(arg);
}

bool
bus_synced(const struct bus *b)
{
	for (unsigned i = 0; i < b->nins; i++) {
		const struct in_end e = b->in_ends[i];

		if (link_table[e.link].gating && !b->ins[e.link][e.producer]->complete)
			return false;
	}
	return true;
}

bool
bus_fresh(const struct bus *b, enum link l)
{
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (b->ins[l][r] != NULL && !in_fresh(b->ins[l][r]))
			return false;
	}
	return true;
}

void
bus_each(struct bus *b, enum link l, void (*fn)(const struct change *, void *), void *arg)
{
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (b->ins[l][r] != NULL)
			in_each(b->ins[l][r], fn, arg);
	}
}

bool
bus_read(struct bus *b, enum link l, struct wire_str key, struct change *out, union msg_body *value)
{
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (b->ins[l][r] != NULL && in_read(b->ins[l][r], key, out, value))
			return true;
	}
	return false;
}

void
bus_release(struct bus *b)
{
	for (unsigned i = 0; b != NULL && i < b->nins; i++)
		in_release(b->ins[b->in_ends[i].link][b->in_ends[i].producer]);
}

void
bus_stats(struct bus *b)
{
	for (unsigned i = 0; i < b->nouts; i++)
		out_stats(b->outs[b->out_ends[i]]);
	for (unsigned i = 0; i < b->nins; i++)
		in_stats(b->ins[b->in_ends[i].link][b->in_ends[i].producer]);
}

void
bus_frame(struct bus *b, const struct envelope *env, const union msg_body *body)
{
	msgpack_sbuffer_clear(&b->buffer);
	frame_begin(&b->buffer, env);
	msg_pack(&b->buffer, env->type, body);
}

bool
bus_send(struct bus *b, struct socket *s, const struct bus_address *to, enum link l, enum msg m)
{
	/* Bigger would be dropped by the peer silently. */
	MUST(b->buffer.size <= FRAME_MAX_BYTES);
	if (to->id != NULL && !socket_send(s, to->id, to->id_len, true))
		return false;
	if (!socket_send(s, b->buffer.data, b->buffer.size, false))
		return false;
	tap_record(b->tap, TAP_OUT, l, m, to->name, b->buffer.data, b->buffer.size);
	return true;
}

void
bus_count(enum stat_id id, enum link l, const char *label, const char *value)
{
	stat_add(series(id, l, label, value), 1);
}

void
bus_gauge(enum stat_id id, enum link l, const char *label, const char *value, double n)
{
	stat_set(series(id, l, label, value), n);
}

static struct stat_series *
series(enum stat_id id, enum link l, const char *label, const char *value)
{
	char labels[160] = "";

	stat_label(labels, sizeof(labels), "link", link_table[l].name);
	if (label != NULL)
		stat_label(labels, sizeof(labels), label, value);
	return stat_get(id, labels);
}

struct stat_series *
bus_traffic(enum stat_id id, enum link l, enum tap_direction d)
{
	return series(id, l, "direction", d == TAP_OUT ? "out" : "in");
}

/* ---- The pump ---- */

static void
pump(evutil_socket_t fd, short what, void *arg)
{
	struct bus *b = arg;
	const int64_t now_ms = clock_mono_ms();
	struct turn all = { .at_ms = INT64_MAX };

	(void)fd, (void)what;
	bus_release(b);
	for (unsigned i = 0; i < b->nins; i++)
		merge(&all, in_turn(b->ins[b->in_ends[i].link][b->in_ends[i].producer], now_ms));
	merge(&all, write_client_turn(b, now_ms));
	/* Producers after consumers: what a handler has just published goes out in the same turn. */
	for (unsigned i = 0; i < b->nouts; i++)
		merge(&all, out_turn(b->outs[b->out_ends[i]], now_ms));
	if (all.again) {
		bus_touch(b);
		return;
	}
	if (all.at_ms == INT64_MAX)
		return;
	const int64_t wait_ms = all.at_ms > now_ms ? all.at_ms - now_ms : 0;
	const struct timeval tv = { .tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000 + 500 };
	event_add(b->timer, &tv);
}

static void
merge(struct turn *all, struct turn one)
{
	all->again = all->again || one.again;
	all->at_ms = one.at_ms < all->at_ms ? one.at_ms : all->at_ms;
}
