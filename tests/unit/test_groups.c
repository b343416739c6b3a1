/* tests/unit/test_groups.c - the API group of the insight kinds, inside and outside (B5: configurable). */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "actors/kube-watcher/call.h"
#include "actors/kube-watcher/groups.h"
#include "kinds.h"
#include "obj.h"

static const struct row {
	const char	*name, *setting;	/* NULL: never set */
	const char	*group, *served;
} rows[] = {
	{ "not set", NULL, INSIGHT_GROUP, INSIGHT_GROUP },
	{ "the default", INSIGHT_GROUP, INSIGHT_GROUP, INSIGHT_GROUP },
	{ "B5: another", "update.example.com", INSIGHT_GROUP, "update.example.com" },
	{ "the core group stays", "update.example.com", "", "" },
	{ "other groups stay", "update.example.com", MCO_GROUP, MCO_GROUP },
	{ "one that begins alike stays", "update.example.com", INSIGHT_GROUP ".org", INSIGHT_GROUP ".org" },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;

	if (r->setting != NULL)
		groups_init(r->setting);
	assert_string_equal(group_served(r->group), r->served);
}

static void
a_write_goes_to_the_group_as_served(void **state)
{
	const struct call_params ask = {
		.sender = ROLE_INSIGHT, .op = OP_DELETE, .group = INSIGHT_GROUP, .version = "v1alpha1",
		.resource = "nodeprogressinsights", .ns = "", .name = "n1", .subresource = "",
		.uid = "", .rv = "", .labels = "", .fields = "",
	};
	struct call_http http;

	(void)state;
	groups_init("update.example.com");
	assert_null(call_make(&ask, &http));
	assert_string_equal(http.path, "/apis/update.example.com/v1alpha1/nodeprogressinsights/n1");
	call_free(&http);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(a_write_goes_to_the_group_as_served);
	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
