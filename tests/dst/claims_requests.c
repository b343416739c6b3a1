/* tests/dst/claims_requests.c - what the claimers of the world `claims` request of kube-watcher. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "obj.h"
#include "world_claims.h"

static void check_mutation(struct claims *, struct runtime_actor *, enum link, const struct write_request *,
    const char *);
static bool changes_nothing(struct claims *, const struct write_request *, uint64_t);
static uint64_t *own_rv(struct claims *, struct claims_tree *, const char *);
static bool is_mutation(enum op);

uint32_t
claims_requested(struct runtime_actor *ra, enum link l, const struct write_request *r)
{
	struct claims *const w = ra->runtime->world;
	struct claims_tree *const t = &w->trees[ra->tree];
	uint32_t slot = 0;

	SIM_TRACE(w->sim, "%s requests %s %s/%s", ra->name, op_table[r->op].name, r->resource,
	    r->name != NULL ? r->name : "");
	MUST(ra == t->claimer);
	while (slot < CLAIMS_ASKED_MAX && t->asked[slot].used)
		slot++;
	if (slot == CLAIMS_ASKED_MAX) {
		sim_fail(w->sim, "%s has more than %d requests in flight", ra->name, CLAIMS_ASKED_MAX);
		return 0;
	}
	struct claims_asked asked = { .used = true, .mutation = is_mutation(r->op) };
	snprintf(asked.object, sizeof(asked.object), "%s/%s", r->resource, r->name != NULL ? r->name : "");
	if (asked.mutation)
		check_mutation(w, ra, l, r, asked.object);
	t->asked[slot] = asked;
	return slot;
}

static void
check_mutation(struct claims *w, struct runtime_actor *ra, enum link l, const struct write_request *r,
    const char *object)
{
	struct claims_tree *const t = &w->trees[ra->tree];
	const uint64_t *const own = own_rv(w, t, object);
	struct change leader;
	union msg_body value;

	w->mutations++;
	w->mutated_ms = w->sim->now_ms;
	for (uint32_t i = 0; i < CLAIMS_ASKED_MAX; i++) {
		if (t->asked[i].used && t->asked[i].mutation && strcmp(t->asked[i].object, object) == 0)
			sim_fail(w->sim, "%s has two writes of %s in flight", ra->name, object);
	}
	if (!actor_read(&ra->actor, l, ":leader", strlen(":leader"), &leader, &value)
	    || !value.leader.leading)
		sim_fail(w->sim, "%s requests a write, and another instance leads", ra->name);
	/* A11. The server refuses an old resourceVersion; what has none shows by its effect. */
	if (own != NULL && r->op == OP_MERGE && changes_nothing(w, r, *own))
		sim_fail(w->sim, "%s writes to %s again what it wrote", ra->name, object);
}

void
claims_answered(struct runtime_actor *ra, uint32_t slot, const struct write_result *r)
{
	struct claims *const w = ra->runtime->world;
	struct claims_tree *const t = &w->trees[ra->tree];
	struct claims_asked *const asked = &t->asked[slot];
	uint64_t *const own = own_rv(w, t, asked->object);

	SIM_TRACE(w->sim, "%s: %s %s is %s", ra->name, op_table[r->op].name, asked->object,
	    outcome_name(r->outcome));
	asked->used = false;
	if (asked->mutation && own != NULL)
		*own = r->outcome == OUTCOME_OK && r->rv.len > 0 ? strtoull(r->rv.p, NULL, 10) : 0;
}

void
claims_executed(struct cluster *c, const struct flight *f, const json_t *before)
{
	struct claims *const w = (struct claims *)c;

	(void)before;
	if (f->answer.outcome == OUTCOME_OK && is_mutation(f->request.op)
	    && c->holder != (int)f->watcher->tree)
		sim_fail(w->sim, "a write of %s takes effect, and the Lease is of tree %d", f->watcher->name,
		    c->holder);
}

/* The object is as the actor's last write left it, and this one would leave it so. */
static bool
changes_nothing(struct claims *w, const struct write_request *r, uint64_t rv)
{
	const struct cluster_object *const o =
	    cluster_find(&w->cluster, kind_find(r->group, r->resource), r->name);
	json_t *const patched = o != NULL && o->rv == rv ? json_deep_copy(o->json) : NULL;
	const bool same = patched != NULL && cluster_merge(patched, r->body, r->body_len) == NULL
	    && json_equal(patched, o->json);

	json_decref(patched);
	return same;
}

/* NULL: there is no such object. */
static uint64_t *
own_rv(struct claims *w, struct claims_tree *t, const char *object)
{
	for (unsigned i = 0; i < w->cluster.count; i++) {
		const struct cluster_object *const o = &w->cluster.objects[i];
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
