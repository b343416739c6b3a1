/* sim/openshift/openshift_pods.c - eviction, by the same budgets that the API obeys. */
#include "openshift_pods.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/cluster/sim_pdb.h"
#include "sim/kube/discovery/sim_registry.h"
#include "sim/kube/store/sim_objects.h"
#include "sim/kube/store/sim_store.h"

enum { NAME_MAX_LEN = 300, KEY_MAX_LEN = 320 };

static struct sim_snapshot *evictable(struct simulator *, const char *);
static bool may_stay(const json_t *);
static struct sim_storage *pods_of(struct simulator *);
static const char *stuck_name(const char *, char[NAME_MAX_LEN]);
static void make_ready(struct simulator *, const struct sim_blob *);
static bool set_allowed(struct simulator *, const char *, int);

size_t
openshift_pods_left(struct simulator *s, const char *node)
{
	struct sim_snapshot *pods = evictable(s, node);
	const size_t n = pods->n;

	sim_snapshot_free(&pods);
	return n;
}

size_t
openshift_pods_evict(struct simulator *s, const char *node, bool at_once)
{
	struct sim_snapshot *pods = evictable(s, node);
	size_t n = 0;

	for (size_t i = 0; i < pods->n; i++) {
		/* One that is on its way out has been charged to its budget. */
		if (sim_blob_is_marked(pods->objects[i]))
			continue;
		json_auto_t *refusal = sim_pdb_check(s, pods->objects[i], false);
		if (refusal == NULL) {
			sim_object_delete(s, pods_of(s), pods->objects[i], at_once);
			n++;
		}
	}
	sim_snapshot_free(&pods);
	return n;
}

bool
openshift_pods_block(struct simulator *s, const char *node)
{
	char name[NAME_MAX_LEN], err[256] = "";
	const struct sim_resource *const pods = sim_registry_find(s->registry, "", "v1", "pods"),
				      *const budgets =
					  sim_registry_find(s->registry, "policy", "v1",
					    "poddisruptionbudgets");

	stuck_name(node, name);
	json_auto_t *pod = json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:{s:s, s:[{s:s, s:s}]}}",
	    "apiVersion", "v1", "kind", "Pod", "metadata", "name", name, "namespace", "default",
	    "labels", "sim.muster.dev/stuck", node, "spec", "nodeName", node, "containers", "name", "c",
	    "image", "registry.sim.internal/stuck:v1");
	json_auto_t *budget = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:i, s:{s:{s:s}}}}", "apiVersion",
	    "policy/v1", "kind", "PodDisruptionBudget", "metadata", "name", name, "namespace", "default",
	    "spec", "minAvailable", 1, "selector", "matchLabels", "sim.muster.dev/stuck", node);
	struct sim_blob *const made = sim_object_create(s, pods, pod, err, sizeof(err));
	if (made != NULL)
		make_ready(s, made);
	sim_object_create(s, budgets, budget, err, sizeof(err));
	return set_allowed(s, node, 0) || made != NULL;
}

bool
openshift_pods_unblock(struct simulator *s, const char *node)
{
	return set_allowed(s, node, 1);
}

/* Of one node; the caller frees. */
static struct sim_snapshot *
evictable(struct simulator *s, const char *node)
{
	const struct sim_storage *const st = pods_of(s);
	struct sim_snapshot *const found = sim_store_snapshot(s->store, st, "", 0);
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++) {
		const char *const on = sim_blob_field(found->objects[i], "spec.nodeName");
		const bool here = on != NULL && strcmp(on, node) == 0;
		json_auto_t *pod = here ? sim_blob_parse(found->objects[i], st->form) : NULL;

		if (here && !may_stay(pod))
			found->objects[n++] = found->objects[i];
		else
			sim_blob_unref(&found->objects[i]);
	}
	found->n = n;
	return found;
}

/* kubectl drain --ignore-daemonsets, as the operator's drain controller calls it. */
static bool
may_stay(const json_t *pod)
{
	const char *const phase = sim_json_text_at(pod, "status.phase");
	size_t i;
	json_t *owner;

	if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0
	    || json_object_get(sim_json_at(pod, "metadata.annotations"),
	    "kubernetes.io/config.mirror") != NULL)
		return true;
	json_array_foreach(sim_json_at(pod, "metadata.ownerReferences"), i, owner) {
		if (json_is_true(json_object_get(owner, "controller"))
		    && strcmp(sim_json_text(owner, "kind"), "DaemonSet") == 0)
			return true;
	}
	return false;
}

static struct sim_storage *
pods_of(struct simulator *s)
{
	return sim_store_storage(s->store, "", "pods");
}

static const char *
stuck_name(const char *node, char buf[NAME_MAX_LEN])
{
	snprintf(buf, NAME_MAX_LEN, "stuck-%.253s", node);
	return buf;
}

/* A budget does not protect a Pod that is not Ready. */
static void
make_ready(struct simulator *s, const struct sim_blob *b)
{
	json_auto_t *pod = sim_blob_parse(b, pods_of(s)->form);

	json_object_set_new(pod, "status",
	    json_pack("{s:s, s:[{s:s, s:s}]}", "phase", "Running", "conditions", "type", "Ready",
		"status", "True"));
	sim_store_put(s->store, pods_of(s), pod);
}

/* The disruption controller's part: it has observed this budget; so many may be evicted. */
static bool
set_allowed(struct simulator *s, const char *node, int allowed)
{
	struct sim_storage *const st = sim_store_storage(s->store, "policy", "poddisruptionbudgets");
	char name[NAME_MAX_LEN], key[KEY_MAX_LEN];

	snprintf(key, sizeof(key), "default/%.299s", stuck_name(node, name));
	const struct sim_blob *const b = sim_storage_get(st, key);
	if (b == NULL)
		return false;
	json_auto_t *old = sim_blob_parse(b, st->form), *new = json_deep_copy(old);
	json_object_set_new(new, "status",
	    json_pack("{s:I, s:i, s:i, s:i, s:i}", "observedGeneration",
		(json_int_t)sim_json_int_at(new, "metadata.generation", 1), "disruptionsAllowed", allowed,
		"currentHealthy", 1, "desiredHealthy", 1, "expectedPods", 1));
	const bool changed = !json_equal(old, new);
	if (changed)
		sim_store_put(s->store, st, new);
	return changed;
}
