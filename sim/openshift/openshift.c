/* sim/openshift/openshift.c - the engine: rounds of moves, by the clock of the world or by order. */
#include "openshift.h"

#include <event2/event.h>
#include <string.h>

#include "sim/base/sim_json.h"
#include "obj.h"
#include "sim/sim_options.h"
#include "random.h"
#include "openshift_pods.h"
#include "openshift_private.h"
#include "openshift_release.h"

enum { TICK_MS = 25 };

static void on_tick(evutil_socket_t, short, void *);
static bool move(struct rollout *, struct fleet_node *, json_t *, json_t *);
static void advance(struct rollout *, struct fleet_node *, enum rollout_step);
static bool join(struct rollout *, struct fleet_node *);
static void tell(json_t *, const struct fleet_node *, const char *, const char *);
static size_t after_last(const struct rollout *);
static void settle_pool(struct rollout *, const struct rollout_pool *, const char *);
static void settle_version(struct rollout *, const char *);

struct rollout *
rollout_new(struct sim *s)
{
	struct rollout *r;

	OBJ_NEW(r, ROLLOUT_MAGIC);
	r->sim = s;
	r->version = obj_strdup("");
	r->last = obj_strdup("");
	r->node_store = depot_storage(s->depot, "", "nodes");
	r->pool_store = depot_storage(s->depot, MCO_GROUP, "machineconfigpools");
	r->config_store = depot_storage(s->depot, MCO_GROUP, "machineconfigs");
	r->version_store = depot_storage(s->depot, CONFIG_GROUP, "clusterversions");
	r->timer = event_new(s->base, -1, EV_PERSIST, on_tick, r);
	MUST(r->timer != NULL);
	return r;
}

void
rollout_free(struct rollout **rp)
{
	struct rollout *r;

	if (*rp == NULL)
		return;
	OBJ_TAKE(r, rp, ROLLOUT_MAGIC);
	event_free(r->timer);
	fleet_free(r);
	free(r->version);
	free(r->last);
	OBJ_FREE(r);
}

void
rollout_start(struct rollout *r)
{
	r->on = true;
	event_add(r->timer, &(struct timeval){ .tv_usec = TICK_MS * 1000 });
}

size_t
rollout_round(struct rollout *r, double elapsed_ms, size_t most, json_t *moved, json_t *waiting)
{
	size_t n = 0;

	fleet_refresh(r);
	fleet_count(r);
	const size_t first = after_last(r);
	for (size_t i = 0; i < r->nnodes && n < most; i++) {
		struct fleet_node *const node = &r->nodes[(first + i) % r->nnodes];

		node->left_ms -= elapsed_ms;
		if (!move(r, node, moved, waiting))
			continue;
		n++;
		free(r->last);
		r->last = obj_strdup(node->name);
	}
	rollout_settle(r);
	return n;
}

void
rollout_settle(struct rollout *r)
{
	char now[SIM_TIME_MAX];

	fleet_refresh(r);
	if (r->told_nodes == r->seen_nodes && r->told_pools == r->seen_pools)
		return;
	fleet_count(r);
	sim_now(now);
	for (size_t i = 0; i < r->npools; i++)
		settle_pool(r, &r->pools[i], now);
	settle_version(r, now);
	/* What was just written is read, but says nothing new. */
	fleet_refresh(r);
	r->told_nodes = r->seen_nodes;
	r->told_pools = r->seen_pools;
}

void
rollout_put_new(struct rollout *r, struct storage *st, json_t *object)
{
	char uid[SIM_UID_MAX], now[SIM_TIME_MAX];
	json_t *const meta = json_branch(object, "metadata");

	json_object_set_new(meta, "uid", json_string(sim_uid(r->sim, uid)));
	json_object_set_new(meta, "creationTimestamp", json_string(sim_now(now)));
	json_object_set_new(meta, "generation", json_integer(1));
	depot_put(r->sim->depot, st, object);
	json_decref(object);
}

void
rollout_put(struct rollout *r, struct storage *st, json_t *object, bool spec)
{
	if (spec)
		json_object_set_new(json_branch(object, "metadata"), "generation",
		    json_integer(json_int_at(object, "metadata.generation", 0) + 1));
	depot_put(r->sim->depot, st, object);
	json_decref(object);
}

json_t *
rollout_get(const struct storage *st, const char *name)
{
	const struct blob *const b = storage_get(st, name);

	return b != NULL ? blob_parse(b, st->form) : NULL;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct rollout *const r = arg;

	(void)fd;
	(void)what;
	OBJ_CHECK(r, ROLLOUT_MAGIC);
	if (!r->manual)
		rollout_round(r, TICK_MS * r->sim->options->speed, SIZE_MAX, NULL, NULL);
}

/* At most one write to the Node. True: something happened. */
static bool
move(struct rollout *r, struct fleet_node *n, json_t *moved, json_t *waiting)
{
	if (!n->facts.joined) {
		const bool joined = join(r, n);

		if (joined)
			tell(moved, n, "step", "joined");
		return joined;
	}
	const struct rollout_move m = rollout_next(&(struct rollout_view){
	    .step = n->step,
	    .targeted = strcmp(n->facts.current, n->facts.desired) != 0,
	    .failing = n->facts.failing,
	    .may_start = n->may_start,
	    .due = r->manual || n->left_ms <= 0,
	    .pods = n->step == ROLLOUT_CORDONED ? pods_left(r->sim, n->name) : 0,
	});
	if (m.verb == ROLLOUT_ADVANCE) {
		advance(r, n, m.to);
		tell(moved, n, "step", rollout_row(m.to)->name);
		return true;
	}
	if (m.verb == ROLLOUT_EVICT && pods_evict(r->sim, n->name, r->manual) > 0) {
		tell(moved, n, "step", "evicted");
		return true;
	}
	if (m.why[0] != '\0')
		tell(waiting, n, "why", m.why);
	return false;
}

static void
advance(struct rollout *r, struct fleet_node *n, enum rollout_step to)
{
	json_t *const node = rollout_get(r->node_store, n->name);
	json_t *const before = json_deep_copy(node);
	char now[SIM_TIME_MAX], boot[SIM_UID_MAX];

	node_take_step(node, to, &(struct node_change){
	    /* A node that was told its config by somebody else keeps that one. */
	    .config = n->may_start ? r->pools[n->pool].target : n->facts.desired,
	    .boot_id = sim_uid(r->sim, boot),
	    .now = sim_now(now),
	});
	if (!json_equal(before, node))
		depot_put(r->sim->depot, r->node_store, node);
	json_decref(before);
	json_decref(node);
	n->step = to;
	n->may_start = false;
	n->left_ms = (double)random_jitter(&r->sim->seed, rollout_row(to)->lasts_ms);
}

/* A node that came by itself gets what its pool has settled on: the server of first configs does that. */
static bool
join(struct rollout *r, struct fleet_node *n)
{
	if (n->pool == POOL_NONE)
		return false;
	const struct rollout_pool *const p = &r->pools[n->pool];
	const char *const config = p->settled[0] != '\0' ? p->settled : p->target;
	if (config[0] == '\0')
		return false;
	json_t *const node = rollout_get(r->node_store, n->name);
	node_join(node, config);
	rollout_put(r, r->node_store, node, false);
	return true;
}

static void
tell(json_t *list, const struct fleet_node *n, const char *key, const char *what)
{
	if (list != NULL)
		json_array_append_new(list, json_pack("{s:s, s:s}", "node", n->name, key, what));
}

/* The index from which a round goes: nobody is left behind where only some may move. */
static size_t
after_last(const struct rollout *r)
{
	for (size_t i = 0; i < r->nnodes; i++) {
		if (strcmp(r->nodes[i].name, r->last) > 0)
			return i;
	}
	return 0;
}

static void
settle_pool(struct rollout *r, const struct rollout_pool *p, const char *now)
{
	json_t *const pool = rollout_get(r->pool_store, p->name);
	json_t *const before = json_deep_copy(pool);

	pool_set_status(pool, p, now);
	if (!json_equal(before, pool))
		depot_put(r->sim->depot, r->pool_store, pool);
	json_decref(before);
	json_decref(pool);
}

/* The control plane must be there, and every other pool that nobody holds back. */
static void
settle_version(struct rollout *r, const char *now)
{
	json_t *const cv = rollout_get(r->version_store, "version");
	bool complete = cv != NULL;

	for (size_t i = 0; i < r->npools; i++) {
		const struct rollout_pool *const p = &r->pools[i];

		complete = complete && (pool_updated(p) || (p->paused && strcmp(p->name, "master") != 0));
	}
	if (complete && version_finish(cv, now))
		depot_put(r->sim->depot, r->version_store, cv);
	json_decref(cv);
}
