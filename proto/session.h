/*
 * proto/session.h - the session protocol, both ends, pure: what was observed goes in, what to do
 * comes out.
 *
 *	consumer                      producer
 *	HELLO {nonce} ------------->            role, token, window
 *	         <------ BEAT {not ready}       every second until the store is complete
 *	         <------ SNAP_BEGIN {nonce}     a new epoch, numbers start
 *	         <------ SNAP_ITEMS ...         every key, bounded by credit
 *	ACK {seq, credit} --------->
 *	         <------ SNAP_END {count}       the consumer sweeps what was not named
 *	         <------ DELTA ...              only keys that changed, newest value
 *	         <------ BEAT {count, hash}     every idle second: the loss of the last message is noticed
 *
 * State, not events: a consumer that is slow gets fewer, newer deltas; one that missed anything
 * (gap, repeat, foreign epoch, timeout) sends HELLO again and keeps its stale mirror until the new
 * snapshot is complete. Nothing is reported gone because of an incomplete snapshot. The bytes,
 * sockets, stores and clocks belong to the caller.
 */
#ifndef MUSTER_SESSION_H
#define MUSTER_SESSION_H

#include "envelope.h"

enum {
	SESSION_WINDOW	      = 1024,	/* items a consumer takes without an ACK */
	SESSION_WINDOW_MAX    = 4096,
	SESSION_BATCH	      = 64,	/* items per frame */
	SESSION_ACK_MS	      = 200,	/* a few items share an ACK, which wakes three threads */
	SESSION_BEAT_MS	      = 1000,
	SESSION_CONSUMER_TIMEOUT_MS = 10000,	/* without a frame of it: its session ends */
	SESSION_PRODUCER_TIMEOUT_MS = 5000,	/* without a frame of it: HELLO again */
	SESSION_HELLO_MIN_MS  = 100,
	SESSION_HELLO_MAX_MS  = 5000,
};

/*
 * An epoch is one session of one producer start, never used twice: the incarnation, then a count of
 * its sessions.
 */
#define EPOCH_MAKE(incarnation, session)	((uint64_t)(incarnation) << 32 | (uint32_t)(session))
#define EPOCH_INCARNATION(epoch)		((epoch) >> 32)

/* Why a session starts over: label `reason` of muster_resync_total. */
#define RESYNC_REASONS(R)							\
	R(NONE,   "none")							\
	R(GAP,    "gap")	/* a number is missing */			\
	R(REPEAT, "repeat")	/* a number came again */			\
	R(EPOCH,  "epoch")	/* a frame of another session */		\
	R(ORDER,  "order")	/* snapshot and deltas mixed up */		\
	R(COUNT,  "count")	/* the snapshot is not as long as its end states */	\
	R(HASH,   "hash")	/* equal numbers, unequal content: a bug */	\
	R(SILENT, "silent")	/* no frame from the producer in time */	\
	R(CLOSED, "closed")	/* the producer ended the session */		\
	R(PEER,   "peer")	/* the supervisor announced a new incarnation */ \
	R(REFUSED, "refused")	/* a frame did not parse */

enum resync {
#define RESYNC_ENUM(ID, name) RESYNC_##ID,
	RESYNC_REASONS(RESYNC_ENUM)
#undef RESYNC_ENUM
	RESYNC_MAX
};
const char *resync_name(enum resync r);

/* ---- The producer's end: one per consumer ---- */

enum out_state { OUT_CLOSED, OUT_WAITING, OUT_SNAPSHOT, OUT_LIVE };

struct session_out {
	enum out_state	state;
	uint64_t	epoch, nonce;
	uint64_t	seq;		/* last number given to the socket */
	uint64_t	acked;
	uint64_t	limit;		/* credit: numbers up to this may be sent */
	uint32_t	snap_left;	/* queued keys that belong to the snapshot */
	uint64_t	snap_sent;
	int64_t		received_ms, sent_ms;
};

/* The state of the producer's store for this consumer. */
struct out_view {
	bool		ready;		/* the store is complete */
	uint32_t	pending;	/* keys queued for this consumer */
};

enum out_verb { OUT_NOTHING, OUT_SEND_BEGIN, OUT_SEND_ITEMS, OUT_SEND_END, OUT_SEND_BEAT, OUT_CLOSE };

struct out_step {
	enum out_verb	verb;
	enum msg	type;		/* OUT_SEND_ITEMS: SNAP_ITEMS or DELTA */
	uint32_t	max_items;
	bool		exact;		/* OUT_SEND_BEAT */
	const char     *why;		/* OUT_CLOSE */
	int64_t		at_ms;		/* OUT_NOTHING: check again then */
};

void session_out_hello(
    struct session_out *s, uint64_t epoch, uint64_t nonce, uint64_t window, int64_t now_ms);
/* False: the consumer acknowledges what was never sent. An ACK of an older session is ignored. */
bool session_out_ack(struct session_out *s, uint64_t epoch, uint64_t seq, uint64_t credit, int64_t now_ms);
struct out_step session_out_next(const struct session_out *s, const struct out_view *v, int64_t now_ms);
/*
 * The step was performed. OUT_SEND_BEGIN: `keys` is how many keys were queued for the snapshot.
 * OUT_SEND_ITEMS: `keys` left the queue, `items` of them were sent (a key that came and went in
 * between is left out). Not called when the send failed: then nothing has happened.
 */
void session_out_sent(struct session_out *s, const struct out_step *step, uint32_t keys,
    uint32_t items, int64_t now_ms);

/* ---- The consumer's end: one per producer ---- */

enum in_state { IN_DOWN, IN_HELLO, IN_SNAPSHOT, IN_LIVE };

struct session_in {
	enum in_state	state;
	uint64_t	epoch, nonce;
	uint64_t	seq;		/* last number taken */
	uint64_t	acked;
	uint64_t	window;
	uint64_t	snap_taken;
	uint32_t	attempts;	/* HELLOs since the last complete snapshot */
	int64_t		hello_at_ms, received_ms;
	int64_t		ack_at_ms;	/* of the oldest item that is not acknowledged, if there is one */
	bool		answer_due;	/* a beat is to be acknowledged */
	uint64_t	random;
};

enum in_verb { IN_IGNORE, IN_BEGIN, IN_ITEMS, IN_END, IN_RESYNC, IN_WAIT, IN_SEND_HELLO, IN_SEND_ACK };

struct in_step {
	enum in_verb	verb;
	enum resync	reason;		/* IN_RESYNC */
	int64_t		at_ms;		/* IN_WAIT */
};

/* What the consumer holds, to compare with an exact beat. */
struct in_view {
	uint64_t	count, hash;
};

void session_in_init(struct session_in *s, uint64_t window, uint64_t seed);
/*
 * A frame arrived; `first` is its first body, `bodies` how many it has. IN_BEGIN: start marking.
 * IN_ITEMS: apply them all. IN_END: sweep what is unmarked. IN_RESYNC: the session has already
 * turned to HELLO; count the reason, keep the mirror.
 */
struct in_step session_in_frame(struct session_in *s, const struct envelope *env, const union msg_body *first,
    uint32_t bodies, const struct in_view *v, int64_t now_ms);
/*
 * What to send now. `drained`: nothing more waits in the socket, so an ACK is not premature. May
 * turn a timeout to IN_RESYNC.
 */
struct in_step session_in_next(struct session_in *s, bool drained, int64_t now_ms);
/* The HELLO or ACK was handed to the socket; or it could not be (not connected): try again later. */
void session_in_sent(struct session_in *s, enum in_verb verb, bool ok, int64_t now_ms);
/* A frame did not parse: the session is over, the next HELLO waits. */
struct in_step session_in_refuse(struct session_in *s, int64_t now_ms);
/* The socket has a connection (again): a HELLO that could not be sent may go now. */
void session_in_connected(struct session_in *s, int64_t now_ms);
/*
 * The supervisor announced that this incarnation of the producer has bound its sockets. IN_RESYNC or
 * IN_IGNORE.
 */
struct in_step session_in_producer_up(struct session_in *s, uint64_t incarnation, int64_t now_ms);

#endif
