/* actors/vpsie-claimer/group_key.c - one NodeGroup: what group.c decides becomes a step. */
#include <stdio.h>
#include <string.h>

#include "group_view.h"
#include "log.h"
#include "obj.h"
#include "random.h"

enum { MISSING_MS = 60 * 1000 };	/* between lists for a cluster that the provider does not have */

static void perform(struct nodegroup_view *, const struct reconcile_item *, struct reconcile_step *);
static void plan_status(struct nodegroup_view *, struct reconcile_step *);
static void plan_metadata(struct nodegroup_view *, struct reconcile_step *);
static void plan_new(struct nodegroup_view *, struct reconcile_step *);
static void plan_remove(struct nodegroup_view *, const struct reconcile_item *, struct reconcile_step *);
static void plan_make(struct nodegroup_view *, struct reconcile_step *);
static void put_vpsienode(struct nodegroup_view *, const char *);
static void put_list(struct json *, const char *, struct wire_rows);
static void send_warning(struct nodegroup_view *, const struct reconcile_write *);

void
vpsie_group_plan_key(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct vpsie_claimer *const c = vpsie_of(r);
	struct nodegroup_view *v = nodegroup_view_new(c, i->work);

	if (v == NULL) {
		*step = (struct reconcile_step){ .form = STEP_NOTHING, .verb = "nothing",
			.why = "it does not exist", .forget = true };
		vpsie_forget(c->groups, i->work->key, i->work->len);
		return;
	}
	step->verb = group_verb_name(v->plan.verb);
	step->why = v->plan.why;
	vpsie_write_object(&step->write, VPSIE_KIND_GROUPS, i->work, &v->object);
	step->write.action = "Reconcile";
	if (v->now[0] == '\0')
		vpsie_wait_step(step, "the time of the cluster is not known yet", VPSIE_WAIT_MS);
	else
		perform(v, i, step);
	if (r->leading)
		send_warning(v, &step->write);
	nodegroup_view_free(&v);
}

/* ---- Steps ---- */

static void
perform(struct nodegroup_view *v, const struct reconcile_item *i, struct reconcile_step *step)
{
	const bool awaits_group = v->plan.group_id <= 0 && (v->in.sent || v->in.shared);

	switch (v->plan.verb) {
	case GROUP_HOLD:
	case GROUP_RELEASE:
	case GROUP_INTEND:
		plan_metadata(v, step);
		break;
	case GROUP_STATUS:
		plan_status(v, step);
		break;
	case GROUP_CREATE:
		plan_new(v, step);
		break;
	case GROUP_REMOVE:
		plan_remove(v, i, step);
		break;
	case GROUP_LIST:
		if (!vpsie_plan_list(v->c, v->work, step))
			vpsie_wait_step(step, step->why, VPSIE_WAIT_MS);
		break;
	case GROUP_MAKE:
		plan_make(v, step);
		break;
	default:
		vpsie_wait_step(step, step->why, awaits_group ? v->c->set.discovery_ms : 0);
		if (awaits_group && !v->in.listed)
			vpsie_plan_list(v->c, v->work, step);
		/* A cluster, or a group, may be made or corrected at the provider. */
		if (v->plan.reason[0] != '\0' && v->in.min <= v->in.max && v->in.cluster.len > 0) {
			step->after_ms = MISSING_MS;
			if (!shared_list_usable(&v->c->list, v->claim->after, MISSING_MS, v->now_ms))
				vpsie_plan_list(v->c, v->work, step);
		}
		break;
	}
}

static void
plan_status(struct nodegroup_view *v, struct reconcile_step *step)
{
	struct json j = { .buf = v->c->r.body, .size = sizeof(v->c->r.body) };
	struct reconcile_write *const w = &step->write;

	step->form = STEP_WRITE;
	step->field = group_status_difference(&v->stored, &v->desired);
	w->op = OP_MERGE;
	w->subresource = "status";
	w->action = "UpdateStatus";
	snprintf(w->rv, sizeof(w->rv), "%.*s", (int)v->object.rv.len, v->object.rv.p);
	json_open(&j, NULL, '{');
	group_status_put(&j, &v->desired);
	json_close(&j, '}');
	w->body_len = json_end(&j);
	MUST(w->body_len > 0);
}

static void
plan_metadata(struct nodegroup_view *v, struct reconcile_step *step)
{
	struct json j = { .buf = v->c->r.body, .size = sizeof(v->c->r.body) };
	struct reconcile_write *const w = &step->write;
	uint64_t unique;

	step->form = STEP_WRITE;
	w->op = OP_MERGE;
	snprintf(w->rv, sizeof(w->rv), "%.*s", (int)v->object.rv.len, v->object.rv.p);
	json_open(&j, NULL, '{');
	json_open(&j, "metadata", '{');
	if (v->plan.verb == GROUP_INTEND) {
		random_secret(&unique, sizeof(unique));
		intent_begin(&v->claim->intent, call_effects_lease(&v->c->calls), v->cluster_us, unique);
		json_open(&j, "annotations", '{');
		json_str(&j, VPSIE_GROUP "/" ANNOTATION_GROUP, v->claim->intent.text);
		json_close(&j, '}');
	} else {
		body_finalizers(&j, v->body.node_group.finalizers, NODE_GROUP_FINALIZER,
		    v->plan.verb == GROUP_HOLD);
	}
	json_close(&j, '}');
	json_close(&j, '}');
	w->body_len = json_end(&j);
	MUST(w->body_len > 0);
}

/* One at a time: the answer is in the mirror before the next one is planned. */
static void
plan_new(struct nodegroup_view *v, struct reconcile_step *step)
{
	struct reconcile_write *const w = &step->write;
	char name[VPSIENODE_NAME_MAX];
	bool taken = true;

	for (uint32_t number = 0; taken; number++) {
		group_vpsienode_name(name, v->name, v->object.uid, v->object.rv, number);
		taken = false;
		for (uint32_t i = 0; i < v->nmembers; i++)
			taken = taken || wire_str_is(v->members[i].name, name);
	}
	put_vpsienode(v, name);
	step->form = STEP_WRITE;
	*w = (struct reconcile_write){ .op = OP_CREATE, .kind = VPSIE_KIND_NODES, .action = "Create",
		.trace = v->work->trace, .body_len = strlen(v->c->r.body) };
	snprintf(w->ns, sizeof(w->ns), "%.*s", (int)v->ns.len, v->ns.p);
	snprintf(w->name, sizeof(w->name), "%s", name);
}

static void
plan_remove(struct nodegroup_view *v, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct reconcile_write *const w = &step->write;
	const struct wire_str name = v->members[v->order[0]].name;
	struct change member;
	union msg_body value;
	char key[OBJECT_KEY_MAX + 1];

	step->destroys = true;
	if (i->live == NULL) {
		step->form = STEP_READ;
		step->verb = "read";
		step->why = "a VPSieNode is to be deleted: does its NodeGroup still want that?";
		return;
	}
	step->form = STEP_WRITE;
	w->op = OP_DELETE;
	w->kind = VPSIE_KIND_NODES;
	w->action = "Remove";
	snprintf(w->name, sizeof(w->name), "%.*s", (int)name.len, name.p);
	if (object_key(key, sizeof(key), VPSIE_NODES, w->ns, w->name)
	    && actor_read(v->c->r.actor, LINK_KUBE_VPSIE, key, strlen(key), &member, &value))
		snprintf(w->uid, sizeof(w->uid), "%.*s", (int)member.uid.len, member.uid.p);
}

static void
plan_make(struct nodegroup_view *v, struct reconcile_step *step)
{
	const struct vpsie_target t = { .cluster = v->in.cluster, .group_name = v->name,
		.kube_size = v->in.kube_size };

	if (v->now_ms < v->claim->retry_ms) {
		vpsie_wait_step(step, "the provider refused to make its group; it is tried again later",
		    v->claim->retry_ms - v->now_ms);
		return;
	}
	if (!vpsie_plan_call(v->c, CALL_MAKE_GROUP, &t, step))
		return;
	step->form = STEP_EFFECT;
	step->what = "make group";
	step->start = vpsie_call_make_group;
}

static void
put_vpsienode(struct nodegroup_view *v, const char *name)
{
	const struct body_node_group *const b = &v->body.node_group;
	struct json j = { .buf = v->c->r.body, .size = sizeof(v->c->r.body) };
	struct wire_rows offerings = b->offerings;
	struct wire_str cells[ROWS_COLUMNS_MAX] = { { "", 0 } };
	const struct wire_str type = b->preferred.len > 0 ? b->preferred
	    : rows_next(&offerings, cells) ? cells[0] : wire_str_of("");

	json_open(&j, NULL, '{');
	json_str(&j, "apiVersion", v->c->r.kinds[VPSIE_KIND_NODES].api);
	json_str(&j, "kind", "VPSieNode");
	json_open(&j, "metadata", '{');
	json_str(&j, "name", name);
	body_text(&j, "namespace", v->ns);
	json_open(&j, "labels", '{');
	json_str(&j, VPSIE_GROUP "/managed", "true");
	body_text(&j, VPSIE_GROUP "/nodegroup", v->name);
	json_close(&j, '}');
	json_open(&j, "finalizers", '[');
	json_str(&j, NULL, VPSIE_NODE_FINALIZER);
	json_close(&j, ']');
	json_close(&j, '}');
	json_open(&j, "spec", '{');
	body_text(&j, "nodeGroupName", v->name);
	body_text(&j, "instanceType", type);
	body_text(&j, "datacenterID", b->datacenter);
	body_text(&j, "resourceIdentifier", b->cluster);
	body_text(&j, "project", b->project);
	body_text(&j, "osImageID", b->image);
	body_text(&j, "kubernetesVersion", b->kubernetes);
	put_list(&j, "sshKeyIDs", b->ssh_keys);
	json_int(&j, "vpsieGroupID", v->plan.group_id);
	json_close(&j, '}');
	json_close(&j, '}');
	MUST(json_end(&j) > 0);
}

static void
put_list(struct json *j, const char *name, struct wire_rows left)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	json_open(j, name, '[');
	while (rows_next(&left, cells))
		body_text(j, NULL, cells[0]);
	json_close(j, ']');
}

/* Once, when it begins. */
static void
send_warning(struct nodegroup_view *v, const struct reconcile_write *about)
{
	const bool valid = v->plan.reason[0] == '\0';
	const char *const reason = !valid ? v->plan.reason : v->error != NULL ? "VPSieAPIError" : NULL;
	struct reconcile_write w = *about;

	if (reason == v->claim->event_reason)
		return;
	v->claim->event_reason = reason;
	if (reason == NULL)
		return;
	vpsie_write_object(&w, VPSIE_KIND_GROUPS, v->work, &v->object);
	w.action = "Reconcile";
	reconcile_event(&v->c->r, &w, "Warning", reason, wire_str_of(valid ? v->error : v->plan.message));
	log_warnx("a NodeGroup cannot be served", KV_S(OBJECT, v->work->key), KV_S(REASON, reason),
	    KV_S(WHY, valid ? v->error : v->plan.message));
}
