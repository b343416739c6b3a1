/*
 * tests/unit/test_server.c - server/: what one listener lets clients take, and answers that come
 * later. Clients are sockets in the same loop.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/http.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "obj.h"
#include "server/deferred.h"
#include "server/http_listener.h"
#include "server/listen.h"

enum { DEADLINE_MS = 60000, ANSWER_MAX = 4096, KIB = 1024 };

struct world {
	struct event_base	*base;
	struct http_listener	*listener;
	char			 address[64];
	int			 requests, gone;
	bool			 defer;
	struct deferred		*deferred;
};

struct client {
	int	fd;
	char	got[ANSWER_MAX];
	size_t	len;
	bool	ended;
};

static void
on_gone(void *arg)
{
	struct world *const w = arg;

	w->gone++;
	w->deferred = NULL;
}

static void
answer(struct world *w, struct evhttp_request *req)
{
	char text[64];
	size_t len;

	http_listener_body(req, &len);
	snprintf(text, sizeof(text), "%s %zu", http_listener_path(req), len);
	http_listener_reply(w->listener, req,
	    &(struct http_answer){ .code = 200, .type = "text/plain", .body = text, .len = strlen(text) });
}

static void
on_request(struct evhttp_request *req, void *arg)
{
	struct world *const w = arg;

	w->requests++;
	if (w->defer)
		w->deferred = deferred_new(req, on_gone, w);
	else
		answer(w, req);
}

static void
open_world(struct world *w, const struct connection_limits *limits, bool keep_alive)
{
	const char *why;
	bool config;

	*w = (struct world){ .base = event_base_new() };
	const int fd = listen_open("127.0.0.1:0", &why, &config);
	assert_int_not_equal(fd, -1);
	listen_address(fd, w->address, sizeof(w->address));
	w->listener = http_listener_new(w->base, fd,
	    &(struct http_listener_spec){ .handler = on_request, .arg = w, .header_max = 8 * KIB,
		.body_max = 64 * KIB, .keep_alive = keep_alive, .connections = *limits });
}

static void
close_world(struct world *w)
{
	http_listener_free(&w->listener);
	event_base_free(w->base);
}

static void
turn(struct world *w)
{
	event_base_loop(w->base, EVLOOP_NONBLOCK);
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void
connect_to(struct world *w, struct client *c)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	*c = (struct client){ .fd = socket(AF_INET, SOCK_STREAM, 0) };
	to.sin_port = htons((uint16_t)atoi(strrchr(w->address, ':') + 1));
	assert_int_equal(connect(c->fd, (struct sockaddr *)&to, sizeof(to)), 0);
	fcntl(c->fd, F_SETFL, O_NONBLOCK);
}

static void
send_text(struct client *c, const char *text)
{
	assert_int_equal(send(c->fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static void
receive(struct client *c)
{
	const ssize_t n = recv(c->fd, c->got + c->len, sizeof(c->got) - 1 - c->len, 0);

	if (n > 0)
		c->len += (size_t)n;
	else if (n == 0 || errno != EAGAIN)
		c->ended = true;
	c->got[c->len] = '\0';
}

/* Until the client has that text; "": until its connection has ended. */
static void
await(struct world *w, struct client *c, const char *text)
{
	const int64_t end_ms = clock_mono_ms() + DEADLINE_MS;

	while (text[0] != '\0' ? strstr(c->got, text) == NULL : !c->ended) {
		assert_true(clock_mono_ms() < end_ms);
		turn(w);
		receive(c);
	}
}

static void
await_count(struct world *w, const int *count, int want)
{
	const int64_t end_ms = clock_mono_ms() + DEADLINE_MS;

	while (*count < want) {
		assert_true(clock_mono_ms() < end_ms);
		turn(w);
	}
}

static void
one_request_or_several(void **state)
{
	static const struct connection_limits limits = {
		.max = 4, .life_ms = DEADLINE_MS, .life_full_ms = DEADLINE_MS
	};
	struct world w;
	struct client c;

	(void)state;
	open_world(&w, &limits, false);
	connect_to(&w, &c);
	send_text(&c, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
	await(&w, &c, "");
	assert_non_null(strstr(c.got, "HTTP/1.1 200"));
	assert_non_null(strstr(c.got, "Connection: close"));
	close(c.fd);
	close_world(&w);

	open_world(&w, &limits, true);
	connect_to(&w, &c);
	send_text(&c, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
	await(&w, &c, "/a 3");
	send_text(&c, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab");
	await(&w, &c, "/b 2");
	assert_int_equal(http_listener_counts(w.listener).accepted, 1);
	close(c.fd);
	close_world(&w);
}

static void
a_connection_has_its_life(void **state)
{
	struct world w;
	struct client slow;

	(void)state;
	/* Whether it is idle, or sends a byte now and then. */
	open_world(&w, &(struct connection_limits){ .max = 4, .life_ms = 300, .life_full_ms = 300 }, true);
	connect_to(&w, &slow);
	send_text(&slow, "GET /a HTTP/1.1\r\nX: ");
	while (!slow.ended) {
		turn(&w);
		receive(&slow);
		(void)!send(slow.fd, "a", 1, MSG_NOSIGNAL);
	}
	assert_int_equal(w.requests, 0);
	assert_int_equal(http_listener_counts(w.listener).expired, 1);
	close(slow.fd);
	close_world(&w);
}

static void
idlers_make_room(void **state)
{
	struct world w;
	struct client idle[6], c;

	(void)state;
	open_world(&w,
	    &(struct connection_limits){
		.max = 3, .life_ms = DEADLINE_MS * 10, .life_full_ms = 50 },
	    true);
	for (size_t i = 0; i < NITEMS(idle); i++)
		connect_to(&w, &idle[i]);
	connect_to(&w, &c);
	send_text(&c, "GET /here HTTP/1.1\r\nHost: x\r\n\r\n");
	await(&w, &c, "/here");
	assert_true(http_listener_open(w.listener) <= 3);
	for (size_t i = 0; i < NITEMS(idle); i++)
		close(idle[i].fd);
	close(c.fd);
	close_world(&w);
}

/*
 * Bodies that are complete, deferred or still coming count; the one that is too much ends, the
 * others are served.
 */
static void
all_bodies_together_have_a_limit(void **state)
{
	static const char part[10 * KIB + 1] = { [0 ... 10 * KIB - 1] = 'x' };
	static const struct connection_limits limits = { .max = 8, .life_ms = DEADLINE_MS * 10,
		.life_full_ms = DEADLINE_MS * 10, .received_max = 25 * KIB };
	struct world w;
	struct client large[3], c;

	(void)state;
	open_world(&w, &limits, true);
	for (size_t i = 0; i < NITEMS(large); i++) {
		connect_to(&w, &large[i]);
		send_text(&large[i], "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 20480\r\n\r\n");
		send_text(&large[i], part);
	}
	const int64_t end_ms = clock_mono_ms() + DEADLINE_MS;
	while (http_listener_counts(w.listener).too_large == 0) {
		assert_true(clock_mono_ms() < end_ms);
		turn(&w);
	}
	int ended = 0;
	while (ended == 0) {
		assert_true(clock_mono_ms() < end_ms);
		turn(&w);
		for (size_t i = 0; i < NITEMS(large); i++) {
			receive(&large[i]);
			ended += large[i].ended;
		}
	}
	assert_int_equal(ended, 1);
	connect_to(&w, &c);
	send_text(&c, "GET /small HTTP/1.1\r\nHost: x\r\n\r\n");
	await(&w, &c, "/small");
	assert_int_equal(http_listener_counts(w.listener).too_large, 1);
	/* One of them gives up: there is room for a whole body again. */
	for (size_t i = 0; i < NITEMS(large); i++)
		close(large[i].fd);
	while (http_listener_open(w.listener) > 1) {
		assert_true(clock_mono_ms() < end_ms);
		turn(&w);
	}
	for (int i = 0; i < 3; i++) {
		c.got[c.len = 0] = '\0';
		send_text(&c, "POST /again HTTP/1.1\r\nHost: x\r\nContent-Length: 10240\r\n\r\n");
		send_text(&c, part);
		await(&w, &c, "/again 10240");	/* three times more than the limit, but answered in between */
	}
	close(c.fd);
	close_world(&w);
}

static void
a_body_that_is_too_large(void **state)
{
	static const struct connection_limits limits = {
		.max = 4, .life_ms = DEADLINE_MS, .life_full_ms = DEADLINE_MS
	};
	struct world w;
	struct client c;

	(void)state;
	open_world(&w, &limits, true);
	connect_to(&w, &c);
	send_text(&c, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\n");
	await(&w, &c, "HTTP/1.1 413");
	assert_int_equal(w.requests, 0);
	close(c.fd);
	close_world(&w);
}

static void
an_answer_comes_later(void **state)
{
	static const struct connection_limits limits = {
		.max = 4, .life_ms = DEADLINE_MS, .life_full_ms = DEADLINE_MS
	};
	struct world w;
	struct client c;

	(void)state;
	open_world(&w, &limits, true);
	w.defer = true;
	connect_to(&w, &c);
	send_text(&c, "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
	await_count(&w, &w.requests, 1);
	assert_non_null(w.deferred);
	receive(&c);
	assert_int_equal(c.len, 0);
	answer(&w, deferred_take(&w.deferred));
	await(&w, &c, "/later 3");
	assert_int_equal(w.gone, 0);
	close(c.fd);
	close_world(&w);
}

static void
nobody_waits_for_it_any_more(void **state)
{
	struct world w;
	struct client c;

	(void)state;
	/* The limit of its life ends the connection; and so does the end of the listener. */
	open_world(&w, &(struct connection_limits){ .max = 4, .life_ms = 200, .life_full_ms = 200 }, true);
	w.defer = true;
	connect_to(&w, &c);
	send_text(&c, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	await_count(&w, &w.gone, 1);
	assert_null(w.deferred);
	close(c.fd);
	connect_to(&w, &c);
	send_text(&c, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	await_count(&w, &w.requests, 2);
	http_listener_free(&w.listener);
	assert_int_equal(w.gone, 2);
	close(c.fd);
	event_base_free(w.base);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_request_or_several),
		cmocka_unit_test(a_connection_has_its_life),
		cmocka_unit_test(idlers_make_room),
		cmocka_unit_test(all_bodies_together_have_a_limit),
		cmocka_unit_test(a_body_that_is_too_large),
		cmocka_unit_test(an_answer_comes_later),
		cmocka_unit_test(nobody_waits_for_it_any_more),
	};

	return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
