/*
 * tests/real/oracle_cases.h - questions for the oracle: the committed ones, and more from a fixed
 * seed, made of the pieces that the grammars have and some that they have not.
 */
#ifndef MUSTER_ORACLE_CASES_H
#define MUSTER_ORACLE_CASES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "random.h"

#define PICK(list)	list[random_below(seed, NITEMS(list))]

enum { TEXT_MAX = 512 };

static void
add(char *text, const char *piece)
{
	const size_t used = strlen(text);

	snprintf(text + used, TEXT_MAX - used, "%s", piece);
}

static void
add_digits(char *text, size_t most, uint64_t *seed)
{
	const size_t count = random_below(seed, most + 1);

	for (size_t i = 0; i < count; i++) {
		/* zeros at the edges are where the cases are */
		const bool zero = random_below(seed, 3) == 0;

		add(text, (const char[]){ zero ? '0' : (char)('0' + random_below(seed, 10)), '\0' });
	}
}

/* One byte replaced, doubled or taken out. */
static void
damage(char *text, const char *bytes, uint64_t *seed)
{
	const size_t len = strlen(text), at = len == 0 ? 0 : random_below(seed, len);

	if (len == 0 || len + 2 > TEXT_MAX)
		return;
	switch (random_below(seed, 3)) {
	case 0:
		text[at] = bytes[random_below(seed, strlen(bytes))];
		break;
	case 1:
		memmove(text + at + 1, text + at, len - at + 1);
		break;
	default:
		memmove(text + at, text + at + 1, len - at);
		break;
	}
}

static void
quantity_text(char *text, uint64_t *seed)
{
	static const char *const signs[] = { "", "", "", "+", "-" };
	static const char *const units[] = { "", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi",
		"Gi", "Ti", "Pi", "Ei", "e3", "E3", "e-3", "e+12", "e", "K", "i", "mi", "e18", "e-9",
		"e-10", "e30" };

	text[0] = '\0';
	add(text, PICK(signs));
	add_digits(text, random_below(seed, 4) == 0 ? 24 : 7, seed);
	if (random_below(seed, 2) == 0) {
		add(text, ".");
		add_digits(text, random_below(seed, 4) == 0 ? 20 : 4, seed);
	}
	add(text, PICK(units));
	if (random_below(seed, 10) == 0)
		damage(text, "+-.0123456789eEinumkKMGTP _", seed);
}

static json_t *
quantity_case(uint64_t *seed)
{
	char a[TEXT_MAX], b[TEXT_MAX];

	quantity_text(a, seed);
	quantity_text(b, seed);
	return json_pack("{ss ss ss}", "op", "quantity", "a", a, "b", b);
}

static json_t *
rv_case(uint64_t *seed)
{
	char a[TEXT_MAX] = "", b[TEXT_MAX];

	add_digits(a, 40, seed);
	snprintf(b, sizeof(b), "%s", a);
	for (uint64_t i = random_below(seed, 3); i > 0; i--)
		damage(b, "0123456789012345678901234567890123456789a-", seed);
	return json_pack("{ss ss ss}", "op", "rv", "a", a, "b", b);
}

static json_t *
label_set(uint64_t *seed)
{
	static const char *const keys[] = { "a", "b", "x/y", "in" };
	static const char *const values[] = { "", "b", "c", "1", "-2", "in", "9223372036854775808" };
	json_t *const set = json_object();

	for (size_t i = 0; i < NITEMS(keys); i++) {
		if (random_below(seed, 2) == 0)
			json_object_set_new(set, keys[i], json_string(PICK(values)));
	}
	return set;
}

static json_t *
label_case(uint64_t *seed)
{
	static const char *const keys[] = { "a", "b", "x/y", "in", "!a", "! b", "a_", "X/y", "a\"" };
	static const char *const tails[] = { "", "=b", "==c", "!=b", " in (b,c)", " notin (b)", " in ()", "=",
		">1", "<1", ">-3", " in (c,,b)", "<x", "=b b", " in (b", "!b", "==", " notin (in,notin)" };
	char text[TEXT_MAX] = "";

	for (uint64_t i = random_below(seed, 4); i > 0; i--) {
		add(text, PICK(keys));
		add(text, PICK(tails));
		if (i > 1)
			add(text, random_below(seed, 8) == 0 ? " , " : ",");
	}
	for (uint64_t i = random_below(seed, 4); i > 1; i--)
		damage(text, "=!(),><ab /-.\t", seed);
	return json_pack("{ss ss so}", "op", "labels", "a", text, "set", label_set(seed));
}

static json_t *
field_case(uint64_t *seed)
{
	static const char *const pieces[] = { "a", "b", "in", "=", "==", "!=", ",", "\\,", "\\=",
		"\\\\", "\\x",
		"x/y", " ", "!", "=b", "a=b" };
	char text[TEXT_MAX] = "";

	for (uint64_t i = random_below(seed, 9); i > 0; i--)
		add(text, PICK(pieces));
	return json_pack("{ss ss so}", "op", "fields", "a", text, "set", label_set(seed));
}

static json_t *
object_case(uint64_t *seed)
{
	static const char *const ops[] = { "In", "NotIn", "Exists", "DoesNotExist", "In", "NotIn", "Gt" };
	static const char *const values[] = { "b", "c", "", "1", "b c" };
	static const char *const keys[] = { "a", "b", "x/y", "in", "a b" };
	json_t *const list = json_array();

	for (uint64_t i = random_below(seed, 3); i > 0; i--) {
		json_t *const list_of = json_array();

		for (uint64_t v = random_below(seed, 4); v > 0; v--)
			json_array_append_new(list_of, json_string(PICK(values)));
		json_array_append_new(list, json_pack("{ss ss so}", "key", PICK(keys), "operator", PICK(ops),
		    "values", list_of));
	}
	json_t *const object = json_pack("{so}", "matchExpressions", list);
	if (random_below(seed, 2) == 0)
		json_object_set_new(object, "matchLabels", json_pack("{ss}", PICK(keys), PICK(values)));
	return json_pack("{ss so so}", "op", "labelselector", "object", object, "set", label_set(seed));
}

static void
time_text(char *text, uint64_t *seed)
{
	static const char *const zones[] = { "Z", "Z", "+00:00", "-08:00", "+05:30", "+24:60",
		"-23:59", "+25:00" };
	static const char *const years[] = { "2024", "2023", "1970", "1969", "1900", "2000", "0000",
		"9999", "0400" };
	static const size_t decimals[] = { 0, 0, 1, 3, 6, 6, 6, 9, 12 };

	snprintf(text, TEXT_MAX, "%s-%02u-%02uT%02u:%02u:%02u", PICK(years),
	    (unsigned)random_below(seed, 14), (unsigned)random_below(seed, 33),
	    (unsigned)random_below(seed, 25), (unsigned)random_below(seed, 61),
	    (unsigned)random_below(seed, 61));
	const size_t count = PICK(decimals);
	if (count > 0)
		add(text, random_below(seed, 8) == 0 ? "," : ".");
	for (size_t i = 0; i < count; i++)
		add(text, (const char[]){ (char)('0' + random_below(seed, 10)), '\0' });
	add(text, PICK(zones));
	/* No sign: Go takes one among the decimals of a MicroTime, we do not. */
	if (random_below(seed, 6) == 0)
		damage(text, "0123456789:TZz., ", seed);
}

static json_t *
time_case(uint64_t *seed)
{
	char text[TEXT_MAX];

	time_text(text, seed);
	return json_pack("{ss ss}", "op", "time", "a", text);
}

static json_t *
micro_case(uint64_t *seed)
{
	char text[TEXT_MAX];

	time_text(text, seed);
	return json_pack("{ss ss}", "op", "microtime", "a", text);
}

static json_t *
any_json(int depth, uint64_t *seed)
{
	static const char *const keys[] = { "a", "b", "c", "d" };
	json_t *out;

	switch (random_below(seed, depth == 0 ? 4 : 7)) {
	case 0:
		return json_null();
	case 1:
		return json_integer((json_int_t)random_below(seed, 3));
	case 2:
		return json_string(PICK(keys));
	case 3:
		return json_boolean(random_below(seed, 2) == 0);
	case 4:
		out = json_array();
		for (uint64_t i = random_below(seed, 3); i > 0; i--)
			json_array_append_new(out, any_json(depth - 1, seed));
		return out;
	default:
		out = json_object();
		for (uint64_t i = random_below(seed, 5); i > 0; i--)
			json_object_set_new(out, PICK(keys), any_json(depth - 1, seed));
		return out;
	}
}

static json_t *
any_object(uint64_t *seed)
{
	for (;;) {
		json_t *const value = any_json(4, seed);

		if (json_is_object(value))
			return value;
		json_decref(value);
	}
}

static json_t *
merge_case(uint64_t *seed)
{
	json_t *const object = any_object(seed), *const patch = any_object(seed);

	return json_pack("{ss so so}", "op", "merge", "object", object, "patch", patch);
}

#endif
