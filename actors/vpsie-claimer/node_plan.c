/* actors/vpsie-claimer/node_plan.c - one VPSieNode: what the table of phases decides becomes a step. */
#include <string.h>

#include "actors/provider/meter.h"
#include "vpsie.h"
#include "kube/time.h"
#include "log.h"
#include "obj.h"
#include "stat.h"

static void forget_binding(struct vpsie_claimer *, struct vpsienode_claim *, const struct work *);
static void forget(struct vpsie_claimer *, const struct work *);
static void note_waiting(struct vpsienode_view *);
static bool is_stale(const struct vpsienode_view *);
static void perform(struct vpsienode_view *, const struct reconcile_item *, const struct vpsie_step *,
    struct reconcile_step *);
static void plan_wait(struct vpsienode_view *, struct reconcile_step *);
static void plan_create(struct vpsienode_view *, struct reconcile_step *);
static void plan_read(struct vpsienode_view *, struct reconcile_step *);
static void plan_destroy(struct vpsienode_view *, const struct reconcile_item *, struct reconcile_step *);
static void plan_remove(struct vpsienode_view *, const struct reconcile_item *, struct reconcile_step *);
static void plan_drain(struct vpsienode_view *, struct reconcile_step *);
static bool plan_live(const struct reconcile_item *, struct reconcile_step *);
static void plan_call_effect(struct vpsienode_view *, enum vpsie_call, effect_start *, const char *,
    struct reconcile_step *);
static int64_t wait_ms(const struct vpsienode_view *);
static void count_attempt(struct vpsienode_view *);
static void send_event(struct vpsienode_view *, const struct vpsie_step *, const struct reconcile_write *);

static const char *const actions[VPSIE_VERB_MAX] = {
	[VPSIE_NOTHING] = "Wait",
	[VPSIE_WAIT] = "Wait",
	[VPSIE_HOLD] = "AddFinalizer",
	[VPSIE_MOVE] = "SetPhase",
	[VPSIE_STATUS] = "UpdateStatus",
	[VPSIE_INTEND] = "Intend",
	[VPSIE_WITHDRAW] = "Withdraw",
	[VPSIE_BIND] = "Bind",
	[VPSIE_LABEL] = "Label",
	[VPSIE_UNJOIN] = "DeleteNode",
	[VPSIE_RELEASE] = "RemoveFinalizer",
	[VPSIE_REMOVE] = "Delete",
	[VPSIE_CREATE] = "RequestWorker",
	[VPSIE_READ] = "ReadVM",
	[VPSIE_DRAIN] = "Drain",
	[VPSIE_DESTROY] = "DeleteVM",
};

void
vpsie_node_plan(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct vpsie_claimer *const c = vpsie_of(r);
	struct vpsienode_view v;

	forget_binding(c, vpsie_claim(c, i->work->key), i->work);
	vpsie_node_view_read(&v, c, i->work);
	if (!v.facts.exists) {
		*step = (struct reconcile_step){ .form = STEP_NOTHING, .verb = "nothing", .why = "it is gone",
			.forget = true };
		forget(c, i->work);
		return;
	}
	v.facts.stale = is_stale(&v);
	note_waiting(&v);
	count_attempt(&v);
	const struct vpsie_step s = vpsie_step(&v.facts);
	step->verb = vpsie_verb_name(s.verb);
	step->why = s.why;
	vpsie_write_object(&step->write, VPSIE_KIND_NODES, i->work, &v.object);
	step->write.action = actions[s.verb];
	perform(&v, i, &s, step);
	/* It keeps its turn only while it goes on: intent, request, answer. */
	if ((s.verb != VPSIE_INTEND && s.verb != VPSIE_CREATE) || step->form == STEP_WAIT)
		vpsie_turn_end(c, v.claim);
	if (step->form == STEP_WRITE && s.verb == VPSIE_MOVE && r->leading)
		send_event(&v, &s, &step->write);
}

/*
 * What was planned before is in the object by now, or will not be written any more: the object has another
 * resourceVersion. Until then a write without an answer may still arrive. What a POST returned stays.
 */
static void
forget_binding(struct vpsie_claimer *c, struct vpsienode_claim *claim, const struct work *w)
{
	struct change object;
	union msg_body value;

	if (claim->made || (claim->bind_id == 0 && claim->bind_identifier[0] == '\0'))
		return;
	if (actor_read(c->r.actor, LINK_KUBE_VPSIE, w->key, w->len, &object, &value)
	    && wire_str_is(object.rv, claim->bind_rv))
		return;
	claim->bind_id = 0;
	claim->bind_identifier[0] = '\0';
	vpsie_matching_changed(c);
}

static void
forget(struct vpsie_claimer *c, const struct work *w)
{
	drain_set_drop(c->drains, w->key);
	vpsie_turn_end(c, vpsie_claim(c, w->key));
	vpsie_forget(c->waiting, w->key, w->len);
	vpsie_forget(c->claims, w->key, w->len);
}

/* A Node that joins, a NodeGroup that changes or a POST that ends may concern it. */
static void
note_waiting(struct vpsienode_view *v)
{
	if (v->facts.phase <= PHASE_JOINING)
		keytab_add(v->c->waiting, v->work->key, v->work->len, NULL);
	else
		vpsie_forget(v->c->waiting, v->work->key, v->work->len);
}

static bool
is_stale(const struct vpsienode_view *v)
{
	struct node_status desired;

	if (v->now[0] == '\0' || v->facts.phase == PHASE_NEW || v->facts.phase == PHASE_OTHER)
		return false;
	vpsie_status_desire(&v->stored,
	    &(struct status_input){ .next = v->facts.phase,
		.generation = v->body.vpsie_node.generation,
		.now = wire_str_of(v->now),
		.machine = v->machine,
		.node = v->facts.node && v->facts.labelled ? v->fact->name : wire_str_of(""),
		.node_ready = v->facts.node_ready,
		.error_reason = v->error_reason,
		.error = v->error },
	    &desired);
	return vpsie_status_difference(&v->stored, &desired) != NULL;
}

/* ---- Steps ---- */

static void
perform(struct vpsienode_view *v, const struct reconcile_item *i, const struct vpsie_step *s,
    struct reconcile_step *step)
{
	struct vpsie_claimer *const c = v->c;

	if (v->facts.phase <= PHASE_PENDING && !v->facts.deleting
	    && strlen(step->write.name) > VPSIE_LABEL_MAX) {
		vpsie_wait_step(step,
		    "its name has more than 63 characters, which no label of a Node can hold: "
		    "create it with a shorter name",
		    0);
		return;
	}
	switch (s->verb) {
	case VPSIE_NOTHING:
		step->form = STEP_NOTHING;
		break;
	case VPSIE_WAIT:
		plan_wait(v, step);
		break;
	case VPSIE_CREATE:
		plan_create(v, step);
		break;
	case VPSIE_READ:
		plan_read(v, step);
		break;
	case VPSIE_DESTROY:
		plan_destroy(v, i, step);
		break;
	case VPSIE_REMOVE:
		plan_remove(v, i, step);
		break;
	case VPSIE_DRAIN:
		plan_drain(v, step);
		break;
	case VPSIE_INTEND:
		if (!v->listed && vpsie_plan_list(c, v->work, step))
			break;
		if (v->now_ms < v->claim->retry_ms) {
			vpsie_wait_step(step,
			    "the provider refused the last request; it is tried again later",
			    v->claim->retry_ms - v->now_ms);
			break;
		}
		if (v->now[0] != '\0' && !vpsie_turn_take(c, v->claim, v->cluster, v->group_id)) {
			vpsie_wait_step(step, "another worker of its group is being requested", 0);
			break;
		}
		/* fall through */
	default:
		if (s->verb == VPSIE_BIND && v->facts.phase == PHASE_FAILED && v->c->r.leading)
			reconcile_event(&v->c->r, &step->write, "Warning", "LateMachine",
			    wire_str_of("its machine came after provisioning-timeout: it is deleted "
					"with this VPSieNode"));
		step->form = STEP_WRITE;
		if (!vpsie_node_write(v, s, step))
			vpsie_wait_step(step, "the time of the cluster is not known yet", VPSIE_WAIT_MS);
		break;
	}
}

static void
plan_wait(struct vpsienode_view *v, struct reconcile_step *step)
{
	if (v->list_age_ms > 0 && !v->listed && vpsie_plan_list(v->c, v->work, step))
		return;
	step->form = STEP_WAIT;
	step->after_ms = wait_ms(v);
}

/* The turn comes last: whoever has it and waits would delay the others. */
static void
plan_create(struct vpsienode_view *v, struct reconcile_step *step)
{
	if (v->now_ms < v->claim->retry_ms) {
		vpsie_wait_step(step, "the last request failed; it is tried again later",
		    v->claim->retry_ms - v->now_ms);
		return;
	}
	plan_call_effect(v, CALL_ADD_WORKER, vpsie_call_create, "request worker", step);
	if (step->form == STEP_EFFECT && !vpsie_turn_take(v->c, v->claim, v->cluster, v->group_id))
		vpsie_wait_step(step, "another worker of its group is being requested", 0);
}

/* D18: the lists show it, too; only what they do not have is read by its id. */
static void
plan_read(struct vpsienode_view *v, struct reconcile_step *step)
{
	const int64_t due_ms = v->claim->read_ms + v->c->set.discovery_ms;

	if (!v->listed && vpsie_plan_list(v->c, v->work, step))
		return;
	if (v->machine != NULL || vpsie_node_view_id(v) <= 0)
		vpsie_wait_step(step, step->why, wait_ms(v));
	else if (v->claim->read_ms != 0 && v->now_ms < due_ms)
		vpsie_wait_step(step, step->why, due_ms - v->now_ms);
	else
		plan_call_effect(v, CALL_READ_VM, vpsie_call_read, "read VM", step);
}

static void
plan_destroy(struct vpsienode_view *v, const struct reconcile_item *i, struct reconcile_step *step)
{
	const int64_t deleted_ms = v->claim->deleted_ms;

	step->destroys = true;
	if (deleted_ms != 0 && v->now_ms - deleted_ms < VPSIE_DELETE_MS)
		vpsie_wait_step(step, "its machine is deleted, and still listed", v->c->set.discovery_ms);
	else if (v->now_ms < v->claim->retry_ms)
		vpsie_wait_step(step, "the provider refused to delete its machine; it is tried again later",
		    v->claim->retry_ms - v->now_ms);
	else if (plan_live(i, step))
		plan_call_effect(v,
		    vpsie_node_view_identifier(v).len > 0 && v->cluster.len > 0 ? CALL_DELETE_WORKER
										: CALL_DELETE_VM,
		    vpsie_call_destroy, "delete machine", step);
}

static void
plan_remove(struct vpsienode_view *v, const struct reconcile_item *i, struct reconcile_step *step)
{
	const struct brake_verdict brake =
	    brake_check(&v->c->brake, actor_fresh(v->c->r.actor, LINK_KUBE_VPSIE), v->now_ms);

	step->destroys = true;
	/* No list is needed for it: only the rate and the mirror count. */
	if (brake.reason == BRAKE_RATE || brake.reason == BRAKE_STALE) {
		meter_braked(brake.reason);
		vpsie_wait_step(step, brake_text(brake.reason), VPSIE_WAIT_MS);
		return;
	}
	if (!plan_live(i, step))
		return;
	if (brake.reason == BRAKE_RELEASED)
		brake_called(&v->c->brake, v->now_ms);
	step->form = STEP_WRITE;
	step->write.op = OP_DELETE;
}

static void
plan_drain(struct vpsienode_view *v, struct reconcile_step *step)
{
	drain_set_step(v->c->drains, v->work, &v->node, INT64_MAX, step);
	/* What was listed before is as old as the drain was long. */
	v->claim->after = v->c->list.begun;
}

/* A6: kube-watcher itself may be behind the API server. The plan that follows has the answer. */
static bool
plan_live(const struct reconcile_item *i, struct reconcile_step *step)
{
	if (i->live != NULL)
		return true;
	step->form = STEP_READ;
	step->verb = "read";
	step->why = "something is to be deleted: is it still wanted?";
	return false;
}

static void
plan_call_effect(struct vpsienode_view *v, enum vpsie_call call, effect_start *start, const char *what,
    struct reconcile_step *step)
{
	const struct vpsie_target t = { .cluster = v->cluster,
		.group_id = v->group_id,
		.id = vpsie_node_view_id(v),
		.identifier = vpsie_node_view_identifier(v) };

	if (!vpsie_plan_call(v->c, call, &t, step))
		return;
	step->form = STEP_EFFECT;
	step->what = what;
	step->start = start;
}

/* When something may have changed that nobody reports: a list has become too old, a time is over. */
static int64_t
wait_ms(const struct vpsienode_view *v)
{
	const struct vpsie_settings *const s = &v->c->set;
	int64_t next_ms = v->c->list.began_ms + v->list_age_ms;

	if (v->facts.phase == PHASE_FAILED && (s->failed_ttl_ms > 0 || v->list_age_ms == 0))
		return s->failed_ttl_ms > 0 ? s->confirm_ms : 0;
	if (v->list_age_ms == 0)
		return v->facts.deleting ? VPSIE_WAIT_MS : 0;
	if (v->claim->absence.seen && absence_due_ms(&v->claim->absence, s->confirm_ms) > next_ms)
		next_ms = absence_due_ms(&v->claim->absence, s->confirm_ms);
	if (v->facts.phase != PHASE_READY && next_ms > v->now_ms + s->discovery_ms)
		next_ms = v->now_ms + s->discovery_ms;
	return next_ms > v->now_ms ? next_ms - v->now_ms + 1 : 1;
}

/* ---- Reports ---- */

/* Each list in which its machine, or its Node, was searched for. */
static void
count_attempt(struct vpsienode_view *v)
{
	struct vpsienode_claim *const claim = v->claim;
	const bool seeks_node = v->facts.phase == PHASE_JOINING && !v->facts.node;

	if (!v->listed || claim->attempt == v->c->list.number)
		return;
	claim->attempt = v->c->list.number;
	if (v->facts.intent && !v->facts.identified && v->facts.sent)
		stat_add(stat_get(STAT_VPSIE_ATTEMPTS, ""), 1);
	claim->attempts = seeks_node ? claim->attempts + 1 : 0;
	if (claim->attempts < VPSIE_WARN_ATTEMPTS || claim->warned || !v->c->r.leading)
		return;
	struct reconcile_write about = { .kind = VPSIE_KIND_NODES };
	vpsie_write_object(&about, VPSIE_KIND_NODES, v->work, &v->object);
	about.action = "Join";
	claim->warned = true;
	reconcile_event(&v->c->r, &about, "Warning", "NodeNotFound",
	    wire_str_of("its machine runs, and no Node of the cluster has its address or hostname"));
}

/* Once per phase in this life: the write may have to be repeated. */
static void
send_event(struct vpsienode_view *v, const struct vpsie_step *s, const struct reconcile_write *about)
{
	const bool failed = s->next == PHASE_FAILED;
	char where[POST_KEY_MAX];
	int64_t since_us = v->cluster_us;

	if (v->claim->event_phase == s->next)
		return;
	v->claim->event_phase = s->next;
	reconcile_event(&v->c->r, about, failed ? "Warning" : "Normal", s->reason, wire_str_of(s->message));
	if (!failed)
		return;
	/* E1, and the fields of the seed's 11.4. */
	vpsie_post_key(where, v->cluster, v->group_id);
	time_parse(v->stored.created_at.p, v->stored.created_at.len, &since_us);
	log_error("a VPSieNode failed", KV_S(OBJECT, v->work->key), KV_S(REASON, s->reason),
	    KV_S(WHY, s->message), KV_S(VALUE, where),
	    KV_I(DURATION_MS, (v->cluster_us - since_us) / 1000),
	    KV_S(HINT,
		"delete the VPSieNode when its machine is not needed; docs/vpsie-claimer.md"));
	if (strcmp(s->reason, "DiscoveryTimeout") == 0)
		stat_add(stat_get(STAT_VPSIE_DISCOVERY, "outcome=\"timeout\""), 1);
}
