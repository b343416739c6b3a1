/* sim/openshift/openshift_pool.h - a MachineConfigPool: its target, its nodes, its status. */
#ifndef MUSTER_OPENSHIFT_POOL_H
#define MUSTER_OPENSHIFT_POOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openshift_node.h"

struct sim_blob;
struct selector;

enum { POOL_NONE = -1 };

struct openshift_pool {
	char		*name;
	struct selector	*selector;	/* NULL: it matches nothing */
	bool		 paused;
	char		*target;	/* spec.configuration.name */
	char		*settled;	/* status.configuration.name: what a new node begins with */
	int64_t		 max_unavailable;
	bool		 percent;
	/* Of its nodes, counted anew each time. */
	size_t		 nodes, updated, ready, unavailable, degraded, failing;
	json_t		*troubles;	/* the reasons of the degraded ones */
	size_t		 room;		/* nodes that may begin now */
};

void openshift_pool_read(struct openshift_pool *p, const json_t *object);
void openshift_pool_free(struct openshift_pool *p);
bool openshift_pool_matches(const struct openshift_pool *p, const struct sim_blob *node);

/*
 * Which of n pools owns a node, by the rule of the MCO: matches[i] is whether the selector of
 * names[i] does. Two custom pools: none; master before all, any custom pool before worker.
 */
int openshift_pool_owner(const char *const *names, const bool *matches, size_t n);

/* Counting: begin, each node, then the room. */
void openshift_pool_count_begin(struct openshift_pool *p);
void openshift_pool_count(struct openshift_pool *p, const char *name, const struct openshift_node_facts *f);
void openshift_pool_count_end(struct openshift_pool *p);
bool openshift_pool_updated(const struct openshift_pool *p);

/* A new one; the selector is taken. */
json_t *openshift_pool_new(const char *name, json_t *selector, json_t *max_unavailable, const char *config);
/* The role label as most pools select it. */
json_t *openshift_pool_role_selector(const char *role);
/* spec.configuration, with the generation. */
void openshift_pool_set_target(json_t *pool, const char *config, const json_t *sources);
/* The status of these counts in place of the old one. */
void openshift_pool_set_status(json_t *pool, const struct openshift_pool *p, const char *now);

#endif
