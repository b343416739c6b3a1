/*
 * tests/unit/test_project_hostile.c - objects that are too much to read: refused with a cause, and named,
 * so that they are skipped alone (issue 10.9).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/project.h"
#include "msg.h"
#include "tests/unit/kubebytes.h"

/* Exactly as long as it is, so that the sanitizer sees a byte too many. */
static bool
run(struct projection *p, enum project_form form, const void *bytes, size_t len, struct projected *out)
{
	uint8_t *exact = obj_memdup(bytes, len);
	const bool ok = project(p, form, exact, len, 0, out);

	free(exact);
	return ok;
}

static struct bytes
identity(void)
{
	return kube_object("ObjectMeta", "{'name':'a','uid':'u','resourceVersion':'7'}");
}

static void
assert_named(struct projection *p, enum project_form form, const void *bytes, size_t len, const char *why)
{
	struct projected out;

	assert_false(run(p, form, bytes, len, &out));
	assert_string_equal(out.error, why);
	assert_string_equal(out.name, "a");
	assert_string_equal(out.uid, "u");
	assert_string_equal(out.rv, "7");
	assert_int_equal(out.nvalues, 0);
}

/* {"metadata":{<hostile>,"name":...}}: the server sends keys in order, labels before the name. */
static void
assert_named_json(enum kind k, const char *hostile, const char *why)
{
	struct projection *p = projection_new(k, "v1", ROLE_BIT(TEST_KUBE_1));
	char *text = obj_alloc(strlen(hostile) + 128);

	sprintf(text, "{\"metadata\":{%s,\"name\":\"a\",\"resourceVersion\":\"7\",\"uid\":\"u\"}}", hostile);
	assert_named(p, PROJECT_JSON, text, strlen(text), why);
	free(text);
	projection_free(&p);
}

static char *
many_labels(void)
{
	char *text = obj_alloc(15001 * 20), *at = text;

	at += sprintf(at, "\"labels\":{\"l0\":\"\"");
	for (int i = 1; i <= 15000; i++)
		at += sprintf(at, ",\"l%d\":\"\"", i);
	sprintf(at, "}");
	return text;
}

static void
an_unreadable_object_is_named_whatever_stands_before_its_name(void **state)
{
	static const char entries[] = "metadata.labels: more entries than a message may have";
	char *labels = many_labels(), deep[4096];
	struct projection *p = projection_new(KIND_NODE, "v1", ROLE_BIT(TEST_KUBE_1));
	struct bytes b = { 0 }, m = { 0 }, e = { 0 };

	(void)state;
	assert_named_json(KIND_NODE, labels, entries);
	assert_named_json(KIND_WIDGET, labels, entries);
	free(labels);
	assert_named_json(KIND_NODE, "\"annotations\":{\"x\":[]}", "metadata.annotations[x]: not a string");
	assert_named_json(KIND_WIDGET, "\"finalizers\":{}", "metadata.finalizers: not a list");
	assert_named_json(KIND_WIDGET, "\"generation\":20000000000000000000",
	    "metadata.generation: not an integer of 64 bits");
	memcpy(deep, "\"labels\":", 9);
	memset(deep + 9, '[', 1500);
	memset(deep + 1509, ']', 1500);
	deep[3009] = '\0';
	assert_named_json(KIND_WIDGET, deep, "metadata.labels: not an object");

	for (int i = 0; i < 15001; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		bytes_text(&e, 1, key);
		bytes_message(&m, 11, &e);
	}
	bytes_text(&m, 1, "a");
	bytes_text(&m, 5, "u");
	bytes_text(&m, 6, "7");
	bytes_message(&b, 1, &m);
	assert_named(p, PROJECT_PROTO, b.p, b.len, entries);
	b = kube_wrap("v1", "Node", &b);
	assert_named(p, PROJECT_PROTO, b.p, b.len, entries);
	bytes_free(&b);
	projection_free(&p);
}

/* A subtree that is kept as text is read to some depth. */
static void
a_subtree_that_is_too_deep(void **state)
{
	struct projection *p = projection_new(KIND_WIDGET, "v1", ROLE_BIT(TEST_KUBE_1));
	const char *head = json_text("{'metadata':{'name':'a','resourceVersion':'7','uid':'u'},'spec':{'x':");
	char *text = obj_alloc(20100);
	size_t n = (size_t)sprintf(text, "%s", head);

	(void)state;
	memset(text + n, '[', 9000);
	memset(text + n + 9000, ']', 9000);
	memcpy(text + n + 18000, "}}", 3);
	struct projected out;
	assert_false(run(p, PROJECT_JSON, text, strlen(text), &out));
	assert_non_null(strstr(out.error, "spec: "));
	assert_string_equal(out.name, "a");
	assert_string_equal(out.rv, "7");
	free(text);
	projection_free(&p);
}

/* What would not fit a frame is refused, whatever makes it large: entries or bytes. */
static void
too_large(void **state)
{
	struct projection *p = projection_new(KIND_NODE, "v1", ROLE_BIT(TEST_KUBE_1));
	struct projected out;
	struct bytes b = { 0 }, m = identity(), e = { 0 };

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		bytes_text(&e, 1, key);
		bytes_message(&m, 11, &e);
	}
	bytes_message(&b, 1, &m);
	assert_false(run(p, PROJECT_PROTO, b.p, b.len, &out));
	assert_string_equal(out.error, "metadata.labels: more entries than a message may have");
	bytes_free(&b);

	char *text = obj_alloc(1000 * 1000);
	memset(text, 'x', 1000 * 1000);
	m = identity();
	bytes_text(&e, 1, "a");
	bytes_field(&e, 2, text, 1000 * 1000);
	bytes_message(&m, 12, &e);
	bytes_message(&b, 1, &m);
	assert_false(run(p, PROJECT_PROTO, b.p, b.len, &out));
	assert_non_null(strstr(out.error, "what test-kube-1 reads of it is 1000"));
	free(text);
	bytes_free(&b);
	projection_free(&p);
}

/*
 * A body of ten thousand entries still goes through a frame's scan, and a large object leaves no
 * large buffer.
 */
static void
many_entries(void **state)
{
	struct projection *p = projection_new(KIND_NODE, "v1", ROLE_BIT(TEST_KUBE_1));
	struct projected out;
	struct bytes b = { 0 }, m = identity();
	struct msg_arena arena;
	union msg_body body;

	(void)state;
	msg_arena_init(&arena);
	for (int i = 0; i < 29990; i++)
		bytes_text(&m, 14, "f");
	bytes_message(&b, 1, &m);
	assert_true(run(p, PROJECT_PROTO, b.p, b.len, &out));
	assert_true(msg_unpack_value(MSG_NODE, out.values[0].bytes, out.values[0].len, &arena, &body));
	msg_arena_free(&arena);
	bytes_free(&b);
	projection_free(&p);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unreadable_object_is_named_whatever_stands_before_its_name),
		cmocka_unit_test(a_subtree_that_is_too_deep), cmocka_unit_test(too_large),
		cmocka_unit_test(many_entries),
	};

	return cmocka_run_group_tests_name("project_hostile", tests, NULL, NULL);
}
