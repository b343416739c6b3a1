/* tests/dst/vpsie_final.c - the final state: every VPSieNode is Ready, rightly Failed, or gone. */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "world_vpsie.h"

enum { RESYNC_MS = 300 * 1000, QUIET_CALLS = 2 /* A12: in a minute */, LIST_CALLS = 3 };

static const char *vpsienode_difference(struct vpw *, const struct cluster_object *);
static const char *ready_difference(struct vpw *, const struct cluster_object *);
static const char *group_difference(struct vpw *, const struct cluster_object *);
static bool is_protected(struct vpw *, const struct cluster_object *);
static bool marked(const struct cluster_object *);
static bool is_member(const struct cluster_object *, const struct cluster_object *);
static bool is_excused(struct vpw *, uint32_t);
static void check_quiet(struct vpw *);
static bool is_to_come(int64_t, int64_t);
static int64_t shown_ms(const struct vpw_machine *);

const char *
vpw_difference(struct harness *h)
{
	static char text[200];
	struct vpw *const w = (struct vpw *)h;
	const char *wrong = NULL;

	if (h->settled) {
		check_quiet(w);
		return NULL;
	}
	for (unsigned i = 0; i < h->cluster.count; i++) {
		const struct cluster_object *const o = &h->cluster.objects[i];

		if (o->json == NULL)
			continue;
		wrong = o->kind == KIND_VPSIE_NODE ? vpsienode_difference(w, o)
		    : o->kind == KIND_NODE_GROUP   ? group_difference(w, o)
						   : NULL;
		if (wrong == NULL)
			continue;
		snprintf(text, sizeof(text), "%s %s", o->name, wrong);
		return text;
	}
	for (uint32_t i = 0; i < w->nmachines; i++) {
		if (w->machines[i].deleted || w->machines[i].human || vpw_owner(w, i) != NULL)
			continue;
		if (h->sim->now_ms < shown_ms(&w->machines[i]) + RESYNC_MS)
			return "a machine may still be found";
		if (is_excused(w, i))
			continue;
		snprintf(text, sizeof(text), "machine %u is nobody's", i);
		return text;
	}
	w->settled_ms = h->sim->now_ms;
	return NULL;
}

/* Nothing is to be done: lists of the resync only. */
static void
check_quiet(struct vpw *w)
{
	const int64_t minutes = (w->h.sim->now_ms - w->settled_ms) / (60 * 1000);
	const uint64_t most = (uint64_t)((minutes + 1) * QUIET_CALLS + LIST_CALLS) * w->h.ntrees;

	/* A clock that moves back begins the time of a request anew. */
	for (uint32_t i = 0; i < w->nrecords; i++) {
		const struct vpw_record *const v = &w->records[i];

		if (v->exists && v->machine == VPW_NONE && v->intent)
			return;
	}
	if (w->quiet_calls > most && w->h.steady_clock)
		sim_fail(w->h.sim, "%llu calls in %lld minutes in which nothing was to be done",
		    (unsigned long long)w->quiet_calls, (long long)minutes);
}

/*
 * Whoever requested it, or another of its kind, was gone before a list could show the machine; or it came
 * after its time, or died or had its Node claimed by somebody else before it was found: nobody's then.
 */
static bool
is_excused(struct vpw *w, uint32_t machine)
{
	const struct vpw_machine *const m = &w->machines[machine];
	const int64_t shown_ms = m->shown_ms != 0 ? m->shown_ms + HARNESS_VIEW_MS : INT64_MAX;

	if (m->stopped || m->slow || m->foreign || !w->h.steady_clock)
		return true;
	for (uint32_t i = 0; i < w->nrecords; i++) {
		const struct vpw_record *const v = &w->records[i];

		if (v->made > 0 && v->machine == VPW_NONE && v->ended_ms != 0 && v->ended_ms <= shown_ms)
			return true;
	}
	return false;
}

/* ---- VPSieNodes ---- */

static const char *
vpsienode_difference(struct vpw *w, const struct cluster_object *o)
{
	const char *const phase = vpw_text(o, "status", "phase"), *const slash = strchr(o->name, '/');
	char group[2 * CLUSTER_NAME_MAX];

	if (harness_is_deleting(o))
		return "is being deleted";
	if (strcmp(phase, "Ready") == 0)
		return ready_difference(w, o);
	/* Until the time of its request is over its machine is searched for. */
	const struct vpw_record *const v = &w->records[vpw_record_of(w, o)];
	if (strcmp(phase, "Failed") == 0)
		return v->machine == VPW_NONE && v->intent_ms != 0
		    && w->h.sim->now_ms < v->intent_ms + VPW_PROVISIONING_MS + VPW_EXPECT_MS
		    ? "failed, and may still get its machine" : NULL;
	/* One by hand, whose NodeGroup nobody has made. */
	snprintf(group, sizeof(group), "%.*s%s", slash != NULL ? (int)(slash - o->name + 1) : 0, o->name,
	    vpw_text(o, "spec", "nodeGroupName"));
	const struct cluster_object *const g = cluster_find(&w->h.cluster, KIND_NODE_GROUP, group);
	return strcmp(phase, "Pending") == 0 && (g == NULL || g->json == NULL) ? NULL
									    : "is neither Ready nor Failed";
}

/* M1 to M3, D2, D3, D19, L1 to L3. */
static const char *
ready_difference(struct vpw *w, const struct cluster_object *o)
{
	const uint32_t n = vpw_bound(w, o);
	char public[VPW_TEXT_MAX], private[VPW_TEXT_MAX];

	if (n >= w->nmachines)
		return "is Ready, and has no machine";
	const struct vpw_machine *const m = &w->machines[n];
	const struct cluster_object *const node = cluster_find(&w->h.cluster, KIND_NODE, m->node);
	if (m->deleted)
		return "is Ready, and its machine is gone";
	if (strcmp(vpw_text(o, "status", "nodeName"), m->node) != 0 || node == NULL || node->json == NULL)
		return "is Ready, and has another Node than its machine";
	const json_t *const labels = json_object_get(json_object_get(node->json, "metadata"), "labels");
	const char *const uid = json_string_value(json_object_get(labels, VPW_GROUP "/vpsienode-uid"));
	if (uid == NULL || strcmp(uid, harness_meta(o, "uid")) != 0)
		return "is Ready, and its Node lacks the label";
	vpw_address(public, m, 0, true);
	vpw_address(private, m, 1, true);
	const char *const address = vpw_text(o, "spec", "ipAddress");
	if (strcmp(address, public) != 0 && strcmp(address, private) != 0)
		return "has another address than its machine";
	if (m->vm_ms <= w->h.sim->now_ms && vpw_number(o, "spec", "vpsieInstanceID") != VPW_VM_BASE + (int)n)
		return "lacks the id of its VM";
	if (strcasecmp(vpw_text(o, "status", "hostname"), m->hostname) != 0)
		return "has another hostname than its machine";
	return vpw_text(o, "status", "joinedAt")[0] != '\0' && vpw_text(o, "status", "readyAt")[0] != '\0'
	    && vpw_text(o, "status", "lastError")[0] == '\0' ? NULL : "lacks times, or has an error";
}

/* ---- NodeGroups ---- */

/* S1 to S3, D15. */
static const char *
group_difference(struct vpw *w, const struct cluster_object *o)
{
	const int64_t min = vpw_number(o, "spec", "minNodes"), max = vpw_number(o, "spec", "maxNodes");
	const int64_t desired = vpw_number(o, "status", "desiredNodes");
	int64_t members = 0, ready = 0, kept = 0;

	if (harness_is_deleting(o))
		return "is being deleted";
	for (unsigned i = 0; i < w->h.cluster.count; i++) {
		const struct cluster_object *const v = &w->h.cluster.objects[i];

		if (v->kind != KIND_VPSIE_NODE || v->json == NULL || !is_member(v, o))
			continue;
		members++;
		ready += strcmp(vpw_text(v, "status", "phase"), "Ready") == 0;
		kept += is_protected(w, v);
	}
	if (vpw_number(o, "status", "vpsieGroupID") == 0)
		return "has no group of the platform";
	if (desired < min || desired > max)
		return "desires more or fewer than its limits";
	if (members < desired || (members > desired && members > kept))
		return "has more or fewer VPSieNodes than it desires";
	if (vpw_number(o, "status", "currentNodes") != members)
		return "counts other nodes than it has";
	if (vpw_number(o, "status", "readyNodes") != ready)
		return "counts other ready nodes than it has";
	return json_array_size(json_object_get(json_object_get(o->json, "status"), "nodes"))
	    == (size_t)members ? NULL : "lists other nodes than it has";
}

/* Its own namespace and name. */
static bool
is_member(const struct cluster_object *v, const struct cluster_object *group)
{
	return strcmp(harness_meta(v, "namespace"), harness_meta(group, "namespace")) == 0
	    && strcmp(vpw_text(v, "spec", "nodeGroupName"), harness_meta(group, "name")) == 0;
}

static bool
is_protected(struct vpw *w, const struct cluster_object *v)
{
	const struct cluster_object *const node =
	    cluster_find(&w->h.cluster, KIND_NODE, vpw_text(v, "status", "nodeName"));

	return marked(v) || (node != NULL && node->json != NULL && marked(node));
}

static bool
marked(const struct cluster_object *o)
{
	const json_t *const map = json_object_get(json_object_get(o->json, "metadata"), "annotations");
	const char *const scale = json_string_value(json_object_get(map, VPW_GROUP "/scale-down"));

	return json_object_get(map, VPW_GROUP "/protected") != NULL
	    || json_object_get(map, VPW_GROUP "/scale-down-disabled") != NULL
	    || (scale != NULL && strcmp(scale, "disabled") == 0);
}

bool
vpw_lists_lag(const struct harness *h)
{
	const struct vpw *const w = (const struct vpw *)h;
	const int64_t now_ms = h->sim->now_ms;

	/* What people did to a machine shows in the next list of the resync. */
	if (w->acted_ms != 0 && now_ms < w->acted_ms + RESYNC_MS)
		return true;
	for (uint32_t i = 0; i < w->nmachines; i++) {
		const struct vpw_machine *const m = &w->machines[i];

		if (m->until_ms > now_ms || m->settled_ms > now_ms)
			return true;
		if (!m->deleted && (is_to_come(m->listed_ms, now_ms) || is_to_come(m->vm_ms, now_ms)))
			return true;
	}
	for (uint32_t i = 0; i < w->nplatform; i++) {
		if (w->platform[i].listed_ms > now_ms)
			return true;
	}
	return false;
}

static bool
is_to_come(int64_t at_ms, int64_t now_ms)
{
	return at_ms > now_ms && at_ms != INT64_MAX;
}

/* In the lists that it comes into. */
static int64_t
shown_ms(const struct vpw_machine *m)
{
	return m->vm_ms == INT64_MAX || m->listed_ms > m->vm_ms ? m->listed_ms : m->vm_ms;
}
