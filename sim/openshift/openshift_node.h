/* sim/openshift/openshift_node.h - a Node as the Machine Config Operator sees and marks it. */
#ifndef MUSTER_OPENSHIFT_NODE_H
#define MUSTER_OPENSHIFT_NODE_H

#include <jansson.h>
#include <stdbool.h>

#include "openshift_fsm.h"

#define MCO_GROUP	"machineconfiguration.openshift.io"
#define MCO_KEY(name)	MCO_GROUP "/" name

enum rollout_role { ROLE_MASTER, ROLE_INFRA, ROLE_WORKER, ROLES };
/* As in names and pools: "master". */
const char *role_name(enum rollout_role role);

/* Where the operator's rules look. Texts are copies, never NULL. */
struct node_facts {
	char	*current, *desired;	/* configs; "": none */
	char	*reason;
	char	*zone, *created;	/* the order in which nodes are chosen */
	bool	 joined;		/* it has a currentConfig */
	bool	 done, failing;		/* of state */
	bool	 ready;			/* in the operator's sense: Ready, no pressure, schedulable */
	bool	 windows;
};
void node_facts_read(struct node_facts *f, const json_t *node);
void node_facts_free(struct node_facts *f);
/* The operator's words. */
bool node_is_done(const struct node_facts *f);
bool node_is_unavailable(const struct node_facts *f);

/* Changes to a Node in place. */
void node_set_role(json_t *node, enum rollout_role role);
/* As the daemon leaves it after the first boot. */
void node_join(json_t *node, const char *config);
/* What comes with a step: config is that of the step X, boot_id the next boot's. */
struct node_change {
	const char	*config, *boot_id, *now;
};
void node_take_step(json_t *node, enum rollout_step step, const struct node_change *c);
void node_degrade(json_t *node, const char *state, const char *reason);
void node_recover(json_t *node, enum rollout_step step);

#endif
