/*
 * kube/json_span.h - where a JSON value ends, and what members an object has, without parsing it:
 * quotes, escapes and brackets only, 64 bytes at a time. Pure.
 *
 * It does not validate: a value that is found here may be invalid, but in valid JSON the same values are
 * found as by a parser.
 */
#ifndef MUSTER_JSON_SPAN_H
#define MUSTER_JSON_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- A value with brackets, in pieces of any size ---- */

struct json_depth {
	uint64_t	in_string;	/* all ones: within quotes */
	bool		escape;		/* the byte before was an unescaped backslash */
	size_t		depth;
};

/*
 * From the opening bracket on (a fresh struct is all zero). Returns the bytes that belong to the
 * value: fewer than len, or len with depth 0, when it is complete.
 */
size_t json_depth_run(struct json_depth *d, const char *p, size_t len);

/* ---- A value that is there whole ---- */

struct json_span {
	const char	*p;
	size_t		 len;
};

/* The bytes are that text. */
static inline bool
span_is(const void *p, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(p, text, len) == 0;
}

/*
 *	struct json_members m = json_members_of(object);
 *	for (struct json_span key, value; json_members_next(&m, &key, &value);)
 *		...
 *	if (!m.whole)
 */
struct json_members {
	const char	*p, *end;
	bool		 started, whole;	/* whole: nothing but blanks behind its bracket */
};

struct json_members json_members_of(struct json_span object);
/* key: without quotes, escapes as they stand. False: the end, or something that is no object. */
bool json_members_next(struct json_members *m, struct json_span *key, struct json_span *value);
/*
 * The same of a list, which begins with '[':
 *
 *	struct json_members m = json_members_of(list);
 *	for (struct json_span value; json_elements_next(&m, &value);)
 */
bool json_elements_next(struct json_members *m, struct json_span *value);
/* The first member of that name. */
bool json_span_find(struct json_span object, const char *name, struct json_span *value);
/* The text of a string that has no escapes; false: it has, or it is no string. */
bool json_span_text(struct json_span value, struct json_span *text);

#endif
