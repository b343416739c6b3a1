/* server/listen.c - a listening socket for an address in text form. */
#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "obj.h"

enum { BACKLOG = 512, HOST_MAX = 256 };

static bool split(const char *, char *, const char **);
static int listen_on(const struct addrinfo *);

int
listen_open(const char *address, const char **why, bool *config)
{
	char host[HOST_MAX];
	const char *port;
	struct addrinfo *list = NULL;
	int fd = -1;

	*config = true;
	if (!split(address, host, &port)) {
		*why = "not ADDRESS:PORT";
		return -1;
	}
	/* Without a host: [::] takes IPv4 as well; 0.0.0.0 where the kernel has no IPv6. */
	const struct addrinfo hints = { .ai_flags = AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM };
	const int rc = getaddrinfo(host[0] != '\0' ? host : "::", port, &hints, &list);
	if (rc != 0) {
		*why = gai_strerror(rc);
		*config = rc != EAI_AGAIN && rc != EAI_MEMORY;
		return -1;
	}
	fd = listen_on(list);
	freeaddrinfo(list);
	if (fd == -1 && host[0] == '\0' && errno == EAFNOSUPPORT
	    && getaddrinfo("0.0.0.0", port, &hints, &list) == 0) {
		fd = listen_on(list);
		freeaddrinfo(list);
	}
	if (fd == -1) {
		*why = strerror(errno);
		*config = errno == EADDRINUSE || errno == EADDRNOTAVAIL || errno == EACCES
		    || errno == EAFNOSUPPORT;
	}
	return fd;
}

void
listen_address(int fd, char *buf, size_t size)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	MUST(getsockname(fd, (struct sockaddr *)&sa, &len) == 0);
	MUST(getnameinfo((struct sockaddr *)&sa, len, host, sizeof(host), port, sizeof(port),
	    NI_NUMERICHOST | NI_NUMERICSERV) == 0);
	snprintf(buf, size, strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
}

/* "[::1]:80" -> "::1", "80". */
static bool
split(const char *address, char *host, const char **port)
{
	const char *colon = strrchr(address, ':');

	if (colon == NULL || (size_t)(colon - address) >= HOST_MAX)
		return false;
	size_t len = (size_t)(colon - address);
	if (len > 1 && address[0] == '[' && address[len - 1] == ']') {
		address++;
		len -= 2;
	}
	memcpy(host, address, len);
	host[len] = '\0';
	*port = colon + 1;
	return true;
}

static int
listen_on(const struct addrinfo *ai)
{
	const int yes = 1, no = 0;

	const int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	/* Accepted sockets inherit it: small answers must not wait for the client's delayed ACK. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == -1 || listen(fd, BACKLOG) == -1) {
		const int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

bool
listen_write_address(const char *folder, const char *file, const char *bound, char path[LISTEN_PATH_MAX])
{
	char temporary[LISTEN_PATH_MAX];

	snprintf(temporary, sizeof(temporary), "%s/.%s", folder, file);
	snprintf(path, LISTEN_PATH_MAX, "%s/%s", folder, file);
	FILE *const f = fopen(temporary, "we");
	if (f == NULL)
		return false;
	const bool written = fprintf(f, "%s\n", bound) > 0;
	return (fclose(f) == 0) & written && rename(temporary, path) == 0;
}
