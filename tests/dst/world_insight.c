/*
 * tests/dst/world_insight.c - the world `insight`: the whole program of insight against modelled
 * neighbours; what must hold, and when it is settled.
 *
 * Three sorts of histories: with all faults; calm ones, in which only the cluster changes; and sweeps,
 * in which each life of insight ends at the n-th effect, requested, sent or answered. In a sweep the
 * seed is the kill point: SWEEP_POINTS seeds in a row have the same workload and all points of it.
 */
#include "world_insight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "obj.h"
#include "runtime_breaks.h"

enum {
	SWEEP_LIVES = 6, SWEEP_EFFECTS = 16, SWEEP_POINTS = SWEEP_EFFECTS * EFFECT_MAX,
	/*
	 * How old a decision to delete can be when the server executes it: 5 s until silence is detected,
	 * 8 s of process stops, 8 s until the write's deadline, 8 s in flight, and some latency.
	 */
	DELETE_AGE_MS = 32 * 1000,
	QUIET_MS = 8 * 1000,	/* so long after a change of the cluster a mirror can be late */
	START_MS = 1000,	/* virtual time begins here: 0 means "none" in places of the product */
};

/* The entry of actors/insight/main.c (tests/CMakeLists.txt). */
int insight_main(int argc, char **argv);
bool __real_actor_fresh(const struct actor *a, enum link l);

static uint32_t on_requested(struct runtime_actor *, enum link, const struct write_request *);
static void on_answered(struct runtime_actor *, uint32_t, const struct write_result *);
static void on_changed(struct runtime_actor *, const struct change *);
static void on_ended(struct runtime_actor *);
static void check_delete(struct insight_world *, struct runtime_actor *, const char *);
static const char *server_refusal(struct cluster *, const struct cluster_request *);
static void on_executed(struct cluster *, const struct flight *, const json_t *);
static void check_times(struct insight_world *, const json_t *, const json_t *);
static sim_fn restart;
static const char *compare(struct insight_world *);

static void *
setup(struct sim *sim)
{
	static const char settings[] = "nodes=true\npools=true";
	const uint64_t seed = sim->random;
	struct insight_world *const w = obj_alloc(sizeof(*w));

	sim->now_ms = START_MS;
	runtime_breaks = (struct runtime_breaks){
		.write_twice = sim->broken == 1, .always_fresh = sim->broken == 2,
		.always_leading = sim->broken == 3, .no_read_live = sim->broken == 4,
		.busy_is_done = sim->broken == 5, .refused_again = sim->broken == 6,
		.no_retry = sim->broken == 7, .no_times = sim->broken == 8,
	};
	w->sim = sim;
	w->mode = seed / SWEEP_POINTS % 4 == 0 ? MODE_SWEEP : seed % 8 == 0 ? MODE_CALM : MODE_MIXED;
	if (w->mode == MODE_SWEEP) {
		sim->random = seed / SWEEP_POINTS;
		w->sweep_effect = (enum runtime_effect)(seed % EFFECT_MAX);
		w->sweep_at = 1 + (uint32_t)(seed / EFFECT_MAX % SWEEP_EFFECTS);
		w->sweeps_left = SWEEP_LIVES;
	}
	cluster_init(&w->cluster, sim);
	w->cluster.refusal = server_refusal;
	w->cluster.executed = on_executed;
	w->runtime = runtime_new(sim,
	    &(struct runtime_hooks){ .requested = on_requested, .answered = on_answered,
	    .changed = on_changed, .ended = on_ended }, w);
	sim->faults = (struct sim_faults){ .latency_ms = 1 + (int64_t)sim_random(sim, 20) };
	w->ntrees = w->mode == MODE_SWEEP || sim_random(sim, 3) == 0 ? 1 : RUNTIME_TREES;
	if (w->mode == MODE_MIXED) {
		sim->faults.drop = sim->faults.repeat = sim->faults.swap = (uint32_t)sim_random(sim, 8);
		sim->faults.stall = (uint32_t)sim_random(sim, 8);
		w->cluster.faults = (struct cluster_faults){
			.failed = 40, .lost = 40, .late = 40, .limited = 30, .busy = 30, .denied = 5,
			.expired = 20, .slow = 150, .lag = 100,
		};
	}
	w->acts_left = 20 + (unsigned)sim_random(sim, 40);
	w->act_gap_ms = (const int64_t[]){ 300, 600, 2000, 6000 }[sim_random(sim, 4)];
	for (uint32_t i = 0; i < EXPECTED_MAX; i++)
		w->expected[i] = (struct expected){ .desired = sim_random(sim, 2) == 0,
			.serial = (uint32_t)sim_random(sim, 20) };
	for (unsigned i = 0; i < w->ntrees; i++) {
		struct insight_process *const t = &w->trees[i];

		t->watcher = w->cluster.watchers[i] =
		    runtime_add(w->runtime, i, ROLE_KUBE_WATCHER, watcher_model_main, "");
		t->nodes = runtime_add(w->runtime, i, ROLE_NODE_STATE, nodes_model_main, "");
		t->insight = runtime_add(w->runtime, i, ROLE_INSIGHT, insight_main, settings);
	}
	for (unsigned i = 0; i < w->ntrees; i++) {
		insight_start(w, w->trees[i].watcher);
		insight_start(w, w->trees[i].nodes);
		insight_start(w, w->trees[i].insight);
	}
	sim_at(sim, sim->now_ms, insight_act, w, 0);
	return w;
}

static void
teardown(void *arg)
{
	struct insight_world *const w = arg;

	runtime_free(&w->runtime);
	cluster_free(&w->cluster);
	runtime_breaks = (struct runtime_breaks){ 0 };
	free(w);
}

static bool
has_actions(void *arg)
{
	const struct insight_world *const w = arg;

	return w->acts_left > 0;
}

/* Everything is checked where it happens. */
static void
check(struct sim *sim, void *arg)
{
	(void)sim, (void)arg;
}

/* ---- What insight requests ---- */

static uint32_t
on_requested(struct runtime_actor *ra, enum link l, const struct write_request *r)
{
	struct insight_world *const w = ra->runtime->world;
	struct insight_process *const t = &w->trees[ra->tree];
	const bool mutation = r->op != OP_GET && r->op != OP_EVENT;
	const uint32_t place = expected_place(kind_find(r->group, r->resource), r->name);
	struct change leader;
	union msg_body value;
	uint32_t slot = 0;

	SIM_TRACE(w->sim, "%s requests %s %s/%s", ra->name, op_table[r->op].name, r->resource,
	    r->name);
	while (slot < WRITES_PER_SENDER && t->asked[slot].used)
		slot++;
	if (slot == WRITES_PER_SENDER)
		sim_fail(w->sim, "%s has more than %d writes in flight", ra->name, WRITES_PER_SENDER);
	for (uint32_t i = 0; mutation && i < WRITES_PER_SENDER; i++) {
		if (t->asked[i].used && t->asked[i].mutation && place < EXPECTED_MAX
		    && t->asked[i].place == place)
			sim_fail(w->sim, "%s has two writes of %s/%s in flight", ra->name,
			    r->resource, r->name);
	}
	t->asked[slot] = (struct asked){ .used = true, .mutation = mutation, .place = place };
	if (!mutation)
		return slot;
	w->mutations++;
	if (!actor_read(&ra->actor, l, ":leader", strlen(":leader"), &leader, &value)
	    || !value.leader.leading)
		sim_fail(w->sim, "%s requests a write, and another instance leads", ra->name);
	if (r->op == OP_DELETE)
		check_delete(w, ra, r->name);
	if (place < EXPECTED_MAX && t->refused[place])
		sim_fail(w->sim, "%s writes %s, which the server refused, and nothing has changed since",
		    ra->name, r->name);
	return slot;
}

static void
check_delete(struct insight_world *w, struct runtime_actor *ra, const char *name)
{
	const struct actor *const a = &ra->actor;

	if (!__real_actor_fresh(a, LINK_NODES) || !__real_actor_fresh(a, LINK_KUBE_INSIGHT))
		sim_fail(w->sim, "%s deletes the insight of %s, and a mirror is stale", ra->name, name);
}

/* What the server refuses is not written again before the insight, its object or the CRD has changed. */
static void
on_changed(struct runtime_actor *ra, const struct change *c)
{
	struct insight_world *const w = ra->runtime->world;
	struct insight_process *const t = &w->trees[ra->tree];
	char name[CLUSTER_NAME_MAX];

	if (ra != t->insight || c->kind == CHANGE_SYNCED)
		return;
	for (uint32_t i = 0; i < EXPECTED_MAX; i++) {
		expected_name(i, name);
		const size_t len = strlen(name);
		if (c->type != MSG_KIND
		    && (c->key.len <= len || memcmp(c->key.p + c->key.len - len, name, len) != 0))
			continue;
		t->refused[i] = false;
		for (uint32_t k = 0; k < WRITES_PER_SENDER; k++)
			t->asked[k].changed |= t->asked[k].place == i;
	}
}

static void
on_answered(struct runtime_actor *ra, uint32_t slot, const struct write_result *r)
{
	struct insight_world *const w = ra->runtime->world;
	struct insight_process *const t = &w->trees[ra->tree];
	const struct asked *const asked = &t->asked[slot];

	SIM_TRACE(w->sim, "%s: %s is %s", ra->name, op_table[r->op].name, outcome_name(r->outcome));
	if (asked->mutation && asked->place < EXPECTED_MAX)
		t->refused[asked->place] = r->outcome == OUTCOME_INVALID && !asked->changed;
	t->asked[slot].used = false;
}

static void
on_ended(struct runtime_actor *ra)
{
	struct insight_world *const w = ra->runtime->world;
	struct insight_process *const t = &w->trees[ra->tree];
	const int64_t at_ms = w->sim->now_ms + 50 + (int64_t)sim_random(w->sim, 2000);

	if (ra == t->nodes)
		memset(t->published_ms, 0, sizeof(t->published_ms));
	if (ra == t->insight) {
		memset(t->asked, 0, sizeof(t->asked));
		memset(t->refused, 0, sizeof(t->refused));
	}
	sim_at(w->sim, at_ms, restart, ra, 0);
}

static void
restart(struct sim *sim, void *arg, uint64_t n)
{
	struct runtime_actor *const ra = arg;

	(void)sim, (void)n;
	insight_start(ra->runtime->world, ra);
}

/* ---- What the server executes ---- */

static const char *
server_refusal(struct cluster *c, const struct cluster_request *r)
{
	const struct insight_world *const w = (const struct insight_world *)c;

	(void)r;
	return w->refusing ? "status.message: refused by a webhook" : NULL;
}

static void
on_executed(struct cluster *c, const struct flight *f, const json_t *before)
{
	struct insight_world *const w = (struct insight_world *)c;
	const uint32_t place = expected_place(f->request.kind, f->request.name);

	if (f->answer.outcome != OUTCOME_OK || place >= EXPECTED_MAX || f->request.op == OP_GET
	    || f->request.op == OP_EVENT)
		return;
	const int64_t published_ms = w->trees[f->watcher->tree].published_ms[place];
	if (c->holder != (int)f->watcher->tree)
		sim_fail(w->sim, "a write of %s takes effect, and the Lease is of tree %d",
		    f->watcher->name, c->holder);
	if (f->request.op == OP_DELETE && published_ms != 0 && w->sim->now_ms - published_ms > DELETE_AGE_MS)
		sim_fail(w->sim, "the insight of %s is deleted, which has had a state for %lld ms",
		    f->request.name, (long long)(w->sim->now_ms - published_ms));
	const struct cluster_object *const o = cluster_find(c, f->request.kind, f->request.name);
	if (before != NULL && o->json != NULL)
		check_times(w, before, o->json);
}

/* A condition keeps its time while its status stays. */
static void
check_times(struct insight_world *w, const json_t *before, const json_t *after)
{
	const json_t *const old = json_object_get(json_object_get(before, "status"), "conditions");
	const json_t *const now = json_object_get(json_object_get(after, "status"), "conditions");

	for (size_t i = 0; i < json_array_size(old) && i < json_array_size(now); i++) {
		const json_t *const a = json_array_get(old, i), *const b = json_array_get(now, i);

		if (json_equal(json_object_get(a, "type"), json_object_get(b, "type"))
		    && json_equal(json_object_get(a, "status"), json_object_get(b, "status"))
		    && !json_equal(json_object_get(a, "lastTransitionTime"),
		    json_object_get(b, "lastTransitionTime")))
			sim_fail(w->sim, "a condition gets a new time, and its status has not changed");
	}
}

/* ---- Settled ---- */

static const char *
unsettled(struct sim *sim, void *arg)
{
	struct insight_world *const w = arg;
	bool leads = false;

	for (unsigned i = 0; i < w->ntrees; i++) {
		const struct insight_process *const t = &w->trees[i];

		if (!t->watcher->node.up || !t->nodes->node.up || !t->insight->node.up)
			return "a process is down";
		for (uint32_t k = 0; k < WRITES_PER_SENDER; k++) {
			if (t->asked[k].used)
				return "a write has no outcome";
		}
		leads |= watcher_model_leads(t->watcher);
	}
	if (!leads && !w->final_settled)
		return "no instance leads";
	if (cluster_in_flight(&w->cluster))
		return "a request is in flight";
	if (w->final_settled && w->mutations != w->final_mutations)
		return "a write, and nothing has changed";
	if (w->checked_rv != w->cluster.rv || w->checked_expected != w->expected_changes) {
		w->checked = compare(w);
		w->checked_ms = sim->now_ms;
	}
	w->checked_rv = w->cluster.rv;
	w->checked_expected = w->expected_changes;
	if (w->checked != NULL)
		return w->checked;
	if (!w->final_made && sim->now_ms - w->checked_ms < QUIET_MS)
		return "a mirror may be late";
	if (!w->final_made) {
		w->final_made = true;
		w->final_mutations = w->mutations;
		for (uint32_t i = 0; i < FINAL_CHANGES; i++) {
			/* A new one: create, then the status. */
			w->final_mutations += w->expected[i].desired ? 1 : 2;
			expected_change(w, i, true);
		}
		return "the last changes";
	}
	if (!w->final_settled && w->mutations != w->final_mutations)
		sim_fail(w->sim, "the last changes took %lld writes more than they need",
		    (long long)(w->mutations - w->final_mutations));
	w->final_settled = true;
	return NULL;
}

static const char *
compare(struct insight_world *w)
{
	static char text[128];

	for (uint32_t i = 0; i < EXPECTED_MAX; i++) {
		const char *const wrong = expected_difference(w, i);
		char name[CLUSTER_NAME_MAX];

		if (wrong == NULL)
			continue;
		expected_name(i, name);
		snprintf(text, sizeof(text), "%s: %s", name, wrong);
		return text;
	}
	return NULL;
}

static const struct world_break breaks[] = {
	{ "two-in-flight", "a write is requested twice" },
	{ "delete-when-stale", "a mirror counts as current, whatever it is" },
	{ "deaf-to-lease", "an instance never learns that another one leads" },
	{ "no-read-live", "no live read after a conflict or an unknown outcome" },
	{ "busy-is-done", "a write that was busy is not tried again" },
	{ "refused-again", "what the server refuses is tried again" },
	{ "no-retry", "the work queue forgets a key that failed" },
	{ "no-times", "the times of stored conditions are not kept" },
	{ NULL, NULL },
};

const struct world insight_world = {
	.name = "insight", .breaks = breaks, .settle_ms = 600 * 1000, .hold_ms = 15 * 1000, .setup = setup,
	.has_actions = has_actions, .check = check, .stop_faults = insight_stop_faults,
	.unsettled = unsettled, .teardown = teardown,
};
