/*
 * actors/vip-claimer/hook.c - serves the hooks of Cluster API, on every replica (V1, V9, V13).
 *
 * Each request is answered at once, from the mirrors: Cluster API calls again, and holding a call
 * open would hold one of its workers. Discovery is answered from its path and body alone: while
 * Cluster API starts, one extension that it cannot discover stops all its Clusters.
 *
 * Never: a listener without TLS, or an error whose text varies from call to call: it becomes a condition.
 */
#include <event2/http.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "claimer.h"
#include "clock.h"
#include "log.h"
#include "obj.h"
#include "server/http_listener.h"
#include "server/listen.h"
#include "server/tls_server.h"
#include "stat.h"
#include "wire.h"

/*
 * Cluster API opens a connection for each call and keeps it: those that idle must go. At most
 * VIP_REQUEST_MAX of bodies twice, for all connections together.
 */
enum {
	HEADER_MAX	  = 16 * 1024,
	RECEIVED_MAX	  = 2 * VIP_REQUEST_MAX,
	IDLE_S		  = 10,
	CONNECTIONS_MAX	  = 320,
	LIFE_MS		  = 30 * 1000,
	LIFE_FULL_MS	  = 1000,
	CERTIFICATE_MS	  = 2000,	/* between two attempts to read one that is missing or wrong */
	ANSWERS_MAX	  = 4096,	/* Clusters whose last answer is remembered, for the log */
	PATH_ROOM	  = 1200,
	CAUSE_MAX	  = 512,
	ADDRESS_MAX	  = 64,
};

#define ADDRESS_FILE	"hook.addr"

struct hook {
	uint32_t		 magic;
#define HOOK_MAGIC	0x484f4f4bu
	struct claimer		*claimer;
	const char		*extension;
	int			 fd;		/* the listening socket, until the listener has it; -1 */
	struct tls_server	*tls;		/* NULL: there is no usable certificate */
	struct http_listener	*listener;
	int64_t			 retry_ms;
	char			 cause[CAUSE_MAX];	/* why there is none; "": there is */
	struct keytab		*answers;	/* uint64_t: hash of the last one, by "<namespace>/<name>" */
	struct vip_request	 request;
	char			 answer[VIP_ANSWER_MAX];
};

static void open_socket(struct hook *, struct actor *);
static void serve(struct hook *);
static bool open_certificate(struct hook *);
static http_listener_handler on_request;
static http_listener_certificate on_certificate;
static const char *answer_hook(struct hook *, enum vip_hook, struct evhttp_request *, struct http_answer *);
static const char *answer_gate(struct hook *, size_t *);
static const char *answer_patches(struct hook *, size_t *);
static void log_answer(struct hook *, const struct cluster_view *, enum vip_hook, const char *,
    const char *, const char *);
static const char *refuse(struct hook *, struct http_answer *, int, const char *);
static void count(enum vip_hook, const char *, int64_t);

struct hook *
hook_new(struct claimer *c)
{
	struct actor *const a = c->r.actor;
	struct hook *h;

	if (actor_setting_i64(a, "enable-runtime-extension") == 0) {
		log_info("the hooks are not served: Cluster API does not wait for the addresses",
		    KV_S(KEY, "enable-runtime-extension"));
		return NULL;
	}
	if (actor_setting(a, "tls-dir")[0] == '\0')
		fatalx("the hooks need a certificate", KV_S(KEY, "tls-dir"),
		    KV_S(HINT, "set actors.vip-claimer.tls-dir to the folder of tls.crt and tls.key, or "
			       "enable-runtime-extension to false"));
	OBJ_NEW(h, HOOK_MAGIC);
	h->claimer = c;
	h->extension = actor_setting(a, "extension-name");
	h->answers = keytab_new(sizeof(uint64_t));
	open_socket(h, a);
	serve(h);
	return h;
}

void
hook_free(struct hook **hp)
{
	struct hook *h;

	if (*hp == NULL)
		return;
	OBJ_TAKE(h, hp, HOOK_MAGIC);
	http_listener_free(&h->listener);
	tls_server_free(&h->tls);
	keytab_free(&h->answers);
	if (h->fd != -1)
		close(h->fd);
	OBJ_FREE(h);
}

void
hook_tick(struct hook *h, int64_t now_ms)
{
	if (h == NULL || h->listener != NULL || now_ms < h->retry_ms)
		return;
	OBJ_CHECK(h, HOOK_MAGIC);
	serve(h);
}

const char *
hook_obstacle(const struct hook *h)
{
	return h != NULL && h->listener == NULL ? h->cause : NULL;
}

/* ---- The listener ---- */

/* An address that another program has is found at the start, whatever the certificate is. */
static void
open_socket(struct hook *h, struct actor *a)
{
	const char *const address = actor_setting(a, "hook-bind-address");
	const char *why;
	char bound[ADDRESS_MAX], folder[PATH_ROOM], path[LISTEN_PATH_MAX];
	bool config;

	h->fd = listen_open(address, &why, &config);
	if (h->fd == -1)
		log_die(config ? EXIT_CONFIG : EXIT_TRANSIENT, 0, "cannot serve the hooks",
		    LOG_KVS(KV_S(KEY, "hook-bind-address"), KV_S(ADDRESS, address), KV_S(CAUSE, why),
		    KV_S(HINT, "give an address of this machine and a port that no other program has")));
	listen_address(h->fd, bound, sizeof(bound));
	snprintf(folder, sizeof(folder), "%s/%s", actor_run_dir(a), role_name(actor_role(a)));
	if (!listen_write_address(folder, ADDRESS_FILE, bound, path))
		log_warn("cannot write the address", KV_S(PATH, path));
}

/*
 * Without a certificate the reconciler goes on, and the files are read again: they may be a Secret that is
 * not filled yet. Clients connect meanwhile, and wait.
 */
static void
serve(struct hook *h)
{
	char bound[ADDRESS_MAX];

	h->retry_ms = clock_mono_ms() + CERTIFICATE_MS;
	if (!open_certificate(h))
		return;
	listen_address(h->fd, bound, sizeof(bound));
	h->listener = http_listener_new(actor_base(h->claimer->r.actor), h->fd,
	    &(struct http_listener_spec){
		.handler = on_request, .certificate = on_certificate, .arg = h, .tls = h->tls,
		.header_max = HEADER_MAX, .body_max = VIP_REQUEST_MAX, .idle_s = IDLE_S, .keep_alive = true,
		.connections = { .max = CONNECTIONS_MAX, .life_ms = LIFE_MS, .life_full_ms = LIFE_FULL_MS,
		    .received_max = RECEIVED_MAX },
	    });
	h->fd = -1;
	log_info("serving the hooks of Cluster API", KV_S(ADDRESS, bound), KV_S(VALUE, h->extension));
}

static bool
open_certificate(struct hook *h)
{
	struct actor *const a = h->claimer->r.actor;
	const char *const dir = actor_setting(a, "tls-dir");
	char cert[PATH_ROOM], key[PATH_ROOM], cause[CAUSE_MAX] = "";

	snprintf(cert, sizeof(cert), "%s/tls.crt", dir);
	snprintf(key, sizeof(key), "%s/tls.key", dir);
	h->tls = tls_server_new(&(struct tls_server_files){ .cert = cert, .key = key,
	    .client_ca = actor_setting(a, "client-ca-file"), .clients = TLS_CLIENTS_REFUSED },
	    cause, sizeof(cause));
	if (h->tls == NULL && strcmp(cause, h->cause) != 0)
		log_error("the hooks are not served: the certificate cannot be used", KV_S(CAUSE, cause),
		    KV_I(NEXT_MS, CERTIFICATE_MS),
		    KV_S(HINT, "put a certificate as tls.crt and its key as tls.key there, as a "
			       "kubernetes.io/tls Secret has them; they are read again by themselves, and "
			       "addresses are given meanwhile"));
	snprintf(h->cause, sizeof(h->cause), "%s", cause);
	return h->tls != NULL;
}

static void
on_certificate(void *arg, enum tls_reload what, const char *why)
{
	(void)arg;
	if (what == TLS_RELOADED)
		log_info("certificate of the hooks reloaded");
	else
		log_warnx("new certificate of the hooks refused, the previous one is served",
		    KV_S(CAUSE, why), KV_S(HINT, "replace certificate and key together"));
}

/* ---- Requests ---- */

static void
on_request(struct evhttp_request *req, void *arg)
{
	struct hook *const h = arg;
	const int64_t began_us = clock_mono_us();
	const char *const path = http_listener_path(req);
	struct http_answer out = { .code = 200, .type = "application/json", .body = h->answer };
	const char *outcome;

	OBJ_CHECK(h, HOOK_MAGIC);
	const enum vip_hook hook = vip_wire_route(path, h->extension);
	const enum evhttp_cmd_type method = evhttp_request_get_command(req);
	if (hook == VIP_HOOK_MAX) {
		outcome = refuse(h, &out, 404, "no such hook: this extension has discovery, "
		    "beforeclustercreate and generatepatches under " VIP_HOOKS_API);
	} else if (method != EVHTTP_REQ_POST) {
		outcome = refuse(h, &out, 405, "only POST is served");
		out.allow = "POST";
	} else {
		outcome = answer_hook(h, hook, req, &out);
	}
	out.head_only = method == EVHTTP_REQ_HEAD;
	http_listener_reply(h->listener, req, &out);
	count(hook, outcome, clock_mono_us() - began_us);
}

static const char *
answer_hook(struct hook *h, enum vip_hook hook, struct evhttp_request *req, struct http_answer *out)
{
	size_t len;
	const char *const body = http_listener_body(req, &len);

	if (!vip_request_read(hook, body, len, &h->request)) {
		log_warnx("a request of a hook is refused", KV_S(RESOURCE, vip_hook_name(hook)),
		    KV_I(BYTES, len), KV_S(WHY, h->request.err));
		return refuse(h, out, 400, h->request.err);
	}
	switch (hook) {
	case VIP_HOOK_CREATE:
		return answer_gate(h, &out->len);
	case VIP_HOOK_PATCHES:
		return answer_patches(h, &out->len);
	default:
		out->len = vip_answer_discovery(h->answer, h->extension);
		log_debug("discovery answered", KV_S(VALUE, h->extension));
		return "success";
	}
}

static const char *
answer_gate(struct hook *h, size_t *len)
{
	const struct vip_cluster *const c = &h->request.cluster;
	struct cluster_view v;
	struct vip_gate g;

	if (!cluster_view_name(&v, c->namespace, c->name)) {
		/* No object has such a name, so nothing is held back. */
		g = (struct vip_gate){ .pass = true };
		*len = vip_answer_gate(h->answer, &g);
		return "pass";
	}
	cluster_view_hook(&v, h->claimer, c);
	vip_gate_plan(&v.in, &g);
	log_answer(h, &v, VIP_HOOK_CREATE, g.pass ? "pass" : "wait", g.message,
	    g.view.claim_name);
	*len = vip_answer_gate(h->answer, &g);
	return g.pass ? "pass" : "wait";
}

static const char *
answer_patches(struct hook *h, size_t *len)
{
	static const char *const outcomes[] = {
		[VIP_PATCHES_FAIL] = "failure", [VIP_PATCHES_NONE] = "no-patch", [VIP_PATCHES_GIVE] = "patch",
	};
	const struct vip_cluster *const c = &h->request.cluster;
	struct cluster_view v;
	struct vip_patch_plan p = { .result = VIP_PATCHES_FAIL, .why = "not the name of a Cluster",
		.message = "not the name of a Cluster" };

	if (cluster_view_name(&v, c->namespace, c->name)) {
		cluster_view_patches(&v, h->claimer, c->uid);
		vip_patch_plan(&v.in, &p);
		log_answer(h, &v, VIP_HOOK_PATCHES, outcomes[p.result], p.message, p.view.claim_name);
	}
	*len = vip_answer_patches(h->answer, &p, &h->request);
	return outcomes[p.result];
}

/* One line for each new answer: Cluster API calls again and again while a Cluster waits. */
static void
log_answer(struct hook *h, const struct cluster_view *v, enum vip_hook hook, const char *outcome,
    const char *message, const char *claim)
{
	const uint64_t hash = hash64_more(hash64(message, strlen(message)), &hook, sizeof(hook));
	const struct vip_input *const in = &v->in;
	char cluster[sizeof(v->ns) + sizeof(v->name)];

	const int n = snprintf(cluster, sizeof(cluster), "%s/%s", v->ns, v->name);
	if (keytab_count(h->answers) >= ANSWERS_MAX) {
		keytab_free(&h->answers);
		h->answers = keytab_new(sizeof(uint64_t));
	}
	uint64_t *const last = keytab_value(h->answers, keytab_add(h->answers, cluster, (size_t)n, NULL));
	if (*last == hash)
		return;
	*last = hash;
	log_info("a hook is answered", KV_S(RESOURCE, vip_hook_name(hook)), KV_S(OUTCOME, outcome),
	    KV_S(CLUSTER, cluster), KV_SN(CLASS, in->cluster.class_name.p, in->cluster.class_name.len),
	    KV_SN(POOL, in->claim.pool_name.p, in->claim.pool_name.len), KV_S(CLAIM, claim),
	    KV_SN(ADDRESS, in->address.address.p, in->address.address.len), KV_S(WHY, message));
}

static const char *
refuse(struct hook *h, struct http_answer *out, int code, const char *why)
{
	const int n = snprintf(h->answer, sizeof(h->answer), "%s\n", why);

	out->code = code;
	out->type = "text/plain; charset=utf-8";
	out->len = (size_t)n;
	return "refused";
}

static void
count(enum vip_hook hook, const char *outcome, int64_t took_us)
{
	char labels[160] = "";

	if (!stat_label(labels, sizeof(labels), "hook", vip_hook_name(hook)))
		return;
	stat_observe(stat_get(STAT_VIP_HOOK_TIME, labels), (double)took_us / 1e6);
	if (stat_label(labels, sizeof(labels), "outcome", outcome))
		stat_add(stat_get(STAT_VIP_HOOKS, labels), 1);
}
