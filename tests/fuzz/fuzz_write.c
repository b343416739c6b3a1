/*
 * tests/fuzz/fuzz_write.c - any bytes as the body of a WRITE, through the stages of kube-watcher:
 * check, admission, request or Event.
 *
 * The first byte is the operation; then come ten lines (group, version, resource, namespace, name,
 * subresource, uid, rv, labels, fields); the rest is the body. Rule: no input ends the process; what is
 * refused is refused with a reason; what is accepted has a plain path and every precondition in the
 * place where the server enforces it.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "actors/kube-watcher/event_object.h"
#include "actors/kube-watcher/plan.h"
#include "actors/kube-watcher/write_check.h"
#include "obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NOW_MS = 1000000, NOW_US = 1700000000 };
#define SENDER	ROLE_TEST_KUBE_1

static struct body_write
read_write(const uint8_t *data, size_t size)
{
	struct body_write w = { .op = data[0] % (OP_MAX + 1), .deadline_ms = NOW_MS + 1000 };
	struct wire_str *const lines[] = { &w.group, &w.version, &w.resource, &w.ns, &w.name, &w.subresource,
		&w.uid, &w.rv, &w.labels, &w.fields };
	const char *at = (const char *)data + 1, *const end = (const char *)data + size;

	for (size_t i = 0; i < NITEMS(lines); i++) {
		const char *const stop = at == end ? NULL : memchr(at, '\n', (size_t)(end - at));

		*lines[i] = (struct wire_str){ .p = at, .len = (uint32_t)((stop == NULL ? end : stop) - at) };
		at = stop == NULL ? end : stop + 1;
	}
	w.body = (struct wire_str){ .p = at, .len = (uint32_t)(end - at) };
	return w;
}

static void
check_path(const char *path)
{
	MUST(strncmp(path, "/api/", 5) == 0 || strncmp(path, "/apis/", 6) == 0);
	MUST(strstr(path, "//") == NULL && strstr(path, "/../") == NULL && strstr(path, "/./") == NULL);
	for (const char *p = path; *p != '\0'; p++)
		MUST(*p > ' ' && *p <= '~');
}

static void
check_text(const json_t *object, const char *key, const char *want)
{
	const char *const has = json_string_value(json_object_get(object, key));

	MUST(want[0] == '\0' || (has != NULL && strcmp(has, want) == 0));
}

static json_t *
parse(const struct call_http *http)
{
	json_t *const body = json_loadb(http->body, http->body_len, 0, NULL);

	MUST(body != NULL && http->body_len == strlen(http->body));
	return body;
}

static void
check_preconditions(const struct call_params *a, const json_t *body)
{
	const json_t *where = json_object_get(body, "metadata");

	if (a->op == OP_DELETE || a->op == OP_EVICT)
		where = json_object_get(
		    a->op == OP_DELETE ? body : json_object_get(body, "deleteOptions"), "preconditions");
	if (a->op != OP_JSON) {
		check_text(where, "uid", a->uid);
		check_text(where, "resourceVersion", a->rv);
		return;
	}
	/* A JSON patch: the last operations set what the server compares. */
	const size_t n = json_array_size(body), after = a->rv[0] != '\0';
	MUST(n >= (a->uid[0] != '\0') + after);
	if (a->rv[0] != '\0')
		check_text(json_array_get(body, n - 1), "value", a->rv);
	if (a->uid[0] != '\0')
		check_text(json_array_get(body, n - 1 - after), "value", a->uid);
}

static void
try_call(const struct call_params *a)
{
	struct call_http http;
	const char *const wrong = call_make(a, &http);

	if (wrong != NULL) {
		MUST(wrong[0] != '\0');
	} else {
		check_path(http.path);
		if (http.body != NULL) {
			json_t *const body = parse(&http);

			check_preconditions(a, body);
			json_decref(body);
		}
	}
	call_free(&http);
}

static void
try_event(const struct call_params *a)
{
	struct event_object e = { .body = NULL };
	struct call_http http;
	json_t *fields;
	const char *const wrong = event_parse(a, &fields);

	if (wrong != NULL) {
		MUST(wrong[0] != '\0' && fields == NULL);
		return;
	}
	for (int64_t count = 0; count <= 2; count += 2) {
		event_build(&e, a, fields, "instance", 0x0123456789abcdef, NOW_US);
		event_request(&e, count, NOW_US, &http);
		check_path(http.path);
		json_t *const body = parse(&http);
		const json_t *const regarding = json_object_get(body, "regarding");
		MUST(count > 0 || regarding != NULL);
		check_text(regarding, "name", count > 0 ? "" : a->name);
		check_text(regarding, "namespace", count > 0 ? "" : a->ns);
		check_text(regarding, "uid", count > 0 ? "" : a->uid);
		json_decref(body);
		call_free(&http);
	}
	json_decref(fields);
	json_decref(e.body);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct plan plan;
	const struct lease lease = { .elect = true, .renew_ms = 10000, .until_ms = NOW_MS + 9000 };
	struct call_params a;

	if (size == 0)
		return 0;
	/* Exactly as long as it is: a read beyond it is seen. */
	uint8_t *const bytes = obj_memdup(data, size);
	const struct body_write w = read_write(bytes, size);
	const struct write_fault fault = write_check(&w);

	if (fault.field != NULL) {
		MUST(fault.field[0] != '\0' && fault.why[0] != '\0');
		free(bytes);
		return 0;
	}
	char *const texts = call_copy(&a, SENDER, &w);
	plan_init(&plan, 0, 1, 1, NOW_MS);
	const struct plan_verdict v = plan_admit(&plan, &(struct plan_write){
		.sender = SENDER, .op = a.op, .group = a.group, .resource = a.resource,
		.subresource = a.subresource, .object = 1, .deadline_ms = w.deadline_ms,
	}, &lease, NOW_MS);
	MUST(v.admitted || v.why[0] != '\0');
	if (a.op == OP_EVENT)
		try_event(&a);
	else
		try_call(&a);
	free(texts);
	free(bytes);
	return 0;
}
