/*
 * sim/cluster/sim_pdb.c - the apiserver's part of a PodDisruptionBudget; its status is the disruption
 * controller's, or a test's.
 */
#include "sim_pdb.h"

#include <string.h>

#include "kube/selector.h"
#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim/kube/store/sim_store.h"

static struct sim_blob *covering(const struct sim_storage *, const struct sim_blob *, size_t *);
static bool covers(const json_t *, const struct sim_blob *);
static bool unhealthy_may_go(const json_t *, const struct sim_blob *, const struct sim_storage *);
static json_t *refuse(json_t *, int);
static void charge(struct simulator *, struct sim_storage *, json_t *, const char *);

json_t *
sim_pdb_check(struct simulator *s, const struct sim_blob *pod, bool dry_run)
{
	struct sim_storage *const budgets = sim_store_storage(s->store, "policy", "poddisruptionbudgets");
	struct sim_storage *const pods = sim_store_storage(s->store, "", "pods");
	size_t n = 0;
	const struct sim_blob *const b = covering(budgets, pod, &n);

	if (n == 0)
		return NULL;
	if (n > 1)
		return sim_semantics_failure(500, "",
		    "This pod has more than one PodDisruptionBudget, which the eviction "
		    "subresource does not support.");
	json_auto_t *budget = sim_blob_parse(b, budgets->form);
	if (unhealthy_may_go(budget, pod, pods))
		return NULL;
	if (sim_json_int_at(budget, "status.observedGeneration", 0)
	    < sim_json_int_at(budget, "metadata.generation", 0))
		return refuse(json_sprintf("The disruption budget %s is still being processed by the server.",
		    sim_blob_name(b)), 10);
	if (sim_json_int_at(budget, "status.disruptionsAllowed", 0) <= 0)
		return refuse(json_sprintf("The disruption budget %s needs %lld healthy pods and has %lld "
		    "currently", sim_blob_name(b),
		    (long long)sim_json_int_at(budget, "status.desiredHealthy", 0),
		    (long long)sim_json_int_at(budget, "status.currentHealthy", 0)), 0);
	if (!dry_run)
		charge(s, budgets, budget, sim_blob_name(pod));
	return NULL;
}

/* The last of the *n budgets that cover the Pod. */
static struct sim_blob *
covering(const struct sim_storage *budgets, const struct sim_blob *pod, size_t *n)
{
	const size_t ns = strcspn(sim_blob_key(pod), "/") + 1;
	struct sim_blob *found = NULL;

	for (size_t i = 0; i < budgets->n; i++) {
		if (strncmp(sim_blob_key(budgets->objects[i]), sim_blob_key(pod), ns) != 0)
			continue;
		json_auto_t *budget = sim_blob_parse(budgets->objects[i], budgets->form);
		if (covers(budget, pod)) {
			found = budgets->objects[i];
			(*n)++;
		}
	}
	return found;
}

static bool
covers(const json_t *budget, const struct sim_blob *pod)
{
	char err[256];
	struct selector *s = selector_from_json(sim_json_at(budget, "spec.selector"), err, sizeof(err));
	const bool yes = s != NULL && selector_matches(s, sim_blob_get_label, pod);

	selector_free(&s);
	return yes;
}

/* A Pod that is not Ready counts for nothing, so it may go while the others suffice. */
static bool
unhealthy_may_go(const json_t *budget, const struct sim_blob *pod, const struct sim_storage *pods)
{
	json_auto_t *object = sim_blob_parse(pod, pods->form);
	const json_t *const ready = sim_json_find(sim_json_at(object, "status.conditions"), "type", "Ready");
	const int64_t wanted = sim_json_int_at(budget, "status.desiredHealthy", 0);

	return strcmp(sim_json_text(ready, "status"), "True") != 0
	    && (strcmp(sim_json_text_at(budget, "spec.unhealthyPodEvictionPolicy"), "AlwaysAllow") == 0
	    || (wanted > 0 && sim_json_int_at(budget, "status.currentHealthy", 0) >= wanted));
}

/* Takes why. */
static json_t *
refuse(json_t *why, int retry_after_s)
{
	json_t *const status = sim_semantics_failure_of(429, "TooManyRequests", NULL, "",
	    json_pack("[{s:s, s:o}]", "reason", "DisruptionBudget", "message", why),
	    "Cannot evict pod as it would violate the pod's disruption budget.");

	if (retry_after_s > 0)
		json_object_set_new(json_object_get(status, "details"), "retryAfterSeconds",
		    json_integer(retry_after_s));
	return status;
}

static void
charge(struct simulator *s, struct sim_storage *budgets, json_t *budget, const char *pod)
{
	json_t *const status = sim_json_branch(budget, "status");
	char now[SIM_TIME_MAX];

	json_object_set_new(status, "disruptionsAllowed",
	    json_integer(sim_json_int_at(status, "disruptionsAllowed", 0) - 1));
	json_object_set_new(sim_json_branch(status, "disruptedPods"), pod, json_string(sim_now(now)));
	sim_store_put(s->store, budgets, budget);
}
