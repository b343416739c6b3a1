/* actors/runtime/rate.c - the token bucket. Pure. */
#include "rate.h"

#include "obj.h"

/* A token less this is a token: sums of fractions do not come out even. */
#define CLOSE_ENOUGH	1e-9

static void refill(struct rate *, int64_t);
static double no_more_than(double, double);

struct rate
rate_new(double per_second, double burst, int64_t now_ms)
{
	MUST(per_second >= 0 && burst >= 1);
	return (struct rate){
		.per_second = per_second, .burst = burst, .tokens = burst, .updated_ms = now_ms
	};
}

void
rate_change(struct rate *r, double per_second, double burst, int64_t now_ms)
{
	MUST(per_second >= 0 && burst >= 1);
	refill(r, now_ms);
	/* What was unlimited had no count of its own: it starts full, as a new one does. */
	r->tokens = r->per_second == 0 ? burst : no_more_than(r->tokens, burst);
	r->per_second = per_second;
	r->burst = burst;
}

int64_t
rate_take(struct rate *r, int64_t now_ms)
{
	if (now_ms < r->closed_until_ms)
		return r->closed_until_ms - now_ms;
	if (r->per_second == 0)
		return 0;
	refill(r, now_ms);
	if (r->tokens >= 1 - CLOSE_ENOUGH) {
		r->tokens -= 1;
		return 0;
	}
	const double wait_ms = (1 - r->tokens) * 1000 / r->per_second;

	return wait_ms < INT32_MAX ? (int64_t)wait_ms + 1 : INT32_MAX;
}

void
rate_penalise(struct rate *r, int64_t until_ms)
{
	if (until_ms <= r->closed_until_ms)
		return;
	r->closed_until_ms = until_ms;
	r->tokens = no_more_than(r->tokens, 1);
	if (r->updated_ms < until_ms)
		r->updated_ms = until_ms;
}

static void
refill(struct rate *r, int64_t now_ms)
{
	if (now_ms <= r->updated_ms)
		return;
	r->tokens = no_more_than(
	    r->tokens + (double)(now_ms - r->updated_ms) * r->per_second / 1000, r->burst);
	r->updated_ms = now_ms;
}

static double
no_more_than(double v, double most)
{
	return v < most ? v : most;
}
