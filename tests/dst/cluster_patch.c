/*
 * tests/dst/cluster_patch.c - what the modelled API server does with patches, evictions and selectors.
 *
 * JSON merge patch (RFC 7396) whole; of JSON patch the operation `add`, with paths that need no escape. Other
 * operations are refused.
 */
#include <stdio.h>
#include <string.h>

#include "cluster.h"
#include "kube/time.h"
#include "obj.h"

static void merge(json_t *, const json_t *);
static bool changes_nothing(const json_t *, const json_t *);
static bool add_at(json_t *, const char *, json_t *);
static sim_fn pod_ends;

const char *
cluster_merge(json_t *object, const char *body, size_t len)
{
	json_t *const patch = json_loadb(body, len, 0, NULL);

	if (!json_is_object(patch)) {
		json_decref(patch);
		return "the merge patch is no object";
	}
	merge(object, patch);
	json_decref(patch);
	return NULL;
}

bool
cluster_merge_is_current(const struct cluster_object *o, const char *body, size_t len)
{
	json_t *const patch = json_loadb(body, len, 0, NULL);
	const json_t *const named = json_object_get(json_object_get(patch, "metadata"), "resourceVersion");
	const json_t *const own = json_object_get(json_object_get(o->json, "metadata"), "resourceVersion");
	const bool current = named == NULL || json_equal(named, own);

	json_decref(patch);
	return current;
}

/* What is below target may belong to another object, too: it is copied before it changes. */
static void
merge(json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)patch, key, value) {
		if (json_is_null(value)) {
			json_object_del(target, key);
		} else if (!json_is_object(value)) {
			json_object_set(target, key, value);
		} else {
			json_t *const present = json_object_get(target, key);
			json_t *const own = json_is_object(present) ? json_copy(present) : json_object();

			merge(own, value);
			json_object_set_new(target, key, own);
		}
	}
}

bool
cluster_merge_is_empty(const json_t *object, const char *body, size_t len)
{
	json_t *const patch = json_loadb(body, len, 0, NULL);
	const bool empty = json_is_object(patch) && changes_nothing(object, patch);

	json_decref(patch);
	return empty;
}

static bool
changes_nothing(const json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)patch, key, value) {
		const json_t *const present = json_object_get(target, key);
		const bool same = json_is_null(value) ? present == NULL
		    : json_is_object(value) ? json_is_object(present) && changes_nothing(present, value)
					    : json_equal(present, value);

		if (!same)
			return false;
	}
	return true;
}

const char *
cluster_json_patch(json_t *object, const char *body, size_t len)
{
	json_t *const patch = json_loadb(body, len, 0, NULL);
	const json_t *step;
	size_t i;
	bool good = json_is_array(patch);

	json_array_foreach(patch, i, step) {
		const char *const op = json_string_value(json_object_get(step, "op"));
		const char *const path = json_string_value(json_object_get(step, "path"));

		good = good && op != NULL && strcmp(op, "add") == 0 && path != NULL && path[0] == '/'
		    && add_at(object, path + 1, json_object_get(step, "value"));
	}
	json_decref(patch);
	return good ? NULL : "a JSON patch that cannot be applied";
}

/* path: without its first slash; "-" at its end appends to an array. */
static bool
add_at(json_t *at, const char *path, json_t *value)
{
	char name[CLUSTER_NAME_MAX];
	const size_t len = strcspn(path, "/");

	if (at == NULL || value == NULL || len == 0 || len >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)len, path);
	if (path[len] == '/')
		return add_at(json_object_get(at, name), path + len + 1, value);
	return json_is_array(at) ? strcmp(name, "-") == 0 && json_array_append(at, value) == 0
				 : json_object_set(at, name, value) == 0;
}

/* ---- Pods ---- */

/* The kubelet ends it within its grace period. */
void
cluster_end_pod(struct cluster *c, struct cluster_object *o)
{
	json_t *const metadata = json_object_get(o->json, "metadata");
	const json_t *const grace =
	    json_object_get(json_object_get(o->json, "spec"), "terminationGracePeriodSeconds");
	const int64_t grace_s = grace != NULL ? json_integer_value(grace) : 30;
	char text[TIME_TEXT_MAX];

	if (json_object_get(metadata, "deletionTimestamp") != NULL)
		return;
	time_format(cluster_time_us(c) + grace_s * 1000 * 1000, text, sizeof(text));
	json_object_set_new(metadata, "deletionTimestamp", json_string(text));
	json_object_set_new(metadata, "deletionGracePeriodSeconds", json_integer(grace_s));
	cluster_touch(c, o);
	const int64_t in_ms = 1 + (int64_t)sim_random(c->sim, (uint64_t)grace_s * 1000 + 1);
	sim_at(c->sim, c->sim->now_ms + in_ms, pod_ends, c, (uint64_t)(o - c->objects));
}

static void
pod_ends(struct sim *sim, void *arg, uint64_t n)
{
	struct cluster *const c = arg;

	(void)sim;
	cluster_drop(c, &c->objects[n]);
}

bool
cluster_selects(const struct cluster_object *o, const char *fields)
{
	static const char node[] = "spec.nodeName=";
	const json_t *const spec = json_object_get(o->json, "spec");
	const char *const name = json_string_value(json_object_get(spec, "nodeName"));

	if (fields[0] == '\0')
		return true;
	MUST(strncmp(fields, node, sizeof(node) - 1) == 0);
	return name != NULL && strcmp(name, fields + sizeof(node) - 1) == 0;
}

int64_t
cluster_time_us(const struct cluster *c)
{
	return (RUNTIME_EPOCH_MS + c->clock_ms + c->sim->now_ms) * 1000;
}
