/* actors/vpsie-claimer/group_key.c - one NodeGroup: what group.c decides becomes a step. */
#include <stdio.h>
#include <string.h>

#include "vpsie.h"
#include "clock.h"
#include "group_status.h"
#include "kube/time.h"
#include "log.h"
#include "obj.h"
#include "random.h"
#include "text_index.h"

enum { MISSING_MS = 60 * 1000 };	/* between lists for a cluster that the provider does not have */

/* Everything that one plan reads. Texts are views of the mirrors. */
struct nodegroup_view {
	struct vpsie_claimer		*c;
	const struct work	*work;
	struct nodegroup_claim	*claim;
	struct wire_str		 ns, name;
	struct change		 object;
	union msg_body		 body;
	struct group_input	 in;
	struct group_member	*members;
	struct group_node	*rows, *sorted;
	uint32_t		 nmembers, room;
	uint32_t		*order, *spare;
	struct group_plan	 plan;
	struct group_node	*stored_rows;
	struct group_status	 stored, desired;
	const char		*error;		/* a call fails for now; or NULL */
	int64_t			 now_ms, cluster_us;
	char			 now[TIME_TEXT_MAX];
};

static bool read_group(struct nodegroup_view *);
static void add_member(const struct change *, void *);
static void read_marks(struct nodegroup_view *, const struct body_vpsie_node *, struct group_member *);
static void apply_mark(struct wire_map, const char *, struct group_member *);
static void read_provider(struct nodegroup_view *);
static void decide(struct nodegroup_view *);
static void read_status(const struct body_node_group *, struct group_node *, struct group_status *);
static int64_t number_of(struct wire_str);
static id_before row_before;
static void perform(struct nodegroup_view *, const struct reconcile_item *, struct reconcile_step *);
static void plan_status(struct nodegroup_view *, struct reconcile_step *);
static void plan_metadata(struct nodegroup_view *, struct reconcile_step *);
static void plan_new(struct nodegroup_view *, struct reconcile_step *);
static void plan_remove(struct nodegroup_view *, const struct reconcile_item *, struct reconcile_step *);
static void plan_make(struct nodegroup_view *, struct reconcile_step *);
static void put_vpsienode(struct nodegroup_view *, const char *);
static void put_list(struct json *, const char *, struct wire_rows);
static void send_warning(struct nodegroup_view *, const struct reconcile_write *);
static void free_view(struct nodegroup_view *);

void
vpsie_group_plan_key(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct nodegroup_view *const v = obj_alloc(sizeof(*v));
	struct vpsie_claimer *const c = vpsie_of(r);

	v->c = c;
	v->work = i->work;
	v->claim = vpsie_group_claim(c, i->work->key);
	v->now_ms = clock_mono_ms();
	if (!read_group(v)) {
		*step = (struct reconcile_step){ .form = STEP_NOTHING, .verb = "nothing",
			.why = "it does not exist", .forget = true };
		vpsie_forget(c->groups, i->work->key, i->work->len);
		free_view(v);
		return;
	}
	read_provider(v);
	decide(v);
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
	free_view(v);
}

/* ---- Input ---- */

static bool
read_group(struct nodegroup_view *v)
{
	const struct body_node_group *const b = &v->body.node_group;
	const struct fence_lease *const lease = call_effects_lease(&v->c->calls);
	struct wire_str intent = { "", 0 };

	v->in.exists = actor_read(
	    v->c->r.actor, LINK_KUBE_VPSIE, v->work->key, v->work->len, &v->object, &v->body);
	if (!v->in.exists)
		return false;
	if (actor_cluster_time_us(v->c->r.actor, LINK_KUBE_VPSIE, &v->cluster_us))
		time_format(v->cluster_us, v->now, sizeof(v->now));
	vpsie_key_split(v->work->key, &v->ns, &v->name);
	map_get(b->annotations, ANNOTATION_GROUP, &intent);
	const enum intent_state state = intent_state(&v->claim->intent, intent, lease);
	v->in.deleting = b->deleted.len > 0;
	v->in.finalizer = rows_have(b->finalizers, NODE_GROUP_FINALIZER);
	v->in.name = v->name;
	v->in.cluster = b->cluster;
	v->in.min = b->min;
	v->in.max = b->max;
	v->in.desired = b->desired;
	/* Absent and 0 are the same here: both become minNodes. */
	v->in.has_desired = b->desired > 0;
	v->in.kube_size = b->kube_size;
	v->in.group_id = b->group_id;
	v->in.intent = state != INTENT_NONE;
	v->in.sent = state == INTENT_SENT;
	actor_each(v->c->r.actor, LINK_KUBE_VPSIE, add_member, v);
	v->in.members = v->members;
	v->in.nmembers = v->nmembers;
	return true;
}

static void
add_member(const struct change *change, void *arg)
{
	struct nodegroup_view *const v = arg;
	const struct body_vpsie_node *const b = &change->value->vpsie_node;
	struct wire_str ns, name;
	char key[OBJECT_KEY_MAX + 1];

	if (change->type != MSG_VPSIE_NODE || !wire_str_same(b->group, v->name))
		return;
	snprintf(key, sizeof(key), "%.*s", (int)change->key.len, change->key.p);
	vpsie_key_split(key, &ns, &name);
	if (!wire_str_same(ns, v->ns))
		return;
	if (v->nmembers == v->room) {
		v->room = v->room * 2 + 16;
		v->members = obj_realloc(v->members, v->room * sizeof(*v->members));
		v->rows = obj_realloc(v->rows, v->room * sizeof(*v->rows));
	}
	struct group_member *const m = &v->members[v->nmembers];
	/* The view must outlive `key`: the name is the end of the mirror's own. */
	*m = (struct group_member){ .name = { change->key.p + (change->key.len - name.len), name.len },
		.phase = vpsie_phase_of(b->phase), .deleting = b->deleted.len > 0 };
	time_parse(b->created.p, b->created.len, &m->created_us);
	read_marks(v, b, m);
	v->rows[v->nmembers++] = (struct group_node){ .node_name = b->joined_node,
		.id = b->id,
		.type = b->type,
		.phase = b->phase,
		.created_at = b->created_at,
		.ready_at = b->ready_at,
		.address = b->address };
}

/* D23: on the VPSieNode or on its Node, as label or annotation. */
static void
read_marks(struct nodegroup_view *v, const struct body_vpsie_node *b, struct group_member *m)
{
	char key[OBJECT_KEY_MAX + 1], name[254];
	struct change node;
	union msg_body value;

	apply_mark(b->annotations, "", m);
	apply_mark(b->labels, "", m);
	snprintf(name, sizeof(name), "%.*s", (int)b->joined_node.len, b->joined_node.p);
	if (name[0] == '\0' || !object_key(key, sizeof(key), "nodes", "", name))
		return;
	if (actor_read(v->c->r.actor, LINK_KUBE_VPSIE, key, strlen(key), &node, &value))
		apply_mark(value.node.vpsie, "", m);
	if (actor_read(v->c->r.actor, LINK_FACTS, key, strlen(key), &node, &value))
		apply_mark(value.node_fact.labels, VPSIE_GROUP "/", m);
}

static void
apply_mark(struct wire_map map, const char *prefix, struct group_member *m)
{
	char key[96];
	struct wire_str value;

	snprintf(key, sizeof(key), "%sscale-down", prefix);
	if (map_get(map, key, &value)) {
		m->shed = m->shed || wire_str_is(value, "true");
		m->protected = m->protected || wire_str_is(value, "disabled");
	}
	snprintf(key, sizeof(key), "%sscale-down-disabled", prefix);
	if (map_get(map, key, &value))
		m->protected = m->protected || !wire_str_is(value, "false");
	snprintf(key, sizeof(key), "%sprotected", prefix);
	if (map_get(map, key, &value))
		m->protected = m->protected || !wire_str_is(value, "false");
}

static void
read_provider(struct nodegroup_view *v)
{
	struct vpsie_claimer *const c = v->c;
	const struct wire_str cluster = v->in.cluster;
	uint32_t n = 0;

	v->in.listed = shared_list_usable(&c->list, v->claim->after, c->set.discovery_ms, v->now_ms);
	v->in.cluster_missing = cluster.len > 0 && c->missing != NULL
	    && keytab_find(c->missing, cluster.p, cluster.len) != KEYTAB_NONE;
	const struct vpsie_group *const rows =
	    c->machines != NULL ? vpsie_list_group_rows(c->machines, &n) : NULL;
	for (uint32_t i = 0; i < n; i++) {
		if (!rows[i].deleted && wire_str_same(rows[i].name, v->name)
		    && text_compare_folded(rows[i].cluster, cluster) == 0) {
			v->in.named++;
			v->in.listed_id = rows[i].id;
		}
	}
	if (v->in.listed && v->in.named == 0 && v->in.sent && c->list.began_ms
	    > intent_settled_ms(&v->claim->intent, call_effects_lease(&c->calls), c->calls.started_ms))
		v->in.absence = absence_observe(
		    &v->claim->absence, true, c->list.number, c->set.confirm_ms, v->now_ms);
	if (v->claim->error[0] != '\0')
		v->error = v->claim->error;
	else if (c->list_error[0] != '\0' && c->list.failures >= VPSIE_FAILURES)
		v->error = c->list_error;
	else if (vpsie_credential_error(c->credential)[0] != '\0')
		v->error = vpsie_credential_error(c->credential);
}

/* The status depends on the plan, and the plan on whether the status differs. */
static void
decide(struct nodegroup_view *v)
{
	const uint32_t n = v->nmembers + 1;

	v->order = obj_alloc(n * sizeof(*v->order));
	v->spare = obj_alloc(n * sizeof(*v->spare));
	v->sorted = obj_alloc(n * sizeof(*v->sorted));
	v->stored_rows = obj_alloc((GROUP_NODES_MAX + 1) * sizeof(*v->stored_rows));
	for (uint32_t i = 0; i < v->nmembers; i++)
		v->order[i] = i;
	id_sort(v->order, v->spare, v->nmembers, row_before, v->members);
	for (uint32_t i = 0; i < v->nmembers; i++)
		v->sorted[i] = v->rows[v->order[i]];
	group_plan(&v->in, v->order, v->spare, &v->plan);
	read_status(&v->body.node_group, v->stored_rows, &v->stored);
	group_status_desire(&v->stored, &v->plan, v->body.node_group.generation, "VPSieAPIError", v->error,
	    wire_str_of(v->now), &v->desired);
	v->desired.nodes = v->sorted;
	v->desired.nnodes = v->nmembers < GROUP_NODES_MAX ? v->nmembers : GROUP_NODES_MAX;
	v->in.stale = group_status_difference(&v->stored, &v->desired) != NULL;
	group_plan(&v->in, v->order, v->spare, &v->plan);
	/* A list that fails is reported before another one is tried. */
	if (v->plan.verb == GROUP_LIST && v->in.stale && v->error != NULL)
		v->plan.verb = GROUP_STATUS;
}

/* What is there; nodes: room for GROUP_NODES_MAX + 1, so that a longer list never equals ours. */
static void
read_status(const struct body_node_group *b, struct group_node *nodes, struct group_status *out)
{
	struct wire_rows left = b->nodes;
	struct wire_str cells[ROWS_COLUMNS_MAX];

	*out = (struct group_status){ .desired = b->desired, .current = b->current, .ready = b->ready,
		.group_id = b->group_id, .observed = b->observed, .nodes = nodes };
	while (out->nnodes <= GROUP_NODES_MAX && rows_next(&left, cells))
		nodes[out->nnodes++] = (struct group_node){ .node_name = cells[0], .id = number_of(cells[1]),
			.type = cells[2], .phase = cells[3], .created_at = cells[4], .ready_at = cells[5],
			.address = cells[6] };
	out->nconditions = vpsie_conditions_read(b->conditions, out->conditions, out->updated);
}

/* As the mirror has it: 0 is empty. */
static int64_t
number_of(struct wire_str s)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < s.len && i < 18; i++)
		n = n * 10 + (s.p[i] - '0');
	return n;
}

static bool
row_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct group_member *const m = arg;

	return wire_str_compare(m[a].name, m[b].name) < 0;
}

/* ---- Steps ---- */

static void
perform(struct nodegroup_view *v, const struct reconcile_item *i, struct reconcile_step *step)
{
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
		vpsie_wait_step(step, step->why,
		    v->in.sent && v->plan.group_id <= 0 ? v->c->set.discovery_ms : 0);
		if (v->in.sent && v->plan.group_id <= 0 && !v->in.listed)
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

static void
free_view(struct nodegroup_view *v)
{
	free(v->members);
	free(v->rows);
	free(v->sorted);
	free(v->order);
	free(v->spare);
	free(v->stored_rows);
	free(v);
}
