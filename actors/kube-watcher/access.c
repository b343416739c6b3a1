/*
 * actors/kube-watcher/access.c - requests with the credential of the moment.
 *
 * Never: a secret in a log line or an error. What keeps failing is logged once per text; the
 * texts of kube/credential hold none.
 */
#include "access.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "clock.h"
#include "cluster_clock.h"
#include "kube/time.h"
#include "log.h"
#include "obj.h"
#include "version.h"

enum { TICK_MS = 1000, LIST_BODY_MAX = 4 * 1024 * 1024, HEADERS_MAX = 4 };

/* One call under way, or waiting for the credential. */
struct call {
	TAILQ_ENTRY(call)	 next;
	struct access		*access;
	uint64_t		 id;
	uint64_t		 sent_as;	/* of http_send; 0: waits */
	struct access_call	 request;	/* path and body are ours */
	bool			 retried;
	int64_t			 deadline_ms;	/* INT64_MAX: none */
	const char		*refusal;	/* why it will not leave; NULL: it may */
};
TAILQ_HEAD(calls, call);

struct access {
	uint32_t		 magic;
#define ACCESS_MAGIC	0x41434345u
	const struct lease	*lease;
	void		       (*lost)(void *);
	void			*lost_arg;
	struct exec_plugin	*plugin;
	struct credential	*credential;
	char			*server, *namespace;
	struct http		*lanes[ACCESS_LANES];
	struct calls		 calls;
	struct event		*timer, *plugin_ready;
	uint64_t		 last_id;
	char			 logged_error[256];	/* the last one that was logged; "": none */
	struct cluster_clock	 clock;
};

static struct kubeconfig *find_config(const struct access_source *, char *, size_t);
static void dispatch(struct call *);
static void send_now(struct call *, const struct credential_view *, int64_t);
static bool may_begin(void *);
static void start_stream(int, const char *, void *);
static bool pass_data(const void *, size_t, void *);
static void on_done(const struct http_response *, void *);
static bool is_worth_another(struct access *, const struct http_response *);
static const char *refusal(const struct call *, int64_t);
static void end_refused(struct access *, int64_t);
static struct call *next_refused(struct access *, int64_t);
static void log_credential_error(struct access *, const char *);
static void note_date(struct access *, const struct http_response *);
static void on_timer(evutil_socket_t, short, void *);
static void on_plugin(evutil_socket_t, short, void *);
static void check_lost(struct access *);
static void dispatch_waiting(struct access *);
static struct call *find(struct access *, uint64_t);
static void drop(struct call *);

struct access *
access_open(const struct access_source *src, char *err, size_t size)
{
	struct kubeconfig *config = find_config(src, err, size);
	struct access *x;

	if (config == NULL)
		return NULL;
	OBJ_NEW(x, ACCESS_MAGIC);
	TAILQ_INIT(&x->calls);
	x->server = obj_strdup(config->server);
	x->namespace = obj_strdup(config->namespace == NULL ? "" : config->namespace);
	err[0] = '\0';
	if (config->exec != NULL && (x->plugin = exec_plugin_start(config, 0, err, size)) == NULL) {
		kubeconfig_free(&config);
		access_free(&x);
		return NULL;
	}
	x->credential = credential_open(&config, x->plugin, clock_mono_ms(), err, size);
	if (x->credential == NULL)
		access_free(&x);
	return x;
}

void
access_start(struct access *x, struct event_base *base, void (*lost)(void *), void *arg)
{
	static const uint32_t connections[ACCESS_LANES] = {
		[ACCESS_WATCHES] = 32, [ACCESS_READS] = 4, [ACCESS_CALLS] = 8, [ACCESS_LEASE] = 1,
	};
	const struct timeval tick = { .tv_sec = TICK_MS / 1000 };

	x->lost = lost;
	x->lost_arg = arg;
	for (unsigned l = 0; l < ACCESS_LANES; l++) {
		const struct http_config c = {
			.user_agent = "muster-kube-watcher/" MUSTER_VERSION " (" MUSTER_COMMIT ")",
			.max_per_host = connections[l], .caller_paces = true,
		};

		x->lanes[l] = http_new(base, &c);
	}
	x->timer = event_new(base, -1, EV_PERSIST, on_timer, x);
	MUST(x->timer != NULL && event_add(x->timer, &tick) == 0);
	if (x->plugin != NULL) {
		x->plugin_ready = event_new(base, exec_plugin_fd(x->plugin), EV_READ | EV_PERSIST, on_plugin,
		    x);
		MUST(x->plugin_ready != NULL && event_add(x->plugin_ready, NULL) == 0);
	}
}

void
access_fence(struct access *x, const struct lease *l)
{
	x->lease = l;
}

void
access_free(struct access **xp)
{
	struct access *x;
	struct call *c, *next;

	if (*xp == NULL)
		return;
	OBJ_TAKE(x, xp, ACCESS_MAGIC);
	for (unsigned l = 0; l < ACCESS_LANES; l++) {
		if (x->lanes[l] != NULL)
			http_free(&x->lanes[l]);
	}
	for (c = TAILQ_FIRST(&x->calls); c != NULL; c = next) {
		next = TAILQ_NEXT(c, next);
		drop(c);
	}
	if (x->timer != NULL)
		event_free(x->timer);
	if (x->plugin_ready != NULL)
		event_free(x->plugin_ready);
	credential_free(&x->credential);
	exec_plugin_free(&x->plugin);
	free(x->server);
	free(x->namespace);
	OBJ_FREE(x);
}

uint64_t
access_send(struct access *x, const struct access_call *ask)
{
	struct call *const c = obj_alloc(sizeof(*c));
	int64_t timeout_ms = ask->timeout_ms;

	if (ask->fenced && x->lease != NULL && timeout_ms > lease_mutation_ms(x->lease))
		timeout_ms = lease_mutation_ms(x->lease);
	c->access = x;
	c->id = ++x->last_id;
	c->request = *ask;
	c->request.path = obj_strdup(ask->path);
	c->request.body = ask->body_len == 0 ? NULL : obj_memdup(ask->body, ask->body_len);
	c->deadline_ms = timeout_ms == HTTP_NO_DEADLINE ? INT64_MAX : clock_mono_ms() + timeout_ms;
	TAILQ_INSERT_TAIL(&x->calls, c, next);
	dispatch(c);
	return c->id;
}

void
access_cancel(struct access *x, uint64_t id)
{
	struct call *const c = find(x, id);

	if (c == NULL)
		return;
	if (c->sent_as != 0)
		http_cancel(x->lanes[c->request.lane], c->sent_as);
	drop(c);
}

bool
access_withdraw(struct access *x, uint64_t id)
{
	const struct call *const c = find(x, id);

	if (c != NULL && c->sent_as != 0 && http_left(x->lanes[c->request.lane], c->sent_as))
		return false;
	access_cancel(x, id);
	return true;
}

const char *
access_namespace(const struct access *x)
{
	return x->namespace;
}

const char *
access_server(const struct access *x)
{
	return x->server;
}

int64_t
access_cluster_us(const struct access *x)
{
	return x->clock.offset_ms == 0 ? clock_wall_ms() * 1000 : clock_mono_us() + x->clock.offset_ms * 1000;
}

bool
access_cluster_moved(struct access *x, int64_t *offset_ms)
{
	const bool moved = cluster_clock_moved(&x->clock);

	*offset_ms = x->clock.published_ms;
	return moved;
}

/* In a Pod the service account counts, unless the configuration names a file. */
static struct kubeconfig *
find_config(const struct access_source *src, char *err, size_t size)
{
	const struct kubeconfig_pod pod = {
		.host = getenv("KUBERNETES_SERVICE_HOST"), .port = getenv("KUBERNETES_SERVICE_PORT"),
	};
	const struct kubeconfig_source files = {
		.path = src->kubeconfig[0] == '\0' ? NULL : src->kubeconfig,
		.list = getenv("KUBECONFIG"), .home = getenv("HOME"), .context = src->context,
	};

	if (files.path == NULL && pod.host != NULL)
		return kubeconfig_in_cluster(&pod, err, size);
	return kubeconfig_load(&files, err, size);
}

/* Sends a call if there is a credential to send it with, and nothing against it. */
static void
dispatch(struct call *c)
{
	struct access *const x = c->access;
	const int64_t now_ms = clock_mono_ms();
	struct credential_view view;

	switch (credential_now(x->credential, now_ms, &view)) {
	case CREDENTIAL_READY:
		log_credential_error(x, view.error);
		c->refusal = refusal(c, now_ms);
		if (c->refusal == NULL)
			send_now(c, &view, now_ms);
		else
			event_active(x->timer, EV_TIMEOUT, 0);	/* `done` comes from the loop */
		break;
	case CREDENTIAL_WAITING:
		if (!credential_running(x->credential))	/* its first answer may take a while */
			log_credential_error(x, view.error);
		break;
	case CREDENTIAL_LOST:
		check_lost(x);
		break;
	}
}

/* Why it may not leave now, nor later; NULL: it may. */
static const char *
refusal(const struct call *c, int64_t now_ms)
{
	const struct lease *const l = c->access->lease;

	if (c->deadline_ms <= now_ms)
		return "no credential in time: the plugin that makes it has not answered";
	if (c->request.fenced && (l == NULL || !lease_covers(l, c->deadline_ms - now_ms, now_ms)))
		return "not sent: the Lease is not held for as long as the request may take";
	return NULL;
}

static void
send_now(struct call *c, const struct credential_view *v, int64_t now_ms)
{
	struct access *const x = c->access;
	char accept[512], type[128];
	const char *headers[HEADERS_MAX + 1] = { accept };
	size_t n = 1;
	char *url;

	snprintf(accept, sizeof(accept), "Accept: %s",
	    c->request.accept == NULL ? "application/json" : c->request.accept);
	if (c->request.content_type != NULL) {
		snprintf(type, sizeof(type), "Content-Type: %s", c->request.content_type);
		headers[n++] = type;
	}
	/*
	 * curl uses a connection again only for the same authority and certificate: a rotation
	 * needs no more.
	 */
	MUST(asprintf(&url, "%s%s", v->server, c->request.path) != -1);
	const struct http_tls tls = {
		.ca = v->ca, .ca_len = v->ca_len, .cert = v->cert, .cert_len = v->cert_len,
		.key = v->key, .key_len = v->key_len, .server_name = v->tls_server_name,
		.insecure = v->insecure,
	};
	c->sent_as = http_send(x->lanes[c->request.lane], &(struct http_request){
		.method = c->request.method, .url = url, .headers = headers,
		.body = c->request.body, .body_len = c->request.body_len,
		.bearer = v->token, .bearer_len = v->token_len, .basic = v->basic,
		.tls = &tls, .proxy = v->proxy,
		.timeout_ms = c->deadline_ms == INT64_MAX ? HTTP_NO_DEADLINE : c->deadline_ms - now_ms,
		.max_body = LIST_BODY_MAX, .gzip = c->request.gzip && !v->disable_compression,
		.may_begin = c->request.fenced ? may_begin : NULL,
		.on_start = c->request.on_start == NULL ? NULL : start_stream,
		.on_data = c->request.on_data == NULL ? NULL : pass_data,
		.done = on_done, .arg = c,
	});
	free(url);
}

/* It is connected: the Lease may have been lost, or this process stopped, since it was dispatched. */
static bool
may_begin(void *arg)
{
	return refusal(arg, clock_mono_ms()) == NULL;
}

static void
start_stream(int status, const char *content_type, void *arg)
{
	struct call *const c = arg;

	c->request.on_start(status, content_type, c->request.arg);
}

static bool
pass_data(const void *data, size_t len, void *arg)
{
	struct call *const c = arg;

	return c->request.on_data(data, len, c->request.arg);
}

static void
on_done(const struct http_response *r, void *arg)
{
	struct call *const c = arg;
	struct access *const x = c->access;

	note_date(x, r);
	c->sent_as = 0;
	if (!c->retried && is_worth_another(x, r)) {
		c->retried = true;
		dispatch(c);
		return;
	}
	void (*const done)(const struct http_response *, void *) = c->request.done;
	void *const whose = c->request.arg;
	drop(c);	/* `done` may send or cancel others */
	done(r, whose);
}

/* The credential or the authority was refused, and there is a newer one by now. */
static bool
is_worth_another(struct access *x, const struct http_response *r)
{
	const int64_t now_ms = clock_mono_ms();

	if (r->status == 401)
		return credential_unauthorized(x->credential, now_ms);
	return r->err == E_TLS && credential_tls_refused(x->credential, now_ms);
}

/* Answers the calls that will not leave any more. Each answer may send or cancel others: begin anew. */
static void
end_refused(struct access *x, int64_t now_ms)
{
	struct call *c;

	while ((c = next_refused(x, now_ms)) != NULL)
		on_done(&(struct http_response){ .err = E_TIMEOUT, .body = "", .content_type = "",
		    .host = "", .error = c->refusal }, c);
}

static struct call *
next_refused(struct access *x, int64_t now_ms)
{
	struct call *c;

	TAILQ_FOREACH(c, &x->calls, next) {
		/* clang-tidy does not follow TAILQ_REMOVE. */
		if (c->sent_as != 0)	/* NOLINT(clang-analyzer-unix.Malloc) */
			continue;
		if (c->refusal == NULL && c->deadline_ms <= now_ms)
			c->refusal = refusal(c, now_ms);
		if (c->refusal != NULL)
			return c;
	}
	return NULL;
}

static void
log_credential_error(struct access *x, const char *text)
{
	if (text == NULL)
		text = "";
	if (strncmp(text, x->logged_error, sizeof(x->logged_error) - 1) == 0)
		return;
	snprintf(x->logged_error, sizeof(x->logged_error), "%s", text);
	if (text[0] != '\0')
		log_warnx("the cluster credential cannot be renewed; the current one stays in use",
		    KV_S(WHY, text), KV_S(HINT, access_hint(text, "it is tried again")));
	else
		log_info("the cluster credential is renewed again");
}

/*
 * "Permission denied" of a file that its owner can read hints at its mode; with Landlock it is the
 * folder that matters.
 */
const char *
access_hint(const char *why, const char *otherwise)
{
	if (strstr(why, strerror(EACCES)) == NULL)
		return otherwise;
	return strstr(why, "plugin ") != NULL
	    ? "plugins run only out of the folder in actors.kube-watcher.exec-plugin-dir"
	    : "only what lies beside the kubeconfig can be opened: set actors.kube-watcher.credential-dir "
	      "to the folder of the other files";
}

static void
note_date(struct access *x, const struct http_response *r)
{
	const char *const date = r->transfer == NULL ? NULL : http_header(r, "Date");
	int64_t us;

	if (date != NULL && time_parse_http(date, strlen(date), &us))
		cluster_clock_set(&x->clock, us, r->answered_ms);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct access *const x = arg;
	const int64_t now_ms = clock_mono_ms();

	(void)fd, (void)what;
	if (credential_tick(x->credential, now_ms))
		dispatch_waiting(x);
	end_refused(x, now_ms);
}

static void
on_plugin(evutil_socket_t fd, short what, void *arg)
{
	struct access *const x = arg;

	(void)fd, (void)what;
	credential_readable(x->credential, clock_mono_ms());
	check_lost(x);
	dispatch_waiting(x);
}

/* A dead helper's socket stays readable for ever: a new process has a new helper. */
static void
check_lost(struct access *x)
{
	struct credential_view view;

	if (credential_now(x->credential, clock_mono_ms(), &view) != CREDENTIAL_LOST)
		return;
	log_error("the helper that runs the credential plugin is dead; starting over");
	x->lost(x->lost_arg);
}

static void
dispatch_waiting(struct access *x)
{
	struct call *c;

	TAILQ_FOREACH(c, &x->calls, next) {
		if (c->sent_as == 0 && c->refusal == NULL)
			dispatch(c);
	}
}

static struct call *
find(struct access *x, uint64_t id)
{
	struct call *c;

	TAILQ_FOREACH(c, &x->calls, next) {
		if (c->id == id)
			return c;
	}
	return NULL;
}

static void
drop(struct call *c)
{
	TAILQ_REMOVE(&c->access->calls, c, next);
	free((char *)(uintptr_t)c->request.path);
	free((void *)(uintptr_t)c->request.body);
	free(c);
}
