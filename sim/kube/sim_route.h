/* sim/kube/sim_route.h - what a path names. Pure. */
#ifndef MUSTER_SIM_ROUTE_H
#define MUSTER_SIM_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

enum { ROUTE_PATH_MAX = 2048 };

/* "" where the path has none. */
struct sim_route {
	const char	*group, *version, *plural, *ns, *name, *subresource;
	char		 text[ROUTE_PATH_MAX];	/* the segments, decoded */
};

/*
 * /api/v1/..., /apis/GROUP/VERSION/...: true for the paths of a resource; false for everything
 * else, discovery of a group or version among it.
 */
bool sim_route_parse(const char *path, struct sim_route *out);

#endif
