/*
 * tests/unit/test_redact.c - what the schema declares secret is in no copy of any message, nested values
 * included (issue 10.4). The tests walk messages.h: a new message is tested without a line here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "links.h"
#include "msg.h"
#include "obj.h"

#define SECRET	"hunter2-always"	/* in fields of type secret */
#define OBJECT	"hunter3-sometimes"	/* in fields of type object */
#define PLAIN	"to-be-seen"

/* What the next body is filled with. */
static const char *resource;
static uint64_t nested_number;
static wire_value nested_value;

static void
fill_str(wire_str *v)
{
	*v = wire_str_of(PLAIN);
}

static void
fill_bin(wire_bin *v)
{
	*v = (wire_bin){ .p = (const uint8_t *)PLAIN, .len = sizeof(PLAIN) - 1 };
}

static void
fill_secret(wire_secret *v)
{
	*v = (wire_secret){ .p = (const uint8_t *)SECRET, .len = sizeof(SECRET) - 1 };
}

static void
fill_resource(wire_resource *v)
{
	*v = wire_str_of(resource);
}

static void
fill_object(wire_object *v)
{
	*v = wire_str_of(OBJECT);
}

static void
fill_number(wire_number *v)
{
	*v = nested_number;
}

static void
fill_value(wire_value *v)
{
	*v = nested_value;
}

#define fill_u64(v)	(*(v) = 7)
#define fill_i64(v)	(*(v) = -7)
#define fill_f64(v)	(*(v) = 0.7)
#define fill_flag(v)	(*(v) = true)
#define fill_nums(v)	(*(v) = (wire_nums){ 0 })
#define fill_map(v)	(*(v) = (wire_map){ 0 })
#define fill_rows(v)	(*(v) = (wire_rows){ 0 })

enum { IS_str, IS_bin, IS_u64, IS_i64, IS_f64, IS_flag, IS_nums, IS_map, IS_rows, IS_secret, IS_resource,
	IS_object, IS_number, IS_value, TYPES };

#define FILL(type, name, ...)		fill_##type(&m->name);
#define COUNT(type, name, ...)		counts[IS_##type]++;
#define SCHEMA(body)								\
	static void								\
	fill_body_##body(union msg_body *any)					\
	{									\
		struct body_##body *m = &any->body;				\
		body##_FIELDS(FILL)						\
	}									\
	static void								\
	count_##body(unsigned *counts)						\
	{									\
		body##_FIELDS(COUNT)						\
	}
BODIES(SCHEMA)

static const struct row {
	void	(*fill)(union msg_body *);
	void	(*count)(unsigned *);
} rows[MSG_MAX] = {
#define ROW(ID, body, ...) [MSG_##ID] = { fill_body_##body, count_##body },
	MESSAGES(ROW)
};

static unsigned
occurrences(const msgpack_sbuffer *bytes, const char *text)
{
	const char *p = bytes->data, *const end = p + bytes->size;
	unsigned n = 0;

	while ((p = memmem(p, (size_t)(end - p), text, strlen(text))) != NULL) {
		p += strlen(text);
		n++;
	}
	return n;
}

/* As the tap does it: redacted, then packed. Returns what msg_redact did. */
static bool
copy(enum msg m, union msg_body *body, msgpack_sbuffer *out)
{
	struct msg_arena arena;

	msg_arena_init(&arena);
	const bool hidden = msg_redact(m, body, &arena);
	msgpack_sbuffer_clear(out);
	msg_pack(out, m, body);
	msg_arena_free(&arena);
	return hidden;
}

static void
assert_not_printed(enum msg m, const union msg_body *body, const char *text)
{
	char buf[4096];

	for (int json = 0; json <= 1; json++) {
		msg_print(m, body, json, buf, sizeof(buf));
		assert_null(strstr(buf, text));
	}
}

static void
every_secret_field_of_every_message_is_hidden(void **state)
{
	unsigned secrets = 0, objects = 0;
	msgpack_sbuffer out;

	(void)state;
	msgpack_sbuffer_init(&out);
	for (unsigned m = 0; m < MSG_MAX; m++) {
		unsigned counts[TYPES] = { 0 };
		union msg_body body;

		rows[m].count(counts);
		secrets += counts[IS_secret];
		objects += counts[IS_object];
		assert_int_equal(msg_table[m].nests, counts[IS_value] > 0);
		assert_int_equal(msg_table[m].secret,
		    counts[IS_secret] + counts[IS_object] + counts[IS_value] > 0);

		resource = "nodes";
		rows[m].fill(&body);
		assert_not_printed((enum msg)m, &body, SECRET);
		assert_int_equal(copy((enum msg)m, &body, &out), counts[IS_secret] > 0);
		assert_int_equal(occurrences(&out, SECRET), 0);
		assert_int_equal(occurrences(&out, OBJECT), counts[IS_object]);
		assert_int_equal(occurrences(&out, PLAIN), counts[IS_str] + counts[IS_bin]);

		resource = "secrets";
		rows[m].fill(&body);
		assert_not_printed((enum msg)m, &body, SECRET);
		assert_not_printed((enum msg)m, &body, OBJECT);
		assert_int_equal(copy((enum msg)m, &body, &out), counts[IS_secret] + counts[IS_object] > 0);
		assert_int_equal(occurrences(&out, SECRET), 0);
		assert_int_equal(occurrences(&out, OBJECT), 0);
		assert_int_equal(occurrences(&out, PLAIN), counts[IS_str] + counts[IS_bin]);
	}
	/* HELLO's token, SEALED's password. For a new one, raise the count. */
	assert_int_equal(secrets, 2);
	assert_int_equal(objects, 2);	/* WRITE's body, RAW's json */
	msgpack_sbuffer_destroy(&out);
}

static void
every_secret_field_of_every_nested_value_is_hidden(void **state)
{
	msgpack_sbuffer inner, out;

	(void)state;
	msgpack_sbuffer_init(&inner);
	msgpack_sbuffer_init(&out);
	for (unsigned m = 0; m < MSG_MAX; m++) {
		for (unsigned v = 0; msg_table[m].nests && v < MSG_MAX; v++) {
			unsigned around[TYPES] = { 0 }, inside[TYPES] = { 0 };
			union msg_body body;

			if (msg_table[v].nests)
				continue;
			rows[m].count(around);
			rows[v].count(inside);
			resource = "secrets";
			rows[v].fill(&body);
			msgpack_sbuffer_clear(&inner);
			msg_pack(&inner, (enum msg)v, &body);
			nested_number = msg_table[v].number;
			nested_value = (wire_value){
				.p = (const uint8_t *)inner.data, .len = (uint32_t)inner.size
			};
			rows[m].fill(&body);
			assert_int_equal(copy((enum msg)m, &body, &out), msg_table[v].secret);
			assert_int_equal(occurrences(&out, SECRET), 0);
			assert_int_equal(occurrences(&out, OBJECT), 0);
			assert_int_equal(occurrences(&out, PLAIN), around[IS_str] + around[IS_bin]
			    + inside[IS_str] + inside[IS_bin]);
		}
	}
	msgpack_sbuffer_destroy(&inner);
	msgpack_sbuffer_destroy(&out);
	nested_value = (wire_value){ 0 };
}

#define TEXT(s)		{ .p = (s), .len = sizeof(s) - 1 }
#define BYTES(s)	{ .p = (const uint8_t *)(s), .len = sizeof(s) - 1 }
/* Packed by hand: RAW of a resource, and an item whose value is such an item (0x104 is RAW, 3 SNAP_ITEMS). */
#define RAW(resource)	"\x92" resource "\xae" SECRET

/* What a resource decides, and what cannot be decided: then it is hidden. */
static void
objects_and_values_that_cannot_be_judged(void **state)
{
	static const struct {
		const char	*name;
		enum msg	 m;
		union msg_body	 body;
		bool		 hidden;
	} cases[] = {
		{ "a write of a Secret", MSG_WRITE,
		    { .write = { .resource = TEXT("secrets"), .body = TEXT(SECRET) } }, true },
		{ "a write that names no resource", MSG_WRITE, { .write = { .body = TEXT(SECRET) } }, true },
		{ "a write of secrets2", MSG_WRITE,
		    { .write = { .resource = TEXT("secrets2"), .body = TEXT("x") } }, false },
		{ "a write of secret", MSG_WRITE,
		    { .write = { .resource = TEXT("secret"), .body = TEXT("x") } }, false },
		{ "a raw Secret in an answer", MSG_RESULT_ITEMS,
		    { .item = { .type = 0x104, .value = BYTES(RAW("\xa7secrets")) } }, true },
		{ "a raw Secret in a delta", MSG_DELTA,
		    { .item = { .type = 0x104, .value = BYTES(RAW("\xa7secrets")) } }, true },
		{ "a raw object of no resource", MSG_RESULT_ITEMS,
		    { .item = { .type = 0x104, .value = BYTES(RAW("\xa0")) } }, true },
		{ "a raw object of another resource", MSG_RESULT_ITEMS,
		    { .item = { .type = 0x104, .value = BYTES("\x92\xa4pods\xa1x") } }, false },
		{ "a value that does not decode", MSG_RESULT_ITEMS,
		    { .item = { .type = 0x104, .value = BYTES(SECRET) } }, true },
		{ "a value of an unknown message", MSG_RESULT_ITEMS,
		    { .item = { .type = 0x6fff, .value = BYTES(SECRET) } }, true },
		{ "a value of no message", MSG_DELTA, { .item = { .value = BYTES(SECRET) } }, true },
		{ "a value that is an item", MSG_DELTA,
		    { .item = { .type = 3,
			  .value = BYTES("\x98\xa0\xa0\xa0\0\0\xc2\xcd\x01\x04\xc4\x18"
			      RAW("\xa7secrets")) } }, true },
		{ "a key that is gone", MSG_DELTA, { .item = { .type = 0x104, .gone = true } }, false },
	};
	msgpack_sbuffer out;

	(void)state;
	msgpack_sbuffer_init(&out);
	for (size_t i = 0; i < NITEMS(cases); i++) {
		union msg_body body = cases[i].body;

		print_message("%s\n", cases[i].name);
		assert_int_equal(copy(cases[i].m, &body, &out), cases[i].hidden);
		assert_int_equal(occurrences(&out, SECRET), 0);
	}
	msgpack_sbuffer_destroy(&out);
}

/* The tap reads a frame's content only where a link may carry a secret: it must not miss such a link. */
static void
links_that_may_carry_a_secret(void **state)
{
	(void)state;
	for (unsigned l = 0; l < LINK_MAX; l++) {
		bool value = false;

		for (unsigned v = 0; v < MSG_MAX; v++)
			value |= msg_table[v].secret && (link_carries(l, v) || link_answers(l, v));
		for (unsigned m = 0; m < MSG_MAX; m++)
			assert_int_equal(link_may_hide(l, m),
			    msg_table[m].nests ? value : msg_table[m].secret);
		assert_true(link_may_hide(l, MSG_HELLO));
	}
	assert_true(link_may_hide(LINK_KUBE_INSIGHT, MSG_RESULT_ITEMS));
	assert_false(link_may_hide(LINK_STATS, MSG_DELTA));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_secret_field_of_every_message_is_hidden),
		cmocka_unit_test(every_secret_field_of_every_nested_value_is_hidden),
		cmocka_unit_test(objects_and_values_that_cannot_be_judged),
		cmocka_unit_test(links_that_may_carry_a_secret),
	};

	return cmocka_run_group_tests_name("redact", tests, NULL, NULL);
}
