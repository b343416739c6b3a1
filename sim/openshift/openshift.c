/* sim/openshift/openshift.c - the engine: rounds of moves, by the simulated clock or by command. */
#include "openshift.h"

#include <event2/event.h>
#include <string.h>

#include "obj.h"
#include "openshift_pods.h"
#include "openshift_private.h"
#include "openshift_release.h"
#include "random.h"
#include "sim/base/sim_json.h"
#include "sim/sim_options.h"

enum { TICK_MS = 25 };

static void on_tick(evutil_socket_t, short, void *);
static bool move(struct openshift *, struct openshift_fleet_node *, json_t *, json_t *);
static void advance(struct openshift *, struct openshift_fleet_node *, enum openshift_step);
static bool join(struct openshift *, struct openshift_fleet_node *);
static void add_report(json_t *, const struct openshift_fleet_node *, const char *, const char *);
static size_t after_last(const struct openshift *);
static void settle_pool(struct openshift *, const struct openshift_pool *, const char *);
static void settle_version(struct openshift *, const char *);

struct openshift *
openshift_new(struct simulator *s)
{
	struct openshift *r;

	OBJ_NEW(r, OPENSHIFT_MAGIC);
	r->sim = s;
	r->version = obj_strdup("");
	r->last = obj_strdup("");
	r->node_store = sim_store_storage(s->store, "", "nodes");
	r->pool_store = sim_store_storage(s->store, MCO_GROUP, "machineconfigpools");
	r->config_store = sim_store_storage(s->store, MCO_GROUP, "machineconfigs");
	r->version_store = sim_store_storage(s->store, CONFIG_GROUP, "clusterversions");
	r->timer = event_new(s->base, -1, EV_PERSIST, on_tick, r);
	MUST(r->timer != NULL);
	return r;
}

void
openshift_free(struct openshift **rp)
{
	struct openshift *r;

	if (*rp == NULL)
		return;
	OBJ_TAKE(r, rp, OPENSHIFT_MAGIC);
	event_free(r->timer);
	openshift_fleet_free(r);
	free(r->version);
	free(r->last);
	OBJ_FREE(r);
}

void
openshift_start(struct openshift *r)
{
	r->on = true;
	event_add(r->timer, &(struct timeval){ .tv_usec = TICK_MS * 1000 });
}

size_t
openshift_round(struct openshift *r, double elapsed_ms, size_t most, json_t *moved, json_t *waiting)
{
	size_t n = 0;

	openshift_fleet_refresh(r);
	openshift_fleet_count(r);
	const size_t first = after_last(r);
	for (size_t i = 0; i < r->nnodes && n < most; i++) {
		struct openshift_fleet_node *const node = &r->nodes[(first + i) % r->nnodes];

		node->left_ms -= elapsed_ms;
		if (!move(r, node, moved, waiting))
			continue;
		n++;
		free(r->last);
		r->last = obj_strdup(node->name);
	}
	openshift_update_status(r);
	return n;
}

void
openshift_update_status(struct openshift *r)
{
	char now[SIM_TIME_MAX];

	openshift_fleet_refresh(r);
	if (r->reported_nodes == r->read_nodes && r->reported_pools == r->read_pools)
		return;
	openshift_fleet_count(r);
	sim_now(now);
	for (size_t i = 0; i < r->npools; i++)
		settle_pool(r, &r->pools[i], now);
	settle_version(r, now);
	/* What was just written is read again without effect. */
	openshift_fleet_refresh(r);
	r->reported_nodes = r->read_nodes;
	r->reported_pools = r->read_pools;
}

void
openshift_create(struct openshift *r, struct sim_storage *st, json_t *object)
{
	char uid[SIM_UID_MAX], now[SIM_TIME_MAX];
	json_t *const meta = sim_json_branch(object, "metadata");

	json_object_set_new(meta, "uid", json_string(sim_uid(r->sim, uid)));
	json_object_set_new(meta, "creationTimestamp", json_string(sim_now(now)));
	json_object_set_new(meta, "generation", json_integer(1));
	sim_store_put(r->sim->store, st, object);
	json_decref(object);
}

void
openshift_put(struct openshift *r, struct sim_storage *st, json_t *object, bool spec)
{
	if (spec)
		json_object_set_new(sim_json_branch(object, "metadata"), "generation",
		    json_integer(sim_json_int_at(object, "metadata.generation", 0) + 1));
	sim_store_put(r->sim->store, st, object);
	json_decref(object);
}

json_t *
openshift_get(const struct sim_storage *st, const char *name)
{
	const struct sim_blob *const b = sim_storage_get(st, name);

	return b != NULL ? sim_blob_parse(b, st->form) : NULL;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct openshift *const r = arg;

	(void)fd;
	(void)what;
	OBJ_CHECK(r, OPENSHIFT_MAGIC);
	if (!r->manual)
		openshift_round(r, TICK_MS * r->sim->options->speed, SIZE_MAX, NULL, NULL);
}

/* At most one write to the Node. True: something happened. */
static bool
move(struct openshift *r, struct openshift_fleet_node *n, json_t *moved, json_t *waiting)
{
	if (!n->facts.joined) {
		const bool joined = join(r, n);

		if (joined)
			add_report(moved, n, "step", "joined");
		return joined;
	}
	const struct openshift_move m = openshift_next(&(struct openshift_node_view){
	    .step = n->step, .targeted = strcmp(n->facts.current, n->facts.desired) != 0,
	    .failing = n->facts.failing, .may_start = n->may_start,
	    .due = r->manual || n->left_ms <= 0,
	    .pods = n->step == ROLLOUT_CORDONED ? openshift_pods_left(r->sim, n->name) : 0,
	});
	if (m.verb == ROLLOUT_ADVANCE) {
		advance(r, n, m.to);
		add_report(moved, n, "step", openshift_step_row(m.to)->name);
		return true;
	}
	if (m.verb == ROLLOUT_EVICT && openshift_pods_evict(r->sim, n->name, r->manual) > 0) {
		add_report(moved, n, "step", "evicted");
		return true;
	}
	if (m.why[0] != '\0')
		add_report(waiting, n, "why", m.why);
	return false;
}

static void
advance(struct openshift *r, struct openshift_fleet_node *n, enum openshift_step to)
{
	json_auto_t *node = openshift_get(r->node_store, n->name), *before = json_deep_copy(node);
	char now[SIM_TIME_MAX], boot[SIM_UID_MAX];

	openshift_node_take_step(node, to, &(struct openshift_node_change){
	    /* A node whose config another writer set keeps that one. */
	    .config = n->may_start ? r->pools[n->pool].target : n->facts.desired,
	    .boot_id = sim_uid(r->sim, boot), .now = sim_now(now),
	});
	if (!json_equal(before, node))
		sim_store_put(r->sim->store, r->node_store, node);
	n->step = to;
	n->may_start = false;
	n->left_ms = (double)random_jitter(&r->sim->seed, openshift_step_row(to)->lasts_ms);
}

/* A node that came by itself gets what its pool has settled on: the server of first configs does that. */
static bool
join(struct openshift *r, struct openshift_fleet_node *n)
{
	if (n->pool == POOL_NONE)
		return false;
	const struct openshift_pool *const p = &r->pools[n->pool];
	const char *const config = p->settled[0] != '\0' ? p->settled : p->target;
	if (config[0] == '\0')
		return false;
	json_t *const node = openshift_get(r->node_store, n->name);
	openshift_node_join(node, config);
	openshift_put(r, r->node_store, node, false);
	return true;
}

static void
add_report(json_t *list, const struct openshift_fleet_node *n, const char *key, const char *what)
{
	if (list != NULL)
		json_array_append_new(list, json_pack("{s:s, s:s}", "node", n->name, key, what));
}

/* The index from which a round starts: each node gets its turn where only some may move. */
static size_t
after_last(const struct openshift *r)
{
	for (size_t i = 0; i < r->nnodes; i++) {
		if (strcmp(r->nodes[i].name, r->last) > 0)
			return i;
	}
	return 0;
}

static void
settle_pool(struct openshift *r, const struct openshift_pool *p, const char *now)
{
	json_auto_t *pool = openshift_get(r->pool_store, p->name), *before = json_deep_copy(pool);

	openshift_pool_set_status(pool, p, now);
	if (!json_equal(before, pool))
		sim_store_put(r->sim->store, r->pool_store, pool);
}

/* The control plane must be there, and every other pool that is not paused. */
static void
settle_version(struct openshift *r, const char *now)
{
	json_auto_t *cv = openshift_get(r->version_store, "version");
	bool complete = cv != NULL;

	for (size_t i = 0; i < r->npools; i++) {
		const struct openshift_pool *const p = &r->pools[i];

		complete = complete && (openshift_pool_updated(p)
		    || (p->paused && strcmp(p->name, "master") != 0));
	}
	if (complete && openshift_version_finish(cv, now))
		sim_store_put(r->sim->store, r->version_store, cv);
}
