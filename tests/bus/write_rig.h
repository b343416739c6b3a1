/*
 * tests/bus/write_rig.h - a bus in the place of kube-watcher, and buses of the actors that write
 * through it: over real sockets, in one process, on the loop of rig.h. The test decides what the
 * watcher does with a write.
 */
#ifndef MUSTER_TEST_WRITE_RIG_H
#define MUSTER_TEST_WRITE_RIG_H

#include "rig.h"
#include "write_table.h"
#include "writes.h"

enum { WATCHER = 7, RECEIVED_MAX = 512, RESULTS_MAX = 2048 };

/* A write as the watcher received it. */
struct received_write {
	uint64_t	handle, id, trace;
	enum role	from;
	enum op		op;
	char		key[OBJECT_KEY_MAX + 1], body[256];
};

/* The result of a write, and what the mirror of its actor held at that moment. */
struct write_outcome {
	uint64_t	id;
	enum outcome	outcome;
	unsigned	status;
	size_t		nitems;
	char		message[160], rv[32];
	char		seen_rv[32];	/* of the object, in the actor's mirror */
	void		*arg;
};

struct write_peer {
	struct rig_end	 end;
	enum link	 link;
	/* Used by the watcher. */
	struct received_write received[RECEIVED_MAX];
	unsigned	 nreceived;
	unsigned	 ended_of[ROLE_MAX];	/* sessions that ended with writes in flight */
	/* Used by an actor. */
	struct write_outcome results[RESULTS_MAX];
	unsigned	 nresults;
	bool		 in_bus_write;	/* `done` may not be called inside bus_write */
	void	       (*on_result)(struct write_peer *, const struct write_result *);
};

struct write_rig {
	struct rig	  rig;
	struct write_peer watcher, actors[2];
};

static inline void
write_rig_on_write(const struct write_in *w, void *arg)
{
	struct write_peer *p = ((struct rig_end *)arg)->context;
	struct received_write *a = &p->received[p->nreceived++];
	char name[256], resource[64], ns[64];

	assert_true(p->nreceived <= RECEIVED_MAX);
	*a = (struct received_write){ .handle = w->handle, .id = w->id, .trace = w->trace, .from = w->from,
		.op = (enum op)w->body->op };
	snprintf(resource, sizeof(resource), "%.*s", (int)w->body->resource.len, w->body->resource.p);
	snprintf(ns, sizeof(ns), "%.*s", (int)w->body->ns.len, w->body->ns.p);
	snprintf(name, sizeof(name), "%.*s", (int)w->body->name.len, w->body->name.p);
	if (!object_key(a->key, sizeof(a->key), resource, ns, name))
		a->key[0] = '\0';
	snprintf(a->body, sizeof(a->body), "%.*s", (int)w->body->body.len, w->body->body.p);
}

static inline void
write_rig_session_ended(enum role from, void *arg)
{
	struct write_peer *p = ((struct rig_end *)arg)->context;

	p->ended_of[from]++;
}

static inline void
write_rig_on_result(const struct write_result *r, write_done *done, void *done_arg, void *arg)
{
	struct write_peer *p = ((struct rig_end *)arg)->context;
	struct write_outcome *e = &p->results[p->nresults++ % RESULTS_MAX];

	(void)done;
	assert_false(p->in_bus_write);
	*e = (struct write_outcome){ .id = r->id, .outcome = r->outcome, .status = r->status,
		.nitems = r->nitems, .arg = done_arg };
	snprintf(e->message, sizeof(e->message), "%.*s", (int)r->message.len, r->message.p);
	snprintf(e->rv, sizeof(e->rv), "%.*s", (int)r->rv.len, r->rv.p);
	struct change c;
	union msg_body value;
	if (done_arg != NULL && bus_read(p->end.bus, p->link, wire_str_of(done_arg), &c, &value))
		snprintf(e->seen_rv, sizeof(e->seen_rv), "%.*s", (int)c.rv.len, c.rv.p);
	if (p->on_result != NULL)
		p->on_result(p, r);
}

static inline void
write_rig_open(struct write_rig *wr, struct write_peer *p, enum role role, enum link l, uint64_t incarnation)
{
	struct rig_end *e = &p->end;
	struct bus_owner owner = { .changed = rig_changed, .report = rig_report, .write = write_rig_on_write,
		.wrote = write_rig_on_result, .session_ended = write_rig_session_ended, .arg = e };

	rig_folder(wr->rig.dir, role);
	*e = (struct rig_end){
		.role = role, .incarnation = incarnation, .token.len = TOKEN_BYTES, .context = p
	};
	p->link = l;
	memset(e->token.bytes, (int)role + 1, TOKEN_BYTES);
	owner.wanted[l] = role == ROLE_KUBE_WATCHER ? 0 : MSG_BIT(NAMESPACE);
	e->tap = tap_open(wr->rig.base, wr->rig.dir, role, incarnation);
	assert_non_null(e->tap);
	e->bus = bus_new(wr->rig.base, wr->rig.dir, role, incarnation, e->tap, &owner);
	assert_true(bus_bind(e->bus));
}

static inline void
write_rig_announce(struct write_rig *wr, struct write_peer *p)
{
	bus_peer(wr->watcher.end.bus, p->end.role, p->end.incarnation, &p->end.token, NULL, PEER_UP);
	bus_peer(p->end.bus, ROLE_KUBE_WATCHER, wr->watcher.end.incarnation, NULL, &p->end.token, PEER_UP);
}

/* Puts an object into the watcher's store for that link; its only content is `deleted`. */
static inline void
write_rig_put(struct write_rig *wr, enum link l, const char *key, const char *rv, const char *value,
    bool force)
{
	struct link_store *v = bus_store(wr->watcher.end.bus, l);
	const union msg_body body = { .nspace = { .deleted = wire_str_of(value) } };
	msgpack_sbuffer b;
	bool changed;

	msgpack_sbuffer_init(&b);
	msg_pack(&b, MSG_NAMESPACE, &body);
	const struct wire_bin bytes = { .p = (const uint8_t *)b.data, .len = (uint32_t)b.size };
	const struct wire_str k = wire_str_of(key), uid = wire_str_of("uid"), r = wire_str_of(rv);
	assert_int_equal(force ? link_store_force(v, k, uid, r, MSG_NAMESPACE, bytes, 1)
			       : link_store_set(v, k, uid, r, MSG_NAMESPACE, bytes, 1, &changed), E_OK);
	msgpack_sbuffer_destroy(&b);
	bus_touch(wr->watcher.end.bus);
}

static inline void
write_rig_remove(struct write_rig *wr, enum link l, const char *key)
{
	link_store_remove(bus_store(wr->watcher.end.bus, l), wire_str_of(key), 1);
	bus_touch(wr->watcher.end.bus);
}

static inline void
write_rig_watcher(struct write_rig *wr, uint64_t incarnation, bool ready)
{
	write_rig_open(wr, &wr->watcher, ROLE_KUBE_WATCHER, LINK_KUBE_TEST_1, incarnation);
	write_rig_put(wr, LINK_KUBE_TEST_1, "namespaces/a", "1", "x", false);
	for (unsigned l = LINK_KUBE_TEST_1; ready && l <= LINK_KUBE_TEST_2; l++)
		link_store_set_ready(bus_store(wr->watcher.end.bus, (enum link)l));
}

/* A watcher that holds namespaces/a, and one actor that has received its snapshot. */
static inline void
write_rig_start(struct write_rig *wr)
{
	memset(wr, 0, sizeof(*wr));
	rig_init(&wr->rig);
	write_rig_watcher(wr, WATCHER, true);
	write_rig_open(wr, &wr->actors[0], ROLE_TEST_KUBE_1, LINK_KUBE_TEST_1, 1);
	write_rig_announce(wr, &wr->actors[0]);
	RIG_UNTIL(&wr->rig, wr->actors[0].end.synced == 1);
}

static inline void
write_rig_end(struct write_rig *wr)
{
	for (size_t i = 0; i < NITEMS(wr->actors); i++)
		rig_close(&wr->actors[i].end);
	rig_close(&wr->watcher.end);
	rig_free(&wr->rig);
}

/* The first actor requests a write of that namespace; its key is the argument of `done`. */
static inline uint64_t
write_rig_request(struct write_rig *wr, enum op op, const char *key, int64_t timeout_ms)
{
	struct write_peer *p = &wr->actors[0];
	const char *name = strchr(key, '/') + 1;
	const struct write_request w = {
		.op = op, .resource = "namespaces", .name = name, .version = "v1",
		.body = "{}", .body_len = 2, .timeout_ms = timeout_ms, .trace = 77,
	};

	p->in_bus_write = true;
	const uint64_t id = bus_write(p->end.bus, p->link, &w, NULL, (void *)(uintptr_t)key);
	p->in_bus_write = false;
	return id;
}

/* The watcher reports success: it puts the new object into the store and sends it back to the sender. */
static inline void
write_rig_answer(struct write_rig *wr, const struct received_write *a, const char *rv, const char *value)
{
	const char *const keys[] = { a->key };
	const struct body_result r = { .outcome = OUTCOME_OK, .status = 200, .rv = wire_str_of(rv) };

	write_rig_put(wr, LINK_KUBE_TEST_1, a->key, rv, value, true);
	bus_result(wr->watcher.end.bus, a->handle, &r, keys, NITEMS(keys));
}

static inline double
write_rig_stat(enum stat_id id, const char *label, const char *value)
{
	char labels[160] = "";

	assert_true(stat_label(labels, sizeof(labels), "link", "kube.test-1"));
	assert_true(stat_label(labels, sizeof(labels), label, value));
	return stat_value(stat_get(id, labels));
}

#endif
