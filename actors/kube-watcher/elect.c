/*
 * actors/kube-watcher/elect.c - the Lease: one request at a time, JSON there and back.
 *
 * An instance that loses it does not exit: writes are refused from the moment it expires, by the pure
 * plan, and reading goes on as a standby, so that the next takeover is instant.
 */
#include "elect.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "keytab.h"
#include "kube/path.h"
#include "kube/status.h"
#include "kube/time.h"
#include "log.h"
#include "obj.h"
#include "stat.h"
#include "timer.h"

#define WATCH_SECONDS	"300"
enum { WATCH_REST_MS = 2000, WATCH_FORBIDDEN_MS = 60 * 1000 };

struct elect {
	uint32_t		 magic;
#define ELECT_MAGIC	0x454c4543u
	struct actor		*actor;
	struct access		*access;
	struct publisher		*publisher;
	void		       (*changed)(void *), (*stopped)(void *);
	void			*changed_arg, *stopped_arg;
	char			*name, *ns;
	struct lease		 lease;
	struct lease_view	 published;
	char			 published_holder[LEASE_HOLDER_MAX + 1];
	bool			 published_once;
	int64_t			 cluster_ms;
	enum lease_verb		 requested;
	struct event		*timer;
	uint64_t		 call;
	uint64_t		 watch;		/* of a standby, so that a release is noticed at once */
	int64_t			 watch_at_ms;	/* not before */
	struct stat_series	*leads;
	char			 logged_error[300];
};

static void drive(struct elect *);
static void request(struct elect *, const struct lease_step *);
static char *lease_body(const struct elect *, const struct lease_step *);
static void on_done(const struct http_response *, void *);
static enum lease_result result_of(struct elect *, const struct http_response *, struct lease_seen *);
static bool read_lease(const char *, size_t, struct lease_seen *);
static int64_t parse_time(const json_t *);
static void watch_lease(struct elect *);
static bool on_watch_data(const void *, size_t, void *);
static void on_watch_done(const struct http_response *, void *);
static void publish_leader(struct elect *);
static void log_lease_error(struct elect *, const struct http_response *);
static void on_timer(evutil_socket_t, short, void *);

struct elect *
elect_new(struct actor *a, struct access *x, struct publisher *o, const struct elect_setup *s,
    void (*changed)(void *), void *arg)
{
	const struct lease_config config = {
		.elect = s->elect, .duration_ms = s->duration_ms, .identity = actor_instance(a),
	};
	char labels[300] = "";
	struct elect *e;

	OBJ_NEW(e, ELECT_MAGIC);
	e->actor = a;
	e->access = x;
	e->publisher = o;
	e->changed = changed;
	e->changed_arg = arg;
	e->name = obj_strdup(s->name);
	e->ns = obj_strdup(s->ns);
	stat_label(labels, sizeof(labels), "name", e->name);
	e->leads = stat_get(STAT_LEADER, labels);
	e->timer = evtimer_new(actor_base(a), on_timer, e);
	MUST(e->timer != NULL);
	lease_init(&e->lease, &config, actor_new_trace(a), clock_mono_ms());
	drive(e);
	return e;
}

void
elect_free(struct elect **ep)
{
	struct elect *e;

	if (*ep == NULL)
		return;
	OBJ_TAKE(e, ep, ELECT_MAGIC);
	if (e->call != 0)
		access_cancel(e->access, e->call);
	if (e->watch != 0)
		access_cancel(e->access, e->watch);
	event_free(e->timer);
	free(e->name);
	free(e->ns);
	OBJ_FREE(e);
}

const struct lease *
elect_lease(const struct elect *e)
{
	return &e->lease;
}

void
elect_tick(struct elect *e)
{
	publish_leader(e);
}

void
elect_stop(struct elect *e, void (*stopped)(void *), void *arg)
{
	e->stopped = stopped;
	e->stopped_arg = arg;
	lease_stop(&e->lease, clock_mono_ms());
	drive(e);
}

static void
drive(struct elect *e)
{
	const int64_t now_ms = clock_mono_ms();
	const struct lease_step step = lease_next(&e->lease, now_ms, access_cluster_us(e->access));

	publish_leader(e);
	watch_lease(e);
	if (step.verb == LEASE_WAIT) {
		timer_set(e->timer, step.at_ms, now_ms);
	} else if (step.verb != LEASE_STOPPED) {
		request(e, &step);
	} else {
		void (*const stopped)(void *) = e->stopped;

		timer_set(e->timer, INT64_MAX, now_ms);
		e->stopped = NULL;
		if (stopped != NULL)
			stopped(e->stopped_arg);
	}
}

static void
request(struct elect *e, const struct lease_step *step)
{
	static const char *const methods[] = {
		[LEASE_GET] = "GET", [LEASE_CREATE] = "POST", [LEASE_UPDATE] = "PUT",
	};
	const bool write = step->verb != LEASE_GET;
	char path[KUBE_PATH_MAX];
	char *const body = write ? lease_body(e, step) : NULL;

	MUST(path_make(path, sizeof(path), &(struct kube_path){
		.group = "coordination.k8s.io", .version = "v1", .resource = "leases", .ns = e->ns,
		.name = step->verb == LEASE_CREATE ? "" : e->name,
	}));
	if (step->verb == LEASE_GET && e->published.leading)
		stat_add(stat_get(STAT_LEADER_SLOW, ""), 1);
	e->requested = step->verb;
	e->call = access_send(e->access, &(struct access_call){
		.lane = ACCESS_LEASE, .method = methods[step->verb], .path = path,
		.content_type = write ? "application/json" : NULL,
		.body = body, .body_len = write ? strlen(body) : 0,
		.timeout_ms = step->timeout_ms, .done = on_done, .arg = e,
	});
	free(body);
}

static char *
lease_body(const struct elect *e, const struct lease_step *step)
{
	const struct lease_record *const r = &step->record;
	char acquired[TIME_TEXT_MAX], renewed[TIME_TEXT_MAX];

	time_format_micro(r->acquire_us, acquired, sizeof(acquired));
	time_format_micro(r->renew_us, renewed, sizeof(renewed));
	json_t *const lease = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:I, s:I, s:s, s:s}}",
	    "apiVersion", "coordination.k8s.io/v1", "kind", "Lease",
	    "metadata", "name", e->name, "namespace", e->ns,
	    "spec", "holderIdentity", r->holder, "leaseDurationSeconds", (json_int_t)r->duration_s,
	    "leaseTransitions", (json_int_t)r->transitions, "acquireTime", acquired, "renewTime", renewed);
	MUST(lease != NULL);
	if (step->verb == LEASE_UPDATE)
		json_object_set_new(
		    json_object_get(lease, "metadata"), "resourceVersion", json_string(step->rv));
	char *const text = json_dumps(lease, JSON_COMPACT);
	MUST(text != NULL);
	json_decref(lease);
	return text;
}

static void
on_done(const struct http_response *r, void *arg)
{
	struct elect *const e = arg;
	struct lease_seen seen;

	e->call = 0;
	const enum lease_result result = result_of(e, r, &seen);
	lease_answered(&e->lease, result, result == LEASE_OK ? &seen : NULL, clock_mono_ms());
	drive(e);
}

static enum lease_result
result_of(struct elect *e, const struct http_response *r, struct lease_seen *seen)
{
	if ((r->status == 200 || r->status == 201) && r->err == E_OK
	    && read_lease(r->body, r->body_len, seen)) {
		if (e->logged_error[0] != '\0')
			log_info("the Lease can be read and renewed again", KV_S(OBJECT, e->name));
		e->logged_error[0] = '\0';
		return LEASE_OK;
	}
	/* A missing namespace is a 404 on POST: creating it is not ours. */
	if (r->status == 404 && e->requested == LEASE_GET)
		return LEASE_MISSING;
	if (r->status == 409)
		return LEASE_CONFLICT;
	log_lease_error(e, r);
	return LEASE_FAILED;
}

/* Any client may have written it: invalid content only counts as a change. */
static bool
read_lease(const char *text, size_t len, struct lease_seen *seen)
{
	json_t *const root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *const spec = json_object_get(root, "spec");
	const json_t *const rv = json_object_get(json_object_get(root, "metadata"), "resourceVersion");
	const json_t *const holder = json_object_get(spec, "holderIdentity");

	*seen = (struct lease_seen){ .rv = "" };
	const bool ok = json_is_string(rv) && json_string_length(rv) < sizeof(seen->rv)
	    && (holder == NULL || json_is_null(holder) || json_is_string(holder));
	if (ok) {
		char *const text_of_spec =
		    spec == NULL ? NULL : json_dumps(spec, JSON_SORT_KEYS | JSON_COMPACT);

		snprintf(seen->rv, sizeof(seen->rv), "%s", json_string_value(rv));
		snprintf(seen->record.holder, sizeof(seen->record.holder), "%s",
		    json_is_string(holder) ? json_string_value(holder) : "");
		seen->record.duration_s = json_integer_value(json_object_get(spec, "leaseDurationSeconds"));
		seen->record.transitions = json_integer_value(json_object_get(spec, "leaseTransitions"));
		seen->record.acquire_us = parse_time(json_object_get(spec, "acquireTime"));
		seen->record.renew_us = parse_time(json_object_get(spec, "renewTime"));
		seen->digest = text_of_spec == NULL ? 0 : hash64(text_of_spec, strlen(text_of_spec));
		free(text_of_spec);
	}
	json_decref(root);
	return ok;
}

static int64_t
parse_time(const json_t *value)
{
	int64_t us;

	if (!json_is_string(value) || !time_parse(json_string_value(value), json_string_length(value), &us))
		return 0;
	return us;
}

/* An event of the watch only causes a GET; polling goes on beside it, should it fail. */
static void
watch_lease(struct elect *e)
{
	const int64_t now_ms = clock_mono_ms();
	const struct lease *const l = &e->lease;
	const bool wanted = l->elect && !l->stopping && l->known && !lease_view(l, now_ms).leading;
	char path[KUBE_PATH_MAX], selector[300];

	if (!wanted && e->watch != 0) {
		access_cancel(e->access, e->watch);
		e->watch = 0;
	}
	if (!wanted || e->watch != 0 || now_ms < e->watch_at_ms)
		return;
	snprintf(selector, sizeof(selector), "metadata.name=%s", e->name);
	MUST(path_make(path, sizeof(path), &(struct kube_path){
		.group = "coordination.k8s.io", .version = "v1", .resource = "leases", .ns = e->ns,
	}) && path_query(path, sizeof(path), "watch", "true")
	    && path_query(path, sizeof(path), "fieldSelector", selector)
	    && path_query(path, sizeof(path), "resourceVersion", l->seen.rv)
	    && path_query(path, sizeof(path), "timeoutSeconds", WATCH_SECONDS));
	e->watch = access_send(e->access, &(struct access_call){
		.lane = ACCESS_WATCHES, .method = "GET", .path = path, .timeout_ms = HTTP_NO_DEADLINE,
		.on_data = on_watch_data, .done = on_watch_done, .arg = e,
	});
}

static bool
on_watch_data(const void *data, size_t len, void *arg)
{
	struct elect *const e = arg;

	(void)data, (void)len;
	lease_changed(&e->lease, clock_mono_ms());
	drive(e);
	return true;
}

static void
on_watch_done(const struct http_response *r, void *arg)
{
	struct elect *const e = arg;
	struct kube_status s;

	e->watch = 0;
	e->watch_at_ms = clock_mono_ms() + (r->status == 403 ? WATCH_FORBIDDEN_MS : WATCH_REST_MS);
	if (r->status != 403)
		return;
	status_read(&s, r->status, r->body, r->body_len);
	log_warnx("the Lease cannot be watched and is polled instead: a handover takes some seconds longer",
	    KV_S(OBJECT, e->name), KV_I(CODE, r->status), KV_S(WHY, s.message),
	    KV_S(HINT, "bind the Role of deploy/rbac.yaml in the Lease's namespace"));
}

/* Publishes who leads, and cluster time, to every consumer; a renewal moves only the deadline. */
static void
publish_leader(struct elect *e)
{
	const struct lease_view v = lease_view(&e->lease, clock_mono_ms());
	const bool leader_changed = !e->published_once || v.leading != e->published.leading
	    || strcmp(v.holder, e->published_holder) != 0;
	const bool clock_moved = access_cluster_moved(e->access, &e->cluster_ms);

	if (!leader_changed && !clock_moved && v.until_ms == e->published.until_ms
	    && v.term == e->published.term && v.clean == e->published.clean)
		return;
	if (leader_changed && e->lease.elect)
		log_info(v.leading ? "this instance leads" : "this instance does not lead",
		    KV_S(OBJECT, e->name), KV_S(HOLDER, v.holder), KV_I(COUNT, v.term));
	e->published = v;
	e->published_once = true;
	snprintf(e->published_holder, sizeof(e->published_holder), "%s", v.holder);
	stat_set(e->leads, v.leading);
	publisher_leader(e->publisher, &(struct body_leader){
		.leading = v.leading, .identity = wire_str_of(actor_instance(e->actor)),
		.holder = wire_str_of(e->published_holder), .term = v.term,
		.since_ms = v.since_ms, .until_ms = v.until_ms, .clean = v.clean,
		.cluster_ms = e->cluster_ms,
	});
	e->changed(e->changed_arg);
}

static void
log_lease_error(struct elect *e, const struct http_response *r)
{
	struct kube_status s;
	const char *why = r->error;

	if (r->status != 0) {
		status_read(&s, r->status, r->body, r->body_len);
		why = s.message;
	}
	if (strncmp(e->logged_error, why, sizeof(e->logged_error) - 1) == 0)
		return;
	snprintf(e->logged_error, sizeof(e->logged_error), "%.*s", (int)sizeof(e->logged_error) - 1, why);
	log_warnx("the Lease cannot be read or renewed; retrying, and no writes once it has expired",
	    KV_S(OBJECT, e->name), KV_I(CODE, r->status), KV_S(WHY, e->logged_error),
	    KV_S(HINT, r->status == 403 ? "bind the Role of deploy/rbac.yaml in the Lease's namespace" : ""));
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	drive(arg);
}
