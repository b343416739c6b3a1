/*
 * tests/unit/test_lke_model.c - random histories of one pool key: C1, C5, C8, C9, C12, C14, A1, A2, A10.
 *
 * An actor around lke_plan, and a model of the API (lke_model.h). What the actor keeps in memory is lost when
 * it is killed, what it has written into NodeClaims stays. When faults end: each claim has its machine,
 * nothing is left over, and then no call is sent any more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/lke-claimer/plan.h"
#include "lke_model.h"
#include "obj.h"
#include "random.h"

enum { HISTORIES = 800, STEPS = 250, LIVE = 5 };

/* ---- The actor ---- */

static void
restart_actor(void)
{
	h.actor = (struct memory){ .started_ms = h.now_ms, .ended_ms = h.now_ms, .grown_ms = h.now_ms,
		.intent = h.intent_open ? LKE_INTENT_SENT : LKE_INTENT_NONE };
	for (int i = 0; i < CLAIMS; i++)
		h.actor.tagging[i] = NOBODY;
	for (int i = 0; i < CALLS; i++)
		h.calls[i].awaited = false;
}

static int64_t
machine_id(const struct claim *c, int index)
{
	for (size_t i = 0; i < h.actor.snapshot.n; i++) {
		if (h.actor.snapshot.machines[i].there && h.actor.snapshot.machines[i].tag == index)
			return h.actor.snapshot.machines[i].id;
	}
	return c->provider_id != 0 ? c->provider_id : c->reserved;
}

static void
take_snapshot(void)
{
	struct memory *const a = &h.actor;

	pass_time(1);
	if (members(&a->snapshot) != members(&h.pool))
		a->waits_ms = h.now_ms;
	a->snapshot = h.pool;
	a->listed = true;
	a->begun_ms = h.now_ms;
	h.listed++;
	for (int i = 0; i < h.nclaims; i++) {
		const int64_t id = machine_id(&h.claims[i], i);

		if (id == 0 || machine_of(&a->snapshot, id) != NULL) {
			a->absent_ms[i] = 0;
			a->absent[i] = false;
		} else if (a->absent_ms[i] == 0) {
			a->absent_ms[i] = a->begun_ms;
		} else if (a->begun_ms - a->absent_ms[i] >= APART_MS) {
			a->absent[i] = true;
		}
	}
	for (size_t i = 0; i < a->snapshot.n; i++) {
		const int tag = a->snapshot.machines[i].tag;
		const bool stale = tag != NOBODY && !h.claims[tag].exists;

		a->stale_tag_ms[i] = !stale ? 0 : a->stale_tag_ms[i] != 0 ? a->stale_tag_ms[i] : h.now_ms;
	}
}

static uint32_t
read_machines(struct lke_plan_instance *out)
{
	const struct memory *const a = &h.actor;
	uint32_t n = 0;

	for (size_t i = 0; i < a->snapshot.n && a->snapshot.there; i++) {
		const struct machine *const m = &a->snapshot.machines[i];
		const bool old = h.now_ms - m->created_ms > TTL_MS;
		const bool stale = m->tag != NOBODY && !h.claims[m->tag].exists;

		if (!m->there)
			continue;
		out[n++] = (struct lke_plan_instance){ .id = m->id, .node_id = "n", .drained = true,
			.tags = m->tag != NOBODY, .ownerless = stale,
			.suspect = old && h.now_ms - a->started_ms < SETTLE_MS,
			.leaving = a->leaving_ms[i] != 0 && a->begun_ms < a->leaving_ms[i] + SETTLE_MS,
			.expired = stale ? h.now_ms - a->stale_tag_ms[i] > TTL_MS : old };
	}
	return n;
}

static uint32_t
read_claims(struct lke_plan_claim *out, int *index)
{
	const struct memory *const a = &h.actor;
	uint32_t n = 0;

	for (int i = 0; i < h.nclaims; i++) {
		const struct claim *const c = &h.claims[i];
		struct lke_plan_claim p = { .name = "", .held = true, .deleting = c->deleting,
			.removable = c->deleting && a->tagging[i] == NOBODY, .reserved = c->reserved,
			.reserved_gone = a->absent[i], .provider_id = c->provider_id };

		if (!c->exists)
			continue;
		for (size_t k = 0; k < a->snapshot.n; k++) {
			if (a->snapshot.machines[k].there && a->snapshot.machines[k].tag == i) {
				p.tagged++;
				p.tagged_id = a->snapshot.machines[k].id;
			}
		}
		index[n] = i;
		out[n++] = p;
	}
	return n;
}

/* What each claim does with its machine (claim.h). */
static void
advance_claim(int i, const struct lke_plan_claim *p, int64_t assigned)
{
	struct claim *const c = &h.claims[i];
	struct memory *const a = &h.actor;

	if (c->deleting) {
		const bool none = p->tagged == 0 && c->provider_id == 0 && c->reserved == 0;

		if (a->tagging[i] == NOBODY && (none || (a->absent[i] && a->begun_ms > a->newer_than_ms)))
			c->exists = false;
	} else if (p->tagged == 1 && c->provider_id == 0) {
		c->provider_id = p->tagged_id;
	} else if (assigned != 0 && c->reserved != assigned) {
		c->reserved = assigned;
		a->absent_ms[i] = 0;
		a->absent[i] = false;
	} else if (assigned != 0 && a->tagging[i] == NOBODY) {
		a->tagging[i] = send_call(TAG, 0, assigned, i);
	}
}

static void
evaluate(void)
{
	static struct lke_plan_claim claims[CLAIMS];
	static struct lke_plan_instance machines[MACHINES];
	static uint32_t assign[CLAIMS];
	static int index[CLAIMS];
	struct memory *const a = &h.actor;
	struct lke_plan p;
	const int64_t since = a->ended_ms > a->started_ms ? a->ended_ms : a->started_ms;

	const uint32_t n = read_claims(claims, index);
	lke_plan(&(struct lke_plan_input){ .claims = claims, .nclaims = n, .instances = machines,
	    .ninstances = read_machines(machines), .listed = a->listed, .begun_ms = a->begun_ms,
	    .current = a->begun_ms > a->newer_than_ms && a->begun_ms > a->started_ms,
	    .pools = a->snapshot.there, .pool_id = 1, .count = a->snapshot.count, .waits_ms = a->waits_ms,
	    .overdue = h.now_ms - a->grown_ms > LAUNCH_MS, .mutating = a->mutating, .intent = a->intent,
	    .intent_kind = h.intent_kind, .intent_count = h.intent_count,
	    .settled = h.now_ms - since >= SETTLE_MS, .settled_list = a->begun_ms - since >= SETTLE_MS,
	    .settled_at_ms = since + SETTLE_MS, .open = true, .nodepool = true, .now_ms = h.now_ms }, assign,
	    &p);
	check(p.verb != LKE_STOP, p.why);
	if (p.verb == LKE_LIST && p.retry_at_ms <= h.now_ms) {
		take_snapshot();
	} else if (p.verb == LKE_INTEND) {
		h.intent_open = true;
		h.intent_kind = p.kind;
		h.intent_count = p.count;
		a->intent = LKE_INTENT_READY;
	} else if (p.verb == LKE_FORGET) {
		h.intent_open = false;
		a->intent = LKE_INTENT_NONE;
	} else if (p.verb == LKE_CREATE || p.verb == LKE_SCALE || p.verb == LKE_DELETE_POOL) {
		a->intent = LKE_INTENT_SENT;
		a->mutating = true;
		send_call(p.verb == LKE_CREATE ? CREATE : p.verb == LKE_SCALE ? SCALE : DELETE_POOL,
		    p.count, 0, NOBODY);
	} else if (p.verb == LKE_DELETE_NODE) {
		a->mutating = true;
		a->leaving_ms[place_of(machines[p.instance].id)] = h.now_ms;
		send_call(DELETE_NODE, 0, machines[p.instance].id, NOBODY);
	}
	for (uint32_t i = 0; i < n && p.verb != LKE_LIST; i++)
		advance_claim(index[i], &claims[i], assign[i] == LKE_NONE ? 0 : machines[assign[i]].id);
}

/* ---- Histories ---- */

static int
live_claims(void)
{
	int n = 0;

	for (int i = 0; i < h.nclaims; i++)
		n += h.claims[i].exists;
	return n;
}

static void
step(void)
{
	switch (random_below(&h.seed, 16)) {
	case 0:
		if (live_claims() < LIVE && h.nclaims < CLAIMS)
			h.claims[h.nclaims++] = (struct claim){ .exists = true };
		break;
	case 1:
		if (h.nclaims > 0)
			h.claims[random_below(&h.seed, (uint64_t)h.nclaims)].deleting = true;
		break;
	case 2:
		provision();
		break;
	case 3:
		if (random_below(&h.seed, 3) == 0)
			restart_actor();
		break;
	case 4:
		take_snapshot();
		break;
	case 5:
		pass_time(random_below(&h.seed, 12) > 0 ? 2000
		    : random_below(&h.seed, 2) > 0 ? SETTLE_MS + 10000 : TTL_MS + 10000);
		break;
	case 6:
	case 7:
	case 8: {
		struct call *const c = &h.calls[random_below(&h.seed, 4)];

		if (c->pending)
			deliver(c, random_below(&h.seed, 4));
		break;
	}
	default:
		pass_time((int64_t)random_below(&h.seed, 700));
		evaluate();
		break;
	}
}

/* Nothing fails any more: until `ms` have passed. */
static void
go_on(int64_t ms)
{
	const int64_t from = h.now_ms;

	while (h.now_ms - from < ms) {
		for (int i = 0; i < CALLS; i++) {
			if (h.calls[i].pending)
				deliver(&h.calls[i], 0);
		}
		for (int i = 0; i < 8; i++)
			provision();
		evaluate();
		pass_time(h.now_ms - from < 60000 ? 100 : 2500);
		/* The quiet interval: a list, so that what happened elsewhere is seen. */
		if (h.now_ms - h.actor.begun_ms > 30000)
			take_snapshot();
	}
}

static unsigned
mutations(void)
{
	unsigned n = 0;

	for (int i = 0; i < KINDS; i++)
		n += h.sent[i];
	return n;
}

static void
check_end(void)
{
	for (int i = 0; i < h.nclaims; i++) {
		const struct claim *const c = &h.claims[i];

		if (!c->exists)
			continue;
		check(!c->deleting, "a claim that was deleted is still there");
		const struct machine *const m = machine_of(&h.pool, c->provider_id);
		check(m != NULL && m->tag == i, "a claim has no machine");
	}
	check(members(&h.pool) == live_claims(), "machines are left over");
	check(h.pool.count == live_claims() && h.pool.there == (live_claims() > 0), "a pool is left over");
	check(!h.intent_open, "an intent is left open");
}

static void
begin(uint64_t seed)
{
	memset(&h, 0, sizeof(h));
	h.seed = h.first_seed = seed;
	h.now_ms = 1000000;
	h.next_id = 1000;
	restart_actor();
}

static void
a2_never_two_never_none(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= HISTORIES; i++) {
		begin(i * 7919);
		for (int k = 0; k < STEPS; k++)
			step();
		go_on(1500 * 1000);
		check_end();
		/* A1: after that, not a single call that changes anything. */
		const unsigned sent = mutations();
		go_on(120 * 1000);
		check(mutations() == sent, "calls without end");
	}
}

/* C12, C14: what 100 claims cost, and 50 deletions. */
static void
c12_calls_of_100_claims(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 100; i++)
		h.claims[h.nclaims++] = (struct claim){ .exists = true };
	go_on(20 * 1000);
	check_end();
	assert_int_equal(h.sent[CREATE], 1);
	assert_int_equal(h.sent[SCALE], 0);
	assert_int_equal(h.sent[TAG], 100);
	assert_true(h.listed <= 6);
	/* The machines are there and nobody has them: they are claimed, nothing is made. */
	for (int i = 0; i < 100; i++) {
		h.claims[i] = (struct claim){ .exists = true };
		h.pool.machines[i].tag = NOBODY;
	}
	memset(h.sent, 0, sizeof(h.sent));
	h.listed = 0;
	restart_actor();
	go_on(10 * 1000);
	check_end();
	assert_int_equal(mutations(), 100);
	assert_int_equal(h.listed, 1);
	/* 50 of them are deleted. */
	memset(h.sent, 0, sizeof(h.sent));
	h.listed = 0;
	for (int i = 0; i < 50; i++)
		h.claims[i * 2].deleting = true;
	go_on(28 * 1000);
	assert_int_equal(mutations(), 50);
	assert_int_equal(h.sent[DELETE_NODE], 50);
	assert_true(h.listed <= 2);
	go_on(60 * 1000);
	check_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a2_never_two_never_none), cmocka_unit_test(c12_calls_of_100_claims),
	};

	return cmocka_run_group_tests_name("lke_model", tests, NULL, NULL);
}
