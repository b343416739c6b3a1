/* actors/lke-claimer/calls.c - the calls that change something, and what their answers change here. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "clock.h"
#include "log.h"
#include "obj.h"

enum { BLOCKED_MS = 60 * 1000 };	/* after a refusal that time alone does not mend */

static call_answered on_pool, on_pool_deleted, on_node_deleted, on_tagged;
static void send_call(struct lke_claimer *, struct inflight_effect *, const struct work *, enum lke_call,
    const char *,
    size_t, call_answered *);
static bool refused(struct lke_claimer *, struct pool_memory *, const char *, const struct reconcile_write *,
    enum lke_call, const struct client_answer *);
static void refuse_type(struct lke_claimer *, const char *);
static void deleted(struct lke_claimer *, int64_t);
static void expect(struct lke_claimer *, struct pool_memory *);

void
calls_open(struct lke_claimer *c)
{
	const double lists = (double)actor_setting_i64(c->r.actor, "lists-per-minute") / 60;
	const double others = (double)actor_setting_i64(c->r.actor, "calls-per-minute") / 60;

	for (unsigned i = 0; i < LKE_CALL_MAX; i++) {
		const struct lke_call_row *const row = &lke_calls[i];
		const double per_second = strcmp(row->bucket, "lists") == 0 ? lists : others;

		/* A quarter of a minute's calls at once: the window of the API is a minute. */
		c->classes[i] = (struct client_class){ .name = row->name, .bucket = row->bucket,
			.per_second = per_second, .burst = per_second * 15 < 1 ? 1 : per_second * 15,
			.mutating = row->mutating, .idempotent = row->idempotent };
	}
}

/* ---- POST and PUT of a pool ---- */

void
call_create_pool(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct lke_claimer *const c = claimer_of(r);
	const struct lke_order *const o = &c->order;
	char body[LKE_BODY_SIZE];
	const size_t len = lke_body_create(body, sizeof(body),
	    &(struct lke_new_pool){ .tier = c->cluster.tier,
	    .type = o->type, .count = (uint32_t)o->count, .tags = &o->tags, .firewall_id = o->firewall,
	    .k8s_version = c->cluster.tier == LKE_ENTERPRISE ? o->version : "" });

	(void)step;
	MUST(len > 0);
	send_call(c, f, w, LKE_CALL_CREATE_POOL, body, len, on_pool);
}

void
call_scale_pool(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct lke_claimer *const c = claimer_of(r);
	char body[64];
	const size_t len = lke_body_scale(body, sizeof(body), (uint32_t)c->order.count);

	(void)step;
	MUST(len > 0);
	send_call(c, f, w, LKE_CALL_SCALE_POOL, body, len, on_pool);
}

static bool
on_pool(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct lke_claimer *const c = claimer_of(r);
	struct pool_memory *const p = pool_memory(c, key);
	const enum lke_call call = p->intent_kind == LKE_INTEND_CREATE ? LKE_CALL_CREATE_POOL
	    : LKE_CALL_SCALE_POOL;
	struct lke_body b = { .p = a->body, .len = a->body_len };
	char note[128];
	int64_t id;

	if (a->outcome == CALL_REFUSED)
		return refused(c, p, key, about, call, a);
	if (a->outcome == CALL_NOT_SENT)
		return false;
	/* Read apart first: a malformed answer must not touch the snapshot. */
	struct lke_snapshot *apart = snapshot_new(c->cluster.tier, c->cluster.id);
	const bool done = a->outcome == CALL_DONE && lke_answer_pool(&b, apart, &id);
	snapshot_free(&apart);
	if (!done) {
		if (b.err[0] != '\0')
			log_warnx("malformed answer of the Linode API", KV_S(VERB, lke_calls[call].name),
			    KV_S(WHY, b.err));
		expect(c, p);
		return false;
	}
	expect(c, p);
	p->failure[0] = '\0';
	p->progress_ms = clock_mono_ms();
	observe_answer(c, call, p, a->body, a->body_len);
	const int len = snprintf(note, sizeof(note),
	    "the pool %" PRId64 " of the key %s has the count %" PRId64, id,
	    key + strlen(LKE_POOL_KEYS), p->intent_count);
	if (about->name[0] != '\0')
		reconcile_event(r, about, "Normal", call == LKE_CALL_CREATE_POOL ? "PoolCreated"
		    : "PoolScaled",
		    (struct wire_str){ note, (uint32_t)len });
	return true;
}

/* Nothing happened at the provider. True: what follows is decided here. */
static bool
refused(struct lke_claimer *c, struct pool_memory *p, const char *key, const struct reconcile_write *about,
    enum lke_call call, const struct client_answer *a)
{
	const struct lke_body b = { .p = a->body, .len = a->body_len };
	struct lke_error e;
	struct wire_str nodepool, type;
	char name[LKE_TYPE_ID_SIZE];

	lke_answer_error(&b, &e);
	const enum lke_fault fault = lke_fault(call, a->status, &e);
	if (fault == LKE_FAULT_LIMITED || fault == LKE_FAULT_TRANSIENT)
		return false;
	snprintf(p->failure, sizeof(p->failure), "%s: %s%s%s", lke_fault_text(fault), e.field,
	    e.field[0] != '\0' ? ": " : "", e.reason);
	log_warnx("the Linode API refuses a call", KV_S(KEY, key), KV_S(VERB, lke_calls[call].name),
	    KV_I(CODE, a->status), KV_S(WHY, p->failure));
	if (about->name[0] != '\0')
		reconcile_event(&c->r, about, "Warning",
		    call == LKE_CALL_CREATE_POOL ? "NodePoolCreationFailed" : "NodePoolScalingFailed",
		    wire_str_of(p->failure));
	if (fault == LKE_FAULT_GONE)
		expect(c, p);	/* the pool is not there any more: another list decides */
	else
		p->blocked_ms = clock_mono_ms() + BLOCKED_MS;
	if (fault == LKE_FAULT_CAPACITY && lke_key_read(wire_str_of(key + strlen(LKE_POOL_KEYS)), &nodepool,
	    &type)) {
		snprintf(name, sizeof(name), "%.*s", (int)type.len, type.p);
		refuse_type(c, name);
		p->blocked_ms = 0;
	}
	return true;
}

/* C11: other types of the claims' lists are tried meanwhile. */
static void
refuse_type(struct lke_claimer *c, const char *id)
{
	for (size_t i = 0; i < c->types.n; i++) {
		if (strcmp(c->types.types[i].id, id) == 0)
			c->types.types[i].refused_until_ms = clock_mono_ms() + LKE_REFUSED_MS;
	}
	claimer_listed(c);
}

/*
 * It has happened, or may have: only a list that begins from now on shows that. The intent stays
 * until one does, also after an answer: a list that lags behind it has no such pool, and would make
 * a second one.
 */
static void
expect(struct lke_claimer *c, struct pool_memory *p)
{
	intent_called(&p->intent, true, clock_mono_ms());
	p->after = c->list.begun;
	p->lists = 0;
	p->waits_ms = clock_mono_ms();
}

/* ---- DELETE of a pool ---- */

void
call_delete_pool(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct lke_claimer *const c = claimer_of(r);
	struct pool_memory *const p = pool_memory(c, w->key);

	(void)step;
	p->pool_id = c->order.pool_id;
	p->own = c->order.own;
	if (c->order.own)
		brake_called(&c->brake, clock_mono_ms());
	send_call(c, f, w, LKE_CALL_DELETE_POOL, NULL, 0, on_pool_deleted);
}

static bool
on_pool_deleted(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct lke_claimer *const c = claimer_of(r);
	struct pool_memory *const p = pool_memory(c, key);
	const bool gone = a->outcome == CALL_DONE || (a->outcome == CALL_REFUSED && a->status == 404);
	const struct lke_pool *const pool = c->snapshot == NULL ? NULL : snapshot_pool(c->snapshot,
	    p->pool_id);

	if (!gone) {
		if (a->outcome == CALL_UNKNOWN)
			expect(c, p);
		return false;
	}
	if (pool != NULL) {
		struct lke_member *const members =
		    obj_alloc((c->snapshot->ninstances + 1) * sizeof(*members));
		const uint32_t n =
		    lke_pool_members(c->snapshot, pool, members, (uint32_t)c->snapshot->ninstances);

		for (uint32_t i = 0; i < n; i++)
			deleted(c, members[i].instance->id);
		meters_orphans(p->own ? n : 0);
		free(members);
	}
	expect(c, p);
	observe_answer(c, LKE_CALL_DELETE_POOL, p, "", 0);
	if (about->name[0] != '\0')
		reconcile_event(r, about, "Normal", "PoolDeleted", wire_str_of("its last machine went"));
	return true;
}

/* ---- DELETE of a node ---- */

void
call_delete_node(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct lke_claimer *const c = claimer_of(r);
	struct pool_memory *const p = pool_memory(c, w->key);

	(void)step;
	p->pool_id = c->order.pool_id;
	p->instance = c->order.instance;
	snprintf(p->node_id, sizeof(p->node_id), "%s", c->order.node_id);
	p->own = c->order.own;
	if (c->order.own)
		brake_called(&c->brake, clock_mono_ms());
	send_call(c, f, w, LKE_CALL_DELETE_NODE, NULL, 0, on_node_deleted);
}

static bool
on_node_deleted(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct lke_claimer *const c = claimer_of(r);
	struct pool_memory *const p = pool_memory(c, key);
	const bool gone = a->outcome == CALL_DONE || (a->outcome == CALL_REFUSED && a->status == 404);

	(void)about;
	if (!gone) {
		if (a->outcome == CALL_UNKNOWN) {
			p->after = c->list.begun;
			machine_memory(c, p->instance)->unanswered_ms = clock_mono_ms() + FENCE_SETTLE_MS;
		}
		return false;
	}
	deleted(c, p->instance);
	meters_orphans(p->own);
	p->lists = 0;
	p->waits_ms = clock_mono_ms();
	if (a->outcome == CALL_DONE)
		observe_answer(c, LKE_CALL_DELETE_NODE, p, "", 0);
	else
		p->after = c->list.begun;
	return true;
}

static void
deleted(struct lke_claimer *c, int64_t instance)
{
	struct machine_memory *const m = machine_memory(c, instance);

	m->deleted = true;
	m->deleted_list = c->list.begun;
	m->deleted_ms = clock_mono_ms();
	brake_deleted(&c->brake);
}

/* ---- PUT of the tags of an instance ---- */

void
call_tag(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct lke_claimer *const c = claimer_of(r);
	char body[LKE_BODY_SIZE];
	const size_t len = lke_body_tags(body, sizeof(body), &c->order.tags);

	(void)step;
	MUST(len > 0);
	send_call(c, f, w, LKE_CALL_TAG_INSTANCE, body, len, on_tagged);
}

static bool
on_tagged(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct lke_claimer *const c = claimer_of(r);
	struct claim_memory *const m = claim_memory(c, key);

	(void)about;
	m->tag_list = c->list.begun;
	if (a->outcome != CALL_DONE) {
		/* 404: the machine is gone, which lists confirm. */
		if (a->status == 404)
			claimer_enqueue(c, LKE_PROVIDER_KEY);
		return false;
	}
	m->tag_ms = clock_mono_ms();
	observe_answer(c, LKE_CALL_TAG_INSTANCE, NULL, a->body, a->body_len);
	return true;
}

/* ---- All of them ---- */

static void
send_call(struct lke_claimer *c, struct inflight_effect *f, const struct work *w, enum lke_call call,
    const char *body,
    size_t len, call_answered *answered)
{
	const struct lke_order *const o = &c->order;
	char path[LKE_PATH_SIZE];

	MUST(lke_path(path, call, &(struct lke_target){ .cluster_id = c->cluster.id, .pool_id = o->pool_id,
	    .instance_id = o->instance, .node_id = o->node_id }) > 0);
	call_effect_send(&c->calls, f, w, &(struct client_call){ .class = call,
	    .method = lke_calls[call].method,
	    .path = path, .body = body, .body_len = len }, answered);
}
