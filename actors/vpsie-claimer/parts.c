/* actors/vpsie-claimer/parts.c - what both plans use. */
#include <stdio.h>
#include <string.h>

#include "vpsie.h"
#include "clock.h"
#include "json.h"

struct vpsie_claimer *
vpsie_of(struct reconciler *r)
{
	return (struct vpsie_claimer *)r;
}

struct vpsienode_claim *
vpsie_claim(struct vpsie_claimer *c, const char *key)
{
	return keytab_value(c->claims, keytab_add(c->claims, key, strlen(key), NULL));
}

struct nodegroup_claim *
vpsie_group_claim(struct vpsie_claimer *c, const char *key)
{
	return keytab_value(c->groups, keytab_add(c->groups, key, strlen(key), NULL));
}

void
vpsie_forget(struct keytab *k, const char *key, size_t len)
{
	const uint32_t id = keytab_find(k, key, len);

	if (id != KEYTAB_NONE)
		keytab_remove(k, id);
}

void
vpsie_key_split(const char *key, struct wire_str *ns, struct wire_str *name)
{
	const char *const first = strchr(key, '/'), *const last = strrchr(key, '/');

	*name = wire_str_of(last + 1);
	*ns = (struct wire_str){ first + 1, last > first ? (uint32_t)(last - first - 1) : 0 };
}

void
vpsie_write_object(
    struct reconcile_write *w, unsigned kind, const struct work *work, const struct change *object)
{
	struct wire_str ns, name;

	vpsie_key_split(work->key, &ns, &name);
	*w = (struct reconcile_write){ .kind = kind, .trace = work->trace };
	snprintf(w->ns, sizeof(w->ns), "%.*s", (int)ns.len, ns.p);
	snprintf(w->name, sizeof(w->name), "%.*s", (int)name.len, name.p);
	snprintf(w->uid, sizeof(w->uid), "%.*s", (int)object->uid.len, object->uid.p);
}

void
vpsie_wait_step(struct reconcile_step *step, const char *why, int64_t after_ms)
{
	step->form = STEP_WAIT;
	step->verb = "wait";
	step->why = why;
	step->after_ms = after_ms;
}

bool
vpsie_plan_list(struct vpsie_claimer *c, const struct work *w, struct reconcile_step *step)
{
	const int64_t due_ms = c->list.began_ms + c->set.discovery_ms, now_ms = clock_mono_ms();

	/* D12: whoever wants a newer one, because its call ended meanwhile, waits for the next tick, too. */
	if (c->list.number > 0 && now_ms < due_ms) {
		vpsie_wait_step(step, "the machines are listed again at the next tick", due_ms - now_ms);
		return true;
	}
	if (!vpsie_plan_call(c, CALL_LIST_VMS, &(struct vpsie_target){ .offset = 0 }, step))
		return true;
	step->form = STEP_EFFECT;
	step->verb = "list";
	step->why = "the machines have to be listed";
	step->what = "list machines";
	step->start = vpsie_call_list;
	shared_list_join(&c->list, w, step, now_ms);
	return true;
}
