/* actors/vpsie-claimer/explain.c - `muster explain` of a VPSieNode and of a NodeGroup. */
#include <stdio.h>
#include <string.h>

#include "vpsie.h"
#include "json.h"
#include "obj.h"

enum { CANDIDATES_MAX = 40 };	/* shown; the number of all is, too */

static void explain_vpsienode(struct vpsie_claimer *, const struct work *, struct json *);
static void explain_candidates(struct vpsienode_view *, struct json *);
static void put_candidate(struct json *, const struct machine *, enum discover_reason);
static void explain_group(struct vpsie_claimer *, const struct work *, struct json *);

void
vpsie_explain_key(struct actor *a, void *self, const char *resource, const char *name, struct json *out)
{
	struct vpsie_claimer *const c = self;
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "%s/%s", resource, name);
	const struct work w = { .key = key, .len = (size_t)n };

	(void)a;
	if (n < 0 || (size_t)n >= sizeof(key)
	    || (strcmp(resource, VPSIE_NODES) != 0 && strcmp(resource, NODE_GROUPS) != 0))
		return;
	const struct journal_entry *const entry = journal_find(c->r.journal, key, (size_t)n);
	if (entry == NULL || entry->why == NULL)
		return;
	json_open(out, "inputs", '{');
	if (strcmp(resource, VPSIE_NODES) == 0)
		explain_vpsienode(c, &w, out);
	else
		explain_group(c, &w, out);
	if (c->list_error[0] != '\0')
		json_str(out, "last list", c->list_error);
	if (vpsie_credential_error(c->credential)[0] != '\0')
		json_str(out, "credential", vpsie_credential_error(c->credential));
	json_close(out, '}');
	journal_put_plan(entry, out);
	journal_put_write(entry, out);
}

static void
explain_vpsienode(struct vpsie_claimer *c, const struct work *w, struct json *out)
{
	const uint32_t id = keytab_find(c->claims, w->key, w->len);
	struct vpsienode_view v;

	if (id == KEYTAB_NONE)
		return;
	/* A question is no observation. */
	const struct vpsienode_claim before = *(struct vpsienode_claim *)keytab_value(c->claims, id);
	vpsie_node_view_read(&v, c, w);
	if (v.facts.exists) {
		json_str(out, "phase", vpsie_phase_name(v.facts.phase));
		json_str(out, "request", !v.facts.intent ? "none" : !v.facts.sent ? "intended, not sent"
		    : "it may have been sent");
		if (vpsie_node_view_id(&v) > 0)
			json_int(out, "machine", vpsie_node_view_id(&v));
		if (vpsie_node_view_identifier(&v).len > 0)
			json_strn(out, "identifier", vpsie_node_view_identifier(&v).p,
			    vpsie_node_view_identifier(&v).len);
		if (v.facts.node)
			json_strn(out, "node", v.fact->name.p, v.fact->name.len);
		explain_candidates(&v, out);
		drain_set_explain(c->drains, w->key, out);
	}
	*vpsie_claim(c, w->key) = before;
}

/* Every machine of the last list that is not another VPSieNode's own, and why it was taken or refused. */
static void
explain_candidates(struct vpsienode_view *v, struct json *out)
{
	const struct discover_result *result;
	const struct discover_input *const in = vpsie_matching_input(v->c, &result);
	const uint32_t self = vpsie_matching_find(v->c, v->work->key);
	unsigned shown = 0, bound = 0;

	json_int(out, "machines in the last list", in->nmachines);
	if (self == DISCOVER_NONE)
		return;
	json_open(out, "candidates", '[');
	for (uint32_t m = 0; m < in->nmachines; m++) {
		const enum discover_reason why = discover_explain(in, result, self, m);

		bound += why == DISCOVER_BOUND;
		if (why != DISCOVER_BOUND && shown++ < CANDIDATES_MAX)
			put_candidate(out, &in->machines[m], why);
	}
	json_close(out, ']');
	json_int(out, "bound to others", bound);
}

static void
put_candidate(struct json *out, const struct machine *m, enum discover_reason why)
{
	const struct wire_str name = m->hostname.len > 0 ? m->hostname : m->identifier;
	char text[400];

	snprintf(text, sizeof(text), "%.*s (%lld): %s: %s", (int)(name.len < 128 ? name.len : 128), name.p,
	    (long long)m->id, discover_reason_name(why), discover_reason_text(why));
	json_str(out, NULL, text);
}

static void
explain_group(struct vpsie_claimer *c, const struct work *w, struct json *out)
{
	struct change object;
	union msg_body value;
	const struct body_node_group *const b = &value.node_group;

	if (!actor_read(c->r.actor, LINK_KUBE_VPSIE, w->key, w->len, &object, &value))
		return;
	json_int(out, "minNodes", b->min);
	json_int(out, "maxNodes", b->max);
	json_int(out, "desiredNodes", b->desired);
	json_int(out, "currentNodes", b->current);
	json_int(out, "readyNodes", b->ready);
	json_int(out, "group of the platform", b->group_id);
	if (c->missing != NULL && keytab_find(c->missing, b->cluster.p, b->cluster.len) != KEYTAB_NONE)
		json_str(out, "cluster", "the provider does not have it");
}
