/*
 * base/lifeline.c - records between supervisor and actor: one text, one datagram, never a wait.
 *
 * Records may carry a token, so nothing of them stays behind in our buffers.
 */
#include "lifeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "obj.h"

bool
lifeline_send(int fd, const char *fmt, ...)
{
	static char text[LIFELINE_MAX + 1];	/* not on the stack: actors run with 512 KiB of it */
	va_list ap;

	va_start(ap, fmt);
	const int len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	MUST(len > 0);				/* an empty record would read as end of file */

	ssize_t sent = -1;
	if (len > LIFELINE_MAX) {
		errno = EMSGSIZE;
	} else {
		do {
			sent = send(fd, text, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL);
		} while (sent == -1 && errno == EINTR);
	}
	explicit_bzero(text, len > LIFELINE_MAX ? sizeof(text) : (size_t)len);
	return sent == len;
}

long
lifeline_recv(int fd, char *buf, size_t size)
{
	MUST(size >= 2);
	struct iovec room = { .iov_base = buf, .iov_len = size - 1 };
	struct msghdr m = { .msg_iov = &room, .msg_iovlen = 1 };
	ssize_t got;

	do {
		got = recvmsg(fd, &m, MSG_DONTWAIT);
	} while (got == -1 && errno == EINTR);
	/*
	 * A peer that dies with our records unread resets the pair instead of closing it: it is
	 * just as dead.
	 */
	if (got == -1 && errno == ECONNRESET)
		got = 0;
	if (got == -1)
		return -1;
	if ((m.msg_flags & MSG_TRUNC) != 0) {
		explicit_bzero(buf, size);
		errno = EMSGSIZE;
		return -1;
	}
	buf[got] = '\0';
	return got;
}
