/*
 * supervisor/logpipe.c - splits what a child writes into lines.
 *
 * Never: stop reading. A child whose stderr is full blocks in write(2) and then misses its
 * heartbeats; if our own stderr is slow, lines are dropped and counted (log_writer.c).
 */
#include "logpipe.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "log_writer.h"

enum {
	READ_BYTES = 16 * 1024,
	READS_LAST = 64,	/* at most 1 MiB after its death; the pipe holds 64 KiB */
};

static void ready(void *, uint32_t);
static long read_some(struct logpipe *);
static void end_line(struct logpipe *);

bool
logpipe_open(struct logpipe *p, int epoll_fd, int fd)
{
	p->len = 0;
	p->count = 0;
	return watch_open(&p->watch, epoll_fd, fd, EPOLLIN, ready, p);
}

void
logpipe_finish(struct logpipe *p)
{
	for (int i = 0; i < READS_LAST && p->watch.fd != -1 && read_some(p) > 0; i++)
		;
	if (p->len > 0)
		end_line(p);
	watch_close(&p->watch);
}

void
logpipe_feed(struct logpipe *p, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n' || p->len == sizeof(p->line) - 1)
			end_line(p);
		if (bytes[i] != '\n')
			p->line[p->len++] = bytes[i];
	}
}

void
logpipe_last_output(const struct logpipe *p, char out[LOGPIPE_JOINED])
{
	const unsigned kept = p->count < LOGPIPE_LAST ? p->count : LOGPIPE_LAST;
	size_t used = 0;

	out[0] = '\0';
	for (unsigned i = p->count - kept; i != p->count; i++)
		used += (size_t)snprintf(out + used, LOGPIPE_JOINED - used, "%s%s", used == 0 ? "" : "\n",
		    p->last[i % LOGPIPE_LAST]);
}

/* obj_alloc and libzmq begin their last line so; C++ throws. */
bool
logpipe_out_of_memory(const struct logpipe *p)
{
	const unsigned kept = p->count < LOGPIPE_LAST ? p->count : LOGPIPE_LAST;

	for (unsigned i = 0; i < kept; i++) {
		if (strncasecmp(p->last[i], "out of memory", strlen("out of memory")) == 0
		    || strstr(p->last[i], "std::bad_alloc") != NULL)
			return true;
	}
	return false;
}

static void
ready(void *arg, uint32_t events)
{
	struct logpipe *const p = arg;

	(void)events;
	if (p->watch.fd != -1 && read_some(p) == 0)
		watch_close(&p->watch);
}

/*
 * Bytes read; 0 at end of file; -1 when there is nothing now. One read per turn: a flood must not
 * starve the others.
 */
static long
read_some(struct logpipe *p)
{
	char buf[READ_BYTES];
	const ssize_t n = read(p->watch.fd, buf, sizeof(buf));

	if (n == -1)
		return errno == EAGAIN || errno == EINTR ? -1 : 0;
	logpipe_feed(p, buf, (size_t)n);
	return n;
}

static void
end_line(struct logpipe *p)
{
	char *const kept = p->last[p->count % LOGPIPE_LAST];
	const size_t n = p->len < LOGPIPE_WORDS ? p->len : LOGPIPE_WORDS;

	memcpy(kept, p->line, n);
	kept[n] = '\0';
	p->count++;
	p->line[p->len++] = '\n';
	log_writer_child_line(p->line, p->len);
	p->len = 0;
}
