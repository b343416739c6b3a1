/*
 * tests/bus/test_flood.c - frames that are too large or too many, and bytes that are no ZeroMQ: the
 * producer serves its valid consumers as before, and no resource leaks.
 *
 * muster-test: parallel
 */
#include <dirent.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "random.h"
#include "rig.h"

enum { CYCLES = 1000, FLOOD = 20000, MUTATIONS = 3000 };

/* Larger than ZMQ_MAXMSGSIZE: libzmq ends the connection before a byte of it reaches us. */
static void
more_than_a_mebibyte(void **state)
{
	const size_t size = 64 * 1024 * 1024;
	char *big = obj_alloc(size);
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	void *s = rig_raw(&r, ZMQ_DEALER, RIG_UNKNOWN_ID);
	assert_int_equal(zmq_send(s, big, size, 0), size);
	for (int i = 0; i < 20; i++)
		rig_undisturbed(&r, &r.consumers[0]);
	assert_int_equal(r.producer.nreports, 0);
	zmq_close(s);
	free(big);
	rig_free(&r);
}

/* Bytes that are no ZMTP, with lengths of 2^63 and similar, written to the unix socket. */
static void
bytes_that_are_no_zmtp(void **state)
{
	static const char greeting[64] = "\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL";
	static const struct {
		const char	*bytes;
		size_t		 len;
	} after[] = {
		{ "\x02\xff\xff\xff\xff\xff\xff\xff\xff", 9 },		/* a long frame of 2^64-1 bytes */
		{ "\x02\x7f\xff\xff\xff\xff\xff\xff\xff", 9 },
		{ "\x06\x80\0\0\0\0\0\0\0", 9 },			/* a command of 2^63 */
		{ "\x04\x05\x05READY", 8 },
		{ "\x04\x00", 2 },
		{ "\x00\x00\x00\x00\x00\x00", 6 },			/* messages before the handshake */
		{ "GET / HTTP/1.1\r\n\r\n", 18 },
	};
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	for (size_t i = 0; i < 2 * NITEMS(after); i++) {
		struct sockaddr_un sun = { .sun_family = AF_UNIX };
		const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		snprintf(sun.sun_path, sizeof(sun.sun_path), "%.60s/test-producer/samples.ipc", r.dir);
		assert_int_equal(connect(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
		if (i % 2 == 0)
			assert_int_equal(write(fd, greeting, sizeof(greeting)), sizeof(greeting));
		(void)!send(fd, after[i / 2].bytes, after[i / 2].len, MSG_NOSIGNAL);
		rig_undisturbed(&r, &r.consumers[0]);
		close(fd);
	}
	rig_undisturbed(&r, &r.consumers[0]);
	rig_free(&r);
}

static void
a_flood_of_garbage(void **state)
{
	const int64_t begun_ms = clock_mono_ms();
	msgpack_sbuffer b;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = rig_raw(&r, ZMQ_DEALER, RIG_UNKNOWN_ID);
	rig_garbage(&b);
	for (int i = 0; i < FLOOD; i++) {
		while (zmq_send(s, b.data, b.size, ZMQ_DONTWAIT) == -1)
			rig_turn(&r, 1);
		if (i % 1000 == 0)
			rig_undisturbed(&r, &r.consumers[0]);
	}
	RIG_UNTIL(&r, r.producer.nreports == FLOOD);
	rig_undisturbed(&r, &r.consumers[0]);
	print_message("# %d frames refused in %lld ms\n", FLOOD, (long long)(clock_mono_ms() - begun_ms));
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/* Good frames with random bytes changed are refused or accepted; no crash, and no effect on the consumer. */
static void
frames_with_bytes_changed(void **state)
{
	const struct {
		enum msg	type;
		union msg_body	body;
	} good[] = {
		{ MSG_HELLO, { .hello = rig_hello } },
		{ MSG_ACK, { .ack = { .credit = 1 } } },
		{ MSG_BEAT, { .beat = { .ready = true } } },
		{ MSG_DELTA, { .item = { .key = wire_str_of("k"), .type = 0x7f01 } } },
		{ MSG_SAMPLE, { .sample = { .number = 1 } } },
		{ MSG_TAP, { .tap = { .seq = 1 } } },
	};
	uint64_t random = 20240229;
	msgpack_sbuffer b;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = rig_raw(&r, ZMQ_DEALER, RIG_UNKNOWN_ID);
	for (int i = 0; i < MUTATIONS; i++) {
		const size_t which = (size_t)i % NITEMS(good);

		rig_frame(&b, &(struct envelope){ .type = good[which].type }, &good[which].body);
		for (uint64_t n = 1 + random_below(&random, 3); n > 0; n--)
			b.data[random_below(&random, b.size)] = (char)random_next(&random);
		while (zmq_send(s, b.data, b.size, ZMQ_DONTWAIT) == -1)
			rig_turn(&r, 1);
		if (i % 500 == 0)
			rig_undisturbed(&r, &r.consumers[0]);
	}
	for (unsigned i = 0; i < r.producer.nreports && i < RIG_REPORTS; i++)
		assert_int_equal(r.producer.reports[i].who, ROLE_NONE);
	rig_undisturbed(&r, &r.consumers[0]);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

static int
open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static void
a_thousand_connections_open_and_close(void **state)
{
	msgpack_sbuffer b;
	struct rig r;
	unsigned refused = 0;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	rig_garbage(&b);
	zmq_close(rig_raw(&r, ZMQ_DEALER, NULL));	/* libzmq's own threads have theirs now */
	rig_turn(&r, 100);
	const int before = open_descriptors();
	for (int i = 0; i < CYCLES; i++) {
		char id[32];

		snprintf(id, sizeof(id), "%s.%d", RIG_UNKNOWN_ID, i % 7);
		void *s = rig_raw(&r, ZMQ_DEALER, i % 3 == 0 ? NULL : id);
		if (i % 2 == 0) {
			rig_send(s, &b);
			refused++;
			RIG_UNTIL(&r, r.producer.nreports >= refused);
		}
		zmq_close(s);
		if (i % 100 == 0)
			rig_undisturbed(&r, &r.consumers[0]);
	}
	RIG_UNTIL(&r, open_descriptors() <= before);
	rig_undisturbed(&r, &r.consumers[0]);
	msgpack_sbuffer_destroy(&b);
	rig_free(&r);
}

#define ALONE(fn)	{ .name = #fn, .test_func = (fn) }

int
main(int argc, char **argv)
{
	static const struct CMUnitTest alone[] = {
		ALONE(more_than_a_mebibyte), ALONE(bytes_that_are_no_zmtp), ALONE(a_flood_of_garbage),
		ALONE(frames_with_bytes_changed), ALONE(a_thousand_connections_open_and_close),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);	/* a glob, for a person */
	log_open("test", LOG_JSON, LEVEL_ERROR);
	return cmocka_run_group_tests_name("floods", alone, NULL, NULL);
}
