/* supervisor/sdnotify.c - the sd_notify protocol: one datagram of KEY=value lines. */
#include "sdnotify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static struct {
	int			fd;
	struct sockaddr_un	to;
	socklen_t		to_len;
	int64_t			watchdog_ms;
} systemd = { .fd = -1 };

static int64_t watchdog_from_environment(void);

void
sdnotify_open(void)
{
	const char *const path = getenv("NOTIFY_SOCKET");
	const size_t len = path != NULL ? strlen(path) : 0;

	if (len > 1 && (path[0] == '/' || path[0] == '@') && len < sizeof(systemd.to.sun_path)) {
		systemd.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		systemd.to.sun_family = AF_UNIX;
		memcpy(systemd.to.sun_path, path, len);
		systemd.to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (path[0] == '/'));
		if (path[0] == '@')
			systemd.to.sun_path[0] = '\0';	/* an abstract name, without a terminator */
		systemd.watchdog_ms = watchdog_from_environment();
	}
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void
sdnotify(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (systemd.fd == -1)
		return;
	va_start(ap, fmt);
	const int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	const size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
	/* Lost when the queue is full: the next change is sent again. */
	(void)!sendto(systemd.fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL,
	    (const struct sockaddr *)&systemd.to, systemd.to_len);
}

/* CLOCK_MONOTONIC is part of the protocol; ours is another clock. */
void
sdnotify_reloading(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &ts);
	sdnotify("RELOADING=1\nMONOTONIC_USEC=%lld", (long long)ts.tv_sec * 1000000 + ts.tv_nsec / 1000);
}

int64_t
sdnotify_watchdog_ms(void)
{
	return systemd.watchdog_ms;
}

/* Half of what systemd allows, as sd_watchdog_enabled(3) advises. */
static int64_t
watchdog_from_environment(void)
{
	const char *const usec = getenv("WATCHDOG_USEC"), *const pid = getenv("WATCHDOG_PID");

	if (usec == NULL || (pid != NULL && strtol(pid, NULL, 10) != getpid()))
		return 0;
	const int64_t ms = strtoll(usec, NULL, 10) / 2000;

	return ms > 0 ? ms : 0;
}
