/* sim/kube/store/sim_snapshot.c - the objects as they were: today's, with the changes since then undone, newest first. */
#include <string.h>

#include "obj.h"
#include "sim_store.h"

static bool inside(const struct blob *, const char *, size_t);
static void undo(struct snapshot *, const struct change *);
static size_t seek(const struct snapshot *, const char *, bool *);
static void put(struct snapshot *, size_t, struct blob *);

struct snapshot *
depot_snapshot(const struct depot *s, const struct storage *st, const char *ns, uint64_t rv)
{
	const struct history *const h = depot_history(s);
	const size_t ns_len = strlen(ns);

	rv = rv != 0 ? rv : depot_rv(s);
	if (rv > depot_rv(s) || rv < h->forgotten)
		return NULL;
	struct snapshot *const snap = obj_alloc(sizeof(*snap));
	snap->rv = rv;
	for (size_t i = ns_len > 0 ? storage_seek(st, ns) : 0; i < st->n; i++) {
		if (inside(st->objects[i], ns, ns_len))
			put(snap, snap->n, blob_ref(st->objects[i]));
		else if (ns_len > 0 && strncmp(blob_key(st->objects[i]), ns, ns_len) > 0)
			break;
	}
	for (uint64_t at = depot_rv(s); at > rv; at--) {
		const struct change *const c = history_get(h, at);

		if (c->storage == st && inside(c->before != NULL ? c->before : c->after, ns, ns_len))
			undo(snap, c);
	}
	return snap;
}

void
snapshot_free(struct snapshot **sp)
{
	struct snapshot *const snap = *sp;

	*sp = NULL;
	if (snap == NULL)
		return;
	for (size_t i = 0; i < snap->n; i++)
		blob_unref(&snap->objects[i]);
	free(snap->objects);
	free(snap);
}

static bool
inside(const struct blob *b, const char *ns, size_t len)
{
	return len == 0 || (strncmp(blob_key(b), ns, len) == 0 && blob_key(b)[len] == '/');
}

static void
undo(struct snapshot *snap, const struct change *c)
{
	bool found;
	const size_t i = seek(snap, blob_key(c->before != NULL ? c->before : c->after), &found);

	MUST(found == (c->after != NULL));
	if (c->before != NULL && found) {
		blob_unref(&snap->objects[i]);
		snap->objects[i] = blob_ref(c->before);
	} else if (c->before != NULL) {
		put(snap, i, blob_ref(c->before));
	} else {
		blob_unref(&snap->objects[i]);
		snap->n--;
		memmove(&snap->objects[i], &snap->objects[i + 1], (snap->n - i) * sizeof(*snap->objects));
	}
}

static size_t
seek(const struct snapshot *snap, const char *key, bool *found)
{
	size_t low = 0, high = snap->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strcmp(blob_key(snap->objects[middle]), key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*found = low < snap->n && strcmp(blob_key(snap->objects[low]), key) == 0;
	return low;
}

static void
put(struct snapshot *snap, size_t i, struct blob *b)
{
	if (snap->n == snap->size) {
		snap->size = snap->size != 0 ? snap->size * 2 : 64;
		snap->objects = obj_realloc(snap->objects, snap->size * sizeof(*snap->objects));
	}
	memmove(&snap->objects[i + 1], &snap->objects[i], (snap->n - i) * sizeof(*snap->objects));
	snap->objects[i] = b;
	snap->n++;
}
