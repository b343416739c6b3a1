/* cli/control_client.c - the client side of musterd's control socket. */
#include "control_client.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "obj.h"
#include "utf8.h"

static int connect_to(const char *, char *);
static bool wait_for(int, short, int64_t);
static char *read_line(int, int64_t, const char *, char *);
static char *error_in(const char *);

char *
control_request(const char *run_dir, const char *request, char why[CONTROL_WHY_MAX])
{
	const int64_t until_ms = clock_mono_ms() + CONTROL_TIMEOUT_MS;
	char path[4096], line[512];
	char *answer = NULL;

	if (run_dir[0] == '\0') {
		err_refuse(why, CONTROL_WHY_MAX,
		    "no run directory: give --run-dir, or set MUSTER_RUN_DIR or XDG_RUNTIME_DIR");
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/control.sock", run_dir);
	const int fd = connect_to(path, why);
	if (fd == -1)
		return NULL;
	const int len = snprintf(line, sizeof(line), "%s\n", request);
	if (len >= (int)sizeof(line))
		err_refuse(why, CONTROL_WHY_MAX, "the request is too long");
	else if (send(fd, line, (size_t)len, MSG_NOSIGNAL) != len)	/* a new socket has room for it */
		err_refuse(why, CONTROL_WHY_MAX, "musterd at %s does not take the request: %s", path,
		    strerror(errno));
	else
		answer = read_line(fd, until_ms, path, why);
	close(fd);
	return answer;
}

struct tree_status *
control_status(const char *run_dir, char **answer, char why[CONTROL_WHY_MAX])
{
	char detail[160];
	char *line = control_request(run_dir, "status", why);

	if (line == NULL)
		return NULL;
	struct tree_status *r = tree_status_parse(line, strlen(line), detail, sizeof(detail));
	char *error = r == NULL ? error_in(line) : NULL;
	if (r == NULL)
		err_refuse(why, CONTROL_WHY_MAX,
		    error != NULL ? "musterd answered: %s" : "musterd's answer cannot be read: %s",
		    error != NULL ? error : detail);
	free(error);
	if (r != NULL && answer != NULL)
		*answer = line;
	else
		free(line);
	return r;
}

int
control_command(const struct command *c, const struct cli *cli, const char *request)
{
	char why[CONTROL_WHY_MAX];
	char *answer = control_request(cli->run_dir, request, why);

	if (answer == NULL)
		return cli_failed(c, "%s", why);
	char *error = error_in(answer);
	const int code = error != NULL ? cli_failed(c, "%s", error) : CLI_OK;
	free(error);
	free(answer);
	return code;
}

static int
connect_to(const char *path, char *why)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(sa.sun_path)) {
		err_refuse(why, CONTROL_WHY_MAX, "%s: longer than a socket's name may be (%zu bytes)", path,
		    sizeof(sa.sun_path) - 1);
		return -1;
	}
	memcpy(sa.sun_path, path, strlen(path));
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd != -1 && connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	const int error = errno;
	const bool absent = error == ENOENT || error == ECONNREFUSED;
	err_refuse(why, CONTROL_WHY_MAX, "cannot reach musterd at %s: %s%s", path, strerror(error),
	    absent ? "\nis it running? --run-dir names the folder of another one"
	    : error == EACCES ? "\nonly root and the user of musterd may connect" : "");
	if (fd != -1)
		close(fd);
	return -1;
}

/* One line, then the end: anything else is not musterd. */
static char *
read_line(int fd, int64_t until_ms, const char *path, char *why)
{
	size_t len = 0, room = 16 * 1024;
	char *buf = obj_alloc(room);
	ssize_t n;

	for (;;) {
		if (len + 1 == room)
			buf = obj_realloc(buf, room *= 2);
		n = read(fd, buf + len, room - len - 1);
		if (n > 0)
			len += (size_t)n;
		if (n == 0 || len > CONTROL_ANSWER_MAX)
			break;
		if (n == -1 && errno != EINTR && (errno != EAGAIN || !wait_for(fd, POLLIN, until_ms)))
			break;
	}
	buf[len] = '\0';
	const char *newline = memchr(buf, '\n', len);
	if (n == 0 && newline == buf + len - 1 && strlen(buf) == len) {
		buf[len - 1] = '\0';
		return buf;
	}
	if (n == -1)
		err_refuse(why, CONTROL_WHY_MAX, "musterd at %s does not answer: %s", path, strerror(errno));
	else
		err_refuse(why, CONTROL_WHY_MAX, "the answer from %s is %s", path,
		    len > CONTROL_ANSWER_MAX ? "larger than 1 MiB"
		    : len == 0 ? "empty" : "not one line: cut, or not from musterd");
	free(buf);
	return NULL;
}

/* False with errno ETIMEDOUT when the time is up. */
static bool
wait_for(int fd, short events, int64_t until_ms)
{
	const int64_t left_ms = until_ms - clock_mono_ms();
	struct pollfd p = { .fd = fd, .events = events };

	if (left_ms <= 0 || poll(&p, 1, (int)left_ms) == 0) {
		errno = ETIMEDOUT;
		return false;
	}
	return true;
}

/* The text of {"error":"..."} as a terminal may have it, allocated; NULL: no error. */
static char *
error_in(const char *answer)
{
	json_t *o = json_loads(answer, 0, NULL);
	const char *text = json_string_value(json_object_get(o, "error"));
	char *shown = text != NULL ? obj_alloc(strlen(text) * UTF8_SHOWN_MAX + 1) : NULL;

	for (size_t len = 0; text != NULL && *text != '\0';) {
		size_t n;

		text += utf8_show_text(text, strlen(text), shown + len, &n);
		len += n;
	}
	json_decref(o);
	return shown;
}
