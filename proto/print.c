/* proto/print.c - any message as text, grown from messages.h. What is secret shows as ***. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "msg.h"
#include "obj.h"
#include "utf8.h"

/* Output that stops at the end of its buffer; `len` never exceeds size - 1. */
struct print_buffer {
	char	*buf;
	size_t	 size, len;
	bool	 json, first;
	struct wire_str	 resource;	/* of the objects that follow */
};

static __attribute__((format(printf, 2, 3))) void
emit(struct print_buffer *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(o->buf + o->len, o->size - o->len, fmt, ap);
	va_end(ap);
	MUST(n >= 0);
	o->len = (size_t)n < o->size - o->len ? o->len + (size_t)n : o->size - 1;
}

static void
emit_char(struct print_buffer *o, char c)
{
	if (o->len + 1 < o->size) {
		o->buf[o->len++] = c;
		o->buf[o->len] = '\0';
	}
}

static void
field(struct print_buffer *o, const char *name)
{
	emit(o, o->json ? "%s\"%s\":" : "%s%s=", o->first ? "" : o->json ? "," : " ", name);
	o->first = false;
}

/* Text from other processes: what is no text, or would steer a terminal, is escaped. */
static void
quoted(struct print_buffer *o, const char *p, size_t len)
{
	utf8_show *const show = o->json ? utf8_show_json : utf8_show_text;

	emit_char(o, '"');
	for (size_t i = 0; i < len;) {
		char shown[UTF8_SHOWN_MAX];
		size_t n;

		i += show(p + i, len - i, shown, &n);
		if (o->size - o->len <= n)
			o->size = o->len + 1;	/* cut between characters, and for good */
		for (size_t b = 0; b < n; b++)
			emit_char(o, shown[b]);
	}
	emit_char(o, '"');
}

static void
print_str(struct print_buffer *o, wire_str v)
{
	quoted(o, v.p, v.len);
}

/* Bytes: their number; what is inside belongs to another schema. */
static void
print_bin(struct print_buffer *o, wire_bin v)
{
	emit(o, o->json ? "{\"bytes\":%" PRIu32 "}" : "<%" PRIu32 " bytes>", v.len);
}

static void
print_secret(struct print_buffer *o, wire_secret v)
{
	(void)v;
	emit(o, "%s", o->json ? "\"***\"" : "***");
}

static void
print_resource(struct print_buffer *o, wire_resource v)
{
	o->resource = v;
	print_str(o, v);
}

static void
print_object(struct print_buffer *o, wire_object v)
{
	print_str(o, msg_object_is_secret(o->resource) ? wire_str_of("***") : v);
}

static void
print_f64(struct print_buffer *o, wire_f64 v)
{
	if (isfinite(v))
		emit(o, "%.17g", v);
	else
		emit(o, "%s", isnan(v) ? "\"NaN\"" : v > 0 ? "\"+Inf\"" : "\"-Inf\"");
}

static void
print_nums(struct print_buffer *o, wire_nums v)
{
	emit_char(o, '[');
	for (uint32_t i = 0; i < v.len; i++) {
		if (i > 0)
			emit_char(o, ',');
		print_f64(o, v.p[i]);
	}
	emit_char(o, ']');
}

/* In text form without quotes where none are needed. */
static void
name(struct print_buffer *o, wire_str v)
{
	uint32_t plain = 0;

	while (plain < v.len && (isalnum((unsigned char)v.p[plain]) || memchr("._-/", v.p[plain], 4) != NULL))
		plain++;
	if (o->json || v.len == 0 || plain < v.len)
		quoted(o, v.p, v.len);
	else
		emit(o, "%.*s", (int)v.len, v.p);
}

/* {name="text",...} as a metric's labels are written; a JSON object. */
static void
print_map(struct print_buffer *o, wire_map v)
{
	const char *comma = "";
	wire_str key, value;

	emit_char(o, '{');
	for (; map_next(&v, &key, &value); comma = ",") {
		emit(o, "%s", comma);
		name(o, key);
		emit_char(o, o->json ? ':' : '=');
		print_str(o, value);
	}
	emit_char(o, '}');
}

/* A list of lists; of texts when there is one column. */
static void
print_rows(struct print_buffer *o, wire_rows v)
{
	const char *comma = "";
	wire_str cells[ROWS_COLUMNS_MAX];

	emit_char(o, '[');
	for (; rows_next(&v, cells); comma = ",") {
		emit(o, v.columns == 1 ? "%s" : "%s[", comma);
		for (uint32_t i = 0; i < v.columns; i++) {
			if (i > 0)
				emit_char(o, ',');
			print_str(o, cells[i]);
		}
		if (v.columns > 1)
			emit_char(o, ']');
	}
	emit_char(o, ']');
}

static void
print_u64(struct print_buffer *o, wire_u64 v)
{
	emit(o, "%" PRIu64, v);
}

static void
print_i64(struct print_buffer *o, wire_i64 v)
{
	emit(o, "%" PRId64, v);
}

static void
print_flag(struct print_buffer *o, wire_flag v)
{
	emit(o, "%s", v ? "true" : "false");
}

#define print_value	print_bin
#define print_number	print_u64

#define PRINT(type, name, ...)	field(o, #name); print_##type(o, m->name);
#define PRINTER(body)								\
	static void								\
	print_body_##body(struct print_buffer *o, const union msg_body *any)		\
	{									\
		const struct body_##body *m = &any->body;			\
		body##_FIELDS(PRINT)						\
	}
BODIES(PRINTER)

static void (*const printers[MSG_MAX])(struct print_buffer *, const union msg_body *) = {
#define PRINTER_ROW(ID, body, ...) [MSG_##ID] = print_body_##body,
	MESSAGES(PRINTER_ROW)
};

size_t
msg_print(enum msg m, const union msg_body *body, bool json, char *buf, size_t size)
{
	struct print_buffer o = { .buf = buf, .size = size, .json = json, .first = true };

	MUST((unsigned)m < MSG_MAX && size > 0);
	buf[0] = '\0';
	printers[m](&o, body);
	return o.len;
}
