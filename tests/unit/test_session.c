/* tests/unit/test_session.c - the consumer's state machine: every state with every frame, timeouts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "session.h"

/*
 * The consumer under test: session 7.1, ten numbers taken, three of them in the snapshot; holds 3
 * keys, hash 99.
 */
#define EPOCH	EPOCH_MAKE(7, 1)
#define OTHER	EPOCH_MAKE(7, 2)
enum { NONCE = 55, SEQ = 10, TAKEN = 3, KEYS = 3, HASH = 99, NOW = 100000, SENT_MS = 99000 };

#define ENV(type_, epoch_, seq_)	.env = { .type = MSG_##type_, .epoch = (epoch_), .seq = (seq_) }
#define BEGIN(nonce_)			ENV(SNAP_BEGIN, OTHER, 0), .body.snap_begin = { .nonce = (nonce_) }
#define ITEMS(epoch_, seq_)		ENV(SNAP_ITEMS, epoch_, seq_), .bodies = 4
#define DELTA(epoch_, seq_)		ENV(DELTA, epoch_, seq_), .bodies = 4
#define END(epoch_, seq_, count_)	ENV(SNAP_END, epoch_, seq_), .body.snap_end = { .count = (count_) }
#define BEAT(epoch_, seq_, nonce_, ready_, exact_, count_, hash_)				\
	ENV(BEAT, epoch_, seq_), .body.beat = { .nonce = (nonce_), .ready = (ready_), .exact = (exact_), \
	    .count = (count_), .hash = (hash_) }
#define CLOSE(epoch_, nonce_)		ENV(CLOSE, epoch_, 0), .body.close = { .nonce = (nonce_) }
#define IGNORED(state_)			.verb = IN_IGNORE, .next = (state_)
#define ANSWERED(state_)		.verb = IN_IGNORE, .next = (state_), .answer_due = true
#define TAKEN_UP_TO(seq_, state_)	.verb = IN_ITEMS, .next = (state_), .seq = (seq_)
#define STARTS_OVER(reason_)		.verb = IN_RESYNC, .reason = RESYNC_##reason_, .next = IN_DOWN

static const struct row {
	const char	*name;
	enum in_state	 state;
	struct envelope	 env;
	union msg_body	 body;
	uint32_t	 bodies;
	enum in_verb	 verb;
	enum resync	 reason;
	enum in_state	 next;
	uint64_t	 seq;		/* afterwards; 0: unchanged */
	bool		 answer_due;
} rows[] = {
	/* Down: a HELLO is due, whatever comes belongs to something we gave up. */
	{ "down: BEGIN",                         IN_DOWN, BEGIN(NONCE), IGNORED(IN_DOWN) },
	{ "down: SNAP_ITEMS",                    IN_DOWN, ITEMS(EPOCH, SEQ + 1), IGNORED(IN_DOWN) },
	{ "down: END",                           IN_DOWN, END(EPOCH, SEQ, TAKEN), IGNORED(IN_DOWN) },
	{ "down: DELTA",                         IN_DOWN, DELTA(EPOCH, SEQ + 1), IGNORED(IN_DOWN) },
	{ "down: BEAT",                          IN_DOWN, BEAT(EPOCH, SEQ, NONCE, true, true, KEYS, HASH), IGNORED(IN_DOWN) },
	{ "down: CLOSE",                         IN_DOWN, CLOSE(EPOCH, NONCE), IGNORED(IN_DOWN) },

	/* HELLO sent: only the answer to this very HELLO counts. */
	{ "hello: BEGIN, our nonce",             IN_HELLO, BEGIN(NONCE), .verb = IN_BEGIN, .next = IN_SNAPSHOT },
	{ "hello: BEGIN, an older nonce",        IN_HELLO, BEGIN(NONCE - 1), IGNORED(IN_HELLO) },
	{ "hello: SNAP_ITEMS",                   IN_HELLO, ITEMS(EPOCH, SEQ + 1), IGNORED(IN_HELLO) },
	{ "hello: END",                          IN_HELLO, END(EPOCH, SEQ, TAKEN), IGNORED(IN_HELLO) },
	{ "hello: DELTA",                        IN_HELLO, DELTA(EPOCH, SEQ + 1), IGNORED(IN_HELLO) },
	{ "hello: BEAT, not ready",              IN_HELLO, BEAT(OTHER, 0, NONCE, false, false, 0, 0), ANSWERED(IN_HELLO) },
	{ "hello: BEAT, ready: BEGIN was lost",  IN_HELLO, BEAT(OTHER, 0, NONCE, true, false, 0, 0), STARTS_OVER(GAP) },
	{ "hello: BEAT, exact: all was lost",    IN_HELLO, BEAT(OTHER, 5, NONCE, true, true, KEYS, HASH), STARTS_OVER(GAP) },
	{ "hello: BEAT, an older nonce",         IN_HELLO, BEAT(EPOCH, SEQ, NONCE - 1, true, true, KEYS, HASH), IGNORED(IN_HELLO) },
	{ "hello: CLOSE, our nonce",             IN_HELLO, CLOSE(0, NONCE), STARTS_OVER(CLOSED) },
	{ "hello: CLOSE, an older nonce",        IN_HELLO, CLOSE(EPOCH, NONCE - 1), IGNORED(IN_HELLO) },

	{ "snapshot: the next items",            IN_SNAPSHOT, ITEMS(EPOCH, SEQ + 1), TAKEN_UP_TO(SEQ + 4, IN_SNAPSHOT) },
	{ "snapshot: items are missing",         IN_SNAPSHOT, ITEMS(EPOCH, SEQ + 2), STARTS_OVER(GAP) },
	{ "snapshot: items come again",          IN_SNAPSHOT, ITEMS(EPOCH, SEQ), STARTS_OVER(REPEAT) },
	{ "snapshot: items of another session",  IN_SNAPSHOT, ITEMS(OTHER, SEQ + 1), STARTS_OVER(EPOCH) },
	{ "snapshot: DELTA before its end",      IN_SNAPSHOT, DELTA(EPOCH, SEQ + 1), STARTS_OVER(ORDER) },
	{ "snapshot: BEGIN again",               IN_SNAPSHOT, BEGIN(NONCE), STARTS_OVER(REPEAT) },
	{ "snapshot: BEGIN, an older nonce",     IN_SNAPSHOT, BEGIN(NONCE - 1), STARTS_OVER(EPOCH) },
	{ "snapshot: END",                       IN_SNAPSHOT, END(EPOCH, SEQ, TAKEN), .verb = IN_END, .next = IN_LIVE },
	{ "snapshot: END counts one more",       IN_SNAPSHOT, END(EPOCH, SEQ, TAKEN + 1), STARTS_OVER(COUNT) },
	{ "snapshot: END after a loss",          IN_SNAPSHOT, END(EPOCH, SEQ + 1, TAKEN), STARTS_OVER(GAP) },
	{ "snapshot: END too early",             IN_SNAPSHOT, END(EPOCH, SEQ - 1, TAKEN), STARTS_OVER(REPEAT) },
	{ "snapshot: END of another session",    IN_SNAPSHOT, END(OTHER, SEQ, TAKEN), STARTS_OVER(EPOCH) },
	{ "snapshot: BEAT while out of credit",  IN_SNAPSHOT, BEAT(EPOCH, SEQ, NONCE, true, false, 0, 0), ANSWERED(IN_SNAPSHOT) },
	{ "snapshot: BEAT, exact: END was lost", IN_SNAPSHOT, BEAT(EPOCH, SEQ, NONCE, true, true, KEYS, HASH), STARTS_OVER(GAP) },
	{ "snapshot: BEAT is ahead of us",       IN_SNAPSHOT, BEAT(EPOCH, SEQ + 1, NONCE, true, false, 0, 0), STARTS_OVER(GAP) },
	{ "snapshot: BEAT from before",          IN_SNAPSHOT, BEAT(EPOCH, SEQ - 1, NONCE, true, false, 0, 0), STARTS_OVER(REPEAT) },
	{ "snapshot: BEAT of another session",   IN_SNAPSHOT, BEAT(OTHER, SEQ, NONCE, true, false, 0, 0), STARTS_OVER(EPOCH) },
	{ "snapshot: CLOSE",                     IN_SNAPSHOT, CLOSE(EPOCH, 0), STARTS_OVER(CLOSED) },
	{ "snapshot: CLOSE of another session",  IN_SNAPSHOT, CLOSE(OTHER, NONCE), IGNORED(IN_SNAPSHOT) },

	{ "live: the next deltas",               IN_LIVE, DELTA(EPOCH, SEQ + 1), TAKEN_UP_TO(SEQ + 4, IN_LIVE) },
	{ "live: deltas are missing",            IN_LIVE, DELTA(EPOCH, SEQ + 2), STARTS_OVER(GAP) },
	{ "live: deltas come again",             IN_LIVE, DELTA(EPOCH, SEQ - 3), STARTS_OVER(REPEAT) },
	{ "live: deltas of another session",     IN_LIVE, DELTA(OTHER, SEQ + 1), STARTS_OVER(EPOCH) },
	{ "live: SNAP_ITEMS",                    IN_LIVE, ITEMS(EPOCH, SEQ + 1), STARTS_OVER(ORDER) },
	{ "live: BEGIN again",                   IN_LIVE, BEGIN(NONCE), STARTS_OVER(REPEAT) },
	{ "live: BEGIN, an older nonce",         IN_LIVE, BEGIN(NONCE - 1), STARTS_OVER(EPOCH) },
	{ "live: END again",                     IN_LIVE, END(EPOCH, SEQ, TAKEN), STARTS_OVER(ORDER) },
	{ "live: END from before",               IN_LIVE, END(EPOCH, SEQ - 1, TAKEN), STARTS_OVER(REPEAT) },
	{ "live: BEAT, same keys, same hash",    IN_LIVE, BEAT(EPOCH, SEQ, NONCE, true, true, KEYS, HASH), ANSWERED(IN_LIVE) },
	{ "live: BEAT, another hash",            IN_LIVE, BEAT(EPOCH, SEQ, NONCE, true, true, KEYS, HASH + 1), STARTS_OVER(HASH) },
	{ "live: BEAT, another count",           IN_LIVE, BEAT(EPOCH, SEQ, NONCE, true, true, KEYS + 1, HASH), STARTS_OVER(HASH) },
	{ "live: BEAT, not exact",               IN_LIVE, BEAT(EPOCH, SEQ, NONCE, true, false, 0, 0), ANSWERED(IN_LIVE) },
	{ "live: BEAT: the last delta was lost", IN_LIVE, BEAT(EPOCH, SEQ + 1, NONCE, true, true, KEYS, HASH), STARTS_OVER(GAP) },
	{ "live: BEAT from before",              IN_LIVE, BEAT(EPOCH, SEQ - 1, NONCE, true, true, KEYS, HASH), STARTS_OVER(REPEAT) },
	{ "live: BEAT of another session",       IN_LIVE, BEAT(OTHER, SEQ, NONCE, true, true, KEYS, HASH), STARTS_OVER(EPOCH) },
	{ "live: CLOSE",                         IN_LIVE, CLOSE(EPOCH, 0), STARTS_OVER(CLOSED) },
	{ "live: CLOSE of another session",      IN_LIVE, CLOSE(OTHER, NONCE), IGNORED(IN_LIVE) },
};

static struct session_in
consumer(enum in_state state)
{
	struct session_in s;

	session_in_init(&s, 100, 1);
	s.state = state;
	s.nonce = NONCE;
	s.hello_at_ms = NOW + 50;
	s.received_ms = SENT_MS;
	if (state == IN_SNAPSHOT || state == IN_LIVE) {
		s.epoch = EPOCH;
		s.seq = SEQ;
		s.acked = SEQ;
		s.snap_taken = TAKEN;
	}
	return s;
}

static void
check_row(void **state)
{
	static const struct in_view held = { .count = KEYS, .hash = HASH };
	const struct row *r = *state;
	struct session_in s = consumer(r->state);
	const struct session_in before = s;

	const struct in_step step =
	    session_in_frame(&s, &r->env, &r->body, r->bodies == 0 ? 1 : r->bodies, &held, NOW);
	assert_int_equal(step.verb, r->verb);
	assert_string_equal(resync_name(step.reason), resync_name(r->reason));
	assert_int_equal(s.state, r->next);
	assert_int_equal(s.answer_due, r->answer_due);
	if (r->seq != 0)
		assert_int_equal(s.seq, r->seq);
	/* An ignored, unanswered frame changes nothing: an unknown sender is no sign of life. */
	if (r->verb == IN_IGNORE && !r->answer_due)
		assert_memory_equal(&s, &before, sizeof(s));
	else if (r->verb != IN_RESYNC && r->state != IN_HELLO)
		assert_int_equal(s.received_ms, NOW);
	if (r->verb == IN_BEGIN) {
		assert_int_equal(s.epoch, r->env.epoch);
		assert_int_equal(s.seq, r->env.seq);
	}
}

/* ---- In time ---- */

static void
messages_that_producers_do_not_send(void **state)
{
	static const enum msg strange[] = { MSG_HELLO, MSG_ACK, MSG_TAP, MSG_STAT };
	static const struct in_view held = { 0 };
	const union msg_body body = { 0 };

	(void)state;
	for (unsigned st = IN_DOWN; st <= IN_LIVE; st++) {
		for (size_t i = 0; i < NITEMS(strange); i++) {
			struct session_in s = consumer((enum in_state)st);
			const struct envelope env = { .type = strange[i], .epoch = EPOCH, .seq = SEQ };

			assert_int_equal(session_in_frame(&s, &env, &body, 1, &held, NOW).verb, IN_IGNORE);
			assert_int_equal(s.state, st);
		}
	}
}

/*
 * 200 ms, then twice as long each time up to 5 s, each with a fifth of jitter; every HELLO with a
 * nonce of its own.
 */
static void
hello_backs_off(void **state)
{
	static const int64_t base_ms[] = { 200, 400, 800, 1600, 3200, 5000, 5000, 5000 };
	struct session_in s;
	int64_t now_ms = NOW;
	uint64_t nonce = 0;

	(void)state;
	session_in_init(&s, 100, 42);
	for (size_t i = 0; i < NITEMS(base_ms); i++) {
		assert_int_equal(session_in_next(&s, true, now_ms).verb, IN_SEND_HELLO);
		assert_int_not_equal(s.nonce, nonce);
		assert_int_not_equal(s.nonce, 0);
		nonce = s.nonce;
		session_in_sent(&s, IN_SEND_HELLO, true, now_ms);
		assert_int_equal(s.state, IN_HELLO);
		const struct in_step wait = session_in_next(&s, true, now_ms);
		assert_int_equal(wait.verb, IN_WAIT);
		assert_true(wait.at_ms - now_ms >= base_ms[i] * 8 / 10
		    && wait.at_ms - now_ms <= base_ms[i] * 12 / 10);
		assert_int_equal(session_in_next(&s, true, wait.at_ms - 1).verb, IN_WAIT);
		now_ms = wait.at_ms;
	}
}

/* Not connected: the attempt does not count, so the first HELLO after the connection is not late. */
static void
a_hello_that_could_not_be_sent(void **state)
{
	struct session_in s;

	(void)state;
	session_in_init(&s, 100, 42);
	for (int64_t now_ms = NOW; now_ms < NOW + 60000;) {
		assert_int_equal(session_in_next(&s, true, now_ms).verb, IN_SEND_HELLO);
		session_in_sent(&s, IN_SEND_HELLO, false, now_ms);
		assert_int_equal(s.state, IN_DOWN);
		const struct in_step wait = session_in_next(&s, true, now_ms);
		assert_int_equal(wait.verb, IN_WAIT);
		assert_true(wait.at_ms >= now_ms + 80 && wait.at_ms <= now_ms + 120);
		now_ms = wait.at_ms;
	}
	assert_int_equal(session_in_next(&s, true, s.hello_at_ms - 50).verb, IN_WAIT);
	session_in_connected(&s, s.hello_at_ms - 50);
	assert_int_equal(session_in_next(&s, true, s.hello_at_ms).verb, IN_SEND_HELLO);
}

static void
a_waiting_consumer_answers_beats_and_sends_hello_again_when_they_stop(void **state)
{
	const struct envelope env = { .type = MSG_BEAT, .epoch = EPOCH, .seq = 0 };
	const union msg_body body = { .beat = { .nonce = NONCE } };
	static const struct in_view held = { 0 };
	struct session_in s = consumer(IN_HELLO);

	(void)state;
	assert_int_equal(session_in_frame(&s, &env, &body, 1, &held, NOW).verb, IN_IGNORE);
	/* More is waiting: an ACK would be premature. */
	assert_int_equal(session_in_next(&s, false, NOW).verb, IN_WAIT);
	assert_int_equal(session_in_next(&s, true, NOW).verb, IN_SEND_ACK);
	assert_int_equal(s.epoch, EPOCH);
	session_in_sent(&s, IN_SEND_ACK, true, NOW);
	const struct in_step wait = session_in_next(&s, true, NOW);
	assert_int_equal(wait.verb, IN_WAIT);
	assert_int_equal(wait.at_ms, NOW + SESSION_PRODUCER_TIMEOUT_MS);
	assert_int_equal(session_in_next(&s, true, wait.at_ms).verb, IN_SEND_HELLO);
}

static void
a_timeout_starts_over(void **state)
{
	(void)state;
	for (unsigned st = IN_SNAPSHOT; st <= IN_LIVE; st++) {
		struct session_in s = consumer((enum in_state)st);

		const int64_t timeout_ms = SENT_MS + SESSION_PRODUCER_TIMEOUT_MS;

		assert_int_equal(session_in_next(&s, true, timeout_ms - 1).verb, IN_WAIT);
		const struct in_step step = session_in_next(&s, true, timeout_ms);
		assert_int_equal(step.verb, IN_RESYNC);
		assert_int_equal(step.reason, RESYNC_SILENT);
		/* The first fault of a sound session is answered at once. */
		assert_int_equal(session_in_next(&s, true, timeout_ms).verb, IN_SEND_HELLO);
	}
}

static void
acks_come_after_a_moment_or_at_half_a_window(void **state)
{
	struct session_in s = consumer(IN_LIVE);
	const struct in_view v = { .count = KEYS, .hash = HASH };
	const union msg_body item = { 0 };

	(void)state;
	assert_int_equal(session_in_next(&s, true, NOW).verb, IN_WAIT);	/* nothing to send */
	for (int n = 1; n <= 2; n++) {		/* the first one sets the time, the others share the ACK */
		const struct envelope env = { .type = MSG_DELTA, .epoch = EPOCH, .seq = s.seq + 1 };

		session_in_frame(&s, &env, &item, 1, &v, NOW + n - 1);
		assert_int_equal(session_in_next(&s, true, NOW + n - 1).verb, IN_WAIT);
		assert_int_equal(session_in_next(&s, true, NOW + n - 1).at_ms, NOW + SESSION_ACK_MS);
	}
	assert_int_equal(session_in_next(&s, false, NOW + SESSION_ACK_MS).verb, IN_WAIT);
	assert_int_equal(session_in_next(&s, true, NOW + SESSION_ACK_MS).verb, IN_SEND_ACK);
	s.ack_at_ms = INT64_MAX;
	s.seq = s.acked + 49;
	assert_int_equal(session_in_next(&s, false, NOW).verb, IN_WAIT);
	s.seq = s.acked + 50;
	assert_int_equal(session_in_next(&s, false, NOW).verb, IN_SEND_ACK);
	session_in_sent(&s, IN_SEND_ACK, false, NOW);		/* refused: it stays due */
	assert_int_equal(session_in_next(&s, false, NOW).verb, IN_SEND_ACK);
	session_in_sent(&s, IN_SEND_ACK, true, NOW);
	assert_int_equal(session_in_next(&s, true, NOW).verb, IN_WAIT);
}

/* Found by the simulation: half of one is none, and nothing taken was "half a window" for ever. */
static void
the_smallest_window_comes_to_rest(void **state)
{
	struct session_in s = consumer(IN_LIVE);

	(void)state;
	s.window = 1;
	assert_int_equal(session_in_next(&s, true, NOW).verb, IN_WAIT);
	s.seq++;
	assert_int_equal(session_in_next(&s, false, NOW).verb, IN_SEND_ACK);
	session_in_sent(&s, IN_SEND_ACK, true, NOW);
	assert_int_equal(session_in_next(&s, true, NOW).verb, IN_WAIT);
}

/* A beat in a live session resets the backoff; before that, each new start waits longer. */
static void
backoff_is_forgotten_on_proof(void **state)
{
	static const struct in_view held = { .count = KEYS, .hash = HASH };
	const struct row *beat = NULL;
	struct session_in s = consumer(IN_LIVE);

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		if (strcmp(rows[i].name, "live: BEAT, same keys, same hash") == 0)
			beat = &rows[i];
	}
	assert_non_null(beat);
	s.attempts = 6;
	s.received_ms = NOW - SESSION_PRODUCER_TIMEOUT_MS;
	struct session_in unlucky = s;
	assert_int_equal(session_in_next(&unlucky, true, NOW).verb, IN_RESYNC);
	assert_true(unlucky.hello_at_ms >= NOW + 4000);
	session_in_frame(&s, &beat->env, &beat->body, 1, &held, NOW);
	assert_int_equal(s.attempts, 0);
}

static void
after_a_refused_frame_hello_waits(void **state)
{
	struct session_in s = consumer(IN_LIVE);

	(void)state;
	const struct in_step step = session_in_refuse(&s, NOW);
	assert_int_equal(step.verb, IN_RESYNC);
	assert_string_equal(resync_name(step.reason), "refused");
	assert_int_equal(s.state, IN_DOWN);
	assert_true(s.hello_at_ms >= NOW + 160);
}

static const struct kick_row {
	const char	*name;
	enum in_state	 state;
	uint64_t	 incarnation;
	enum in_verb	 verb;
	bool		 hello_now;
} kicks[] = {
	{ "kick: down, asks at once",                   IN_DOWN,     7, IN_IGNORE, true  },
	{ "kick: HELLO unanswered, asks again at once", IN_HELLO,    7, IN_IGNORE, true  },
	{ "kick: the incarnation we are in session with", IN_LIVE,   7, IN_IGNORE, false },
	{ "kick: of its snapshot, too",                 IN_SNAPSHOT, 7, IN_IGNORE, false },
	{ "kick: a new incarnation",                    IN_LIVE,     8, IN_RESYNC, true  },
	{ "kick: a new one during a snapshot",          IN_SNAPSHOT, 8, IN_RESYNC, true  },
	{ "kick: late, of an older incarnation",        IN_LIVE,     6, IN_IGNORE, false },
};

static void
check_kick(void **state)
{
	const struct kick_row *r = *state;
	struct session_in s = consumer(r->state);

	s.attempts = 5;
	const struct in_step step = session_in_producer_up(&s, r->incarnation, NOW);
	assert_int_equal(step.verb, r->verb);
	if (r->verb == IN_RESYNC)
		assert_int_equal(step.reason, RESYNC_PEER);
	assert_int_equal(session_in_next(&s, true, NOW).verb == IN_SEND_HELLO, r->hello_now);
}

static void
every_reason_has_a_name(void **state)
{
	(void)state;
	for (unsigned a = 0; a < RESYNC_MAX; a++) {
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(resync_name((enum resync)a), resync_name((enum resync)b));
	}
	assert_string_equal(resync_name(RESYNC_MAX), "?");
}

/* Every state meets every kind of frame in some row. */
static void
no_pair_is_missing(void **state)
{
	static const enum msg types[] = { MSG_SNAP_BEGIN, MSG_SNAP_ITEMS, MSG_SNAP_END, MSG_DELTA,
		MSG_BEAT, MSG_CLOSE };

	(void)state;
	for (unsigned st = IN_DOWN; st <= IN_LIVE; st++) {
		for (size_t t = 0; t < NITEMS(types); t++) {
			bool found = false;

			for (size_t i = 0; i < NITEMS(rows); i++)
				found = found || (rows[i].state == st && rows[i].env.type == types[t]);
			assert_true(found);
		}
	}
}

int
main(void)
{
	static const struct CMUnitTest whole[] = {
		cmocka_unit_test(messages_that_producers_do_not_send), cmocka_unit_test(hello_backs_off),
		cmocka_unit_test(a_hello_that_could_not_be_sent),
		cmocka_unit_test(a_waiting_consumer_answers_beats_and_sends_hello_again_when_they_stop),
		cmocka_unit_test(a_timeout_starts_over),
		cmocka_unit_test(acks_come_after_a_moment_or_at_half_a_window),
		cmocka_unit_test(the_smallest_window_comes_to_rest),
		cmocka_unit_test(backoff_is_forgotten_on_proof),
		cmocka_unit_test(after_a_refused_frame_hello_waits),
		cmocka_unit_test(every_reason_has_a_name), cmocka_unit_test(no_pair_is_missing),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(kicks)];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(kicks); i++)
		tests[n++] = (struct CMUnitTest){ kicks[i].name, check_kick, NULL, NULL,
			(void *)(uintptr_t)&kicks[i] };
	const int failed = cmocka_run_group_tests_name("session", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("session, in time", whole, NULL, NULL);
}
