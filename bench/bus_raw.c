/*
 * bench/bus_raw.c - messages a second of plain ZeroMQ between two processes, to compare a session with.
 *
 *	bench-bus_raw DIR BYTES MESSAGES
 *
 * The same sockets and direction as a session, ROUTER to DEALER over ipc, one message per delta; nothing
 * is packed or stored. Both ends block, so there is no event loop. Prints {"deltas", "seconds"},
 * the first tenth left out.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "clock.h"
#include "ends.h"
#include "obj.h"

enum { HWM = 1000 };		/* libzmq's own default */

struct task {
	char		 endpoint[128];
	uint32_t	 bytes, messages;
};

static void *
open_socket(void *ctx, int type)
{
	const int hwm = HWM, linger = 0;
	void *s = zmq_socket(ctx, type);

	MUST(s != NULL);
	MUST(zmq_setsockopt(s, ZMQ_SNDHWM, &hwm, sizeof(hwm)) == 0);
	MUST(zmq_setsockopt(s, ZMQ_RCVHWM, &hwm, sizeof(hwm)) == 0);
	MUST(zmq_setsockopt(s, ZMQ_LINGER, &linger, sizeof(linger)) == 0);
	return s;
}

static int
send_all(const struct task *task)
{
	const int mandatory = 1;	/* a full peer blocks us; without it messages would be dropped */
	void *ctx = zmq_ctx_new(), *s = open_socket(ctx, ZMQ_ROUTER);
	uint8_t *value = obj_alloc(task->bytes);
	char id[64], text[8];

	MUST(zmq_setsockopt(s, ZMQ_ROUTER_MANDATORY, &mandatory, sizeof(mandatory)) == 0);
	MUST(zmq_bind(s, task->endpoint) == 0);
	const int id_len = zmq_recv(s, id, sizeof(id), 0);
	MUST(id_len > 0 && zmq_recv(s, text, sizeof(text), 0) > 0);
	for (uint32_t n = 0; n < task->messages; n++) {
		MUST(zmq_send(s, id, (size_t)id_len, ZMQ_SNDMORE) == id_len);
		MUST(zmq_send(s, value, task->bytes, 0) == (int)task->bytes);
	}
	MUST(zmq_recv(s, id, sizeof(id), 0) > 0 && zmq_recv(s, text, sizeof(text), 0) > 0);
	zmq_close(s);
	zmq_ctx_term(ctx);
	free(value);
	return 0;
}

static int
receive_all(const struct task *task)
{
	void *ctx = zmq_ctx_new(), *s = open_socket(ctx, ZMQ_DEALER);
	const int retry_ms = 5, linger_ms = 1000;
	const uint32_t warm = task->messages / 10 + 1;
	int64_t from_us = 0;

	MUST(zmq_setsockopt(s, ZMQ_IDENTITY, "test-consumer-1.1", 17) == 0);
	MUST(zmq_setsockopt(s, ZMQ_RECONNECT_IVL, &retry_ms, sizeof(retry_ms)) == 0);
	MUST(zmq_setsockopt(s, ZMQ_LINGER, &linger_ms, sizeof(linger_ms)) == 0);
	MUST(zmq_connect(s, task->endpoint) == 0);
	MUST(zmq_send(s, "go", 2, 0) == 2);
	for (uint32_t n = 1; n <= task->messages; n++) {
		zmq_msg_t msg;

		zmq_msg_init(&msg);
		MUST(zmq_msg_recv(&msg, s, 0) == (int)task->bytes);
		zmq_msg_close(&msg);
		if (n == warm)
			from_us = clock_mono_us();
	}
	const int64_t to_us = clock_mono_us();
	MUST(zmq_send(s, "done", 4, 0) == 4);
	printf("{\"deltas\": %" PRIu32 ", \"seconds\": %.6f}\n", task->messages - warm,
	    (double)(to_us - from_us) / 1e6);
	zmq_close(s);
	zmq_ctx_term(ctx);
	return 0;
}

int
main(int argc, char **argv)
{
	struct task task;
	int status;

	if (argc != 4) {
		fprintf(stderr, "usage: bench-bus_raw DIR BYTES MESSAGES\n");
		return 2;
	}
	snprintf(task.endpoint, sizeof(task.endpoint), "ipc://%s/raw.ipc", argv[1]);
	task.bytes = bench_number("BYTES", argv[2]);
	task.messages = bench_number("MESSAGES", argv[3]);
	const pid_t pid = fork();
	MUST(pid != -1);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return send_all(&task);
	}
	const int rc = receive_all(&task);
	MUST(waitpid(pid, &status, 0) == pid);
	return rc != 0 || status != 0;
}
