/* sim/kube/printers/sim_table.h - objects as rows of a meta.k8s.io Table: what `kubectl get` prints. */
#ifndef MUSTER_SIM_TABLE_H
#define MUSTER_SIM_TABLE_H

#include <jansson.h>
#include <stdint.h>

#include "sim/kube/discovery/sim_resource.h"

/* What a row is made of. The object is in the form of the core version for events. */
struct sim_table_row {
	const json_t	*object;
	int64_t		 now_us;
};

typedef json_t *sim_cell_fn(const struct sim_table_row *row);

/* One column: a value by its JSONPath, or by a function where there is more to it. */
struct sim_column {
	const char	*name, *type, *format;
	int		 priority;	/* above 0: only with -o wide */
	const char	*path, *absent;	/* a text or whole number, and what stands for none */
	sim_cell_fn	*cell;
};

/* End: name NULL. */
extern const struct sim_column sim_table_pods[], sim_table_nodes[], sim_table_events[],
    sim_table_namespaces[], sim_table_secrets[],
    sim_table_config_maps[], sim_table_leases[], sim_table_budgets[], sim_table_plain[], sim_table_crds[];

/* New references. */
json_t *sim_table_columns(const struct sim_resource *r);
json_t *sim_table_cells(const struct sim_resource *r, const json_t *object, int64_t now_us);

/* For the columns' own functions: how long since that time, for people. */
json_t *sim_table_since(const char *time, int64_t now_us);
sim_cell_fn sim_table_age;

#endif
