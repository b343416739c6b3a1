/* tests/unit/test_provider_reply.c - a provider's answer: limits, types, the path in an error (A7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/provider/reply.h"
#include "obj.h"

/* Every kind of member that a provider's answer has. */
static void
read_all(struct reply *r)
{
	const struct reply_at root = reply_root(r);
	struct reply_at data, vm, tags, ip, public;
	const char *text;
	int64_t n;
	double f;
	bool b;

	reply_i64(&root, "page", REPLY_OPTIONAL, &n);
	reply_list(&root, "data", REPLY_REQUIRED, &data);
	for (size_t i = 0; reply_element(&data, i, &vm); i++) {
		reply_i64(&vm, "id", REPLY_REQUIRED, &n);
		reply_text(&vm, "name", REPLY_OPTIONAL, &text);
		reply_flag(&vm, "up", REPLY_OPTIONAL, &b);
		reply_f64(&vm, "price", REPLY_OPTIONAL, &f);
		reply_time(&vm, "created", REPLY_OPTIONAL, &n);
		reply_list(&vm, "tags", REPLY_OPTIONAL, &tags);
		for (size_t t = 0; reply_text_element(&tags, t, &text); t++)
			continue;
		reply_object(&vm, "ipv4", REPLY_OPTIONAL, &ip);
		reply_list(&ip, "public", REPLY_OPTIONAL, &public);
		for (size_t t = 0; reply_text_element(&public, t, &text); t++)
			continue;
	}
}

static const struct row {
	const char	*name, *body, *error;
} rows[] = {
	{ "A7 nothing wrong", "{\"data\":[{\"id\":1,\"name\":\"a\",\"up\":true,\"price\":1.5,\"tags\":[\"x\"]}],\"page\":1}", "" },
	{ "A7 null is absent", "{\"data\":[{\"id\":1,\"name\":null,\"tags\":null,\"ipv4\":null}]}", "" },
	{ "A7 unknown members are skipped", "{\"data\":[],\"links\":{\"a\":[{}]}}", "" },
	{ "A7 an integer is a price", "{\"data\":[{\"id\":1,\"price\":2}]}", "" },
	{ "A7 a wrong type names the element", "{\"data\":[{\"id\":1},{\"id\":\"2\"}]}", "data[1].id: not a number" },
	{ "A7 a fraction", "{\"data\":[{\"id\":1.5}]}", "data[0].id: not a whole number" },
	{ "A7 missing", "{\"data\":[{}]}", "data[0].id: missing" },
	{ "A7 null where something must be", "{\"data\":[{\"id\":null}]}", "data[0].id: null" },
	{ "A7 no list", "{\"data\":{}}", "data: not a list" },
	{ "A7 an element that is none", "{\"data\":[7]}", "data[0]: not an object" },
	{ "A7 inside an inner list", "{\"data\":[{\"id\":1,\"ipv4\":{\"public\":[\"a\",9]}}]}", "data[0].ipv4.public[1]: not a text" },
	{ "A7 no object inside", "{\"data\":[{\"id\":1,\"ipv4\":[]}]}", "data[0].ipv4: not an object" },
	{ "A7 no flag", "{\"data\":[{\"id\":1,\"up\":\"yes\"}]}", "data[0].up: not true or false" },
	{ "A7 no time", "{\"data\":[{\"id\":1,\"created\":\"yesterday\"}]}", "data[0].created: not a time" },
	{ "A7 the first error stays", "{\"data\":[{\"id\":true,\"name\":1}]}", "data[0].id: not a number" },
	{ "A7 not JSON", "<html>token=hunter2</html>", "not JSON at line 1, column 1" },
	{ "A7 cut", "{\"data\":[{\"id\":", "not JSON at line 1, column 15" },
	{ "A7 empty", "", "not JSON at line 1, column 0" },
	{ "A7 a list instead of an object", "[]", "not a JSON object" },
	{ "A7 a member twice", "{\"data\":[],\"data\":[]}", "not JSON at line 1, column 17" },
	{ "A7 bytes that are not UTF-8", "{\"data\":[{\"id\":1,\"name\":\"\xff\"}]}", "not JSON at line 1, column 25" },
	{ "A7 NUL in a text", "{\"data\":[{\"id\":1,\"name\":\"\\u0000\"}]}", "not JSON at line 1, column 32" },
	{ "A7 a number that no int64 holds", "{\"data\":[{\"id\":99999999999999999999}]}", "not JSON at line 1, column 35" },
};

static void
check_row(void **state)
{
	const struct row *const row = *state;
	struct reply r;

	if (reply_parse(&r, row->body, strlen(row->body)))
		read_all(&r);
	assert_string_equal(r.error, row->error);
	reply_free(&r, true);
}

static void
a7_depth_and_size_have_limits(void **state)
{
	static char body[REPLY_BYTES_MAX + 1];
	struct reply r;

	(void)state;
	for (size_t depth = REPLY_DEPTH_MAX; depth <= REPLY_DEPTH_MAX + 1; depth++) {
		char *p = body;

		p = stpcpy(p, "{\"data\":");
		for (size_t i = 1; i < depth; i++)
			*p++ = '[';
		p = stpcpy(p, "\"]]{[\\\"[\"");	/* brackets in a text are not depth */
		for (size_t i = 1; i < depth; i++)
			*p++ = ']';
		*p++ = '}';
		assert_int_equal(reply_parse(&r, body, (size_t)(p - body)), depth == REPLY_DEPTH_MAX);
		assert_string_equal(r.error, depth == REPLY_DEPTH_MAX ? "" : "more than 64 levels deep");
		reply_free(&r, false);
	}
	memset(body, ' ', sizeof(body));
	memcpy(body, "{}", 2);
	assert_true(reply_parse(&r, body, sizeof(body) - 1));
	reply_free(&r, false);
	assert_false(reply_parse(&r, body, sizeof(body)));
	assert_string_equal(r.error, "the body is larger than 16 MiB");
	reply_free(&r, false);
}

static void
a_callers_own_check_names_the_path(void **state)
{
	static const char body[] = "{\"data\":[{\"id\":1}]}";
	struct reply_at data, vm;
	struct reply r;

	(void)state;
	assert_true(reply_parse(&r, body, sizeof(body) - 1));
	const struct reply_at root = reply_root(&r);
	assert_true(reply_list(&root, "data", REPLY_REQUIRED, &data));
	assert_true(reply_element(&data, 0, &vm));
	reply_fail(&vm, "status", "unknown value");
	assert_string_equal(r.error, "data[0].status: unknown value");
	reply_free(&r, false);
}

static const struct time_row {
	const char	*text;
	int64_t		 us;		/* 0: refused */
} times[] = {
	{ "2026-05-01T10:00:00", INT64_C(1777629600000000) },
	{ "2026-05-01 10:00:00", INT64_C(1777629600000000) },
	{ "2026-05-01T10:00:00Z", INT64_C(1777629600000000) },
	{ "2026-05-01T10:00:00.250", INT64_C(1777629600250000) },
	{ "2026-05-01 10:00:00.250Z", INT64_C(1777629600250000) },
	{ "2026-05-01T12:00:00+02:00", INT64_C(1777629600000000) },
	{ "2026-05-01T10:00:00.123456789+00:00", INT64_C(1777629600123456) },
	{ "2026-05-01", 0 }, { "2026-02-30T10:00:00", 0 }, { "2026-05-01T10:00:00ZZ", 0 }, { "", 0 },
	{ "2026-05-01_10:00:00", 0 }, { "2026-05-01T10:00:00.00000000000000000000000Z", 0 },
};

static void
times_with_and_without_a_zone(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(times); i++) {
		int64_t us = 0;

		const bool taken = reply_parse_time(times[i].text, strlen(times[i].text), &us);

		assert_int_equal(taken, times[i].us != 0);
		assert_int_equal(us, times[i].us);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 3] = {
		cmocka_unit_test(a7_depth_and_size_have_limits),
		cmocka_unit_test(a_callers_own_check_names_the_path),
		cmocka_unit_test(times_with_and_without_a_zone),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[3 + i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("reply", tests, NULL, NULL);
}
