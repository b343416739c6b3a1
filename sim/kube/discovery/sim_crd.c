/*
 * sim/kube/discovery/sim_crd.c - from a CRD to resources. The texts of a resource are those of its
 * own copy of the CRD.
 */
#include "sim_crd.h"

#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/store/sim_store.h"

enum { NAME_MAX_LEN = 128 };

struct crd_resource {
	struct sim_resource	 r;	/* first: the registry points to it */
	json_t			*crd;
	char			 singular[NAME_MAX_LEN], list_kind[NAME_MAX_LEN];
	struct sim_selectable	*fields;
	size_t			 nfields;
};

static struct sim_resource *resource_of(json_t *, const json_t *, struct sim_storage *);
static void take_names(const char *[RESOURCE_NAMES_MAX], const json_t *);
static void take_fields(struct crd_resource *, const json_t *);
static void set_condition(json_t *, const char *, const char *, const char *, const char *);

size_t
sim_crd_resources(const json_t *crd, struct sim_store *store, struct sim_resource *made[CRD_VERSIONS_MAX])
{
	struct sim_storage *const st = sim_store_storage(store, sim_json_text_at(crd, "spec.group"),
	    sim_json_text_at(crd, "spec.names.plural"));
	json_auto_t *copy = json_deep_copy(crd);
	size_t n = 0, i;
	json_t *version;

	json_array_foreach(sim_json_at(copy, "spec.versions"), i, version) {
		if (n < CRD_VERSIONS_MAX)
			made[n++] = resource_of(copy, version, st);
	}
	return n;
}

void
sim_crd_resource_free(struct sim_resource **rp)
{
	struct crd_resource *const m = (struct crd_resource *)*rp;

	*rp = NULL;
	if (m == NULL)
		return;
	json_decref(m->crd);
	free(m->fields);
	free(m);
}

json_t *
sim_crd_established(const json_t *crd, const char *now)
{
	json_auto_t *made = json_deep_copy(crd), *stored = json_array();
	json_t *const status = sim_json_branch(made, "status");
	json_t *const names = json_deep_copy(sim_json_at(made, "spec.names"));
	size_t i;
	json_t *version;

	if (sim_json_text(names, "listKind")[0] == '\0')
		json_object_set_new(names, "listKind", json_sprintf("%sList", sim_json_text(names, "kind")));
	json_object_set_new(status, "acceptedNames", names);
	set_condition(status, "NamesAccepted", "NoConflicts", "no conflicts found", now);
	set_condition(status, "Established", "InitialNamesAccepted",
	    "the initial names have been accepted", now);
	json_array_foreach(sim_json_at(made, "spec.versions"), i, version) {
		if (json_is_true(json_object_get(version, "storage")))
			json_array_append(stored, json_object_get(version, "name"));
	}
	if (json_object_get(status, "storedVersions") == NULL)
		json_object_set(status, "storedVersions", stored);
	return json_equal(made, crd) ? NULL : json_incref(made);
}

static struct sim_resource *
resource_of(json_t *crd, const json_t *version, struct sim_storage *st)
{
	const json_t *const names = sim_json_at(crd, "spec.names");
	struct crd_resource *const m = obj_alloc(sizeof(*m));

	m->crd = json_incref(crd);
	snprintf(m->singular, sizeof(m->singular), "%s", sim_json_text(names, "singular"));
	if (m->singular[0] == '\0') {
		json_auto_t *kind = sim_json_lower(sim_json_text(names, "kind"));

		snprintf(m->singular, sizeof(m->singular), "%s", json_string_value(kind));
	}
	snprintf(m->list_kind, sizeof(m->list_kind), "%s", sim_json_text(names, "listKind"));
	if (m->list_kind[0] == '\0')
		snprintf(m->list_kind, sizeof(m->list_kind), "%sList", sim_json_text(names, "kind"));
	take_fields(m, json_object_get(version, "selectableFields"));
	m->r = (struct sim_resource){
		.group = sim_json_text_at(crd, "spec.group"),
		.version = sim_json_text(version, "name"),
		.plural = sim_json_text(names, "plural"),
		.singular = m->singular,
		.kind = sim_json_text(names, "kind"),
		.list_kind = m->list_kind,
		.fields = m->fields,
		.verbs = VERBS_ALL,
		.namespaced = strcmp(sim_json_text_at(crd, "spec.scope"), "Namespaced") == 0,
		.served = json_is_true(json_object_get(version, "served")),
		.stored = json_is_true(json_object_get(version, "storage")),
		.has_status = sim_json_at(version, "subresources.status") != NULL,
		.counts_generation = true,
		.schema = sim_json_at(version, "schema.openAPIV3Schema"),
		.columns = json_object_get(version, "additionalPrinterColumns"),
		.storage = st,
	};
	take_names(m->r.short_names, json_object_get(names, "shortNames"));
	take_names(m->r.categories, json_object_get(names, "categories"));
	return &m->r;
}

static void
take_names(const char *to[RESOURCE_NAMES_MAX], const json_t *names)
{
	for (size_t i = 0; i < json_array_size(names) && i < RESOURCE_NAMES_MAX - 1; i++)
		to[i] = json_string_value(json_array_get(names, i));
}

/* jsonPath is ".spec.color": our paths have no dot in front. */
static void
take_fields(struct crd_resource *m, const json_t *fields)
{
	m->fields = obj_alloc((json_array_size(fields) + 1) * sizeof(*m->fields));
	for (size_t i = 0; i < json_array_size(fields); i++) {
		const char *const path = sim_json_text(json_array_get(fields, i), "jsonPath");

		if (path[0] == '.')
			m->fields[m->nfields++].name = path + 1;
	}
}

static void
set_condition(json_t *status, const char *type, const char *reason, const char *message, const char *now)
{
	json_t *const conditions = sim_json_list(status, "conditions");

	if (sim_json_find(conditions, "type", type) != NULL)
		return;
	json_array_append_new(conditions, json_pack("{s:s, s:s, s:s, s:s, s:s}", "lastTransitionTime", now,
	    "message", message, "reason", reason, "status", "True", "type", type));
}
