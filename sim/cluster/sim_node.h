/* sim/cluster/sim_node.h - the objects of Nodes. */
#ifndef MUSTER_SIM_NODE_H
#define MUSTER_SIM_NODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_node_spec {
	size_t		 number;	/* from 1: name, addresses and zone follow from it */
	const char	*name;		/* NULL: that of the number */
	const char	*uid, *now;
	json_t		*images;	/* shared by all */
	bool		 managed;	/* with a record of who set which field */
};

/* status.images of a Node that has about that many bytes of JSON; 0: as it comes. A new reference. */
json_t *sim_node_images(size_t bytes);

enum { NODE_NAME_MAX = 32 };
const char *sim_node_name(size_t number, char buf[NODE_NAME_MAX]);
/* A new reference. */
json_t *sim_node_new(const struct sim_node_spec *n);

/* Changes to a Node in place. */
void sim_node_beat(json_t *node, const char *now);
void sim_node_set_ready(json_t *node, bool ready, const char *now);
void sim_node_set_taint(json_t *node, const char *key, const char *effect, bool there);

#endif
