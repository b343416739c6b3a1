/*
 * sim/cluster/sim_controllers.c - CRDs, namespaces and Pods; the garbage collector is
 * sim/cluster/sim_garbage_collector.c.
 */
#include "sim_controllers.h"

#include <event2/event.h>
#include <string.h>

#include "clock.h"
#include "kube/time.h"
#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/discovery/sim_crd.h"
#include "sim/kube/discovery/sim_registry.h"
#include "sim/kube/store/sim_objects.h"
#include "sim/kube/store/sim_store.h"
#include "sim/kube/store/sim_watch.h"
#include "sim/sim_options.h"

enum { TICK_MS = 200 };

struct sim_controllers {
	uint32_t		 magic;
#define CONTROLLERS_MAGIC	0x4354524cu
	struct simulator	*sim;
	struct sim_storage	*crds, *namespaces, *pods;
	struct event		*soon;
	struct event		*tick;		/* while a deletion takes time */
	json_t			*changed_crds;	/* names */
	bool			 orphans;	/* objects without an owner may be left */
	bool			 going;		/* namespaces or Pods are on their way out */
};

static void on_soon(evutil_socket_t, short, void *);
static void refresh_crd(struct sim_controllers *, const char *);
static bool same_spec(const struct sim_controllers *, const struct sim_change *);
static bool end_namespaces(struct sim_controllers *);
static size_t empty_namespace(struct sim_controllers *, const char *);
static bool end_pods(struct sim_controllers *);

struct sim_controllers *
sim_controllers_new(struct simulator *s)
{
	struct sim_controllers *k;

	OBJ_NEW(k, CONTROLLERS_MAGIC);
	k->sim = s;
	k->crds = sim_store_storage(s->store, "apiextensions.k8s.io", "customresourcedefinitions");
	k->namespaces = sim_store_storage(s->store, "", "namespaces");
	k->pods = sim_store_storage(s->store, "", "pods");
	k->changed_crds = json_array();
	k->soon = event_new(s->base, -1, 0, on_soon, k);
	k->tick = evtimer_new(s->base, on_soon, k);
	MUST(k->soon != NULL && k->tick != NULL);
	return k;
}

void
sim_controllers_free(struct sim_controllers **cp)
{
	struct sim_controllers *k;

	if (*cp == NULL)
		return;
	OBJ_TAKE(k, cp, CONTROLLERS_MAGIC);
	event_free(k->soon);
	event_free(k->tick);
	json_decref(k->changed_crds);
	OBJ_FREE(k);
}

void
sim_controllers_enqueue(struct sim_controllers *k, const struct sim_change *c)
{
	bool act = false;

	if (c->storage == k->crds && !same_spec(k, c)) {
		json_array_append_new(k->changed_crds,
		    json_string(sim_blob_name(c->after != NULL ? c->after : c->before)));
		act = true;
	}
	if (c->after == NULL || sim_blob_owners(c->after)[0] != '\0')
		act = k->orphans = true;
	if ((c->storage == k->namespaces || c->storage == k->pods) && c->after != NULL
	    && sim_blob_is_marked(c->after))
		act = k->going = true;
	if (act)
		event_active(k->soon, 0, 0);
}

void
sim_controllers_run(struct sim_controllers *k)
{
	on_soon(-1, 0, k);
}

static void
on_soon(evutil_socket_t fd, short what, void *arg)
{
	struct sim_controllers *const k = arg;

	(void)fd;
	(void)what;
	OBJ_CHECK(k, CONTROLLERS_MAGIC);
	while (json_array_size(k->changed_crds) > 0) {
		json_auto_t *name = json_incref(json_array_get(k->changed_crds, 0));

		json_array_remove(k->changed_crds, 0);
		refresh_crd(k, json_string_value(name));
	}
	if (k->orphans) {
		k->orphans = false;
		sim_collect_orphans(k->sim);
	}
	if (k->going) {
		const bool namespaces = end_namespaces(k), pods = end_pods(k);

		k->going = namespaces || pods;
	}
	if (k->going && !evtimer_pending(k->tick, NULL))
		evtimer_add(k->tick, &(struct timeval){ .tv_usec = TICK_MS * 1000 });
}

static void
refresh_crd(struct sim_controllers *k, const char *name)
{
	struct sim_blob *const b = sim_storage_get(k->crds, name);
	char now[SIM_TIME_MAX];

	if (b == NULL) {
		struct sim_storage *const st = sim_registry_remove_crd(k->sim->registry, name);

		while (st != NULL && st->n > 0)
			sim_store_remove(k->sim->store, st, sim_blob_key(st->objects[0]));
		if (st != NULL)
			sim_watches_end(k->sim->watches, st);
		return;
	}
	json_auto_t *crd = sim_blob_parse(b, k->crds->form);
	sim_registry_add_crd(k->sim->registry, crd);
	json_auto_t *established = sim_crd_established(crd, sim_now(now));
	if (established != NULL)
		sim_store_put(k->sim->store, k->crds, established);
}

/* A write that leaves the spec of a CRD alone (its status is ours) is nothing new. */
static bool
same_spec(const struct sim_controllers *k, const struct sim_change *c)
{
	if (c->before == NULL || c->after == NULL)
		return false;
	json_auto_t *a = sim_blob_parse(c->before, k->crds->form);
	json_auto_t *b = sim_blob_parse(c->after, k->crds->form);
	return json_equal(json_object_get(a, "spec"), json_object_get(b, "spec"));
}

/* True while one is still there. */
static bool
end_namespaces(struct sim_controllers *k)
{
	bool left = false;

	for (size_t i = k->namespaces->n; i-- > 0;) {
		struct sim_blob *const b = k->namespaces->objects[i];

		if (!sim_blob_is_marked(b))
			continue;
		if (empty_namespace(k, sim_blob_name(b)) > 0)
			left = true;
		else
			sim_store_remove(k->sim->store, k->namespaces, sim_blob_key(b));
	}
	return left;
}

/* How many objects finalizers still hold. */
static size_t
empty_namespace(struct sim_controllers *k, const char *ns)
{
	size_t left = 0;

	for (size_t i = 0; i < k->sim->store->n; i++) {
		struct sim_storage *const st = k->sim->store->storages[i];

		if (st->form == NULL || !st->form->namespaced)
			continue;
		struct sim_snapshot *snap = sim_store_snapshot(k->sim->store, st, ns, 0);
		for (size_t n = 0; n < snap->n; n++) {
			sim_object_delete(k->sim, st, snap->objects[n], true);
			left += sim_storage_get(st, sim_blob_key(snap->objects[n])) != NULL;
		}
		sim_snapshot_free(&snap);
	}
	return left;
}

/* The kubelet's part: a Pod whose grace period is over is deleted for good. True while one is waiting. */
static bool
end_pods(struct sim_controllers *k)
{
	const int64_t now_us = clock_wall_ms() * 1000;
	bool left = false;

	for (size_t i = k->pods->n; i-- > 0;) {
		struct sim_blob *const b = k->pods->objects[i];

		if (!sim_blob_is_marked(b))
			continue;
		json_auto_t *pod = sim_blob_parse(b, k->pods->form);
		const char *const marked = sim_json_text_at(pod, "metadata.deletionTimestamp");
		const int64_t grace_us = sim_json_int_at(pod, "metadata.deletionGracePeriodSeconds",
		    0) * 1000000;
		int64_t due_us = 0;
		/* The timestamp is the end of the grace period; faster worlds have shorter ones. */
		time_parse(marked, strlen(marked), &due_us);
		due_us -= grace_us - (int64_t)((double)grace_us / k->sim->options->speed);
		if (json_array_size(sim_json_at(pod, "metadata.finalizers")) > 0 || now_us < due_us)
			left = true;
		else
			sim_object_delete(k->sim, k->pods, b, true);
	}
	return left;
}
