/* actors/lke-claimer/class.c - a LinodeNodeClass: validation, status and finalizer (C17). */
#include <stdio.h>
#include <string.h>

#include "actors/reconcile/bodies.h"
#include "claimer.h"
#include "json.h"
#include "kube/time.h"
#include "obj.h"

struct references {
	struct wire_str	name;
	bool		found;
};

static void find_reference(const struct change *, void *);
static struct lke_condition validate(const struct lke_claimer *, const struct body_linode_class *, char *,
    size_t);
static bool write_status(struct lke_claimer *, const struct change *, const union msg_body *,
    struct reconcile_step *);
static void write_finalizers(struct lke_claimer *, const struct body_linode_class *, bool,
    struct reconcile_step *);

void
class_plan(struct lke_claimer *c, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct change object;
	union msg_body body;
	const char *const name = i->work->key + strlen(LKE_CLASS_KEYS);
	struct references used = { .name = wire_str_of(name) };

	step->verb = "nothing";
	step->why = "its status is current";
	if (!actor_read(c->r.actor, LINK_KUBE_LKE_CLAIMER, i->work->key, i->work->len, &object, &body)) {
		step->why = "there is no such LinodeNodeClass";
		step->forget = true;
		return;
	}
	const struct body_linode_class *const b = &body.linode_class;
	const bool finalizer = rows_have(b->finalizers, LKE_CLASS_TERMINATION);
	step->write = (struct reconcile_write){ .kind = LKE_KIND_CLASSES, .trace = i->work->trace };
	snprintf(step->write.name, sizeof(step->write.name), "%s", name);
	snprintf(step->write.uid, sizeof(step->write.uid), "%.*s", (int)object.uid.len, object.uid.p);
	snprintf(step->write.rv, sizeof(step->write.rv), "%.*s", (int)object.rv.len, object.rv.p);
	actor_each(c->r.actor, LINK_KUBE_LKE_CLAIMER, find_reference, &used);
	if (b->deleted.len > 0) {
		step->why = finalizer && used.found ? "NodeClaims refer to it" : "nothing refers to it";
		if (finalizer && !used.found)
			write_finalizers(c, b, false, step);
	} else if (!finalizer) {
		step->why = "the finalizer holds it while NodeClaims refer to it";
		write_finalizers(c, b, true, step);
	} else if (write_status(c, &object, &body, step)) {
		step->why = "its conditions differ";
	}
}

static void
find_reference(const struct change *c, void *arg)
{
	struct references *const r = arg;

	if (c->type == MSG_NODE_CLAIM && wire_str_same(c->value->node_claim.class_name, r->name)
	    && wire_str_is(c->value->node_claim.class_group, LINODE_GROUP))
		r->found = true;
}

static void
write_finalizers(struct lke_claimer *c, const struct body_linode_class *b, bool ours,
    struct reconcile_step *step)
{
	struct json j = { .buf = c->r.body, .size = sizeof(c->r.body) };

	json_open(&j, NULL, '{');
	json_open(&j, "metadata", '{');
	body_finalizers(&j, b->finalizers, LKE_CLASS_TERMINATION, ours);
	json_close(&j, '}');
	json_close(&j, '}');
	step->form = STEP_WRITE;
	step->verb = ours ? "add finalizer" : "remove finalizer";
	step->write.op = OP_MERGE;
	step->write.action = ours ? "AddFinalizer" : "RemoveFinalizer";
	step->write.body_len = json_end(&j);
	MUST(step->write.body_len > 0);
}

/* ---- Status ---- */

static bool
write_status(struct lke_claimer *c, const struct change *object, const union msg_body *body,
    struct reconcile_step *step)
{
	const struct body_linode_class *const b = &body->linode_class;
	struct lke_condition stored[LKE_CONDITIONS_MAX];
	struct lke_status s = { .n = 0 };
	char now[TIME_TEXT_MAX], message[LKE_MESSAGE_SIZE];
	int64_t cluster_us;

	(void)object;
	if (!cluster_now_us(c, &cluster_us)) {
		step->form = STEP_WAIT;
		step->after_ms = RECONCILE_REQUEUE_MS;
		return false;
	}
	time_format(cluster_us, now, sizeof(now));
	s.n = conditions_of(b->conditions, stored, LKE_CONDITIONS_MAX - 2);
	if (s.n > 0)
		memcpy(s.conditions, stored, s.n * sizeof(*stored));
	struct lke_condition valid = validate(c, b, message, sizeof(message));
	valid.time = wire_str_of(now);
	valid.generation = b->generation;
	const bool good = wire_str_is(valid.status, "True");
	const struct lke_condition ready = { .type = wire_str_of("Ready"), .status = valid.status,
		.reason = wire_str_of(good ? "Ready" : wire_str_is(valid.status, "False")
		    ? "UnhealthyDependents"
		    : "ReconcilingDependents"),
		.message = valid.message, .time = valid.time, .generation = valid.generation };
	lke_condition_set(&s, &valid);
	lke_condition_set(&s, &ready);
	if (!s.differs)
		return false;
	struct json j = { .buf = c->r.body, .size = sizeof(c->r.body) };
	json_open(&j, NULL, '{');
	json_open(&j, "status", '{');
	lke_status_put(&j, &s);
	json_close(&j, '}');
	json_close(&j, '}');
	step->form = STEP_WRITE;
	step->verb = "update status";
	step->field = "status.conditions";
	step->write.op = OP_MERGE;
	step->write.subresource = "status";
	step->write.action = "UpdateStatus";
	step->write.body_len = json_end(&j);
	MUST(step->write.body_len > 0);
	if (wire_str_is(valid.status, "False") && c->r.leading)
		reconcile_event(&c->r, &step->write, "Warning", "ValidationFailed", valid.message);
	return true;
}

/* What the CRD cannot check: tags of our own, and versions, which depend on the cluster. */
static struct lke_condition
validate(const struct lke_claimer *c, const struct body_linode_class *b, char *message, size_t size)
{
	struct lke_condition out = { .type = wire_str_of("ValidationSucceeded"),
	    .status = wire_str_of("True"),
		.reason = wire_str_of("ValidationSucceeded"), .message = wire_str_of("") };
	struct wire_rows left = b->tags;
	struct wire_str cells[ROWS_COLUMNS_MAX], value;
	enum lke_tag tag;
	const char *reason = NULL, *status = "False";

	message[0] = '\0';
	while (reason == NULL && rows_next(&left, cells)) {
		if (!lke_tag_read(cells[0], &tag, &value) && cells[0].len <= LKE_TAG_MAX)
			continue;
		reason = "TagValidationFailed";
		snprintf(message, size,
		    "spec.tags: %.*s is longer than %d characters, or marks the owner of a machine: "
		    "remove it", (int)cells[0].len, cells[0].p, LKE_TAG_MAX);
	}
	if (reason == NULL && b->version.len > 0 && !c->known) {
		reason = "AwaitingReconciliation";
		status = "Unknown";
		snprintf(message, size, "%s", c->failure != NULL ? c->failure
		    : "the cluster has not been read yet");
	} else if (reason == NULL && b->version.len > 0 && c->cluster.tier != LKE_ENTERPRISE) {
		reason = "LKEK8sVersionUnsupported";
		snprintf(message, size,
		    "spec.lkeK8sVersion: only pools of an Enterprise cluster have a version: "
		    "remove it");
	} else if (reason == NULL && b->version.len > 0 && !wire_str_is(b->version, c->cluster.k8s_version)) {
		reason = "LKEK8sVersionControlPlaneMismatch";
		snprintf(message, size,
		    "spec.lkeK8sVersion: the control plane has %s: set that, or leave it out",
		    c->cluster.k8s_version);
	}
	if (reason != NULL) {
		out.status = wire_str_of(status);
		out.reason = wire_str_of(reason);
		out.message = wire_str_of(message);
	}
	return out;
}
