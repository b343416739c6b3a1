/* cli/rbac.h - what the cluster must allow kube-watcher, as Kubernetes objects. */
#ifndef MUSTER_RBAC_H
#define MUSTER_RBAC_H

#include <stdio.h>

/* deploy/rbac.yaml, from kinds.h (what is read) and rights.h (what is written): the two cannot drift. */
void rbac_print(FILE *out);
/* The same for a cluster whose insight kinds have another API group. */
void rbac_print_group(FILE *out, const char *insight_group);

#endif
