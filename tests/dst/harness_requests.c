/* tests/dst/harness_requests.c - what the actor of a world requests of kube-watcher and of its provider. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "harness.h"
#include "obj.h"
#include "provider/fence.h"

static void check_mutation(struct harness *, struct runtime_actor *, enum link, const struct write_request *,
    const char *);
static bool changes_nothing(struct harness *, const struct write_request *, uint64_t);
static uint64_t *own_rv(struct harness *, struct harness_tree *, const char *);
static bool is_mutation(enum op);

uint32_t
harness_requested(struct runtime_actor *ra, enum link l, const struct write_request *r)
{
	struct harness *const h = ra->runtime->world;
	struct harness_tree *const t = &h->trees[ra->tree];
	uint32_t slot = 0;

	SIM_TRACE(h->sim, "%s requests %s %s/%s", ra->name, op_table[r->op].name, r->resource,
	    r->name != NULL ? r->name : "");
	MUST(ra == t->actor);
	while (slot < HARNESS_ASKED_MAX && t->asked[slot].used)
		slot++;
	if (slot == HARNESS_ASKED_MAX) {
		sim_fail(h->sim, "%s has more than %d requests in flight", ra->name, HARNESS_ASKED_MAX);
		return 0;
	}
	struct harness_asked asked = { .used = true, .mutation = is_mutation(r->op) };
	char name[CLUSTER_NAME_MAX];
	cluster_name(name, r->ns, r->name != NULL ? r->name : "");
	snprintf(asked.object, sizeof(asked.object), "%s/%s", r->resource, name);
	if (asked.mutation)
		check_mutation(h, ra, l, r, asked.object);
	if (h->spec->requested != NULL)
		h->spec->requested(h, ra, r);
	t->asked[slot] = asked;
	return slot;
}

static void
check_mutation(struct harness *h, struct runtime_actor *ra, enum link l, const struct write_request *r,
    const char *object)
{
	struct harness_tree *const t = &h->trees[ra->tree];
	const uint64_t *const own = own_rv(h, t, object);
	struct change leader;
	union msg_body value;

	h->mutations++;
	h->mutated_ms = h->sim->now_ms;
	const bool shared = h->spec->shared != NULL && strstr(h->spec->shared, r->resource) != NULL;
	for (uint32_t i = 0; i < HARNESS_ASKED_MAX && !shared; i++) {
		if (t->asked[i].used && t->asked[i].mutation && strcmp(t->asked[i].object, object) == 0)
			sim_fail(h->sim, "%s has two writes of %s in flight", ra->name, object);
	}
	if (!actor_read(&ra->actor, l, ":leader", strlen(":leader"), &leader, &value)
	    || !value.leader.leading)
		sim_fail(h->sim, "%s requests a write, and another instance leads", ra->name);
	/* A11. The server refuses an old resourceVersion; what has none shows by its effect. */
	if (own != NULL && r->op == OP_MERGE && changes_nothing(h, r, *own))
		sim_fail(h->sim, "%s writes to %s again what it wrote", ra->name, object);
}

void
harness_answered(struct runtime_actor *ra, uint32_t slot, const struct write_result *r)
{
	struct harness *const h = ra->runtime->world;
	struct harness_tree *const t = &h->trees[ra->tree];
	struct harness_asked *const asked = &t->asked[slot];
	uint64_t *const own = own_rv(h, t, asked->object);

	SIM_TRACE(h->sim, "%s: %s %s is %s", ra->name, op_table[r->op].name, asked->object,
	    outcome_name(r->outcome));
	asked->used = false;
	if (asked->mutation && own != NULL)
		*own = r->outcome == OUTCOME_OK && r->rv.len > 0 ? strtoull(r->rv.p, NULL, 10) : 0;
}

void
harness_executed(struct cluster *c, const struct flight *f, const json_t *before)
{
	struct harness *const h = (struct harness *)c;

	if (h->spec->executed != NULL)
		h->spec->executed(h, f, before);
	if (f->answer.outcome == OUTCOME_OK && is_mutation(f->request.op)
	    && c->holder != (int)f->watcher->tree)
		sim_fail(h->sim, "a write of %s takes effect, and the Lease is of tree %d", f->watcher->name,
		    c->holder);
}

/* The object is as the actor's last write left it, and this one would leave it so. */
static bool
changes_nothing(struct harness *h, const struct write_request *r, uint64_t rv)
{
	char name[CLUSTER_NAME_MAX];

	cluster_name(name, r->ns, r->name);
	const struct cluster_object *const o =
	    cluster_find(&h->cluster, kind_find(r->group, r->resource), name);

	return o != NULL && o->rv == rv && o->json != NULL
	    && cluster_merge_is_empty(o->json, r->body, r->body_len);
}

/* NULL: there is no such object. */
static uint64_t *
own_rv(struct harness *h, struct harness_tree *t, const char *object)
{
	for (unsigned i = 0; i < h->cluster.count; i++) {
		const struct cluster_object *const o = &h->cluster.objects[i];
		const char *const resource = kind_table[o->kind].resource;
		const size_t len = strlen(resource);

		if (strncmp(object, resource, len) == 0 && object[len] == '/'
		    && strcmp(object + len + 1, o->name) == 0)
			return &t->own_rv[i];
	}
	return NULL;
}

static bool
is_mutation(enum op op)
{
	return op != OP_GET && op != OP_LIST && op != OP_EVENT;
}

/* A call that changes something begins only where the instance leads, and if its Lease outlives it (A8). */
void
harness_leaves(struct runtime *r, const struct http_exchange *x)
{
	struct harness *const h = r->world;

	if (h->spec->harmless) {
		h->spec->leaves(h, x);
		return;
	}
	if (x->harmless)
		return;
	h->mutations++;
	h->mutated_ms = r->sim->now_ms;
	if (h->cluster.holder != (int)x->from->tree || h->cluster.until_ms <= r->sim->now_ms)
		sim_fail(r->sim, "%s begins %s %s, and does not lead", x->from->name, x->method, x->path);
	if (h->spec->leaves != NULL)
		h->spec->leaves(h, x);
	/* The worst moment to end: an order is sent, and no record of it exists. */
	if (!h->sweep && !h->sim->faults_over && strcmp(x->method, "POST") == 0
	    && sim_chance(h->sim, h->ends_at_order))
		runtime_kill_after(x->from, EFFECT_SENT, x->from->effects[EFFECT_SENT] + 1);
	if (h->cluster.until_ms - r->sim->now_ms < FENCE_MUTATION_MS)
		sim_fail(r->sim, "%s begins %s %s %lld ms before its Lease ends", x->from->name, x->method,
		    x->path, (long long)(h->cluster.until_ms - r->sim->now_ms));
}
