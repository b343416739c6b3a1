/*
 * actors/lke-claimer/observe.c - reads the cluster, its pools and instances, and the instance types of its
 * region (contract A7, C11, C12). One read serves every key.
 */
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "clock.h"
#include "log.h"
#include "obj.h"

static effect_start start_list, start_types;
static call_answered on_listed, on_types;
static void send_list(struct lke_claimer *, struct inflight_effect *, const struct work *);
static void send_types(struct lke_claimer *, struct inflight_effect *, const struct work *);
static enum lke_call list_phase(const struct lke_claimer *);
static bool read_page(struct lke_claimer *, enum lke_call, const struct client_answer *);
static bool read_found(struct lke_claimer *, struct lke_body *);
static const char *failure_of(enum lke_call, const struct client_answer *);
static void list_ended(struct lke_claimer *, bool, bool, int64_t);
static void apply_late(struct lke_claimer *, const struct late_answer *);
static void drop_late(struct lke_claimer *);

/* ---- Steps ---- */

void
observe_list(struct lke_claimer *c, const struct work *w, struct reconcile_step *step, int64_t now_ms)
{
	step->form = STEP_EFFECT;
	step->what = "list pools and machines";
	step->start = start_list;
	shared_list_join(&c->list, w, step, now_ms);
}

/* The types are those of the cluster's region: it has to be known before. */
void
observe_types(struct lke_claimer *c, const struct work *w, struct reconcile_step *step, int64_t now_ms)
{
	if (!c->known) {
		observe_list(c, w, step, now_ms);
		return;
	}
	step->form = STEP_EFFECT;
	step->what = "read instance types";
	step->start = start_types;
	shared_list_join(&c->catalogue, w, step, now_ms);
}

bool
observe_types_due(const struct lke_claimer *c, int64_t now_ms)
{
	return c->types_ms == 0 || now_ms - c->types_ms >= c->settings.types_ms;
}

void
provider_plan(struct lke_claimer *c, const struct reconcile_item *i, struct reconcile_step *step)
{
	const int64_t now_ms = clock_mono_ms();
	const int64_t age_ms = now_ms - c->list.began_ms;

	step->verb = "list";
	step->why = "machines that nobody waits for may have come or gone";
	step->write = (struct reconcile_write){ .kind = LKE_KIND_CLASSES };
	if (c->snapshot == NULL || age_ms >= c->settings.resync_ms) {
		observe_list(c, i->work, step, now_ms);
		return;
	}
	step->form = STEP_WAIT;
	step->verb = "wait";
	step->after_ms = c->settings.resync_ms - age_ms;
}

/* ---- Pools and instances ---- */

static void
start_list(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct lke_claimer *const c = claimer_of(r);

	(void)step;
	shared_list_begin(&c->list, clock_mono_ms());
	snapshot_free(&c->next);
	c->cluster_walk = (struct lke_walk){ .next = 1 };
	c->clusters = 0;
	if (c->known)
		c->next = snapshot_new(c->cluster.tier, c->cluster.id);
	send_list(c, f, w);
}

/* f: of the first call; NULL: the effect goes on. */
static void
send_list(struct lke_claimer *c, struct inflight_effect *f, const struct work *w)
{
	const enum lke_call phase = list_phase(c);
	char path[LKE_PATH_SIZE], filter[LKE_FILTER_SIZE + 16] = "X-Filter: ";
	const char *headers[] = { filter, NULL };
	const size_t prefix = strlen(filter);
	struct lke_target t = { .cluster_id = c->known ? c->cluster.id : c->settings.cluster_id };
	size_t len = 0;

	if (phase == LKE_CALL_FIND_CLUSTER) {
		t.page = c->cluster_walk.next;
		len = lke_filter_cluster(filter + prefix, c->settings.cluster_name);
	} else if (phase == LKE_CALL_LIST_POOLS) {
		t.page = c->next->pool_walk.next;
	} else if (phase == LKE_CALL_LIST_INSTANCES) {
		t.page = c->next->instance_walk.next;
		len = lke_filter_instances(filter + prefix, c->cluster.tier, c->cluster.region,
		    c->cluster.id);
	}
	MUST(lke_path(path, phase, &t) > 0);
	const struct client_call call = { .class = phase, .method = lke_calls[phase].method, .path = path,
		.headers = len > 0 ? headers : NULL };
	if (f != NULL)
		call_effect_send(&c->calls, f, w, &call, on_listed);
	else
		call_effect_continue(&c->calls, &call);
}

/* What is to be read next; LKE_CALL_MAX: nothing. */
static enum lke_call
list_phase(const struct lke_claimer *c)
{
	if (!c->known)
		return c->settings.cluster_id != 0 ? LKE_CALL_GET_CLUSTER : LKE_CALL_FIND_CLUSTER;
	if (c->next->pool_walk.next != 0)
		return LKE_CALL_LIST_POOLS;
	return c->next->instance_walk.next != 0 ? LKE_CALL_LIST_INSTANCES : LKE_CALL_MAX;
}

static bool
on_listed(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct lke_claimer *const c = claimer_of(r);
	const enum lke_call phase = list_phase(c);
	const int64_t now_ms = clock_mono_ms();

	(void)key, (void)about;
	if (a->outcome != CALL_DONE) {
		c->failure = failure_of(phase, a);
		list_ended(c, false, a->token_changed, now_ms);
		return true;
	}
	if (!read_page(c, phase, a)) {
		list_ended(c, false, false, now_ms);
		return true;
	}
	if (list_phase(c) != LKE_CALL_MAX) {
		send_list(c, NULL, NULL);
		return true;
	}
	const char *const wrong = snapshot_end(c->next);
	if (wrong != NULL)
		log_info("the list is read again", KV_S(WHY, wrong));
	list_ended(c, wrong == NULL, wrong != NULL, now_ms);
	return true;
}

/* A7: of a malformed answer nothing is used. */
static bool
read_page(struct lke_claimer *c, enum lke_call phase, const struct client_answer *a)
{
	struct lke_body b = { .p = a->body, .len = a->body_len };
	bool good;

	if (phase == LKE_CALL_GET_CLUSTER || phase == LKE_CALL_FIND_CLUSTER) {
		good = read_found(c, &b);
		if (good && c->known && c->next == NULL)
			c->next = snapshot_new(c->cluster.tier, c->cluster.id);
	} else {
		good = phase == LKE_CALL_LIST_POOLS ? lke_answer_pools(&b, c->next)
						    : lke_answer_instances(&b, c->next);
	}
	if (b.err[0] != '\0') {
		c->failure = "an answer of the API cannot be read: the log has the field";
		log_warnx("malformed answer of the Linode API", KV_S(VERB, lke_calls[phase].name),
		    KV_S(WHY, b.err));
	}
	return good;
}

/* The cluster by its id, or by its label: then it must be exactly one. */
static bool
read_found(struct lke_claimer *c, struct lke_body *b)
{
	if (c->settings.cluster_id != 0) {
		c->known = lke_answer_cluster(b, &c->cluster);
		return c->known;
	}
	if (!lke_answer_clusters(b, c->settings.cluster_name, &c->cluster_walk, &c->clusters, &c->cluster))
		return false;
	if (c->cluster_walk.next != 0)
		return true;
	c->known = c->clusters == 1;
	if (c->known)
		log_info("cluster found", KV_S(OBJECT, c->cluster.label), KV_I(VALUE, c->cluster.id));
	else
		c->failure = c->clusters == 0
		    ? "no LKE cluster has the label of the setting cluster-name: correct it"
		    : "several LKE clusters have that label: set cluster-id in place of cluster-name";
	return c->known;
}

static const char *
failure_of(enum lke_call phase, const struct client_answer *a)
{
	const struct lke_body b = { .p = a->body, .len = a->body_len };
	struct lke_error e;

	if (a->status == 0)
		return "the API cannot be reached: it is tried again";
	if (a->status == 404 && (phase == LKE_CALL_GET_CLUSTER || phase == LKE_CALL_LIST_POOLS))
		return "the API has no cluster of that id: correct the setting cluster-id";
	lke_answer_error(&b, &e);
	return lke_fault_text(lke_fault(phase, a->status, &e));
}

static void
list_ended(struct lke_claimer *c, bool complete, bool retry, int64_t now_ms)
{
	if (complete) {
		for (const struct late_answer *l = c->late; l != NULL; l = l->next)
			apply_late(c, l);
		snapshot_free(&c->snapshot);
		c->snapshot = c->next;
		c->next = NULL;
		c->failure = NULL;
		brake_listed(&c->brake, (uint32_t)c->snapshot->ninstances, now_ms);
	}
	drop_late(c);
	snapshot_free(&c->next);
	shared_list_end(&c->list, c->r.actor, complete, retry, now_ms);
	claimer_listed(c);
}

/* ---- Answers that came meanwhile ---- */

void
observe_answer(struct lke_claimer *c, enum lke_call call, const struct pool_memory *p, const char *body,
    size_t len)
{
	struct lke_snapshot *const next = c->next;

	if (call == LKE_CALL_DELETE_NODE) {
		/* Whether the list in flight still has it is not known: the next one shows that. */
		if (c->snapshot != NULL)
			snapshot_drop_node(c->snapshot, p->pool_id, p->node_id);
		return;
	}
	struct late_answer *const l = obj_alloc(sizeof(*l) + len + 1);
	l->call = call;
	l->len = len;
	memcpy(l->body, body, len);
	l->pool_id = p != NULL ? p->pool_id : 0;
	if (c->snapshot != NULL) {
		c->next = c->snapshot;
		apply_late(c, l);
		c->next = next;
	}
	if (!c->list.in_flight) {
		free(l);
		return;
	}
	struct late_answer **end = &c->late;
	while (*end != NULL)
		end = &(*end)->next;
	*end = l;
}

/* Into the snapshot that is being read, or the one that is in use. */
static void
apply_late(struct lke_claimer *c, const struct late_answer *l)
{
	struct lke_body b = { .p = l->body, .len = l->len };
	int64_t id;

	if (l->call == LKE_CALL_TAG_INSTANCE)
		lke_answer_instance(&b, c->next, &id);
	else if (l->call == LKE_CALL_CREATE_POOL || l->call == LKE_CALL_SCALE_POOL)
		lke_answer_pool(&b, c->next, &id);
	else if (l->call == LKE_CALL_DELETE_POOL)
		snapshot_drop_pool(c->next, l->pool_id);
}

static void
drop_late(struct lke_claimer *c)
{
	struct late_answer *l;

	while ((l = c->late) != NULL) {
		c->late = l->next;
		free(l);
	}
}

/* ---- Instance types ---- */

static void
start_types(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct lke_claimer *const c = claimer_of(r);

	(void)step;
	shared_list_begin(&c->catalogue, clock_mono_ms());
	lke_types_free(&c->next_types);
	c->next_types = (struct lke_types){ .walk = { .next = 1 } };
	send_types(c, f, w);
}

static void
send_types(struct lke_claimer *c, struct inflight_effect *f, const struct work *w)
{
	const enum lke_call phase = c->next_types.walk.next != 0 ? LKE_CALL_LIST_TYPES
	    : LKE_CALL_AVAILABILITY;
	char path[LKE_PATH_SIZE];

	MUST(lke_path(path, phase, &(struct lke_target){ .region = c->cluster.region,
	    .page = c->next_types.walk.next }) > 0);
	const struct client_call call = { .class = phase, .method = lke_calls[phase].method, .path = path };
	if (f != NULL)
		call_effect_send(&c->calls, f, w, &call, on_types);
	else
		call_effect_continue(&c->calls, &call);
}

static bool
on_types(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct lke_claimer *const c = claimer_of(r);
	const int64_t now_ms = clock_mono_ms();
	struct lke_body b = { .p = a->body, .len = a->body_len };
	const bool last = c->next_types.walk.next == 0;

	(void)key, (void)about;
	const bool good = a->outcome == CALL_DONE
	    && (last ? lke_answer_availability(&b, c->cluster.region, &c->next_types)
		     : lke_answer_types(&b, c->cluster.region, &c->next_types));
	if (!good) {
		c->failure = b.err[0] != '\0' ? "an answer of the API cannot be read: the log has the field"
			   : failure_of(last ? LKE_CALL_AVAILABILITY : LKE_CALL_LIST_TYPES, a);
		if (b.err[0] != '\0')
			log_warnx("malformed answer of the Linode API", KV_S(VERB, "types"), KV_S(WHY,
			    b.err));
	} else if (!last) {
		send_types(c, NULL, NULL);
		return true;
	} else {
		lke_types_free(&c->types);
		c->types = c->next_types;
		c->next_types = (struct lke_types){ .n = 0 };
		c->types_ms = now_ms;
		c->failure = NULL;
		log_info("instance types read", KV_I(COUNT, (int64_t)c->types.n),
		    KV_S(VALUE, c->cluster.region));
	}
	shared_list_end(&c->catalogue, r->actor, good, a->token_changed, now_ms);
	claimer_listed(c);
	return true;
}

void
observe_close(struct lke_claimer *c)
{
	drop_late(c);
	snapshot_free(&c->next);
	snapshot_free(&c->snapshot);
	lke_types_free(&c->types);
	lke_types_free(&c->next_types);
	shared_list_close(&c->list);
	shared_list_close(&c->catalogue);
}
