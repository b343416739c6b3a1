/*
 * tests/dst/vpsie_check.c - what must hold after every step: machines and Nodes with one VPSieNode each,
 * phases, times, and that nothing is given up too early.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"
#include "world_vpsie.h"

enum phase { NEW, PENDING, PROVISIONING, PROVISIONED, JOINING, READY, TERMINATING, DELETING, FAILED, OTHER };

static const char *const phase_names[] = {
	[NEW] = "", [PENDING] = "Pending", [PROVISIONING] = "Provisioning", [PROVISIONED] = "Provisioned",
	[JOINING] = "Joining", [READY] = "Ready", [TERMINATING] = "Terminating", [DELETING] = "Deleting",
	[FAILED] = "Failed",
};
#define BIT(phase)	(1u << (phase))

/* From each phase: where a write may lead (D14, D23). */
static const unsigned follows[] = {
	[NEW] = BIT(PENDING) | BIT(TERMINATING),
	[PENDING] = BIT(PROVISIONING) | BIT(TERMINATING),
	[PROVISIONING] = BIT(PROVISIONED) | BIT(FAILED) | BIT(TERMINATING),
	[PROVISIONED] = BIT(JOINING) | BIT(FAILED) | BIT(TERMINATING),
	[JOINING] = BIT(READY) | BIT(FAILED) | BIT(TERMINATING),
	[READY] = BIT(JOINING) | BIT(FAILED) | BIT(TERMINATING),
	[TERMINATING] = BIT(DELETING), [DELETING] = 0, [FAILED] = BIT(TERMINATING),
};

static void check_vpsienode(struct vpw *, const struct cluster_object *, const char **);
static void check_machine(struct vpw *, struct vpw_record *, const struct cluster_object *);
static void check_taken(struct vpw *, const struct cluster_object *, uint32_t);
static int64_t size_of(const struct vpw *, uint32_t);
static void check_phase(struct vpw *, struct vpw_record *, const struct cluster_object *);
static void check_failure(struct vpw *, struct vpw_record *, const struct cluster_object *);
static void check_given_up(struct vpw *, const struct vpw_record *);
static void check_node(struct vpw *, const struct cluster_object *);
static void check_gone(struct vpw *);
static const char *label(const struct cluster_object *, const char *);
static bool has_passed(struct vpw *, const struct cluster_object *, const char *, int64_t);

void
vpw_check(struct sim *sim, void *world)
{
	struct vpw *const w = world;
	const char *owners[VPW_MACHINES_MAX] = { NULL };

	if (w->checked == w->h.cluster.rv + w->changes)
		return;
	w->checked = w->h.cluster.rv + w->changes;
	for (unsigned i = 0; i < w->h.cluster.count && sim->violation[0] == '\0'; i++) {
		const struct cluster_object *const o = &w->h.cluster.objects[i];

		if (o->json == NULL)
			continue;
		if (o->kind == KIND_VPSIE_NODE)
			check_vpsienode(w, o, owners);
		else if (o->kind == KIND_NODE && o->rv > w->checked_rv)
			check_node(w, o);
	}
	check_gone(w);
	w->checked_rv = w->h.cluster.rv;
}

/* ---- VPSieNodes ---- */

static void
check_vpsienode(struct vpw *w, const struct cluster_object *o, const char **owners)
{
	struct vpw_record *const v = &w->records[vpw_record_of(w, o)];
	const uint32_t machine = v->rv == o->rv ? v->machine : vpw_bound(w, o);

	if (machine != VPW_NONE && machine < VPW_MACHINES_MAX) {
		if (owners[machine] != NULL)
			sim_fail(w->h.sim, "machine %u has two VPSieNodes: %s and %s", machine,
			    owners[machine], o->name);
		owners[machine] = o->name;
	}
	if (v->rv == o->rv)
		return;
	v->rv = o->rv;
	v->deleting = harness_is_deleting(o);
	const bool intent = harness_annotation(o, VPW_GROUP "/creation-request")[0] != '\0';
	if (intent && !v->intent)
		v->intent_ms = w->h.sim->now_ms;
	v->intent = intent;
	check_machine(w, v, o);
	check_phase(w, v, o);
	const char *const created_at = vpw_text(o, "status", "createdAt");
	if (v->created_at[0] != '\0' && strcmp(v->created_at, created_at) != 0)
		sim_fail(w->h.sim, "createdAt of %s moves from %s to %s", o->name, v->created_at, created_at);
	snprintf(v->created_at, sizeof(v->created_at), "%s", created_at);
}

static void
check_machine(struct vpw *w, struct vpw_record *v, const struct cluster_object *o)
{
	const uint32_t machine = vpw_bound(w, o);

	if (machine == VPW_NONE) {
		if (v->machine != VPW_NONE)
			sim_fail(w->h.sim, "%s loses machine %u", o->name, v->machine);
		return;
	}
	if (machine >= w->nmachines)
		sim_fail(w->h.sim, "%s has a machine that was never made, or two of them", o->name);
	else if (w->machines[machine].human)
		sim_fail(w->h.sim, "%s has machine %u, which is a human's", o->name, machine);
	else if (v->machine != VPW_NONE && v->machine != machine)
		sim_fail(w->h.sim, "%s has machine %u, and had %u", o->name, machine, v->machine);
	else if (v->machine == VPW_NONE && v->phase >= TERMINATING)
		check_taken(w, o, machine);
	v->machine = machine;
}

/*
 * Whoever is being deleted, or failed, takes nothing that those that live wait for. Machines of one size are
 * interchangeable: what must be left is one for each of these whose request was carried out.
 */
static void
check_taken(struct vpw *w, const struct cluster_object *o, uint32_t machine)
{
	const int64_t size = size_of(w, machine);
	unsigned waiting = 0, left = 0;

	for (uint32_t i = 0; i < w->nmachines; i++) {
		const struct vpw_machine *const m = &w->machines[i];
		const struct vpw_record *const v = m->record != VPW_NONE ? &w->records[m->record] : NULL;

		if (m->deleted || m->stopped || v == NULL || size_of(w, i) != size)
			continue;
		waiting += v->exists && !v->deleting && v->phase == PROVISIONING
		    && v->machine == VPW_NONE;
		left += i != machine && vpw_owner(w, i) == NULL;
	}
	if (waiting > left)
		sim_fail(w->h.sim, "%s goes, and takes machine %u: %u wait, and %u machines are left",
		    o->name, machine, waiting, left);
}

static int64_t
size_of(const struct vpw *w, uint32_t machine)
{
	const uint32_t group = w->machines[machine].group;

	return group != VPW_NONE ? w->platform[group].size : 0;
}

static void
check_phase(struct vpw *w, struct vpw_record *v, const struct cluster_object *o)
{
	const unsigned phase = vpw_phase(o);

	if (phase == v->phase)
		return;
	if (phase == OTHER || (follows[v->phase] >> phase & 1) == 0)
		sim_fail(w->h.sim, "%s goes from phase \"%s\" to \"%s\"", o->name, phase_names[v->phase],
		    vpw_text(o, "status", "phase"));
	if (phase == FAILED)
		check_failure(w, v, o);
	v->phase = phase;
}

/* E3: in its time, and with what happened. */
static void
check_failure(struct vpw *w, struct vpw_record *v, const struct cluster_object *o)
{
	const json_t *c;
	const char *reason = "";
	size_t i;

	json_array_foreach(json_object_get(json_object_get(o->json, "status"), "conditions"), i, c) {
		if (strcmp(json_string_value(json_object_get(c, "type")), "Error") == 0)
			reason = json_string_value(json_object_get(c, "reason"));
	}
	const uint32_t m = v->machine;
	if (vpw_text(o, "status", "lastError")[0] == '\0')
		sim_fail(w->h.sim, "%s is Failed, and has no lastError", o->name);
	if (strcmp(reason, "DiscoveryTimeout") == 0 || strcmp(reason, "ProvisioningTimeout") == 0) {
		if (!has_passed(w, o, "createdAt", VPW_PROVISIONING_MS))
			sim_fail(w->h.sim, "%s fails with %s too early", o->name, reason);
	} else if (strcmp(reason, "JoiningTimeout") == 0) {
		if (!has_passed(w, o, "provisionedAt", VPW_JOINING_MS))
			sim_fail(w->h.sim, "%s fails with %s too early", o->name, reason);
		if (m < w->nmachines && w->machines[m].node_ready_ms != 0 && w->h.steady_clock
		    && !w->machines[m].foreign
		    && w->h.sim->now_ms - w->machines[m].node_ready_ms > 2 * HARNESS_VIEW_MS)
			sim_fail(w->h.sim, "%s fails with %s, and the Node of machine %u is ready", o->name,
			    reason, m);
	} else if (strcmp(reason, "VPSNotFound") == 0) {
		/* One of the original may have had an address only. */
		if (m != VPW_NONE && !w->machines[m].deleted)
			sim_fail(w->h.sim, "%s fails with %s, and machine %u is there", o->name, reason, m);
	} else if (strcmp(reason, "CapacityLimitReached") != 0 || v->capacity == 0) {
		sim_fail(w->h.sim, "%s fails with %s", o->name, reason);
	}
}

/* Whoever was sent a request for is not given up while its machine is expected. */
static void
check_given_up(struct vpw *w, const struct vpw_record *v)
{
	const int64_t for_ms = w->h.sim->now_ms - v->sent_ms;

	if (w->h.steady_clock && v->machine == VPW_NONE && v->sent > 0 && for_ms < VPW_EXPECT_MS)
		sim_fail(w->h.sim, "%s is given up %lld ms after a worker was requested for it", v->name,
		    (long long)for_ms);
}

/* Of what is gone the machine is, too. */
static void
check_gone(struct vpw *w)
{
	for (uint32_t i = 0; i < w->nrecords; i++) {
		struct vpw_record *const v = &w->records[i];
		const struct cluster_object *const o =
		    v->exists ? cluster_find(&w->h.cluster, KIND_VPSIE_NODE, v->name) : NULL;

		if (!v->exists || (o->json != NULL && strcmp(harness_meta(o, "uid"), v->uid) == 0))
			continue;
		v->exists = false;
		SIM_TRACE(w->h.sim, "%s is gone", v->name);
		/* What the answer to its request has named may be made after its time. */
		if (v->machine < w->nmachines && !w->machines[v->machine].deleted
		    && !w->machines[v->machine].slow)
			sim_fail(w->h.sim, "%s is gone, and machine %u is not", v->name, v->machine);
		v->ended_ms = w->h.sim->now_ms;
		check_given_up(w, v);
	}
}

/* ---- Nodes ---- */

/* The labels name the VPSieNode that has its machine, and no other takes it from that one (D13). */
static void
check_node(struct vpw *w, const struct cluster_object *o)
{
	const char *const uid = label(o, VPW_GROUP "/vpsienode-uid");
	const uint32_t m = vpw_machine_of_node(w, o->name);

	if (uid[0] == '\0')
		return;
	if (strncmp(uid, "foreign", 7) != 0 && label(o, "foreign")[0] != '\0')
		sim_fail(w->h.sim, "%s was claimed by somebody else, and is labelled for %s", o->name,
		    label(o, VPW_GROUP "/vpsienode"));
	const struct cluster_object *const v = harness_find_uid(&w->h, KIND_VPSIE_NODE, uid);
	if (v == NULL)
		return;
	if (m == VPW_NONE || w->machines[m].human)
		sim_fail(w->h.sim, "%s is a human's Node, and labelled for %s", o->name, v->name);
	else if (vpw_bound(w, v) != VPW_NONE && vpw_bound(w, v) != m)
		sim_fail(w->h.sim, "%s is the Node of machine %u, and labelled for %s, which has machine %u",
		    o->name, m, v->name, vpw_bound(w, v));
}

static const char *
label(const struct cluster_object *o, const char *name)
{
	const char *const text = json_string_value(json_object_get(
	    json_object_get(json_object_get(o->json, "metadata"), "labels"), name));

	return text != NULL ? text : "";
}

/* ---- What objects have ---- */

uint32_t
vpw_record_of(struct vpw *w, const struct cluster_object *o)
{
	const char *const uid = harness_meta(o, "uid");

	for (uint32_t i = w->nrecords; i-- > 0;) {
		if (strcmp(w->records[i].uid, uid) == 0)
			return i;
	}
	MUST(w->nrecords < VPW_RECORDS_MAX);
	struct vpw_record *const v = &w->records[w->nrecords];
	*v = (struct vpw_record){ .exists = true, .machine = VPW_NONE, .phase = vpw_phase(o) };
	snprintf(v->name, sizeof(v->name), "%s", o->name);
	snprintf(v->uid, sizeof(v->uid), "%s", uid);
	return w->nrecords++;
}

uint32_t
vpw_record_of_key(struct vpw *w, const char *key)
{
	static const char prefix[] = "vpsienodes/", plain[] = "default/";
	const char *name = strncmp(key, prefix, sizeof(prefix) - 1) == 0 ? key + sizeof(prefix) - 1 : "";

	name += strncmp(name, plain, sizeof(plain) - 1) == 0 ? sizeof(plain) - 1 : 0;
	for (uint32_t i = w->nrecords; i-- > 0;) {
		if (strcmp(w->records[i].name, name) == 0)
			return i;
	}
	return VPW_NONE;
}

/* More than all machines: it names none, or two. */
uint32_t
vpw_bound(struct vpw *w, const struct cluster_object *o)
{
	const int64_t id = vpw_number(o, "spec", "vpsieInstanceID");
	const char *const uuid = vpw_text(o, "spec", "vpsieNodeIdentifier");
	uint32_t by_uuid = 0;

	while (uuid[0] != '\0' && by_uuid < w->nmachines && strcmp(w->machines[by_uuid].uuid, uuid) != 0)
		by_uuid++;
	const uint32_t by_id = id > 0 ? (uint32_t)(id - VPW_VM_BASE) : VPW_NONE;
	if (uuid[0] == '\0')
		return by_id;
	return by_id != VPW_NONE && by_id != by_uuid ? VPW_MACHINES_MAX : by_uuid;
}

struct cluster_object *
vpw_owner(struct vpw *w, uint32_t machine)
{
	for (unsigned i = 0; i < w->h.cluster.count; i++) {
		struct cluster_object *const o = &w->h.cluster.objects[i];

		if (o->kind == KIND_VPSIE_NODE && o->json != NULL && vpw_bound(w, o) == machine)
			return o;
	}
	return NULL;
}

const char *
vpw_text(const struct cluster_object *o, const char *part, const char *member)
{
	const char *const text = json_string_value(json_object_get(json_object_get(o->json, part), member));

	return text != NULL ? text : "";
}

int64_t
vpw_number(const struct cluster_object *o, const char *part, const char *member)
{
	return json_integer_value(json_object_get(json_object_get(o->json, part), member));
}

unsigned
vpw_phase(const struct cluster_object *o)
{
	const char *const text = vpw_text(o, "status", "phase");

	for (unsigned p = 0; p < NITEMS(phase_names); p++) {
		if (strcmp(text, phase_names[p]) == 0)
			return p;
	}
	return OTHER;
}

/* By the clock of the API server; its clock may have moved meanwhile. */
static bool
has_passed(struct vpw *w, const struct cluster_object *o, const char *since, int64_t limit_ms)
{
	const char *const text = vpw_text(o, "status", since);
	int64_t us = 0;

	if (!w->h.steady_clock)
		return true;
	return time_parse(text, strlen(text), &us) && cluster_time_us(&w->h.cluster) - us >= limit_ms * 1000;
}
