/*
 * sim/openshift/openshift_fleet.c - Nodes and pools, read from the store: only what changed is
 * parsed again.
 */
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "openshift_private.h"

static void read_pools(struct openshift *);
static void read_nodes(struct openshift *, bool);
static void take_node(struct openshift *, struct openshift_fleet_node *, const struct sim_blob *);
static int owner(const struct openshift *, const struct sim_blob *, const struct openshift_node_facts *);
static void free_node(struct openshift_fleet_node *);
static void choose(struct openshift *);
static bool is_candidate(const struct openshift *, const struct openshift_fleet_node *);
static int by_turn(const void *, const void *);

void
openshift_fleet_refresh(struct openshift *r)
{
	const bool pools = r->pool_store->written != r->read_pools;

	if (pools)
		read_pools(r);
	if (pools || r->node_store->written != r->read_nodes)
		read_nodes(r, pools);
	r->read_pools = r->pool_store->written;
	r->read_nodes = r->node_store->written;
}

void
openshift_fleet_count(struct openshift *r)
{
	for (size_t i = 0; i < r->npools; i++)
		openshift_pool_count_begin(&r->pools[i]);
	for (size_t i = 0; i < r->nnodes; i++) {
		struct openshift_fleet_node *const n = &r->nodes[i];

		n->may_start = false;
		if (n->pool != POOL_NONE)
			openshift_pool_count(&r->pools[n->pool], n->name, &n->facts);
	}
	for (size_t i = 0; i < r->npools; i++)
		openshift_pool_count_end(&r->pools[i]);
	choose(r);
}

void
openshift_fleet_free(struct openshift *r)
{
	for (size_t i = 0; i < r->nnodes; i++)
		free_node(&r->nodes[i]);
	for (size_t i = 0; i < r->npools; i++)
		openshift_pool_free(&r->pools[i]);
	free(r->nodes);
	free(r->pools);
}

static void
read_pools(struct openshift *r)
{
	for (size_t i = 0; i < r->npools; i++)
		openshift_pool_free(&r->pools[i]);
	free(r->pools);
	r->npools = r->pool_store->n;
	r->pools = obj_alloc((r->npools + 1) * sizeof(*r->pools));
	for (size_t i = 0; i < r->npools; i++) {
		json_auto_t *object = sim_blob_parse(r->pool_store->objects[i], r->pool_store->form);

		openshift_pool_read(&r->pools[i], object);
	}
}

/* Both are in order of names: one walk over the old and the new. */
static void
read_nodes(struct openshift *r, bool pools_changed)
{
	const struct sim_storage *const st = r->node_store;
	struct openshift_fleet_node *const now = obj_alloc((st->n + 1) * sizeof(*now));
	size_t old = 0;

	for (size_t i = 0; i < st->n; i++) {
		const struct sim_blob *const b = st->objects[i];
		struct openshift_fleet_node *const n = &now[i];

		while (old < r->nnodes && strcmp(r->nodes[old].name, sim_blob_name(b)) < 0)
			free_node(&r->nodes[old++]);
		if (old < r->nnodes && strcmp(r->nodes[old].name, sim_blob_name(b)) == 0)
			*n = r->nodes[old++];
		/* Another node of the same name has nothing to go on with. */
		if (n->uid != NULL && strcmp(n->uid, sim_blob_uid(b)) != 0)
			free_node(n);
		const bool changed = n->rv != b->rv;
		if (changed)
			take_node(r, n, b);
		if (changed || pools_changed)
			n->pool = owner(r, b, &n->facts);
	}
	while (old < r->nnodes)
		free_node(&r->nodes[old++]);
	free(r->nodes);
	r->nodes = now;
	r->nnodes = st->n;
}

static void
take_node(struct openshift *r, struct openshift_fleet_node *n, const struct sim_blob *b)
{
	json_auto_t *object = sim_blob_parse(b, r->node_store->form);

	if (n->name == NULL) {
		n->name = obj_strdup(sim_blob_name(b));
		n->uid = obj_strdup(sim_blob_uid(b));
	}
	openshift_node_facts_free(&n->facts);
	openshift_node_facts_read(&n->facts, object);
	n->rv = b->rv;
}

static int
owner(const struct openshift *r, const struct sim_blob *b, const struct openshift_node_facts *f)
{
	if (f->windows || r->npools == 0)
		return POOL_NONE;
	const char **const names = obj_alloc(r->npools * sizeof(*names));
	bool *const matches = obj_alloc(r->npools * sizeof(*matches));
	for (size_t i = 0; i < r->npools; i++) {
		names[i] = r->pools[i].name;
		matches[i] = openshift_pool_matches(&r->pools[i], b);
	}
	const int pool = openshift_pool_owner(names, matches, r->npools);
	free(names);
	free(matches);
	return pool;
}

static void
free_node(struct openshift_fleet_node *n)
{
	free(n->name);
	free(n->uid);
	openshift_node_facts_free(&n->facts);
	*n = (struct openshift_fleet_node){ .pool = POOL_NONE };
}

/* Zone by zone, the oldest first, as many as the pool has room for. */
static void
choose(struct openshift *r)
{
	struct openshift_fleet_node **const turn = obj_alloc((r->nnodes + 1) * sizeof(*turn));
	size_t n = 0;

	for (size_t i = 0; i < r->nnodes; i++) {
		if (is_candidate(r, &r->nodes[i]))
			turn[n++] = &r->nodes[i];
	}
	qsort(turn, n, sizeof(*turn), by_turn);
	for (size_t i = 0; i < n; i++) {
		struct openshift_pool *const p = &r->pools[turn[i]->pool];

		turn[i]->may_start = p->room > 0;
		p->room -= turn[i]->may_start;
	}
	free(turn);
}

static bool
is_candidate(const struct openshift *r, const struct openshift_fleet_node *n)
{
	const struct openshift_node_facts *const f = &n->facts;

	return n->pool != POOL_NONE && r->pools[n->pool].room > 0 && n->step == ROLLOUT_IDLE && f->joined
	    && f->ready && !f->failing && strcmp(f->current, f->desired) == 0
	    && strcmp(f->desired, r->pools[n->pool].target) != 0;
}

static int
by_turn(const void *a, const void *b)
{
	const struct openshift_fleet_node *const x = *(struct openshift_fleet_node *const *)a;
	const struct openshift_fleet_node *const y = *(struct openshift_fleet_node *const *)b;
	int command = strcmp(x->facts.zone, y->facts.zone);

	if (command == 0)
		command = strcmp(x->facts.created, y->facts.created);
	return command != 0 ? command : strcmp(x->name, y->name);
}
