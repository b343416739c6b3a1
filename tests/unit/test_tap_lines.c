/* tests/unit/test_tap_lines.c - `muster tap` without processes: records, lines, holes, files, damage. */
#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/filter.h"
#include "cli/tap_line.h"
#include "cli/tapfile.h"
#include "keytab.h"
#include "obj.h"

/* A record, made as an actor would. */
struct made {
	msgpack_sbuffer		topic, meta, frame;
	struct capture_raw	raw;
};

static struct byte_view
view(const msgpack_sbuffer *b)
{
	return (struct byte_view){ (const uint8_t *)b->data, b->size };
}

static void
make(struct made *m, const char *topic, uint64_t seq, const struct envelope *env,
    const union msg_body *bodies, size_t n)
{
	const union msg_body meta = { .tap = { .seq = seq, .time_us = 1700000000123456, .incarnation = 1,
		.peer = wire_str_of("test-consumer-1") } };

	msgpack_sbuffer_init(&m->topic);
	msgpack_sbuffer_init(&m->meta);
	msgpack_sbuffer_init(&m->frame);
	if (topic[0] != '\0')
		msgpack_sbuffer_write(&m->topic, topic, strlen(topic));
	msg_pack(&m->meta, MSG_TAP, &meta);
	frame_begin(&m->frame, env);
	for (size_t i = 0; i < n; i++)
		msg_pack(&m->frame, env->type, &bodies[i]);
	m->raw = (struct capture_raw){ view(&m->topic), view(&m->meta), view(&m->frame) };
}

static void
unmake(struct made *m)
{
	msgpack_sbuffer_destroy(&m->topic);
	msgpack_sbuffer_destroy(&m->meta);
	msgpack_sbuffer_destroy(&m->frame);
}

/* Two items: a sample and one that is gone. */
static void
make_delta(struct made *m, uint64_t seq)
{
	const union msg_body sample = { .sample = { .number = 4, .sent_us = -5 } };
	const struct envelope env = { .type = MSG_DELTA, .epoch = 9, .seq = 30, .trace = 0xabc };
	msgpack_sbuffer value;

	msgpack_sbuffer_init(&value);
	msg_pack(&value, MSG_SAMPLE, &sample);
	const union msg_body bodies[] = {
		{ .item = { .key = wire_str_of("worker-17"), .uid = wire_str_of("u"), .rv = wire_str_of("1"),
		    .version = 2, .trace = 0x123, .type = msg_table[MSG_SAMPLE].number,
		    .value = { (const uint8_t *)value.data, (uint32_t)value.size } } },
		{ .item = { .key = wire_str_of("w\n2"), .uid = wire_str_of("u"), .rv = wire_str_of("1"),
		    .gone = true } },
	};
	make(m, "o/test-producer/samples/DELTA", seq, &env, bodies, NITEMS(bodies));
	msgpack_sbuffer_destroy(&value);
}

static char *
print_all(const struct made *m, const struct filter *f, bool json)
{
	struct msg_arena arena;
	struct capture c;
	struct tap_line l;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	msg_arena_init(&arena);
	const char *wrong = capture_open(&c, &m->raw, &arena);
	if (wrong != NULL)
		tap_line_print_damaged(out, wrong, &m->raw.topic, json);
	while (wrong == NULL && filter_record(f, &c) && c.frame.bodies > 0) {
		assert_true(tap_line_next(&l, &c, &arena));
		if (filter_line(f, &l))
			tap_line_print(out, &l, json);
	}
	msg_arena_free(&arena);
	fclose(out);
	return text;
}

static void
text_lines(void **state)
{
	struct made m;

	(void)state;
	make_delta(&m, 1);
	char *text = print_all(&m, &FILTER_ALL, false);
	assert_string_equal(text,
	    "22:13:20.123 test-producer > test-consumer-1 samples DELTA worker-17 30B"
	    " trace=0000000000000123 number=4 sent_us=-5 padding=<0 bytes>\n"
	    "22:13:20.123 test-producer > test-consumer-1 samples DELTA w?2 15B"
	    " trace=0000000000000abc gone\n");
	free(text);
	unmake(&m);
}

static void
json_lines(void **state)
{
	struct made m;

	(void)state;
	make_delta(&m, 1);
	char *text = print_all(&m, &FILTER_ALL, true);
	assert_string_equal(text,
	    "{\"time\":\"2023-11-14T22:13:20.123456Z\",\"from\":\"test-producer\",\"to\":\"test-consumer-1\","
	    "\"link\":\"samples\",\"message\":\"DELTA\",\"key\":\"worker-17\",\"size\":30,"
	    "\"trace\":\"0000000000000123\",\"seq\":30,\"epoch\":9,\"gone\":false,"
	    "\"value\":{\"number\":4,\"sent_us\":-5,\"padding\":{\"bytes\":0}}}\n"
	    "{\"time\":\"2023-11-14T22:13:20.123456Z\",\"from\":\"test-producer\",\"to\":\"test-consumer-1\","
	    "\"link\":\"samples\",\"message\":\"DELTA\",\"key\":\"w\\n2\",\"size\":15,"
	    "\"trace\":\"0000000000000abc\",\"seq\":31,\"epoch\":9,\"gone\":true,\"value\":null}\n");
	free(text);
	unmake(&m);
}

/* The other direction; messages without key or trace print none; a token is never printed. */
static void
received_hello(void **state)
{
	const union msg_body hello = { .hello = { .role = wire_str_of("test-consumer-1"), .incarnation = 2,
		.token = { (const uint8_t *)"sesame", 6 } } };
	const struct envelope env = { .type = MSG_HELLO };
	const struct filter in = { .direction = TAP_IN, .actor = ROLE_ANY, .link = LINK_MAX,
		.message = MSG_MAX };
	struct made m;

	(void)state;
	make(&m, "i/test-producer/samples/HELLO", 1, &env, &hello, 1);
	char *text = print_all(&m, &in, false);
	assert_non_null(strstr(text, " test-consumer-1 > test-producer samples HELLO - "));
	assert_non_null(strstr(text, "token=***"));
	assert_null(strstr(text, "sesame"));
	assert_null(strstr(text, "trace="));
	free(text);
	text = print_all(&m, &in, true);
	assert_non_null(strstr(text, "\"key\":null"));
	assert_non_null(strstr(text, "\"trace\":null"));
	assert_null(strstr(text, "sesame"));
	free(text);
	unmake(&m);
}

/* A value that does not fit the first buffer is still whole JSON. */
static void
large_values_are_whole(void **state)
{
	enum { LARGE = 100000 };
	char *labels = obj_alloc(LARGE + 1);
	struct made m;
	msgpack_sbuffer value;
	json_error_t error;

	(void)state;
	memset(labels, '"', LARGE);
	const union msg_body stat = { .stat = { .family = wire_str_of("f"), .help = wire_str_of("h"),
		.labels = { labels, LARGE } } };
	msgpack_sbuffer_init(&value);
	msg_pack(&value, MSG_STAT, &stat);
	const union msg_body item = { .item = { .key = wire_str_of("k"), .type = msg_table[MSG_STAT].number,
		.value = { (const uint8_t *)value.data, (uint32_t)value.size } } };
	make(&m, "o/test-producer/stats/DELTA", 1, &(struct envelope){ .type = MSG_DELTA }, &item, 1);
	char *text = print_all(&m, &FILTER_ALL, true);
	json_t *o = json_loads(text, 0, &error);
	assert_non_null(o);
	const json_t *got = json_object_get(json_object_get(o, "value"), "labels");
	assert_int_equal(json_string_length(got), LARGE);
	json_decref(o);
	free(text);
	free(labels);
	msgpack_sbuffer_destroy(&value);
	unmake(&m);
}

static const struct filter_row {
	const char	*name;
	enum role	 actor;
	enum link	 link;
	enum msg	 message;
	const char	*key;
	uint64_t	 trace;
	int		 lines;		/* of make_delta */
	const char	*topics;	/* at the producer */
} filter_rows[] = {
	{ "everything", ROLE_ANY, LINK_MAX, MSG_MAX, NULL, 0, 2, "o/test-producer/ " },
	{ "its actor", ROLE_TEST_PRODUCER, LINK_MAX, MSG_MAX, NULL, 0, 2, "o/test-producer/ " },
	{ "another actor", ROLE_METRICS, LINK_MAX, MSG_MAX, NULL, 0, 0, "" },
	{ "its link", ROLE_ANY, LINK_SAMPLES, MSG_MAX, NULL, 0, 2, "o/test-producer/samples/ " },
	{ "another link", ROLE_ANY, LINK_STATS, MSG_MAX, NULL, 0, 0, "o/test-producer/stats/ " },
	{ "its message", ROLE_ANY, LINK_MAX, MSG_DELTA, NULL, 0, 2,
	    "o/test-producer/stats/DELTA o/test-producer/samples/DELTA " },
	{ "another message", ROLE_ANY, LINK_SAMPLES, MSG_BEAT, NULL, 0, 0, "o/test-producer/samples/BEAT " },
	{ "its value", ROLE_ANY, LINK_MAX, MSG_SAMPLE, NULL, 0, 1,
	    "o/test-producer/samples/SNAP_ITEMS o/test-producer/samples/DELTA " },
	{ "another value", ROLE_ANY, LINK_SAMPLES, MSG_STAT, NULL, 0, 0, "" },
	{ "its key", ROLE_ANY, LINK_MAX, MSG_MAX, "worker-17", 0, 1, "o/test-producer/ " },
	{ "a glob", ROLE_ANY, LINK_MAX, MSG_MAX, "w*[27]", 0, 2, "o/test-producer/ " },
	{ "another key", ROLE_ANY, LINK_MAX, MSG_MAX, "worker", 0, 0, "o/test-producer/ " },
	{ "trace of the item", ROLE_ANY, LINK_MAX, MSG_MAX, NULL, 0x123, 1, "o/test-producer/ " },
	{ "trace of the frame", ROLE_ANY, LINK_MAX, MSG_MAX, NULL, 0xabc, 1, "o/test-producer/ " },
	{ "another trace", ROLE_ANY, LINK_MAX, MSG_MAX, NULL, 0x1, 0, "o/test-producer/ " },
};

static void
add_topic(const char *prefix, void *arg)
{
	char *list = arg;
	const size_t len = strlen(list);

	snprintf(list + len, 512 - len, "%s ", prefix);
}

static void
check_filter(void **state)
{
	const struct filter_row *r = *state;
	const struct filter f = { .actor = r->actor, .link = r->link, .message = r->message, .key = r->key,
		.by_trace = r->trace != 0, .trace = r->trace };
	char topics[512] = "";
	struct made m;
	int lines = 0;

	make_delta(&m, 1);
	char *text = print_all(&m, &f, false);
	for (const char *p = text; *p != '\0'; p++)
		lines += *p == '\n';
	assert_int_equal(lines, r->lines);
	filter_topics(&f, ROLE_TEST_PRODUCER, add_topic, topics);
	assert_string_equal(topics, r->topics);
	free(text);
	unmake(&m);
}

/* The subscription lets pass exactly what the filter selects: every topic, against the prefixes. */
static void
topics_agree_with_the_filter(void **state)
{
	const struct filter_row *r = filter_rows;

	(void)state;
	for (size_t i = 0; i < NITEMS(filter_rows); i++, r++) {
		const struct filter f = { .actor = r->actor, .link = r->link, .message = r->message };

		for (unsigned l = 0; l < LINK_MAX; l++) {
			if (!link_binds((enum link)l, ROLE_TEST_PRODUCER))
				continue;
			for (unsigned m = 0; m < MSG_MAX; m++) {
				const struct capture c = { .actor = ROLE_TEST_PRODUCER, .link = (enum link)l,
					.message = (enum msg)m };
				char topics[512] = "", topic[128];
				bool passes = false;

				filter_topics(&f, ROLE_TEST_PRODUCER, add_topic, topics);
				tap_topic(topic, sizeof(topic), TAP_OUT, c.actor, c.link, c.message);
				for (char *p = strtok(topics, " "); p != NULL; p = strtok(NULL, " "))
					passes |= strncmp(topic, p, strlen(p)) == 0;
				assert_int_equal(passes, filter_record(&f, &c));
			}
		}
	}
}

#define UNKNOWN	"-- damaged record: unknown topic, topic "

static const struct damage_row {
	const char	*name, *topic;
	size_t		 meta_cut, frame_cut;	/* bytes taken away at the end */
	const char	*want;
} damage_rows[] = {
	{ "empty topic", "", 0, 0, UNKNOWN "-\n" },
	{ "unknown actor", "o/nobody/samples/DELTA", 0, 0, UNKNOWN "o/nobody/samples/DELTA\n" },
	{ "unknown link", "o/metrics/x/DELTA", 0, 0, UNKNOWN "o/metrics/x/DELTA\n" },
	{ "unknown message", "o/metrics/stats/X", 0, 0, UNKNOWN "o/metrics/stats/X\n" },
	{ "unknown direction", "x/metrics/stats/DELTA", 0, 0, UNKNOWN "x/metrics/stats/DELTA\n" },
	{ "long direction", "oo/metrics/stats/DELTA", 0, 0, UNKNOWN "oo/metrics/stats/DELTA\n" },
	{ "half a topic", "o/metrics/stats", 0, 0, UNKNOWN "o/metrics/stats\n" },
	{ "more topic", "o/metrics/stats/DELTA/x", 0, 0, UNKNOWN "o/metrics/stats/DELTA/x\n" },
	{ "no direction", "/metrics/stats/DELTA", 0, 0, UNKNOWN "/metrics/stats/DELTA\n" },
	{ "escapes in the topic", "\033[2J", 0, 0, UNKNOWN "?[2J\n" },
	{ "cut meta", "o/metrics/stats/BEAT", 1, 0,
	    "-- damaged record: its description does not decode, topic o/metrics/stats/BEAT\n" },
	{ "cut frame", "o/metrics/stats/BEAT", 0, 1,
	    "-- damaged record: declares more bytes than it has, topic o/metrics/stats/BEAT\n" },
	{ "frame of another message", "o/metrics/stats/DELTA", 0, 0,
	    "-- damaged record: the frame is not of the topic's message, topic o/metrics/stats/DELTA\n" },
};

static void
check_damage(void **state)
{
	const struct damage_row *r = *state;
	const union msg_body beat = { .beat = { .nonce = 1 } };
	struct made m;

	make(&m, r->topic, 1, &(struct envelope){ .type = MSG_BEAT }, &beat, 1);
	m.raw.meta.len -= r->meta_cut;
	m.raw.frame.len -= r->frame_cut;
	char *text = print_all(&m, &FILTER_ALL, false);
	assert_string_equal(text, r->want);
	free(text);
	text = print_all(&m, &FILTER_ALL, true);
	json_t *o = json_loads(text, 0, NULL);
	assert_non_null(json_object_get(o, "damaged"));
	json_decref(o);
	free(text);
	unmake(&m);
}

/* A value that is not of its type is shown as such, and the rest of the line stays. */
static void
values_that_do_not_decode(void **state)
{
	const union msg_body item = { .item = { .key = wire_str_of("k"), .type = msg_table[MSG_SAMPLE].number,
		.value = { (const uint8_t *)"\xc1", 1 } } };
	struct made m;

	(void)state;
	make(&m, "o/test-producer/samples/DELTA", 1, &(struct envelope){ .type = MSG_DELTA }, &item, 1);
	char *text = print_all(&m, &FILTER_ALL, false);
	assert_non_null(strstr(text, " DELTA k "));
	assert_non_null(strstr(text, "(value does not decode)\n"));
	free(text);
	unmake(&m);
}

static void
holes_are_counted(void **state)
{
	static const struct {
		uint64_t incarnation, seq, want;
	} steps[] = {
		{ 1, 5, 0 },	/* joined late: nothing is missing */
		{ 1, 6, 0 }, { 1, 9, 2 }, { 1, 10, 0 },
		{ 2, 1, 0 }, { 2, 3, 1 },
		{ 3, 100, 0 },	/* another reader was first */
		{ 3, 100, 0 }, { 3, 99, 0 }, { 3, 100, 0 }, { 3, UINT64_MAX, UINT64_MAX - 101 },
	};
	struct keytab *seen = keytab_new(sizeof(struct tap_position));

	(void)state;
	for (size_t i = 0; i < NITEMS(steps); i++) {
		const struct capture other = { .actor = ROLE_METRICS,
			.meta = { .incarnation = 1, .seq = i + 1 } };
		const struct capture c = { .actor = ROLE_TEST_PRODUCER,
			.meta = { .incarnation = steps[i].incarnation, .seq = steps[i].seq } };

		assert_int_equal(tap_loss_before(seen, &other), 0);
		assert_int_equal(tap_loss_before(seen, &c), steps[i].want);
	}
	keytab_free(&seen);
}

static void
lost_lines(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	tap_line_print_lost(out, 7, "test-producer", false);
	tap_line_print_lost(out, 7, "test-producer", true);
	fclose(out);
	assert_string_equal(text, "-- lost 7 records of test-producer (reader too slow)\n"
	    "{\"lost\":7,\"actor\":\"test-producer\"}\n");
	free(text);
}

static void
temporary(char *path)
{
	memcpy(path, "/tmp/muster-tap-XXXXXX", 23);
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
}

static void
files_come_back_as_they_were(void **state)
{
	char path[32];
	struct made m;
	struct capture_raw raw;
	const char *why;

	(void)state;
	temporary(path);
	struct tapfile *f = tapfile_create(path);
	for (uint64_t i = 1; i <= 3; i++) {
		make_delta(&m, i);
		assert_true(tapfile_write(f, &m.raw));
		unmake(&m);
	}
	assert_true(tapfile_close(&f));
	f = tapfile_open(path);
	for (uint64_t i = 1; i <= 3; i++) {
		make_delta(&m, i);
		assert_true(tapfile_read(f, &raw, &why));
		assert_int_equal(raw.frame.len, m.raw.frame.len);
		assert_memory_equal(raw.topic.p, m.raw.topic.p, m.raw.topic.len);
		assert_memory_equal(raw.meta.p, m.raw.meta.p, m.raw.meta.len);
		assert_memory_equal(raw.frame.p, m.raw.frame.p, m.raw.frame.len);
		unmake(&m);
	}
	assert_false(tapfile_read(f, &raw, &why));
	assert_null(why);
	assert_true(tapfile_close(&f));
	unlink(path);
}

/* Wherever the file is cut, and whichever byte is wrong, reading ends in order. */
static void
damaged_files_end_in_order(void **state)
{
	char path[32];
	struct made m;
	struct capture_raw raw;
	const char *why;
	uint8_t whole[512];

	(void)state;
	temporary(path);
	struct tapfile *f = tapfile_create(path);
	make_delta(&m, 1);
	tapfile_write(f, &m.raw);
	tapfile_write(f, &m.raw);
	unmake(&m);
	assert_true(tapfile_close(&f));
	FILE *in = fopen(path, "r");
	const size_t len = fread(whole, 1, sizeof(whole), in);
	fclose(in);
	assert_true(len > 20 && len < sizeof(whole));
	const size_t record = (len - 11) / 2;
	for (size_t i = 0; i < 2 * len; i++) {
		const bool cut = i < len;
		const size_t at = cut ? i : i - len;
		const uint8_t keep = whole[at];

		whole[at] ^= cut ? 0 : 0xff;
		FILE *out = fopen(path, "w");
		fwrite(whole, 1, cut ? at : len, out);
		fclose(out);
		whole[at] = keep;
		f = tapfile_open(path);
		assert_int_equal(f != NULL, at >= 11);
		if (f == NULL)
			continue;
		int records = 0;
		while (tapfile_read(f, &raw, &why))
			records++;
		if (cut && at != 11 && at != 11 + record) {
			assert_non_null(why);
			assert_int_equal(tapfile_offset(f), 11 + (size_t)records * record);
		}
		assert_true(records <= 2);
		tapfile_close(&f);
	}
	unlink(path);
}

/* Lengths that reach beyond the record, in each of the three parts. */
static void
lengths_beyond_the_record(void **state)
{
	static const char *const bodies[] = {
		"\x93\xc6\x7f\xff\xff\xff", "\x93\xa1t\xc6\x7f\xff\xff\xff",
		"\x93\xa1t\xc4\x01m\xc6\x7f\xff\xff\xff", "\x93\xa1t\xc4\x01m\xc4\002f",
		"\x93\xa1t\xc4\x01m\xc5", "\x93\xa1t\xc4\x01m", "\x93", "\x92\xa1t\xc4\x01m",
	};
	char path[32];
	struct capture_raw raw;
	const char *why;

	(void)state;
	for (size_t i = 0; i < NITEMS(bodies); i++) {
		const uint8_t len = (uint8_t)strlen(bodies[i]);

		temporary(path);
		FILE *out = fopen(path, "w");
		fprintf(out, "MUSTERTAP1\n%c%c%c%c%s", 0, 0, 0, len, bodies[i]);
		fclose(out);
		struct tapfile *f = tapfile_open(path);
		assert_false(tapfile_read(f, &raw, &why));
		assert_string_equal(why, "a record is not [topic, meta, frame]");
		tapfile_close(&f);
		unlink(path);
	}
}

int
main(void)
{
	struct CMUnitTest tests[11 + NITEMS(filter_rows) + NITEMS(damage_rows)] = {
		cmocka_unit_test(text_lines),
		cmocka_unit_test(json_lines),
		cmocka_unit_test(received_hello),
		cmocka_unit_test(large_values_are_whole),
		cmocka_unit_test(topics_agree_with_the_filter),
		cmocka_unit_test(values_that_do_not_decode),
		cmocka_unit_test(holes_are_counted),
		cmocka_unit_test(lost_lines),
		cmocka_unit_test(files_come_back_as_they_were),
		cmocka_unit_test(damaged_files_end_in_order),
		cmocka_unit_test(lengths_beyond_the_record),
	};
	size_t n = 11;

	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < NITEMS(filter_rows); i++)
		tests[n++] = (struct CMUnitTest){ filter_rows[i].name, check_filter, NULL, NULL,
			(void *)(uintptr_t)&filter_rows[i] };
	for (size_t i = 0; i < NITEMS(damage_rows); i++)
		tests[n++] = (struct CMUnitTest){ damage_rows[i].name, check_damage, NULL, NULL,
			(void *)(uintptr_t)&damage_rows[i] };
	return cmocka_run_group_tests_name("tap lines", tests, NULL, NULL);
}
