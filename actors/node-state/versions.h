/*
 * actors/node-state/versions.h - the release version of a MachineConfig by its name:
 * "rendered-worker-<hash>" has "4.20.3".
 *
 * Only rendered MachineConfigs carry a version. None and an empty one are the same: not found.
 */
#ifndef MUSTER_NODE_VERSIONS_H
#define MUSTER_NODE_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

struct versions;

struct versions *versions_new(void);
void versions_free(struct versions **vp);
/* True: the version of that name has changed, so the nodes that use this config must be evaluated. */
bool versions_put(struct versions *v, struct wire_str name, const struct body_machine_config *body);
bool versions_remove(struct versions *v, struct wire_str name);
/* len 0: not found. The view holds until that name is put or removed. */
struct wire_str versions_find(const struct versions *v, struct wire_str name);

#endif
