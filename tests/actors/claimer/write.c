/* tests/actors/claimer/write.c - what test-claimer writes: patches of metadata, of a Widget or its Node. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actors/reconcile/bodies.h"
#include "claimer.h"
#include "json.h"
#include "obj.h"
#include "random.h"

static bool put_intent(struct json *, struct view *);
static void put_vm(struct json *, int64_t);
static void put_label(struct json *, const struct view *, struct reconcile_write *);

bool
write_fill(struct view *v, enum claimer_verb verb, struct reconcile_write *w)
{
	struct json j = { .buf = v->c->r.body, .size = sizeof(v->c->r.body) };
	bool known = true;

	w->op = OP_MERGE;
	snprintf(w->rv, sizeof(w->rv), "%.*s", (int)v->widget.rv.len, v->widget.rv.p);
	json_open(&j, NULL, '{');
	json_open(&j, "metadata", '{');
	if (verb == CLAIMER_INTEND)
		known = put_intent(&j, v);
	else if (verb == CLAIMER_BIND)
		put_vm(&j, v->vm);
	else if (verb == CLAIMER_LABEL)
		put_label(&j, v, w);
	else
		body_finalizers(&j, v->body.widget.finalizers, CLAIMER_FINALIZER, verb == CLAIMER_HOLD);
	json_close(&j, '}');
	json_close(&j, '}');
	w->body_len = json_end(&j);
	MUST(w->body_len > 0);
	return known;
}

/* A10: its time is the cluster's (A9). */
static bool
put_intent(struct json *j, struct view *v)
{
	struct claimer *const c = v->c;
	int64_t cluster_us = 0;
	uint64_t unique;
	const bool known = actor_cluster_time_us(c->r.actor, LINK_KUBE_TEST_CLAIMER, &cluster_us);

	random_secret(&unique, sizeof(unique));
	intent_begin(&v->claim->intent, call_effects_lease(&c->calls), cluster_us, unique);
	json_open(j, "annotations", '{');
	json_str(j, CLAIMER_GROUP "/intent", v->claim->intent.text);
	json_close(j, '}');
	return known;
}

static void
put_vm(struct json *j, int64_t vm)
{
	char text[CLAIMER_ID_TEXT];

	snprintf(text, sizeof(text), "%" PRId64, vm);
	json_open(j, "annotations", '{');
	json_str(j, CLAIMER_GROUP "/intent", NULL);
	json_str(j, CLAIMER_GROUP "/vm", text);
	json_close(j, '}');
}

/* Of its Node. A label needs no resourceVersion: nobody else's is replaced. */
static void
put_label(struct json *j, const struct view *v, struct reconcile_write *w)
{
	const struct wire_str key = v->node.key;

	json_open(j, "labels", '{');
	json_str(j, CLAIMER_LABEL_KEY, w->name);
	json_close(j, '}');
	w->kind = CLAIMER_NODES;
	w->ns[0] = w->rv[0] = '\0';
	snprintf(w->name, sizeof(w->name), "%.*s", (int)(key.len - strlen("nodes/")),
	    key.p + strlen("nodes/"));
	snprintf(w->uid, sizeof(w->uid), "%.*s", (int)v->node.uid.len, v->node.uid.p);
}
