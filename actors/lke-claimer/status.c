/* actors/lke-claimer/status.c - the conditions of a NodeClaim. Pure. */
#include "status.h"

#include <string.h>

#include "obj.h"
#include "text_buffer.h"

static const char *const types[LKE_CONDITION_MAX] = {
#define LKE_CONDITION_ROW(ID, type) [LKE_CONDITION_##ID] = (type),
	LKE_CONDITIONS(LKE_CONDITION_ROW)
#undef LKE_CONDITION_ROW
};

/* Reasons and messages of Karpenter. */
static const struct {
	const char	*reason, *message;
} uninitialized[] = {
	[LKE_INITIALIZED] = { "AwaitingReconciliation", "object is awaiting reconciliation" },
	[LKE_NODE_NOT_READY] = { "NodeNotReady", "Node status is NotReady" },
	[LKE_STARTUP_TAINTS] = { "StartupTaintsExist", "A startup taint still exists" },
	[LKE_EPHEMERAL_TAINTS] = { "KnownEphemeralTaintsExist", "A known ephemeral taint still exists" },
	[LKE_RESOURCE_MISSING] = { "ResourceNotRegistered", "A resource was requested but not registered" },
};

/* What a condition shall be; status NULL: it is not ours to write now. */
struct wanted {
	const char	*status, *reason, *message;
};

static struct wanted launched(const struct lke_status_input *);
static struct wanted registered(const struct lke_claim_input *, bool);
static struct wanted initialized(const struct lke_claim_input *, bool);
static struct wanted ready(struct lke_status *, const struct wanted *);
static struct wanted truth(enum lke_condition_id);
static void set(struct lke_status *, const struct lke_status_input *, enum lke_condition_id, struct wanted);
static bool same(const struct lke_condition *, const struct lke_condition *);

static const struct wanted awaiting = {
	"Unknown", "AwaitingReconciliation", "object is awaiting reconciliation",
};

void
lke_status(const struct lke_status_input *in, struct lke_status *out)
{
	const struct lke_claim_input *const c = in->claim;
	const bool removing = in->plan->verb == CLAIM_REMOVE || in->plan->verb == CLAIM_RELEASE_NODE
	    || in->plan->verb == CLAIM_RELEASE;
	/* One write has the providerID, and what follows from it. */
	const bool launches = c->launched || in->plan->verb == CLAIM_LAUNCH;
	struct wanted w[LKE_CONDITION_MAX] = { { .status = NULL } };

	*out = (struct lke_status){ .n = 0 };
	if (in->nstored + LKE_CONDITION_MAX > LKE_CONDITIONS_MAX) {
		out->full = true;
		return;
	}
	if (in->nstored > 0)
		memcpy(out->conditions, in->stored, in->nstored * sizeof(*in->stored));
	out->n = in->nstored;
	w[LKE_CONDITION_LAUNCHED] = launched(in);
	w[LKE_CONDITION_REGISTERED] = registered(c, launches);
	w[LKE_CONDITION_INITIALIZED] = initialized(c, launches);
	w[LKE_CONDITION_READY] = ready(out, w);
	if (c->deleting && c->registered && c->nodes > 0) {
		const char *const late = c->grace_elapsed ? "TerminationGracePeriodElapsed" : "DrainTimeout";
		const struct wanted over = { "False", late, late };

		w[LKE_CONDITION_DRAINED] = c->drained ? truth(LKE_CONDITION_DRAINED)
		    : c->drain_over ? over : (struct wanted){ "Unknown", "Draining", "Draining" };
		if (c->drained || c->drain_over)
			w[LKE_CONDITION_VOLUMES_DETACHED] = c->volumes_detached
			    ? truth(LKE_CONDITION_VOLUMES_DETACHED)
			    : c->drain_over ? over : (struct wanted){ "Unknown", "AwaitingVolumeDetachment",
				"AwaitingVolumeDetachment" };
	}
	if (c->deleting && removing && (c->launched || c->tagged || c->reserved != 0))
		w[LKE_CONDITION_INSTANCE_TERMINATING] = truth(LKE_CONDITION_INSTANCE_TERMINATING);
	for (unsigned i = 0; i < LKE_CONDITION_MAX; i++) {
		if (w[i].status != NULL)
			set(out, in, (enum lke_condition_id)i, w[i]);
	}
}

void
lke_status_put(struct json *j, const struct lke_status *s)
{
	json_open(j, "conditions", '[');
	for (uint32_t i = 0; i < s->n; i++) {
		const struct lke_condition *const c = &s->conditions[i];

		json_open(j, NULL, '{');
		json_strn(j, "type", c->type.p, c->type.len);
		json_strn(j, "status", c->status.p, c->status.len);
		json_strn(j, "reason", c->reason.p, c->reason.len);
		json_strn(j, "message", c->message.p, c->message.len);
		json_strn(j, "lastTransitionTime", c->time.p, c->time.len);
		if (c->generation > 0)
			json_int(j, "observedGeneration", c->generation);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void
lke_resources_put(struct json *j, const char *name, const struct lke_resources *r,
    const struct lke_resources *least)
{
	char amount[LKE_LABEL_SIZE];

	json_open(j, name, '{');
	for (unsigned i = 0; i < LKE_RESOURCE_MAX; i++) {
		const int64_t floor = least == NULL ? 0 : least->of[i];
		const int64_t n = r->of[i] > floor ? r->of[i] : floor;

		if (n == 0 && i == LKE_GPU)
			continue;
		lke_resource_put(amount, (enum lke_resource)i, n);
		json_str(j, lke_resource_name((enum lke_resource)i), amount);
	}
	json_close(j, '}');
}

/* ---- Each condition ---- */

static struct wanted
launched(const struct lke_status_input *in)
{
	if (in->claim->launched || in->plan->verb == CLAIM_LAUNCH)
		return truth(LKE_CONDITION_LAUNCHED);
	if (in->plan->reason == NULL)
		return awaiting;
	return (struct wanted){ "Unknown", in->plan->reason,
		in->message != NULL ? in->message
		: in->plan->message != NULL ? in->plan->message : in->plan->why };
}

/* The label on the Node counts, too: it is written before the condition. */
static struct wanted
registered(const struct lke_claim_input *c, bool launched)
{
	if (c->registered || (c->nodes == 1 && c->node_registered))
		return truth(LKE_CONDITION_REGISTERED);
	if (!launched)
		return awaiting;
	if (c->nodes > 1)
		return (struct wanted){ "False", "MultipleNodesFound",
			"Invariant violated, matched multiple nodes" };
	return (struct wanted){ "Unknown", "NodeNotFound", "Node not registered with cluster" };
}

static struct wanted
initialized(const struct lke_claim_input *c, bool launched)
{
	if (c->initialized || (c->nodes == 1 && c->node_registered && c->node_initialized))
		return truth(LKE_CONDITION_INITIALIZED);
	if (!launched)
		return awaiting;
	if (c->nodes != 1 || !(c->registered || c->node_registered))
		return (struct wanted){ "Unknown", "NodeNotFound", "Node not registered with cluster" };
	return (struct wanted){ "Unknown", uninitialized[c->uninitialized].reason,
		uninitialized[c->uninitialized].message };
}

static struct wanted
ready(struct lke_status *out, const struct wanted *w)
{
	struct text_buffer text = { .p = out->ready, .size = sizeof(out->ready) };
	bool failed = false;

	for (unsigned i = 0; i < LKE_CONDITION_READY; i++) {
		if (strcmp(w[i].status, "True") == 0)
			continue;
		failed = failed || strcmp(w[i].status, "False") == 0;
		text_put(&text, text.len > 0 ? ", " : "");
		text_put(&text, types[i]);
		text_put(&text, "=");
		text_put(&text, w[i].status);
	}
	if (text.len == 0)
		return truth(LKE_CONDITION_READY);
	return (struct wanted){ failed ? "False" : "Unknown",
		failed ? "UnhealthyDependents" : "ReconcilingDependents", out->ready };
}

static struct wanted
truth(enum lke_condition_id id)
{
	return (struct wanted){ "True", types[id], "" };
}

static void
set(struct lke_status *out, const struct lke_status_input *in, enum lke_condition_id id, struct wanted w)
{
	const struct lke_condition c = { .type = wire_str_of(types[id]), .status = wire_str_of(w.status),
		.reason = wire_str_of(w.reason), .message = wire_str_of(w.message), .time = in->now,
		.generation = in->generation };

	lke_condition_set(out, &c);
}

void
lke_condition_set(struct lke_status *out, const struct lke_condition *wanted)
{
	struct lke_condition c = *wanted;
	uint32_t i = 0;

	while (i < out->n && !wire_str_same(out->conditions[i].type, c.type))
		i++;
	if (i < out->n) {
		/* The time is that of the last change of the status. */
		if (wire_str_same(out->conditions[i].status, c.status))
			c.time = out->conditions[i].time;
		if (same(&out->conditions[i], &c))
			return;
	} else {
		MUST(i < LKE_CONDITIONS_MAX);
		out->n++;
	}
	out->conditions[i] = c;
	out->differs = true;
}

static bool
same(const struct lke_condition *a, const struct lke_condition *b)
{
	return wire_str_same(a->status, b->status) && wire_str_same(a->reason, b->reason)
	    && wire_str_same(a->message, b->message) && a->generation == b->generation;
}
