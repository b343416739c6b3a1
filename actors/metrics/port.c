/* actors/metrics/port.c - one port: a listener (server/http_listener.h) with small limits. */
#include "port.h"

#include <event2/http.h>
#include <string.h>

#include "body.h"
#include "log.h"
#include "obj.h"
#include "server/http_listener.h"

/* One request per connection, and no body. */
enum {
	HEADER_MAX		= 8 * 1024,
	BODY_FIRST		= 4 * 1024,
	IDLE_S			= 5,
	CONNECTIONS_MAX		= 32,
	CONNECTION_MAX_MS	= 10000,
	CONNECTION_MAX_FULL_MS	= 1000,		/* the kubelet must not wait for idlers */
};

struct port {
	uint32_t		 magic;
#define PORT_MAGIC	0x504f5254u
	struct http_listener	*listener;
	port_answer		*answer;
	void			*arg;
	char			*buf;		/* of the largest answer so far, shared bodies apart */
	size_t			 size;
};

static void on_request(struct evhttp_request *, void *);
static void on_certificate(void *, enum tls_reload, const char *);
static void compose(struct port *, const char *, const char *, struct answer *);
static void reply(struct port *, struct evhttp_request *, const struct answer *, enum evhttp_cmd_type);
static void release(void *);

struct port *
port_new(struct event_base *base, int fd, struct tls_server *tls, port_answer *answer, void *arg)
{
	struct port *p;

	OBJ_NEW(p, PORT_MAGIC);
	p->answer = answer;
	p->arg = arg;
	p->size = BODY_FIRST;
	p->buf = obj_alloc(p->size);
	p->listener = http_listener_new(base, fd,
	    &(struct http_listener_spec){
		.handler = on_request, .certificate = on_certificate, .arg = p, .tls = tls,
		.header_max = HEADER_MAX, .body_max = 0, .idle_s = IDLE_S,
		.connections = { .max = CONNECTIONS_MAX, .life_ms = CONNECTION_MAX_MS,
		    .life_full_ms = CONNECTION_MAX_FULL_MS },
	    });
	return p;
}

void
port_free(struct port **pp)
{
	struct port *p;

	if (*pp == NULL)
		return;
	OBJ_TAKE(p, pp, PORT_MAGIC);
	http_listener_free(&p->listener);
	free(p->buf);
	OBJ_FREE(p);
}

static void
on_request(struct evhttp_request *req, void *arg)
{
	struct port *const p = arg;
	struct answer a = { .code = 405, .type = "text/plain; charset=utf-8" };

	OBJ_CHECK(p, PORT_MAGIC);
	const enum evhttp_cmd_type method = evhttp_request_get_command(req);
	const struct evhttp_uri *const uri = evhttp_request_get_evhttp_uri(req);
	if (method != EVHTTP_REQ_GET && method != EVHTTP_REQ_HEAD) {
		a.body = (struct text){ .buf = p->buf, .size = p->size };
		text_puts(&a.body, "only GET and HEAD are served\n");
	} else {
		compose(p, http_listener_path(req), uri != NULL ? evhttp_uri_get_query(uri) : NULL, &a);
	}
	reply(p, req, &a, method);
}

static void
on_certificate(void *arg, enum tls_reload what, const char *why)
{
	(void)arg;
	if (what == TLS_RELOADED)
		log_info("certificate of the metrics reloaded");
	else
		log_warnx("new certificate of the metrics refused, the previous one is served",
		    KV_S(CAUSE, why), KV_S(HINT, "replace certificate and key together"));
}

static void
compose(struct port *p, const char *path, const char *query, struct answer *a)
{
	for (;;) {
		a->body = (struct text){ .buf = p->buf, .size = p->size };
		p->answer(p->arg, path, query, a);
		if (a->body.len < p->size)
			return;
		p->size = a->body.len * 2;
		free(p->buf);
		p->buf = obj_alloc(p->size);
	}
}

static void
reply(struct port *p, struct evhttp_request *req, const struct answer *a, enum evhttp_cmd_type method)
{
	struct http_answer out = { .code = a->code, .type = a->type, .body = a->body.buf, .len = a->body.len,
		.allow = a->code == 405 ? "GET, HEAD" : NULL, .head_only = method == EVHTTP_REQ_HEAD };

	if (a->shared != NULL) {
		out.body = a->shared->text;
		out.len = a->shared->len;
		out.release = release;
		out.release_arg = a->shared;
	}
	http_listener_reply(p->listener, req, &out);
}

static void
release(void *body)
{
	body_release(body);
}
