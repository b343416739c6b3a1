/*
 * base/log.c - where lines go: one write(2) each, to stderr.
 *
 * Never: allocate, wait, or change errno. A line is at most PIPE_BUF bytes, so lines of several
 * writers to one pipe do not mix.
 */
#include "log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "log_repeat.h"
#include "obj.h"

static struct {
	char		actor[64];
	enum log_format	format;
	enum log_level	level;
	bool		colour;
	uint64_t	trace;
	void		(*sink)(const char *, size_t);
} log_state = { .actor = "muster", .format = LOG_JSON, .level = LEVEL_INFO };

static struct repeats repeats;

static void log_repeats(int64_t);
static void line(enum log_level, int, uint64_t, const char *, const struct log_kv *);

void
log_open(const char *actor, enum log_format format, enum log_level level)
{
	const char *no_colour = getenv("NO_COLOR");

	snprintf(log_state.actor, sizeof(log_state.actor), "%s", actor);
	log_state.format = format;
	log_state.level = level;
	log_state.colour = isatty(STDERR_FILENO) == 1 && (no_colour == NULL || no_colour[0] == '\0');
}

void
log_set_sink(void (*sink)(const char *, size_t))
{
	log_state.sink = sink;
}

void
log_emit(enum log_level level, int errnum, const char *msg, const struct log_kv *kvs)
{
	if (level < log_state.level)
		return;
	const int saved_errno = errno;
	const int64_t now_ms = clock_mono_ms();

	log_repeats(now_ms);
	if (level < LEVEL_WARN || !repeats_hold(&repeats, level, errnum, msg, kvs, now_ms))
		line(level, errnum, log_state.trace, msg, kvs);
	errno = saved_errno;
}

void
log_in_handler(enum log_level level, const char *msg, const struct log_kv *kvs)
{
	const int saved_errno = errno;

	if (level >= log_state.level)
		line(level, 0, 0, msg, kvs);
	errno = saved_errno;
}

/*
 * _exit: czmq's atexit handler sleeps while sockets are open, and a process in trouble must not run
 * others' handlers.
 */
_Noreturn void
log_die(int exit_code, int errnum, const char *msg, const struct log_kv *kvs)
{
	log_state.sink = NULL;		/* what a sink holds back would be lost with us */
	log_repeats(INT64_MAX);
	line(LEVEL_ERROR, errnum, log_state.trace, msg, kvs);
	_exit(exit_code);
}

void
log_flush(void)
{
	const int saved_errno = errno;

	log_repeats(clock_mono_ms());
	errno = saved_errno;
}

void
log_set_level(enum log_level level)
{
	MUST((unsigned)level < LEVEL_MAX);
	log_state.level = level;
}

enum log_level
log_get_level(void)
{
	return log_state.level;
}

void
log_set_trace(uint64_t trace)
{
	log_state.trace = trace;
}

uint64_t
log_get_trace(void)
{
	return log_state.trace;
}

/* Time depends on len alone, never on where the first difference is. */
bool
secret_equal(const struct secret *a, const void *bytes, size_t len)
{
	const uint8_t *const b = bytes;
	uint8_t diff = 0;

	if (len != a->len || len == 0 || len > SECRET_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		diff |= a->bytes[i] ^ b[i];
	return diff == 0;
}

void
secret_wipe(struct secret *s)
{
	explicit_bzero(s, sizeof(*s));
}

/* Without a trace: such a line stands for many. */
static void
log_repeats(int64_t now_ms)
{
	const struct repeat *r;

	while ((r = repeats_take(&repeats, now_ms)) != NULL)
		line(r->level, r->errnum, 0, r->msg, r->kvs);
}

static void
line(enum log_level level, int errnum, uint64_t trace, const char *msg, const struct log_kv *kvs)
{
	char buf[PIPE_BUF + 1];
	size_t len = log_format_line(buf, sizeof(buf), log_state.format, log_state.colour, log_state.actor,
	    clock_wall_ms(), trace, level, errnum, msg, kvs);

	if (log_state.sink != NULL) {
		log_state.sink(buf, len);
		return;
	}
	for (const char *p = buf; len > 0;) {
		const ssize_t n = write(STDERR_FILENO, p, len);

		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return;		/* stderr is closed: there is nowhere to log */
		p += n;
		len -= (size_t)n;
	}
}
