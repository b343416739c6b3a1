/* kube/discovery.c - the documents under /api and /apis, read for what we want of them. */
#include "discovery.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"

/* One wanted resource at one of its versions. */
struct wanted {
	const struct discovery_want	*want;
	char				 version[64];
	uint8_t				*mark;
};

typedef enum discovery_mark read_fn(const struct wanted *, const json_t *);
static read_fn read_aggregated, read_versions, read_groups, read_resources;

/* By the document's kind: what its list has of a wanted resource. */
static const struct {
	const char	*kind, *path, *list;	/* path "": that of a group version */
	read_fn		*read;
} documents[] = {
	{ "APIGroupDiscoveryList", "/api",  "items",     read_aggregated },
	{ "APIGroupDiscoveryList", "/apis", "items",     read_aggregated },
	{ "APIVersions",           "/api",  "versions",  read_versions },
	{ "APIGroupList",          "/apis", "groups",    read_groups },
	{ "APIResourceList",       "",      "resources", read_resources },
};

static bool next_wanted(struct discovery *, unsigned *, struct wanted *);
static bool next_named(struct discovery *, const char *, unsigned *, struct wanted *);
static const json_t *find_group(const json_t *, const char *, const char *);
static const json_t *find_version(const json_t *, const char *);
static enum discovery_mark find_resource(const struct wanted *, const json_t *, const char *, bool);
static bool is_top(const char *);
static void group_path(const struct wanted *, char *, size_t);
static bool version_at(const struct discovery_want *, size_t, char *, size_t);
static bool text_is(const json_t *, const char *, const char *);

void
discovery_init(struct discovery *d, const struct discovery_want *wants, size_t nwants)
{
	char version[64];

	MUST(nwants <= DISCOVERY_WANTS_MAX);
	*d = (struct discovery){ .wants = wants, .nwants = nwants };
	for (size_t i = 0; i < nwants; i++)
		MUST(version_at(&wants[i], 0, version, sizeof(version))
		    && !version_at(&wants[i], DISCOVERY_VERSIONS_MAX, version, sizeof(version)));
}

bool
discovery_read(struct discovery *d, const char *path, const char *bytes, size_t len, char *err, size_t size)
{
	json_error_t where;
	size_t i = 0;

	if (len > DISCOVERY_BODY_MAX) {
		snprintf(err, size, "%s: %zu bytes, the limit is %d", path, len, DISCOVERY_BODY_MAX);
		return false;
	}
	json_t *doc = json_loadb(bytes, len, 0, &where);
	if (doc == NULL) {
		snprintf(err, size, "%s: not JSON: %s", path, where.text);
		return false;
	}
	while (i < NITEMS(documents) && !(text_is(doc, "kind", documents[i].kind)
	    && strcmp(is_top(path) ? path : "", documents[i].path) == 0))
		i++;
	const json_t *list = i < NITEMS(documents) ? json_object_get(doc, documents[i].list) : NULL;
	/* null is Go's empty list; a document of ours without its list is a broken one. */
	const bool ok = json_is_array(list) || json_is_null(list);
	struct wanted w;
	for (unsigned at = 0; ok && next_named(d, path, &at, &w);)
		*w.mark = (uint8_t)documents[i].read(&w, list);
	if (!ok)
		snprintf(err, size, "%s: not a discovery document that belongs there", path);
	json_decref(doc);
	return ok;
}

bool
discovery_next(const struct discovery *d, char *path, size_t size)
{
	struct discovery copy = *d;
	struct wanted w;

	for (unsigned at = 0; next_wanted(&copy, &at, &w);) {
		if (*w.mark == MARK_LISTED) {
			group_path(&w, path, size);
			return true;
		}
	}
	return false;
}

void
discovery_failed(struct discovery *d, const char *path, bool gone)
{
	struct wanted w;

	for (unsigned at = 0; next_named(d, path, &at, &w);)
		*w.mark = gone ? MARK_ABSENT : MARK_FAILED;
}

/* The best of ours that is there; without one, absent only if nothing is open. */
void
discovery_result(const struct discovery *d, size_t i, struct discovery_result *out)
{
	MUST(i < d->nwants);
	*out = (struct discovery_result){ .state = DISCOVERY_ABSENT };
	for (size_t v = 0; version_at(&d->wants[i], v, out->version, sizeof(out->version)); v++) {
		const enum discovery_mark mark = d->marks[i][v];

		if (mark == MARK_CLUSTER || mark == MARK_NAMESPACED) {
			out->state = DISCOVERY_FOUND;
			out->namespaced = mark == MARK_NAMESPACED;
			return;
		}
		if (mark != MARK_ABSENT)
			out->state = DISCOVERY_UNKNOWN;
	}
	out->version[0] = '\0';
}

/* apidiscovery.k8s.io: groups, with versions, with resources. */
static enum discovery_mark
read_aggregated(const struct wanted *w, const json_t *groups)
{
	const json_t *group = find_group(groups, "metadata", w->want->group);
	const json_t *version = find_version(json_object_get(group, "versions"), w->version);

	if (version == NULL)
		return MARK_ABSENT;
	return find_resource(w, json_object_get(version, "resources"), "resource",
	    text_is(version, "freshness", "Stale"));
}

static enum discovery_mark
read_versions(const struct wanted *w, const json_t *versions)
{
	size_t i;
	json_t *one;

	json_array_foreach(versions, i, one) {
		if (json_is_string(one) && strcmp(json_string_value(one), w->version) == 0)
			return MARK_LISTED;
	}
	return MARK_ABSENT;
}

static enum discovery_mark
read_groups(const struct wanted *w, const json_t *groups)
{
	const json_t *group = find_group(groups, NULL, w->want->group);
	const json_t *version = find_version(json_object_get(group, "versions"), w->version);

	return version != NULL ? MARK_LISTED : MARK_ABSENT;
}

static enum discovery_mark
read_resources(const struct wanted *w, const json_t *resources)
{
	return find_resource(w, resources, "name", false);
}

/* Walks over every wanted resource and version; *at starts with 0. */
static bool
next_wanted(struct discovery *d, unsigned *at, struct wanted *w)
{
	for (; *at < d->nwants * DISCOVERY_VERSIONS_MAX; (*at)++) {
		const unsigned i = *at / DISCOVERY_VERSIONS_MAX, v = *at % DISCOVERY_VERSIONS_MAX;

		if (!version_at(&d->wants[i], v, w->version, sizeof(w->version)))
			continue;
		w->want = &d->wants[i];
		w->mark = &d->marks[i][v];
		(*at)++;
		return true;
	}
	return false;
}

/* Only over those that the document at that path names. /api has the core group, /apis all others. */
static bool
next_named(struct discovery *d, const char *path, unsigned *at, struct wanted *w)
{
	char own[256];

	while (next_wanted(d, at, w)) {
		group_path(w, own, sizeof(own));
		if (is_top(path) ? (w->want->group[0] == '\0') == (strcmp(path, "/api") == 0)
				 : strcmp(own, path) == 0)
			return true;
	}
	return false;
}

/* inside: the member that has the name, or NULL. The core group has no name. */
static const json_t *
find_group(const json_t *groups, const char *inside, const char *group)
{
	size_t i;
	json_t *one;

	json_array_foreach(groups, i, one) {
		const json_t *holder = inside != NULL ? json_object_get(one, inside) : one;
		const json_t *name = json_object_get(holder, "name");

		if (strcmp(json_is_string(name) ? json_string_value(name) : "", group) == 0)
			return one;
	}
	return NULL;
}

static const json_t *
find_version(const json_t *versions, const char *name)
{
	size_t i;
	json_t *one;

	json_array_foreach(versions, i, one) {
		if (text_is(one, "version", name))
			return one;
	}
	return NULL;
}

/*
 * stale: the list is the last answer of an API server that is down, or nothing; only what it names
 * is known.
 */
static enum discovery_mark
find_resource(const struct wanted *w, const json_t *resources, const char *name, bool stale)
{
	size_t i;
	json_t *one;

	json_array_foreach(resources, i, one) {
		if (!text_is(one, name, w->want->resource))
			continue;
		const bool namespaced = text_is(one, "scope", "Namespaced")
		    || json_is_true(json_object_get(one, "namespaced"));
		return namespaced ? MARK_NAMESPACED : MARK_CLUSTER;
	}
	return stale ? MARK_FAILED : MARK_ABSENT;
}

static bool
is_top(const char *path)
{
	return strcmp(path, "/api") == 0 || strcmp(path, "/apis") == 0;
}

static void
group_path(const struct wanted *w, char *buf, size_t size)
{
	const bool core = w->want->group[0] == '\0';

	snprintf(buf, size, "%s%s/%s", core ? "/api" : "/apis/", w->want->group, w->version);
}

static bool
version_at(const struct discovery_want *w, size_t n, char *buf, size_t size)
{
	const char *p = w->versions;

	for (; n > 0 && *p != '\0'; n--) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	const size_t len = strcspn(p, " ");
	if (len == 0 || len >= size)
		return false;
	memcpy(buf, p, len);
	buf[len] = '\0';
	return true;
}

static bool
text_is(const json_t *object, const char *name, const char *text)
{
	const json_t *value = json_object_get(object, name);

	return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}
