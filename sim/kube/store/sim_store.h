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

#include "sim/kube/discovery/sim_resource.h"
#include "sim_blob.h"
#include "sim_history.h"

struct sim_storage {
	char				*group, *plural;
	const struct sim_resource	*form;		/* the stored version: the form of the bytes */
	struct sim_blob			**objects;	/* by key */
	size_t				 n, size;
	size_t				 written;	/* bytes of all changes ever */
	uint64_t			 since;		/* its first rv: older ones cannot be watched from */
};

/* What a change weighs in a stream, about. */
size_t sim_change_bytes(const struct sim_change *c);

/*
 * Called after every change, before the request that made it returns. It notes; it never changes the
 * store itself.
 */
typedef void sim_store_changed(const struct sim_change *c, void *arg);

/* Others read it; only the functions below write it. */
struct sim_store {
	uint32_t		 magic;
	uint64_t		 rv;
	struct sim_storage	**storages;
	size_t			 n;
	struct sim_history	 history;
	sim_store_changed	*changed;
	void			*arg;
};

struct sim_store *sim_store_new(sim_store_changed *changed, void *arg);
void sim_store_free(struct sim_store **sp);

/* Made when absent. */
struct sim_storage *sim_store_storage(struct sim_store *s, const char *group, const char *plural);

/*
 * An object in the stored form, with name and namespace in its metadata: added, or put in place of
 * the old one.
 */
struct sim_blob *sim_store_put(struct sim_store *s, struct sim_storage *st, const json_t *object);
/* The resourceVersion of the deletion; 0: there is no such object. */
uint64_t sim_store_remove(struct sim_store *s, struct sim_storage *st, const char *key);

/* Borrowed; NULL: none. Key: sim_blob_key. */
struct sim_blob *sim_storage_get(const struct sim_storage *st, const char *key);
/* The objects as they were at one resourceVersion, in order of keys. Holds references. */
struct sim_snapshot {
	uint64_t	 rv;
	size_t		 n, size;
	struct sim_blob	**objects;
};
/* Of one namespace ("": all). rv 0: now. NULL: that past is forgotten, or rv is still to come. */
struct sim_snapshot *sim_store_snapshot(const struct sim_store *s, const struct sim_storage *st,
    const char *ns, uint64_t rv);
void sim_snapshot_free(struct sim_snapshot **sp);

#endif
