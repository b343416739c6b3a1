/* sim/http/sim_stream.c - chunks, gzip, and the faults that work on bytes. */
#include "sim_stream.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <string.h>
#include <zlib.h>

#include "obj.h"
#include "sim_server.h"

enum { GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8, COMPRESSED = 16 * 1024 };

/* What happens once `left` more bytes have been handed over. */
struct stream_limit {
	enum { NO_LIMIT, THEN_STALL, THEN_END }	 then;
	size_t					 left;
	enum sim_ending				 how;
};

struct sim_stream {
	uint32_t		 magic;
#define STREAM_MAGIC	0x5354524du
	struct sim_request	*call;
	struct evbuffer		*plain, *coded;
	enum sim_coding		 coding;
	z_stream		 z;
	void		(*drained)(void *);
	void		(*closed)(void *);
	void			*arg;
	struct stream_limit	 limit;
	int64_t			 handed;	/* bytes, to the connection */
	bool			 mute;		/* the limit is reached: nothing more is sent */
	struct event		*finish;	/* waits for the last bytes before a cut to leave */
};

static void on_closed(struct evhttp_connection *, void *);
static void on_drained(struct evhttp_connection *, void *);
static void on_finish(evutil_socket_t, short, void *);
static void compress_plain(struct sim_stream *, int);
static void keep_within(struct sim_stream *);
static void obey_plan(struct sim_stream *);
static void destroy(struct sim_stream **);

struct sim_stream *
sim_stream_open(struct sim_request **cp, const char *type, enum sim_coding coding, void (*drained)(void *),
    void (*closed)(void *), void *arg)
{
	struct sim_stream *s;

	OBJ_NEW(s, STREAM_MAGIC);
	s->call = *cp;
	*cp = NULL;
	s->coding = coding;
	s->drained = drained;
	s->closed = closed;
	s->arg = arg;
	s->plain = evbuffer_new();
	s->coded = evbuffer_new();
	MUST(s->plain != NULL && s->coded != NULL);
	if (coding != CODING_NONE) {
		MUST(deflateInit2(&s->z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
		    Z_DEFAULT_STRATEGY) == Z_OK);
		sim_request_add_header(s->call, "Content-Encoding", "gzip");
		sim_request_add_header(s->call, "Vary", "Accept-Encoding");
	}
	sim_request_start_answer(s->call, 200, type);
	struct evhttp_connection *const connection = evhttp_request_get_connection(s->call->http);
	if (connection != NULL)
		evhttp_connection_set_closecb(connection, on_closed, s);
	obey_plan(s);
	return s;
}

struct sim_request *
sim_stream_request(struct sim_stream *s)
{
	return s->call;
}

struct evbuffer *
sim_stream_buffer(struct sim_stream *s)
{
	return s->plain;
}

void
sim_stream_flush(struct sim_stream *s)
{
	OBJ_CHECK(s, STREAM_MAGIC);
	if (s->mute) {
		evbuffer_drain(s->plain, evbuffer_get_length(s->plain));
		return;
	}
	if (s->coding == CODING_NONE)
		evbuffer_add_buffer(s->coded, s->plain);
	else if (evbuffer_get_length(s->plain) > 0)
		compress_plain(s, s->coding == CODING_GZIP_MEMBERS ? Z_FINISH : Z_SYNC_FLUSH);
	if (s->limit.then != NO_LIMIT)
		keep_within(s);
	s->handed += (int64_t)evbuffer_get_length(s->coded);
	if (evbuffer_get_length(s->coded) > 0)
		evhttp_send_reply_chunk_with_cb(s->call->http, s->coded, on_drained, s);
}

size_t
sim_stream_pending(const struct sim_stream *s)
{
	struct evhttp_connection *const connection = evhttp_request_get_connection(s->call->http);

	if (connection == NULL)
		return 0;
	return evbuffer_get_length(bufferevent_get_output(evhttp_connection_get_bufferevent(connection)));
}

int64_t
sim_stream_taken(const struct sim_stream *s)
{
	return s->handed - (int64_t)sim_stream_pending(s);
}

void
sim_stream_end(struct sim_stream **sp, enum sim_ending how)
{
	struct sim_stream *s;
	struct evhttp_request *req;

	OBJ_TAKE(s, sp, STREAM_MAGIC);
	req = s->call->http;
	struct evhttp_connection *const connection = evhttp_request_get_connection(req);
	if (connection != NULL)
		evhttp_connection_set_closecb(connection, NULL, NULL);
	if (how == ENDING_CLEAN && !s->mute && s->coding == CODING_GZIP) {
		compress_plain(s, Z_FINISH);
		evhttp_send_reply_chunk(req, s->coded);
	}
	if (how == ENDING_CLEAN || connection == NULL)
		evhttp_send_reply_end(req);
	else
		sim_server_break(connection, how == ENDING_RESET);
	destroy(&s);
}

bool
sim_stream_mute(const struct sim_stream *s)
{
	return s->mute;
}

void
sim_stream_stall(struct sim_stream *s)
{
	s->mute = true;
}

void
sim_stream_cut_after(struct sim_stream *s, size_t n, enum sim_ending how)
{
	s->limit = (struct stream_limit){ .then = THEN_END, .left = n, .how = how };
	keep_within(s);
}

enum sim_ending
sim_stream_ending(const struct sim_fault *f)
{
	return strcmp(f->mode, "clean") == 0 ? ENDING_CLEAN
	    : strcmp(f->mode, "reset") == 0  ? ENDING_RESET
					     : ENDING_FIN;
}

/* The client has gone; evhttp frees the connection after this. */
static void
on_closed(struct evhttp_connection *connection, void *arg)
{
	struct sim_stream *s = arg;
	void (*const closed)(void *) = s->closed;
	void *const closed_arg = s->arg;

	(void)connection;
	OBJ_CHECK(s, STREAM_MAGIC);
	/*
	 * evhttp lets go of a request that is still being answered; one of a server that ends it
	 * frees itself.
	 */
	if (evhttp_request_get_connection(s->call->http) == NULL)
		evhttp_request_free(s->call->http);
	destroy(&s);
	closed(closed_arg);
}

static void
on_drained(struct evhttp_connection *connection, void *arg)
{
	struct sim_stream *const s = arg;

	(void)connection;
	OBJ_CHECK(s, STREAM_MAGIC);
	if (!s->mute)
		s->drained(s->arg);
}

/* Of what is about to be sent, only as much as the limit leaves. */
static void
keep_within(struct sim_stream *s)
{
	const size_t n = evbuffer_get_length(s->coded);

	if (n < s->limit.left) {
		s->limit.left -= n;
		return;
	}
	struct evbuffer *const kept = evbuffer_new();
	evbuffer_remove_buffer(s->coded, kept, s->limit.left);
	evbuffer_drain(s->coded, evbuffer_get_length(s->coded));
	evbuffer_add_buffer(s->coded, kept);
	evbuffer_free(kept);
	s->mute = true;
	if (s->limit.then == THEN_END) {
		s->finish = evtimer_new(s->call->sim->base, on_finish, s);
		evtimer_add(s->finish, &(struct timeval){ 0 });
	}
}

static void
on_finish(evutil_socket_t fd, short what, void *arg)
{
	struct sim_stream *s = arg;
	void (*const closed)(void *) = s->closed;
	void *const closed_arg = s->arg;

	(void)fd;
	(void)what;
	if (sim_stream_pending(s) > 0) {
		evtimer_add(s->finish, &(struct timeval){ .tv_usec = 1000 });
		return;
	}
	sim_stream_end(&s, s->limit.how);
	closed(closed_arg);
}

static void
compress_plain(struct sim_stream *s, int flush)
{
	unsigned char out[COMPRESSED];
	const size_t len = evbuffer_get_length(s->plain);

	s->z.next_in = len > 0 ? evbuffer_pullup(s->plain, -1) : NULL;
	s->z.avail_in = (uInt)len;
	do {
		s->z.next_out = out;
		s->z.avail_out = sizeof(out);
		MUST(deflate(&s->z, flush) != Z_STREAM_ERROR);
		evbuffer_add(s->coded, out, sizeof(out) - s->z.avail_out);
	} while (s->z.avail_out == 0);
	evbuffer_drain(s->plain, len);
	if (flush == Z_FINISH)
		deflateReset(&s->z);
}

static void
obey_plan(struct sim_stream *s)
{
	const struct sim_fault *const cut = s->call->plan.of[FAULT_CUT];
	const struct sim_fault *const stall = s->call->plan.of[FAULT_STALL];

	if (cut != NULL)
		sim_stream_cut_after(s, (size_t)cut->amount, sim_stream_ending(cut));
	else if (stall != NULL) {
		s->limit = (struct stream_limit){ .then = THEN_STALL, .left = (size_t)stall->amount };
		keep_within(s);
	}
}

static void
destroy(struct sim_stream **sp)
{
	struct sim_stream *const s = *sp;

	*sp = NULL;
	if (s->coding != CODING_NONE)
		deflateEnd(&s->z);
	if (s->finish != NULL)
		event_free(s->finish);
	evbuffer_free(s->plain);
	evbuffer_free(s->coded);
	sim_request_close(&s->call);
	free(s);
}
