/* kube/frames.c - opens what comes over a watch: the event, the object in it, a bookmark. Pure, in place. */
#include "frames.h"

#include <string.h>

#include "json_span.h"
#include "obj.h"
#include "project.h"

#define INITIAL_END	"k8s.io/initial-events-end"

/* Field numbers of k8s.io/apimachinery's generated.proto. */
enum {
	UNKNOWN_TYPE_META = 1, UNKNOWN_RAW = 2, UNKNOWN_ENCODING = 3, UNKNOWN_CONTENT_TYPE = 4,
	TYPE_META_KIND = 2,
	EVENT_TYPE = 1, EVENT_OBJECT = 2, EXTENSION_RAW = 1,
	OBJECT_META = 1, META_RV = 6, META_ANNOTATIONS = 12, ENTRY_KEY = 1, ENTRY_VALUE = 2,
};

const char *const watch_type_names[WATCH_UNKNOWN + 1] = {
	[WATCH_ADDED] = "ADDED", [WATCH_MODIFIED] = "MODIFIED", [WATCH_DELETED] = "DELETED",
	[WATCH_BOOKMARK] = "BOOKMARK", [WATCH_ERROR] = "ERROR", [WATCH_UNKNOWN] = "unknown",
};

static const char *open_json(struct json_span, struct watch_event *);
static const char *open_pb(const void *, size_t, struct watch_event *);
static bool bookmark_json(struct json_span, struct json_span *, bool *);
static bool bookmark_pb(const void *, size_t, struct json_span *, bool *);
static bool entry_is(struct pb, const char *, const char *);
static enum watch_type type_of(const void *, size_t);

const char *
watch_event_open(enum project_form form, const void *bytes, size_t len, size_t padding,
    struct watch_event *out)
{
	*out = (struct watch_event){ .type = WATCH_UNKNOWN };
	const char *const wrong = form == PROJECT_JSON ? open_json((struct json_span){ bytes, len }, out)
						       : open_pb(bytes, len, out);
	if (wrong == NULL)
		out->padding =
		    (size_t)((const char *)bytes + len - ((const char *)out->object + out->len)) + padding;
	return wrong;
}

bool
watch_bookmark(enum project_form form, const void *object, size_t len, char *rv, size_t size,
    bool *initial_end)
{
	struct json_span text = { 0 };

	*initial_end = false;
	const bool ok = form == PROJECT_JSON
	    ? bookmark_json((struct json_span){ object, len }, &text, initial_end)
	    : bookmark_pb(object, len, &text, initial_end);
	if (!ok || text.len == 0 || text.len >= size)
		return false;
	memcpy(rv, text.p, text.len);
	rv[text.len] = '\0';
	return memchr(rv, '\0', text.len) == NULL;
}

bool
frames_wrapped(const void *bytes, size_t len)
{
	return len >= FRAMES_MAGIC_LEN && memcmp(bytes, FRAMES_MAGIC, FRAMES_MAGIC_LEN) == 0;
}

const char *
frames_unwrap(const void *bytes, size_t len, struct frames_object *out)
{
	*out = (struct frames_object){ .message = pb_over(bytes, len) };
	if (!frames_wrapped(bytes, len))
		return NULL;
	struct pb m = pb_over((const uint8_t *)bytes + FRAMES_MAGIC_LEN, len - FRAMES_MAGIC_LEN);
	struct pb_field kind;
	bool raw = false;

	for (struct pb_field f; pb_next(&m, &f);) {
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == UNKNOWN_RAW) {
			out->message = pb_inside(&f);
			raw = true;
		} else if (f.number == UNKNOWN_TYPE_META
		    && pb_find(pb_inside(&f), TYPE_META_KIND, PB_BYTES, &kind)) {
			out->kind = (const char *)kind.p;
			out->kind_len = kind.len;
		} else if ((f.number == UNKNOWN_ENCODING || f.number == UNKNOWN_CONTENT_TYPE) && f.len > 0) {
			return "inside the protobuf wrapping is something else than protobuf";
		}
	}
	return m.broken != NULL || raw ? m.broken : "the protobuf wrapping has nothing inside";
}

static const char *
open_json(struct json_span line, struct watch_event *out)
{
	struct json_members m = json_members_of(line);
	struct json_span type = { 0 };

	for (struct json_span key, value; json_members_next(&m, &key, &value);) {
		if (out->object == NULL && span_is(key.p, key.len, "object")) {
			out->object = value.p;
			out->len = value.len;
		} else if (type.p == NULL && span_is(key.p, key.len, "type")
		    && !json_span_text(value, &type)) {
			return "a watch event whose type is no plain text";
		}
	}
	if (!m.whole)
		return "not a JSON object";
	if (type.p == NULL || out->object == NULL)
		return "not a watch event: it has no type or no object";
	out->type = type_of(type.p, type.len);
	return NULL;
}

static const char *
open_pb(const void *bytes, size_t len, struct watch_event *out)
{
	struct frames_object o;
	struct pb_field type = { 0 }, raw;
	const char *wrong = frames_unwrap(bytes, len, &o);

	for (struct pb_field f; wrong == NULL && pb_next(&o.message, &f);) {
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == EVENT_TYPE && type.p == NULL)
			type = f;
		else if (f.number == EVENT_OBJECT && out->object == NULL
		    && pb_find(pb_inside(&f), EXTENSION_RAW, PB_BYTES, &raw)) {
			out->object = raw.p;
			out->len = raw.len;
		}
	}
	if (wrong != NULL || o.message.broken != NULL)
		return wrong != NULL ? wrong : o.message.broken;
	if (type.p == NULL || out->object == NULL)
		return "not a watch event: it has no type or no object";
	out->type = type_of(type.p, type.len);
	return NULL;
}

static bool
bookmark_json(struct json_span object, struct json_span *rv, bool *initial_end)
{
	struct json_span meta, value, annotations, text;

	if (!json_span_find(object, "metadata", &meta) || !json_span_find(meta, "resourceVersion", &value)
	    || !json_span_text(value, rv))
		return false;
	*initial_end = json_span_find(meta, "annotations", &annotations)
	    && json_span_find(annotations, INITIAL_END, &value)
	    && json_span_text(value, &text) && span_is(text.p, text.len, "true");
	return true;
}

static bool
bookmark_pb(const void *bytes, size_t len, struct json_span *rv, bool *initial_end)
{
	struct frames_object o;
	struct pb_field meta;

	if (frames_unwrap(bytes, len, &o) != NULL || !pb_find(o.message, OBJECT_META, PB_BYTES, &meta))
		return false;
	struct pb m = pb_inside(&meta);
	for (struct pb_field f; pb_next(&m, &f);) {
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == META_RV)
			*rv = (struct json_span){ (const char *)f.p, f.len };
		else if (f.number == META_ANNOTATIONS && entry_is(pb_inside(&f), INITIAL_END, "true"))
			*initial_end = true;
	}
	return m.broken == NULL;
}

static bool
entry_is(struct pb entry, const char *key, const char *value)
{
	struct pb_field k, v;

	return pb_find(entry, ENTRY_KEY, PB_BYTES, &k) && span_is(k.p, k.len, key)
	    && pb_find(entry, ENTRY_VALUE, PB_BYTES, &v) && span_is(v.p, v.len, value);
}

/* A type of a later server is UNKNOWN: it is skipped, and is no error. */
static enum watch_type
type_of(const void *p, size_t len)
{
	unsigned t = 0;

	while (t < WATCH_UNKNOWN && !span_is(p, len, watch_type_names[t]))
		t++;
	return (enum watch_type)t;
}
