/* cli/rbac.h - what the cluster must allow kube-watcher, as Kubernetes objects. */
#ifndef MUSTER_RBAC_H
#define MUSTER_RBAC_H

#include <stdio.h>

/* deploy/rbac.yaml, from kinds.h (what is read) and rights.h (what is written): the two cannot drift. */
void rbac_print(FILE *out);

#endif
