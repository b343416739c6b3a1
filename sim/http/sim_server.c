/* sim/http/sim_server.c - evhttp with our limits. */
#include "sim_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "obj.h"
#include "sim_tls.h"

/*
 * Go's limits: 1 MiB of header; the apiserver's own of 3 MiB for a body is answered with a Status
 * (sim/kube/sim_api.c), so evhttp's comes later.
 */
enum { HEADER_MAX = 1024 * 1024, BODY_MAX = 16 * 1024 * 1024, BACKLOG = 512, URL_MAX = 128 };

struct sim_server {
	uint32_t		 magic;
#define SERVER_MAGIC	0x53525652u
	struct event_base	*base;
	struct evhttp		*http;		/* NULL: stopped */
	struct sim_tls		*tls;
	sim_server_handler	*handler;
	void			*arg;
	struct sockaddr_storage	 address;	/* as bound */
	socklen_t		 address_len;
	char			 url[URL_MAX];
};

static bool read_address(struct sim_server *, const char *);
static bool start(struct sim_server *);
static struct bufferevent *on_tls_connection(struct event_base *, void *);
static void note_url(struct sim_server *);

struct sim_server *
sim_server_new(struct event_base *base, const char *address, struct sim_tls *tls,
    sim_server_handler *handler, void *arg, char *err, size_t size)
{
	struct sim_server *s;

	OBJ_NEW(s, SERVER_MAGIC);
	*s = (struct sim_server){
		.magic = SERVER_MAGIC, .base = base, .tls = tls, .handler = handler, .arg = arg
	};
	if (!read_address(s, address)) {
		snprintf(err, size, "%s is not ADDRESS:PORT in numbers", address);
		sim_server_free(&s);
	} else if (!start(s)) {
		snprintf(err, size, "cannot listen on %s: %s", address, strerror(errno));
		sim_server_free(&s);
	} else {
		note_url(s);
	}
	return s;
}

void
sim_server_free(struct sim_server **sp)
{
	struct sim_server *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, SERVER_MAGIC);
	sim_server_stop(s);
	OBJ_FREE(s);
}

void
sim_server_stop(struct sim_server *s)
{
	if (s->http != NULL)
		evhttp_free(s->http);		/* the listener and the connections too */
	s->http = NULL;
}

bool
sim_server_resume(struct sim_server *s)
{
	return s->http != NULL || start(s);
}

const char *
sim_server_url(const struct sim_server *s)
{
	return s->url;
}

void
sim_server_break(struct evhttp_connection *connection, bool reset)
{
	/* Dissolving the association is what sends an RST at once (tcp(7)). */
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	if (reset)
		(void)!connect(bufferevent_getfd(evhttp_connection_get_bufferevent(connection)), &none,
		    sizeof(none));
	evhttp_connection_free(connection);
}

void
sim_server_add_date(struct evkeyvalq *headers, int64_t ahead_s)
{
	const time_t then = (time_t)(clock_wall_ms() / 1000 + ahead_s);
	char text[64];
	struct tm tm;

	if (gmtime_r(&then, &tm) == NULL)
		return;
	strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
	evhttp_add_header(headers, "Date", text);
}

const char *
sim_server_phrase(int code)
{
	static const struct {
		int		 code;
		const char	*phrase;
	} rows[] = {
		{ 413, "Request Entity Too Large" }, { 415, "Unsupported Media Type" },
		{ 422, "Unprocessable Entity" }, { 429, "Too Many Requests" }, { 504, "Gateway Timeout" },
	};

	for (size_t i = 0; i < NITEMS(rows); i++) {
		if (rows[i].code == code)
			return rows[i].phrase;
	}
	return NULL;
}

/* "127.0.0.1:80", "[::1]:80", ":80". evutil_parse_sockaddr_port refuses port 0. */
static bool
read_address(struct sim_server *s, const char *address)
{
	const char *const colon = strrchr(address, ':');
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	char host[64] = "";

	if (colon == NULL || colon[1] == '\0' || (size_t)(colon - address) >= sizeof(host))
		return false;
	const bool bracketed = address[0] == '[' && colon[-1] == ']';
	memcpy(host, address + bracketed, (size_t)(colon - address) - 2 * bracketed);
	if (getaddrinfo(host[0] != '\0' ? host : NULL, colon + 1, &hints, &found) != 0)
		return false;
	memcpy(&s->address, found->ai_addr, found->ai_addrlen);
	s->address_len = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static bool
start(struct sim_server *s)
{
	struct evconnlistener *const listener = evconnlistener_new_bind(s->base, NULL, NULL,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, BACKLOG,
	    (struct sockaddr *)&s->address, (int)s->address_len);

	if (listener == NULL)
		return false;
	/* Accepted sockets inherit it: small answers must not wait for the client's delayed ACK. */
	setsockopt(evconnlistener_get_fd(listener), IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	MUST(getsockname(
		 evconnlistener_get_fd(listener), (struct sockaddr *)&s->address, &s->address_len)
	    == 0);
	s->http = evhttp_new(s->base);
	MUST(s->http != NULL);
	evhttp_set_max_headers_size(s->http, HEADER_MAX);
	evhttp_set_max_body_size(s->http, BODY_MAX);
	evhttp_set_allowed_methods(s->http, UINT16_MAX);
	evhttp_set_gencb(s->http, s->handler, s->arg);
	if (s->tls != NULL)
		evhttp_set_bevcb(s->http, on_tls_connection, s);
	MUST(evhttp_bind_listener(s->http, listener) != NULL);
	return true;
}

static struct bufferevent *
on_tls_connection(struct event_base *base, void *arg)
{
	struct sim_server *const s = arg;

	return sim_tls_accept(s->tls, base);
}

static void
note_url(struct sim_server *s)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];

	MUST(getnameinfo((struct sockaddr *)&s->address, s->address_len, host, sizeof(host), port,
		 sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV)
	    == 0);
	snprintf(s->url, sizeof(s->url), strchr(host, ':') != NULL ? "%s://[%.64s]:%.8s" : "%s://%.64s:%.8s",
	    s->tls != NULL ? "https" : "http", host, port);
}
