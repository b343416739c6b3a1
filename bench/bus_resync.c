/*
 * bench/bus_resync.c - how long a consumer waits for a complete snapshot, between two processes over ipc.
 *
 *	bench-bus_resync DIR VALUE_BYTES KEYS
 *
 * Prints {"first_ms", "again_ms"}. first: a new consumer, from connecting to the end of its snapshot, every
 * key stored and passed to its handler. again: the same consumer, from its next HELLO to SNAP_END applied,
 * every key compared with what it holds. Neither includes the start of a process.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "ends.h"
#include "obj.h"

struct taker {
	uint64_t	added;
	bool		synced;
};

static void
on_change(const struct change *c, void *arg)
{
	struct taker *t = arg;

	t->added += c->kind == CHANGE_ADDED;
	t->synced = t->synced || c->kind == CHANGE_SYNCED;
}

/* Runs until the consumer kills this process. */
static void
produce(const char *dir, uint32_t bytes, uint32_t keys, int ready)
{
	struct event_base *base = bench_loop("source");
	struct source *s = source_new(base, dir, keys, bytes);

	(void)s;
	MUST(write(ready, "r", 1) == 1);
	event_base_dispatch(base);
}

static void
consume(const char *dir, uint32_t keys)
{
	struct taker t = { 0 };
	struct event_base *base = bench_loop("sink");

	const int64_t start_us = clock_mono_us();
	struct sink *s = sink_new(base, dir, on_change, &t);
	bench_until(base, &t.synced);
	const int64_t first_us = clock_mono_us();
	MUST(t.added == keys);
	t.synced = false;
	sink_resync(s);
	bench_until(base, &t.synced);
	const int64_t again_us = clock_mono_us();
	MUST(t.added == keys);
	printf("{\"first_ms\": %.3f, \"again_ms\": %.3f}\n", (double)(first_us - start_us) / 1e3,
	    (double)(again_us - first_us) / 1e3);
	sink_free(&s);
	event_base_free(base);
}

int
main(int argc, char **argv)
{
	int ready[2];
	char byte;

	if (argc != 4) {
		fprintf(stderr, "usage: bench-bus_resync DIR VALUE_BYTES KEYS\n");
		return 2;
	}
	const uint32_t bytes = bench_number("VALUE_BYTES", argv[2]), keys = bench_number("KEYS", argv[3]);
	MUST(pipe(ready) == 0);
	const pid_t pid = fork();
	MUST(pid != -1);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		produce(argv[1], bytes, keys, ready[1]);
		return 1;
	}
	close(ready[1]);
	MUST(read(ready[0], &byte, 1) == 1);
	consume(argv[1], keys);
	kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0) != pid;
}
