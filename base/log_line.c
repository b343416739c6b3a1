/*
 * base/log_line.c - renders one fact as one line. Pure: no clock, no write, no allocation.
 *
 * The line is valid whatever comes in: text is checked as UTF-8, control characters (which could
 * also steer a terminal) are escaped, and what does not fit is cut between characters and marked
 * "...". A long value never pushes out the keys behind it: room for them is set aside first.
 */
#include "log.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "utf8.h"

enum { LINE_BYTES = PIPE_BUF };	/* one write(2) of this much to a pipe is not mixed with another's */

struct line {
	char		*at;
	char		*end;		/* the tail of the line has its room behind it */
	uint64_t	 seen;		/* keys already written: a key stands in a line once */
};

struct value {
	const char	*s;		/* NULL: nothing was known */
	size_t		 len;
};

/* How a key and its value are written. */
static const struct form {
	const char	*before_key, *after_key, *nothing;
	utf8_show	*show;
} forms[] = {
	[LOG_JSON]    = { .before_key = ",\"", .after_key = "\":", .nothing = "null",
	    .show = utf8_show_json },
	[LOG_CONSOLE] = { .before_key = " ", .after_key = "=", .nothing = "-", .show = utf8_show_text },
};

static const char *const key_names[LK_MAX] = {
#define KEY_NAME(ID, name) [LK_##ID] = name,
	LOG_KEYS(KEY_NAME)
};
_Static_assert(LK_MAX <= 64, "struct line.seen has a bit per key");

static const char *const level_names[LEVEL_MAX] = {
#define LEVEL_NAME(ID, name) [LEVEL_##ID] = name,
	LOG_LEVELS(LEVEL_NAME)
};

static const char *const level_colours[LEVEL_MAX] = {
	[LEVEL_DEBUG] = "\033[2m",
	[LEVEL_INFO]  = "\033[32m",
	[LEVEL_WARN]  = "\033[33m",
	[LEVEL_ERROR] = "\033[31m",
};
#define COLOUR_OFF	"\033[0m"

static bool head_json(
    struct line *, const char *, int64_t, enum log_level, const char *, const struct log_kv *);
static bool head_console(struct line *, bool, const char *, int64_t, enum log_level, const char *,
    const struct log_kv *);
static void member(struct line *, enum log_format, const struct log_kv *);
static void make_tail(char *, size_t, bool, uint64_t, int);
static bool has_key(const struct log_kv *, enum log_key);
static bool put(struct line *, const char *);
static void put_text(struct line *, char *, utf8_show *, struct value);
static struct value value_of(const struct log_kv *);
static bool plain(struct value);
static char *limit(const struct line *, const struct log_kv *);
static void timestamp(char *, size_t, int64_t, bool);

size_t
log_format_line(char *buf, size_t size, enum log_format format, bool colour, const char *actor,
    int64_t wall_ms, uint64_t trace, enum log_level level, int errnum, const char *msg,
    const struct log_kv *kvs)
{
	const bool json = format == LOG_JSON;
	char tail[128];

	MUST((unsigned)level < LEVEL_MAX);
	make_tail(tail, sizeof(tail), json, trace, has_key(kvs, LK_ERR) ? 0 : errnum);
	if (size > LINE_BYTES + 1)
		size = LINE_BYTES + 1;
	if (size <= strlen(tail))
		return 0;
	struct line l = { .at = buf, .end = buf + size - 1 - strlen(tail) };
	if (!(json ? head_json(&l, actor, wall_ms, level, msg, kvs)
		   : head_console(&l, colour, actor, wall_ms, level, msg, kvs)))
		return 0;
	for (; kvs->type != LOG_END; kvs++)
		member(&l, format, kvs);
	memcpy(l.at, tail, strlen(tail) + 1);
	return (size_t)(l.at - buf) + strlen(tail);
}

bool
log_level_parse(const char *name, enum log_level *out)
{
	for (unsigned i = 0; i < LEVEL_MAX; i++) {
		if (strcmp(level_names[i], name) == 0) {
			*out = (enum log_level)i;
			return true;
		}
	}
	return false;
}

const char *
log_level_name(enum log_level level)
{
	return (unsigned)level < LEVEL_MAX ? level_names[level] : "?";
}

/*
 * "actor" is whom the line is about. Mostly that is the writer; a line with an ACTOR key of its own
 * (the supervisor on one of its children) names its writer as "by", so that one search for an actor
 * also finds the lines about its deaths.
 */
static bool
head_json(struct line *l, const char *actor, int64_t wall_ms, enum log_level level, const char *msg,
    const struct log_kv *kvs)
{
	const char *const writer = has_key(kvs, LK_ACTOR) ? "by" : "actor";
	char head[96], ts[32];

	timestamp(ts, sizeof(ts), wall_ms, true);
	snprintf(head, sizeof(head), "{\"ts\":\"%s\",\"level\":\"%s\",\"%s\":\"", ts,
	    level_names[level], writer);
	/* Past this the line can be cut anywhere; a buffer without room for the shortest line gets none. */
	if ((size_t)(l->end - l->at) < strlen(head) + 64 || !put(l, head))
		return false;
	put_text(l, l->at + 32, utf8_show_json, (struct value){ actor, strlen(actor) });
	put(l, "\",\"msg\":\"");
	put_text(l, limit(l, kvs) - 1, utf8_show_json, (struct value){ msg, strlen(msg) });
	put(l, "\"");
	return true;
}

static bool
head_console(struct line *l, bool colour, const char *actor, int64_t wall_ms, enum log_level level,
    const char *msg, const struct log_kv *kvs)
{
	char head[96], ts[32];

	timestamp(ts, sizeof(ts), wall_ms, false);
	snprintf(head, sizeof(head), "%s %s%-5s%s ", ts, colour ? level_colours[level] : "",
	    level_names[level], colour ? COLOUR_OFF : "");
	if ((size_t)(l->end - l->at) < strlen(head) + 64 || !put(l, head))
		return false;
	char *const column = l->at;
	put_text(l, l->at + 32, utf8_show_text, (struct value){ actor, strlen(actor) });
	while (l->at < column + 9)
		*l->at++ = ' ';
	if (l->at[-1] != ' ')
		*l->at++ = ' ';
	put_text(l, limit(l, kvs), utf8_show_text, (struct value){ msg, strlen(msg) });
	return true;
}

/* A key and its value, or neither. */
static void
member(struct line *l, enum log_format format, const struct log_kv *kv)
{
	const struct form *const f = &forms[format];
	const struct value v = value_of(kv);
	struct line m = *l;
	char num[24];

	MUST((unsigned)kv->key < LK_MAX);
	if ((l->seen & 1ull << kv->key) != 0)
		return;
	if (!put(&m, f->before_key) || !put(&m, key_names[kv->key]) || !put(&m, f->after_key))
		return;
	if (v.s == NULL) {
		snprintf(num, sizeof(num), "%" PRId64, kv->num);
		if (!put(&m, kv->type == LOG_INT ? num : f->nothing))
			return;
	} else {
		const char *const quote = format == LOG_CONSOLE && plain(v) ? "" : "\"";
		char *const stop = limit(&m, kv + 1) - strlen(quote);

		if (!put(&m, quote) || m.at + 3 > stop)
			return;
		put_text(&m, stop, f->show, v);
		put(&m, quote);
	}
	l->at = m.at;
	l->seen |= 1ull << kv->key;
}

/* What a line always keeps: errno's text, the trace, its end. */
static void
make_tail(char *buf, size_t size, bool json, uint64_t trace, int errnum)
{
	const char *text = strerrordesc_np(errnum);
	char *at = buf, *const end = buf + size;

	if (errnum != 0)
		at += snprintf(at, (size_t)(end - at), json ? ",\"err\":\"%s\"" : " err=\"%s\"",
		    text != NULL ? text : "unknown error");
	if (trace != 0)
		at += snprintf(at, (size_t)(end - at),
		    json ? ",\"trace\":\"%016" PRIx64 "\"" : " trace=%016" PRIx64, trace);
	snprintf(at, (size_t)(end - at), "%s", json ? "}\n" : "\n");
}

static bool
has_key(const struct log_kv *kvs, enum log_key key)
{
	while (kvs->type != LOG_END && kvs->key != key)
		kvs++;
	return kvs->type != LOG_END;
}

/* Whole or not at all. */
static bool
put(struct line *l, const char *s)
{
	const size_t n = strlen(s);

	if ((size_t)(l->end - l->at) < n)
		return false;
	memcpy(l->at, s, n);
	l->at += n;
	return true;
}

/* Up to stop, between characters, "..." for the rest. The caller has seen to it that three bytes fit. */
static void
put_text(struct line *l, char *stop, utf8_show *show, struct value v)
{
	char *last_cut = l->at;

	while (v.len > 0) {
		char out[UTF8_SHOWN_MAX];
		size_t n;
		const size_t used = show(v.s, v.len, out, &n);

		if (stop - l->at >= 3)
			last_cut = l->at;
		if (stop - l->at < (ptrdiff_t)n) {
			l->at = last_cut;
			if (stop - l->at >= 3)
				put(l, "...");
			return;
		}
		memcpy(l->at, out, n);
		l->at += n;
		v.s += used;
		v.len -= used;
	}
}

/*
 * How far the next text may go: the end, less what the keys behind it need for a useful start of
 * theirs (never more than half of what is left).
 */
static char *
limit(const struct line *l, const struct log_kv *rest)
{
	const size_t left = (size_t)(l->end - l->at);
	size_t reserve = 0;

	for (; rest->type != LOG_END; rest++) {
		const struct value v = value_of(rest);

		reserve += strlen(key_names[rest->key]) + 8 + (v.s == NULL ? 20 : v.len < 64 ? v.len : 64);
	}
	return l->end - (reserve < left / 2 ? reserve : left / 2);
}

static struct value
value_of(const struct log_kv *kv)
{
	if (kv->type != LOG_STR || kv->str == NULL)
		return (struct value){ 0 };
	/* No more than a line can show: a body of megabytes costs no more than its first bytes. */
	return (struct value){ kv->str, kv->len == SIZE_MAX ? strnlen(kv->str, LINE_BYTES)
				      : kv->len < LINE_BYTES ? kv->len : LINE_BYTES };
}

static bool
plain(struct value v)
{
	for (size_t i = 0; i < v.len; i++) {
		if ((unsigned char)v.s[i] <= ' ' || strchr("\"=\\", v.s[i]) != NULL)
			return false;
	}
	return v.len > 0;
}

/*
 * UTC. Not gmtime_r: glibc's reads /etc/localtime, allocates and locks, and a crash handler may
 * stand here.
 */
static void
timestamp(char *buf, size_t size, int64_t wall_ms, bool date)
{
	const int64_t days = wall_ms / 86400000 - (wall_ms % 86400000 < 0);
	const int in_day = (int)(wall_ms - days * 86400000);
	/* Days to a date, in eras of 400 years that begin on 1 March (H. Hinnant's civil_from_days). */
	const int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
	const int doe = (int)(z - era * 146097), yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	const int doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	const int day = doy - (153 * mp + 2) / 5 + 1, month = mp < 10 ? mp + 3 : mp - 9;
	size_t n = 0;

	if (date)
		n = (size_t)snprintf(buf, size, "%04" PRId64 "-%02d-%02dT",
		    yoe + era * 400 + (month <= 2), month, day);
	snprintf(buf + n, size - n, "%02d:%02d:%02d.%03d%s", in_day / 3600000, in_day / 60000 % 60,
	    in_day / 1000 % 60, in_day % 1000, date ? "Z" : "");
}
