/* sim/cluster/sim_controllers.c - CRDs, namespaces and Pods; the garbage collector is sim/cluster/sim_garbage_collector.c. */
#include "sim_controllers.h"

#include <event2/event.h>
#include <string.h>

#include "clock.h"
#include "sim_garbage_collector.h"
#include "sim/kube/discovery/sim_crd.h"
#include "sim/base/sim_json.h"
#include "kube/time.h"
#include "obj.h"
#include "sim/kube/store/sim_objects.h"
#include "sim/sim_options.h"
#include "sim/kube/discovery/sim_registry.h"
#include "sim/kube/store/sim_store.h"
#include "sim/kube/store/sim_watch.h"

enum { TICK_MS = 200 };

struct controllers {
	uint32_t	 magic;
#define CONTROLLERS_MAGIC	0x4354524cu
	struct sim	*sim;
	struct storage	*crds, *namespaces, *pods;
	struct event	*soon;
	struct event	*tick;		/* while somebody's end takes time */
	json_t		*changed_crds;	/* names */
	bool		 orphans;	/* something was deleted, or names an owner: look for orphans */
	bool		 going;		/* namespaces or Pods are on their way out */
};

static void on_soon(evutil_socket_t, short, void *);
static void refresh_crd(struct controllers *, const char *);
static bool is_marked(const struct blob *);
static bool same_spec(const struct controllers *, const struct change *);
static bool end_namespaces(struct controllers *);
static size_t empty_namespace(struct controllers *, const char *);
static bool end_pods(struct controllers *);

struct controllers *
controllers_new(struct sim *s)
{
	struct controllers *k;

	OBJ_NEW(k, CONTROLLERS_MAGIC);
	k->sim = s;
	k->crds = depot_storage(s->depot, "apiextensions.k8s.io", "customresourcedefinitions");
	k->namespaces = depot_storage(s->depot, "", "namespaces");
	k->pods = depot_storage(s->depot, "", "pods");
	k->changed_crds = json_array();
	k->soon = event_new(s->base, -1, 0, on_soon, k);
	k->tick = evtimer_new(s->base, on_soon, k);
	MUST(k->soon != NULL && k->tick != NULL);
	return k;
}

void
controllers_free(struct controllers **cp)
{
	struct controllers *k;

	if (*cp == NULL)
		return;
	OBJ_TAKE(k, cp, CONTROLLERS_MAGIC);
	event_free(k->soon);
	event_free(k->tick);
	json_decref(k->changed_crds);
	OBJ_FREE(k);
}

void
controllers_note(struct controllers *k, const struct change *c)
{
	bool act = false;

	if (c->storage == k->crds && !same_spec(k, c)) {
		json_array_append_new(k->changed_crds,
		    json_string(blob_name(c->after != NULL ? c->after : c->before)));
		act = true;
	}
	if (c->after == NULL || blob_owners(c->after)[0] != '\0')
		act = k->orphans = true;
	if ((c->storage == k->namespaces || c->storage == k->pods) && c->after != NULL && is_marked(c->after))
		act = k->going = true;
	if (act)
		event_active(k->soon, 0, 0);
}

void
controllers_settle(struct controllers *k)
{
	on_soon(-1, 0, k);
}

static void
on_soon(evutil_socket_t fd, short what, void *arg)
{
	struct controllers *const k = arg;

	(void)fd;
	(void)what;
	OBJ_CHECK(k, CONTROLLERS_MAGIC);
	while (json_array_size(k->changed_crds) > 0) {
		json_t *const name = json_incref(json_array_get(k->changed_crds, 0));

		json_array_remove(k->changed_crds, 0);
		refresh_crd(k, json_string_value(name));
		json_decref(name);
	}
	if (k->orphans) {
		k->orphans = false;
		collect_orphans(k->sim);
	}
	if (k->going) {
		const bool namespaces = end_namespaces(k), pods = end_pods(k);

		k->going = namespaces || pods;
	}
	if (k->going && !evtimer_pending(k->tick, NULL))
		evtimer_add(k->tick, &(struct timeval){ .tv_usec = TICK_MS * 1000 });
}

static void
refresh_crd(struct controllers *k, const char *name)
{
	struct blob *const b = storage_get(k->crds, name);
	char now[SIM_TIME_MAX];

	if (b == NULL) {
		struct storage *const st = registry_remove_crd(k->sim->registry, name);

		while (st != NULL && st->n > 0)
			depot_remove(k->sim->depot, st, blob_key(st->objects[0]));
		if (st != NULL)
			watches_end(k->sim->watches, st);
		return;
	}
	json_t *const crd = blob_parse(b, k->crds->form);
	registry_add_crd(k->sim->registry, crd);
	json_t *const established = crd_established(crd, sim_now(now));
	if (established != NULL)
		depot_put(k->sim->depot, k->crds, established);
	json_decref(established);
	json_decref(crd);
}

/* Has it a deletionTimestamp? Metadata stands first in the bytes, so this needs no parser. */
static bool
is_marked(const struct blob *b)
{
	return memmem(b->bytes, b->meta_len, "\"deletionTimestamp\":", 20) != NULL;
}

/* A write that leaves the spec of a CRD alone (its status is ours) is nothing new. */
static bool
same_spec(const struct controllers *k, const struct change *c)
{
	if (c->before == NULL || c->after == NULL)
		return false;
	json_t *const a = blob_parse(c->before, k->crds->form),
		      *const b = blob_parse(c->after, k->crds->form);
	const bool same = json_equal(json_object_get(a, "spec"), json_object_get(b, "spec"));
	json_decref(a);
	json_decref(b);
	return same;
}

/* True while one is still there. */
static bool
end_namespaces(struct controllers *k)
{
	bool left = false;

	for (size_t i = k->namespaces->n; i-- > 0;) {
		struct blob *const b = k->namespaces->objects[i];

		if (!is_marked(b))
			continue;
		if (empty_namespace(k, blob_name(b)) > 0)
			left = true;
		else
			depot_remove(k->sim->depot, k->namespaces, blob_key(b));
	}
	return left;
}

/* How many objects finalizers still hold. */
static size_t
empty_namespace(struct controllers *k, const char *ns)
{
	json_t *const at_once = json_pack("{s:i}", "gracePeriodSeconds", 0);
	size_t left = 0;

	for (size_t i = 0; i < depot_nstorages(k->sim->depot); i++) {
		struct storage *const st = depot_nth(k->sim->depot, i);

		if (st->form == NULL || !st->form->namespaced)
			continue;
		struct snapshot *snap = depot_snapshot(k->sim->depot, st, ns, 0);
		for (size_t n = 0; n < snap->n; n++) {
			object_delete(k->sim, st, snap->objects[n], at_once);
			left += storage_get(st, blob_key(snap->objects[n])) != NULL;
		}
		snapshot_free(&snap);
	}
	json_decref(at_once);
	return left;
}

/* The kubelet's part: a Pod whose grace period is over is deleted for good. True while one is waiting. */
static bool
end_pods(struct controllers *k)
{
	json_t *const at_once = json_pack("{s:i}", "gracePeriodSeconds", 0);
	const int64_t now_us = clock_wall_ms() * 1000;
	bool left = false;

	for (size_t i = k->pods->n; i-- > 0;) {
		struct blob *const b = k->pods->objects[i];

		if (!is_marked(b))
			continue;
		json_t *const pod = blob_parse(b, k->pods->form);
		const char *const marked = json_text_at(pod, "metadata.deletionTimestamp");
		const int64_t grace_us = json_int_at(pod, "metadata.deletionGracePeriodSeconds", 0) * 1000000;
		int64_t due_us = 0;
		/* The timestamp is the end of the grace period; faster worlds have shorter ones. */
		time_parse(marked, strlen(marked), &due_us);
		due_us -= grace_us - (int64_t)((double)grace_us / k->sim->options->speed);
		if (json_array_size(json_at(pod, "metadata.finalizers")) > 0 || now_us < due_us)
			left = true;
		else
			object_delete(k->sim, k->pods, b, at_once);
		json_decref(pod);
	}
	json_decref(at_once);
	return left;
}
