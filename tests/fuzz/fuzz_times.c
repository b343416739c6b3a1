/*
 * tests/fuzz/fuzz_times.c - any bytes as the times and limits that providers send.
 *
 * Rule: a time that is accepted without a zone is the same with a Z, and is read again as it is printed; no
 * header closes a bucket for longer than the limit, or by a time before now.
 */
#include <stdint.h>
#include <string.h>

#include "actors/provider/limit.h"
#include "actors/provider/reply.h"
#include "actors/runtime/http_private.h"
#include "kube/time.h"
#include "obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 256, NOW_MS = 5000000 };

static void
check_time(const char *text, size_t len)
{
	char printed[TIME_TEXT_MAX], zoned[TEXT_MAX + 2];
	int64_t us, again;

	if (!reply_parse_time(text, len, &us))
		return;
	memcpy(zoned, text, len);
	zoned[len] = 'Z';
	if (reply_parse_time(zoned, len + 1, &again))
		MUST(again == us);
	const size_t n = time_format_micro(us, printed, sizeof(printed));
	if (n == 27)	/* an offset may lead out of the years that can be read */
		MUST(reply_parse_time(printed, n, &again) && again == us);
}

static void
check_limit(const char *text, int status)
{
	const int64_t retry_after_ms = http_retry_after_ms(text, NULL, INT64_C(1767322800000));
	const struct limit_report report = { .status = status, .retry_after_ms = retry_after_ms,
		.limit = text, .remaining = status % 2 == 0 ? "0" : text, .reset = text,
		.date_ms = INT64_C(1767322800000) };
	struct limit l;

	MUST(retry_after_ms >= 0 && retry_after_ms <= HTTP_RETRY_AFTER_MAX_MS);
	limit_init(&l);
	const int64_t until_ms = limit_answered(&l, &report, 0, NOW_MS);
	MUST(until_ms == 0
	    || (until_ms >= NOW_MS + LIMIT_PAUSE_MIN_MS && until_ms <= NOW_MS + LIMIT_PAUSE_MAX_MS));
	MUST(status != 429 || until_ms != 0);
	MUST(limit_budget(&l, NOW_MS) >= LIMIT_UNKNOWN);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_MAX + 1];

	if (size > TEXT_MAX)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	check_time(text, size);
	check_limit(text, 200);
	check_limit(text, 429);
	check_limit(text, 503);
	return 0;
}
