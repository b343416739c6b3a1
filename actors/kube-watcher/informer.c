/*
 * actors/kube-watcher/informer.c - performs the steps of a reflector; publishes objects and the
 * state of a kind.
 */
#include "informer_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "log.h"
#include "obj.h"
#include "timer.h"
#include "writes.h"

static void perform(struct informer *, const struct reflector_step *);
static void count_objects(struct informer *);
static void note_skipped(struct informer *, const char *, const char *);
static void publish_state(struct informer *);
static void on_gone(const char *, size_t, void *);
static void on_timer(evutil_socket_t, short, void *);
static void open_stats(struct informer *);
static struct stat_series *series(const struct informer *, enum stat_id, const char *, const char *);

struct informer *
informer_new(const struct informer_deps *g, enum kind k)
{
	static const struct reflector_config config = {
		.watchlist = true, .page = REFLECTOR_PAGE, .relist_ms = REFLECTOR_RELIST_MS,
	};
	struct informer *r;

	OBJ_NEW(r, INFORMER_MAGIC);
	r->deps = *g;
	r->kind = k;
	r->store = store_new();
	r->timer = evtimer_new(actor_base(g->actor), on_timer, r);
	MUST(r->timer != NULL);
	reflector_init(&r->reflector, &config, g->server, actor_new_trace(g->actor));
	open_stats(r);
	r->published_state = KIND_STATE_MAX;
	publish_state(r);
	return r;
}

void
informer_free(struct informer **rp)
{
	struct informer *r;

	if (*rp == NULL)
		return;
	OBJ_TAKE(r, rp, INFORMER_MAGIC);
	stream_forget(r);
	event_free(r->timer);
	projection_free(&r->projection);
	store_free(&r->store);
	OBJ_FREE(r);
}

void
informer_discovered(struct informer *r, bool present, const char *version, bool namespaced)
{
	if (present && (r->projection == NULL || strcmp(r->version, version) != 0)) {
		if (r->projection != NULL)
			reflector_restart(&r->reflector, clock_mono_ms());
		snprintf(r->version, sizeof(r->version), "%s", version);
		projection_free(&r->projection);
		r->projection =
		    projection_new(r->kind, r->version, publisher_readers(r->deps.publisher, r->kind));
		r->published_state = KIND_STATE_MAX;
	}
	r->namespaced = namespaced;
	reflector_discovered(&r->reflector, present, clock_mono_ms());
	informer_run(r);
}

/* Performs every step that is due; then waits with the timer. */
void
informer_run(struct informer *r)
{
	if (r->driving)		/* called from within a step: the loop below goes on with it */
		return;
	r->driving = true;
	for (;;) {
		const int64_t now_ms = clock_mono_ms();
		const struct reflector_step step = reflector_next(&r->reflector, now_ms);

		if (step.verb == REFLECT_WAIT) {
			timer_set(r->timer, step.at_ms, now_ms);
			break;
		}
		perform(r, &step);
	}
	r->driving = false;
	publish_state(r);
}

const char *
informer_version(const struct informer *r)
{
	return r->version;
}

uint32_t
informer_restore_epoch(const struct informer *r)
{
	return store_restore_epoch(r->store);
}

uint32_t
informer_count(const struct informer *r)
{
	return store_count(r->store) - store_unreadable(r->store);
}

uint32_t
informer_skipped(const struct informer *r)
{
	return store_unreadable(r->store);
}

enum informer_answer
informer_answer(struct informer *r, enum project_form form, const void *bytes, size_t len, bool own,
    uint64_t trace, char *key, size_t size, struct projected *p)
{
	if (r->projection == NULL) {
		snprintf(p->error, sizeof(p->error), "%s is not known to the server yet",
		    kind_table[r->kind].resource);
		return ANSWER_INVALID;
	}
	const bool readable = project(r->projection, form, bytes, len, 0, p);
	if (p->rv[0] == '\0' || !object_key(key, size, kind_table[r->kind].resource, p->ns, p->name))
		return ANSWER_INVALID;
	const struct object_version word = {
		.key = key, .key_len = strlen(key), .uid = p->uid, .rv = p->rv, .unreadable = !readable,
	};
	informer_publish(r, key, p, !readable, store_answered(r->store, &word, r->reflector.rv), own, trace);
	return readable ? ANSWER_PROJECTED : ANSWER_SKIPPED;
}

void
informer_removed(struct informer *r, const char *ns, const char *name, const char *uid, uint64_t trace)
{
	char key[PUBLISHER_KEY_MAX];

	if (!object_key(key, sizeof(key), kind_table[r->kind].resource, ns, name))
		return;
	const struct object_version word = { .key = key, .key_len = strlen(key), .uid = uid, .rv = "" };
	informer_publish(r, key, NULL, false, store_removed(r->store, &word), true, trace);
}

/* ---- Objects ---- */

void
informer_publish(struct informer *r, const char *key, const struct projected *p, bool unreadable,
    enum store_change change, bool own, uint64_t trace)
{
	switch (change) {
	case STORE_IGNORE:
	case STORE_SKIPPED:
		break;
	case STORE_GONE:
		publisher_gone(r->deps.publisher, r->kind, key, trace);
		break;
	case STORE_ADDED:
	case STORE_UPDATED:
	case STORE_REPLACED:	/* mirrors report the end of the old uid by themselves */
		publisher_object(r->deps.publisher, r->kind, key, p, own, trace);
		break;
	}
	if (unreadable) {
		informer_count_one(r, STAT_OBJECTS_SKIPPED, NULL, NULL);
		note_skipped(r, key, p->error);
	}
	/* Once for an object, not for each of its versions: who may change it could fill the log. */
	if (unreadable && change != STORE_IGNORE)
		log_warnx(change == STORE_GONE
			? "object skipped: it cannot be read; its last value is retracted"
			: "object skipped: it cannot be read",
		    KV_S(OBJECT, key), KV_S(VERSION, p->rv), KV_S(WHY, p->error),
		    KV_S(HINT, "make the object smaller or correct it; the others of its kind are read"));
	count_objects(r);
}

/* The gauges, and message KIND when the number of skipped objects has changed. */
static void
count_objects(struct informer *r)
{
	stat_set(r->objects, informer_count(r));
	stat_set(r->skipped_objects, informer_skipped(r));
	if (informer_skipped(r) != r->published_skipped)
		publish_state(r);
}

/* In place of one that is not skipped any more; if there is none, those that are named are enough. */
static void
note_skipped(struct informer *r, const char *key, const char *why)
{
	struct skipped *place = NULL;

	for (size_t i = 0; i < SKIPPED_NAMED_MAX; i++) {
		struct skipped *const k = &r->skipped[i];

		if (strcmp(k->key, key) == 0) {
			place = k;
			break;
		}
		if (place == NULL && !store_is_unreadable(r->store, k->key, strlen(k->key)))
			place = k;
	}
	if (place == NULL)
		return;
	snprintf(place->key, sizeof(place->key), "%s", key);
	snprintf(place->why, sizeof(place->why), "%s", why);
}

void
informer_skipped_text(const struct informer *r, char *buf, size_t size)
{
	uint32_t named = 0;
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < SKIPPED_NAMED_MAX && n < size; i++) {
		const struct skipped *const k = &r->skipped[i];

		if (!store_is_unreadable(r->store, k->key, strlen(k->key)))
			continue;
		n += (size_t)snprintf(
		    buf + n, size - n, "%s%s (%s)", named++ > 0 ? ", " : "", k->key, k->why);
	}
	if (named < informer_skipped(r) && n < size)
		snprintf(buf + n, size - n, "%s%u more of %s", named > 0 ? " and " : "",
		    informer_skipped(r) - named, kind_table[r->kind].resource);
}

/* ---- Steps ---- */

static void
perform(struct informer *r, const struct reflector_step *step)
{
	const char *const reason = reflector_reason_name(step->reason);

	switch (step->verb) {
	case REFLECT_DISCOVER:
		r->deps.discover(r->deps.arg);
		break;
	case REFLECT_BEGIN:
		r->began_ms = clock_mono_ms();
		store_begin(r->store, step->accept_rollback);
		informer_count_one(r, STAT_RELISTS, "reason", reason);
		break;
	case REFLECT_WATCHLIST:
	case REFLECT_LIST:
	case REFLECT_WATCH:
		stream_start(r, step);
		break;
	case REFLECT_STOP:
		stream_forget(r);
		break;
	case REFLECT_COMMIT:
		store_commit(r->store, step->rv, on_gone, r);
		count_objects(r);
		break;
	case REFLECT_DROP:
		store_drop(r->store);
		break;
	case REFLECT_SYNCED:
		r->detail[0] = '\0';
		log_info("kind synced", KV_S(RESOURCE, kind_table[r->kind].resource),
		    KV_S(VERSION, r->version), KV_I(COUNT, informer_count(r)),
		    KV_I(DURATION_MS, clock_mono_ms() - r->began_ms),
		    KV_S(WHY, reflector_reason_text(step->reason)));
		break;
	case REFLECT_ALARM:
		log_warnx("watch stalled", KV_S(RESOURCE, kind_table[r->kind].resource),
		    KV_S(WHY, reflector_reason_text(step->reason)));
		informer_count_one(r, STAT_WATCH_STALLS, "reason", reason);
		break;
	case REFLECT_WAIT:
		break;
	}
}

/* ---- The state of the kind ---- */

static void
publish_state(struct informer *r)
{
	const enum kind_state now = reflector_state(&r->reflector);
	const struct kind_row *const row = &kind_table[r->kind];
	const bool changed = now != r->published_state;
	char detail[DETAIL_MAX + 1];

	if (!changed && informer_skipped(r) == r->published_skipped)
		return;
	r->published_state = now;
	r->published_skipped = informer_skipped(r);
	if (changed && now == KIND_STATE_ABSENT)
		log_info("kind is not installed; its consumers run without it until it is",
		    KV_S(RESOURCE, row->resource), KV_S(HINT, "install its CRD"));
	if (changed && now == KIND_STATE_FORBIDDEN)
		log_error("cannot read a kind: forbidden; trying again every minute",
		    KV_S(RESOURCE, row->resource), KV_S(WHY, r->detail),
		    KV_S(HINT, "bind the ClusterRole of deploy/rbac.yaml"));
	if (now == KIND_STATE_SYNCED)
		informer_skipped_text(r, detail, sizeof(detail));
	else
		memcpy(detail, r->detail, sizeof(detail));
	publisher_kind(r->deps.publisher, r->kind, now, r->version, detail, informer_skipped(r));
}

static void
on_gone(const char *key, size_t len, void *arg)
{
	struct informer *const r = arg;
	char text[PUBLISHER_KEY_MAX];

	snprintf(text, sizeof(text), "%.*s", (int)len, key);
	publisher_gone(r->deps.publisher, r->kind, text, actor_new_trace(r->deps.actor));
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	informer_run(arg);
}

static void
open_stats(struct informer *r)
{
	for (unsigned t = 0; t <= WATCH_UNKNOWN; t++)
		r->events[t] = series(r, STAT_WATCH_EVENTS, "type", watch_type_names[t]);
	r->objects = series(r, STAT_CACHE_OBJECTS, NULL, NULL);
	r->skipped_objects = series(r, STAT_SKIPPED_OBJECTS, NULL, NULL);
}

void
informer_count_one(const struct informer *r, enum stat_id id, const char *label, const char *value)
{
	stat_add(series(r, id, label, value), 1);
}

static struct stat_series *
series(const struct informer *r, enum stat_id id, const char *label, const char *value)
{
	char labels[128] = "";

	stat_label(labels, sizeof(labels), "kind", kind_table[r->kind].resource);
	if (label != NULL)
		stat_label(labels, sizeof(labels), label, value);
	return stat_get(id, labels);
}
