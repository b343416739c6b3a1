/*
 * tests/unit/test_session_out.c - the producer's state machine: what it sends when, and what an ACK may
 * do to it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "obj.h"
#include "session.h"

#define EPOCH			EPOCH_MAKE(7, 1)
#define OTHER			EPOCH_MAKE(7, 2)
#define SNAPSHOT(seq_, limit_, left)	\
	{ .state = OUT_SNAPSHOT, .seq = (seq_), .limit = (limit_), .snap_left = (left) }
#define LIVE(seq_, limit_)	{ .state = OUT_LIVE, .seq = (seq_), .limit = (limit_) }
#define NOTHING_BEFORE(at)	.verb = OUT_NOTHING, .at_ms = (at)
#define SENDS(type_, n)		.verb = OUT_SEND_ITEMS, .type = MSG_##type_, .max_items = (n)
enum { NONCE = 55, NOW = 100000 };

static const struct row {
	const char	*name;
	struct session_out s;
	struct out_view	 v;
	int64_t		 after_ms;	/* since the last frame received and sent */
	enum out_verb	 verb;
	enum msg	 type;
	uint32_t	 max_items;
	bool		 exact;
	int64_t		 at_ms;		/* OUT_NOTHING */
} rows[] = {
	{ "closed: nothing, ever", { .state = OUT_CLOSED }, { true, 9 }, 60000, NOTHING_BEFORE(INT64_MAX) },
	{ "waiting: not ready, beat not yet due", { .state = OUT_WAITING }, { false, 0 }, 999, NOTHING_BEFORE(1000) },
	{ "waiting: not ready, beat", { .state = OUT_WAITING }, { false, 0 }, 1000, .verb = OUT_SEND_BEAT },
	{ "waiting: ready, snapshot begins", { .state = OUT_WAITING }, { true, 0 }, 0, .verb = OUT_SEND_BEGIN },
	{ "waiting: nothing received for 10 s", { .state = OUT_WAITING }, { false, 0 }, 10000, .verb = OUT_CLOSE },
	{ "snapshot: as many as are left", SNAPSHOT(0, 100, 5), { true, 9 }, 0, SENDS(SNAP_ITEMS, 5) },
	{ "snapshot: one batch at a time", SNAPSHOT(0, 1000, 500), { true, 500 }, 0, SENDS(SNAP_ITEMS, SESSION_BATCH) },
	{ "snapshot: no more than credit", SNAPSHOT(7, 10, 500), { true, 500 }, 0, SENDS(SNAP_ITEMS, 3) },
	{ "snapshot: out of credit", SNAPSHOT(10, 10, 5), { true, 5 }, 0, NOTHING_BEFORE(1000) },
	{ "snapshot: out of credit, beat is not exact", SNAPSHOT(10, 10, 5), { true, 5 }, 1000, .verb = OUT_SEND_BEAT },
	{ "snapshot: its end needs no credit", SNAPSHOT(10, 10, 0), { true, 3 }, 0, .verb = OUT_SEND_END },
	{ "snapshot: nothing received for 10 s", SNAPSHOT(0, 9, 5), { true, 5 }, 10000, .verb = OUT_CLOSE },
	{ "live: deltas", LIVE(0, 100), { true, 3 }, 0, SENDS(DELTA, 3) },
	{ "live: deltas up to credit", LIVE(8, 10), { true, 3 }, 0, SENDS(DELTA, 2) },
	{ "live: out of credit", LIVE(10, 10), { true, 3 }, 5, NOTHING_BEFORE(1000) },
	{ "live: out of credit, beat is not exact", LIVE(10, 10), { true, 3 }, 1000, .verb = OUT_SEND_BEAT },
	{ "live: nothing new", LIVE(0, 10), { true, 0 }, 5, NOTHING_BEFORE(1000) },
	{ "live: nothing new, exact beat", LIVE(0, 10), { true, 0 }, 1000, .verb = OUT_SEND_BEAT, .exact = true },
	{ "live: nothing received for 10 s", LIVE(0, 10), { true, 3 }, 10000, .verb = OUT_CLOSE },
	{ "live: an ACK took credit away", LIVE(10, 5), { true, 3 }, 0, NOTHING_BEFORE(1000) },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct session_out s = r->s;

	s.received_ms = s.sent_ms = NOW;
	const struct out_step step = session_out_next(&s, &r->v, NOW + r->after_ms);
	assert_int_equal(step.verb, r->verb);
	if (r->verb == OUT_SEND_ITEMS) {
		assert_int_equal(step.type, r->type);
		assert_int_equal(step.max_items, r->max_items);
	}
	assert_int_equal(step.exact, r->exact);
	if (r->verb == OUT_NOTHING)
		assert_int_equal(step.at_ms, r->at_ms == INT64_MAX ? INT64_MAX : NOW + r->at_ms);
	assert_int_equal(step.why != NULL, r->verb == OUT_CLOSE);
}

static void
hello_opens_a_session(void **state)
{
	struct session_out s;

	(void)state;
	session_out_hello(&s, EPOCH, NONCE, 100, NOW);
	assert_int_equal(s.state, OUT_WAITING);
	assert_int_equal(s.limit, 100);
	/* The first beat is due at once: it confirms the HELLO to the consumer. */
	assert_int_equal(session_out_next(&s, &(struct out_view){ 0 }, NOW).verb, OUT_SEND_BEAT);
	session_out_hello(&s, EPOCH, NONCE, UINT64_MAX, NOW);
	assert_int_equal(s.limit, SESSION_WINDOW_MAX);
}

static void
acks_move_credit_forward_only(void **state)
{
	struct session_out s = { .state = OUT_LIVE, .epoch = EPOCH, .seq = 50, .acked = 20, .limit = 60 };

	(void)state;
	assert_true(session_out_ack(&s, EPOCH, 40, 40, NOW));
	assert_int_equal(s.acked, 40);
	assert_int_equal(s.limit, 80);
	assert_int_equal(s.received_ms, NOW);
	assert_true(session_out_ack(&s, EPOCH, 30, 90, NOW + 1));	/* overtaken: only a sign of life */
	assert_int_equal(s.acked, 40);
	assert_int_equal(s.limit, 80);
	assert_int_equal(s.received_ms, NOW + 1);
	assert_true(session_out_ack(&s, OTHER, 50, 90, NOW + 2));	/* of an older session: ignored */
	assert_int_equal(s.acked, 40);
	assert_int_equal(s.received_ms, NOW + 1);
	assert_false(session_out_ack(&s, EPOCH, 51, 40, NOW + 3));	/* never sent: an error */
	assert_true(session_out_ack(&s, EPOCH, 50, UINT64_MAX, NOW + 4));
	assert_int_equal(s.limit, 50 + SESSION_WINDOW_MAX);
	s.state = OUT_CLOSED;
	assert_true(session_out_ack(&s, EPOCH, 99, 1, NOW + 5));
}

static void
what_was_sent_is_counted(void **state)
{
	struct session_out s;

	(void)state;
	session_out_hello(&s, EPOCH, NONCE, 100, NOW);
	session_out_sent(&s, &(struct out_step){ .verb = OUT_SEND_BEGIN }, 7, 0, NOW);
	assert_int_equal(s.state, OUT_SNAPSHOT);
	/* Five keys, of which two came and went unseen. */
	session_out_sent(&s, &(struct out_step){ .verb = OUT_SEND_ITEMS }, 5, 3, NOW);
	assert_int_equal(s.seq, 3);
	assert_int_equal(s.snap_left, 2);
	session_out_sent(&s, &(struct out_step){ .verb = OUT_SEND_ITEMS }, 2, 2, NOW);
	assert_int_equal(s.snap_sent, 5);
	session_out_sent(&s, &(struct out_step){ .verb = OUT_SEND_END }, 0, 0, NOW);
	assert_int_equal(s.state, OUT_LIVE);
	session_out_sent(&s, &(struct out_step){ .verb = OUT_SEND_ITEMS }, 4, 4, NOW);
	assert_int_equal(s.seq, 9);
	assert_int_equal(s.snap_sent, 5);
	session_out_sent(&s, &(struct out_step){ .verb = OUT_CLOSE }, 0, 0, NOW);
	assert_int_equal(s.state, OUT_CLOSED);
}

/*
 * Found by the simulation: keys that come and go unseen make no frame, and must not pass for one,
 * or no beat is ever sent.
 */
static void
unseen_keys_do_not_put_off_the_beat(void **state)
{
	const struct out_view idle = { .ready = true };
	struct session_out s = { .state = OUT_LIVE, .limit = 100, .received_ms = NOW, .sent_ms = NOW };

	(void)state;
	for (int64_t ms = 100; ms < 1000; ms += 100)
		session_out_sent(&s, &(struct out_step){ .verb = OUT_SEND_ITEMS }, 1, 0, NOW + ms);
	assert_int_equal(session_out_next(&s, &idle, NOW + 1000).verb, OUT_SEND_BEAT);
}

int
main(void)
{
	static const struct CMUnitTest whole[] = {
		cmocka_unit_test(hello_opens_a_session),
		cmocka_unit_test(acks_move_credit_forward_only),
		cmocka_unit_test(what_was_sent_is_counted),
		cmocka_unit_test(unseen_keys_do_not_put_off_the_beat),
	};
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	const int failed = cmocka_run_group_tests_name("session_out_next", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("session_out", whole, NULL, NULL);
}
