/*
 * sim/kube/schema/sim_schema_decode.c - from the object that was sent to the object the server goes
 * on with, or a refusal.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/base/sim_json.h"
#include "sim/kube/semantics/sim_field_errors.h"
#include "sim/kube/semantics/sim_semantics_rules.h"
#include "sim_schema.h"

static json_t *type_refusal(const struct sim_write_params *a, const json_t *body);
static json_t *builtin_refusal(const struct sim_resource *r, const char *kind, const char *version,
    const char *expected);
static json_t *decode_custom(const struct sim_resource *r, const json_t *body, json_t *unknown,
    char **error_text);
static json_t *refusal(const struct sim_write_params *a, const json_t *body,
    const json_t *strategic, bool patched, const char *why);
static char *unknown_text(const json_t *unknown);
static void warn(const struct sim_write_params *a, const json_t *unknown);
static void set_type(const struct sim_write_params *a, json_t *object);

json_t *
sim_schema_decode(const struct sim_write_params *a, const json_t *body, const json_t *patch,
    bool strategic, json_t **status)
{
	const json_t *schema = sim_schema_of(a->resource);
	json_auto_t *unknown = json_array(), *object = NULL;
	char *error_text = NULL;

	if (patch == NULL && (*status = type_refusal(a, body)) != NULL)
		return NULL;
	if (schema == NULL)
		object = json_deep_copy(body);
	else
		object = a->resource->builtin
		    ? sim_schema_typed(schema, body, "", unknown, strategic, &error_text)
		    : decode_custom(a->resource, body, unknown, &error_text);
	if (error_text == NULL && json_array_size(unknown) > 0 && strcmp(a->field_validation, "Strict") == 0)
		error_text = unknown_text(unknown);
	if (error_text != NULL) {
		*status = refusal(a, body, strategic ? patch : NULL, patch != NULL, error_text);
		free(error_text);
		return NULL;
	}
	warn(a, unknown);
	set_type(a, object);
	sim_schema_complete(a, object);
	return json_incref(object);
}

/* After the decoding proper: what Go's defaulting functions do. */
void
sim_schema_complete(const struct sim_write_params *a, json_t *object)
{
	const json_t *schema = sim_schema_of(a->resource);

	if (schema == NULL)
		return;
	if (a->resource->builtin)
		sim_schema_fill_zero(schema, object);
	sim_schema_default(schema, object);
	if (sim_kind_rules(a->resource)->complete != NULL)
		sim_kind_rules(a->resource)->complete(object);
}

/* Whether the body is of the kind that the URL names; a built-in kind may leave it out. */
static json_t *
type_refusal(const struct sim_write_params *a, const json_t *body)
{
	const char *version = sim_json_text(body, "apiVersion"), *kind = sim_json_text(body, "kind");
	char expected[256];

	sim_resource_api_version(a->resource, expected, sizeof(expected));
	if (a->resource->builtin)
		return builtin_refusal(a->resource, *kind == '\0' ? a->resource->kind : kind,
		    *version == '\0' ? expected : version, expected);
	if (*kind == '\0') {
		char *text = json_dumps(body, JSON_COMPACT);
		json_t *status = sim_status_bad_request(
		    "the object provided is unrecognized (must be of type %s): Object 'Kind' is missing "
		    "in '%s' (%.30s ...)", a->resource->kind, text, text);

		free(text);
		return status;
	}
	return strcmp(version, expected) == 0 ? NULL
	    : sim_status_bad_request("the API version in the data (%s) "
	    "does not match the expected API version (%s)", version, expected);
}

/* Of another built-in kind, or of an unknown one. */
static json_t *
builtin_refusal(const struct sim_resource *r, const char *kind, const char *version, const char *expected)
{
	const struct sim_resource named = { .group = r->group, .kind = kind, .builtin = true };
	const char *slash = strrchr(version, '/');

	if (strcmp(kind, r->kind) == 0 && strcmp(version, expected) == 0)
		return NULL;
	if (strcmp(version, expected) == 0 && sim_schema_of(&named) != NULL)
		return sim_status_bad_request("%s in version \"%s\" cannot be handled as a %s: converting "
		    "(v1.%s) to (%s.%s): unknown conversion", kind, r->version, r->kind, kind,
		    *r->group == '\0' ? "core" : r->group, r->kind);
	return sim_status_bad_request("%s in version \"%s\" cannot be handled as a %s: no kind \"%s\" is "
	    "registered for version \"%s\" in scheme \"pkg/runtime/scheme.go:111\"", kind, slash == NULL
	    ? version : slash + 1, r->kind, kind, version);
}

/* metadata is read as Go reads it; the rest follows the structural schema. */
static json_t *
decode_custom(const struct sim_resource *r, const json_t *body, json_t *unknown, char **error_text)
{
	const json_t *meta = json_object_get(body, "metadata");
	json_t *object = json_deep_copy(body);

	if (meta != NULL && !json_is_null(meta)) {
		json_t *read = sim_schema_typed(sim_schema_member(r->schema, "metadata", true),
		    meta, "metadata",
		    unknown, false, error_text);

		if (read == NULL)
			return object;
		json_object_set_new(object, "metadata", read);
	}
	sim_schema_prune(r->schema, object, unknown);
	return object;
}

/* A patch to a malformed object is reported with the whole object, a strategic one with the patch. */
static json_t *
refusal(const struct sim_write_params *a, const json_t *body, const json_t *strategic, bool patched,
    const char *why)
{
	if (!patched)
		return sim_status_bad_request("%s in version \"%s\" cannot be handled as a %s: %s",
		    a->resource->kind, a->resource->version, a->resource->kind, why);

	char *text = strategic != NULL ? sim_go_format(strategic)
	    : json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
	json_t *errors = json_array();

	sim_field_error_text(errors, FIELD_INVALID, "patch", text, "%s", why);
	free(text);
	return sim_field_errors_status(errors, "", "", "");
}

static char *
unknown_text(const json_t *unknown)
{
	struct sim_buf text = { 0 };
	size_t i;
	json_t *path;

	sim_buf_puts(&text, "strict decoding error: ");
	json_array_foreach(unknown, i, path)
		sim_buf_printf(&text, "%sunknown field \"%s\"", i == 0 ? "" : ", ", json_string_value(path));
	return text.bytes;
}

static void
warn(const struct sim_write_params *a, const json_t *unknown)
{
	size_t i;
	json_t *path;

	if (a->warnings == NULL || strcmp(a->field_validation, "Ignore") == 0)
		return;
	json_array_foreach(unknown, i, path)
		json_array_append_new(a->warnings,
		    json_sprintf("unknown field \"%s\"", json_string_value(path)));
}

/* What is stored always has apiVersion and kind. */
static void
set_type(const struct sim_write_params *a, json_t *object)
{
	char version[256];

	if (*sim_json_text(object, "kind") == '\0' || a->resource->builtin)
		json_object_set_new(object, "kind", json_string(a->resource->kind));
	if (*sim_json_text(object, "apiVersion") == '\0' || a->resource->builtin)
		json_object_set_new(object, "apiVersion",
		    json_string(sim_resource_api_version(a->resource, version, sizeof(version))));
}
