/* sim/base/sim_json.c - jansson, read by dotted paths. */
#include "sim_json.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim_buf.h"
#include "utf8.h"

const char *
sim_json_text(const json_t *object, const char *key)
{
	const char *const s = json_string_value(json_object_get(object, key));

	return s != NULL ? s : "";
}

json_t *
sim_json_at(const json_t *object, const char *path)
{
	const json_t *at = object;
	char step[128];

	for (const char *p = path; at != NULL && *p != '\0';) {
		const size_t n = strcspn(p, ".");

		if (n >= sizeof(step))
			return NULL;
		memcpy(step, p, n);
		step[n] = '\0';
		at = json_object_get(at, step);
		p += n + (p[n] == '.');
	}
	return (json_t *)(uintptr_t)at;
}

const char *
sim_json_text_at(const json_t *object, const char *path)
{
	const char *const s = json_string_value(sim_json_at(object, path));

	return s != NULL ? s : "";
}

int64_t
sim_json_int_at(const json_t *object, const char *path, int64_t absent)
{
	const json_t *const at = sim_json_at(object, path);

	return json_is_integer(at) ? json_integer_value(at) : absent;
}

json_t *
sim_json_branch(json_t *object, const char *key)
{
	json_t *const there = json_object_get(object, key);

	if (json_is_object(there))
		return there;
	json_t *const made = json_object();
	MUST(json_object_set_new(object, key, made) == 0);
	return made;
}

json_t *
sim_json_list(json_t *object, const char *key)
{
	if (json_object_get(object, key) == NULL)
		MUST(json_object_set_new(object, key, json_array()) == 0);
	return json_object_get(object, key);
}

json_t *
sim_json_find(const json_t *array, const char *key, const char *text)
{
	size_t i;
	json_t *element;

	json_array_foreach(array, i, element) {
		if (strcmp(sim_json_text(element, key), text) == 0)
			return element;
	}
	return NULL;
}

json_t *
sim_json_utf8(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	struct sim_buf out = { 0 };
	size_t left = strlen(text);

	for (const char *p = text; left > 0;) {
		const size_t n = utf8_length(p, left);

		sim_buf_add(&out, n > 0 ? p : replacement, n > 0 ? n : sizeof(replacement) - 1);
		p += n > 0 ? n : 1;
		left -= n > 0 ? n : 1;
	}
	json_t *const made = json_stringn(out.bytes != NULL ? out.bytes : "", out.len);
	MUST(made != NULL);
	free(out.bytes);
	return made;
}

json_t *
sim_json_base64(const void *bytes, size_t len)
{
	char *out = obj_alloc(len / 3 * 4 + 5);	/* four for each three begun, and a NUL */
	const int n = EVP_EncodeBlock((unsigned char *)out, bytes, (int)len);
	json_t *encoded = json_stringn(out, (size_t)n);

	free(out);
	return encoded;
}

json_t *
sim_json_lower(const char *text)
{
	char *const lower = obj_strdup(text);

	for (char *p = lower; *p != '\0'; p++)
		*p = (char)tolower((unsigned char)*p);
	json_t *const value = json_string(lower);
	free(lower);
	return value;
}

int
sim_json_compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}
