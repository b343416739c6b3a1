/* actors/vpsie-claimer/group_status.c - the rules of group_status.h. Pure. */
#include "group_status.h"

#include "obj.h"

static void set(struct group_status *, const char *, bool, const char *, const char *, struct wire_str);
static bool nodes_equal(const struct group_status *, const struct group_status *);

void
group_status_desire(const struct group_status *stored, const struct group_plan *plan, int64_t generation,
    const char *error_reason, const char *error, struct wire_str now, struct group_status *out)
{
	const bool valid = plan->reason[0] == '\0';
	const bool bad = !valid || error != NULL;
	const bool ready = valid && plan->ready >= plan->desired && !plan->scaling;

	*out = *stored;
	/* Of a spec that cannot be served nothing is derived: what whoever scales has written stays. */
	out->desired = valid ? plan->desired : stored->desired;
	out->current = plan->current;
	out->ready = plan->ready;
	out->group_id = plan->group_id > 0 ? plan->group_id : stored->group_id;
	out->observed = generation;
	set(out, "Ready", ready, ready ? "Ready" : "NotReady",
	    ready ? "all VPSieNodes that are desired are ready"
		  : "not all VPSieNodes that are desired are ready",
	    now);
	set(out, "Scaling", plan->scaling, plan->scaling ? "Scaling" : "Settled",
	    plan->scaling ? "VPSieNodes are being created or removed"
			  : "it has as many VPSieNodes as desired",
	    now);
	set(out, "AtMinCapacity", valid && plan->at_min, plan->at_min ? "AtMin" : "AboveMin",
	    plan->at_min ? "minNodes are desired" : "more than minNodes are desired", now);
	set(out, "AtMaxCapacity", valid && plan->at_max, plan->at_max ? "AtMax" : "BelowMax",
	    plan->at_max ? "maxNodes are desired" : "fewer than maxNodes are desired", now);
	set(out, "Error", bad, !valid ? plan->reason : bad ? error_reason : "NoError",
	    !valid ? plan->message : bad ? error : "no error", now);
}

const char *
group_status_difference(const struct group_status *a, const struct group_status *b)
{
	if (a->desired != b->desired)
		return "desiredNodes";
	if (a->current != b->current)
		return "currentNodes";
	if (a->ready != b->ready)
		return "readyNodes";
	if (a->group_id != b->group_id)
		return "vpsieGroupID";
	if (!nodes_equal(a, b))
		return "nodes";
	if (!conditions_equal(a->conditions, a->nconditions, b->conditions, b->nconditions))
		return "conditions";
	return a->observed != b->observed ? "observedGeneration" : NULL;
}

void
group_status_put(struct json *j, const struct group_status *s)
{
	json_open(j, "status", '{');
	json_int(j, "desiredNodes", s->desired);
	json_int(j, "currentNodes", s->current);
	json_int(j, "readyNodes", s->ready);
	json_int(j, "vpsieGroupID", s->group_id);
	json_open(j, "nodes", '[');
	for (uint32_t i = 0; i < s->nnodes; i++) {
		json_open(j, NULL, '{');
		body_text(j, "nodeName", s->nodes[i].node_name);
		json_int(j, "vpsID", s->nodes[i].id);
		body_text(j, "instanceType", s->nodes[i].type);
		body_text(j, "status", s->nodes[i].phase);
		if (s->nodes[i].created_at.len > 0)
			body_text(j, "createdAt", s->nodes[i].created_at);
		if (s->nodes[i].ready_at.len > 0)
			body_text(j, "readyAt", s->nodes[i].ready_at);
		body_text(j, "ipAddress", s->nodes[i].address);
		json_close(j, '}');
	}
	json_close(j, ']');
	vpsie_conditions_put(j, s->conditions, s->updated, s->nconditions);
	json_int(j, "observedGeneration", s->observed);
	json_close(j, '}');
}

static void
set(struct group_status *s, const char *type, bool holds, const char *reason, const char *message,
    struct wire_str now)
{
	const struct status_condition c = { .type = wire_str_of(type),
		.status = wire_str_of(holds ? "True" : "False"), .reason = wire_str_of(reason),
		.message = wire_str_of(message) };

	vpsie_condition_set(s->conditions, s->updated, &s->nconditions, &c, now);
}

static bool
nodes_equal(const struct group_status *a, const struct group_status *b)
{
	bool equal = a->nnodes == b->nnodes;

	for (uint32_t i = 0; equal && i < a->nnodes; i++) {
		const struct group_node *const x = &a->nodes[i], *const y = &b->nodes[i];

		equal = x->id == y->id && wire_str_same(x->node_name, y->node_name)
		    && wire_str_same(x->type, y->type) && wire_str_same(x->phase, y->phase)
		    && wire_str_same(x->created_at, y->created_at)
		    && wire_str_same(x->ready_at, y->ready_at)
		    && wire_str_same(x->address, y->address);
	}
	return equal;
}
