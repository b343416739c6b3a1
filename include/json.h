/*
 * include/json.h - writes JSON into a buffer that somebody else owns.
 *
 *	struct json j = { .buf = buf, .size = sizeof(buf) };
 *
 *	json_open(&j, NULL, '{');
 *	json_int(&j, "pid", 1);
 *	json_close(&j, '}');
 *
 * A name of NULL is an element of a list, or the outermost value. What does not fit sets `full`, and
 * nothing is written any more.
 */
#ifndef MUSTER_JSON_H
#define MUSTER_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	char	*buf;
	size_t	 size, len;
	bool	 full;
	bool	 comma;		/* one is due before the next member */
};

void json_open(struct json *j, const char *name, char bracket);
void json_close(struct json *j, char bracket);
void json_int(struct json *j, const char *name, int64_t n);
void json_bool(struct json *j, const char *name, bool b);
/* NULL becomes null; control characters and bytes that are no UTF-8 are escaped. */
void json_str(struct json *j, const char *name, const char *s);
void json_strn(struct json *j, const char *name, const char *s, size_t len);
/* JSON that is valid already, as it stands. */
void json_raw(struct json *j, const char *name, const char *text, size_t len);
/* NUL-terminates; the length, or 0 when it did not fit. */
size_t json_end(struct json *j);

#endif
