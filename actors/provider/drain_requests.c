/* actors/provider/drain_requests.c - the requests of a drain, and what their outcomes mean for its Pods. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "clock.h"
#include "drain_private.h"
#include "obj.h"

enum { UID_MAX = 64, ANSWER_LATE_MS = 1000 };	/* the latter: actor_write's own margin */

/* What the outcome of an eviction or a deletion means for the Pod. */
enum pod_outcome {
	LATER,		/* it may or may not have happened: a list shows it; sent again after a pause */
	NOT_SENT,	/* nothing happened: sent again after a pause */
	LEAVES,		/* it terminates */
	GONE,
	REFUSED,	/* as a PodDisruptionBudget does: tried again, until the policy's limit */
	RELIST,		/* another Pod has its name by now */
};

static const enum pod_outcome pod_outcomes[OUTCOME_MAX] = {
	[OUTCOME_OK] = LEAVES, [OUTCOME_NOT_FOUND] = GONE, [OUTCOME_CONFLICT] = RELIST,
	[OUTCOME_LIMITED] = REFUSED, [OUTCOME_FORBIDDEN] = REFUSED, [OUTCOME_DENIED] = REFUSED,
	[OUTCOME_INVALID] = REFUSED,
	[OUTCOME_BUSY] = NOT_SENT,
};

/* A request in flight. */
struct drain_request {
	struct drain	*drain;
	struct drain_pool *pool;
	enum drain_turn	 turn;
	enum drain_verb	 verb;
	bool		 read;		/* the Node is read, before it is marked */
	int64_t		 grace_ms;	/* of a Pod */
	char		 uid[UID_MAX + 1];
	char		 ns[64], name[DRAIN_CLAIM_NAME_MAX + 1];	/* of a claim */
};

static void read_node(struct drain *, uint64_t);
static void mark(struct drain *, struct drain_target);
static json_t *add(const char *, json_t *);
static json_t *add_label(const struct drain_policy *, bool);
static void list(struct drain *, uint64_t);
static void list_volumes(struct drain *, uint64_t);
static void read_claim(struct drain *, uint64_t, int64_t);
static void remove_pod(struct drain *, const struct drain_step *, uint64_t);
static void request(struct drain *, const struct drain_request *, const struct write_request *);
static write_done on_answer;
static void take_node(struct drain *, const struct write_result *, int64_t);
static void take_mark(struct drain *, const struct write_result *, int64_t);
static void take_list(struct drain *, const struct write_result *, int64_t);
static void take_volumes(struct drain *, const struct write_result *, int64_t);
static void take_claim(struct drain *, const struct drain_request *, const struct write_result *, int64_t);
static void take_pod(struct drain *, const struct drain_request *, const struct write_result *, int64_t);
static bool is_read(struct drain *, const struct write_result *, enum msg, const char *);
static void set_error(struct drain *, const char *, const struct write_result *);

void
drain_send(struct drain *d, const struct drain_target *node, const struct drain_step *step, int64_t now_ms)
{
	switch (step->verb) {
	case DRAIN_MARK:
		if (drain_node_outdated(d, node))
			read_node(d, node->trace);
		else
			mark(d, *node);
		break;
	case DRAIN_LIST:
		list(d, node->trace);
		break;
	case DRAIN_VOLUMES:
		list_volumes(d, node->trace);
		break;
	case DRAIN_CLAIM:
		read_claim(d, node->trace, now_ms);
		break;
	default:
		remove_pod(d, step, node->trace);
		break;
	}
}

/*
 * The actor's view keeps its resourceVersion for as long as nothing changes that somebody reads, and a
 * heartbeat of the kubelet is enough for another: the mark would conflict for ever.
 */
static void
read_node(struct drain *d, uint64_t trace)
{
	request(d, &(struct drain_request){ .verb = DRAIN_MARK, .read = true }, &(struct write_request){
		.op = OP_GET, .group = "", .version = "v1", .resource = "nodes", .name = d->config.node,
		.timeout_ms = DRAIN_READ_MS, .trace = trace,
	});
}

/*
 * A JSON patch, because spec.taints is an atomic list: a merge would replace the taints of others. The
 * resourceVersion guards the two forms of `add`: of the whole list, and of one element.
 */
static void
mark(struct drain *d, struct drain_target node)
{
	const struct drain_policy *const p = d->config.policy;
	json_t *const patch = json_array();

	snprintf(d->view_rv, sizeof(d->view_rv), "%s", node.rv);
	drain_node_use(&d->live, &node);
	if (p->taint != NULL && !node.tainted) {
		json_t *const taint = json_pack("{s:s, s:s}", "key", p->taint, "effect", "NoSchedule");

		json_array_append_new(patch, node.has_taints ? add("/spec/taints/-", taint)
		    : add("/spec/taints", json_pack("[o]", taint)));
	}
	if (p->label != NULL && !node.labelled)
		json_array_append_new(patch, add_label(p, node.has_labels));
	if (p->cordon && !node.cordoned)
		json_array_append_new(patch, add("/spec/unschedulable", json_true()));
	char *const body = json_dumps(patch, JSON_COMPACT);
	MUST(body != NULL);
	request(d, &(struct drain_request){ .verb = DRAIN_MARK }, &(struct write_request){
		.op = OP_JSON, .group = "", .version = "v1", .resource = "nodes", .name = d->config.node,
		.uid = node.uid, .rv = node.rv, .body = body, .body_len = strlen(body),
		.timeout_ms = DRAIN_WRITE_MS, .trace = node.trace,
	});
	d->live.known = d->outdated = false;
	free(body);
	json_decref(patch);
}

static json_t *
add(const char *path, json_t *value)
{
	return json_pack("{s:s, s:s, s:o}", "op", "add", "path", path, "value", value);
}

/* The key of a label has a slash, which a JSON pointer escapes, and no tilde. */
static json_t *
add_label(const struct drain_policy *p, bool has_labels)
{
	char path[512];

	if (!has_labels)
		return add("/metadata/labels", json_pack("{s:s}", p->label, p->label_value));
	const char *const slash = strchr(p->label, '/');
	MUST(slash != NULL);
	snprintf(path, sizeof(path), "/metadata/labels/%.*s~1%s", (int)(slash - p->label), p->label,
	    slash + 1);
	return add(path, json_string(p->label_value));
}

static void
list(struct drain *d, uint64_t trace)
{
	char selector[512];

	snprintf(selector, sizeof(selector), "spec.nodeName=%s", d->config.node);
	request(d, &(struct drain_request){ .verb = DRAIN_LIST }, &(struct write_request){
		.op = OP_LIST, .group = "", .version = "v1", .resource = "pods", .fields = selector,
		.timeout_ms = DRAIN_READ_MS, .trace = trace,
	});
}

/* The server has no field selector for the Node of a VolumeAttachment. */
static void
list_volumes(struct drain *d, uint64_t trace)
{
	request(d, &(struct drain_request){ .verb = DRAIN_VOLUMES }, &(struct write_request){
		.op = OP_LIST, .group = "storage.k8s.io", .version = "v1", .resource = "volumeattachments",
		.timeout_ms = DRAIN_READ_MS, .trace = trace,
	});
}

static void
read_claim(struct drain *d, uint64_t trace, int64_t now_ms)
{
	const struct drain_stay stay = { &d->pods, d->config.policy, now_ms };
	struct drain_request r = { .verb = DRAIN_CLAIM };
	const char *ns = "";

	MUST(drain_volumes_unread(&d->volumes, &stay, &ns, r.name));
	snprintf(r.ns, sizeof(r.ns), "%s", ns);
	request(d, &r, &(struct write_request){
		.op = OP_GET, .group = "", .version = "v1", .resource = "persistentvolumeclaims", .ns = r.ns,
		.name = r.name, .timeout_ms = DRAIN_READ_MS, .trace = trace,
	});
}

/* The body of a deletion is its DeleteOptions: kube-watcher adds the precondition. */
static void
remove_pod(struct drain *d, const struct drain_step *step, uint64_t trace)
{
	struct drain_pod *const pod = &d->pods.pods[step->pod];
	const bool evict = step->verb == DRAIN_EVICT;
	struct drain_request r = { .verb = step->verb, .grace_ms = evict ? pod->grace_ms : step->grace_ms };
	char options[64] = "";

	if (!evict)
		snprintf(options, sizeof(options), "{\"gracePeriodSeconds\":%lld}",
		    (long long)(step->grace_ms / 1000));
	snprintf(r.uid, sizeof(r.uid), "%s", pod->uid);
	pod->in_flight = true;
	d->pods_in_flight++;
	request(d, &r, &(struct write_request){
		.op = evict ? OP_EVICT : OP_DELETE, .group = "", .version = "v1", .resource = "pods",
		.ns = pod->ns, .name = pod->name, .uid = pod->uid, .body = options,
		.body_len = strlen(options), .timeout_ms = DRAIN_WRITE_MS, .trace = trace,
	});
}

static void
request(struct drain *d, const struct drain_request *r, const struct write_request *w)
{
	struct drain_request *const copy = obj_memdup(r, sizeof(*r));
	const int64_t ends_ms = clock_mono_ms() + w->timeout_ms + ANSWER_LATE_MS;

	copy->drain = d;
	copy->pool = d->config.pool;
	copy->turn = w->op == OP_LIST || w->op == OP_GET ? DRAIN_TURN_READ : DRAIN_TURN_WRITE;
	if (d->in_flight++ == 0 || d->busy_until_ms < ends_ms)
		d->busy_until_ms = ends_ms;
	actor_write(d->config.actor, d->config.link, w, on_answer, copy);
}

static void
on_answer(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	struct drain_request *const q = arg;
	struct drain *d = q->drain;
	const int64_t now_ms = clock_mono_ms();

	(void)a, (void)self;
	d->in_flight--;
	drain_pool_give(q->pool, q->turn);
	if (d->freed) {
		drain_free(&d);
		free(q);
		return;
	}
	if (q->read)
		take_node(d, r, now_ms);
	else if (q->verb == DRAIN_MARK)
		take_mark(d, r, now_ms);
	else if (q->verb == DRAIN_LIST)
		take_list(d, r, now_ms);
	else if (q->verb == DRAIN_VOLUMES)
		take_volumes(d, r, now_ms);
	else if (q->verb == DRAIN_CLAIM)
		take_claim(d, q, r, now_ms);
	else
		take_pod(d, q, r, now_ms);
	free(q);
	d->config.progress(d->config.arg);
}

static void
take_node(struct drain *d, const struct write_result *r, int64_t now_ms)
{
	const struct drain_policy *const p = d->config.policy;

	if (r->outcome == OUTCOME_OK && drain_node_read(p, r, &d->live)) {
		/* Somebody else may have done it. */
		d->marked = (d->live.tainted || p->taint == NULL) && (d->live.labelled || p->label == NULL)
		    && (d->live.cordoned || !p->cordon);
		return;
	}
	d->pause_ms = now_ms + DRAIN_RETRY_MIN_MS;
	if (r->outcome != OUTCOME_OK)
		set_error(d, "the Node was not read", r);
}

/* The actor's own view of the Node may lag behind this answer. */
static void
take_mark(struct drain *d, const struct write_result *r, int64_t now_ms)
{
	d->marked = r->outcome == OUTCOME_OK;
	if (d->marked)
		return;
	d->outdated = r->outcome == OUTCOME_CONFLICT;
	d->pause_ms = now_ms + DRAIN_RETRY_MIN_MS;
	set_error(d, "the Node was not marked", r);
}

static void
take_list(struct drain *d, const struct write_result *r, int64_t now_ms)
{
	struct drain_sight sight = { .taint = d->config.policy->taint, .now_ms = now_ms };
	struct drain_pods fresh = { NULL, 0 };
	bool ok = is_read(d, r, MSG_NODE_POD, "the Pods of the Node were not listed");

	if (ok && !actor_cluster_time_us(d->config.actor, d->config.link, &sight.cluster_us)) {
		snprintf(d->error, sizeof(d->error), "the time of the cluster is not known yet");
		ok = false;
	}
	for (size_t i = 0; ok && i < r->nitems; i++)
		ok = drain_pods_add(&fresh, &r->items[i].value->node_pod, r->items[i].uid, &sight, d->error,
		    sizeof(d->error));
	if (!ok) {
		drain_pods_free(&fresh);
		d->pause_ms = now_ms + DRAIN_RETRY_MIN_MS;
		return;
	}
	d->error[0] = '\0';
	d->lists = drain_pods_replace(&d->pods, &fresh) ? 0 : d->lists + 1;
	d->listed = true;
	d->listed_ms = now_ms;
}

static void
take_volumes(struct drain *d, const struct write_result *r, int64_t now_ms)
{
	struct drain_volumes fresh = { 0 };

	if (!is_read(d, r, MSG_VOLUME_ATTACHMENT, "the VolumeAttachments were not listed")) {
		d->pause_ms = now_ms + DRAIN_RETRY_MIN_MS;
		return;
	}
	for (size_t i = 0; i < r->nitems; i++) {
		const struct body_volume_attachment *const a = &r->items[i].value->volume_attachment;

		if (wire_str_is(a->node, d->config.node))
			drain_volumes_add(&fresh, a->volume);
	}
	d->error[0] = '\0';
	d->volumes_lists = drain_volumes_replace(&d->volumes, &fresh) ? 0 : d->volumes_lists + 1;
	d->volumes_listed = true;
	d->volumes_listed_ms = now_ms;
}

/* A claim that is gone has no volume. */
static void
take_claim(struct drain *d, const struct drain_request *q, const struct write_result *r, int64_t now_ms)
{
	struct wire_str volume = wire_str_of("");

	if (r->outcome != OUTCOME_NOT_FOUND) {
		if (!is_read(d, r, MSG_VOLUME_CLAIM, "a PersistentVolumeClaim was not read")) {
			d->pause_ms = now_ms + DRAIN_RETRY_MIN_MS;
			return;
		}
		if (r->nitems > 0)
			volume = r->items[0].value->volume_claim.volume;
	}
	drain_volumes_set_claim(&d->volumes, q->ns, q->name, volume);
}

static void
take_pod(struct drain *d, const struct drain_request *q, const struct write_result *r, int64_t now_ms)
{
	struct drain_pod *const pod = drain_pods_find(&d->pods, q->uid);
	const enum pod_outcome what = pod_outcomes[r->outcome];

	d->pods_in_flight--;
	if (what != LEAVES && what != GONE)
		set_error(d, q->verb == DRAIN_EVICT ? "a Pod was not evicted" : "a Pod was not deleted", r);
	if (pod == NULL)
		return;
	pod->in_flight = false;
	switch (what) {
	case LEAVES:
		pod->terminating = true;
		pod->ends_ms = now_ms + q->grace_ms;
		pod->deleted_us = 0;
		pod->refused_since_ms = 0;
		break;
	case GONE:
		pod->finished = true;
		break;
	case REFUSED:
		drain_refused(pod, r->retry_after_ms, now_ms);
		if (q->verb == DRAIN_DELETE)	/* a deletion asks no budget */
			pod->failed_until_ms = pod->retry_at_ms;
		break;
	case NOT_SENT:
		pod->failed_until_ms = now_ms + DRAIN_RETRY_MIN_MS;
		break;
	case LATER:
		pod->failed_until_ms = now_ms + DRAIN_RETRY_MIN_MS;
		d->listed = false;
		break;
	case RELIST:
		d->listed = false;
		break;
	}
}

/* All objects of an answer are there and of that kind; else the error names what is missing. */
static bool
is_read(struct drain *d, const struct write_result *r, enum msg type, const char *what)
{
	if (r->outcome != OUTCOME_OK || r->skipped > 0) {
		set_error(d, what, r);
		return false;
	}
	for (size_t i = 0; i < r->nitems; i++) {
		if (r->items[i].type != type) {
			snprintf(d->error, sizeof(d->error), "%s: the actor is no reader of %s (kinds.h)",
			    what, msg_table[type].name);
			return false;
		}
	}
	return true;
}

static void
set_error(struct drain *d, const char *what, const struct write_result *r)
{
	const struct wire_str cause =
	    r->message.len > 0 ? r->message : wire_str_of(outcome_text(r->outcome));

	snprintf(d->error, sizeof(d->error), "%s: %.*s", what, (int)cause.len, cause.p);
}
