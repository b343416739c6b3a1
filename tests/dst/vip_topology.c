/*
 * tests/dst/vip_topology.c - Cluster API of the world `vip`: for each Cluster of a class it calls
 * BeforeClusterCreate until that passes, then GeneratePatches, and renders the infrastructure
 * cluster with the answer; again and again, as its topology controller does.
 *
 * It reads a cache that lags, calls any replica, repeats what failed or was not answered, and goes
 * by the retryAfterSeconds that it gets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "world_vip.h"

#define HOOKS	"hooks.runtime.cluster.x-k8s.io/v1alpha1"

enum {
	TIMEOUT_MS = 10 * 1000, LATENCY_MS = 40, RETRY_MS = 3000, AGAIN_MS = 8000, QUIET_MS = 5000,
	LOST = 60, STALE = 150,		/* in a thousand answers, reads */
	PATCH_MAX = 1024,
};

static sim_fn reconcile, on_timeout, on_answer;
static runtime_fn deliver;
static void schedule(struct vipw *, uint32_t, int64_t);
static void read_cache(struct vipw *, uint32_t);
static void call(struct vipw *, uint32_t, enum vip_hook);
static void write_request(const struct vipw_topology *, char[VIPW_REQUEST]);
static void check_answer(struct vipw *, const struct runtime_actor *, const struct vipw_topology *);
static void read_patch(struct vipw *, const json_t *, char[VIPW_TEXT], int64_t *);
static size_t unbase64(char *, size_t, const char *);
static uint64_t number(uint32_t, uint64_t);

void
vipw_topology_start(struct vipw *w)
{
	for (uint32_t i = 0; i < VIPW_CLUSTERS; i++)
		schedule(w, i, (int64_t)sim_random(w->h.sim, RETRY_MS));
}

void
vipw_topology_free(struct vipw *w)
{
	for (uint32_t i = 0; i < VIPW_CLUSTERS; i++) {
		json_decref(w->topologies[i].seen);
		json_decref(w->topologies[i].answer);
	}
}

static void
schedule(struct vipw *w, uint32_t n, int64_t in_ms)
{
	struct vipw_topology *const t = &w->topologies[n];

	if (t->scheduled)
		return;
	t->scheduled = true;
	sim_at(w->h.sim, w->h.sim->now_ms + in_ms, reconcile, w, n);
}

static void
reconcile(struct sim *sim, void *arg, uint64_t n)
{
	struct vipw *const w = arg;
	const uint32_t cluster = (uint32_t)n;
	struct vipw_topology *const t = &w->topologies[cluster];

	t->scheduled = false;
	MUST(t->call == 0);
	read_cache(w, cluster);
	if (t->seen == NULL || vipw_text(t->seen, "metadata.deletionTimestamp")[0] != '\0'
	    || vipw_text(t->seen, "spec.topology.classRef.name")[0] == '\0' || vipw_is_paused(t->seen)) {
		schedule(w, cluster, sim->faults_over ? QUIET_MS : 1 + (int64_t)sim_random(sim, RETRY_MS));
		return;
	}
	call(w, cluster, t->passed ? VIP_HOOK_PATCHES : VIP_HOOK_CREATE);
}

/* What it has seen does not go back. */
static void
read_cache(struct vipw *w, uint32_t n)
{
	struct vipw_topology *const t = &w->topologies[n];
	const struct cluster_object *const o = vipw_cluster(w, n);

	if (t->seen != NULL && !w->h.sim->faults_over && sim_chance(w->h.sim, STALE))
		return;
	json_decref(t->seen);
	t->seen = o != NULL ? json_deep_copy(o->json) : NULL;
	const char *const uid = t->seen != NULL ? vipw_text(t->seen, "metadata.uid") : "";
	if (strcmp(t->uid, uid) == 0)
		return;
	/* Another Cluster of that name: nothing is rendered for it. */
	snprintf(t->uid, sizeof(t->uid), "%s", uid);
	t->passed = t->rendered = false;
	t->host[0] = '\0';
}

static void
call(struct vipw *w, uint32_t n, enum vip_hook hook)
{
	struct sim *const sim = w->h.sim;
	struct vipw_topology *const t = &w->topologies[n];
	struct runtime_actor *const ra = w->h.trees[sim_random(sim, w->h.ntrees)].actor;

	if (!ra->node.up || w->listeners[ra->tree] == NULL) {	/* connection refused */
		schedule(w, n, 1 + (int64_t)sim_random(sim, RETRY_MS));
		return;
	}
	t->hook = hook;
	t->call = ++w->calls;
	snprintf(t->path, sizeof(t->path), "/" HOOKS "/%s/vip-allocator%s",
	    hook == VIP_HOOK_CREATE ? "beforeclustercreate" : "generatepatches", vip_hook_suffix(hook));
	write_request(t, t->body);
	runtime_at(ra, sim->now_ms + 1 + (int64_t)sim_random(sim, LATENCY_MS), deliver, number(n, t->call));
	sim_at(sim, sim->now_ms + TIMEOUT_MS, on_timeout, w, number(n, t->call));
}

/* As Cluster API 1.13 sends them. */
static void
write_request(const struct vipw_topology *t, char body[VIPW_REQUEST])
{
	const char *const name = vipw_text(t->seen, "metadata.name");
	json_t *request;

	if (t->hook == VIP_HOOK_CREATE)
		request = json_pack("{s:s, s:s, s:{}, s:O}", "apiVersion", HOOKS, "kind",
		    "BeforeClusterCreateRequest", "settings", "cluster", t->seen);
	else
		request = json_pack("{s:s, s:s, s:{}, s:[{s:s, s:{s:{s:s, s:s, s:s}}}],"
		    " s:[{s:s, s:{s:s, s:s, s:s, s:s}, s:{s:s, s:{s:{s:{}}}}}]}",
		    "apiVersion", HOOKS, "kind", "GeneratePatchesRequest", "settings",
		    "variables", "name", "builtin", "value", "cluster", "name", name, "namespace", "default",
		    "uid", t->uid,
		    "items", "uid", "one", "holderReference", "kind", "Cluster", "name", name, "namespace",
		    "default", "fieldPath", "spec.infrastructureRef", "object", "kind", "TestClusterTemplate",
		    "spec", "template", "spec");
	MUST(request != NULL);
	const size_t len = json_dumpb(request, body, VIPW_REQUEST - 1, JSON_COMPACT);
	MUST(len < VIPW_REQUEST);
	body[len] = '\0';
	json_decref(request);
}

/* Inside the process. */
static void
deliver(struct actor *a, void *self, uint64_t n)
{
	struct runtime_actor *const ra = runtime_actor_of(a);
	struct vipw *const w = ra->runtime->world;
	struct vipw_topology *const t = &w->topologies[n % VIPW_CLUSTERS];
	struct sim *const sim = w->h.sim;

	(void)self;
	/* Cluster API does not wait for it any more, or the listener has gone. */
	if (t->call != n / VIPW_CLUSTERS || !vipw_server_call(w, ra->tree, t) || t->answer == NULL)
		return;
	check_answer(w, ra, t);
	if (sim->faults_over || !sim_chance(sim, LOST))
		sim_at(sim, sim->now_ms + 1 + (int64_t)sim_random(sim, LATENCY_MS), on_answer, w, n);
}

static void
check_answer(struct vipw *w, const struct runtime_actor *ra, const struct vipw_topology *t)
{
	const bool success = strcmp(vipw_text(t->answer, "status"), "Success") == 0;
	const char *const message = vipw_text(t->answer, "message");
	const int64_t retry_s = json_integer_value(json_object_get(t->answer, "retryAfterSeconds"));
	char host[VIPW_TEXT] = "";
	int64_t port = 0;

	SIM_TRACE(w->h.sim, "%s answers %s of %s (%s): %s, %lld s, %s", ra->name, vip_hook_name(t->hook),
	    vipw_text(t->seen, "metadata.name"), t->uid, success ? "Success" : "Failure", (long long)retry_s,
	    message);
	if (t->code != 200) {
		sim_fail(w->h.sim, "%s is refused with %d", t->path, t->code);
	} else if (t->hook == VIP_HOOK_CREATE) {
		if (!success || retry_s < 0 || retry_s > 5 || (retry_s > 0) != (message[0] != '\0'))
			sim_fail(w->h.sim, "%s: %s, %lld s, \"%s\"", t->path,
			    success ? "Success" : "Failure", (long long)retry_s, message);
		if (retry_s == 0)
			vipw_check_pass(w, ra, t);
	} else if (success) {
		read_patch(w, t->answer, host, &port);
		vipw_check_patches(w, ra, t, host, port);
	}
}

/* The endpoint that the answer gives the template; "": it has no patch. */
static void
read_patch(struct vipw *w, const json_t *answer, char host[VIPW_TEXT], int64_t *port)
{
	const json_t *const item = json_array_get(json_object_get(answer, "items"), 0);
	char text[PATCH_MAX];

	if (item == NULL)
		return;
	const size_t len = unbase64(text, sizeof(text), vipw_text(item, "patch"));
	json_t *const patch = json_loadb(text, len, 0, NULL);
	const json_t *const step = json_array_get(patch, 0), *const value = json_object_get(step, "value");
	if (strcmp(vipw_text(step, "path"), "/spec/template/spec/controlPlaneEndpoint") != 0
	    || strcmp(vipw_text(item, "uid"), "one") != 0 || vipw_text(value, "host")[0] == '\0')
		sim_fail(w->h.sim, "a patch that cannot be applied: %.*s", (int)len, text);
	snprintf(host, VIPW_TEXT, "%s", vipw_text(value, "host"));
	*port = json_integer_value(json_object_get(value, "port"));
	json_decref(patch);
}

static size_t
unbase64(char *out, size_t size, const char *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	unsigned have = 0;
	size_t len = 0;

	for (; *text != '\0' && *text != '='; text++) {
		const char *const digit = strchr(digits, *text);

		MUST(digit != NULL && len < size);
		bits = bits << 6 | (uint32_t)(digit - digits);
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[len++] = (char)(bits >> have & 0xff);
		}
	}
	return len;
}

static void
on_timeout(struct sim *sim, void *arg, uint64_t n)
{
	struct vipw *const w = arg;
	struct vipw_topology *const t = &w->topologies[n % VIPW_CLUSTERS];

	if (t->call != n / VIPW_CLUSTERS)
		return;
	t->call = 0;
	schedule(w, (uint32_t)(n % VIPW_CLUSTERS), 1 + (int64_t)sim_random(sim, RETRY_MS));
}

static void
on_answer(struct sim *sim, void *arg, uint64_t n)
{
	struct vipw *const w = arg;
	const uint32_t cluster = (uint32_t)(n % VIPW_CLUSTERS);
	struct vipw_topology *const t = &w->topologies[cluster];
	int64_t in_ms = sim->faults_over ? QUIET_MS : 1 + (int64_t)sim_random(sim, AGAIN_MS), port;

	if (t->call != n / VIPW_CLUSTERS)
		return;
	t->call = 0;
	if (t->hook == VIP_HOOK_CREATE) {
		const int64_t retry_s = json_integer_value(json_object_get(t->answer, "retryAfterSeconds"));

		t->passed = retry_s == 0;
		/* What passed is rendered in the same pass. */
		in_ms = t->passed ? 1 : retry_s * 1000;
	} else if (strcmp(vipw_text(t->answer, "status"), "Success") == 0) {
		t->host[0] = '\0';
		read_patch(w, t->answer, t->host, &port);
		t->rendered = true;
	}
	schedule(w, cluster, in_ms);
}

/* Of a call, for its events. */
static uint64_t
number(uint32_t cluster, uint64_t n)
{
	return n * VIPW_CLUSTERS + cluster;
}
