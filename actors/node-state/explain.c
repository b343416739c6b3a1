/*
 * actors/node-state/explain.c - `muster explain node/x` and `pool/x`: what node-state decided, and
 * from what. The answer is computed from what is held now, by the same functions as the evaluation:
 * nothing is kept for it.
 */
#include <stdio.h>

#include "conditions.h"
#include "fleet.h"
#include "json.h"
#include "obj.h"

static void explain_inputs(const struct fleet *, const struct body_node *, const struct assess_in *,
    struct json *);
static void explain_conditions(const struct conditions *, struct json *);
static void text(struct json *, const char *, struct wire_str);

#define ANNOTATION_ROW(ID, key)	[MCO_##ID] = (key),
static const char *const annotations[MCO_MAX] = { ASSESS_MCO(ANNOTATION_ROW) };

void
explain_node(const struct fleet *f, struct wire_str key, const struct body_node *node, bool openshift,
    struct json *out)
{
	char why[CHOOSE_WHY_MAX];
	struct choice choice;
	struct assess_in in;

	if (node == NULL)
		return;
	const struct pool *owner = pools_owner(fleet_pools(f), node->labels, &choice, why, sizeof(why));
	fleet_inputs(f, node, owner, &in);
	explain_inputs(f, node, &in, out);
	json_int(out, "evaluations", fleet_evaluations(f, key));
	if (!fleet_is_open(f)) {
		json_str(out, "unmanaged",
		    "not evaluated yet: the first snapshot from kube-watcher is not complete");
		return;
	}
	if (owner == NULL) {
		json_str(out, "unmanaged", openshift ? why
		    : "this cluster has no MachineConfigPools (no OpenShift): only facts are served");
		return;
	}
	const struct assess a = assess_node(&in);
	struct conditions c;
	conditions_from(&in, &a, &c);
	json_str(out, "rule", assess_rule_text(a.rule));
	json_open(out, "decided", '{');
	json_str(out, "pool", owner->name);
	json_str(out, "because", why);
	text(out, "phase", c.phase);
	text(out, "scopeType", c.scope);
	text(out, "version", c.version);
	text(out, "estimatedToComplete", c.estimate);
	text(out, "message", c.message);
	json_close(out, '}');
	explain_conditions(&c, out);
}

void
explain_pool(const struct fleet *f, struct wire_str name, struct json *out)
{
	const struct pool *p = pools_find(fleet_pools(f), name);

	if (p == NULL)
		return;
	json_open(out, "inputs", '{');
	json_bool(out, "paused", p->paused);
	json_str(out, "nodeSelector", p->selector);
	if (p->error[0] != '\0')
		json_str(out, "selector error", p->error);
	json_str(out, "image", p->image);
	text(out, "target version", fleet_target(f));
	json_close(out, '}');
}

static void
explain_inputs(const struct fleet *f, const struct body_node *node, const struct assess_in *in,
    struct json *out)
{
	json_open(out, "inputs", '{');
	for (size_t i = 0; i < MCO_MAX; i++) {
		if (in->mco[i].p != NULL)
			text(out, annotations[i], in->mco[i]);
	}
	text(out, "version of currentConfig", in->current_version);
	text(out, "version of desiredConfig", in->desired_version);
	text(out, "target version", fleet_target(f));
	json_bool(out, "pool paused", in->paused);
	json_bool(out, "unschedulable", node->unschedulable);
	struct wire_rows conditions = node->conditions;
	for (struct wire_str cells[ROWS_COLUMNS_MAX]; rows_next(&conditions, cells);) {
		char name[80];

		snprintf(name, sizeof(name), "condition %.*s", (int)cells[0].len, cells[0].p);
		text(out, name, cells[1]);
	}
	json_close(out, '}');
}

static void
explain_conditions(const struct conditions *c, struct json *out)
{
	json_open(out, "conditions", '[');
	for (size_t i = 0; i < CONDITION_MAX; i++) {
		json_open(out, NULL, '{');
		json_str(out, "type", c->list[i].type);
		json_str(out, "status", c->list[i].status);
		json_str(out, "reason", c->list[i].reason);
		text(out, "message", c->list[i].message);
		text(out, "since", c->list[i].since);
		json_close(out, '}');
	}
	json_close(out, ']');
}

static void
text(struct json *out, const char *name, struct wire_str s)
{
	json_strn(out, name, s.p == NULL ? "" : s.p, s.len);
}
