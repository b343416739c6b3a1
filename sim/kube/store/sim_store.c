/* sim/kube/store/sim_store.c - objects by key, and the counter that every change moves. */
#include "sim_store.h"

#include <string.h>

#include "clock.h"
#include "obj.h"

enum { OBJECTS_FIRST = 16 };

#define STORE_MAGIC	0x53544f52u

static void commit(struct sim_store *, struct sim_storage *, struct sim_blob *, struct sim_blob *);
static void insert(struct sim_storage *, size_t, struct sim_blob *);

struct sim_store *
sim_store_new(sim_store_changed *changed, void *arg)
{
	struct sim_store *s;

	OBJ_NEW(s, STORE_MAGIC);
	s->changed = changed;
	s->arg = arg;
	return s;
}

void
sim_store_free(struct sim_store **sp)
{
	struct sim_store *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, STORE_MAGIC);
	sim_history_free(&s->history);
	for (size_t i = 0; i < s->n; i++) {
		struct sim_storage *const st = s->storages[i];

		for (size_t k = 0; k < st->n; k++)
			sim_blob_unref(&st->objects[k]);
		free(st->objects);
		free(st->group);
		free(st->plural);
		free(st);
	}
	free(s->storages);
	OBJ_FREE(s);
}

struct sim_storage *
sim_store_storage(struct sim_store *s, const char *group, const char *plural)
{
	OBJ_CHECK(s, STORE_MAGIC);
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->storages[i]->group, group) == 0 && strcmp(s->storages[i]->plural, plural) == 0)
			return s->storages[i];
	}
	struct sim_storage *const st = obj_alloc(sizeof(*st));
	st->group = obj_strdup(group);
	st->plural = obj_strdup(plural);
	st->since = s->rv;
	s->storages = obj_realloc(s->storages, (s->n + 1) * sizeof(*s->storages));
	s->storages[s->n++] = st;
	return st;
}

struct sim_blob *
sim_store_put(struct sim_store *s, struct sim_storage *st, const json_t *object)
{
	OBJ_CHECK(s, STORE_MAGIC);
	struct sim_blob *const now = sim_blob_new(object, st->form, s->rv + 1);
	const size_t i = sim_blob_seek(st->objects, st->n, sim_blob_key(now));
	struct sim_blob *before = NULL;

	if (i < st->n && strcmp(sim_blob_key(st->objects[i]), sim_blob_key(now)) == 0) {
		before = st->objects[i];
		st->objects[i] = now;
	} else {
		insert(st, i, now);
	}
	commit(s, st, before, sim_blob_ref(now));
	return now;
}

uint64_t
sim_store_remove(struct sim_store *s, struct sim_storage *st, const char *key)
{
	const size_t i = sim_blob_seek(st->objects, st->n, key);

	OBJ_CHECK(s, STORE_MAGIC);
	if (i == st->n || strcmp(sim_blob_key(st->objects[i]), key) != 0)
		return 0;
	struct sim_blob *const before = st->objects[i];
	st->n--;
	memmove(&st->objects[i], &st->objects[i + 1], (st->n - i) * sizeof(*st->objects));
	commit(s, st, before, NULL);
	return s->rv;
}

struct sim_blob *
sim_storage_get(const struct sim_storage *st, const char *key)
{
	const size_t i = sim_blob_seek(st->objects, st->n, key);

	return i < st->n && strcmp(sim_blob_key(st->objects[i]), key) == 0 ? st->objects[i] : NULL;
}

size_t
sim_change_bytes(const struct sim_change *c)
{
	MUST(c->after != NULL || c->before != NULL);
	return c->after != NULL ? c->after->len : c->before->len;
}

/* Takes both references. */
static void
commit(struct sim_store *s, struct sim_storage *st, struct sim_blob *before, struct sim_blob *after)
{
	const struct sim_change c = {
		.rv = ++s->rv, .storage = st, .before = before, .after = after, .at_ms = clock_mono_ms()
	};

	st->written += sim_change_bytes(&c);
	sim_history_add(&s->history, c);
	s->changed(&c, s->arg);
}

static void
insert(struct sim_storage *st, size_t i, struct sim_blob *b)
{
	if (st->n == st->size) {
		st->size = st->size != 0 ? st->size * 2 : OBJECTS_FIRST;
		st->objects = obj_realloc(st->objects, st->size * sizeof(*st->objects));
	}
	memmove(&st->objects[i + 1], &st->objects[i], (st->n - i) * sizeof(*st->objects));
	st->objects[i] = b;
	st->n++;
}
