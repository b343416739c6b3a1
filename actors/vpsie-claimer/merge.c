/*
 * actors/vpsie-claimer/merge.c - the machines of the VM list and of a cluster's node list, as one list. Pure.
 *
 * Neither list has everything: VMs have ids and times, the node list has membership, and a managed worker may
 * be in the node list only. What cannot be recognised as the same stays two machines, of which the one
 * without a cluster is never given away by order (discover.h).
 */
#include <string.h>

#include "obj.h"
#include "text_index.h"
#include "wire.h"

/* Everything that a search needs. */
struct join {
	struct machine		*m;
	struct text_index	 identifiers, addresses, hostnames;	/* of VMs */
	struct text_index	 node_hostnames;
};

static uint32_t same_machine(const struct join *, uint32_t);
static bool contradict(const struct machine *, const struct machine *);
static bool has_address(const struct machine *);
static void fill(struct machine *, const struct machine *);
static void add_address(struct machine *, struct wire_str);

size_t
machines_merge_bytes(uint32_t n)
{
	return 3 * text_index_bytes(n) + text_index_bytes(MACHINE_ADDRESSES_MAX * n);
}

uint32_t
machines_merge(struct machine *m, uint32_t nvms, uint32_t n, void *memory, uint64_t seed)
{
	struct scratch s = { .p = memory };
	struct join j = { .m = m };
	uint32_t left = nvms;

	text_index_init(&j.identifiers, &s, n, seed);
	text_index_init(&j.hostnames, &s, n, seed);
	text_index_init(&j.node_hostnames, &s, n, seed);
	text_index_init(&j.addresses, &s, MACHINE_ADDRESSES_MAX * n, seed);
	for (uint32_t i = 0; i < nvms; i++) {
		text_index_add(&j.identifiers, m[i].identifier, i);
		text_index_add(&j.hostnames, m[i].hostname, i);
		for (size_t k = 0; k < NITEMS(m[i].addresses); k++)
			text_index_add(&j.addresses, m[i].addresses[k], i);
	}
	for (uint32_t i = nvms; i < n; i++)
		text_index_add(&j.node_hostnames, m[i].hostname, i);
	for (uint32_t i = nvms; i < n; i++) {
		const uint32_t vm = same_machine(&j, i);

		if (vm == TEXT_INDEX_NONE)
			m[left++] = m[i];
		else
			fill(&m[vm], &m[i]);
	}
	return left;
}

static uint32_t
same_machine(const struct join *j, uint32_t node)
{
	const struct machine *const x = &j->m[node];
	uint32_t at, other;
	uint32_t vm = text_index_find(&j->identifiers, x->identifier, &at);

	if (vm != TEXT_INDEX_NONE)
		return vm;
	for (size_t k = 0; k < NITEMS(x->addresses); k++) {
		vm = text_index_find(&j->addresses, x->addresses[k], &at);
		if (vm != TEXT_INDEX_NONE && !contradict(&j->m[vm], x))
			return vm;
	}
	/* A hostname that two have decides nothing; nor does one whose addresses are known and differ. */
	vm = text_index_find(&j->hostnames, x->hostname, &at);
	if (vm == TEXT_INDEX_NONE || text_index_more(&j->hostnames, x->hostname, &at) != TEXT_INDEX_NONE
	    || contradict(&j->m[vm], x) || (has_address(&j->m[vm]) && has_address(x)))
		return TEXT_INDEX_NONE;
	other = text_index_find(&j->node_hostnames, x->hostname, &at);
	MUST(other != TEXT_INDEX_NONE);
	other = text_index_more(&j->node_hostnames, x->hostname, &at);
	return other == TEXT_INDEX_NONE ? vm : TEXT_INDEX_NONE;
}

/* Two identifiers, or two clusters: two machines. */
static bool
contradict(const struct machine *a, const struct machine *b)
{
	return (a->identifier.len > 0 && b->identifier.len > 0
		   && text_compare_folded(a->identifier, b->identifier) != 0)
	    || (a->cluster.len > 0 && !wire_str_same(a->cluster, b->cluster));
}

static bool
has_address(const struct machine *m)
{
	bool any = false;

	for (size_t k = 0; k < NITEMS(m->addresses); k++)
		any |= m->addresses[k].len > 0;
	return any;
}

/* What the VM has stays; what it lacks comes from the node. */
static void
fill(struct machine *vm, const struct machine *node)
{
	struct wire_str *const texts[] = { &vm->identifier, &vm->hostname, &vm->status, &vm->datacenter };
	const struct wire_str from[] = { node->identifier, node->hostname, node->status, node->datacenter };
	int64_t *const numbers[] = { &vm->datacenter_id, &vm->boxsize_id, &vm->cpu, &vm->ram, &vm->ssd,
		&vm->created_us };
	const int64_t values[] = { node->datacenter_id, node->boxsize_id, node->cpu, node->ram, node->ssd,
		node->created_us };

	for (size_t i = 0; i < NITEMS(texts); i++) {
		if (texts[i]->len == 0)
			*texts[i] = from[i];
	}
	for (size_t i = 0; i < NITEMS(numbers); i++) {
		if (*numbers[i] == 0)
			*numbers[i] = values[i];
	}
	for (size_t i = 0; i < NITEMS(node->addresses); i++)
		add_address(vm, node->addresses[i]);
	vm->cluster = node->cluster;
	vm->master |= node->master;
	vm->deleted |= node->deleted;
}

static void
add_address(struct machine *m, struct wire_str address)
{
	for (size_t i = 0; i < NITEMS(m->addresses) && address.len > 0; i++) {
		if (text_compare_folded(m->addresses[i], address) == 0)
			return;
	}
	for (size_t i = 0; i < NITEMS(m->addresses) && address.len > 0; i++) {
		if (m->addresses[i].len == 0) {
			m->addresses[i] = address;
			return;
		}
	}
}
