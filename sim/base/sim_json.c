/* sim/base/sim_json.c - jansson, read by dotted paths. */
#include "sim_json.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"

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
sim_json_base64(const void *bytes, size_t len)
{
	char *out = obj_alloc(len / 3 * 4 + 5);	/* four for each three begun, and a NUL */
	const int n = EVP_EncodeBlock((unsigned char *)out, bytes, (int)len);
	json_t *encoded = json_stringn(out, (size_t)n);

	free(out);
	return encoded;
}

int
sim_json_compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}
