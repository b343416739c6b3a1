/* sim/http/sim_server.c - the listeners of the simulator, without limits of connections: watches last. */
#include "sim_server.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "clock.h"
#include "obj.h"
#include "server/http_listener.h"
#include "server/listen.h"

/*
 * Go's limits: 1 MiB of header; the apiserver's own of 3 MiB for a body is answered with a Status
 * (sim/kube/sim_api.c), so evhttp's comes later.
 */
enum { HEADER_MAX = 1024 * 1024, BODY_MAX = 16 * 1024 * 1024, ADDRESS_MAX = 96, URL_MAX = 128 };

struct sim_server {
	uint32_t		 magic;
#define SERVER_MAGIC	0x53525652u
	struct event_base	*base;
	struct http_listener	*listener;	/* NULL: stopped */
	struct tls_server	*tls;
	sim_server_handler	*handler;
	void			*arg;
	char			 address[ADDRESS_MAX];	/* as bound */
	char			 url[URL_MAX];
};

static const char *start(struct sim_server *, const char *);

struct sim_server *
sim_server_new(struct event_base *base, const char *address, struct tls_server *tls,
    sim_server_handler *handler, void *arg, char *err, size_t size)
{
	struct sim_server *s;

	OBJ_NEW(s, SERVER_MAGIC);
	*s = (struct sim_server){
		.magic = SERVER_MAGIC, .base = base, .tls = tls, .handler = handler, .arg = arg
	};
	const char *const why = start(s, address);
	if (why != NULL) {
		snprintf(err, size, "cannot listen on %s: %s", address, why);
		sim_server_free(&s);
		return NULL;
	}
	snprintf(s->url, sizeof(s->url), "%s://%s", tls != NULL ? "https" : "http", s->address);
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
	http_listener_free(&s->listener);	/* the connections too */
}

bool
sim_server_resume(struct sim_server *s)
{
	return s->listener != NULL || start(s, s->address) == NULL;
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

/* NULL, or the cause. */
static const char *
start(struct sim_server *s, const char *address)
{
	const char *why = NULL;
	bool config;
	const int fd = listen_open(address, &why, &config);

	if (fd == -1)
		return why;
	listen_address(fd, s->address, sizeof(s->address));
	s->listener = http_listener_new(s->base, fd,
	    &(struct http_listener_spec){ .handler = s->handler, .arg = s->arg, .tls = s->tls,
		.header_max = HEADER_MAX, .body_max = BODY_MAX });
	return NULL;
}
