/*
 * tests/dst/kube_actor.c - the actor that uses a watcher: a mirror, writes, and what must be true of both.
 *
 * It outlives its watcher, as an actor outlives kube-watcher: what it received once must not be contradicted
 * by what a new watcher sends.
 */
#include <string.h>

#include "obj.h"
#include "world_kube.h"

static void check_own(struct kube_instance *, uint32_t);
static bool draw_write(struct kube_instance *, struct kube_write *);
static void note_own(struct kube_instance *, const struct kube_write *, const struct kube_reply *);

/* ---- The mirror ---- */

void
actor_put(struct kube_instance *in, uint32_t key, const struct kube_object *o)
{
	struct kube_object *had = &in->mirror[key];

	if (had->uid != 0 && had->uid != o->uid && !in->world->server.ended[had->uid])
		sim_fail(in->world->sim, "%s: n%u has another uid (u%u), but u%u was never deleted",
		    in->name, key, o->uid, had->uid);
	*had = *o;
	check_own(in, key);
}

void
actor_gone(struct kube_instance *in, uint32_t key)
{
	struct kube_object *had = &in->mirror[key];

	SIM_TRACE(in->world->sim, "%s: n%u (u%u) is gone", in->name, key, had->uid);
	if (had->uid != 0 && !in->world->server.ended[had->uid])
		sim_fail(in->world->sim, "%s: n%u (u%u) is reported gone, but was never deleted",
		    in->name, key, had->uid);
	*had = (struct kube_object){ 0 };
	check_own(in, key);
}

/* The mirror is never older than the results of the actor's own writes. */
static void
check_own(struct kube_instance *in, uint32_t key)
{
	const struct kube_own *own = &in->own[key];
	const struct kube_object *o = &in->mirror[key];

	if (own->uid == 0)
		return;
	if (own->gone && o->uid == own->uid)
		sim_fail(in->world->sim, "%s: n%u (u%u) is present again after its own delete",
		    in->name, key, own->uid);
	if (!own->gone && o->uid == own->uid && o->rv < own->rv)
		sim_fail(in->world->sim, "%s: n%u is shown at %d, but its own write made it %d",
		    in->name, key, (int)o->rv, (int)own->rv);
	/* When the server loses the event, and the answer comes after the next one, no client detects it. */
	if (!own->gone && o->uid != own->uid && !in->world->server.ended[own->uid] && !in->world->lossy)
		sim_fail(in->world->sim, "%s: n%u (u%u), which it wrote itself, is not shown",
		    in->name, key, own->uid);
}

/* ---- Writes ---- */

void
actor_act(struct kube_instance *in)
{
	struct kube_world *w = in->world;
	struct kube_write what = { 0 };

	if (!in->node.up || in->node.stopped_ms > w->sim->now_ms || !in->ready || in->leaving
	    || w->nwrites == KUBE_WRITES_MAX || !draw_write(in, &what))
		return;
	const uint32_t write_id = w->nwrites++;
	w->writes[write_id] = (struct kube_write_record){ .instance = in->index, .request = what };
	const struct lease always = { .until_ms = INT64_MAX };
	const struct plan_verdict v = plan_admit(&in->plan, &(struct plan_write){
		.sender = ROLE_TEST_KUBE_1, .op = what.op, .group = "", .resource = "nodes",
		.subresource = "", .object = what.key,
		.deadline_ms = w->sim->now_ms + 500 + (int64_t)sim_random(w->sim, 15000),
	}, kube_broken(w, BREAK_KUBE_LEASE) ? &always : &in->lease, w->sim->now_ms);
	SIM_TRACE(w->sim, "%s: write %u: op %d on n%u uid u%u rv %d%s%s", in->name, write_id,
	    (int)what.op, what.key, what.uid, (int)what.rv,
	    v.admitted ? "" : " refused: ", v.admitted ? "" : v.why);
	if (!v.admitted) {
		actor_answered(in, write_id, v.outcome, NULL);
		return;
	}
	in->jobs[v.slot] = write_id;
	watcher_drive(in);
}

static bool
draw_write(struct kube_instance *in, struct kube_write *what)
{
	static const enum op ops[] = { OP_UPDATE, OP_MERGE, OP_DELETE, OP_GET };
	struct kube_world *w = in->world;

	what->key = (uint32_t)sim_random(w->sim, w->server.keys);
	const struct kube_object *o = &in->mirror[what->key];
	if (o->uid == 0) {
		what->op = OP_CREATE;
		return true;
	}
	what->op = ops[sim_random(w->sim, NITEMS(ops))];
	if (what->op == OP_DELETE)
		what->uid = o->uid;
	if (what->op == OP_UPDATE)
		what->rv = o->rv;
	return true;
}

/* An outcome is true, now and later. */
void
actor_answered(
    struct kube_instance *in, uint32_t write_id, enum outcome outcome, const struct kube_reply *reply)
{
	struct kube_world *w = in->world;
	struct kube_write_record *record = &w->writes[write_id];
	const uint32_t least = outcome == OUTCOME_OK && record->request.op != OP_GET,
		       most = outcome == OUTCOME_UNKNOWN ? 1 : least;

	if (record->settled)
		sim_fail(w->sim, "write %u is answered twice", write_id);
	record->settled = true;
	record->outcome = outcome;
	if (record->executed < least || record->executed > most)
		sim_fail(w->sim, "write %u: the outcome is %s, but it was executed %u times", write_id,
		    outcome_name(outcome), record->executed);
	if (outcome == OUTCOME_OK && reply != NULL)
		note_own(in, &record->request, reply);
}

/* Answers overtake each other: the result of a later own write stays. */
static void
note_own(struct kube_instance *in, const struct kube_write *what, const struct kube_reply *reply)
{
	struct kube_own *own = &in->own[what->key];

	if (reply->body == BODY_OBJECT && reply->object.rv > own->rv
	    && !(own->gone && own->uid == reply->object.uid))
		*own = (struct kube_own){ .uid = reply->object.uid, .rv = reply->object.rv };
	else if (reply->body == BODY_STATUS && (own->uid == what->uid || own->uid == 0))
		*own = (struct kube_own){ .uid = what->uid, .rv = own->rv, .gone = true };
	check_own(in, what->key);
}

void
actor_lost_watcher(struct kube_instance *in)
{
	struct kube_world *w = in->world;

	for (uint32_t i = 0; i < w->nwrites; i++) {
		struct kube_write_record *record = &w->writes[i];

		if (record->instance == in->index && !record->settled) {
			record->settled = true;
			record->outcome = OUTCOME_UNKNOWN;
		}
	}
}

void
actor_clear_own(struct kube_world *w)
{
	for (int i = 0; i < KUBE_INSTANCES; i++)
		memset(w->instances[i].own, 0, sizeof(w->instances[i].own));
}

void
actor_executed(struct kube_world *w, uint32_t write_id)
{
	struct kube_write_record *record = &w->writes[write_id];
	const struct kube_instance *in = &w->instances[record->instance];
	const struct kube_instance *other = &w->instances[1 - record->instance];
	const struct kube_server *s = &w->server;

	record->executed++;
	if (record->executed > 1)
		sim_fail(w->sim, "write %u of %s was executed twice", write_id, in->name);
	if (record->settled && record->outcome != OUTCOME_UNKNOWN)
		sim_fail(w->sim, "write %u of %s was executed after its outcome was %s", write_id, in->name,
		    outcome_name(record->outcome));
	if (w->elect && s->has_lease && strcmp(s->lease.record.holder, other->name) == 0)
		sim_fail(w->sim, "write %u of %s was executed while the holder of the Lease is %s", write_id,
		    in->name, other->name);
}
