/*
 * actors/kube-watcher/service.c - writes in flight or waiting: each has a job here and a slot of the same
 * number in the plan.
 *
 * Never: a RESULT that claims more than is certain. What the plan calls UNKNOWN stays unknown.
 */
#include "service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "call.h"
#include "clock.h"
#include "event_sender.h"
#include "kube/splitter.h"
#include "kube/frames.h"
#include "kube/status.h"
#include "log.h"
#include "obj.h"
#include "plan.h"
#include "result_items.h"
#include "hop_log.h"
#include "stat.h"
#include "timer.h"
#include "write_check.h"

struct write_job {
	struct service	*service;
	bool		 used;
	struct write_in	 in;		/* its body pointer is not kept */
	struct call_params	 params;		/* texts are ours */
	char		*texts;		/* all of them, in one piece */
	enum kind	 kind;		/* KIND_MAX: not listed in kinds.h */
	enum kind	 live;		/* a live read: what its sender gets; KIND_MAX: not a LIVE kind */
	int64_t		 began_ms;
	uint64_t	 call;
	uint32_t	 restore_epoch;	/* of the store (store_restore_epoch) when it was sent */
	struct splitter	*splitter;		/* of a LIST */
	char		 cont[REFLECTOR_CONTINUE_MAX], list_rv[PROJECT_RV_MAX + 1];
	bool		 list_refused;
	struct result_items items;
};

struct service {
	uint32_t		 magic;
#define SERVICE_MAGIC	0x53455256u
	struct service_deps	 deps;
	const struct lease	*lease;
	struct plan		 plan;
	struct projection	*live[KIND_MAX];	/* of the LIVE kinds that somebody reads */
	/* By the plan's slots. A job is written only when it is used: the others take no memory. */
	struct write_job	 jobs[PLAN_WRITES_MAX];
	struct event_sender	*events;
	struct event		*timer;
	bool			 driving;
};

static struct informer *informer_of(const struct write_job *);
static const char *version_of(const struct write_job *);
static void send_job(struct write_job *, int64_t);
static void note_request(const struct write_job *, const char *);
static const char *accept_of(const struct write_job *);
static uint32_t restore_epoch_of(const struct write_job *);
static void finish_unsent(struct write_job *, const char *);
static bool on_list_data(const void *, size_t, void *);
static bool on_list_item(const void *, size_t, void *);
static void on_done(const struct http_response *, void *);
static bool is_uid_conflict(const struct write_job *, const struct kube_status *);
static enum plan_body body_of(const struct write_job *, const struct http_response *);
static void merge(struct write_job *, enum plan_merge, const struct http_response *, struct body_result *,
    char *, size_t);
static bool is_read(const struct write_job *);
static bool sender_reads(const struct write_job *);
static void finish(struct write_job *, struct body_result *, const char *);
static void refuse(struct service *, const struct write_in *, enum outcome, const char *);
static void log_unattended(const struct write_job *, const char *, const char *);
static void count(const struct write_in *, enum op, const char *, int64_t);
static void forget(struct write_job *);
static void on_timer(evutil_socket_t, short, void *);
static uint32_t slot_of(const struct write_job *);

struct service *
service_new(const struct service_deps *g)
{
	struct service *s;

	OBJ_NEW(s, SERVICE_MAGIC);
	s->deps = *g;
	plan_init(&s->plan, g->per_second, g->per_second > 0 ? 2 * g->per_second : 1,
	    actor_new_trace(g->actor), clock_mono_ms());
	for (unsigned k = 0; k < KIND_MAX; k++) {
		if ((kind_table[k].live_readers & g->readers) != 0)
			s->live[k] = projection_new((enum kind)k, kind_table[k].versions, g->readers);
	}
	s->events = event_sender_new(g->actor, g->access);
	s->timer = evtimer_new(actor_base(g->actor), on_timer, s);
	MUST(s->timer != NULL);
	return s;
}

void
service_free(struct service **sp)
{
	struct service *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, SERVICE_MAGIC);
	for (size_t i = 0; i < PLAN_WRITES_MAX; i++) {
		struct write_job *const j = &s->jobs[i];

		if (j->call != 0)
			access_cancel(s->deps.access, j->call);
		if (j->used)
			forget(j);
	}
	for (unsigned k = 0; k < KIND_MAX; k++)
		projection_free(&s->live[k]);
	event_sender_free(&s->events);
	event_free(s->timer);
	OBJ_FREE(s);
}

void
service_set_lease(struct service *s, const struct lease *l)
{
	s->lease = l;
	access_fence(s->deps.access, l);
}

bool
service_settled(const struct service *s)
{
	return plan_settled(&s->plan, clock_mono_ms()) && !event_sender_in_flight(s->events);
}

void
service_write(struct service *s, const struct write_in *w)
{
	const struct write_fault fault = write_check(w->body);

	if (fault.field != NULL) {
		char why[160];

		snprintf(why, sizeof(why), "%s: %s", fault.field, fault.why);
		refuse(s, w, OUTCOME_INVALID, why);
		return;
	}
	if (s->lease == NULL) {
		refuse(s, w, OUTCOME_NOT_LEADER, "kube-watcher is starting");
		return;
	}
	struct write_job draft = { .service = s, .in = *w, .began_ms = clock_mono_ms(),
		.items = { .actor = s->deps.actor, .handle = w->handle, .trace = w->trace,
		    .sender = w->from } };
	const struct call_params *const a = &draft.params;
	draft.texts = call_copy(&draft.params, w->from, w->body);
	draft.in.body = NULL;
	draft.kind = kind_find(a->group, a->resource);
	draft.live = is_read(&draft) ? kind_find_live(a->group, a->resource, w->from) : KIND_MAX;
	const struct plan_verdict verdict = plan_admit(&s->plan, &(struct plan_write){
		.sender = w->from, .op = a->op, .group = a->group, .resource = a->resource,
		.subresource = a->subresource, .object = call_object(a), .deadline_ms = w->deadline_ms,
	}, s->lease, clock_mono_ms());
	if (!verdict.admitted) {
		refuse(s, w, verdict.outcome, verdict.why);
		free(draft.texts);
		return;
	}
	struct write_job *const j = &s->jobs[verdict.slot];
	MUST(!j->used);
	*j = draft;
	j->used = true;
	service_drive(s);
}

void
service_session_ended(struct service *s, enum role sender)
{
	for (uint32_t i = 0; i < PLAN_WRITES_MAX; i++) {
		struct write_job *const j = &s->jobs[i];

		/* A job whose slot is free is being answered at this moment. */
		if (!j->used || j->in.from != sender || !s->plan.slots[i].used)
			continue;
		const bool in_flight = j->call != 0 && !access_withdraw(s->deps.access, j->call);
		if (plan_forget(&s->plan, i, in_flight)) {
			count(&j->in, j->params.op, "dropped", j->began_ms);
			log_unattended(j, "write dropped: the session of its sender ended", "");
			forget(j);
		} else {
			log_unattended(j, "write in flight while the session of its sender ended", "");
		}
	}
	service_drive(s);	/* there may be room for others */
}

void
service_drive(struct service *s)
{
	if (s->driving || s->lease == NULL)
		return;
	s->driving = true;
	for (;;) {
		const int64_t now_ms = clock_mono_ms();
		const struct plan_step step = plan_next(&s->plan, s->lease, now_ms);

		if (step.verb == PLAN_SEND) {
			send_job(&s->jobs[step.slot], step.timeout_ms);
		} else if (step.verb == PLAN_FINISH) {
			struct body_result r = { .outcome = step.outcome, .message = wire_str_of(step.why) };

			finish(&s->jobs[step.slot], &r, NULL);
		} else {
			timer_set(s->timer, step.at_ms, now_ms);
			break;
		}
	}
	s->driving = false;
}

/* NULL: no actor watches that kind, or this is a read of a LIVE one. */
static struct informer *
informer_of(const struct write_job *j)
{
	return j->kind == KIND_MAX || j->live != KIND_MAX ? NULL : j->service->deps.informers[j->kind];
}

/* The version that the WRITE names; else the discovered one; the core group has only v1. */
static const char *
version_of(const struct write_job *j)
{
	if (j->params.version[0] != '\0')
		return j->params.version;
	if (j->live != KIND_MAX)
		return kind_table[j->live].versions;
	if (informer_of(j) != NULL)
		return informer_version(informer_of(j));
	return j->params.group[0] == '\0' ? "v1" : "";
}

static void
send_job(struct write_job *j, int64_t timeout_ms)
{
	struct service *const s = j->service;
	struct call_params params = j->params;
	struct call_http http;

	params.version = version_of(j);
	params.cont = j->cont;
	if (params.op == OP_EVENT) {
		finish_unsent(j, event_sender_add(s->events, &params));
		return;
	}
	const bool list = params.op == OP_LIST;
	const char *const wrong = call_make(&params, &http);
	if (wrong != NULL) {
		finish_unsent(j, wrong);
	} else {
		note_request(j, http.method);
		j->restore_epoch = restore_epoch_of(j);
		j->call = access_send(s->deps.access, &(struct access_call){
			.lane = is_read(j) ? ACCESS_READS : ACCESS_CALLS, .method = http.method,
			.path = http.path,
			.accept = accept_of(j), .content_type = http.content_type,
			.body = http.body, .body_len = http.body_len,
			.timeout_ms = timeout_ms, .fenced = !is_read(j), .gzip = list,
			.on_data = list ? on_list_data : NULL, .done = on_done, .arg = j,
		});
	}
	call_free(&http);
}

/* For `muster trace`: it may have waited here for its turn. */
static void
note_request(const struct write_job *j, const char *method)
{
	char key[OBJECT_KEY_MAX + 1];

	if (object_key(key, sizeof(key), j->params.resource, j->params.ns, j->params.name))
		actor_hop_as(j->service->deps.actor, HOP_REQUEST, key, j->in.trace, method);
}

/*
 * The whole object comes back, of which we keep little: as protobuf it is cheaper to read. What the
 * sender gets unprojected must be JSON, and so must a list, for it is cut as such.
 */
static const char *
accept_of(const struct write_job *j)
{
	const bool proto =
	    j->params.op != OP_LIST && sender_reads(j) && kind_table[j->kind].form == FORM_PROTO;

	return proto ? FRAMES_TYPE ",application/json" : NULL;
}

/* Answers are compared with the store by resourceVersion, and after a restore those start over. */
static uint32_t
restore_epoch_of(const struct write_job *j)
{
	const struct informer *const r = informer_of(j);

	return r == NULL ? 0 : informer_restore_epoch(r);
}

/* It ends here, without the server. wrong: why it could not be sent; NULL: it is done. */
static void
finish_unsent(struct write_job *j, const char *wrong)
{
	struct body_result r = { .outcome = wrong == NULL ? OUTCOME_OK : OUTCOME_INVALID,
		.message = wire_str_of(wrong == NULL ? "" : wrong) };

	plan_answered(&j->service->plan, slot_of(j), &(struct plan_answer){
		.status = wrong == NULL ? 200 : 400, .reason = "", .retry_after_ms = -1, .body = BODY_STATUS,
	}, clock_mono_ms());
	finish(j, &r, NULL);
}

/* ---- Answers ---- */

static bool
on_list_data(const void *data, size_t len, void *arg)
{
	struct write_job *const j = arg;

	if (j->splitter == NULL)
		j->splitter = splitter_new(SPLIT_LIST, PROJECT_JSON, on_list_item, j);
	return splitter_feed(j->splitter, data, len);
}

/* A live list goes to its sender object by object. What changed is published; what it lacks is not gone. */
static bool
on_list_item(const void *bytes, size_t len, void *arg)
{
	struct write_job *const j = arg;
	char key[PUBLISHER_KEY_MAX];
	struct projected p;

	if (j->live != KIND_MAX) {
		result_items_live(&j->items, j->live, j->service->live[j->live], bytes, len);
		return true;
	}
	if (!sender_reads(j)) {
		result_items_raw(&j->items, j->params.resource, j->params.ns, j->params.name, bytes, len);
		return true;
	}
	const enum informer_answer answer = j->restore_epoch != restore_epoch_of(j) ? ANSWER_INVALID
	    : informer_answer(informer_of(j), PROJECT_JSON, bytes, len, false, j->in.trace,
		key, sizeof(key), &p);
	if (answer == ANSWER_INVALID) {
		j->list_refused = true;
		return false;
	}
	if (answer == ANSWER_SKIPPED)
		result_items_skip(&j->items, key, p.error);
	result_items_projected(&j->items, j->kind, key, &p);
	return true;
}

static void
on_done(const struct http_response *http, void *arg)
{
	struct write_job *const j = arg;
	struct service *const s = j->service;
	char key[PUBLISHER_KEY_MAX] = "", causes[2048] = "";
	char skipped[PUBLISHER_KEY_MAX + 320];
	struct kube_status answered = { .reason = "" };

	j->call = 0;
	enum plan_body body = body_of(j, http);
	const struct plan_slot *const slot = &s->plan.slots[slot_of(j)];
	const int64_t left_ms = slot->deadline_ms - clock_mono_ms();
	const bool orphan = slot->orphan;
	if (http->status != 0 && (http->status < 200 || http->status > 299))
		status_read(&answered, http->status, http->body, http->body_len);
	const char *const next_page = body == BODY_LIST ? splitter_list_continue(j->splitter) : "";
	if (next_page[0] != '\0' && (orphan || left_ms <= 0)) {
		body = BODY_NONE;		/* it is not needed any more */
	} else if (next_page[0] != '\0') {
		/* It belongs to the same read. */
		snprintf(j->cont, sizeof(j->cont), "%s", next_page);
		if (j->list_rv[0] == '\0')
			snprintf(j->list_rv, sizeof(j->list_rv), "%s", splitter_list_rv(j->splitter));
		splitter_free(&j->splitter);
		send_job(j, left_ms < PLAN_READ_MS ? left_ms : PLAN_READ_MS);
		return;
	}
	const int status = is_uid_conflict(j, &answered) ? 409 : http->status;
	const struct plan_result result = plan_answered(&s->plan, slot_of(j), &(struct plan_answer){
		.sent = http->sent, .status = status, .reason = answered.reason,
		.retry_after_ms = http->retry_after_ms == 0 ? -1 : http->retry_after_ms, .body = body,
		.predates_restore = j->params.op != OP_LIST && j->restore_epoch != restore_epoch_of(j),
	}, clock_mono_ms());
	if (result.again) {
		splitter_free(&j->splitter);
		j->items.skipped = 0;
		j->cont[0] = '\0';
		service_drive(s);
		return;
	}
	if (orphan)
		log_unattended(j, "write of an ended session answered", outcome_name(result.outcome));
	status_causes(&answered, causes, sizeof(causes));
	struct body_result r = {
		.outcome = result.outcome, .status = (uint64_t)http->status,
		.reason = wire_str_of(answered.reason),
		.message = wire_str_of(answered.message[0] != '\0' ? answered.message
		    : http->error[0] != '\0' ? http->error : result.why),
		.causes = wire_str_of(causes), .retry_after_ms = result.retry_after_ms,
	};
	merge(j, result.merge, http, &r, key, sizeof(key));
	if (j->items.skipped > 0 && result.outcome == OUTCOME_OK) {
		snprintf(skipped, sizeof(skipped), "%u objects skipped, the first of them %s",
		    j->items.skipped, j->items.skipped_first);
		r.message = wire_str_of(skipped);
		r.skipped = j->items.skipped;
	}
	finish(j, &r, key[0] == '\0' ? NULL : key);
	service_drive(s);
}

/* In a patch, the uid of another object is no conflict for the server but a 422: "field is immutable". */
static bool
is_uid_conflict(const struct write_job *j, const struct kube_status *answered)
{
	for (size_t i = 0; i < answered->ncauses && answered->code == 422 && j->params.uid[0] != '\0'; i++) {
		if (strcmp(answered->causes[i].field, "metadata.uid") == 0)
			return true;
	}
	return false;
}

/* What a 2xx brought. */
static enum plan_body
body_of(const struct write_job *j, const struct http_response *http)
{
	if (http->status < 200 || http->status > 299 || http->err != E_OK)
		return BODY_NONE;
	if (j->params.op == OP_LIST)
		return j->splitter != NULL && !j->list_refused && splitter_end(j->splitter)
		    ? BODY_LIST
		    : BODY_NONE;
	return answer_body(http->body, http->body_len);
}

static void
merge(struct write_job *j, enum plan_merge how, const struct http_response *http, struct body_result *r,
    char *key, size_t size)
{
	static char rv[PROJECT_RV_MAX + 1];	/* the RESULT points here until it is packed */
	struct informer *const informer = informer_of(j);
	struct projected p = { .rv = "" };

	rv[0] = '\0';
	switch (how) {
	case MERGE_NOTHING:
		break;
	case MERGE_FORWARD:
		snprintf(rv, sizeof(rv), "%s",
		    j->list_rv[0] != '\0' ? j->list_rv : splitter_list_rv(j->splitter));
		break;
	case MERGE_GONE:
		if (informer != NULL) {
			informer_removed(informer, j->params.ns, j->params.name, j->params.uid, j->in.trace);
			object_key(key, size, j->params.resource, j->params.ns, j->params.name);
		}
		break;
	case MERGE_OBJECT:
		if (j->live != KIND_MAX) {
			answer_rv(http->body, http->body_len, rv, sizeof(rv));
			result_items_live(&j->items, j->live, j->service->live[j->live], http->body,
			    http->body_len);
			break;
		}
		if (informer != NULL) {
			const enum informer_answer answer = informer_answer(informer,
			    answer_form(http->body, http->body_len), http->body, http->body_len, !is_read(j),
			    j->in.trace, key, size, &p);

			if (answer == ANSWER_INVALID)
				log_warnx("unreadable answer to a write; the watch delivers the object",
				    KV_S(OBJECT, j->params.name), KV_S(WHY, p.error));
			else
				snprintf(rv, sizeof(rv), "%s", p.rv);
			if (answer == ANSWER_SKIPPED)
				result_items_skip(&j->items, key, p.error);
		}
		if (!sender_reads(j)) {
			answer_rv(http->body, http->body_len, rv, sizeof(rv));
			key[0] = '\0';
			result_items_raw(&j->items, j->params.resource, j->params.ns, j->params.name,
			    http->body, http->body_len);
		}
		break;
	}
	r->rv = wire_str_of(rv);
}

static bool
is_read(const struct write_job *j)
{
	return j->params.op == OP_GET || j->params.op == OP_LIST;
}

/* The sender gets a projection of the kind; else it gets JSON. */
static bool
sender_reads(const struct write_job *j)
{
	return informer_of(j) != NULL && (kind_table[j->kind].readers >> j->in.from & 1) != 0;
}

static void
finish(struct write_job *j, struct body_result *r, const char *key)
{
	struct service *const s = j->service;
	const enum outcome outcome = (enum outcome)r->outcome;

	if (outcome == OUTCOME_FORBIDDEN)
		log_error("the cluster does not allow a write", KV_S(PEER, role_name(j->in.from)),
		    KV_S(VERB, op_table[j->params.op].name), KV_S(OBJECT, j->params.name),
		    KV_SN(WHY, r->message.p, r->message.len),
		    KV_S(HINT, "bind the ClusterRole of deploy/rbac.yaml"));
	actor_result(s->deps.actor, j->in.handle, r, &key, key == NULL ? 0 : 1);
	count(&j->in, j->params.op, outcome_name(outcome), j->began_ms);
	forget(j);
}

static void
refuse(struct service *s, const struct write_in *w, enum outcome o, const char *why)
{
	const struct body_result r = { .outcome = o, .message = wire_str_of(why) };

	actor_result(s->deps.actor, w->handle, &r, NULL, 0);
	count(w, (enum op)w->body->op, outcome_name(o), clock_mono_ms());
}

/* A write whose sender is gone. Reads are not worth a line. */
static void
log_unattended(const struct write_job *j, const char *what, const char *outcome)
{
	if (is_read(j))
		return;
	log_warnx(what, KV_S(PEER, role_name(j->in.from)), KV_S(VERB, op_table[j->params.op].name),
	    KV_S(RESOURCE, j->params.resource), KV_S(OBJECT, j->params.name), KV_S(OUTCOME, outcome));
}

static void
count(const struct write_in *w, enum op op, const char *outcome, int64_t began_ms)
{
	char labels[200] = "";

	stat_label(labels, sizeof(labels), "verb", op_table[op].name);
	stat_observe(stat_get(STAT_WRITE_DURATION, labels), (double)(clock_mono_ms() - began_ms) / 1000);
	stat_label(labels, sizeof(labels), "sender", role_name(w->from));
	stat_label(labels, sizeof(labels), "outcome", outcome);
	stat_add(stat_get(STAT_WRITES, labels), 1);
}

static void
forget(struct write_job *j)
{
	struct service *const s = j->service;

	if (j->texts != NULL)
		explicit_bzero((void *)(uintptr_t)j->params.body, j->params.body_len);
	free(j->texts);
	splitter_free(&j->splitter);
	*j = (struct write_job){ .service = s };
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	service_drive(arg);
}

static uint32_t
slot_of(const struct write_job *j)
{
	return (uint32_t)(j - j->service->jobs);
}
