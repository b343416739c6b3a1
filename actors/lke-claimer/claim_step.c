/* actors/lke-claimer/claim_step.c - the plan of a NodeClaim becomes a step. */
#include <stdio.h>
#include <string.h>

#include "actors/provider/meter.h"
#include "claimer.h"
#include "clock.h"
#include "kube/time.h"
#include "node_write.h"
#include "obj.h"

static void name_claim(struct claim_view *, struct reconcile_write *);
static bool write_status(struct claim_view *, struct reconcile_step *);
static void perform(struct claim_view *, const struct reconcile_item *, struct reconcile_step *, int64_t);
static void wait(struct claim_view *, struct reconcile_step *, int64_t);
static void tag(struct claim_view *, struct reconcile_step *);
static bool fill_tags(struct claim_view *, struct lke_tag_list *);
static void write_node(struct claim_view *, const struct reconcile_item *, struct reconcile_step *);
static void read_node(struct claim_view *, struct reconcile_step *);
static void name_node(struct claim_view *, struct reconcile_write *);
static void delete_claim(struct claim_view *, const struct reconcile_item *, struct reconcile_step *,
    int64_t);
static void drain(struct claim_view *, struct reconcile_step *);
static void remove_machine(struct claim_view *, const struct reconcile_item *, struct reconcile_step *,
    int64_t);
static void send_events(struct claim_view *, const struct reconcile_write *);
static void forget(struct lke_claimer *, const struct work *);

/* What a write is called in the Event about its refusal. */
static const char *const actions[CLAIM_VERB_MAX] = {
	[CLAIM_NOTHING] = "Reconcile", [CLAIM_WAIT] = "Wait", [CLAIM_LEAVE] = "Leave",
	[CLAIM_FINALIZE] = "AddFinalizer", [CLAIM_RESERVE] = "Reserve", [CLAIM_TAG] = "Tag",
	[CLAIM_LAUNCH] = "Launch", [CLAIM_REGISTER] = "Register", [CLAIM_INITIALIZE] = "Initialize",
	[CLAIM_DELETE] = "Delete", [CLAIM_SET_DEADLINE] = "SetTerminationTime",
	    [CLAIM_DELETE_NODE] = "DeleteNode",
	[CLAIM_DRAIN] = "Drain", [CLAIM_REMOVE] = "Remove", [CLAIM_RELEASE_NODE] = "ReleaseNode",
	[CLAIM_RELEASE] = "RemoveFinalizer",
};

void
claim_plan(struct lke_claimer *c, const struct reconcile_item *i, struct reconcile_step *step)
{
	const int64_t now_ms = clock_mono_ms();
	struct claim_view v;

	claim_view_read(&v, c, i->work, i->live, i->read, now_ms);
	lke_claim_plan(&v.in, &v.plan);
	meters_claim(&v);
	step->verb = lke_claim_verb_name(v.plan.verb);
	step->why = v.plan.why;
	if (!v.in.exists) {
		step->forget = true;
		forget(c, i->work);
		return;
	}
	name_claim(&v, &step->write);
	step->write.action = actions[v.plan.verb];
	send_events(&v, &step->write);
	/* Its finalizer comes before everything else, and what is not ours is not touched. */
	if (v.plan.verb == CLAIM_NOTHING && (!v.in.ours || (v.in.deleting && !v.in.finalizer)))
		return;
	if (v.plan.verb == CLAIM_LEAVE)
		return;
	/* Its pool does not wait for the status that is written first. */
	if (v.plan.verb == CLAIM_WAIT && !v.in.launched && !v.in.deleting && v.memory->pool_key[0] != '\0')
		claimer_enqueue(c, v.memory->pool_key);
	if (v.plan.verb != CLAIM_FINALIZE && write_status(&v, step))
		return;
	perform(&v, i, step, now_ms);
}

/* The object of the step, whatever its form: Events are about it. */
static void
name_claim(struct claim_view *v, struct reconcile_write *w)
{
	*w = (struct reconcile_write){ .kind = LKE_KIND_CLAIMS, .trace = v->work->trace };
	snprintf(w->name, sizeof(w->name), "%s", v->work->key + strlen(LKE_CLAIM_KEYS));
	snprintf(w->uid, sizeof(w->uid), "%.*s", (int)v->object.uid.len, v->object.uid.p);
}

/* True: the status differs, and writing it is the step. */
static bool
write_status(struct claim_view *v, struct reconcile_step *step)
{
	struct lke_status status;
	char now[TIME_TEXT_MAX] = "";
	int64_t cluster_us = 0;

	if (!cluster_now_us(v->c, &cluster_us)) {
		*step = (struct reconcile_step){ .form = STEP_WAIT, .verb = "wait", .write = step->write,
			.why = "the time of the cluster is not known yet", .after_ms = RECONCILE_REQUEUE_MS };
		return true;
	}
	time_format(cluster_us, now, sizeof(now));
	lke_status(&(struct lke_status_input){ .claim = &v->in, .plan = &v->plan, .message = v->message,
	    .generation = v->body.node_claim.generation,
	    .now = wire_str_of(now), .stored = v->stored, .nstored = v->nstored }, &status);
	if (status.full || (!status.differs && v->plan.verb != CLAIM_LAUNCH))
		return false;
	if (v->plan.verb == CLAIM_LAUNCH && v->type == NULL) {
		*step = (struct reconcile_step){ .form = STEP_WAIT, .verb = "wait", .write = step->write,
			.why = "the instance types of the region have not been read" };
		observe_types(v->c, v->work, step, clock_mono_ms());
		return true;
	}
	step->form = STEP_WRITE;
	step->field = "status.conditions";
	claim_write_status(v, &status, &step->write);
	return true;
}

static void
perform(struct claim_view *v, const struct reconcile_item *i, struct reconcile_step *step, int64_t now_ms)
{
	struct claim_memory *const m = v->memory;

	m->removable = m->removable && v->plan.verb == CLAIM_REMOVE;
	switch (v->plan.verb) {
	case CLAIM_FINALIZE:
	case CLAIM_RELEASE:
		step->form = STEP_WRITE;
		claim_write_finalizers(v, v->plan.verb == CLAIM_FINALIZE, &step->write);
		break;
	case CLAIM_RESERVE:
		step->form = STEP_WRITE;
		claim_write_reserve(v, &step->write);
		break;
	case CLAIM_TAG:
		tag(v, step);
		break;
	case CLAIM_REGISTER:
	case CLAIM_INITIALIZE:
	case CLAIM_RELEASE_NODE:
		write_node(v, i, step);
		break;
	case CLAIM_DELETE:
		delete_claim(v, i, step, now_ms);
		break;
	case CLAIM_SET_DEADLINE:
		step->form = claim_write_deadline(v, &step->write) ? STEP_WRITE : STEP_NOTHING;
		break;
	case CLAIM_DELETE_NODE:
		step->form = STEP_WRITE;
		step->destroys = true;
		name_node(v, &step->write);
		step->write.op = OP_DELETE;
		break;
	case CLAIM_DRAIN:
		drain(v, step);
		break;
	case CLAIM_REMOVE:
		remove_machine(v, i, step, now_ms);
		break;
	case CLAIM_NOTHING:
	case CLAIM_WAIT:
	case CLAIM_LEAVE:
	case CLAIM_LAUNCH:
	case CLAIM_VERB_MAX:
		wait(v, step, now_ms);
		break;
	}
}

/* The plan of its pool gives it a machine; what that needs is read here. */
static void
wait(struct claim_view *v, struct reconcile_step *step, int64_t now_ms)
{
	const bool waits = !v->in.launched && !v->in.deleting;

	step->form = v->plan.verb == CLAIM_NOTHING ? STEP_NOTHING : STEP_WAIT;
	if (v->due_ms != INT64_MAX) {
		step->form = STEP_WAIT;
		step->after_ms = v->due_ms > now_ms ? v->due_ms - now_ms : 1;
	}
	const bool needs_types = v->in.tagged || (v->in.nodepool && v->in.class_found);
	if (waits && needs_types && observe_types_due(v->c, now_ms))
		observe_types(v->c, v->work, step, now_ms);
	else if (waits && v->in.tag_in_flight)
		step->after_ms = LKE_VERIFY_MS;
	if (v->in.tag_in_flight && v->c->list.number <= v->memory->tag_list)
		claimer_enqueue(v->c, LKE_PROVIDER_KEY);
	if (v->list_due && v->c->r.leading)
		observe_list(v->c, v->work, step, now_ms);
}

/* ---- The tag of its machine ---- */

static void
tag(struct claim_view *v, struct reconcile_step *step)
{
	struct lke_order *const o = &v->c->order;

	o->instance = v->in.launched ? v->machine : v->in.reserved;
	if (!fill_tags(v, &o->tags)) {
		step->form = STEP_WAIT;
		step->why = "its machine has more tags than fit: remove some of them";
		return;
	}
	step->form = STEP_EFFECT;
	step->what = "tag machine";
	step->number = o->instance;
	step->start = call_tag;
}

/* C15: those of others are kept as the newest snapshot has them. */
static bool
fill_tags(struct claim_view *v, struct lke_tag_list *l)
{
	const char *const name = v->work->key + strlen(LKE_CLAIM_KEYS);
	const struct lke_instance *const i = snapshot_instance(v->c->snapshot, v->c->order.instance);
	const enum lke_tag_style style = v->c->settings.style;
	struct wire_str nodepool, cells[ROWS_COLUMNS_MAX];
	struct wire_rows tags = v->has_class ? v->class.linode_class.tags : (struct wire_rows){ .count = 0 };

	*l = (struct lke_tag_list){ .n = 0 };
	bool fits = i != NULL && map_get(v->body.node_claim.labels, LKE_NODEPOOL_LABEL, &nodepool)
	    && lke_tag_list_add(l, style, LKE_TAG_CLAIM, wire_str_of(name))
	    && lke_tag_list_add(l, style, LKE_TAG_NODEPOOL, nodepool)
	    && lke_tag_list_add(l, style, LKE_TAG_MANAGED, wire_str_of(LKE_TAG_TRUE))
	    && lke_tag_list_add(l, style, LKE_TAG_NODECLASS, v->body.node_claim.class_name)
	    && lke_tag_list_add(l, style, LKE_TAG_CLUSTER, wire_str_of(v->c->cluster.label));
	while (fits && rows_next(&tags, cells))
		fits = lke_tag_list_keep(l, cells[0]);
	return fits && lke_tag_list_merge(l, i->tags.tags, i->tags.n);
}

/* ---- Its Node ---- */

/* From the Node as it is now: a merge patch replaces lists whole. */
static void
write_node(struct claim_view *v, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct lke_claimer *const c = v->c;
	struct live_node n;
	size_t len;

	if (i->live == NULL || i->read->kind != LKE_KIND_NODES) {
		read_node(v, step);
		return;
	}
	const bool there = i->live->nitems == 1 && i->live->items[0].type == MSG_RAW;
	const struct wire_str json = there ? i->live->items[0].value->raw.json : (struct wire_str){ "", 0 };
	if (!live_node_read(&n, json)) {
		live_node_free(&n);
		step->form = STEP_WAIT;
		step->why = "its Node is not there any more";
		step->after_ms = RECONCILE_REQUEUE_MS;
		return;
	}
	const struct body_node_claim *const b = &v->body.node_claim;
	char uid[128];
	snprintf(uid, sizeof(uid), "%.*s", (int)v->object.uid.len, v->object.uid.p);
	if (v->plan.verb == CLAIM_REGISTER)
		len = node_write_register(c->r.body, sizeof(c->r.body), &n, &(struct node_registration){
		    .claim = v->work->key + strlen(LKE_CLAIM_KEYS), .claim_uid = uid, .labels = b->labels,
		    .annotations = b->annotations, .taints = b->taints,
		    .startup_taints = b->startup_taints });
	else if (v->plan.verb == CLAIM_INITIALIZE)
		len = node_write_label(c->r.body, sizeof(c->r.body), &n, LKE_INITIALIZED_LABEL, "true");
	else
		len = node_write_release(c->r.body, sizeof(c->r.body), &n);
	if (v->plan.verb == CLAIM_REGISTER && !n.unregistered)
		reconcile_event(&c->r, &step->write, "Warning", "UnregisteredTaintMissing",
		    wire_str_of("its Node joined without the taint karpenter.sh/unregistered"));
	MUST(len > 0);
	name_node(v, &step->write);
	snprintf(step->write.uid, sizeof(step->write.uid), "%s", n.uid);
	snprintf(step->write.rv, sizeof(step->write.rv), "%s", n.rv);
	step->form = STEP_WRITE;
	step->write.op = OP_MERGE;
	step->write.body_len = len;
	/* node-state publishes nothing of finalizers. */
	step->write.unseen = v->plan.verb == CLAIM_RELEASE_NODE;
	live_node_free(&n);
}

static void
read_node(struct claim_view *v, struct reconcile_step *step)
{
	step->form = STEP_READ;
	step->verb = "read";
	name_node(v, &step->write);
}

static void
name_node(struct claim_view *v, struct reconcile_write *w)
{
	const size_t prefix = strlen("nodes/");
	const char *const action = w->action;

	*w = (struct reconcile_write){ .kind = LKE_KIND_NODES, .trace = v->work->trace, .action = action };
	snprintf(w->name, sizeof(w->name), "%.*s", (int)(v->node.key.len - prefix), v->node.key.p + prefix);
	snprintf(w->uid, sizeof(w->uid), "%.*s", (int)v->node.uid.len, v->node.uid.p);
}

/* ---- The end of it ---- */

/* A6: what it decides by itself obeys the brake, and the claim is read before. */
static void
delete_claim(struct claim_view *v, const struct reconcile_item *i, struct reconcile_step *step,
    int64_t now_ms)
{
	const bool own = strcmp(v->plan.event, "NodeDeleted") != 0;
	int64_t retry_at_ms = 0;

	if (own && claimer_braked(v->c, now_ms, &retry_at_ms)) {
		step->form = STEP_WAIT;
		step->why =
		    "the brake: as many deletions as one window allows have started, or a list is doubtful";
		step->after_ms = retry_at_ms == INT64_MAX ? LKE_APART_MS : retry_at_ms - now_ms + 1;
		return;
	}
	if (i->live == NULL || i->read->kind != LKE_KIND_CLAIMS) {
		step->form = STEP_READ;
		step->verb = "read";
		return;
	}
	if (own)
		brake_called(&v->c->brake, now_ms);
	step->form = STEP_WRITE;
	step->destroys = true;
	step->write.op = OP_DELETE;
}

static void
drain(struct claim_view *v, struct reconcile_step *step)
{
	drain_set_step(v->c->drains, v->work, &v->node, v->deadline_ms, step);
	const int64_t left_ms = v->due_ms == INT64_MAX ? INT64_MAX : v->due_ms - clock_mono_ms();
	if (left_ms != INT64_MAX && (step->after_ms == 0 || left_ms < step->after_ms))
		step->after_ms = left_ms > 0 ? left_ms : 1;
}

/* The plan of its pool deletes the machine, once the claim was read live (A6). */
static void
remove_machine(struct claim_view *v, const struct reconcile_item *i, struct reconcile_step *step,
    int64_t now_ms)
{
	struct claim_memory *const m = v->memory;

	if (i->live != NULL && i->read->kind == LKE_KIND_CLAIMS)
		m->read_ms = now_ms;
	if (m->read_ms == 0 || now_ms - m->read_ms > LKE_LIVE_MS) {
		step->form = STEP_READ;
		step->verb = "read";
		step->why = "its machine is to be deleted: is the NodeClaim?";
		return;
	}
	m->removable = true;
	step->form = STEP_WAIT;
	step->after_ms = LKE_LIVE_MS / 2;
	if (m->pool_key[0] != '\0')
		claimer_enqueue(v->c, m->pool_key);
	else
		claimer_enqueue(v->c, LKE_PROVIDER_KEY);
}

/* Once, when it begins: the journal has the plan before. */
static void
send_events(struct claim_view *v, const struct reconcile_write *about)
{
	struct lke_claimer *const c = v->c;
	const struct journal_entry *const before = journal_find(c->r.journal, v->work->key, v->work->len);

	if (!c->r.leading)
		return;
	if (v->plan.event != NULL && (before == NULL || before->why != v->plan.why)) {
		const bool detailed = v->message != NULL && v->plan.verb != CLAIM_LEAVE;

		meters_warning(v->plan.event);
		reconcile_event(&c->r, about, "Warning", v->plan.event,
		    wire_str_of(detailed ? v->message : v->plan.why));
	}
	if (!v->in.launched && v->in.ours && c->failure != v->memory->failure) {
		v->memory->failure = c->failure;
		if (c->failure != NULL) {
			meters_warning("ProviderFailed");
			reconcile_event(&c->r, about, "Warning", "ProviderFailed", wire_str_of(c->failure));
		}
	}
}

static void
forget(struct lke_claimer *c, const struct work *w)
{
	const uint32_t id = keytab_find(c->claims, w->key, w->len);

	drain_set_drop(c->drains, w->key);
	if (id == KEYTAB_NONE)
		return;
	free(*(struct claim_memory **)keytab_value(c->claims, id));
	keytab_remove(c->claims, id);
}
