/*
 * actors/provider/drain_volumes.h - the volumes that are attached to a Node that is drained, but for those of
 * Pods that stay.
 *
 * A VolumeAttachment names a PersistentVolume, a Pod names PersistentVolumeClaims: what belongs to a Pod that
 * stays is known when its claims have been read. A claim is read once, its volume does not change.
 */
#ifndef MUSTER_DRAIN_VOLUMES_H
#define MUSTER_DRAIN_VOLUMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain_pods.h"

enum { DRAIN_CLAIM_NAME_MAX = 253 };

struct drain_claim {
	char	*ns, *name;
	char	*volume;	/* "": it has none */
};

struct drain_volumes {
	char			**attached;	/* PersistentVolumes; "" is an inline volume */
	size_t			  n;
	struct drain_claim	 *claims;	/* that were read */
	size_t			  nclaims;
};

/* The Pods that stay depend on both. */
struct drain_stay {
	const struct drain_pods		*pods;
	const struct drain_policy	*policy;
	int64_t				 now_ms;
};

/* Adds one that the list has for this Node. */
void drain_volumes_add(struct drain_volumes *v, struct wire_str volume);
/* `fresh` replaces what is attached; the claims stay. True: another number of volumes. */
bool drain_volumes_replace(struct drain_volumes *v, struct drain_volumes *fresh);
void drain_volumes_set_claim(struct drain_volumes *v, const char *ns, const char *name,
    struct wire_str volume);
/* A claim of a Pod that stays and that was not read: its namespace, and its name. False: there is none. */
bool drain_volumes_unread(const struct drain_volumes *v, const struct drain_stay *s, const char **ns,
    char name[DRAIN_CLAIM_NAME_MAX + 1]);
/* Those that are waited for. */
unsigned drain_volumes_count(const struct drain_volumes *v, const struct drain_stay *s);
void drain_volumes_free(struct drain_volumes *v);

#endif
