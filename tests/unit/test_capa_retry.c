/* tests/unit/test_capa_retry.c - what follows from a request to AWS that failed: F3, F4, FR7.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "actors/capa-annotator/aws_retry.h"
#include "obj.h"

static const struct aws_retry_times times = { .first_ms = 1000, .most_ms = 300000 };

static const struct row {
	const char		*name;
	struct aws_retry_facts	 facts;
	enum aws_retry_verb	 verb;
	int64_t			 after_ms;
} rows[] = {
	{ "a 5xx is requested again", { .fault = AWS_FAULT_TRANSIENT, .tries = 1 }, AWS_RETRY_AGAIN, 1000 },
	{ "... after twice the time", { .fault = AWS_FAULT_TRANSIENT, .tries = 2 }, AWS_RETRY_AGAIN, 2000 },
	{ "... three times in all", { .fault = AWS_FAULT_TRANSIENT, .tries = 3 }, AWS_RETRY_GIVE_UP, 1000 },
	{ "a throttled one, too", { .fault = AWS_FAULT_THROTTLED, .tries = 1 }, AWS_RETRY_AGAIN, 1000 },
	{ "Retry-After counts if it is later",
	    { .fault = AWS_FAULT_THROTTLED, .tries = 1, .retry_after_ms = 7000 }, AWS_RETRY_AGAIN, 7000 },
	{ "... and not if it is earlier",
	    { .fault = AWS_FAULT_THROTTLED, .tries = 2, .retry_after_ms = 1 }, AWS_RETRY_AGAIN, 2000 },
	{ "... also before the next walk",
	    { .fault = AWS_FAULT_THROTTLED, .tries = 3, .retry_after_ms = 9000 }, AWS_RETRY_GIVE_UP, 9000 },
	{ "walks that fail in a row wait longer each time",
	    { .fault = AWS_FAULT_THROTTLED, .tries = 3, .failures = 4 }, AWS_RETRY_GIVE_UP, 16000 },
	{ "... up to the longest interval",
	    { .fault = AWS_FAULT_THROTTLED, .tries = 3, .failures = UINT32_MAX }, AWS_RETRY_GIVE_UP, 300000 },
	{ "credentials that are refused are renewed", { .fault = AWS_FAULT_CREDENTIALS, .tries = 1 },
	    AWS_RETRY_RENEW, 0 },
	{ "... once for a page", { .fault = AWS_FAULT_CREDENTIALS, .tries = 2, .renewed = true },
	    AWS_RETRY_GIVE_UP, 1000 },
	{ "a clock that differs is adopted", { .fault = AWS_FAULT_CLOCK, .tries = 1 }, AWS_RETRY_CLOCK, 0 },
	{ "... once for a page", { .fault = AWS_FAULT_CLOCK, .tries = 2, .clock_set = true },
	    AWS_RETRY_GIVE_UP, 1000 },
	{ "a token that STS refuses may be one that is being rotated",
	    { .fault = AWS_FAULT_TOKEN, .tries = 1 }, AWS_RETRY_AGAIN, 1000 },
	{ "a token of a page that is refused: all pages again", { .fault = AWS_FAULT_PAGING, .tries = 1 },
	    AWS_RETRY_GIVE_UP, 1000 },
	{ "what the role may not do waits long", { .fault = AWS_FAULT_DENIED, .tries = 1 },
	    AWS_RETRY_GIVE_UP, 300000 },
	{ "... and what is refused as it is", { .fault = AWS_FAULT_INVALID, .tries = 1 },
	    AWS_RETRY_GIVE_UP, 300000 },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	const struct aws_retry_plan p = aws_retry(&times, &r->facts);

	assert_int_equal(p.verb, r->verb);
	assert_int_equal(p.after_ms, r->after_ms);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("capa_retry", tests, NULL, NULL);
}
