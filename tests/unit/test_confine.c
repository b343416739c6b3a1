/*
 * tests/unit/test_confine.c - what each version of Landlock is asked to forbid, and which variables an
 * actor gets (issue 10.2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "supervisor/confine.h"
#include "supervisor/environment.h"

/* The numbers of linux/landlock.h: 13 accesses to files at first, then REFER, TRUNCATE, IOCTL_DEV. */
enum { BIND = 1, CONNECT = 2, V1 = 0x1fff, V2 = 0x3fff, V3 = 0x7fff, V5 = 0xffff };

static const struct row {
	const char	*name;
	int		 version;
	enum tcp	 tcp;
	uint64_t	 fs, net, scoped;
	size_t		 size;
} rows[] = {
	{ "version 1", 1, TCP_NONE, V1, 0, 0, 8 },
	{ "version 2 judges renames", 2, TCP_NONE, V2, 0, 0, 8 },
	{ "version 3 judges truncation", 3, TCP_CONNECT, V3, 0, 0, 8 },
	{ "version 4: no TCP", 4, TCP_NONE, V3, BIND | CONNECT, 0, 16 },
	{ "version 4: it may connect", 4, TCP_CONNECT, V3, BIND, 0, 16 },
	{ "version 4: it may bind", 4, TCP_BIND, V3, CONNECT, 0, 16 },
	{ "version 4: it may do both", 4, TCP_BIND | TCP_CONNECT, V3, 0, 0, 16 },
	{ "version 5 judges ioctl", 5, TCP_NONE, V5, BIND | CONNECT, 0, 16 },
	{ "version 6 scopes signals and abstract sockets", 6, TCP_NONE, V5, BIND | CONNECT, 3, 24 },
	{ "a later version gets what we support", 9, TCP_BIND, V5, CONNECT, 3, 24 },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	size_t size;
	const struct confine_handled h = confine_handled(r->version, r->tcp, &size);

	assert_int_equal(h.fs, r->fs);
	assert_int_equal(h.net, r->net);
	assert_int_equal(h.scoped, r->scoped);
	assert_int_equal(size, r->size);
}

/* Only kube-watcher and the claimers call an API; only metrics and the hooks of vip-claimer listen. */
static void
who_needs_tcp(void **state)
{
	(void)state;
	for (size_t i = 0; i < CHILD_MAX; i++) {
		const bool calls = i == CHILD_KUBE_WATCHER || i == CHILD_LKE_CLAIMER
		    || i == CHILD_VPSIE_CLAIMER || i == CHILD_CAPA_ANNOTATOR || i == CHILD_TEST_CLAIMER;
		const bool listens = i == CHILD_METRICS || i == CHILD_VIP_CLAIMER;
		const enum tcp wanted = calls ? TCP_CONNECT : listens ? TCP_BIND : TCP_NONE;

		assert_int_equal(child_table[i].tcp, wanted);
	}
}

static bool
has(char **env, const char *variable)
{
	for (; *env != NULL; env++) {
		if (strncmp(*env, variable, strlen(variable)) == 0)
			return true;
	}
	return false;
}

/* (issue 11.4, F7) */
static void
a_variable_of_one_actor_reaches_no_other(void **state)
{
	(void)state;
	for (size_t i = 0; i < VARIABLE_MAX; i++)
		setenv(environment_table[i].name, "/a/value", 1);
	for (size_t c = 0; c < CHILD_MAX; c++) {
		const bool calls = c == CHILD_KUBE_WATCHER || c == CHILD_LKE_CLAIMER
		    || c == CHILD_VPSIE_CLAIMER || c == CHILD_CAPA_ANNOTATOR || c == CHILD_TEST_CLAIMER;
		char **const env = environment_make(&child_table[c]);

		for (size_t i = 0; i < VARIABLE_MAX; i++) {
			const struct variable *const v = &environment_table[i];
			const bool reached = v->reach.to == VARIABLE_ALL
			    || (v->reach.to == VARIABLE_CALLERS && calls)
			    || v->reach.role == child_table[c].role;

			char start[64];
			snprintf(start, sizeof(start), "%s=", v->name);
			assert_int_equal(has(env, start), reached);
		}
		assert_int_equal(has(env, "MUSTER_TEST_TOKEN_FILE="), c == CHILD_TEST_FAULTY);
		assert_false(has(env, "AWS_") && child_table[c].role != ROLE_CAPA_ANNOTATOR);
		environment_free(env);
	}
	for (size_t i = 0; i < VARIABLE_MAX; i++)
		unsetenv(environment_table[i].name);
}

static void
a_variable_has_one_row_and_one_owner(void **state)
{
	(void)state;
	for (size_t a = 0; a < VARIABLE_MAX; a++) {
		const struct variable *const v = &environment_table[a];

		assert_int_equal(v->reach.to == VARIABLE_ONLY, v->reach.role < ROLE_MAX);
		for (size_t b = 0; b < a; b++)
			assert_string_not_equal(v->name, environment_table[b].name);
	}
}

static void
a_proxy_is_named_to_those_who_call(void **state)
{
	(void)state;
	setenv("https_proxy", "http://u:p@proxy", 1);
	setenv("MUSTER_NOT_PASSED", "1", 1);
	for (size_t i = 0; i < CHILD_MAX; i++) {
		char **const env = environment_make(&child_table[i]);

		assert_int_equal(has(env, "https_proxy="), (child_table[i].tcp & TCP_CONNECT) != 0);
		assert_true(has(env, "PATH=") && has(env, "ZSYS_SIGHANDLER=false"));
		assert_false(has(env, "MUSTER_NOT_PASSED"));
		environment_free(env);
	}
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(who_needs_tcp), cmocka_unit_test(a_proxy_is_named_to_those_who_call),
		cmocka_unit_test(a_variable_of_one_actor_reaches_no_other),
		cmocka_unit_test(a_variable_has_one_row_and_one_owner),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name, .test_func = check_row,
			.initial_state = (void *)(uintptr_t)&rows[i] };
	memcpy(&tests[NITEMS(rows)], others, sizeof(others));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
