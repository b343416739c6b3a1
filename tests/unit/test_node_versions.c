/* tests/unit/test_node_versions.c - B2, B3: the version of a MachineConfig, and when it is another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "actors/node-state/versions.h"
#include "obj.h"

#define S(text)	((struct wire_str){ text, sizeof(text) - 1 })

/* A MachineConfig with that version; NULL: without the annotation. */
static bool
put(struct versions *v, const char *name, const char *version)
{
	struct body_machine_config body = { 0 };
	msgpack_sbuffer bytes;
	bool changed;

	msgpack_sbuffer_init(&bytes);
	if (version != NULL)
		map_put(&bytes, &body.annotations, S("release-image-version"), wire_str_of(version));
	changed = versions_put(v, wire_str_of(name), &body);
	msgpack_sbuffer_destroy(&bytes);
	return changed;
}

static void
check(const struct versions *v, const char *name, const char *want)
{
	const struct wire_str got = versions_find(v, wire_str_of(name));

	assert_int_equal(got.len, strlen(want));
	assert_memory_equal(got.p, want, got.len);
}

static const struct row {
	const char	*name;
	const char	*first, *second;	/* the two puts; NULL: no annotation */
	bool		 changed[2];
	const char	*want;
} rows[] = {
	{ "B2 a rendered config has one",       "4.20.3", "4.20.3", { true, false },  "4.20.3" },
	{ "B2 a source config has none",        NULL,     NULL,     { false, false }, ""       },
	{ "B2 an empty one is none",            "",       NULL,     { false, false }, ""       },
	{ "B3 it comes later",                  NULL,     "4.20.3", { false, true },  "4.20.3" },
	{ "B3 it becomes another",              "4.20.3", "4.20.4", { true, true },   "4.20.4" },
	{ "B3 a longer one with the same start", "4.20.3", "4.20.30", { true, true }, "4.20.30" },
	{ "B3 a shorter one with the same start", "4.20.30", "4.20.3", { true, true }, "4.20.3" },
	{ "B3 it goes",                         "4.20.3", NULL,     { true, true },   ""       },
	{ "B3 it becomes empty",                "4.20.3", "",       { true, true },   ""       },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct versions *v = versions_new();

	assert_int_equal(put(v, "rendered-worker-1", r->first), r->changed[0]);
	check(v, "rendered-worker-1", r->first == NULL ? "" : r->first);
	assert_int_equal(put(v, "rendered-worker-1", r->second), r->changed[1]);
	check(v, "rendered-worker-1", r->want);
	check(v, "rendered-worker-10", "");
	check(v, "", "");
	versions_free(&v);
}

static void
removed_names_are_not_found(void **state)
{
	struct versions *v = versions_new();
	char name[32];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "rendered-%d", i);
		assert_true(put(v, name, name + 9));
	}
	for (int i = 0; i < 1000; i += 2) {
		snprintf(name, sizeof(name), "rendered-%d", i);
		assert_true(versions_remove(v, wire_str_of(name)));
		assert_false(versions_remove(v, wire_str_of(name)));
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "rendered-%d", i);
		check(v, name, i % 2 == 0 ? "" : name + 9);
	}
	versions_free(&v);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(removed_names_are_not_found);
	return cmocka_run_group_tests_name("node_versions", tests, NULL, NULL);
}
