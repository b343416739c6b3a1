/* sim/kube/sim_api.c - authentication, faults, and the dispatch of a request. */
#include "sim_api.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "obj.h"
#include "sim/http/sim_audit.h"
#include "sim/kube/discovery/sim_discovery.h"
#include "sim/kube/discovery/sim_registry.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim/kube/store/sim_watch.h"
#include "sim/kube/verbs/sim_verbs.h"

enum { BODY_MAX = 3 * 1024 * 1024 };

static const struct verb_row {
	enum sim_verb		 verb;
	const char		*name;
	sim_request_handler	*serve;
} verbs[] = {
	{ VERB_GET,              "get",              sim_read_get },
	{ VERB_LIST,             "list",             sim_list_serve },
	{ VERB_WATCH,            "watch",            sim_watch_serve },
	{ VERB_CREATE,           "create",           sim_write_create },
	{ VERB_UPDATE,           "update",           sim_write_update },
	{ VERB_PATCH,            "patch",            sim_write_patch },
	{ VERB_DELETE,           "delete",           sim_write_delete },
	{ VERB_DELETECOLLECTION, "deletecollection", sim_write_delete_collection },
};

/* The reason of each code. */
static const struct {
	int		 code;
	const char	*reason;
} reasons[] = {
	{ 400, "BadRequest" }, { 401, "Unauthorized" }, { 403, "Forbidden" }, { 404, "NotFound" },
	{ 405, "MethodNotAllowed" }, { 409, "Conflict" }, { 410, "Expired" }, { 422, "Invalid" },
	{ 429, "TooManyRequests" }, { 500, "InternalError" }, { 503, "ServiceUnavailable" }, { 504, "Timeout" },
};

static void find_target(struct sim_request *);
static enum sim_verb verb_of(const struct sim_request *);
static const struct verb_row *row_of(enum sim_verb);
static void note(struct sim_request *);
static void plan(struct sim_request *);
static void proceed(struct sim_request *);
static void dispatch(struct sim_request *);
static bool has_subresource(const struct sim_request *);
static void answer_fault(struct sim_request *, const struct sim_fault *);
static const char *reason_of(int);

void
sim_api_serve(struct evhttp_request *req, void *arg)
{
	struct simulator *const s = arg;
	struct sim_request *const c = sim_request_new(s, req);

	find_target(c);
	const bool known = sim_auth_identify(s->auth, req, c->user);
	if (!known)
		snprintf(c->user, sizeof(c->user), "system:anonymous");
	note(c);
	plan(c);
	const struct sim_fault *const late = c->plan.of[FAULT_LATENCY];
	if (!known || c->plan.of[FAULT_UNAUTHORIZED] != NULL)
		sim_request_fail(c, 401, "Unauthorized", "Unauthorized");
	else if (late != NULL)
		sim_request_delay(c, late->amount, proceed);
	else
		proceed(c);
}

const char *
sim_request_key(const struct sim_request *c, char *buf, size_t size)
{
	return sim_resource_key(c->resource, c->route.ns, c->route.name, buf, size);
}

static void
find_target(struct sim_request *c)
{
	if (!sim_route_parse(c->path, &c->route))
		return;
	c->resource = sim_registry_find(c->sim->registry, c->route.group, c->route.version, c->route.plural);
	if (c->resource == NULL)
		return;
	c->verb = verb_of(c);
	if (row_of(c->verb) != NULL)
		c->verb_name = row_of(c->verb)->name;
}

static enum sim_verb
verb_of(const struct sim_request *c)
{
	const bool named = c->route.name[0] != '\0';

	switch (c->method) {
	case EVHTTP_REQ_GET:
		return named ? VERB_GET : sim_request_flag(c, "watch") ? VERB_WATCH : VERB_LIST;
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
row_of(enum sim_verb verb)
{
	for (size_t i = 0; i < NITEMS(verbs); i++) {
		if (verbs[i].verb == verb)
			return &verbs[i];
	}
	return NULL;
}

static void
note(struct sim_request *c)
{
	const bool about = c->resource != NULL;

	c->audit_row = sim_audit_begin(c->sim->audit, &(struct sim_audit_row){
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
plan(struct sim_request *c)
{
	char qualified[512] = "";

	if (c->resource != NULL)
		sim_resource_qualified(c->resource, qualified, sizeof(qualified));
	c->plan = sim_faults_plan(c->sim->faults,
	    &(struct sim_fault_subject){
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
proceed(struct sim_request *c)
{
	size_t len;

	sim_request_body(c, &len);
	if (c->plan.of[FAULT_DROP_CONNECTION] != NULL)
		sim_request_drop(c);
	else if (c->plan.of[FAULT_STATUS] != NULL)
		answer_fault(c, c->plan.of[FAULT_STATUS]);
	else if (len > BODY_MAX)
		sim_request_fail(c, 413, "RequestEntityTooLarge",
		    "Request entity too large: limit is %d", BODY_MAX);
	else if (c->resource == NULL)
		sim_discovery_serve(c);
	else
		dispatch(c);
}

static void
dispatch(struct sim_request *c)
{
	const struct verb_row *const row = row_of(c->verb);
	const bool evict = strcmp(c->route.subresource, "eviction") == 0 && c->resource->has_eviction;

	/* The CRD may have gone during a delay. */
	c->resource = sim_registry_find(c->sim->registry, c->route.group, c->route.version, c->route.plural);
	if (c->resource != NULL && !c->resource->builtin && !has_subresource(c)) {
		sim_request_reply_status(c, sim_semantics_not_found(c->resource, c->route.name));
		return;
	}
	if (c->resource == NULL || !has_subresource(c)
	    || (c->route.ns[0] != '\0' && !c->resource->namespaced)) {
		sim_request_reply_text(c, 404, "404 page not found\n");
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
		sim_request_fail(c, 405, "MethodNotAllowed",
		    "the server does not allow this method on the requested resource");
	else if (evict)
		sim_write_evict(c);
	else if (c->resource->answers_only)
		sim_read_review(c);
	else
		row->serve(c);
}

static bool
has_subresource(const struct sim_request *c)
{
	const char *const sub = c->route.subresource;

	return sub[0] == '\0' || (strcmp(sub, "status") == 0 && c->resource->has_status)
	    || (strcmp(sub, "eviction") == 0 && c->resource->has_eviction);
}

static void
answer_fault(struct sim_request *c, const struct sim_fault *f)
{
	const char *const reason = f->reason[0] != '\0' ? f->reason : reason_of(f->code);

	if (f->retry_after[0] != '\0')
		sim_request_add_header(c, "Retry-After", f->retry_after);
	if (strcmp(f->mode, "status") == 0) {
		sim_request_fail(c, f->code, reason, "%s", f->text != NULL ? f->text : "injected fault");
		return;
	}
	struct evbuffer *const out = evbuffer_new();
	if (strcmp(f->mode, "html") == 0)
		evbuffer_add_printf(out,
		    "<html><head><title>%d %s</title></head><body><h1>%d %s</h1></body></html>\r\n",
		    f->code, reason, f->code, reason);
	else if (strcmp(f->mode, "text") == 0 && f->text != NULL)
		evbuffer_add(out, f->text, strlen(f->text));
	sim_request_reply(c, f->code, strcmp(f->mode, "text") == 0 ? "application/json" : "text/html", out);
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
