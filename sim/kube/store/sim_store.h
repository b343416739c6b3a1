/*
 * sim/kube/store/sim_store.h - the objects of every resource, their one resourceVersion, and the recent past.
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

#include "sim_blob.h"
#include "sim_history.h"
#include "sim/kube/discovery/sim_resource.h"

struct depot;

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
typedef void depot_changed(const struct change *c, void *arg);

struct depot *depot_new(depot_changed *changed, void *arg);
void depot_free(struct depot **sp);

/* Made when absent. */
struct storage *depot_storage(struct depot *s, const char *group, const char *plural);
size_t depot_nstorages(const struct depot *s);
struct storage *depot_nth(const struct depot *s, size_t i);

uint64_t depot_rv(const struct depot *s);
const struct history *depot_history(const struct depot *s);
void depot_compact(struct depot *s);

/*
 * An object in the stored form, with name and namespace in its metadata: added, or put in place of
 * the old one.
 */
struct blob *depot_put(struct depot *s, struct storage *st, const json_t *object);
/* The resourceVersion of the deletion; 0: there is no such object. */
uint64_t depot_remove(struct depot *s, struct storage *st, const char *key);

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
struct snapshot *depot_snapshot(const struct depot *s, const struct storage *st, const char *ns, uint64_t rv);
void snapshot_free(struct snapshot **sp);

#endif
