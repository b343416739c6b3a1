/* supervisor/watch.c - descriptors in and out of epoll. */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "obj.h"

bool
watch_open(struct watch *w, int epoll_fd, int fd, uint32_t events, void (*ready)(void *, uint32_t), void *arg)
{
	*w = (struct watch){ .fd = fd, .epoll_fd = epoll_fd, .events = events, .ready = ready, .arg = arg };
	struct epoll_event ev = { .events = events, .data.ptr = w };

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0)
		return true;
	const int saved_errno = errno;
	fd_close(&w->fd);
	errno = saved_errno;
	return false;
}

void
watch_events(struct watch *w, uint32_t events)
{
	if (w->fd == -1 || w->events == events)
		return;
	struct epoll_event ev = { .events = events, .data.ptr = w };

	MUST(epoll_ctl(w->epoll_fd, EPOLL_CTL_MOD, w->fd, &ev) == 0);
	w->events = events;
}

/* An explicit DEL: close alone leaves the entry while a forked child still holds a copy of the descriptor. */
void
watch_close(struct watch *w)
{
	if (w->fd != -1)
		epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
	fd_close(&w->fd);
}

void
fd_close(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

long
fd_read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd == -1 ? -1 : read(fd, buf, size - 1);

	fd_close(&fd);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}
