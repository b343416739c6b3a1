/* actors/provider/node_pods.c - one live list of the Pods of a Node. */
#include "node_pods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "clock.h"
#include "drain.h"
#include "drain_pods.h"
#include "log.h"
#include "obj.h"

struct request {
	struct reconciler	*r;
	struct inflight_effect	*f;
	enum link		 kube;
	int64_t			 number;
	node_pods_done		*done;
	char			 node[254];
};

static write_done on_listed;
static bool read_pods(const struct request *, const struct write_result *, bool *, char *, size_t);

void
node_pods_list(struct reconciler *r, struct inflight_effect *f, enum link kube, const struct work *w,
    const struct reconcile_step *step, node_pods_done *done)
{
	struct request *const q = obj_alloc(sizeof(*q));
	char selector[sizeof(q->node) + 16];

	*q = (struct request){ .r = r, .f = f, .kube = kube, .number = step->number, .done = done };
	snprintf(q->node, sizeof(q->node), "%s", step->write.name);
	snprintf(selector, sizeof(selector), "spec.nodeName=%s", q->node);
	actor_write(r->actor, kube, &(struct write_request){ .op = OP_LIST, .group = "", .version = "v1",
	    .resource = "pods", .fields = selector, .timeout_ms = DRAIN_READ_MS, .trace = w->trace },
	    on_listed, q);
}

static void
on_listed(struct actor *a, void *self, const struct write_result *result, void *arg)
{
	struct request *const q = arg;
	char why[DRAIN_ERROR_MAX] = "";
	bool pods = false;

	(void)a, (void)self;
	const bool read = read_pods(q, result, &pods, why, sizeof(why));
	if (!read)
		log_info("the Pods of a Node were not listed", KV_S(NODE, q->node), KV_S(WHY, why));
	q->done(q->r, q->number, read, pods);
	reconcile_effect_done(q->r, q->f, read ? "ok" : "failed", wire_str_of(why),
	    &(struct outcome_action){ .result = WORK_AFTER, .after_ms = 1 });
	free(q);
}

static bool
read_pods(const struct request *q, const struct write_result *result, bool *pods, char *why, size_t size)
{
	struct drain_sight sight = { .now_ms = clock_mono_ms() };
	struct drain_pods list = { NULL, 0 };
	bool ok = result->outcome == OUTCOME_OK && result->skipped == 0;

	if (!ok)
		snprintf(why, size, "%s", outcome_text(result->outcome));
	if (ok && !actor_cluster_time_us(q->r->actor, q->kube, &sight.cluster_us)) {
		snprintf(why, size, "the time of the cluster is not known yet");
		ok = false;
	}
	for (size_t i = 0; ok && i < result->nitems; i++)
		ok = result->items[i].type == MSG_NODE_POD && drain_pods_add(&list,
		    &result->items[i].value->node_pod, result->items[i].uid, &sight, why, size);
	for (size_t i = 0; ok && i < list.n; i++)
		*pods = *pods
		    || !(list.pods[i].daemonset || list.pods[i].mirror || list.pods[i].finished);
	drain_pods_free(&list);
	return ok;
}
