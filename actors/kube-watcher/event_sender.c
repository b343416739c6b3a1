/* actors/kube-watcher/event_sender.c - the effects of the Event policy: create once, then count. */
#include "event_sender.h"

#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "clock.h"
#include "event_object.h"
#include "keytab.h"
#include "kube/status.h"
#include "log.h"
#include "obj.h"
#include "stat.h"
#include "timer.h"

enum { TIMEOUT_MS = 10 * 1000, STATUS_CONFLICT = 409 };

/* The Event of one slot of the policy. */
struct pending_event {
	struct event_sender	*sender;
	struct event_object	 object;
	uint64_t		 call;		/* of access_send; 0: none in flight */
	bool			 patching;
};

struct event_sender {
	uint32_t		 magic;
#define EVENT_SENDER_MAGIC	0x45565453u
	struct actor		*actor;
	struct access		*access;
	struct event_policy	 policy;
	struct pending_event	 pending[EVENT_SLOTS_MAX];
	struct event		*timer;
	uint64_t		 dropped;	/* as counted in the metric */
};

static void drive(struct event_sender *);
static void send_event(struct event_sender *, const struct event_step *);
static void on_done(const struct http_response *, void *);
static void log_refused(const struct pending_event *, const struct http_response *);
static void count_dropped(struct event_sender *);
static void on_timer(evutil_socket_t, short, void *);

struct event_sender *
event_sender_new(struct actor *a, struct access *x)
{
	struct event_sender *s;

	OBJ_NEW(s, EVENT_SENDER_MAGIC);
	s->actor = a;
	s->access = x;
	for (size_t i = 0; i < EVENT_SLOTS_MAX; i++)
		s->pending[i].sender = s;
	event_policy_init(&s->policy, actor_new_trace(a));
	s->timer = evtimer_new(actor_base(a), on_timer, s);
	MUST(s->timer != NULL);
	return s;
}

void
event_sender_free(struct event_sender **sp)
{
	struct event_sender *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, EVENT_SENDER_MAGIC);
	for (size_t i = 0; i < EVENT_SLOTS_MAX; i++) {
		if (s->pending[i].call != 0)
			access_cancel(s->access, s->pending[i].call);
		json_decref(s->pending[i].object.body);
	}
	event_free(s->timer);
	OBJ_FREE(s);
}

bool
event_sender_in_flight(const struct event_sender *s)
{
	for (size_t i = 0; i < EVENT_SLOTS_MAX; i++) {
		if (s->pending[i].call != 0)
			return true;
	}
	return false;
}

const char *
event_sender_add(struct event_sender *s, const struct call_params *a)
{
	const char *const about[] = { a->group, a->resource, a->ns, a->name, a->uid };
	struct event_hash e = { .content = hash64(a->body, a->body_len) };
	const int64_t now_us = access_cluster_us(s->access);
	json_t *fields;

	const char *const wrong = event_parse(a, &fields);
	if (wrong != NULL)
		return wrong;
	for (size_t i = 0; i < NITEMS(about); i++)
		e.object = hash64_more(e.object, about[i], strlen(about[i]) + 1);
	e.content = hash64_more(e.content, &a->sender, sizeof(a->sender));
	const struct event_step step = event_policy_observe(&s->policy, &e, clock_mono_ms(), now_us);
	if (step.verb == EVENT_CREATE)
		event_build(&s->pending[step.slot].object, a, fields, actor_instance(s->actor), step.unique,
		    now_us);
	json_decref(fields);
	count_dropped(s);
	drive(s);
	return NULL;
}

static void
drive(struct event_sender *s)
{
	for (;;) {
		const int64_t now_ms = clock_mono_ms();
		const struct event_step step = event_policy_next(&s->policy, now_ms);

		if (step.verb == EVENT_CREATE || step.verb == EVENT_PATCH) {
			send_event(s, &step);
			continue;
		}
		timer_set(s->timer, step.at_ms, now_ms);
		return;
	}
}

static void
send_event(struct event_sender *s, const struct event_step *step)
{
	struct pending_event *const e = &s->pending[step->slot];
	struct call_http http;

	e->patching = step->verb == EVENT_PATCH;
	event_request(&e->object, e->patching ? step->count : 0, step->last_us, &http);
	e->call = access_send(s->access, &(struct access_call){
		.lane = ACCESS_CALLS, .method = http.method, .path = http.path,
		.content_type = http.content_type, .body = http.body, .body_len = http.body_len,
		.timeout_ms = TIMEOUT_MS, .fenced = true, .done = on_done, .arg = e,
	});
	call_free(&http);
}

static void
on_done(const struct http_response *http, void *arg)
{
	struct pending_event *const e = arg;
	struct event_sender *const s = e->sender;
	const int status = http->status;
	enum event_result result = EVENT_REFUSED;

	e->call = 0;
	if ((status >= 200 && status < 300) || status == STATUS_CONFLICT)
		result = EVENT_OK;		/* 409: an earlier try whose answer was lost */
	else if (status == 404 && e->patching)
		result = EVENT_MISSING;
	else if (status == 0 || status == 429 || status >= 500)
		result = EVENT_AGAIN;
	if (result == EVENT_REFUSED)
		log_refused(e, http);
	event_policy_answered(&s->policy, (uint32_t)(e - s->pending), result, clock_mono_ms());
	count_dropped(s);
	drive(s);
}

static void
log_refused(const struct pending_event *e, const struct http_response *http)
{
	struct kube_status status;

	status_read(&status, http->status, http->body, http->body_len);
	log_warnx("the cluster refused an Event; it is dropped", KV_S(OBJECT, e->object.name),
	    KV_I(CODE, http->status), KV_S(WHY, status.message),
	    KV_S(HINT, http->status == 403 ? "bind the ClusterRole of deploy/rbac.yaml" : ""));
}

static void
count_dropped(struct event_sender *s)
{
	if (s->policy.dropped != s->dropped)
		stat_add(stat_get(STAT_EVENTS_DROPPED, ""), (double)(s->policy.dropped - s->dropped));
	s->dropped = s->policy.dropped;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	drive(arg);
}
