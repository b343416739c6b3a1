/*
 * base/log_repeat.h - a warning that repeats a thousand times becomes one line with a count. Pure:
 * time comes in.
 *
 * The same line (level, text, keys and values) passes ten times in ten seconds; the rest are
 * counted and, when the window ends, reported by one line with "repeated". There is room to hold back
 * eight different lines; when a ninth begins to repeat, the window of the oldest ends early.
 */
#ifndef MUSTER_LOG_REPEAT_H
#define MUSTER_LOG_REPEAT_H

#include "log.h"

enum {
	REPEAT_FREE       = 10,
	REPEAT_WINDOW_MS  = 10000,
	REPEAT_LINES      = 9,	/* one of them not held back: the next new line finds room */
	REPEAT_KEYS       = 12,
	REPEAT_TEXT_BYTES = 512,
};

struct repeat {
	uint64_t	 hash;		/* 0: free */
	int64_t		 since_ms;
	bool		 due;		/* its window ends now */
	uint32_t	 seen;		/* held back: those above REPEAT_FREE */
	enum log_level	 level;
	int		 errnum;
	const char	*msg;		/* constant text, see log.h */
	struct log_kv	 kvs[REPEAT_KEYS + 2];	/* copies, REPEATED, end */
	char		 text[REPEAT_TEXT_BYTES];
};

struct repeats {
	struct repeat	lines[REPEAT_LINES];
};

/* True: held back, do not write it. False: write it. */
bool repeats_hold(struct repeats *rs, enum log_level level, int errnum, const char *msg,
    const struct log_kv *kvs, int64_t now_ms);
/*
 * A line that stands for those held back, its window over; NULL when there is none (left). Valid
 * until the next call here.
 */
const struct repeat *repeats_take(struct repeats *rs, int64_t now_ms);

#endif
