/* tests/unit/test_spec.c - what the configuration makes of the child table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/* leader-elect stands on line 2, the lease on line 3. */
#define ELECT(actor, elect, lease)						\
	"actors: {" actor ", kube-watcher: {\n  leader-elect: " elect ",\n"	\
	"  leader-elect-lease-duration: " lease "}}\n"

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
	{ "A8: without election the lease does not matter",
	    ELECT("test-faulty: {}", "false", "3s"), NULL, NULL,
	    ROLE_BIT(METRICS) | ROLE_BIT(KUBE_WATCHER) | ROLE_BIT(TEST_FAULTY) },
	{ "A8: a short lease, and nobody changes anything at a provider",
	    ELECT("test-kube-1: {}", "true", "3s"), NULL, NULL,
	    ROLE_BIT(METRICS) | ROLE_BIT(KUBE_WATCHER) | ROLE_BIT(TEST_KUBE_1) },
	{ "A8: a short lease, and the one who does is switched off",
	    ELECT("test-faulty: {enabled: false}", "true", "3s"), NULL, NULL,
	    ROLE_BIT(METRICS) | ROLE_BIT(KUBE_WATCHER) },
	{ "A8: a lease of which 2/3 is the timeout of a mutation, both settings are named",
	    ELECT("test-faulty: {}", "true", "12s"),
	    "t.yaml:3: kube-watcher.leader-elect-lease-duration of 12s is too short for actor test-faulty: "
	    "with kube-watcher.leader-elect (line 2) a call that changes something at its provider takes "
	    "up to 8s and must end within 2/3 of the lease; set leader-elect-lease-duration to more than 12s",
	    NULL, 0 },
	{ "A8: the shortest that is long enough", ELECT("test-faulty: {}", "true", "12001ms"), NULL, NULL,
	    ROLE_BIT(METRICS) | ROLE_BIT(KUBE_WATCHER) | ROLE_BIT(TEST_FAULTY) },
	{ "A8: the default lease is long enough",
	    "actors: {kube-watcher: {leader-elect: true}, test-faulty: {}}\n", NULL, NULL,
	    ROLE_BIT(METRICS) | ROLE_BIT(KUBE_WATCHER) | ROLE_BIT(TEST_FAULTY) },
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

/* Points the variable of test-faulty at value, and loads. The caller frees the set. */
static struct spec_set *
load_with_variable(uid_t euid, const char *value, const char *yaml)
{
	char err[SPEC_ERROR_MAX];

	setenv("MUSTER_TEST_TOKEN_FILE", value, 1);
	struct spec_set *const set = load_as(euid, yaml, err);
	unsetenv("MUSTER_TEST_TOKEN_FILE");
	MUST(set != NULL);
	return set;
}

/* (issue 11.4, F7) */
static void
a_file_that_a_variable_names_is_of_one_actor(void **state)
{
	struct spec_set *set = load_with_variable(SOMEBODY, dir,
	    "actors: {test-faulty: {}, test-faulty-core: {}}\n");
	const struct child_spec *const s = &set->children[CHILD_TEST_FAULTY];

	(void)state;
	assert_int_equal(s->npaths, 1);
	assert_string_equal(s->paths[0].dir, "/tmp");	/* the folder of `dir` */
	assert_false(s->paths[0].write || s->paths[0].run);
	assert_int_equal(set->children[CHILD_TEST_FAULTY_CORE].npaths, 0);
	assert_int_equal(set->children[CHILD_METRICS].npaths, 0);
	spec_free(&set);
}

static void
a_file_that_a_variable_names_and_that_cannot_be_read_is_logged(void **state)
{
	static const struct {
		const char	*name;		/* of a file in dir; NULL: value */
		const char	*value;
		mode_t		 mode;		/* 0: there is no file */
		const char	*user;
		const char	*logged;	/* NULL: nothing */
		size_t		 npaths;
	} cases[] = {
		{ "token",   NULL,      0600, NULL,     NULL,                        1 },
		{ "token",   NULL,      0,    NULL,     "No such file or directory", 1 },
		{ ".",       NULL,      0,    NULL,     "Is a directory",            1 },
		{ NULL,      "s3cret",  0,    NULL,     "by its absolute path",      0 },
		{ NULL,      "",        0,    NULL,     NULL,                        0 },
		{ "token",   NULL,      0600, "nobody", "Permission denied",         1 },
		{ "token",   NULL,      0604, "nobody", NULL,                        1 },
	};
	char path[256], yaml[128];

	(void)state;
	for (size_t i = 0; i < NITEMS(cases); i++) {
		const bool other = cases[i].user != NULL;

		if (other && geteuid() != ROOT)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, cases[i].name != NULL ? cases[i].name : "");
		if (cases[i].mode != 0) {
			FILE *const f = fopen(path, "w");
			MUST(f != NULL && fchmod(fileno(f), cases[i].mode) == 0 && fclose(f) == 0);
		}
		MUST(chmod(dir, other ? 0711 : 0700) == 0);
		snprintf(yaml, sizeof(yaml), "supervisor: {user: '%s'}\nactors: {test-faulty: {}}\n",
		    other ? cases[i].user : "");
		struct spec_set *set = load_with_variable(other ? ROOT : SOMEBODY,
		    cases[i].name != NULL ? path : cases[i].value, yaml);

		if (cases[i].logged == NULL) {
			assert_null(strstr(log_text, "variable"));
		} else {
			assert_non_null(strstr(log_text, cases[i].logged));
			assert_non_null(strstr(log_text,
			    "\"actor\":\"test-faulty\",\"key\":\"MUSTER_TEST_TOKEN_FILE\""));
		}
		assert_null(strstr(log_text, "s3cret"));
		assert_int_equal(set->children[CHILD_TEST_FAULTY].npaths, cases[i].npaths);
		spec_free(&set);
		if (cases[i].mode != 0)
			unlink(path);
	}
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
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(folders_apart_are_not_warned_about), cmocka_unit_test(a_spec_is_complete),
		cmocka_unit_test(a_file_that_a_variable_names_is_of_one_actor),
		cmocka_unit_test(a_file_that_a_variable_names_and_that_cannot_be_read_is_logged),
		cmocka_unit_test(root_has_to_choose_a_user), cmocka_unit_test(a_program_that_is_missing),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	memcpy(&tests[NITEMS(rows)], others, sizeof(others));
	return cmocka_run_group_tests_name("spec", tests, set_up, tear_down);
}
