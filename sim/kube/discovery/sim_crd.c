/* sim/kube/discovery/sim_crd.c - from a CRD to resources. The texts of a resource are those of its own copy of the CRD. */
#include "sim_crd.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/sim_json.h"
#include "obj.h"
#include "sim/kube/store/sim_store.h"

enum { NAME_MAX_LEN = 128 };

struct made {
	struct resource		 r;	/* first: the registry knows only this */
	json_t			*crd;
	char			 singular[NAME_MAX_LEN], list_kind[NAME_MAX_LEN];
	struct selectable	*fields;
	size_t			 nfields;
};

static struct resource *resource_of(json_t *, const json_t *, struct storage *);
static void take_names(const char *[RESOURCE_NAMES_MAX], const json_t *);
static void take_fields(struct made *, const json_t *);
static void set_condition(json_t *, const char *, const char *, const char *, const char *);

size_t
crd_resources(const json_t *crd, struct depot *store, struct resource *made[CRD_VERSIONS_MAX])
{
	struct storage *const st = depot_storage(store, json_text_at(crd, "spec.group"),
	    json_text_at(crd, "spec.names.plural"));
	json_t *const copy = json_deep_copy(crd);
	size_t n = 0, i;
	json_t *version;

	json_array_foreach(json_at(copy, "spec.versions"), i, version) {
		if (n < CRD_VERSIONS_MAX)
			made[n++] = resource_of(copy, version, st);
	}
	json_decref(copy);
	return n;
}

void
crd_resource_free(struct resource **rp)
{
	struct made *const m = (struct made *)*rp;

	*rp = NULL;
	if (m == NULL)
		return;
	json_decref(m->crd);
	free(m->fields);
	free(m);
}

json_t *
crd_established(const json_t *crd, const char *now)
{
	json_t *const made = json_deep_copy(crd);
	json_t *const status = json_branch(made, "status");
	json_t *const names = json_deep_copy(json_at(made, "spec.names"));
	json_t *const stored = json_array();
	size_t i;
	json_t *version;

	if (json_text(names, "listKind")[0] == '\0')
		json_object_set_new(names, "listKind", json_sprintf("%sList", json_text(names, "kind")));
	json_object_set_new(status, "acceptedNames", names);
	set_condition(status, "NamesAccepted", "NoConflicts", "no conflicts found", now);
	set_condition(status, "Established", "InitialNamesAccepted",
	    "the initial names have been accepted", now);
	json_array_foreach(json_at(made, "spec.versions"), i, version) {
		if (json_is_true(json_object_get(version, "storage")))
			json_array_append(stored, json_object_get(version, "name"));
	}
	if (json_object_get(status, "storedVersions") == NULL)
		json_object_set(status, "storedVersions", stored);
	json_decref(stored);
	if (!json_equal(made, crd))
		return made;
	json_decref(made);
	return NULL;
}

static struct resource *
resource_of(json_t *crd, const json_t *version, struct storage *st)
{
	const json_t *const names = json_at(crd, "spec.names");
	struct made *const m = obj_alloc(sizeof(*m));

	m->crd = json_incref(crd);
	snprintf(m->singular, sizeof(m->singular), "%s", json_text(names, "singular"));
	if (m->singular[0] == '\0') {
		snprintf(m->singular, sizeof(m->singular), "%s", json_text(names, "kind"));
		for (char *p = m->singular; *p != '\0'; p++)
			*p = (char)tolower((unsigned char)*p);
	}
	snprintf(m->list_kind, sizeof(m->list_kind), "%s", json_text(names, "listKind"));
	if (m->list_kind[0] == '\0')
		snprintf(m->list_kind, sizeof(m->list_kind), "%sList", json_text(names, "kind"));
	take_fields(m, json_object_get(version, "selectableFields"));
	m->r = (struct resource){
		.group = json_text_at(crd, "spec.group"),
		.version = json_text(version, "name"),
		.plural = json_text(names, "plural"),
		.singular = m->singular,
		.kind = json_text(names, "kind"),
		.list_kind = m->list_kind,
		.fields = m->fields,
		.verbs = VERBS_ALL,
		.namespaced = strcmp(json_text_at(crd, "spec.scope"), "Namespaced") == 0,
		.served = json_is_true(json_object_get(version, "served")),
		.stored = json_is_true(json_object_get(version, "storage")),
		.has_status = json_at(version, "subresources.status") != NULL,
		.counts_generation = true,
		.schema = json_at(version, "schema.openAPIV3Schema"),
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
take_fields(struct made *m, const json_t *fields)
{
	m->fields = obj_alloc((json_array_size(fields) + 1) * sizeof(*m->fields));
	for (size_t i = 0; i < json_array_size(fields); i++) {
		const char *const path = json_text(json_array_get(fields, i), "jsonPath");

		if (path[0] == '.')
			m->fields[m->nfields++].name = path + 1;
	}
}

static void
set_condition(json_t *status, const char *type, const char *reason, const char *message, const char *now)
{
	json_t *conditions = json_object_get(status, "conditions");
	size_t i;
	json_t *there;

	if (conditions == NULL) {
		conditions = json_array();
		json_object_set_new(status, "conditions", conditions);
	}
	json_array_foreach(conditions, i, there) {
		if (strcmp(json_text(there, "type"), type) == 0)
			return;
	}
	json_array_append_new(conditions, json_pack("{s:s, s:s, s:s, s:s, s:s}", "lastTransitionTime", now,
	    "message", message, "reason", reason, "status", "True", "type", type));
}
