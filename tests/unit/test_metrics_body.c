/* tests/unit/test_metrics_body.c - one body of /metrics for many clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/metrics/body.h"
#include "obj.h"

struct page {
	int	rendered;
	size_t	size;
};

static void
render(void *arg, struct text *out)
{
	struct page *p = arg;

	p->rendered++;
	text_printf(out, "%d %*s", p->rendered, (int)p->size, "");
}

static void
a_body_is_shared_while_it_is_fresh(void **state)
{
	struct bodies *b = bodies_new();
	struct page p = { .size = 10 };

	(void)state;
	struct body *first = bodies_get(b, render, &p, 0);
	struct body *second = bodies_get(b, render, &p, BODY_FRESH_MS - 1);
	assert_ptr_equal(first, second);
	struct body *third = bodies_get(b, render, &p, BODY_FRESH_MS);
	assert_ptr_not_equal(first, third);
	assert_memory_equal(first->text, "1 ", 2);
	assert_memory_equal(third->text, "2 ", 2);
	body_release(first);
	body_release(second);
	body_release(third);
	bodies_free(&b);
	assert_null(b);
	bodies_free(&b);
}

/* Clients that never read, one after another, each later than the body of the one before is fresh. */
static void
never_more_than_two_bodies(void **state)
{
	struct bodies *b = bodies_new();
	struct page p = { .size = 10 };
	struct body *held[31];

	(void)state;
	for (size_t i = 0; i < NITEMS(held); i++) {
		held[i] = bodies_get(b, render, &p, (int64_t)i * BODY_FRESH_MS);
		assert_ptr_equal(held[i], held[i > 0]);
	}
	assert_int_equal(p.rendered, BODIES_MAX);
	body_release(held[0]);		/* the only one with the first */
	body_release(bodies_get(b, render, &p, 100 * BODY_FRESH_MS));
	assert_int_equal(p.rendered, BODIES_MAX + 1);
	for (size_t i = 1; i < NITEMS(held); i++)
		body_release(held[i]);
	bodies_free(&b);
}

static void
a_body_grows_with_its_text(void **state)
{
	struct bodies *b = bodies_new();
	struct page p = { .size = 1000000 };

	(void)state;
	struct body *large = bodies_get(b, render, &p, 0);
	assert_int_equal(large->len, p.size + 2);
	assert_int_equal(p.rendered, 2);	/* the first did not fit */
	body_release(large);
	p.size += 1000;
	large = bodies_get(b, render, &p, BODY_FRESH_MS);
	assert_int_equal(large->len, p.size + 2);
	assert_int_equal(p.rendered, 3);	/* the last length was a good guess */
	body_release(large);
	bodies_free(&b);
}

/* evhttp ends connections after stop: their bodies are still there. */
static void
a_body_outlives_the_server(void **state)
{
	struct bodies *b = bodies_new();
	struct page p = { .size = 10 };

	(void)state;
	struct body *sent = bodies_get(b, render, &p, 0);
	bodies_free(&b);
	assert_memory_equal(sent->text, "1 ", 2);
	body_release(sent);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_body_is_shared_while_it_is_fresh),
		cmocka_unit_test(never_more_than_two_bodies),
		cmocka_unit_test(a_body_grows_with_its_text),
		cmocka_unit_test(a_body_outlives_the_server),
	};

	return cmocka_run_group_tests_name("metrics body", tests, NULL, NULL);
}
