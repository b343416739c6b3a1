/* actors/insight/explain.c - what this actor tells people: `muster status` and `muster explain`. */
#include <stdio.h>
#include <string.h>

#include "insight.h"
#include "status.h"

struct telling {
	struct json	*out;
	enum sort	 sort;
};

static void put_stored(const struct change *, void *);
static void put_write(struct json *, const struct journal_entry *);
static bool has_trouble(struct insight *, int64_t);

void
insight_explain(struct actor *a, void *self, const char *resource, const char *name, struct json *out)
{
	const struct insight *const in = self;
	char key[OBJECT_KEY_MAX + 1];
	struct wire_str bare;
	int n = snprintf(key, sizeof(key), "%s/%s", resource, name);

	if (n < 0 || (size_t)n >= sizeof(key))
		return;
	const enum sort sort = sort_of_key(key, (size_t)n, &bare);
	const struct journal_entry *const entry = journal_find(in->journal, key, (size_t)n);
	if (sort == SORT_MAX || entry == NULL || entry->why == NULL)
		return;
	json_open(out, "plan", '{');
	json_str(out, "verb", insight_verb_name(entry->verb));
	json_str(out, "why", entry->why);
	if (entry->field[0] != '\0')
		json_str(out, "differs", entry->field);
	json_close(out, '}');
	n = snprintf(key, sizeof(key), "%s/%s", sort_table[sort].resource, name);
	if (n > 0 && (size_t)n < sizeof(key))
		actor_get(a, LINK_KUBE_INSIGHT, key, (size_t)n, put_stored,
		    &(struct telling){ .out = out, .sort = sort });
	if (entry->at_us != 0)
		put_write(out, entry);
}

void
insight_tick(struct actor *a, void *self, int64_t now_ms)
{
	struct insight *const in = self;
	const unsigned stored = in->kept[SORT_NODES].stored + in->kept[SORT_POOLS].stored;

	if (has_trouble(in, now_ms))
		return;
	if (!in->leading)
		actor_status(a, "standing by, %u insights", stored);
	else if (in->under_way == 0)
		actor_status(a, "%u insights", stored);
	else
		actor_status(a, "%u insights, %u writes under way", stored, in->under_way);
}

/* The first thing that keeps us from our work, said in the status. */
static bool
has_trouble(struct insight *in, int64_t now_ms)
{
	if (!in->kube_synced || !in->nodes_synced) {
		actor_status(in->actor, "waiting for the first complete picture from %s",
		    in->kube_synced ? "node-state" : "kube-watcher");
		return true;
	}
	for (enum sort s = 0; s < SORT_MAX; s++) {
		const struct kept *const kept = &in->kept[s];

		if (kept->on && kept->kind == KIND_STATE_ABSENT) {
			actor_status(in->actor, "waiting for the CRD %s.%s: kubectl apply -f deploy/crds",
			    sort_table[s].resource, kept->group);
			return true;
		}
		if (kept->on && now_ms < kept->hold_until_ms) {
			actor_status(in->actor, "the cluster does not allow writing %s.%s: deploy/rbac.yaml",
			    sort_table[s].resource, kept->group);
			return true;
		}
	}
	return false;
}

static void
put_stored(const struct change *c, void *arg)
{
	const struct telling *const t = arg;
	struct status s;

	sort_table[t->sort].read_insight(&s, c->value);
	json_open(t->out, "stored", '{');
	json_strn(t->out, "resourceVersion", c->rv.p, c->rv.len);
	status_put(t->out, t->sort, &s, s.conditions, s.nconditions);
	json_close(t->out, '}');
}

static void
put_write(struct json *out, const struct journal_entry *e)
{
	char what[64];

	snprintf(what, sizeof(what), "%s%s", op_table[e->op].name, e->status ? " status" : "");
	json_open(out, "write", '{');
	json_str(out, "what", what);
	json_str(out, "outcome", outcome_name(e->outcome));
	json_str(out, "message", e->message != NULL ? e->message : "");
	json_int(out, "at_us", e->at_us);
	json_close(out, '}');
}
