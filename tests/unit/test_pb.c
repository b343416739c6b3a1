/*
 * tests/unit/test_pb.c - the wire format: what is read, what is skipped, what is refused; and every
 * cut of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/pb.h"
#include "obj.h"
#include "tests/unit/kubebytes.h"

#define BYTES(text)	(const uint8_t *)(text), sizeof(text) - 1

/* wanted: one word per field, `number:value` or `number=text`; then `!` and why, if it is broken. */
static const struct row {
	const char	*name;
	const uint8_t	*bytes;
	size_t		 len;
	const char	*wanted;
} rows[] = {
	{ "nothing", BYTES(""), "" },
	{ "a varint", BYTES("\x08\x96\x01"), "1:150" },
	{ "a negative one has ten bytes", BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "1:18446744073709551615" },
	{ "a text, an empty one", BYTES("\x12\x03" "abc\x1a\x00"), "2=abc 3=" },
	{ "fixed ones", BYTES("\x0d\x01\x00\x00\x80\x11\x02\x00\x00\x00\x00\x00\x00\x80"), "1:2147483649 2:9223372036854775810" },
	{ "the largest number", BYTES("\xf8\xff\xff\xff\x0f\x01"), "536870911:1" },
	{ "number 0", BYTES("\x00\x01"), "!a field number out of range" },
	{ "a number above all", BYTES("\x80\x80\x80\x80\x10\x01"), "!a field number out of range" },
	{ "a group", BYTES("\x08\x01\x0b\x08\x01\x0c"), "1:1 !a group, or an unknown wire type" },
	{ "wire type 7", BYTES("\x0f"), "!a group, or an unknown wire type" },
	{ "eleven bytes", BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "!a number of more than 64 bits" },
	{ "more than 64 bits", BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), "!a number of more than 64 bits" },
	{ "cut within a tag", BYTES("\x88"), "!cut within a number" },
	{ "cut within a varint", BYTES("\x08\x80"), "!cut within a number" },
	{ "cut within a fixed one", BYTES("\x0d\x01\x02\x03"), "!cut within a number" },
	{ "one byte short", BYTES("\x0a\x04" "abc"), "!declares more bytes than it has" },
	{ "a length beyond the end", BYTES("\x0a\x05" "abc"), "!declares more bytes than it has" },
	{ "a length of 2^64-1", BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "!declares more bytes than it has" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	uint8_t *exact = obj_memdup(r->bytes, r->len);
	struct pb m = pb_over(exact, r->len);
	char text[256] = "";
	size_t n = 0;

	for (struct pb_field f; pb_next(&m, &f);) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u", n > 0 ? " " : "", f.number);
		if (f.wire == PB_BYTES)
			n += (size_t)snprintf(
			    text + n, sizeof(text) - n, "=%.*s", (int)f.len, (const char *)f.p);
		else
			n += (size_t)snprintf(
			    text + n, sizeof(text) - n, ":%llu", (unsigned long long)f.value);
	}
	if (m.broken != NULL)
		snprintf(text + n, sizeof(text) - n, "%s!%s", n > 0 ? " " : "", m.broken);
	assert_string_equal(text, r->wanted);
	struct pb_field f;
	assert_false(pb_next(&m, &f));		/* so for ever */
	free(exact);
}

/* However a message is cut, the walk reports it, or ends between two fields. */
static void
every_cut(void **state)
{
	struct bytes b = kube_object("Node", "{'metadata':{'name':'a','labels':{'b':'c'}},"
	    "'spec':{'unschedulable':true}}");
	size_t whole = 0;

	(void)state;
	for (size_t len = 0; len <= b.len; len++) {
		uint8_t *exact = obj_memdup(b.p, len);
		struct pb m = pb_over(exact, len);

		for (struct pb_field f; pb_next(&m, &f);) {}
		assert_true(m.broken != NULL || m.p == exact + len);
		whole += m.broken == NULL;
		free(exact);
	}
	assert_int_equal(whole, 3);	/* before, between and behind its two fields */
	bytes_free(&b);
}

static void
finding(void **state)
{
	struct bytes b = { 0 };
	struct pb_field f;

	(void)state;
	bytes_int(&b, 2, 7);
	bytes_text(&b, 2, "x");
	bytes_text(&b, 2, "y");
	assert_true(pb_find(pb_over(b.p, b.len), 2, PB_BYTES, &f));
	assert_memory_equal(f.p, "x", 1);
	assert_true(pb_find(pb_over(b.p, b.len), 2, PB_VARINT, &f));
	assert_int_equal(f.value, 7);
	assert_false(pb_find(pb_over(b.p, b.len), 3, PB_BYTES, &f));
	bytes_free(&b);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(every_cut);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(finding);
	return cmocka_run_group_tests_name("pb", tests, NULL, NULL);
}
