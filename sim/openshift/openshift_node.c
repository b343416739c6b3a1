/* sim/openshift/openshift_node.c - the annotations, the cordon and the reboot of one Node. */
#include "openshift_node.h"

#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/cluster/sim_node.h"

#define ROLE_LABEL	"node-role.kubernetes.io/"

static const struct {
	const char	*name, *labels[3];	/* ended by NULL */
} roles[ROLES] = {
	[ROLE_MASTER] = { "master", { ROLE_LABEL "master", ROLE_LABEL "control-plane" } },
	[ROLE_INFRA]  = { "infra",  { ROLE_LABEL "infra", ROLE_LABEL "worker" } },
	[ROLE_WORKER] = { "worker", { ROLE_LABEL "worker" } },
};

typedef void step_fn(json_t *node, const struct openshift_node_change *c);
static step_fn finish, target, work, request_drain, cordon, confirm, reboot, go_down, come_up,
    request_uncordon,
    uncordon;

/* The write to the Node with which the step begins. */
static step_fn *const steps[ROLLOUT_STEPS] = {
	[ROLLOUT_IDLE]		 = finish,
	[ROLLOUT_TARGETED]	 = target,
	[ROLLOUT_WORKING]	 = work,
	[ROLLOUT_DRAIN_REQUESTED]	 = request_drain,
	[ROLLOUT_CORDONED]	 = cordon,
	[ROLLOUT_DRAINED]	 = confirm,
	[ROLLOUT_REBOOTING]	 = reboot,
	[ROLLOUT_DOWN]		 = go_down,
	[ROLLOUT_UP]		 = come_up,
	[ROLLOUT_UNCORDON_REQUESTED] = request_uncordon,
	[ROLLOUT_UNCORDONED]	 = uncordon,
	[ROLLOUT_RELEASED]	 = confirm,
};

static const char *note(const json_t *, const char *);
static void set_note(json_t *, const char *, const char *);
static void set_drain(json_t *, const char *, const char *);
static bool conditions_fine(const json_t *);

const char *
openshift_role_name(enum openshift_role role)
{
	MUST(role < ROLES);
	return roles[role].name;
}

void
openshift_node_facts_read(struct openshift_node_facts *f, const json_t *node)
{
	const json_t *const labels = sim_json_at(node, "metadata.labels");
	const char *const state = note(node, MCO_KEY("state"));

	*f = (struct openshift_node_facts){
		.current = obj_strdup(note(node, MCO_KEY("currentConfig"))),
		.desired = obj_strdup(note(node, MCO_KEY("desiredConfig"))),
		.reason = obj_strdup(note(node, MCO_KEY("reason"))),
		.zone = obj_strdup(sim_json_text(labels, "topology.kubernetes.io/zone")),
		.created = obj_strdup(sim_json_text_at(node, "metadata.creationTimestamp")),
		.done = strcmp(state, "Done") == 0,
		.failing = strcmp(state, "Degraded") == 0 || strcmp(state, "Unreconcilable") == 0,
		.ready = conditions_fine(node) && !json_is_true(sim_json_at(node, "spec.unschedulable")),
		.windows = strcmp(sim_json_text(labels, "kubernetes.io/os"), "windows") == 0,
	};
	f->joined = f->current[0] != '\0';
}

void
openshift_node_facts_free(struct openshift_node_facts *f)
{
	free(f->current);
	free(f->desired);
	free(f->reason);
	free(f->zone);
	free(f->created);
	*f = (struct openshift_node_facts){ 0 };
}

bool
openshift_node_is_done(const struct openshift_node_facts *f)
{
	return f->joined && f->done && strcmp(f->current, f->desired) == 0;
}

/* A daemon that fails leaves the node usable, so it does not count. */
bool
openshift_node_is_unavailable(const struct openshift_node_facts *f)
{
	return !f->ready || (!openshift_node_is_done(f) && !f->failing);
}

void
openshift_node_set_role(json_t *node, enum openshift_role role)
{
	json_t *const labels = sim_json_branch(sim_json_branch(node, "metadata"), "labels");

	for (size_t i = 0; i < ROLES; i++) {
		for (const char *const *l = roles[i].labels; *l != NULL; l++)
			json_object_del(labels, *l);
	}
	for (const char *const *l = roles[role].labels; *l != NULL; l++)
		json_object_set_new(labels, *l, json_string(""));
}

void
openshift_node_join(json_t *node, const char *config)
{
	set_note(node, MCO_KEY("currentConfig"), config);
	set_note(node, MCO_KEY("desiredConfig"), config);
	openshift_node_set_state(node, openshift_step_row(ROLLOUT_IDLE)->state, "");
	set_note(node, MCO_KEY("controlPlaneTopology"), "HighlyAvailable");
	set_drain(node, "uncordon-", config);
	set_note(node, MCO_KEY("lastAppliedDrain"), note(node, MCO_KEY("desiredDrain")));
}

void
openshift_node_take_step(json_t *node, enum openshift_step step, const struct openshift_node_change *c)
{
	MUST(step < ROLLOUT_STEPS);
	steps[step](node, c);
}

void
openshift_node_set_state(json_t *node, const char *state, const char *reason)
{
	set_note(node, MCO_KEY("state"), state);
	set_note(node, MCO_KEY("reason"), reason);
}

static void
finish(json_t *node, const struct openshift_node_change *c)
{
	set_note(node, MCO_KEY("currentConfig"), c->config);
	openshift_node_set_state(node, "Done", "");
}

static void
target(json_t *node, const struct openshift_node_change *c)
{
	set_note(node, MCO_KEY("desiredConfig"), c->config);
}

static void
work(json_t *node, const struct openshift_node_change *c)
{
	(void)c;
	openshift_node_set_state(node, "Working", "");
}

static void
request_drain(json_t *node, const struct openshift_node_change *c)
{
	set_drain(node, "drain-", c->config);
}

static void
cordon(json_t *node, const struct openshift_node_change *c)
{
	(void)c;
	json_object_set_new(sim_json_branch(node, "spec"), "unschedulable", json_true());
	sim_node_set_taint(node, "node.kubernetes.io/unschedulable", "NoSchedule", true);
}

static void
confirm(json_t *node, const struct openshift_node_change *c)
{
	(void)c;
	set_note(node, MCO_KEY("lastAppliedDrain"), note(node, MCO_KEY("desiredDrain")));
}

static void
reboot(json_t *node, const struct openshift_node_change *c)
{
	(void)c;
	set_note(node, MCO_KEY("state"), "Rebooting");
}

static void
go_down(json_t *node, const struct openshift_node_change *c)
{
	sim_node_set_ready(node, false, c->now);
}

static void
come_up(json_t *node, const struct openshift_node_change *c)
{
	json_object_set_new(sim_json_branch(sim_json_branch(node, "status"), "nodeInfo"), "bootID",
	    json_string(c->boot_id));
	sim_node_set_ready(node, true, c->now);
}

static void
request_uncordon(json_t *node, const struct openshift_node_change *c)
{
	set_drain(node, "uncordon-", c->config);
}

static void
uncordon(json_t *node, const struct openshift_node_change *c)
{
	(void)c;
	json_object_del(sim_json_branch(node, "spec"), "unschedulable");
	sim_node_set_taint(node, "node.kubernetes.io/unschedulable", "NoSchedule", false);
}

static const char *
note(const json_t *node, const char *key)
{
	return sim_json_text(sim_json_at(node, "metadata.annotations"), key);
}

static void
set_note(json_t *node, const char *key, const char *value)
{
	json_object_set_new(
	    sim_json_branch(sim_json_branch(node, "metadata"), "annotations"), key, json_string(value));
}

static void
set_drain(json_t *node, const char *verb, const char *config)
{
	json_object_set_new(sim_json_branch(sim_json_branch(node, "metadata"), "annotations"),
	    MCO_KEY("desiredDrain"), json_sprintf("%s%s", verb, config));
}

/* Of the conditions that are there. */
static bool
conditions_fine(const json_t *node)
{
	static const struct {
		const char	*type, *wanted;
	} rules[] = {
		{ "Ready", "True" },
		{ "DiskPressure", "False" },
		{ "NetworkUnavailable", "False" },
	};
	size_t i;
	json_t *c;

	json_array_foreach(sim_json_at(node, "status.conditions"), i, c) {
		for (size_t k = 0; k < NITEMS(rules); k++) {
			if (strcmp(sim_json_text(c, "type"), rules[k].type) == 0
			    && strcmp(sim_json_text(c, "status"), rules[k].wanted) != 0)
				return false;
		}
	}
	return true;
}
