/* sim/kube/store/sim_store.c - objects by key, and the counter that every change moves. */
#include "sim_store.h"

#include <string.h>

#include "obj.h"

enum { OBJECTS_FIRST = 16 };

struct depot {
	uint32_t	 magic;
#define DEPOT_MAGIC	0x53544f52u
	uint64_t	 rv;
	struct storage	**storages;
	size_t		 n;
	struct history	 history;
	depot_changed	*changed;
	void		*arg;
};

static void commit(struct depot *, struct storage *, struct blob *, struct blob *);
static void insert(struct storage *, size_t, struct blob *);

struct depot *
depot_new(depot_changed *changed, void *arg)
{
	struct depot *s;

	OBJ_NEW(s, DEPOT_MAGIC);
	s->changed = changed;
	s->arg = arg;
	return s;
}

void
depot_free(struct depot **sp)
{
	struct depot *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, DEPOT_MAGIC);
	history_free(&s->history);
	for (size_t i = 0; i < s->n; i++) {
		struct storage *const st = s->storages[i];

		for (size_t k = 0; k < st->n; k++)
			blob_unref(&st->objects[k]);
		free(st->objects);
		free(st->group);
		free(st->plural);
		free(st);
	}
	free(s->storages);
	OBJ_FREE(s);
}

struct storage *
depot_storage(struct depot *s, const char *group, const char *plural)
{
	OBJ_CHECK(s, DEPOT_MAGIC);
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->storages[i]->group, group) == 0 && strcmp(s->storages[i]->plural, plural) == 0)
			return s->storages[i];
	}
	struct storage *const st = obj_alloc(sizeof(*st));
	st->group = obj_strdup(group);
	st->plural = obj_strdup(plural);
	s->storages = obj_realloc(s->storages, (s->n + 1) * sizeof(*s->storages));
	s->storages[s->n++] = st;
	return st;
}

size_t
depot_nstorages(const struct depot *s)
{
	return s->n;
}

struct storage *
depot_nth(const struct depot *s, size_t i)
{
	MUST(i < s->n);
	return s->storages[i];
}

uint64_t
depot_rv(const struct depot *s)
{
	return s->rv;
}

const struct history *
depot_history(const struct depot *s)
{
	return &s->history;
}

void
depot_compact(struct depot *s)
{
	history_forget_all(&s->history);
}

struct blob *
depot_put(struct depot *s, struct storage *st, const json_t *object)
{
	OBJ_CHECK(s, DEPOT_MAGIC);
	struct blob *const now = blob_new(object, st->form, s->rv + 1);
	const size_t i = storage_seek(st, blob_key(now));
	struct blob *before = NULL;

	if (i < st->n && strcmp(blob_key(st->objects[i]), blob_key(now)) == 0) {
		before = st->objects[i];
		st->objects[i] = now;
	} else {
		insert(st, i, now);
	}
	commit(s, st, before, blob_ref(now));
	return now;
}

uint64_t
depot_remove(struct depot *s, struct storage *st, const char *key)
{
	const size_t i = storage_seek(st, key);

	OBJ_CHECK(s, DEPOT_MAGIC);
	if (i == st->n || strcmp(blob_key(st->objects[i]), key) != 0)
		return 0;
	struct blob *const before = st->objects[i];
	st->n--;
	memmove(&st->objects[i], &st->objects[i + 1], (st->n - i) * sizeof(*st->objects));
	commit(s, st, before, NULL);
	return s->rv;
}

struct blob *
storage_get(const struct storage *st, const char *key)
{
	const size_t i = storage_seek(st, key);

	return i < st->n && strcmp(blob_key(st->objects[i]), key) == 0 ? st->objects[i] : NULL;
}

size_t
storage_seek(const struct storage *st, const char *key)
{
	size_t low = 0, high = st->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strcmp(blob_key(st->objects[middle]), key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t
change_bytes(const struct change *c)
{
	MUST(c->after != NULL || c->before != NULL);
	return c->after != NULL ? c->after->len : c->before->len;
}

/* Takes both references. */
static void
commit(struct depot *s, struct storage *st, struct blob *before, struct blob *after)
{
	const struct change c = { .rv = ++s->rv, .storage = st, .before = before, .after = after };

	st->written += change_bytes(&c);
	history_add(&s->history, c);
	s->changed(&c, s->arg);
}

static void
insert(struct storage *st, size_t i, struct blob *b)
{
	if (st->n == st->size) {
		st->size = st->size != 0 ? st->size * 2 : OBJECTS_FIRST;
		st->objects = obj_realloc(st->objects, st->size * sizeof(*st->objects));
	}
	memmove(&st->objects[i + 1], &st->objects[i], (st->n - i) * sizeof(*st->objects));
	st->objects[i] = b;
	st->n++;
}
