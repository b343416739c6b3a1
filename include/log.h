/*
 * include/log.h - one JSON line per fact on stderr, or `level actor msg key=value` for people.
 *
 *	log_info("actor is up", KV_S(ACTOR, name), KV_I(PID, pid));
 *
 * The message is constant text, so that lines can be counted and searched; everything that varies
 * is a key, and the keys are this list. A token lives in `struct secret`, which no KV_ macro takes:
 * the compiler refuses to log it.
 */
#ifndef MUSTER_LOG_H
#define MUSTER_LOG_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_LEVELS(L)	L(DEBUG, "debug") L(INFO, "info") L(WARN, "warn") L(ERROR, "error")

#define LOG_KEYS(K)								\
	K(ACTOR, "actor") K(PEER, "peer") K(LINK, "link") K(MESSAGE, "message")	\
	K(KEY, "key") K(UID, "uid") K(VERB, "verb") K(WHY, "why") K(ERR, "err")	\
	K(REASON, "reason") K(PID, "pid") K(INCARNATION, "incarnation")		\
	K(STATE, "state") K(FROM, "from") K(TO, "to") K(SIGNAL, "signal")	\
	K(STATUS, "status") K(CAUSE, "cause") K(UPTIME_MS, "uptime_ms")		\
	K(NEXT_MS, "next_ms") K(LAST_OUTPUT, "last_output") K(FILE, "file")	\
	K(LINE, "line") K(PATH, "path") K(ADDRESS, "address") K(COUNT, "count")	\
	K(BYTES, "bytes") K(LIMIT, "limit") K(DURATION_MS, "duration_ms")	\
	K(EPOCH, "epoch") K(SEQ, "seq") K(STAGE, "stage") K(VALUE, "value")	\
	K(NEEDS, "needs") K(HINT, "hint") K(VERSION, "version") K(LEVEL, "to_level") \
	K(HOST, "host") K(METHOD, "method") K(CODE, "code") K(OBJECT, "object") \
	K(REPEATED, "repeated") K(RESOURCE, "resource") K(HOLDER, "holder")	\
	K(NODE, "node") K(RESOURCE_VERSION, "resource_version") K(DURATION_US, "duration_us") \
	K(OUTCOME, "outcome") K(CLUSTER, "cluster") K(CLASS, "class")		\
	K(POOL, "pool") K(CLAIM, "claim")

enum log_level {	/* not LOG_INFO: czmq.h brings syslog's */
#define LOG_ENUM(ID, name) LEVEL_##ID,
	LOG_LEVELS(LOG_ENUM)
#undef LOG_ENUM
	LEVEL_MAX
};
enum log_format { LOG_JSON, LOG_CONSOLE };
enum log_key {
#define LOG_ENUM(ID, name) LK_##ID,
	LOG_KEYS(LOG_ENUM)
#undef LOG_ENUM
	LK_MAX
};

struct log_kv {
	enum log_key	 key;
	enum { LOG_END, LOG_STR, LOG_INT } type;
	const char	*str;		/* need not be UTF-8: invalid bytes are escaped */
	size_t		 len;		/* of str; SIZE_MAX: up to the NUL */
	int64_t		 num;
};

#define KV_S(KEY, s)		{ .key = LK_##KEY, .type = LOG_STR, .str = (s), .len = SIZE_MAX }
#define KV_SN(KEY, s, n)	{ .key = LK_##KEY, .type = LOG_STR, .str = (s), .len = (n) }
#define KV_I(KEY, n)		{ .key = LK_##KEY, .type = LOG_INT, .num = (int64_t)(n) }

#define LOG_KVS(...)	((const struct log_kv[]){ __VA_ARGS__ __VA_OPT__(,) { .type = LOG_END } })

#define log_debug(msg, ...)	log_emit(LEVEL_DEBUG, 0, (msg), LOG_KVS(__VA_ARGS__))
#define log_info(msg, ...)	log_emit(LEVEL_INFO, 0, (msg), LOG_KVS(__VA_ARGS__))
/* log_warn and fatal add errno's text as "err"; the x forms do not. */
#define log_warn(msg, ...)	log_emit(LEVEL_WARN, errno, (msg), LOG_KVS(__VA_ARGS__))
#define log_warnx(msg, ...)	log_emit(LEVEL_WARN, 0, (msg), LOG_KVS(__VA_ARGS__))
#define log_error(msg, ...)	log_emit(LEVEL_ERROR, 0, (msg), LOG_KVS(__VA_ARGS__))
/* fatal: the system failed me, exit 111, try again. fatalx: configuration, exit 100, do not. */
#define fatal(msg, ...)		log_die(EXIT_TRANSIENT, errno, (msg), LOG_KVS(__VA_ARGS__))
#define fatalx(msg, ...)	log_die(EXIT_CONFIG, 0, (msg), LOG_KVS(__VA_ARGS__))

/*
 * From a handler of a signal, in any thread: never held back as a repetition, so the caller limits how often.
 */
void log_in_handler(enum log_level level, const char *msg, const struct log_kv *kvs);
void log_open(const char *actor, enum log_format format, enum log_level level);
/*
 * Lines go here instead of stderr, for a process that must never wait for it (musterd). NULL: to
 * stderr. log_die writes to stderr in any case.
 */
void log_set_sink(void (*sink)(const char *line, size_t len));
void log_emit(enum log_level level, int errnum, const char *msg, const struct log_kv *kvs);
_Noreturn void log_die(int exit_code, int errnum, const char *msg, const struct log_kv *kvs);
/* Logs the counts of repeated lines whose window has ended; every log line does so, too. For the loop. */
void log_flush(void);
void log_set_level(enum log_level level);
enum log_level log_get_level(void);
/* The trace id of what is being handled now; every line carries it until it is set to 0. */
void log_set_trace(uint64_t trace);
uint64_t log_get_trace(void);

bool log_level_parse(const char *name, enum log_level *out);
const char *log_level_name(enum log_level level);
/*
 * The line as log_emit would write it, for tests and fuzzing. Returns its length, cut to fit with
 * the line still valid.
 */
size_t log_format_line(char *buf, size_t size, enum log_format format, bool colour, const char *actor,
    int64_t wall_ms, uint64_t trace, enum log_level level, int errnum, const char *msg,
    const struct log_kv *kvs);

/*
 * A secret: filled from a file or the supervisor, compared in constant time, wiped when done, never
 * printed.
 */
enum { SECRET_MAX = 64 };
struct secret {
	uint8_t	bytes[SECRET_MAX];
	uint8_t	len;
};
bool secret_equal(const struct secret *a, const void *bytes, size_t len);
void secret_wipe(struct secret *s);

#endif
