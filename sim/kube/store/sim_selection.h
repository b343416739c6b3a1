/* sim/kube/store/sim_selection.h - which objects a list, a watch or a deletecollection means. */
#ifndef MUSTER_SIM_SELECTION_H
#define MUSTER_SIM_SELECTION_H

#include <stdbool.h>

#include "sim/http/sim_request.h"
#include "sim_blob.h"

struct selector;

struct sim_selection {
	const struct sim_resource	*resource;
	char				*ns;		/* "": all */
	struct selector			*labels, *fields;
};

/* From the query. False: the request is answered already (400). */
bool sim_selection_read(struct sim_selection *s, struct sim_request *c);
void sim_selection_free(struct sim_selection *s);
bool sim_selection_matches(const struct sim_selection *s, const struct sim_blob *b);
/* No selectors: every object of the namespace. */
bool sim_selection_is_all(const struct sim_selection *s);

#endif
