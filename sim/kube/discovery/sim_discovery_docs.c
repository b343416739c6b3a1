/* sim/kube/discovery/sim_discovery_docs.c - APIGroup, APIResourceList, APIGroupDiscoveryList. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_discovery.h"

enum { VERSIONS_MAX = 16 };

static const struct verb_name {
	enum sim_verb	 bit;
	const char	*name;
} builtin_verbs[] = {
	{ VERB_CREATE, "create" }, { VERB_DELETE, "delete" }, { VERB_DELETECOLLECTION, "deletecollection" },
	{ VERB_GET, "get" }, { VERB_LIST, "list" }, { VERB_PATCH, "patch" }, { VERB_UPDATE, "update" },
	{ VERB_WATCH, "watch" },
},
/* The apiserver has another order for custom resources. */
custom_verbs[] = {
	{ VERB_DELETE, "delete" }, { VERB_DELETECOLLECTION, "deletecollection" }, { VERB_GET, "get" },
	{ VERB_LIST, "list" }, { VERB_PATCH, "patch" }, { VERB_CREATE, "create" }, { VERB_UPDATE, "update" },
	{ VERB_WATCH, "watch" },
};

/* What a resource has beside itself. */
static const struct subresource {
	const char	*name, *group, *version, *kind;		/* kind NULL: that of the resource */
	unsigned	 verbs;
} status_sub = { "status", NULL, NULL, NULL, VERB_GET | VERB_PATCH | VERB_UPDATE },
  eviction_sub = { "eviction", "policy", "v1", "Eviction", VERB_CREATE };

static size_t versions_of(const struct sim_resource *const *, const char *, const char *[VERSIONS_MAX]);
static bool is_first_of_group(const struct sim_resource *const *, size_t);
static json_t *group_version(const char *, const char *);
static json_t *legacy_resource(const struct sim_resource *);
static json_t *legacy_subresource(const struct sim_resource *, const struct subresource *);
static json_t *aggregated_group(const struct sim_resource *const *, const char *);
static json_t *aggregated_resource(const struct sim_resource *);
static json_t *aggregated_subresource(const struct sim_resource *, const struct subresource *);
static json_t *response_kind(const char *, const char *, const char *);
static json_t *verb_list(unsigned, bool);
static void add_names(json_t *, const char *, const char *const *);
static int by_version(const void *, const void *);
static bool read_version(const char *, long *, int *, long *);

json_t *
sim_discovery_group_list(const struct sim_resource *const *all)
{
	json_t *const groups = json_array();

	for (size_t i = 0; all[i] != NULL; i++) {
		if (all[i]->group[0] == '\0' || !is_first_of_group(all, i))
			continue;
		json_t *const group = sim_discovery_group(all, all[i]->group);
		json_object_del(group, "kind");
		json_object_del(group, "apiVersion");
		json_array_append_new(groups, group);
	}
	return json_pack("{s:s, s:s, s:o}", "kind", "APIGroupList", "apiVersion", "v1", "groups", groups);
}

json_t *
sim_discovery_group(const struct sim_resource *const *all, const char *group)
{
	const char *versions[VERSIONS_MAX];
	const size_t n = group[0] != '\0' ? versions_of(all, group, versions) : 0;

	if (n == 0)
		return NULL;
	json_t *const list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, group_version(group, versions[i]));
	return json_pack("{s:s, s:s, s:s, s:o, s:o}", "kind", "APIGroup", "apiVersion", "v1", "name", group,
	    "versions", list, "preferredVersion", group_version(group, versions[0]));
}

json_t *
sim_discovery_resource_list(const struct sim_resource *const *all, const char *group, const char *version)
{
	json_auto_t *list = json_array();
	char name[256] = "";

	for (size_t i = 0; all[i] != NULL; i++) {
		if (strcmp(all[i]->group, group) != 0 || strcmp(all[i]->version, version) != 0)
			continue;
		sim_resource_api_version(all[i], name, sizeof(name));
		json_array_append_new(list, legacy_resource(all[i]));
		if (all[i]->has_eviction)
			json_array_append_new(list, legacy_subresource(all[i], &eviction_sub));
		if (all[i]->has_status)
			json_array_append_new(list, legacy_subresource(all[i], &status_sub));
	}
	return json_array_size(list) == 0 ? NULL : json_pack("{s:s, s:s, s:s, s:O}", "kind",
	    "APIResourceList", "apiVersion", "v1", "groupVersion", name, "resources", list);
}

json_t *
sim_discovery_aggregated(const struct sim_resource *const *all, bool core, const char *version)
{
	json_t *const items = json_array();

	for (size_t i = 0; all[i] != NULL; i++) {
		if ((all[i]->group[0] == '\0') == core && is_first_of_group(all, i))
			json_array_append_new(items, aggregated_group(all, all[i]->group));
	}
	return json_pack("{s:s, s:o, s:{}, s:o}", "kind", "APIGroupDiscoveryList", "apiVersion",
	    json_sprintf("apidiscovery.k8s.io/%s", version), "metadata", "items", items);
}

int
sim_discovery_compare_versions(const char *a, const char *b)
{
	long major[2], minor[2];
	int level[2];
	const bool known[2] = { read_version(a, &major[0], &level[0], &minor[0]),
		read_version(b, &major[1], &level[1], &minor[1]) };

	if (known[0] != known[1])
		return known[0] ? -1 : 1;
	if (!known[0])
		return strcmp(a, b);
	if (level[0] != level[1])
		return level[1] - level[0];
	if (major[0] != major[1])
		return major[0] > major[1] ? -1 : 1;
	return minor[0] == minor[1] ? 0 : minor[0] > minor[1] ? -1 : 1;
}

static size_t
versions_of(const struct sim_resource *const *all, const char *group, const char *versions[VERSIONS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; all[i] != NULL; i++) {
		size_t k = 0;

		while (k < n && strcmp(versions[k], all[i]->version) != 0)
			k++;
		if (strcmp(all[i]->group, group) == 0 && k == n && n < VERSIONS_MAX)
			versions[n++] = all[i]->version;
	}
	qsort(versions, n, sizeof(versions[0]), by_version);
	return n;
}

static bool
is_first_of_group(const struct sim_resource *const *all, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (strcmp(all[k]->group, all[i]->group) == 0)
			return false;
	}
	return true;
}

static json_t *
group_version(const char *group, const char *version)
{
	return json_pack("{s:o, s:s}", "groupVersion", json_sprintf("%s/%s", group, version),
	    "version", version);
}

static json_t *
legacy_resource(const struct sim_resource *r)
{
	json_t *const out = json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", r->plural,
	    "singularName", r->singular, "namespaced", r->namespaced, "kind", r->kind, "verbs",
	    verb_list(r->verbs, r->builtin));

	add_names(out, "shortNames", r->short_names);
	add_names(out, "categories", r->categories);
	return out;
}

static json_t *
legacy_subresource(const struct sim_resource *r, const struct subresource *s)
{
	json_t *const out = json_pack("{s:o, s:s, s:b, s:s, s:o}", "name",
	    json_sprintf("%s/%s", r->plural, s->name), "singularName", "", "namespaced",
	    r->namespaced, "kind", s->kind != NULL ? s->kind : r->kind, "verbs",
	    verb_list(s->verbs, true));

	if (s->group != NULL) {
		json_object_set_new(out, "group", json_string(s->group));
		json_object_set_new(out, "version", json_string(s->version));
	}
	return out;
}

static json_t *
aggregated_group(const struct sim_resource *const *all, const char *group)
{
	const char *versions[VERSIONS_MAX];
	const size_t n = versions_of(all, group, versions);
	json_t *const list = json_array();

	for (size_t v = 0; v < n; v++) {
		json_t *const resources = json_array();

		for (size_t i = 0; all[i] != NULL; i++) {
			if (strcmp(all[i]->group, group) == 0 && strcmp(all[i]->version, versions[v]) == 0)
				json_array_append_new(resources, aggregated_resource(all[i]));
		}
		json_array_append_new(list,
		    json_pack("{s:s, s:o, s:s}", "version", versions[v], "resources", resources,
			"freshness", "Current"));
	}
	json_t *const metadata = group[0] != '\0' ? json_pack("{s:s}", "name", group) : json_object();
	return json_pack("{s:o, s:o}", "metadata", metadata, "versions", list);
}

static json_t *
aggregated_resource(const struct sim_resource *r)
{
	json_t *const out = json_pack("{s:s, s:o, s:s, s:s, s:o}", "resource", r->plural, "responseKind",
	    response_kind(r->group, r->version, r->kind), "scope", r->namespaced ? "Namespaced" : "Cluster",
	    "singularResource", r->singular, "verbs", verb_list(r->verbs, r->builtin));

	add_names(out, "shortNames", r->short_names);
	add_names(out, "categories", r->categories);
	if (r->has_eviction)
		json_array_append_new(sim_json_list(out, "subresources"),
		    aggregated_subresource(r, &eviction_sub));
	if (r->has_status)
		json_array_append_new(sim_json_list(out, "subresources"),
		    aggregated_subresource(r, &status_sub));
	return out;
}

static json_t *
aggregated_subresource(const struct sim_resource *r, const struct subresource *s)
{
	json_t *const kind = s->kind != NULL ? response_kind(s->group, s->version, s->kind)
					     : response_kind(r->group, r->version, r->kind);

	return json_pack("{s:s, s:o, s:o}", "subresource", s->name, "responseKind", kind, "verbs",
	    verb_list(s->verbs, true));
}

static json_t *
response_kind(const char *group, const char *version, const char *kind)
{
	return json_pack("{s:s, s:s, s:s}", "group", group, "version", version, "kind", kind);
}

static json_t *
verb_list(unsigned verbs, bool builtin)
{
	const struct verb_name *const names = builtin ? builtin_verbs : custom_verbs;
	json_t *const list = json_array();

	for (size_t i = 0; i < NITEMS(builtin_verbs); i++) {
		if ((verbs & names[i].bit) != 0)
			json_array_append_new(list, json_string(names[i].name));
	}
	return list;
}

/* None: no member. */
static void
add_names(json_t *to, const char *key, const char *const *names)
{
	for (size_t i = 0; i < RESOURCE_NAMES_MAX && names[i] != NULL; i++)
		json_array_append_new(sim_json_list(to, key), json_string(names[i]));
}

static int
by_version(const void *a, const void *b)
{
	return sim_discovery_compare_versions(*(const char *const *)a, *(const char *const *)b);
}

/* v1, v1beta2: level 2 is stable, 1 beta, 0 alpha. */
static bool
read_version(const char *s, long *major, int *level, long *minor)
{
	char *end;

	if (s[0] != 'v' || !isdigit((unsigned char)s[1]))
		return false;
	*major = strtol(s + 1, &end, 10);
	*minor = 0;
	*level = 2;
	if (*end == '\0')
		return true;
	*level = strncmp(end, "beta", 4) == 0 ? 1 : strncmp(end, "alpha", 5) == 0 ? 0 : -1;
	if (*level < 0 || !isdigit((unsigned char)end[*level == 1 ? 4 : 5]))
		return false;
	*minor = strtol(end + (*level == 1 ? 4 : 5), &end, 10);
	return *end == '\0';
}
