/*
 * actors/provider/absence.h - something is gone, or has expired, after two observations that agree. Pure.
 *
 * A provider's list lags, a page gets lost, a wall clock jumps. So one observation decides nothing: the
 * second must agree, at least `apart_ms` later in monotonic time, and no observation between them may
 * contradict. The observations are apart, not their evaluations: the second one begins `apart_ms` after
 * the first has ended. The state belongs to one key of the caller and is lost with the process: a restart
 * only delays.
 */
#ifndef MUSTER_ABSENCE_H
#define MUSTER_ABSENCE_H

#include <stdbool.h>
#include <stdint.h>

struct absence {
	bool	 seen;		/* one observation found it absent */
	int64_t	 first_ms;	/* it was evaluated then, so it had ended */
	uint64_t list;		/* in which list; the same list is not a second observation */
};

enum absence_verdict {
	ABSENCE_PRESENT,	/* it is there */
	ABSENCE_WAIT,		/* absent, and not confirmed */
	ABSENCE_CONFIRMED,
};

/*
 * One observation, which began at began_ms: of a list the time of its request, of a clock now_ms. `list`
 * numbers what was read: two evaluations of one list are one observation. A list that is not complete and
 * fresh must not be passed.
 */
enum absence_verdict absence_observe(struct absence *a, bool absent, uint64_t list, int64_t began_ms,
    int64_t apart_ms, int64_t now_ms);
/* A second observation that begins then can confirm; INT64_MAX: nothing is absent. */
int64_t absence_due_ms(const struct absence *a, int64_t apart_ms);

#endif
