/* actors/vpsie-claimer/calls.c - the calls of the VPSie API, and what their answers change. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vpsie.h"
#include "clock.h"
#include "log.h"
#include "obj.h"

static const struct {
	const char	*name;
	bool		 mutating, idempotent, harmless, secret;
} class_rows[CLASS_MAX] = {
	[CLASS_READ]   = { "read", false, false, false, false },
	[CLASS_MAKE]   = { "make", true, false, false, false },
	[CLASS_DELETE] = { "delete", true, true, false, false },
	[CLASS_TOKEN]  = { "token", false, false, true, true },
	[CLASS_CHECK]  = { "check", false, false, false, false },
};

static call_answered on_created, on_read, on_destroyed, on_group_made;
static void send_effect(struct vpsie_claimer *, struct inflight_effect *, const struct work *,
    enum vpsie_class, enum vpsie_call, const struct vpsie_target *, call_answered *);
static bool fill_call(struct vpsie_claimer *, enum vpsie_class, const struct vpsie_request *, const char **,
    struct client_call *);
static void called(const struct vpsie_claimer *, struct vpsienode_claim *);
static void set_error(struct vpsie_claimer *, char *, const char *, const struct client_answer *,
    const struct vpsie_answer *);
static int64_t back_off(unsigned *);
static void target_of(const struct vpsienode_view *, struct vpsie_target *);

bool
vpsie_calls_open(struct vpsie_claimer *c)
{
	const char *const file = vpsie_credential_url(c->credential);
	const char *const url = file[0] != '\0' ? file : actor_setting(c->r.actor, "api-url");
	const double per_second = (double)actor_setting_i64(c->r.actor, "requests-per-minute") / 60;
	const char *const wrong = vpsie_base_parse(url, &c->base);

	if (wrong != NULL) {
		log_error("the URL of the VPSie API cannot be used", KV_S(WHY, wrong),
		    KV_S(HINT,
			file[0] != '\0' ? "correct the file url in credential-dir"
					: "correct api-url"));
		return false;
	}
	snprintf(c->url, sizeof(c->url), "%s", url);
	for (unsigned i = 0; i < CLASS_MAX; i++)
		c->classes[i] = (struct client_class){ .name = class_rows[i].name, .bucket = "vpsie",
			.per_second = per_second, .burst = per_second * 12 < 1 ? 1 : per_second * 12,
			.mutating = class_rows[i].mutating, .idempotent = class_rows[i].idempotent,
			.harmless = class_rows[i].harmless, .secret = class_rows[i].secret };
	return call_effects_open(&c->calls, &c->r, &(struct client_config){ .provider = "vpsie",
	    .url = c->base.host, .user_agent = "muster-vpsie-claimer/1.0", .classes = c->classes,
	    .nclasses = CLASS_MAX });
}

void
vpsie_calls_tick(struct vpsie_claimer *c)
{
	const char *const file = vpsie_credential_url(c->credential);
	const char *const url = file[0] != '\0' ? file : actor_setting(c->r.actor, "api-url");
	const int64_t started_ms = c->calls.started_ms;
	struct vpsie_base base;

	if (strcmp(url, c->url) == 0 || client_in_flight(c->calls.client) > 0)
		return;
	if (vpsie_base_parse(url, &base) != NULL) {
		log_warnx("the URL of the VPSie API cannot be used: the one before stays",
		    KV_S(HINT, "correct the file url in credential-dir"));
		snprintf(c->url, sizeof(c->url), "%s", url);
		return;
	}
	call_effects_close(&c->calls);
	MUST(vpsie_calls_open(c));
	c->calls.started_ms = started_ms;
	log_info("another URL of the VPSie API is in use", KV_S(HOST, c->base.host));
}

/* ---- Sending ---- */

uint64_t
vpsie_calls_send(struct vpsie_claimer *c, enum vpsie_class class, enum vpsie_call call,
    const struct vpsie_target *t, struct client_call *more)
{
	struct vpsie_request *const request = obj_alloc(sizeof(*request));
	const char *headers[3] = { NULL };
	uint64_t id = 0;

	if (vpsie_request(&c->base, call, t, request) == NULL && fill_call(c, class, request, headers, more))
		id = client_send(c->calls.client, more);
	explicit_bzero(request, sizeof(*request));
	free(request);
	return id;
}

/* False: there is no token. */
static bool
fill_call(struct vpsie_claimer *c, enum vpsie_class class, const struct vpsie_request *request,
    const char **headers, struct client_call *out)
{
	uint64_t serial;
	size_t n = 0;

	if (class != CLASS_TOKEN) {
		headers[n] = vpsie_credential_line(c->credential, &serial);
		if (headers[n++] == NULL)
			return false;
	}
	if (request->content_type != NULL)
		headers[n] = strcmp(request->content_type, "application/json") == 0
		    ? "Content-Type: application/json" : "Content-Type: application/x-www-form-urlencoded";
	out->class = class;
	out->method = request->method;
	out->path = request->path;
	out->headers = headers;
	out->body = request->body_len > 0 ? request->body : NULL;
	out->body_len = request->body_len;
	return true;
}

static void
send_effect(struct vpsie_claimer *c, struct inflight_effect *f, const struct work *w, enum vpsie_class class,
    enum vpsie_call call, const struct vpsie_target *t, call_answered *answered)
{
	struct vpsie_request *const request = obj_alloc(sizeof(*request));
	struct client_call full = { .class = class };
	const char *headers[3] = { NULL };

	/* vpsie_plan_call has checked both, in the same callback. */
	MUST(vpsie_request(&c->base, call, t, request) == NULL
	    && fill_call(c, class, request, headers, &full));
	call_effect_send(&c->calls, f, w, &full, answered);
	free(request);
}

bool
vpsie_plan_call(struct vpsie_claimer *c, enum vpsie_call call, const struct vpsie_target *t,
    struct reconcile_step *step)
{
	struct vpsie_request *const request = obj_alloc(sizeof(*request));
	uint64_t serial;
	const bool possible = vpsie_request(&c->base, call, t, request) == NULL;
	const bool token = vpsie_credential_line(c->credential, &serial) != NULL;
	const bool renews = vpsie_credential_renews(c->credential, clock_mono_ms());

	free(request);
	if (!possible)
		vpsie_wait_step(step,
		    "its identifiers cannot be parts of a path of the VPSie API: correct its spec",
		    0);
	else if (!token)
		vpsie_wait_step(step, "there is no token of the VPSie API yet", VPSIE_WAIT_MS);
	else if (renews)
		vpsie_wait_step(
		    step, "the token was refused: another one is obtained first", VPSIE_WAIT_MS);
	return possible && token && !renews;
}

/* ---- POST: a worker ---- */

void
vpsie_call_create(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct vpsie_claimer *const c = vpsie_of(r);
	struct vpsie_target t;
	struct vpsienode_view v;

	(void)step;
	vpsie_node_view_read(&v, c, w);
	target_of(&v, &t);
	send_effect(c, f, w, CLASS_MAKE, CALL_ADD_WORKER, &t, on_created);
}

static bool
on_created(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct vpsie_claimer *const c = vpsie_of(r);
	struct vpsienode_claim *const claim = vpsie_claim(c, key);
	const int64_t now_ms = clock_mono_ms();
	struct vpsie_added *const added = obj_alloc(sizeof(*added));
	struct vpsie_answer answer = { .verdict = ANSWER_UNUSABLE };

	vpsie_turn_end(c, claim);
	if (a->status != 0)
		answer = vpsie_added_read(a->status, a->body, a->body_len, added);
	const bool good = answer.verdict == ANSWER_GOOD;
	const bool certain = answer.verdict == ANSWER_REFUSED || answer.verdict == ANSWER_CAPACITY
	    || answer.verdict == ANSWER_NOT_FOUND;
	/* D23: what is not refused for certain counts as sent. */
	intent_called(&claim->intent, good || a->outcome == CALL_UNKNOWN
	    || (a->status != 0 && answer.verdict == ANSWER_UNUSABLE), now_ms);
	called(c, claim);
	vpsie_matching_changed(c);
	claim->refused = certain;
	claim->capacity = answer.verdict == ANSWER_CAPACITY;
	if (good) {
		claim->failures = 0;
		claim->error[0] = '\0';
		if (added->id > 0 || added->identifier[0] != '\0') {
			claim->made = true;
			claim->bind_id = added->id;
			snprintf(claim->bind_identifier, sizeof(claim->bind_identifier), "%.127s",
			    added->identifier);
		}
		reconcile_event(r, about, "Normal", "Requested", wire_str_of("a worker was requested"));
	} else {
		set_error(c, claim->error, "a worker cannot be requested", a, &answer);
		claim->retry_ms = now_ms + back_off(&claim->failures);
		if (certain)
			reconcile_event(r, about, "Warning", claim->capacity ? "CapacityLimitReached"
			    : "VPSieAPIError", wire_str_of(claim->error));
	}
	free(added);
	return good || certain || a->outcome == CALL_UNKNOWN;
}

/* ---- GET: a VM by its id ---- */

void
vpsie_call_read(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct vpsie_claimer *const c = vpsie_of(r);
	struct vpsie_target t;
	struct vpsienode_view v;

	(void)step;
	vpsie_node_view_read(&v, c, w);
	target_of(&v, &t);
	send_effect(c, f, w, CLASS_READ, CALL_READ_VM, &t, on_read);
}

static bool
on_read(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct vpsie_claimer *const c = vpsie_of(r);
	struct vpsienode_claim *const claim = vpsie_claim(c, key);
	struct vpsie_list *list = vpsie_list_new();
	struct vpsie_answer answer = { .verdict = ANSWER_UNUSABLE };
	uint32_t n = 0;

	(void)about;
	claim->read_ms = clock_mono_ms();
	if (a->status != 0 && vpsie_list_vm(list, a->status, a->body, a->body_len, &answer) == PAGE_LAST) {
		const struct machine *const m = vpsie_list_machines(list, &n);

		claim->read_running = n == 1 && !m->deleted && vpsie_machine_runs(m);
	}
	vpsie_list_free(&list);
	/* D18: a 404 means that it is not there yet. */
	return answer.verdict == ANSWER_GOOD || answer.verdict == ANSWER_NOT_FOUND;
}

/* ---- DELETE: a worker by its UUID, else a VM by its id ---- */

void
vpsie_call_destroy(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct vpsie_claimer *const c = vpsie_of(r);
	struct vpsie_target t;
	struct vpsienode_view v;

	(void)step;
	vpsie_node_view_read(&v, c, w);
	target_of(&v, &t);
	const bool worker = t.identifier.len > 0 && t.cluster.len > 0;
	send_effect(c, f, w, CLASS_DELETE, worker ? CALL_DELETE_WORKER : CALL_DELETE_VM, &t, on_destroyed);
}

static bool
on_destroyed(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct vpsie_claimer *const c = vpsie_of(r);
	struct vpsienode_claim *const claim = vpsie_claim(c, key);
	struct vpsie_answer answer = { .verdict = ANSWER_UNUSABLE };

	if (a->status != 0)
		answer = vpsie_answer_read(a->status, a->body, a->body_len);
	called(c, claim);
	if (answer.verdict != ANSWER_GOOD && answer.verdict != ANSWER_NOT_FOUND) {
		set_error(c, claim->error, "the machine cannot be deleted", a, &answer);
		if (answer.verdict == ANSWER_REFUSED) {
			claim->retry_ms = clock_mono_ms() + back_off(&claim->failures);
			reconcile_event(r, about, "Warning", "VPSDeleteFailed", wire_str_of(claim->error));
		}
		return answer.verdict == ANSWER_REFUSED;
	}
	claim->deleted_ms = clock_mono_ms();
	claim->error[0] = '\0';
	if (answer.verdict == ANSWER_GOOD) {
		brake_deleted(&c->brake);
		reconcile_event(r, about, "Normal", "Deleting", wire_str_of("its machine was deleted"));
	}
	return true;
}

/* ---- POST: a group of the platform ---- */

void
vpsie_call_make_group(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	struct vpsie_claimer *const c = vpsie_of(r);
	struct change object;
	union msg_body value;
	struct wire_str ns, name;

	(void)step;
	vpsie_key_split(w->key, &ns, &name);
	MUST(actor_read(r->actor, LINK_KUBE_VPSIE, w->key, w->len, &object, &value));
	const struct vpsie_target t = { .cluster = value.node_group.cluster, .group_name = name,
		.kube_size = value.node_group.kube_size };
	send_effect(c, f, w, CLASS_MAKE, CALL_MAKE_GROUP, &t, on_group_made);
}

static bool
on_group_made(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a)
{
	struct vpsie_claimer *const c = vpsie_of(r);
	struct nodegroup_claim *const group = vpsie_group_claim(c, key);
	struct vpsie_answer answer = { .verdict = ANSWER_UNUSABLE };
	const int64_t now_ms = clock_mono_ms();

	if (a->status != 0)
		answer = vpsie_answer_read(a->status, a->body, a->body_len);
	const bool good = answer.verdict == ANSWER_GOOD;
	intent_called(&group->intent, good || a->outcome == CALL_UNKNOWN
	    || (a->status != 0 && answer.verdict == ANSWER_UNUSABLE), now_ms);
	group->after = c->list.begun;
	group->absence = (struct absence){ .seen = false };
	if (good) {
		group->failures = 0;
		group->error[0] = '\0';
	} else {
		set_error(c, group->error, "its group cannot be made at the provider", a, &answer);
		group->retry_ms = now_ms + back_off(&group->failures);
		reconcile_event(r, about, "Warning", "VPSieAPIError", wire_str_of(group->error));
	}
	return a->status != 0 || a->outcome == CALL_UNKNOWN;
}

/* ---- Parts ---- */

/* A call for it ended: only what lists show from now on counts. */
static void
called(const struct vpsie_claimer *c, struct vpsienode_claim *claim)
{
	claim->after = c->list.begun;
	claim->absence = (struct absence){ .seen = false };
}

static void
set_error(struct vpsie_claimer *c, char *error, const char *what, const struct client_answer *a,
    const struct vpsie_answer *answer)
{
	uint64_t serial;

	if (answer->verdict == ANSWER_DENIED && vpsie_credential_line(c->credential, &serial) != NULL)
		vpsie_credential_refused(c->credential, serial, clock_mono_ms());
	snprintf(error, VPSIE_ERROR_MAX, "%s: %.200s", what, a->status != 0 ? answer->message : a->error);
	log_warnx("a call of the VPSie API failed", KV_S(WHY, error));
}

static int64_t
back_off(unsigned *failures)
{
	const unsigned n = (*failures)++;
	const int64_t ms = (int64_t)VPSIE_RETRY_MIN_MS << (n < 8 ? n : 8);

	return ms < VPSIE_RETRY_MAX_MS ? ms : VPSIE_RETRY_MAX_MS;
}

void
vpsie_post_key(char out[POST_KEY_MAX], struct wire_str cluster, int64_t group_id)
{
	snprintf(out, POST_KEY_MAX, "%.*s/%" PRId64, (int)cluster.len, cluster.p, group_id);
}

bool
vpsie_turn_take(
    struct vpsie_claimer *c, struct vpsienode_claim *claim, struct wire_str cluster, int64_t group_id)
{
	char key[POST_KEY_MAX];
	bool added;

	vpsie_post_key(key, cluster, group_id);
	if (strcmp(key, claim->posting) == 0)
		return true;
	vpsie_turn_end(c, claim);
	keytab_add(c->posting, key, strlen(key), &added);
	if (added)
		snprintf(claim->posting, sizeof(claim->posting), "%s", key);
	return added;
}

void
vpsie_turn_end(struct vpsie_claimer *c, struct vpsienode_claim *claim)
{
	if (claim->posting[0] == '\0')
		return;
	vpsie_forget(c->posting, claim->posting, strlen(claim->posting));
	claim->posting[0] = '\0';
	/* Those that wait for their turn are among them. */
	KEYTAB_EACH(c->waiting, id) {
		size_t len;
		const char *const waiting = keytab_key(c->waiting, id, &len);

		actor_enqueue(c->r.actor, waiting, len, WORK_LIVE, 0);
	}
}

static void
target_of(const struct vpsienode_view *v, struct vpsie_target *t)
{
	*t = (struct vpsie_target){ .cluster = v->cluster, .group_id = v->group_id,
		.id = vpsie_node_view_id(v), .identifier = vpsie_node_view_identifier(v) };
}
