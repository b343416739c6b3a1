/*
 * bench/bus_session.c - deltas a second of one session between two processes over ipc.
 *
 *	bench-bus_session DIR VALUE_BYTES DELTAS [watched]
 *
 * The producer changes one key after the other, never one that still waits to be sent, so that no two
 * changes merge; the consumer's handler receives every single one, in order, or the program aborts.
 * `watched`: starts only once the taps of both ends have a reader. Prints {"deltas", "seconds"} as
 * measured by the consumer, the first tenth left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "ends.h"
#include "obj.h"

enum { KEYS = 4096, AHEAD = 1024 };	/* ahead: one window of a session */

struct task {
	const char	*dir;
	uint32_t	 bytes, deltas;
	bool		 watched;
	int		 line;		/* to the other process: a byte is "go", its end is "done" */
};

struct taker {
	uint64_t	 taken, warm, wanted;
	int64_t		 from_us, to_us;
	bool		 synced, complete;
};

struct starter {
	bool	go, done;
};

static void
on_change(const struct change *c, void *arg)
{
	struct taker *t = arg;

	if (c->kind == CHANGE_SYNCED)
		t->synced = true;
	if (c->kind != CHANGE_UPDATED || c->initial)
		return;
	MUST(c->value->sample.number == ++t->taken);	/* none merged, none lost, none twice */
	if (t->taken == t->warm)
		t->from_us = clock_mono_us();
	if (t->taken == t->wanted) {
		t->to_us = clock_mono_us();
		t->complete = true;
	}
}

static int
consume(const struct task *task)
{
	struct taker t = { .warm = task->deltas / 10 + 1, .wanted = task->deltas };
	struct event_base *base = bench_loop("sink");
	struct sink *s = sink_new(base, task->dir, on_change, &t);

	bench_until(base, &t.synced);
	while (task->watched && !bench_watched())
		MUST(event_base_loop(base, EVLOOP_ONCE) != -1);
	MUST(write(task->line, "g", 1) == 1);
	bench_until(base, &t.complete);
	close(task->line);
	printf("{\"deltas\": %" PRIu64 ", \"seconds\": %.6f}\n", t.wanted - t.warm,
	    (double)(t.to_us - t.from_us) / 1e6);
	sink_free(&s);
	event_base_free(base);
	return 0;
}

static void
on_line(evutil_socket_t fd, short what, void *arg)
{
	struct starter *s = arg;
	char byte;
	const ssize_t n = read(fd, &byte, 1);

	(void)what;
	s->go = s->go || n == 1;
	s->done = n == 0;
}

static int
produce(const struct task *task)
{
	struct starter st = { 0 };
	struct event_base *base = bench_loop("source");
	struct source *s = source_new(base, task->dir, KEYS, task->bytes);
	struct event *line = event_new(base, task->line, EV_READ | EV_PERSIST, on_line, &st);

	event_add(line, NULL);
	bench_until(base, &st.go);
	while (task->watched && !bench_watched())
		MUST(event_base_loop(base, EVLOOP_ONCE) != -1);
	for (uint32_t n = 0; n < task->deltas;) {
		for (; n < task->deltas && source_pending(s) < AHEAD; n++)
			source_change(s);
		MUST(event_base_loop(base, EVLOOP_ONCE) != -1);
	}
	bench_until(base, &st.done);
	event_free(line);
	source_free(&s);
	event_base_free(base);
	return 0;
}

int
main(int argc, char **argv)
{
	int lines[2], status;

	if (argc < 4) {
		fprintf(stderr, "usage: bench-bus_session DIR VALUE_BYTES DELTAS [watched]\n");
		return 2;
	}
	struct task task = {
		.dir = argv[1],
		.bytes = bench_number("VALUE_BYTES", argv[2]),
		.deltas = bench_number("DELTAS", argv[3]),
		.watched = argc > 4 && strcmp(argv[4], "watched") == 0,
	};
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, lines) == 0);
	const pid_t pid = fork();
	MUST(pid != -1);
	task.line = lines[pid == 0];
	close(lines[pid != 0]);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return produce(&task);
	}
	const int rc = consume(&task);
	MUST(waitpid(pid, &status, 0) == pid);
	return rc != 0 || status != 0;
}
