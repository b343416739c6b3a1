/*
 * actors/provider/limit.h - the limit of one bucket of calls, as the provider reports it. Pure.
 *
 * Rules
 * - A 429, or a 503 that names a time, closes the bucket for as long as the answer asks: at least
 *   LIMIT_PAUSE_MIN_MS, at most LIMIT_PAUSE_MAX_MS. A 429 without a time that can be read closes it for
 *   LIMIT_PAUSE_BLIND_MS.
 * - X-RateLimit-Remaining and -Reset close it until the reset once no more calls remain than are in flight.
 *   The reset is compared with the answer's own Date: the local wall clock may be wrong.
 * - What cannot be read counts as absent. How often calls start when nothing closes the bucket is the
 *   business of http_limit.
 */
#ifndef MUSTER_LIMIT_H
#define MUSTER_LIMIT_H

#include <stdint.h>

enum {
	LIMIT_PAUSE_MIN_MS   = 1000,
	LIMIT_PAUSE_BLIND_MS = 3000,
	LIMIT_PAUSE_MAX_MS   = 5 * 60 * 1000,
	LIMIT_UNKNOWN	     = -1,
};

/* What one answer reports. Texts of headers, NULL: absent. */
struct limit_report {
	int		 status;
	int64_t		 retry_after_ms;	/* 0: none that can be read */
	const char	*limit, *remaining, *reset;	/* X-RateLimit-: calls, calls, seconds since 1970 */
	int64_t		 date_ms;	/* the answer's Date, else the wall clock */
};

struct limit {
	int64_t	limit, remaining;	/* LIMIT_UNKNOWN: the provider has not reported it */
	int64_t	reset_at_ms;		/* of the monotonic clock; INT64_MAX: not reported */
};

void limit_init(struct limit *l);
/* in_flight: calls of this bucket that are not answered. Returns until when it is closed; 0: it is not. */
int64_t limit_answered(struct limit *l, const struct limit_report *r, unsigned in_flight, int64_t now_ms);
/* Calls that remain in the provider's window; LIMIT_UNKNOWN when it has not reported them. */
int64_t limit_budget(const struct limit *l, int64_t now_ms);

#endif
