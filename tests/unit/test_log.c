/* tests/unit/test_log.c - lines: exact text, validity under every cut, levels, repeats, secrets. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log_repeat.h"
#include "err.h"
#include "log.h"
#include "obj.h"
#include "random.h"

#define TS_MS	1794872675123	/* 2026-11-16T23:44:35.123Z */
#define HEAD	"{\"ts\":\"2026-11-16T23:44:35.123Z\",\"level\":"
#define S(...)	LOG_KVS(__VA_ARGS__)

struct row {
	const char		*name;
	enum log_format		 format;
	enum log_level		 level;
	int			 errnum;
	uint64_t		 trace;
	const char		*msg;
	struct log_kv		 kvs[5];
	const char		*want;
};

static const struct row rows[] = {
	{ "json: no keys", LOG_JSON, LEVEL_INFO, 0, 0, "actor is up", { { .type = LOG_END } },
	  HEAD "\"info\",\"actor\":\"metrics\",\"msg\":\"actor is up\"}\n" },
	{ "json: keys in order, numbers bare", LOG_JSON, LEVEL_WARN, 0, 0, "m",
	  { KV_S(PEER, "node-state"), KV_I(PID, -7), KV_I(BYTES, INT64_MAX), { .type = LOG_END } },
	  HEAD "\"warn\",\"actor\":\"metrics\",\"msg\":\"m\",\"peer\":\"node-state\",\"pid\":-7,"
	  "\"bytes\":9223372036854775807}\n" },
	{ "json: trace last, 16 digits", LOG_JSON, LEVEL_DEBUG, 0, 0xabc, "m", { KV_I(PID, 1), { .type = LOG_END } },
	  HEAD "\"debug\",\"actor\":\"metrics\",\"msg\":\"m\",\"pid\":1,\"trace\":\"0000000000000abc\"}\n" },
	{ "json: errno's text", LOG_JSON, LEVEL_WARN, ENOENT, 0, "m", { KV_S(PATH, "/x"), { .type = LOG_END } },
	  HEAD "\"warn\",\"actor\":\"metrics\",\"msg\":\"m\",\"path\":\"/x\","
	  "\"err\":\"No such file or directory\"}\n" },
	{ "json: unknown errno", LOG_JSON, LEVEL_WARN, 99999, 0, "m", { { .type = LOG_END } },
	  HEAD "\"warn\",\"actor\":\"metrics\",\"msg\":\"m\",\"err\":\"unknown error\"}\n" },
	{ "json: the caller's err outranks errno", LOG_JSON, LEVEL_WARN, ENOENT, 0, "m", { KV_S(ERR, "own"), { .type = LOG_END } },
	  HEAD "\"warn\",\"actor\":\"metrics\",\"msg\":\"m\",\"err\":\"own\"}\n" },
	{ "json: a line about another actor names its writer", LOG_JSON, LEVEL_INFO, 0, 0, "m",
	  { KV_S(ACTOR, "insight"), { .type = LOG_END } },
	  HEAD "\"info\",\"by\":\"metrics\",\"msg\":\"m\",\"actor\":\"insight\"}\n" },
	{ "json: a key stands once", LOG_JSON, LEVEL_INFO, 0, 0, "m",
	  { KV_I(PID, 1), KV_I(PID, 2), { .type = LOG_END } },
	  HEAD "\"info\",\"actor\":\"metrics\",\"msg\":\"m\",\"pid\":1}\n" },
	{ "json: escapes", LOG_JSON, LEVEL_INFO, 0, 0, "m",
	  { KV_S(WHY, "a\"b\\c\nd\te\rf\bg\fh\x01i\x7fj\x1b[31m"), { .type = LOG_END } },
	  HEAD "\"info\",\"actor\":\"metrics\",\"msg\":\"m\",\"why\":"
	  "\"a\\\"b\\\\c\\nd\\te\\rf\\bg\\fh\\u0001i\\u007fj\\u001b[31m\"}\n" },
	{ "json: good UTF-8 stays", LOG_JSON, LEVEL_INFO, 0, 0, "m", { KV_S(WHY, "é €\U0001F600"), { .type = LOG_END } },
	  HEAD "\"info\",\"actor\":\"metrics\",\"msg\":\"m\",\"why\":\"é €\U0001F600\"}\n" },
	{ "json: bad UTF-8, byte by byte", LOG_JSON, LEVEL_INFO, 0, 0, "m",
	  { KV_S(WHY, "\xff|\xc0\xaf|\xed\xa0\x80|\xe2\x82"), { .type = LOG_END } },
	  HEAD "\"info\",\"actor\":\"metrics\",\"msg\":\"m\",\"why\":"
	  "\"\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|"
	  "\\ufffd\\ufffd\"}\n" },
	{ "json: C1 controls steer terminals too", LOG_JSON, LEVEL_INFO, 0, 0, "m", { KV_S(WHY, "\xc2\x9b" "31m"), { .type = LOG_END } },
	  HEAD "\"info\",\"actor\":\"metrics\",\"msg\":\"m\",\"why\":\"\\u009b31m\"}\n" },
	{ "json: length given, NUL inside", LOG_JSON, LEVEL_INFO, 0, 0, "m", { KV_SN(KEY, "a\0b", 3), { .type = LOG_END } },
	  HEAD "\"info\",\"actor\":\"metrics\",\"msg\":\"m\",\"key\":\"a\\u0000b\"}\n" },
	{ "json: no string", LOG_JSON, LEVEL_INFO, 0, 0, "m", { KV_S(KEY, NULL), { .type = LOG_END } },
	  HEAD "\"info\",\"actor\":\"metrics\",\"msg\":\"m\",\"key\":null}\n" },
	{ "console: plain and quoted", LOG_CONSOLE, LEVEL_INFO, 0, 0, "message",
	  { KV_S(KEY, "value"), KV_S(WHY, "with space"), KV_I(PID, 3), { .type = LOG_END } },
	  "23:44:35.123 info  metrics  message key=value why=\"with space\" pid=3\n" },
	{ "console: empty, quote, equals, none", LOG_CONSOLE, LEVEL_ERROR, 0, 1, "m",
	  { KV_S(KEY, ""), KV_S(WHY, "a\"b"), KV_S(UID, "a=b"), KV_S(PEER, NULL), { .type = LOG_END } },
	  "23:44:35.123 error metrics  m key=\"\" why=\"a\\\"b\" uid=\"a=b\" peer=-"
	  " trace=0000000000000001\n" },
	{ "console: bad byte shows itself", LOG_CONSOLE, LEVEL_WARN, EPERM, 0, "m",
	  { KV_S(KEY, "a\xff"), KV_S(WHY, "\x1b[2J"), { .type = LOG_END } },
	  "23:44:35.123 warn  metrics  m key=a\\xff why=\"\\u001b[2J\" err=\"Operation not permitted\"\n" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	char buf[8192];
	const size_t n = log_format_line(buf, sizeof(buf), r->format, false, "metrics", TS_MS,
	    r->trace, r->level, r->errnum, r->msg, r->kvs);

	assert_string_equal(buf, r->want);
	assert_int_equal(n, strlen(r->want));
}

static void
colour_only_when_asked_for(void **state)
{
	char buf[256];

	(void)state;
	log_format_line(
	    buf, sizeof(buf), LOG_CONSOLE, true, "a-long-actor", TS_MS, 0, LEVEL_WARN, 0, "m", S());
	assert_string_equal(buf, "23:44:35.123 \033[33mwarn \033[0m a-long-actor m\n");
	log_format_line(buf, sizeof(buf), LOG_JSON, true, "a", TS_MS, 0, LEVEL_WARN, 0, "m", S());
	assert_null(strchr(buf, '\033'));
}

static void
dates_as_the_c_library(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		/* 1900 to 2300, plus the edges of days and leap years that random steps hit */
		const int64_t ms = (int64_t)random_below(&seed, 12622780800000u) - 2208988800000;
		const time_t t = (time_t)(ms / 1000 - (ms % 1000 < 0));
		struct tm tm;
		char want[64], buf[256];

		gmtime_r(&t, &tm);
		strftime(want, sizeof(want), "{\"ts\":\"%Y-%m-%dT%H:%M:%S.", &tm);
		snprintf(want + strlen(want), 8, "%03dZ\"", (int)(ms - (int64_t)t * 1000));
		log_format_line(buf, sizeof(buf), LOG_JSON, false, "a", ms, 0, LEVEL_INFO, 0, "m", S());
		assert_memory_equal(buf, want, strlen(want));
	}
}

/*
 * Whatever the size and the bytes, the line is nothing at all or JSON without a key twice, ends in
 * \n, fits.
 */
static void
every_cut_is_json(void **state)
{
	static const char *const bits[] = {
		"a", "\"", "\\", "\n", "\x01", "é", "€", "\U0001F600", "\xff", "\xe2\x82", " ",
	};
	char text[3][600], buf[5000];
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < 6000; i++) {
		for (int j = 0; j < 3; j++) {
			text[j][0] = '\0';
			for (uint64_t k = random_below(&seed, 120); k > 0; k--)
				strcat(text[j], bits[random_below(&seed, NITEMS(bits))]);
		}
		const size_t size = random_below(&seed, 900);
		const struct log_kv *kvs =
		    S(KV_S(WHY, text[1]), KV_I(PID, (int64_t)random_next(&seed)),
			KV_S(KEY, text[2]), KV_S(PEER, NULL), KV_S(WHY, "again"));
		for (enum log_format f = LOG_JSON; f <= LOG_CONSOLE; f++) {
			memset(buf, 0x55, sizeof(buf));
			const size_t n = log_format_line(buf, size, f, false, "some-actor", TS_MS,
			    random_below(&seed, 2), LEVEL_WARN, (int)random_below(&seed, 40),
			    text[0], kvs);

			if (n > 0) {
				assert_true(n < size);
				assert_int_equal(buf[n], '\0');
				assert_int_equal(buf[n - 1], '\n');
				assert_int_equal(strcspn(buf, "\n"), n - 1);
			}
			assert_int_equal(buf[size], 0x55);
			if (f == LOG_JSON && n > 0) {
				json_error_t why;
				json_t *v = json_loads(buf, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);

				if (v == NULL)
					fail_msg("%s in: %s", why.text, buf);
				json_decref(v);
			}
			if (size >= 256)
				assert_true(n > 0);
		}
	}
}

/* 4096 bytes at most; the long value is marked and the keys behind it are still there. */
static void
long_value_leaves_room_for_the_rest(void **state)
{
	static char words[100000];
	char buf[8192];

	(void)state;
	memset(words, 'x', sizeof(words) - 1);
	const size_t n = log_format_line(buf, sizeof(buf), LOG_JSON, false, "a", TS_MS, 5,
	    LEVEL_ERROR, EIO, "actor died",
	    S(KV_SN(LAST_OUTPUT, words, sizeof(words) - 1), KV_I(NEXT_MS, 4000),
		KV_S(CAUSE, "signal 9")));

	assert_true(n <= 4096 && n > 4000);
	assert_non_null(strstr(buf, "xxx...\",\"next_ms\":4000,\"cause\":\"signal 9\","
	    "\"err\":\"Input/output error\","
	    "\"trace\":\"0000000000000005\"}\n"));
}

/* What the function writes to stderr, in a child process; its exit status into *status. */
static char *
stderr_of(void (*fn)(void), int *status)
{
	static char out[65536];
	int fds[2];
	size_t len = 0;
	ssize_t n;

	assert_int_equal(pipe(fds), 0);
	const pid_t pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		fn();
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], out + len, sizeof(out) - 1 - len)) > 0)
		len += (size_t)n;
	close(fds[0]);
	out[len] = '\0';
	assert_int_equal(waitpid(pid, status, 0), pid);
	return out;
}

static size_t
lines(const char *s)
{
	size_t n = 0;

	while ((s = strchr(s, '\n')) != NULL) {
		s++;
		n++;
	}
	return n;
}

static void
log_levels(void)
{
	log_open("t", LOG_JSON, LEVEL_WARN);
	log_info("not printed");
	log_warnx("printed");
	log_set_level(LEVEL_DEBUG);
	log_set_trace(0x10);
	log_debug("printed too");
	errno = ENOENT;
	log_warn("errno printed");
	if (errno != ENOENT)
		_exit(1);
}

static void
levels_and_trace(void **state)
{
	int status;
	const char *out = stderr_of(log_levels, &status);

	(void)state;
	assert_int_equal(status, 0);
	assert_int_equal(lines(out), 3);
	assert_null(strstr(out, "not printed"));
	assert_non_null(strstr(out, "\"msg\":\"printed\"}\n"));
	assert_non_null(strstr(out, "\"msg\":\"printed too\",\"trace\":\"0000000000000010\"}\n"));
	assert_non_null(strstr(out, "\"err\":\"No such file or directory\""));
}

static void
die_config(void)
{
	log_open("t", LOG_JSON, LEVEL_ERROR);
	for (int i = 0; i < 15; i++)
		log_error("same", KV_S(KEY, "k"));
	atexit(abort);
	fatalx("unknown key", KV_S(KEY, "portt"), KV_S(HINT, "port"));
}

static void
die_transient(void)
{
	errno = EMFILE;
	fatal("cannot open");
}

/* fatal() writes the lines that were held back and runs no atexit handler; its exit code is the class. */
static void
fatal_writes_everything_and_exits(void **state)
{
	int status;
	const char *out = stderr_of(die_config, &status);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_CONFIG);
	assert_int_equal(lines(out), 12);
	assert_non_null(strstr(out, "\"msg\":\"same\",\"key\":\"k\",\"repeated\":5}\n"));
	assert_non_null(strstr(out, "\"level\":\"error\",\"actor\":\"t\",\"msg\":\"unknown key\","
	    "\"key\":\"portt\",\"hint\":\"port\"}\n"));
	out = stderr_of(die_transient, &status);
	assert_int_equal(WEXITSTATUS(status), EXIT_TRANSIENT);
	assert_non_null(strstr(out, "\"err\":\"Too many open files\""));
}

static void
repeats_are_counted(void **state)
{
	struct repeats rs = { 0 };
	char key[8];

	(void)state;
	for (int i = 0; i < 25; i++) {
		snprintf(key, sizeof(key), "k%d", 1);	/* the text counts, not its address */
		assert_int_equal(
		    repeats_hold(&rs, LEVEL_WARN, EIO, "m", S(KV_S(KEY, key), KV_I(PID, 4)), i),
		    i >= 10);
	}
	assert_false(repeats_hold(&rs, LEVEL_WARN, EIO, "m", S(KV_S(KEY, "k2"), KV_I(PID, 4)), 25));
	assert_false(repeats_hold(&rs, LEVEL_WARN, EIO, "m", S(KV_S(KEY, "k1"), KV_I(PID, 5)), 25));
	assert_false(repeats_hold(&rs, LEVEL_WARN, 0, "m", S(KV_S(KEY, "k1"), KV_I(PID, 4)), 25));
	assert_false(repeats_hold(&rs, LEVEL_ERROR, EIO, "m", S(KV_S(KEY, "k1"), KV_I(PID, 4)), 25));
	strcpy(key, "gone");		/* the caller's bytes do not last until the line is written */
	assert_null(repeats_take(&rs, REPEAT_WINDOW_MS - 1));
	const struct repeat *r = repeats_take(&rs, REPEAT_WINDOW_MS);
	assert_non_null(r);
	assert_int_equal(r->level, LEVEL_WARN);
	assert_int_equal(r->errnum, EIO);
	assert_string_equal(r->msg, "m");
	assert_memory_equal(r->kvs[0].str, "k1", 2);
	assert_int_equal(r->kvs[0].len, 2);
	assert_int_equal(r->kvs[1].num, 4);
	assert_int_equal(r->kvs[2].key, LK_REPEATED);
	assert_int_equal(r->kvs[2].num, 15);
	assert_int_equal(r->kvs[3].type, LOG_END);
	assert_null(repeats_take(&rs, REPEAT_WINDOW_MS));
	/* the next window begins anew */
	assert_false(repeats_hold(
	    &rs, LEVEL_WARN, EIO, "m", S(KV_S(KEY, "k1"), KV_I(PID, 4)), REPEAT_WINDOW_MS + 1));
}

/* Eight storms are held; a ninth is, too, and the oldest is written at once to make room for it. */
static void
a_ninth_storm_is_held(void **state)
{
	struct repeats rs = { 0 };
	size_t counted = 0;
	int passed = 0;
	const struct repeat *r;

	(void)state;
	for (int64_t now = 0; now < 9 * 50; now++) {
		while ((r = repeats_take(&rs, now)) != NULL) {
			assert_int_equal(r->kvs[0].num, 0);
			assert_int_equal(r->kvs[1].num, 50 - REPEAT_FREE);
			counted++;
		}
		passed += !repeats_hold(&rs, LEVEL_WARN, 0, "m", S(KV_I(PID, now / 50)), now);
	}
	assert_int_equal(passed, 9 * REPEAT_FREE);
	assert_int_equal(counted, 1);
}

/*
 * More storms than there is room for pass rather than being lost; a storm is not forgotten because
 * of quiet lines.
 */
static void
repeats_never_lose_a_line(void **state)
{
	static char longer[2000];
	struct repeats rs = { 0 };
	size_t passed = 0, counted = 0, sent = 0;
	uint64_t seed = 3;
	const struct repeat *r;

	(void)state;
	memset(longer, 'l', sizeof(longer) - 1);
	for (int64_t now = 0; now < 200000; now++) {
		const int64_t which = (int64_t)random_below(&seed, random_below(&seed, 8) == 0 ? 1000 : 10);

		while ((r = repeats_take(&rs, now)) != NULL)
			counted += (size_t)r->kvs[2].num;
		passed += !repeats_hold(&rs, LEVEL_WARN, 0, "m", S(KV_I(PID, which), KV_S(WHY, longer)), now);
		sent++;
	}
	while ((r = repeats_take(&rs, INT64_MAX)) != NULL)
		counted += (size_t)r->kvs[2].num;
	assert_int_equal(sent, passed + counted);
	assert_true(counted > sent / 4);
}

static void
level_names(void **state)
{
	enum log_level level = LEVEL_DEBUG;

	(void)state;
	for (enum log_level l = 0; l < LEVEL_MAX; l++) {
		assert_true(log_level_parse(log_level_name(l), &level));
		assert_int_equal(level, l);
	}
	assert_false(log_level_parse("loud", &level));
	assert_false(log_level_parse("", &level));
	assert_int_equal(level, LEVEL_ERROR);
}

static void
secrets(void **state)
{
	struct secret s = { .bytes = "abcd", .len = 4 };
	static const struct secret none;

	(void)state;
	assert_true(secret_equal(&s, "abcd", 4));
	assert_false(secret_equal(&s, "abce", 4));
	assert_false(secret_equal(&s, "xbcd", 4));
	assert_false(secret_equal(&s, "abc", 3));
	assert_false(secret_equal(&s, "abcde", 5));
	assert_false(secret_equal(&none, "", 0));	/* an empty secret matches nothing */
	secret_wipe(&s);
	assert_memory_equal(&s, &none, sizeof(s));
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(colour_only_when_asked_for), cmocka_unit_test(dates_as_the_c_library),
		cmocka_unit_test(every_cut_is_json), cmocka_unit_test(long_value_leaves_room_for_the_rest),
		cmocka_unit_test(levels_and_trace), cmocka_unit_test(fatal_writes_everything_and_exits),
		cmocka_unit_test(repeats_are_counted), cmocka_unit_test(a_ninth_storm_is_held),
		cmocka_unit_test(repeats_never_lose_a_line),
		cmocka_unit_test(level_names), cmocka_unit_test(secrets),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	memcpy(tests + NITEMS(rows), others, sizeof(others));
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
