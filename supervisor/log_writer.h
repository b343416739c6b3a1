/* supervisor/log_writer.h - musterd's stderr: a bounded buffer in front of it, and no write blocks. */
#ifndef MUSTER_LOG_WRITER_H
#define MUSTER_LOG_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch.h"

enum {
	LOG_WRITER_BYTES       = 256 * 1024,
	LOG_WRITER_CHILD_BYTES = 192 * 1024,	/* a flood of theirs leaves room for musterd's own lines */
};

struct log_writer {
	struct watch	 watch;
	int		 fd;
	bool		 pollable;	/* false: a regular file, always ready */
	bool		 shared;	/* O_NONBLOCK cannot be set: poll before each write */
	char		*ring;
	size_t		 head, len;
	uint64_t	 dropped;	/* lines, ever */
	uint64_t	 unreported;	/* ... not yet logged as dropped */
};

/*
 * One per process; log.h writes to it, too. Before log_writer_open, lines go straight to stderr.
 */
extern struct log_writer log_writer;

void log_writer_open(int epoll_fd);
/* A whole line with its newline. */
void log_writer_own_line(const char *line, size_t len);
void log_writer_child_line(const char *line, size_t len);
void log_writer_flush(void);
/* Waits at most max_ms for the rest to go out: for the end of the process. */
void log_writer_drain(int max_ms);
void log_writer_close(void);

#endif
