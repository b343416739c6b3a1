/*
 * sim/kube/printers/sim_jsonpath.c - walks a value by a path, depth first, and stops at the first
 * end it reaches.
 */
#include "sim_jsonpath.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LEN = 256, DEPTH_MAX = 32 };

static json_t *walk(const json_t *, const char *, int);
static json_t *walk_name(const json_t *, const char *, int);
static json_t *walk_bracket(const json_t *, const char *, int);
static json_t *walk_each(const json_t *, const char *, const char *, size_t, int);
static bool passes(const json_t *, const char *, size_t);
static const char *closing(const char *);
static bool same(const json_t *, const char *, size_t);

json_t *
sim_jsonpath_first(const json_t *root, const char *path)
{
	return walk(root, path, 0);
}

static json_t *
walk(const json_t *at, const char *path, int depth)
{
	if (at == NULL || depth > DEPTH_MAX)
		return NULL;
	if (path[0] == '\0')
		return (json_t *)(uintptr_t)at;
	if (path[0] == '.')
		return walk_name(at, path + 1, depth);
	if (path[0] == '[')
		return walk_bracket(at, path, depth);
	return NULL;
}

static json_t *
walk_name(const json_t *at, const char *path, int depth)
{
	char name[NAME_LEN];
	size_t n = 0;

	while (*path != '\0' && *path != '.' && *path != '[' && n < NAME_LEN - 1) {
		path += *path == '\\' && path[1] != '\0';
		name[n++] = *path++;
	}
	name[n] = '\0';
	/* "." alone is the root, as is the dot before a bracket. */
	return walk(n == 0 ? at : json_object_get(at, name), path, depth + 1);
}

static json_t *
walk_bracket(const json_t *at, const char *path, int depth)
{
	const char *const end = closing(path);
	char name[NAME_LEN];

	if (end == NULL)
		return NULL;
	const char *const in = path + 1;
	const size_t len = (size_t)(end - in);
	if (len == 1 && in[0] == '*')
		return walk_each(at, end + 1, NULL, 0, depth);
	if (len > 3 && strncmp(in, "?(", 2) == 0 && end[-1] == ')')
		return walk_each(at, end + 1, in + 2, len - 3, depth);
	if (len > 2 && len < NAME_LEN && (in[0] == '\'' || in[0] == '"') && end[-1] == in[0]) {
		memcpy(name, in + 1, len - 2);
		name[len - 2] = '\0';
		return walk(json_object_get(at, name), end + 1, depth + 1);
	}
	char *stop;
	const long i = strtol(in, &stop, 10);
	if (stop != end)
		return NULL;
	return walk(json_array_get(at, (size_t)(i < 0 ? (long)json_array_size(at) + i : i)),
	    end + 1, depth + 1);
}

/* Each element (that the filter lets pass), until one leads to an end. */
static json_t *
walk_each(const json_t *at, const char *rest, const char *filter, size_t len, int depth)
{
	for (size_t i = 0; i < json_array_size(at); i++) {
		const json_t *const element = json_array_get(at, i);
		json_t *const found = filter == NULL || passes(element, filter, len)
		    ? walk(element, rest, depth + 1)
		    : NULL;

		if (found != NULL)
			return found;
	}
	return NULL;
}

/* @.type=="Ready", @.a != 'b'; the left side alone tests whether it exists. */
static bool
passes(const json_t *element, const char *filter, size_t len)
{
	char left[NAME_LEN];
	size_t n = 0;

	if (len < 2 || filter[0] != '@' || len >= NAME_LEN)
		return false;
	while (n + 1 < len && strchr("=! ", filter[n + 1]) == NULL)
		n++;
	memcpy(left, filter + 1, n);
	left[n] = '\0';
	const json_t *const value = walk(element, left, 0);
	const char *p = filter + 1 + n, *end = filter + len;
	while (p < end && *p == ' ')
		p++;
	if (p == end)
		return value != NULL;
	if (end - p < 2 || p[1] != '=' || (p[0] != '=' && p[0] != '!'))
		return false;
	const bool wants_same = p[0] == '=';
	for (p += 2; p < end && *p == ' ';)
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	return value != NULL && same(value, p, (size_t)(end - p)) == wants_same;
}

static bool
same(const json_t *value, const char *text, size_t len)
{
	if (len >= 2 && (text[0] == '"' || text[0] == '\'') && text[len - 1] == text[0])
		return json_is_string(value) && json_string_length(value) == len - 2
		    && memcmp(json_string_value(value), text + 1, len - 2) == 0;
	json_t *const other = json_loadb(text, len, JSON_DECODE_ANY, NULL);
	const bool equal = other != NULL && json_equal(value, other);
	json_decref(other);
	return equal;
}

/* The ']' of the '[' at path, past quotes. */
static const char *
closing(const char *path)
{
	char quote = '\0';
	int depth = 0;

	for (const char *p = path; *p != '\0'; p++) {
		if (quote != '\0')
			quote = *p == quote ? '\0' : quote;
		else if (*p == '\'' || *p == '"')
			quote = *p;
		else if (*p == '[')
			depth++;
		else if (*p == ']' && --depth == 0)
			return p;
	}
	return NULL;
}
