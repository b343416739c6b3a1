/* actors/kube-watcher/answer.c - the kind and the resourceVersion of an answer, found in place. */
#include "answer.h"

#include <string.h>

#include "kube/frames.h"
#include "kube/json_span.h"

static struct json_span kind_of_json(struct json_span);
static struct json_span kind_of_proto(const void *, size_t);

enum project_form
answer_form(const void *body, size_t len)
{
	return frames_wrapped(body, len) ? PROJECT_PROTO : PROJECT_JSON;
}

enum plan_body
answer_body(const void *body, size_t len)
{
	const struct json_span kind = answer_form(body, len) == PROJECT_PROTO
	    ? kind_of_proto(body, len) : kind_of_json((struct json_span){ body, len });

	if (kind.len == 0)
		return BODY_NONE;
	return span_is(kind.p, kind.len, "Status") ? BODY_STATUS : BODY_OBJECT;
}

void
answer_rv(const void *body, size_t len, char *rv, size_t size)
{
	struct json_span meta, value, text;

	rv[0] = '\0';
	if (!json_span_find((struct json_span){ body, len }, "metadata", &meta)
	    || !json_span_find(meta, "resourceVersion", &value) || !json_span_text(value, &text)
	    || text.len >= size || memchr(text.p, '\0', text.len) != NULL)
		return;
	memcpy(rv, text.p, text.len);
	rv[text.len] = '\0';
}

/* To the last bracket: half an object is none. */
static struct json_span
kind_of_json(struct json_span object)
{
	struct json_members m = json_members_of(object);
	struct json_span kind = { 0 };

	for (struct json_span key, value; json_members_next(&m, &key, &value);) {
		if (kind.len == 0 && span_is(key.p, key.len, "kind"))
			json_span_text(value, &kind);
	}
	return m.whole ? kind : (struct json_span){ 0 };
}

static struct json_span
kind_of_proto(const void *body, size_t len)
{
	struct frames_object o;

	if (frames_unwrap(body, len, &o) != NULL)
		return (struct json_span){ 0 };
	return (struct json_span){ .p = o.kind, .len = o.kind_len };
}
