/*
 * actors/metrics/health.h - alive and ready, as named checks. Pure: tree and time come in.
 *
 * Alive must not depend on anything outside (a restart would not help); ready means that every
 * actor runs and its inputs are synced.
 */
#ifndef MUSTER_METRICS_HEALTH_H
#define MUSTER_METRICS_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exposition.h"
#include "tree_status.h"

enum { HEALTH_TREE_OLD_MS = 30000 };	/* the supervisor writes one every 5 s */

enum health_kind { HEALTH_ALIVE, HEALTH_READY };

struct health_facts {
	const struct tree_status	*tree;		/* NULL: none has come yet */
	int64_t			 tree_age_ms;	/* of the last tree; without one: of this process */
};

enum health_verdict { HEALTH_OK, HEALTH_FAILED, HEALTH_NO_SUCH_CHECK };

/*
 * Runs all checks of that kind, or only the one named (NULL: all), and writes the answer as
 * Kubernetes does: `ok`, or with `verbose` or on failure a line per check.
 */
enum health_verdict health_answer(enum health_kind kind, const char *only, bool verbose,
    const struct health_facts *f, struct text *out);

#endif
