/* tests/dst/vpsie_api.c - the modelled VPSie API: its calls, its tokens, its errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"
#include "provider/fence.h"
#include "world_vpsie.h"

#define CLUSTERS	"/k8s/cluster/byId/" VPW_CLUSTER

typedef void call(struct vpw *w, struct http_exchange *x, const char *rest);
static call list_vms, read_vm, read_cluster, list_groups, make_group, add_worker, delete_worker, delete_vm;
static call exchange;

/* The longest that fits comes first. */
static const struct route {
	const char	*method, *path;
	call		*fn;
} routes[] = {
	{ "GET", "/vm?", list_vms }, { "GET", "/vm/", read_vm }, { "DELETE", "/vm/", delete_vm },
	{ "POST", CLUSTERS "/add/slave/group/", add_worker },
	{ "DELETE", CLUSTERS "/delete/slave", delete_worker }, { "GET", CLUSTERS, read_cluster },
	{ "GET", "/k8s/node/groups/byClusterId/" VPW_CLUSTER, list_groups },
	{ "POST", "/k8s/cluster/add/group", make_group }, { "POST", "/auth/from/api", exchange },
};

static const struct route *find_route(const struct http_exchange *, const char **);
static bool token_accepted(const struct vpw *, const struct http_exchange *);
static int64_t shown_ms(struct vpw *, const struct http_exchange *);
static void list_begins(struct vpw *, const struct http_exchange *);
static void list_ends(struct vpw *, const struct http_exchange *);
static void delete_machine(struct vpw *, struct http_exchange *, uint32_t);
static void reply(struct http_exchange *, json_t *);
static void reply_list(struct vpw *, struct http_exchange *, json_t *);
static void fail(struct http_exchange *, int, int, const char *);
static void check_request(struct vpw *, const struct http_exchange *);

void
vpw_serve(struct harness *h, struct http_exchange *x)
{
	struct vpw *const w = (struct vpw *)h;
	const char *rest = "";
	const struct route *const r = find_route(x, &rest);

	if (h->settled)
		w->quiet_calls++;
	if (r == NULL) {
		sim_fail(h->sim, "%s sends %s %s, which the API does not have", x->from->name, x->method,
		    x->path);
		fail(x, 404, 404, "no such path");
	} else if (r->fn != exchange && !token_accepted(w, x)) {
		fail(x, 401, 401, "the token has expired");
	} else if (h->sim->now_ms < w->outage_until_ms) {
		fail(x, 503, 503, "maintenance");
	} else if (!h->sim->faults_over && sim_chance(h->sim, w->flagged)) {
		fail(x, 200, 500, "Internal error");
	} else {
		r->fn(w, x, rest);
	}
}

/* rest: what follows the path. */
static const struct route *
find_route(const struct http_exchange *x, const char **rest)
{
	static const char *const prefixes[] = { "/apps/v2", "/api/v2", "/v2" };

	for (size_t p = 0; p < NITEMS(prefixes); p++) {
		const size_t skip = strlen(prefixes[p]);

		for (size_t i = 0; strncmp(x->path, prefixes[p], skip) == 0 && i < NITEMS(routes); i++) {
			const size_t len = strlen(routes[i].path);

			if (strcmp(x->method, routes[i].method) != 0
			    || strncmp(x->path + skip, routes[i].path, len) != 0)
				continue;
			*rest = x->path + skip + len;
			return &routes[i];
		}
	}
	return NULL;
}

/* ---- A request of the actor is about to leave; its answer is there ---- */

void
vpw_leaves(struct harness *h, const struct http_exchange *x)
{
	struct vpw *const w = (struct vpw *)h;
	const char *rest;
	const struct route *const r = find_route(x, &rest);

	if (r != NULL && r->fn == add_worker)
		check_request(w, x);
}

/* D10: one for each VPSieNode, in all lives and by both leaders, and under an intent. */
static void
check_request(struct vpw *w, const struct http_exchange *x)
{
	const uint32_t n = vpw_record_of_key(w, x->about);

	if (n == VPW_NONE) {
		sim_fail(w->h.sim, "a worker is requested for %s, which never existed", x->about);
		return;
	}
	struct vpw_record *const v = &w->records[n];
	if (v->exists && !v->intent)
		sim_fail(w->h.sim, "a worker is requested for %s, which has no intent", v->name);
	if (v->sent > 0)
		sim_fail(w->h.sim, "a second worker is requested for %s", v->name);
	v->sent++;
	v->sent_ms = w->h.sim->now_ms;
	w->posts[w->nposts++ % VPW_POSTS_MAX].exchange = x->id;
	w->posts[(w->nposts - 1) % VPW_POSTS_MAX].record = n;
}

/* What was refused for certain, as its sender reads it, may be requested again (D23). */
void
vpw_answered(struct runtime *r, const struct http_exchange *x)
{
	struct vpw *const w = r->world;
	const bool flagged = x->answer != NULL && strstr(x->answer, "\"error\":true") != NULL;

	for (uint32_t i = 0; i < VPW_POSTS_MAX; i++) {
		if (w->posts[i].exchange != x->id)
			continue;
		if ((x->status >= 400 && x->status < 500) || (x->status == 200 && flagged))
			w->records[w->posts[i].record].sent--;
		w->posts[i].exchange = 0;
	}
}

/* ---- Tokens ---- */

const char *
vpw_file(void *world, const char *path)
{
	static char text[VPW_TEXT_MAX];
	const struct vpw *const w = world;
	const char *const name = strrchr(path, '/') + 1;

	if (w->static_token && strcmp(name, "token") == 0)
		snprintf(text, sizeof(text), w->bad_secret ? "wrong-%u" : "static-%u", w->secret);
	else if (!w->static_token && strcmp(name, "clientId") == 0)
		snprintf(text, sizeof(text), "client");
	else if (!w->static_token && strcmp(name, "clientSecret") == 0)
		snprintf(text, sizeof(text), w->bad_secret ? "wrong-%u" : "secret-%u", w->secret);
	else
		return NULL;
	return text;
}

/* The last two static tokens are accepted: a rotation overlaps. */
static bool
token_accepted(const struct vpw *w, const struct http_exchange *x)
{
	static const char *const lines[] = { "Authorization: Bearer ", "Vpsie-Auth: " };
	const char *token = NULL;

	for (size_t i = 0; i < NITEMS(lines) && token == NULL; i++) {
		const char *const at = strstr(x->headers, lines[i]);

		token = at != NULL ? at + strlen(lines[i]) : NULL;
	}
	if (token == NULL)
		return false;
	if (strncmp(token, "static-", 7) == 0) {
		const unsigned n = (unsigned)strtoul(token + 7, NULL, 10);
		return w->static_token && n <= w->secret && n + 1 >= w->secret;
	}
	if (strncmp(token, "tok-", 4) != 0)
		return false;
	const unsigned n = (unsigned)strtoul(token + 4, NULL, 10);
	return n > w->revoked && n <= w->issued
	    && w->h.sim->now_ms < w->tokens_ms[n % NITEMS(w->tokens_ms)] + w->token_life_ms;
}

static void
exchange(struct vpw *w, struct http_exchange *x, const char *rest)
{
	char expires[TIME_TEXT_MAX], token[VPW_TEXT_MAX];

	(void)rest;
	if (strstr(x->body, "clientId=client&clientSecret=secret-") == NULL) {
		fail(x, 401, 401, "Invalid credentials");
		return;
	}
	w->issued++;
	w->tokens_ms[w->issued % NITEMS(w->tokens_ms)] = w->h.sim->now_ms;
	snprintf(token, sizeof(token), "tok-%u", w->issued);
	const int64_t expires_ms = RUNTIME_EPOCH_MS + w->h.sim->now_ms + w->token_life_ms;
	time_format(expires_ms * 1000, expires, sizeof(expires));
	json_t *const body = json_pack("{s:{s:s, s:s}, s:{s:s, s:s}}", "accessToken", "token", token,
	    "expires", expires, "refreshToken", "token", "refresh", "expires", expires);
	x->status = 200;
	x->answer = json_dumps(body, JSON_COMPACT);
	json_decref(body);
}

/* ---- Lists ---- */

/* One page has everything. */
static void
list_vms(struct vpw *w, struct http_exchange *x, const char *rest)
{
	(void)rest;
	list_begins(w, x);
	reply_list(w, x, vpw_vms_json(w, w->readers[x->from->tree].limit));
}

static void
read_cluster(struct vpw *w, struct http_exchange *x, const char *rest)
{
	const struct vpw_reader *const r = &w->readers[x->from->tree];

	(void)rest;
	reply(x, vpw_cluster_json(w, r->incarnation == x->incarnation ? r->limit : UINT32_MAX));
}

static void
list_groups(struct vpw *w, struct http_exchange *x, const char *rest)
{
	(void)rest;
	list_ends(w, x);
	reply_list(w, x, vpw_groups_json(w));
}

/* VMs come first, then nodes, then groups: what the first may have holds for all. */
static void
list_begins(struct vpw *w, const struct http_exchange *x)
{
	struct vpw_reader *const r = &w->readers[x->from->tree];

	*r = (struct vpw_reader){ .incarnation = x->incarnation, .began_ms = w->h.sim->now_ms,
		.limit = harness_list_limit(&w->h, x) };
	for (uint32_t i = 0; i < w->nmachines; i++)
		r->entries += vpw_is_listed(w, i);
	r->entries = r->entries < r->limit ? r->entries : r->limit;
}

static void
list_ends(struct vpw *w, const struct http_exchange *x)
{
	const struct vpw_reader *const r = &w->readers[x->from->tree];

	if (r->incarnation != x->incarnation || x->lost || x->spoiled || x->call == NULL)
		return;
	harness_listed(&w->h, x, r->limit, r->entries);
	for (uint32_t i = 0; i < w->nmachines && w->h.cluster.holder == (int)x->from->tree; i++) {
		struct vpw_machine *const m = &w->machines[i];

		if (m->shown_ms == 0 && m->listed_ms <= r->began_ms && vpw_is_listed(w, i)
		    && m->runs_ms <= r->began_ms && r->limit == UINT32_MAX)
			m->shown_ms = w->h.sim->now_ms;
	}
}

static void
read_vm(struct vpw *w, struct http_exchange *x, const char *rest)
{
	const uint32_t n = (uint32_t)strtoul(rest, NULL, 10) - VPW_VM_BASE;

	if (n >= w->nmachines || w->machines[n].deleted || w->machines[n].made_ms > w->h.sim->now_ms)
		fail(x, 404, 404, "VM not found");
	else
		reply(x, vpw_vm_json(w, n));
}

/* ---- What is changed ---- */

static void
make_group(struct vpw *w, struct http_exchange *x, const char *rest)
{
	json_t *const body = json_loads(x->body, 0, NULL);
	const char *const name = json_string_value(json_object_get(body, "groupName"));
	const json_int_t size = json_integer_value(json_object_get(body, "KubeSizeID"));

	(void)rest;
	if (name == NULL || size <= 0)
		sim_fail(w->h.sim, "a group is made with %s", x->body);
	else
		vpw_add_platform(w, name, size, shown_ms(w, x));
	reply(x, json_pack("{s:s}", "groupId", name != NULL ? name : ""));
	json_decref(body);
}

static void
add_worker(struct vpw *w, struct http_exchange *x, const char *rest)
{
	const uint32_t group = (uint32_t)strtoul(rest, NULL, 10) - VPW_GROUP_BASE;
	const uint32_t n = vpw_record_of_key(w, x->about);
	struct sim *const sim = w->h.sim;

	if (group >= w->nplatform) {
		fail(x, 404, 404, "Group not found");
		return;
	}
	if (n == VPW_NONE)
		return;		/* reported when it left */
	struct vpw_record *const v = &w->records[n];
	if (sim->now_ms < w->quota_until_ms) {
		v->capacity++;
		const int status = sim_random(sim, 2) == 0 ? 200 : 400;
		fail(x, status, 400, "Worker node count exceeds the allowed limit");
		return;
	}
	if (v->made > 0)
		sim_fail(sim, "%s has two machines", v->name);
	v->made++;
	/* One in forty is accepted and never carried out. */
	if (!w->h.sweep && !sim->faults_over && sim_random(sim, 40) == 0) {
		w->lost_orders++;
		reply(x, json_true());
		return;
	}
	const uint32_t m = vpw_add_machine(w, group, n, shown_ms(w, x));
	if (w->object_answers)
		reply(x, json_pack("{s:i, s:s, s:s, s:s}", "id", 0, "identifier", w->machines[m].uuid,
		    "status", "provisioning", "hostname", w->machines[m].hostname));
	else
		reply(x, json_true());
}

static void
delete_worker(struct vpw *w, struct http_exchange *x, const char *rest)
{
	json_t *const body = json_loads(x->body, 0, NULL);
	const char *const uuid = json_string_value(json_object_get(body, "identifier"));
	uint32_t n = 0;

	(void)rest;
	while (n < w->nmachines && (uuid == NULL || strcmp(w->machines[n].uuid, uuid) != 0))
		n++;
	delete_machine(w, x, n);
	json_decref(body);
}

static void
delete_vm(struct vpw *w, struct http_exchange *x, const char *rest)
{
	delete_machine(w, x, (uint32_t)strtoul(rest, NULL, 10) - VPW_VM_BASE);
}

static void
delete_machine(struct vpw *w, struct http_exchange *x, uint32_t n)
{
	if (n >= w->nmachines || w->machines[n].deleted) {
		fail(x, 404, 404, "Node not found");
		return;
	}
	vpw_delete_machine(w, n, true);
	reply(x, json_true());
}

/* Its sender gave it up and lives on: it waits FENCE_SETTLE_MS from then. Lists may lag so long. */
static int64_t
shown_ms(struct vpw *w, const struct http_exchange *x)
{
	const int64_t at_ms = w->h.sim->now_ms + harness_lag(w->h.sim);
	const int64_t settled_ms = x->ended_ms + FENCE_SETTLE_MS;

	if (!w->h.sim->faults_over && harness_given_up(x) && at_ms < settled_ms && sim_chance(w->h.sim, 500))
		return settled_ms - 1;
	return at_ms;
}

/* ---- Answers ---- */

static void
reply(struct http_exchange *x, json_t *data)
{
	json_t *const body = json_pack("{s:b, s:o}", "error", 0, "data", data);

	MUST(body != NULL);
	x->status = 200;
	x->answer = json_dumps(body, JSON_COMPACT);
	json_decref(body);
}

static void
reply_list(struct vpw *w, struct http_exchange *x, json_t *data)
{
	const json_int_t n = (json_int_t)json_array_size(data);
	json_t *const body = json_pack("{s:b, s:o}", "error", 0, "data", data);

	if (w->total)
		json_object_set_new(body, "total", json_integer(n));
	x->status = 200;
	x->answer = json_dumps(body, JSON_COMPACT);
	json_decref(body);
}

static void
fail(struct http_exchange *x, int status, int code, const char *message)
{
	json_t *const body = json_pack("{s:b, s:i, s:s}", "error", 1, "code", code, "message", message);

	x->status = status;
	x->answer = json_dumps(body, JSON_COMPACT);
	json_decref(body);
}
