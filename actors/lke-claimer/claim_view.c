/* actors/lke-claimer/claim_view.c - a NodeClaim, its machine and its Node, as mirrors and lists have them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "kube/time.h"
#include "node_write.h"
#include "spec_json.h"

static bool read_object(struct claim_view *);
static void renew_memory(struct claim_view *);
static void read_needs(struct claim_view *);
static void read_class(struct claim_view *);
static void read_type(struct claim_view *, int64_t);
static void resolve(struct claim_view *, int64_t);
static void read_machine(struct claim_view *, int64_t);
static void observe_machine(struct claim_view *, const struct lke_instance *, int64_t);
static void read_node(struct claim_view *, const struct write_result *, const struct reconcile_write *);
static enum lke_uninitialized uninitialized(const struct claim_view *, const struct live_node *);
static void read_times(struct claim_view *, int64_t);
static void read_deadline(struct claim_view *, int64_t, int64_t);
static bool timed_out(struct claim_view *, struct absence *, int64_t, int64_t, int64_t, int64_t);
static void set_pool_key(struct claim_view *);
static bool is_true(const struct claim_view *, const char *);

void
claim_view_read(struct claim_view *v, struct lke_claimer *c, const struct work *w,
    const struct write_result *live, const struct reconcile_write *read, int64_t now_ms)
{
	*v = (struct claim_view){ .c = c, .work = w, .memory = claim_memory(c, w->key), .due_ms = INT64_MAX,
		.deadline_ms = INT64_MAX };
	if (!read_object(v) || !v->in.ours || v->in.foreign)
		return;
	read_class(v);
	read_machine(v, now_ms);
	read_type(v, now_ms);
	read_needs(v);
	read_node(v, live, read);
	read_times(v, now_ms);
	set_pool_key(v);
	v->memory->gone_id = v->in.machine_gone ? v->machine : 0;
	v->memory->wants = v->in.finalizer && v->in.nodepool && v->in.class_ready
	    && v->in.catalogue && v->in.resolved == LKE_RESOLVED;
}

static bool
read_object(struct claim_view *v)
{
	const struct body_node_claim *const b = &v->body.node_claim;
	struct wire_str text;

	v->in.exists = actor_read(v->c->r.actor, LINK_KUBE_LKE_CLAIMER, v->work->key, v->work->len,
	    &v->object,
	    &v->body);
	if (!v->in.exists)
		return false;
	renew_memory(v);
	v->nstored = conditions_of(b->conditions, v->stored, LKE_CONDITIONS_MAX);
	v->in.ours = wire_str_is(b->class_group, LINODE_GROUP) && wire_str_is(b->class_kind,
	    "LinodeNodeClass");
	v->in.deleting = b->deleted.len > 0;
	v->in.finalizer = rows_have(b->finalizers, LKE_TERMINATION);
	v->provider_id = provider_id_read(b->provider_id);
	if (map_get(b->annotations, LKE_RESERVED_ANNOTATION, &text))
		v->in.reserved = wire_int(text);
	/* Ours has a reservation before it has any of these (C16). */
	v->in.foreign = v->in.reserved == 0 && (b->provider_id.len > 0 || is_true(v, "Launched"));
	v->in.launched = v->provider_id != 0 && is_true(v, "Launched");
	v->in.registered = is_true(v, "Registered");
	v->in.initialized = is_true(v, "Initialized");
	v->in.grace_period = b->grace_period.len > 0;
	v->in.deadline = map_get(b->annotations, LKE_DEADLINE_ANNOTATION, &text)
	    && time_parse(text.p, text.len, &v->deadline_us);
	return true;
}

/* That the one before was gone may not have been seen: its drain and its times are not those of this one. */
static void
renew_memory(struct claim_view *v)
{
	struct claim_memory *const m = v->memory;

	if (wire_str_is(v->object.uid, m->uid))
		return;
	drain_set_drop(v->c->drains, v->work->key);
	*m = (struct claim_memory){ .assigned = 0 };
	snprintf(m->uid, sizeof(m->uid), "%.*s", (int)v->object.uid.len, v->object.uid.p);
}

static void
read_needs(struct claim_view *v)
{
	struct wire_str nodepool;
	struct change found;
	union msg_body body;
	char key[OBJECT_KEY_MAX + 1];

	if (map_get(v->body.node_claim.labels, LKE_NODEPOOL_LABEL, &nodepool) && nodepool.len > 0) {
		const int n = snprintf(key, sizeof(key), "nodepools/%.*s", (int)nodepool.len, nodepool.p);

		v->in.nodepool = n > 0 && (size_t)n < sizeof(key) && actor_read(v->c->r.actor,
		    LINK_KUBE_LKE_CLAIMER, key, (size_t)n, &found, &body);
	}
	const struct pool_memory *const p = v->memory->pool_key[0] == '\0' ? NULL
	    : pool_memory(v->c, v->memory->pool_key);
	v->in.violation = p != NULL ? p->violation : NULL;
	v->in.provider_failed = v->c->failure != NULL;
	v->message = v->c->failure != NULL ? v->c->failure
	    : v->in.catalogue && v->in.resolved != LKE_RESOLVED ? v->memory->message
	    : p != NULL && p->failure[0] != '\0' ? p->failure : NULL;
}

static void
read_class(struct claim_view *v)
{
	struct lke_condition stored[LKE_CONDITIONS_MAX];
	const struct wire_str name = v->body.node_claim.class_name;
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), LKE_CLASS_KEYS "%.*s", (int)name.len, name.len > 0 ? name.p
	    : "");

	v->has_class = n > 0 && (size_t)n < sizeof(key)
	    && actor_read(v->c->r.actor, LINK_KUBE_LKE_CLAIMER, key, (size_t)n, &v->class_object, &v->class);
	v->in.class_found = v->has_class;
	if (!v->has_class)
		return;
	const uint32_t count = conditions_of(v->class.linode_class.conditions, stored, LKE_CONDITIONS_MAX);
	const struct lke_condition *const ready = condition_find(stored, count, "Ready");
	v->in.class_ready = ready != NULL && wire_str_is(ready->status, "True");
}

/* ---- Its type ---- */

/* Of the machine that it has; else the cheapest that fits. */
static void
read_type(struct claim_view *v, int64_t now_ms)
{
	struct claim_memory *const m = v->memory;
	const struct lke_instance *const i = v->machine != 0 && v->c->snapshot != NULL
	    ? snapshot_instance(v->c->snapshot, v->machine) : NULL;
	struct wire_str label;

	v->in.catalogue = v->c->types_ms != 0;
	if (i != NULL) {
		snprintf(m->type, sizeof(m->type), "%s", i->type);
		m->resolved = LKE_RESOLVED;
	} else if (v->machine != 0 && map_get(v->body.node_claim.labels, lke_label_key(LKE_LABEL_TYPE),
	    &label)) {
		snprintf(m->type, sizeof(m->type), "%.*s", (int)label.len, label.p);
		m->resolved = LKE_RESOLVED;
	} else if (v->in.catalogue && !v->in.deleting) {
		resolve(v, now_ms);
	}
	v->in.resolved = m->resolved;
	v->type = claimer_type(v->c, m->type);
	v->in.labelled = v->type != NULL;
	for (unsigned l = 0; v->type != NULL && l < LKE_LABEL_MAX; l++) {
		char value[LKE_LABEL_SIZE];

		if (lke_label_value(value, v->type, v->c->cluster.region, (enum lke_label)l) > 0
		    && !map_get(v->body.node_claim.labels, lke_label_key((enum lke_label)l), &label))
			v->in.labelled = false;
	}
}

static void
resolve(struct claim_view *v, int64_t now_ms)
{
	struct claim_memory *const m = v->memory;
	const struct lke_sizing sizing = claim_sizing(v);
	struct lke_request requests[64];
	struct lke_requirements wanted;
	struct lke_resolution found;
	struct wire_map left = v->body.node_claim.requests;
	uint32_t n = 0;

	m->type[0] = '\0';
	if (!requirements_read(&wanted, v->body.node_claim.requirements, m->message, sizeof(m->message))) {
		m->resolved = LKE_INVALID;
		requirements_free(&wanted);
		return;
	}
	while (n < 64 && map_next(&left, &requests[n].name, &requests[n].quantity))
		n++;
	lke_resolve(&(struct lke_resolve_input){ .region = v->c->cluster.region, .types = v->c->types.types,
	    .ntypes = v->c->types.n, .sizing = &sizing, .requirements = wanted.list,
	    .nrequirements = wanted.n,
	    .requests = requests, .nrequests = n, .now_ms = now_ms }, &found);
	m->resolved = found.result;
	snprintf(m->message, sizeof(m->message), "%s", found.message);
	if (found.result == LKE_RESOLVED)
		snprintf(m->type, sizeof(m->type), "%s", found.type->id);
	requirements_free(&wanted);
}

/* The key of its pool; its claims are decided together. */
static void
set_pool_key(struct claim_view *v)
{
	struct claim_memory *const m = v->memory;
	struct wire_str nodepool = { "", 0 };
	char value[LKE_TAG_SIZE], key[LKE_KEY_SIZE];

	m->pool_key[0] = '\0';
	map_get(v->body.node_claim.labels, LKE_NODEPOOL_LABEL, &nodepool);
	if (nodepool.len == 0 || m->type[0] == '\0')
		return;
	lke_tag_value(value, LKE_TAG_NODEPOOL, nodepool);
	if (lke_key_put(key, wire_str_of(value), wire_str_of(m->type)) > 0)
		snprintf(m->pool_key, sizeof(m->pool_key), LKE_POOL_KEYS "%s", key);
}

/* ---- Its machine ---- */

static void
read_machine(struct claim_view *v, int64_t now_ms)
{
	const char *const name = v->work->key + strlen(LKE_CLAIM_KEYS);
	struct lke_claimer *const c = v->c;
	struct claim_memory *const m = v->memory;
	const struct lke_instance *first = NULL;

	const unsigned tagged = c->snapshot == NULL ? 0
	    : lke_claim_machines(c->snapshot, wire_str_of(name), &first);
	v->in.tagged = tagged == 1;
	v->in.assigned = m->assigned;
	v->machine = v->provider_id != 0 ? v->provider_id : tagged > 0 ? first->id : v->in.reserved;
	/* A tag without a reservation here: another incarnation wrote it, or somebody else. */
	if (tagged == 1 && v->in.assigned == 0)
		v->in.assigned = first->id;
	/* A machine that was deleted meanwhile is not listed: its tag is not waited for. */
	const struct machine_memory *const machine = machine_memory_find(c, v->machine);
	v->in.tag_in_flight = !v->in.tagged && m->tag_ms != 0 && now_ms - m->tag_ms < c->settings.verify_ms
	    && (machine == NULL || !machine->deleted);
	if (v->in.tag_in_flight)
		v->due_ms = m->tag_ms + c->settings.verify_ms;
	if (v->machine == 0 || c->snapshot == NULL)
		return;
	const struct lke_instance *const i = snapshot_instance(c->snapshot, v->machine);
	observe_machine(v, i, now_ms);
	v->in.tag_lost = v->in.launched && i != NULL && !i->leaving && tagged == 0
	    && c->list.number > m->tag_list
	    && lke_tags_have(i->tags.tags, i->tags.n, LKE_TAG_CLAIM, wire_str_of(name)) == false;
}

/* Gone: two lists apart do not have it, or one that began after the API had answered our own deletion. */
static void
observe_machine(struct claim_view *v, const struct lke_instance *i, int64_t now_ms)
{
	struct lke_claimer *const c = v->c;
	struct absence *const a = &v->memory->machine;
	const struct machine_memory *const machine = machine_memory_find(c, v->machine);

	if (claimer_doubtful(c, now_ms)) {
		*a = (struct absence){ .seen = false };
		return;
	}
	const bool deleted = machine != NULL && machine->deleted && c->list.number > machine->deleted_list;
	v->in.machine_gone = absence_observe(a, i == NULL, c->list.number, c->list.began_ms, LKE_APART_MS,
	    now_ms) == ABSENCE_CONFIRMED || (deleted && i == NULL);
	if (!a->seen || v->in.machine_gone)
		return;
	/* From then on only another list confirms it: planning again would change nothing. */
	const int64_t due_ms = absence_due_ms(a, LKE_APART_MS);
	if (due_ms <= now_ms)
		v->list_due = true;
	else if (due_ms < v->due_ms)
		v->due_ms = due_ms;
}

/* ---- Its Node ---- */

static void
read_node(struct claim_view *v, const struct write_result *live, const struct reconcile_write *read)
{
	struct live_node node = { .root = NULL };
	bool known = false;

	/* One that is deleted before it is launched may have a Node, which is drained. */
	const int64_t machine = v->provider_id == 0 && v->in.deleting ? v->machine : v->provider_id;

	provider_id_put(v->provider_text, machine);
	v->in.node_finalizer = true;
	const enum drain_verb drain = drain_set_state(v->c->drains, v->work->key);
	v->in.drained = drain_set_pods_gone(v->c->drains, v->work->key);
	v->in.volumes_detached = drain == DRAIN_DONE;
	v->in.drain_over = drain == DRAIN_GAVE_UP;
	if (machine == 0)
		return;
	const struct wire_str id = wire_str_of(v->provider_text);
	const char *const key = id_index_key(v->c->nodes, id);
	if (key == NULL || !actor_read(v->c->r.actor, LINK_FACTS, key, strlen(key), &v->node, &v->fact))
		return;
	const struct body_node_fact *const b = &v->fact.node_fact;
	struct wire_str label;
	v->in.nodes = id_index_count(v->c->nodes, id);
	v->in.node_ready = b->ready;
	v->in.node_deleting = b->deleted.len > 0;
	v->in.node_registered = map_get(b->labels, LKE_REGISTERED_LABEL, &label) && wire_str_is(label,
	    "true");
	v->in.node_initialized = map_get(b->labels, LKE_INITIALIZED_LABEL, &label) && wire_str_is(label,
	    "true");
	if (live != NULL && read->kind == LKE_KIND_NODES && live->nitems == 1
	    && live->items[0].type == MSG_RAW)
		known = live_node_read(&node, live->items[0].value->raw.json);
	if (known) {
		v->in.node_finalizer = node.finalizer;
		/* What node-state published may be older (A11); none of it is written again (C10). */
		v->in.node_registered = v->in.node_registered || live_node_labelled(&node,
		    LKE_REGISTERED_LABEL);
		v->in.node_initialized = v->in.node_initialized || live_node_labelled(&node,
		    LKE_INITIALIZED_LABEL);
	}
	v->in.uninitialized = uninitialized(v, known ? &node : NULL);
	live_node_free(&node);
}

/* In Karpenter's order. live: the Node as JSON; NULL: its resources are not known. */
static enum lke_uninitialized
uninitialized(const struct claim_view *v, const struct live_node *live)
{
	static const char *const ephemeral[] = { "node.kubernetes.io/not-ready",
	    "node.kubernetes.io/unreachable",
		"node.cloudprovider.kubernetes.io/uninitialized", LKE_UNREGISTERED_TAINT };
	const struct body_node_fact *const b = &v->fact.node_fact;
	struct wire_str on_node[ROWS_COLUMNS_MAX], wanted[ROWS_COLUMNS_MAX];

	if (!b->ready)
		return LKE_NODE_NOT_READY;
	for (struct wire_rows left = v->body.node_claim.startup_taints; rows_next(&left, wanted);) {
		for (struct wire_rows taints = b->taints; rows_next(&taints, on_node);) {
			if (wire_str_same(wanted[0], on_node[0]) && wire_str_same(wanted[2], on_node[2]))
				return LKE_STARTUP_TAINTS;
		}
	}
	for (unsigned i = 0; i < sizeof(ephemeral) / sizeof(ephemeral[0]); i++) {
		if (rows_have(b->taints, ephemeral[i]))
			return LKE_EPHEMERAL_TAINTS;
	}
	if (live != NULL && !live_node_allocates(live, v->body.node_claim.requests))
		return LKE_RESOURCE_MISSING;
	return LKE_INITIALIZED;
}

/* ---- Its times ---- */

static void
read_times(struct claim_view *v, int64_t now_ms)
{
	const struct body_node_claim *const b = &v->body.node_claim;
	struct lke_claimer *const c = v->c;
	struct claim_memory *const m = v->memory;
	const struct lke_condition *const registered = condition_find(v->stored, v->nstored, "Registered");
	const int64_t takeover_ms = fence_takeover_ms(call_effects_lease(&c->calls));
	int64_t cluster_us, created_us, since_us;

	v->in.took_over = now_ms < takeover_ms;
	if (v->in.deleting && v->in.took_over && takeover_ms < v->due_ms)
		v->due_ms = takeover_ms;
	if (m->first_ms == 0 && v->in.finalizer)
		m->first_ms = now_ms;
	const int64_t late_ms = m->first_ms + c->settings.create_ms;
	v->in.create_deadline = m->first_ms != 0 && now_ms >= late_ms;
	if (!v->in.launched && m->first_ms != 0 && now_ms < late_ms && late_ms < v->due_ms)
		v->due_ms = late_ms;
	if (!cluster_now_us(c, &cluster_us) || !time_parse(b->created.p, b->created.len, &created_us))
		return;
	if (registered == NULL || !time_parse(registered->time.p, registered->time.len, &since_us))
		since_us = created_us;
	if (!v->in.launched)
		v->in.launch_timeout = timed_out(v, &m->launch, created_us, c->settings.launch_ms,
		    cluster_us, now_ms);
	else if (!v->in.registered)
		v->in.registration_timeout =
		    timed_out(v, &m->registration, since_us, c->settings.registration_ms, cluster_us, now_ms);
	if (v->in.deleting && v->in.deadline)
		read_deadline(v, cluster_us, now_ms);
}

static void
read_deadline(struct claim_view *v, int64_t cluster_us, int64_t now_ms)
{
	struct claim_deadline *const d = &v->memory->deadline;
	const int64_t at_ms = now_ms + (v->deadline_us - cluster_us) / 1000;

	if (d->observed_ms == 0)
		*d = (struct claim_deadline){ .observed_ms = now_ms, .at_ms = at_ms, .used_ms = INT64_MAX };
	if (now_ms - d->observed_ms >= LKE_APART_MS) {
		d->used_ms = at_ms > d->at_ms ? at_ms : d->at_ms;
		d->observed_ms = now_ms;
		d->at_ms = at_ms;
	}
	v->deadline_ms = d->used_ms;
	v->in.grace_elapsed = now_ms >= d->used_ms;
	const int64_t due_ms = d->used_ms == INT64_MAX ? d->observed_ms + LKE_APART_MS : d->used_ms;
	if (now_ms < due_ms && due_ms < v->due_ms)
		v->due_ms = due_ms;
}

/* A9: by cluster time, and two observations apart in monotonic time. */
static bool
timed_out(struct claim_view *v, struct absence *a, int64_t since_us, int64_t limit_ms, int64_t cluster_us,
    int64_t now_ms)
{
	const int64_t left_ms = limit_ms - (cluster_us - since_us) / 1000;

	if (limit_ms == 0)
		return false;
	const enum absence_verdict late =
	    absence_observe(a, left_ms <= 0, (uint64_t)now_ms, now_ms, LKE_APART_MS, now_ms);
	const int64_t due_ms = left_ms > 0 ? now_ms + left_ms + 1 : absence_due_ms(a, LKE_APART_MS) + 1;
	if (late != ABSENCE_CONFIRMED && due_ms < v->due_ms)
		v->due_ms = due_ms;
	return late == ABSENCE_CONFIRMED;
}

/* ---- Conditions ---- */

uint32_t
conditions_of(struct wire_rows rows, struct lke_condition *out, uint32_t most)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];
	uint32_t n = 0;

	while (n < most && rows_next(&rows, cells)) {
		out[n++] = (struct lke_condition){ .type = cells[0], .status = cells[1], .reason = cells[2],
			.message = cells[3], .time = cells[4], .generation = wire_int(cells[5]) };
	}
	return n;
}

const struct lke_condition *
condition_find(const struct lke_condition *c, uint32_t n, const char *type)
{
	for (uint32_t i = 0; i < n; i++) {
		if (wire_str_is(c[i].type, type))
			return &c[i];
	}
	return NULL;
}

static bool
is_true(const struct claim_view *v, const char *type)
{
	const struct lke_condition *const c = condition_find(v->stored, v->nstored, type);

	return c != NULL && wire_str_is(c->status, "True");
}
