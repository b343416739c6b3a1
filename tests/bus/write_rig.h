/*
 * tests/bus/write_rig.h - a bus that stands for kube-watcher and buses of the actors that write
 * through it: over real sockets, in one process, on the loop of rig.h. What the watcher does with a
 * write is up to the test.
 */
#ifndef MUSTER_TEST_WRITE_RIG_H
#define MUSTER_TEST_WRITE_RIG_H

#include "rig.h"
#include "write_table.h"
#include "writes.h"

enum { WATCHER = 7, ASKED_MAX = 512, RESULTS_MAX = 2048 };

/* A write as it arrived at the watcher. */
struct asked {
	uint64_t	handle, id, trace;
	enum role	from;
	enum op		op;
	char		key[OBJECT_KEY_MAX + 1], body[256];
};

/* How one ended, and what its actor could see at that moment. */
struct ended {
	uint64_t	id;
	enum outcome	outcome;
	unsigned	status;
	size_t		nitems;
	char		message[160], rv[32];
	char		seen_rv[32];	/* of the object, in the actor's mirror */
	void		*arg;
};

struct desk {
	struct rig_end	 end;
	enum link	 link;
	/* Of the watcher. */
	struct asked	 asked[ASKED_MAX];
	unsigned	 nasked;
	unsigned	 ended_of[ROLE_MAX];	/* sessions that ended with writes open */
	/* Of an actor. */
	struct ended	 results[RESULTS_MAX];
	unsigned	 nresults;
	bool		 asking;	/* inside bus_write: no `done` may come */
	void	       (*on_result)(struct desk *, const struct write_result *);
};

struct office {
	struct rig	rig;
	struct desk	watcher, actors[2];
};

static inline void
office_asked(const struct write_in *w, void *arg)
{
	struct desk *d = ((struct rig_end *)arg)->context;
	struct asked *a = &d->asked[d->nasked++];
	char name[256], resource[64], ns[64];

	assert_true(d->nasked <= ASKED_MAX);
	*a = (struct asked){ .handle = w->handle, .id = w->id, .trace = w->trace, .from = w->from,
		.op = (enum op)w->body->op };
	snprintf(resource, sizeof(resource), "%.*s", (int)w->body->resource.len, w->body->resource.p);
	snprintf(ns, sizeof(ns), "%.*s", (int)w->body->ns.len, w->body->ns.p);
	snprintf(name, sizeof(name), "%.*s", (int)w->body->name.len, w->body->name.p);
	if (!object_key(a->key, sizeof(a->key), resource, ns, name))
		a->key[0] = '\0';
	snprintf(a->body, sizeof(a->body), "%.*s", (int)w->body->body.len, w->body->body.p);
}

static inline void
office_session_ended(enum role from, void *arg)
{
	struct desk *d = ((struct rig_end *)arg)->context;

	d->ended_of[from]++;
}

static inline void
office_see_rv(const struct change *c, void *arg)
{
	snprintf(arg, sizeof(((struct ended *)0)->seen_rv), "%.*s", (int)c->rv.len, c->rv.p);
}

static inline void
office_wrote(const struct write_result *r, write_done *done, void *done_arg, void *arg)
{
	struct desk *d = ((struct rig_end *)arg)->context;
	struct ended *e = &d->results[d->nresults++ % RESULTS_MAX];

	(void)done;
	assert_false(d->asking);
	*e = (struct ended){ .id = r->id, .outcome = r->outcome, .status = r->status, .nitems = r->nitems,
		.arg = done_arg };
	snprintf(e->message, sizeof(e->message), "%.*s", (int)r->message.len, r->message.p);
	snprintf(e->rv, sizeof(e->rv), "%.*s", (int)r->rv.len, r->rv.p);
	if (done_arg != NULL)
		bus_get(d->end.bus, d->link, wire_str_of(done_arg), office_see_rv, e->seen_rv);
	if (d->on_result != NULL)
		d->on_result(d, r);
}

static inline void
office_open(struct office *o, struct desk *d, enum role role, enum link l, uint64_t incarnation)
{
	struct rig_end *e = &d->end;
	struct bus_owner owner = { .changed = rig_changed, .report = rig_report, .write = office_asked,
		.wrote = office_wrote, .session_ended = office_session_ended, .arg = e };

	rig_folder(o->rig.dir, role);
	*e = (struct rig_end){
		.role = role, .incarnation = incarnation, .token.len = TOKEN_BYTES, .context = d
	};
	d->link = l;
	memset(e->token.bytes, (int)role + 1, TOKEN_BYTES);
	owner.wanted[l] = role == ROLE_KUBE_WATCHER ? 0 : MSG_BIT(NAMESPACE);
	e->tap = tap_open(o->rig.base, o->rig.dir, role, incarnation);
	assert_non_null(e->tap);
	e->bus = bus_new(o->rig.base, o->rig.dir, role, incarnation, e->tap, &owner);
	assert_true(bus_bind(e->bus));
}

static inline void
office_introduce(struct office *o, struct desk *d)
{
	bus_peer(o->watcher.end.bus, d->end.role, d->end.incarnation, &d->end.token, NULL, PEER_UP);
	bus_peer(d->end.bus, ROLE_KUBE_WATCHER, o->watcher.end.incarnation, NULL, &d->end.token, PEER_UP);
}

/* An object of the watcher's store for that link: `deleted` stands for all that may be in it. */
static inline void
office_put(struct office *o, enum link l, const char *key, const char *rv, const char *value, bool force)
{
	struct link_store *v = bus_store(o->watcher.end.bus, l);
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
	bus_touch(o->watcher.end.bus);
}

static inline void
office_remove(struct office *o, enum link l, const char *key)
{
	link_store_remove(bus_store(o->watcher.end.bus, l), wire_str_of(key), 1);
	bus_touch(o->watcher.end.bus);
}

static inline void
office_watcher(struct office *o, uint64_t incarnation, bool ready)
{
	office_open(o, &o->watcher, ROLE_KUBE_WATCHER, LINK_KUBE_TEST_1, incarnation);
	office_put(o, LINK_KUBE_TEST_1, "namespaces/a", "1", "x", false);
	for (unsigned l = LINK_KUBE_TEST_1; ready && l <= LINK_KUBE_TEST_2; l++)
		link_store_set_ready(bus_store(o->watcher.end.bus, (enum link)l));
}

/* A watcher that knows namespaces/a, and one actor that has its picture. */
static inline void
office_start(struct office *o)
{
	memset(o, 0, sizeof(*o));
	rig_init(&o->rig);
	office_watcher(o, WATCHER, true);
	office_open(o, &o->actors[0], ROLE_TEST_KUBE_1, LINK_KUBE_TEST_1, 1);
	office_introduce(o, &o->actors[0]);
	RIG_UNTIL(&o->rig, o->actors[0].end.synced == 1);
}

static inline void
office_end(struct office *o)
{
	for (size_t i = 0; i < NITEMS(o->actors); i++)
		rig_close(&o->actors[i].end);
	rig_close(&o->watcher.end);
	rig_free(&o->rig);
}

/* The first actor asks to patch that namespace; its key is the argument of `done`. */
static inline uint64_t
office_ask(struct office *o, enum op op, const char *key, int64_t timeout_ms)
{
	struct desk *d = &o->actors[0];
	const char *name = strchr(key, '/') + 1;
	const struct write_request w = {
		.op = op, .resource = "namespaces", .name = name, .version = "v1",
		.body = "{}", .body_len = 2, .timeout_ms = timeout_ms, .trace = 77,
	};

	d->asking = true;
	const uint64_t id = bus_write(d->end.bus, d->link, &w, NULL, (void *)(uintptr_t)key);
	d->asking = false;
	return id;
}

/* The watcher has done it: the object as it is now, into the store and back to whoever asked. */
static inline void
office_answer(struct office *o, const struct asked *a, const char *rv, const char *value)
{
	const char *const keys[] = { a->key };
	const struct body_result r = { .outcome = OUTCOME_OK, .status = 200, .rv = wire_str_of(rv) };

	office_put(o, LINK_KUBE_TEST_1, a->key, rv, value, true);
	bus_result(o->watcher.end.bus, a->handle, &r, keys, NITEMS(keys));
}

static inline double
office_stat(enum stat_id id, const char *label, const char *value)
{
	char labels[160] = "";

	assert_true(stat_label(labels, sizeof(labels), "link", "kube.test-1"));
	assert_true(stat_label(labels, sizeof(labels), label, value));
	return stat_value(stat_get(id, labels));
}

#endif
