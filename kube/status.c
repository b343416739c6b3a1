/* kube/status.c - a Status, or what came in its place. */
#include "status.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "frames.h"
#include "json_span.h"
#include "obj.h"
#include "pb.h"
#include "utf8.h"

#define NO_STATUS	"an answer in protobuf that is no Status"

/* metav1.Status, StatusDetails and StatusCause in generated.proto: what is no text. */
enum { STATUS_DETAILS = 5, STATUS_CODE = 6, DETAILS_CAUSES = 4, DETAILS_RETRY_AFTER = 5 };

/* A text of a Status: its name in JSON, its number in protobuf, its place in our struct. */
struct status_text {
	const char	*name;		/* NULL: the end of the table */
	uint32_t	 number;
	size_t		 at, size;
};
#define TEXT(type, member, number_)						\
	{ #member, (number_), offsetof(struct type, member), sizeof(((struct type *)0)->member) }
static const struct status_text status_texts[] = {
	TEXT(kube_status, message, 3), TEXT(kube_status, reason, 4), { NULL, 0, 0, 0 },
};
static const struct status_text cause_texts[] = {
	TEXT(kube_cause, reason, 1), TEXT(kube_cause, message, 2), TEXT(kube_cause, field, 3),
	{ NULL, 0, 0, 0 },
};

static bool read_json(struct kube_status *, const void *, size_t);
static bool read_pb(struct kube_status *, const void *, size_t);
static void read_pb_details(struct kube_status *, struct pb);
static void read_words(struct kube_status *, const char *, size_t);
static struct kube_cause *next_cause(struct kube_status *);
static void set_retry(struct kube_status *, int64_t);
static void put_json(void *, const struct status_text *, const json_t *);
static void put_pb(void *, const struct status_text *, const struct pb_field *);
static void put_text(char *, size_t, const char *, size_t);

void
status_read(struct kube_status *s, int http_code, const void *bytes, size_t len)
{
	const bool wrapped = frames_wrapped(bytes, len);

	*s = (struct kube_status){ 0 };
	s->given = wrapped ? read_pb(s, bytes, len) : len <= STATUS_BODY_MAX && read_json(s, bytes, len);
	if (!s->given) {
		*s = (struct kube_status){ 0 };
		if (wrapped)
			put_text(s->message, sizeof(s->message), NO_STATUS, strlen(NO_STATUS));
		else
			read_words(s, bytes, len < STATUS_BODY_MAX ? len : STATUS_BODY_MAX);
	}
	if (http_code != 0)
		s->code = http_code;
}

/* The message is for servers before 1.18, which had no such cause. */
bool
status_too_large_rv(const struct kube_status *s)
{
	for (size_t i = 0; i < s->ncauses; i++) {
		if (strcmp(s->causes[i].reason, "ResourceVersionTooLarge") == 0)
			return true;
	}
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
		const json_t *const details = json_object_get(o, "details");
		const json_t *const causes = json_object_get(details, "causes");
		struct kube_cause *c;

		s->code = code > 0 && code < 1000 ? (int)code : 0;
		put_json(s, status_texts, o);
		set_retry(s, json_integer_value(json_object_get(details, "retryAfterSeconds")));
		for (size_t i = 0; i < json_array_size(causes) && (c = next_cause(s)) != NULL; i++)
			put_json(c, cause_texts, json_array_get(causes, i));
	}
	json_decref(o);
	return is_status;
}

static bool
read_pb(struct kube_status *s, const void *bytes, size_t len)
{
	struct frames_object o;

	if (frames_unwrap(bytes, len, &o) != NULL || !span_is(o.kind, o.kind_len, "Status"))
		return false;
	for (struct pb_field f; pb_next(&o.message, &f);) {
		put_pb(s, status_texts, &f);
		if (f.number == STATUS_CODE && f.wire == PB_VARINT)
			s->code = f.value < 1000 ? (int)f.value : 0;
		if (f.number == STATUS_DETAILS && f.wire == PB_BYTES)
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
		if (f.number != DETAILS_CAUSES || f.wire != PB_BYTES)
			continue;
		struct kube_cause *const c = next_cause(s);
		struct pb cause = pb_inside(&f);
		for (struct pb_field text; c != NULL && pb_next(&cause, &text);)
			put_pb(c, cause_texts, &text);
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
	put_text(s->message, sizeof(s->message), line, n);
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
put_json(void *into, const struct status_text *t, const json_t *object)
{
	for (; t->name != NULL; t++) {
		const json_t *const text = json_object_get(object, t->name);

		if (json_is_string(text))
			put_text((char *)into + t->at, t->size, json_string_value(text),
			    json_string_length(text));
	}
}

static void
put_pb(void *into, const struct status_text *t, const struct pb_field *f)
{
	for (; t->name != NULL; t++) {
		if (f->wire == PB_BYTES && f->number == t->number)
			put_text((char *)into + t->at, t->size, (const char *)f->p, f->len);
	}
}

/* Whole characters only; control characters become blanks, what is no character a question mark. */
static void
put_text(char *to, size_t size, const char *p, size_t len)
{
	size_t n = 0;

	for (size_t i = 0, width; i < len; i += width) {
		width = utf8_length(p + i, len - i);
		const bool control = (width == 1 && ((unsigned char)p[i] < ' ' || p[i] == 0x7f))
		    || (width == 2 && (unsigned char)p[i] == 0xc2 && (unsigned char)p[i + 1] < 0xa0);
		const char *shown = width == 0 ? "?" : control ? " " : p + i;

		width += width == 0;
		const size_t more = shown == p + i ? width : 1;
		if (n + more >= size)
			break;
		memcpy(to + n, shown, more);
		n += more;
	}
	while (n > 0 && to[n - 1] == ' ')
		n--;
	to[n] = '\0';
}
