/* sim/openshift/openshift_pods.h - the Pods of a node, as a drain sees them. */
#ifndef MUSTER_OPENSHIFT_PODS_H
#define MUSTER_OPENSHIFT_PODS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/sim.h"

/* Those that a drain must wait for: all but finished ones, mirrors of static Pods, and DaemonSets'. */
size_t openshift_pods_left(struct simulator *s, const char *node);
/* Asks for the eviction of each; a PodDisruptionBudget may refuse. How many were granted. */
size_t openshift_pods_evict(struct simulator *s, const char *node, bool at_once);

/* A Pod on that node whose budget allows no disruption; the budget allows it. False: unchanged. */
bool openshift_pods_block(struct simulator *s, const char *node);
bool openshift_pods_unblock(struct simulator *s, const char *node);

#endif
