/* sim/openshift/openshift_pool.c - pools, by the rules of the MCO's node and render controllers. */
#include "openshift_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/selector.h"
#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/store/sim_blob.h"

static void read_max_unavailable(struct openshift_pool *, const json_t *);
static void set_condition(json_t *, const char *, bool, const char *, json_t *, const char *);
static void set_update_conditions(json_t *, const struct openshift_pool *, const char *);

void
openshift_pool_read(struct openshift_pool *p, const json_t *object)
{
	const json_t *const selector = sim_json_at(object, "spec.nodeSelector");
	char err[256];

	*p = (struct openshift_pool){
		.name = obj_strdup(sim_json_text_at(object, "metadata.name")),
		.selector = selector_from_json(selector, err, sizeof(err)),
		.paused = json_is_true(sim_json_at(object, "spec.paused")),
		.target = obj_strdup(sim_json_text_at(object, "spec.configuration.name")),
		.settled = obj_strdup(sim_json_text_at(object, "status.configuration.name")),
	};
	read_max_unavailable(p, sim_json_at(object, "spec.maxUnavailable"));
}

void
openshift_pool_free(struct openshift_pool *p)
{
	free(p->name);
	selector_free(&p->selector);
	free(p->target);
	free(p->settled);
	json_decref(p->troubles);
	*p = (struct openshift_pool){ 0 };
}

/* Unlike everywhere else in Kubernetes an empty selector matches nothing. */
bool
openshift_pool_matches(const struct openshift_pool *p, const struct sim_blob *node)
{
	return p->selector != NULL && !selector_empty(p->selector)
	    && selector_matches(p->selector, sim_blob_get_label, node);
}

int
openshift_pool_owner(const char *const *names, const bool *matches, size_t n)
{
	int master = POOL_NONE, worker = POOL_NONE, custom = POOL_NONE;

	for (size_t i = 0; i < n; i++) {
		if (!matches[i])
			continue;
		if (strcmp(names[i], "master") == 0)
			master = (int)i;
		else if (strcmp(names[i], "worker") == 0)
			worker = (int)i;
		else if (custom == POOL_NONE)
			custom = (int)i;
		else
			return POOL_NONE;
	}
	if (master != POOL_NONE)
		return master;
	return custom != POOL_NONE ? custom : worker;
}

void
openshift_pool_count_begin(struct openshift_pool *p)
{
	p->nodes = p->updated = p->ready = p->unavailable = p->degraded = p->failing = 0;
	json_decref(p->troubles);
	p->troubles = json_array();
}

void
openshift_pool_count(struct openshift_pool *p, const char *name, const struct openshift_node_facts *f)
{
	const bool updated = openshift_node_is_done(f) && strcmp(f->current, p->target) == 0;

	p->nodes++;
	p->updated += updated;
	p->ready += updated && f->ready;
	p->unavailable += openshift_node_is_unavailable(f);
	p->failing += f->failing && strcmp(f->desired, p->target) == 0;
	if (f->failing && f->desired[0] != '\0') {
		p->degraded++;
		json_array_append_new(
		    p->troubles, json_sprintf("Node %s is reporting: \"%s\"", name, f->reason));
	}
}

void
openshift_pool_count_end(struct openshift_pool *p)
{
	p->room = p->paused ? 0
			    : openshift_room(&(struct openshift_pace){
				  .max_unavailable = p->max_unavailable,
				  .percent = p->percent,
				  .nodes = p->nodes,
				  .unavailable = p->unavailable,
				  .failing = p->failing,
			      });
}

bool
openshift_pool_updated(const struct openshift_pool *p)
{
	return p->updated == p->nodes && p->ready == p->nodes && p->unavailable == 0;
}

json_t *
openshift_pool_role_selector(const char *role)
{
	json_t *const labels = json_object();
	char key[300];

	snprintf(key, sizeof(key), "node-role.kubernetes.io/%s", role);
	json_object_set_new(labels, key, json_string(""));
	return json_pack("{s:o}", "matchLabels", labels);
}

json_t *
openshift_pool_new(const char *name, json_t *selector, json_t *max_unavailable, const char *config)
{
	const bool built_in = strcmp(name, "master") == 0 || strcmp(name, "worker") == 0;
	json_t *const roles = json_pack("[s]", built_in ? name : "worker");

	if (!built_in)
		json_array_append_new(roles, json_string(name));
	json_t *const pool = json_pack("{s:s, s:s, s:{s:s}, s:{s:o, s:o, s:b, s:O, s:{s:s}}}", "apiVersion",
	    MCO_GROUP "/v1", "kind", "MachineConfigPool", "metadata", "name", name, "spec",
	    "machineConfigSelector",
	    json_pack("{s:[{s:s, s:s, s:o}]}", "matchExpressions", "key", MCO_KEY("role"), "operator",
		"In", "values", roles),
	    "nodeSelector", selector, "paused", 0, "maxUnavailable", max_unavailable, "configuration",
	    "name", config);
	MUST(pool != NULL);
	if (built_in)
		json_object_set_new(sim_json_at(pool, "metadata"), "labels",
		    json_pack("{s:s}", MCO_KEY("mco-built-in"), ""));
	return pool;
}

void
openshift_pool_set_target(json_t *pool, const char *config, const json_t *sources)
{
	json_t *const configuration = sim_json_branch(sim_json_branch(pool, "spec"), "configuration");

	json_object_set_new(configuration, "name", json_string(config));
	json_object_set_new(configuration, "source", json_deep_copy(sources));
}

void
openshift_pool_set_status(json_t *pool, const struct openshift_pool *p, const char *now)
{
	json_t *const status = sim_json_branch(pool, "status");
	const struct {
		const char	*key;
		size_t		 n;
	} counts[] = {
		{ "machineCount", p->nodes },
		{ "updatedMachineCount", p->updated },
		{ "readyMachineCount", p->ready },
		{ "unavailableMachineCount", p->unavailable },
		{ "degradedMachineCount", p->degraded },
	};

	json_object_set_new(status, "observedGeneration",
	    json_integer(sim_json_int_at(pool, "metadata.generation", 0)));
	for (size_t i = 0; i < NITEMS(counts); i++)
		json_object_set_new(status, counts[i].key, json_integer((json_int_t)counts[i].n));
	/* A pool that was never updated begins with its target. */
	if (openshift_pool_updated(p) || sim_json_text_at(status, "configuration.name")[0] == '\0')
		json_object_set_new(
		    status, "configuration", json_deep_copy(sim_json_at(pool, "spec.configuration")));
	set_update_conditions(status, p, now);
}

static void
set_update_conditions(json_t *status, const struct openshift_pool *p, const char *now)
{
	const bool updated = openshift_pool_updated(p), degraded = p->degraded > 0;
	char *const troubles = json_dumps(p->troubles, JSON_COMPACT);
	char reason[80] = "";

	if (degraded)
		snprintf(reason, sizeof(reason), "%zu nodes are reporting degraded status on sync",
		    p->degraded);
	set_condition(status, "RenderDegraded", false, "", json_string(""), now);
	set_condition(status, "NodeDegraded", degraded, reason, json_string(degraded ? troubles : ""), now);
	set_condition(status, "Degraded", degraded, "", json_string(""), now);
	set_condition(status, "Updated", updated, "", !updated ? json_string("")
	    : json_sprintf("All nodes are updated with MachineConfig %s", p->target), now);
	set_condition(status, "Updating", !updated && !p->paused, "", updated ? json_string("")
	    : json_sprintf(p->paused ? "Pool is paused; will not update to MachineConfig %s"
	    : "All nodes are updating to MachineConfig %s", p->target), now);
	free(troubles);
}

/* The time moves only when the status turns. Takes the message. */
static void
set_condition(json_t *status, const char *type, bool is, const char *reason, json_t *message, const char *now)
{
	const char *const word = is ? "True" : "False";
	json_t *const conditions = sim_json_list(status, "conditions");
	json_t *const old = sim_json_find(conditions, "type", type);
	const bool same = strcmp(sim_json_text(old, "status"), word) == 0;
	json_t *const made = json_pack("{s:s, s:s, s:s, s:s, s:o}", "type", type, "status", word,
	    "lastTransitionTime", same ? sim_json_text(old, "lastTransitionTime") : now, "reason", reason,
	    "message", message);

	MUST(made != NULL);
	if (old == NULL) {
		json_array_append_new(conditions, made);
		return;
	}
	json_object_clear(old);
	json_object_update(old, made);
	json_decref(made);
}

/* 3 or "10%"; nothing is 1. */
static void
read_max_unavailable(struct openshift_pool *p, const json_t *value)
{
	const char *const text = json_string_value(value);

	p->percent = text != NULL && strchr(text, '%') != NULL;
	p->max_unavailable = text != NULL ? strtoll(text, NULL, 10)
	    : json_is_integer(value)	  ? json_integer_value(value)
					  : 1;
}
