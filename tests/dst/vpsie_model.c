/*
 * tests/dst/vpsie_model.c - the machines of the modelled VPSie API and their Nodes, and what must hold
 * when one goes.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "obj.h"
#include "world_vpsie.h"

enum {
	CARRY_OUT_MS = 15 * 1000, BOOT_MS = 15 * 1000, JOIN_MS = 15 * 1000, READY_MS = 8 * 1000,
	ADDRESS_MS = 15 * 1000, VM_LAG_MS = 10 * 1000, LEAVE_MS = 8 * 1000,
	REUSE_MS = 600 * 1000, BLINKS_MS = 30 * 1000, CLAIM_MS = 150, APART_MS = 30 * 1000,
};

static void set_times(struct vpw *, struct vpw_machine *, int64_t);
static void set_names(struct vpw *, struct vpw_machine *, uint32_t);
static void set_address(struct vpw *, struct vpw_machine *);
static bool node_name_used(const struct vpw *, const char *);
static bool is_named_alike(const struct vpw_machine *);
static void check_deletion(struct vpw *, uint32_t);
static sim_fn join, ready, leave, claim_by_other;
static int64_t within(struct vpw *, int64_t);

/* ---- Groups ---- */

uint32_t
vpw_add_platform(struct vpw *w, const char *name, int64_t size, int64_t listed_ms)
{
	struct vpw_platform *const p = &w->platform[w->nplatform];

	MUST(w->nplatform < VPW_PLATFORM_MAX);
	if (vpw_find_platform(w, name) != VPW_NONE)
		sim_fail(w->h.sim, "a second group %s is made", name);
	*p = (struct vpw_platform){ .size = size, .listed_ms = listed_ms };
	snprintf(p->name, sizeof(p->name), "%s", name);
	w->changes++;
	return w->nplatform++;
}

uint32_t
vpw_find_platform(const struct vpw *w, const char *name)
{
	for (uint32_t i = 0; i < w->nplatform; i++) {
		if (strcmp(w->platform[i].name, name) == 0)
			return i;
	}
	return VPW_NONE;
}

/* ---- Machines ---- */

uint32_t
vpw_add_machine(struct vpw *w, uint32_t group, uint32_t record, int64_t shown_ms)
{
	struct sim *const sim = w->h.sim;
	const uint32_t n = w->nmachines++;
	struct vpw_machine *const m = &w->machines[n];

	MUST(n < VPW_MACHINES_MAX);
	*m = (struct vpw_machine){ .group = group, .record = record, .human = record == VPW_NONE };
	snprintf(m->uuid, sizeof(m->uuid), "7c0d7e1e-0000-4000-8000-%012u", n);
	set_times(w, m, shown_ms);
	set_address(w, m);
	set_names(w, m, n);
	/* Of two machines with one hostname each is listed before its Node joins. */
	if (is_named_alike(m)) {
		m->blinks_ms = 0;
		m->runs_ms = m->runs_ms > m->listed_ms ? m->runs_ms : m->listed_ms;
	}
	w->changes++;
	SIM_TRACE(sim, "machine %u, %s, will be made in %lld ms", n, m->hostname,
	    (long long)(m->made_ms - sim->now_ms));
	/* Of ours one in thirty never joins. */
	if (group != VPW_NONE && (w->h.sweep || sim->faults_over || m->human || sim_random(sim, 30) != 0))
		sim_at(sim, m->runs_ms + within(w, JOIN_MS), join, w, n);
	return n;
}

static void
set_times(struct vpw *w, struct vpw_machine *m, int64_t shown_ms)
{
	struct sim *const sim = w->h.sim;
	const bool calm = w->h.sweep || sim->faults_over;

	m->made_ms = sim->now_ms + (sim_random(sim, 4) == 0 ? 0 : within(w, CARRY_OUT_MS));
	m->slow = !calm && !m->human && sim_random(sim, 40) == 0;
	if (m->slow)
		m->made_ms = sim->now_ms + VPW_PROVISIONING_MS + within(w, VPW_EXPECT_MS);
	m->listed_ms = m->made_ms + harness_lag(sim);
	m->vm_ms = m->made_ms + within(w, VM_LAG_MS);
	m->listed_ms = m->listed_ms > shown_ms ? m->listed_ms : shown_ms;
	m->vm_ms = m->vm_ms > shown_ms ? m->vm_ms : shown_ms;
	/* Workers that are in the node list only; not where that has no UUIDs. */
	if (m->group == VPW_NONE)
		m->listed_ms = INT64_MAX;
	else if (w->node_view != 1 && !calm && sim_random(sim, 3) == 0)
		m->vm_ms = INT64_MAX;
	/* Nodes of that type have no size: what one is shows only when the VM list has it, too. */
	if (w->node_view == 1 && m->group != VPW_NONE)
		m->listed_ms = m->vm_ms + APART_MS;
	m->runs_ms = m->made_ms + within(w, BOOT_MS);
	m->ip_ms = m->made_ms + (sim_random(sim, 2) == 0 ? 0 : within(w, ADDRESS_MS));
	m->settled_ms = m->ip_ms + (sim_random(sim, 3) == 0 ? within(w, ADDRESS_MS) : 0);
	if (!calm)
		m->blinks_ms = (m->listed_ms != INT64_MAX ? m->listed_ms : m->vm_ms) + within(w, BLINKS_MS);
}

/* In some histories a hostname begins with the name of who requested it; in others two may have the same. */
static void
set_names(struct vpw *w, struct vpw_machine *m, uint32_t n)
{
	struct sim *const sim = w->h.sim;
	const uint64_t how = sim_random(sim, 8);
	const char *own = m->record != VPW_NONE ? w->records[m->record].name : "";
	const char *const slash = strchr(own, '/');

	char name[sizeof(m->hostname)];

	own = slash != NULL ? slash + 1 : own;
	if (m->human)
		snprintf(name, sizeof(name), "somebody-%u", n);
	else if (w->named && own[0] != '\0')
		snprintf(name, sizeof(name), "%.40s-k8s-%u", own, n);
	else if (how < 2 && w->node_view != 1)
		snprintf(name, sizeof(name), "k8s-worker-same");
	else
		snprintf(name, sizeof(name), "k8s-worker-%04x", n);
	snprintf(m->hostname, sizeof(m->hostname), "%s", name);
	if (node_name_used(w, name))
		snprintf(m->node, sizeof(m->node), "%.48s-%u", name, n);
	else
		snprintf(m->node, sizeof(m->node), "%s", name);
	for (char *p = m->hostname; sim_random(sim, 4) == 0 && *p != '\0'; p++)
		*p = (char)toupper((unsigned char)*p);
}

static bool
is_named_alike(const struct vpw_machine *m)
{
	return strcasecmp(m->hostname, "k8s-worker-same") == 0;
}

static bool
node_name_used(const struct vpw *w, const char *name)
{
	for (uint32_t i = 0; i + 1 < w->nmachines; i++) {
		if (strcmp(w->machines[i].node, name) == 0)
			return true;
	}
	return false;
}

/* That of a machine that is gone is given away again, when everybody has noticed. */
static void
set_address(struct vpw *w, struct vpw_machine *m)
{
	m->address = w->nmachines;
	for (uint32_t i = 0; i + 1 < w->nmachines; i++) {
		struct vpw_machine *const old = &w->machines[i];

		const struct cluster_object *const node =
		    cluster_find(&w->h.cluster, KIND_NODE, old->node);

		if (!old->deleted || w->h.sim->now_ms < old->until_ms + REUSE_MS || old->address == 0
		    || (node != NULL && node->json != NULL))
			continue;
		m->address = old->address;
		old->address = 0;
		return;
	}
}

void
vpw_address(char buf[VPW_TEXT_MAX], const struct vpw_machine *m, unsigned which, bool settled)
{
	const unsigned n = m->address, high = n >> 8, low = n & 255;

	if (!settled)
		snprintf(buf, VPW_TEXT_MAX, which == 0 ? "198.51.%u.%u" : "", high, low);
	else if (which == 0)
		snprintf(buf, VPW_TEXT_MAX, "203.0.%u.%u", high, low);
	else if (which == 1)
		snprintf(buf, VPW_TEXT_MAX, "10.0.%u.%u", high, low);
	else
		snprintf(buf, VPW_TEXT_MAX, "2001:db8::%x", n);
}

void
vpw_delete_machine(struct vpw *w, uint32_t machine, bool by_actor)
{
	struct vpw_machine *const m = &w->machines[machine];
	struct sim *const sim = w->h.sim;

	if (by_actor)
		check_deletion(w, machine);
	w->changes++;
	m->deleted = true;
	m->until_ms = sim->now_ms + harness_lag(sim);
	harness_list_lost_one(&w->h);
	/* Its Node stays, or whoever watches for that deletes it. */
	if (m->joined_ms == 0)
		return;
	vpw_put_node(w, machine, false);
	if (sim_random(sim, 2) == 0)
		sim_at(sim, sim->now_ms + within(w, LEAVE_MS), leave, w, machine);
}

/* Only one that a VPSieNode has whose deletion was requested, and only when its Node is drained. */
static void
check_deletion(struct vpw *w, uint32_t machine)
{
	const struct vpw_machine *const m = &w->machines[machine];
	const struct cluster_object *const owner = vpw_owner(w, machine);

	if (m->human)
		sim_fail(w->h.sim, "machine %u is deleted, and belongs to a human", machine);
	else if (owner == NULL)
		sim_fail(w->h.sim, "machine %u is deleted, and no VPSieNode has it", machine);
	else if (!harness_is_deleting(owner))
		sim_fail(w->h.sim, "machine %u is deleted, and %s wants it", machine, owner->name);
	/* A Node that somebody else claimed is left to them. */
	if (m->joined_ms != 0 && !m->foreign && w->h.sim->now_ms - m->joined_ms > HARNESS_VIEW_MS
	    && harness_has_pods(&w->h, m->node))
		sim_fail(w->h.sim, "machine %u is deleted, and its Node has Pods", machine);
}

/* ---- Nodes ---- */

static void
join(struct sim *sim, void *arg, uint64_t n)
{
	struct vpw *const w = arg;
	struct vpw_machine *const m = &w->machines[n];

	if (m->deleted || m->stopped || m->joined_ms != 0)
		return;
	m->joined_ms = sim->now_ms;
	harness_join(&w->h, m->node, "");
	vpw_put_node(w, (uint32_t)n, false);
	sim_at(sim, sim->now_ms + within(w, READY_MS), ready, w, n);
	if (!m->human && !w->h.sweep && !sim->faults_over && sim_random(sim, 8) == 0)
		sim_at(sim, sim->now_ms + within(w, CLAIM_MS), claim_by_other, w, n);
}

/* The original controller, or somebody by hand, labels the Node for another VPSieNode, if nobody has. */
static void
claim_by_other(struct sim *sim, void *arg, uint64_t n)
{
	struct vpw *const w = arg;
	struct cluster_object *const o = cluster_find(&w->h.cluster, KIND_NODE, w->machines[n].node);
	json_t *const metadata = o != NULL ? json_object_get(o->json, "metadata") : NULL;

	if (metadata == NULL || json_object_get(metadata, "labels") != NULL)
		return;
	SIM_TRACE(sim, "somebody labels %s", o->name);
	json_object_set_new(metadata, "labels", json_pack("{s:s, s:s, s:s}", "foreign", "true",
	    VPW_GROUP "/vpsienode", "foreign", VPW_GROUP "/vpsienode-uid", "foreign"));
	w->machines[n].foreign = true;
	cluster_touch(&w->h.cluster, o);
}

static void
ready(struct sim *sim, void *arg, uint64_t n)
{
	struct vpw *const w = arg;
	struct vpw_machine *const m = &w->machines[n];

	(void)sim;
	if (!m->deleted && !m->stopped && m->joined_ms != 0)
		vpw_put_node(w, (uint32_t)n, true);
}

static void
leave(struct sim *sim, void *arg, uint64_t n)
{
	(void)sim;
	vpw_leave(arg, (uint32_t)n);
}

/* The Node object goes; that of a machine that lives is registered again, at times. */
void
vpw_leave(struct vpw *w, uint32_t machine)
{
	struct vpw_machine *const m = &w->machines[machine];
	struct sim *const sim = w->h.sim;

	harness_leave(&w->h, m->node);
	m->joined_ms = m->node_ready_ms = 0;
	m->foreign = false;
	if (!m->deleted && (sim->faults_over || sim_random(sim, 4) != 0))
		sim_at(sim, sim->now_ms + within(w, JOIN_MS), join, w, machine);
}

/* As its kubelet reports it. */
void
vpw_put_node(struct vpw *w, uint32_t machine, bool is_ready)
{
	struct vpw_machine *const m = &w->machines[machine];
	const struct cluster_object *const o = cluster_find(&w->h.cluster, KIND_NODE, m->node);
	char address[VPW_TEXT_MAX];

	if (o == NULL || o->json == NULL)
		return;
	m->node_ready_ms = !is_ready ? 0 : m->node_ready_ms != 0 ? m->node_ready_ms : w->h.sim->now_ms;
	vpw_address(address, m, machine % 2, true);
	cluster_put(&w->h.cluster, KIND_NODE, m->node, "status",
	    json_pack("{s:[{s:s, s:s}, {s:s, s:s}], s:[{s:s, s:s}]}", "addresses", "type",
	    machine % 2 == 0 ? "ExternalIP" : "InternalIP", "address", address, "type", "Hostname",
	    "address", m->node, "conditions", "type", "Ready", "status", is_ready ? "True" : "False"));
}

uint32_t
vpw_machine_of_node(const struct vpw *w, const char *node)
{
	for (uint32_t i = 0; i < w->nmachines; i++) {
		if (w->machines[i].joined_ms != 0 && strcmp(w->machines[i].node, node) == 0)
			return i;
	}
	return VPW_NONE;
}

static int64_t
within(struct vpw *w, int64_t max_ms)
{
	return 1 + (int64_t)sim_random(w->h.sim, (uint64_t)max_ms);
}
