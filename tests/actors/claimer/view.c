/* tests/actors/claimer/view.c - a Widget, its VM and its Node, as mirrors and the last list have them. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claimer.h"

static bool read_widget(struct view *);
static void renew_claim(struct view *);
static void read_node(struct view *, int64_t);
static void read_list(struct view *, int64_t);
static void observe_absence(struct view *, int64_t);
static const char *widget_name(const struct view *);

void
view_keys(struct reconciler *r, const struct change *c)
{
	struct claimer *const self = test_claimer_of(r);
	const struct wire_str none = { "", 0 };
	struct wire_str vm;
	char id[sizeof(CLAIMER_PROVIDER) + CLAIMER_ID_TEXT] = "";
	const char *owner;

	if (c->type == MSG_WIDGET) {
		if (c->kind != CHANGE_GONE && map_get(c->value->widget.claim, "vm", &vm))
			snprintf(id, sizeof(id), CLAIMER_PROVIDER "%.*s", (int)vm.len, vm.p);
		id_index_set(self->widgets, c->key, wire_str_of(id));
		reconcile_enqueue(r, c->key.p, c->key.len, c);
		return;
	}
	const struct wire_str provider_id = c->value->node_fact.provider_id;
	id_index_set(self->nodes, c->key, c->kind != CHANGE_GONE ? provider_id : none);
	owner = id_index_key(self->widgets, provider_id);
	if (owner != NULL)
		reconcile_enqueue(r, owner, strlen(owner), c);
}

void
view_read(struct view *v, struct claimer *c, const struct work *w, int64_t now_ms)
{
	*v = (struct view){ .c = c, .work = w, .claim = claimer_claim(c, w->key) };
	if (!read_widget(v))
		return;
	read_node(v, now_ms);
	read_list(v, now_ms);
	if (v->in.listed && v->in.found == 0)
		observe_absence(v, now_ms);
	else if (v->in.listed)
		v->claim->absence = (struct absence){ .seen = false };
}

static bool
read_widget(struct view *v)
{
	struct claimer *const c = v->c;
	const struct body_widget *const b = &v->body.widget;
	struct wire_str vm = { "", 0 }, intent = { "", 0 };
	char id[CLAIMER_ID_TEXT];

	v->in.exists = actor_read(c->r.actor, LINK_KUBE_TEST_CLAIMER, v->work->key, v->work->len, &v->widget,
	    &v->body);
	if (!v->in.exists)
		return false;
	renew_claim(v);
	const struct fence_lease *const lease = call_effects_lease(&c->calls);
	v->in.deleting = b->deleted.len > 0;
	v->in.finalizer = rows_have(b->finalizers, CLAIMER_FINALIZER);
	v->in.bound = map_get(b->claim, "vm", &vm) && vm.len > 0;
	map_get(b->claim, "intent", &intent);
	v->in.intent = intent_state(&v->claim->intent, intent, lease);
	if (v->in.intent == INTENT_SENT)
		v->settled_ms = intent_settled_ms(&v->claim->intent, lease, c->calls.started_ms);
	v->in.made = v->claim->made != 0;
	v->vm = v->claim->made;
	if (v->in.bound) {
		snprintf(id, sizeof(id), "%.*s", (int)vm.len, vm.p);
		v->vm = strtoll(id, NULL, 10);
	}
	return true;
}

/* This instance may not have seen that the one before was gone. */
static void
renew_claim(struct view *v)
{
	struct claim *const claim = v->claim;

	if (wire_str_is(v->widget.uid, claim->uid))
		return;
	drain_set_drop(v->c->drains, v->work->key);
	*claim = (struct claim){ .made = 0 };
	snprintf(claim->uid, sizeof(claim->uid), "%.*s", (int)v->widget.uid.len, v->widget.uid.p);
}

static void
read_node(struct view *v, int64_t now_ms)
{
	char id[sizeof(CLAIMER_PROVIDER) + CLAIMER_ID_TEXT];

	snprintf(id, sizeof(id), CLAIMER_PROVIDER "%" PRId64, v->vm);
	const char *const key = id_index_key(v->c->nodes, wire_str_of(id));
	v->in.node = key != NULL
	    && actor_read(v->c->r.actor, LINK_FACTS, key, strlen(key), &v->node, &v->fact);
	struct wire_str label = { "", 0 };
	v->in.labelled = v->in.node && map_get(v->fact.node_fact.labels, CLAIMER_LABEL_KEY, &label)
	    && wire_str_is(label, widget_name(v));
	v->in.took_over = now_ms < fence_takeover_ms(call_effects_lease(&v->c->calls));
	v->in.drained = drain_set_state(v->c->drains, v->work->key) != DRAIN_WAIT;
}

static void
read_list(struct view *v, int64_t now_ms)
{
	const struct claimer *const c = v->c;
	const struct claim *const claim = v->claim;
	const int64_t bound = v->in.bound ? v->vm : 0;

	v->in.deleted = claim->deleted_ms != 0;
	v->in.deleted_now = v->in.deleted && now_ms - claim->deleted_ms < CLAIMER_DELETE_MS;
	v->in.listed = shared_list_usable(&c->list, claim->after, CLAIMER_LIST_AGE_MS, now_ms);
	for (size_t i = 0; v->in.listed && i < c->nvms; i++) {
		if (wire_str_is(v->widget.uid, c->vms[i].tag)) {
			v->in.found++;
			v->vm = c->vms[i].id;
		} else if (bound != 0 && c->vms[i].id == bound) {
			v->in.retagged = true;
		}
	}
}

static void
observe_absence(struct view *v, int64_t now_ms)
{
	struct claimer *const c = v->c;
	const struct brake_verdict brake =
	    brake_check(&c->brake, actor_fresh(c->r.actor, LINK_KUBE_TEST_CLAIMER), now_ms);

	v->in.doubtful = brake.reason != BRAKE_RELEASED;
	v->doubt = brake.reason;
	/* Before the call has settled a list proves nothing; what was absent by then does not count. */
	if (v->in.doubtful || v->claim->absence.first_ms <= v->settled_ms)
		v->claim->absence = (struct absence){ .seen = false };
	if (!v->in.doubtful && c->list.began_ms > v->settled_ms)
		v->in.absence = absence_observe(&v->claim->absence, true, c->list.number,
		    c->list.began_ms, CLAIMER_APART_MS, now_ms);
}

/* What is not among the items is gone. */
void
view_read_live_node(struct view *v, const struct write_result *live)
{
	const bool found =
	    live->nitems > 0 && live->items[0].type == MSG_RAW && live->items[0].value != NULL;
	const struct wire_str text = found ? live->items[0].value->raw.json : (struct wire_str){ "", 0 };
	json_t *const node = json_loadb(text.p, text.len, 0, NULL);
	const char *const label = json_string_value(json_object_get(
	    json_object_get(json_object_get(node, "metadata"), "labels"), CLAIMER_LABEL_KEY));

	v->in.node = v->in.node && node != NULL;
	v->in.labelled = label != NULL && strcmp(label, widget_name(v)) == 0;
	json_decref(node);
}

/* Its key is "widgets/<namespace>/<name>". */
static const char *
widget_name(const struct view *v)
{
	return strrchr(v->work->key, '/') + 1;
}
