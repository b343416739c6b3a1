/*
 * bench/bus_reader.c - reads everything off the taps of both ends of bench-bus_session, as fast as it can.
 *
 *	bench-bus_reader DIR
 *
 * It ends when its stdin does. Prints {"records", "lost"}: lost counts the gaps in the numbers of records.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "msg.h"
#include "obj.h"
#include "tap.h"

enum { TOPICS_MAX = 64, PARTS = 3, RETRY_MS = 5, HWM = 1000 };

/* Records are numbered per topic. */
struct topic {
	char		name[128];
	uint64_t	seq;
};

struct tally {
	struct topic		topics[TOPICS_MAX];
	size_t			ntopics;
	uint64_t		records, lost;
	struct msg_arena	arena;
};

static struct topic *
topic_of(struct tally *t, const char *name, size_t len)
{
	for (size_t i = 0; i < t->ntopics; i++) {
		if (strlen(t->topics[i].name) == len && memcmp(t->topics[i].name, name, len) == 0)
			return &t->topics[i];
	}
	MUST(t->ntopics < TOPICS_MAX && len < sizeof(t->topics[0].name));
	struct topic *new = &t->topics[t->ntopics++];
	memcpy(new->name, name, len);
	return new;
}

static bool
take_record(struct tally *t, void *s)
{
	zmq_msg_t parts[PARTS];
	union msg_body meta;

	for (int i = 0; i < PARTS; i++)
		zmq_msg_init(&parts[i]);
	const bool got = zmq_msg_recv(&parts[0], s, ZMQ_DONTWAIT) != -1;
	if (got) {
		MUST(zmq_msg_recv(&parts[1], s, 0) != -1 && zmq_msg_recv(&parts[2], s, 0) != -1);
		struct topic *topic = topic_of(t, zmq_msg_data(&parts[0]), zmq_msg_size(&parts[0]));
		const void *bytes = zmq_msg_data(&parts[1]);
		msg_arena_reset(&t->arena);
		MUST(msg_unpack_value(MSG_TAP, bytes, zmq_msg_size(&parts[1]), &t->arena, &meta));
		t->lost += topic->seq == 0 ? 0 : meta.tap.seq - topic->seq - 1;
		topic->seq = meta.tap.seq;
		t->records++;
	}
	for (int i = 0; i < PARTS; i++)
		zmq_msg_close(&parts[i]);
	return got;
}

static void *
subscribe(void *ctx, const char *dir)
{
	static const enum role roles[] = { ROLE_TEST_PRODUCER, ROLE_TEST_CONSUMER_1 };
	const int retry_ms = RETRY_MS, hwm = HWM;
	void *s = zmq_socket(ctx, ZMQ_SUB);

	MUST(zmq_setsockopt(s, ZMQ_SUBSCRIBE, "", 0) == 0);
	MUST(zmq_setsockopt(s, ZMQ_RECONNECT_IVL, &retry_ms, sizeof(retry_ms)) == 0);
	MUST(zmq_setsockopt(s, ZMQ_RCVHWM, &hwm, sizeof(hwm)) == 0);
	for (size_t i = 0; i < NITEMS(roles); i++) {
		char path[128], endpoint[160];

		MUST(tap_path(path, sizeof(path), dir, roles[i]));
		snprintf(endpoint, sizeof(endpoint), "ipc://%s", path);
		MUST(zmq_connect(s, endpoint) == 0);
	}
	return s;
}

int
main(int argc, char **argv)
{
	static struct tally t;

	if (argc != 2) {
		fprintf(stderr, "usage: bench-bus_reader DIR\n");
		return 2;
	}
	msg_arena_init(&t.arena);
	void *ctx = zmq_ctx_new(), *s = subscribe(ctx, argv[1]);
	zmq_pollitem_t items[] = {
		{ .socket = s, .events = ZMQ_POLLIN },
		{ .fd = STDIN_FILENO, .events = ZMQ_POLLIN },
	};
	while (items[1].revents == 0) {
		while (take_record(&t, s))
			;
		MUST(zmq_poll(items, NITEMS(items), -1) != -1);
	}
	printf("{\"records\": %" PRIu64 ", \"lost\": %" PRIu64 "}\n", t.records, t.lost);
	zmq_close(s);
	zmq_ctx_term(ctx);
	msg_arena_free(&t.arena);
	return 0;
}
