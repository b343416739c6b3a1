/*
 * sim/kube/store/sim_snapshot.c - the objects as they were: today's, with the changes since then
 * undone, newest first.
 */
#include <string.h>

#include "obj.h"
#include "sim_store.h"

static bool inside(const struct sim_blob *, const char *, size_t);
static void undo(struct sim_snapshot *, const struct sim_change *);
static void put(struct sim_snapshot *, size_t, struct sim_blob *);

struct sim_snapshot *
sim_store_snapshot(const struct sim_store *s, const struct sim_storage *st, const char *ns, uint64_t rv)
{
	const struct sim_history *const h = &s->history;
	const size_t ns_len = strlen(ns);

	rv = rv != 0 ? rv : s->rv;
	if (rv > s->rv || rv < h->forgotten)
		return NULL;
	struct sim_snapshot *const snap = obj_alloc(sizeof(*snap));
	snap->rv = rv;
	for (size_t i = ns_len > 0 ? sim_blob_seek(st->objects, st->n, ns) : 0; i < st->n; i++) {
		if (inside(st->objects[i], ns, ns_len))
			put(snap, snap->n, sim_blob_ref(st->objects[i]));
		else if (ns_len > 0 && strncmp(sim_blob_key(st->objects[i]), ns, ns_len) > 0)
			break;
	}
	for (uint64_t at = s->rv; at > rv; at--) {
		const struct sim_change *const c = sim_history_get(h, at);

		if (c->storage == st && inside(c->before != NULL ? c->before : c->after, ns, ns_len))
			undo(snap, c);
	}
	return snap;
}

void
sim_snapshot_free(struct sim_snapshot **sp)
{
	struct sim_snapshot *const snap = *sp;

	*sp = NULL;
	if (snap == NULL)
		return;
	for (size_t i = 0; i < snap->n; i++)
		sim_blob_unref(&snap->objects[i]);
	free(snap->objects);
	free(snap);
}

static bool
inside(const struct sim_blob *b, const char *ns, size_t len)
{
	return len == 0 || (strncmp(sim_blob_key(b), ns, len) == 0 && sim_blob_key(b)[len] == '/');
}

static void
undo(struct sim_snapshot *snap, const struct sim_change *c)
{
	const char *const key = sim_blob_key(c->before != NULL ? c->before : c->after);
	const size_t i = sim_blob_seek(snap->objects, snap->n, key);
	const bool found = i < snap->n && strcmp(sim_blob_key(snap->objects[i]), key) == 0;

	MUST(found == (c->after != NULL));
	if (c->before != NULL && found) {
		sim_blob_unref(&snap->objects[i]);
		snap->objects[i] = sim_blob_ref(c->before);
	} else if (c->before != NULL) {
		put(snap, i, sim_blob_ref(c->before));
	} else {
		sim_blob_unref(&snap->objects[i]);
		snap->n--;
		memmove(&snap->objects[i], &snap->objects[i + 1], (snap->n - i) * sizeof(*snap->objects));
	}
}

static void
put(struct sim_snapshot *snap, size_t i, struct sim_blob *b)
{
	if (snap->n == snap->size) {
		snap->size = snap->size != 0 ? snap->size * 2 : 64;
		snap->objects = obj_realloc(snap->objects, snap->size * sizeof(*snap->objects));
	}
	memmove(&snap->objects[i + 1], &snap->objects[i], (snap->n - i) * sizeof(*snap->objects));
	snap->objects[i] = b;
	snap->n++;
}
