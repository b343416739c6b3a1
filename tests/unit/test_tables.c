/*
 * tests/unit/test_tables.c - the schema as data: nothing twice, nothing that cannot work, nothing
 * allowed by accident.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kinds.h"
#include "links.h"
#include "msg.h"
#include "obj.h"
#include "rights.h"
#include "roles.h"
#include "writes.h"

static void
messages_are_distinct(void **state)
{
	(void)state;
	for (unsigned a = 0; a < MSG_MAX; a++) {
		const struct msg_row *row = &msg_table[a];

		assert_non_null(row->name);
		assert_int_not_equal(row->number, 0);	/* 0 is the type of an empty envelope */
		assert_int_equal(msg_by_number(row->number), a);
		assert_int_equal(msg_find(row->name, strlen(row->name)), a);
		assert_string_equal(msg_name((enum msg)a), row->name);
		for (unsigned b = 0; b < a; b++) {
			assert_string_not_equal(row->name, msg_table[b].name);
			assert_int_not_equal(row->number, msg_table[b].number);
		}
	}
}

static void
unknown_messages(void **state)
{
	(void)state;
	assert_string_equal(msg_name(MSG_MAX), "?");
	assert_string_equal(msg_name((enum msg)UINT32_MAX), "?");
	assert_int_equal(msg_find("HELL", 4), MSG_MAX);
	assert_int_equal(msg_find("HELLO ", 6), MSG_MAX);
	assert_int_equal(msg_find("", 0), MSG_MAX);
	assert_int_equal(msg_by_number(0), MSG_MAX);
	assert_int_equal(msg_by_number(UINT64_MAX), MSG_MAX);
	assert_int_equal(msg_by_number(msg_table[MSG_HELLO].number + (1ull << 32)), MSG_MAX);
}

static void
what_comes_in_batches(void **state)
{
	(void)state;
	for (unsigned m = 0; m < MSG_MAX; m++)
		assert_int_equal(msg_table[m].many,
		    m == MSG_SNAP_ITEMS || m == MSG_DELTA || m == MSG_RESULT_ITEMS);
}

static void
operations_and_outcomes_are_distinct(void **state)
{
	(void)state;
	for (unsigned a = 0; a < OP_MAX; a++) {
		assert_int_equal(op_find(op_table[a].name, strlen(op_table[a].name)), a);
		assert_true((unsigned)op_table[a].verb < VERB_MAX);
	}
	assert_int_equal(op_find("creat", 5), OP_MAX);
	assert_int_equal(op_find("created", 7), OP_MAX);
	assert_int_equal(op_find("", 0), OP_MAX);
	for (unsigned a = 0; a < OUTCOME_MAX; a++) {
		assert_true(strlen(outcome_text((enum outcome)a)) > 0);
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(outcome_name((enum outcome)a), outcome_name((enum outcome)b));
	}
	assert_int_equal(OUTCOME_OK, 0);	/* the outcome of a zeroed result is fixed */
	assert_string_equal(outcome_name(OUTCOME_MAX), "?");
	assert_string_equal(outcome_text(OUTCOME_MAX), "?");
	assert_string_equal(kind_state_name(KIND_STATE_SYNCED), "synced");
	assert_string_equal(kind_state_name(KIND_STATE_MAX), "?");
}

static void
keys_of_objects(void **state)
{
	static const struct {
		const char *resource, *ns, *name, *key;
	} rows[] = {
		{ "nodes", "", "n1", "nodes/n1" },
		{ "pods", "default", "web-0", "pods/default/web-0" },
		{ "nodes", "", "", NULL }, { "", "", "n1", NULL }, { "no/des", "", "n1", NULL },
		{ ":kind", "", "nodes", NULL }, { "pods", "a/b", "c", NULL }, { "pods", "a", "b/c", NULL },
	};
	char key[OBJECT_KEY_MAX + 1], long_name[OBJECT_KEY_MAX];

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		const bool ok = object_key(key, sizeof(key), rows[i].resource, rows[i].ns, rows[i].name);

		assert_int_equal(ok, rows[i].key != NULL);
		if (ok)
			assert_string_equal(key, rows[i].key);
	}
	memset(long_name, 'n', sizeof(long_name));
	long_name[OBJECT_KEY_MAX - 6] = '\0';
	assert_true(object_key(key, sizeof(key), "nodes", "", long_name));
	assert_false(object_key(key, sizeof(key) - 1, "nodes", "", long_name));
	long_name[OBJECT_KEY_MAX - 6] = 'n';
	long_name[OBJECT_KEY_MAX - 5] = '\0';
	assert_false(object_key(key, sizeof(key), "nodes", "", long_name));
}

static void
roles_are_distinct(void **state)
{
	(void)state;
	for (unsigned a = 0; a < ROLE_MAX; a++) {
		const char *name = role_name((enum role)a);

		assert_int_equal(role_find(name, strlen(name)), a);
		assert_true(strlen(name) > 0 && strlen(name) < 32);
		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(name));
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(name, role_name((enum role)b));
	}
	assert_string_equal(role_name(ROLE_MAX), "?");
	assert_string_equal(role_name(ROLE_NONE), "?");
	assert_int_equal(role_find("metric", 6), ROLE_NONE);
	assert_int_equal(role_find("metrics2", 8), ROLE_NONE);
	assert_int_equal(role_find("", 0), ROLE_NONE);
}

/* A value is what an item may carry: never one of the session's own messages, which could then be nested. */
static void
links_are_valid(void **state)
{
	const uint64_t session = (MSG_BIT(TAP) << 1) - 1, messages = (UINT64_C(1) << (MSG_MAX - 1) << 1) - 1;
	const uint64_t roles = (UINT64_C(1) << (ROLE_MAX - 1) << 1) - 1;

	(void)state;
	for (unsigned a = 0; a < LINK_MAX; a++) {
		const struct link_row *row = &link_table[a];

		assert_int_equal(link_find(row->name, strlen(row->name)), a);
		assert_true(row->binder <= ROLE_ANY);
		assert_int_not_equal(row->connectors, 0);
		assert_int_equal(row->connectors & ~roles, 0);
		assert_int_not_equal(row->values, 0);
		assert_int_equal(row->values & session, 0);
		assert_int_equal(row->values & ~messages, 0);
		for (unsigned r = 0; r < ROLE_MAX; r++) {
			assert_int_equal(link_connects((enum link)a, (enum role)r), row->connectors >> r & 1);
			assert_int_equal(link_binds((enum link)a, (enum role)r),
			    row->binder == ROLE_ANY || row->binder == (enum role)r);
		}
		for (unsigned m = 0; m < MSG_MAX; m++) {
			assert_int_equal(link_carries((enum link)a, (enum msg)m), row->values >> m & 1);
			assert_int_equal(link_answers((enum link)a, (enum msg)m),
			    row->writes && ((row->values >> m & 1) != 0 || m == MSG_RAW));
		}
		assert_false((row->values & MSG_BIT(RAW)) != 0);	/* an answer, never state */
		assert_true(!row->writes || row->binder == ROLE_KUBE_WATCHER);
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(row->name, link_table[b].name);
	}
}

static void
what_is_no_role_or_message_passes_nowhere(void **state)
{
	(void)state;
	for (unsigned l = 0; l < LINK_MAX; l++) {
		assert_false(link_connects((enum link)l, ROLE_ANY));
		assert_false(link_connects((enum link)l, ROLE_NONE));
		assert_false(link_carries((enum link)l, MSG_MAX));
		assert_false(link_carries((enum link)l, MSG_HELLO));
	}
	assert_int_equal(link_find("stat", 4), LINK_MAX);
	assert_int_equal(link_find("stats.", 6), LINK_MAX);
}

/* Cuts off exactly where the kernel would. */
static void
paths_fit_a_unix_socket(void **state)
{
	char dir[200], path[256];

	(void)state;
	assert_true(link_path(path, sizeof(path), "/run/muster", LINK_STATS, ROLE_METRICS));
	assert_string_equal(path, "/run/muster/metrics/stats.ipc");
	for (size_t n = 1; n < sizeof(dir); n++) {
		memset(dir, 'd', n);
		dir[0] = '/';
		dir[n] = '\0';
		const bool fits = n + strlen("/metrics/stats.ipc") <= LINK_PATH_MAX;
		assert_int_equal(link_path(path, sizeof(path), dir, LINK_STATS, ROLE_METRICS), fits);
		if (fits)
			assert_int_equal(strlen(path), n + strlen("/metrics/stats.ipc"));
	}
	assert_false(link_path(path, 20, "/run/muster", LINK_STATS, ROLE_METRICS));
	assert_false(link_path(path, 29, "/run/muster", LINK_STATS, ROLE_METRICS));
	assert_true(link_path(path, 30, "/run/muster", LINK_STATS, ROLE_METRICS));
}

static const struct rights_case {
	const char	*name;
	enum role	 role;
	enum verb	 verb;
	const char	*group, *resource;
	bool		 allowed;
} rights_cases[] = {
	{ "what is read stands in kinds.h",     ROLE_KUBE_WATCHER, VERB_LIST,   "", "nodes", false },
	{ "nobody deletes nodes yet",           ROLE_KUBE_WATCHER, VERB_DELETE, "", "nodes", false },
	{ "a lease is updated",                 ROLE_KUBE_WATCHER, VERB_UPDATE, "coordination.k8s.io", "leases", true },
	{ "a lease is not deleted",             ROLE_KUBE_WATCHER, VERB_DELETE, "coordination.k8s.io", "leases", false },
	{ "the group counts",                   ROLE_KUBE_WATCHER, VERB_UPDATE, "apps", "leases", false },
	{ "a subresource is a resource",        ROLE_TEST_KUBE_2,  VERB_GET,    "", "nodes/status", false },
	{ "a prefix is not the resource",       ROLE_KUBE_WATCHER, VERB_UPDATE, "coordination.k8s.io", "lease", false },
	{ "the first test actor may do all",    ROLE_TEST_KUBE_1,  VERB_DELETE, "", "nodes", true },
	{ "the second may patch nodes",         ROLE_TEST_KUBE_2,  VERB_PATCH,  "", "nodes", true },
	{ "and not delete them",                ROLE_TEST_KUBE_2,  VERB_DELETE, "", "nodes", false },
	{ "nor touch their status",             ROLE_TEST_KUBE_2,  VERB_PATCH,  "", "nodes/status", false },
	{ "another role has its own rights",    ROLE_METRICS,      VERB_LIST,   "", "nodes", false },
	{ "ANY is not a role with rights",      ROLE_ANY,          VERB_LIST,   "", "nodes", false },
	{ "NONE has none",                      ROLE_NONE,         VERB_LIST,   "", "nodes", false },
};

static void
check_rights(void **state)
{
	const struct rights_case *c = *state;

	assert_int_equal(rights_allow(c->role, c->verb, c->group, c->resource), c->allowed);
}

static void
rights_name_each_thing_once(void **state)
{
	(void)state;
	for (size_t a = 0; a < rights_count; a++) {
		const struct rights_row *row = &rights_table[a];

		assert_true(row->role < ROLE_MAX);
		assert_int_not_equal(row->verbs, 0);
		assert_int_equal(row->verbs >> VERB_MAX, 0);
		assert_true(strlen(row->resource) > 0);
		for (size_t b = 0; b < a; b++) {
			assert_false(row->role == rights_table[b].role
			    && strcmp(row->group, rights_table[b].group) == 0
			    && strcmp(row->resource, rights_table[b].resource) == 0);
		}
	}
}

/*
 * A field nobody reads would be projected for nobody; a path that is missing could not be
 * projected. Paths are read by kube/project; here only what every row must have.
 */
static void
kinds_are_complete(void **state)
{
	(void)state;
	for (unsigned k = 0; k < KIND_MAX; k++) {
		const struct kind_row *row = &kind_table[k];
		uint64_t readers = 0;

		assert_string_equal(row->name, msg_name((enum msg)row->message));
		const bool live = row->form == FORM_LIVE;
		const enum kind found = kind_find(row->group, row->resource);
		assert_true(found == k || (live && kind_table[found].form != FORM_LIVE));
		assert_true(!live || strchr(row->versions, ' ') == NULL);	/* no discovery chooses */
		assert_true(strlen(row->kind) > 0 && strlen(row->versions) > 0 && row->nfields > 0);
		for (unsigned f = 0; f < row->nfields; f++) {
			const struct kind_field *field = &row->fields[f];

			assert_int_not_equal(field->readers, 0);
			assert_true(strlen(field->json) > 0);
			assert_int_equal(strlen(field->proto) > 0, row->form == FORM_PROTO);
			readers |= field->readers;
			for (unsigned b = 0; b < f; b++)
				assert_string_not_equal(field->name, row->fields[b].name);
		}
		assert_int_equal(row->readers, live ? 0 : readers);
		assert_int_equal(row->live_readers, live ? readers : 0);
		for (unsigned r = 0; r < ROLE_MAX; r++) {
			const bool reads = (row->live_readers >> r & 1) != 0;

			assert_int_equal(kind_find_live(row->group, row->resource, (enum role)r) == k, reads);
			/* C8: lke-claimer deletes Pods at a deadline; to read live allows none. */
			const bool deletes = r == ROLE_LKE_CLAIMER && strcmp(row->resource, "pods") == 0;
			assert_true(!reads || (rights_allow((enum role)r, VERB_GET, row->group, row->resource)
			    && rights_allow((enum role)r, VERB_LIST, row->group, row->resource)
			    && rights_allow((enum role)r, VERB_DELETE, row->group,
				row->resource) == deletes));
		}
		for (unsigned l = 0; l < LINK_MAX; l++) {
			if ((link_table[l].connectors & readers) != 0 && link_table[l].writes)
				assert_true(link_carries((enum link)l, (enum msg)row->message));
		}
	}
	assert_int_equal(kind_find("apps", "nodes"), KIND_MAX);
	assert_int_equal(kind_find("", "node"), KIND_MAX);
}

static void
the_hash_is_one_number(void **state)
{
	(void)state;
	assert_int_not_equal(msg_schema_hash(), 0);
	assert_int_equal(msg_schema_hash(), msg_schema_hash());
}

int
main(void)
{
	static const struct CMUnitTest whole[] = {
		cmocka_unit_test(messages_are_distinct),
		cmocka_unit_test(unknown_messages),
		cmocka_unit_test(what_comes_in_batches),
		cmocka_unit_test(operations_and_outcomes_are_distinct),
		cmocka_unit_test(keys_of_objects),
		cmocka_unit_test(roles_are_distinct),
		cmocka_unit_test(links_are_valid),
		cmocka_unit_test(what_is_no_role_or_message_passes_nowhere),
		cmocka_unit_test(paths_fit_a_unix_socket),
		cmocka_unit_test(rights_name_each_thing_once),
		cmocka_unit_test(kinds_are_complete),
		cmocka_unit_test(the_hash_is_one_number),
	};
	struct CMUnitTest tests[NITEMS(rights_cases)];

	for (size_t i = 0; i < NITEMS(rights_cases); i++)
		tests[i] = (struct CMUnitTest){ rights_cases[i].name, check_rights, NULL, NULL,
		    (void *)(uintptr_t)&rights_cases[i] };
	const int failed = cmocka_run_group_tests_name("rights_allow", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("tables", whole, NULL, NULL);
}
