/* sim/openshift/openshift_node.h - a Node as the Machine Config Operator sees and marks it. */
#ifndef MUSTER_OPENSHIFT_NODE_H
#define MUSTER_OPENSHIFT_NODE_H

#include <jansson.h>
#include <stdbool.h>

#include "openshift_fsm.h"

#define MCO_GROUP	"machineconfiguration.openshift.io"
#define MCO_KEY(name)	MCO_GROUP "/" name

enum openshift_role { ROLE_MASTER, ROLE_INFRA, ROLE_WORKER, ROLES };
/* As in names and pools: "master". */
const char *openshift_role_name(enum openshift_role role);

/* What the operator's rules read. Texts are copies, never NULL. */
struct openshift_node_facts {
	char	*current, *desired;	/* configs; "": none */
	char	*reason;
	char	*zone, *created;	/* the order in which nodes are chosen */
	bool	 joined;		/* it has a currentConfig */
	bool	 done, failing;		/* of state */
	bool	 ready;			/* in the operator's sense: Ready, no pressure, schedulable */
	bool	 windows;
};
void openshift_node_facts_read(struct openshift_node_facts *f, const json_t *node);
void openshift_node_facts_free(struct openshift_node_facts *f);
/* The operator's words. */
bool openshift_node_is_done(const struct openshift_node_facts *f);
bool openshift_node_is_unavailable(const struct openshift_node_facts *f);

/* Changes to a Node in place. */
void openshift_node_set_role(json_t *node, enum openshift_role role);
/* As the daemon leaves it after the first boot. */
void openshift_node_join(json_t *node, const char *config);
/* What comes with a step: config is that of the step X, boot_id the next boot's. */
struct openshift_node_change {
	const char	*config, *boot_id, *now;
};
void openshift_node_take_step(json_t *node, enum openshift_step step, const struct openshift_node_change *c);
void openshift_node_set_state(json_t *node, const char *state, const char *reason);

#endif
