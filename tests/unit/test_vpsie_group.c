/* tests/unit/test_vpsie_group.c - what a NodeGroup needs: D15, D23, S1, S2, A6, A10, and bad input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/vpsie-claimer/group.h"
#include "obj.h"

enum { MEMBERS_MAX = 16 };

/* The group of a NodeGroup with 1 to 5 VPSieNodes, in a cluster that is there. */
#define IS	\
	.exists = true, .finalizer = true, .cluster = { "c1", 2 }, .name = { "web", 3 }, .kube_size = 3
#define SIZED	IS, .min = 1, .max = 5, .group_id = 7
#define NEW	IS, .min = 1, .max = 5
#define WANTS(n) .has_desired = true, .desired = (n)

/*
 * members: one word each, phase letter (R Ready, P Provisioning, F Failed), its age in minutes, then flags:
 * + scale-down, ! protected, - being deleted. want: verb, then names of those removed by their position.
 */
static const struct row {
	const char		*name;
	struct group_input	 in;
	const char		*members, *want;
	const char		*reason;	/* of the condition; NULL: none */
} rows[] = {
	{ "no NodeGroup", { .exists = false }, "", "nothing", NULL },
	{ "A2 the finalizer first", { .exists = true, .cluster = { "c1", 2 } }, "", "hold", NULL },
	{ "D15 desired absent: minNodes", { SIZED }, "", "create 1", NULL },
	{ "D15 desired", { SIZED, WANTS(3) }, "R9", "create 2", NULL },
	{ "D15 desired above maxNodes", { SIZED, WANTS(9) }, "R9", "create 4", NULL },
	{ "D15 desired below minNodes", { SIZED, WANTS(0) }, "R9 R8", "remove 1", NULL },
	{ "A1 as many as desired", { SIZED, WANTS(2) }, "R9 R8", "wait", NULL },
	{ "S1 S2 the status differs", { SIZED, WANTS(2), .stale = true }, "R9 R8", "status", NULL },
	{ "D23 Failed counts and is not replaced", { SIZED, WANTS(2) }, "R9 F8", "wait", NULL },
	{ "one that is being deleted is replaced", { SIZED, WANTS(2) }, "R9 R8-", "create 1", NULL },
	{ "0 nodes", { IS, .group_id = 7 }, "", "wait", NULL },

	{ "D15 the youngest goes", { SIZED, WANTS(2) }, "R9 R3 R8", "remove 1", NULL },
	{ "D15 not Ready goes before the youngest", { SIZED, WANTS(2) }, "P9 R3 R8", "remove 0", NULL },
	{ "D15 scale-down goes before not Ready", { SIZED, WANTS(2) }, "R9+ P3 R8", "remove 0", NULL },
	{ "D15 scale-down, then not Ready, then the youngest", { SIZED, WANTS(1) }, "R9 P3 R8+ R4", "remove 2 1 3", NULL },
	{ "D15 D23 never a protected one", { SIZED, WANTS(1) }, "R9 P3! R8+! R4", "remove 3 0", NULL },
	{ "D15 all protected", { SIZED, WANTS(1) }, "R9! R8!", "wait", NULL },
	{ "D15 all protected, the status differs", { SIZED, WANTS(1), .stale = true }, "R9! R8!", "status", NULL },
	{ "D15 fewer may go than should", { SIZED, WANTS(1) }, "R9! R8! R7", "remove 2", NULL },
	{ "D23 Failed goes when the group shrinks", { SIZED, WANTS(1) }, "R1 F9", "remove 1", NULL },
	{ "equal ages: by name", { SIZED, WANTS(1) }, "R5 R5", "remove 1", NULL },

	{ "D15 the platform's group is searched for", { NEW }, "", "list-groups", NULL },
	{ "D15 found by name: it is used", { NEW, .listed = true, .named = 1, .listed_id = 9 }, "", "create 1", NULL },
	{ "A10 not there: the intent first", { NEW, .listed = true }, "", "intend", NULL },
	{ "A10 then the request", { NEW, .listed = true, .intent = true }, "", "make-group", NULL },
	{ "A10 a request that may have left", { NEW, .listed = true, .intent = true, .sent = true }, "", "wait", NULL },
	{ "A10 ... one list without it", { NEW, .listed = true, .intent = true, .sent = true, .absence = ABSENCE_WAIT }, "", "wait", NULL },
	{ "A10 ... two lists without it", { NEW, .listed = true, .intent = true, .sent = true, .absence = ABSENCE_CONFIRMED },
	    "", "make-group", NULL },
	{ "D13 a NodeGroup of another namespace makes it", { NEW, .listed = true, .shared = true }, "", "wait", NULL },
	{ "D13 ... and its intent was earlier", { NEW, .listed = true, .shared = true, .intent = true }, "", "wait", NULL },
	{ "D13 ... and it is there", { NEW, .listed = true, .shared = true, .named = 1, .listed_id = 9 }, "", "create 1", NULL },
	{ "two groups of that name: neither", { NEW, .listed = true, .named = 2, .listed_id = 9 }, "R9 R8", "wait", "AmbiguousGroup" },
	{ "no size to make a group of", { .exists = true, .finalizer = true, .cluster = { "c1", 2 },
	    .max = 2, .listed = true }, "", "wait",
	    "InvalidSpec" },

	{ "min > max: a condition, nothing removed",
	    { IS, .min = 4, .max = 2, .group_id = 7, .stale = true }, "R9 R8 R7", "status", "InvalidSpec" },
	{ "min > max: written once", { IS, .min = 4, .max = 2, .group_id = 7 }, "", "wait", "InvalidSpec" },
	{ "negative numbers", { IS, .min = -1, .max = 2, .group_id = 7 }, "R9 R8 R7", "wait", "InvalidSpec" },
	{ "no cluster", { .exists = true, .finalizer = true, .min = 1, .max = 2 }, "", "wait", "InvalidSpec" },
	{ "an unknown cluster", { SIZED, .cluster_missing = true }, "R9 R8", "wait", "ClusterNotFound" },
	{ "a name that no label could hold",
	    { .exists = true, .finalizer = true, .max = 1,
	    .name = { "a123456789b123456789c123456789d123456789e123456789f1234", 55 } },
	    "", "wait", "InvalidName" },

	{ "D23 deleted: all VPSieNodes go, protected or not", { SIZED, .deleting = true }, "R9! R8 F7", "remove 2 1 0", NULL },
	{ "D23 deleted: they are going", { SIZED, .deleting = true }, "R9- R8-", "wait", NULL },
	{ "D23 deleted: none is left", { SIZED, .deleting = true }, "", "release", NULL },
	{ "deleted with a bad spec", { IS, .min = 4, .max = 2, .deleting = true }, "R9", "remove 0", "InvalidSpec" },
	{ "deleted, somebody else's finalizer", { .exists = true, .deleting = true }, "R9", "wait", "InvalidSpec" },
};

static uint32_t
read_members(const char *text, struct group_member *out)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	uint32_t n = 0;

	for (const char *p = text; *p != '\0'; p += strspn(p, " ")) {
		const size_t len = strcspn(p, " ");

		out[n] = (struct group_member){ .name = wire_str_of(names[n]),
			.phase = *p == 'R' ? PHASE_READY
			    : *p == 'F'    ? PHASE_FAILED
					   : PHASE_PROVISIONING,
			.created_us = INT64_C(1000000000) - (p[1] - '0') * INT64_C(60000000),
			.shed = memchr(p, '+', len) != NULL,
			.protected = memchr(p, '!', len) != NULL,
			.deleting = memchr(p, '-', len) != NULL };
		n++;
		p += len;
	}
	return n;
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct group_member members[MEMBERS_MAX];
	uint32_t order[MEMBERS_MAX], spare[MEMBERS_MAX], ready = 0;
	struct group_input in = r->in;
	struct group_plan p;
	char got[128];

	in.members = members;
	in.nmembers = read_members(r->members, members);
	group_plan(&in, order, spare, &p);
	size_t len = (size_t)snprintf(got, sizeof(got), "%s", group_verb_name(p.verb));
	if (p.verb == GROUP_CREATE)
		snprintf(got + len, sizeof(got) - len, " %u", p.create);
	for (uint32_t i = 0; i < p.nremove; i++)
		len += (size_t)snprintf(got + len, sizeof(got) - len, " %u", order[i]);
	assert_string_equal(got, r->want);
	assert_string_equal(p.reason, r->reason == NULL ? "" : r->reason);
	assert_int_equal(p.reason[0] == '\0', p.message[0] == '\0');
	assert_true(strlen(p.why) > 5);
	/* S1, S2 */
	for (uint32_t i = 0; i < in.nmembers; i++)
		ready += members[i].phase == PHASE_READY && !members[i].deleting;
	assert_int_equal(p.current, in.nmembers);
	assert_int_equal(p.ready, ready);
}

static void
D15_the_words_name_both_numbers_and_the_status_has_the_rest(void **state)
{
	const struct group_input bad = { IS, .min = 14, .max = 2, .group_id = 7 };
	const struct group_input good = { NEW, WANTS(9), .listed = true, .named = 1,
		.listed_id = 9 };
	const struct group_input least = { SIZED };
	struct group_plan p;

	(void)state;
	group_plan(&bad, NULL, NULL, &p);
	assert_string_equal(p.message,
	    "minNodes (14) is greater than maxNodes (2): nothing is created or removed "
	    "until one of them is changed");
	assert_false(p.scaling);
	group_plan(&good, NULL, NULL, &p);
	assert_true(p.desired == 5 && p.at_max && !p.at_min && p.group_id == 9 && p.scaling);
	group_plan(&least, NULL, NULL, &p);
	assert_true(p.desired == 1 && p.at_min && !p.at_max && p.group_id == 7);
	assert_string_equal(group_verb_name(GROUP_VERB_MAX), "?");
}

static void
names_are_repeatable_and_differ(void **state)
{
	char first[VPSIENODE_NAME_MAX], again[VPSIENODE_NAME_MAX], other[VPSIENODE_NAME_MAX];
	const struct wire_str web = wire_str_of("web"), uid = wire_str_of("u1"),
			      rv = wire_str_of("100");

	(void)state;
	group_vpsienode_name(first, web, uid, rv, 0);
	group_vpsienode_name(again, web, uid, rv, 0);
	assert_string_equal(first, again);
	assert_int_equal(strlen(first), 12);
	assert_int_equal(strncmp(first, "web-", 4), 0);
	assert_int_equal(strspn(first + 4, "0123456789abcdef"), 8);
	for (uint32_t i = 1; i < 100; i++) {
		group_vpsienode_name(other, web, uid, rv, i);
		assert_string_not_equal(first, other);
	}
	group_vpsienode_name(other, web, uid, wire_str_of("101"), 0);
	assert_string_not_equal(first, other);
	group_vpsienode_name(other, web, wire_str_of("u2"), rv, 0);
	assert_string_not_equal(first, other);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];
	size_t n = 0;

	for (; n < NITEMS(rows); n++)
		tests[n] = (struct CMUnitTest){ rows[n].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(
	    D15_the_words_name_both_numbers_and_the_status_has_the_rest);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(names_are_repeatable_and_differ);
	return _cmocka_run_group_tests("vpsie_group", tests, n, NULL, NULL);
}
