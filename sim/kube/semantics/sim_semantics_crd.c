/*
 * sim/kube/semantics/sim_semantics_crd.c - what the server refuses in a CustomResourceDefinition:
 * names, versions, the structural schema.
 *
 * Not checked: CEL rules, the conversion webhook, selectable fields, the approval of groups of
 * Kubernetes itself.
 */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim_field_errors.h"
#include "sim_semantics.h"
#include "sim_semantics_rules.h"

static void check_group(json_t *errors, const json_t *crd);
static void check_names(json_t *errors, const json_t *names);
static void check_kind(json_t *errors, const char *field, const char *kind);
static void check_versions(json_t *errors, const json_t *versions);
static void check_storage(json_t *errors, const json_t *versions);
static void check_schemas(json_t *errors, const json_t *versions);
static void check_columns(json_t *errors, const json_t *columns, const char *path);
static void check_schema(json_t *errors, const json_t *schema, const char *path, bool root, bool item);
static void check_type(json_t *errors, const json_t *schema, const char *path, bool root, bool item);
static void check_list(json_t *errors, const json_t *schema, const char *path);
static void check_below(json_t *errors, const json_t *schema, const char *path);
static bool all_alike(const json_t *versions, const char *key);
static json_t *inner_form(const json_t *versions);
static void required(json_t *errors, const json_t *object, const char *key, const char *field);

json_t *
sim_semantics_crd_refusal(const json_t *crd)
{
	static const char *const scopes[] = { "Cluster", "Namespaced" };
	const json_t *spec = json_object_get(crd, "spec");
	const char *scope = sim_json_text(spec, "scope");
	json_t *errors = json_array();

	check_group(errors, crd);
	if (json_is_true(json_object_get(spec, "preserveUnknownFields")))
		sim_field_error(errors, FIELD_INVALID, "spec.preserveUnknownFields", json_true(),
		    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
		    "spec.versions[*].schema instead");
	if (*scope == '\0')
		sim_field_error(errors, FIELD_REQUIRED, "spec.scope", NULL, "%s", "");
	else if (strcmp(scope, scopes[0]) != 0 && strcmp(scope, scopes[1]) != 0)
		sim_field_error_text(errors, FIELD_UNSUPPORTED, "spec.scope", scope,
		    "supported values: \"Cluster\", \"Namespaced\"");
	check_versions(errors, json_object_get(spec, "versions"));
	check_names(errors, json_object_get(spec, "names"));
	check_schemas(errors, json_object_get(spec, "versions"));
	return sim_field_errors_status(errors, "apiextensions.k8s.io", "CustomResourceDefinition",
	    meta_text(crd, "name"));
}

static void
check_group(json_t *errors, const json_t *crd)
{
	const json_t *spec = json_object_get(crd, "spec");
	const char *group = sim_json_text(spec, "group"), *name = meta_text(crd, "name");
	json_auto_t *wanted = json_sprintf("%s.%s", sim_json_text_at(spec, "names.plural"), group);

	if (!is_text(wanted, name))
		sim_field_error_text(errors, FIELD_INVALID, "metadata.name", name,
		    "must be spec.names.plural+\".\"+spec.group");
	if (*group == '\0')
		sim_field_error(errors, FIELD_REQUIRED, "spec.group", NULL, "%s", "");
	else if (strchr(group, '.') == NULL)
		sim_field_error_text(errors, FIELD_INVALID, "spec.group", group,
		    "should be a domain with at least one dot");
	else
		sim_name_check(errors, "spec.group", group, NAME_SUBDOMAIN, false);
}

static void
check_names(json_t *errors, const json_t *names)
{
	static const char *const resources[] = { "plural", "singular" };
	size_t i;
	json_t *name;

	for (size_t k = 0; k < NITEMS(resources); k++) {
		char field[64];

		snprintf(field, sizeof(field), "spec.names.%s", resources[k]);
		required(errors, names, resources[k], field);
		if (*sim_json_text(names, resources[k]) != '\0')
			sim_name_check(errors, field, sim_json_text(names, resources[k]),
			    NAME_RESOURCE, false);
	}
	required(errors, names, "kind", "spec.names.kind");
	check_kind(errors, "spec.names.kind", sim_json_text(names, "kind"));
	required(errors, names, "listKind", "spec.names.listKind");
	check_kind(errors, "spec.names.listKind", sim_json_text(names, "listKind"));
	json_array_foreach(json_object_get(names, "shortNames"), i, name) {
		char field[64];

		snprintf(field, sizeof(field), "spec.names.shortNames[%zu]", i);
		sim_name_check(errors, field, json_string_value(name), NAME_RESOURCE, false);
	}
	if (*sim_json_text(names, "kind") != '\0'
	    && strcmp(sim_json_text(names, "kind"), sim_json_text(names, "listKind")) == 0)
		sim_field_error_text(errors, FIELD_INVALID, "spec.names.listKind",
		    sim_json_text(names, "listKind"),
		    "kind and listKind may not be the same");
}

/* As a resource, but for the case. */
static void
check_kind(json_t *errors, const char *field, const char *kind)
{
	json_auto_t *lower = sim_json_lower(kind), *wrong = json_array();
	size_t i;
	json_t *cause;

	if (*kind != '\0')
		sim_name_check(wrong, field, json_string_value(lower), NAME_RESOURCE, false);
	json_array_foreach(wrong, i, cause) {
		const char *why = strstr(sim_json_text(cause, "message"), "\": ");

		sim_field_error_text(errors, FIELD_INVALID, field, kind,
		    "may have mixed case, but should otherwise match: %s", why == NULL ? ""
		    : why + strlen("\": "));
	}
}

static void
check_versions(json_t *errors, const json_t *versions)
{
	const bool alike = all_alike(versions, "schema");
	size_t i;
	json_t *version;

	json_array_foreach(versions, i, version) {
		char field[64];

		snprintf(field, sizeof(field), "spec.versions[%zu].name", i);
		sim_name_check(errors, field, sim_json_text(version, "name"), NAME_RESOURCE, false);
		snprintf(field, sizeof(field), "spec.versions[%zu].schema.openAPIV3Schema", i);
		if (sim_json_at(version, "schema.openAPIV3Schema") == NULL)
			sim_field_error(errors, FIELD_REQUIRED, field, NULL, "%s", "");
		for (size_t k = 0; k < i; k++) {
			if (!same_member(version, json_array_get(versions, k), "name"))
				continue;
			json_auto_t *shown = inner_form(versions);

			sim_field_error(errors, FIELD_INVALID, "spec.versions", shown,
			    "must contain unique version names");
			break;
		}
	}
	check_storage(errors, versions);
	/* Of the inner form, which has one schema and one version where all have the same. */
	if (alike && json_array_size(versions) > 0)
		sim_name_check(errors, "spec.version", sim_json_text(json_array_get(versions, 0), "name"),
		    NAME_RESOURCE, false);
}

static void
check_storage(json_t *errors, const json_t *versions)
{
	const char *first = NULL, *last = NULL;
	size_t n = 0, i;
	json_t *version;

	json_array_foreach(versions, i, version) {
		if (!json_is_true(json_object_get(version, "storage")))
			continue;
		n++;
		last = sim_json_text(version, "name");
		first = first == NULL ? last : first;
	}
	if (n == 1)
		return;

	json_auto_t *shown = inner_form(versions);
	json_auto_t *stored = first == NULL ? json_null() : json_pack("[s]", first);

	sim_field_error(errors, FIELD_INVALID, "spec.versions", shown,
	    "must have exactly one version marked as storage version");
	if (n == 0)
		sim_field_error(errors, FIELD_INVALID, "status.storedVersions", stored,
		    "must have at least one stored version");
	else
		sim_field_error(errors, FIELD_INVALID, "status.storedVersions", stored,
		    "must have the storage version %s", last);
}

/* What all versions have in common is reported once, at the path of the internal version. */
static void
check_schemas(json_t *errors, const json_t *versions)
{
	const bool one_schema = all_alike(versions, "schema"),
	    one_table = all_alike(versions, "additionalPrinterColumns");
	size_t i;
	json_t *version;

	json_array_foreach(versions, i, version) {
		const json_t *schema = sim_json_at(version, "schema.openAPIV3Schema");
		char path[64];

		snprintf(path, sizeof(path), "spec.versions[%zu].schema.openAPIV3Schema", i);
		if (schema != NULL && (!one_schema || i == 0))
			check_schema(errors, schema, one_schema ? "spec.validation.openAPIV3Schema" : path,
			    true, false);
		snprintf(path, sizeof(path), "spec.versions[%zu].additionalPrinterColumns", i);
		if (!one_table || i == 0)
			check_columns(errors, json_object_get(version, "additionalPrinterColumns"),
			    one_table ? "spec.additionalPrinterColumns" : path);
	}
}

static void
check_columns(json_t *errors, const json_t *columns, const char *path)
{
	static const char *const types[] = { "boolean", "date", "integer", "number", "string" };
	size_t i;
	json_t *column;

	json_array_foreach(columns, i, column) {
		const char *type = sim_json_text(column, "type"),
		    *json_path = sim_json_text(column, "jsonPath");
		bool known = false;
		char field[128];

		for (size_t k = 0; k < NITEMS(types); k++)
			known = known || strcmp(types[k], type) == 0;
		snprintf(field, sizeof(field), "%s[%zu].type", path, i);
		if (!known)
			sim_field_error_text(errors, FIELD_INVALID, field, type,
			    "must be one of boolean,date,integer,number,string");
		snprintf(field, sizeof(field), "%s[%zu].JSONPath", path, i);
		if (*json_path != '.')
			sim_field_error_text(errors, FIELD_INVALID, field, json_path,
			    "must be a simple json path starting with .");
	}
}

/* A structural schema has a type for everything. */
static void
check_schema(json_t *errors, const json_t *schema, const char *path, bool root, bool item)
{
	const json_t *usual = json_object_get(schema, "default");
	json_auto_t *at_default = json_sprintf("%s.default", path);
	json_auto_t *at_others = json_sprintf("%s.additionalProperties", path);

	check_below(errors, schema, path);
	check_type(errors, schema, path, root, item);
	check_list(errors, schema, path);
	if (json_object_get(schema, "properties") != NULL
	    && json_is_object(json_object_get(schema, "additionalProperties")))
		sim_field_error(errors, FIELD_FORBIDDEN, json_string_value(at_others), NULL,
		    "additionalProperties and properties are mutual exclusive");
	if (usual != NULL)
		sim_schema_check_value(errors, schema, usual, json_string_value(at_default));
}

static void
check_type(json_t *errors, const json_t *schema, const char *path, bool root, bool item)
{
	static const char *const types[] = { "array", "boolean", "integer", "number", "object", "string" };
	const char *type = sim_json_text(schema, "type");
	json_auto_t *at = json_sprintf("%s.type", path);
	const char *field = json_string_value(at);
	bool known = *type == '\0';

	for (size_t i = 0; i < NITEMS(types); i++)
		known = known || strcmp(types[i], type) == 0;
	if (!known)
		sim_field_error_text(errors, FIELD_UNSUPPORTED, field, type,
		    "supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", "
		    "\"string\"");
	if (root && *type != '\0' && strcmp(type, "object") != 0)
		sim_field_error_text(errors, FIELD_INVALID, field, type, "must be object at the root");
	if (*type == '\0' && !json_is_true(json_object_get(schema, "x-kubernetes-int-or-string"))
	    && !sim_schema_keeps_unknown(schema))
		sim_field_error(errors, FIELD_REQUIRED, field, NULL, "must not be empty %s",
		    root ? "at the root" : item ? "for specified array items" :
		    "for specified object fields");
}

static void
check_list(json_t *errors, const json_t *schema, const char *path)
{
	const json_t *keys, *items = sim_schema_items(schema);
	json_auto_t *at_items = json_sprintf("%s.items", path);
	json_auto_t *at_keys = json_sprintf("%s.x-kubernetes-list-map-keys", path);
	size_t i;
	json_t *key;

	if (strcmp(sim_json_text(schema, "type"), "array") == 0 && items == NULL)
		sim_field_error(errors, FIELD_REQUIRED, json_string_value(at_items), NULL,
		    "must be specified");
	if (sim_schema_list(schema, &keys) != LIST_MAP)
		return;
	if (json_array_size(keys) == 0)
		sim_field_error(errors, FIELD_REQUIRED, json_string_value(at_keys), NULL,
		    "must not be empty if x-kubernetes-list-type is map");
	json_array_foreach(keys, i, key) {
		const json_t *member = sim_schema_member(items, json_string_value(key), false);

		if (has_text(json_object_get(items, "required"), json_string_value(key))
		    || json_object_get(member, "default") != NULL)
			continue;
		json_auto_t *field = json_sprintf("%s.items.properties[%s].default", path,
		    json_string_value(key));

		sim_field_error(errors, FIELD_REQUIRED, json_string_value(field), NULL,
		    "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
		    "required property");
	}
}

static void
check_below(json_t *errors, const json_t *schema, const char *path)
{
	const json_t *others = json_object_get(schema, "additionalProperties");
	json_auto_t *at_items = json_sprintf("%s.items", path);
	json_auto_t *at_others = json_sprintf("%s.additionalProperties", path);
	const char *key;
	json_t *member;

	JSON_EACH(json_object_get(schema, "properties"), key, member) {
		json_auto_t *field = json_sprintf("%s.properties[%s]", path, key);

		check_schema(errors, member, json_string_value(field), false, false);
	}
	if (sim_schema_items(schema) != NULL)
		check_schema(errors, sim_schema_items(schema), json_string_value(at_items), false, true);
	if (json_is_object(others))
		check_schema(errors, others, json_string_value(at_others), false, false);
}

static bool
all_alike(const json_t *versions, const char *key)
{
	const json_t *first = json_array_get(versions, 0);
	size_t i;
	json_t *version;

	json_array_foreach(versions, i, version)
		if (!same_member(version, first, key))
			return false;
	return true;
}

/* The versions as Go prints its inner form of them; the parts that all have in common are not there. */
static json_t *
inner_form(const json_t *versions)
{
	json_t *list = json_array(), *version;
	size_t i;

	json_array_foreach(versions, i, version)
		json_array_append_new(list, json_pack("{s:s, s:b, s:b, s:b, s:n, s:n, s:n, s:n, s:n}",
		    "Name", sim_json_text(version, "name"), "Served",
		    json_is_true(json_object_get(version, "served")), "Storage",
		    json_is_true(json_object_get(version, "storage")), "Deprecated",
		    json_is_true(json_object_get(version, "deprecated")), "DeprecationWarning", "Schema",
		    "Subresources", "AdditionalPrinterColumns", "SelectableFields"));
	return list;
}

static void
required(json_t *errors, const json_t *object, const char *key, const char *field)
{
	if (*sim_json_text(object, key) == '\0')
		sim_field_error(errors, FIELD_REQUIRED, field, NULL, "%s", "");
}
