/* tests/unit/test_write_plan.c - which writes are sent, when, and what their answers mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/kube-watcher/plan.h"
#include "obj.h"

enum { NOW = 1000000 };
#define ME		ROLE_TEST_KUBE_1
#define OTHER		ROLE_TEST_KUBE_2

/* Leading for so long from NOW on. */
static struct lease
lead(int64_t ms)
{
	return (struct lease){
		.elect = true, .duration_ms = 15000, .renew_ms = 10000, .retry_ms = 2000,
		.until_ms = NOW + ms,
	};
}

static struct plan_write
a_write(enum op op)
{
	return (struct plan_write){
		.sender = ME, .op = op, .group = "", .resource = "nodes", .subresource = "",
		.object = 7, .deadline_ms = NOW + 30000,
	};
}

/* ---- May it be sent ---- */

static const struct admission {
	const char	*name;
	enum op		 op;
	enum role	 sender;
	const char	*group, *resource, *subresource;
	int64_t		 lead_ms, left_ms;
	bool		 admitted;
	enum outcome	 outcome;
} admissions[] = {
	/* name, op, sender, group, resource, subresource, lead, left, admitted, outcome */
	{ "create", OP_CREATE, ME, "", "nodes", "", 9000, 1000, true, 0 },
	{ "update", OP_UPDATE, ME, "", "nodes", "", 9000, 1000, true, 0 },
	{ "merge patch", OP_MERGE, ME, "", "nodes", "", 9000, 1000, true, 0 },
	{ "of a status", OP_MERGE, ME, "", "nodes", "status", 9000, 1000, true, 0 },
	{ "of a scale that is not listed", OP_MERGE, ME, "", "nodes", "scale", 9000, 1000, false, OUTCOME_DENIED },
	{ "delete", OP_DELETE, ME, "", "nodes", "", 9000, 1000, true, 0 },
	{ "evict", OP_EVICT, ME, "", "pods", "", 9000, 1000, true, 0 },
	{ "evict what has no such subresource", OP_EVICT, ME, "", "nodes", "", 9000, 1000, false, OUTCOME_DENIED },
	{ "get", OP_GET, ME, "", "nodes", "", 0, 1000, true, 0 },
	{ "list", OP_LIST, ME, "", "nodes", "", 0, 1000, true, 0 },
	{ "event", OP_EVENT, ME, "", "nodes", "", 9000, 1000, true, 0 },
	{ "event without the right", OP_EVENT, OTHER, "", "nodes", "", 9000, 1000, false, OUTCOME_DENIED },
	{ "a right for another verb", OP_DELETE, OTHER, "", "nodes", "", 9000, 1000, false, OUTCOME_DENIED },
	{ "a right for another group", OP_MERGE, ME, "apps", "nodes", "", 9000, 1000, false, OUTCOME_DENIED },
	{ "a subresource inside", OP_MERGE, OTHER, "", "nodes/status", "", 9000, 1000, false, OUTCOME_DENIED },
	{ "not leading", OP_MERGE, ME, "", "nodes", "", 0, 1000, false, OUTCOME_NOT_LEADER },
	{ "leading is over", OP_MERGE, ME, "", "nodes", "", -5000, 1000, false, OUTCOME_NOT_LEADER },
	{ "too late", OP_MERGE, ME, "", "nodes", "", 9000, 0, false, OUTCOME_EXPIRED },
	{ "too late to read", OP_GET, ME, "", "nodes", "", 0, -1, false, OUTCOME_EXPIRED },
};

static void
check_admission(void **state)
{
	const struct admission *r = *state;
	const struct lease l = lead(r->lead_ms);
	static struct plan p;

	plan_init(&p, 0, 1, 1, NOW);
	const struct plan_verdict v = plan_admit(&p, &(struct plan_write){
		.sender = r->sender, .op = r->op, .group = r->group, .resource = r->resource,
		.subresource = r->subresource, .object = 1, .deadline_ms = NOW + r->left_ms,
	}, &l, NOW);
	assert_int_equal(v.admitted, r->admitted);
	assert_int_equal(p.count, r->admitted);
	if (!r->admitted) {
		assert_int_equal(v.outcome, r->outcome);
		assert_true(v.why[0] != '\0');
	}
}

/* ---- What the answer means ---- */

enum { RESTORE = 2 };

static const struct meaning {
	const char	*name;
	enum op		 op;
	int		 sent;		/* or RESTORE: and the cluster was restored since */
	int		 status;
	const char	*reason;
	int64_t		 retry_after_ms;
	enum plan_body	 body;
	bool		 again;
	enum outcome	 outcome;
	enum plan_merge	 merge;
} meanings[] = {
	/* name, op, sent, status, reason, Retry-After, body, again, outcome, merge */
	{ "created", OP_CREATE, true, 201, "", -1, BODY_OBJECT, false, OUTCOME_OK, MERGE_OBJECT },
	{ "patched", OP_APPLY, true, 200, "", -1, BODY_OBJECT, false, OUTCOME_OK, MERGE_OBJECT },
	{ "patched, and the answer cannot be read", OP_MERGE, true, 200, "", -1, BODY_NONE, false, OUTCOME_OK, MERGE_NOTHING },
	{ "deleted", OP_DELETE, true, 200, "Success", -1, BODY_STATUS, false, OUTCOME_OK, MERGE_GONE },
	{ "deleted, but a finalizer holds it", OP_DELETE, true, 202, "", -1, BODY_OBJECT, false, OUTCOME_OK, MERGE_OBJECT },
	{ "evicted", OP_EVICT, true, 201, "", -1, BODY_OBJECT, false, OUTCOME_OK, MERGE_NOTHING },
	{ "read", OP_GET, true, 200, "", -1, BODY_OBJECT, false, OUTCOME_OK, MERGE_OBJECT },
	{ "listed", OP_LIST, true, 200, "", -1, BODY_LIST, false, OUTCOME_OK, MERGE_FORWARD },
	{ "a list that broke off", OP_LIST, true, 200, "", -1, BODY_NONE, true, OUTCOME_FAILED, MERGE_NOTHING },
	{ "moved since", OP_UPDATE, true, 409, "Conflict", -1, BODY_NONE, false, OUTCOME_CONFLICT, MERGE_NOTHING },
	{ "there already", OP_CREATE, true, 409, "AlreadyExists", -1, BODY_NONE, false, OUTCOME_EXISTS, MERGE_NOTHING },
	{ "not there", OP_MERGE, true, 404, "NotFound", -1, BODY_NONE, false, OUTCOME_NOT_FOUND, MERGE_NOTHING },
	{ "not allowed", OP_MERGE, true, 403, "Forbidden", -1, BODY_NONE, false, OUTCOME_FORBIDDEN, MERGE_NOTHING },
	{ "not known", OP_MERGE, true, 401, "Unauthorized", -1, BODY_NONE, false, OUTCOME_FAILED, MERGE_NOTHING },
	{ "refused", OP_MERGE, true, 422, "Invalid", -1, BODY_NONE, false, OUTCOME_INVALID, MERGE_NOTHING },
	{ "too large", OP_CREATE, true, 413, "", -1, BODY_NONE, false, OUTCOME_INVALID, MERGE_NOTHING },
	{ "slow down", OP_MERGE, true, 429, "", 1000, BODY_NONE, true, OUTCOME_LIMITED, MERGE_NOTHING },
	{ "slow down, longer than the deadline", OP_MERGE, true, 429, "", 60000, BODY_NONE, false, OUTCOME_LIMITED, MERGE_NOTHING },
	{ "a budget refuses", OP_EVICT, true, 429, "", 1000, BODY_NONE, false, OUTCOME_LIMITED, MERGE_NOTHING },
	{ "never left", OP_CREATE, false, 0, "", -1, BODY_NONE, true, OUTCOME_FAILED, MERGE_NOTHING },
	{ "left, and no answer", OP_CREATE, true, 0, "", -1, BODY_NONE, false, OUTCOME_UNKNOWN, MERGE_NOTHING },
	{ "500: done or not", OP_MERGE, true, 500, "InternalError", -1, BODY_NONE, false, OUTCOME_UNKNOWN, MERGE_NOTHING },
	{ "503 with Retry-After: done or not", OP_DELETE, true, 503, "", 1000, BODY_NONE, false, OUTCOME_UNKNOWN, MERGE_NOTHING },
	{ "504: done or not", OP_MERGE, true, 504, "Timeout", -1, BODY_NONE, false, OUTCOME_UNKNOWN, MERGE_NOTHING },
	{ "302: what is that", OP_MERGE, true, 302, "", -1, BODY_NONE, false, OUTCOME_UNKNOWN, MERGE_NOTHING },
	{ "a read without an answer", OP_GET, true, 0, "", -1, BODY_NONE, true, OUTCOME_FAILED, MERGE_NOTHING },
	{ "a read with 500", OP_GET, true, 500, "", -1, BODY_NONE, true, OUTCOME_FAILED, MERGE_NOTHING },
	{ "a read of nothing", OP_GET, true, 404, "", -1, BODY_NONE, false, OUTCOME_NOT_FOUND, MERGE_NOTHING },
	{ "a read that is not understood", OP_LIST, true, 400, "", -1, BODY_NONE, false, OUTCOME_INVALID, MERGE_NOTHING },
	{ "done, and then the cluster was restored", OP_MERGE, RESTORE, 200, "", -1, BODY_OBJECT, false, OUTCOME_UNKNOWN, MERGE_NOTHING },
	{ "deleted, and then it was restored", OP_DELETE, RESTORE, 200, "Success", -1, BODY_STATUS, false, OUTCOME_UNKNOWN, MERGE_NOTHING },
	{ "not done, and then it was restored", OP_MERGE, RESTORE, 409, "Conflict", -1, BODY_NONE, false, OUTCOME_CONFLICT, MERGE_NOTHING },
	{ "no answer, and then it was restored", OP_MERGE, RESTORE, 0, "", -1, BODY_NONE, false, OUTCOME_UNKNOWN, MERGE_NOTHING },
	{ "read, and then it was restored", OP_GET, RESTORE, 200, "", -1, BODY_OBJECT, true, OUTCOME_FAILED, MERGE_NOTHING },
};

static uint32_t
send_one(struct plan *p, const struct plan_write *w)
{
	const struct lease l = lead(9000);
	const struct plan_verdict v = plan_admit(p, w, &l, NOW);

	assert_true(v.admitted);
	const struct plan_step s = plan_next(p, &l, NOW);
	assert_int_equal(s.verb, PLAN_SEND);
	assert_int_equal(s.slot, v.slot);
	return s.slot;
}

static void
check_meaning(void **state)
{
	const struct meaning *m = *state;
	struct plan_write w = a_write(m->op);
	static struct plan p;

	if (m->op == OP_EVICT)
		w.resource = "pods";
	plan_init(&p, 0, 1, 1, NOW);
	const uint32_t slot = send_one(&p, &w);
	const struct plan_result r = plan_answered(&p, slot, &(struct plan_answer){
		.sent = m->sent != 0, .status = m->status, .reason = m->reason,
		.retry_after_ms = m->retry_after_ms, .body = m->body,
		.predates_restore = m->sent == RESTORE,
	}, NOW + 100);
	assert_int_equal(r.again, m->again);
	assert_int_equal(r.outcome, m->outcome);
	assert_int_equal(r.merge, m->merge);
	assert_int_equal(p.count, m->again);
	assert_int_equal(plan_under_way(&p), 0);
	assert_int_equal(plan_settled(&p, NOW + 100), m->outcome != OUTCOME_UNKNOWN);
	assert_true(plan_settled(&p, NOW + 100 + PLAN_LINGER_MS));
}

/* ---- Sequences ---- */

static void
one_per_object_and_role(void **state)
{
	const struct lease l = lead(9000);
	struct plan_write w = a_write(OP_MERGE);
	static struct plan p;

	(void)state;
	plan_init(&p, 0, 1, 1, NOW);
	const uint32_t slot = send_one(&p, &w);
	assert_int_equal(plan_admit(&p, &w, &l, NOW).outcome, OUTCOME_BUSY);
	w.sender = OTHER;	/* another role may: the server decides the order */
	assert_true(plan_admit(&p, &w, &l, NOW).admitted);
	w = a_write(OP_GET);	/* reading is always possible */
	assert_true(plan_admit(&p, &w, &l, NOW).admitted);
	w = a_write(OP_MERGE);
	w.object = 8;
	assert_true(plan_admit(&p, &w, &l, NOW).admitted);
	plan_answered(&p, slot,
	    &(struct plan_answer){
		.sent = true, .status = 200, .reason = "", .retry_after_ms = -1 },
	    NOW);
	w.object = 7;
	assert_true(plan_admit(&p, &w, &l, NOW).admitted);
}

/* One of mutations and one of live reads: neither takes room from the other. */
static void
each_role_has_its_limits(void **state)
{
	static const struct {
		enum op		op;
		uint32_t	limit;
	} rows[] = {
		{ OP_MERGE, WRITES_PER_SENDER }, { OP_GET, READS_PER_SENDER }, { OP_LIST, 0 },
		{ OP_EVENT, 0 },
	};
	const struct lease l = lead(9000);
	static struct plan p;

	(void)state;
	plan_init(&p, 0, 1, 1, NOW);
	for (size_t n = 0; n < NITEMS(rows); n++) {
		for (uint64_t i = 0; i <= rows[n].limit; i++) {
			struct plan_write w = a_write(rows[n].op);

			w.object = 1000 * n + i;
			const struct plan_verdict v = plan_admit(&p, &w, &l, NOW);
			assert_int_equal(v.admitted, i < rows[n].limit);
			assert_true(v.admitted || v.outcome == OUTCOME_BUSY);
		}
	}
	assert_int_equal(p.count, REQUESTS_PER_SENDER);
	for (uint32_t i = 0; i < REQUESTS_PER_SENDER; i++)
		assert_true(plan_forget(&p, i, false));
	assert_int_equal(p.count, 0);
	assert_true(plan_admit(&p, &(struct plan_write){ .sender = ME, .op = OP_LIST, .group = "",
		.resource = "nodes", .subresource = "", .deadline_ms = NOW + 1 }, &l, NOW).admitted);
}

/* Whatever waits for the rate of one does not delay the other. */
static void
reads_do_not_spend_the_rate_of_writes(void **state)
{
	static const struct {
		enum op		before, then;
		bool		sent;
	} rows[] = {
		{ OP_GET, OP_MERGE, true }, { OP_LIST, OP_DELETE, true }, { OP_MERGE, OP_GET, true },
		{ OP_EVENT, OP_LIST, true }, { OP_GET, OP_LIST, false }, { OP_MERGE, OP_CREATE, false },
	};
	const struct lease l = lead(60000);
	static struct plan p;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		struct plan_write before = a_write(rows[i].before), then = a_write(rows[i].then);

		plan_init(&p, 1, 1, 1, NOW);
		send_one(&p, &before);
		then.object = before.object + 1;
		assert_true(plan_admit(&p, &then, &l, NOW).admitted);
		const struct plan_step s = plan_next(&p, &l, NOW);
		assert_int_equal(s.verb, rows[i].sent ? PLAN_SEND : PLAN_WAIT);
		assert_true(rows[i].sent || s.at_ms >= NOW + 1000);
	}
}

/* The lease must outlive the HTTP timeout; the next renewal makes room. */
static void
waits_for_the_lease(void **state)
{
	const struct plan_write w = a_write(OP_MERGE);
	struct lease l = lead(5000);
	static struct plan p;

	(void)state;
	plan_init(&p, 0, 1, 1, NOW);
	assert_true(plan_admit(&p, &w, &l, NOW).admitted);
	struct plan_step s = plan_next(&p, &l, NOW);
	assert_int_equal(s.verb, PLAN_WAIT);
	assert_int_equal(s.at_ms, NOW + 5000);
	l = lead(5001);
	s = plan_next(&p, &l, NOW);
	assert_int_equal(s.verb, PLAN_SEND);
	assert_int_equal(s.timeout_ms, 5000);
}

static void
lost_leadership_finishes_it(void **state)
{
	const struct plan_write w = a_write(OP_MERGE), get = a_write(OP_GET);
	struct lease l = lead(5000);
	static struct plan p;

	(void)state;
	plan_init(&p, 0, 1, 1, NOW);
	const struct plan_verdict merge = plan_admit(&p, &w, &l, NOW);
	assert_true(merge.admitted);
	assert_true(plan_admit(&p, &get, &l, NOW).admitted);
	const struct plan_step s = plan_next(&p, &l, NOW + 5000);
	if (s.verb == PLAN_FINISH) {
		assert_int_equal(s.outcome, OUTCOME_NOT_LEADER);
		assert_int_equal(s.slot, merge.slot);
	}
	const struct plan_step other = plan_next(&p, &l, NOW + 5000);
	assert_true((s.verb == PLAN_FINISH) != (other.verb == PLAN_FINISH));
	assert_true((s.verb == PLAN_SEND) != (other.verb == PLAN_SEND));
}

/* Near its deadline it is not waited for longer than that; after it, it is not sent at all. */
static void
deadlines(void **state)
{
	const struct lease l = lead(60000);
	struct plan_write w = a_write(OP_MERGE);
	static struct plan p;

	(void)state;
	plan_init(&p, 0, 1, 1, NOW);
	w.deadline_ms = NOW + 1200;
	const uint32_t slot = plan_admit(&p, &w, &l, NOW).slot;
	assert_int_equal(plan_next(&p, &l, NOW).timeout_ms, 1200);
	assert_true(plan_answered(
	    &p, slot, &(struct plan_answer){ .reason = "", .retry_after_ms = -1 }, NOW + 10)
			.again);
	const struct plan_step wait = plan_next(&p, &l, NOW + 10);
	assert_int_equal(wait.verb, PLAN_WAIT);
	assert_in_range(wait.at_ms, NOW + 10 + 160, NOW + 10 + 240);
	const struct plan_step end = plan_next(&p, &l, NOW + 1200);
	assert_int_equal(end.verb, PLAN_FINISH);
	assert_int_equal(end.outcome, OUTCOME_FAILED);	/* it was tried */
	assert_int_equal(end.slot, slot);
	assert_int_equal(p.count, 0);

	plan_init(&p, 1, 1, 1, NOW);
	assert_int_equal(rate_take(&p.rates[BUDGET_WRITES], NOW), 0);	/* nothing is left */
	w.deadline_ms = NOW + 500;
	assert_true(plan_admit(&p, &w, &l, NOW).admitted);
	assert_int_equal(plan_next(&p, &l, NOW).at_ms, NOW + 500);
	assert_int_equal(plan_next(&p, &l, NOW + 500).outcome, OUTCOME_EXPIRED);	/* it never was */
}

/* A 429 delays all writes and reads; that of an eviction does not. */
static void
one_rate_for_all(void **state)
{
	const struct lease l = lead(60000);
	struct plan_write w = a_write(OP_MERGE);
	static struct plan p;

	(void)state;
	plan_init(&p, 0, 1, 1, NOW);
	uint32_t slot = send_one(&p, &w);
	const struct plan_result r = plan_answered(&p, slot, &(struct plan_answer){
		.sent = true, .status = 429, .reason = "", .retry_after_ms = 3000 }, NOW);
	assert_true(r.again);
	assert_int_equal(r.retry_after_ms, 3000);
	w.object = 9;
	assert_true(plan_admit(&p, &w, &l, NOW).admitted);
	w.op = OP_GET;
	assert_true(plan_admit(&p, &w, &l, NOW).admitted);
	assert_int_equal(plan_next(&p, &l, NOW).at_ms, NOW + 3000);
	assert_int_equal(plan_next(&p, &l, NOW + 3000).verb, PLAN_SEND);

	plan_init(&p, 0, 1, 1, NOW);
	w = a_write(OP_EVICT);
	w.resource = "pods";
	slot = send_one(&p, &w);
	plan_answered(&p, slot,
	    &(struct plan_answer){
		.sent = true, .status = 429, .reason = "", .retry_after_ms = 9000 },
	    NOW);
	w.object = 9;
	assert_true(plan_admit(&p, &w, &l, NOW).admitted);
	assert_int_equal(plan_next(&p, &l, NOW).verb, PLAN_SEND);
}

/* Admits and sends that many mutations, as long as the plan permits; returns how many left. */
static uint32_t
send_many(struct plan *p, uint32_t many, uint64_t *object, uint32_t *slots, int64_t now_ms)
{
	const struct lease l = { .elect = true, .duration_ms = 15000, .renew_ms = 10000, .retry_ms = 2000,
		.until_ms = now_ms + 60000 };
	struct plan_write w = a_write(OP_MERGE);
	uint32_t sent = 0;

	w.deadline_ms = now_ms + 30000;
	for (uint32_t i = 0; i < many; i++) {
		w.object = ++*object;
		assert_true(plan_admit(p, &w, &l, now_ms).admitted);
	}
	for (struct plan_step s; (s = plan_next(p, &l, now_ms)).verb != PLAN_WAIT; sent++) {
		assert_int_equal(s.verb, PLAN_SEND);
		slots[sent] = s.slot;
	}
	return sent;
}

static void
answer(struct plan *p, uint32_t slot, int status, int64_t now_ms)
{
	plan_answered(p, slot, &(struct plan_answer){
		.sent = true, .status = status, .reason = "", .retry_after_ms = -1 }, now_ms);
}

/*
 * Without a 429 all that is admitted leaves. A 429 halves what is under way, once for all that had left
 * before; what is answered well makes room for one more a round; reads leave all the same.
 */
static void
a_429_limits_what_is_under_way(void **state)
{
	const struct lease l = lead(60000);
	struct plan_write get = a_write(OP_GET);
	uint32_t slots[WRITES_PER_SENDER] = { 0 };
	uint64_t object = 100;
	static struct plan p;

	(void)state;
	plan_init(&p, 0, 1, 1, NOW);
	assert_int_equal(send_many(&p, 24, &object, slots, NOW), 24);
	for (int i = 0; i < 24; i++)
		answer(&p, slots[i], i < 3 ? 429 : 200, NOW + 10);
	assert_int_equal(plan_under_way(&p), 0);
	assert_int_equal(p.window, 12);		/* one cut; what was answered well had left before it */
	for (uint32_t i = 0; i < PLAN_WRITES_MAX; i++) {
		if (p.slots[i].used)
			assert_true(plan_forget(&p, i, false));
	}
	assert_int_equal(send_many(&p, 20, &object, slots, NOW + 20), 12);
	assert_true(plan_admit(&p, &get, &l, NOW + 20).admitted);
	assert_int_equal(plan_next(&p, &l, NOW + 20).verb, PLAN_SEND);
	assert_int_equal(plan_next(&p, &l, NOW + 20).verb, PLAN_WAIT);
	answer(&p, slots[0], 200, NOW + 30);
	assert_int_equal(plan_next(&p, &l, NOW + 30).verb, PLAN_SEND);
	assert_int_equal(plan_next(&p, &l, NOW + 30).verb, PLAN_WAIT);
	for (int i = 1; i < 12; i++)
		answer(&p, slots[i], 200, NOW + 30);
	assert_int_equal(p.window, 13);
	/* What left before the cut and is refused after it cuts nothing more; what left later does. */
	p.window_cut_ms = NOW + 30;
	uint32_t late = PLAN_WRITES_MAX;
	for (uint32_t i = 0; i < PLAN_WRITES_MAX; i++)
		late = p.slots[i].used && p.slots[i].sent && p.slots[i].op == OP_MERGE ? i : late;
	answer(&p, late, 429, NOW + 40);
	assert_int_equal(p.window, 13);
}

/* Down to one, never to none; and after enough good answers there is no limit any more. */
static void
the_window_recovers(void **state)
{
	uint32_t slots[WRITES_PER_SENDER] = { 0 };
	uint64_t object = 100;
	static struct plan p;
	int64_t now_ms = NOW;
	unsigned rounds = 0;

	(void)state;
	plan_init(&p, 0, 1, 1, NOW);
	for (int i = 0; i < 8; i++) {
		now_ms += 1000;
		assert_int_equal(send_many(&p, 1, &object, slots, now_ms) > 0, true);
		answer(&p, slots[0], 429, now_ms + 1);
		for (uint32_t n = 0; n < PLAN_WRITES_MAX; n++) {
			if (p.slots[n].used)
				assert_true(plan_forget(&p, n, false));
		}
	}
	assert_int_equal(p.window, 1);
	while (p.window != PLAN_WRITES_MAX) {
		const uint32_t sent = send_many(&p, WRITES_PER_SENDER - p.count, &object, slots, ++now_ms);

		assert_true(sent > 0 && sent <= p.window);
		for (uint32_t i = 0; i < sent; i++)
			answer(&p, slots[i], 200, now_ms);
		assert_true(++rounds < 200);
	}
	assert_true(rounds >= 32);
}

/* Nobody starves behind a role that always has something. */
static void
slots_are_served_in_turn(void **state)
{
	const struct lease l = lead(1000000);
	static struct plan p;
	unsigned mine = 0;

	(void)state;
	plan_init(&p, 1000, 1, 1, NOW);
	struct plan_write other = a_write(OP_MERGE);
	for (uint64_t i = 0; i < 20; i++) {
		struct plan_write w = a_write(OP_MERGE);

		w.object = 100 + i;
		w.deadline_ms = NOW + 200000;
		assert_true(plan_admit(&p, &w, &l, NOW).admitted);
	}
	other.sender = OTHER;
	other.deadline_ms = NOW + 200000;
	assert_true(plan_admit(&p, &other, &l, NOW).admitted);
	for (int64_t now = NOW;; now += 10) {
		const struct plan_step s = plan_next(&p, &l, now);

		assert_int_equal(s.verb, PLAN_SEND);
		if (p.slots[s.slot].sender == OTHER)
			break;
		/* answered, and at once another one is in its place */
		const uint64_t object = p.slots[s.slot].object;
		plan_answered(&p, s.slot,
		    &(struct plan_answer){
			.sent = true, .status = 200, .reason = "", .retry_after_ms = -1 },
		    now);
		struct plan_write w = a_write(OP_MERGE);
		w.object = object;
		w.deadline_ms = now + 200000;
		assert_true(plan_admit(&p, &w, &l, now).admitted);
		assert_true(++mine <= 20);
	}
}

/* The session of its sender ended (issue 10.11): what was not sent is dropped, what was sent is merged. */
static void
writes_end_with_their_session(void **state)
{
	const struct plan_write w = a_write(OP_MERGE);
	struct plan_write waiting = a_write(OP_DELETE);
	const struct lease l = lead(9000);
	static struct plan p;

	(void)state;
	plan_init(&p, 0, 1, 1, NOW);
	const uint32_t slot = send_one(&p, &w);
	waiting.object = 8;
	const struct plan_verdict v = plan_admit(&p, &waiting, &l, NOW);
	assert_true(v.admitted && plan_forget(&p, v.slot, false));
	assert_int_equal(plan_next(&p, &l, NOW).verb, PLAN_WAIT);
	assert_false(plan_forget(&p, slot, true));
	assert_int_equal(plan_under_way(&p), 1);
	assert_int_equal(plan_admit(&p, &w, &l, NOW).outcome, OUTCOME_BUSY);
	assert_true(p.slots[slot].orphan);
	const struct plan_result r = plan_answered(&p, slot, &(struct plan_answer){
		.sent = true, .status = 429, .reason = "", .retry_after_ms = 1 }, NOW);
	assert_false(r.again);
	assert_int_equal(p.count, 0);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(admissions) + NITEMS(meanings) + 11];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(admissions); i++)
		tests[n++] = (struct CMUnitTest){ admissions[i].name, check_admission, NULL, NULL,
			(void *)(uintptr_t)&admissions[i] };
	for (size_t i = 0; i < NITEMS(meanings); i++)
		tests[n++] = (struct CMUnitTest){ meanings[i].name, check_meaning, NULL, NULL,
			(void *)(uintptr_t)&meanings[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(one_per_object_and_role);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(each_role_has_its_limits);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(reads_do_not_spend_the_rate_of_writes);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(waits_for_the_lease);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(lost_leadership_finishes_it);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(deadlines);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(one_rate_for_all);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_429_limits_what_is_under_way);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(the_window_recovers);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(slots_are_served_in_turn);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(writes_end_with_their_session);
	return cmocka_run_group_tests_name("write_plan", tests, NULL, NULL);
}
