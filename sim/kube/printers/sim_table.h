/* sim/kube/printers/sim_table.h - objects as rows of a meta.k8s.io Table: what `kubectl get` prints. */
#ifndef MUSTER_SIM_TABLE_H
#define MUSTER_SIM_TABLE_H

#include <jansson.h>
#include <stdint.h>

#include "sim/kube/discovery/sim_resource.h"

/* One column: a value by its path, or by a function where there is more to it. */
struct column {
	const char	*name, *type, *format;
	int		 priority;	/* above 0: only with -o wide */
	const char	*path, *absent;	/* a text of the object, and what stands for none */
	json_t		*(*cell)(const json_t *object, int64_t now_us);
};

/* End: name NULL. */
extern const struct column table_pods[], table_nodes[], table_events[], table_namespaces[], table_secrets[],
    table_config_maps[], table_leases[], table_budgets[], table_plain[], table_crds[];

/* New references. The object is in the form of the core version for events. */
json_t *table_columns(const struct resource *r);
json_t *table_cells(const struct resource *r, const json_t *object, int64_t now_us);

/* For the columns' own functions: how long since that time, for people. */
json_t *table_since(const char *time, int64_t now_us);
json_t *table_name(const json_t *object, int64_t now_us);
json_t *table_age(const json_t *object, int64_t now_us);

#endif
