/* actors/kube-watcher/record.c - the effects of the recorder: Event objects, made once, then counted. */
#include "record.h"

#include <event2/event.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "clock.h"
#include "groups.h"
#include "keytab.h"
#include "kinds.h"
#include "kube/path.h"
#include "kube/status.h"
#include "kube/time.h"
#include "log.h"
#include "obj.h"
#include "recorder.h"
#include "stat.h"

enum { TIMEOUT_MS = 10 * 1000, WORD_MAX = 128, ANSWER_CONFLICT = 409 };

/* The Event of one slot of the recorder, as it was or will be created. */
struct sheet {
	struct record	*record;
	json_t		*body;
	char		 ns[64], name[RECORDER_NAME_MAX + 1];
	uint64_t	 call;
	bool		 patching;
};

struct record {
	uint32_t	 magic;
#define RECORD_MAGIC	0x5245434fu
	struct actor	*actor;
	struct access	*access;
	struct recorder	 recorder;
	struct sheet	 sheets[RECORDER_MAX];
	struct event	*timer;
	uint64_t	 dropped;	/* told to the metrics */
};

static json_t *event_of(const struct record *, const struct call_ask *, const char *, const json_t *);
static const char *kind_of(const struct call_ask *, const json_t *);
static const char *word(const json_t *, const char *);
static void drive(struct record *);
static void send_event(struct record *, const struct recorder_step *);
static void on_done(const struct http_response *, void *);
static void tell_refused(const struct sheet *, const struct http_response *);
static void count_dropped(struct record *);
static void on_timer(evutil_socket_t, short, void *);

struct record *
record_new(struct actor *a, struct access *x)
{
	struct record *r;

	OBJ_NEW(r, RECORD_MAGIC);
	r->actor = a;
	r->access = x;
	for (size_t i = 0; i < RECORDER_MAX; i++)
		r->sheets[i].record = r;
	recorder_init(&r->recorder, actor_new_trace(a));
	r->timer = evtimer_new(actor_base(a), on_timer, r);
	MUST(r->timer != NULL);
	return r;
}

void
record_free(struct record **rp)
{
	struct record *r;

	if (*rp == NULL)
		return;
	OBJ_TAKE(r, rp, RECORD_MAGIC);
	for (size_t i = 0; i < RECORDER_MAX; i++) {
		if (r->sheets[i].call != 0)
			access_cancel(r->access, r->sheets[i].call);
		json_decref(r->sheets[i].body);
	}
	event_free(r->timer);
	OBJ_FREE(r);
}

const char *
record_note(struct record *r, const struct call_ask *a, const char *version)
{
	json_t *const said = json_loadb(a->body, a->body_len, JSON_REJECT_DUPLICATES, NULL);
	const char *wrong = NULL;

	if (kind_of(a, said) == NULL)
		wrong = "an Event about a resource that kinds.h does not know must say its kind";
	else if (word(said, "type") == NULL || word(said, "reason") == NULL || word(said, "action") == NULL)
		wrong = "an Event has type, reason and action, each of 1 to 128 characters";
	else if (strcmp(word(said, "type"), "Normal") != 0 && strcmp(word(said, "type"), "Warning") != 0)
		wrong = "the type of an Event is Normal or Warning";
	if (wrong == NULL) {
		const char *const about[] = { a->group, a->resource, a->ns, a->name, a->uid };
		struct recorder_event e = { .content = hash64(a->body, a->body_len) };

		for (size_t i = 0; i < NITEMS(about); i++)
			e.object = hash64_more(e.object, about[i], strlen(about[i]) + 1);
		e.content = hash64_more(e.content, &a->sender, sizeof(a->sender));
		const struct recorder_step step =
		    recorder_note(&r->recorder, &e, clock_mono_ms(), access_cluster_us(r->access));
		if (step.verb == RECORDER_CREATE) {
			struct sheet *const s = &r->sheets[step.slot];

			json_decref(s->body);
			s->body = event_of(r, a, version, said);
			snprintf(s->ns, sizeof(s->ns), "%s", a->ns[0] == '\0' ? "default" : a->ns);
			recorder_name(a->name, step.unique, s->name);
			json_object_set_new(
			    json_object_get(s->body, "metadata"), "name", json_string(s->name));
			json_object_set_new(
			    json_object_get(s->body, "metadata"), "namespace", json_string(s->ns));
		}
		count_dropped(r);
		drive(r);
	}
	json_decref(said);
	return wrong;
}

static json_t *
event_of(const struct record *r, const struct call_ask *a, const char *version, const json_t *said)
{
	const json_t *const note = json_object_get(said, "note");
	char now[TIME_TEXT_MAX], controller[64], group_version[320];

	time_format_micro(access_cluster_us(r->access), now, sizeof(now));
	snprintf(controller, sizeof(controller), "muster-%s", role_name(a->sender));
	snprintf(group_version, sizeof(group_version), "%s%s%s", group_served(a->group),
	    a->group[0] == '\0' ? "" : "/", version);
	const size_t note_len = json_is_string(note)
	    ? recorder_note_length(json_string_value(note), json_string_length(note)) : 0;
	json_t *const event =
	    json_pack("{s:s, s:s, s:{}, s:s, s:s, s:s, s:s, s:s, s:s, s:s%, s:{s:s, s:s, s:s}}",
		"apiVersion", "events.k8s.io/v1", "kind", "Event", "metadata", "eventTime", now,
		"reportingController", controller, "reportingInstance", actor_instance(r->actor),
		"type", word(said, "type"), "reason", word(said, "reason"), "action",
		word(said, "action"), "note", json_is_string(note) ? json_string_value(note) : "",
		note_len, "regarding", "apiVersion", group_version, "kind", kind_of(a, said),
		"name", a->name);
	MUST(event != NULL);
	json_t *const regarding = json_object_get(event, "regarding");
	if (a->ns[0] != '\0')
		json_object_set_new(regarding, "namespace", json_string(a->ns));
	if (a->uid[0] != '\0')
		json_object_set_new(regarding, "uid", json_string(a->uid));
	return event;
}

static const char *
kind_of(const struct call_ask *a, const json_t *said)
{
	for (unsigned k = 0; k < KIND_MAX; k++) {
		if (strcmp(kind_table[k].group, a->group) == 0
		    && strcmp(kind_table[k].resource, a->resource) == 0)
			return kind_table[k].kind;
	}
	return word(said, "kind");
}

static const char *
word(const json_t *said, const char *key)
{
	const json_t *const v = json_object_get(said, key);
	const size_t len = json_string_length(v);

	return json_is_string(v) && len > 0 && len <= WORD_MAX ? json_string_value(v) : NULL;
}

static void
drive(struct record *r)
{
	for (;;) {
		const int64_t now_ms = clock_mono_ms();
		const struct recorder_step step = recorder_next(&r->recorder, now_ms);

		if (step.verb == RECORDER_CREATE || step.verb == RECORDER_PATCH) {
			send_event(r, &step);
			continue;
		}
		const int64_t wait_ms = step.at_ms > now_ms ? step.at_ms - now_ms : 0;
		const struct timeval tv = { .tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000 };
		if (step.at_ms == INT64_MAX)
			evtimer_del(r->timer);
		else
			MUST(evtimer_add(r->timer, &tv) == 0);
		return;
	}
}

static void
send_event(struct record *r, const struct recorder_step *step)
{
	struct sheet *const s = &r->sheets[step->slot];
	char path[KUBE_PATH_MAX], last[TIME_TEXT_MAX];
	json_t *series = NULL;

	s->patching = step->verb == RECORDER_PATCH;
	MUST(path_make(path, sizeof(path), &(struct kube_path){
		.group = "events.k8s.io", .version = "v1", .resource = "events", .ns = s->ns,
		.name = s->patching ? s->name : "",
	}));
	if (s->patching) {
		time_format_micro(step->last_us, last, sizeof(last));
		series = json_pack("{s:{s:I, s:s}}", "series", "count", (json_int_t)step->count,
		    "lastObservedTime", last);
	}
	char *const text = json_dumps(s->patching ? series : s->body, JSON_COMPACT);
	MUST(text != NULL);
	s->call = access_send(r->access, &(struct access_call){
		.lane = ACCESS_CALLS, .method = s->patching ? "PATCH" : "POST", .path = path,
		.content_type = s->patching ? "application/merge-patch+json" : "application/json",
		.body = text, .body_len = strlen(text), .timeout_ms = TIMEOUT_MS, .done = on_done, .arg = s,
	});
	free(text);
	json_decref(series);
}

static void
on_done(const struct http_response *http, void *arg)
{
	struct sheet *const s = arg;
	struct record *const r = s->record;
	const int status = http->status;
	enum recorder_result result = RECORDER_REFUSED;

	s->call = 0;
	if ((status >= 200 && status < 300) || status == ANSWER_CONFLICT)
		result = RECORDER_OK;		/* 409: an earlier try whose answer was lost */
	else if (status == 404 && s->patching)
		result = RECORDER_MISSING;
	else if (status == 0 || status == 429 || status >= 500)
		result = RECORDER_AGAIN;
	if (result == RECORDER_REFUSED)
		tell_refused(s, http);
	recorder_answered(&r->recorder, (uint32_t)(s - r->sheets), result, clock_mono_ms());
	count_dropped(r);
	drive(r);
}

static void
tell_refused(const struct sheet *s, const struct http_response *http)
{
	struct kube_status said;

	status_read(&said, http->status, http->body, http->body_len);
	log_warnx("the cluster does not take an Event; it is dropped", KV_S(OBJECT, s->name),
	    KV_I(CODE, http->status), KV_S(WHY, said.message),
	    KV_S(HINT, http->status == 403 ? "bind the ClusterRole of deploy/rbac.yaml" : ""));
}

static void
count_dropped(struct record *r)
{
	if (r->recorder.dropped != r->dropped)
		stat_add(stat_get(STAT_EVENTS_DROPPED, ""), (double)(r->recorder.dropped - r->dropped));
	r->dropped = r->recorder.dropped;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	drive(arg);
}
