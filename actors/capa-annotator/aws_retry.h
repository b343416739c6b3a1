/*
 * actors/capa-annotator/aws_retry.h - what follows from a request to AWS that failed. Pure.
 *
 * Rules
 * - What passes (a 5xx, a lost connection, a limit, a token that is being rotated) is requested again, as
 *   often as AWS_RETRY_TRIES in all, after an interval that doubles, or after Retry-After if that is later.
 * - Credentials that EC2 refuses are renewed once for a page; a clock that differs is adopted once.
 * - All else, and all that goes on, ends the walk or the request: the next one begins after an interval that
 *   doubles with each failure in a row. What the role is not allowed to do, and what AWS refuses as it is,
 *   waits for the longest interval at once.
 */
#ifndef MUSTER_CAPA_RETRY_H
#define MUSTER_CAPA_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "aws_error.h"

enum { AWS_RETRY_TRIES = 3 };

struct aws_retry_times {
	int64_t	first_ms, most_ms;
};

struct aws_retry_facts {
	enum aws_fault	fault;
	unsigned	tries;		/* of this request that failed, this one too */
	unsigned	failures;	/* walks or requests in a row that were given up before */
	bool		renewed, clock_set;
	int64_t		retry_after_ms;	/* as AWS asked; 0: it did not */
};

enum aws_retry_verb {
	AWS_RETRY_AGAIN,	/* the same request, after after_ms */
	AWS_RETRY_RENEW,	/* with other credentials */
	AWS_RETRY_CLOCK,	/* with the time of the service */
	AWS_RETRY_GIVE_UP,	/* until after_ms */
};

struct aws_retry_plan {
	enum aws_retry_verb	verb;
	int64_t		after_ms;
};

struct aws_retry_plan aws_retry(const struct aws_retry_times *times, const struct aws_retry_facts *f);

#endif
