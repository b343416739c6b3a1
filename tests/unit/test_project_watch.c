/* tests/unit/test_project_watch.c - watch events opened, bookmarks read, from both encodings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/project.h"
#include "tests/unit/kubebytes.h"

static const struct row {
	const char	*name, *line;
	int		 type;		/* -1: not an event */
	const char	*wanted;	/* the object, or the error */
} rows[] = {
	{ "added", "{'type':'ADDED','object':{'a':1}}", WATCH_ADDED, "{'a':1}" },
	{ "modified", "{'type':'MODIFIED','object':{'a':'}\\'{'}}", WATCH_MODIFIED, "{'a':'}\\'{'}" },
	{ "deleted", " { 'type' : 'DELETED' , 'object' : { } } \r", WATCH_DELETED, "{ }" },
	{ "bookmark, the object first", "{'object':{'x':[{}]},'type':'BOOKMARK'}", WATCH_BOOKMARK, "{'x':[{}]}" },
	{ "error", "{'type':'ERROR','object':{'kind':'Status'}}", WATCH_ERROR, "{'kind':'Status'}" },
	{ "a type of tomorrow", "{'type':'MOVED','object':{}}", WATCH_UNKNOWN, "{}" },
	{ "a member of tomorrow", "{'type':'ADDED','object':{},'next':[1,'}'],'n':-1.5}", WATCH_ADDED, "{}" },
	{ "the first of two", "{'type':'ADDED','type':'DELETED','object':{'a':1},'object':{}}", WATCH_ADDED, "{'a':1}" },
	{ "not an object", "[]", -1, "not a JSON object" },
	{ "nothing", "", -1, "not a JSON object" },
	{ "cut", "{'type':'ADDED','object':{'a':1}", -1, "not a JSON object" },
	{ "two", "{'type':'ADDED','object':{}}{}", -1, "not a JSON object" },
	{ "no type", "{'object':{}}", -1, "not a watch event: it has no type or no object" },
	{ "no object", "{'type':'ADDED'}", -1, "not a watch event: it has no type or no object" },
	{ "a type that is none", "{'type':5,'object':{}}", -1, "a watch event whose type is no plain text" },
	{ "a Status in place of an event", "{'kind':'Status','code':410}", -1, "not a watch event: it has no type or no object" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	const char *line = json_text(r->line), *wanted = json_text(r->wanted);
	const size_t len = strlen(line);
	char *exact = obj_memdup(line, len);
	struct watch_event e;

	const char *const wrong = watch_event_open(PROJECT_JSON, exact, len, 10, &e);
	assert_int_equal(wrong == NULL, r->type >= 0);
	if (wrong == NULL) {
		assert_int_equal(e.type, r->type);
		assert_int_equal(e.len, strlen(wanted));
		assert_memory_equal(e.object, wanted, e.len);
		assert_ptr_equal((const char *)e.object + e.len + e.padding, exact + len + 10);
	} else {
		assert_string_equal(wrong, r->wanted);
	}
	free(exact);
}

static void
protobuf_events(void **state)
{
	static const char *const types[] = { "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR",
	    "MOVED" };
	struct watch_event e;

	(void)state;
	for (size_t i = 0; i < NITEMS(types); i++) {
		struct bytes node = kube_object("Node", "{'metadata':{'name':'a'}}");
		struct bytes object = kube_wrap("v1", "Node", &node);
		struct bytes copy = { 0 };

		bytes_add(&copy, object.p, object.len);
		struct bytes event = kube_event(types[i], &object);
		assert_null(watch_event_open(PROJECT_PROTO, event.p, event.len, 0, &e));
		assert_int_equal(e.type, i);
		assert_int_equal(e.len, copy.len);
		assert_memory_equal(e.object, copy.p, e.len);
		/* a byte short it is none */
		assert_string_equal(watch_event_open(PROJECT_PROTO, event.p, event.len - 1, 0, &e),
		    "declares more bytes than it has");
		bytes_free(&event);
		bytes_free(&copy);
	}
	assert_string_equal(watch_event_open(PROJECT_PROTO, "", 0, 0, &e),
	    "not a watch event: it has no type or no object");
}

static const struct bookmark {
	const char	*name, *object, *rv;	/* rv NULL: none */
	bool		 initial_end;
} bookmarks[] = {
	{ "a version", "{'kind':'Node','metadata':{'resourceVersion':'12746','creationTimestamp':null},"
	  "'spec':{}}",
	  "12746", false },
	{ "the end of the initial events", "{'metadata':{'resourceVersion':'5',"
	  "'annotations':{'k8s.io/initial-events-end':'true'}}}",
	  "5", true },
	{ "something else than true", "{'metadata':{'resourceVersion':'5',"
	  "'annotations':{'k8s.io/initial-events-end':'false'}}}",
	  "5", false },
	{ "other annotations", "{'metadata':{'annotations':{'a':'true','k8s.io/initial-events':'true'},"
	  "'resourceVersion':'5'}}",
	  "5", false },
	{ "no version", "{'metadata':{'name':'a'}}", NULL, false },
	{ "an empty one", "{'metadata':{'resourceVersion':''}}", NULL, false },
	{ "one that is too long", "{'metadata':{'resourceVersion':'12345678901234567890'}}", NULL, false },
	{ "no metadata", "{}", NULL, false },
};

static void
check_bookmark(void **state)
{
	const struct bookmark *b = *state;
	const char *json = json_text(b->object);
	struct bytes object = kube_object("Node", b->object);
	bool end;

	for (int form = 0; form <= 2; form++) {		/* JSON, protobuf, protobuf in its wrapping */
		char rv[20] = "";

		if (form == 2)
			object = kube_wrap("v1", "Node", &object);
		const bool ok = form == 0
		    ? watch_bookmark(PROJECT_JSON, json, strlen(json), rv, sizeof(rv), &end)
		    : watch_bookmark(PROJECT_PROTO, object.p, object.len, rv, sizeof(rv), &end);
		assert_int_equal(ok, b->rv != NULL);
		if (ok) {
			assert_string_equal(rv, b->rv);
			assert_int_equal(end, b->initial_end);
		}
	}
	bytes_free(&object);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(bookmarks) + 1];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(bookmarks); i++)
		tests[n++] = (struct CMUnitTest){ bookmarks[i].name, check_bookmark, NULL, NULL,
			(void *)(uintptr_t)&bookmarks[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(protobuf_events);
	return cmocka_run_group_tests_name("watch events", tests, NULL, NULL);
}
