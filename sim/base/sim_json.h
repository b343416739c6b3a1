/* sim/base/sim_json.h - jansson, read by dotted paths. */
#ifndef MUSTER_SIM_JSON_H
#define MUSTER_SIM_JSON_H

#include <jansson.h>
#include <stdint.h>

/* jansson iterates over json_t * only, though it does not write. */
#define JSON_EACH(object, key, value)	json_object_foreach((json_t *)(uintptr_t)(object), key, value)

/* The text of a member; "" where it is missing or no text. */
const char *sim_json_text(const json_t *object, const char *key);
/* The value at a.b.c; NULL: none. */
json_t *sim_json_at(const json_t *object, const char *path);
const char *sim_json_text_at(const json_t *object, const char *path);
int64_t sim_json_int_at(const json_t *object, const char *path, int64_t absent);
/* The member, made an empty object where it is missing. Borrowed. */
json_t *sim_json_branch(json_t *object, const char *key);

#endif
