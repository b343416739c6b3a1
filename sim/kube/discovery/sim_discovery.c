/* sim/kube/discovery/sim_discovery.c - version, health, discovery, OpenAPI. */
#include "sim_discovery.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/http/sim_accept.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim_registry.h"

static void serve_version(struct sim_request *);
static void serve_ok(struct sim_request *);
static void serve_core(struct sim_request *);
static void serve_groups(struct sim_request *);
static void serve_roots(struct sim_request *);
static void serve_openapi_v2(struct sim_request *);
static void serve_openapi_index(struct sim_request *);

static const struct {
	const char	*path;
	sim_request_handler	*serve;
} paths[] = {
	{ "/",           serve_roots },
	{ "/version",    serve_version },
	{ "/healthz",    serve_ok },
	{ "/livez",      serve_ok },
	{ "/readyz",     serve_ok },
	{ "/api",        serve_core },
	{ "/apis",       serve_groups },
	{ "/openapi/v2", serve_openapi_v2 },
	{ "/openapi/v3", serve_openapi_index },
};

static const struct sim_media_form forms[] = {
	{ "", "", "" },
	{ "APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2" },
	{ "APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2beta1" },
};

static bool serve_deeper(struct sim_request *);
static bool serve_aggregated(struct sim_request *, bool);
static void reply_or_404(struct sim_request *, json_t *);

void
sim_discovery_serve(struct sim_request *c)
{
	size_t len = strlen(c->path);

	while (len > 1 && c->path[len - 1] == '/')
		len--;
	for (size_t i = 0; i < NITEMS(paths); i++) {
		if (strlen(paths[i].path) == len && strncmp(paths[i].path, c->path, len) == 0) {
			paths[i].serve(c);
			return;
		}
	}
	if (!serve_deeper(c))
		sim_request_reply_text(c, 404, "404 page not found\n");
}

static void
serve_version(struct sim_request *c)
{
	sim_request_reply_json(c, 200,
	    json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "major", "1", "minor", "35",
		"gitVersion", "v1.35.4", "gitCommit", "0000000000000000000000000000000000000000",
		"gitTreeState", "clean", "buildDate", "2026-04-15T00:00:00Z", "goVersion",
		"go1.25.9", "compiler", "gc", "platform", "linux/amd64"));
}

static void
serve_ok(struct sim_request *c)
{
	sim_request_reply_text(c, 200, "ok");
}

static void
serve_roots(struct sim_request *c)
{
	json_t *const list = json_array();

	for (size_t i = 1; i < NITEMS(paths); i++)
		json_array_append_new(list, json_string(paths[i].path));
	sim_request_reply_json(c, 200, json_pack("{s:o}", "paths", list));
}

static void
serve_core(struct sim_request *c)
{
	if (!serve_aggregated(c, true))
		sim_request_reply_json(c, 200,
		    json_pack("{s:s, s:[s], s:[{s:s, s:s}]}", "kind", "APIVersions", "versions",
			"v1", "serverAddressByClientCIDRs", "clientCIDR", "0.0.0.0/0",
			"serverAddress", sim_request_header(c, "Host")));
}

static void
serve_groups(struct sim_request *c)
{
	if (!serve_aggregated(c, false))
		sim_request_reply_json(c, 200, sim_discovery_group_list(sim_registry_all(c->sim->registry)));
}

/*
 * kubectl requests it, as protobuf, when it is to check the items of a List by itself; what the
 * document does not contain is not checked. So this one is empty: the field `swagger` and no
 * more. The server checks anyway.
 */
static void
serve_openapi_v2(struct sim_request *c)
{
	static const char document[] = "\x0a\x03" "2.0";

	if (strstr(sim_request_header(c, "Accept"), "protobuf") == NULL) {
		sim_request_reply_json(c, 200,
		    json_pack("{s:s, s:{s:s, s:s}, s:{}, s:{}}", "swagger", "2.0", "info", "title",
			"Kubernetes", "version", "v1.35.4", "paths", "definitions"));
		return;
	}
	struct evbuffer *const out = evbuffer_new();
	evbuffer_add(out, document, sizeof(document) - 1);
	sim_request_reply(c, 200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", out);
}

static void
serve_openapi_index(struct sim_request *c)
{
	sim_request_reply_json(c, 200, sim_openapi_index(sim_registry_all(c->sim->registry)));
}

/* /api/v1, /apis/GROUP, /apis/GROUP/VERSION and the documents of /openapi/v3 by the same names. */
static bool
serve_deeper(struct sim_request *c)
{
	char group[256] = "", version[64] = "";
	const struct sim_resource *const *const all = sim_registry_all(c->sim->registry);
	int used = 0;

	if (sscanf(c->path, "/openapi/v3/api/%63[^/]%n", version, &used) == 1 && c->path[used] == '\0')
		reply_or_404(c, sim_openapi_document(all, "", version));
	else if (sscanf(c->path, "/openapi/v3/apis/%255[^/]/%63[^/]%n", group, version, &used) == 2
	    && c->path[used] == '\0')
		reply_or_404(c, sim_openapi_document(all, group, version));
	else if (sscanf(c->path, "/api/%63[^/]%n", version, &used) == 1 && c->path[used] == '\0')
		reply_or_404(c, sim_discovery_resource_list(all, "", version));
	else if (sscanf(c->path, "/apis/%255[^/]/%63[^/]%n", group, version, &used) == 2
	    && c->path[used] == '\0')
		reply_or_404(c, sim_discovery_resource_list(all, group, version));
	else if (sscanf(c->path, "/apis/%255[^/]%n", group, &used) == 1 && c->path[used] == '\0')
		reply_or_404(c, sim_discovery_group(all, group));
	else if (strncmp(c->path, "/readyz/", 8) == 0 || strncmp(c->path, "/livez/", 7) == 0)
		serve_ok(c);
	else
		return false;
	return true;
}

/* False: the client accepts only the legacy form. */
static bool
serve_aggregated(struct sim_request *c, bool core)
{
	const int i = sim_accept_choose(sim_request_header(c, "Accept"), forms, NITEMS(forms));
	char type[128];

	if (i <= 0)
		return false;
	json_t *const list = sim_discovery_aggregated(sim_registry_all(c->sim->registry), core,
	    forms[i].version);
	snprintf(type, sizeof(type), "application/json;g=%s;v=%s;as=%s", forms[i].group,
	    forms[i].version, forms[i].as);
	sim_request_reply_json_as(c, 200, type, list);
	return true;
}

static void
reply_or_404(struct sim_request *c, json_t *document)
{
	if (document != NULL)
		sim_request_reply_json(c, 200, document);
	else
		sim_request_reply_text(c, 404, "404 page not found\n");
}
