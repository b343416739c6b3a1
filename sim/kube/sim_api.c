/* sim/kube/sim_api.c - who asks, what goes wrong on purpose, and who answers. */
#include "sim_api.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <string.h>

#include "sim/http/sim_audit.h"
#include "clock.h"
#include "sim/kube/discovery/sim_discovery.h"
#include "sim/kube/verbs/sim_list.h"
#include "obj.h"
#include "sim/kube/verbs/sim_read.h"
#include "sim/kube/discovery/sim_registry.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim/kube/store/sim_watch.h"
#include "sim/kube/verbs/sim_write.h"

enum { BODY_MAX = 3 * 1024 * 1024 };

static const struct verb_row {
	enum verb_bit		 verb;
	const char		*name;
	call_handler		*serve;
} verbs[] = {
	{ VERB_GET,              "get",              read_get },
	{ VERB_LIST,             "list",             list_serve },
	{ VERB_WATCH,            "watch",            watch_serve },
	{ VERB_CREATE,           "create",           write_create },
	{ VERB_UPDATE,           "update",           write_update },
	{ VERB_PATCH,            "patch",            write_patch },
	{ VERB_DELETE,           "delete",           write_delete },
	{ VERB_DELETECOLLECTION, "deletecollection", write_delete_collection },
};

/* Codes as people and clients know them by reason. */
static const struct {
	int		 code;
	const char	*reason;
} reasons[] = {
	{ 400, "BadRequest" }, { 401, "Unauthorized" }, { 403, "Forbidden" }, { 404, "NotFound" },
	{ 405, "MethodNotAllowed" }, { 409, "Conflict" }, { 410, "Expired" }, { 422, "Invalid" },
	{ 429, "TooManyRequests" }, { 500, "InternalError" }, { 503, "ServiceUnavailable" }, { 504, "Timeout" },
};

static void find_target(struct call *);
static enum verb_bit verb_of(const struct call *);
static const struct verb_row *row_of(enum verb_bit);
static void note(struct call *);
static void plan(struct call *);
static void proceed(struct call *);
static void dispatch(struct call *);
static bool knows_subresource(const struct call *);
static void answer_fault(struct call *, const struct fault *);
static const char *reason_of(int);

void
api_serve(struct evhttp_request *req, void *arg)
{
	struct sim *const s = arg;
	struct call *const c = call_new(s, req);

	find_target(c);
	const bool known = auth_identify(s->auth, req, c->user);
	if (!known)
		snprintf(c->user, sizeof(c->user), "system:anonymous");
	note(c);
	plan(c);
	const struct fault *const late = c->plan.of[FAULT_LATENCY];
	if (!known || c->plan.of[FAULT_UNAUTHORIZED] != NULL)
		call_fail(c, 401, "Unauthorized", "Unauthorized");
	else if (late != NULL)
		call_later(c, late->amount, proceed);
	else
		proceed(c);
}

const char *
api_key(const struct call *c, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", c->resource->namespaced ? c->route.ns : "",
	    c->resource->namespaced ? "/" : "", c->route.name);
	return buf;
}

static void
find_target(struct call *c)
{
	if (!route_parse(c->path, &c->route))
		return;
	c->resource = registry_find(c->sim->registry, c->route.group, c->route.version, c->route.plural);
	if (c->resource == NULL)
		return;
	c->verb = verb_of(c);
	if (row_of(c->verb) != NULL)
		c->verb_name = row_of(c->verb)->name;
}

static enum verb_bit
verb_of(const struct call *c)
{
	const bool named = c->route.name[0] != '\0';

	switch (c->method) {
	case EVHTTP_REQ_GET:
		return named ? VERB_GET : call_flag(c, "watch") ? VERB_WATCH : VERB_LIST;
	case EVHTTP_REQ_POST:
		return VERB_CREATE;
	case EVHTTP_REQ_PUT:
		return named ? VERB_UPDATE : 0;
	case EVHTTP_REQ_PATCH:
		return named ? VERB_PATCH : 0;
	case EVHTTP_REQ_DELETE:
		return named ? VERB_DELETE : VERB_DELETECOLLECTION;
	default:
		return 0;
	}
}

static const struct verb_row *
row_of(enum verb_bit verb)
{
	for (size_t i = 0; i < NITEMS(verbs); i++) {
		if (verbs[i].verb == verb)
			return &verbs[i];
	}
	return NULL;
}

static void
note(struct call *c)
{
	const bool about = c->resource != NULL;

	c->audit_row = audit_begin(c->sim->audit, &(struct audit_row){
		.verb = c->verb_name,
		.group = about ? c->resource->group : "",
		.resource = about ? c->resource->plural : "",
		.ns = about ? c->route.ns : "",
		.name = about ? c->route.name : "",
		.subresource = about ? c->route.subresource : "",
		.user = c->user,
		.user_agent = c->user_agent,
		.uri = evhttp_request_get_uri(c->http),
		.at_ms = clock_mono_ms(),
	});
}

static void
plan(struct call *c)
{
	char qualified[512] = "";

	if (c->resource != NULL)
		resource_qualified(c->resource, qualified, sizeof(qualified));
	c->plan = faults_plan(c->sim->faults,
	    &(struct fault_subject){
		.verb = c->verb_name,
		.resource = c->resource != NULL ? c->resource->plural : "",
		.qualified = qualified,
		.name = c->resource != NULL ? c->route.name : "",
		.user_agent = c->user_agent,
		.event = "",
	    });
}

/* After the delay, if there was one. */
static void
proceed(struct call *c)
{
	size_t len;

	call_body(c, &len);
	if (c->plan.of[FAULT_DROP_CONNECTION] != NULL)
		call_drop(c);
	else if (c->plan.of[FAULT_STATUS] != NULL)
		answer_fault(c, c->plan.of[FAULT_STATUS]);
	else if (len > BODY_MAX)
		call_fail(c, 413, "RequestEntityTooLarge", "Request entity too large: limit is %d", BODY_MAX);
	else if (c->resource == NULL)
		discovery_serve(c);
	else
		dispatch(c);
}

static void
dispatch(struct call *c)
{
	const struct verb_row *const row = row_of(c->verb);
	const bool evict = strcmp(c->route.subresource, "eviction") == 0 && c->resource->has_eviction;

	/* The CRD may have gone during a delay. */
	c->resource = registry_find(c->sim->registry, c->route.group, c->route.version, c->route.plural);
	if (c->resource != NULL && !c->resource->builtin && !knows_subresource(c)) {
		call_reply_status(c, semantics_not_found(c->resource, c->route.name));
		return;
	}
	if (c->resource == NULL || !knows_subresource(c)
	    || (c->route.ns[0] != '\0' && !c->resource->namespaced)) {
		call_reply_text(c, 404, "404 page not found\n");
		return;
	}
	const bool misplaced = row == NULL || (c->resource->verbs & row->verb) == 0
	    || (row->verb == VERB_CREATE && c->route.name[0] != '\0' && !evict)
	    || (evict && row->verb != VERB_CREATE)
	    /* One object of a namespaced resource needs its namespace. */
	    || (c->resource->namespaced && c->route.ns[0] == '\0' && row->verb != VERB_LIST
		&& row->verb != VERB_WATCH)
	    || (c->route.subresource[0] != '\0' && row->verb == VERB_DELETE);
	if (misplaced)
		call_fail(c, 405, "MethodNotAllowed",
		    "the server does not allow this method on the requested resource");
	else if (evict)
		write_evict(c);
	else if (c->resource->answers_only)
		read_review(c);
	else
		row->serve(c);
}

static bool
knows_subresource(const struct call *c)
{
	const char *const sub = c->route.subresource;

	return sub[0] == '\0' || (strcmp(sub, "status") == 0 && c->resource->has_status)
	    || (strcmp(sub, "eviction") == 0 && c->resource->has_eviction);
}

static void
answer_fault(struct call *c, const struct fault *f)
{
	const char *const reason = f->reason[0] != '\0' ? f->reason : reason_of(f->code);

	if (f->retry_after[0] != '\0')
		call_add_header(c, "Retry-After", f->retry_after);
	if (strcmp(f->mode, "status") == 0) {
		call_fail(c, f->code, reason, "%s", f->text != NULL ? f->text : "injected fault");
		return;
	}
	struct evbuffer *const out = evbuffer_new();
	if (strcmp(f->mode, "html") == 0)
		evbuffer_add_printf(out,
		    "<html><head><title>%d %s</title></head><body><h1>%d %s</h1></body></html>\r\n",
		    f->code, reason, f->code, reason);
	call_reply(c, f->code, "text/html", out);
	evbuffer_free(out);
}

static const char *
reason_of(int code)
{
	for (size_t i = 0; i < NITEMS(reasons); i++) {
		if (reasons[i].code == code)
			return reasons[i].reason;
	}
	return "";
}
