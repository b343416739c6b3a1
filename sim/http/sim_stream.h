/*
 * sim/http/sim_stream.h - the body of a long answer: written in pieces, with pauses, perhaps compressed;
 * and, where a fault says so, cut, stalled or slow.
 */
#ifndef MUSTER_SIM_STREAM_H
#define MUSTER_SIM_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "sim_request.h"

struct stream;

enum coding {
	CODING_NONE,
	CODING_GZIP,		/* one member */
	CODING_GZIP_MEMBERS,	/* one member per flush, as kube-apiserver 1.37 compresses watch-lists */
};

enum ending {
	ENDING_CLEAN,	/* the last chunk is sent: the answer is complete HTTP */
	ENDING_FIN,	/* closed in the middle of the answer */
	ENDING_RESET,	/* the same with an RST */
};

/*
 * Takes the call and begins the answer. `drained` is called when everything handed over is on its
 * way; `closed` when the client has gone or a fault has ended the stream: then the stream is free
 * already.
 */
struct stream *stream_open(struct call **cp, const char *type, enum coding coding, void (*drained)(void *arg),
    void (*closed)(void *arg), void *arg);
struct call *stream_call(struct stream *s);

/* Write here, then flush: what was written leaves as one chunk. */
struct evbuffer *stream_buffer(struct stream *s);
void stream_flush(struct stream *s);
/* Bytes that the client has not taken yet, and those that it has, about. */
size_t stream_pending(const struct stream *s);
int64_t stream_taken(const struct stream *s);

/*
 * Neither calls `closed`. Bytes not yet taken by the client: ENDING_CLEAN sends them first, the
 * others forget them.
 */
void stream_end(struct stream **sp, enum ending how);
/*
 * A fault has silenced it: nothing leaves any more, and who writes leaves the ending to the fault
 * or the client.
 */
bool stream_mute(const struct stream *s);
/* From now on nothing is sent; the connection stays. */
void stream_stall(struct stream *s);
/* After n more bytes it ends like this, and `closed` is called. */
void stream_cut_after(struct stream *s, size_t n, enum ending how);
/* How a fault of kind "cut" wants it. */
enum ending stream_ending(const struct fault *f);

#endif
