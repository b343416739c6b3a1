/*
 * actors/vpsie-claimer/node_match.c - which Node belongs to which VPSieNode (D13, D20, D23). Pure.
 *
 * The label on the Node decides before everything else: it was written with a resourceVersion, so only one
 * VPSieNode can have it. Then IP, then spec.nodeName, then the hostname, each for all VPSieNodes before the
 * next: what is less certain never takes a Node from what is more certain.
 */
#include "discover.h"

#include <string.h>

#include "obj.h"
#include "text_index.h"

static uint32_t claimer_of(const struct discover_input *, const struct text_index *,
    const struct discover_fact *);
static bool claimable(const struct discover_input *, const struct discover_result *, uint32_t, uint32_t);
static void claim(struct discover_result *, uint32_t, uint32_t, enum node_match);
static uint32_t by_address(const struct discover_input *, const struct text_index *,
    const struct discover_result *, uint32_t);
static uint32_t by_hostname(const struct discover_input *, const struct fact_indexes *,
    const struct discover_result *, uint32_t);
static bool is_shared(const struct discover_input *, const struct text_index *, struct wire_str);

const char *
node_match_name(enum node_match m)
{
	static const char *const names[NODE_MATCH_MAX] = {
		[NODE_MATCH_NONE] = "none", [NODE_MATCH_LABEL] = "label", [NODE_MATCH_ADDRESS] = "address",
		[NODE_MATCH_NAME] = "name", [NODE_MATCH_HOSTNAME] = "hostname",
	};

	return (unsigned)m < NODE_MATCH_MAX ? names[m] : "?";
}

void
node_match_bound(const struct discover_input *in, const struct text_index *names,
    const struct text_index *fact_names, struct discover_result *r)
{
	uint32_t at;

	for (uint32_t i = 0; i < in->nfacts; i++) {
		const uint32_t v = claimer_of(in, names, &in->facts[i]);

		r->claims[i] = (struct discover_claim){ .owner = DISCOVER_NONE,
			.foreign = v == DISCOVER_NONE && in->facts[i].claim_name.len > 0 };
		if (v != DISCOVER_NONE)
			claim(r, v, i, NODE_MATCH_LABEL);
	}
	/* Its label may have been removed by hand, or not written yet. */
	for (uint32_t v = 0; v < in->nvpsienodes; v++) {
		const struct discover_vpsienode *const x = &in->vpsienodes[v];
		const uint32_t f = text_index_find(fact_names, x->node_name, &at);

		if (!x->seeks_node && !x->waits && f != DISCOVER_NONE && r->matches[v].fact == DISCOVER_NONE
		    && claimable(in, r, v, f))
			claim(r, v, f, NODE_MATCH_NAME);
	}
}

void
node_match_all(const struct discover_input *in, const struct fact_indexes *x, const uint32_t *ids, uint32_t n,
    uint32_t *found, struct discover_result *r)
{
	uint32_t at;

	for (uint32_t k = 0; k < n; k++) {
		const uint32_t f = by_address(in, x->addresses, r, ids[k]);

		if (f != DISCOVER_NONE)
			claim(r, ids[k], f, NODE_MATCH_ADDRESS);
	}
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t f = text_index_find(x->names, in->vpsienodes[ids[k]].node_name, &at);

		if (f != DISCOVER_NONE && node_match_seeks(in, r, ids[k]) && claimable(in, r, ids[k], f))
			claim(r, ids[k], f, NODE_MATCH_NAME);
	}
	/* Two VPSieNodes with one hostname: neither gets the Node. */
	for (uint32_t k = 0; k < n; k++) {
		found[k] = by_hostname(in, x, r, ids[k]);
		if (found[k] != DISCOVER_NONE)
			r->claims[found[k]].hostnames++;
	}
	for (uint32_t k = 0; k < n; k++) {
		if (found[k] != DISCOVER_NONE && r->claims[found[k]].hostnames == 1)
			claim(r, ids[k], found[k], NODE_MATCH_HOSTNAME);
	}
}

/* The VPSieNode that the labels name. One of the same name that was made later has another uid. */
static uint32_t
claimer_of(const struct discover_input *in, const struct text_index *names, const struct discover_fact *f)
{
	uint32_t found = DISCOVER_NONE, at;

	for (uint32_t v = text_index_find(names, f->claim_name, &at); v != TEXT_INDEX_NONE;
	     v = text_index_more(names, f->claim_name, &at)) {
		const struct discover_vpsienode *const x = &in->vpsienodes[v];

		if ((f->claim_namespace.len > 0 && !wire_str_same(x->namespace, f->claim_namespace))
		    || (f->claim_uid.len > 0 && !wire_str_same(x->uid, f->claim_uid)))
			continue;
		/* The original wrote no namespace: of two VPSieNodes it could be either. */
		if (found != DISCOVER_NONE)
			return DISCOVER_NONE;
		found = v;
	}
	return found;
}

/* One that got its machine just now may have joined long ago (M4). */
bool
node_match_seeks(const struct discover_input *in, const struct discover_result *r, uint32_t v)
{
	const struct discover_vpsienode *const x = &in->vpsienodes[v];

	return r->matches[v].fact == DISCOVER_NONE
	    && (x->seeks_node || (x->waits && r->matches[v].machine != DISCOVER_NONE));
}

static bool
claimable(const struct discover_input *in, const struct discover_result *r, uint32_t v, uint32_t fact)
{
	const struct discover_claim *const c = &r->claims[fact];
	const struct discover_fact *const f = &in->facts[fact];

	return !c->foreign && !f->control_plane && !f->deleting
	    && (c->owner == DISCOVER_NONE || c->owner == v);
}

static void
claim(struct discover_result *r, uint32_t v, uint32_t fact, enum node_match how)
{
	r->claims[fact].owner = v;
	/* Two Nodes can be labelled for one VPSieNode; the first is its Node, neither is anybody else's. */
	if (r->matches[v].fact == DISCOVER_NONE) {
		r->matches[v].fact = fact;
		r->matches[v].node_how = how;
	}
}

/* The addresses of the VPSieNode, then those of its machine: which one the Node has is nowhere defined. */
static uint32_t
by_address(const struct discover_input *in, const struct text_index *addresses,
    const struct discover_result *r, uint32_t v)
{
	const struct discover_vpsienode *const x = &in->vpsienodes[v];
	struct wire_str all[MACHINE_ADDRESSES_MAX + 2] = { x->address, x->address6 };
	uint32_t at;

	if (!node_match_seeks(in, r, v))
		return DISCOVER_NONE;
	if (r->matches[v].machine != DISCOVER_NONE)
		memcpy(all + 2, in->machines[r->matches[v].machine].addresses,
		    MACHINE_ADDRESSES_MAX * sizeof(all[0]));
	for (size_t i = 0; i < NITEMS(all); i++) {
		for (uint32_t f = text_index_find(addresses, all[i], &at); f != TEXT_INDEX_NONE;
		     f = text_index_more(addresses, all[i], &at)) {
			if (claimable(in, r, v, f))
				return f;
		}
	}
	return DISCOVER_NONE;
}

/*
 * By its hostname, or that of its machine; two Nodes, or two machines, with one hostname are none. Whether
 * there are two machines shows in a list that began after the Node had come.
 */
static uint32_t
by_hostname(const struct discover_input *in, const struct fact_indexes *x, const struct discover_result *r,
    uint32_t v)
{
	const uint32_t machine = r->matches[v].machine;
	struct wire_str text = in->vpsienodes[v].hostname;
	uint32_t at;

	if (!node_match_seeks(in, r, v))
		return DISCOVER_NONE;
	if (text.len == 0 && machine != DISCOVER_NONE)
		text = in->machines[machine].hostname;
	const uint32_t f = text_index_find(x->hostnames, text, &at);
	if (f == DISCOVER_NONE || text_index_more(x->hostnames, text, &at) != TEXT_INDEX_NONE
	    || in->facts[f].newer || is_shared(in, x->machines, text))
		return DISCOVER_NONE;
	return claimable(in, r, v, f) ? f : DISCOVER_NONE;
}

/* A VM and a cluster's node that were not recognised as one (merge.c) may be one; two of a sort are two. */
static bool
is_shared(const struct discover_input *in, const struct text_index *machines, struct wire_str hostname)
{
	uint32_t vms = 0, nodes = 0, at;

	for (uint32_t i = text_index_find(machines, hostname, &at); i != TEXT_INDEX_NONE;
	     i = text_index_more(machines, hostname, &at)) {
		vms += in->machines[i].id > 0;
		nodes += in->machines[i].cluster.len > 0;
	}
	return vms > 1 || nodes > 1;
}
