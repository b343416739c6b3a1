/*
 * sim/kube/semantics/sim_semantics_meta.c - metadata: what the server fills in, what no client may
 * change, what is malformed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim_field_errors.h"
#include "sim_semantics_rules.h"

enum { ANNOTATIONS_MAX = 256 << 10, GENERATED_BASE_MAX = 58 };

static void check_content(json_t *errors, const json_t *meta);
static void check_changes(json_t *errors, const json_t *object, const json_t *old);
static void check_labels(json_t *errors, const json_t *labels);
static void check_annotations(json_t *errors, const json_t *annotations);
static void check_owners(json_t *errors, const json_t *owners);
static void check_finalizers(json_t *errors, const json_t *finalizers);
static void check_no_new_finalizers(json_t *errors, const json_t *now, const json_t *before);

/* Changes of these are refused; the names are the fields after "metadata.". */
static const char *const immutable[] = {
	"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
};

void
sim_metadata_wipe(json_t *object)
{
	static const char *const fields[] = {
		"creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
	};

	for (size_t i = 0; i < NITEMS(fields); i++)
		json_object_del(sim_metadata_of(object), fields[i]);
}

void
sim_metadata_fill(const struct sim_write_params *a, json_t *object)
{
	json_t *meta = sim_metadata_of(object);
	const char *base = sim_json_text(meta, "generateName");

	sim_metadata_wipe(object);
	json_object_set_new(meta, "creationTimestamp", json_string(a->now));
	json_object_set_new(meta, "uid", json_string(a->new_uid));
	if (*base != '\0' && *sim_json_text(meta, "name") == '\0')
		json_object_set_new(meta, "name",
		    json_sprintf("%.*s%s", GENERATED_BASE_MAX, base, a->suffix));
	sim_metadata_place(a, object);
}

void
sim_metadata_place(const struct sim_write_params *a, json_t *object)
{
	if (a->resource->namespaced)
		json_object_set_new(sim_metadata_of(object), "namespace", json_string(a->namespace));
	else
		json_object_del(sim_metadata_of(object), "namespace");
}

void
sim_metadata_check(json_t *errors, const struct sim_resource *r, const json_t *object,
    enum sim_name_form form)
{
	const json_t *meta = meta_of(object);
	const char *name = sim_json_text(meta, "name"), *base = sim_json_text(meta, "generateName");

	if (*base != '\0')
		sim_name_check(errors, "metadata.generateName", base, form, true);
	if (*name == '\0')
		sim_field_error(errors, FIELD_REQUIRED, "metadata.name", NULL,
		    "name or generateName is required");
	else
		sim_name_check(errors, "metadata.name", name, form, false);
	if (r->namespaced)
		sim_name_check(errors, "metadata.namespace", sim_json_text(meta, "namespace"),
		    NAME_LABEL, false);
	check_content(errors, meta);
	check_finalizers(errors, json_object_get(meta, "finalizers"));
}

/* The causes show how often the real server checks: its generic part twice, its kinds once or twice. */
void
sim_metadata_check_update(json_t *errors, const json_t *object, const json_t *old, bool custom)
{
	const json_t *meta = meta_of(object);

	check_content(errors, meta);
	check_finalizers(errors, json_object_get(meta, "finalizers"));
	check_changes(errors, object, old);
	if (!custom) {
		check_content(errors, meta);
		check_finalizers(errors, json_object_get(meta, "finalizers"));
	}
	check_changes(errors, object, old);
}

void
sim_metadata_keep(json_t *object, const json_t *old)
{
	json_t *meta = sim_metadata_of(object);
	const json_t *before = meta_of(old);

	take_member(meta, before, "resourceVersion");
	take_member(meta, before, "generation");
	take_member(meta, before, "creationTimestamp");
	json_object_del(meta, "selfLink");
	if (*sim_json_text(meta, "uid") == '\0')
		take_member(meta, before, "uid");
	if (json_object_get(before, "deletionTimestamp") != NULL)
		take_member(meta, before, "deletionTimestamp");
	if (json_object_get(meta, "deletionGracePeriodSeconds") == NULL)
		take_member(meta, before, "deletionGracePeriodSeconds");
}

static void
check_content(json_t *errors, const json_t *meta)
{
	check_labels(errors, json_object_get(meta, "labels"));
	check_annotations(errors, json_object_get(meta, "annotations"));
	check_owners(errors, json_object_get(meta, "ownerReferences"));
}

/* What may not change, and what does not fit then. */
static void
check_changes(json_t *errors, const json_t *object, const json_t *old)
{
	const json_t *meta = meta_of(object), *before = meta_of(old);

	if (json_object_get(before, "deletionTimestamp") != NULL)
		check_no_new_finalizers(errors, json_object_get(meta, "finalizers"),
		    json_object_get(before, "finalizers"));
	for (size_t i = 0; i < NITEMS(immutable); i++) {
		if (!same_member(meta, before, immutable[i])) {
			char field[64];

			snprintf(field, sizeof(field), "metadata.%s", immutable[i]);
			sim_field_error(errors, FIELD_INVALID, field, json_object_get(meta, immutable[i]),
			    "field is immutable");
		}
	}
	check_content(errors, meta);
}

static void
check_labels(json_t *errors, const json_t *labels)
{
	const char *key;
	json_t *value;

	JSON_EACH(labels, key, value) {
		sim_name_check_qualified(errors, "metadata.labels", key, key);
		sim_name_check_label_value(errors, "metadata.labels", json_is_string(value)
		    ? json_string_value(value) : "");
	}
}

/* Keys are judged in lower case, and named as they are. */
static void
check_annotations(json_t *errors, const json_t *annotations)
{
	size_t total = 0;
	const char *key;
	json_t *value;

	JSON_EACH(annotations, key, value) {
		json_auto_t *lower = sim_json_lower(key);

		sim_name_check_qualified(errors, "metadata.annotations", key, json_string_value(lower));
		total += strlen(key) + json_string_length(value);
	}
	if (total > ANNOTATIONS_MAX)
		sim_field_error(errors, FIELD_TOO_LONG, "metadata.annotations", NULL,
		    "may not be more than %d bytes",
		    ANNOTATIONS_MAX);
}

static void
check_owners(json_t *errors, const json_t *owners)
{
	static const struct { const char *key, *error_text; } wanted[] = {
		{ "apiVersion",	"version must not be empty" },
		{ "kind",	"must not be empty" },
		{ "name",	"must not be empty" },
		{ "uid",	"must not be empty" },
	};
	char controller[512] = "";
	size_t i;
	json_t *owner;

	json_array_foreach(owners, i, owner) {
		for (size_t k = 0; k < NITEMS(wanted); k++) {
			char field[64];

			snprintf(field, sizeof(field), "metadata.ownerReferences.%s", wanted[k].key);
			if (*sim_json_text(owner, wanted[k].key) == '\0')
				sim_field_error_text(errors, FIELD_INVALID, field, "", "%s",
				    wanted[k].error_text);
		}
		if (!json_is_true(json_object_get(owner, "controller")))
			continue;

		char this[512];

		snprintf(this, sizeof(this), "%s/%s", sim_json_text(owner, "kind"),
		    sim_json_text(owner, "name"));
		if (*controller != '\0')
			sim_field_error(errors, FIELD_INVALID, "metadata.ownerReferences", owners,
			    "Only one reference can have Controller set to true. Found \"true\" in "
			    "references for %s and %s", controller, this);
		else
			memcpy(controller, this, sizeof(controller));
	}
}

static void
check_finalizers(json_t *errors, const json_t *finalizers)
{
	size_t i;
	json_t *value;

	json_array_foreach(finalizers, i, value) {
		const char *name = json_is_string(value) ? json_string_value(value) : "";

		sim_name_check_qualified(errors, "metadata.finalizers", name, name);
	}
	if (has_text(finalizers, "orphan") && has_text(finalizers, "foregroundDeletion"))
		sim_field_error(errors, FIELD_INVALID, "metadata.finalizers", finalizers,
		    "finalizer orphan and foregroundDeletion cannot be both set");
}

/* The new ones are listed in order, as Go prints a []string: []string{"a", "b"}. */
static void
check_no_new_finalizers(json_t *errors, const json_t *now, const json_t *before)
{
	const char **added = obj_alloc((json_array_size(now) + 1) * sizeof(*added));
	size_t nadded = 0, i;
	json_t *value;

	json_array_foreach(now, i, value)
		if (json_is_string(value) && !has_text(before, json_string_value(value)))
			added[nadded++] = json_string_value(value);
	if (nadded > 0) {
		struct sim_buf list = { 0 };

		qsort(added, nadded, sizeof(*added), sim_json_compare_texts);
		for (i = 0; i < nadded; i++)
			if (i == 0 || strcmp(added[i], added[i - 1]) != 0)
				sim_buf_printf(&list, "%s\"%s\"", i == 0 ? "" : ", ", added[i]);
		sim_field_error(errors, FIELD_FORBIDDEN, "metadata.finalizers", NULL,
		    "no new finalizers can be added if the object is being deleted, found new finalizers "
		    "[]string{%s}", list.bytes);
		sim_buf_free(&list);
	}
	free(added);
}
