/*
 * sim/kube/semantics/sim_semantics_refuse.c - what is refused before the object itself is checked: address,
 * versions, identity, query.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_field_errors.h"
#include "sim_semantics_rules.h"

enum { MANAGER_MAX = 128 };

/* The query is checked as an object of its own. */
json_t *
sim_refuse_options(const struct sim_write_params *a, const char *kind, bool patch, bool apply)
{
	static const char *const known[] = { "", "Ignore", "Strict", "Warn" };
	json_t *errors = json_array();
	bool valid = false;

	for (size_t i = 0; i < NITEMS(known); i++)
		valid = valid || strcmp(known[i], a->field_validation) == 0;
	if (apply && *a->field_manager == '\0')
		sim_field_error(errors, FIELD_REQUIRED, "fieldManager", NULL, "is required for apply patch");
	if (patch && !apply && a->force)
		sim_field_error(errors, FIELD_FORBIDDEN, "force", NULL,
		    "may not be specified for non-apply patch");
	if (strlen(a->field_manager) > MANAGER_MAX)
		sim_field_error(errors, FIELD_TOO_LONG, "fieldManager", NULL, "may not be more than %d bytes",
		    MANAGER_MAX);
	if (!valid)
		sim_field_error_text(errors, FIELD_UNSUPPORTED, "fieldValidation", a->field_validation,
		    "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
	return sim_field_errors_status(errors, "meta.k8s.io", kind, "");
}

/* The name and the namespace in the object are those of the URL. */
json_t *
sim_refuse_address(const struct sim_write_params *a, const json_t *object)
{
	const char *name = meta_text(object, "name"), *namespace = meta_text(object, "namespace");

	if (a->resource->namespaced && *namespace != '\0' && strcmp(namespace, a->namespace) != 0)
		return sim_status_other_namespace();
	if (*name == '\0')
		return sim_status_bad_request("the name of the object (%s based on URL) was undeterminable: "
		    "name must be provided", a->name);
	if (strcmp(name, a->name) != 0)
		return sim_status_bad_request("the name of the object (%s) does not match the name on the "
		    "URL (%s)", name, a->name);
	return NULL;
}

json_t *
sim_refuse_version(const struct sim_write_params *a, const json_t *object, const json_t *old)
{
	const char *version = meta_text(object, "resourceVersion");

	if (*version == '\0' || strcmp(version, "0") == 0) {
		if (!sim_kind_rules(a->resource)->needs_version)
			return NULL;
		json_auto_t *zero = json_integer(0);
		json_t *errors = json_array();

		sim_field_error(errors, FIELD_INVALID, "metadata.resourceVersion", zero,
		    "must be specified for an update");
		return sim_field_errors_status(errors, a->resource->group, a->resource->plural, a->name);
	}
	if (strcmp(version, meta_text(old, "resourceVersion")) != 0)
		return sim_status_conflict(a->resource, a->resource->plural, a->name,
		    "the object has been modified; please apply your changes to the latest version and "
		    "try again");
	return NULL;
}

/* A PUT that names a uid means that very object. */
json_t *
sim_refuse_uid(const struct sim_write_params *a, const json_t *object, const json_t *old)
{
	const struct sim_resource *r = a->resource;
	const bool by_group = !r->builtin || strcmp(r->group, "apiextensions.k8s.io") == 0;
	const char *uid = meta_text(object, "uid");

	if (*uid == '\0' || strcmp(uid, meta_text(old, "uid")) == 0)
		return NULL;
	return sim_status_conflict(r, r->plural, a->name, "StorageError: invalid object, Code: 4, Key: "
	    "/registry/%s%s%s%s%s/%s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
	    "precondition: %s, UID in object meta: %s", by_group ? r->group : "", by_group ? "/" : "",
	    strcmp(r->plural, "nodes") == 0 ? "minions" : r->plural, r->namespaced ? "/" : "",
	    r->namespaced ? a->namespace : "", a->name, uid, meta_text(old, "uid"));
}

/* An apply that names a uid means an object that is there. */
json_t *
sim_refuse_orphan_uid(const struct sim_write_params *a, const json_t *object)
{
	const char *uid = meta_text(object, "uid");

	return *uid == '\0' ? NULL : sim_status_conflict(a->resource, a->resource->plural, a->name,
	    "uid mismatch: the provided object specified uid %s, and no existing object was found", uid);
}
