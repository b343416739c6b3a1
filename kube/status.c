/* kube/status.c - a Status, or what came in its place. */
#include "status.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "frames.h"
#include "obj.h"
#include "pb.h"
#include "utf8.h"

#define NO_STATUS	"an answer in protobuf that is no Status"

/* metav1.Status, StatusDetails and StatusCause in generated.proto. */
enum {
	STATUS_MESSAGE = 3, STATUS_REASON = 4, STATUS_DETAILS = 5, STATUS_CODE = 6,
	DETAILS_NAME = 1, DETAILS_GROUP = 2, DETAILS_KIND = 3, DETAILS_CAUSES = 4, DETAILS_RETRY_AFTER = 5,
	CAUSE_REASON = 1, CAUSE_MESSAGE = 2, CAUSE_FIELD = 3,
};

/* Where a text of a Status goes. */
struct status_place {
	char	*buf;
	size_t	 size;
};
#define PLACE(array)	((struct status_place){ .buf = (array), .size = sizeof(array) })

static bool read_json(struct kube_status *, const void *, size_t);
static void read_json_details(struct kube_status *, const json_t *);
static bool read_pb(struct kube_status *, const void *, size_t);
static void read_pb_details(struct kube_status *, struct pb);
static void read_pb_cause(struct kube_status *, struct pb);
static void read_words(struct kube_status *, const char *, size_t);
static struct kube_cause *next_cause(struct kube_status *);
static void set_retry(struct kube_status *, int64_t);
static void put_json(struct status_place, const json_t *, const char *);
static void put_field(struct status_place, const struct pb_field *);
static void put_text(struct status_place, const char *, size_t);
static bool has_cause(const struct kube_status *, const char *);

void
status_read(struct kube_status *s, int http_code, const void *bytes, size_t len)
{
	*s = (struct kube_status){ 0 };
	if (frames_wrapped(bytes, len))
		s->given = read_pb(s, bytes, len);
	else if (len <= STATUS_BODY_MAX)
		s->given = read_json(s, bytes, len);
	if (!s->given) {
		*s = (struct kube_status){ 0 };
		if (frames_wrapped(bytes, len))
			put_text(PLACE(s->message), NO_STATUS, strlen(NO_STATUS));
		else
			read_words(s, bytes, len < STATUS_BODY_MAX ? len : STATUS_BODY_MAX);
	}
	if (http_code != 0)
		s->code = http_code;
}

bool
status_expired(const struct kube_status *s)
{
	return s->code == 410 || strcmp(s->reason, "Expired") == 0 || strcmp(s->reason, "Gone") == 0;
}

/* The message is for servers before 1.18, which had no such cause. */
bool
status_too_large_rv(const struct kube_status *s)
{
	if (has_cause(s, "ResourceVersionTooLarge"))
		return true;
	return strcmp(s->reason, "Timeout") == 0 && strstr(s->message, "Too large resource version") != NULL;
}

size_t
status_causes(const struct kube_status *s, char *buf, size_t size)
{
	size_t len = 0;

	if (size > 0)
		buf[0] = '\0';
	for (size_t i = 0; i < s->ncauses && len + 1 < size; i++) {
		const struct kube_cause *c = &s->causes[i];
		const char *separator = c->field[0] != '\0' && c->message[0] != '\0' ? ": " : "";
		const char *last = c->field[0] != '\0' || c->message[0] != '\0' ? c->message : c->reason;

		const int n = snprintf(buf + len, size - len, "%s%s%s%s", i > 0 ? "\n" : "", c->field,
		    separator, last);
		len += (size_t)n < size - len ? (size_t)n : size - len - 1;
	}
	return len;
}

static bool
read_json(struct kube_status *s, const void *bytes, size_t len)
{
	json_t *o = json_loadb(bytes, len, 0, NULL);
	const char *kind = json_string_value(json_object_get(o, "kind"));
	const bool is_status = kind != NULL && strcmp(kind, "Status") == 0;

	if (is_status) {
		const json_int_t code = json_integer_value(json_object_get(o, "code"));

		s->code = code > 0 && code < 1000 ? (int)code : 0;
		put_json(PLACE(s->reason), o, "reason");
		put_json(PLACE(s->message), o, "message");
		read_json_details(s, json_object_get(o, "details"));
	}
	json_decref(o);
	return is_status;
}

static void
read_json_details(struct kube_status *s, const json_t *details)
{
	const json_t *causes = json_object_get(details, "causes");

	put_json(PLACE(s->name), details, "name");
	put_json(PLACE(s->group), details, "group");
	put_json(PLACE(s->kind), details, "kind");
	set_retry(s, json_integer_value(json_object_get(details, "retryAfterSeconds")));
	for (size_t i = 0; i < json_array_size(causes); i++) {
		const json_t *cause = json_array_get(causes, i);
		struct kube_cause *c = next_cause(s);

		if (c == NULL)
			break;
		put_json(PLACE(c->reason), cause, "reason");
		put_json(PLACE(c->field), cause, "field");
		put_json(PLACE(c->message), cause, "message");
	}
}

static bool
read_pb(struct kube_status *s, const void *bytes, size_t len)
{
	struct frames_object o;

	if (frames_unwrap(bytes, len, &o) != NULL || o.kind_len != strlen("Status")
	    || memcmp(o.kind, "Status", o.kind_len) != 0)
		return false;
	for (struct pb_field f; pb_next(&o.message, &f);) {
		if (f.number == STATUS_CODE && f.wire == PB_VARINT)
			s->code = f.value < 1000 ? (int)f.value : 0;
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == STATUS_MESSAGE)
			put_field(PLACE(s->message), &f);
		else if (f.number == STATUS_REASON)
			put_field(PLACE(s->reason), &f);
		else if (f.number == STATUS_DETAILS)
			read_pb_details(s, pb_inside(&f));
	}
	return o.message.broken == NULL;
}

static void
read_pb_details(struct kube_status *s, struct pb m)
{
	for (struct pb_field f; pb_next(&m, &f);) {
		if (f.number == DETAILS_RETRY_AFTER && f.wire == PB_VARINT)
			set_retry(s, (int64_t)f.value);
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == DETAILS_NAME)
			put_field(PLACE(s->name), &f);
		else if (f.number == DETAILS_GROUP)
			put_field(PLACE(s->group), &f);
		else if (f.number == DETAILS_KIND)
			put_field(PLACE(s->kind), &f);
		else if (f.number == DETAILS_CAUSES)
			read_pb_cause(s, pb_inside(&f));
	}
}

static void
read_pb_cause(struct kube_status *s, struct pb m)
{
	struct kube_cause *c = next_cause(s);

	if (c == NULL)
		return;
	for (struct pb_field f; pb_next(&m, &f);) {
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == CAUSE_REASON)
			put_field(PLACE(c->reason), &f);
		else if (f.number == CAUSE_MESSAGE)
			put_field(PLACE(c->message), &f);
		else if (f.number == CAUSE_FIELD)
			put_field(PLACE(c->field), &f);
	}
}

/* The first line with a word in it; of HTML that is mostly the title, once the tags are gone. */
static void
read_words(struct kube_status *s, const char *p, size_t len)
{
	char line[256];
	size_t n = 0;
	bool tag = false;

	for (size_t i = 0; i < len && n < sizeof(line); i++) {
		const bool breaks = p[i] == '\n' || p[i] == '<' || (tag && p[i] == '>');

		if (breaks && n > 0)
			break;
		if (p[i] == '<')
			tag = true;
		else if (p[i] == '>' && tag)
			tag = false;
		else if (!tag && (n > 0 || (unsigned char)p[i] > ' '))
			line[n++] = p[i];
	}
	put_text(PLACE(s->message), line, n);
}

static struct kube_cause *
next_cause(struct kube_status *s)
{
	return s->ncauses < STATUS_CAUSES_MAX ? &s->causes[s->ncauses++] : NULL;
}

static void
set_retry(struct kube_status *s, int64_t seconds)
{
	s->retry_after_s = seconds < 0 ? 0 : seconds > STATUS_RETRY_MAX_S ? STATUS_RETRY_MAX_S : seconds;
}

static void
put_json(struct status_place to, const json_t *object, const char *name)
{
	const json_t *text = json_object_get(object, name);

	if (json_is_string(text))
		put_text(to, json_string_value(text), json_string_length(text));
}

static void
put_field(struct status_place to, const struct pb_field *f)
{
	put_text(to, (const char *)f->p, f->len);
}

/* Whole characters only; control characters become blanks, what is no character a question mark. */
static void
put_text(struct status_place to, const char *p, size_t len)
{
	size_t n = 0;

	for (size_t i = 0, width; i < len; i += width) {
		width = utf8_length(p + i, len - i);
		const bool control = (width == 1 && ((unsigned char)p[i] < ' ' || p[i] == 0x7f))
		    || (width == 2 && (unsigned char)p[i] == 0xc2 && (unsigned char)p[i + 1] < 0xa0);
		const char *shown = width == 0 ? "?" : control ? " " : p + i;

		width += width == 0;
		const size_t more = shown == p + i ? width : 1;
		if (n + more >= to.size)
			break;
		memcpy(to.buf + n, shown, more);
		n += more;
	}
	while (n > 0 && to.buf[n - 1] == ' ')
		n--;
	to.buf[n] = '\0';
}

static bool
has_cause(const struct kube_status *s, const char *reason)
{
	for (size_t i = 0; i < s->ncauses; i++) {
		if (strcmp(s->causes[i].reason, reason) == 0)
			return true;
	}
	return false;
}
