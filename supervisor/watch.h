/* supervisor/watch.h - a descriptor in the loop and the function that is called when it is ready. */
#ifndef MUSTER_WATCH_H
#define MUSTER_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Watches live in structs that outlast the loop's turn (children, client slots): an event that was
 * fetched before its descriptor was closed in the same turn finds fd == -1, or the next descriptor
 * with nothing to read.
 */
struct watch {
	int		  fd;		/* -1: closed */
	int		  epoll_fd;
	uint32_t	  events;
	void		(*ready)(void *arg, uint32_t events);
	void		 *arg;
};

#define WATCH_CLOSED	((struct watch){ .fd = -1, .epoll_fd = -1 })

/* Takes fd. False with errno: fd is closed. */
bool watch_open(struct watch *w, int epoll_fd, int fd, uint32_t events,
    void (*ready)(void *, uint32_t), void *arg);
void watch_events(struct watch *w, uint32_t events);
/* Out of the loop and closed; no harm when it was closed already. */
void watch_close(struct watch *w);

void fd_close(int *fd);
/* A small file of the kernel, as far as it fits, ended with NUL; the bytes, -1 with errno (then ""). */
long fd_read_file(const char *path, char *buf, size_t size);

#endif
