/*
 * bench/bus_inline.c - both ends of a session on one loop in one process, to count instructions.
 *
 *	bench-bus_inline DIR VALUE_BYTES DELTAS BATCH
 *
 * The program makes BATCH changes, then waits for all of them: with 1 each delta has a frame of its own, the
 * most expensive case for all costs per frame. Two runs of different DELTAS differ by the cost of that
 * many deltas and nothing else.
 */
#include <stdio.h>

#include "ends.h"
#include "obj.h"

enum { KEYS = 256 };

struct taker {
	uint64_t	taken;
	bool		synced;
};

static void
on_change(const struct change *c, void *arg)
{
	struct taker *t = arg;

	if (c->kind == CHANGE_SYNCED)
		t->synced = true;
	if (c->kind == CHANGE_UPDATED && !c->initial)
		MUST(c->value->sample.number == ++t->taken);
}

int
main(int argc, char **argv)
{
	struct taker t = { 0 };

	if (argc != 5) {
		fprintf(stderr, "usage: bench-bus_inline DIR VALUE_BYTES DELTAS BATCH\n");
		return 2;
	}
	const uint32_t bytes = bench_number("VALUE_BYTES", argv[2]);
	const uint32_t deltas = bench_number("DELTAS", argv[3]);
	const uint32_t batch = bench_number("BATCH", argv[4]);
	struct event_base *base = bench_loop("inline");
	struct source *source = source_new(base, argv[1], KEYS, bytes);
	struct sink *sink = sink_new(base, argv[1], on_change, &t);

	MUST(batch <= KEYS);
	bench_until(base, &t.synced);
	for (uint32_t made = 0; made < deltas;) {
		for (uint32_t i = 0; i < batch && made < deltas; i++, made++)
			source_change(source);
		while (t.taken < made)
			MUST(event_base_loop(base, EVLOOP_ONCE) != -1);
	}
	sink_free(&sink);
	source_free(&source);
	event_base_free(base);
	return 0;
}
