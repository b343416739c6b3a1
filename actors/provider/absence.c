/* actors/provider/absence.c - two observations that agree. Pure. */
#include "absence.h"

enum absence_verdict
absence_observe(struct absence *a, bool absent, uint64_t list, int64_t began_ms, int64_t apart_ms,
    int64_t now_ms)
{
	if (!absent) {
		*a = (struct absence){ 0 };
		return ABSENCE_PRESENT;
	}
	if (!a->seen) {
		*a = (struct absence){ .seen = true, .first_ms = now_ms, .list = list };
		return ABSENCE_WAIT;
	}
	return list != a->list && began_ms - a->first_ms >= apart_ms ? ABSENCE_CONFIRMED : ABSENCE_WAIT;
}

int64_t
absence_due_ms(const struct absence *a, int64_t apart_ms)
{
	return a->seen ? a->first_ms + apart_ms : INT64_MAX;
}
