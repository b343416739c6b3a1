/*
 * tests/unit/test_lease.c - leader election as scripts: the Lease as the server returns it, and the
 * next step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/kube-watcher/lease.h"
#include "obj.h"

enum input { END, GO, READ, MISSING, DONE, CONFLICT, FAILED, CHANGED, STOP };

/*
 * after_ms after the line before, the request is answered; then comes the step `want` ("wait
 * 2-4.4": so many seconds), and we lead for lead_ms more.
 */
struct line {
	int64_t		 after_ms;
	enum input	 input;
	const char	*holder;	/* READ */
	int		 digest;	/* another number: something in the record has changed */
	const char	*want;
	int64_t		 lead_ms;	/* 0: not leading */
};

#define TAKEN								\
	{ 0, GO, "", 0, "get", 0 },						\
	{ 100, MISSING, "", 0, "create me t0", 0 },				\
	{ 100, DONE, "", 0, "wait 1.9-1.9", 9900 }
#define STANDBY									\
	{ 0, GO, "", 0, "get", 0 },						\
	{ 100, READ, "other", 1, "wait 2-4.4", 0 }

static const struct row {
	const char	*name;
	struct line	 lines[16];
	bool		 clean;		/* at the end */
	int		 term;
} rows[] = {
	{ "there never was one: created at once, then renewed every 2 s with the last version", {
		TAKEN,
		{ 1900, GO, "", 0, "update me t0", 8000 },
		{ 100, DONE, "", 0, "wait 1.9-1.9", 9900 } }, true, 0 },
	{ "leading counts from the sending", {
		TAKEN,
		{ 1900, GO, "", 0, "update me t0", 8000 },
		{ 3000, DONE, "", 0, "update me t0", 7000 } }, true, 0 },
	{ "free: taken at once, and clean", {
		{ 0, GO, "", 0, "get", 0 },
		{ 100, READ, "", 1, "update me t8", 0 },
		{ 100, DONE, "", 0, "wait 1.9-1.9", 9900 } }, true, 8 },
	{ "held: taken when it was unchanged for its time as we saw it, and not clean", {
		STANDBY,
		{ 4400, GO, "", 0, "get", 0 },
		{ 100, READ, "other", 1, "wait 2-4.4", 0 },
		{ 10400, GO, "", 0, "get", 0 },
		{ 100, READ, "other", 1, "wait 2-4.4", 0 },	/* 15.0 s */
		{ 4400, GO, "", 0, "get", 0 },
		{ 100, READ, "other", 1, "update me t8", 0 },
		{ 100, DONE, "", 0, "wait 1.9-1.9", 9900 } }, false, 8 },
	{ "any change restarts the wait", {
		STANDBY,
		{ 14000, GO, "", 0, "get", 0 }, { 100, READ, "other", 2, "wait 2-4.4", 0 },
		{ 14000, GO, "", 0, "get", 0 }, { 100, READ, "other", 3, "wait 2-4.4", 0 },
		{ 15001, GO, "", 0, "get", 0 }, { 0, READ, "other", 3, "update me t8", 0 } }, true, 0 },
	{ "a watch reports a change: a standby reads at once", {
		STANDBY,
		{ 300, CHANGED, "", 0, "get", 0 },
		{ 100, CHANGED, "", 0, "wait", 0 },		/* a read is under way */
		{ 100, READ, "", 2, "update me t8", 0 },
		{ 100, DONE, "", 0, "wait 1.9-1.9", 9900 } }, true, 8 },
	{ "it changed while the answer was on its way: the answer may be older, so it reads again", {
		STANDBY,
		{ 300, CHANGED, "", 0, "get", 0 },
		{ 100, CHANGED, "", 0, "wait", 0 },
		{ 100, READ, "other", 1, "get", 0 },
		{ 100, READ, "other", 1, "wait 2-4.4", 0 } }, true, 0 },
	{ "the leader need not read: the change is its own", {
		TAKEN,
		{ 50, CHANGED, "", 0, "wait 1.85-1.85", 9850 } }, true, 0 },
	{ "somebody else was faster", {
		STANDBY,
		{ 15100, GO, "", 0, "get", 0 },
		{ 100, READ, "other", 1, "update me t8", 0 },
		{ 100, CONFLICT, "", 0, "wait 2-4.4", 0 },
		{ 4400, GO, "", 0, "get", 0 },
		{ 100, READ, "third", 2, "wait 2-4.4", 0 } }, true, 0 },
	{ "after a renewal that fails it reads at once, then every 2 s until the end", {
		TAKEN,
		{ 1900, GO, "", 0, "update me t0", 8000 },
		{ 100, FAILED, "", 0, "get", 7900 },
		{ 100, FAILED, "", 0, "wait 2-2", 7800 },
		{ 2000, GO, "", 0, "get", 5800 },
		{ 4000, FAILED, "", 0, "wait 1.8-1.8", 1800 },	/* leading ends before the next try */
		{ 1800, GO, "", 0, "wait 0.2-0.2", 0 },
		{ 200, GO, "", 0, "get", 0 },
		{ 100, READ, "me", 1, "update me t7", 0 } }, true, 0 },
	{ "409 on a renewal: the answer before was lost, it is ours still", {
		TAKEN,
		{ 1900, GO, "", 0, "update me t0", 8000 },
		{ 5000, FAILED, "", 0, "get", 3000 },
		{ 100, READ, "me", 5, "update me t7", 2900 },
		{ 100, DONE, "", 0, "wait 1.9-1.9", 9900 } }, true, 7 },
	{ "an answer after the end counts as lost", {
		TAKEN,
		{ 1900, GO, "", 0, "update me t0", 8000 },
		{ 8000, DONE, "", 0, "get", 0 } }, true, 0 },
	{ "an answer after its own time counts as lost, too", {
		{ 0, GO, "", 0, "get", 0 },
		{ 100, READ, "", 1, "update me t8", 0 },
		{ 10000, DONE, "", 0, "wait 2-4.4", 0 } }, true, 0 },
	{ "another holder's name ends it at once", {
		TAKEN,
		{ 1900, GO, "", 0, "update me t0", 8000 },
		{ 100, CONFLICT, "", 0, "get", 7900 },
		{ 100, READ, "other", 9, "wait 2-4.4", 0 } }, true, 0 },
	{ "deleted while we lead: created again", {
		TAKEN,
		{ 1900, GO, "", 0, "update me t0", 8000 },
		{ 100, MISSING, "", 0, "get", 7900 },
		{ 100, MISSING, "", 0, "create me t1", 7800 },
		{ 100, DONE, "", 0, "wait 1.9-1.9", 9900 } }, true, 1 },
	{ "deleted while another leads: it may still act", {
		STANDBY,
		{ 14000, GO, "", 0, "get", 0 },
		{ 100, MISSING, "", 0, "wait 2-4.4", 0 },
		{ 14900, GO, "", 0, "get", 0 },
		{ 50, MISSING, "", 0, "wait 2-4.4", 0 },
		{ 4400, GO, "", 0, "get", 0 },
		{ 50, MISSING, "", 0, "create me t8", 0 },
		{ 100, CONFLICT, "", 0, "wait 2-4.4", 0 } }, true, 0 },
	{ "deleted when we had lost it: somebody may have had it since", {
		TAKEN,
		{ 30000, GO, "", 0, "update me t0", 0 },
		{ 100, MISSING, "", 0, "get", 0 },
		{ 100, MISSING, "", 0, "wait 2-4.4", 0 } }, true, 0 },
	{ "held by our former process: goes on at once, not clean unless it led for long", {
		{ 0, GO, "", 0, "get", 0 },
		{ 100, READ, "me", 1, "update me t7", 0 },
		{ 100, DONE, "", 0, "wait 1.9-1.9", 9900 } }, false, 7 },
	{ "our former process led for long", {
		{ 0, GO, "", 0, "get", 0 },
		{ 100, READ, "me+", 1, "update me t7", 0 },
		{ 100, DONE, "", 0, "wait 1.9-1.9", 9900 } }, true, 7 },
	{ "invalid values in it: our own duration, counted from when we read it", {
		{ 0, GO, "", 0, "get", 0 },
		{ 100, READ, "wrong", 1, "wait 2-4.4", 0 },
		{ 14900, GO, "", 0, "get", 0 }, { 50, READ, "wrong", 1, "wait 2-4.4", 0 },
		{ 4400, GO, "", 0, "get", 0 }, { 0, READ, "wrong", 1, "update me t0", 0 } }, true, 0 },
	{ "a holder with a longer lease has its time", {
		{ 0, GO, "", 0, "get", 0 },
		{ 100, READ, "long", 1, "wait 2-4.4", 0 },
		{ 40000, GO, "", 0, "get", 0 }, { 0, READ, "long", 1, "wait 2-4.4", 0 },
		{ 20001, GO, "", 0, "get", 0 }, { 0, READ, "long", 1, "update me t8", 0 } }, true, 0 },
	{ "an orderly end releases it", {
		TAKEN,
		{ 1000, STOP, "", 0, "release t0", 0 },
		{ 100, DONE, "", 0, "stopped", 0 },
		{ 1000, GO, "", 0, "stopped", 0 } }, true, 0 },
	{ "an orderly end during a renewal", {
		TAKEN,
		{ 1900, GO, "", 0, "update me t0", 8000 },
		{ 50, STOP, "", 0, "wait", 0 },
		{ 50, DONE, "", 0, "get", 0 },
		{ 50, READ, "me", 5, "release t7", 0 },
		{ 50, CONFLICT, "", 0, "get", 0 },
		{ 50, READ, "other", 6, "stopped", 0 } }, true, 0 },
	{ "an orderly end without a server comes to an end", {
		TAKEN,
		{ 1000, STOP, "", 0, "release t0", 0 },
		{ 5000, FAILED, "", 0, "get", 0 },
		{ 5000, FAILED, "", 0, "get", 0 },
		{ 5000, FAILED, "", 0, "stopped", 0 } }, true, 0 },
	{ "what we do not hold is not released", {
		STANDBY,
		{ 12000, STOP, "", 0, "get", 0 }, { 100, READ, "other", 1, "stopped", 0 } }, true, 0 },
	{ "what a former process may have used is not released at once", {
		{ 0, GO, "", 0, "get", 0 },
		{ 100, READ, "me", 1, "update me t7", 0 },
		{ 100, DONE, "", 0, "wait 1.9-1.9", 9900 },
		{ 1900, GO, "", 0, "update me t7", 8000 },
		{ 100, DONE, "", 0, "wait 1.9-1.9", 9900 },
		{ 100, STOP, "", 0, "stopped", 0 } }, false, 7 },
	{ "an orderly end before the first answer", {
		{ 0, GO, "", 0, "get", 0 },
		{ 10, STOP, "", 0, "wait", 0 },
		{ 10, MISSING, "", 0, "stopped", 0 } }, true, 0 },
};

struct run {
	struct lease		l;
	struct lease_step	step;
	int64_t			now;
	int			digest;
	char			text[300];
};

/* What the server has, as the table names it. */
static struct lease_seen
record_of(const char *holder, int digest)
{
	const bool wrong = strcmp(holder, "wrong") == 0, longer = strcmp(holder, "long") == 0;
	struct lease_seen s = {
		.record = { .duration_s = wrong ? -3 : longer ? 60 : 15,
		    .transitions = wrong ? INT64_MAX : 7,
		    .acquire_us = wrong ? 0 : 5000000, .renew_us = wrong ? 0 : 9000000 },
		.digest = (uint64_t)digest, .rv = "55",
	};
	const bool long_ago = holder[0] != '\0' && holder[strlen(holder) - 1] == '+';

	snprintf(s.record.holder, sizeof(s.record.holder), "%.*s", (int)strlen(holder) - long_ago, holder);
	if (long_ago)
		s.record.renew_us = s.record.acquire_us + LEASE_CLEAN_US;
	return s;
}

static void
answer(struct run *s, const struct line *l)
{
	struct lease_seen seen;

	switch (l->input) {
	case READ:
		seen = record_of(l->holder, l->digest);
		lease_answered(&s->l, LEASE_OK, &seen, s->now);
		break;
	case DONE:
		seen = (struct lease_seen){
			.record = s->step.record, .digest = (uint64_t)++s->digest, .rv = "99"
		};
		lease_answered(&s->l, LEASE_OK, &seen, s->now);
		break;
	case MISSING: lease_answered(&s->l, LEASE_MISSING, NULL, s->now); break;
	case CONFLICT: lease_answered(&s->l, LEASE_CONFLICT, NULL, s->now); break;
	case FAILED: lease_answered(&s->l, LEASE_FAILED, NULL, s->now); break;
	case CHANGED: lease_changed(&s->l, s->now); break;
	case STOP: lease_stop(&s->l, s->now); break;
	default: break;
	}
}

static void
check_step(struct run *s, const struct line *l)
{
	const struct lease_step step = lease_next(&s->l, s->now, s->now * 1000);
	double least, most;

	if (step.verb != LEASE_WAIT)
		s->step = step;
	switch (step.verb) {
	case LEASE_GET: snprintf(s->text, sizeof(s->text), "get"); break;
	case LEASE_CREATE:
	case LEASE_UPDATE:
		assert_int_equal(step.verb == LEASE_UPDATE, step.rv != NULL);
		assert_int_equal(step.timeout_ms, 5000);
		assert_int_equal(step.record.renew_us, s->now * 1000);
		assert_int_equal(step.record.duration_s, step.record.holder[0] == '\0' ? 1 : 15);
		snprintf(s->text, sizeof(s->text), "%s%s t%d",
		    step.record.holder[0] == '\0'    ? "release"
			: step.verb == LEASE_CREATE ? "create "
						    : "update ",
		    step.record.holder, (int)step.record.transitions);
		break;
	case LEASE_STOPPED: snprintf(s->text, sizeof(s->text), "stopped"); break;
	case LEASE_WAIT:
		if (sscanf(l->want, "wait %lf-%lf", &least, &most) == 2) {
			assert_true(step.at_ms - s->now >= (int64_t)(least * 1000));
			assert_true(step.at_ms - s->now <= (int64_t)(most * 1000));
			snprintf(s->text, sizeof(s->text), "%s", l->want);
		} else {
			snprintf(s->text, sizeof(s->text), "wait");
		}
		break;
	}
	assert_string_equal(s->text, l->want);
}

static void
start(struct run *s, bool elect, uint64_t seed)
{
	*s = (struct run){ .now = 1000000, .digest = 100 };
	lease_init(&s->l,
	    &(struct lease_config){ .elect = elect, .duration_ms = 15000, .identity = "me" }, seed,
	    s->now);
}

static void
check_row(void **state)
{
	const struct row *r = *state;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct run s;

		start(&s, true, seed);
		for (const struct line *l = r->lines; l->input != END; l++) {
			s.now += l->after_ms;
			answer(&s, l);
			check_step(&s, l);
			const struct lease_view v = lease_view(&s.l, s.now);
			assert_int_equal(v.leading, l->lead_ms > 0);
			assert_true(!v.leading || v.until_ms - s.now == l->lead_ms);
			assert_int_equal(lease_covers(&s.l, 0, s.now), l->lead_ms > 0);
			assert_true(lease_covers(&s.l, l->lead_ms - 1, s.now) == (l->lead_ms > 0));
			assert_false(lease_covers(&s.l, l->lead_ms, s.now));
		}
		assert_int_equal(lease_view(&s.l, s.now).clean, r->clean);
		assert_int_equal(lease_view(&s.l, s.now).term, r->term);
	}
}

static void
without_election_always(void **state)
{
	struct run s;

	(void)state;
	start(&s, false, 1);
	assert_int_equal(lease_next(&s.l, s.now, 0).at_ms, INT64_MAX);
	const struct lease_view v = lease_view(&s.l, s.now + 1000000);
	assert_true(v.leading && v.clean && v.until_ms == INT64_MAX);
	assert_string_equal(v.holder, "me");
	assert_true(lease_covers(&s.l, 3600 * 1000, s.now));
	assert_int_equal(lease_mutation_ms(&s.l), LEASE_MUTATION_MAX_MS);
	lease_stop(&s.l, s.now);
	assert_int_equal(lease_next(&s.l, s.now, 0).verb, LEASE_STOPPED);
	assert_false(lease_view(&s.l, s.now).leading);
}

/* Between two renewals there is always room for a write. */
static void
writes_fit_between_renewals(void **state)
{
	(void)state;
	for (int64_t ms = LEASE_SHORTEST_MS; ms <= 60000; ms += 1000) {
		struct lease l;

		lease_init(&l,
		    &(struct lease_config){ .elect = true, .duration_ms = ms, .identity = "me" }, 1,
		    0);
		assert_true(l.duration_ms > l.renew_ms && l.renew_ms * 10 > l.retry_ms * 12);
		assert_true(lease_mutation_ms(&l) + l.retry_ms < l.renew_ms);
		assert_true(lease_mutation_ms(&l) <= LEASE_MUTATION_MAX_MS);
	}
}

/* Several standbys do not send their requests at the same time. */
static void
tries_are_spread(void **state)
{
	int64_t least = INT64_MAX, most = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		const struct lease_seen seen = record_of("other", 1);
		struct run s;

		start(&s, true, seed);
		lease_next(&s.l, s.now, 0);
		lease_answered(&s.l, LEASE_OK, &seen, s.now);
		const int64_t wait_ms = lease_next(&s.l, s.now, 0).at_ms - s.now;
		least = wait_ms < least ? wait_ms : least;
		most = wait_ms > most ? wait_ms : most;
	}
	assert_in_range(least, 2000, 2100);
	assert_in_range(most, 4300, 4400);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 3];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(without_election_always);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(writes_fit_between_renewals);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(tries_are_spread);
	return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
