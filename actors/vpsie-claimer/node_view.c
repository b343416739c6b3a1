/* actors/vpsie-claimer/node_view.c - a VPSieNode, its machine, its Node, as mirrors and lists have them. */
#include <string.h>

#include "vpsie.h"
#include "clock.h"
#include "kube/time.h"
#include "obj.h"
#include "text_index.h"

static bool read_object(struct vpsienode_view *);
static void read_status(const struct body_vpsie_node *, struct node_status *);
static void read_request(struct vpsienode_view *);
static void read_request_time(struct vpsienode_view *);
static void read_match(struct vpsienode_view *);
static void read_machine(
    struct vpsienode_view *, const struct discover_match *, const struct discover_input *);
static void read_node(struct vpsienode_view *);
static void observe_absence(struct vpsienode_view *);
static void read_times(struct vpsienode_view *);
static void read_errors(struct vpsienode_view *);
static int64_t list_age(const struct vpsienode_view *);
static int64_t time_us(struct wire_str);
static int64_t failed_since(const struct vpsienode_view *);

void
vpsie_node_view_read(struct vpsienode_view *v, struct vpsie_claimer *c, const struct work *w)
{
	*v = (struct vpsienode_view){ .c = c, .work = w, .claim = vpsie_claim(c, w->key),
		.now_ms = clock_mono_ms() };
	if (!read_object(v))
		return;
	if (actor_cluster_time_us(c->r.actor, LINK_KUBE_VPSIE, &v->cluster_us))
		time_format(v->cluster_us, v->now, sizeof(v->now));
	read_request(v);
	read_request_time(v);
	v->list_age_ms = list_age(v);
	v->listed = v->list_age_ms > 0
	    && shared_list_usable(&c->list, v->claim->after, v->list_age_ms, v->now_ms);
	read_match(v);
	read_times(v);
	read_errors(v);
}

int64_t
vpsie_node_view_id(const struct vpsienode_view *v)
{
	const int64_t id = v->body.vpsie_node.id > 0 ? v->body.vpsie_node.id : v->claim->bind_id;

	return id > 0 ? id : v->machine != NULL ? v->machine->id : 0;
}

struct wire_str
vpsie_node_view_identifier(const struct vpsienode_view *v)
{
	struct wire_str s = v->body.vpsie_node.identifier;

	if (s.len == 0)
		s = wire_str_of(v->claim->bind_identifier);
	return s.len == 0 && v->machine != NULL ? v->machine->identifier : s;
}

int64_t
vpsie_node_request_us(const struct body_vpsie_node *b)
{
	struct wire_str text;
	int64_t us = 0;

	if (map_get(b->annotations, ANNOTATION_REQUEST, &text)) {
		const char *const blank = memchr(text.p, ' ', text.len);

		time_parse(text.p, blank != NULL ? (size_t)(blank - text.p) : text.len, &us);
	}
	return us > 0 ? us : time_us(b->created);
}

/* One of the original has no such annotation: its Failed ones are left alone (D22). */
bool
vpsie_node_timed_out(const struct body_vpsie_node *b)
{
	struct wire_rows left = b->conditions;
	struct wire_str cells[ROWS_COLUMNS_MAX], text;

	if (vpsie_phase_of(b->phase) != PHASE_FAILED || !map_get(b->annotations, ANNOTATION_REQUEST, &text))
		return false;
	while (rows_next(&left, cells)) {
		if (wire_str_is(cells[0], "Error"))
			return wire_str_is(cells[2], "DiscoveryTimeout");
	}
	return false;
}

/* default_ip, else ip, else private_ip: the first that there is. Returns the name of the spec's field. */
const char *
vpsie_machine_address(const struct machine *m, struct wire_str *out)
{
	static const unsigned order[] = { 0, 2, 1 };

	*out = wire_str_of("");
	for (size_t i = 0; i < NITEMS(order) && out->len == 0; i++)
		*out = m->addresses[order[i]];
	return "ipAddress";
}

bool
vpsie_machine_runs(const struct machine *m)
{
	return m->status.len == 0 || text_compare_folded(m->status, wire_str_of("running")) == 0;
}

struct wire_str
vpsie_machine_address6(const struct machine *m)
{
	return m->addresses[3];
}

static bool
read_object(struct vpsienode_view *v)
{
	struct wire_str ns, name, text;
	struct vpsie_facts *const f = &v->facts;
	const struct body_vpsie_node *const b = &v->body.vpsie_node;

	f->exists = actor_read(
	    v->c->r.actor, LINK_KUBE_VPSIE, v->work->key, v->work->len, &v->object, &v->body);
	if (!f->exists)
		return false;
	read_status(b, &v->stored);
	f->deleting = b->deleted.len > 0;
	f->finalizer = rows_have(b->finalizers, VPSIE_NODE_FINALIZER);
	f->phase = v->stored.phase;
	f->intent = map_get(b->annotations, ANNOTATION_REQUESTED, &text) && wire_str_is(text, "true");
	/* One of the original may have nothing but an address and a hostname for life (D22). */
	f->identified = b->id > 0 || b->identifier.len > 0
	    || (f->phase >= PHASE_PROVISIONED && (b->address.len > 0 || b->hostname.len > 0));
	f->named = b->joined_node.len > 0;
	vpsie_key_split(v->work->key, &ns, &name);
	vpsie_matching_group(v->c, ns, b, &v->cluster, &v->datacenter, &v->group_id);
	f->groupless = v->group_id <= 0 || v->cluster.len == 0
	    || (v->c->missing != NULL
		&& keytab_find(v->c->missing, v->cluster.p, v->cluster.len) != KEYTAB_NONE);
	return true;
}

static void
read_status(const struct body_vpsie_node *b, struct node_status *out)
{
	*out = (struct node_status){
		.phase = vpsie_phase_of(b->phase), .node_name = b->joined_node, .vps_status = b->vps_status,
		.hostname = b->hostname, .last_error = b->last_error, .cpu = b->cpu,
		.memory_mb = b->memory_mb, .disk_gb = b->disk_gb, .traffic_gb = b->traffic_gb,
		.observed = b->observed, .created_at = b->created_at, .provisioned_at = b->provisioned_at,
		.joined_at = b->joined_at, .ready_at = b->ready_at, .terminating_at = b->terminating_at,
		.deleted_at = b->deleted_at,
	};
	out->nconditions = vpsie_conditions_read(b->conditions, out->conditions, out->updated);
}

/* A request of the original, or of an earlier life, may have been sent: it is never repeated. */
static void
read_request(struct vpsienode_view *v)
{
	const struct fence_lease *const lease = call_effects_lease(&v->c->calls);
	struct wire_str text = { "", 0 };

	map_get(v->body.vpsie_node.annotations, ANNOTATION_REQUEST, &text);
	v->facts.took_over = v->now_ms < fence_takeover_ms(lease);
	v->facts.sent = v->facts.intent && intent_state(&v->claim->intent, text, lease) != INTENT_OPEN;
	/* What came of the request is known once an id or a UUID is: only before that it may still appear. */
	if (v->facts.sent && v->body.vpsie_node.id <= 0 && v->body.vpsie_node.identifier.len == 0)
		v->settled_ms = intent_settled_ms(&v->claim->intent, lease, v->c->calls.started_ms);
	v->facts.refused = v->claim->refused && v->facts.intent && !v->facts.sent;
	v->facts.capacity = v->facts.refused && v->claim->capacity;
}

/*
 * Whether its machine, if there is one, was made by now; it may be listed later. That stays so when the clock
 * moves back. Before the matching, which depends on it.
 */
static void
read_request_time(struct vpsienode_view *v)
{
	struct vpsienode_claim *const claim = v->claim;
	const struct vpsie_settings *const s = &v->c->set;
	const bool before = claim->request_over;

	if (v->now[0] == '\0')
		return;
	claim->request_over = v->facts.intent
	    && (before || vpsie_expired(&claim->request, vpsie_node_request_us(&v->body.vpsie_node),
		s->provisioning_ms, v->cluster_us, s->confirm_ms, v->now_ms));
	if (!v->facts.intent)
		claim->request = (struct absence){ .seen = false };
	if (claim->request_over != before)
		vpsie_matching_changed(v->c);
}

static void
read_match(struct vpsienode_view *v)
{
	const struct discover_result *result;
	const struct discover_input *const in = vpsie_matching_input(v->c, &result);
	const uint32_t i = vpsie_matching_find(v->c, v->work->key);

	if (i == DISCOVER_NONE)
		return;
	const struct discover_match *const m = &result->matches[i];
	if (v->listed)
		read_machine(v, m, in);
	/* A Node that came with a machine of the matching counts only as long as that machine does. */
	if (m->fact != DISCOVER_NONE && (v->listed || v->facts.identified || v->facts.named))
		v->fact = &in->facts[m->fact];
	read_node(v);
}

static void
read_machine(struct vpsienode_view *v, const struct discover_match *m, const struct discover_input *in)
{
	const struct body_vpsie_node *const b = &v->body.vpsie_node;
	struct wire_str address;

	v->how = m->how;
	if (m->machine != DISCOVER_NONE && !in->machines[m->machine].deleted) {
		v->machine = &in->machines[m->machine];
		vpsie_machine_address(v->machine, &address);
		const struct wire_str address6 = vpsie_machine_address6(v->machine);
		v->facts.listed = true;
		v->facts.running = vpsie_machine_runs(v->machine);
		v->facts.found = b->id <= 0 && b->identifier.len == 0;
		v->facts.moved = (address.len > 0 && !wire_str_same(address, b->address))
		    || (address6.len > 0 && !wire_str_same(address6, b->address6))
		    || (b->id <= 0 && v->machine->id > 0)
		    || (b->identifier.len == 0 && v->machine->identifier.len > 0);
		v->claim->absence = (struct absence){ .seen = false };
	} else if (v->claim->made && b->id <= 0 && b->identifier.len == 0) {
		/* The POST returned it: until that is in spec it counts, whatever the lists show. */
		v->facts.found = true;
	} else {
		v->facts.running = v->claim->read_running;
		observe_absence(v);
	}
}

static void
read_node(struct vpsienode_view *v)
{
	char key[OBJECT_KEY_MAX + 1], name[254];

	if (v->fact == NULL)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)v->fact->name.len, v->fact->name.p);
	v->facts.node = object_key(key, sizeof(key), "nodes", "", name)
	    && actor_read(v->c->r.actor, LINK_FACTS, key, strlen(key), &v->node, &v->node_body)
	    && actor_read(v->c->r.actor, LINK_KUBE_VPSIE, key, strlen(key), &v->written, &v->written_body);
	/* The fact may be older than the labels of whoever claimed it just now. */
	v->facts.node = v->facts.node && !vpsie_node_claimed(v, v->written_body.node.vpsie_labels);
	if (!v->facts.node)
		return;
	v->facts.node_ready = v->node_body.node_fact.ready;
	v->facts.labelled = vpsie_node_labelled(v, v->written_body.node.vpsie_labels);
	v->facts.drained = drain_set_state(v->c->drains, v->work->key) != DRAIN_WAIT;
}

/* D16: API lag is no absence, nor is a list that lost much, or that lacks what the provider counts. */
static void
observe_absence(struct vpsienode_view *v)
{
	struct vpsie_claimer *const c = v->c;
	const struct brake_verdict brake =
	    brake_check(&c->brake, actor_fresh(c->r.actor, LINK_KUBE_VPSIE), v->now_ms);
	const bool doubtful = c->list_short || (brake.reason != BRAKE_RELEASED && brake.reason != BRAKE_RATE);
	/* Only the answer to its POST has named it: it may not be made yet. */
	const bool awaited = v->facts.intent && v->stored.provisioned_at.len == 0
	    && v->stored.hostname.len == 0 && v->claim->deleted_ms == 0 && !v->claim->request_over;

	if (doubtful || awaited)
		v->claim->absence = (struct absence){ .seen = false };
	else if (c->list.began_ms > v->settled_ms)
		v->facts.absence = absence_observe(
		    &v->claim->absence, true, c->list.number, c->list.began_ms, c->set.confirm_ms, v->now_ms);
}

/* A9: each of them by cluster time, and confirmed by a second observation. */
static void
read_times(struct vpsienode_view *v)
{
	struct vpsienode_claim *const claim = v->claim;
	const struct vpsie_settings *const s = &v->c->set;
	const enum vpsie_phase p = v->facts.phase;

	if (v->now[0] == '\0')
		return;
	const bool provisions = p == PHASE_PROVISIONING || p == PHASE_TERMINATING || p == PHASE_DELETING;
	/* createdAt decides when it fails; its machine is given up only so long after the request for it. */
	int64_t since_us = time_us(v->stored.created_at);
	if (p != PHASE_PROVISIONING && v->facts.intent && since_us > 0
	    && vpsie_node_request_us(&v->body.vpsie_node) > since_us)
		since_us = vpsie_node_request_us(&v->body.vpsie_node);
	v->facts.expired = provisions && vpsie_expired(&claim->expired, since_us, s->provisioning_ms,
	    v->cluster_us, s->confirm_ms, v->now_ms);
	v->facts.join_expired = p == PHASE_JOINING && vpsie_expired(&claim->join_expired,
	    time_us(v->stored.provisioned_at), s->joining_ms, v->cluster_us, s->confirm_ms, v->now_ms);
	v->facts.ttl_expired = p == PHASE_FAILED
	    && vpsie_expired(&claim->ttl, failed_since(v), s->failed_ttl_ms, v->cluster_us,
		s->confirm_ms, v->now_ms);
}

static void
read_errors(struct vpsienode_view *v)
{
	const enum vpsie_phase p = v->facts.phase;

	if (p != PHASE_PROVISIONING && p != PHASE_JOINING && p != PHASE_DELETING)
		return;
	if (v->claim->error[0] != '\0')
		v->error = v->claim->error;
	else if (v->c->list_error[0] != '\0' && v->c->list.failures >= VPSIE_FAILURES)
		v->error = v->c->list_error;
	v->error_reason = "VPSieAPIError";
}

/* 0: it needs no list in its phase. */
static int64_t
list_age(const struct vpsienode_view *v)
{
	const struct vpsie_settings *const s = &v->c->set;

	switch (v->facts.phase) {
	case PHASE_PROVISIONING:
	case PHASE_JOINING:
	case PHASE_DELETING:
		return s->discovery_ms;
	case PHASE_FAILED:
		return v->facts.identified || !vpsie_node_timed_out(&v->body.vpsie_node) ? 0
		    : v->claim->request_over ? s->resync_ms : s->discovery_ms;
	case PHASE_TERMINATING:
		return v->facts.identified ? 0 : s->discovery_ms;
	case PHASE_PROVISIONED:
	case PHASE_READY:
		return v->claim->absence.seen && s->confirm_ms < s->resync_ms ? s->confirm_ms : s->resync_ms;
	default:
		return 0;
	}
}

/* 0: unknown. */
static int64_t
time_us(struct wire_str text)
{
	int64_t us = 0;

	return text.len > 0 && time_parse(text.p, text.len, &us) && us != TIME_UNSET_US ? us : 0;
}

static int64_t
failed_since(const struct vpsienode_view *v)
{
	for (uint32_t i = 0; i < v->stored.nconditions; i++) {
		if (wire_str_is(v->stored.conditions[i].type, "Error")
		    && wire_str_is(v->stored.conditions[i].status, "True"))
			return time_us(v->stored.conditions[i].time);
	}
	return 0;
}
