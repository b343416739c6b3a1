/* tests/dst/world_kube.c - the history of two instances on one cluster: its actions and faults. */
#include "world_kube.h"

#include <stdlib.h>
#include <string.h>

#include "obj.h"

enum { FINAL_CHANGES = 3, LONG_LEASE_MS = 15000, SHORT_LEASE_MS = 6000 };

typedef void act_fn(struct kube_world *);
static act_fn change, remove_one, replace, create_and_delete, burst, compact, write_one, crash, leave, stop,
    redraw_faults, send_empty_list, restore, cut_off, drop_lease, corrupt_lease;

/* Which actions a history has: all, those about reading, about leading, or repeated restores. */
enum scenario { READING = 1, LEADING = 2, RESTORING = 4, ANYTHING = READING | LEADING };

static const struct act {
	act_fn		*fn;
	uint32_t	 weight;
	enum scenario	 scenarios;
} acts[] = {
	{ change,            250, READING   },
	{ remove_one,         70, READING   },
	{ replace,            40, READING   },	/* another uid under the same name */
	{ create_and_delete,  20, READING   },	/* before any watcher receives it */
	{ burst,              20, READING   },
	{ write_one,         450, ANYTHING  },
	{ compact,            30, READING   },
	{ crash,              25, ANYTHING  },
	{ leave,              20, LEADING   },
	{ stop,               25, ANYTHING  },
	{ redraw_faults,      20, ANYTHING  },
	{ send_empty_list,    10, READING   },
	{ restore,             5, READING   },
	{ restore,            60, RESTORING },
	{ cut_off,            20, LEADING   },
	{ drop_lease,          6, LEADING   },
	{ corrupt_lease,       4, LEADING   },
};

static sim_fn act_again, restart, leave_at, crash_at, write_at;
static void draw_faults(struct kube_world *);
static struct kube_instance *any_instance(struct kube_world *);
static struct kube_instance *the_leader(struct kube_world *);
static uint32_t any_key(struct kube_world *);
static void change_key(struct kube_world *, uint32_t);
static bool is_full(const struct kube_world *);
static void end_soon(struct kube_instance *);
static void restart_soon(struct kube_instance *);
static unsigned leaders(const struct kube_world *);

static const struct world_break breaks[] = {
#define BREAK_ROW(ID, name_, what_) { .name = (name_), .what = (what_) },
	KUBE_BREAKS(BREAK_ROW)
	{ .name = NULL },
};

static void *
setup(struct sim *sim)
{
	static const enum scenario scenarios[] = {
		ANYTHING, ANYTHING, ANYTHING, READING, READING, LEADING, LEADING, READING | RESTORING,
	};
	struct kube_world *w = obj_alloc(sizeof(*w));

	w->sim = sim;
	server_init(&w->server, sim);
	memcpy(w->server.lease.rv, "1", 2);
	w->actions = 20 + (uint32_t)sim_random(sim, 60);
	w->latency_ms = sim_chance(sim, 800) ? 5 + (int64_t)sim_random(sim, 50) : 500;
	w->lease_ms = sim_chance(sim, 500) ? LONG_LEASE_MS : SHORT_LEASE_MS;
	w->scenario = scenarios[sim_random(sim, NITEMS(scenarios))];
	w->elect = w->scenario == LEADING || !sim_chance(sim, 100);
	w->hints = sim_chance(sim, 500);
	w->lossy = (w->scenario & RESTORING) != 0 || (w->scenario != LEADING && sim_chance(sim, 250));
	w->relist_ms = w->lossy && sim->broken != BREAK_KUBE_RESYNC ? 120000 : 0;
	draw_faults(w);
	for (int i = 0; i < KUBE_INSTANCES; i++) {
		struct kube_instance *in = &w->instances[i];

		in->world = w;
		in->index = i;
		in->name[0] = (char)('a' + i);
		sim_at(sim, (int64_t)sim_random(sim, 300), restart, in, 0);
	}
	sim_at(sim, 1, act_again, w, 0);
	return w;
}

static void
teardown(void *arg)
{
	struct kube_world *w = arg;

	for (int i = 0; i < KUBE_INSTANCES; i++)
		watcher_free(&w->instances[i]);
	wire_free(w);
	free(w);
}

static bool
has_actions(void *arg)
{
	const struct kube_world *w = arg;

	return w->actions > 0;
}

static void
check(struct sim *sim, void *arg)
{
	struct kube_world *w = arg;

	(void)sim;
	for (int i = 0; i < KUBE_INSTANCES; i++)
		watcher_check(&w->instances[i]);
}

static void
stop_faults(struct sim *sim, void *arg)
{
	struct kube_world *w = arg;

	w->faults_over_ms = sim->now_ms;
	w->faults = (struct kube_faults){ 0 };
	w->server.empty_lists = 0;
	for (int i = 0; i < KUBE_INSTANCES; i++) {
		struct kube_instance *in = &w->instances[i];

		in->cut_off_ms = 0;
		sim_node_continue(sim, &in->node);
		if (in->node.up)
			sim_wake(sim, &in->node, sim->now_ms);
	}
	wire_server_changed(w);
}

static const char *
unsettled(struct sim *sim, void *arg)
{
	struct kube_world *w = arg;

	if (sim->now_ms < w->faults_over_ms + 2 * w->lease_ms)
		return "what the faults delayed may still be in flight";
	if (w->arriving > 0)
		return "a write is in flight to the server";
	for (int i = 0; i < KUBE_INSTANCES; i++) {
		const char *wrong = w->instances[i].leaving ? "an instance is about to leave"
		    : watcher_unsettled(&w->instances[i]);

		if (wrong != NULL)
			return wrong;
	}
	if (w->elect && leaders(w) != 1)
		return leaders(w) == 0 ? "no instance leads" : "two instances lead";
	if (!w->final_changes_made) {
		SIM_TRACE(sim, "final changes");
		w->final_changes_made = true;
		for (int i = 0; i < FINAL_CHANGES; i++)
			change(w);
		return "the final changes were just made";
	}
	return NULL;
}

const struct world kube_world = {
	.name = "kube", .breaks = breaks, .settle_ms = 1800 * 1000, .hold_ms = 5000,
	.setup = setup, .has_actions = has_actions, .check = check, .stop_faults = stop_faults,
	.unsettled = unsettled, .teardown = teardown,
};

static unsigned
leaders(const struct kube_world *w)
{
	unsigned n = 0;

	for (int i = 0; i < KUBE_INSTANCES; i++)
		n += lease_view(&w->instances[i].lease, w->sim->now_ms).leading;
	return n;
}

/* ---- Actions ---- */

static void
act_again(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_world *w = arg;
	const uint64_t kind = sim_random(sim, 1000);
	uint64_t sum = 0;

	(void)n;
	for (size_t i = 0; i < NITEMS(acts); i++)
		sum += (acts[i].scenarios & w->scenario) != 0 ? acts[i].weight : 0;
	uint64_t at = sim_random(sim, sum);
	for (size_t i = 0; i < NITEMS(acts); i++) {
		const uint32_t weight = (acts[i].scenarios & w->scenario) != 0 ? acts[i].weight : 0;

		if (at < weight) {
			acts[i].fn(w);
			break;
		}
		at -= weight;
	}
	if (--w->actions > 0) {
		const uint64_t gap_ms = kind < 700 ? 100
		    : kind < 900                   ? 1000
		    : kind < 970                   ? 5000
		    : kind < 995                   ? 20000
						   : 120000;

		sim_at(sim, sim->now_ms + (int64_t)sim_random(sim, gap_ms), act_again, w, 0);
	}
}

/* Draws no faults, many of one kind beside a few of each, late answers, or a few of each. */
static void
draw_faults(struct kube_world *w)
{
	struct kube_faults *x = &w->faults;
	uint32_t *const kinds[] = {
		&x->refuse, &x->lose, &x->lose_answer, &x->slow, &x->limit, &x->fail, &x->cut,
		&x->half_open, &x->stray, &x->duplicate, &x->lag, &x->lease_late, &x->write_late,
	};
	const uint64_t style = w->scenario == LEADING ? 2 : sim_random(w->sim, 4);

	for (size_t i = 0; i < NITEMS(kinds); i++)
		*kinds[i] = style != 0 && sim_chance(w->sim, 500) ? (uint32_t)sim_random(w->sim, 150) : 0;
	if (style == 1)
		*kinds[sim_random(w->sim, NITEMS(kinds))] = 200 + (uint32_t)sim_random(w->sim, 600);
	if (style == 2) {
		x->slow = 300 + (uint32_t)sim_random(w->sim, 600);
		x->lease_late = (uint32_t)sim_random(w->sim, 800);
	}
	if (style != 0 && sim_chance(w->sim, 300))
		x->stray = 700;
	if ((w->scenario & RESTORING) != 0)
		x->write_late = 500;
	x->lossy = w->lossy ? (uint32_t)sim_random(w->sim, 200) : 0;
}

static void
redraw_faults(struct kube_world *w)
{
	draw_faults(w);
}

static void
change(struct kube_world *w)
{
	change_key(w, any_key(w));
}

static void
change_key(struct kube_world *w, uint32_t key)
{
	if (is_full(w))
		return;
	if (w->server.now.objects[key].uid == 0)
		server_create(&w->server, key);
	else
		server_change(&w->server, key);
	SIM_TRACE(w->sim, "server: n%u is u%u at %d", key, w->server.now.objects[key].uid, (int)w->server.rv);
	wire_server_changed(w);
}

static void
remove_one(struct kube_world *w)
{
	const uint32_t key = any_key(w);

	if (is_full(w) || w->server.now.objects[key].uid == 0)
		return;
	server_delete(&w->server, key);
	SIM_TRACE(w->sim, "server: n%u is deleted at %d", key, (int)w->server.rv);
	wire_server_changed(w);
}

static void
replace(struct kube_world *w)
{
	const uint32_t key = any_key(w);

	if (is_full(w) || w->server.now.objects[key].uid == 0)
		return;
	server_delete(&w->server, key);
	change_key(w, key);
}

static void
create_and_delete(struct kube_world *w)
{
	const uint32_t key = any_key(w);

	if (is_full(w) || w->server.now.objects[key].uid != 0)
		return;
	change_key(w, key);
	server_delete(&w->server, key);
	wire_server_changed(w);
}

static void
burst(struct kube_world *w)
{
	for (uint64_t n = sim_random(w->sim, 8); n > 0; n--)
		(sim_chance(w->sim, 300) ? remove_one : change)(w);
}

static void
compact(struct kube_world *w)
{
	const uint64_t span = w->server.rv - w->server.compacted;

	server_compact(&w->server, w->server.compacted + sim_random(w->sim, span + 1));
	SIM_TRACE(w->sim, "server: compacted to %d", (int)w->server.compacted);
}

/* Mostly the leader writes, sometimes any instance. */
static void
write_one(struct kube_world *w)
{
	actor_act(sim_chance(w->sim, 300) ? any_instance(w) : the_leader(w));
}

static void
crash(struct kube_world *w)
{
	struct kube_instance *in = sim_chance(w->sim, 500) ? any_instance(w) : the_leader(w);

	if (!in->node.up || in->leaving || w->sim->now_ms < w->no_restart_ms)
		return;
	if (sim_chance(w->sim, 500))
		actor_act(in);
	SIM_TRACE(w->sim, "%s crashes", in->name);
	watcher_crash(in);
	restart_soon(in);
}

/* Mostly the leader leaves, just after it sent some writes. */
static void
leave(struct kube_world *w)
{
	struct kube_instance *in = sim_chance(w->sim, 300) ? any_instance(w) : the_leader(w);

	if (!in->node.up || in->leaving || w->sim->now_ms < w->no_restart_ms)
		return;
	for (int i = 0; i < 3; i++)
		actor_act(in);
	end_soon(in);
}

static void
end_soon(struct kube_instance *in)
{
	struct sim *sim = in->world->sim;

	SIM_TRACE(sim, "%s begins a clean stop", in->name);
	watcher_leave(in);
	sim_node_at(sim, &in->node, sim->now_ms + 500 + (int64_t)sim_random(sim, 9000), crash_at, in, 0);
}

static void
crash_at(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_instance *in = arg;

	(void)n;
	SIM_TRACE(sim, "%s ends", in->name);
	watcher_crash(in);
	restart_soon(in);
}

static void
restart_soon(struct kube_instance *in)
{
	struct kube_world *w = in->world;
	const uint64_t within_ms = sim_chance(w->sim, 700) ? 500 : 30000;

	sim_at(w->sim, w->sim->now_ms + (int64_t)sim_random(w->sim, within_ms), restart, in, 0);
}

static void
restart(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_instance *in = arg;

	(void)n;
	watcher_start(in);
	if (!sim->faults_over && sim_chance(sim, 150))		/* it is stopped soon after its start */
		sim_node_at(sim, &in->node, sim->now_ms + (int64_t)sim_random(sim, 3000), leave_at, in, 0);
}

static void
leave_at(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_instance *in = arg;

	(void)n;
	if (!in->leaving && !sim->faults_over && sim->now_ms >= in->world->no_restart_ms)
		end_soon(in);
}

static void
stop(struct kube_world *w)
{
	struct kube_instance *in = any_instance(w);

	SIM_TRACE(w->sim, "%s is stopped", in->name);
	sim_node_stop(w->sim, &in->node, (int64_t)sim_random(w->sim, (uint64_t)w->lease_ms * 5 / 2));
}

/* The next complete list is empty, though the server has objects. */
static void
send_empty_list(struct kube_world *w)
{
	w->server.empty_lists = w->lossy;
}

static void
restore(struct kube_world *w)
{
	const uint64_t span = w->server.rv - w->server.compacted;

	if (!w->lossy || span == 0)
		return;
	server_restore(&w->server, w->server.compacted + sim_random(w->sim, span));
	SIM_TRACE(w->sim, "server: restored to %d", (int)w->server.rv);
	actor_clear_own(w);
	wire_break(w);
	wire_server_changed(w);
}

/* The leader cannot renew any more, and writes as long as its lease allows. */
static void
cut_off(struct kube_world *w)
{
	struct kube_instance *in = the_leader(w);

	SIM_TRACE(w->sim, "%s is cut off from the Lease", in->name);
	in->cut_off_ms = w->sim->now_ms + (int64_t)sim_random(w->sim, (uint64_t)w->lease_ms * 2);
	for (int i = 0; i < 6; i++)
		sim_at(w->sim, w->sim->now_ms + (int64_t)sim_random(w->sim, (uint64_t)w->lease_ms),
		    write_at, in, 0);
}

static void
write_at(struct sim *sim, void *arg, uint64_t n)
{
	(void)n;
	if (!sim->faults_over)
		actor_act(arg);
}

/* A user deletes the Lease. Both instances hold its last record, and none starts without it. */
static void
drop_lease(struct kube_world *w)
{
	for (int i = 0; i < KUBE_INSTANCES; i++) {
		const struct kube_instance *in = &w->instances[i];

		/* missing: a Lease that is created and deleted between two reads cannot be detected. */
		if (!in->node.up || !in->lease.known || in->lease.missing || in->leaving)
			return;
	}
	SIM_TRACE(w->sim, "server: the Lease is deleted");
	w->server.has_lease = false;
	wire_lease_changed(w);
	w->no_restart_ms = w->sim->now_ms + 4 * w->lease_ms;
}

static void
corrupt_lease(struct kube_world *w)
{
	static const int64_t durations[] = { 0, -5, 1, 999999999 };
	struct lease_record *r = &w->server.lease.record;

	if (!w->server.has_lease)
		return;
	SIM_TRACE(w->sim, "server: a user writes invalid values into the Lease");
	*r = (struct lease_record){
		.holder = "other", .duration_s = durations[sim_random(w->sim, NITEMS(durations))],
		.transitions = sim_chance(w->sim, 500) ? -1 : INT64_MAX,
	};
	wire_lease_changed(w);
}

static struct kube_instance *
the_leader(struct kube_world *w)
{
	for (int i = 0; i < KUBE_INSTANCES; i++) {
		if (w->instances[i].node.up && lease_view(&w->instances[i].lease, w->sim->now_ms).leading)
			return &w->instances[i];
	}
	return any_instance(w);
}

static struct kube_instance *
any_instance(struct kube_world *w)
{
	return &w->instances[sim_random(w->sim, KUBE_INSTANCES)];
}

/* A few hot keys get half of all actions. */
static uint32_t
any_key(struct kube_world *w)
{
	const uint32_t hot = w->server.keys < 2 ? w->server.keys : 2;

	return (uint32_t)sim_random(w->sim, sim_chance(w->sim, 500) ? hot : w->server.keys);
}

static bool
is_full(const struct kube_world *w)
{
	return w->server.nlog >= KUBE_LOG_MAX / 2;
}
