/* tests/unit/test_capa_refs.c - who refers to what: exactly those that name it are woken (F2, F8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/capa-annotator/ref_index.h"
#include "obj.h"

struct reported {
	char	unused[1024], owners[1024];
};

static void
on_unused(void *arg, const char *target)
{
	struct reported *const h = arg;

	snprintf(h->unused + strlen(h->unused), sizeof(h->unused) - strlen(h->unused), "%s ", target);
}

static void
on_owner(void *arg, const char *owner, size_t len)
{
	struct reported *const h = arg;

	snprintf(h->owners + strlen(h->owners), sizeof(h->owners) - strlen(h->owners), "%.*s ", (int)len,
	    owner);
}

static const char *
owners(const struct ref_index *x, struct reported *h, const char *target)
{
	h->owners[0] = '\0';
	ref_index_each(x, wire_str_of(target), on_owner, h);
	return h->owners;
}

static void
set(struct ref_index *x, const char *owner, enum ref_relation r, const char *target)
{
	ref_index_set(x, wire_str_of(owner), r, wire_str_of(target));
}

static void
exactly_those_that_name_it(void **state)
{
	struct reported h = { .unused = "" };
	struct ref_index *x = ref_index_new(on_unused, &h);

	(void)state;
	set(x, "a", REF_TEMPLATE, "t1");
	set(x, "b", REF_TEMPLATE, "t1");
	set(x, "c", REF_TEMPLATE, "t2");
	set(x, "a", REF_CLUSTER, "c1");
	assert_string_equal(owners(x, &h, "t1"), "b a ");
	assert_string_equal(owners(x, &h, "t2"), "c ");
	assert_string_equal(owners(x, &h, "c1"), "a ");
	assert_string_equal(owners(x, &h, "none"), "");
	/* The same again changes nothing; another target moves it. */
	set(x, "a", REF_TEMPLATE, "t1");
	set(x, "b", REF_TEMPLATE, "t2");
	assert_string_equal(owners(x, &h, "t1"), "a ");
	assert_string_equal(owners(x, &h, "t2"), "b c ");
	assert_string_equal(h.unused, "");
	ref_index_free(&x);
}

static void
the_last_owner_is_noticed(void **state)
{
	struct reported h = { .unused = "" };
	struct ref_index *x = ref_index_new(on_unused, &h);

	(void)state;
	set(x, "a", REF_REGION, "r1");
	set(x, "b", REF_REGION, "r1");
	set(x, "a", REF_REGION, "");
	assert_string_equal(h.unused, "");
	assert_true(ref_index_used(x, wire_str_of("r1")));
	ref_index_drop(x, wire_str_of("b"));
	assert_string_equal(h.unused, "r1 ");
	assert_false(ref_index_used(x, wire_str_of("r1")));
	ref_index_drop(x, wire_str_of("b"));
	ref_index_drop(x, wire_str_of("never"));
	/* Ids are used again: what comes later has nothing of what was there before. */
	set(x, "b", REF_TYPE, "m5");
	assert_string_equal(owners(x, &h, "m5"), "b ");
	assert_string_equal(owners(x, &h, "r1"), "");
	set(x, "a", REF_REGION, "r1");
	assert_string_equal(owners(x, &h, "r1"), "a ");
	assert_string_equal(h.unused, "r1 ");
	ref_index_free(&x);
	ref_index_free(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_those_that_name_it),
		cmocka_unit_test(the_last_owner_is_noticed),
	};

	return cmocka_run_group_tests_name("capa_refs", tests, NULL, NULL);
}
