/* sim/kube/patch/sim_apply.c - what an apply does to the object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_apply.h"
#include "sim_apply_check.h"
#include "sim_apply_conflict.h"
#include "sim_apply_managers.h"
#include "sim_apply_track.h"
#include "sim_apply_walk.h"
#include "obj.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim/base/sim_json_member.h"
#include "sim/kube/semantics/sim_semantics_rules.h"

static json_t *config_refusal(const struct ask *a, const json_t *config);
static json_t *pruned(const json_t *schema, json_t *merged, const json_t *managers, const json_t *last);
static void refresh_last_applied(const struct ask *a, json_t *object, const json_t *config);
static json_t *conversion_failure(const struct resource *r, const json_t *config, const char *why);
static json_t *settled(const struct ask *a, json_t *object, const json_t *config, json_t **status);

json_t *
apply_config(const struct ask *a, const json_t *old, const json_t *config, json_t **status)
{
	if ((*status = config_refusal(a, config)) != NULL)
		return NULL;

	const json_t *schema = schema_of(a->resource);
	json_t *live = old == NULL ? apply_nothing_yet(a) : json_deep_copy(old), *strip = apply_not_owned();
	json_t *managers = managers_read(json_object_get(meta_of(live), "managedFields"));
	char *me = managers_key(a, "Apply");
	json_t *last = json_incref((json_t *)(uintptr_t)managers_set(managers, me));
	json_t *reset = apply_reset(a), *sent = walk_fields(schema, config), *object;

	json_object_del(metadata_of(live), "managedFields");
	if (old != NULL && json_object_size(managers) == 0)
		apply_track_first(a, managers, live);
	managers_give(managers, a, "Apply", set_without(sent, reset), NULL);
	object = pruned(schema, walk_merge(schema, live, config), managers, last);

	struct comparison c = walk_compare(schema, live, object);

	comparison_leave_out(&c, reset);
	json_t *changed = set_union(c.modified, c.added);
	json_t *conflicts = a->force ? NULL : conflict_find(a, managers, me, changed, live);

	if (json_object_size(conflicts) > 0) {
		*status = conflict_status(conflicts, managers);
		json_decref(object);
		object = NULL;
	} else {
		const bool same = old != NULL && json_equal(object, live);

		managers_take(managers, changed, me);
		managers_take(managers, c.removed, me);
		managers_give(managers, a, "Apply", set_difference(managers_set(managers, me), strip),
		    same ? NULL : a->now);
		refresh_last_applied(a, object, config);
		object = settled(a, object, config, status);
		if (object != NULL)
			managers_keep(object, managers);
	}
	json_decref(conflicts);
	json_decref(changed);
	comparison_free(&c);
	json_decref(sent);
	json_decref(reset);
	json_decref(last);
	free(me);
	json_decref(managers);
	json_decref(strip);
	json_decref(live);
	return object;
}

static json_t *
config_refusal(const struct ask *a, const json_t *config)
{
	const char *version = json_text(config, "apiVersion"), *kind = json_text(config, "kind");
	char expected[256];

	resource_api_version(a->resource, expected, sizeof(expected));
	if (strcmp(version, expected) != 0 || strcmp(kind, a->resource->kind) != 0)
		return status_bad_request("invalid object type: %s%s, Kind=%s",
		    strchr(version, '/') == NULL ? "/" : "", version, kind);
	if (json_object_get(meta_of(config), "managedFields") != NULL)
		return status_bad_request("metadata.managedFields must be nil");
	return apply_check(a, config);
}

/*
 * Takes merged. What this manager applied last time and no longer does goes, unless somebody owns
 * it. Three steps, as the real one: remove all of it; put back what is owned; put back what was not
 * his.
 */
static json_t *
pruned(const json_t *schema, json_t *merged, const json_t *managers, const json_t *last)
{
	if (set_is_empty(last))
		return merged;

	json_t *was = walk_named(schema, last), *all = NULL, *entry;
	const char *key;

	JSON_EACH(managers, key, entry) {
		json_t *more = set_union(all, json_object_get(entry, "set"));

		json_decref(all);
		all = more;
	}

	json_t *owned = walk_named(schema, all), *fields = walk_fields(schema, merged),
	    *has = walk_named(schema, fields);
	json_t *bare = walk_remove(schema, merged, was);
	json_t *bare_fields = walk_fields(schema, bare), *bare_has = walk_named(schema, bare_fields);
	json_t *stays = set_union(bare_has, owned), *goes = set_difference(has, stays);
	json_t *goes_his = set_intersection(goes, was);
	json_t *result = walk_remove(schema, merged, goes_his);
	json_t *const used[] = {
		was, all, owned, fields, has, bare, bare_fields, bare_has, stays, goes, goes_his, merged,
	};

	for (size_t i = 0; i < NITEMS(used); i++)
		json_decref(used[i]);
	return result;
}

static void
refresh_last_applied(const struct ask *a, json_t *object, const json_t *config)
{
	json_t *annotations = json_object_get(json_object_get(object, "metadata"), "annotations");

	if (strcmp(a->field_manager, "kubectl") != 0 || *json_text(annotations, LAST_APPLIED) == '\0')
		return;

	json_t *plain = json_deep_copy(config);
	char *text;

	json_object_del(json_object_get(json_object_get(plain, "metadata"), "annotations"), LAST_APPLIED);
	text = json_dumps(plain, JSON_COMPACT | JSON_SORT_KEYS);
	json_object_set_new(annotations, LAST_APPLIED, json_sprintf("%s\n", text));
	free(text);
	json_decref(plain);
}

/*
 * Takes object. The merged object is read again as the server reads what it was sent: canonical
 * texts, defaults. NULL: a text has not its form.
 */
static json_t *
settled(const struct ask *a, json_t *object, const json_t *config, json_t **status)
{
	const json_t *schema = schema_of(a->resource);
	char *flaw = NULL;

	if (a->resource->builtin && schema != NULL) {
		json_t *unknown = json_array(), *merged = object;

		object = schema_typed(schema, merged, "", unknown, false, &flaw);
		json_decref(unknown);
		json_decref(merged);
	}
	if (object != NULL)
		schema_complete(a, object);
	else
		*status = conversion_failure(a->resource, config, flaw);
	free(flaw);
	return object;
}

static json_t *
conversion_failure(const struct resource *r, const json_t *config, const char *why)
{
	char kind[320], *message;

	snprintf(kind, sizeof(kind), "%s/%s, Kind=%s", r->group, r->version, r->kind);
	MUST(asprintf(&message, "failed to convert new object (%s/%s; %s) to proper version: unable to "
	    "convert unstructured object to %s: %s", meta_text(config, "namespace"),
	    meta_text(config, "name"), kind, kind, why) > 0);
	json_t *status = semantics_failure(500, "", message, NULL, "", NULL);

	free(message);
	return status;
}
