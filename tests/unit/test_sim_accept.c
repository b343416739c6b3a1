/* tests/unit/test_sim_accept.c - which form of an answer a client wants. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/http/sim_accept.h"

static const struct sim_media_form forms[] = {
	{ "", "", "" },
	{ "Table", "meta.k8s.io", "v1" },
	{ "Table", "meta.k8s.io", "v1beta1" },
};
enum { NONE = -1, PLAIN, TABLE, OLD_TABLE };

static const struct row {
	const char	*header;
	int		 want;
} rows[] = {
	{ "", PLAIN },
	{ "*/*", PLAIN },
	{ "application/*", PLAIN },
	{ "application/json", PLAIN },
	{ "application/JSON", PLAIN },
	{ "application/json; charset=utf-8", PLAIN },
	{ "application/json;as=Table;v=v1;g=meta.k8s.io", TABLE },
	{ "application/json;as=Table;g=meta.k8s.io;v=v1beta1", OLD_TABLE },
	{ "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k"
	    "8s.io,application/json",
	    TABLE },
	{ "application/json;as=Table;v=v9;g=meta.k8s.io, application/json", PLAIN },
	{ "application/json;as=Chair;v=v1;g=meta.k8s.io", NONE },
	{ "application/vnd.kubernetes.protobuf", NONE },
	{ "application/vnd.kubernetes.protobuf,application/json", PLAIN },
	{ "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table"
	    ";v=v1;g=meta.k8s.io",
	    TABLE },
	{ "text/html", NONE },
	{ ",", NONE },
};

static void
check_row(void **state)
{
	const struct row *r = *state;

	assert_int_equal(sim_accept_choose(r->header, forms, NITEMS(forms)), r->want);
}

static void
gzip_needs_accept_encoding(void **state)
{
	(void)state;
	assert_true(sim_accept_gzip("gzip"));
	assert_true(sim_accept_gzip("deflate, gzip, br"));
	assert_false(sim_accept_gzip(""));
	assert_false(sim_accept_gzip("identity"));
	assert_false(sim_accept_gzip("gzip;q=0"));
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].header, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(gzip_needs_accept_encoding);
	return cmocka_run_group_tests_name("sim_accept", tests, NULL, NULL);
}
