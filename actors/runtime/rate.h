/*
 * actors/runtime/rate.h - a token bucket: how often requests may be sent. Pure: time comes in.
 *
 * A server's Retry-After closes the bucket until then; afterwards it starts with one token, so that the
 * requests that waited are not sent all at once.
 */
#ifndef MUSTER_RATE_H
#define MUSTER_RATE_H

#include <stdint.h>

struct rate {
	double	per_second;	/* 0: no limit, but it can still be closed */
	double	burst;		/* tokens it holds at most; at least 1 */
	double	tokens;
	int64_t	updated_ms;	/* tokens are counted up to here */
	int64_t	closed_until_ms;
};

/* A full bucket. */
struct rate rate_new(double per_second, double burst, int64_t now_ms);
/* Other limits from now on; a closed bucket stays closed. */
void rate_change(struct rate *r, double per_second, double burst, int64_t now_ms);
/* 0: a token was taken, go. Otherwise ms after which there may be one. */
int64_t rate_take(struct rate *r, int64_t now_ms);
/* No token before that time; never earlier than by a call before. */
void rate_penalise(struct rate *r, int64_t until_ms);

#endif
