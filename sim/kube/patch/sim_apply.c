/* sim/kube/patch/sim_apply.c - what an apply does to the object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim/kube/semantics/sim_semantics_rules.h"
#include "sim_apply.h"
#include "sim_apply_managers.h"
#include "sim_apply_walk.h"

static json_t *config_refusal(const struct sim_write_params *a, const json_t *config);
static json_t *pruned(const json_t *schema, json_t *merged, const json_t *managers, const json_t *last);
static void refresh_last_applied(const struct sim_write_params *a, json_t *object, const json_t *config);
static json_t *conversion_failure(const struct sim_resource *r, const json_t *config, const char *why);
static json_t *settled(const struct sim_write_params *a, json_t *merged, const json_t *config,
    json_t **status);

json_t *
sim_apply_config(const struct sim_write_params *a, const json_t *old, const json_t *config, json_t **status)
{
	if ((*status = config_refusal(a, config)) != NULL)
		return NULL;

	const json_t *schema = sim_schema_of(a->resource);
	json_auto_t *live = old == NULL ? sim_apply_initial_object(a) : json_deep_copy(old),
	    *strip = sim_apply_unowned_fields();
	json_auto_t *managers = sim_managers_read(json_object_get(meta_of(live), "managedFields"));
	json_auto_t *me = sim_managers_key(a, "Apply");
	json_auto_t *last = json_incref((json_t *)(uintptr_t)sim_managers_set(managers, me));
	json_auto_t *reset = sim_apply_reset_fields(a), *sent = sim_walk_fields(schema, config);

	json_object_del(sim_metadata_of(live), "managedFields");
	if (old != NULL && json_object_size(managers) == 0)
		sim_apply_track_first(a, managers, live);
	sim_managers_assign(managers, a, "Apply", sim_fieldset_without(sent, reset), NULL);
	json_auto_t *merged = sim_walk_merge(schema, live, config);
	json_auto_t *object = pruned(schema, merged, managers, last);
	struct sim_comparison c = sim_walk_compare(schema, live, object);

	sim_comparison_leave_out(&c, reset);
	json_auto_t *changed = sim_fieldset_union(c.modified, c.added), *removed = json_incref(c.removed);
	json_auto_t *conflicts = a->force ? NULL : sim_conflict_find(a, managers, me, changed, live);

	sim_comparison_free(&c);
	if (json_object_size(conflicts) > 0) {
		*status = sim_conflict_status(conflicts, managers);
		return NULL;
	}
	const bool same = old != NULL && json_equal(object, live);

	sim_managers_remove(managers, changed, me);
	sim_managers_remove(managers, removed, me);
	sim_managers_assign(managers, a, "Apply",
	    sim_fieldset_difference(sim_managers_set(managers, me), strip), same ? NULL : a->now);
	refresh_last_applied(a, object, config);
	json_t *result = settled(a, object, config, status);

	if (result != NULL)
		sim_managers_store(result, managers);
	return result;
}

static json_t *
config_refusal(const struct sim_write_params *a, const json_t *config)
{
	const char *version = sim_json_text(config, "apiVersion"), *kind = sim_json_text(config, "kind");
	char expected[256];

	sim_resource_api_version(a->resource, expected, sizeof(expected));
	if (strcmp(version, expected) != 0 || strcmp(kind, a->resource->kind) != 0)
		return sim_status_bad_request("invalid object type: %s%s, Kind=%s",
		    strchr(version, '/') == NULL ? "/" : "", version, kind);
	if (json_object_get(meta_of(config), "managedFields") != NULL)
		return sim_status_bad_request("metadata.managedFields must be nil");
	return sim_apply_check(a, config);
}

/*
 * What this manager applied last time and no longer does is removed, unless another manager owns
 * it. Three steps, as the real one: remove all of it; put back what is owned; put back what was not
 * his.
 */
static json_t *
pruned(const json_t *schema, json_t *merged, const json_t *managers, const json_t *last)
{
	if (sim_fieldset_is_empty(last))
		return json_incref(merged);

	json_auto_t *was = sim_walk_named(schema, last), *all = NULL;
	const char *key;
	json_t *entry;

	JSON_EACH(managers, key, entry) {
		json_t *more = sim_fieldset_union(all, json_object_get(entry, "set"));

		json_decref(all);
		all = more;
	}

	json_auto_t *owned = sim_walk_named(schema, all), *fields = sim_walk_fields(schema, merged),
	    *has = sim_walk_named(schema, fields);
	json_auto_t *bare = sim_walk_remove(schema, merged, was);
	json_auto_t *bare_fields = sim_walk_fields(schema, bare);
	json_auto_t *bare_has = sim_walk_named(schema, bare_fields);
	json_auto_t *stays = sim_fieldset_union(bare_has, owned), *goes = sim_fieldset_difference(has, stays);
	json_auto_t *goes_his = sim_fieldset_intersection(goes, was);

	return sim_walk_remove(schema, merged, goes_his);
}

static void
refresh_last_applied(const struct sim_write_params *a, json_t *object, const json_t *config)
{
	json_t *annotations = json_object_get(json_object_get(object, "metadata"), "annotations");

	if (strcmp(a->field_manager, "kubectl") != 0 || *sim_json_text(annotations, LAST_APPLIED) == '\0')
		return;

	json_auto_t *plain = json_deep_copy(config);

	json_object_del(json_object_get(json_object_get(plain, "metadata"), "annotations"), LAST_APPLIED);
	char *text = json_dumps(plain, JSON_COMPACT | JSON_SORT_KEYS);

	json_object_set_new(annotations, LAST_APPLIED, json_sprintf("%s\n", text));
	free(text);
}

/*
 * The merged object is read again as the server reads what it was sent: canonical texts, defaults.
 * NULL: a text has not its form.
 */
static json_t *
settled(const struct sim_write_params *a, json_t *merged, const json_t *config, json_t **status)
{
	const json_t *schema = sim_schema_of(a->resource);
	json_auto_t *unknown = json_array();
	char *error_text = NULL;
	json_t *object = a->resource->builtin && schema != NULL
	    ? sim_schema_typed(schema, merged, "", unknown, false, &error_text) : json_incref(merged);

	if (object != NULL)
		sim_schema_complete(a, object);
	else
		*status = conversion_failure(a->resource, config, error_text);
	free(error_text);
	return object;
}

static json_t *
conversion_failure(const struct sim_resource *r, const json_t *config, const char *why)
{
	char kind[320];

	snprintf(kind, sizeof(kind), "%s/%s, Kind=%s", r->group, r->version, r->kind);
	return sim_semantics_failure(500, "", "failed to convert new object (%s/%s; %s) to proper version: "
	    "unable to convert unstructured object to %s: %s", meta_text(config, "namespace"),
	    meta_text(config, "name"), kind, kind, why);
}
