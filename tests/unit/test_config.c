/* tests/unit/test_config.c - whole files: what is refused, with which error, and what is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "lifeline.h"
#include "obj.h"

#define SUPERVISOR_KEYS	"run-dir, log-level, log-format, beat-interval, stop-timeout, user, confine"
#define METRICS_KEYS	"enabled, metrics-bind-address, health-probe-bind-address, tls-dir, "	\
			"tls-cert-name, tls-key-name"
#define LEVELS		"; allowed: debug, info, warn or error\n"
#define USERS		"; allowed: text of at most 32 bytes, or empty\n"
#define NO_ANCHOR	"an anchor (&name) is not allowed; write the value where it is needed\n"
#define NO_ALIAS	"an alias (*name) is not allowed; write the value out\n"
#define NOT_UTF8	" is not UTF-8; save the file as UTF-8\n"
#define TAB_THERE	"a tab stands in the indentation; YAML takes only spaces there\n"
#define UNKNOWN_A	"f:1: unknown key \"a\"; allowed: supervisor, actors\n"

/* want: the errors as they are printed; what ends with "..." is compared up to there. */
static const struct refused {
	const char *name, *text, *want;
} refused[] = {
	{ "unknown key, with a guess", "supervisor:\n  log-levle: info\n",
	    "f:2: unknown supervisor key \"log-levle\" (did you mean \"log-level\"?); "
	    "allowed: " SUPERVISOR_KEYS "\n" },
	{ "unknown key, nothing near", "supervisor:\n  colour: red\n",
	    "f:2: unknown supervisor key \"colour\"; allowed: " SUPERVISOR_KEYS "\n" },
	{ "unknown key of an actor", "actors:\n  metrics:\n    metrics-bind-adress: \":1\"\n",
	    "f:3: unknown metrics key \"metrics-bind-adress\" "
	    "(did you mean \"metrics-bind-address\"?); allowed: " METRICS_KEYS "\n" },
	{ "a key of another section", "supervisor:\n  enabled: true\n",
	    "f:2: unknown supervisor key \"enabled\"; allowed: " SUPERVISOR_KEYS "\n" },
	{ "unknown key at the top", "actor:\n  metrics: {}\n",
	    "f:1: unknown key \"actor\" (did you mean \"actors\"?); allowed: supervisor, actors\n" },
	{ "unknown actor", "actors:\n  metrcs: {}\n",
	    "f:2: unknown actor \"metrcs\" (did you mean \"metrics\"?); "
	    "allowed: kube-watcher, node-state..." },
	{ "the first of equally near actors", "actors:\n  test-consumer-0: {}\n",
	    "f:2: unknown actor \"test-consumer-0\" (did you mean \"test-consumer-1\"?); allowed: ..." },
	{ "an actor at the top", "metrics:\n  enabled: true\n",
	    "f:1: \"metrics\" is an actor; its section stands under actors\n" },
	{ "the supervisor among the actors", "actors:\n  supervisor: {}\n",
	    "f:2: \"supervisor\" is not an actor; its section stands beside actors\n" },
	{ "an actor that does not exist", "actors:\n  quota-claimer: {}\n",
	    "f:2: unknown actor \"quota-claimer\"..." },

	{ "list for a value", "supervisor:\n  user: [a, {b: [c]}]\n  log-level: x\n",
	    "f:2: user must be a single value, not a list" USERS
	    "f:3: log-level: \"x\" is not one of the words" LEVELS },
	{ "mapping for a value", "supervisor:\n  log-level:\n    a: b\n",
	    "f:2: log-level must be a single value, not a mapping" LEVELS },
	{ "no value", "supervisor:\n  confine:\n",
	    "f:2: confine has no value; leave the key out for its default, seccomp; "
	    "allowed: seccomp, landlock or none\n" },
	{ "null for a text", "supervisor:\n  user: ~\n",
	    "f:2: user has no value; leave the key out for its default, \"\"" USERS },
	{ "null by its other names", "supervisor:\n  user: Null\n  log-level: NULL\n",
	    "f:2: user has no value; leave the key out for its default, \"\"" USERS
	    "f:3: log-level has no value; leave the key out for its default, info" LEVELS },
	{ "quoted boolean", "actors:\n  metrics:\n    enabled: \"true\"\n",
	    "f:3: enabled is quoted, which makes it text; allowed: true or false\n" },
	{ "boolean of YAML 1.1", "actors:\n  metrics:\n    enabled: yes\n",
	    "f:3: enabled: \"yes\" is not one of the words; allowed: true or false\n" },
	{ "duration without a unit", "supervisor:\n  beat-interval: 10\n",
	    "f:2: beat-interval: \"10\" has no unit: write ms, s, m or h after the number; allowed: "
	    "a duration from 100ms to 5m\n" },
	{ "out of bounds", "supervisor:\n  stop-timeout: 999ms\n",
	    "f:2: stop-timeout: \"999ms\" is out of bounds; allowed: a duration from 1s to 10m\n" },
	{ "line break in a value", "supervisor:\n  user: \"a\\nb\"\n",
	    "f:2: user: \"a?b\" holds a line break or a control character" USERS },
	{ "NUL in a value", "supervisor:\n  user: \"a\\0b\"\n",
	    "f:2: user: \"a?b\" holds a line break or a control character" USERS },
	{ "a value too long to show",
	    "supervisor:\n  log-level: aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffgg\n",
	    "f:2: log-level: \"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffff...\" "
	    "is not one of the words" LEVELS },
	{ "a terminal is not obeyed", "\"\\e[31m\\xc3\\x85\": 1\n",
	    "f:1: unknown key \"?[31m\xc3\x83?\"; allowed: supervisor, actors\n" },

	{ "duplicate key", "supervisor:\n  user: a\n  log-level: info\n  user: b\n",
	    "f:4: \"user\" is given twice, first on line 2; keep one\n" },
	{ "duplicate of a bad one", "supervisor:\n  user: [a]\n  user: [b]\n",
	    "f:2: user must be a single value, not a list" USERS
	    "f:3: \"user\" is given twice, first on line 2; keep one\n" },
	{ "duplicate enabled", "actors:\n  metrics:\n    enabled: true\n    enabled: false\n",
	    "f:4: \"enabled\" is given twice, first on line 3; keep one\n" },
	{ "duplicate actor", "actors:\n  metrics: {}\n  metrics:\n    enabled: false\n",
	    "f:3: \"metrics\" is given twice, first on line 2; keep one\n" },
	{ "duplicate section", "supervisor: {}\nactors: {}\nactors:\nsupervisor:\n",
	    "f:3: \"actors\" is given twice, first on line 2; keep one\n"
	    "f:4: \"supervisor\" is given twice, first on line 1; keep one\n" },

	{ "a word alone", "hello\n",
	    "f:1: the file must be a mapping of keys to values, not a single value\n" },
	{ "a list", "\n- supervisor\n",
	    "f:2: the file must be a mapping of keys to values, not a list\n" },
	{ "section is a word", "supervisor: on\nactors: [metrics]\n",
	    "f:1: supervisor must be a mapping of keys to values, not a single value\n"
	    "f:2: actors must be a mapping of keys to values, not a list\n" },
	{ "actor is a word", "actors:\n  metrics: true\n",
	    "f:2: metrics must be a mapping of keys to values, not a single value\n" },
	{ "key is a list", "supervisor:\n  ? [a, b]\n  : c\n  user: [d]\n",
	    "f:2: a key must be a word, not a list\n"
	    "f:4: user must be a single value, not a list" USERS },

	{ "second document", "supervisor: {}\n---\nactors: {}\n",
	    "f:2: a second document starts here; one file holds one document\n" },
	{ "anchor and alias", "supervisor:\n  user: &u root\n  run-dir: *u\n",
	    "f:2: " NO_ANCHOR
	    "f:3: " NO_ALIAS },
	{ "anchor on a mapping", "supervisor: &s {}\nactors: *s\n",
	    "f:1: " NO_ANCHOR
	    "f:2: " NO_ALIAS },
	{ "anchor on a list", "supervisor:\n  user: &s []\n",
	    "f:2: " NO_ANCHOR
	    "f:2: user must be a single value, not a list" USERS },
	{ "alias as a key", "supervisor:\n  *a : b\n", "f:2: " NO_ALIAS },
	{ "found late, yet sorted by line", "a:\n  *a\n", UNKNOWN_A "f:2: " NO_ALIAS },
	{ "merge key", "supervisor:\n  <<: {user: root}\n",
	    "f:2: a merge key (<<) is not allowed; write the keys out\n" },
	{ "tag", "supervisor:\n  user: !!str root\n",
	    "f:2: a tag (!name) is not allowed; every key has its own type\n" },
	{ "tab", "supervisor:\n\tuser: root\n", "f:2: " TAB_THERE },
	{ "tab after spaces", "supervisor:\n  user: root\n  \tlog-level: info\n",
	    "f:3: " TAB_THERE },
	{ "bracket left open", "supervisor: {\n",
	    "f:2: not YAML: did not find expected node content while parsing a flow node\n" },
	{ "errors before broken YAML stay", "supervisor:\n  user: [a]\n b: c\n",
	    "f:2: user must be a single value, not a list" USERS
	    "f:3: not YAML: did not find expected key while parsing a block mapping\n" },
	{ "quote left open", "supervisor:\n  user: \"root\n",
	    "f:3: not YAML: found unexpected end of stream while scanning a quoted scalar\n" },
	{ "not UTF-8", "supervisor:\n  user: caf\xe9\n", "f:2: byte 0xe9" NOT_UTF8 },
	{ "UTF-16", "\xff\xfe" "a", "f:1: byte 0xff" NOT_UTF8 },
	{ "control character", "supervisor:\n  user: a\x1b[0m\n",
	    "f:2: a control character stands here (U+001B); only text is allowed\n" },
	{ "eight levels are enough", "a:\n  - - - - - - - x\n", UNKNOWN_A },
	{ "nine are not", "a:\n  - - - - - - - - x\nb: 1\n",
	    UNKNOWN_A
	    "f:2: nested deeper than 8 levels; the settings need three\n" },
};

/* want: the flat text of that section, in full. */
static const struct accepted {
	const char *name, *text, *section, *want;
} accepted[] = {
#define METRICS_TLS	"tls-dir=\ntls-cert-name=tls.crt\ntls-key-name=tls.key\n"
#define METRICS_DEFAULT	"metrics-bind-address=:8080\nhealth-probe-bind-address=:9440\n" METRICS_TLS
#define BEFORE_USER								\
	"run-dir=\nlog-level=info\nlog-format=json\nbeat-interval=10000\nstop-timeout=27000\n"
#define SUPERVISOR_DEFAULT							\
	BEFORE_USER "user=\nconfine=seccomp\n"
	{ "empty file", "", "supervisor", SUPERVISOR_DEFAULT },
	{ "comments only", "# nothing\n", "metrics", METRICS_DEFAULT },
	{ "empty document", "---\n...\n", "metrics", METRICS_DEFAULT },
	{ "empty mapping", "{}\n", "metrics", METRICS_DEFAULT },
	{ "empty sections", "supervisor:\nactors:\n  metrics:\n", "metrics", METRICS_DEFAULT },
	{ "byte order mark", "\xef\xbb\xbfsupervisor: {}\n", "supervisor", SUPERVISOR_DEFAULT },
	{ "all of the supervisor",
	    "supervisor:\n  confine: none\n  user: mu=ster # no comment\n"
	    "  stop-timeout: 1m30s\n  beat-interval: '500ms'\n"
	    "  log-format: \"console\"\n  log-level: warn\n  run-dir: /run/x\n",
	    "supervisor",
	    "run-dir=/run/x\nlog-level=warn\nlog-format=console\nbeat-interval=500\n"
	    "stop-timeout=90000\nuser=mu=ster\nconfine=none\n" },
	{ "address unquoted",
	    "actors:\n  metrics:\n    metrics-bind-address: :0\n"
	    "    health-probe-bind-address: '[::1]:80'\n",
	    "metrics",
	    "metrics-bind-address=:0\nhealth-probe-bind-address=[::1]:80\n" METRICS_TLS },
	{ "a number is text where text is wanted", "supervisor:\n  user: 1000\n", "supervisor",
	    BEFORE_USER "user=1000\nconfine=seccomp\n" },
	{ "carriage returns",
	    "actors:\r\n  metrics:\r\n    metrics-bind-address: a:1\r\n", "metrics",
	    "metrics-bind-address=a:1\nhealth-probe-bind-address=:9440\n" METRICS_TLS },
	{ "an unknown section is empty", "", "quota-claimer", "" },
	{ "test producer",
	    "actors:\n  test-producer:\n    seed: 9223372036854775807\n    ready-after: 1s\n",
	    "test-producer",
	    "keys=1000\nrate=0\nvalue-bytes=64\nchurn=0\nseed=9223372036854775807\nready-after=1000\n"
	    "series=0\ndump=\nsettle-file=\nmisbehave=no\nmisbehave-after=0\ntoken-file=\n" },
	{ "one consumer is not another",
	    "actors:\n  test-consumer-2:\n    slow: 2ms\n", "test-consumer-20",
	    "misbehave=no\nmisbehave-after=0\nslow=0\ndump=\nlatency-file=\n" },
};

static const char too_large[] = "is larger than 1048576 bytes, the limit of a configuration";
static const char not_a_file[] = "is not a regular file; the configuration is one YAML file";

static struct config_errors errs;

/* From a copy of exact size, so that the sanitizers see a read beyond the end. */
static struct config *
parse(const char *text, size_t len)
{
	char *copy = obj_memdup(text, len);
	struct config *c = config_parse("f", copy, len, &errs);

	free(copy);
	return c;
}

static char *
printed_errors(void)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	config_errors_print(&errs, f);
	fclose(f);
	return out;
}

static void
check_refused(void **state)
{
	const struct refused *row = *state;
	const size_t want = strlen(row->want);
	struct config *c = parse(row->text, strlen(row->text));
	char *got = printed_errors();

	assert_null(c);
	if (want > 3 && strcmp(row->want + want - 3, "...") == 0 && strlen(got) >= want)
		memcpy(got + want - 3, "...", 4);
	assert_string_equal(got, row->want);
	free(got);
}

static void
check_accepted(void **state)
{
	const struct accepted *row = *state;
	struct config *c = parse(row->text, strlen(row->text));

	assert_int_equal(errs.count, 0);
	assert_non_null(c);
	char *flat = config_flat(c, row->section);
	assert_string_equal(flat, row->want);
	free(flat);
	config_free(&c);
	assert_null(c);
}

static void
getters(void **state)
{
	static const char text[] =
	    "actors:\n  test-consumer-1:\n    enabled: false\n\n  metrics:\n"
	    "    health-probe-bind-address: \":1\"\n\nsupervisor:\n  log-level: error\n";
	struct config *c = parse(text, sizeof(text) - 1);

	(void)state;
	assert_non_null(c);
	assert_null(config_path(c));
	assert_string_equal(config_get(c, "supervisor", "beat-interval"), "10000");
	assert_int_equal(config_get_i64(c, "supervisor", "beat-interval"), 10000);
	assert_int_equal(config_get_i64(c, "supervisor", "log-level"), 3);
	assert_int_equal(config_get_i64(c, "supervisor", "confine"), 0);
	assert_int_equal(config_get_i64(c, "test-producer", "keys"), 1000);
	assert_string_equal(config_get(c, "metrics", "health-probe-bind-address"), ":1");
	assert_int_equal(config_line(c, "metrics", "health-probe-bind-address"), 6);
	assert_int_equal(config_line(c, "metrics", "metrics-bind-address"), 0);
	assert_int_equal(config_line(c, "supervisor", "log-level"), 9);

	assert_true(config_mentioned(c, "metrics"));
	assert_int_equal(config_enabled(c, "metrics"), CONFIG_ON);
	assert_int_equal(config_enabled_line(c, "metrics"), 5);
	assert_true(config_mentioned(c, "test-consumer-1"));
	assert_int_equal(config_enabled(c, "test-consumer-1"), CONFIG_OFF);
	assert_int_equal(config_enabled_line(c, "test-consumer-1"), 3);
	assert_false(config_mentioned(c, "test-consumer-2"));
	assert_int_equal(config_enabled(c, "test-consumer-2"), CONFIG_UNSET);
	assert_false(config_mentioned(c, "nobody"));
	assert_int_equal(config_enabled(c, "nobody"), CONFIG_UNSET);
	assert_int_equal(config_enabled_line(c, "nobody"), 0);
	assert_int_equal(config_enabled(c, "supervisor"), CONFIG_UNSET);
	config_free(&c);
	config_free(&c);
}

static void
flat_of_the_defaults(void **state)
{
	struct config *c = config_load(NULL, &errs);
	char *flat = config_flat(c, "metrics");

	(void)state;
	assert_string_equal(flat, METRICS_DEFAULT);
	free(flat);
	config_free(&c);
}

static void
credentials_are_only_named(void **state)
{
	static const char good[] = "actors: {test-producer: {dump: /d, token-file: /run/token}}";
	static const char pasted[] = "actors:\n  test-producer:\n    token-file: hunter2\n";
	struct config *c = parse(good, sizeof(good) - 1);

	(void)state;
	assert_string_equal(config_credential(c, "test-producer", 0), "/run/token");
	assert_null(config_credential(c, "test-producer", 1));
	assert_null(config_credential(c, "metrics", 0));
	config_free(&c);

	c = config_load(NULL, &errs);
	assert_null(config_credential(c, "test-producer", 0));
	config_free(&c);

	assert_null(parse(pasted, sizeof(pasted) - 1));
	assert_int_equal(errs.count, 1);
	assert_null(strstr(errs.list[0].text, "hunter2"));
}

static void
twenty_errors_then_stop(void **state)
{
	char text[2048] = "supervisor:\n";

	(void)state;
	for (int i = 0; i < 21; i++) {
		char *got;

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "  k%d: 1\n", i);
		assert_null(parse(text, strlen(text)));
		assert_int_equal(errs.count, i < 20 ? i + 1 : 20);
		assert_int_equal(errs.more, i == 20);
		for (size_t e = 0; e < errs.count; e++)
			assert_int_equal(errs.list[e].line, e + 2);
		got = printed_errors();
		assert_true((strstr(got, "more errors follow") != NULL) == (i == 20));
		free(got);
	}
}

static void
file_over_the_limit(void **state)
{
	char *text = obj_alloc(CONFIG_FILE_MAX + 1);
	struct config *c;

	(void)state;
	memset(text, '#', CONFIG_FILE_MAX + 1);
	c = parse(text, CONFIG_FILE_MAX);
	assert_non_null(c);
	config_free(&c);
	assert_null(parse(text, CONFIG_FILE_MAX + 1));
	assert_string_equal(errs.list[0].text, too_large);
	free(text);
}

static void
nul_in_a_file(void **state)
{
	static const char text[] = "supervisor:\n\n  user: a\0b\n";

	(void)state;
	assert_null(parse(text, sizeof(text) - 1));
	assert_int_equal(errs.list[0].line, 3);
	assert_string_equal(errs.list[0].text, "a NUL stands here (U+0000); only text is allowed");
}

/* Every path that load can take: missing, not a file, good, bad, too large. */
static void
loading_files(void **state)
{
	char dir[] = "/tmp/muster-config-XXXXXX", path[64], line[1024];
	struct config *c;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/muster.yaml", dir);

	assert_null(config_load(path, &errs));
	snprintf(line, sizeof(line),
	    "%s: cannot open the configuration: No such file or directory; "
	    "`muster check --print-defaults` prints one to start from\n",
	    path);
	char *got = printed_errors();
	assert_string_equal(got, line);
	free(got);

	assert_null(config_load(dir, &errs));
	assert_string_equal(errs.list[0].text, not_a_file);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(config_load(path, &errs));	/* would hang on a pipe that nobody writes to */
	assert_int_equal(unlink(path), 0);

	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs("supervisor:\n  user: somebody\n", f);
	fclose(f);
	c = config_load(path, &errs);
	assert_non_null(c);
	assert_string_equal(config_path(c), path);
	assert_string_equal(config_get(c, "supervisor", "user"), "somebody");
	config_free(&c);

	f = fopen(path, "a");
	assert_non_null(f);
	fputs("  usr: x\n", f);
	fclose(f);
	assert_null(config_load(path, &errs));
	assert_string_equal(errs.file, path);
	assert_int_equal(errs.list[0].line, 3);

	assert_int_equal(truncate(path, CONFIG_FILE_MAX + 1), 0);
	assert_null(config_load(path, &errs));
	assert_string_equal(errs.list[0].text, too_large);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(getters),
		cmocka_unit_test(flat_of_the_defaults),
		cmocka_unit_test(credentials_are_only_named),
		cmocka_unit_test(twenty_errors_then_stop),
		cmocka_unit_test(file_over_the_limit),
		cmocka_unit_test(nul_in_a_file),
		cmocka_unit_test(loading_files),
	};
	struct CMUnitTest tests[NITEMS(others) + NITEMS(refused) + NITEMS(accepted)];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(others); i++)
		tests[n++] = others[i];
	for (size_t i = 0; i < NITEMS(refused); i++)
		tests[n++] = (struct CMUnitTest){ refused[i].name, check_refused, NULL, NULL,
			(void *)(uintptr_t)&refused[i] };
	for (size_t i = 0; i < NITEMS(accepted); i++)
		tests[n++] = (struct CMUnitTest){ accepted[i].name, check_accepted, NULL, NULL,
			(void *)(uintptr_t)&accepted[i] };
	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
