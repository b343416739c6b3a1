/* tests/unit/test_spec.c - what the configuration makes of the child table. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "log.h"
#include "obj.h"
#include "supervisor/spec.h"

enum { ROOT = 0, SOMEBODY = 4242 };

static char dir[] = "/tmp/muster-spec-XXXXXX";
static char log_text[8192];

static void
record_line(const char *line, size_t len)
{
	const size_t room = sizeof(log_text) - strlen(log_text) - 1;

	strncat(log_text, line, len < room ? len : room);
}

/* The program of every child is there, as an empty file; only whether it can be run is checked. */
static int
set_up(void **state)
{
	(void)state;
	MUST(mkdtemp(dir) != NULL);
	for (size_t i = 0; i < CHILD_MAX; i++) {
		char path[256];

		snprintf(path, sizeof(path), "%s/%s", dir, child_table[i].program);
		FILE *const f = fopen(path, "w");
		MUST(f != NULL && fchmod(fileno(f), 0755) == 0);
		fclose(f);
	}
	log_set_sink(record_line);
	return 0;
}

static int
tear_down(void **state)
{
	char path[256];

	(void)state;
	log_set_sink(NULL);
	for (size_t i = 0; i < CHILD_MAX; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, child_table[i].program);
		unlink(path);
	}
	return rmdir(dir);
}

static struct spec_set *
load_as(uid_t euid, const char *yaml, char err[SPEC_ERROR_MAX])
{
	struct config_errors *const errs = obj_alloc(sizeof(*errs));
	char path[256];

	snprintf(path, sizeof(path), "%s/t.yaml", dir);
	FILE *const f = fopen(path, "w");
	MUST(f != NULL && fputs(yaml, f) >= 0 && fclose(f) == 0);
	struct config *c = config_load(path, errs);
	unlink(path);
	if (c == NULL)
		config_errors_print(errs, stderr);
	assert_non_null(c);
	free(errs);
	log_text[0] = err[0] = '\0';
	struct spec_set *const set =
	    spec_load(c, &(struct spec_search){ .dirs = { "/nowhere", dir }, .euid = euid }, err,
		SPEC_ERROR_MAX);
	config_free(&c);
	return set;
}

static struct spec_set *
load(const char *yaml, char err[SPEC_ERROR_MAX])
{
	return load_as(SOMEBODY, yaml, err);
}

static const struct row {
	const char	*name, *yaml;
	const char	*wrong;		/* NULL: fine; else a part of the text */
	const char	*logged;	/* a part of the log; NULL: anything */
	uint64_t	 enabled;	/* mask of roles */
} rows[] = {
	{ "an empty file: the defaults", "", NULL, NULL, ROLE_BIT(METRICS) },
	{ "switched off", "actors: {metrics: {enabled: false}}\n", NULL, NULL, 0 },
	{ "a section alone switches on", "actors: {test-faulty: {mode: ok}}\n", NULL, NULL,
	    ROLE_BIT(METRICS) | ROLE_BIT(TEST_FAULTY) },
	{ "brings what it needs", "actors: {metrics: {enabled: false}, test-consumer-2: {}}\n", NULL,
	    "actor enabled, because another needs it", ROLE_BIT(TEST_PRODUCER) | ROLE_BIT(TEST_CONSUMER_2) },
	{ "needed but switched off", "actors:\n  test-consumer-2: {}\n  test-producer:\n    enabled: false\n",
	    "t.yaml:4: actor test-consumer-2 needs test-producer", NULL, 0 },
	{ "B7: insight brings node-state and kube-watcher, and the log has the reason",
	    "actors: {metrics: {enabled: false}, insight: {}}\n", NULL,
	    "\"actor\":\"node-state\",\"needs\":\"insight\"",
	    ROLE_BIT(KUBE_WATCHER) | ROLE_BIT(NODE_STATE) | ROLE_BIT(INSIGHT) },
	{ "B7: insight without node-state is refused, naming both",
	    "actors:\n  insight:\n    enabled: true\n  node-state:\n    enabled: false\n",
	    "t.yaml:5: actor insight needs node-state", NULL, 0 },
	{ "B7: node-state without kube-watcher is refused, naming both",
	    "actors: {node-state: {}, kube-watcher: {enabled: false}}\n",
	    "t.yaml:1: actor node-state needs kube-watcher", NULL, 0 },
	{ "needed, and its section does not set enabled",
	    "actors: {test-consumer-2: {}, test-producer: {keys: 5}}\n", NULL, NULL,
	    ROLE_BIT(METRICS) | ROLE_BIT(TEST_PRODUCER) | ROLE_BIT(TEST_CONSUMER_2) },
	{ "an unknown user", "supervisor: {user: no-such-user}\n", "t.yaml:1: supervisor.user", NULL, 0 },
	{ "a shared folder of credentials",
	    "actors: {test-faulty: {token-file: /run/c/a}, test-faulty-core: {token-file: /run/c/b}}\n", NULL,
	    "an actor can open a credential of another",
	    ROLE_BIT(METRICS) | ROLE_BIT(TEST_FAULTY) | ROLE_BIT(TEST_FAULTY_CORE) },
	{ "the root, which is above everything",
	    "actors: {test-faulty: {token-file: /a}, test-faulty-core: {token-file: /run/c/b}}\n", NULL,
	    "an actor can open a credential of another",
	    ROLE_BIT(METRICS) | ROLE_BIT(TEST_FAULTY) | ROLE_BIT(TEST_FAULTY_CORE) },
	{ "a folder above another's",
	    "actors: {test-faulty: {token-file: /run/a}, test-faulty-core: {token-file: /run/c/b}}\n", NULL,
	    "an actor can open a credential of another",
	    ROLE_BIT(METRICS) | ROLE_BIT(TEST_FAULTY) | ROLE_BIT(TEST_FAULTY_CORE) },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	char err[SPEC_ERROR_MAX];
	struct spec_set *set = load(r->yaml, err);

	if (r->wrong != NULL) {
		assert_null(set);
		assert_non_null(strstr(err, r->wrong));
		return;
	}
	MUST(set != NULL);
	for (size_t i = 0; i < CHILD_MAX; i++)
		assert_int_equal(set->children[i].enabled, r->enabled >> child_table[i].role & 1);
	if (r->logged != NULL)
		assert_non_null(strstr(log_text, r->logged));
	spec_free(&set);
	assert_null(set);
}

static void
folders_apart_are_not_warned_about(void **state)
{
	char err[SPEC_ERROR_MAX];
	struct spec_set *set = load("actors: {test-faulty: {token-file: /run/c/a},\n"
				    "  test-faulty-core: {token-file: /run/cc/b}}\n", err);

	(void)state;
	assert_null(strstr(log_text, "credential"));
	spec_free(&set);
}

static void
a_spec_is_complete(void **state)
{
	char err[SPEC_ERROR_MAX], program[256];
	struct spec_set *set = load("supervisor: {beat-interval: 3s, stop-timeout: 9s, confine: none}\n"
	    "actors: {test-producer: {keys: 1000, dump: /var/d/dump, token-file: /run/c/token}}\n", err);

	(void)state;
	assert_non_null(set);
	assert_int_equal(set->beat_ms, 3000);
	assert_int_equal(set->stop_ms, 9000);
	assert_false(set->confine);
	assert_false(set->change_user);
	const struct child_spec *const s = &set->children[CHILD_TEST_PRODUCER];

	snprintf(program, sizeof(program), "%s/muster-test-producer", dir);
	assert_string_equal(s->program, program);
	assert_non_null(strstr(s->config, "keys=1000\n"));
	assert_non_null(strstr(s->config, "rate=0\n"));
	assert_null(strstr(s->config, "enabled"));
	assert_true(s->data_limit == (64u << 20) + 1000 * (4u << 10));
	assert_int_equal(s->npaths, 2);
	assert_string_equal(s->paths[0].dir, "/run/c");
	assert_false(s->paths[0].write);
	assert_string_equal(s->paths[1].dir, "/var/d");
	assert_true(s->paths[1].write);
	spec_free(&set);
}

/* (issue 10.2) */
static void
root_has_to_choose_a_user(void **state)
{
	static const struct {
		uid_t		 euid;
		const char	*yaml, *wrong;
		bool		 change_user;
	} cases[] = {
		{ ROOT,     "supervisor: {log-level: info}\n", "supervisor.user is not set, and root", false },
		{ ROOT,     "supervisor: {user: ''}\n",        "supervisor.user is not set, and root", false },
		{ ROOT,     "supervisor: {user: root}\n",      NULL,                                   false },
		{ ROOT,     "supervisor: {user: nobody}\n",    NULL,                                   true },
		{ SOMEBODY, "supervisor: {log-level: info}\n", NULL,                                   false },
		{ SOMEBODY, "supervisor: {user: root}\n",      "only root can run actors as \"root\"", false },
	};
	char err[SPEC_ERROR_MAX];

	(void)state;
	for (size_t i = 0; i < NITEMS(cases); i++) {
		struct spec_set *set = load_as(cases[i].euid, cases[i].yaml, err);

		if (cases[i].wrong != NULL) {
			assert_null(set);
			assert_non_null(strstr(err, cases[i].wrong));
			continue;
		}
		assert_non_null(set);
		assert_int_equal(set->change_user, cases[i].change_user);
		spec_free(&set);
	}
}

/* Last: it takes the program away. */
static void
a_program_that_is_missing(void **state)
{
	char err[SPEC_ERROR_MAX], program[256];

	(void)state;
	snprintf(program, sizeof(program), "%s/muster-metrics", dir);
	assert_int_equal(chmod(program, 0644), 0);
	assert_null(load("", err));
	assert_non_null(strstr(err, "metrics"));
	assert_non_null(strstr(err, "/nowhere"));
	assert_non_null(strstr(err, dir));
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 4];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(folders_apart_are_not_warned_about);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(a_spec_is_complete);
	tests[NITEMS(rows) + 2] = (struct CMUnitTest)cmocka_unit_test(root_has_to_choose_a_user);
	tests[NITEMS(rows) + 3] = (struct CMUnitTest)cmocka_unit_test(a_program_that_is_missing);
	return cmocka_run_group_tests_name("spec", tests, set_up, tear_down);
}
