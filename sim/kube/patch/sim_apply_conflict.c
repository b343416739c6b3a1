/* sim/kube/patch/sim_apply_conflict.c - what an apply would take from other managers, and the message. */
#include <string.h>

#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim_apply.h"
#include "sim_apply_managers.h"
#include "sim_apply_walk.h"

static json_t *manager_text(const json_t *entry);
static json_t *allowed_by_kubectl(const struct sim_write_params *a, const json_t *live);

json_t *
sim_conflict_find(const struct sim_write_params *a, const json_t *managers, const json_t *me,
    const json_t *changed, const json_t *live)
{
	json_t *conflicts = json_object(), *entry;
	json_auto_t *allowed = strcmp(a->field_manager, "kubectl") == 0 ? allowed_by_kubectl(a, live) : NULL;
	bool all_allowed = allowed != NULL;
	const char *key;

	JSON_EACH(managers, key, entry) {
		json_auto_t *both = is_text(me, key) ? NULL
		    : sim_fieldset_intersection(json_object_get(entry, "set"), changed);
		json_auto_t *refused = sim_fieldset_difference(both, allowed);

		if (!sim_fieldset_is_empty(both))
			json_object_set(conflicts, key, both);
		all_allowed = all_allowed && sim_fieldset_is_empty(refused);
	}
	if (all_allowed)
		json_object_clear(conflicts);
	return conflicts;
}

json_t *
sim_conflict_status(const json_t *conflicts, const json_t *managers)
{
	json_t *causes = json_array(), *set, *path;
	struct sim_buf list = { 0 };
	const char *key;
	size_t i;

	JSON_EACH(conflicts, key, set) {
		json_auto_t *who = manager_text(json_object_get(managers, key));
		json_auto_t *paths = sim_fieldset_paths(set);

		sim_buf_printf(&list, "%sconflicts with %s:", list.len == 0 ? "" : "\n",
		    json_string_value(who));
		json_array_foreach(paths, i, path) {
			sim_buf_printf(&list, "\n- %s", json_string_value(path));
			json_array_append_new(causes, json_pack("{s:s, s:o, s:O}", "reason",
			    "FieldManagerConflict", "message",
			    json_sprintf("conflict with %s", json_string_value(who)), "field", path));
		}
	}
	const size_t n = json_array_size(causes);
	const json_t *first = json_array_get(causes, 0);
	json_t *status = n == 1 ? sim_semantics_failure_of(409, "Conflict", NULL, "", causes,
	    "Apply failed with 1 conflict: %s: %s", sim_json_text(first, "message"),
	    sim_json_text(first, "field"))
	    : sim_semantics_failure_of(409, "Conflict", NULL, "", causes,
	    "Apply failed with %zu conflicts: %s", n, list.bytes);

	sim_buf_free(&list);
	return status;
}

static json_t *
manager_text(const json_t *entry)
{
	const char *subresource = sim_json_text(entry, "subresource");
	const bool applies = strcmp(sim_json_text(entry, "operation"), "Apply") == 0;
	const bool below = *subresource != '\0';

	return json_sprintf("\"%s\"%s%s%s%s%s", sim_json_text(entry, "manager"),
	    below ? " with subresource \"" : "", subresource, below ? "\"" : "", applies ? "" : " using ",
	    applies ? "" : sim_json_text(entry, "apiVersion"));
}

/*
 * What `kubectl apply` once sent from the client side and is still so: moving to server-side apply
 * may take it.
 */
static json_t *
allowed_by_kubectl(const struct sim_write_params *a, const json_t *live)
{
	const json_t *schema = sim_schema_of(a->resource);
	const char *text = sim_json_text(json_object_get(meta_of(live), "annotations"), LAST_APPLIED);
	json_auto_t *last = *text == '\0' ? NULL : json_loads(text, 0, NULL);

	if (last == NULL)
		return NULL;

	struct sim_comparison c = sim_walk_compare(schema, live, last);
	json_auto_t *fields = sim_walk_fields(schema, last);
	json_auto_t *differs = sim_fieldset_union(c.modified, c.added);
	json_auto_t *same = sim_fieldset_difference(fields, differs);
	json_auto_t *note = json_pack("{s:{s:{s:{s:{}}}}}", "f:metadata", "f:annotations", "f:" LAST_APPLIED,
	    ".");

	sim_comparison_free(&c);
	return sim_fieldset_union(same, note);
}
