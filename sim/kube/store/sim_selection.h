/* sim/kube/store/sim_selection.h - which objects a list, a watch or a deletecollection means. */
#ifndef MUSTER_SIM_SELECTION_H
#define MUSTER_SIM_SELECTION_H

#include <stdbool.h>

#include "sim_blob.h"
#include "sim/http/sim_request.h"

struct selector;

struct selection {
	const struct resource	*resource;
	char			*ns;		/* "": all */
	struct selector		*labels, *fields;
};

/* From the query. False: the call is answered already (400). */
bool selection_read(struct selection *s, struct call *c);
void selection_free(struct selection *s);
bool selection_matches(const struct selection *s, const struct blob *b);
/* No selectors: every object of the namespace. */
bool selection_is_all(const struct selection *s);

#endif
