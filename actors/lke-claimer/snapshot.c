/* actors/lke-claimer/snapshot.c - pools and instances of one cluster, by id. */
#include "snapshot.h"

#include <string.h>

#include "obj.h"

enum { SNAPSHOT_MAGIC = 0x4c4b4553 };

static size_t place(const void *, size_t, size_t, int64_t, bool *);
static void *make_room(void *, size_t, size_t *, size_t, size_t);

struct lke_snapshot *
snapshot_new(enum lke_tier tier, int64_t cluster_id)
{
	struct lke_snapshot *s;

	OBJ_NEW(s, SNAPSHOT_MAGIC);
	s->tier = tier;
	s->cluster_id = cluster_id;
	s->pool_walk.next = s->instance_walk.next = 1;
	return s;
}

void
snapshot_free(struct lke_snapshot **sp)
{
	struct lke_snapshot *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, SNAPSHOT_MAGIC);
	for (size_t i = 0; i < s->npools; i++)
		lke_pool_free(&s->pools[i]);
	for (size_t i = 0; i < s->ninstances; i++)
		lke_instance_free(&s->instances[i]);
	free(s->pools);
	free(s->instances);
	OBJ_FREE(s);
}

void
snapshot_put_pool(struct lke_snapshot *s, struct lke_pool *p)
{
	bool found;
	const size_t at = place(s->pools, s->npools, sizeof(*p), p->id, &found);

	if (found) {
		lke_pool_free(&s->pools[at]);
	} else {
		s->pools = make_room(s->pools, at, &s->npools, sizeof(*p), s->pool_room);
		s->pool_room = s->npools > s->pool_room ? s->npools * 2 : s->pool_room;
	}
	s->pools[at] = *p;
	*p = (struct lke_pool){ 0 };
}

void
snapshot_put_instance(struct lke_snapshot *s, struct lke_instance *i)
{
	bool found;
	const size_t at = place(s->instances, s->ninstances, sizeof(*i), i->id, &found);

	if (found) {
		lke_instance_free(&s->instances[at]);
	} else {
		s->instances = make_room(s->instances, at, &s->ninstances, sizeof(*i), s->instance_room);
		s->instance_room = s->ninstances > s->instance_room ? s->ninstances * 2 : s->instance_room;
	}
	s->instances[at] = *i;
	*i = (struct lke_instance){ 0 };
}

void
snapshot_drop_pool(struct lke_snapshot *s, int64_t id)
{
	struct lke_pool *const p = snapshot_pool(s, id);

	if (p == NULL)
		return;
	lke_pool_free(p);
	memmove(p, p + 1, (size_t)(s->pools + s->npools - (p + 1)) * sizeof(*p));
	s->npools--;
}

void
snapshot_drop_node(struct lke_snapshot *s, int64_t pool_id, const char *node_id)
{
	struct lke_pool *const p = snapshot_pool(s, pool_id);

	if (p == NULL)
		return;
	/* In Enterprise the list of nodes may not have it yet; the count goes down all the same. */
	if (p->count > 0)
		p->count--;
	for (uint32_t i = 0; i < p->nnodes; i++) {
		if (strcmp(p->nodes[i].id, node_id) == 0) {
			memmove(&p->nodes[i], &p->nodes[i + 1], (p->nnodes - i - 1) * sizeof(p->nodes[0]));
			p->nnodes--;
			return;
		}
	}
}

struct lke_pool *
snapshot_pool(const struct lke_snapshot *s, int64_t id)
{
	bool found;
	const size_t at = place(s->pools, s->npools, sizeof(*s->pools), id, &found);

	return found ? &s->pools[at] : NULL;
}

struct lke_instance *
snapshot_instance(const struct lke_snapshot *s, int64_t id)
{
	bool found;
	const size_t at = place(s->instances, s->ninstances, sizeof(*s->instances), id, &found);

	return found ? &s->instances[at] : NULL;
}

bool
walk_page(struct lke_walk *w, int64_t page, int64_t pages, int64_t results, size_t entries)
{
	/* A list without entries has one page, or none. */
	const int64_t last = pages > 0 ? pages : 1;

	if (page != w->next || last > LKE_PAGES_MAX || page > last || results < 0
	    || (page > 1 && (last != w->pages || results != w->results)))
		return false;
	w->pages = last;
	w->results = results;
	w->seen += entries;
	w->next = page == last ? 0 : page + 1;
	return true;
}

const char *
snapshot_end(struct lke_snapshot *s)
{
	OBJ_CHECK(s, SNAPSHOT_MAGIC);
	if (s->pool_walk.next != 0 || s->instance_walk.next != 0)
		return "not all pages have been read";
	if (s->pool_walk.seen != (uint64_t)s->pool_walk.results || s->npools != s->pool_walk.seen)
		return "the pages of the pools do not have as many entries as the list";
	if (s->instance_walk.seen != (uint64_t)s->instance_walk.results || s->ninstances != s->ours)
		return "the pages of the instances do not have as many entries as the list";
	return NULL;
}

struct lke_tag_set
tag_set_new(const struct wire_str *tags, uint32_t n)
{
	struct lke_tag_set set = { .n = n };
	size_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += tags[i].len;
	if (n == 0)
		return set;
	set.tags = obj_alloc(n * sizeof(*set.tags) + bytes + 1);
	char *at = (char *)(set.tags + n);
	for (uint32_t i = 0; i < n; i++) {
		memcpy(at, tags[i].p, tags[i].len);
		set.tags[i] = (struct wire_str){ at, tags[i].len };
		at += tags[i].len;
	}
	return set;
}

void
lke_pool_free(struct lke_pool *p)
{
	free(p->tags.tags);
	free(p->nodes);
	*p = (struct lke_pool){ 0 };
}

void
lke_instance_free(struct lke_instance *i)
{
	free(i->tags.tags);
	*i = (struct lke_instance){ 0 };
}

/* Where an entry of that id is, or belongs. The id is the first member of an entry. */
static size_t
place(const void *entries, size_t n, size_t size, int64_t id, bool *found)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		int64_t there;

		memcpy(&there, (const char *)entries + middle * size, sizeof(there));
		if (there < id)
			low = middle + 1;
		else
			high = middle;
	}
	*found = false;
	if (low < n) {
		int64_t there;

		memcpy(&there, (const char *)entries + low * size, sizeof(there));
		*found = there == id;
	}
	return low;
}

/* One entry more, at that place. room: for how many the block is. */
static void *
make_room(void *entries, size_t at, size_t *n, size_t size, size_t room)
{
	if (*n == room)
		entries = obj_realloc(entries, (*n + 1) * 2 * size);
	memmove((char *)entries + (at + 1) * size, (char *)entries + at * size, (*n - at) * size);
	(*n)++;
	return entries;
}
