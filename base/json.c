/* base/json.c - the few pieces of JSON that we write. Pure: no allocation, no printf. */
#include "json.h"

#include <string.h>

#include "utf8.h"

static void put(struct json *, const char *, size_t);
static void put_quoted(struct json *, const char *, size_t);
static void member(struct json *, const char *);

void
json_open(struct json *j, const char *name, char bracket)
{
	member(j, name);
	put(j, &bracket, 1);
	j->comma = false;
}

void
json_close(struct json *j, char bracket)
{
	put(j, &bracket, 1);
	j->comma = true;
}

void
json_int(struct json *j, const char *name, int64_t n)
{
	char digits[24];
	size_t at = sizeof(digits);
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;

	do {
		digits[--at] = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (n < 0)
		digits[--at] = '-';
	member(j, name);
	put(j, digits + at, sizeof(digits) - at);
}

void
json_bool(struct json *j, const char *name, bool b)
{
	member(j, name);
	put(j, b ? "true" : "false", b ? 4 : 5);
}

void
json_str(struct json *j, const char *name, const char *s)
{
	if (s != NULL) {
		json_strn(j, name, s, strlen(s));
		return;
	}
	member(j, name);
	put(j, "null", 4);
}

void
json_strn(struct json *j, const char *name, const char *s, size_t len)
{
	member(j, name);
	put_quoted(j, s, len);
}

void
json_raw(struct json *j, const char *name, const char *text, size_t len)
{
	member(j, name);
	put(j, text, len);
}

size_t
json_end(struct json *j)
{
	put(j, "", 1);
	return j->full ? 0 : j->len - 1;
}

static void
put(struct json *j, const char *s, size_t len)
{
	if (j->full || len > j->size - j->len) {
		j->full = true;
		return;
	}
	memcpy(j->buf + j->len, s, len);
	j->len += len;
}

static void
put_quoted(struct json *j, const char *s, size_t left)
{
	put(j, "\"", 1);
	while (left > 0) {
		char shown[UTF8_SHOWN_MAX];
		size_t n;
		const size_t used = utf8_show_json(s, left, shown, &n);

		put(j, shown, n);
		s += used;
		left -= used;
	}
	put(j, "\"", 1);
}

static void
member(struct json *j, const char *name)
{
	if (j->comma)
		put(j, ",", 1);
	j->comma = true;
	if (name != NULL) {
		put_quoted(j, name, strlen(name));
		put(j, ":", 1);
	}
}
