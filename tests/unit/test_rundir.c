/* tests/unit/test_rundir.c - in the longest run directory that musterd takes, every socket fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "links.h"
#include "supervisor/rundir.h"
#include "tap.h"

static unsigned
too_long(const char *dir)
{
	char path[256];
	unsigned n = 0;

	for (unsigned r = 0; r < ROLE_MAX; r++) {
		n += !tap_path(path, sizeof(path), dir, (enum role)r);
		for (unsigned l = 0; l < LINK_MAX; l++)
			n += link_binds((enum link)l, (enum role)r)
			    && !link_path(path, sizeof(path), dir, (enum link)l, (enum role)r);
	}
	return n;
}

static void
the_limit_is_exact(void **state)
{
	char dir[LINK_PATH_MAX + 1] = "";

	(void)state;
	memset(dir, 'd', rundir_longest());
	assert_int_equal(too_long(dir), 0);
	dir[rundir_longest()] = 'd';
	assert_int_not_equal(too_long(dir), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_limit_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
