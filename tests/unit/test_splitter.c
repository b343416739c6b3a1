/*
 * tests/unit/test_splitter.c - streams taken apart: what pieces come out, what is refused, and that no
 * cutting of the input, at any byte, changes either.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/splitter_private.h"
#include "random.h"
#include "tests/unit/kubebytes.h"

#define RV	"'metadata':{'resourceVersion':'9'}"

/* Everything that a splitter has returned. */
struct seen {
	char	text[4096];
	size_t	len, stop_after;
};

static bool
on_piece(const void *bytes, size_t len, void *arg)
{
	struct seen *s = arg;
	volatile char sum = 0;

	for (size_t i = 0; i < PROJECT_PADDING; i++)	/* the padding is there to be read */
		sum = (char)(sum + ((const char *)bytes)[len + i]);
	s->len += (size_t)snprintf(
	    s->text + s->len, sizeof(s->text) - s->len, "<%.*s>", (int)len, (const char *)bytes);
	return s->stop_after == 0 || --s->stop_after > 0;
}

/* Feeds in parts of `step` bytes (0: all at once), each exactly as long as it is. */
static void
feed(enum splitter_shape shape, enum project_form form, const void *bytes, size_t len, size_t step,
    struct seen *s)
{
	struct splitter *c = splitter_new(shape, form, on_piece, s);
	bool ok = true;

	for (size_t at = 0; at < len && ok; at += step == 0 ? len : step) {
		const size_t n = step == 0 || len - at < step ? len - at : step;
		uint8_t *exact = obj_memdup((const uint8_t *)bytes + at, n);

		ok = splitter_feed(c, exact, n);
		free(exact);
	}
	ok = splitter_end(c);
	s->len += (size_t)snprintf(
	    s->text + s->len, sizeof(s->text) - s->len, ok ? " ok" : " no: %s", splitter_error(c));
	if (ok && shape == SPLIT_LIST)
		s->len += (size_t)snprintf(s->text + s->len, sizeof(s->text) - s->len, " rv=%s continue"
		    "=%s",
		    splitter_list_rv(c), splitter_list_continue(c));
	splitter_free(&c);
}

static void
assert_splits(enum splitter_shape shape, enum project_form form, const void *bytes, size_t len,
    const char *wanted)
{
	for (size_t step = 0; step <= len && step < 200; step++) {
		struct seen s = { .len = 0 };

		feed(shape, form, bytes, len, step, &s);
		assert_string_equal(s.text, wanted);
	}
}

static const struct row {
	const char	*name;
	enum splitter_shape	 shape;
	const char	*text, *wanted;
} rows[] = {
	{ "lines", SPLIT_WATCH, "{'a':1}\n{'b':2}\n", "<{'a':1}><{'b':2}> ok" },
	{ "no lines", SPLIT_WATCH, "", " ok" },
	{ "empty lines are none", SPLIT_WATCH, "\n\r\n{}\n\n{}\r\n\r\n", "<{}><{}\r> ok" },
	{ "half a line is thrown away", SPLIT_WATCH, "{}\n{'a':", "<{}> no: the stream ended within an event, of which 5 bytes had come" },
	{ "items", SPLIT_LIST, "{'kind':'NodeList'," RV ",'items':[{'a':1},{'b':[{}]}]}\n",
	  "<{'a':1}><{'b':[{}]}> ok rv=9 continue=" },
	{ "metadata behind the items", SPLIT_LIST, "{'items':[{}],'metadata':{'continue':'to\\u006ben',"
	  "'resourceVersion':'9'}}",
	  "<{}> ok rv=9 continue=token" },
	{ "blanks anywhere", SPLIT_LIST, " \n{ " RV " ,\t'items' : [ { } , {'a': 'b'}\r\n] } \n", "<{ }><{'a': 'b'}> ok rv=9 continue=" },
	{ "brackets and quotes in strings", SPLIT_LIST, "{" RV ",'items':["
	  "{'a':'}]\\'{\\\\'},{'\\\\\\'}':']'}]}",
	  "<{'a':'}]\\'{\\\\'}><{'\\\\\\'}':']'}> ok rv=9 continue=" },
	{ "no items", SPLIT_LIST, "{" RV ",'items':[]}", " ok rv=9 continue=" },
	{ "null items", SPLIT_LIST, "{'items':null," RV "}", " ok rv=9 continue=" },
	{ "other members are skipped", SPLIT_LIST,
	  "{'a':'x\\'y','b':-1.5e3 ,'c':[[']'],{}],'d':true,'items':[],'e':{'items':[{}]},'f':null," RV
	  ",'g':1}",
	  " ok rv=9 continue=" },
	{ "items inside something else are not ours", SPLIT_LIST, "{'spec':{'items':[{}]}," RV "}",
	  " no: the answer is not a list: it has no items" },
	{ "a Status is not an empty list", SPLIT_LIST, "{'kind':'Status','metadata':{},'code':500}",
	  " no: the answer is not a list: it has no items" },
	{ "nothing at all", SPLIT_LIST, "", " no: the list ended before its end, after 0 items" },
	{ "an empty object", SPLIT_LIST, "{}", " no: the answer is not a list: it has no items" },
	{ "HTML", SPLIT_LIST, "<html>", " no: after 0 items: not a JSON object" },
	{ "no version", SPLIT_LIST, "{'metadata':{},'items':[]}", " no: the list has no resourceVersion, or one of more than 64 bytes" },
	{ "an empty version", SPLIT_LIST, "{'metadata':{'resourceVersion':''},'items':[]}",
	  " no: the list has no resourceVersion, or one of more than 64 bytes" },
	{ "a version that is no text", SPLIT_LIST, "{'metadata':{'resourceVersion':9},'items':[]}",
	  " no: the list has no resourceVersion, or one of more than 64 bytes" },
	{ "cut within an item", SPLIT_LIST, "{" RV ",'items':[{},{'a'", "<{}> no: the list ended before its end, after 1 items" },
	{ "cut behind the items", SPLIT_LIST, "{" RV ",'items':[{}]", "<{}> no: the list ended before its end, after 1 items" },
	{ "an item that is no object", SPLIT_LIST, "{" RV ",'items':[{},5]}", "<{}> no: after 1 items: an item is not an object" },
	{ "no comma between items", SPLIT_LIST, "{" RV ",'items':[{} {}]}", "<{}> no: after 1 items: no comma behind an item" },
	{ "a comma at the end", SPLIT_LIST, "{" RV ",'items':[{},]}", "<{}> no: after 1 items: an item is not an object" },
	{ "two items", SPLIT_LIST, "{" RV ",'items':[{}],'items':[]}", "<{}> no: after 1 items: two members of the name items" },
	{ "items that are no list", SPLIT_LIST, "{'items':{}," RV "}", " no: after 0 items: its items are not a list" },
	{ "items that are nearly null", SPLIT_LIST, "{'items':nul," RV "}", " no: after 0 items: its items are not a list" },
	{ "something behind", SPLIT_LIST, "{" RV ",'items':[]}{", " no: after 0 items: something follows its end" },
	{ "the first metadata counts", SPLIT_LIST, "{" RV ",'metadata':{'resourceVersion':'8'},'items':[]}", " ok rv=9 continue=" },
	{ "metadata that is not JSON", SPLIT_LIST, "{'metadata':{'a':},'items':[]}", " no: after 0 items: its metadata is not JSON" },
	{ "a value that is missing", SPLIT_LIST, "{'a':,'items':[]}", " no: after 0 items: no value behind a name" },
	{ "a long name", SPLIT_LIST, "{'itemsitemsitemsitemsitemsitemsitemsitems':[{}]," RV ",'items':[]}", " ok rv=9 continue=" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;

	assert_splits(r->shape, PROJECT_JSON, json_text(r->text), strlen(r->text), json_text(r->wanted));
}

/* ---- Protobuf ---- */

static struct bytes
list_of(const char *kind, size_t items, const char *meta)
{
	struct bytes raw = { 0 }, m = kube_object("ListMeta", meta);
	char text[600];

	bytes_message(&raw, 1, &m);
	for (size_t i = 0; i < items; i++) {
		memset(text, 'a' + (int)i, sizeof(text));
		bytes_field(&raw, 2, text, i % 2 == 0 ? i : 500);
	}
	return kube_wrap("v1", kind, &raw);
}

static void
pb_list(void **state)
{
	struct bytes b = list_of("NodeList", 4, "{'resourceVersion':'9','continue':'token'}");
	struct seen whole = { .len = 0 };

	(void)state;
	feed(SPLIT_LIST, PROJECT_PROTO, b.p, b.len, 0, &whole);
	assert_non_null(strstr(whole.text, "<><bbbb"));
	assert_non_null(strstr(whole.text, "bbb><cc><dddd"));
	assert_non_null(strstr(whole.text, "ddd> ok rv=9 continue=token"));
	assert_splits(SPLIT_LIST, PROJECT_PROTO, b.p, b.len, whole.text);
	/* cut anywhere it is no list any more; its last fields are optional, so without them it is one */
	for (size_t len = 0; len < b.len; len++) {
		struct seen s = { .len = 0 };

		feed(SPLIT_LIST, PROJECT_PROTO, b.p, len, 0, &s);
		assert_true(strstr(s.text, " no: ") != NULL || len == b.len - 2 || len == b.len - 4);
	}
	bytes_free(&b);
}

static void
pb_lists_that_are_none(void **state)
{
	static const char *const none = " no: after 0 objects: the answer is not a list";
	struct bytes b = list_of("Status", 0, "{'resourceVersion':'9'}"), raw = { 0 };

	(void)state;
	assert_splits(SPLIT_LIST, PROJECT_PROTO, b.p, b.len, none);
	bytes_free(&b);

	b = list_of("NodeList", 0, "{'resourceVersion':'9'}");
	assert_splits(SPLIT_LIST, PROJECT_PROTO, b.p, b.len, " ok rv=9 continue=");
	bytes_free(&b);

	b = list_of("NodeList", 0, "{}");
	assert_splits(SPLIT_LIST, PROJECT_PROTO, b.p, b.len,
	    " no: the list has no resourceVersion, or one of more than 64 bytes");
	bytes_free(&b);

	bytes_text(&raw, 2, "item");
	bytes_add(&raw, "\x12\x20" "abc", 5);		/* an item of 32 bytes, of which 3 are there */
	b = kube_wrap("v1", "NodeList", &raw);
	assert_splits(SPLIT_LIST, PROJECT_PROTO, b.p, b.len,
	    "<item> no: after 1 objects: a field declares more bytes than the list has");
	bytes_free(&b);

	bytes_text(&raw, 2, "item");
	bytes_add(&raw, "\x80", 1);
	b = kube_wrap("v1", "NodeList", &raw);
	assert_splits(SPLIT_LIST, PROJECT_PROTO, b.p, b.len,
	    "<item> no: after 1 objects: the list ends within a field");
	bytes_free(&b);

	bytes_add(&raw, "\x0b", 1);
	b = kube_wrap("v1", "NodeList", &raw);
	assert_splits(SPLIT_LIST, PROJECT_PROTO, b.p, b.len,
	    " no: after 0 objects: not protobuf: an invalid head of a field");
	bytes_free(&b);

	assert_splits(SPLIT_LIST, PROJECT_PROTO, "{'kind':", 8, " no: after 0 objects: the answer is not "
	    "Kubernetes protobuf");
	assert_splits(SPLIT_LIST, PROJECT_PROTO, "k8s\0", 4, " no: the answer is not a list");
	assert_splits(SPLIT_LIST, PROJECT_PROTO, "k8", 2, " no: the list ended before its end, after 0 "
	    "items");
}

/* Unknown fields, of every wire type, in the list and around it. */
static void
pb_list_with_unknown_fields(void **state)
{
	struct bytes b = { 0 }, type = { 0 }, raw = { 0 }, meta = kube_object("ListMeta", "{'resourceVe"
	    "rsion':'9'}");

	(void)state;
	bytes_text(&type, 2, "NodeList");
	bytes_int(&raw, 9, -1);
	bytes_add(&raw, "\x51" "12345678" "\x55" "1234", 14);
	bytes_text(&raw, 2, "item");
	bytes_text(&raw, 300, "future");
	bytes_message(&raw, 1, &meta);		/* behind the items, too */
	bytes_add(&b, "k8s\0", 4);
	bytes_text(&b, 7, "future");
	bytes_message(&b, 1, &type);
	bytes_message(&b, 2, &raw);
	bytes_int(&b, 8, 5);
	assert_splits(SPLIT_LIST, PROJECT_PROTO, b.p, b.len, "<item> ok rv=9 continue=");
	bytes_free(&b);
}

static void
pb_watch(void **state)
{
	static const char frames[] = "\0\0\0\3abc\0\0\0\0\0\0\1\x04" /* 260 */;
	struct bytes b = { 0 };
	char wanted[400], long_one[260];

	(void)state;
	memset(long_one, 'x', sizeof(long_one));
	bytes_add(&b, frames, sizeof(frames) - 1);
	bytes_add(&b, long_one, sizeof(long_one));
	snprintf(wanted, sizeof(wanted), "<abc><><%.260s> ok", long_one);
	assert_splits(SPLIT_WATCH, PROJECT_PROTO, b.p, b.len, wanted);
	bytes_free(&b);
	assert_splits(SPLIT_WATCH, PROJECT_PROTO, "\0\0\0\2ab\0", 7, "<ab> no: the stream ended within an "
	    "event, of which 0 bytes had come");
	assert_splits(SPLIT_WATCH, PROJECT_PROTO, "\0\0\0\2a", 5, " no: the stream ended within an event, "
	    "of which 1 bytes had come");
	assert_splits(SPLIT_WATCH, PROJECT_PROTO, "\1\0\0\1abc", 7, " no: after 0 objects: a frame that "
	    "declares more than 16 MiB");
}

/* ---- Limits, and stopping ---- */

static bool
count(const void *bytes, size_t len, void *arg)
{
	(void)bytes;
	*(size_t *)arg += len;
	return true;
}

static void
limits(void **state)
{
	static const struct {
		enum splitter_shape	 shape;
		const char	*head, *error;
		size_t		 most;		/* bytes that may be held */
	} asks[] = {
		{ SPLIT_WATCH, "", "after 0 objects: one that is longer than 16777216 bytes", SPLITTER_OBJECT_MAX },
		{ SPLIT_LIST, "{'items':[{'a':'", "after 0 objects: one that is longer than 16777216 bytes", SPLITTER_OBJECT_MAX },
		{ SPLIT_LIST, "{'metadata':{'a':'", "after 0 objects: one that is longer than 65536 bytes", 65536 },
	};
	char *chunk = obj_alloc(65536);

	(void)state;
	memset(chunk, 'x', 65536);
	for (size_t i = 0; i < NITEMS(asks); i++) {
		size_t given = 0, fed = 0;
		struct splitter *c = splitter_new(asks[i].shape, PROJECT_JSON, count, &given);

		assert_true(splitter_feed(c, json_text(asks[i].head), strlen(asks[i].head)));
		while (splitter_feed(c, chunk, 65536)) {
			fed += 65536;
			assert_true(c->held_len <= asks[i].most);
			assert_true(fed <= asks[i].most);
		}
		assert_string_equal(splitter_error(c), asks[i].error);
		assert_int_equal(given, 0);
		assert_false(splitter_feed(c, chunk, 1));
		assert_false(splitter_end(c));
		splitter_free(&c);
	}
	free(chunk);
}

/* The same length whole in one chunk is refused with the same error. */
static void
limit_in_one_chunk(void **state)
{
	size_t given = 0;
	struct splitter *c = splitter_new(SPLIT_WATCH, PROJECT_JSON, count, &given);
	char *line = obj_alloc(SPLITTER_OBJECT_MAX + 200);

	(void)state;
	memset(line, 'x', SPLITTER_OBJECT_MAX + 200);
	line[SPLITTER_OBJECT_MAX] = '\n';
	assert_true(splitter_feed(c, line, SPLITTER_OBJECT_MAX + 1));
	assert_int_equal(given, SPLITTER_OBJECT_MAX);
	line[SPLITTER_OBJECT_MAX] = 'x';
	line[SPLITTER_OBJECT_MAX + 1] = '\n';
	assert_false(splitter_feed(c, line, SPLITTER_OBJECT_MAX + 200));
	assert_string_equal(splitter_error(c), "after 1 objects: one that is longer than 16777216 bytes");
	free(line);
	splitter_free(&c);
}

static void
the_owner_stops_it(void **state)
{
	static const char text[] = "{'a':1}\n{'b':2}\n{'c':3}\n";
	struct seen s = { .stop_after = 2 };
	struct splitter *c = splitter_new(SPLIT_WATCH, PROJECT_JSON, on_piece, &s);

	(void)state;
	assert_false(splitter_feed(c, text, strlen(text)));
	assert_string_equal(s.text, "<{'a':1}><{'b':2}>");
	assert_string_equal(splitter_error(c), "");
	assert_false(splitter_end(c));
	splitter_free(&c);
}

/*
 * Long pieces, odd chunks, blocks of 64 bytes: a list with every sign that counts, at every place,
 * cut at random.
 */
static void
long_pieces(void **state)
{
	static const char signs[] = "{}[]\"\\,:xx xx";
	uint64_t seed = 7;
	struct bytes b = { 0 };
	struct seen whole = { .len = 0 };

	(void)state;
	bytes_add(&b, json_text("{" RV ",'items':["), strlen("{" RV ",'items':["));
	for (int i = 0; i < 8; i++) {
		json_t *item = json_object();
		char text[300];
		const size_t n = (size_t)random_below(&seed, sizeof(text));

		for (size_t k = 0; k < n; k++)
			text[k] = signs[random_below(&seed, sizeof(signs) - 1)];
		json_object_set_new(item, "text", json_stringn(text, n));
		char *dumped = json_dumps(item, JSON_COMPACT);
		bytes_add(&b, i > 0 ? "," : "", i > 0);
		bytes_add(&b, dumped, strlen(dumped));
		free(dumped);
		json_decref(item);
	}
	bytes_add(&b, "]}", 2);
	feed(SPLIT_LIST, PROJECT_JSON, b.p, b.len, 0, &whole);
	assert_non_null(strstr(whole.text, " ok rv=9 continue="));
	assert_splits(SPLIT_LIST, PROJECT_JSON, b.p, b.len, whole.text);
	bytes_free(&b);
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(pb_list),
		cmocka_unit_test(pb_lists_that_are_none),
		cmocka_unit_test(pb_list_with_unknown_fields),
		cmocka_unit_test(pb_watch),
		cmocka_unit_test(limits),
		cmocka_unit_test(limit_in_one_chunk),
		cmocka_unit_test(the_owner_stops_it),
		cmocka_unit_test(long_pieces),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	memcpy(&tests[NITEMS(rows)], others, sizeof(others));
	return cmocka_run_group_tests_name("cut", tests, NULL, NULL);
}
