/*
 * actors/kube-watcher/stream.c - one open list or watch: from bytes to objects to changes of the store.
 *
 * A stream may be cancelled from inside its own callback: it is then freed when the splitter has returned.
 */
#include "informer_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "groups.h"
#include "kube/splitter.h"
#include "kube/frames.h"
#include "kube/path.h"
#include "kube/status.h"
#include "log.h"
#include "obj.h"
#include "writes.h"

#define METADATA	";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
#define METADATA_LIST	";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

/* One open request. */
struct stream {
	struct informer		*informer;	/* NULL: cancelled */
	uint32_t		 id;		/* the reflector's */
	uint64_t		 call;		/* access's */
	enum splitter_shape		 shape;
	enum project_form	 form;
	struct splitter		*splitter;		/* from the first byte of a 200 on */
	int			 status;
	bool			 inside;	/* in its own callback */
	bool			 refused;	/* an object without a name: the answer is invalid */
};

static bool make_path(const struct informer *, const struct reflector_ask *, char *, size_t);
static const char *accept_of(const struct informer *, bool);
static void on_start(int, const char *, void *);
static bool on_data(const void *, size_t, void *);
static void on_done(const struct http_response *, void *);
static bool on_split(const void *, size_t, void *);
static bool on_object(struct stream *, enum watch_type, const void *, size_t, size_t);
static bool refuse(struct stream *, const char *);
static void on_error_event(struct stream *, const void *, size_t);
static void report_failure(struct informer *, uint32_t, const struct http_response *);
static void end_list(struct stream *, const struct http_response *);
static void free_stream(struct stream *);

void
stream_start(struct informer *r, const struct reflector_step *step)
{
	const bool watch = step->ask.watch;
	char path[KUBE_PATH_MAX + REFLECTOR_CONTINUE_MAX * 3];
	struct stream *const s = obj_alloc(sizeof(*s));

	if (watch)
		informer_count_one(r, STAT_WATCH_RESTARTS, "reason", reflector_reason_name(step->reason));
	log_debug(watch ? "watch" : "list", KV_S(RESOURCE, kind_table[r->kind].resource),
	    KV_S(WHY, reflector_reason_text(step->reason)),
	    KV_S(VERSION, step->ask.rv == NULL ? "" : step->ask.rv));
	MUST(make_path(r, &step->ask, path, sizeof(path)));	/* our own names and a bounded token fit */
	stream_forget(r);
	s->informer = r;
	s->id = step->ask.id;
	s->shape = watch ? SPLIT_WATCH : SPLIT_LIST;
	r->stream = s;
	s->call = access_send(r->deps.access, &(struct access_call){
		.lane = watch ? ACCESS_WATCHES : ACCESS_READS, .method = "GET", .path = path,
		/* No gzip: for 5,000 nodes it took the server three seconds. */
		.accept = accept_of(r, watch),
		.timeout_ms = HTTP_NO_DEADLINE,		/* the reflector has a deadline for both */
		.on_start = on_start, .on_data = on_data, .done = on_done, .arg = s,
	});
}

static bool
make_path(const struct informer *r, const struct reflector_ask *ask, char *path, size_t size)
{
	const struct kind_row *const row = &kind_table[r->kind];
	char limit[16], timeout[16];
	const struct {
		const char	*key, *value;
	} query[] = {
		{ "watch",                ask->watch ? "true" : NULL },
		{ "resourceVersion",      ask->rv },
		{ "resourceVersionMatch", ask->match },
		{ "sendInitialEvents",    ask->initial_events ? "true" : NULL },
		{ "allowWatchBookmarks",  ask->bookmarks ? "true" : NULL },
		{ "limit",                ask->limit == 0 ? NULL : limit },
		{ "timeoutSeconds",       ask->timeout_s == 0 ? NULL : timeout },
		{ "continue",             ask->cont },
	};

	snprintf(limit, sizeof(limit), "%" PRIu32, ask->limit);
	snprintf(timeout, sizeof(timeout), "%" PRIu32, ask->timeout_s);
	bool ok = path_make(path, size, &(struct kube_path){
		.group = group_served(row->group), .version = r->version, .resource = row->resource,
		.ns = r->namespaced ? r->deps.ns : "",
	});
	for (size_t i = 0; ok && i < NITEMS(query); i++) {
		if (query[i].value != NULL)
			ok = path_query(path, size, query[i].key, query[i].value);
	}
	return ok;
}

/* Built-in kinds as protobuf, which is three times cheaper for the server too; else JSON. */
static const char *
accept_of(const struct informer *r, bool watch)
{
	static const char *const accepts[2][2][2] = {	/* protobuf, metadata only, watch */
		{ { "application/json", "application/json" },
		  { "application/json" METADATA_LIST ",application/json",
		    "application/json" METADATA ",application/json" } },
		{ { FRAMES_TYPE ",application/json", FRAMES_TYPE ",application/json" },
		  { FRAMES_TYPE METADATA_LIST ",application/json" METADATA_LIST ",application/json",
		    FRAMES_TYPE METADATA ",application/json" METADATA ",application/json" } },
	};

	return accepts[kind_table[r->kind].form == FORM_PROTO]
		      [projection_metadata_only(r->projection)][watch];
}

void
stream_forget(struct informer *r)
{
	struct stream *const s = r->stream;

	r->stream = NULL;
	if (s == NULL)
		return;
	s->informer = NULL;
	access_cancel(r->deps.access, s->call);
	if (!s->inside)
		free_stream(s);
}

static void
free_stream(struct stream *s)
{
	splitter_free(&s->splitter);
	free(s);
}

/* ---- What the server sends ---- */

static void
on_start(int status, const char *content_type, void *arg)
{
	struct stream *const s = arg;

	s->status = status;
	s->form = strncmp(content_type, FRAMES_TYPE,
	    strlen(FRAMES_TYPE)) == 0 ? PROJECT_PROTO : PROJECT_JSON;
	if (status == 200)
		reflector_accepted(&s->informer->reflector, s->id, clock_mono_ms());
}

static bool
on_data(const void *data, size_t len, void *arg)
{
	struct stream *const s = arg;

	if (s->splitter == NULL)
		s->splitter = splitter_new(s->shape, s->form, on_split, s);
	s->inside = true;
	const bool more = splitter_feed(s->splitter, data, len);
	s->inside = false;
	if (s->informer != NULL)
		return more;
	free_stream(s);
	return false;
}

static bool
on_split(const void *bytes, size_t len, void *arg)
{
	struct stream *const s = arg;
	struct informer *const r = s->informer;
	struct watch_event e;

	if (s->shape == SPLIT_LIST)
		return on_object(s, WATCH_ADDED, bytes, len, PROJECT_PADDING);
	const char *const wrong = watch_event_open(s->form, bytes, len, PROJECT_PADDING, &e);
	if (wrong != NULL)
		return refuse(s, wrong);
	stat_add(r->events[e.type], 1);
	if (e.type == WATCH_ERROR) {
		on_error_event(s, e.object, e.len);
	} else if (e.type == WATCH_BOOKMARK) {
		char rv[PROJECT_RV_MAX + 1];
		bool initial_end;

		if (!watch_bookmark(s->form, e.object, e.len, rv, sizeof(rv), &initial_end))
			return refuse(s, "a bookmark without resourceVersion");
		const struct list_diff p = store_list_diff(r->store, rv);
		reflector_bookmark(&r->reflector, s->id, rv, initial_end, &p, clock_mono_ms());
		informer_run(r);	/* commits the list before the next event */
	} else if (e.type == WATCH_UNKNOWN) {
		log_debug("event of unknown type skipped",
		    KV_S(RESOURCE, kind_table[r->kind].resource));
	} else {
		return on_object(s, e.type, e.object, e.len, e.padding);
	}
	return s->informer != NULL;
}

static bool
on_object(struct stream *s, enum watch_type type, const void *bytes, size_t len, size_t padding)
{
	struct informer *const r = s->informer;
	struct projected *const p = &r->projected;
	const int64_t now_ms = clock_mono_ms();
	const bool readable = project(r->projection, s->form, bytes, len, padding, p);
	char key[PUBLISHER_KEY_MAX];

	if (p->rv[0] == '\0' || !object_key(key, sizeof(key), kind_table[r->kind].resource, p->ns, p->name))
		return refuse(s, p->error);
	const enum reflector_take t = s->shape == SPLIT_LIST
	    ? reflector_item(&r->reflector, s->id, now_ms)
	    : reflector_event(&r->reflector, s->id, type, p->rv, now_ms);
	if (t == TAKE_SKIP) {	/* if it was out of order, the stream is over and a list begins */
		informer_run(r);
		return s->informer != NULL;
	}
	const struct object_version word = {
		.key = key, .key_len = strlen(key), .uid = p->uid, .rv = p->rv, .unreadable = !readable,
	};
	/* DELETED brings the last state of the object: its name is all that counts. */
	informer_publish(r, key, p, !readable && type != WATCH_DELETED,
	    type == WATCH_DELETED ? store_deleted(r->store, &word) : store_seen(r->store, &word),
	    false, actor_new_trace(r->deps.actor));
	return true;
}

/* Without names the store cannot be complete: this stream is invalid from here on. */
static bool
refuse(struct stream *s, const char *why)
{
	struct informer *const r = s->informer;

	snprintf(r->detail, sizeof(r->detail), "invalid answer: %s", why);
	log_warnx("invalid answer of the server; trying again",
	    KV_S(RESOURCE, kind_table[r->kind].resource), KV_S(WHY, why));
	informer_count_one(r, STAT_OBJECTS_SKIPPED, NULL, NULL);
	s->refused = true;
	return false;
}

static void
on_error_event(struct stream *s, const void *object, size_t len)
{
	struct informer *const r = s->informer;
	struct kube_status status;

	status_read(&status, 0, object, len);
	snprintf(r->detail, sizeof(r->detail), "%.*s", DETAIL_MAX, status.message);
	const struct reflector_failure f = {
		.status = status.code, .reason = status.reason, .too_large = status_too_large_rv(&status),
		.in_stream = true,
		.retry_after_ms = status.retry_after_s == 0 ? -1 : status.retry_after_s * 1000,
	};
	reflector_failed(&r->reflector, s->id, &f, clock_mono_ms());
	informer_run(r);
}

static void
on_done(const struct http_response *http, void *arg)
{
	struct stream *const s = arg;
	struct informer *const r = s->informer;

	r->stream = NULL;
	if (http->status != 200 || s->refused)
		report_failure(r, s->id, http);
	else if (s->shape == SPLIT_LIST)
		end_list(s, http);
	else {
		if (s->splitter != NULL)
			splitter_end(s->splitter);	/* half an event: the next watch sends it */
		reflector_ended(&r->reflector, s->id, http->err == E_OK, clock_mono_ms());
	}
	free_stream(s);
	informer_run(r);
}

static void
report_failure(struct informer *r, uint32_t id, const struct http_response *http)
{
	const int code = http->status == 200 ? 0 : http->status;	/* 200: the body was invalid */
	struct reflector_failure f = { .status = code, .reason = "", .retry_after_ms = -1 };
	struct kube_status status = { .reason = "" };

	if (code != 0) {
		status_read(&status, code, http->body, http->body_len);
		f.reason = status.reason;
		f.too_large = status_too_large_rv(&status);
		snprintf(r->detail, sizeof(r->detail), "%.*s", DETAIL_MAX, status.message);
	} else if (http->status == 0) {
		f.refused = !http->sent;
		snprintf(r->detail, sizeof(r->detail), "%s", http->error);
	}
	if (http->retry_after_ms != 0)
		f.retry_after_ms = http->retry_after_ms;
	else if (status.retry_after_s != 0)
		f.retry_after_ms = status.retry_after_s * 1000;
	log_warnx("cannot read a kind; trying again", KV_S(RESOURCE, kind_table[r->kind].resource),
	    KV_I(CODE, code), KV_S(WHY, r->detail));
	reflector_failed(&r->reflector, id, &f, clock_mono_ms());
}

static void
end_list(struct stream *s, const struct http_response *http)
{
	struct informer *const r = s->informer;
	const int64_t now_ms = clock_mono_ms();

	if (http->err == E_OK && s->splitter != NULL && splitter_end(s->splitter)) {
		const struct list_diff p = store_list_diff(r->store, splitter_list_rv(s->splitter));

		reflector_page(&r->reflector, s->id, splitter_list_rv(s->splitter),
		    splitter_list_continue(s->splitter), &p, now_ms);
		return;
	}
	snprintf(r->detail, sizeof(r->detail), "the list broke off: %s",
	    s->splitter != NULL && splitter_error(s->splitter)[0] != '\0' ? splitter_error(s->splitter)
									  : http->error);
	log_warnx("cannot read a kind; trying again", KV_S(RESOURCE, kind_table[r->kind].resource),
	    KV_S(WHY, r->detail));
	reflector_failed(&r->reflector, s->id,
	    &(struct reflector_failure){ .reason = "", .retry_after_ms = -1 }, now_ms);
}
