/* supervisor/needs.h - which actors run: those that are configured, and those that they need. */
#ifndef MUSTER_NEEDS_H
#define MUSTER_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "actors.h"

struct need {
	enum role	 who, needs;
	const char	*why;
};

struct needs_answer {
	uint64_t	 enabled;		/* mask of roles */
	struct need	 because[ROLE_MAX];	/* why it is enabled; ROLE_NONE: it is configured */
	struct need	 conflict;		/* when refused: who needs what was switched off */
};

extern const struct need needs_table[];		/* ends with ROLE_NONE */
/* Closes `wanted` over the table, whole or not at all. False: something needed is in `forbidden`. */
bool needs_resolve(const struct need *table, uint64_t wanted, uint64_t forbidden, struct needs_answer *out);
/* Mask of what this role needs directly. */
uint64_t needs_of(enum role r);

#endif
