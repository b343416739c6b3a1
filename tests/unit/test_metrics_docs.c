/*
 * tests/unit/test_metrics_docs.c - docs/metrics.md is what the tables say.
 *
 * With --write the program writes the page instead of comparing it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "actors/metrics/builtin.h"
#include "obj.h"

static const char path[] = MUSTER_ROOT "/docs/metrics.md";

static void
the_page_is_up_to_date(void **state)
{
	char *want = NULL;
	size_t len = 0;
	char have[64 * 1024];

	(void)state;
	FILE *out = open_memstream(&want, &len);
	assert_non_null(out);
	metrics_docs_print(out);
	fclose(out);
	FILE *in = fopen(path, "r");
	if (in == NULL)
		fail_msg("cannot open %s", path);
	have[fread(have, 1, sizeof(have) - 1, in)] = '\0';
	fclose(in);
	if (strcmp(have, want) != 0)
		fail_msg("%s is not what the tables say; run this test with --write", path);
	free(want);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_page_is_up_to_date) };

	if (argc == 2 && strcmp(argv[1], "--write") == 0) {
		FILE *out = fopen(path, "w");

		if (out == NULL)
			return 1;
		metrics_docs_print(out);
		return fclose(out) != 0;
	}
	return cmocka_run_group_tests_name("metrics reference", tests, NULL, NULL);
}
