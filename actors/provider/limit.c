/* actors/provider/limit.c - the rules of limit.h. Pure. */
#include "limit.h"

#include <stddef.h>
#include <string.h>

#include "ascii.h"

static int64_t number(const char *);
static int64_t clamp(int64_t);
static int64_t later(int64_t, int64_t);

void
limit_init(struct limit *l)
{
	*l = (struct limit){ .limit = LIMIT_UNKNOWN, .remaining = LIMIT_UNKNOWN, .reset_at_ms = INT64_MAX };
}

int64_t
limit_answered(struct limit *l, const struct limit_report *r, unsigned in_flight, int64_t now_ms)
{
	const int64_t limit = number(r->limit), remaining = number(r->remaining), reset = number(r->reset);
	int64_t until_ms = 0;

	if (r->status == 429 || (r->status == 503 && r->retry_after_ms > 0))
		until_ms = now_ms + clamp(r->retry_after_ms > 0 ? r->retry_after_ms : LIMIT_PAUSE_BLIND_MS);
	if (limit != LIMIT_UNKNOWN)
		l->limit = limit;
	if (remaining == LIMIT_UNKNOWN)
		return until_ms;
	l->remaining = remaining;
	l->reset_at_ms = INT64_MAX;
	if (reset != LIMIT_UNKNOWN) {
		l->reset_at_ms = now_ms + clamp(reset * 1000 - r->date_ms);
		if (remaining <= (int64_t)in_flight)
			until_ms = later(until_ms, l->reset_at_ms);
	}
	return until_ms;
}

int64_t
limit_budget(const struct limit *l, int64_t now_ms)
{
	return now_ms >= l->reset_at_ms && l->limit != LIMIT_UNKNOWN ? l->limit : l->remaining;
}

/* Digits alone, and no more of them than milliseconds fit into 64 bits. */
static int64_t
number(const char *text)
{
	enum { DIGITS_MAX = 12 };
	int64_t n = 0;

	if (text == NULL || text[0] == '\0' || strlen(text) > DIGITS_MAX)
		return LIMIT_UNKNOWN;
	for (const char *p = text; *p != '\0'; p++) {
		if (!ascii_digit(*p))
			return LIMIT_UNKNOWN;
		n = n * 10 + (*p - '0');
	}
	return n;
}

static int64_t
clamp(int64_t pause_ms)
{
	if (pause_ms < LIMIT_PAUSE_MIN_MS)
		return LIMIT_PAUSE_MIN_MS;
	return pause_ms < LIMIT_PAUSE_MAX_MS ? pause_ms : LIMIT_PAUSE_MAX_MS;
}

static int64_t
later(int64_t a_ms, int64_t b_ms)
{
	return a_ms > b_ms ? a_ms : b_ms;
}
