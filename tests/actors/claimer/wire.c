/* tests/actors/claimer/wire.c - the provider's three calls, and what their answers change. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actors/provider/reply.h"
#include "claimer.h"
#include "clock.h"
#include "json.h"
#include "log.h"
#include "obj.h"

enum { CALL_LIST, CALL_CREATE, CALL_DESTROY };

static const struct client_class classes[] = {
	[CALL_LIST]    = { "list", .per_second = 10, .burst = 20 },
	[CALL_CREATE]  = { "create", .per_second = 10, .burst = 10, .mutating = true },
	[CALL_DESTROY] = { "destroy", .per_second = 10, .burst = 10, .mutating = true, .idempotent = true },
};

static call_answered on_listed, on_created, on_destroyed;
static void called(const struct claimer *, struct claim *);
static bool read_list(struct claimer *, const struct client_answer *);
static int64_t read_id(const struct client_answer *);

bool
wire_open(struct claimer *c, const char *url, const char *token_file)
{
	return call_effects_open(&c->calls, &c->r, &(struct client_config){
		.provider = "test", .url = url, .user_agent = "muster-test-claimer",
		.token_file = token_file[0] != '\0' ? token_file : NULL,
		.classes = classes, .nclasses = NITEMS(classes),
	});
}

/* A call for it ended: only what lists show from now on counts. */
static void
called(const struct claimer *c, struct claim *claim)
{
	claim->after = c->list.begun;
	claim->absence = (struct absence){ .seen = false };
}

/* ---- GET /vms ---- */

void
wire_list(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct claimer *const c = test_claimer_of(r);

	(void)step;
	shared_list_begin(&c->list, clock_mono_ms());
	call_effect_send(&c->calls, f, w,
	    &(struct client_call){ .class = CALL_LIST, .method = "GET", .path = "/vms" }, on_listed);
}

static bool
on_listed(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct claimer *const c = test_claimer_of(r);
	const int64_t now_ms = clock_mono_ms();
	const bool complete = a->outcome == CALL_DONE && read_list(c, a);

	(void)key, (void)about;
	if (complete)
		brake_listed(&c->brake, (uint32_t)c->nvms, now_ms);
	shared_list_end(&c->list, r->actor, complete, a->token_changed, now_ms);
	return complete;
}

/* A7: of a malformed answer nothing is used. */
static bool
read_list(struct claimer *c, const struct client_answer *a)
{
	struct reply r;
	struct reply_at data, at;
	struct vm *vms = NULL;
	size_t n = 0;

	if (reply_parse(&r, a->body, a->body_len)) {
		const struct reply_at root = reply_root(&r);
		const char *tag = "";

		reply_list(&root, "data", REPLY_REQUIRED, &data);
		vms = obj_alloc((reply_count(&data) + 1) * sizeof(*vms));
		for (; reply_element(&data, n, &at); n++) {
			reply_i64(&at, "id", REPLY_REQUIRED, &vms[n].id);
			reply_text(&at, "tag", REPLY_REQUIRED, &tag);
			snprintf(vms[n].tag, sizeof(vms[n].tag), "%s", tag);
		}
	}
	const bool ok = reply_ok(&r);
	if (ok) {
		free(c->vms);
		c->vms = vms;
		c->nvms = n;
	} else {
		log_warnx("malformed list of VMs", KV_S(WHY, r.error));
		free(vms);
	}
	reply_free(&r, false);
	return ok;
}

/* ---- POST /vms ---- */

void
wire_create(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	char body[256];
	struct json j = { .buf = body, .size = sizeof(body) };

	json_open(&j, NULL, '{');
	json_str(&j, "tag", step->write.uid);
	json_close(&j, '}');
	const size_t len = json_end(&j);
	MUST(len > 0);
	call_effect_send(&test_claimer_of(r)->calls, f, w, &(struct client_call){ .class = CALL_CREATE,
	    .method = "POST", .path = "/vms", .body = body, .body_len = len }, on_created);
}

static bool
on_created(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct claimer *const c = test_claimer_of(r);
	struct claim *const claim = claimer_claim(c, key);
	char note[64];

	claim->made = a->outcome == CALL_DONE ? read_id(a) : 0;
	/* An answer without an id is as good as none: the list will have it. */
	intent_called(&claim->intent, a->outcome == CALL_UNKNOWN || a->outcome == CALL_DONE,
	    clock_mono_ms());
	called(c, claim);
	if (claim->made == 0)
		return false;
	const int len = snprintf(note, sizeof(note), "VM %" PRId64 " was made", claim->made);
	reconcile_event(r, about, "Normal", "VMCreated", (struct wire_str){ note, (uint32_t)len });
	return true;
}

/* 0: the answer has none. */
static int64_t
read_id(const struct client_answer *a)
{
	struct reply r;
	int64_t id = 0;

	if (reply_parse(&r, a->body, a->body_len)) {
		const struct reply_at root = reply_root(&r);

		reply_i64(&root, "id", REPLY_REQUIRED, &id);
	}
	if (!reply_ok(&r))
		log_warnx("malformed answer to the POST of a VM", KV_S(WHY, r.error));
	reply_free(&r, false);
	return id;
}

/* ---- DELETE /vms/ID ---- */

void
wire_destroy(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	char path[64];

	snprintf(path, sizeof(path), "/vms/%" PRId64, step->number);
	call_effect_send(&test_claimer_of(r)->calls, f, w,
	    &(struct client_call){ .class = CALL_DESTROY, .method = "DELETE", .path = path }, on_destroyed);
}

static bool
on_destroyed(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct claimer *const c = test_claimer_of(r);
	struct claim *const claim = claimer_claim(c, key);
	const bool gone = a->outcome == CALL_DONE || (a->outcome == CALL_REFUSED && a->status == 404);

	called(c, claim);
	if (!gone)
		return false;
	claim->deleted_ms = clock_mono_ms();
	if (a->outcome == CALL_DONE) {
		brake_deleted(&c->brake);
		reconcile_event(r, about, "Normal", "VMDeleted", wire_str_of("its VM was deleted"));
	}
	return true;
}
