/* tests/unit/test_timing.c - the time that changes wait for their consumers (B6). */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "stat.h"
#include "timing.h"
#include "actors/node-state/measure.h"

#define NODES	(UINT64_C(1) << MSG_NODE_STATE)
#define POOLS	(UINT64_C(1) << MSG_POOL_STATE)

struct sum {
	const char	*labels;
	double		 value;
	uint64_t	 count;
};

static void
add_up(const struct stat_view *v, void *arg)
{
	struct sum *const s = arg;

	if (strcmp(v->family, "oue_downstream_notification_duration_seconds") == 0
	    && strcmp(v->labels, s->labels) == 0) {
		s->value = v->value;
		s->count = v->count;
	}
}

static void
expect(const char *type, uint64_t count, double seconds)
{
	char labels[80] = "";
	struct sum s = { .labels = labels };

	if (!stat_label(labels, sizeof(labels), "controller_type", type))
		fail();
	stat_set(stat_get(STAT_FDS, ""), (double)count);	/* so that stat_changed has a change */
	stat_changed(add_up, &s);
	assert_int_equal(s.count, count);
	assert_true(s.value > seconds - 1e-9 && s.value < seconds + 1e-9);
}

static struct timing *
begin(void)
{
	static struct timing t;

	stat_reset();
	t = (struct timing){ .observe = measure_notification };
	return &t;
}

static void
b6_from_the_oldest_change_to_its_sending(void **state)
{
	struct timing *t = begin();

	(void)state;
	timing_changed(t, 1000);
	timing_changed(t, 5000);
	timing_sent(t, 0, ROLE_INSIGHT, NODES, 7000);
	expect("node_insight", 1, 0.006);
}

static void
b6_each_type_of_a_frame_is_counted_under_its_name(void **state)
{
	struct timing *t = begin();

	(void)state;
	timing_changed(t, 1000);
	timing_sent(t, 0, ROLE_INSIGHT, POOLS, 3000);
	expect("mcp_insight", 1, 0.002);
	timing_sent(t, 0, ROLE_INSIGHT, NODES | POOLS, 4000);
	expect("mcp_insight", 2, 0.005);
}

static void
b6_a_snapshot_is_not_measured(void **state)
{
	struct timing *t = begin();

	(void)state;
	timing_sent(t, 0, ROLE_INSIGHT, NODES, 7000);	/* a snapshot's rest: no change was seen */
	timing_changed(t, 8000);
	timing_idle(t, 0);				/* it went with a snapshot */
	timing_sent(t, 0, ROLE_INSIGHT, NODES, 9000);
	expect("node_insight", 0, 0);
}

static void
b6_a_claimer_is_counted_under_the_name_of_its_role(void **state)
{
	struct timing *t = begin();

	(void)state;
	timing_changed(t, 1000);
	timing_sent(t, 0, ROLE_METRICS, NODES, 3000);
	expect("metrics", 1, 0.002);
}

static void
b6_a_slow_consumer_is_measured_apart(void **state)
{
	struct timing *t = begin();

	(void)state;
	timing_changed(t, 1000);
	timing_sent(t, 0, ROLE_INSIGHT, NODES, 2000);
	timing_idle(t, 0);
	timing_changed(t, 10000);
	timing_sent(t, 0, ROLE_INSIGHT, NODES, 11000);
	timing_idle(t, 0);
	expect("node_insight", 2, 0.002);
	timing_sent(t, 1, ROLE_INSIGHT, NODES, 21000);	/* waits since 1000 */
	expect("node_insight", 3, 0.022);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b6_from_the_oldest_change_to_its_sending),
		cmocka_unit_test(b6_each_type_of_a_frame_is_counted_under_its_name),
		cmocka_unit_test(b6_a_snapshot_is_not_measured),
		cmocka_unit_test(b6_a_claimer_is_counted_under_the_name_of_its_role),
		cmocka_unit_test(b6_a_slow_consumer_is_measured_apart),
	};

	return cmocka_run_group_tests_name("timing", tests, NULL, NULL);
}
