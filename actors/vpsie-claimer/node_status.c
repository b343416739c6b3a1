/* actors/vpsie-claimer/node_status.c - the rules of node_status.h. Pure. */
#include "node_status.h"

#include "obj.h"

static void desire_machine(const struct machine *, struct node_status *);
static void desire_node(const struct node_status *, const struct status_input *, struct node_status *);
static void desire_conditions(const struct status_input *, struct node_status *);
static void desire_error(const struct status_input *, struct node_status *);
static void set(struct node_status *, const struct status_input *, const char *, bool, const char *,
    const char *);
static bool is_true(const struct node_status *, const char *);
static void put_text(struct json *, const char *, struct wire_str);

void
vpsie_status_desire(const struct node_status *stored, const struct status_input *in, struct node_status *out)
{
	const bool moves = in->next != stored->phase;

	*out = *stored;
	out->phase = in->next;
	out->observed = in->generation;
	if (out->created_at.len == 0)
		out->created_at = in->now;
	if (moves
	    && (in->next == PHASE_PROVISIONED
		|| (in->next == PHASE_JOINING && stored->phase == PHASE_READY)))
		out->provisioned_at = in->now;
	if (moves && in->next == PHASE_READY)
		out->ready_at = in->now;
	if (moves && in->next == PHASE_TERMINATING)
		out->terminating_at = in->now;
	if (in->machine != NULL)
		desire_machine(in->machine, out);
	desire_node(stored, in, out);
	desire_conditions(in, out);
	desire_error(in, out);
}

static void
desire_machine(const struct machine *m, struct node_status *out)
{
	if (m->status.len > 0)
		out->vps_status = m->status;
	if (m->hostname.len > 0)
		out->hostname = m->hostname;
	out->cpu = m->cpu > 0 ? m->cpu : out->cpu;
	out->memory_mb = m->ram > 0 ? m->ram : out->memory_mb;
	out->disk_gb = m->ssd > 0 ? m->ssd : out->disk_gb;
	out->traffic_gb = m->traffic > 0 ? m->traffic : out->traffic_gb;
}

/* A Node counts from Joining on. One that is gone keeps its name while the VPSieNode itself goes. */
static void
desire_node(const struct node_status *stored, const struct status_input *in, struct node_status *out)
{
	if (in->next != PHASE_JOINING && in->next != PHASE_READY)
		return;
	if (in->node.len > 0 && (out->joined_at.len == 0 || !wire_str_same(stored->node_name, in->node)))
		out->joined_at = in->now;
	out->node_name = in->node;
}

static void
desire_conditions(const struct status_input *in, struct node_status *out)
{
	const bool machine =
	    in->next == PHASE_PROVISIONED || in->next == PHASE_JOINING || in->next == PHASE_READY;
	const bool joined = out->node_name.len > 0, ready = joined && in->node_ready;

	/* The last word about one that goes, or failed, is what it was before. */
	if (in->next == PHASE_TERMINATING || in->next == PHASE_DELETING || in->next == PHASE_FAILED)
		return;
	set(out, in, "VPSReady", machine, machine ? "Provisioned" : "Provisioning",
	    machine ? "the VPS runs" : "the VPS is not there yet");
	set(out, in, "NodeJoined", joined, joined ? "Joined" : machine ? "Joining" : "Provisioning",
	    joined ? "its Node is in the cluster" : "its Node is not in the cluster");
	set(out, in, "NodeReady", ready, ready ? "Ready" : joined ? "Joined" : "NodeNotFound",
	    ready ? "its Node is ready" : "its Node is not ready");
}

static void
desire_error(const struct status_input *in, struct node_status *out)
{
	const bool failed = in->next == PHASE_FAILED;

	if (failed && in->reason != NULL) {
		set(out, in, "Error", true, in->reason, in->message);
		out->last_error = wire_str_of(in->message);
	} else if (!failed && in->error != NULL) {
		set(out, in, "Error", true, in->error_reason, in->error);
		out->last_error = wire_str_of(in->error);
	} else if (!failed) {
		/* A condition that was never true is not written. */
		if (is_true(out, "Error"))
			set(out, in, "Error", false, "NoError", "no error");
		out->last_error = wire_str_of("");
	}
}

static void
set(struct node_status *s, const struct status_input *in, const char *type, bool holds, const char *reason,
    const char *message)
{
	const struct status_condition c = { .type = wire_str_of(type),
		.status = wire_str_of(holds ? "True" : "False"), .reason = wire_str_of(reason),
		.message = wire_str_of(message) };

	vpsie_condition_set(s->conditions, s->updated, &s->nconditions, &c, in->now);
}

static bool
is_true(const struct node_status *s, const char *type)
{
	for (uint32_t i = 0; i < s->nconditions; i++) {
		if (wire_str_is(s->conditions[i].type, type))
			return wire_str_is(s->conditions[i].status, "True");
	}
	return false;
}

const char *
vpsie_status_difference(const struct node_status *a, const struct node_status *b)
{
	const struct {
		struct wire_str	 a, b;
		const char	*name;
	} texts[] = {
		{ a->node_name, b->node_name, "nodeName" }, { a->vps_status, b->vps_status, "vpsieStatus" },
		{ a->hostname, b->hostname, "hostname" }, { a->last_error, b->last_error, "lastError" },
		{ a->created_at, b->created_at, "createdAt" },
		{ a->provisioned_at, b->provisioned_at, "provisionedAt" },
		{ a->joined_at, b->joined_at, "joinedAt" }, { a->ready_at, b->ready_at, "readyAt" },
		{ a->terminating_at, b->terminating_at, "terminatingAt" },
	};

	if (a->phase != b->phase)
		return "phase";
	for (size_t i = 0; i < NITEMS(texts); i++) {
		if (!wire_str_same(texts[i].a, texts[i].b))
			return texts[i].name;
	}
	if (a->cpu != b->cpu || a->memory_mb != b->memory_mb || a->disk_gb != b->disk_gb
	    || a->traffic_gb != b->traffic_gb)
		return "resources";
	if (!conditions_equal(a->conditions, a->nconditions, b->conditions, b->nconditions))
		return "conditions";
	return a->observed != b->observed ? "observedGeneration" : NULL;
}

void
vpsie_status_put(struct json *j, const struct node_status *s)
{
	json_open(j, "status", '{');
	json_str(j, "phase", vpsie_phase_name(s->phase));
	put_text(j, "nodeName", s->node_name);
	put_text(j, "vpsieStatus", s->vps_status);
	put_text(j, "hostname", s->hostname);
	put_text(j, "lastError", s->last_error);
	json_open(j, "resources", '{');
	json_int(j, "cpu", s->cpu);
	json_int(j, "memoryMB", s->memory_mb);
	json_int(j, "diskGB", s->disk_gb);
	json_int(j, "bandwidthGB", s->traffic_gb);
	json_close(j, '}');
	put_text(j, "createdAt", s->created_at);
	put_text(j, "provisionedAt", s->provisioned_at);
	put_text(j, "joinedAt", s->joined_at);
	put_text(j, "readyAt", s->ready_at);
	put_text(j, "terminatingAt", s->terminating_at);
	vpsie_conditions_put(j, s->conditions, s->updated, s->nconditions);
	json_int(j, "observedGeneration", s->observed);
	json_close(j, '}');
}

static void
put_text(struct json *j, const char *name, struct wire_str s)
{
	if (s.len > 0)
		body_text(j, name, s);
	else
		json_str(j, name, NULL);
}

/* ---- Conditions ---- */

void
vpsie_conditions_put(
    struct json *j, const struct status_condition *c, const struct wire_str *updated, uint32_t n)
{
	json_open(j, "conditions", '[');
	for (uint32_t i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		body_text(j, "type", c[i].type);
		body_text(j, "status", c[i].status);
		body_text(j, "reason", c[i].reason);
		body_text(j, "message", c[i].message);
		if (c[i].time.len > 0)
			body_text(j, "lastTransitionTime", c[i].time);
		if (updated[i].len > 0)
			body_text(j, "lastUpdateTime", updated[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void
vpsie_condition_set(struct status_condition *list, struct wire_str *updated, uint32_t *n,
    const struct status_condition *c, struct wire_str now)
{
	uint32_t i = 0;

	while (i < *n && !wire_str_same(list[i].type, c->type))
		i++;
	if (i == STATUS_CONDITIONS_MAX)
		return;
	const struct status_condition before =
	    i < *n ? list[i] : (struct status_condition){ .type = c->type };
	list[i] = *c;
	conditions_set_times(&list[i], 1, &before, 1, now);
	if (i == *n || !conditions_equal(&list[i], 1, &before, 1))
		updated[i] = now;
	*n += i == *n;
}
