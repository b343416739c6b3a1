/* tests/unit/test_sim_linode_filter.c - what an X-Filter header chooses. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/linode/sim_linode_filter.h"

static const char *const fields[] = { "id", "label", "tags", "region", "specs.vcpus", NULL };
static const char object[] = "{'id':7,'label':'lke12-9-a','tags':['lke123','nodepool=9'],'region':'us-ord',"
			     "'specs':{'vcpus':2}}";

static const struct row {
	const char	*name, *filter;
	const char	*wrong;		/* of the error; NULL: it is valid */
	bool		 substring, whole;	/* chosen, with +contains of parts and of whole tags */
} rows[] = {
	{ "none", "{}", NULL, true, true },
	{ "equal", "{'label':'lke12-9-a'}", NULL, true, true },
	{ "not equal", "{'label':'lke12'}", NULL, false, false },
	{ "a tag", "{'tags':'lke123'}", NULL, true, true },
	{ "a part of a tag is none", "{'tags':'lke12'}", NULL, false, false },
	{ "contains a part of a tag", "{'tags':{'+contains':'lke12'}}", NULL, true, false },
	{ "contains a whole tag", "{'tags':{'+contains':'nodepool=9'}}", NULL, true, true },
	{ "contains a part of a text", "{'label':{'+contains':'12-9'}}", NULL, true, true },
	{ "contains what is not there", "{'tags':{'+contains':'x'}}", NULL, false, false },
	{ "two fields", "{'region':'us-ord','id':7}", NULL, true, true },
	{ "one of two differs", "{'region':'us-ord','id':8}", NULL, false, false },
	{ "of a key that stands twice the last counts", "{'tags':'none','tags':'lke123'}", NULL, true, true },
	{ "+and", "{'+and':[{'tags':'lke123'},{'tags':'nodepool=9'}]}", NULL, true, true },
	{ "+and with one that differs", "{'+and':[{'tags':'lke123'},{'tags':'x'}]}", NULL, false, false },
	{ "+or", "{'+or':[{'tags':'x'},{'id':7}]}", NULL, true, true },
	{ "+or of none", "{'+or':[]}", NULL, false, false },
	{ "nested", "{'+or':[{'+and':[{'id':7},{'region':'x'}]},{'id':{'+gt':6}}]}", NULL, true, true },
	{ "+neq", "{'id':{'+neq':7}}", NULL, false, false },
	{ "+gte", "{'id':{'+gte':7}}", NULL, true, true },
	{ "+lt", "{'id':{'+lt':7}}", NULL, false, false },
	{ "+lte and +gt", "{'id':{'+lte':7,'+gt':6}}", NULL, true, true },
	{ "a number is not compared with a text", "{'id':{'+gt':'6'}}", NULL, false, false },
	{ "a field inside", "{'specs.vcpus':2}", NULL, true, true },
	{ "another field", "{'lke_cluster_id':7}", "Cannot filter on lke_cluster_id", false, false },
	{ "another field inside", "{'+or':[{'id':1},{'x':7}]}", "Cannot filter on x", false, false },
	{ "an unknown operator", "{'id':{'+like':7}}", "Unknown operator", false, false },
	{ "+and of no list", "{'+and':{}}", "Invalid filter", false, false },
	{ "no object", "[]", "Invalid filter", false, false },
};

static json_t *
parse(const char *text)
{
	char *const quoted = obj_strdup(text);

	for (char *p = quoted; *p != '\0'; p++)
		*p = *p == '\'' ? '"' : *p;
	json_t *const made = json_loads(quoted, 0, NULL);
	free(quoted);
	return made;
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	json_auto_t *filter = parse(r->filter), *have = parse(object);
	char buf[128];

	const char *const wrong = sim_linode_filter_check(filter, fields, buf, sizeof(buf));
	if (r->wrong != NULL) {
		assert_string_equal(wrong, r->wrong);
		return;
	}
	assert_null(wrong);
	assert_int_equal(sim_linode_filter_fits(filter, have, true), r->substring);
	assert_int_equal(sim_linode_filter_fits(filter, have, false), r->whole);
}

static void
a_header_that_is_no_JSON_is_refused(void **state)
{
	char buf[128];

	(void)state;
	assert_string_equal(sim_linode_filter_check(NULL, fields, buf, sizeof(buf)), "Invalid filter");
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(a_header_that_is_no_JSON_is_refused);
	return cmocka_run_group_tests_name("sim_linode_filter", tests, NULL, NULL);
}
