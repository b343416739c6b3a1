/*
 * actors/runtime/http_loop.c - curl's sockets and its one timer as events of the actor's loop.
 *
 * curl's callbacks name the sockets to watch and the time to wake it; the loop reports events to curl. The
 * callbacks run inside curl: nothing here may call the multi interface from there (curl answers
 * with CURLM_RECURSIVE_API_CALL).
 */
#include "http_private.h"

#include "obj.h"

struct watched_socket {
	TAILQ_ENTRY(watched_socket)	 link;
	struct event		*event;
};

static int on_socket_wanted(CURL *, curl_socket_t, int, void *, void *);
static int on_timer_wanted(CURLM *, long, void *);
static void on_socket(evutil_socket_t, short, void *);
static void on_timer(evutil_socket_t, short, void *);
static void advance(struct http *, curl_socket_t, int);
static void forget(struct http *, struct watched_socket *);

void
http_loop_open(struct http *h)
{
	TAILQ_INIT(&h->sockets);
	h->multi = curl_multi_init();
	h->curl_timer = evtimer_new(h->base, on_timer, h);
	MUST(h->multi != NULL && h->curl_timer != NULL);
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted);
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timer_wanted);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	curl_multi_setopt(h->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)h->config.max_per_host);
	curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)h->config.max_per_host * 2);
}

/* Closing its idle connections, curl still calls back: the events go last. */
void
http_loop_close(struct http *h)
{
	struct watched_socket *next;

	curl_multi_cleanup(h->multi);
	for (struct watched_socket *s = TAILQ_FIRST(&h->sockets); s != NULL; s = next) {
		next = TAILQ_NEXT(s, link);
		forget(h, s);
	}
	event_free(h->curl_timer);
}

static int
on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
	struct http *const h = arg;
	struct watched_socket *s = known;
	struct http_call *q = NULL;
	const short events = (short)(EV_PERSIST | ((what & CURL_POLL_IN) != 0 ? EV_READ : 0)
	    | ((what & CURL_POLL_OUT) != 0 ? EV_WRITE : 0));

	/* NULL: a handle of curl's own, which closes idle connections. */
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&q);
	if (q != NULL && what != CURL_POLL_REMOVE)
		q->fd = fd;
	else if (q != NULL && q->fd == fd)
		q->fd = CURL_SOCKET_BAD;
	if (s != NULL && what == CURL_POLL_REMOVE) {
		curl_multi_assign(h->multi, fd, NULL);
		forget(h, s);
		return 0;
	}
	if (s == NULL) {
		s = obj_alloc(sizeof(*s));
		TAILQ_INSERT_TAIL(&h->sockets, s, link);
		curl_multi_assign(h->multi, fd, s);
	} else {
		event_free(s->event);
	}
	s->event = event_new(h->base, fd, events, on_socket, h);
	MUST(s->event != NULL && event_add(s->event, NULL) == 0);
	return 0;
}

static int
on_timer_wanted(CURLM *multi, long timeout_ms, void *arg)
{
	struct http *const h = arg;

	(void)multi;
	if (timeout_ms < 0) {
		event_del(h->curl_timer);
		return 0;
	}
	const struct timeval tv = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };
	MUST(evtimer_add(h->curl_timer, &tv) == 0);
	return 0;
}

static void
on_socket(evutil_socket_t fd, short events, void *arg)
{
	advance(arg, fd,
	    ((events & EV_READ) != 0 ? CURL_CSELECT_IN : 0)
		| ((events & EV_WRITE) != 0 ? CURL_CSELECT_OUT : 0));
}

static void
on_timer(evutil_socket_t fd, short events, void *arg)
{
	(void)fd;
	(void)events;
	advance(arg, CURL_SOCKET_TIMEOUT, 0);
}

static void
advance(struct http *h, curl_socket_t fd, int mask)
{
	int running, left;
	const CURLMsg *m;

	MUST(curl_multi_socket_action(h->multi, fd, mask, &running) == CURLM_OK);
	while ((m = curl_multi_info_read(h->multi, &left)) != NULL) {
		struct http_call *q = NULL;

		MUST(m->msg == CURLMSG_DONE);
		const CURLcode code = m->data.result;	/* m dies with the handle */
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&q);
		http_ended(q, code);
	}
}

static void
forget(struct http *h, struct watched_socket *s)
{
	TAILQ_REMOVE(&h->sockets, s, link);
	event_free(s->event);
	free(s);
}
