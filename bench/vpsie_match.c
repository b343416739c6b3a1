/*
 * bench/vpsie_match.c - what one matching of vpsie-claimer costs, in CPU time.
 *
 *	bench-vpsie_match WAITING VMS PASSES
 *
 * Prints {"match_ms", "match_double_ratio", "match_free_ms", "match_free_double_ratio", "match_bytes"}. VMS
 * machines are listed, and as many Nodes have joined; all but WAITING of the machines belong to VPSieNodes.
 * free: nobody has any of them, and all are of the group, so each is a candidate. double: twice as many of
 * everything. Of the passes the fastest counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "actors/vpsie-claimer/discover.h"
#include "obj.h"

enum { TEXT = 40 };

struct bench {
	struct discover_vpsienode *vpsienodes;
	struct machine *machines;
	struct discover_fact *facts;
	struct machine_group group;
	struct wire_str *addresses;
	char (*texts)[TEXT];
	struct discover_input in;
	size_t used;
};

/* before, the number, after. */
static struct wire_str
text(struct bench *b, const char *before, uint32_t n, const char *after)
{
	char *const p = b->texts[b->used++];

	return (struct wire_str){ .p = p,
		.len = (uint32_t)snprintf(p, TEXT, "%s%08x%s", before, n, after) };
}

static void
set_up(struct bench *b, uint32_t waiting, uint32_t vms, bool bound)
{
	const uint32_t nv = bound ? vms : waiting;

	*b = (struct bench){ .used = 0 };
	b->vpsienodes = obj_alloc(nv * sizeof(*b->vpsienodes));
	b->machines = obj_alloc(vms * sizeof(*b->machines));
	b->facts = obj_alloc(vms * sizeof(*b->facts));
	b->addresses = obj_alloc(vms * sizeof(*b->addresses));
	b->texts = obj_alloc((size_t)vms * 8 * sizeof(*b->texts));
	b->group = (struct machine_group){ .boxsize_id = 12, .datacenter_id = 5 };
	b->in = (struct discover_input){ .vpsienodes = b->vpsienodes,
		.machines = b->machines,
		.facts = b->facts,
		.groups = &b->group,
		.nvpsienodes = nv,
		.nmachines = vms,
		.nfacts = vms,
		.ngroups = 1,
		.skew_us = 5000000,
		.seed = 0x5eed };
	for (uint32_t i = 0; i < vms; i++) {
		const struct wire_str address = text(b, "10.", i, ".7.9"),
				      uuid = text(b, "7c0d7e1e-", i, "");

		b->machines[i] = (struct machine){ .id = 41000 + i,
			.identifier = uuid,
			.hostname = text(b, "k8s-worker-", i, ""),
			.status = wire_str_of("running"),
			.addresses = { address, text(b, "192.168.", i, ".4") },
			.cluster = wire_str_of("cluster-1"),
			.datacenter_id = 5,
			.boxsize_id = 12,
			.created_us = INT64_C(1000000) * (1000 + i) };
		b->addresses[i] = address;
		b->facts[i] = (struct discover_fact){ .name = text(b, "node-", i, ""),
			.hostname = b->machines[i].hostname,
			.addresses = &b->addresses[i],
			.naddresses = 1 };
		if (i >= nv)
			continue;
		b->vpsienodes[i] = (struct discover_vpsienode){ .namespace = wire_str_of("default"),
			.name = text(b, "group-", i, ""),
			.cluster = wire_str_of("cluster-1"),
			.waits = i < waiting,
			.requested_us = INT64_C(500000000) + i,
			.identifier = i < waiting ? wire_str_of("") : uuid,
			.id = i < waiting ? 0 : 41000 + i };
	}
}

/* The fastest matching, in ms of CPU time. */
static double
measure(uint32_t waiting, uint32_t vms, bool bound, int passes, size_t *bytes)
{
	struct discover_result r;
	struct bench b;
	double best = 1e9;

	MUST(passes > 0);
	set_up(&b, waiting, vms, bound);
	*bytes = discover_bytes(&b.in);
	void *const memory = obj_alloc(*bytes);
	for (int i = 0; i < passes; i++) {
		struct timespec from, to;

		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		discover(&b.in, memory, &r);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
		const double ms = (double)(to.tv_sec - from.tv_sec) * 1e3
		    + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
		best = ms < best ? ms : best;
	}
	for (uint32_t i = 0; i < waiting; i++)
		MUST(r.matches[i].machine != DISCOVER_NONE && r.matches[i].fact != DISCOVER_NONE);
	free(memory);
	free(b.vpsienodes);
	free(b.machines);
	free(b.facts);
	free(b.addresses);
	free(b.texts);
	return best;
}

int
main(int argc, char **argv)
{
	size_t bytes, ignored;

	if (argc != 4)
		return 100;
	const uint32_t waiting = (uint32_t)strtoul(argv[1], NULL, 10),
		       vms = (uint32_t)strtoul(argv[2], NULL, 10);
	const int passes = (int)strtol(argv[3], NULL, 10);
	const double once = measure(waiting, vms, true, passes, &bytes);
	const double twice = measure(2 * waiting, 2 * vms, true, passes, &ignored);
	const double once_free = measure(waiting, vms, false, passes, &ignored);
	const double twice_free = measure(2 * waiting, 2 * vms, false, passes, &ignored);

	printf("{\"match_ms\": %.3f, \"match_double_ratio\": %.2f, \"match_free_ms\": %.3f, "
	       "\"match_free_double_ratio\": %.2f, \"match_bytes\": %zu}\n",
	    once, twice / once, once_free, twice_free / once_free, bytes);
	return 0;
}
