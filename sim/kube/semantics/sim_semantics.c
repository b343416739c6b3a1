/* sim/kube/semantics/sim_semantics.c - create, update and patch: the order in which the rules are applied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/patch/sim_apply.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim_field_errors.h"
#include "sim_semantics.h"
#include "sim_semantics_rules.h"

static json_t *create(const struct sim_write_params *a, json_t *object, json_t **status);
static json_t *update(const struct sim_write_params *a, json_t *object, const json_t *old, json_t **status);
static json_t *as_kept(const struct sim_write_params *a, const json_t *old);
static void separate_status(const struct sim_write_params *a, json_t *object, const json_t *old);
static void count_generation(const struct sim_write_params *a, json_t *object, const json_t *old);
static json_t *errors_of(const struct sim_write_params *a, const json_t *object, const json_t *old);
static void check_type(json_t *errors, const struct sim_write_params *a, const json_t *object);
static void warn_of_finalizers(const struct sim_write_params *a, const json_t *object, const json_t *old);
static bool is_status(const struct sim_write_params *a);
static json_t *refused(json_t *object, json_t *why, json_t **status);

json_t *
sim_semantics_create(const struct sim_write_params *a, const json_t *body, json_t **status)
{
	if ((*status = sim_refuse_options(a, "CreateOptions", false, false)) != NULL)
		return NULL;

	json_t *object = sim_schema_decode(a, body, NULL, false, status);

	if (object == NULL)
		return NULL;

	const char *namespace = meta_text(object, "namespace");

	if (a->resource->namespaced && *namespace != '\0' && strcmp(namespace, a->namespace) != 0)
		return refused(object, sim_status_other_namespace(), status);

	const bool versioned = *meta_text(object, "resourceVersion") != '\0';

	sim_metadata_wipe(object);
	sim_apply_track(a, object, NULL);
	object = create(a, object, status);
	if (object != NULL && versioned)
		return refused(object, sim_semantics_failure(500, "",
		    "resourceVersion should not be set on objects to be created"), status);
	return object;
}

json_t *
sim_semantics_update(const struct sim_write_params *a, const json_t *old, const json_t *body, json_t **status)
{
	if ((*status = sim_refuse_options(a, "UpdateOptions", false, false)) != NULL)
		return NULL;

	json_t *object = sim_schema_decode(a, body, NULL, false, status);
	json_t *why;

	if (object == NULL)
		return NULL;
	if ((why = sim_refuse_address(a, object)) != NULL)
		return refused(object, why, status);
	if (old == NULL) {
		if (!sim_kind_rules(a->resource)->creates_on_update)
			return refused(object, sim_semantics_not_found(a->resource, a->name), status);
		sim_apply_track(a, object, NULL);
		return create(a, object, status);
	}
	if ((why = sim_refuse_uid(a, object, old)) != NULL)
		return refused(object, why, status);

	json_auto_t *before = as_kept(a, old);

	sim_apply_track(a, object, before);
	return update(a, object, before, status);
}

json_t *
sim_semantics_patch(const struct sim_write_params *a, const json_t *old, enum sim_patch_type type,
    const char *bytes, size_t len, json_t **status)
{
	if ((*status = sim_refuse_options(a, "PatchOptions", true, type == PATCH_APPLY)) != NULL)
		return NULL;
	if (old == NULL && (type != PATCH_APPLY || *a->subresource != '\0')) {
		*status = sim_semantics_not_found(a->resource, a->name);
		return NULL;
	}

	json_auto_t *before = old == NULL ? NULL : as_kept(a, old);
	json_t *object = sim_patch_object(a, before, type, bytes, len, status), *why;

	if (object == NULL)
		return NULL;
	if ((why = sim_refuse_address(a, object)) == NULL && before == NULL)
		why = sim_refuse_orphan_uid(a, object);
	if (why != NULL)
		return refused(object, why, status);
	if (before == NULL)
		return create(a, object, status);
	if (type != PATCH_APPLY)
		sim_apply_track(a, object, before);
	return update(a, object, before, status);
}

/* The old object as this server would have kept it, whoever put it there. */
static json_t *
as_kept(const struct sim_write_params *a, const json_t *old)
{
	json_t *object = json_deep_copy(old);

	if (a->resource->builtin && sim_schema_of(a->resource) != NULL)
		sim_schema_fill_zero(sim_schema_of(a->resource), object);
	return object;
}

/* Takes object. */
static json_t *
create(const struct sim_write_params *a, json_t *object, json_t **status)
{
	const struct sim_kind_rules *rules = sim_kind_rules(a->resource);

	sim_metadata_fill(a, object);
	if (a->resource->has_status && !rules->keeps_status)
		json_object_del(object, "status");
	if (rules->zero_status)
		sim_schema_fill_zero(sim_schema_of(a->resource), object);
	if (a->resource->counts_generation)
		json_object_set_new(sim_metadata_of(object), "generation", json_integer(1));
	if (rules->prepare != NULL)
		rules->prepare(a, object, NULL);
	json_object_del(sim_metadata_of(object), "resourceVersion");

	json_t *why = errors_of(a, object, NULL);

	return why == NULL ? object : refused(object, why, status);
}

/* Takes object. */
static json_t *
update(const struct sim_write_params *a, json_t *object, const json_t *old, json_t **status)
{
	json_t *why = sim_refuse_version(a, object, old);

	if (why != NULL)
		return refused(object, why, status);
	sim_metadata_place(a, object);
	separate_status(a, object, old);
	sim_metadata_keep(object, old);
	count_generation(a, object, old);
	if (sim_kind_rules(a->resource)->prepare != NULL)
		sim_kind_rules(a->resource)->prepare(a, object, old);
	if ((why = errors_of(a, object, old)) != NULL)
		return refused(object, why, status);
	take_member(object, old, "apiVersion");
	sim_apply_keep_times(object, old);
	return object;
}

/* The main endpoint leaves the status alone; /status leaves everything else alone. */
static void
separate_status(const struct sim_write_params *a, json_t *object, const json_t *old)
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
	if (sim_kind_rules(a->resource)->status_keeps_metadata) {
		json_t *managed = json_incref(json_object_get(meta_of(object), "managedFields"));

		take_member(object, old, "metadata");
		json_object_set_new(sim_metadata_of(object), "managedFields", managed);
	}
}

static void
count_generation(const struct sim_write_params *a, json_t *object, const json_t *old)
{
	if (!a->resource->counts_generation || is_status(a))
		return;

	json_auto_t *now = json_copy(object), *before = json_copy((json_t *)(uintptr_t)old);
	static const char *const ignored[] = { "metadata", "apiVersion" };

	for (size_t i = 0; i < NITEMS(ignored); i++) {
		json_object_del(now, ignored[i]);
		json_object_del(before, ignored[i]);
	}
	if (!json_equal(now, before)) {
		const json_int_t generation = json_integer_value(json_object_get(meta_of(old), "generation"));

		json_object_set_new(sim_metadata_of(object), "generation", json_integer(generation + 1));
	}
}

static json_t *
errors_of(const struct sim_write_params *a, const json_t *object, const json_t *old)
{
	const struct sim_kind_rules *rules = sim_kind_rules(a->resource);
	json_t *errors = json_array();

	if (!a->resource->builtin)
		check_type(errors, a, object);
	if (json_array_size(errors) == 0) {
		if (old == NULL)
			sim_metadata_check(errors, a->resource, object, rules->name_form);
		else
			sim_metadata_check_update(errors, object, old, !a->resource->builtin);
		sim_schema_check(errors, a->resource, object, old, is_status(a));
		if (rules->check != NULL)
			rules->check(errors, a, object, old);
	}
	if (json_array_size(errors) == 0 && !a->resource->builtin && !is_status(a))
		warn_of_finalizers(a, object, old);
	return sim_field_errors_status(errors, rules->invalid_group == NULL ? a->resource->group
	    : rules->invalid_group,
	    sim_json_text(object, "kind"), meta_text(object, "name"));
}

static void
check_type(json_t *errors, const struct sim_write_params *a, const json_t *object)
{
	char version[256];

	sim_resource_api_version(a->resource, version, sizeof(version));
	if (!is_text(json_object_get(object, "kind"), a->resource->kind))
		sim_field_error(errors, FIELD_INVALID, "kind", json_object_get(object, "kind"), "must be %s",
		    a->resource->kind);
	if (!is_text(json_object_get(object, "apiVersion"), version))
		sim_field_error(errors, FIELD_INVALID, "apiVersion", json_object_get(object, "apiVersion"),
		    "must be %s", version);
}

static void
warn_of_finalizers(const struct sim_write_params *a, const json_t *object, const json_t *old)
{
	const json_t *before = json_object_get(meta_of(old), "finalizers");
	size_t i;
	json_t *name;

	json_array_foreach(json_object_get(meta_of(object), "finalizers"), i, name) {
		const char *text = json_string_value(name);

		if (a->warnings == NULL || text == NULL || strchr(text, '/') != NULL || has_text(before, text)
		    || strcmp(text, "orphan") == 0 || strcmp(text, "foregroundDeletion") == 0
		    || strcmp(text, "kubernetes") == 0)
			continue;
		json_array_append_new(a->warnings, json_sprintf("metadata.finalizers: \"%s\": prefer a "
		    "domain-qualified finalizer name %sto avoid accidental conflicts with other finalizer "
		    "writers", text, strchr(text, '.') != NULL ? "including a path (/) " : ""));
	}
}

static bool
is_status(const struct sim_write_params *a)
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
