/*
 * tests/bus/test_tap_copy.c - the tap of a running bus: what readers get, and that they affect no other.
 *
 * muster-test: parallel
 */
#include <poll.h>

#include "rig.h"

enum { BURST = 20000, LATER = 100, SUBSCRIPTIONS = 2000, TURNS = 20 };

#define DELTAS	"o/test-producer/samples/DELTA"
#define BEATS	"o/test-producer/samples/BEAT"
#define HELLOS	"i/test-producer/samples/HELLO"

static void *
reader(struct rig *r, const char *topic)
{
	char address[160];
	const int zero = 0;
	void *s = zmq_socket(r->context, ZMQ_SUB);

	assert_non_null(s);
	zmq_setsockopt(s, ZMQ_LINGER, &zero, sizeof(zero));
	zmq_setsockopt(s, ZMQ_SUBSCRIBE, topic, strlen(topic));
	snprintf(address, sizeof(address), "ipc://%s/test-producer/tap.ipc", r->dir);
	assert_int_equal(zmq_connect(s, address), 0);
	return s;
}

static double
copied(void)
{
	return stat_value(stat_get(STAT_TAP_SENT, ""));
}

static void
no_reader(void **state)
{
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	rig_undisturbed(&r, &r.consumers[0]);
	assert_int_equal((int)copied(), 0);
	rig_free(&r);
}

static void
a_reader_connects_and_closes(void **state)
{
	char part[1024];
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	void *s = reader(&r, DELTAS);
	RIG_UNTIL(&r, tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_DELTA]);
	assert_false(tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_BEAT]);
	assert_false(tap_subscribed[TAP_IN][LINK_SAMPLES][MSG_DELTA]);
	rig_undisturbed(&r, &r.consumers[0]);
	RIG_UNTIL(&r, zmq_recv(s, part, sizeof(part), ZMQ_DONTWAIT) != -1);
	assert_memory_equal(part, DELTAS, strlen(DELTAS));
	zmq_close(s);
	RIG_UNTIL(&r, !tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_DELTA]);
	const double before = copied();
	rig_undisturbed(&r, &r.consumers[0]);
	assert_int_equal((int)copied(), (int)before);
	rig_free(&r);
}

/* A send processes the socket's commands, and consumes the edge that would have woken the loop. */
static void
a_second_reader_while_the_first_is_busy(void **state)
{
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	void *first = reader(&r, DELTAS);
	RIG_UNTIL(&r, tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_DELTA]);
	void *second = reader(&r, BEATS);
	const int64_t until_ms = clock_mono_ms() + LATER;
	for (int i = 0; i < BURST || clock_mono_ms() < until_ms; i++)
		tap_record(r.producer.tap, TAP_OUT, LINK_SAMPLES, MSG_DELTA, "nobody", "x", 1);
	rig_turn(&r, LATER);
	assert_true(tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_BEAT]);
	zmq_close(first);
	zmq_close(second);
	rig_free(&r);
}

/* A flood of subscriptions takes many turns of the loop, so other events are served; none is lost. */
static void
a_flood_of_subscriptions(void **state)
{
	const int no_limit = 0;
	struct rig r;
	int turns = 0;

	(void)state;
	rig_start(&r, 1, 10);
	void *s = reader(&r, BEATS);
	RIG_UNTIL(&r, tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_BEAT]);
	zmq_setsockopt(s, ZMQ_SNDHWM, &no_limit, sizeof(no_limit));
	for (int i = 0; i < SUBSCRIPTIONS; i++) {
		zmq_setsockopt(s, ZMQ_SUBSCRIBE, HELLOS, strlen(HELLOS));
		zmq_setsockopt(s, ZMQ_UNSUBSCRIBE, HELLOS, strlen(HELLOS));
	}
	zmq_setsockopt(s, ZMQ_SUBSCRIBE, DELTAS, strlen(DELTAS));
	poll(NULL, 0, LATER);	/* the more of them wait, the more an endless turn would take */
	const int64_t until_ms = clock_mono_ms() + RIG_TIMEOUT_MS;
	for (; !tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_DELTA] && clock_mono_ms() < until_ms; turns++)
		assert_int_not_equal(event_base_loop(r.base, EVLOOP_ONCE), -1);
	assert_true(tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_DELTA]);
	assert_false(tap_subscribed[TAP_IN][LINK_SAMPLES][MSG_HELLO]);
	assert_true(turns >= TURNS);
	zmq_close(s);
	rig_free(&r);
}

static void
a_token_is_not_shown(void **state)
{
	char part[1024];
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	void *s = reader(&r, HELLOS);
	RIG_UNTIL(&r, tap_subscribed[TAP_IN][LINK_SAMPLES][MSG_HELLO]);
	rig_open(&r, &r.consumers[1], ROLE_TEST_CONSUMER_2, 1);
	rig_announce(&r, &r.consumers[1]);
	RIG_UNTIL(&r, r.consumers[1].synced == 1);
	for (int i = 0; i < 3; i++) {
		int len = -1;

		RIG_UNTIL(&r, (len = zmq_recv(s, part, sizeof(part), ZMQ_DONTWAIT)) != -1);
		assert_null(memmem(part, (size_t)len, r.consumers[1].token.bytes, r.consumers[1].token.len));
	}
	assert_non_null(memmem(part, 100, "test-consumer-2", 15));	/* the frame itself */
	zmq_close(s);
	rig_free(&r);
}

/* Only the schema lists SEALED, and declares that its password is secret (issue 10.4). */
static void
a_secret_of_a_new_message_is_not_shown(void **state)
{
	static const char topic[] = "o/test-producer/kube.test-1/DELTA", password[] = "hunter2-very-secret";
	const union msg_body sealed = { .sealed = { .name = wire_str_of("first"), .last = wire_str_of("last"),
		.password = { .p = (const uint8_t *)password, .len = sizeof(password) - 1 } } };
	msgpack_sbuffer value, frame;
	char part[1024];
	int len = -1;
	struct rig r;

	(void)state;
	msgpack_sbuffer_init(&value);
	msgpack_sbuffer_init(&frame);
	msg_pack(&value, MSG_SEALED, &sealed);
	const union msg_body item = { .item = { .key = wire_str_of("k"), .type = msg_table[MSG_SEALED].number,
		.value = { .p = (const uint8_t *)value.data, .len = (uint32_t)value.size } } };
	frame_begin(&frame, &(struct envelope){ .type = MSG_DELTA, .epoch = 1, .seq = 1 });
	msg_pack(&frame, MSG_DELTA, &item);
	assert_non_null(memmem(frame.data, frame.size, password, sizeof(password) - 1));
	rig_start(&r, 1, 10);
	void *s = reader(&r, topic);
	RIG_UNTIL(&r, tap_subscribed[TAP_OUT][LINK_KUBE_TEST_1][MSG_DELTA]);
	tap_record(r.producer.tap, TAP_OUT, LINK_KUBE_TEST_1, MSG_DELTA, "peer", frame.data, frame.size);
	for (int i = 0; i < 3; i++) {
		RIG_UNTIL(&r, (len = zmq_recv(s, part, sizeof(part), ZMQ_DONTWAIT)) != -1);
		assert_null(memmem(part, (size_t)len, "hunter", 6));
	}
	assert_non_null(memmem(part, (size_t)len, "first", 5));	/* the rest of it is there */
	assert_non_null(memmem(part, (size_t)len, "last", 4));
	zmq_close(s);
	msgpack_sbuffer_destroy(&value);
	msgpack_sbuffer_destroy(&frame);
	rig_free(&r);
}

/* The reader never reads: it loses records, and the bus goes on at full speed. */
static void
a_reader_that_does_not_read(void **state)
{
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	void *s = reader(&r, "");
	RIG_UNTIL(&r, tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_DELTA]);
	for (int i = 0; i < BURST; i++)
		tap_record(r.producer.tap, TAP_OUT, LINK_SAMPLES, MSG_DELTA, "nobody", "x", 1);
	for (int i = 0; i < 100; i++)
		rig_undisturbed(&r, &r.consumers[0]);
	zmq_close(s);
	RIG_UNTIL(&r, !tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_DELTA]);
	rig_free(&r);
}

/* libzmq asserts in session_base.cpp:260 that the rest of a record can be read, and would abort us. */
static void
a_reader_that_goes_while_we_close(void **state)
{
	struct rig r;

	(void)state;
	for (int n = 0; n < 20; n++) {
		rig_start(&r, 1, 10);
		void *s = reader(&r, "");
		RIG_UNTIL(&r, tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_DELTA]);
		for (int i = 0; i < BURST; i++)
			tap_record(r.producer.tap, TAP_OUT, LINK_SAMPLES, MSG_DELTA, "nobody", "x", 1);
		zmq_close(s);
		rig_free(&r);
	}
}

#define ALONE(fn)	{ .name = #fn, .test_func = (fn) }

int
main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		ALONE(no_reader), ALONE(a_reader_connects_and_closes),
		ALONE(a_second_reader_while_the_first_is_busy), ALONE(a_flood_of_subscriptions),
		ALONE(a_token_is_not_shown), ALONE(a_secret_of_a_new_message_is_not_shown),
		ALONE(a_reader_that_does_not_read), ALONE(a_reader_that_goes_while_we_close),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);	/* a glob, for a person */
	log_open("test", LOG_JSON, LEVEL_ERROR);
	return cmocka_run_group_tests_name("tap", tests, NULL, NULL);
}
