/* tests/unit/test_work.c - the work queue of an actor on a real event loop, with real time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actor_private.h"
#include "obj.h"

enum { FAILURES = 9, SENTINEL_MS = 500 };	/* the wait after these is 1 s at least */

struct state {
	bool	changed;
	char	order[2][16];
	int	n;
};

/* Fails until its object changes. From then on the order of the keys is noted. */
static enum work_result
work(struct actor *a, void *self, const struct work *w, int64_t *after_ms)
{
	struct state *s = self;

	(void)a, (void)after_ms;
	if (!s->changed)
		return WORK_RETRY;
	snprintf(s->order[s->n++], sizeof(s->order[0]), "%s", w->key);
	return WORK_DONE;
}

static void
stop_when_failed_for_long(struct actor *a)
{
	while (workqueue_stats(a->queue).retries < FAILURES)
		assert_int_equal(event_base_loop(a->base, EVLOOP_ONCE), 0);
}

/*
 * Issue 10.13. The sentinel is due long before the backoff of the key ends, and long after the change:
 * which of both comes first does not depend on the speed of the machine.
 */
static void
a_key_that_failed_for_long_is_processed_at_once_after_a_change(void **state)
{
	static const struct actor_spec spec = { .name = "test", .work = work };
	struct state s = { 0 };
	struct actor a = { .spec = &spec, .self = &s, .base = event_base_new() };

	(void)state;
	work_open(&a);
	actor_enqueue(&a, "nodes/n1", 8, WORK_LIVE, 1);
	stop_when_failed_for_long(&a);
	s.changed = true;
	actor_enqueue_after(&a, "sentinel", 8, SENTINEL_MS, 2);
	actor_enqueue(&a, "nodes/n1", 8, WORK_LIVE, 3);
	while (s.n < (int)NITEMS(s.order))
		assert_int_equal(event_base_loop(a.base, EVLOOP_ONCE), 0);
	assert_string_equal(s.order[0], "nodes/n1");
	assert_string_equal(s.order[1], "sentinel");
	work_close(&a);
	event_base_free(a.base);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_that_failed_for_long_is_processed_at_once_after_a_change),
	};

	return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
