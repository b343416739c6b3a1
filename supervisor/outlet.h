/* supervisor/outlet.h - the one way to musterd's stderr: bounded, and it never makes anybody wait. */
#ifndef MUSTER_OUTLET_H
#define MUSTER_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch.h"

enum {
	OUTLET_BYTES       = 256 * 1024,
	OUTLET_CHILD_BYTES = 192 * 1024,	/* a flood leaves room for what musterd says of it */
};

struct outlet {
	struct watch	 watch;
	int		 fd;
	bool		 pollable;	/* false: a regular file, always ready */
	bool		 shared;	/* O_NONBLOCK is not ours to set: ask before each write */
	char		*ring;
	size_t		 head, len;
	uint64_t	 dropped;	/* lines, ever */
	uint64_t	 unsaid;	/* ... of which nobody has been told */
};

/*
 * The outlet that log.h writes to as well; one per process. Before outlet_open lines go straight to
 * stderr.
 */
extern struct outlet outlet;

void outlet_open(int epoll_fd);
/* A whole line with its newline. */
void outlet_own_line(const char *line, size_t len);
void outlet_child_line(const char *line, size_t len);
void outlet_flush(void);
/* Waits at most max_ms for the rest to go out: for the end of the process. */
void outlet_drain(int max_ms);
void outlet_close(void);

#endif
