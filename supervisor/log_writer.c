/*
 * supervisor/log_writer.c - a ring of lines in front of stderr.
 *
 * Never: block. A reader of our log that stops reading (a stuck terminal, a full pipe) must not
 * stop the supervisor, or the watchdogs of systemd and of the actors fire. What does not fit is
 * dropped by whole lines, counted, and logged as soon as there is room.
 */
#include "log_writer.h"

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

struct log_writer log_writer = { .watch = { .fd = -1, .epoll_fd = -1 }, .fd = -1 };

static void open_stderr(void);
static void append(const char *, size_t, size_t);
static ssize_t write_some(const char *, size_t);
static void ready(void *, uint32_t);
static void log_dropped(void);

void
log_writer_open(int epoll_fd)
{
	log_writer.ring = obj_alloc(LOG_WRITER_BYTES);
	open_stderr();
	if (log_writer.pollable
	    && !watch_open(&log_writer.watch, epoll_fd, fcntl(log_writer.fd, F_DUPFD_CLOEXEC, 0), 0, ready,
		NULL))
		log_writer.pollable = false;
}

void
log_writer_own_line(const char *line, size_t len)
{
	append(line, len, LOG_WRITER_BYTES);
	log_writer_flush();
}

/* Flushed once per turn of the loop, so that a burst of lines is one write. */
void
log_writer_child_line(const char *line, size_t len)
{
	append(line, len, LOG_WRITER_CHILD_BYTES);
}

void
log_writer_flush(void)
{
	while (log_writer.len > 0) {
		const size_t until_wrap = LOG_WRITER_BYTES - log_writer.head;
		const size_t chunk = log_writer.len < until_wrap ? log_writer.len : until_wrap;
		const ssize_t n = write_some(log_writer.ring + log_writer.head, chunk);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			break;
		/* Any other error: it can never be written. */
		const size_t gone = n == -1 ? log_writer.len : (size_t)n;
		log_writer.head = (log_writer.head + gone) % LOG_WRITER_BYTES;
		log_writer.len -= gone;
	}
	watch_events(&log_writer.watch, log_writer.len > 0 ? EPOLLOUT : 0);
	if (log_writer.len == 0 && log_writer.unreported > 0)
		log_dropped();
}

void
log_writer_drain(int max_ms)
{
	const int64_t until_ms = clock_mono_ms() + max_ms;

	log_writer_flush();
	for (int64_t left_ms = max_ms; log_writer.len > 0 && left_ms > 0;
	     left_ms = until_ms - clock_mono_ms()) {
		struct pollfd p = { .fd = log_writer.fd, .events = POLLOUT };

		poll(&p, 1, (int)left_ms);
		log_writer_flush();
	}
}

void
log_writer_close(void)
{
	watch_close(&log_writer.watch);
	if (log_writer.fd != STDERR_FILENO)
		fd_close(&log_writer.fd);
	log_writer.fd = -1;
	free(log_writer.ring);
	log_writer.ring = NULL;
	log_writer.len = 0;
}

/*
 * O_NONBLOCK belongs to the open file, which is shared with the parent process; so a pipe or
 * terminal is opened anew, and a socket is written with MSG_DONTWAIT. What belongs to another user
 * cannot be opened anew: then each write polls first. A regular file never blocks.
 */
static void
open_stderr(void)
{
	struct stat st;

	log_writer.fd = STDERR_FILENO;
	log_writer.pollable = fstat(STDERR_FILENO, &st) == 0 && !S_ISREG(st.st_mode);
	log_writer.shared = false;
	if (!log_writer.pollable || S_ISSOCK(st.st_mode))
		return;
	const int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd != -1)
		log_writer.fd = fd;
	else
		log_writer.shared = true;
}

static void
append(const char *line, size_t len, size_t most)
{
	if (log_writer.ring == NULL) {
		while (write(STDERR_FILENO, line, len) == -1 && errno == EINTR)
			;
		return;
	}
	if (log_writer.len + len > most) {
		log_writer.dropped++;
		log_writer.unreported++;
		return;
	}
	const size_t tail = (log_writer.head + log_writer.len) % LOG_WRITER_BYTES;
	const size_t first = len < LOG_WRITER_BYTES - tail ? len : LOG_WRITER_BYTES - tail;

	memcpy(log_writer.ring + tail, line, first);
	memcpy(log_writer.ring, line + first, len - first);
	log_writer.len += len;
}

/* A pipe that poll calls writable takes PIPE_BUF bytes without waiting. */
static ssize_t
write_some(const char *p, size_t len)
{
	if (log_writer.shared) {
		struct pollfd writable = { .fd = log_writer.fd, .events = POLLOUT };

		if (poll(&writable, 1, 0) != 1) {
			errno = EAGAIN;
			return -1;
		}
		return write(log_writer.fd, p, len < PIPE_BUF ? len : PIPE_BUF);
	}
	const ssize_t n = send(log_writer.fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n == -1 && errno == ENOTSOCK ? write(log_writer.fd, p, len) : n;
}

static void
ready(void *arg, uint32_t events)
{
	(void)arg;
	/* The reader has closed its end: epoll would report it for ever, and writes fail by themselves. */
	if ((events & (EPOLLERR | EPOLLHUP)) != 0)
		watch_close(&log_writer.watch);
	log_writer_flush();
}

static void
log_dropped(void)
{
	const uint64_t n = log_writer.unreported;

	log_writer.unreported = 0;	/* first: the line below comes back here */
	log_warnx("log lines were dropped: stderr was not read fast enough", KV_I(COUNT, n));
}
