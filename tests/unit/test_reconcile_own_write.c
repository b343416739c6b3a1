/* tests/unit/test_reconcile_own_write.c - A11: has a link through node-state caught up with an own write? */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "actors/reconcile/reconcile.h"
#include "obj.h"

enum { UNTIL_MS = 9000 };

static const struct row {
	const char		*name;
	enum op			 op;
	const char		*uid, *rv;		/* precondition; of the object after the write */
	const char		*seen_uid, *seen_rv;	/* NULL: the link does not have it */
	int64_t			 now_ms;
	enum own_write_state	 want;
} rows[] = {
	{ "A11 older than the own write: waits", OP_MERGE, "u1", "12", "u1", "11", 5000, OWN_WRITE_WAIT },
	{ "A11 the last millisecond still waits", OP_MERGE, "u1", "12", "u1", "11", UNTIL_MS - 1, OWN_WRITE_WAIT },
	{ "A11 not caught up in time: reads live", OP_MERGE, "u1", "12", "u1", "11", UNTIL_MS, OWN_WRITE_READ },
	{ "A11 long after: still reads live", OP_MERGE, "u1", "12", "u1", "11", 999999, OWN_WRITE_READ },
	{ "A11 the own write itself: goes on", OP_MERGE, "u1", "12", "u1", "12", 5000, OWN_WRITE_SEEN },
	{ "A11 newer than the own write: goes on", OP_MERGE, "u1", "12", "u1", "13", 5000, OWN_WRITE_SEEN },
	{ "A11 caught up after the limit: goes on", OP_MERGE, "u1", "12", "u1", "13", 999999, OWN_WRITE_SEEN },
	{ "A11 compared as numbers: 9 is older than 10", OP_MERGE, "u1", "10", "u1", "9", 5000, OWN_WRITE_WAIT },
	{ "A11 compared as numbers: 100 is newer than 99", OP_MERGE, "u1", "99", "u1", "100", 5000, OWN_WRITE_SEEN },
	{ "A11 a version that is no number: taken for newer", OP_MERGE, "u1", "12", "u1", "x", 5000, OWN_WRITE_SEEN },
	{ "A11 without a uid the version decides", OP_MERGE, "", "12", "u7", "11", 5000, OWN_WRITE_WAIT },
	{ "A11 another object of that name is newer", OP_MERGE, "u1", "12", "u2", "11", 5000, OWN_WRITE_SEEN },
	{ "A11 changed, then gone", OP_MERGE, "u1", "12", NULL, NULL, 5000, OWN_WRITE_SEEN },
	{ "A11 created, not there yet: waits", OP_CREATE, "", "12", NULL, NULL, 5000, OWN_WRITE_WAIT },
	{ "A11 created, never there: reads live", OP_CREATE, "", "12", NULL, NULL, UNTIL_MS, OWN_WRITE_READ },
	{ "A11 created and there", OP_CREATE, "", "12", "u1", "12", 5000, OWN_WRITE_SEEN },
	{ "A11 deleted, and still there: waits", OP_DELETE, "u1", "", "u1", "11", 5000, OWN_WRITE_WAIT },
	{ "A11 deleted, still there after the limit", OP_DELETE, "u1", "", "u1", "11", UNTIL_MS, OWN_WRITE_READ },
	{ "A11 deleted and gone", OP_DELETE, "u1", "", NULL, NULL, 5000, OWN_WRITE_SEEN },
	{ "A11 deleted, a finalizer holds it: its deletionTimestamp is there", OP_DELETE, "u1", "12",
	    "u1", "12", 5000, OWN_WRITE_SEEN },
	{ "A11 deleted, another one of that name", OP_DELETE, "u1", "", "u2", "13", 5000, OWN_WRITE_SEEN },
};

static void
check(void **arg)
{
	const struct row *const r = *arg;
	struct own_write o = { .write = { .op = r->op }, .until_ms = UNTIL_MS };
	const struct change seen = {
		.uid = wire_str_of(r->seen_uid != NULL ? r->seen_uid : ""),
		.rv = wire_str_of(r->seen_rv != NULL ? r->seen_rv : ""),
	};

	snprintf(o.write.uid, sizeof(o.write.uid), "%s", r->uid);
	snprintf(o.rv, sizeof(o.rv), "%s", r->rv);
	assert_int_equal(own_write_check(&o, r->seen_uid != NULL ? &seen : NULL, r->now_ms), r->want);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){
			rows[i].name, check, NULL, NULL, (void *)(uintptr_t)&rows[i] };
	return _cmocka_run_group_tests("own_write_check", tests, NITEMS(tests), NULL, NULL);
}
