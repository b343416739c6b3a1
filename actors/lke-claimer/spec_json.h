/*
 * actors/lke-claimer/spec_json.h - the parts of specs that come as JSON text: the requirements of a
 * NodeClaim, the kubelet of a LinodeNodeClass (contract C11). No clock, no I/O.
 */
#ifndef MUSTER_LKE_SPEC_JSON_H
#define MUSTER_LKE_SPEC_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "types.h"

struct lke_requirements {
	json_t			*root;		/* what the texts are views into */
	struct lke_requirement	*list;
	struct wire_str		*values;
	uint32_t		 n;
};

/* "" is an empty list. False: err names the requirement that is wrong. Either way requirements_free. */
bool requirements_read(struct lke_requirements *out, struct wire_str json, char *err, size_t size);
void requirements_free(struct lke_requirements *r);

/* The defaults where it has nothing, or nothing that can be read. */
struct lke_sizing kubelet_read(struct wire_str json, uint32_t memory_overhead);

/* metav1.Duration as Go prints it, "1h30m0s", in microseconds. False: it is none, or negative. */
bool duration_read(struct wire_str text, int64_t *us);

#endif
