/*
 * tests/unit/full_listener.h - a listening socket whose queue is full: a client stays between connect and
 * send until the test accepts, up to the kernel's next SYN a second later.
 */
#ifndef MUSTER_TEST_FULL_LISTENER_H
#define MUSTER_TEST_FULL_LISTENER_H

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

struct full_listener {
	int	fd, filler, port;
};

static inline void
full_listener_open(struct full_listener *l)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sin);

	l->fd = socket(AF_INET, SOCK_STREAM, 0);
	l->filler = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(l->fd >= 0 && l->filler >= 0);
	assert_int_equal(bind(l->fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_int_equal(listen(l->fd, 0), 0);
	assert_int_equal(getsockname(l->fd, (struct sockaddr *)&sin, &len), 0);
	l->port = ntohs(sin.sin_port);
	assert_int_equal(connect(l->filler, (struct sockaddr *)&sin, sizeof(sin)), 0);
}

static inline int
full_listener_accept(const struct full_listener *l)
{
	const int fd = accept(l->fd, NULL, NULL);

	assert_true(fd >= 0);
	return fd;
}

static inline void
full_listener_close(struct full_listener *l)
{
	close(l->filler);
	close(l->fd);
}

#endif
