/* sim/base/sim_buf.c - bytes that grow. */
#include "sim_buf.h"

#include <event2/buffer.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"

/*
 * Fifteen digits: 0.1 stays 0.1. Go writes the shortest text that reads back the same, which
 * jansson cannot; the price is the last digit of a float that needs sixteen.
 */
enum { BUF_FIRST = 256, DUMP = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) };

static void room(struct sim_buf *, size_t);
static int on_dump(const char *, size_t, void *);

void
sim_buf_add(struct sim_buf *b, const void *bytes, size_t len)
{
	room(b, len);
	memcpy(b->bytes + b->len, bytes, len);
	b->len += len;
	b->bytes[b->len] = '\0';
}

void
sim_buf_puts(struct sim_buf *b, const char *s)
{
	sim_buf_add(b, s, strlen(s));
}

void
sim_buf_printf(struct sim_buf *b, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	const int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	MUST(len >= 0);
	room(b, (size_t)len);
	vsnprintf(b->bytes + b->len, (size_t)len + 1, fmt, again);
	va_end(again);
	b->len += (size_t)len;
}

void
sim_buf_json(struct sim_buf *b, const json_t *value)
{
	MUST(json_dump_callback(value, on_dump, b, DUMP) == 0);
}

void
sim_buf_quote(struct sim_buf *b, const char *s)
{
	json_auto_t *text = json_string(s);

	sim_buf_json(b, text);
}

void
sim_buf_json_into(struct evbuffer *out, const json_t *value)
{
	struct sim_buf b = { 0 };

	sim_buf_json(&b, value);
	evbuffer_add(out, b.bytes, b.len);
	sim_buf_free(&b);
}

void
sim_buf_free(struct sim_buf *b)
{
	free(b->bytes);
	*b = (struct sim_buf){ 0 };
}

/* For len more bytes and a NUL. */
static void
room(struct sim_buf *b, size_t len)
{
	size_t size = b->size != 0 ? b->size : BUF_FIRST;

	while (size < b->len + len + 1)
		size *= 2;
	if (size == b->size)
		return;
	b->bytes = obj_realloc(b->bytes, size);
	b->size = size;
}

static int
on_dump(const char *bytes, size_t len, void *arg)
{
	sim_buf_add(arg, bytes, len);
	return 0;
}
