/*
 * tests/unit/test_confine.c - what each version of Landlock is asked to forbid, and which variables an
 * actor gets (issue 10.2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "supervisor/child.h"
#include "supervisor/confine.h"

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

/* Only kube-watcher calls an API, and only metrics listens. */
static void
who_needs_tcp(void **state)
{
	(void)state;
	for (size_t i = 0; i < CHILD_MAX; i++) {
		const enum tcp wanted = i == CHILD_KUBE_WATCHER ? TCP_CONNECT
		    : i == CHILD_METRICS ? TCP_BIND : TCP_NONE;

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

static void
a_proxy_is_named_to_those_who_call(void **state)
{
	(void)state;
	setenv("https_proxy", "http://u:p@proxy", 1);
	setenv("MUSTER_NOT_PASSED", "1", 1);
	for (size_t i = 0; i < CHILD_MAX; i++) {
		char **const env = child_environment(&child_table[i]);

		assert_int_equal(has(env, "https_proxy="), (child_table[i].tcp & TCP_CONNECT) != 0);
		assert_true(has(env, "PATH=") && has(env, "ZSYS_SIGHANDLER=false"));
		assert_false(has(env, "MUSTER_NOT_PASSED"));
		child_environment_free(env);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name, .test_func = check_row,
			.initial_state = (void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(who_needs_tcp);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(a_proxy_is_named_to_those_who_call);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
