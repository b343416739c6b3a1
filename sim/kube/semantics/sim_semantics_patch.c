/* sim/kube/semantics/sim_semantics_patch.c - from the bytes of a patch to the object it makes of another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/base/sim_yaml.h"
#include "sim/kube/patch/sim_apply.h"
#include "sim/kube/patch/sim_patch.h"
#include "sim/kube/patch/sim_strategic.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim_semantics_rules.h"

enum { OPERATIONS_MAX = 10000 };

static json_t *parse(enum sim_patch_type type, const char *bytes, size_t len, json_t **status);
static json_t *operations(const json_t *old, const json_t *patch, json_t **status);

json_t *
sim_patch_object(const struct sim_write_params *a, const json_t *old, enum sim_patch_type type,
    const char *bytes, size_t len, json_t **status)
{
	json_auto_t *patch = parse(type, bytes, len, status), *raw = NULL;
	json_t *object = NULL;

	if (patch == NULL)
		return NULL;
	switch (type) {
	case PATCH_JSON:
		raw = operations(old, patch, status);
		break;
	case PATCH_MERGE:
		raw = sim_patch_merge(old, patch);
		break;
	case PATCH_STRATEGIC:
		raw = sim_strategic_merge(sim_schema_of(a->resource), old, patch, status);
		break;
	case PATCH_APPLY:
		object = sim_apply_config(a, old, patch, status);
		break;
	}
	if (raw != NULL)
		object = sim_schema_decode(a, raw, patch, type == PATCH_STRATEGIC, status);
	return object;
}

static json_t *
parse(enum sim_patch_type type, const char *bytes, size_t len, json_t **status)
{
	static const struct {
		const char *before, *wanted;
	} words[] = {
		[PATCH_JSON]		= { "error decoding patch: ",	"[]handlers.jsonPatchOp"	},
		[PATCH_MERGE]		= { "error decoding patch: ",	"map[string]interface {}"	},
		[PATCH_STRATEGIC]	= { "",				"map[string]interface {}"	},
		[PATCH_APPLY]		= { "error decoding YAML: ",	"map[string]interface {}"	},
	};
	json_error_t error = { 0 };
	char why[256] = "";
	json_t *patch = type == PATCH_APPLY ? sim_yaml_parse(bytes, len, why, sizeof(why))
	    : json_loadb(bytes, len, JSON_DECODE_ANY, &error);

	if (type == PATCH_JSON ? json_is_array(patch) : json_is_object(patch))
		return patch;
	if (patch == NULL)
		*status = sim_status_bad_request("%s%s", words[type].before,
		    type == PATCH_APPLY ? why : error.text);
	else if (json_is_null(patch) && type == PATCH_MERGE)
		*status = sim_status_bad_request("Invalid JSON Patch");
	else
		*status = sim_status_bad_request("%sjson: cannot unmarshal %s into Go value of type %s",
		    words[type].before, json_is_array(patch) ? "array" : json_is_object(patch) ? "object"
		    : "value", words[type].wanted);
	json_decref(patch);
	return NULL;
}

static json_t *
operations(const json_t *old, const json_t *patch, json_t **status)
{
	if (json_array_size(patch) > OPERATIONS_MAX) {
		*status = sim_semantics_failure(413, "RequestEntityTooLarge",
		    "Request entity too large: The allowed maximum operations in a JSON patch is %d, "
		    "got %zu", OPERATIONS_MAX, json_array_size(patch));
		return NULL;
	}

	json_t *object = sim_patch_operations(old, patch);

	if (object == NULL)
		*status = sim_semantics_failure_of(422, "Invalid",
		    &(struct sim_resource){ .group = "", .plural = "" }, "", NULL,
		    "the server rejected our request due to an error in our request");
	return object;
}
