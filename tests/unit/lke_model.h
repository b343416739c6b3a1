/*
 * tests/unit/lke_model.h - a model of the Linode API for one pool key, with an actor's memory beside it.
 *
 * Machines come late; calls are lost, answered, not answered, or arrive up to LATE_MS after they were sent.
 * After every call that takes effect: no machine is taken from a claim, no claim has two machines, there is
 * no second pool, no count is lowered.
 */
#ifndef MUSTER_TESTS_LKE_MODEL_H
#define MUSTER_TESTS_LKE_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "actors/lke-claimer/plan.h"
#include "random.h"

enum {
	CLAIMS = 128, MACHINES = 256, CALLS = 256,
	SETTLE_MS = 30000, LATE_MS = 25000, TTL_MS = 300000, APART_MS = 2000, LAUNCH_MS = 300000, NOBODY = -1,
};

enum call_kind { CREATE, SCALE, DELETE_NODE, DELETE_POOL, TAG, KINDS };

struct call {
	enum call_kind	kind;
	int64_t		count, machine, sent_ms;
	int		claim;
	bool		pending, awaited;
};

struct machine {
	int64_t	id, created_ms;
	int	tag;		/* index of a claim, or NOBODY */
	bool	there;
};

struct claim {			/* in the cluster */
	bool	exists, deleting;
	int64_t	reserved, provider_id;
};

struct pool {
	bool		there;
	int64_t		count;
	struct machine	machines[MACHINES];
	size_t		n;
};

struct memory {			/* of the actor */
	int64_t		started_ms, begun_ms, newer_than_ms, ended_ms, grown_ms;
	bool		listed, mutating;
	int64_t		waits_ms;
	enum lke_intent	intent;
	struct pool	snapshot;
	int		tagging[CLAIMS];	/* call, or NOBODY */
	int64_t		absent_ms[CLAIMS];	/* its machine is missing since then; 0: it is not */
	bool		absent[CLAIMS];		/* ... and in another one, apart */
	int64_t		leaving_ms[MACHINES];	/* a DELETE of it was sent; 0: none */
	int64_t		stale_tag_ms[MACHINES];	/* its tag names nobody, since then */
};

struct history {
	uint64_t		seed, first_seed;
	int64_t			now_ms, next_id;
	struct pool		pool;
	struct claim		claims[CLAIMS];
	int			nclaims;
	bool			intent_open;
	enum lke_intent_kind	intent_kind;
	int64_t			intent_count;
	struct call		calls[CALLS];
	unsigned		sent[KINDS], listed;
	struct memory		actor;
};

static struct history h;

static void
check(bool good, const char *what)
{
	if (!good)
		fail_msg("seed %llu at %lld ms: %s", (unsigned long long)h.first_seed,
		    (long long)h.now_ms, what);
}

/* ---- The API ---- */

static struct machine *
machine_of(struct pool *p, int64_t id)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->machines[i].id == id && p->machines[i].there)
			return &p->machines[i];
	}
	return NULL;
}

static int64_t
members(const struct pool *p)
{
	int64_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->machines[i].there;
	return n;
}

/* A claim that nobody deletes has it, by its tag or its status. */
static bool
in_use(const struct machine *m)
{
	for (int i = 0; i < h.nclaims; i++) {
		const struct claim *const c = &h.claims[i];

		if (c->exists && !c->deleting && (m->tag == i || c->provider_id == m->id))
			return true;
	}
	return false;
}

static void
remove_machine(struct machine *m)
{
	check(!in_use(m), "a machine is deleted that a claim has");
	m->there = false;
}

/* False: refused. */
static bool
apply(const struct call *c)
{
	struct pool *const p = &h.pool;
	struct machine *const m = machine_of(p, c->machine);

	switch (c->kind) {
	case CREATE:
		check(!p->there, "a second pool");
		p->there = true;
		p->count = c->count;
		return true;
	case SCALE:
		if (!p->there)
			return false;
		check(c->count >= p->count, "the count is lowered");
		p->count = c->count;
		return true;
	case DELETE_NODE:
		if (m == NULL)
			return false;
		remove_machine(m);
		p->count--;
		return true;
	case DELETE_POOL:
		for (size_t i = 0; i < p->n; i++) {
			if (p->machines[i].there)
				remove_machine(&p->machines[i]);
		}
		p->there = false;
		p->count = 0;
		return true;
	case TAG:
		if (m == NULL)
			return false;
		check(m->tag == c->claim || !in_use(m), "a machine is taken from its claim");
		for (size_t i = 0; i < p->n; i++)
			check(!p->machines[i].there || &p->machines[i] == m || p->machines[i].tag != c->claim,
			    "a claim has two machines");
		m->tag = c->claim;
		return true;
	case KINDS:
		break;
	}
	return false;
}

static void
provision(void)
{
	struct pool *const p = &h.pool;

	if (p->there && members(p) < p->count && p->n < MACHINES) {
		p->machines[p->n] = (struct machine){ .id = h.next_id++, .created_ms = h.now_ms,
			.tag = NOBODY, .there = true };
		p->n++;
	}
}

/* ---- Calls ---- */

static int
send_call(enum call_kind kind, int64_t count, int64_t machine, int claim)
{
	for (int i = 0; i < CALLS; i++) {
		if (!h.calls[i].pending) {
			h.calls[i] = (struct call){ .kind = kind, .count = count, .machine = machine,
				.claim = claim, .sent_ms = h.now_ms, .pending = true, .awaited = true };
			h.sent[kind]++;
			return i;
		}
	}
	check(false, "too many calls");
	return NOBODY;
}

static size_t
place_of(int64_t id)
{
	for (size_t i = 0; i < h.pool.n; i++) {
		if (h.pool.machines[i].id == id)
			return i;
	}
	return 0;
}

/* The actor learns how a call ended. */
static void
end_call(const struct call *c, bool known, bool done)
{
	struct memory *const a = &h.actor;

	if (c->kind == TAG) {
		a->tagging[c->claim] = NOBODY;
	} else {
		a->mutating = false;
		a->ended_ms = h.now_ms;
		if (c->kind != DELETE_NODE && known)
			a->intent = LKE_INTENT_ENDED;
		if (c->kind == CREATE || c->kind == SCALE)
			a->grown_ms = h.now_ms;
		if (c->kind == DELETE_NODE && !known)
			a->leaving_ms[place_of(c->machine)] = h.now_ms;
	}
	if (!known || !done)
		a->newer_than_ms = h.now_ms;
	else if (c->kind == TAG && machine_of(&a->snapshot, c->machine) != NULL)
		machine_of(&a->snapshot, c->machine)->tag = c->claim;	/* the answer is the instance */
	else if (c->kind == DELETE_NODE && machine_of(&a->snapshot, c->machine) != NULL) {
		machine_of(&a->snapshot, c->machine)->there = false;
		a->snapshot.count--;
	} else if (c->kind == CREATE || c->kind == SCALE) {
		a->snapshot.there = true;			/* the answer is the pool */
		a->snapshot.count = c->count;
	} else if (c->kind == DELETE_POOL) {
		a->snapshot.there = false;
		a->snapshot.n = 0;
	}
}

/* fate: 0 answered, 1 applied without an answer, 2 lost, 3 no answer, and it arrives later. */
static void
deliver(struct call *c, uint64_t fate)
{
	if (fate == 3 && c->awaited && h.now_ms - c->sent_ms < LATE_MS) {
		c->awaited = false;
		end_call(c, false, false);
		return;
	}
	c->pending = false;
	const bool done = fate != 2 && apply(c);
	if (c->awaited)
		end_call(c, fate == 0, done);
}

/* No call arrives later than LATE_MS after it was sent. */
static void
pass_time(int64_t ms)
{
	h.now_ms += ms;
	for (int i = 0; i < CALLS; i++) {
		if (h.calls[i].pending && h.now_ms - h.calls[i].sent_ms > LATE_MS)
			deliver(&h.calls[i], 1 + random_below(&h.seed, 2));
	}
}

#endif
