/*
 * supervisor/logpipe.h - a child's stdout and stderr: lines pass through, the last ones are kept
 * for the log line about its death.
 */
#ifndef MUSTER_LOGPIPE_H
#define MUSTER_LOGPIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "watch.h"

enum {
	LOGPIPE_LINE  = 4096,	/* a longer line is broken */
	LOGPIPE_LAST  = 10,	/* lines kept */
	LOGPIPE_WORDS = 256,	/* bytes kept of each */
	LOGPIPE_JOINED = LOGPIPE_LAST * (LOGPIPE_WORDS + 1) + 1,
};

struct logpipe {
	struct watch	watch;
	char		line[LOGPIPE_LINE];
	size_t		len;
	char		last[LOGPIPE_LAST][LOGPIPE_WORDS + 1];	/* a ring */
	unsigned	count;
};

/* Takes fd, the read end, non-blocking. The lines of an earlier child are dropped. */
bool logpipe_open(struct logpipe *p, int epoll_fd, int fd);
/*
 * Reads what is there, ends an unfinished line, closes. Not to the end of file: a grandchild may
 * hold the other end.
 */
void logpipe_finish(struct logpipe *p);
/* Bytes from the child: the pure half, for tests. */
void logpipe_feed(struct logpipe *p, const char *bytes, size_t len);
/* The last lines, joined by newlines. */
void logpipe_last_output(const struct logpipe *p, char out[LOGPIPE_JOINED]);
/* They contain an allocation failure. */
bool logpipe_out_of_memory(const struct logpipe *p);

#endif
