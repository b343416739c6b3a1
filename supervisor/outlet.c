/*
 * supervisor/outlet.c - a ring of lines in front of stderr.
 *
 * Never: block. A reader of our log that stops reading (a stuck terminal, a full pipe) must not
 * stop the supervisor, or the watchdog of everybody above and below us fires. What does not fit is
 * dropped by whole lines, counted, and told as soon as there is room.
 */
#include "outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "obj.h"

struct outlet outlet = { .watch = { .fd = -1, .epoll_fd = -1 }, .fd = -1 };

static void open_stderr(void);
static bool append(const char *, size_t, size_t);
static ssize_t write_some(const char *, size_t);
static void ready(void *, uint32_t);
static void tell_dropped(void);

void
outlet_open(int epoll_fd)
{
	outlet.ring = obj_alloc(OUTLET_BYTES);
	open_stderr();
	if (outlet.pollable
	    && !watch_open(&outlet.watch, epoll_fd, fcntl(outlet.fd, F_DUPFD_CLOEXEC, 0), 0, ready, NULL))
		outlet.pollable = false;
}

void
outlet_own_line(const char *line, size_t len)
{
	if (!append(line, len, OUTLET_BYTES)) {
		outlet.dropped++;
		outlet.unsaid++;
	}
	outlet_flush();
}

/* Flushed once per turn of the loop, so that a burst of lines is one write. */
void
outlet_child_line(const char *line, size_t len)
{
	if (!append(line, len, OUTLET_CHILD_BYTES)) {
		outlet.dropped++;
		outlet.unsaid++;
	}
}

void
outlet_flush(void)
{
	while (outlet.len > 0) {
		const size_t until_wrap = OUTLET_BYTES - outlet.head;
		const size_t chunk = outlet.len < until_wrap ? outlet.len : until_wrap;
		const ssize_t n = write_some(outlet.ring + outlet.head, chunk);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			break;
		/* Any other error: nobody will ever read it. */
		const size_t gone = n == -1 ? outlet.len : (size_t)n;
		outlet.head = (outlet.head + gone) % OUTLET_BYTES;
		outlet.len -= gone;
	}
	watch_events(&outlet.watch, outlet.len > 0 ? EPOLLOUT : 0);
	if (outlet.len == 0 && outlet.unsaid > 0)
		tell_dropped();
}

void
outlet_drain(int max_ms)
{
	const int64_t until_ms = clock_mono_ms() + max_ms;

	outlet_flush();
	for (int64_t left_ms = max_ms; outlet.len > 0 && left_ms > 0; left_ms = until_ms - clock_mono_ms()) {
		struct pollfd p = { .fd = outlet.fd, .events = POLLOUT };

		poll(&p, 1, (int)left_ms);
		outlet_flush();
	}
}

void
outlet_close(void)
{
	watch_close(&outlet.watch);
	if (outlet.fd != STDERR_FILENO)
		fd_close(&outlet.fd);
	outlet.fd = -1;
	free(outlet.ring);
	outlet.ring = NULL;
	outlet.len = 0;
}

/*
 * O_NONBLOCK belongs to the open file, which we share with whoever started us; so a pipe or
 * terminal is opened anew, and a socket is written with MSG_DONTWAIT. What belongs to another user
 * cannot be opened anew: then each write asks first. A regular file never makes anyone wait.
 */
static void
open_stderr(void)
{
	struct stat st;

	outlet.fd = STDERR_FILENO;
	outlet.pollable = fstat(STDERR_FILENO, &st) == 0 && !S_ISREG(st.st_mode);
	outlet.shared = false;
	if (!outlet.pollable || S_ISSOCK(st.st_mode))
		return;
	const int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd != -1)
		outlet.fd = fd;
	else
		outlet.shared = true;
}

static bool
append(const char *line, size_t len, size_t most)
{
	if (outlet.ring == NULL) {
		while (write(STDERR_FILENO, line, len) == -1 && errno == EINTR)
			;
		return true;
	}
	if (outlet.len + len > most)
		return false;
	const size_t tail = (outlet.head + outlet.len) % OUTLET_BYTES;
	const size_t first = len < OUTLET_BYTES - tail ? len : OUTLET_BYTES - tail;

	memcpy(outlet.ring + tail, line, first);
	memcpy(outlet.ring, line + first, len - first);
	outlet.len += len;
	return true;
}

/* A pipe that poll calls writable takes PIPE_BUF bytes without waiting. */
static ssize_t
write_some(const char *p, size_t len)
{
	if (outlet.shared) {
		struct pollfd ask = { .fd = outlet.fd, .events = POLLOUT };

		if (poll(&ask, 1, 0) != 1) {
			errno = EAGAIN;
			return -1;
		}
		return write(outlet.fd, p, len < PIPE_BUF ? len : PIPE_BUF);
	}
	const ssize_t n = send(outlet.fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n == -1 && errno == ENOTSOCK ? write(outlet.fd, p, len) : n;
}

static void
ready(void *arg, uint32_t events)
{
	(void)arg;
	/* Nobody is at the other end any more: epoll would say so for ever, and writes fail by themselves. */
	if ((events & (EPOLLERR | EPOLLHUP)) != 0)
		watch_close(&outlet.watch);
	outlet_flush();
}

static void
tell_dropped(void)
{
	const uint64_t n = outlet.unsaid;

	outlet.unsaid = 0;	/* first: the line below comes back here */
	log_warnx("log lines were dropped, because nobody read our stderr fast enough", KV_I(COUNT, n));
}
