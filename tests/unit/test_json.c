/* tests/unit/test_json.c - the JSON writer: commas, escapes, and a buffer of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "json.h"
#include "obj.h"

static size_t
example(char *buf, size_t size)
{
	struct json j = { .buf = buf, .size = size };

	json_open(&j, NULL, '{');
	json_int(&j, "least", INT64_MIN);
	json_int(&j, "most", INT64_MAX);
	json_int(&j, "none", 0);
	json_bool(&j, "yes", true);
	json_open(&j, "list", '[');
	json_str(&j, NULL, "a\"b\\c\n\x7f\xc3\xc3\xa9");
	json_str(&j, NULL, NULL);
	json_open(&j, NULL, '{');
	json_close(&j, '}');
	json_open(&j, NULL, '[');
	json_int(&j, NULL, -7);
	json_close(&j, ']');
	json_close(&j, ']');
	json_bool(&j, "no", false);
	json_close(&j, '}');
	return json_end(&j);
}

static const char want[] =
    "{\"least\":-9223372036854775808,\"most\":9223372036854775807,\"none\":0,\"yes\":true,"
    "\"list\":[\"a\\\"b\\\\c\\n\\u007f\\ufffd\xc3\xa9\",null,{},[-7]],\"no\":false}";

static void
everything_in_its_place(void **state)
{
	char buf[512];

	(void)state;
	assert_int_equal(example(buf, sizeof(buf)), strlen(want));
	assert_string_equal(buf, want);
}

/* On the heap, exactly as large: a write past the end is seen by the sanitizer. */
static void
what_does_not_fit_is_reported(void **state)
{
	(void)state;
	for (size_t size = 0; size <= sizeof(want); size++) {
		char *const buf = obj_alloc(size == 0 ? 1 : size);

		assert_int_equal(example(buf, size), size < sizeof(want) ? 0 : strlen(want));
		free(buf);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_in_its_place),
		cmocka_unit_test(what_does_not_fit_is_reported),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
