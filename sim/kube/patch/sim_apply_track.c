/* sim/kube/patch/sim_apply_track.c - what a write that is no apply does to managedFields. */
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim/kube/semantics/sim_semantics_rules.h"
#include "sim_apply.h"
#include "sim_apply_managers.h"
#include "sim_apply_walk.h"

static void track(const struct sim_write_params *a, json_t *managers, const json_t *object,
    const json_t *old);
static json_t *managers_before(const struct sim_write_params *a, const json_t *object, const json_t *old);
static json_t *without_times(const json_t *object);

void
sim_apply_track(const struct sim_write_params *a, json_t *object, const json_t *old)
{
	json_auto_t *managers = managers_before(a, object, old);

	json_object_del(sim_metadata_of(object), "managedFields");
	/* What is not tracked from its creation on is not tracked until an apply. */
	if (old == NULL || json_object_size(managers) > 0) {
		track(a, managers, object, old);
		sim_managers_cap(managers);
		sim_managers_store(object, managers);
	}
}

void
sim_apply_keep_times(json_t *object, const json_t *old)
{
	json_auto_t *now = without_times(object), *before = without_times(old);

	if (json_equal(now, before))
		take_member(sim_metadata_of(object), meta_of(old), "managedFields");
}

void
sim_apply_track_first(const struct sim_write_params *a, json_t *managers, const json_t *live)
{
	struct sim_write_params before = *a;

	before.field_manager = "before-first-apply";
	track(&before, managers, live, NULL);
}

json_t *
sim_apply_initial_object(const struct sim_write_params *a)
{
	char version[256];
	json_t *object = a->resource->builtin && sim_schema_of(a->resource) != NULL
	    ? sim_schema_zero(sim_schema_of(a->resource)) : json_object();

	json_object_set_new(object, "apiVersion",
	    json_string(sim_resource_api_version(a->resource, version, sizeof(version))));
	json_object_set_new(object, "kind", json_string(a->resource->kind));
	return object;
}

json_t *
sim_apply_unowned_fields(void)
{
	json_auto_t *fields = json_pack(
	    "{s:{}, s:{}, s:{s:{}, s:{}, s:{}, s:{}, s:{}, s:{}, s:{}, s:{}, s:{}, s:{}}}",
	    "f:apiVersion", "f:kind", "f:metadata", ".", "f:name", "f:namespace", "f:creationTimestamp",
	    "f:selfLink", "f:uid", "f:clusterName", "f:generation", "f:managedFields", "f:resourceVersion");

	return sim_fieldset_read(fields);
}

json_t *
sim_apply_reset_fields(const struct sim_write_params *a)
{
	return !a->resource->has_status ? NULL
	    : json_pack("{s:{s:{}}}", strcmp(a->subresource, "status") == 0 ? "f:spec" : "f:status", ".");
}

/* The manager owns what differs, and alone. */
static void
track(const struct sim_write_params *a, json_t *managers, const json_t *object, const json_t *old)
{
	json_auto_t *live = old == NULL ? sim_apply_initial_object(a) : json_incref((json_t *)(uintptr_t)old);
	json_auto_t *reset = sim_apply_reset_fields(a), *strip = sim_apply_unowned_fields();
	struct sim_comparison c = sim_walk_compare(sim_schema_of(a->resource), live, object);

	sim_comparison_leave_out(&c, reset);
	json_auto_t *changed = sim_fieldset_union(c.modified, c.added);
	json_auto_t *mine = sim_fieldset_difference(changed, strip), *me = sim_managers_key(a, "Update");

	sim_managers_remove(managers, changed, NULL);
	sim_managers_remove(managers, c.removed, NULL);
	if (!sim_fieldset_is_empty(mine))
		sim_managers_assign(managers, a, "Update",
		    sim_fieldset_union(sim_managers_set(managers, me), mine), a->now);
	sim_comparison_free(&c);
}

/*
 * The managers that a write starts from: those the request brings, if it brings any (a client may
 * rewrite them; [] and [{}] remove them all), else those of the object. A subresource cannot
 * rewrite them.
 */
static json_t *
managers_before(const struct sim_write_params *a, const json_t *object, const json_t *old)
{
	const json_t *brought = json_object_get(meta_of(object), "managedFields");
	const json_t *had = json_object_get(meta_of(old), "managedFields");
	const bool reset = json_is_array(brought) && (json_array_size(brought) == 0
	    || (json_array_size(brought) == 1 && json_object_size(json_array_get(brought, 0)) == 0));

	if (*a->subresource != '\0')
		return sim_managers_read(had);
	if (reset)
		return json_object();

	json_t *managers = sim_managers_read(brought);

	if (json_object_size(managers) > 0)
		return managers;
	json_decref(managers);
	return sim_managers_read(had);
}

static json_t *
without_times(const json_t *object)
{
	json_t *copy = json_copy((json_t *)(uintptr_t)object),
	    *meta = json_copy((json_t *)(uintptr_t)meta_of(object));
	json_t *entries = json_array(), *entry;
	size_t i;

	json_array_foreach(json_object_get(meta, "managedFields"), i, entry) {
		json_t *timeless = json_copy(entry);

		json_object_del(timeless, "time");
		json_array_append_new(entries, timeless);
	}
	json_object_set_new(meta, "managedFields", entries);
	json_object_set_new(copy, "metadata", meta);
	return copy;
}
