/*
 * actors/provider/brake.h - bounds what this actor destroys by its own decision. Pure.
 *
 * Rules
 * - At most `most` destructive calls in any window of `window_ms`. Calls for an object that somebody else
 *   deleted do not count: the caller does not ask.
 * - None on the strength of a mirror that is not fresh.
 * - None on the strength of a list that lost more than half of what the list before it had, until a second
 *   list of about that size confirms it, BRAKE_CONFIRM_MS later or more.
 */
#ifndef MUSTER_BRAKE_H
#define MUSTER_BRAKE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BRAKE_CALLS_MAX	 = 64,		/* largest value of `most` */
	BRAKE_CONFIRM_MS = 10 * 1000,
	BRAKE_SMALL	 = 3,		/* a list that was no longer than this may lose everything */
};

/* ID, value of the label `reason` of muster_brake_total, text for people. */
#define BRAKE_REASONS(R)									\
	R(RELEASED, "",         "the call may start")						\
	R(RATE,     "rate",     "as many deletions as one window allows have started")		\
	R(STALE,    "stale",    "the mirror is not fresh")					\
	R(UNREAD,   "unread",   "no complete list has been read yet")				\
	R(SHRUNK,   "shrunk",   "the list lost more than half of its entries and no second list confirms it")

enum brake_reason {
#define BRAKE_ENUM(ID, label, text) BRAKE_##ID,
	BRAKE_REASONS(BRAKE_ENUM)
#undef BRAKE_ENUM
	BRAKE_REASON_MAX
};

struct brake {
	uint32_t	most;
	int64_t		window_ms;
	int64_t		calls[BRAKE_CALLS_MAX];	/* ring: when the last `most` calls started */
	uint32_t	next, ncalls;
	/* The lists that decisions rest on. */
	bool		listed;
	uint32_t	accepted;		/* entries of the last list that is trusted */
	bool		shrunk;			/* a shorter one came and waits for its confirmation */
	uint32_t	shrunk_to;
	int64_t		shrunk_ms;
};

struct brake_verdict {
	enum brake_reason reason;
	int64_t		  retry_at_ms;	/* INT64_MAX: when a list or the mirror changes */
};

/* most: 1 to BRAKE_CALLS_MAX. */
void brake_init(struct brake *b, uint32_t most, int64_t window_ms);
/* A complete list with that many entries was read. */
void brake_listed(struct brake *b, uint32_t entries, int64_t now_ms);
/* An entry that this actor deleted: the next list may lack it. */
void brake_deleted(struct brake *b);
/* May one destructive call start? It does not count yet. */
struct brake_verdict brake_check(const struct brake *b, bool mirror_fresh, int64_t now_ms);
/* It starts. Only after brake_check answered BRAKE_RELEASED at the same time. */
void brake_called(struct brake *b, int64_t now_ms);
const char *brake_label(enum brake_reason r);
const char *brake_text(enum brake_reason r);

#endif
