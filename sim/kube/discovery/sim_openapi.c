/*
 * sim/kube/discovery/sim_openapi.c - /openapi/v3: enough for kubectl to validate, explain, patch and apply.
 *
 * Of the built-in types the documents have names, types and merge rules, but no descriptions: those
 * are Kubernetes' own text. Answers and errors of an operation are left out.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim/kube/semantics/sim_semantics.h"

#define SCHEMAS		"#/components/schemas/"
#define QUANTITY	"io.k8s.apimachinery.pkg.api.resource.Quantity"

static bool is_of(const struct sim_resource *r, const char *group, const char *version);
static char *path_of(const struct sim_resource *r, const char *below);
static char *type_name(const struct sim_resource *r);
static uint64_t hash(const struct sim_resource *const *resources, const struct sim_resource *r);
static void add_paths(json_t *paths, const struct sim_resource *r);
static void add_path(json_t *paths, const struct sim_resource *r, const char *below, unsigned place);
static json_t *operation(const struct sim_resource *r, const char *action);
static json_t *parameters(const char *action);
static json_t *bodies(const struct sim_resource *r, const char *action);
static json_t *kind_of(const struct sim_resource *r);
static void add_schema(json_t *schemas, const struct sim_resource *r);
static void add_type(json_t *schemas, const char *name);
static json_t *published(json_t *schemas, const json_t *schema);
static void publish_reference(json_t *schemas, json_t *copy, const char *name);
static void publish_int_or_text(json_t *copy);

/* The operations of a path: of all objects, of one, of its status. */
enum openapi_scope { OF_ALL = 1, OF_ONE = 2, OF_STATUS = 4 };
static const struct {
	const char	*method, *action;
	unsigned	 places;
	unsigned	 verb;
} operations[] = {
	{ "get",	"list",		OF_ALL,			VERB_LIST	},
	{ "post",	"post",		OF_ALL,			VERB_CREATE	},
	{ "get",	"get",		OF_ONE | OF_STATUS,	VERB_GET	},
	{ "put",	"put",		OF_ONE | OF_STATUS,	VERB_UPDATE	},
	{ "patch",	"patch",	OF_ONE | OF_STATUS,	VERB_PATCH	},
	{ "delete",	"delete",	OF_ONE,			VERB_DELETE	},
};

json_t *
sim_openapi_index(const struct sim_resource *const *resources)
{
	json_t *paths = json_object();

	for (const struct sim_resource *const *r = resources; *r != NULL; r++) {
		char name[320], url[400];

		if (!(*r)->served)
			continue;
		if (*(*r)->group == '\0')
			snprintf(name, sizeof(name), "api/%s", (*r)->version);
		else
			snprintf(name, sizeof(name), "apis/%s/%s", (*r)->group, (*r)->version);
		if (json_object_get(paths, name) != NULL)
			continue;
		/* The hash lets a client keep the document until it changes. */
		snprintf(url, sizeof(url), "/openapi/v3/%s?hash=%016llX", name,
		    (unsigned long long)hash(resources, *r));
		json_object_set_new(paths, name, json_pack("{s:s}", "serverRelativeURL", url));
	}
	return json_pack("{s:o}", "paths", paths);
}

json_t *
sim_openapi_document(const struct sim_resource *const *resources, const char *group, const char *version)
{
	json_auto_t *paths = json_object(), *schemas = json_object();

	for (const struct sim_resource *const *r = resources; *r != NULL; r++) {
		if (!is_of(*r, group, version))
			continue;
		add_paths(paths, *r);
		add_schema(schemas, *r);
	}
	return json_object_size(paths) == 0 ? NULL
	    : json_pack("{s:s, s:{s:s, s:s}, s:O, s:{s:O}}", "openapi", "3.0.0",
	    "info", "title", "Kubernetes (muster-sim)", "version", "v1.35.4",
	    "paths", paths, "components", "schemas", schemas);
}

static bool
is_of(const struct sim_resource *r, const char *group, const char *version)
{
	return r->served && strcmp(r->group, group) == 0 && strcmp(r->version, version) == 0;
}

static char *
path_of(const struct sim_resource *r, const char *below)
{
	char *path;

	MUST(asprintf(&path, "/%s%s%s/%s%s/%s%s", *r->group == '\0' ? "api" : "apis/", r->group, "",
	    r->version, r->namespaced ? "/namespaces/{namespace}" : "", r->plural, below) > 0);
	return path;
}

/* The group backwards, as the real one names the types of a CRD; a built-in type is found in the table. */
static char *
type_name(const struct sim_resource *r)
{
	const char *name;
	json_t *type;

	if (r->builtin) {
		JSON_EACH(sim_schema_types(), name, type)
			if (type == sim_schema_of(r))
				return obj_strdup(name);
	}
	struct sim_buf text = { 0 };

	for (const char *end = r->group + strlen(r->group), *p = end; p >= r->group; p--) {
		if (p > r->group && p[-1] != '.')
			continue;
		sim_buf_printf(&text, "%.*s.", (int)(end - p), p);
		end = p > r->group ? p - 1 : p;
	}
	sim_buf_printf(&text, "%s.%s", r->version, r->kind);
	return text.bytes;
}

/* Over everything the document of this group and version is made from. */
static uint64_t
hash(const struct sim_resource *const *resources, const struct sim_resource *r)
{
	uint64_t h = HASH64_SEED;

	for (; *resources != NULL; resources++) {
		if (!is_of(*resources, r->group, r->version))
			continue;
		const struct sim_resource *one = *resources;
		char *schema = one->schema == NULL ? obj_strdup("") : json_dumps(one->schema, JSON_COMPACT);
		const char *const parts[] = { one->kind, one->has_status ? "s" : "", schema };

		for (size_t i = 0; i < NITEMS(parts); i++)
			h = hash64_more(h, parts[i], strlen(parts[i]));
		free(schema);
	}
	return h;
}

static void
add_paths(json_t *paths, const struct sim_resource *r)
{
	add_path(paths, r, "", OF_ALL);
	if (r->answers_only)
		return;
	add_path(paths, r, "/{name}", OF_ONE);
	if (r->has_status)
		add_path(paths, r, "/{name}/status", OF_STATUS);
}

static void
add_path(json_t *paths, const struct sim_resource *r, const char *below, unsigned place)
{
	json_t *path = json_object();
	char *name = path_of(r, below);

	for (size_t i = 0; i < NITEMS(operations); i++)
		if ((operations[i].places & place) != 0 && (operations[i].verb & r->verbs) != 0)
			json_object_set_new(path, operations[i].method, operation(r, operations[i].action));
	json_object_set_new(paths, name, path);
	free(name);
}

static json_t *
operation(const struct sim_resource *r, const char *action)
{
	json_t *op = json_pack("{s:o, s:{s:{s:s}}, s:s, s:o}", "parameters", parameters(action),
	    "responses", "200", "description", "OK", "x-kubernetes-action", action,
	    "x-kubernetes-group-version-kind", kind_of(r));
	json_t *content = bodies(r, action);

	if (content != NULL)
		json_object_set_new(op, "requestBody", json_pack("{s:o, s:b}", "content", content,
		    "required", 1));
	return op;
}

/* kubectl checks whether a PATCH has dryRun and fieldValidation before it sends them. */
static json_t *
parameters(const char *action)
{
	static const struct {
		const char *name, *type, *actions;
	} rows[] = {
		{ "dryRun",		"string",	"post put patch delete" },
		{ "fieldManager",	"string",	"post put patch" },
		{ "fieldValidation",	"string",	"post put patch" },
		{ "force",		"boolean",	"patch" },
		{ "labelSelector",	"string",	"list" },
		{ "fieldSelector",	"string",	"list" },
		{ "limit",		"integer",	"list" },
		{ "continue",		"string",	"list" },
		{ "resourceVersion",	"string",	"list" },
		{ "watch",		"boolean",	"list" },
	};
	json_t *list = json_array();

	for (size_t i = 0; i < NITEMS(rows); i++)
		if (strstr(rows[i].actions, action) != NULL)
			json_array_append_new(list, json_pack("{s:s, s:s, s:{s:s}}", "name", rows[i].name,
			    "in", "query", "schema", "type", rows[i].type));
	return list;
}

/* NULL: the operation has no body. */
static json_t *
bodies(const struct sim_resource *r, const char *action)
{
	static const char *const patches[] = {
		"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml",
		"application/strategic-merge-patch+json",
	};
	char *type = type_name(r);
	json_t *content = NULL;

	if (strcmp(action, "patch") == 0) {
		content = json_object();
		for (size_t i = 0; i < NITEMS(patches) - !r->builtin; i++)
			json_object_set_new(content, patches[i],
			    json_pack("{s:{s:s}}", "schema", "type", "object"));
	} else if (strcmp(action, "post") == 0 || strcmp(action, "put") == 0) {
		content = json_pack("{s:{s:{s:o}}}", "application/json", "schema", "$ref",
		    json_sprintf(SCHEMAS "%s", type));
	}
	free(type);
	return content;
}

static json_t *
kind_of(const struct sim_resource *r)
{
	return json_pack("{s:s, s:s, s:s}", "group", r->group, "kind", r->kind, "version", r->version);
}

/* The type itself, everything it refers to, and metadata, which a CRD need not mention. */
static void
add_schema(json_t *schemas, const struct sim_resource *r)
{
	static const char *const implied[] = { "apiVersion", "kind", "metadata" };
	char *name = type_name(r);
	const json_t *schema = sim_schema_of(r);
	json_t *copy = schema == NULL ? json_pack("{s:s}", "type", "object") : published(schemas, schema);
	json_t *properties = sim_json_branch(copy, "properties");

	for (size_t i = 0; i < NITEMS(implied); i++)
		json_object_set_new(properties, implied[i],
		    published(schemas, sim_schema_member(schema, implied[i], true)));
	json_object_set_new(copy, "x-kubernetes-group-version-kind", json_pack("[o]", kind_of(r)));
	json_object_set_new(schemas, name, copy);
	free(name);
}

static void
add_type(json_t *schemas, const char *name)
{
	if (json_object_get(schemas, name) != NULL)
		return;
	if (strcmp(name, QUANTITY) == 0) {
		json_object_set_new(schemas, name, json_pack("{s:[{s:s}, {s:s}]}", "oneOf", "type",
		    "string", "type", "number"));
		return;
	}
	json_object_set_new(schemas, name, json_object());	/* a type may refer to itself */
	json_object_set_new(schemas, name, published(schemas, json_object_get(sim_schema_types(), name)));
}

/* A schema as a document has it: without our own words, with references of its form. */
static json_t *
published(json_t *schemas, const json_t *schema)
{
	json_t *copy, *child;
	const char *key;
	size_t i;

	if (json_is_array(schema)) {
		copy = json_array();
		json_array_foreach(schema, i, child)
			json_array_append_new(copy, published(schemas, child));
		return copy;
	}
	if (!json_is_object(schema))
		return json_deep_copy(schema);
	copy = json_object();
	JSON_EACH(schema, key, child) {
		if (strcmp(key, "x-muster-zero") == 0) {
			if (!json_is_null(child) && json_object_get(schema, "default") == NULL)
				json_object_set(copy, "default", child);
		} else if (strncmp(key, "x-muster-", strlen("x-muster-")) != 0 && strcmp(key, "$ref") != 0) {
			json_object_set_new(copy, key, published(schemas, child));
		}
	}
	if (json_is_string(json_object_get(schema, "$ref")))
		publish_reference(schemas, copy, sim_json_text(schema, "$ref"));
	if (is_text(json_object_get(schema, "x-muster-go"), "resource.Quantity")) {
		json_object_clear(copy);
		publish_reference(schemas, copy, QUANTITY);
	}
	if (json_is_true(json_object_get(schema, "x-kubernetes-int-or-string")) && json_object_get(schema,
	    "type") == NULL)
		publish_int_or_text(copy);
	return copy;
}

static void
publish_reference(json_t *schemas, json_t *copy, const char *name)
{
	json_object_set_new(copy, "allOf", json_pack("[{s:o}]", "$ref", json_sprintf(SCHEMAS "%s", name)));
	add_type(schemas, name);
}

static void
publish_int_or_text(json_t *copy)
{
	if (json_object_get(copy, "oneOf") == NULL && json_object_get(copy, "anyOf") == NULL)
		json_object_set_new(copy, "oneOf", json_pack("[{s:s}, {s:s}]", "type", "integer", "type",
		    "string"));
}
