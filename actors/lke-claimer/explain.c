/* actors/lke-claimer/explain.c - `muster explain nodeclaim/NAME`: what its decision rests on. */
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "clock.h"
#include "json.h"

static void put_pool(struct lke_claimer *, const char *, struct json *);

void
claimer_explain(struct actor *a, void *self, const char *resource, const char *name, struct json *out)
{
	struct lke_claimer *const c = self;
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "%s/%s", resource, name);
	const struct work w = { .key = key, .len = (size_t)n };
	struct claim_view v;

	(void)a;
	if (n < 0 || (size_t)n >= sizeof(key) || strcmp(resource, "nodeclaims") != 0)
		return;
	const struct journal_entry *const entry = journal_find(c->r.journal, key, (size_t)n);
	const struct claim_memory *const known = claim_memory_find(c, key);
	if (entry == NULL || entry->why == NULL || known == NULL)
		return;
	const struct claim_memory before = *known;
	claim_view_read(&v, c, &w, NULL, NULL, clock_mono_ms());
	*v.memory = before;	/* a question is no observation */
	json_open(out, "inputs", '{');
	if (before.type[0] != '\0')
		json_str(out, "instance type", before.type);
	else if (before.message[0] != '\0')
		json_str(out, "instance type", before.message);
	if (v.machine != 0)
		json_int(out, "machine", v.machine);
	json_bool(out, "tagged", v.in.tagged);
	if (v.in.nodes > 0)
		json_strn(out, "node", v.node.key.p, v.node.key.len);
	if (before.pool_key[0] != '\0')
		put_pool(c, before.pool_key, out);
	if (c->failure != NULL)
		json_str(out, "provider", c->failure);
	json_int(out, "machines in the last list", c->snapshot == NULL ? 0
	    : (int64_t)c->snapshot->ninstances);
	json_int(out, "age of that list in ms", c->snapshot == NULL ? -1
	    : clock_mono_ms() - c->list.began_ms);
	drain_set_explain(c->drains, key, out);
	json_close(out, '}');
	journal_put_plan(entry, out);
	journal_put_write(entry, out);
}

/* What its pool does decides whether it gets a machine. */
static void
put_pool(struct lke_claimer *c, const char *key, struct json *out)
{
	const struct journal_entry *const pool = journal_find(c->r.journal, key, strlen(key));
	char text[512];

	json_str(out, "pool key", key + strlen(LKE_POOL_KEYS));
	if (pool == NULL || pool->why == NULL)
		return;
	snprintf(text, sizeof(text), "%s: %s", pool->verb != NULL ? pool->verb : "?", pool->why);
	json_str(out, "pool", text);
	if (pool->outcome != NULL) {
		snprintf(text, sizeof(text), "%s: %s%s%s", pool->what, pool->outcome, pool->message != NULL
		    ? ": " : "",
		    pool->message != NULL ? pool->message : "");
		json_str(out, "last call of the pool", text);
	}
}
