/*
 * tests/unit/test_kube_time.c - times of Kubernetes and HTTP; tests/real/test_oracle.c asks Go
 * about more of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "kube/time.h"
#include "obj.h"
#include "random.h"

#define S	INT64_C(1000000)
#define NONE	INT64_MIN	/* refused */

enum how { SECONDS, MICRO, HTTP };

static bool (*const parsers[])(const char *, size_t, int64_t *) = {
	[SECONDS] = time_parse, [MICRO] = time_parse_micro, [HTTP] = time_parse_http,
};

static const struct row {
	const char	*name, *text;
	enum how	 how;
	int64_t		 want;
} rows[] = {
	{ "the epoch",                 "1970-01-01T00:00:00Z",             SECONDS, 0 },
	{ "the second before it",      "1969-12-31T23:59:59Z",             SECONDS, -S },
	{ "a billion",                 "2001-09-09T01:46:40Z",             SECONDS, 1000000000 * S },
	{ "leap day",                  "2024-02-29T00:00:00Z",             SECONDS, 1709164800 * S },
	{ "no leap day",               "2023-02-29T00:00:00Z",             SECONDS, NONE },
	{ "a century without one",     "1900-02-29T00:00:00Z",             SECONDS, NONE },
	{ "a century with one",        "2000-02-29T00:00:00Z",             SECONDS, 951782400 * S },
	{ "Go's zero",                 "0001-01-01T00:00:00Z",             SECONDS, TIME_UNSET_US },
	{ "east is earlier",           "1970-01-01T05:30:00+05:30",        SECONDS, 0 },
	{ "west is later",             "1969-12-31T16:00:00-08:00",        SECONDS, 0 },
	{ "a whole day of offset",     "1970-01-02T00:00:00+24:00",        SECONDS, 0 },
	{ "more than a day",           "1970-01-02T00:00:00+25:00",        SECONDS, NONE },
	{ "no zone",                   "1970-01-01T00:00:00",              SECONDS, NONE },
	{ "zone without colon",        "1970-01-01T00:00:00+0000",         SECONDS, NONE },
	{ "decimals",                  "1970-01-01T00:00:00.25Z",          SECONDS, 250000 },
	{ "decimals behind a comma",   "1970-01-01T00:00:00,25Z",          SECONDS, 250000 },
	{ "nine decimals are cut",     "1970-01-01T00:00:00.123456789Z",   SECONDS, 123456 },
	{ "a point and no decimal",    "1970-01-01T00:00:00.Z",            SECONDS, NONE },
	{ "decimals before the epoch", "1969-12-31T23:59:59.75Z",          SECONDS, -250000 },
	{ "leap second",               "2016-12-31T23:59:60Z",             SECONDS, NONE },
	{ "hour 24",                   "2016-12-31T24:00:00Z",             SECONDS, NONE },
	{ "month 0",                   "2016-00-31T00:00:00Z",             SECONDS, NONE },
	{ "month 13",                  "2016-13-31T00:00:00Z",             SECONDS, NONE },
	{ "day 0",                     "2016-12-00T00:00:00Z",             SECONDS, NONE },
	{ "June has no 31st",          "2016-06-31T00:00:00Z",             SECONDS, NONE },
	{ "an hour of one digit",      "1970-01-01T1:00:00Z",              SECONDS, 3600 * S },
	{ "a blank for the T",         "1970-01-01 00:00:00Z",             SECONDS, NONE },
	{ "lower case",                "1970-01-01t00:00:00z",             SECONDS, NONE },
	{ "more text",                 "1970-01-01T00:00:00Z ",            SECONDS, NONE },
	{ "nothing",                   "",                                 SECONDS, NONE },
	{ "micro",                     "1970-01-01T00:00:01.000002Z",      MICRO,   S + 2 },
	{ "micro with offset",         "1970-01-01T01:00:00.500000+01:00", MICRO,   500000 },
	{ "micro of five",             "1970-01-01T00:00:01.00002Z",       MICRO,   NONE },
	{ "micro of seven",            "1970-01-01T00:00:01.0000002Z",     MICRO,   NONE },
	{ "micro without",             "1970-01-01T00:00:01Z",             MICRO,   NONE },
	{ "micro with a sign",         "1970-01-01T00:00:01.+00002Z",      MICRO,   NONE },
	{ "Date header",               "Sun, 06 Nov 1994 08:49:37 GMT",    HTTP,    784111777 * S },
	{ "a weekday nobody checks",   "Mon, 06 Nov 1994 08:49:37 GMT",    HTTP,    784111777 * S },
	{ "no such weekday",           "Son, 06 Nov 1994 08:49:37 GMT",    HTTP,    NONE },
	{ "no such month",             "Sun, 06 Nev 1994 08:49:37 GMT",    HTTP,    NONE },
	{ "RFC 850",                   "Sunday, 06-Nov-94 08:49:37 GMT",   HTTP,    NONE },
	{ "asctime",                   "Sun Nov  6 08:49:37 1994",         HTTP,    NONE },
	{ "another zone",              "Sun, 06 Nov 1994 08:49:37 UTC",    HTTP,    NONE },
	{ "cut",                       "Sun, 06 Nov 1994 08:49:37 GM",     HTTP,    NONE },
	{ "31 November",               "Sun, 31 Nov 1994 08:49:37 GMT",    HTTP,    NONE },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	int64_t us = NONE;

	assert_int_equal(parsers[r->how](r->text, strlen(r->text), &us), r->want != NONE);
	assert_int_equal(us, r->want);
}

static void
prints_as_go(void **state)
{
	static const struct {
		int64_t		 us;
		const char	*seconds, *micro;
	} prints[] = {
		{ 0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z" },
		{ -1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999999Z" },
		{ 1709164800 * S + 7, "2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000007Z" },
		{ TIME_UNSET_US, "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z" },
		{ TIME_UNSET_US - 367 * 86400 * S, "-0001-12-31T00:00:00Z", "-0001-12-31T00:00:00.000000Z" },
		{ INT64_C(253402300800) * S, "10000-01-01T00:00:00Z", "10000-01-01T00:00:00.000000Z" },
		{ INT64_MAX, "294247-01-10T04:00:54Z", "294247-01-10T04:00:54.775807Z" },
		{ INT64_MIN, "-290308-12-21T19:59:05Z", "-290308-12-21T19:59:05.224192Z" },
	};
	char text[TIME_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < NITEMS(prints); i++) {
		assert_int_equal(time_format(prints[i].us, text, sizeof(text)), strlen(prints[i].seconds));
		assert_string_equal(text, prints[i].seconds);
		assert_int_equal(
		    time_format_micro(prints[i].us, text, sizeof(text)), strlen(prints[i].micro));
		assert_string_equal(text, prints[i].micro);
	}
}

/* Every year that four digits can write, against the C library's calendar. */
static void
the_calendar_is_the_librarys(void **state)
{
	uint64_t seed = 4;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		const int64_t us = TIME_UNSET_US + (int64_t)random_below(&seed, UINT64_C(315537897599999999));
		const time_t seconds = (time_t)((us - (us % S + S) % S) / S);
		char ours[TIME_TEXT_MAX], theirs[TIME_TEXT_MAX + 64];
		struct tm tm;
		int64_t back;

		assert_non_null(gmtime_r(&seconds, &tm));
		snprintf(theirs, sizeof(theirs), "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", tm.tm_year + 1900,
		    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)((us % S + S) % S));
		const size_t len = time_format_micro(us, ours, sizeof(ours));
		assert_string_equal(ours, theirs);
		assert_true(time_parse_micro(ours, len, &back));
		assert_int_equal(back, us);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];
	size_t n = 0;

	for (; n < NITEMS(rows); n++)
		tests[n] = (struct CMUnitTest){ rows[n].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(prints_as_go);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(the_calendar_is_the_librarys);
	return cmocka_run_group_tests_name("kube_time", tests, NULL, NULL);
}
