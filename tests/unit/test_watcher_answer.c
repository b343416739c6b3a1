/* tests/unit/test_watcher_answer.c - what an answer is, by its own bytes, JSON and protobuf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors/kube-watcher/answer.h"
#include "obj.h"

/* runtime.Unknown {1: TypeMeta {1: apiVersion, 2: kind}, 2: raw}. */
#define WRAPPED_NODE	"k8s\0\x0a\x0a\x0a\x02v1\x12\x04Node\x12\x02\x0a\x00"
#define WRAPPED_STATUS	"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Status\x12\x00"
#define WRAPPED_NOTHING	"k8s\0\x12\x02\x0a\x00"
#define WRAPPED_HALF	"k8s\0\x0a\x0a\x0a\x02v1\x12\x04No"

static const struct row {
	const char		*name, *body;
	size_t			 len;
	enum project_form	 form;
	enum plan_body		 want;
	const char		*rv;
} rows[] = {
#define BODY(text)	.body = (text), .len = sizeof(text) - 1
	{ "an object", BODY("{\"kind\":\"Node\",\"metadata\":{\"resourceVersion\":\"7\"}}"),
	    PROJECT_JSON, BODY_OBJECT, "7" },
	{ "its kind last",
	    BODY("{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"12\"}, \"kind\" : \"Pod\"}\n"),
	    PROJECT_JSON, BODY_OBJECT, "12" },
	{ "a Status", BODY("{\"kind\":\"Status\",\"metadata\":{}}"), PROJECT_JSON, BODY_STATUS, "" },
	{ "a kind deeper down does not count", BODY("{\"details\":{\"kind\":\"Status\"}}"), PROJECT_JSON, BODY_NONE, "" },
	{ "a kind that is no text", BODY("{\"kind\":7}"), PROJECT_JSON, BODY_NONE, "" },
	{ "half an object", BODY("{\"kind\":\"Node\",\"metadata\":{\"resourceVersion\":\"7\"}"),
	    PROJECT_JSON, BODY_NONE, "7" },
	{ "something behind it", BODY("{\"kind\":\"Node\"} x"), PROJECT_JSON, BODY_NONE, "" },
	{ "a list", BODY("[{\"kind\":\"Node\"}]"), PROJECT_JSON, BODY_NONE, "" },
	{ "a text of some proxy", BODY("<html>OK</html>"), PROJECT_JSON, BODY_NONE, "" },
	{ "nothing", BODY(""), PROJECT_JSON, BODY_NONE, "" },
	{ "a version that is no text", BODY("{\"kind\":\"Node\",\"metadata\":{\"resourceVersion\":7}}"),
	    PROJECT_JSON, BODY_OBJECT, "" },
	{ "a version too long to be one",
	    BODY("{\"kind\":\"Node\",\"metadata\":{\"resourceVersion\":\"1234567890\"}}"),
	    PROJECT_JSON, BODY_OBJECT, "" },
	{ "protobuf: an object", BODY(WRAPPED_NODE), PROJECT_PROTO, BODY_OBJECT, "" },
	{ "protobuf: a Status", BODY(WRAPPED_STATUS), PROJECT_PROTO, BODY_STATUS, "" },
	{ "protobuf: it does not name its kind", BODY(WRAPPED_NOTHING), PROJECT_PROTO, BODY_NONE, "" },
	{ "protobuf: half of it", BODY(WRAPPED_HALF), PROJECT_PROTO, BODY_NONE, "" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	char rv[8];
	/* Its own memory: a byte read beyond the end is found by ASan. */
	char *const body = obj_memdup(r->body, r->len);

	assert_int_equal(answer_form(body, r->len), r->form);
	assert_int_equal(answer_body(body, r->len), r->want);
	answer_rv(body, r->len, rv, sizeof(rv));
	assert_string_equal(rv, r->rv);
	free(body);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("watcher answer", tests, NULL, NULL);
}
