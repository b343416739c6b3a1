/* actors/capa-annotator/ref_index.c - owners and targets, each target with the list of its owners. */
#include "ref_index.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "keytab.h"
#include "obj.h"

/* One reference: in the list of its target, and in the array of its owner. */
struct ref_edge {
	LIST_ENTRY(ref_edge)	 next;
	uint32_t		 owner, target;	/* ids; target KEYTAB_NONE: none */
};
struct ref_target {
	LIST_HEAD(, ref_edge)	 owners;
};

struct ref_index {
	uint32_t	 magic;
#define REF_INDEX_MAGIC	0x52454649u
	ref_unused	*unused;
	void		*arg;
	struct keytab	*owners;	/* struct ref_edge *: one for each relation */
	struct keytab	*targets;	/* struct ref_target *: its address is in the list */
};

static struct ref_edge *edges_of(struct ref_index *, struct wire_str);
static void link_edge(struct ref_index *, struct ref_edge *, struct wire_str);
static void unlink_edge(struct ref_index *, struct ref_edge *);
static struct ref_target *find_target(const struct ref_index *, struct wire_str);

struct ref_index *
ref_index_new(ref_unused *unused, void *arg)
{
	struct ref_index *x;

	OBJ_NEW(x, REF_INDEX_MAGIC);
	x->unused = unused;
	x->arg = arg;
	x->owners = keytab_new(sizeof(struct ref_edge *));
	x->targets = keytab_new(sizeof(struct ref_target *));
	return x;
}

void
ref_index_free(struct ref_index **xp)
{
	struct ref_index *x;

	if (*xp == NULL)
		return;
	OBJ_TAKE(x, xp, REF_INDEX_MAGIC);
	KEYTAB_EACH(x->owners, id)
		free(*(struct ref_edge **)keytab_value(x->owners, id));
	KEYTAB_EACH(x->targets, id)
		free(*(struct ref_target **)keytab_value(x->targets, id));
	keytab_free(&x->owners);
	keytab_free(&x->targets);
	OBJ_FREE(x);
}

void
ref_index_set(struct ref_index *x, struct wire_str owner, enum ref_relation r, struct wire_str target)
{
	OBJ_CHECK(x, REF_INDEX_MAGIC);
	MUST((unsigned)r < REF_RELATION_MAX);
	struct ref_edge *const e = &edges_of(x, owner)[r];
	size_t len = 0;

	if (e->target != KEYTAB_NONE) {
		const char *const old = keytab_key(x->targets, e->target, &len);

		if (wire_str_same((struct wire_str){ .p = old, .len = (uint32_t)len }, target))
			return;
		unlink_edge(x, e);
	}
	if (target.len > 0)
		link_edge(x, e, target);
}

void
ref_index_drop(struct ref_index *x, struct wire_str owner)
{
	OBJ_CHECK(x, REF_INDEX_MAGIC);
	const uint32_t id = keytab_find(x->owners, owner.p, owner.len);

	if (id == KEYTAB_NONE)
		return;
	struct ref_edge *const edges = *(struct ref_edge **)keytab_value(x->owners, id);
	for (unsigned r = 0; r < REF_RELATION_MAX; r++) {
		if (edges[r].target != KEYTAB_NONE)
			unlink_edge(x, &edges[r]);
	}
	keytab_remove(x->owners, id);
	free(edges);
}

bool
ref_index_used(const struct ref_index *x, struct wire_str target)
{
	return find_target(x, target) != NULL;
}

void
ref_index_each(const struct ref_index *x, struct wire_str target, ref_owner *fn, void *arg)
{
	const struct ref_target *const t = find_target(x, target);
	const struct ref_edge *e;

	if (t == NULL)
		return;
	LIST_FOREACH(e, &t->owners, next) {
		size_t len;
		const char *const owner = keytab_key(x->owners, e->owner, &len);

		fn(arg, owner, len);
	}
}

static struct ref_edge *
edges_of(struct ref_index *x, struct wire_str owner)
{
	bool added = false;
	const uint32_t id = keytab_add(x->owners, owner.p, owner.len, &added);
	struct ref_edge **const at = keytab_value(x->owners, id);

	if (added) {
		*at = obj_alloc(REF_RELATION_MAX * sizeof(**at));
		for (unsigned r = 0; r < REF_RELATION_MAX; r++)
			(*at)[r] = (struct ref_edge){ .owner = id, .target = KEYTAB_NONE };
	}
	return *at;
}

static void
link_edge(struct ref_index *x, struct ref_edge *e, struct wire_str target)
{
	bool added = false;

	e->target = keytab_add(x->targets, target.p, target.len, &added);
	struct ref_target **const at = keytab_value(x->targets, e->target);
	if (added) {
		*at = obj_alloc(sizeof(**at));
		LIST_INIT(&(*at)->owners);
	}
	LIST_INSERT_HEAD(&(*at)->owners, e, next);
}

static void
unlink_edge(struct ref_index *x, struct ref_edge *e)
{
	struct ref_target *const t = *(struct ref_target **)keytab_value(x->targets, e->target);
	const uint32_t id = e->target;

	LIST_REMOVE(e, next);
	e->target = KEYTAB_NONE;
	if (!LIST_EMPTY(&t->owners))
		return;
	x->unused(x->arg, keytab_key(x->targets, id, NULL));
	keytab_remove(x->targets, id);
	free(t);
}

static struct ref_target *
find_target(const struct ref_index *x, struct wire_str target)
{
	OBJ_CHECK(x, REF_INDEX_MAGIC);
	const uint32_t id = keytab_find(x->targets, target.p, target.len);

	return id == KEYTAB_NONE ? NULL : *(struct ref_target **)keytab_value(x->targets, id);
}
