/* actors/provider/drain.c - one drain: its view for the plan, its limits, its end. */
#include "drain.h"

#include <stdio.h>

#include "drain_private.h"
#include "obj.h"

enum { DRAIN_TURN_MS = 1000 };	/* a drain whose turn has come may have found nothing to send */

static void begin_anew(struct drain *, int64_t);
static bool is_marked(const struct drain_policy *, const struct drain_target *);
static struct drain_step end_at_limit(struct drain *, struct drain_step, int64_t);
static struct drain_step wait_until(int64_t, const char *);
static struct drain_step perform(struct drain *, const struct drain_target *, const struct drain_step *,
    int64_t, bool *);

struct drain *
drain_new(const struct drain_config *config)
{
	struct drain *d;

	MUST(config->policy != NULL && config->pool != NULL && config->progress != NULL);
	OBJ_NEW(d, DRAIN_MAGIC);
	d->config = *config;
	d->waits_for = DRAIN_TURN_MAX;
	d->config.node = obj_strdup(config->node);
	return d;
}

void
drain_free(struct drain **dp)
{
	struct drain *d;

	if (*dp == NULL)
		return;
	OBJ_TAKE(d, dp, DRAIN_MAGIC);
	d->freed = true;
	drain_pool_leave(d);
	if (d->in_flight > 0)
		return;
	drain_pods_free(&d->pods);
	drain_volumes_free(&d->volumes);
	free((char *)(uintptr_t)d->config.node);
	OBJ_FREE(d);
}

void
drain_deadline(struct drain *d, int64_t deadline_ms)
{
	OBJ_CHECK(d, DRAIN_MAGIC);
	d->config.deadline_ms = deadline_ms;
}

struct drain_step
drain_advance(struct drain *d, const struct drain_target *node, int64_t now_ms)
{
	bool again = true;
	struct drain_step step = { .verb = DRAIN_WAIT };

	OBJ_CHECK(d, DRAIN_MAGIC);
	if (now_ms < d->again_ms)
		return wait_until(d->again_ms, "a limit ended the drain; it begins anew later");
	if (d->again_ms != 0)
		begin_anew(d, now_ms);
	if (is_marked(d->config.policy, node))
		d->marked = false;	/* the actor's view has it: from now on it counts alone */
	while (again) {
		const struct drain_stay stay = { &d->pods, d->config.policy, now_ms };
		const char *ns;
		char name[DRAIN_CLAIM_NAME_MAX + 1];
		const struct drain_node view = {
			.policy = d->config.policy, .tainted = node->tainted || d->marked,
			.cordoned = node->cordoned || d->marked, .labelled = node->labelled || d->marked,
			.started_ms = d->config.started_ms, .deadline_ms = d->config.deadline_ms,
			.listed = d->listed, .listed_ms = d->listed_ms, .lists = d->lists,
			.pods = d->pods.pods, .npods = d->pods.n, .volumes_listed = d->volumes_listed,
			.volumes_listed_ms = d->volumes_listed_ms, .volumes_lists = d->volumes_lists,
			.volumes = drain_volumes_count(&d->volumes, &stay),
			.claims_unread = drain_volumes_unread(&d->volumes, &stay, &ns, name),
		};
		const struct drain_step next = drain_plan(&view, now_ms);

		again = false;
		step = perform(d, node, &next, now_ms, &again);
	}
	return step.verb == DRAIN_GAVE_UP ? end_at_limit(d, step, now_ms) : step;
}

int64_t
drain_busy_until_ms(const struct drain *d)
{
	OBJ_CHECK(d, DRAIN_MAGIC);
	return d->in_flight == 0 ? 0 : d->busy_until_ms;
}

size_t
drain_count(const struct drain *d)
{
	OBJ_CHECK(d, DRAIN_MAGIC);
	return d->pods.n;
}

const char *
drain_error(const struct drain *d)
{
	OBJ_CHECK(d, DRAIN_MAGIC);
	return d->error;
}

const char *
drain_limit(const struct drain *d)
{
	OBJ_CHECK(d, DRAIN_MAGIC);
	return d->limit;
}

static bool
is_marked(const struct drain_policy *p, const struct drain_target *node)
{
	return (node->tainted || p->taint == NULL) && (node->labelled || p->label == NULL)
	    && (node->cordoned || !p->cordon);
}

/* *again: it was sent, and there may be another that can be sent beside it. */
static struct drain_step
perform(struct drain *d, const struct drain_target *node, const struct drain_step *next, int64_t now_ms,
    bool *again)
{
	switch (next->verb) {
	case DRAIN_EVICT:
	case DRAIN_DELETE:
		if (d->pods_in_flight >= DRAIN_EVICTIONS_MAX)
			return wait_until(INT64_MAX, "as many evictions as may be are in flight");
		if (!drain_pool_take(d, DRAIN_TURN_WRITE))
			return wait_until(now_ms + DRAIN_TURN_MS, "evictions of other Nodes are in flight");
		drain_send(d, node, next, now_ms);
		*again = true;
		return *next;
	case DRAIN_MARK:
	case DRAIN_LIST:
	case DRAIN_VOLUMES:
	case DRAIN_CLAIM:
		if (d->in_flight > 0)
			return wait_until(INT64_MAX, "a request is in flight");
		if (now_ms < d->pause_ms)
			return wait_until(d->pause_ms, "the request before failed");
		if (!drain_pool_take(d, next->verb == DRAIN_MARK && !drain_node_outdated(d, node)
		    ? DRAIN_TURN_WRITE : DRAIN_TURN_READ))
			return wait_until(now_ms + DRAIN_TURN_MS, "requests of other drains are in flight");
		drain_send(d, node, next, now_ms);
		return (struct drain_step){ DRAIN_WAIT, .at_ms = INT64_MAX, .why = next->why,
			.pods_gone = next->pods_gone };
	default:
		if (next->verb != DRAIN_WAIT && d->in_flight > 0)
			return wait_until(INT64_MAX, "a request is in flight");
		return *next;
	}
}

/* With the policy's limits from the beginning: what was refused before counts anew. */
static void
begin_anew(struct drain *d, int64_t now_ms)
{
	d->again_ms = 0;
	d->listed = d->volumes_listed = d->marked = false;
	d->config.started_ms = now_ms;
	for (size_t i = 0; i < d->pods.n; i++)
		d->pods.pods[i].refused_since_ms = 0;
}

static struct drain_step
end_at_limit(struct drain *d, struct drain_step step, int64_t now_ms)
{
	const struct drain_pod *const pod = step.pod < d->pods.n ? &d->pods.pods[step.pod] : NULL;

	if (pod != NULL)
		snprintf(d->limit, sizeof(d->limit), "Pod %s/%s: %s", pod->ns, pod->name, step.why);
	else
		snprintf(d->limit, sizeof(d->limit), "%s", step.why);
	if (d->config.policy->then == DRAIN_THEN_KEEP)
		d->again_ms = step.at_ms = now_ms + d->config.policy->again_ms;
	return step;
}

static struct drain_step
wait_until(int64_t at_ms, const char *why)
{
	return (struct drain_step){ DRAIN_WAIT, .at_ms = at_ms, .why = why };
}
