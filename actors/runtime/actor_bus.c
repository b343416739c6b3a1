/* actors/runtime/actor_bus.c - what an actor does with its links: hand out, read, write, answer. */
#include "actor_private.h"
#include "clock.h"
#include "obj.h"
#include "random.h"

enum err
actor_publish(struct actor *a, enum link l, const char *key, const char *uid, const char *rv, enum msg type,
    const union msg_body *body, uint64_t trace)
{
	msgpack_sbuffer_clear(&a->buffer);
	msg_pack(&a->buffer, type, body);
	return actor_publish_packed(a, l, key, uid, rv, type, a->buffer.data, a->buffer.size, trace, false);
}

enum err
actor_publish_packed(struct actor *a, enum link l, const char *key, const char *uid, const char *rv,
    enum msg type, const void *bytes, size_t len, uint64_t trace, bool force)
{
	struct link_store *v = bus_store(a->bus, l);
	bool changed = force;

	MUST(v != NULL && link_carries(l, type));
	if (len > LINK_STORE_VALUE_MAX)
		return E_TOO_BIG;
	const struct wire_bin value = { .p = bytes, .len = (uint32_t)len };
	const struct wire_str k = wire_str_of(key), u = wire_str_of(uid), r = wire_str_of(rv);
	const enum err e = force ? link_store_force(v, k, u, r, type, value, trace)
				 : link_store_set(v, k, u, r, type, value, trace, &changed);
	if (changed && e == E_OK)
		bus_published(a->bus, l, k, r, trace, false);
	return e;
}

void
actor_retract(struct actor *a, enum link l, const char *key, uint64_t trace)
{
	struct link_store *v = bus_store(a->bus, l);

	MUST(v != NULL);
	if (link_store_remove(v, wire_str_of(key), trace))
		bus_published(a->bus, l, wire_str_of(key), wire_str_of(""), trace, true);
}

void
actor_link_ready(struct actor *a, enum link l)
{
	struct link_store *v = bus_store(a->bus, l);

	MUST(v != NULL);
	link_store_set_ready(v);
	bus_touch(a->bus);
	actor_send_synced(a);
}

uint64_t
actor_new_trace(struct actor *a)
{
	return random_next(&a->random);
}

bool
actor_has_peer(const struct actor *a, enum role r)
{
	return bus_has_peer(a->bus, r);
}

enum err
actor_result_items(struct actor *a, uint64_t handle, const struct body_item *items, size_t n)
{
	return bus_result_items(a->bus, handle, items, n);
}

void
actor_result(struct actor *a, uint64_t handle, const struct body_result *r, const char *const *keys,
    size_t nkeys)
{
	bus_result(a->bus, handle, r, keys, nkeys);
}

uint64_t
actor_write(struct actor *a, enum link l, const struct write_request *w, write_done *done, void *arg)
{
	return bus_write(a->bus, l, w, done, arg);
}

bool
actor_read(struct actor *a, enum link l, const char *key, size_t len, struct change *out,
    union msg_body *value)
{
	return bus_read(a->bus, l, (struct wire_str){ .p = key, .len = (uint32_t)len }, out, value);
}

void
actor_each(struct actor *a, enum link l, void (*fn)(const struct change *, void *), void *arg)
{
	bus_each(a->bus, l, fn, arg);
}

bool
actor_fresh(const struct actor *a, enum link l)
{
	return bus_fresh(a->bus, l);
}

bool
actor_cluster_time_us(struct actor *a, enum link l, int64_t *us)
{
	static const char key[] = ":leader";
	union msg_body value;
	struct change leader;

	if (!actor_read(a, l, key, sizeof(key) - 1, &leader, &value) || value.leader.cluster_ms == 0)
		return false;
	*us = (clock_mono_ms() + value.leader.cluster_ms) * 1000;
	return true;
}

void
actor_hop(struct actor *a, const char *key, uint64_t trace, const char *text)
{
	actor_hop_as(a, HOP_NOTE, key, trace, text);
}

void
actor_hop_as(struct actor *a, enum hop_what what, const char *key, uint64_t trace, const char *text)
{
	bus_hop(a->bus, &(struct bus_hop){ .what = what, .link = LINK_MAX, .peer = ROLE_NONE,
	    .key = wire_str_of(key), .trace = trace, .text = text });
}

void
actor_time_link(struct actor *a, enum link l, notify_time *observe)
{
	bus_time(a->bus, l, observe);
}
