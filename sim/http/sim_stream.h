/*
 * sim/http/sim_stream.h - the body of a long answer: written in pieces, with pauses, perhaps compressed;
 * and, where a fault requires it, cut, stalled or slow.
 */
#ifndef MUSTER_SIM_STREAM_H
#define MUSTER_SIM_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "sim_request.h"

struct sim_stream;

enum sim_coding {
	CODING_NONE,
	CODING_GZIP,		/* one member */
	CODING_GZIP_MEMBERS,	/* one member per flush, as kube-apiserver 1.37 compresses watch-lists */
};

enum sim_ending {
	ENDING_CLEAN,	/* the last chunk is sent: the answer is complete HTTP */
	ENDING_FIN,	/* closed in the middle of the answer */
	ENDING_RESET,	/* the same with an RST */
};

/*
 * Takes the request and begins the answer. `drained` is called when everything handed over is on its
 * way; `closed` when the client has gone or a fault has ended the stream: then the stream is free
 * already.
 */
struct sim_stream *sim_stream_open(struct sim_request **cp, const char *type,
    enum sim_coding coding, void (*drained)(void *arg), void (*closed)(void *arg), void *arg);
struct sim_request *sim_stream_request(struct sim_stream *s);

/* Write here, then flush: what was written leaves as one chunk. */
struct evbuffer *sim_stream_buffer(struct sim_stream *s);
void sim_stream_flush(struct sim_stream *s);
/* Bytes that the client has not taken yet, and those that it has, about. */
size_t sim_stream_pending(const struct sim_stream *s);
int64_t sim_stream_taken(const struct sim_stream *s);

/*
 * Neither calls `closed`. Bytes not yet taken by the client: ENDING_CLEAN sends them first, the
 * others forget them.
 */
void sim_stream_end(struct sim_stream **sp, enum sim_ending how);
/*
 * A fault has silenced it: nothing leaves any more, and who writes leaves the ending to the fault
 * or the client.
 */
bool sim_stream_mute(const struct sim_stream *s);
/* From now on nothing is sent; the connection stays. */
void sim_stream_stall(struct sim_stream *s);
/* After n more bytes it ends like this, and `closed` is called. */
void sim_stream_cut_after(struct sim_stream *s, size_t n, enum sim_ending how);
/* The ending that a fault of kind "cut" requires. */
enum sim_ending sim_stream_ending(const struct sim_fault *f);

#endif
