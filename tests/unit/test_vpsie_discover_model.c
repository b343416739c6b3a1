/*
 * tests/unit/test_vpsie_discover_model.c - the matching against a slow one: D9, D11, D13, D20, D23.
 *
 * Random inputs of few values, so that nearly everything collides. The slow matching follows the words of
 * discover.h with loops over everything: no index, no queue, no order that is kept. And whatever the input
 * is: no machine and no Node has two VPSieNodes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "actors/vpsie-claimer/discover.h"
#include "obj.h"
#include "random.h"
#include "vpsie_words.h"

enum { ROUNDS = 4000, NONE = -1 };
/* The result of the slow matching. */
struct slow {
	const struct discover_input *in;
	int machine[WORLD_MAX], fact[WORLD_MAX];                 /* of each VPSieNode */
	int owner[WORLD_MAX], named[WORLD_MAX], node[WORLD_MAX]; /* of each machine */
	bool disputed[WORLD_MAX], foreign[WORLD_MAX];
	int claim[WORLD_MAX]; /* of each Node */
};

static bool
same(struct wire_str a, struct wire_str b)
{
	return a.len > 0 && a.len == b.len && strncasecmp(a.p, b.p, a.len) == 0;
}

static bool
starts(struct wire_str text, struct wire_str with)
{
	return with.len > 0 && text.len >= with.len && strncasecmp(text.p, with.p, with.len) == 0;
}

static bool
unidentified(const struct discover_vpsienode *v)
{
	return v->id == 0 && v->identifier.len == 0;
}

/* Whether a was requested before b. */
static bool
earlier(const struct discover_vpsienode *a, const struct discover_vpsienode *b)
{
	if (a->requested_us != b->requested_us)
		return a->requested_us < b->requested_us;
	const int ns = wire_str_compare(a->namespace, b->namespace);
	return ns != 0 ? ns < 0 : wire_str_compare(a->name, b->name) < 0;
}

/* Whether a machine goes to a rather than to b. */
static bool
sooner(const struct discover_vpsienode *a, const struct discover_vpsienode *b, enum discover_reason rule)
{
	if (a->turn != b->turn)
		return a->turn < b->turn;
	return rule != DISCOVER_NAME && a->newest_us != b->newest_us ? a->newest_us > b->newest_us
								      : earlier(a, b);
}

static int64_t
made(const struct machine *m)
{
	return m->created_us == 0 ? INT64_MAX : m->created_us;
}

static bool
claimable(const struct slow *s, int v, int f)
{
	return !s->foreign[f] && !s->in->facts[f].control_plane && !s->in->facts[f].deleting
	    && (s->claim[f] == NONE || s->claim[f] == v);
}

static void
slow_bound(struct slow *s)
{
	const struct discover_input *const in = s->in;

	for (int f = 0; f < (int)in->nfacts; f++) {
		int found = NONE, count = 0;

		for (int v = 0; v < (int)in->nvpsienodes; v++) {
			const struct discover_fact *const x = &in->facts[f];
			const struct discover_vpsienode *const y = &in->vpsienodes[v];

			if (same(x->claim_name, y->name)
			    && (x->claim_namespace.len == 0
				|| same(x->claim_namespace, y->namespace))
			    && (x->claim_uid.len == 0 || same(x->claim_uid, y->uid))) {
				found = v;
				count++;
			}
		}
		s->claim[f] = count == 1 ? found : NONE;
		s->foreign[f] = count != 1 && in->facts[f].claim_name.len > 0;
		if (count == 1 && s->fact[found] == NONE)
			s->fact[found] = f;
	}
	for (int v = 0; v < (int)in->nvpsienodes; v++) {
		const struct discover_vpsienode *const y = &in->vpsienodes[v];

		for (int f = 0;
		     f < (int)in->nfacts && s->fact[v] == NONE && !y->waits && !y->seeks_node;
		     f++) {
			if (same(in->facts[f].name, y->node_name) && claimable(s, v, f)) {
				s->claim[f] = v;
				s->fact[v] = f;
			}
		}
	}
}

/* The VPSieNode with the longest name that the hostname starts with; of equal ones the first request. */
static int
slow_named(const struct slow *s, const struct machine *m)
{
	int best = NONE;

	for (int v = 0; v < (int)s->in->nvpsienodes; v++) {
		const struct discover_vpsienode *const y = &s->in->vpsienodes[v];

		if (!starts(m->hostname, y->name))
			continue;
		if (best == NONE || y->name.len > s->in->vpsienodes[best].name.len
		    || (y->name.len == s->in->vpsienodes[best].name.len
			&& earlier(y, &s->in->vpsienodes[best])))
			best = v;
	}
	return best;
}

static void
slow_give(struct slow *s, int v, int m)
{
	s->owner[m] = v;
	if (s->machine[v] == NONE)
		s->machine[v] = m;
}

static void
slow_owners(struct slow *s)
{
	const struct discover_input *const in = s->in;

	for (int m = 0; m < (int)in->nmachines; m++) {
		const struct machine *const x = &in->machines[m];

		s->named[m] = slow_named(s, x);
		for (int a = 0; a < MACHINE_ADDRESSES_MAX && s->node[m] == NONE; a++) {
			for (int f = 0; f < (int)in->nfacts && s->node[m] == NONE; f++) {
				for (uint32_t k = 0; k < in->facts[f].naddresses; k++) {
					if (s->node[m] == NONE
					    && same(in->facts[f].addresses[k], x->addresses[a]))
						s->node[m] = f;
				}
			}
		}
		/* First those with its UUID, then those with its id; the first request is the owner. */
		for (int by_id = 0; by_id < 2; by_id++) {
			int first = NONE;

			for (int v = 0; v < (int)in->nvpsienodes; v++) {
				const struct discover_vpsienode *const y = &in->vpsienodes[v];
				const bool has = by_id == 0 ? same(y->identifier, x->identifier)
							    : y->id > 0 && y->id == x->id;

				if (has && (first == NONE || earlier(y, &in->vpsienodes[first])))
					first = v;
			}
			for (int v = 0; v < (int)in->nvpsienodes && first != NONE; v++) {
				const struct discover_vpsienode *const y = &in->vpsienodes[v];
				const bool has = by_id == 0 ? same(y->identifier, x->identifier)
							    : y->id > 0 && y->id == x->id;

				s->disputed[m] |=
				    has && v != (s->owner[m] == NONE ? first : s->owner[m]);
			}
			if (first != NONE && (s->owner[m] == NONE || s->owner[m] == first))
				slow_give(s, first, m);
		}
	}
}

static void
slow_addresses(struct slow *s)
{
	const struct discover_input *const in = s->in;

	for (int m = 0; m < (int)in->nmachines; m++) {
		const struct machine *const x = &in->machines[m];
		int found = s->node[m] == NONE ? NONE : s->claim[s->node[m]];

		if (s->owner[m] != NONE)
			continue;
		for (int a = 0; a <= MACHINE_ADDRESSES_MAX && found == NONE; a++) {
			const struct wire_str text =
			    a < MACHINE_ADDRESSES_MAX ? x->addresses[a] : x->hostname;

			for (int v = 0; v < (int)in->nvpsienodes; v++) {
				const struct discover_vpsienode *const y = &in->vpsienodes[v];
				const bool bare = y->address.len == 0 && y->address6.len == 0;

				if (unidentified(y)
				    && (same(text, y->address) || same(text, y->address6)
					|| (bare && same(text, y->hostname)))
				    && (found == NONE || earlier(y, &in->vpsienodes[found])))
					found = v;
			}
		}
		if (found != NONE && unidentified(&in->vpsienodes[found])
		    && s->machine[found] == NONE
		    && candidate_check(in, &in->vpsienodes[found], x, DISCOVER_ADDRESS)
			== DISCOVER_FREE)
			slow_give(s, found, m);
	}
}

static bool
slow_may(const struct slow *s, int v, int m, enum discover_reason rule)
{
	const struct discover_input *const in = s->in;
	const struct discover_vpsienode *const y = &in->vpsienodes[v];
	const int f = s->node[m];

	if (!y->waits || !unidentified(y) || s->machine[v] != NONE || s->owner[m] != NONE
	    || s->disputed[m])
		return false;
	if (f != NONE
	    && (in->facts[f].control_plane || s->foreign[f]
		|| (s->claim[f] != NONE && s->claim[f] != v)))
		return false;
	if (rule == DISCOVER_NAME
		? s->named[m] == NONE || !same(in->vpsienodes[s->named[m]].name, y->name)
		: s->named[m] != NONE)
		return false;
	const enum discover_reason why = candidate_check(in, y, &in->machines[m], rule);
	return (rule != DISCOVER_NODE || f != NONE)
	    && (why == DISCOVER_FREE || (rule != DISCOVER_NAME && why == DISCOVER_NOT_RUNNING));
}

/* Machines in their order, each to the first request that may have it. */
static void
slow_rule(struct slow *s, enum discover_reason rule, bool *kept)
{
	bool done[WORLD_MAX] = { false };

	for (uint32_t turn = 0; turn < s->in->nmachines; turn++) {
		int m = NONE, best = NONE;

		for (int i = 0; i < (int)s->in->nmachines; i++) {
			const struct machine *const x = &s->in->machines[i];
			const struct machine *const y = m == NONE ? NULL : &s->in->machines[m];

			if (done[i])
				continue;
			if (y == NULL || made(x) < made(y) || (made(x) == made(y) && x->id < y->id)
			    || (made(x) == made(y) && x->id == y->id
				&& wire_str_compare(x->identifier, y->identifier) < 0))
				m = i;
		}
		/* By name the newest comes first: the same order, from its end. */
		if (rule == DISCOVER_NAME) {
			m = NONE;
			for (int i = 0; i < (int)s->in->nmachines; i++) {
				const struct machine *const x = &s->in->machines[i];
				const struct machine *const y =
				    m == NONE ? NULL : &s->in->machines[m];

				if (done[i])
					continue;
				if (y == NULL || made(x) > made(y)
				    || (made(x) == made(y) && x->id > y->id)
				    || (made(x) == made(y) && x->id == y->id
					&& wire_str_compare(x->identifier, y->identifier) >= 0))
					m = i;
			}
		}
		done[m] = true;
		for (int v = 0; v < (int)s->in->nvpsienodes; v++) {
			if (slow_may(s, v, m, rule)
			    && (best == NONE
				|| sooner(&s->in->vpsienodes[v], &s->in->vpsienodes[best], rule)))
				best = v;
		}
		if (best != NONE)
			slow_give(s, best, m);
		kept[m] |= best != NONE && (s->in->vpsienodes[best].turn == TURN_UNSENT
		    || candidate_check(s->in, &s->in->vpsienodes[best], &s->in->machines[m], rule)
			!= DISCOVER_FREE);
	}
}

/* What was kept for a request that is not sent yet belongs to nobody after all. */
static void
slow_take_back(struct slow *s, const bool *kept)
{
	for (int m = 0; m < (int)s->in->nmachines; m++) {
		if (kept[m]) {
			s->machine[s->owner[m]] = NONE;
			s->owner[m] = NONE;
		}
	}
}

static bool
seeks(const struct slow *s, int v)
{
	const struct discover_vpsienode *const y = &s->in->vpsienodes[v];

	return s->fact[v] == NONE && (y->seeks_node || (y->waits && s->machine[v] != NONE));
}

/* The Node that the VPSieNode would get by that way. */
static int
slow_node(const struct slow *s, int v, enum node_match how)
{
	const struct discover_input *const in = s->in;
	const struct discover_vpsienode *const y = &in->vpsienodes[v];
	const struct machine *const x = s->machine[v] == NONE ? NULL : &in->machines[s->machine[v]];
	struct wire_str all[6] = { y->address, y->address6 };
	int found = NONE, count = 0;

	if (!seeks(s, v))
		return NONE;
	for (int a = 0; x != NULL && a < MACHINE_ADDRESSES_MAX; a++)
		all[2 + a] = x->addresses[a];
	if (how == NODE_MATCH_ADDRESS) {
		for (int a = 0; a < 6; a++) {
			for (int f = 0; f < (int)in->nfacts; f++) {
				for (uint32_t k = 0; k < in->facts[f].naddresses; k++) {
					if (same(all[a], in->facts[f].addresses[k])
					    && claimable(s, v, f))
						return f;
				}
			}
		}
		return NONE;
	}
	const struct wire_str host = y->hostname.len > 0 || x == NULL ? y->hostname : x->hostname;
	for (int f = 0; f < (int)in->nfacts; f++) {
		const bool hit = how == NODE_MATCH_NAME
		    ? same(in->facts[f].name, y->node_name)
		    : same(in->facts[f].hostname, host) || same(in->facts[f].name, host);

		count += hit;
		if (hit && found == NONE)
			found = f;
	}
	int vms = 0, nodes = 0;
	for (uint32_t m = 0; m < in->nmachines && how == NODE_MATCH_HOSTNAME; m++) {
		if (in->machines[m].deleted || !same(in->machines[m].hostname, host))
			continue;
		vms += in->machines[m].id > 0;
		nodes += in->machines[m].cluster.len > 0;
	}
	const bool alone = how == NODE_MATCH_NAME || (count == 1 && vms < 2 && nodes < 2);
	return found != NONE && alone && claimable(s, v, found) ? found : NONE;
}

static void
slow_nodes(struct slow *s)
{
	const struct discover_input *const in = s->in;
	int wanted[WORLD_MAX];

	for (enum node_match how = NODE_MATCH_ADDRESS; how <= NODE_MATCH_NAME; how++) {
		bool done[WORLD_MAX] = { false };

		for (uint32_t turn = 0; turn < in->nvpsienodes; turn++) {
			int v = NONE;

			for (int i = 0; i < (int)in->nvpsienodes; i++) {
				if (!done[i]
				    && (v == NONE
					|| earlier(&in->vpsienodes[i], &in->vpsienodes[v])))
					v = i;
			}
			done[v] = true;
			const int f = slow_node(s, v, how);
			if (f != NONE) {
				s->claim[f] = v;
				s->fact[v] = f;
			}
		}
	}
	for (int v = 0; v < (int)in->nvpsienodes; v++)
		wanted[v] = slow_node(s, v, NODE_MATCH_HOSTNAME);
	for (int v = 0; v < (int)in->nvpsienodes; v++) {
		int others = 0;

		for (int w = 0; w < (int)in->nvpsienodes; w++)
			others += w != v && wanted[w] == wanted[v];
		if (wanted[v] != NONE && others == 0) {
			s->claim[wanted[v]] = v;
			s->fact[v] = wanted[v];
		}
	}
}

static void
slow_match(struct slow *s, const struct discover_input *in)
{
	bool kept[WORLD_MAX] = { false };

	*s = (struct slow){ .in = in };
	for (int i = 0; i < WORLD_MAX; i++)
		s->machine[i] = s->fact[i] = s->owner[i] = s->named[i] = s->node[i] = s->claim[i] =
		    NONE;
	slow_bound(s);
	slow_owners(s);
	slow_addresses(s);
	slow_rule(s, DISCOVER_NAME, kept);
	slow_rule(s, DISCOVER_NODE, kept);
	slow_rule(s, DISCOVER_ORDER, kept);
	slow_take_back(s, kept);
	slow_nodes(s);
}

/* ---- Random inputs ---- */

static struct wire_str
pick(uint64_t *seed, unsigned percent, const char *const *texts, size_t n)
{
	if (random_below(seed, 100) >= percent)
		return (struct wire_str){ .p = "" };
	return wire_str_of(texts[random_below(seed, n)]);
}

static void
random_world(struct world *w, uint64_t *seed)
{
	static const char *const names[] = { "web", "web-1", "web-10", "WEB-1", "db", "k8s" };
	static const char *const hosts[] = { "web-1-a", "Web-10-b", "web-2", "db-x", "k8s-w", "zzz",
		"web-1-a" };
	static const char *const ips[] = { "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4",
		"10.0.0.5", "fd00::1" };
	static const char *const uuids[] = { "u1", "u2", "u3", "u4", "u5", "u6" };
	static const char *const clusters[] = { "c1", "c1", "c1", "c2" };
	static const char *const spaces[] = { "a", "b" };
	static const char *const states[] = { "running", "running", "stopped" };
	static const char *const nodes[] = { "n0", "n1", "n2", "n3" };
	const uint32_t nv = (uint32_t)random_below(seed, 8), nm = (uint32_t)random_below(seed, 8);
	const uint32_t nf = (uint32_t)random_below(seed, 5);

	w->in.ngroups = 2;
	w->groups[0].boxsize_id = 1;
	w->groups[1].boxsize_id = 2;
	for (uint32_t i = 0; i < nv; i++) {
		struct discover_vpsienode *const v = &w->vpsienodes[i];

		*v = (struct discover_vpsienode){ .namespace =
						      pick(seed, 100, spaces, NITEMS(spaces)),
			.name = pick(seed, 100, names, NITEMS(names)),
			.uid = pick(seed, 50, uuids, 3),
			.cluster = pick(seed, 95, clusters, NITEMS(clusters)),
			.group = random_below(seed, 3) == 0 ? DISCOVER_NONE
							    : (uint32_t)random_below(seed, 2),
			.waits = random_below(seed, 3) > 0,
			.turn = (enum discover_turn)(random_below(seed, 2) * random_below(seed, 3)),
			.until_us = (int64_t)(random_below(seed, 2) * random_below(seed, 16)) * 1000000,
			.seeks_node = random_below(seed, 3) == 0,
			.id = random_below(seed, 5) == 0 ? (int64_t)random_below(seed, 5) : 0,
			.identifier = pick(seed, 20, uuids, NITEMS(uuids)),
			.address = pick(seed, 15, ips, NITEMS(ips)),
			.address6 = pick(seed, 5, ips, NITEMS(ips)),
			.hostname = pick(seed, 20, hosts, NITEMS(hosts)),
			.node_name = pick(seed, 20, nodes, NITEMS(nodes)),
			.requested_us = (int64_t)random_below(seed, 12) * 1000000 + (int64_t)i,
			.newest_us = random_below(seed, 3) == 0
			    ? (int64_t)random_below(seed, 9) * 1000000
			    : 0,
			.has_before = random_below(seed, 2) == 0 };
		if (v->has_before) {
			v->nbefore = (uint32_t)random_below(seed, 3);
			v->before = w->before[i];
			for (uint32_t k = 0; k < v->nbefore; k++)
				w->before[i][k] = pick(seed, 100, uuids, NITEMS(uuids));
		}
	}
	for (uint32_t i = 0; i < nm; i++) {
		struct machine *const m = &w->machines[i];

		*m = (struct machine){
			.id = random_below(seed, 3) == 0 ? (int64_t)random_below(seed, 5) : 0,
			.identifier = pick(seed, 80, uuids, NITEMS(uuids)),
			.hostname = pick(seed, 80, hosts, NITEMS(hosts)),
			.status = pick(seed, 50, states, NITEMS(states)),
			.cluster = pick(seed, 80, clusters, NITEMS(clusters)),
			.boxsize_id = (int64_t)random_below(seed, 3),
			.created_us = (int64_t)random_below(seed, 16) * 1000000,
			.master = random_below(seed, 12) == 0,
			.deleted = random_below(seed, 12) == 0
		};
		for (size_t k = 0; k < MACHINE_ADDRESSES_MAX; k++)
			m->addresses[k] = pick(seed, 30, ips, NITEMS(ips));
	}
	for (uint32_t i = 0; i < nf; i++) {
		struct discover_fact *const f = &w->facts[i];

		*f = (struct discover_fact){ .name = wire_str_of(nodes[i]),
			.hostname = pick(seed, 60, hosts, NITEMS(hosts)),
			.claim_name = pick(seed, 25, names, NITEMS(names)),
			.claim_namespace = pick(seed, 60, spaces, NITEMS(spaces)),
			.claim_uid = pick(seed, 10, uuids, 3),
			.addresses = w->addresses[i],
			.naddresses = (uint32_t)random_below(seed, 3),
			.control_plane = random_below(seed, 12) == 0,
			.deleting = random_below(seed, 12) == 0 };
		for (uint32_t k = 0; k < f->naddresses; k++)
			w->addresses[i][k] = pick(seed, 90, ips, NITEMS(ips));
	}
	w->in.nvpsienodes = nv;
	w->in.nmachines = nm;
	w->in.nfacts = nf;
	w->in.skew_us = 1000000;
	w->in.seed = random_next(seed);
}

static int
number(uint32_t id)
{
	return id == DISCOVER_NONE ? NONE : (int)id;
}

static void
check_alone(const struct world *w)
{
	unsigned machines[WORLD_MAX] = { 0 }, facts[WORLD_MAX] = { 0 };

	for (uint32_t v = 0; v < w->in.nvpsienodes; v++) {
		const struct discover_match *const m = &w->out.matches[v];

		if (m->machine != DISCOVER_NONE)
			assert_int_equal(++machines[m->machine], 1);
		if (m->fact != DISCOVER_NONE)
			assert_int_equal(++facts[m->fact], 1);
	}
}

static void
D9_D11_D13_the_fast_matching_is_the_slow_one(void **state)
{
	struct world *const w = world_new("", "", "", "");
	unsigned rules[DISCOVER_REASON_MAX] = { 0 }, nodes[NODE_MATCH_MAX] = { 0 };

	(void)state;
	for (uint64_t round = 0; round < ROUNDS; round++) {
		uint64_t seed = round;
		struct slow slow;

		random_world(w, &seed);
		world_match(w);
		slow_match(&slow, &w->in);
		for (uint32_t v = 0; v < w->in.nvpsienodes; v++) {
			const struct discover_match *const m = &w->out.matches[v];

			if (number(m->machine) != slow.machine[v]
			    || number(m->fact) != slow.fact[v])
				fail_msg(
				    "round %d, VPSieNode %u: machine %d, want %d; Node %d, want %d",
				    (int)round, v, number(m->machine), slow.machine[v],
				    number(m->fact), slow.fact[v]);
			rules[m->how] += m->machine != DISCOVER_NONE;
			nodes[m->node_how]++;
			/* It may have two machines, one by its id and one by its UUID. */
			for (uint32_t i = 0; i < w->in.nmachines; i++) {
				const struct discover_owner *const o = &w->out.owners[i];

				assert_int_equal(
				    discover_reason_taken(discover_explain(&w->in, &w->out, v, i)),
				    m->machine == i || (o->owner == v && !o->disputed));
			}
		}
		check_alone(w);
	}
	/* The inputs reach every rule. */
	for (enum discover_reason r = DISCOVER_ADDRESS; r <= DISCOVER_HAS; r++)
		assert_true(rules[r] > 50);
	for (enum node_match how = NODE_MATCH_LABEL; how < NODE_MATCH_MAX; how++)
		assert_true(nodes[how] > 50);
	world_free(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
	    D9_D11_D13_the_fast_matching_is_the_slow_one) };

	return cmocka_run_group_tests_name("vpsie_discover_model", tests, NULL, NULL);
}
