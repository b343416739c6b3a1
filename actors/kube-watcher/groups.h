/*
 * actors/kube-watcher/groups.h - the API group that a kind has outside, where the cluster calls it
 * differently than we do.
 *
 * The insight kinds are a prototype, and their group is the cluster's choice (setting
 * insight-group). On the bus, in kinds.h and in rights.h it is always INSIGHT_GROUP: the name of a
 * right does not depend on a setting. Only what goes to the API server, and the KIND message, which
 * gives an actor the apiVersion to write, has the group as served.
 */
#ifndef MUSTER_WATCHER_GROUPS_H
#define MUSTER_WATCHER_GROUPS_H

/* Once, before anything is asked of the server; without it every group is served as it is named. */
void groups_init(const char *name);
/* What to call that group outside; the same text for all groups but one. */
const char *group_served(const char *group);

#endif
