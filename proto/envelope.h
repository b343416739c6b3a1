/*
 * proto/envelope.h - a frame: one envelope [type, epoch, seq, trace], then one or more bodies, all
 * msgpack, in one ZeroMQ part. Batches cost one system call and one envelope; the pre-scan sees
 * every byte of them.
 *
 * epoch names a session of one producer start; seq is the number of the first body (items), or of
 * the last item sent before (the rest).
 */
#ifndef MUSTER_ENVELOPE_H
#define MUSTER_ENVELOPE_H

#include "msg.h"
#include "scan.h"

struct envelope {
	enum msg	type;
	uint64_t	epoch;
	uint64_t	seq;
	uint64_t	trace;
};

/* A frame being read: body after body. */
struct frame {
	struct envelope	 env;
	uint32_t	 bodies;	/* not yet read */
	const uint8_t	*next;
	size_t		 left;
};

/* Reasons a frame is refused; the text is what the log and the supervisor get. NULL: fine. */
const char *frame_open(struct frame *f, const void *bytes, size_t len, struct msg_arena *arena);
/* The next body into out; false when it does not fit the schema (or there is none). */
bool frame_next(struct frame *f, struct msg_arena *arena, union msg_body *out);

/* Writing: the envelope, then msg_pack for each body. */
void frame_begin(msgpack_sbuffer *out, const struct envelope *env);

#endif
