/* actors/vpsie-claimer/discover.c - one matching of machines and VPSieNodes. Pure. */
#include "discover.h"

#include <string.h>

#include "obj.h"
#include "text_index.h"

enum { DIGITS_MAX = 24 };

/* VPSieNodes that a group rule treats alike, in the order of their requests. */
struct queue {
	uint32_t	first;	/* position in `waiting`; the first that has no machine, or DISCOVER_NONE */
	int64_t		least_us;	/* what was made before then is too old for all of them */
};

/* Everything that one matching needs, in the caller's memory. */
struct matching {
	const struct discover_input	*in;
	struct discover_result		*out;
	struct text_index		 names, identifiers, ids;	/* of VPSieNodes */
	struct text_index		 addresses;	/* of VPSieNodes that have neither id nor UUID */
	struct text_index		 fact_addresses, fact_names, fact_hostnames;
	struct text_index		 machine_hostnames;
	uint64_t			 lengths[4];	/* of names */
	uint32_t			*sorted, *spare;	/* VPSieNodes by their requests */
	uint32_t			*free, *free_spare;	/* machines by their creation */
	uint32_t			 nfree;
	uint32_t			*waiting, *next;	/* VPSieNodes; the next one of the queue */
	struct queue			*queues;
	uint32_t			 nwaiting, nqueues;
	char				(*digits)[DIGITS_MAX];	/* ids of VPSieNodes, as text */
};

static void take_memory(struct matching *, void *);
static void index_vpsienodes(struct matching *);
static void index_facts(struct matching *);
static void find_owner(struct matching *, uint32_t);
static void own_by(struct matching *, uint32_t, const struct text_index *, struct wire_str);
static void own_by_address(struct matching *, uint32_t);
static void give(struct matching *, uint32_t, uint32_t, enum discover_reason);
static void match_names(struct matching *);
static void match_groups(struct matching *, enum discover_reason);
static void take_back(struct matching *);
static void build_queues(struct matching *);
static uint32_t queue_candidate(struct matching *, struct queue *, uint32_t, enum discover_reason);
static bool differs_in_queue(enum discover_reason);
static enum discover_reason check(const struct discover_input *, const struct discover_result *, uint32_t,
    uint32_t, enum discover_reason);
static void sort_waiting(struct matching *);
static bool unidentified(const struct discover_vpsienode *);
static bool searches(const struct matching *, uint32_t);
static int64_t least_us(const struct discover_input *, const struct discover_vpsienode *);
static id_before requested_before, served_before, created_before;
static struct wire_str decimal(int64_t, char[DIGITS_MAX]);
static size_t fact_addresses(const struct discover_input *);

static const struct {
	const char	*name, *text;
	bool		 taken;
} reasons[DISCOVER_REASON_MAX] = {
#define DISCOVER_ROW(ID, n, t, words) [DISCOVER_##ID] = { .name = (n), .text = (words), .taken = (t) },
	DISCOVER_REASONS(DISCOVER_ROW)
};

size_t
discover_bytes(const struct discover_input *in)
{
	const uint32_t nv = in->nvpsienodes, nm = in->nmachines, nf = in->nfacts;

	return scratch_bytes(nv * sizeof(struct discover_match))
	    + scratch_bytes(nm * sizeof(struct discover_owner))
	    + scratch_bytes(nf * sizeof(struct discover_claim)) + 3 * text_index_bytes(nv)
	    + text_index_bytes(3 * nv) + text_index_bytes((uint32_t)fact_addresses(in))
	    + text_index_bytes(nf) + text_index_bytes(2 * nf) + text_index_bytes(nm)
	    + 4 * scratch_bytes(nv * sizeof(uint32_t))
	    + 2 * scratch_bytes(nm * sizeof(uint32_t)) + scratch_bytes(nv * sizeof(struct queue))
	    + scratch_bytes(nv * DIGITS_MAX);
}

void
discover(const struct discover_input *in, void *memory, struct discover_result *out)
{
	struct matching m = { .in = in, .out = out };

	take_memory(&m, memory);
	index_vpsienodes(&m);
	index_facts(&m);
	node_match_bound(in, &m.names, &m.fact_names, out);
	for (uint32_t i = 0; i < in->nmachines; i++)
		find_owner(&m, i);
	for (uint32_t i = 0; i < in->nmachines; i++) {
		if (!in->machines[i].deleted)
			text_index_add(&m.machine_hostnames, in->machines[i].hostname, i);
	}
	/* After all that have an identity: an address may have passed from one machine to another. */
	for (uint32_t i = 0; i < in->nmachines; i++)
		own_by_address(&m, i);
	for (uint32_t i = 0; i < in->nmachines && m.nwaiting > 0; i++) {
		if (out->owners[i].owner == DISCOVER_NONE
		    && (in->machines[i].cluster.len > 0 || out->owners[i].named != DISCOVER_NONE))
			m.free[m.nfree++] = i;
	}
	id_sort(m.free, m.free_spare, m.nfree, created_before, in);
	match_names(&m);
	build_queues(&m);
	match_groups(&m, DISCOVER_NODE);
	match_groups(&m, DISCOVER_ORDER);
	take_back(&m);
	/* The queues are empty or done with: their memory takes those that seek a Node. */
	uint32_t n = 0;
	for (uint32_t k = 0; k < in->nvpsienodes; k++) {
		if (node_match_seeks(in, out, m.sorted[k]))
			m.waiting[n++] = m.sorted[k];
	}
	node_match_all(in,
	    &(struct fact_indexes){ .addresses = &m.fact_addresses, .names = &m.fact_names,
		.hostnames = &m.fact_hostnames, .machines = &m.machine_hostnames },
	    m.waiting, n, m.next, out);
}

enum discover_reason
discover_explain(const struct discover_input *in, const struct discover_result *r, uint32_t vpsienode,
    uint32_t machine)
{
	const struct discover_match *const match = &r->matches[vpsienode];
	const struct discover_vpsienode *const v = &in->vpsienodes[vpsienode];
	const struct discover_owner *const o = &r->owners[machine];

	if (match->machine == machine)
		return match->how;
	const bool named = o->named != DISCOVER_NONE
	    && text_compare_folded(in->vpsienodes[o->named].name, v->name) == 0;
	const enum discover_reason why =
	    check(in, r, vpsienode, machine, named ? DISCOVER_NAME : DISCOVER_ORDER);
	if (why != DISCOVER_FREE || match->machine != DISCOVER_NONE)
		return why;
	return v->waits && unidentified(v) ? DISCOVER_KEPT : DISCOVER_NOT_WAITING;
}

const char *
discover_reason_name(enum discover_reason r)
{
	return (unsigned)r < DISCOVER_REASON_MAX ? reasons[r].name : "?";
}

const char *
discover_reason_text(enum discover_reason r)
{
	return (unsigned)r < DISCOVER_REASON_MAX ? reasons[r].text : "?";
}

bool
discover_reason_taken(enum discover_reason r)
{
	return (unsigned)r < DISCOVER_REASON_MAX && reasons[r].taken;
}

/* ---- Memory and indexes ---- */

static void
take_memory(struct matching *m, void *memory)
{
	const struct discover_input *const in = m->in;
	const uint32_t nv = in->nvpsienodes, nm = in->nmachines, nf = in->nfacts;
	struct scratch s = { .p = memory };

	m->out->matches = scratch_take(&s, nv * sizeof(*m->out->matches));
	m->out->owners = scratch_take(&s, nm * sizeof(*m->out->owners));
	m->out->claims = scratch_take(&s, nf * sizeof(*m->out->claims));
	text_index_init(&m->names, &s, nv, in->seed);
	text_index_init(&m->identifiers, &s, nv, in->seed);
	text_index_init(&m->ids, &s, nv, in->seed);
	text_index_init(&m->addresses, &s, 3 * nv, in->seed);
	text_index_init(&m->fact_addresses, &s, (uint32_t)fact_addresses(in), in->seed);
	text_index_init(&m->fact_names, &s, nf, in->seed);
	text_index_init(&m->fact_hostnames, &s, 2 * nf, in->seed);
	text_index_init(&m->machine_hostnames, &s, nm, in->seed);
	m->sorted = scratch_take(&s, nv * sizeof(*m->sorted));
	m->spare = scratch_take(&s, nv * sizeof(*m->spare));
	m->waiting = scratch_take(&s, nv * sizeof(*m->waiting));
	m->next = scratch_take(&s, nv * sizeof(*m->next));
	m->free = scratch_take(&s, nm * sizeof(*m->free));
	m->free_spare = scratch_take(&s, nm * sizeof(*m->free_spare));
	m->queues = scratch_take(&s, nv * sizeof(*m->queues));
	m->digits = scratch_take(&s, nv * DIGITS_MAX);
}

static void
index_vpsienodes(struct matching *m)
{
	for (uint32_t i = 0; i < m->in->nvpsienodes; i++)
		m->sorted[i] = i;
	id_sort(m->sorted, m->spare, m->in->nvpsienodes, requested_before, m->in);
	for (uint32_t k = 0; k < m->in->nvpsienodes; k++) {
		const uint32_t i = m->sorted[k];
		const struct discover_vpsienode *const v = &m->in->vpsienodes[i];

		m->out->matches[i] =
		    (struct discover_match){ .machine = DISCOVER_NONE, .fact = DISCOVER_NONE };
		text_index_add(&m->names, v->name, i);
		if (v->name.len < 256)
			m->lengths[v->name.len / 64] |= UINT64_C(1) << v->name.len % 64;
		text_index_add(&m->identifiers, v->identifier, i);
		if (v->id > 0)
			text_index_add(&m->ids, decimal(v->id, m->digits[i]), i);
		if (unidentified(v)) {
			text_index_add(&m->addresses, v->address, i);
			text_index_add(&m->addresses, v->address6, i);
			if (v->address.len == 0 && v->address6.len == 0)
				text_index_add(&m->addresses, v->hostname, i);
		}
	}
	sort_waiting(m);
}

static void
sort_waiting(struct matching *m)
{
	for (uint32_t k = 0; k < m->in->nvpsienodes; k++) {
		const struct discover_vpsienode *const v = &m->in->vpsienodes[m->sorted[k]];

		if (v->waits && unidentified(v))
			m->waiting[m->nwaiting++] = m->sorted[k];
	}
	id_sort(m->waiting, m->spare, m->nwaiting, served_before, m->in);
}

static void
index_facts(struct matching *m)
{
	for (uint32_t i = 0; i < m->in->nfacts; i++) {
		const struct discover_fact *const f = &m->in->facts[i];

		text_index_add(&m->fact_names, f->name, i);
		text_index_add(&m->fact_hostnames, f->hostname, i);
		if (text_compare_folded(f->name, f->hostname) != 0)
			text_index_add(&m->fact_hostnames, f->name, i);
		for (uint32_t k = 0; k < f->naddresses; k++)
			text_index_add(&m->fact_addresses, f->addresses[k], i);
	}
}

static size_t
fact_addresses(const struct discover_input *in)
{
	size_t n = 0;

	for (uint32_t i = 0; i < in->nfacts; i++)
		n += in->facts[i].naddresses;
	return n;
}

/* ---- Machines that a VPSieNode has ---- */

static void
find_owner(struct matching *m, uint32_t machine)
{
	const struct machine *const x = &m->in->machines[machine];
	struct discover_owner *const o = &m->out->owners[machine];
	char digits[DIGITS_MAX];
	uint32_t at;

	*o = (struct discover_owner){ .owner = DISCOVER_NONE, .named = DISCOVER_NONE, .fact = DISCOVER_NONE };
	for (size_t i = 0; i < NITEMS(x->addresses) && o->fact == DISCOVER_NONE; i++)
		o->fact = text_index_find(&m->fact_addresses, x->addresses[i], &at);
	own_by(m, machine, &m->identifiers, x->identifier);
	if (x->id > 0)
		own_by(m, machine, &m->ids, decimal(x->id, digits));
	const uint32_t len = text_index_prefix(&m->names, m->lengths, x->hostname);
	o->named = text_index_find(&m->names, (struct wire_str){ .p = x->hostname.p, .len = len }, &at);
}

/* All VPSieNodes that have that id or UUID. */
static void
own_by(struct matching *m, uint32_t machine, const struct text_index *index, struct wire_str text)
{
	struct discover_owner *const o = &m->out->owners[machine];
	uint32_t at;

	for (uint32_t v = text_index_find(index, text, &at); v != TEXT_INDEX_NONE;
	     v = text_index_more(index, text, &at)) {
		if (o->owner != DISCOVER_NONE && o->owner != v)
			o->disputed = true;
		else
			give(m, v, machine, DISCOVER_HAS);
	}
}

/* Objects of the original controller have addresses, or a labelled Node, and no id. */
static void
own_by_address(struct matching *m, uint32_t machine)
{
	const struct machine *const x = &m->in->machines[machine];
	struct discover_owner *const o = &m->out->owners[machine];
	uint32_t found = DISCOVER_NONE, at;

	if (o->owner != DISCOVER_NONE)
		return;
	if (o->fact != DISCOVER_NONE)
		found = m->out->claims[o->fact].owner;
	for (size_t i = 0; i < NITEMS(x->addresses) && found == DISCOVER_NONE; i++)
		found = text_index_find(&m->addresses, x->addresses[i], &at);
	if (found == DISCOVER_NONE)
		found = text_index_find(&m->addresses, x->hostname, &at);
	if (found == DISCOVER_NONE || !unidentified(&m->in->vpsienodes[found])
	    || m->out->matches[found].machine != DISCOVER_NONE)
		return;
	if (candidate_check(m->in, &m->in->vpsienodes[found], x, DISCOVER_ADDRESS) == DISCOVER_FREE)
		give(m, found, machine, DISCOVER_ADDRESS);
}

static void
give(struct matching *m, uint32_t vpsienode, uint32_t machine, enum discover_reason how)
{
	struct discover_match *const match = &m->out->matches[vpsienode];

	m->out->owners[machine].owner = vpsienode;
	/* By id and by UUID two machines can be found; the first stays the one that is reported. */
	if (match->machine == DISCOVER_NONE) {
		match->machine = machine;
		match->how = how;
	}
}

/* ---- Machines that nobody has ---- */

/* Newest first. Of equal names in two namespaces the first request comes first: the index has that order. */
static void
match_names(struct matching *m)
{
	for (uint32_t k = m->nfree; k-- > 0;) {
		const uint32_t machine = m->free[k], named = m->out->owners[machine].named;
		uint32_t at;

		if (named == DISCOVER_NONE)
			continue;
		const struct wire_str name = m->in->vpsienodes[named].name;
		uint32_t best = DISCOVER_NONE;
		for (uint32_t v = text_index_find(&m->names, name, &at); v != TEXT_INDEX_NONE;
		     v = text_index_more(&m->names, name, &at)) {
			if (searches(m, v)
			    && (best == DISCOVER_NONE
				|| m->in->vpsienodes[v].turn < m->in->vpsienodes[best].turn)
			    && check(m->in, m->out, v, machine, DISCOVER_NAME) == DISCOVER_FREE)
				best = v;
		}
		if (best != DISCOVER_NONE)
			give(m, best, machine, DISCOVER_NAME);
	}
}

/* Oldest first; each goes to the first request among those that may have it. */
static void
match_groups(struct matching *m, enum discover_reason rule)
{
	for (uint32_t k = 0; k < m->nfree; k++) {
		const uint32_t machine = m->free[k];
		const struct discover_owner *const o = &m->out->owners[machine];
		uint32_t best = DISCOVER_NONE;

		if (o->owner != DISCOVER_NONE || o->named != DISCOVER_NONE
		    || (rule == DISCOVER_NODE && o->fact == DISCOVER_NONE))
			continue;
		for (uint32_t q = 0; q < m->nqueues; q++) {
			const uint32_t p = queue_candidate(m, &m->queues[q], machine, rule);

			if (p < best)
				best = p;
		}
		if (best != DISCOVER_NONE)
			give(m, m->waiting[best], machine, rule);
	}
}

/* What was only kept for somebody is free again: nobody has it, and nobody else got it. */
static void
take_back(struct matching *m)
{
	for (uint32_t p = 0; p < m->nwaiting; p++) {
		const struct discover_vpsienode *const v = &m->in->vpsienodes[m->waiting[p]];
		struct discover_match *const match = &m->out->matches[m->waiting[p]];
		const bool by_group = match->how == DISCOVER_NODE || match->how == DISCOVER_ORDER;

		if (match->machine == DISCOVER_NONE || match->how == DISCOVER_ADDRESS)
			continue;
		if (v->turn != TURN_UNSENT
		    && !(by_group && candidate_check(m->in, v, &m->in->machines[match->machine], match->how)
			== DISCOVER_NOT_RUNNING))
			continue;
		m->out->owners[match->machine].owner = DISCOVER_NONE;
		match->machine = DISCOVER_NONE;
	}
}

/* One queue for each turn, cluster, group and datacenter: what is equal there is decided once per machine. */
static void
build_queues(struct matching *m)
{
	for (uint32_t p = m->nwaiting; p-- > 0;) {
		const struct discover_vpsienode *const v = &m->in->vpsienodes[m->waiting[p]];
		uint32_t q = 0;

		for (; q < m->nqueues; q++) {
			const struct discover_vpsienode *const w =
			    &m->in->vpsienodes[m->waiting[m->queues[q].first]];

			if (v->turn == w->turn && v->group == w->group
			    && wire_str_same(v->cluster, w->cluster)
			    && wire_str_same(v->datacenter, w->datacenter))
				break;
		}
		if (q == m->nqueues)
			m->queues[m->nqueues++] =
			    (struct queue){ .first = DISCOVER_NONE, .least_us = INT64_MAX };
		if (least_us(m->in, v) < m->queues[q].least_us)
			m->queues[q].least_us = least_us(m->in, v);
		m->next[p] = m->queues[q].first;
		m->queues[q].first = p;
	}
}

/* The position of the first request that may have the machine. */
static uint32_t
queue_candidate(struct matching *m, struct queue *q, uint32_t machine, enum discover_reason rule)
{
	const int64_t created_us = m->in->machines[machine].created_us;

	if (created_us > 0 && created_us < q->least_us)
		return DISCOVER_NONE;
	while (q->first != DISCOVER_NONE && !searches(m, m->waiting[q->first]))
		q->first = m->next[q->first];
	for (uint32_t p = q->first; p != DISCOVER_NONE; p = m->next[p]) {
		if (!searches(m, m->waiting[p]))
			continue;
		const enum discover_reason why = check(m->in, m->out, m->waiting[p], machine, rule);

		/* One that does not run yet is kept, so that it is not missed by the request that made it. */
		if (why == DISCOVER_FREE || why == DISCOVER_NOT_RUNNING)
			return p;
		if (!differs_in_queue(why))
			return DISCOVER_NONE;
	}
	return DISCOVER_NONE;
}

/* Of what a queue has in common, one refusal stands for all of it. Times, and what was there, differ. */
static bool
differs_in_queue(enum discover_reason why)
{
	return why == DISCOVER_UNDATED || why == DISCOVER_EXISTED || why == DISCOVER_TOO_LATE
	    || why == DISCOVER_OLDER;
}

static enum discover_reason
check(const struct discover_input *in, const struct discover_result *r, uint32_t vpsienode, uint32_t machine,
    enum discover_reason rule)
{
	const struct discover_owner *const o = &r->owners[machine];

	if (o->disputed)
		return DISCOVER_DISPUTED;
	if (o->owner != DISCOVER_NONE)
		return o->owner == vpsienode ? DISCOVER_HAS : DISCOVER_BOUND;
	if (o->fact != DISCOVER_NONE) {
		const struct discover_claim *const c = &r->claims[o->fact];

		if (in->facts[o->fact].control_plane)
			return DISCOVER_MASTER;
		if (c->foreign || (c->owner != DISCOVER_NONE && c->owner != vpsienode))
			return DISCOVER_NODE_BOUND;
	}
	const enum discover_reason why =
	    candidate_check(in, &in->vpsienodes[vpsienode], &in->machines[machine], rule);
	const bool by_group = rule == DISCOVER_NODE || rule == DISCOVER_ORDER;
	return why == DISCOVER_FREE && by_group && o->named != DISCOVER_NONE ? DISCOVER_OTHER_NAME : why;
}

/* ---- Helpers ---- */

static bool
unidentified(const struct discover_vpsienode *v)
{
	return v->id <= 0 && v->identifier.len == 0;
}

static bool
searches(const struct matching *m, uint32_t v)
{
	const struct discover_vpsienode *const x = &m->in->vpsienodes[v];

	return x->waits && unidentified(x) && m->out->matches[v].machine == DISCOVER_NONE;
}

/* By request, then by what identifies them, so that the order of the input decides nothing. */
static bool
requested_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct discover_vpsienode *const v = ((const struct discover_input *)arg)->vpsienodes;

	if (v[a].requested_us != v[b].requested_us)
		return v[a].requested_us < v[b].requested_us;
	const int by_namespace = wire_str_compare(v[a].namespace, v[b].namespace);
	return by_namespace != 0 ? by_namespace < 0 : wire_str_compare(v[a].name, v[b].name) < 0;
}

/* As `older` of candidate.c: what was made before then is too old for it. */
static int64_t
least_us(const struct discover_input *in, const struct discover_vpsienode *v)
{
	const int64_t us = v->requested_us > 0 && !v->has_before ? v->requested_us - in->skew_us : 0;

	return us > v->newest_us ? us : v->newest_us;
}

/*
 * By their turns; then those before whose requests the newest machines were there, since the fewest may be
 * theirs; then by their requests: id_sort keeps that order.
 */
static bool
served_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct discover_vpsienode *const v = ((const struct discover_input *)arg)->vpsienodes;

	return v[a].turn != v[b].turn ? v[a].turn < v[b].turn : v[a].newest_us > v[b].newest_us;
}

/* What has no time comes last: it appeared in a list, and nothing shows that it was there before. */
static bool
created_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct machine *const m = ((const struct discover_input *)arg)->machines;
	const int64_t x = m[a].created_us == 0 ? INT64_MAX : m[a].created_us;
	const int64_t y = m[b].created_us == 0 ? INT64_MAX : m[b].created_us;

	if (x != y)
		return x < y;
	if (m[a].id != m[b].id)
		return m[a].id < m[b].id;
	return wire_str_compare(m[a].identifier, m[b].identifier) < 0;
}

static struct wire_str
decimal(int64_t n, char out[DIGITS_MAX])
{
	uint32_t at = DIGITS_MAX;

	do {
		out[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	return (struct wire_str){ .p = out + at, .len = DIGITS_MAX - at };
}
