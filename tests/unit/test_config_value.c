/* tests/unit/test_config_value.c - values: a row is a text, a rule, and what must come of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/nearest.h"
#include "config/value.h"
#include "log.h"
#include "obj.h"

#define OK	VALUE_FAULT_NONE
#define BAD(ID)	VALUE_FAULT_##ID

/* A length of its own where the text holds a NUL; else up to the NUL. */
#define BYTES(s)	(s), sizeof(s) - 1

static const struct value_rule
    any_ms = { .type = VALUE_DURATION, .min = 0, .max = INT64_MAX },
    some_ms = { .type = VALUE_DURATION, .min = 100, .max = 300000 },
    any_int = { .type = VALUE_INT, .min = INT64_MIN, .max = INT64_MAX },
    small_int = { .type = VALUE_INT, .min = -5, .max = 65535 },
    boolean = { .type = VALUE_BOOL },
    level = { .type = VALUE_LEVEL },
    format = { .type = VALUE_FORMAT },
    choice = { .type = VALUE_CHOICE, .words = "landlock|none" },
    addr = { .type = VALUE_ADDR, .min = 1 },
    addr_or_off = { .type = VALUE_ADDR },
    domain = { .type = VALUE_DOMAIN, .min = 1, .max = 20 },
    label = { .type = VALUE_LABEL, .min = 1, .max = 20 },
    url = { .type = VALUE_URL, .min = 1, .max = 40 },
    url_or_none = { .type = VALUE_URL, .min = 0, .max = 40 },
    path = { .type = VALUE_PATH, .min = 0, .max = 10 },
    credential = { .type = VALUE_CREDENTIAL, .min = 1, .max = 10 },
    str = { .type = VALUE_STR, .min = 0, .max = 8 };

static const struct row {
	const char *name;
	const struct value_rule *rule;
	const char *text;
	size_t len;
	enum value_fault want;
	int64_t num;
} rows[] = {
	{ "duration: seconds", &any_ms, BYTES("10s"), OK, 10000 },
	{ "duration: milliseconds", &any_ms, BYTES("500ms"), OK, 500 },
	{ "duration: minutes", &any_ms, BYTES("2m"), OK, 120000 },
	{ "duration: hours", &any_ms, BYTES("1h"), OK, 3600000 },
	{ "duration: zero needs no unit", &any_ms, BYTES("0"), OK, 0 },
	{ "duration: zero may have one", &any_ms, BYTES("0s"), OK, 0 },
	{ "duration: parts add up", &any_ms, BYTES("1h30m"), OK, 5400000 },
	{ "duration: all parts", &any_ms, BYTES("1h2m3s4ms"), OK, 3723004 },
	{ "duration: as Go prints it", &any_ms, BYTES("10h0m0s"), OK, 36000000 },
	{ "duration: zeros in front", &any_ms, BYTES("1h05m"), OK, 3900000 },
	{ "duration: a number alone has no unit", &any_ms, BYTES("10"), BAD(UNIT), 0 },
	{ "duration: the last part without a unit", &any_ms, BYTES("1h30"), BAD(UNIT), 0 },
	{ "duration: two zeros are not zero", &any_ms, BYTES("00"), BAD(UNIT), 0 },
	{ "duration: a fraction is refused", &any_ms, BYTES("1.5s"), BAD(FRACTION), 0 },
	{ "duration: a fraction of zero too", &any_ms, BYTES("0.5"), BAD(FRACTION), 0 },
	{ "duration: a sign is refused", &any_ms, BYTES("-1s"), BAD(DURATION), 0 },
	{ "duration: a plus is refused", &any_ms, BYTES("+1s"), BAD(DURATION), 0 },
	{ "duration: a blank before", &any_ms, BYTES(" 5s"), BAD(DURATION), 0 },
	{ "duration: a blank after", &any_ms, BYTES("5s "), BAD(DURATION), 0 },
	{ "duration: a blank inside", &any_ms, BYTES("5 s"), BAD(DURATION), 0 },
	{ "duration: capital unit", &any_ms, BYTES("5S"), BAD(DURATION), 0 },
	{ "duration: unknown unit", &any_ms, BYTES("5d"), BAD(DURATION), 0 },
	{ "duration: microseconds are too fine", &any_ms, BYTES("5us"), BAD(DURATION), 0 },
	{ "duration: smaller unit first", &any_ms, BYTES("30m1h"), BAD(DURATION), 0 },
	{ "duration: a unit twice", &any_ms, BYTES("1s1s"), BAD(DURATION), 0 },
	{ "duration: unit alone", &any_ms, BYTES("s"), BAD(DURATION), 0 },
	{ "duration: empty", &any_ms, BYTES(""), BAD(DURATION), 0 },
	{ "duration: the largest", &any_ms, BYTES("9223372036854775807ms"), OK, INT64_MAX },
	{ "duration: digits overflow", &any_ms, BYTES("9223372036854775808ms"), BAD(RANGE), 0 },
	{ "duration: many digits", &any_ms, BYTES("99999999999999999999999ms"), BAD(RANGE), 0 },
	{ "duration: the unit overflows", &any_ms, BYTES("2562047788016h"), BAD(RANGE), 0 },
	{ "duration: sum overflows", &any_ms, BYTES("2562047788015h99999999999999m"), BAD(RANGE), 0 },
	{ "duration: overflow and nonsense", &any_ms, BYTES("9223372036854775808x"), BAD(DURATION), 0 },
	{ "duration: at the least", &some_ms, BYTES("100ms"), OK, 100 },
	{ "duration: below it", &some_ms, BYTES("99ms"), BAD(RANGE), 0 },
	{ "duration: zero below it", &some_ms, BYTES("0"), BAD(RANGE), 0 },
	{ "duration: at the most", &some_ms, BYTES("5m"), OK, 300000 },
	{ "duration: above it", &some_ms, BYTES("5m1ms"), BAD(RANGE), 0 },

	{ "int: zero", &any_int, BYTES("0"), OK, 0 },
	{ "int: negative", &any_int, BYTES("-12"), OK, -12 },
	{ "int: the largest", &any_int, BYTES("9223372036854775807"), OK, INT64_MAX },
	{ "int: one more", &any_int, BYTES("9223372036854775808"), BAD(RANGE), 0 },
	{ "int: the least", &any_int, BYTES("-9223372036854775807"), OK, -INT64_MAX },
	{ "int: far too small", &any_int, BYTES("-99999999999999999999"), BAD(RANGE), 0 },
	{ "int: at its bounds", &small_int, BYTES("65535"), OK, 65535 },
	{ "int: above", &small_int, BYTES("65536"), BAD(RANGE), 0 },
	{ "int: at its least", &small_int, BYTES("-5"), OK, -5 },
	{ "int: below", &small_int, BYTES("-6"), BAD(RANGE), 0 },
	{ "int: octal form", &any_int, BYTES("010"), BAD(NUMBER), 0 },
	{ "int: minus zero", &any_int, BYTES("-0"), BAD(NUMBER), 0 },
	{ "int: plus", &any_int, BYTES("+1"), BAD(NUMBER), 0 },
	{ "int: hexadecimal", &any_int, BYTES("0x10"), BAD(NUMBER), 0 },
	{ "int: underscores", &any_int, BYTES("1_000"), BAD(NUMBER), 0 },
	{ "int: fraction", &any_int, BYTES("1.0"), BAD(NUMBER), 0 },
	{ "int: exponent", &any_int, BYTES("1e3"), BAD(NUMBER), 0 },
	{ "int: blank", &any_int, BYTES(" 1"), BAD(NUMBER), 0 },
	{ "int: empty", &any_int, BYTES(""), BAD(NUMBER), 0 },
	{ "int: minus alone", &any_int, BYTES("-"), BAD(NUMBER), 0 },

	{ "bool: true", &boolean, BYTES("true"), OK, 1 },
	{ "bool: false", &boolean, BYTES("false"), OK, 0 },
	{ "bool: yes is YAML 1.1", &boolean, BYTES("yes"), BAD(WORD), 0 },
	{ "bool: capitals", &boolean, BYTES("True"), BAD(WORD), 0 },
	{ "bool: part of a word", &boolean, BYTES("tru"), BAD(WORD), 0 },
	{ "bool: more than a word", &boolean, BYTES("truer"), BAD(WORD), 0 },
	{ "bool: the list is no word", &boolean, BYTES("false|true"), BAD(WORD), 0 },
	{ "bool: empty", &boolean, BYTES(""), BAD(WORD), 0 },
	{ "level: debug", &level, BYTES("debug"), OK, LEVEL_DEBUG },
	{ "level: info", &level, BYTES("info"), OK, LEVEL_INFO },
	{ "level: warn", &level, BYTES("warn"), OK, LEVEL_WARN },
	{ "level: error", &level, BYTES("error"), OK, LEVEL_ERROR },
	{ "level: warning", &level, BYTES("warning"), BAD(WORD), 0 },
	{ "format: json", &format, BYTES("json"), OK, LOG_JSON },
	{ "format: console", &format, BYTES("console"), OK, LOG_CONSOLE },
	{ "choice: its second word", &choice, BYTES("none"), OK, 1 },
	{ "choice: not one of them", &choice, BYTES("true"), BAD(WORD), 0 },

	{ "addr: port alone", &addr, BYTES(":8080"), OK, 0 },
	{ "addr: port 0 takes any", &addr, BYTES("127.0.0.1:0"), OK, 0 },
	{ "addr: name", &addr, BYTES("localhost:8080"), OK, 0 },
	{ "addr: name with dots and hyphens", &addr, BYTES("a-1.example.org:1"), OK, 0 },
	{ "addr: IPv6 in brackets", &addr, BYTES("[::1]:8080"), OK, 0 },
	{ "addr: mapped IPv4", &addr, BYTES("[::ffff:127.0.0.1]:8080"), OK, 0 },
	{ "addr: IPv6 bare", &addr, BYTES("::1:8080"), BAD(HOST), 0 },
	{ "addr: IPv4 in brackets", &addr, BYTES("[127.0.0.1]:8080"), BAD(HOST), 0 },
	{ "addr: bracket open", &addr, BYTES("[::1:8080"), BAD(HOST), 0 },
	{ "addr: bracket empty", &addr, BYTES("[]:8080"), BAD(HOST), 0 },
	{ "addr: bracket alone", &addr, BYTES("[:8080"), BAD(HOST), 0 },
	{ "addr: no port", &addr, BYTES("localhost"), BAD(NO_PORT), 0 },
	{ "addr: no port after IPv6", &addr, BYTES("[::1]"), BAD(HOST), 0 },
	{ "addr: number alone", &addr, BYTES("8080"), BAD(NO_PORT), 0 },
	{ "addr: empty", &addr, BYTES(""), BAD(NO_PORT), 0 },
	{ "addr: colon alone", &addr, BYTES(":"), BAD(PORT), 0 },
	{ "addr: the largest port", &addr, BYTES(":65535"), OK, 0 },
	{ "addr: port too large", &addr, BYTES(":65536"), BAD(PORT), 0 },
	{ "addr: off, where there must be one", &addr, BYTES("off"), BAD(NO_PORT), 0 },
	{ "addr: 0, where there must be one", &addr, BYTES("0"), BAD(NO_PORT), 0 },
	{ "addr: off", &addr_or_off, BYTES("off"), OK, 0 },
	{ "addr: 0 is off", &addr_or_off, BYTES("0"), OK, 0 },
	{ "addr: 00 is not", &addr_or_off, BYTES("00"), BAD(NO_PORT), 0 },
	{ "addr: none is no word for it", &addr_or_off, BYTES("none"), BAD(NO_PORT), 0 },
	{ "addr: empty is not off", &addr_or_off, BYTES(""), BAD(NO_PORT), 0 },
	{ "addr: an address, where it may be off", &addr_or_off, BYTES(":80"), OK, 0 },
	{ "domain: two labels", &domain, BYTES("example.com"), OK, 0 },
	{ "domain: hyphen and digits", &domain, BYTES("a-1.b2.c"), OK, 0 },
	{ "domain: at its longest", &domain, BYTES("aaaaaaaaaa.aaaaaaaaa"), OK, 0 },
	{ "domain: too long", &domain, BYTES("aaaaaaaaaa.aaaaaaaaaa"), BAD(LENGTH), 0 },
	{ "label: fine", &label, BYTES("vip-allocator"), OK, 0 },
	{ "label: a dot", &label, BYTES("vip.allocator"), BAD(LABEL), 0 },
	{ "label: capitals", &label, BYTES("Vip"), BAD(LABEL), 0 },
	{ "label: a hyphen at an end", &label, BYTES("vip-"), BAD(LABEL), 0 },
	{ "label: empty", &label, BYTES(""), BAD(LABEL), 0 },
	{ "label: too long", &label, BYTES("abcdefghijabcdefghijk"), BAD(LENGTH), 0 },
	{ "domain: one label", &domain, BYTES("example"), BAD(DOMAIN), 0 },
	{ "domain: capitals", &domain, BYTES("Example.com"), BAD(DOMAIN), 0 },
	{ "domain: a slash", &domain, BYTES("example.com/v1"), BAD(DOMAIN), 0 },
	{ "domain: a dot at the end", &domain, BYTES("example.com."), BAD(DOMAIN), 0 },
	{ "domain: a dot in front", &domain, BYTES(".example.com"), BAD(DOMAIN), 0 },
	{ "domain: two dots", &domain, BYTES("a..b"), BAD(DOMAIN), 0 },
	{ "domain: a hyphen at an end", &domain, BYTES("a-.b"), BAD(DOMAIN), 0 },
	{ "domain: empty", &domain, BYTES(""), BAD(DOMAIN), 0 },
	{ "url: with a path", &url, BYTES("https://api.example.com/v2"), OK, 0 },
	{ "url: with a port", &url, BYTES("https://api.example.com:8443"), OK, 0 },
	{ "url: IPv6", &url, BYTES("https://[2001:db8::1]:443/"), OK, 0 },
	{ "url: IPv6 without a port", &url, BYTES("https://[2001:db8::1]/v2"), OK, 0 },
	{ "url: plain to this machine", &url, BYTES("http://127.0.0.1:8080/v2"), OK, 0 },
	{ "url: plain to this machine, IPv6", &url, BYTES("http://[::1]:8080"), OK, 0 },
	{ "url: plain to this machine by name", &url, BYTES("http://localhost:1"), OK, 0 },
	{ "url: plain to another machine", &url, BYTES("http://api.example.com/v2"), BAD(PLAIN), 0 },
	{ "url: plain to a name that only begins so", &url, BYTES("http://localhost.example.com"), BAD(PLAIN), 0 },
	{ "url: no scheme", &url, BYTES("api.example.com/v2"), BAD(URL), 0 },
	{ "url: another scheme", &url, BYTES("ftp://api.example.com"), BAD(URL), 0 },
	{ "url: no host", &url, BYTES("https:///v2"), BAD(URL), 0 },
	{ "url: only a scheme", &url, BYTES("https://"), BAD(URL), 0 },
	{ "url: a user name", &url, BYTES("https://a:b@example.com"), BAD(URL), 0 },
	{ "url: a query", &url, BYTES("https://example.com/?a=b"), BAD(URL), 0 },
	{ "url: a blank", &url, BYTES("https://example.com/a b"), BAD(URL), 0 },
	{ "url: a port by name", &url, BYTES("https://example.com:http"), BAD(URL), 0 },
	{ "url: too long", &url, BYTES("https://example.com/aaaaaaaaaaaaaaaaaaaaa"), BAD(LENGTH), 0 },
	{ "url: empty", &url, BYTES(""), BAD(LENGTH), 0 },
	{ "url: empty where allowed", &url_or_none, BYTES(""), OK, 0 },
	{ "addr: port negative", &addr, BYTES(":-1"), BAD(PORT), 0 },
	{ "addr: port by name", &addr, BYTES(":http"), BAD(PORT), 0 },
	{ "addr: port with zeros", &addr, BYTES(":080"), BAD(PORT), 0 },
	{ "addr: IPv4 out of range", &addr, BYTES("256.0.0.1:80"), BAD(HOST), 0 },
	{ "addr: three numbers", &addr, BYTES("10.0.1:80"), BAD(HOST), 0 },
	{ "addr: two dots", &addr, BYTES("a..b:80"), BAD(HOST), 0 },
	{ "addr: dot at the end", &addr, BYTES("a.:80"), BAD(HOST), 0 },
	{ "addr: hyphen in front", &addr, BYTES("-a:80"), BAD(HOST), 0 },
	{ "addr: hyphen before a dot", &addr, BYTES("a-.b:80"), BAD(HOST), 0 },
	{ "addr: blank", &addr, BYTES("a b:80"), BAD(HOST), 0 },
	{ "addr: URL", &addr, BYTES("http://a:80"), BAD(HOST), 0 },

	{ "path: absolute", &path, BYTES("/run/x"), OK, 0 },
	{ "path: empty where allowed", &path, BYTES(""), OK, 0 },
	{ "path: as long as allowed", &path, BYTES("/123456789"), OK, 0 },
	{ "path: longer", &path, BYTES("/1234567890"), BAD(LENGTH), 0 },
	{ "path: relative", &path, BYTES("run/x"), BAD(RELATIVE), 0 },
	{ "path: home", &path, BYTES("~/x"), BAD(RELATIVE), 0 },
	{ "credential: path", &credential, BYTES("/token"), OK, 0 },
	{ "credential: empty where needed", &credential, BYTES(""), BAD(LENGTH), 0 },
	{ "credential: a secret is no path", &credential, BYTES("s3cr3t"), BAD(RELATIVE), 0 },

	{ "str: text", &str, BYTES("a = b"), OK, 0 },
	{ "str: empty", &str, BYTES(""), OK, 0 },
	{ "str: counts bytes", &str, BYTES("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"), OK, 0 },
	{ "str: too long", &str, BYTES("123456789"), BAD(LENGTH), 0 },
	{ "str: line break", &str, BYTES("a\nb"), BAD(TEXT), 0 },
	{ "str: NUL", &str, BYTES("a\0b"), BAD(TEXT), 0 },
	{ "str: escape", &str, BYTES("\x1b[0m"), BAD(TEXT), 0 },
	{ "str: DEL", &str, BYTES("\x7f"), BAD(TEXT), 0 },
	{ "str: next line, a C1 control", &str, BYTES("\xc2\x85"), BAD(TEXT), 0 },
	{ "str: line separator", &str, BYTES("\xe2\x80\xa8"), BAD(TEXT), 0 },
	{ "str: byte order mark", &str, BYTES("\xef\xbb\xbf"), BAD(TEXT), 0 },
	{ "str: largest code point", &str, BYTES("\xf4\x8f\xbf\xbf"), OK, 0 },
	{ "str: beyond it", &str, BYTES("\xf4\x90\x80\x80"), BAD(TEXT), 0 },
	{ "str: surrogate", &str, BYTES("\xed\xa0\x80"), BAD(TEXT), 0 },
	{ "str: overlong slash", &str, BYTES("\xc0\xaf"), BAD(TEXT), 0 },
	{ "str: cut short", &str, BYTES("\xe2\x82"), BAD(TEXT), 0 },
	{ "str: continuation first", &str, BYTES("\x80"), BAD(TEXT), 0 },
	{ "str: five byte form", &str, BYTES("\xf8\x88\x80\x80\x80"), BAD(TEXT), 0 },
};

static const struct {
	const char *a, *b;
	size_t want;
} pairs[] = {
	{ "", "", 0 },
	{ "", "abc", 3 },
	{ "abc", "", 3 },
	{ "log-level", "log-level", 0 },
	{ "log-levle", "log-level", 1 },	/* neighbours swapped: one error */
	{ "loglevel", "log-level", 1 },
	{ "log_level", "log-level", 1 },
	{ "metrcs", "metrics", 1 },
	{ "mertics", "metrics", 1 },
	{ "kitten", "sitting", 3 },
	{ "ca", "abc", 3 },			/* where the unrestricted distance would be 2 */
};

static const struct {
	const struct value_rule *rule;
	const char *want;
} allowed[] = {
	{ &some_ms, "a duration from 100ms to 5m" },
	{ &small_int, "a number from -5 to 65535" },
	{ &boolean, "true or false" },
	{ &level, "debug, info, warn or error" },
	{ &path, "an absolute path of at most 10 bytes, or empty" },
	{ &credential, "the absolute path of a file that holds the secret" },
	{ &str, "text of at most 8 bytes, or empty" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	/* A copy of exact size: the sanitizers see a read beyond the end. */
	char *copy = obj_memdup(r->text, r->len);
	int64_t num = -77;
	const enum value_fault got = value_parse(r->rule, copy, r->len, &num);

	assert_string_equal(value_fault_text(got), value_fault_text(r->want));
	assert_int_equal(num, r->want == OK ? r->num : -77);
	free(copy);
}

static void
distances(void **state)
{
	static const char long_word[] =
	    "a-word-of-sixty-five-bytes-is-longer-than-any-key-that-we-have-ok";

	(void)state;
	for (size_t i = 0; i < NITEMS(pairs); i++) {
		const char *a = pairs[i].a, *b = pairs[i].b;

		assert_int_equal(nearest_distance(a, strlen(a), b, strlen(b)), pairs[i].want);
		assert_int_equal(nearest_distance(b, strlen(b), a, strlen(a)), pairs[i].want);
	}
	assert_int_equal(nearest_distance(long_word, 64, long_word, 64), 0);
	assert_true(nearest_distance(long_word, 65, "a", 1) == SIZE_MAX);
	assert_true(nearest_distance("a", 1, long_word, 65) == SIZE_MAX);
}

static void
what_is_allowed(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(allowed); i++) {
		const struct value_rule *rule = allowed[i].rule;
		char buf[128], small[8];

		assert_string_equal(value_allowed(rule, buf, sizeof(buf)), allowed[i].want);
		assert_true(strlen(value_allowed(rule, small, sizeof(small))) < sizeof(small));
	}
}

/* Every duration that is printed is read back as itself. */
static void
durations_round_trip(void **state)
{
	static const int64_t all[] = { 0, 1, 999, 1000, 1001, 59999, 60000, 3599999, 3600000, 5400000,
		3723004, INT64_MAX };

	(void)state;
	for (size_t i = 0; i < NITEMS(all); i++) {
		char buf[40];
		int64_t back;

		value_print_duration(all[i], buf, sizeof(buf));
		assert_int_equal(value_parse(&any_ms, buf, strlen(buf), &back), OK);
		assert_int_equal(back, all[i]);
	}
}

int
main(void)
{
	enum { EXTRA = 3 };
	struct CMUnitTest tests[NITEMS(rows) + EXTRA] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(what_is_allowed),
		cmocka_unit_test(durations_round_trip),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[EXTRA + i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("config value", tests, NULL, NULL);
}
