/* sim/kube/discovery/sim_registry.c - which resource answers for a path. */
#include "sim_registry.h"

#include <string.h>

#include "obj.h"
#include "sim/kube/store/sim_store.h"
#include "sim_crd.h"

struct served {
	struct sim_resource	*resource;
	char			*crd;		/* "" of built-in ones */
};

struct sim_registry {
	uint32_t		  magic;
#define REGISTRY_MAGIC	0x52454749u
	struct sim_store		 *store;
	const struct sim_resource	**all;		/* ended by NULL */
	struct served			 *served;	/* in the same order */
	size_t			  n;
	struct sim_resource		**retired;
	size_t			  nretired;
};

static void serve(struct sim_registry *, struct sim_resource *, const char *);
static struct sim_storage *withdraw(struct sim_registry *, const char *);
static void retire(struct sim_registry *, struct sim_resource *);

struct sim_registry *
sim_registry_new(struct sim_store *store)
{
	struct sim_registry *g;

	OBJ_NEW(g, REGISTRY_MAGIC);
	g->store = store;
	for (size_t i = 0; i < sim_resource_nbuiltin; i++) {
		struct sim_resource *const r = obj_memdup(&sim_resource_builtin[i], sizeof(*r));

		/* Both kinds of Event are one thing: the core form is stored. */
		if (!r->answers_only)
			r->storage = sim_store_storage(store, r->renames != NULL ? "" : r->group, r->plural);
		if (r->stored)
			r->storage->form = r;
		serve(g, r, "");
	}
	return g;
}

void
sim_registry_free(struct sim_registry **rp)
{
	struct sim_registry *g;

	if (*rp == NULL)
		return;
	OBJ_TAKE(g, rp, REGISTRY_MAGIC);
	for (size_t i = 0; i < g->n; i++) {
		if (g->served[i].crd[0] == '\0')
			free(g->served[i].resource);
		else
			sim_crd_resource_free(&g->served[i].resource);
		free(g->served[i].crd);
	}
	for (size_t i = 0; i < g->nretired; i++)
		sim_crd_resource_free(&g->retired[i]);
	free(g->retired);
	free(g->served);
	free(g->all);
	OBJ_FREE(g);
}

const struct sim_resource *
sim_registry_find(const struct sim_registry *g, const char *group, const char *version, const char *plural)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct sim_resource *const r = g->all[i];

		if (strcmp(r->plural, plural) == 0 && strcmp(r->group, group) == 0
		    && strcmp(r->version, version) == 0)
			return r;
	}
	return NULL;
}

const struct sim_resource *
sim_registry_kind(const struct sim_registry *g, const char *group, const char *kind)
{
	for (size_t i = 0; i < g->n; i++) {
		if (strcmp(g->all[i]->kind, kind) == 0 && strcmp(g->all[i]->group, group) == 0)
			return g->all[i];
	}
	return NULL;
}

const struct sim_resource *const *
sim_registry_all(const struct sim_registry *g)
{
	return g->all;
}

void
sim_registry_add_crd(struct sim_registry *g, const json_t *crd)
{
	const char *const name = json_string_value(json_object_get(json_object_get(crd, "metadata"), "name"));
	struct sim_resource *made[CRD_VERSIONS_MAX];
	const size_t n = sim_crd_resources(crd, g->store, made);

	withdraw(g, name);
	for (size_t i = 0; i < n; i++) {
		if (made[i]->stored)
			made[i]->storage->form = made[i];
		if (made[i]->served)
			serve(g, made[i], name);
		else
			retire(g, made[i]);
	}
}

struct sim_storage *
sim_registry_remove_crd(struct sim_registry *g, const char *name)
{
	return withdraw(g, name);
}

static void
serve(struct sim_registry *g, struct sim_resource *r, const char *crd)
{
	g->all = obj_realloc(g->all, (g->n + 2) * sizeof(*g->all));
	g->served = obj_realloc(g->served, (g->n + 1) * sizeof(*g->served));
	g->served[g->n] = (struct served){ .resource = r, .crd = obj_strdup(crd) };
	g->all[g->n++] = r;
	g->all[g->n] = NULL;
}

/* The storage of what it served; NULL: nothing. */
static struct sim_storage *
withdraw(struct sim_registry *g, const char *name)
{
	struct sim_storage *st = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < g->n; i++) {
		struct served *const s = &g->served[i];

		if (strcmp(s->crd, name) != 0) {
			g->all[kept] = s->resource;
			g->served[kept++] = *s;
			continue;
		}
		st = s->resource->storage;
		retire(g, s->resource);
		free(s->crd);
	}
	g->n = kept;
	g->all[kept] = NULL;
	return st;
}

static void
retire(struct sim_registry *g, struct sim_resource *r)
{
	g->retired = obj_realloc(g->retired, (g->nretired + 1) * sizeof(*g->retired));
	g->retired[g->nretired++] = r;
}
