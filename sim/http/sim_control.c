/* sim/http/sim_control.c - the commands of the control endpoint. */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/capi/sim_ipam.h"
#include "sim/cluster/sim_cluster.h"
#include "sim/faults/sim_faults.h"
#include "sim/kube/sim_api.h"
#include "sim/kube/store/sim_store.h"
#include "sim/kube/store/sim_watch.h"
#include "sim/provider/sim_providers.h"
#include "sim/sim.h"
#include "sim_audit.h"
#include "sim_server.h"

enum { WHY_MAX = 256 };

/* One command: its answer, or NULL with the error in why. */
typedef json_t *command_fn(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX]);

static command_fn list_faults, arm_faults, clear_faults, list_audit, clear_audit, compact,
    change_cluster, report_state,
    disconnect, stop_listening, listen_again, report_providers, change_providers,
    report_capi, change_capi;

/* number: the query parameter that the command reads as a whole number. */
static const struct {
	enum evhttp_cmd_type	 method;
	const char		*path, *number;
	command_fn		*run;
} commands[] = {
	{ EVHTTP_REQ_GET,    "/faults",  "",      list_faults },
	{ EVHTTP_REQ_POST,   "/faults",  "",      arm_faults },
	{ EVHTTP_REQ_DELETE, "/faults",  "id",    clear_faults },
	{ EVHTTP_REQ_GET,    "/audit",   "since", list_audit },
	{ EVHTTP_REQ_DELETE, "/audit",   "",      clear_audit },
	{ EVHTTP_REQ_POST,   "/compact", "",      compact },
	{ EVHTTP_REQ_POST,   "/cluster", "",      change_cluster },
	{ EVHTTP_REQ_GET,    "/state",   "",      report_state },
	{ EVHTTP_REQ_POST,   "/disconnect", "",   disconnect },
	{ EVHTTP_REQ_POST,   "/down",    "",      stop_listening },
	{ EVHTTP_REQ_POST,   "/up",      "",      listen_again },
	{ EVHTTP_REQ_GET,    "/providers", "",    report_providers },
	{ EVHTTP_REQ_POST,   "/providers", "",    change_providers },
	{ EVHTTP_REQ_GET,    "/capi",    "",      report_capi },
	{ EVHTTP_REQ_POST,   "/capi",    "",      change_capi },
};

static json_t *read_body(struct evhttp_request *, char *);
static int64_t read_number(struct evhttp_request *, const char *);
static void reply(struct evhttp_request *, int, json_t *);
static json_t *each_of(
    struct simulator *, const json_t *, json_t *(*)(struct simulator *, const json_t *, char *), char *);
static json_t *arm_one(struct simulator *, const json_t *, char *);
static json_t *do_one(struct simulator *, const json_t *, char *);
static json_t *change_provider(struct simulator *, const json_t *, char *);

void
sim_control_serve(struct evhttp_request *req, void *arg)
{
	struct simulator *const s = arg;
	const struct evhttp_uri *const uri = evhttp_request_get_evhttp_uri(req);
	const char *const path =
	    uri != NULL && evhttp_uri_get_path(uri) != NULL ? evhttp_uri_get_path(uri) : "/";
	char why[WHY_MAX] = "";

	/* /api and /apis: the same API on this endpoint, for changes while the other one is down. */
	if (strncmp(path, "/api", 4) == 0) {
		sim_api_serve(req, arg);
		return;
	}
	for (size_t i = 0; i < NITEMS(commands); i++) {
		if (commands[i].method != evhttp_request_get_command(req)
		    || strcmp(commands[i].path, path) != 0)
			continue;
		json_t *const body = read_body(req, why);
		json_t *const answer = why[0] == '\0'
		    ? commands[i].run(s, body, read_number(req, commands[i].number), why) : NULL;
		json_decref(body);
		if (answer != NULL)
			reply(req, 200, answer);
		else
			reply(req, 400, json_pack("{s:s}", "error", why));
		return;
	}
	reply(req, 404, json_pack("{s:s}", "error", "there is no such command: see docs/simulator.md"));
}

static json_t *
list_faults(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)body, (void)number, (void)why;
	return sim_faults_list(s->faults);
}

static json_t *
arm_faults(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)number;
	return each_of(s, body, arm_one, why);
}

static json_t *
clear_faults(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)body, (void)why;
	sim_faults_clear(s->faults, number);
	return sim_faults_list(s->faults);
}

static json_t *
list_audit(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)body, (void)why;
	return sim_audit_list(s->audit, (uint64_t)number);
}

static json_t *
clear_audit(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)body, (void)number, (void)why;
	sim_audit_clear(s->audit);
	return json_array();
}

static json_t *
compact(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)body, (void)number, (void)why;
	sim_history_forget_all(&s->store->history);
	return json_pack("{s:I}", "compacted", (json_int_t)s->store->history.forgotten);
}

static json_t *
change_cluster(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)number;
	return each_of(s, body, do_one, why);
}

static json_t *
report_state(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	const struct sim_history *const h = &s->store->history;
	json_t *const objects = json_object();

	(void)body, (void)number, (void)why;
	for (size_t i = 0; i < s->store->n; i++) {
		const struct sim_storage *const st = s->store->storages[i];
		json_auto_t *name =
		    json_sprintf("%s%s%s", st->plural, st->group[0] != '\0' ? "." : "", st->group);

		json_object_set_new(objects, json_string_value(name), json_integer((json_int_t)st->n));
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "rv", (json_int_t)s->store->rv,
	    "compacted", (json_int_t)h->forgotten, "history", (json_int_t)h->n, "history_bytes",
	    (json_int_t)h->old_bytes, "watches", (json_int_t)sim_watches_count(s->watches), "objects",
	    objects);
}

/* Every connection to the API breaks; the next one is welcome. */
static json_t *
disconnect(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	sim_server_stop(s->kube);
	return listen_again(s, body, number, why);
}

static json_t *
stop_listening(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)body, (void)number, (void)why;
	sim_server_stop(s->kube);
	return json_pack("{s:b}", "listening", 0);
}

static json_t *
listen_again(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)body, (void)number;
	if (sim_server_resume(s->kube))
		return json_pack("{s:b}", "listening", 1);
	snprintf(why, WHY_MAX, "cannot listen on %s again: %s", sim_server_url(s->kube), strerror(errno));
	return NULL;
}

static json_t *
report_providers(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)body, (void)number, (void)why;
	return sim_providers_report(s->providers);
}

static json_t *
change_providers(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)number;
	return each_of(s, body, change_provider, why);
}

static json_t *
report_capi(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)body, (void)number, (void)why;
	return sim_ipam_report(s->ipam);
}

static json_t *
change_capi(struct simulator *s, const json_t *body, int64_t number, char why[WHY_MAX])
{
	(void)number;
	return sim_ipam_command(s->ipam, body, why, WHY_MAX);
}

/* One object or an array of them; the answers likewise. What came before a wrong one is done. */
static json_t *
each_of(struct simulator *s, const json_t *body,
    json_t *(*fn)(struct simulator *, const json_t *, char *), char *why)
{
	json_auto_t *out = json_array();
	size_t i;
	json_t *one;

	if (json_is_object(body))
		return fn(s, body, why);
	json_array_foreach(body, i, one) {
		json_t *const answer = fn(s, one, why);

		if (answer == NULL)
			return NULL;
		json_array_append_new(out, answer);
	}
	return json_incref(out);
}

static json_t *
arm_one(struct simulator *s, const json_t *spec, char *why)
{
	const struct sim_fault *const f = sim_faults_arm(s->faults, spec, why, WHY_MAX);

	if (f == NULL)
		return NULL;
	if (f->now)
		sim_watches_hit(s->watches, f);
	return json_pack("{s:i}", "id", (int)f->id);
}

static json_t *
do_one(struct simulator *s, const json_t *command, char *why)
{
	json_t *const answer = sim_cluster_command(s->cluster, command, why, WHY_MAX);

	if (answer != NULL)
		json_object_set_new(answer, "rv", json_integer((json_int_t)s->store->rv));
	return answer;
}

static json_t *
change_provider(struct simulator *s, const json_t *command, char *why)
{
	return sim_providers_command(s->providers, command, why, WHY_MAX);
}

static json_t *
read_body(struct evhttp_request *req, char *why)
{
	struct evbuffer *const in = evhttp_request_get_input_buffer(req);
	const size_t len = evbuffer_get_length(in);
	json_error_t wrong;

	if (len == 0)
		return NULL;
	json_t *const body = json_loadb((const char *)evbuffer_pullup(in, -1), len, JSON_ALLOW_NUL, &wrong);
	if (body == NULL)
		snprintf(why, WHY_MAX, "the body is not JSON: %s", wrong.text);
	return body;
}

static int64_t
read_number(struct evhttp_request *req, const char *name)
{
	const char *const query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(req));
	const size_t len = strlen(name);

	for (const char *p = query; p != NULL && len > 0;
	     p = strchr(p, '&') != NULL ? strchr(p, '&') + 1 : NULL) {
		if (strncmp(p, name, len) == 0 && p[len] == '=')
			return strtoll(p + len + 1, NULL, 10);
	}
	return 0;
}

static void
reply(struct evhttp_request *req, int code, json_t *body)
{
	struct evbuffer *const out = evbuffer_new();

	sim_buf_json_into(out, body);
	evbuffer_add(out, "\n", 1);
	json_decref(body);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", "application/json");
	evhttp_send_reply(req, code, NULL, out);
	evbuffer_free(out);
}
