/* sim/base/sim_json.h - jansson, read by dotted paths. */
#ifndef MUSTER_SIM_JSON_H
#define MUSTER_SIM_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* jansson iterates over json_t * only, though it does not write. */
#define JSON_EACH(object, key, value)	json_object_foreach((json_t *)(uintptr_t)(object), key, value)

/* The text of a member; "" where it is missing or no text. */
const char *sim_json_text(const json_t *object, const char *key);
/* The value at a.b.c; NULL: none. */
json_t *sim_json_at(const json_t *object, const char *path);
const char *sim_json_text_at(const json_t *object, const char *path);
int64_t sim_json_int_at(const json_t *object, const char *path, int64_t absent);
/* The member, made an empty object (an empty array) where it is missing. Borrowed. */
json_t *sim_json_branch(json_t *object, const char *key);
json_t *sim_json_list(json_t *object, const char *key);
/* The first element whose member is that text; NULL: none. Borrowed. */
json_t *sim_json_find(const json_t *array, const char *key, const char *text);

/* For qsort of an array of const char *. */
int sim_json_compare_texts(const void *a, const void *b);
/* A text in which U+FFFD stands for each byte that is no UTF-8, as Go writes it. A new reference. */
json_t *sim_json_utf8(const char *text);
/* Bytes as base64, and a text in lower case. New references. */
json_t *sim_json_base64(const void *bytes, size_t len);
json_t *sim_json_lower(const char *text);

static inline const json_t *
meta_of(const json_t *object)
{
	return json_object_get(object, "metadata");
}

static inline const char *
meta_text(const json_t *object, const char *key)
{
	return sim_json_text(meta_of(object), key);
}

static inline bool
is_text(const json_t *value, const char *text)
{
	return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static inline bool
has_text(const json_t *array, const char *text)
{
	size_t i;
	json_t *value;

	json_array_foreach(array, i, value)
		if (is_text(value, text))
			return true;
	return false;
}

/* Gives `to` the member of `from`, or takes it away where `from` has none. */
static inline void
take_member(json_t *to, const json_t *from, const char *key)
{
	json_t *value = json_object_get(from, key);

	if (value != NULL)
		json_object_set_new(to, key, json_deep_copy(value));
	else
		json_object_del(to, key);
}

static inline bool
same_member(const json_t *a, const json_t *b, const char *key)
{
	const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);

	return x == NULL || y == NULL ? x == y : json_equal(x, y);
}

#endif
