/*
 * sim/kube/semantics/sim_semantics_delete.c - what a delete does: remove now, or mark and wait.
 *
 * An object is kept, marked, while it has finalizers, while a Pod on a node has its grace period,
 * and while a Namespace has its own list of finalizers. Simplified: propagationPolicy is checked
 * but never makes a finalizer, so every delete is a Background one; collecting what the object
 * owned is the caller's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_field_errors.h"
#include "sim_semantics.h"
#include "sim_semantics_rules.h"

static json_t *options_refusal(const json_t *options);
static json_t *precondition_refusal(const struct sim_write_params *a, const json_t *old,
    const json_t *options);
static long grace_of(const struct sim_write_params *a, const json_t *old, const json_t *options);
static json_t *marked_by(const struct sim_write_params *a, const json_t *old, long grace_seconds);
static bool is_held(const json_t *object);
static bool is_kind(const struct sim_resource *r, const char *group, const char *kind);
static time_t seconds_of(const char *time);
static json_t *time_of(time_t seconds);

enum sim_deletion
sim_semantics_delete(const struct sim_write_params *a, const json_t *old, const json_t *options,
    json_t **marked, json_t **status)
{
	if (strcmp(a->subresource, "eviction") == 0)
		options = json_object_get(options, "deleteOptions");
	json_t *why = options_refusal(options);
	if (why == NULL)
		why = precondition_refusal(a, old, options);
	if (why != NULL) {
		*status = why;
		return DELETION_REFUSED;
	}

	const long grace = grace_of(a, old, options);

	if (grace == 0 && !is_held(old))
		return DELETION_GONE;
	*marked = marked_by(a, old, grace);
	return DELETION_MARKED;
}

json_t *
sim_semantics_deleted(const struct sim_write_params *a, const json_t *object, enum sim_deletion how)
{
	if (strcmp(a->subresource, "eviction") == 0)
		return json_pack("{s:s, s:s, s:{}, s:s, s:i}", "kind", "Status", "apiVersion", "v1",
		    "metadata", "status", "Success", "code", 201);
	if (how == DELETION_GONE && is_kind(a->resource, "", "Pod"))
		return marked_by(a, object, 0);
	if (how == DELETION_MARKED || a->resource->returns_deleted)
		return json_incref((json_t *)(uintptr_t)object);

	json_t *details = json_pack("{s:s}", "name", meta_text(object, "name"));

	if (*a->resource->group != '\0')
		json_object_set_new(details, "group", json_string(a->resource->group));
	json_object_set_new(details, "kind", json_string(a->resource->plural));
	json_object_set_new(details, "uid", json_string(meta_text(object, "uid")));
	return json_pack("{s:s, s:s, s:{}, s:s, s:o}", "kind", "Status", "apiVersion", "v1", "metadata",
	    "status", "Success", "details", details);
}

bool
sim_semantics_finished(const json_t *object)
{
	const json_t *meta = meta_of(object);

	return json_object_get(meta, "deletionTimestamp") != NULL && !is_held(object)
	    && json_integer_value(json_object_get(meta, "deletionGracePeriodSeconds")) == 0;
}

static json_t *
options_refusal(const json_t *options)
{
	static const char *const policies[] = { "Foreground", "Background", "Orphan" };
	const json_t *policy = json_object_get(options, "propagationPolicy");
	const json_t *dry_run = json_object_get(options, "dryRun");
	json_t *errors = json_array();
	bool known = policy == NULL || json_is_null(policy);

	for (size_t i = 0; i < NITEMS(policies); i++)
		known = known || is_text(policy, policies[i]);
	if (!known)
		sim_field_error(errors, FIELD_UNSUPPORTED, "propagationPolicy", policy,
		    "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"");
	if (json_is_string(policy) && json_is_boolean(json_object_get(options, "orphanDependents")))
		sim_field_error(errors, FIELD_INVALID, "propagationPolicy", policy,
		    "orphanDependents and deletionPropagation cannot be both set");
	if (json_array_size(dry_run) > 0 && !has_text(dry_run, "All"))
		sim_field_error(errors, FIELD_UNSUPPORTED, "dryRun", dry_run, "supported values: \"All\"");
	return sim_field_errors_status(errors, "meta.k8s.io", "DeleteOptions", "");
}

/*
 * The words name the kind where others name the resource: so does the real server. Namespaces have
 * their own.
 */
static json_t *
precondition_refusal(const struct sim_write_params *a, const json_t *old, const json_t *options)
{
	static const struct {
		const char *key, *called, *may_have_been;
	} rows[] = {
		{ "uid",		"UID",			"deleted and then recreated" },
		{ "resourceVersion",	"ResourceVersion",	"modified" },
	};
	const json_t *wanted = json_object_get(options, "preconditions");

	for (size_t i = 0; i < NITEMS(rows); i++) {
		const json_t *value = json_object_get(wanted, rows[i].key);
		const char *is = meta_text(old, rows[i].key), *want = json_string_value(value);

		if (want == NULL || strcmp(want, is) == 0)
			continue;
		if (is_kind(a->resource, "", "Namespace"))
			return sim_status_conflict(a->resource, a->resource->plural, a->name,
			    "Precondition failed: %s in precondition: %s, %s in object meta: %s",
			    rows[i].called, want, rows[i].called, is);
		return sim_status_conflict(a->resource, a->resource->kind, a->name,
		    "the %s in the precondition (%s) does not match the %s in record (%s). The object "
		    "might have been %s", rows[i].called, want, rows[i].called, is, rows[i].may_have_been);
	}
	return NULL;
}

json_t *
sim_semantics_eviction_refusal(const struct sim_write_params *a, const json_t *eviction)
{
	const char *namespace = meta_text(eviction, "namespace");

	if (*namespace != '\0' && strcmp(namespace, a->namespace) != 0)
		return sim_status_other_namespace();
	if (strcmp(meta_text(eviction, "name"), a->name) != 0)
		return sim_status_bad_request("name in URL does not match name in Eviction object");
	return NULL;
}

/* Only a Pod that is on a node and still runs is given time. */
static long
grace_of(const struct sim_write_params *a, const json_t *old, const json_t *options)
{
	const json_t *spec = json_object_get(old, "spec");
	const char *phase = sim_json_text(json_object_get(old, "status"), "phase");

	if (!is_kind(a->resource, "", "Pod") || *sim_json_text(spec, "nodeName") == '\0'
	    || strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0)
		return 0;

	const json_t *asked = json_object_get(options, "gracePeriodSeconds");
	const json_t *usual = json_object_get(spec, "terminationGracePeriodSeconds");
	const json_int_t grace = json_integer_value(json_is_integer(asked) ? asked : usual);

	return grace < 0 ? 1 : (long)grace;
}

/* Already marked: a shorter grace period is taken, nothing else changes. */
static json_t *
marked_by(const struct sim_write_params *a, const json_t *old, long grace_seconds)
{
	json_t *object = json_deep_copy(old);
	json_t *meta = sim_metadata_of(object);
	const json_t *had = json_object_get(meta, "deletionGracePeriodSeconds");
	const bool again = json_object_get(meta, "deletionTimestamp") != NULL;
	time_t at = seconds_of(a->now) + grace_seconds;

	if (again) {
		const time_t was = seconds_of(sim_json_text(meta,
		    "deletionTimestamp")) - json_integer_value(had);

		if (grace_seconds >= json_integer_value(had))
			return object;
		at = was + grace_seconds > seconds_of(a->now) ? was + grace_seconds : seconds_of(a->now);
	}
	json_object_set_new(meta, "deletionTimestamp", time_of(at));

	const json_int_t generation = json_integer_value(json_object_get(meta, "generation"));

	if (!again && generation > 0)
		json_object_set_new(meta, "generation", json_integer(generation + 1));
	if (is_kind(a->resource, "", "Namespace")) {
		json_object_set_new(json_object_get(object, "status"), "phase", json_string("Terminating"));
		return object;
	}
	json_object_set_new(meta, "deletionGracePeriodSeconds", json_integer(grace_seconds));
	return object;
}

static bool
is_held(const json_t *object)
{
	const bool namespace = is_text(json_object_get(object, "kind"), "Namespace")
	    && is_text(json_object_get(object, "apiVersion"), "v1");

	return json_array_size(sim_json_at(object, "metadata.finalizers")) > 0
	    || (namespace && json_array_size(sim_json_at(object, "spec.finalizers")) > 0);
}

static bool
is_kind(const struct sim_resource *r, const char *group, const char *kind)
{
	return strcmp(r->group, group) == 0 && strcmp(r->kind, kind) == 0;
}

static time_t
seconds_of(const char *time)
{
	struct tm tm = { 0 };

	return strptime(time, "%Y-%m-%dT%H:%M:%S", &tm) == NULL ? 0 : timegm(&tm);
}

static json_t *
time_of(time_t seconds)
{
	char text[32];
	struct tm tm;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &tm));
	return json_string(text);
}
