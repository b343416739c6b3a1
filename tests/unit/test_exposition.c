/* tests/unit/test_exposition.c - the exposition format: what is written, and what is let in. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "actors/metrics/exposition.h"
#include "obj.h"

#define BUCKETS(...)	.buckets = (const double[]){ __VA_ARGS__ },		\
			.nbuckets = NITEMS(((const double[]){ __VA_ARGS__ }))

static const struct write_row {
	const char		*name;
	enum stat_kind		 kind;
	struct exposition_series	 series;
	const char		*want;
} write_rows[] = {
	{ "no labels", STAT_GAUGE, { .labels = "", .value = 1 }, "f 1\n" },
	{ "only the actor", STAT_GAUGE, { .actor = "metrics", .labels = "", .value = 1 },
	    "f{actor=\"metrics\"} 1\n" },
	{ "the actor is first", STAT_GAUGE, { .actor = "a", .labels = "link=\"x\"", .value = 2 },
	    "f{actor=\"a\",link=\"x\"} 2\n" },
	{ "labels without actor", STAT_COUNTER, { .labels = "a=\"b\"", .value = 3 }, "f{a=\"b\"} 3\n" },
	{ "the actor is escaped", STAT_GAUGE, { .actor = "a\\b\"c\nd", .labels = "" },
	    "f{actor=\"a\\\\b\\\"c\\nd\"} 0\n" },
	{ "NaN", STAT_GAUGE, { .labels = "", .value = NAN }, "f NaN\n" },
	{ "plus infinity", STAT_GAUGE, { .labels = "", .value = INFINITY }, "f +Inf\n" },
	{ "minus infinity", STAT_GAUGE, { .labels = "", .value = -INFINITY }, "f -Inf\n" },
	{ "fractions are short", STAT_GAUGE, { .labels = "", .value = 0.1 }, "f 0.1\n" },
	{ "fractions are exact", STAT_GAUGE, { .labels = "", .value = 1.0 / 3 }, "f 0.3333333333333333\n" },
	{ "negative", STAT_GAUGE, { .labels = "", .value = -2.5 }, "f -2.5\n" },
	{ "whole numbers have no exponent", STAT_COUNTER, { .labels = "", .value = 123456789012345 },
	    "f 123456789012345\n" },
	{ "very large", STAT_GAUGE, { .labels = "", .value = 1e300 }, "f 1e+300\n" },
	{ "histogram: +Inf is the count", STAT_HISTOGRAM,
	    { .actor = "a", .labels = "l=\"x\"", .value = 0.75, .count = 3, BUCKETS(0.005, 1, 2.5, 2) },
	    "f_bucket{actor=\"a\",l=\"x\",le=\"0.005\"} 1\n"
	    "f_bucket{actor=\"a\",l=\"x\",le=\"2.5\"} 2\n"
	    "f_bucket{actor=\"a\",l=\"x\",le=\"+Inf\"} 3\n"
	    "f_sum{actor=\"a\",l=\"x\"} 0.75\n"
	    "f_count{actor=\"a\",l=\"x\"} 3\n" },
	{ "histogram without labels or buckets", STAT_HISTOGRAM, { .labels = "", .count = 0 },
	    "f_bucket{le=\"+Inf\"} 0\nf_sum 0\nf_count 0\n" },
};

static const struct head_row {
	const char	*name;
	enum stat_kind	 kind;
	const char	*help, *want;
} head_rows[] = {
	{ "counter", STAT_COUNTER, "Help.", "# HELP f Help.\n# TYPE f counter\n" },
	{ "gauge", STAT_GAUGE, "Help.", "# HELP f Help.\n# TYPE f gauge\n" },
	{ "histogram", STAT_HISTOGRAM, "Help.", "# HELP f Help.\n# TYPE f histogram\n" },
	{ "help escapes backslash and newline, not the quote", STAT_GAUGE, "a\\b\n\"c\"",
	    "# HELP f a\\\\b\\n\"c\"\n# TYPE f gauge\n" },
};

static const struct check_row {
	const char	*name;
	bool		(*check)(const char *, size_t);
	const char	*text;
	bool		 want;
} check_rows[] = {
	{ "name", exposition_name_ok, "muster_link_keys", true },
	{ "name with colon and digits", exposition_name_ok, "a:b_0", true },
	{ "empty name", exposition_name_ok, "", false },
	{ "name that starts with a digit", exposition_name_ok, "0a", false },
	{ "name with a dash", exposition_name_ok, "a-b", false },
	{ "name with a newline", exposition_name_ok, "a\nb 1", false },
	{ "no labels", exposition_labels_ok, "", true },
	{ "one label", exposition_labels_ok, "link=\"samples\"", true },
	{ "two labels", exposition_labels_ok, "a=\"1\",b=\"2\"", true },
	{ "empty value", exposition_labels_ok, "a=\"\"", true },
	{ "value with comma and brace", exposition_labels_ok, "a=\",}{=\"", true },
	{ "the three escapes", exposition_labels_ok, "a=\"\\\\ \\\" \\n\"", true },
	{ "UTF-8 value", exposition_labels_ok, "a=\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"", true },
	{ "unknown escape", exposition_labels_ok, "a=\"\\t\"", false },
	{ "open escape at the end", exposition_labels_ok, "a=\"\\", false },
	{ "open quote", exposition_labels_ok, "a=\"b", false },
	{ "bare quote closes early", exposition_labels_ok, "a=\"b\"c\"", false },
	{ "newline in value", exposition_labels_ok, "a=\"b\nc\"", false },
	{ "trailing comma", exposition_labels_ok, "a=\"b\",", false },
	{ "leading comma", exposition_labels_ok, ",a=\"b\"", false },
	{ "space between", exposition_labels_ok, "a=\"b\", c=\"d\"", false },
	{ "no quotes", exposition_labels_ok, "a=b", false },
	{ "no name", exposition_labels_ok, "=\"b\"", false },
	{ "no value", exposition_labels_ok, "a", false },
	{ "nothing after the equals sign", exposition_labels_ok, "a=", false },
	{ "colon in a label name", exposition_labels_ok, "a:b=\"c\"", false },
	{ "a name twice", exposition_labels_ok, "a=\"1\",b=\"2\",a=\"3\"", false },
	{ "actor is ours", exposition_labels_ok, "actor=\"x\"", false },
	{ "le is ours", exposition_labels_ok, "a=\"1\",le=\"5\"", false },
	{ "overlong UTF-8", exposition_utf8_ok, "\xc0\xaf", false },
	{ "overlong UTF-8 of three bytes", exposition_utf8_ok, "\xe0\x80\xaf", false },
	{ "surrogate", exposition_utf8_ok, "\xed\xa0\x80", false },
	{ "beyond Unicode", exposition_utf8_ok, "\xf4\x90\x80\x80", false },
	{ "cut UTF-8", exposition_utf8_ok, "\xe2\x82", false },
	{ "lone continuation", exposition_utf8_ok, "\x80", false },
	{ "plain text", exposition_utf8_ok, "Help.", true },
};

static const struct bucket_row {
	const char	*name;
	double		 buckets[6];
	size_t		 n;
	uint64_t	 count;
	bool		 want;
} bucket_rows[] = {
	{ "none", { 0 }, 0, 5, true },
	{ "rising", { 1, 0, 2, 3, 4, 5 }, 6, 5, true },
	{ "odd number of numbers", { 1, 0, 2 }, 3, 5, false },
	{ "bounds fall", { 2, 0, 1, 3 }, 4, 5, false },
	{ "a bound twice", { 2, 0, 2, 3 }, 4, 5, false },
	{ "counts fall", { 1, 3, 2, 2 }, 4, 5, false },
	{ "more than all", { 1, 6 }, 2, 5, false },
	{ "NaN bound", { NAN, 0, 2, 3 }, 4, 5, false },
	{ "NaN count", { 1, NAN }, 2, 5, false },
	{ "infinite bound", { INFINITY, 1 }, 2, 5, false },
	{ "negative count", { 1, -1 }, 2, 5, false },
};

static void
check_write(void **state)
{
	const struct write_row *r = *state;
	char buf[1024];
	struct text t = { .buf = buf, .size = sizeof(buf) };

	exposition_series(&t, "f", r->kind, &r->series);
	assert_true(t.len < sizeof(buf));
	buf[t.len] = '\0';
	assert_string_equal(buf, r->want);
}

static void
check_head(void **state)
{
	const struct head_row *r = *state;
	char buf[1024];
	struct text t = { .buf = buf, .size = sizeof(buf) };

	exposition_head(&t, "f", r->kind, r->help);
	buf[t.len] = '\0';
	assert_string_equal(buf, r->want);
}

static void
check_check(void **state)
{
	const struct check_row *r = *state;

	assert_int_equal(r->check(r->text, strlen(r->text)), r->want);
}

static void
check_buckets(void **state)
{
	const struct bucket_row *r = *state;

	assert_int_equal(exposition_buckets_ok(r->buckets, r->n, r->count), r->want);
}

/* Every size that is too small: the length is the same, nothing is written beyond. */
static void
check_small_buffers(void **state)
{
	const struct exposition_series s = { .actor = "a\nb", .labels = "c=\"d\"", .value = 0.5, .count = 2,
		BUCKETS(1, 1) };
	char whole[512], buf[512];
	struct text t = { .buf = whole, .size = sizeof(whole) };

	(void)state;
	exposition_head(&t, "f", STAT_HISTOGRAM, "Help.");
	exposition_series(&t, "f", STAT_HISTOGRAM, &s);
	const size_t len = t.len;
	for (size_t size = 0; size <= len; size++) {
		memset(buf, '#', sizeof(buf));
		t = (struct text){ .buf = buf, .size = size };
		exposition_head(&t, "f", STAT_HISTOGRAM, "Help.");
		exposition_series(&t, "f", STAT_HISTOGRAM, &s);
		assert_int_equal(t.len, len);
		for (size_t i = size; i < sizeof(buf); i++)
			assert_int_equal(buf[i], '#');
	}
}

/* A length that a C string would not have. */
static void
check_nul(void **state)
{
	(void)state;
	assert_false(exposition_labels_ok("a=\"\0\"", 5));
	assert_false(exposition_utf8_ok("a\0b", 3));
	assert_false(exposition_name_ok("a\0b", 3));
}

static void
check_long(void **state)
{
	char labels[EXPOSITION_LABELS_MAX + 8] = "a=\"";

	(void)state;
	memset(labels + 3, 'x', EXPOSITION_LABELS_MAX - 4);
	labels[EXPOSITION_LABELS_MAX - 1] = '"';
	assert_true(exposition_labels_ok(labels, EXPOSITION_LABELS_MAX));
	labels[EXPOSITION_LABELS_MAX - 1] = 'x';
	labels[EXPOSITION_LABELS_MAX] = '"';
	assert_false(exposition_labels_ok(labels, EXPOSITION_LABELS_MAX + 1));
}

#define ROWS(rows, function)							\
	for (size_t i = 0; i < NITEMS(rows); i++)				\
		tests[n++] = (struct CMUnitTest){ rows[i].name, function, NULL, NULL,	\
			(void *)(uintptr_t)&rows[i] }

int
main(void)
{
	struct CMUnitTest tests[NITEMS(write_rows) + NITEMS(head_rows) + NITEMS(check_rows)
	    + NITEMS(bucket_rows) + 3];
	size_t n = 0;

	ROWS(write_rows, check_write);
	ROWS(head_rows, check_head);
	ROWS(check_rows, check_check);
	ROWS(bucket_rows, check_buckets);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_small_buffers);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_nul);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_long);
	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
