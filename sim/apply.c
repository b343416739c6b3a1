/* sim/apply.c - what a write does to managedFields, and what an apply does to the object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "apply_check.h"
#include "apply_managers.h"
#include "apply_walk.h"
#include "obj.h"
#include "schema.h"
#include "semantics_json.h"
#include "semantics_rules.h"

#define LAST_APPLIED	"kubectl.kubernetes.io/last-applied-configuration"

static void track(const struct ask *a, json_t *managers, const json_t *object, const json_t *old);
static void track_first(const struct ask *a, json_t *managers, const json_t *live);
static json_t *managers_before(const struct ask *a, const json_t *object, const json_t *old);
static json_t *nothing_yet(const struct ask *a);
static json_t *not_owned(void);
static json_t *reset_fields(const struct ask *a);
static void leave_out(struct comparison *c, const json_t *set);
static json_t *config_refusal(const struct ask *a, const json_t *config);
static json_t *pruned(const json_t *schema, json_t *merged, const json_t *managers, const json_t *last);
static json_t *conflicts_of(const struct ask *a, const json_t *managers, const char *me, const json_t *changed,
    const json_t *live);
static json_t *conflict_status(const json_t *conflicts, const json_t *managers);
static char *manager_text(const json_t *entry);
static json_t *allowed_by_kubectl(const struct ask *a, const json_t *live);
static json_t *settled(const struct ask *a, json_t *object);
static void write_managers(json_t *object, const json_t *managers);
static void refresh_last_applied(const struct ask *a, json_t *object, const json_t *config);
static json_t *without_times(const json_t *object);

void
apply_track(const struct ask *a, json_t *object, const json_t *old)
{
	json_t *managers = managers_before(a, object, old);

	json_object_del(metadata_of(object), "managedFields");
	/* What is not tracked from its creation on is not tracked until somebody applies it. */
	if (old == NULL || json_object_size(managers) > 0) {
		track(a, managers, object, old);
		managers_cap(managers);
		write_managers(object, managers);
	}
	json_decref(managers);
}

json_t *
apply_config(const struct ask *a, const json_t *old, const json_t *config, json_t **status)
{
	if ((*status = config_refusal(a, config)) != NULL)
		return NULL;

	const json_t *schema = schema_of(a->resource);
	json_t *live = old == NULL ? nothing_yet(a) : json_deep_copy(old), *strip = not_owned();
	json_t *managers = managers_read(json_object_get(meta_of(live), "managedFields"));
	char *me = managers_key(a, "Apply");
	json_t *last = json_incref((json_t *)(uintptr_t)managers_set(managers, me));
	json_t *reset = reset_fields(a), *sent = walk_fields(schema, config), *object;

	json_object_del(metadata_of(live), "managedFields");
	if (old != NULL && json_object_size(managers) == 0)
		track_first(a, managers, live);
	managers_give(managers, a, "Apply", set_without(sent, reset), NULL);
	object = pruned(schema, walk_merge(schema, live, config), managers, last);

	struct comparison c = walk_compare(schema, live, object);

	leave_out(&c, reset);
	json_t *changed = set_union(c.modified, c.added);
	json_t *conflicts = a->force ? NULL : conflicts_of(a, managers, me, changed, live);

	if (json_object_size(conflicts) > 0) {
		*status = conflict_status(conflicts, managers);
		json_decref(object);
		object = NULL;
	} else {
		const bool same = old != NULL && json_equal(object, live);

		managers_take(managers, changed, me);
		managers_take(managers, c.removed, me);
		managers_give(managers, a, "Apply", set_difference(managers_set(managers, me), strip), same ? NULL : a->now);
		refresh_last_applied(a, object, config);
		object = settled(a, object);
		write_managers(object, managers);
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

void
apply_settle(json_t *object, const json_t *old)
{
	json_t *now = without_times(object), *before = without_times(old);

	if (json_equal(now, before))
		take_member(metadata_of(object), meta_of(old), "managedFields");
	json_decref(now);
	json_decref(before);
}

/* The manager owns what differs; nobody else does any more. */
static void
track(const struct ask *a, json_t *managers, const json_t *object, const json_t *old)
{
	json_t *live = old == NULL ? nothing_yet(a) : json_incref((json_t *)(uintptr_t)old);
	json_t *reset = reset_fields(a), *strip = not_owned();
	struct comparison c = walk_compare(schema_of(a->resource), live, object);

	leave_out(&c, reset);
	json_t *changed = set_union(c.modified, c.added);
	json_t *mine = set_difference(changed, strip);
	char *me = managers_key(a, "Update");

	managers_take(managers, changed, NULL);
	managers_take(managers, c.removed, NULL);
	if (!set_is_empty(mine))
		managers_give(managers, a, "Update", set_union(managers_set(managers, me), mine), a->now);

	free(me);
	comparison_free(&c);
	json_decref(mine);
	json_decref(changed);
	json_decref(strip);
	json_decref(reset);
	json_decref(live);
}

/* The first apply to an object that was not tracked: what is there belongs to those before. */
static void
track_first(const struct ask *a, json_t *managers, const json_t *live)
{
	struct ask before = *a;

	before.field_manager = "before-first-apply";
	track(&before, managers, live, NULL);
}

/*
 * The managers that a write starts from: those the request brings, if it brings any (a client may rewrite them; [] and
 * [{}] remove them all), else those of the object. A subresource cannot rewrite them.
 */
static json_t *
managers_before(const struct ask *a, const json_t *object, const json_t *old)
{
	const json_t *brought = json_object_get(meta_of(object), "managedFields");
	const json_t *had = json_object_get(meta_of(old), "managedFields");
	const bool reset = json_is_array(brought) && (json_array_size(brought) == 0
	    || (json_array_size(brought) == 1 && json_object_size(json_array_get(brought, 0)) == 0));

	if (*a->subresource != '\0')
		return managers_read(had);
	if (reset)
		return json_object();

	json_t *managers = managers_read(brought);

	if (json_object_size(managers) > 0)
		return managers;
	json_decref(managers);
	return managers_read(had);
}

/* The object before it is created, as Go has it: a built-in kind starts with its zero values. */
static json_t *
nothing_yet(const struct ask *a)
{
	char version[256];
	json_t *object = a->resource->builtin && schema_of(a->resource) != NULL ? schema_zero(schema_of(a->resource))
	    : json_object();

	json_object_set_new(object, "apiVersion", json_string(resource_api_version(a->resource, version, sizeof(version))));
	json_object_set_new(object, "kind", json_string(a->resource->kind));
	return object;
}

/* What nobody owns. */
static json_t *
not_owned(void)
{
	static const char *const fields[] = {
		"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields",
		"resourceVersion",
	};
	json_t *meta = NULL, *set = NULL;

	set_mark(&meta);
	for (size_t i = 0; i < NITEMS(fields); i++) {
		json_t *field = NULL;
		char name[32];

		set_mark(&field);
		snprintf(name, sizeof(name), "f:%s", fields[i]);
		set_put(&meta, name, field);
	}
	set_put(&set, "f:metadata", meta);
	for (const char *const *root = (const char *const[]){ "f:apiVersion", "f:kind", NULL }; *root != NULL; root++) {
		json_t *field = NULL;

		set_mark(&field);
		set_put(&set, *root, field);
	}
	return set;
}

/* What this endpoint does not change, whatever was sent. */
static json_t *
reset_fields(const struct ask *a)
{
	json_t *set = NULL, *field = NULL;

	if (!a->resource->has_status)
		return NULL;
	set_mark(&field);
	set_put(&set, strcmp(a->subresource, "status") == 0 ? "f:spec" : "f:status", field);
	return set;
}

static void
leave_out(struct comparison *c, const json_t *set)
{
	json_t **parts[] = { &c->removed, &c->modified, &c->added };

	for (size_t i = 0; i < NITEMS(parts); i++) {
		json_t *left = set_without(*parts[i], set);

		json_decref(*parts[i]);
		*parts[i] = left;
	}
}

static json_t *
config_refusal(const struct ask *a, const json_t *config)
{
	const char *version = json_text(config, "apiVersion"), *kind = json_text(config, "kind");
	char expected[256], *message = NULL;

	resource_api_version(a->resource, expected, sizeof(expected));
	if (strcmp(version, expected) != 0 || strcmp(kind, a->resource->kind) != 0)
		MUST(asprintf(&message, "invalid object type: %s%s, Kind=%s", strchr(version, '/') == NULL ? "/" : "", version,
		    kind) > 0);
	else if (json_object_get(meta_of(config), "managedFields") != NULL)
		message = obj_strdup("metadata.managedFields must be nil");
	if (message != NULL) {
		json_t *status = status_bad_request(message);

		free(message);
		return status;
	}
	return apply_check(a, config);
}

/*
 * Takes merged. What this manager applied last time and no longer does goes, unless somebody owns it. Three steps, as
 * the real one: remove all of it; put back what is owned; put back what was not his.
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

	json_t *owned = walk_named(schema, all), *fields = walk_fields(schema, merged), *has = walk_named(schema, fields);
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

/* By manager, the fields of others that would change; kubectl may take what it applied from the client side. */
static json_t *
conflicts_of(const struct ask *a, const json_t *managers, const char *me, const json_t *changed, const json_t *live)
{
	json_t *conflicts = json_object(), *entry;
	json_t *allowed = strcmp(a->field_manager, "kubectl") == 0 ? allowed_by_kubectl(a, live) : NULL;
	bool all_allowed = allowed != NULL;
	const char *key;

	JSON_EACH(managers, key, entry) {
		json_t *both = strcmp(key, me) == 0 ? NULL : set_intersection(json_object_get(entry, "set"), changed);
		json_t *refused = set_difference(both, allowed);

		if (!set_is_empty(both))
			json_object_set(conflicts, key, both);
		all_allowed = all_allowed && set_is_empty(refused);
		json_decref(refused);
		json_decref(both);
	}
	json_decref(allowed);
	if (all_allowed)
		json_object_clear(conflicts);
	return conflicts;
}

static json_t *
conflict_status(const json_t *conflicts, const json_t *managers)
{
	json_t *causes = json_array(), *set, *path;
	char *list = NULL, *message;
	size_t size, i;
	FILE *out = open_memstream(&list, &size);
	const char *key;

	MUST(out != NULL);
	JSON_EACH(conflicts, key, set) {
		char *who = manager_text(json_object_get(managers, key)), *with;
		json_t *paths = set_paths(set);

		MUST(asprintf(&with, "conflict with %s", who) > 0);
		fprintf(out, "%sconflicts with %s:", ftell(out) == 0 ? "" : "\n", who);
		json_array_foreach(paths, i, path) {
			fprintf(out, "\n- %s", json_string_value(path));
			json_array_append_new(causes, json_pack("{s:s, s:s, s:O}", "reason", "FieldManagerConflict", "message", with,
			    "field", path));
		}
		json_decref(paths);
		free(with);
		free(who);
	}
	fclose(out);
	if (json_array_size(causes) == 1)
		MUST(asprintf(&message, "Apply failed with 1 conflict: %s: %s", json_text(json_array_get(causes, 0), "message"),
		    json_text(json_array_get(causes, 0), "field")) > 0);
	else
		MUST(asprintf(&message, "Apply failed with %zu conflicts: %s", json_array_size(causes), list) > 0);

	json_t *status = semantics_failure(409, "Conflict", message, NULL, "", causes);

	free(message);
	free(list);
	return status;
}

static char *
manager_text(const json_t *entry)
{
	const char *subresource = json_text(entry, "subresource");
	const bool applies = strcmp(json_text(entry, "operation"), "Apply") == 0;
	char *text;

	MUST(asprintf(&text, "\"%s\"%s%s%s%s%s", json_text(entry, "manager"), *subresource == '\0' ? "" : " with subresource \"",
	    subresource, *subresource == '\0' ? "" : "\"", applies ? "" : " using ",
	    applies ? "" : json_text(entry, "apiVersion")) > 0);
	return text;
}

/* What `kubectl apply` once sent from the client side and is still so: moving to server-side apply may take it. */
static json_t *
allowed_by_kubectl(const struct ask *a, const json_t *live)
{
	const json_t *schema = schema_of(a->resource);
	const char *text = json_text(json_object_get(meta_of(live), "annotations"), LAST_APPLIED);
	json_t *last = *text == '\0' ? NULL : json_loads(text, 0, NULL);

	if (last == NULL)
		return NULL;

	struct comparison c = walk_compare(schema, live, last);
	json_t *fields = walk_fields(schema, last), *differs = set_union(c.modified, c.added);
	json_t *same = set_difference(fields, differs);
	json_t *note = NULL, *notes = NULL, *meta = NULL, *annotation = NULL;

	set_mark(&annotation);
	set_put(&notes, "f:" LAST_APPLIED, annotation);
	set_put(&meta, "f:annotations", notes);
	set_put(&note, "f:metadata", meta);
	json_t *allowed = set_union(same, note);
	json_t *const used[] = { last, fields, differs, same, note };

	for (size_t i = 0; i < NITEMS(used); i++)
		json_decref(used[i]);
	comparison_free(&c);
	return allowed;
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

/* Takes object. The merged object is read again as the server reads what it was sent: canonical texts, defaults. */
static json_t *
settled(const struct ask *a, json_t *object)
{
	const json_t *schema = schema_of(a->resource);
	json_t *unknown = json_array(), *read = NULL;
	char *flaw = NULL;

	if (a->resource->builtin && schema != NULL)
		read = schema_typed(schema, object, "", unknown, false, &flaw);
	else if (schema != NULL)
		schema_prune(schema, object, unknown);
	if (read != NULL) {
		json_decref(object);
		object = read;
	}
	schema_complete(a, object);
	free(flaw);
	json_decref(unknown);
	return object;
}

static void
write_managers(json_t *object, const json_t *managers)
{
	json_t *entries = managers_write(managers);

	if (entries == NULL)
		json_object_del(metadata_of(object), "managedFields");
	else
		json_object_set_new(metadata_of(object), "managedFields", entries);
}

static json_t *
without_times(const json_t *object)
{
	json_t *copy = json_copy((json_t *)(uintptr_t)object), *meta = json_copy((json_t *)(uintptr_t)meta_of(object));
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
