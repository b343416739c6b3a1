/* actors/vpsie-claimer/group_view.c - what one plan of a NodeGroup reads: mirrors and the last list. */
#include "group_view.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "obj.h"
#include "text_index.h"

static bool read_group(struct nodegroup_view *);
static void add_object(const struct change *, void *);
static void add_member(struct nodegroup_view *, const struct change *, struct wire_str);
static void add_namesake(struct nodegroup_view *, const struct change *, struct wire_str);
static void read_marks(struct nodegroup_view *, const struct body_vpsie_node *, struct group_member *);
static void apply_mark(struct wire_map, struct group_member *);
static void read_provider(struct nodegroup_view *);
static void decide(struct nodegroup_view *);
static void read_status(const struct body_node_group *, struct group_node *, struct group_status *);
static int64_t number_of(struct wire_str);
static id_before row_before;

struct nodegroup_view *
nodegroup_view_new(struct vpsie_claimer *c, const struct work *w)
{
	struct nodegroup_view *v = obj_alloc(sizeof(*v));

	v->c = c;
	v->work = w;
	v->claim = vpsie_group_claim(c, w->key);
	v->now_ms = clock_mono_ms();
	if (!read_group(v)) {
		nodegroup_view_free(&v);
		return NULL;
	}
	read_provider(v);
	decide(v);
	return v;
}

void
nodegroup_view_free(struct nodegroup_view **vp)
{
	struct nodegroup_view *const v = *vp;

	if (v == NULL)
		return;
	free(v->members);
	free(v->rows);
	free(v->sorted);
	free(v->order);
	free(v->spare);
	free(v->stored_rows);
	free(v);
	*vp = NULL;
}

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
	actor_each(v->c->r.actor, LINK_KUBE_VPSIE, add_object, v);
	v->in.members = v->members;
	v->in.nmembers = v->nmembers;
	return true;
}

static void
add_object(const struct change *change, void *arg)
{
	struct nodegroup_view *const v = arg;
	char key[OBJECT_KEY_MAX + 1];
	struct wire_str ns, name;

	if (change->type != MSG_VPSIE_NODE && change->type != MSG_NODE_GROUP)
		return;
	snprintf(key, sizeof(key), "%.*s", (int)change->key.len, change->key.p);
	vpsie_key_split(key, &ns, &name);
	const bool mine = wire_str_same(ns, v->ns);
	/* What is kept must outlive `key`: the name is the end of the mirror's own. */
	const struct wire_str kept = { change->key.p + (change->key.len - name.len), name.len };
	if (change->type == MSG_VPSIE_NODE && mine && wire_str_same(change->value->vpsie_node.group, v->name))
		add_member(v, change, kept);
	else if (change->type == MSG_NODE_GROUP && !mine && wire_str_same(kept, v->name))
		add_namesake(v, change, ns);
}

static void
add_member(struct nodegroup_view *v, const struct change *change, struct wire_str name)
{
	const struct body_vpsie_node *const b = &change->value->vpsie_node;

	if (v->nmembers == v->room) {
		v->room = v->room * 2 + 16;
		v->members = obj_realloc(v->members, v->room * sizeof(*v->members));
		v->rows = obj_realloc(v->rows, v->room * sizeof(*v->rows));
	}
	struct group_member *const m = &v->members[v->nmembers];
	*m = (struct group_member){ .name = name, .phase = vpsie_phase_of(b->phase),
		.deleting = b->deleted.len > 0 };
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

/*
 * A NodeGroup of the same name in another namespace: the platform finds a group by its name, so they share
 * it. Who has the earlier intent makes it; without intents, who has the lower namespace. A new group may be
 * in no list yet, so its number is taken from whoever has it.
 */
static void
add_namesake(struct nodegroup_view *v, const struct change *change, struct wire_str ns)
{
	const struct body_node_group *const b = &change->value->node_group;
	struct wire_str theirs = { "", 0 }, ours = { "", 0 };

	if (b->deleted.len > 0 || text_compare_folded(b->cluster, v->in.cluster) != 0)
		return;
	if (b->group_id > 0)
		v->shared_id = b->group_id;
	map_get(b->annotations, ANNOTATION_GROUP, &theirs);
	map_get(v->body.node_group.annotations, ANNOTATION_GROUP, &ours);
	const bool able = b->kube_size > 0 && b->min >= 0 && b->min <= b->max;
	const bool earlier = theirs.len > 0 && ours.len > 0 ? wire_str_compare(theirs, ours) < 0
	    : theirs.len > 0 || ours.len > 0                ? theirs.len > 0
							    : able && wire_str_compare(ns, v->ns) < 0;
	v->in.shared = v->in.shared || earlier;
}

/* D23: on the VPSieNode or on its Node, as label or annotation. */
static void
read_marks(struct nodegroup_view *v, const struct body_vpsie_node *b, struct group_member *m)
{
	char key[OBJECT_KEY_MAX + 1], name[254];
	struct change node;
	union msg_body value;

	apply_mark(b->annotations, m);
	apply_mark(b->labels, m);
	snprintf(name, sizeof(name), "%.*s", (int)b->joined_node.len, b->joined_node.p);
	if (name[0] == '\0' || !object_key(key, sizeof(key), "nodes", "", name))
		return;
	if (actor_read(v->c->r.actor, LINK_KUBE_VPSIE, key, strlen(key), &node, &value)) {
		apply_mark(value.node.vpsie, m);
		apply_mark(value.node.vpsie_labels, m);
	}
}

static void
apply_mark(struct wire_map map, struct group_member *m)
{
	struct wire_str value;

	if (map_get(map, "scale-down", &value)) {
		m->shed = m->shed || wire_str_is(value, "true");
		m->protected = m->protected || wire_str_is(value, "disabled");
	}
	if (map_get(map, "scale-down-disabled", &value))
		m->protected = m->protected || !wire_str_is(value, "false");
	if (map_get(map, "protected", &value))
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
	if (v->in.named == 0 && v->shared_id > 0) {
		v->in.named = 1;
		v->in.listed_id = v->shared_id;
	}
	if (v->in.listed && v->in.named == 0 && v->in.sent && c->list.began_ms
	    > intent_settled_ms(&v->claim->intent, call_effects_lease(&c->calls), c->calls.started_ms))
		v->in.absence = absence_observe(
		    &v->claim->absence, true, c->list.number, c->list.began_ms, c->set.confirm_ms, v->now_ms);
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
