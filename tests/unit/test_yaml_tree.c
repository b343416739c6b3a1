/* tests/unit/test_yaml_tree.c - YAML as a tree: lines, limits, and what is left after a mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/yaml_tree.h"
#include "obj.h"

static struct yaml_tree *
read_text(const char *text, struct yaml_limits limits)
{
	return yaml_tree_read(text, strlen(text), &limits);
}

static const struct row {
	const char		*name, *text;
	struct yaml_limits	 limits;
	enum yaml_mistake	 mistake;
	int			 line;
	size_t			 documents, values;
} rows[] = {
	{ "nothing", "", { .depth = 2 }, YAML_FINE, 0, 0, 0 },
	{ "a comment", "# x\n", { .depth = 2 }, YAML_FINE, 0, 0, 0 },
	{ "a mapping", "a: b\nc: [d]\n", { .depth = 2 }, YAML_FINE, 0, 1, 6 },
	{ "a byte order mark", "\xef\xbb\xbf" "a: b\n", { .depth = 2 }, YAML_FINE, 0, 1, 3 },
	{ "three documents", "a\n---\n---\nb\n", { .depth = 1 }, YAML_FINE, 0, 3, 3 },
	{ "the first of them", "---\n---\nb\n---\n[\n", { .depth = 1, .documents = 1 }, YAML_FINE, 0, 2, 2 },
	{ "as deep as allowed", "[[x]]", { .depth = 2 }, YAML_FINE, 0, 1, 3 },
	{ "deeper", "a:\n- [x]\n", { .depth = 2 }, YAML_TOO_DEEP, 2, 1, 4 },
	{ "no syntax", "a: b\nc: [d\n", { .depth = 2 }, YAML_SYNTAX, 3, 1, 6 },
	{ "an alias that is not resolved", "[&a x, *a]", { .depth = 1 }, YAML_FINE, 0, 1, 3 },
	{ "an alias that is", "[&a x, *a]", { .depth = 1, .anchors = 1 }, YAML_FINE, 0, 1, 2 },
	{ "an alias of nothing", "[x,\n *a]", { .depth = 1, .anchors = 1 }, YAML_SYNTAX, 2, 1, 2 },
	{ "an alias of what is around it", "&a [*a]", { .depth = 1, .anchors = 1 }, YAML_FINE, 0, 1, 1 },
	{ "too many anchors", "[&a x,\n &b y]", { .depth = 1, .anchors = 1 }, YAML_TOO_MANY_ANCHORS, 2, 1, 3 },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct yaml_tree *t = read_text(r->text, r->limits);

	assert_int_equal(t->mistake, r->mistake);
	assert_int_equal(t->mistake_line, r->line);
	assert_int_equal(t->ndocuments, r->documents);
	assert_int_equal(t->nvalues, r->values);
	yaml_tree_free(&t);
	assert_null(t);
	yaml_tree_free(&t);
}

static void
what_stands_before_a_mistake_is_read(void **state)
{
	struct yaml_tree *t = read_text("a: 1\nb: {c: \"2\", d: [3\n", (struct yaml_limits){ .depth = 8 });

	(void)state;
	assert_int_equal(t->mistake, YAML_SYNTAX);
	const struct yaml_value *const root = t->documents[0].root;
	assert_int_equal(root->count, 2);
	assert_string_equal(root->members[0].key->text, "a");
	assert_true(root->members[0].value->plain);
	const struct yaml_value *const b = root->members[1].value;
	assert_int_equal(b->kind, YAML_MAP);
	assert_int_equal(b->line, 2);
	assert_false(b->members[0].value->plain);
	assert_int_equal(b->members[1].value->kind, YAML_LIST);
	assert_string_equal(b->members[1].value->members[0].value->text, "3");
	yaml_tree_free(&t);
}

static void
nulls_have_no_quotes(void **state)
{
	static const bool want[] = { true, true, true, false, false, false, false };
	struct yaml_tree *t =
	    read_text("[~, null, NULL, '', \"null\", nil, []]", (struct yaml_limits){ .depth = 2 });

	(void)state;
	const struct yaml_value *const list = t->documents[0].root;
	assert_int_equal(list->count, NITEMS(want));
	for (size_t i = 0; i < NITEMS(want); i++)
		assert_int_equal(yaml_value_null(list->members[i].value), want[i]);
	yaml_tree_free(&t);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2] = {
		[NITEMS(rows)] = cmocka_unit_test(what_stands_before_a_mistake_is_read),
		cmocka_unit_test(nulls_have_no_quotes),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("yaml_tree", tests, NULL, NULL);
}
