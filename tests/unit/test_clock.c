/*
 * tests/unit/test_clock.c - which clock is read: a Lease and a deadline go on while the machine is
 * suspended (issue 10.15). clock_gettime of this file stands before the one of libc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "clock.h"

enum { UP_S = 1000 };

static int64_t suspended_s;

int
clock_gettime(clockid_t __clock_id, struct timespec *__tp)
{
	const int64_t s = UP_S + (__clock_id == CLOCK_BOOTTIME ? suspended_s : 0);

	*__tp = (struct timespec){ .tv_sec = s, .tv_nsec = 5000 };
	return __clock_id == CLOCK_BOOTTIME || __clock_id == CLOCK_MONOTONIC ? 0 : -1;
}

static void
time_in_suspend_counts(void **state)
{
	(void)state;
	suspended_s = 0;
	assert_int_equal(clock_mono_us(), UP_S * INT64_C(1000000) + 5);
	suspended_s = 3600;
	assert_int_equal(clock_mono_ms(), (UP_S + 3600) * INT64_C(1000));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_in_suspend_counts),
	};
	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
