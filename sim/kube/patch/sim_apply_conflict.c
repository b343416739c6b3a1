/* sim/kube/patch/sim_apply_conflict.c - what an apply would take from other managers, and the message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim_apply.h"
#include "sim_apply_managers.h"
#include "sim_apply_walk.h"

static char *manager_text(const json_t *entry);
static json_t *allowed_by_kubectl(const struct sim_write_params *a, const json_t *live);

json_t *
sim_conflict_find(const struct sim_write_params *a, const json_t *managers, const char *me,
    const json_t *changed, const json_t *live)
{
	json_t *conflicts = json_object(), *entry;
	json_t *allowed = strcmp(a->field_manager, "kubectl") == 0 ? allowed_by_kubectl(a, live) : NULL;
	bool all_allowed = allowed != NULL;
	const char *key;

	JSON_EACH(managers, key, entry) {
		json_t *both = strcmp(key, me) == 0 ? NULL
		    : sim_fieldset_intersection(json_object_get(entry, "set"), changed);
		json_t *refused = sim_fieldset_difference(both, allowed);

		if (!sim_fieldset_is_empty(both))
			json_object_set(conflicts, key, both);
		all_allowed = all_allowed && sim_fieldset_is_empty(refused);
		json_decref(refused);
		json_decref(both);
	}
	json_decref(allowed);
	if (all_allowed)
		json_object_clear(conflicts);
	return conflicts;
}

json_t *
sim_conflict_status(const json_t *conflicts, const json_t *managers)
{
	json_t *causes = json_array(), *set, *path;
	char *list = NULL, *message;
	size_t size, i;
	FILE *out = open_memstream(&list, &size);
	const char *key;

	MUST(out != NULL);
	JSON_EACH(conflicts, key, set) {
		char *who = manager_text(json_object_get(managers, key)), *with;
		json_t *paths = sim_fieldset_paths(set);

		MUST(asprintf(&with, "conflict with %s", who) > 0);
		fprintf(out, "%sconflicts with %s:", ftell(out) == 0 ? "" : "\n", who);
		json_array_foreach(paths, i, path) {
			fprintf(out, "\n- %s", json_string_value(path));
			json_array_append_new(causes, json_pack("{s:s, s:s, s:O}", "reason",
			    "FieldManagerConflict", "message", with, "field", path));
		}
		json_decref(paths);
		free(with);
		free(who);
	}
	fclose(out);
	const size_t n = json_array_size(causes);
	const json_t *first = json_array_get(causes, 0);

	if (n == 1)
		MUST(asprintf(&message, "Apply failed with 1 conflict: %s: %s",
		    sim_json_text(first, "message"),
		    sim_json_text(first, "field")) > 0);
	else
		MUST(asprintf(&message, "Apply failed with %zu conflicts: %s", n, list) > 0);

	json_t *status = sim_semantics_failure(409, "Conflict", message, NULL, "", causes);

	free(message);
	free(list);
	return status;
}

static char *
manager_text(const json_t *entry)
{
	const char *subresource = sim_json_text(entry, "subresource");
	const bool applies = strcmp(sim_json_text(entry, "operation"), "Apply") == 0;
	char *door = NULL, *text;

	if (*subresource != '\0')
		MUST(asprintf(&door, " with subresource \"%s\"", subresource) > 0);
	MUST(asprintf(&text, "\"%s\"%s%s%s", sim_json_text(entry, "manager"), door == NULL ? "" : door,
	    applies ? "" : " using ", applies ? "" : sim_json_text(entry, "apiVersion")) > 0);
	free(door);
	return text;
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
	json_t *last = *text == '\0' ? NULL : json_loads(text, 0, NULL);

	if (last == NULL)
		return NULL;

	struct sim_comparison c = sim_walk_compare(schema, live, last);
	json_t *fields = sim_walk_fields(schema, last), *differs = sim_fieldset_union(c.modified, c.added);
	json_t *same = sim_fieldset_difference(fields, differs);
	json_t *note = NULL, *notes = NULL, *meta = NULL, *annotation = NULL;

	sim_fieldset_mark(&annotation);
	sim_fieldset_put(&notes, "f:" LAST_APPLIED, annotation);
	sim_fieldset_put(&meta, "f:annotations", notes);
	sim_fieldset_put(&note, "f:metadata", meta);
	json_t *allowed = sim_fieldset_union(same, note);
	json_t *const used[] = { last, fields, differs, same, note };

	for (size_t i = 0; i < NITEMS(used); i++)
		json_decref(used[i]);
	sim_comparison_free(&c);
	return allowed;
}
