/*
 * sim/store.h - the objects of every resource, their one resourceVersion, and the recent past.
 *
 * A storage holds the objects of one group and plural in the order of their keys, whatever versions
 * serve them. Storages are never given back while the store lives: the history and a CRD that
 * returns may need them.
 */
#ifndef MUSTER_SIM_STORE_H
#define MUSTER_SIM_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blob.h"
#include "history.h"
#include "resource.h"

struct store;

struct storage {
	char			*group, *plural;
	const struct resource	*form;		/* the stored version: what the bytes look like */
	struct blob		**objects;	/* by key */
	size_t			 n, size;
	size_t			 written;	/* bytes of all changes ever: who has seen less is behind */
};

/* What a change weighs in a stream, about. */
size_t change_bytes(const struct change *c);

/*
 * Called after every change, before the call that made it returns. It notes; it never changes the
 * store itself.
 */
typedef void store_changed(const struct change *c, void *arg);

struct store *store_new(store_changed *changed, void *arg);
void store_free(struct store **sp);

/* Made when absent. */
struct storage *store_storage(struct store *s, const char *group, const char *plural);
size_t store_nstorages(const struct store *s);
struct storage *store_nth(const struct store *s, size_t i);

uint64_t store_rv(const struct store *s);
const struct history *store_history(const struct store *s);
void store_compact(struct store *s);

/*
 * An object in the stored form, with name and namespace in its metadata: added, or put in place of
 * the old one.
 */
struct blob *store_put(struct store *s, struct storage *st, const json_t *object);
/* The resourceVersion of the deletion; 0: there is no such object. */
uint64_t store_remove(struct store *s, struct storage *st, const char *key);

/* Borrowed; NULL: none. Key: blob_key. */
struct blob *storage_get(const struct storage *st, const char *key);
/* The index of the first object whose key is not less than key. */
size_t storage_seek(const struct storage *st, const char *key);

/* The objects as they were at one resourceVersion, in order of keys. Holds references. */
struct snapshot {
	uint64_t	 rv;
	size_t		 n, size;
	struct blob	**objects;
};
/* Of one namespace ("": all). rv 0: now. NULL: that past is forgotten, or rv is still to come. */
struct snapshot *store_snapshot(const struct store *s, const struct storage *st, const char *ns, uint64_t rv);
void snapshot_free(struct snapshot **sp);

#endif
