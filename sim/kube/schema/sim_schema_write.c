/* sim/kube/schema/sim_schema_write.c - JSON with the keys in the order in which Go writes them. */
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim_schema.h"

static const json_t *member_schema(const json_t *schema, const char *key);

size_t
sim_schema_keys(const json_t *schema, const json_t *object, const char ***keys)
{
	const json_t *const properties = json_object_get(sim_schema_follow(schema), "properties");
	size_t n = 0, declared;
	const char *key;
	json_t *value;

	*keys = obj_alloc((json_object_size(object) + 1) * sizeof(**keys));
	JSON_EACH(properties, key, value)
		if (json_object_get(object, key) != NULL)
			(*keys)[n++] = key;
	declared = n;
	if (n < json_object_size(object))
		JSON_EACH(object, key, value)
			if (json_object_get(properties, key) == NULL)
				(*keys)[n++] = key;
	qsort(*keys + declared, n - declared, sizeof(**keys), sim_json_compare_texts);
	return n;
}

void
sim_schema_write(struct sim_buf *out, const json_t *schema, const json_t *value)
{
	const json_t *const type = sim_schema_follow(schema);

	if (json_is_array(value)) {
		size_t i;
		json_t *item;

		sim_buf_puts(out, "[");
		json_array_foreach(value, i, item) {
			sim_buf_puts(out, i == 0 ? "" : ",");
			sim_schema_write(out, sim_schema_items(type), item);
		}
		sim_buf_puts(out, "]");
	} else if (json_is_object(value)) {
		const char **keys;
		const size_t n = sim_schema_keys(type, value, &keys);

		sim_buf_puts(out, "{");
		for (size_t i = 0; i < n; i++) {
			sim_buf_puts(out, i == 0 ? "" : ",");
			sim_schema_write_member(out, type, keys[i], json_object_get(value, keys[i]));
		}
		sim_buf_puts(out, "}");
		free(keys);
	} else {
		sim_buf_json(out, value);
	}
}

void
sim_schema_write_member(struct sim_buf *out, const json_t *schema, const char *key, const json_t *value)
{
	const json_t *const below = member_schema(sim_schema_follow(schema), key);
	/* Bytes that the real server keeps as they were sent: a default or an example of a CRD. */
	const bool raw = below != NULL && sim_schema_follow(below) == below
	    && json_object_get(below, "properties") == NULL
	    && json_object_get(below, "additionalProperties") == NULL
	    && json_object_get(below, "items") == NULL;

	sim_buf_quote(out, key);
	sim_buf_puts(out, ":");
	if (raw)
		sim_buf_json(out, value);
	else
		sim_schema_write(out, below, value);
}

static const json_t *
member_schema(const json_t *schema, const char *key)
{
	static const char *const schemas[] = { "items", "additionalItems", "additionalProperties" };

	if (strcmp(key, "fieldsV1") == 0)	/* sorted, as structured-merge-diff writes it */
		return NULL;
	for (size_t i = 0; i < NITEMS(schemas); i++)
		if (strcmp(schemas[i], key) == 0
		    && strcmp(sim_json_text(schema, "x-muster-name"), "JSONSchemaProps") == 0)
			return schema;
	return sim_schema_member(schema, key, false);
}
