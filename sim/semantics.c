/* sim/semantics.c - create, update and patch: the order in which the rules are applied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "obj.h"
#include "patch.h"
#include "schema.h"
#include "semantics.h"
#include "semantics_flaws.h"
#include "semantics_json.h"
#include "semantics_rules.h"
#include "strategic.h"
#include "yaml.h"

enum { OPERATIONS_MAX = 10000, MANAGER_MAX = 128 };

static json_t *create(const struct ask *a, json_t *object, json_t **status);
static json_t *update(const struct ask *a, json_t *object, const json_t *old, json_t **status);
static json_t *patched(const struct ask *a, const json_t *old, enum patch_type type, const char *bytes, size_t len,
    json_t **status);
static json_t *operations(const json_t *old, const json_t *patch, json_t **status);
static json_t *parse(enum patch_type type, const char *bytes, size_t len, json_t **status);
static json_t *address_refusal(const struct ask *a, const json_t *object);
static json_t *version_refusal(const struct ask *a, const json_t *object, const json_t *old);
static json_t *uid_refusal(const struct ask *a, const json_t *object, const json_t *old);
static void separate_status(const struct ask *a, json_t *object, const json_t *old);
static void count_generation(const struct ask *a, json_t *object, const json_t *old);
static json_t *flaws_of(const struct ask *a, const json_t *object, const json_t *old);
static void check_type(json_t *flaws, const struct ask *a, const json_t *object);
static void warn_of_finalizers(const struct ask *a, const json_t *object, const json_t *old);
static json_t *options_refusal(const struct ask *a, const char *kind, bool patch, bool apply);
static bool is_status(const struct ask *a);
static json_t *refused(json_t *object, json_t *why, json_t **status);

json_t *
semantics_create(const struct ask *a, const json_t *body, json_t **status)
{
	if ((*status = options_refusal(a, "CreateOptions", false, false)) != NULL)
		return NULL;

	json_t *object = schema_decode(a, body, NULL, false, status);

	if (object == NULL)
		return NULL;

	const char *namespace = meta_text(object, "namespace");

	if (a->resource->namespaced && *namespace != '\0' && strcmp(namespace, a->namespace) != 0)
		return refused(object, status_bad_request(
		    "the namespace of the provided object does not match the namespace sent on the request"), status);
	const bool versioned = *meta_text(object, "resourceVersion") != '\0';

	apply_track(a, object, NULL);
	object = create(a, object, status);
	if (object != NULL && versioned)
		return refused(object, semantics_failure(500, "", "resourceVersion should not be set on objects to be created",
		    NULL, "", NULL), status);
	return object;
}

json_t *
semantics_update(const struct ask *a, const json_t *old, const json_t *body, json_t **status)
{
	if ((*status = options_refusal(a, "UpdateOptions", false, false)) != NULL)
		return NULL;

	json_t *object = schema_decode(a, body, NULL, false, status);
	json_t *why;

	if (object == NULL)
		return NULL;
	if ((why = address_refusal(a, object)) != NULL)
		return refused(object, why, status);
	if (old == NULL) {
		if (!kind_rules(a->resource)->creates_on_update)
			return refused(object, semantics_not_found(a->resource, a->name), status);
		apply_track(a, object, NULL);
		return create(a, object, status);
	}
	if ((why = uid_refusal(a, object, old)) != NULL)
		return refused(object, why, status);
	apply_track(a, object, old);
	return update(a, object, old, status);
}

json_t *
semantics_patch(const struct ask *a, const json_t *old, enum patch_type type, const char *bytes, size_t len,
    json_t **status)
{
	if ((*status = options_refusal(a, "PatchOptions", true, type == PATCH_APPLY)) != NULL)
		return NULL;
	if (old == NULL && (type != PATCH_APPLY || *a->subresource != '\0')) {
		*status = semantics_not_found(a->resource, a->name);
		return NULL;
	}

	json_t *object = patched(a, old, type, bytes, len, status);
	json_t *why;

	if (object == NULL)
		return NULL;
	if ((why = address_refusal(a, object)) != NULL)
		return refused(object, why, status);
	if (old == NULL && *meta_text(object, "uid") != '\0') {
		char *message;

		MUST(asprintf(&message, "uid mismatch: the provided object specified uid %s, and no existing object was found",
		    meta_text(object, "uid")) > 0);
		why = status_conflict(a->resource, a->resource->plural, a->name, message);
		free(message);
		return refused(object, why, status);
	}
	if (old == NULL)
		return create(a, object, status);
	if (type != PATCH_APPLY)
		apply_track(a, object, old);
	return update(a, object, old, status);
}

/* Takes object. */
static json_t *
create(const struct ask *a, json_t *object, json_t **status)
{
	const struct kind_rules *rules = kind_rules(a->resource);

	metadata_fill(a, object);
	if (a->resource->has_status && !rules->keeps_status)
		json_object_del(object, "status");
	if (a->resource->counts_generation)
		json_object_set_new(metadata_of(object), "generation", json_integer(1));
	if (rules->prepare != NULL)
		rules->prepare(a, object, NULL);

	json_object_del(metadata_of(object), "resourceVersion");

	json_t *why = flaws_of(a, object, NULL);

	return why == NULL ? object : refused(object, why, status);
}

/* Takes object. */
static json_t *
update(const struct ask *a, json_t *object, const json_t *old, json_t **status)
{
	json_t *why = version_refusal(a, object, old);

	if (why != NULL)
		return refused(object, why, status);
	separate_status(a, object, old);
	metadata_keep(object, old);
	count_generation(a, object, old);
	if (kind_rules(a->resource)->prepare != NULL)
		kind_rules(a->resource)->prepare(a, object, old);
	if ((why = flaws_of(a, object, old)) != NULL)
		return refused(object, why, status);
	take_member(object, old, "apiVersion");
	apply_settle(object, old);
	return object;
}

static json_t *
patched(const struct ask *a, const json_t *old, enum patch_type type, const char *bytes, size_t len, json_t **status)
{
	json_t *patch = parse(type, bytes, len, status);
	json_t *raw = NULL, *object = NULL;

	if (patch == NULL)
		return NULL;
	switch (type) {
	case PATCH_JSON:
		raw = operations(old, patch, status);
		break;
	case PATCH_MERGE:
		raw = patch_merge(old, patch);
		break;
	case PATCH_STRATEGIC:
		raw = strategic_merge(schema_of(a->resource), old, patch, status);
		break;
	case PATCH_APPLY:
		object = apply_config(a, old, patch, status);
		break;
	}
	if (raw != NULL)
		object = schema_decode(a, raw, patch, type == PATCH_STRATEGIC, status);
	json_decref(raw);
	json_decref(patch);
	return object;
}

static json_t *
operations(const json_t *old, const json_t *patch, json_t **status)
{
	if (json_array_size(patch) > OPERATIONS_MAX) {
		char message[160];

		snprintf(message, sizeof(message), "Request entity too large: The allowed maximum operations in a JSON patch is "
		    "%d, got %zu", OPERATIONS_MAX, json_array_size(patch));
		*status = semantics_failure(413, "RequestEntityTooLarge", message, NULL, "", NULL);
		return NULL;
	}

	json_t *object = patch_operations(old, patch);

	if (object == NULL)
		*status = semantics_failure(422, "Invalid", "the server rejected our request due to an error in our request",
		    &(struct resource){ .group = "", .plural = "" }, "", NULL);
	return object;
}

static json_t *
parse(enum patch_type type, const char *bytes, size_t len, json_t **status)
{
	static const char *const wanted[] = {
		[PATCH_JSON] = "[]handlers.jsonPatchOp",
		[PATCH_MERGE] = "map[string]interface {}",
		[PATCH_STRATEGIC] = "map[string]interface {}",
		[PATCH_APPLY] = "map[string]interface {}",
	};
	json_error_t error = { 0 };
	char why[256] = "", *message;
	json_t *patch = type == PATCH_APPLY ? yaml_parse(bytes, len, why, sizeof(why))
	    : json_loadb(bytes, len, JSON_DECODE_ANY, &error);

	if (type == PATCH_JSON ? json_is_array(patch) : json_is_object(patch))
		return patch;
	if (json_is_null(patch) && type == PATCH_MERGE)
		message = obj_strdup("Invalid JSON Patch");
	else
		MUST(asprintf(&message, "%s%s%s%s%s", type == PATCH_APPLY ? "error decoding YAML: " : type == PATCH_STRATEGIC ? ""
		    : "error decoding patch: ",
		    patch != NULL ? "json: cannot unmarshal " : type == PATCH_APPLY ? why : error.text,
		    patch == NULL ? "" : json_is_array(patch) ? "array" : json_is_object(patch) ? "object" : "value",
		    patch == NULL ? "" : " into Go value of type ", patch == NULL ? "" : wanted[type]) > 0);
	json_decref(patch);
	*status = status_bad_request(message);
	free(message);
	return NULL;
}

/* The name and the namespace in the object are those of the URL. */
static json_t *
address_refusal(const struct ask *a, const json_t *object)
{
	const char *name = meta_text(object, "name"), *namespace = meta_text(object, "namespace");
	char *message = NULL;

	if (a->resource->namespaced && *namespace != '\0' && strcmp(namespace, a->namespace) != 0)
		return status_bad_request(
		    "the namespace of the provided object does not match the namespace sent on the request");
	if (*name == '\0')
		MUST(asprintf(&message, "the name of the object (%s based on URL) was undeterminable: name must be provided",
		    a->name) > 0);
	else if (strcmp(name, a->name) != 0)
		MUST(asprintf(&message, "the name of the object (%s) does not match the name on the URL (%s)", name,
		    a->name) > 0);

	json_t *why = message == NULL ? NULL : status_bad_request(message);

	free(message);
	return why;
}

static json_t *
version_refusal(const struct ask *a, const json_t *object, const json_t *old)
{
	const char *version = meta_text(object, "resourceVersion");
	json_t *flaws;

	if (*version == '\0' || strcmp(version, "0") == 0) {
		if (!kind_rules(a->resource)->needs_version)
			return NULL;
		json_t *zero = json_integer(0);

		flaws = json_array();
		flaw(flaws, FLAW_INVALID, "metadata.resourceVersion", zero, "must be specified for an update");
		json_decref(zero);
		return flaws_status(flaws, a->resource->group, a->resource->plural, a->name);
	}
	if (strcmp(version, meta_text(old, "resourceVersion")) != 0)
		return status_conflict(a->resource, a->resource->plural, a->name, "the object has been modified; "
		    "please apply your changes to the latest version and try again");
	return NULL;
}

/* A PUT that names a uid means that very object. */
static json_t *
uid_refusal(const struct ask *a, const json_t *object, const json_t *old)
{
	const char *uid = meta_text(object, "uid");
	char *why;

	if (*uid == '\0' || strcmp(uid, meta_text(old, "uid")) == 0)
		return NULL;
	MUST(asprintf(&why, "StorageError: invalid object, Code: 4, Key: /registry/%s%s%s%s%s%s/%s, ResourceVersion: 0, "
	    "AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s",
	    a->resource->builtin ? "" : a->resource->group, a->resource->builtin ? "" : "/",
	    strcmp(a->resource->plural, "nodes") == 0 ? "minions" : a->resource->plural,
	    a->resource->namespaced ? "/" : "", a->resource->namespaced ? a->namespace : "", "", a->name, uid,
	    meta_text(old, "uid")) > 0);
	json_t *status = status_conflict(a->resource, a->resource->plural, a->name, why);

	free(why);
	return status;
}

/* The main endpoint leaves the status alone; /status leaves everything else alone. */
static void
separate_status(const struct ask *a, json_t *object, const json_t *old)
{
	if (!a->resource->has_status)
		return;
	if (!is_status(a)) {
		take_member(object, old, "status");
		return;
	}

	const char *key;
	void *next;
	json_t *value;

	json_object_foreach_safe(object, next, key, value)
		if (strcmp(key, "status") != 0 && strcmp(key, "metadata") != 0)
			take_member(object, old, key);
	JSON_EACH(old, key, value)
		if (strcmp(key, "status") != 0 && strcmp(key, "metadata") != 0)
			take_member(object, old, key);
	if (kind_rules(a->resource)->status_keeps_metadata) {
		json_t *managed = json_incref(json_object_get(meta_of(object), "managedFields"));

		take_member(object, old, "metadata");
		json_object_set_new(metadata_of(object), "managedFields", managed);
	}
}

static void
count_generation(const struct ask *a, json_t *object, const json_t *old)
{
	if (!a->resource->counts_generation || is_status(a))
		return;

	json_t *now = json_copy(object), *before = json_copy((json_t *)(uintptr_t)old);
	static const char *const ignored[] = { "metadata", "apiVersion" };

	for (size_t i = 0; i < NITEMS(ignored); i++) {
		json_object_del(now, ignored[i]);
		json_object_del(before, ignored[i]);
	}
	if (!json_equal(now, before)) {
		const json_int_t generation = json_integer_value(json_object_get(meta_of(old), "generation"));

		json_object_set_new(metadata_of(object), "generation", json_integer(generation + 1));
	}
	json_decref(now);
	json_decref(before);
}

/* An update's metadata is judged twice, by the generic part and by that of the kind: the causes show it. */
static json_t *
flaws_of(const struct ask *a, const json_t *object, const json_t *old)
{
	const struct kind_rules *rules = kind_rules(a->resource);
	json_t *flaws = json_array();

	if (!a->resource->builtin)
		check_type(flaws, a, object);
	if (json_array_size(flaws) == 0) {
		if (old == NULL) {
			metadata_check(flaws, a->resource, object, rules->name_form);
		} else {
			metadata_check_update(flaws, object, old);
			metadata_check_update(flaws, object, old);
		}
		schema_check(flaws, a->resource, object, old, is_status(a));
		if (rules->check != NULL)
			rules->check(flaws, a, object, old);
	}
	if (json_array_size(flaws) == 0 && !a->resource->builtin && !is_status(a))
		warn_of_finalizers(a, object, old);
	return flaws_status(flaws, rules->invalid_group == NULL ? a->resource->group : rules->invalid_group,
	    json_text(object, "kind"), meta_text(object, "name"));
}

static void
check_type(json_t *flaws, const struct ask *a, const json_t *object)
{
	char version[256];

	resource_api_version(a->resource, version, sizeof(version));
	if (!is_text(json_object_get(object, "kind"), a->resource->kind))
		flaw(flaws, FLAW_INVALID, "kind", json_object_get(object, "kind"), "must be %s", a->resource->kind);
	if (!is_text(json_object_get(object, "apiVersion"), version))
		flaw(flaws, FLAW_INVALID, "apiVersion", json_object_get(object, "apiVersion"), "must be %s", version);
}

static void
warn_of_finalizers(const struct ask *a, const json_t *object, const json_t *old)
{
	const json_t *before = json_object_get(meta_of(old), "finalizers");
	size_t i;
	json_t *name;

	json_array_foreach(json_object_get(meta_of(object), "finalizers"), i, name) {
		const char *text = json_string_value(name);
		char *warning;

		if (a->warnings == NULL || text == NULL || strchr(text, '/') != NULL || has_text(before, text)
		    || strcmp(text, "orphan") == 0 || strcmp(text, "foregroundDeletion") == 0 || strcmp(text, "kubernetes") == 0)
			continue;
		MUST(asprintf(&warning, "metadata.finalizers: \"%s\": prefer a domain-qualified finalizer name %sto avoid accidental "
		    "conflicts with other finalizer writers", text, strchr(text, '.') != NULL ? "including a path (/) " : "") > 0);
		json_array_append_new(a->warnings, json_string(warning));
		free(warning);
	}
}

/* The query is checked as an object of its own. */
static json_t *
options_refusal(const struct ask *a, const char *kind, bool patch, bool apply)
{
	static const char *const known[] = { "", "Ignore", "Strict", "Warn" };
	json_t *flaws = json_array();
	bool valid = false;

	for (size_t i = 0; i < NITEMS(known); i++)
		valid = valid || strcmp(known[i], a->field_validation) == 0;
	if (apply && *a->field_manager == '\0')
		flaw(flaws, FLAW_REQUIRED, "fieldManager", NULL, "is required for apply patch");
	if (patch && !apply && a->force)
		flaw(flaws, FLAW_FORBIDDEN, "force", NULL, "may not be specified for non-apply patch");
	if (strlen(a->field_manager) > MANAGER_MAX)
		flaw(flaws, FLAW_TOO_LONG, "fieldManager", NULL, "may not be more than %d bytes", MANAGER_MAX);
	if (!valid)
		flaw_text(flaws, FLAW_UNSUPPORTED, "fieldValidation", a->field_validation,
		    "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
	return flaws_status(flaws, "meta.k8s.io", kind, "");
}

static bool
is_status(const struct ask *a)
{
	return strcmp(a->subresource, "status") == 0;
}

/* Takes object and why. */
static json_t *
refused(json_t *object, json_t *why, json_t **status)
{
	json_decref(object);
	*status = why;
	return NULL;
}
