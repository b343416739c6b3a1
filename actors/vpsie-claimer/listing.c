/*
 * actors/vpsie-claimer/listing.c - one list for everybody who waits (contract D12): all pages of VMs, then
 * for each cluster its nodes and its groups. It is one effect of the key that started it, of several calls.
 *
 * A cluster that the provider does not have is remembered as missing; any other failure makes the whole list
 * useless, and the list before stays.
 */
#include <stdio.h>
#include <string.h>

#include "vpsie.h"
#include "clock.h"
#include "log.h"
#include "obj.h"

static void collect_cluster(const struct change *, void *);
static void send_page(struct vpsie_claimer *);
static void send_cluster(struct vpsie_claimer *, enum vpsie_call);
static void next_cluster(struct vpsie_claimer *, uint32_t);
static void on_page(const struct client_answer *, void *);
static void on_cluster(const struct client_answer *, void *);
static void on_groups(const struct client_answer *, void *);
static void complete(struct vpsie_claimer *);
static void fail(struct vpsie_claimer *, const struct client_answer *, const struct vpsie_answer *);
static void end(struct vpsie_claimer *, bool, bool);
static void enqueue_group(const struct change *, void *);
static const char *advice(const struct vpsie_answer *);

void
vpsie_call_list(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct vpsie_claimer *const c = vpsie_of(r);

	(void)step;
	MUST(c->listing.effect == NULL);
	c->listing = (struct vpsie_listing){ .effect = f,
		.key = w->key,
		.trace = w->trace,
		.began_ms = clock_mono_ms(),
		.list = vpsie_list_new(),
		.clusters = keytab_new(0),
		.missing = keytab_new(0) };
	shared_list_begin(&c->list, c->listing.began_ms);
	actor_each(r->actor, LINK_KUBE_VPSIE, collect_cluster, &c->listing);
	send_page(c);
}

/* After the client: nothing is called back any more. */
void
vpsie_listing_close(struct vpsie_claimer *c)
{
	if (c->listing.effect == NULL)
		return;
	reconcile_effect_done(&c->r, c->listing.effect, "unknown", wire_str_of("the actor stops"),
	    &(struct outcome_action){ .result = WORK_DONE });
	vpsie_list_free(&c->listing.list);
	keytab_free(&c->listing.clusters);
	keytab_free(&c->listing.missing);
	c->listing.effect = NULL;
}

static void
collect_cluster(const struct change *change, void *arg)
{
	struct vpsie_listing *const l = arg;
	struct wire_str cluster = { "", 0 };

	if (change->type == MSG_VPSIE_NODE)
		cluster = change->value->vpsie_node.cluster;
	else if (change->type == MSG_NODE_GROUP)
		cluster = change->value->node_group.cluster;
	if (cluster.len > 0)
		keytab_add(l->clusters, cluster.p, cluster.len, NULL);
}

/* ---- Calls ---- */

static void
send_page(struct vpsie_claimer *c)
{
	const struct vpsie_target t = { .offset = (int64_t)vpsie_list_count(c->listing.list) };
	struct client_call call = {
		.key = c->listing.key, .trace = c->listing.trace, .done = on_page, .arg = c
	};

	if (vpsie_calls_send(c, CLASS_READ, CALL_LIST_VMS, &t, &call) == 0)
		fail(c, NULL, NULL);
}

static void
send_cluster(struct vpsie_claimer *c, enum vpsie_call which)
{
	size_t len;
	const char *const cluster = keytab_key(c->listing.clusters, c->listing.cluster, &len);
	const struct vpsie_target t = { .cluster = { cluster, (uint32_t)len } };
	struct client_call call = { .key = c->listing.key, .trace = c->listing.trace,
		.done = which == CALL_READ_CLUSTER ? on_cluster : on_groups, .arg = c };

	if (vpsie_calls_send(c, CLASS_READ, which, &t, &call) != 0)
		return;
	/* What cannot be a part of a path is no identifier of a cluster. */
	keytab_add(c->listing.missing, cluster, len, NULL);
	next_cluster(c, c->listing.cluster + 1);
}

static void
next_cluster(struct vpsie_claimer *c, uint32_t from)
{
	c->listing.cluster = keytab_next(c->listing.clusters, from);
	if (c->listing.cluster == KEYTAB_NONE)
		complete(c);
	else
		send_cluster(c, CALL_READ_CLUSTER);
}

static void
on_page(const struct client_answer *a, void *arg)
{
	struct vpsie_claimer *const c = arg;
	struct vpsie_answer answer = { .verdict = ANSWER_UNUSABLE };
	const enum vpsie_page page = a->status == 0 ? PAGE_FAILED
	    : vpsie_list_vms(c->listing.list, a->status, a->body, a->body_len, &answer);

	if (page == PAGE_FAILED)
		fail(c, a, &answer);
	else if (page == PAGE_MORE)
		send_page(c);
	else
		next_cluster(c, 0);
}

static void
on_cluster(const struct client_answer *a, void *arg)
{
	struct vpsie_claimer *const c = arg;
	struct vpsie_answer answer = { .verdict = ANSWER_UNUSABLE };
	bool is_short = false;
	size_t len;
	const char *const cluster = keytab_key(c->listing.clusters, c->listing.cluster, &len);
	const enum vpsie_page page = a->status == 0
	    ? PAGE_FAILED
	    : vpsie_list_cluster(c->listing.list, (struct wire_str){ cluster, (uint32_t)len },
		a->status, a->body, a->body_len, &is_short, &answer);

	c->listing.is_short = c->listing.is_short || is_short;
	if (page == PAGE_FAILED && answer.verdict == ANSWER_NOT_FOUND) {
		keytab_add(c->listing.missing, cluster, len, NULL);
		next_cluster(c, c->listing.cluster + 1);
	} else if (page == PAGE_FAILED) {
		fail(c, a, &answer);
	} else {
		send_cluster(c, CALL_LIST_GROUPS);
	}
}

static void
on_groups(const struct client_answer *a, void *arg)
{
	struct vpsie_claimer *const c = arg;
	struct vpsie_answer answer = { .verdict = ANSWER_UNUSABLE };
	size_t len;
	const char *const cluster = keytab_key(c->listing.clusters, c->listing.cluster, &len);
	const enum vpsie_page page = a->status == 0
	    ? PAGE_FAILED
	    : vpsie_list_groups(c->listing.list, (struct wire_str){ cluster, (uint32_t)len },
		a->status, a->body, a->body_len, &answer);

	if (page == PAGE_FAILED && answer.verdict != ANSWER_NOT_FOUND)
		fail(c, a, &answer);
	else
		next_cluster(c, c->listing.cluster + 1);
}

/* ---- The end ---- */

static void
complete(struct vpsie_claimer *c)
{
	uint64_t seed = c->list.number;
	uint32_t n;

	vpsie_list_merge(c->listing.list, seed);
	vpsie_list_free(&c->machines);
	keytab_free(&c->missing);
	c->machines = c->listing.list;
	c->missing = c->listing.missing;
	c->list_short = c->listing.is_short;
	c->listing.list = NULL;
	c->listing.missing = NULL;
	c->list_error[0] = '\0';
	vpsie_list_machines(c->machines, &n);
	brake_listed(&c->brake, n, clock_mono_ms());
	vpsie_matching_changed(c);
	end(c, true, false);
}

/* a NULL: the call could not be sent. */
static void
fail(struct vpsie_claimer *c, const struct client_answer *a, const struct vpsie_answer *answer)
{
	const char *const why = a == NULL ? "no call can be sent"
	    : a->status == 0              ? a->error
					  : answer->message;

	uint64_t serial;

	if (a != NULL && answer->verdict == ANSWER_DENIED
	    && vpsie_credential_line(c->credential, &serial) != NULL)
		vpsie_credential_refused(c->credential, serial, clock_mono_ms());
	c->list_reason = "VPSieAPIError";
	snprintf(c->list_error, sizeof(c->list_error), "the machines cannot be listed: %.200s (%s)", why,
	    a == NULL || a->status == 0 ? "it is tried again" : advice(answer));
	log_warnx("the machines cannot be listed: nothing is created, discovered or deleted", KV_S(WHY, why),
	    KV_S(HINT, a == NULL || a->status == 0 ? "it is tried again" : advice(answer)));
	vpsie_list_free(&c->listing.list);
	keytab_free(&c->listing.missing);
	end(c, false, vpsie_credential_renews(c->credential, clock_mono_ms()));
}

/* retry: its token had ended, which is no failure of the provider's; the next list has another one. */
static void
end(struct vpsie_claimer *c, bool good, bool retry)
{
	struct inflight_effect *const f = c->listing.effect;
	const bool failed = c->list.failures >= VPSIE_FAILURES;

	keytab_free(&c->listing.clusters);
	c->listing.effect = NULL;
	shared_list_end(&c->list, c->r.actor, good, retry, clock_mono_ms());
	/* Every NodeGroup reports it in its status. */
	if (failed != (c->list.failures >= VPSIE_FAILURES))
		actor_each(c->r.actor, LINK_KUBE_VPSIE, enqueue_group, c);
	reconcile_effect_done(&c->r, f, good ? "done" : "failed", wire_str_of(c->list_error),
	    &(struct outcome_action){ .result = WORK_AFTER, .after_ms = good ? 0 : VPSIE_WAIT_MS });
}

static void
enqueue_group(const struct change *change, void *arg)
{
	const struct vpsie_claimer *const c = arg;

	if (change->type == MSG_NODE_GROUP)
		actor_enqueue(c->r.actor, change->key.p, change->key.len, WORK_LIVE, change->trace);
}

static const char *
advice(const struct vpsie_answer *a)
{
	switch (a->verdict) {
	case ANSWER_DENIED:
		return "check the token in credential-dir, and auth-header";
	case ANSWER_NOT_FOUND:
		return "check api-url";
	case ANSWER_THROTTLED:
		return "lower requests-per-minute";
	default:
		return "it is tried again; check api-url if this stays";
	}
}
