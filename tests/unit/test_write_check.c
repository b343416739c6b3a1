/*
 * tests/unit/test_write_check.c - which WRITEs are well formed: each operation with what it needs, each
 * field with bytes that could end the process or reach another object (issue 10.3).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/kube-watcher/call.h"
#include "actors/kube-watcher/event_object.h"
#include "actors/kube-watcher/write_check.h"
#include "obj.h"

#define STR(s)		{ .p = (s), .len = sizeof(s) - 1 }
#define NODE		.resource = STR("nodes"), .name = STR("n1")
#define EVENT		.op = OP_EVENT, NODE
#define X16		"xxxxxxxxxxxxxxxx"
#define X64		X16 X16 X16 X16
#define X256		X64 X64 X64 X64

static const struct row {
	const char		*name;
	struct body_write	 write;
	const char		*field;		/* NULL: fine */
} rows[] = {
	/* What each operation needs */
	{ "create", { .op = OP_CREATE, NODE }, NULL },
	{ "create with a uid", { .op = OP_CREATE, NODE, .uid = STR("u") }, "uid" },
	{ "create with a version", { .op = OP_CREATE, NODE, .rv = STR("1") }, "rv" },
	{ "create without a name", { .op = OP_CREATE, .resource = STR("nodes") }, "name" },
	{ "create of a subresource", { .op = OP_CREATE, NODE, .subresource = STR("eviction") }, "subresource" },
	{ "update", { .op = OP_UPDATE, NODE, .rv = STR("1") }, NULL },
	{ "update without a version", { .op = OP_UPDATE, NODE }, "rv" },
	{ "merge of a status", { .op = OP_MERGE, NODE, .subresource = STR("status") }, NULL },
	{ "delete", { .op = OP_DELETE, NODE, .uid = STR("u") }, NULL },
	{ "delete without a uid", { .op = OP_DELETE, NODE }, "uid" },
	{ "evict", { .op = OP_EVICT, NODE, .uid = STR("u") }, NULL },
	{ "evict without a uid", { .op = OP_EVICT, NODE }, "uid" },
	{ "evict with a subresource", { .op = OP_EVICT, NODE, .uid = STR("u"), .subresource = STR("status") },
	    "subresource" },
	{ "get", { .op = OP_GET, NODE }, NULL },
	{ "get of nothing", { .op = OP_GET, .resource = STR("nodes") }, "name" },
	{ "list", { .op = OP_LIST, .resource = STR("nodes"), .labels = STR("a in (b,c)") }, NULL },
	{ "list of one", { .op = OP_LIST, NODE }, "name" },
	{ "list of a subresource", { .op = OP_LIST, .resource = STR("pods"), .subresource = STR("eviction") },
	    "subresource" },
	{ "a selector without a list", { .op = OP_GET, NODE, .fields = STR("a=b") }, "fields" },
	{ "event", { EVENT }, NULL },
	{ "event about a subresource", { EVENT, .subresource = STR("status") }, "subresource" },
	{ "no resource", { .op = OP_GET, .name = STR("n") }, "resource" },
	{ "no such operation", { .op = OP_MAX, NODE }, "op" },
	/* What each field may hold */
	{ "a namespace that is a path", { EVENT, .ns = STR("a/b") }, "namespace" },
	{ "a namespace too long for a label", { EVENT, .ns = STR(X64) }, "namespace" },
	{ "a namespace that ends with a hyphen", { EVENT, .ns = STR("a-") }, "namespace" },
	{ "a namespace with two hyphens", { EVENT, .ns = STR("a--b") }, NULL },
	{ "a namespace with a dot", { EVENT, .ns = STR("a.b") }, "namespace" },
	{ "a namespace with a NUL", { EVENT, .ns = STR("a\0b") }, "namespace" },
	{ "a name that is not UTF-8", { .op = OP_EVENT, .resource = STR("nodes"), .name = STR("n\xff") }, "name" },
	{ "a name with a NUL", { .op = OP_GET, .resource = STR("nodes"), .name = STR("n\0x") }, "name" },
	{ "a name that is a path", { .op = OP_GET, .resource = STR("nodes"), .name = STR("../pods") }, "name" },
	{ "a name that is one dot", { .op = OP_GET, .resource = STR("nodes"), .name = STR(".") }, "name" },
	{ "a name that is two dots", { .op = OP_GET, .resource = STR("nodes"), .name = STR("..") }, "name" },
	{ "a name that is escaped", { .op = OP_GET, .resource = STR("nodes"), .name = STR("a%2fb") }, "name" },
	{ "a name too long", { .op = OP_GET, .resource = STR("nodes"), .name = STR(X256) }, "name" },
	{ "a name with a colon", { .op = OP_GET, .resource = STR("clusterroles"), .name = STR("system:node") },
	    NULL },
	{ "a uid that is not UTF-8", { .op = OP_DELETE, NODE, .uid = STR("u\xff") }, "uid" },
	{ "a uid too long", { .op = OP_DELETE, NODE, .uid = STR(X64 "x") }, "uid" },
	{ "a uid with a NUL", { .op = OP_DELETE, NODE, .uid = STR("u\0") }, "uid" },
	{ "a version that is not text", { .op = OP_UPDATE, NODE, .rv = STR("\x80") }, "rv" },
	{ "a resource with its subresource", { .op = OP_GET, .resource = STR("pods/status"), .name = STR("p") },
	    "resource" },
	{ "a resource in capitals", { .op = OP_GET, .resource = STR("Nodes"), .name = STR("p") }, "resource" },
	{ "a group of labels", { .op = OP_GET, NODE, .group = STR("a-b.c1.dev") }, NULL },
	{ "a group that begins with a dot", { .op = OP_GET, NODE, .group = STR(".dev") }, "group" },
	{ "a group with an empty label", { .op = OP_GET, NODE, .group = STR("a..dev") }, "group" },
	{ "a group with a label that ends with a hyphen", { .op = OP_GET, NODE, .group = STR("a-.dev") }, "group" },
	{ "a group too long", { .op = OP_GET, NODE, .group = STR(X256) }, "group" },
	{ "a version that is a path", { .op = OP_GET, NODE, .version = STR("v1/nodes") }, "version" },
	{ "a subresource that is a path", { .op = OP_GET, NODE, .subresource = STR("status/x") }, "subresource" },
	{ "a selector that is not UTF-8", { .op = OP_LIST, .resource = STR("nodes"), .labels = STR("\xff") },
	    "labels" },
	{ "a selector with a line break", { .op = OP_LIST, .resource = STR("nodes"), .fields = STR("a\nb") },
	    "fields" },
	{ "a selector in another script", { .op = OP_LIST, .resource = STR("nodes"), .fields = STR("a=\xc3\xa4") },
	    NULL },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	const struct write_fault fault = write_check(&r->write);

	if (r->field == NULL) {
		assert_null(fault.field);
	} else {
		assert_non_null(fault.field);
		assert_string_equal(fault.field, r->field);
		assert_true(strlen(fault.why) > 0);
	}
}

/* The longest of everything makes an Event whose path and name are whole. */
static void
the_longest_fields_make_an_event(void **state)
{
	static const char body[] = "{\"type\":\"Normal\",\"reason\":\"R\",\"action\":\"A\",\"kind\":\"K\"}";
	char label[WRITE_LABEL_MAX], name[WRITE_NAME_MAX], token[WRITE_TOKEN_MAX];
	struct event_object e = { .body = NULL };
	struct call_http http;
	struct call_params a;
	json_t *fields;

	(void)state;
	memset(label, 'l', sizeof(label));
	memset(name, '.', sizeof(name));
	memset(token, 't', sizeof(token));
	const struct wire_str l = { .p = label, .len = sizeof(label) };
	const struct wire_str n = { .p = name, .len = sizeof(name) };
	const struct body_write w = { .op = OP_EVENT, .version = l, .resource = l, .ns = l, .name = n,
		.uid = { .p = token, .len = sizeof(token) }, .body = STR(body) };
	assert_null(write_check(&w).field);
	char *const texts = call_copy(&a, ROLE_TEST_KUBE_1, &w);
	assert_null(event_parse(&a, &fields));
	event_build(&e, &a, fields, "i", 1, 1);
	event_request(&e, 2, 1, &http);
	assert_non_null(strstr(http.path, "/events/.0000000000000001"));
	call_free(&http);
	json_decref(fields);
	json_decref(e.body);
	free(texts);
}

int
main(void)
{
	static const struct CMUnitTest whole[] = { cmocka_unit_test(the_longest_fields_make_an_event) };
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	const int failed = cmocka_run_group_tests_name("write_check", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("write_check, whole", whole, NULL, NULL);
}
