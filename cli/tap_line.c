/* cli/tap_line.c - formats message bodies as lines. */
#include "tap_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "obj.h"
#include "utf8.h"

enum { VALUE_FIRST = 4096, TIME_MAX = 48 };

static void open_item(struct tap_line *, uint32_t, struct msg_arena *);
static void print_text(FILE *, const struct tap_line *);
static void print_json(FILE *, const struct tap_line *);
static void print_value(FILE *, const struct tap_line *, bool);
static const char *local_time(int64_t, char *);
static const char *utc_time(int64_t, char *);
static void plain(FILE *, struct wire_str);
static void quoted(FILE *, struct wire_str);

bool
tap_line_next(struct tap_line *l, struct capture *c, struct msg_arena *arena)
{
	const struct wire_str actor = wire_str_of(role_name(c->actor));
	const uint32_t place = c->bodies - c->frame.bodies;
	const uint8_t *start = c->frame.next;

	*l = (struct tap_line){
		.time_us = c->meta.time_us,
		.from = c->direction == TAP_OUT ? actor : c->meta.peer,
		.to = c->direction == TAP_OUT ? c->meta.peer : actor,
		.link = c->link,
		.message = c->message,
		.trace = c->frame.env.trace,
		.seq = c->frame.env.seq,
		.epoch = c->frame.env.epoch,
		.value_type = c->message,
	};
	if (!frame_next(&c->frame, arena, &l->value))
		return false;
	l->size = (size_t)(c->frame.next - start);
	if (msg_table[c->message].many)
		open_item(l, place, arena);
	return true;
}

void
tap_line_print(FILE *out, const struct tap_line *l, bool json)
{
	if (json)
		print_json(out, l);
	else
		print_text(out, l);
}

void
tap_line_print_lost(FILE *out, uint64_t n, const char *actor, bool json)
{
	fprintf(out, json ? "{\"lost\":%" PRIu64 ",\"actor\":\"%s\"}\n"
	    : "-- lost %" PRIu64 " records of %s (reader too slow)\n", n, actor);
}

void
tap_line_print_damaged(FILE *out, const char *why, const struct byte_view *topic, bool json)
{
	const uint32_t len = topic->len < 128 ? (uint32_t)topic->len : 128;
	const struct wire_str text = { (const char *)topic->p, len };

	fprintf(out, json ? "{\"damaged\":\"%s\",\"topic\":" : "-- damaged record: %s, topic ", why);
	if (json)
		quoted(out, text);
	else
		plain(out, text);
	fprintf(out, json ? "}\n" : "\n");
}

/* An item's line is about what it carries. */
static void
open_item(struct tap_line *l, uint32_t place, struct msg_arena *arena)
{
	const struct body_item item = l->value.item;
	const enum msg type = msg_by_number(item.type);

	l->has_key = true;
	l->key = item.key;
	l->gone = item.gone;
	if (l->message != MSG_RESULT_ITEMS)	/* whose number is the write's */
		l->seq += place;
	if (item.trace != 0)
		l->trace = item.trace;
	l->value_type = MSG_MAX;
	if (!item.gone && type != MSG_MAX && (link_carries(l->link, type) || link_answers(l->link, type))
	    && msg_unpack_value(type, item.value.p, item.value.len, arena, &l->value))
		l->value_type = type;
}

static void
print_text(FILE *out, const struct tap_line *l)
{
	char time[TIME_MAX];

	fprintf(out, "%s ", local_time(l->time_us, time));
	plain(out, l->from);
	fprintf(out, " > ");
	plain(out, l->to);
	fprintf(out, " %s %s ", link_table[l->link].name, msg_name(l->message));
	plain(out, l->has_key ? l->key : wire_str_of("-"));
	fprintf(out, " %zuB", l->size);
	if (l->trace != 0)
		fprintf(out, " trace=%016" PRIx64, l->trace);
	if (l->value_type != MSG_MAX)
		print_value(out, l, false);
	else
		fprintf(out, l->gone ? " gone" : " (value does not decode)");
	fprintf(out, "\n");
}

static void
print_json(FILE *out, const struct tap_line *l)
{
	char time[TIME_MAX];

	fprintf(out, "{\"time\":\"%s\",\"from\":", utc_time(l->time_us, time));
	quoted(out, l->from);
	fprintf(out, ",\"to\":");
	quoted(out, l->to);
	fprintf(out, ",\"link\":\"%s\",\"message\":\"%s\",\"key\":", link_table[l->link].name,
	    msg_name(l->message));
	if (l->has_key)
		quoted(out, l->key);
	else
		fprintf(out, "null");
	fprintf(out, ",\"size\":%zu,\"trace\":", l->size);
	if (l->trace != 0)
		fprintf(out, "\"%016" PRIx64 "\"", l->trace);
	else
		fprintf(out, "null");
	fprintf(out, ",\"seq\":%" PRIu64 ",\"epoch\":%" PRIu64, l->seq, l->epoch);
	if (l->has_key)
		fprintf(out, ",\"gone\":%s", l->gone ? "true" : "false");
	fprintf(out, ",\"value\":");
	if (l->value_type != MSG_MAX)
		print_value(out, l, true);
	else
		fprintf(out, "null");
	fprintf(out, "}\n");
}

/*
 * msg_print cuts what does not fit, which would not be JSON any more: then it is called again with
 * more room.
 */
static void
print_value(FILE *out, const struct tap_line *l, bool json)
{
	static char *buf;
	static size_t size = VALUE_FIRST;

	if (buf == NULL)
		buf = obj_alloc(size);
	while (msg_print(l->value_type, &l->value, json, buf, size) + 1 >= size)
		buf = obj_realloc(buf, size *= 2);
	fprintf(out, json ? "{%s}" : buf[0] != '\0' ? " %s" : "%s", buf);
}

static const char *
local_time(int64_t time_us, char *buf)
{
	const time_t seconds = (time_t)(time_us / 1000000);
	struct tm tm;

	if (time_us < 0 || localtime_r(&seconds, &tm) == NULL)
		return "??:??:??.???";
	snprintf(buf, TIME_MAX, "%02d:%02d:%02d.%03d", tm.tm_hour, tm.tm_min, tm.tm_sec,
	    (int)(time_us / 1000 % 1000));
	return buf;
}

/* RFC 3339. */
static const char *
utc_time(int64_t time_us, char *buf)
{
	const time_t seconds = (time_t)(time_us / 1000000);
	struct tm tm;

	if (time_us < 0 || gmtime_r(&seconds, &tm) == NULL || tm.tm_year > 8099)
		return "";
	const size_t len = strftime(buf, TIME_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + len, TIME_MAX - len, ".%06dZ", (int)(time_us % 1000000));
	return buf;
}

/* One word of printable ASCII, whatever it was: a line keeps its columns, a terminal its state. */
static void
plain(FILE *out, struct wire_str s)
{
	for (uint32_t i = 0; i < s.len; i++)
		putc(s.p[i] > ' ' && s.p[i] <= '~' ? s.p[i] : '?', out);
	if (s.len == 0)
		putc('-', out);
}

/* A JSON string. */
static void
quoted(FILE *out, struct wire_str s)
{
	putc('"', out);
	for (uint32_t i = 0; i < s.len;) {
		char shown[UTF8_SHOWN_MAX];
		size_t n;

		i += (uint32_t)utf8_show_json(s.p + i, s.len - i, shown, &n);
		fwrite(shown, 1, n, out);
	}
	putc('"', out);
}
