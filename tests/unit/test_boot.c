/* tests/unit/test_boot.c - records of the supervisor: accepted whole, or refused with the field's name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "boot.h"
#include "lifeline.h"
#include "obj.h"

#define TOKEN	"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define OTHER	"g0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define WORDS	"peer record: needs role, incarnation, two tokens, state"
#define TOKENS	"peer record: token is not hexadecimal of the right length"
#define REST	" level=info format=json beat-ms=10000 instance=host-1_5f syscalls=own,connect"
#define WHOLE	"name=metrics incarnation=7 run-dir=/run/muster" REST

static const struct boot_row {
	const char	*name, *record, *wrong;
} boots[] = {
	{ "whole",                 "boot " WHOLE,                                NULL },
	{ "in any order",          "boot beat-ms=1 format=console level=debug run-dir=/r"
				   " incarnation=18446744073709551615 name=test-producer instance=a"
				   " syscalls=any", NULL },
	{ "empty",                 "",                                           "the first record is not `boot`" },
	{ "another record",        "config a=b",                                 "the first record is not `boot`" },
	{ "nothing after boot",    "boot",                                       "boot record: a key is missing" },
	{ "a word without =",      "boot name",                                  "boot record: a word without `=`" },
	{ "an unknown key",        "boot " WHOLE " colour=red",                  "boot record: unknown key" },
	{ "one key missing",       "boot name=metrics incarnation=7" REST, "boot record: a key is missing" },
	{ "an unknown role",       "boot name=nobody",                           "name" },
	{ "incarnation 0",         "boot incarnation=0",                         "incarnation" },
	{ "incarnation -1",        "boot incarnation=-1",                        "incarnation" },
	{ "incarnation too large", "boot incarnation=18446744073709551616",      "incarnation" },
	{ "incarnation 7x",        "boot incarnation=7x",                        "incarnation" },
	{ "a relative run-dir",    "boot run-dir=run",                           "run-dir" },
	{ "an empty run-dir",      "boot run-dir=",                              "run-dir" },
	{ "a run-dir of 108",      "boot run-dir=/23456789.123456789.123456789.123456789.123456789"
				   ".123456789.123456789.123456789.123456789.123456789.12345678", "run-dir" },
	{ "no such level",         "boot level=loud",                            "level" },
	{ "no such format",        "boot format=xml",                            "format" },
	{ "no beats",              "boot beat-ms=0",                             "beat-ms" },
	{ "an empty instance",     "boot instance=",                             "instance" },
	{ "an instance to quote",  "boot instance=a\"b",                         "instance" },
	{ "no such set of calls",  "boot syscalls=own,all",                      "syscalls" },
	{ "sets without own",      "boot syscalls=connect",                      "syscalls" },
	{ "a set that is empty",   "boot syscalls=own,",                         "syscalls" },
	{ "beats of a month",      "boot beat-ms=2592000000",                    "beat-ms" },
};

static void
check_boot(void **state)
{
	const struct boot_row *row = *state;
	char *record = obj_strdup(row->record);
	struct boot b;

	const char *wrong = boot_parse(record, &b);
	if (row->wrong == NULL)
		assert_null(wrong);
	else
		assert_string_equal(wrong != NULL ? wrong : "fine", row->wrong);
	free(record);
}

static void
every_field_is_taken(void **state)
{
	char record[] = "boot " WHOLE;
	struct boot b;

	(void)state;
	assert_null(boot_parse(record, &b));
	assert_int_equal(b.role, ROLE_METRICS);
	assert_int_equal(b.incarnation, 7);
	assert_string_equal(b.run_dir, "/run/muster");
	assert_int_equal(b.level, LEVEL_INFO);
	assert_int_equal(b.format, LOG_JSON);
	assert_int_equal(b.beat_ms, 10000);
	assert_string_equal(b.instance, "host-1_5f");
	assert_int_equal(b.syscalls, SYSCALL_SET_OWN | SYSCALL_SET_CONNECT);
}

static const struct peer_row {
	const char	*name, *record, *wrong;
	enum peer_state	 state;
	size_t		 expected_len, presented_len;
} peers[] = {
	{ "a consumer",       "peer metrics 3 " TOKEN " - up", NULL, PEER_UP, TOKEN_BYTES, 0 },
	{ "a producer",       "peer metrics 3 - " TOKEN " up", NULL, PEER_UP, 0, TOKEN_BYTES },
	{ "down without one", "peer metrics 0 - - down", NULL, PEER_DOWN, 0, 0 },
	{ "off",              "peer metrics 3 - - off", NULL, PEER_OFF, 0, 0 },
	{ "words missing",    "peer metrics 3 - up", WORDS, 0, 0, 0 },
	{ "a word too many",  "peer metrics 3 - - up now", WORDS, 0, 0, 0 },
	{ "nothing",          "peer", WORDS, 0, 0, 0 },
	{ "an unknown role",  "peer nobody 3 - - up", "peer record: unknown role", 0, 0, 0 },
	{ "no incarnation",   "peer metrics three - - up", "peer record: incarnation is not a number", 0, 0, 0 },
	{ "a short token",    "peer metrics 3 0011 - up", TOKENS, 0, 0, 0 },
	{ "a long token",     "peer metrics 3 - " TOKEN "00 up", TOKENS, 0, 0, 0 },
	{ "a token of other letters", "peer metrics 3 " OTHER " - up", TOKENS, 0, 0, 0 },
	{ "an unknown state", "peer metrics 3 - - asleep", "peer record: state is none of up, down, off", 0, 0, 0 },
};

static void
check_peer(void **state)
{
	const struct peer_row *row = *state;
	char *record = obj_strdup(row->record);
	struct boot_peer p;

	const char *wrong = boot_parse_peer(record, &p);
	if (row->wrong == NULL) {
		assert_null(wrong);
		assert_int_equal(p.role, ROLE_METRICS);
		assert_int_equal(p.state, row->state);
		assert_int_equal(p.expected.len, row->expected_len);
		assert_int_equal(p.presented.len, row->presented_len);
		const struct secret *const token = p.expected.len > 0 ? &p.expected : &p.presented;
		assert_int_equal(token->bytes[1], token->len > 0 ? 0x11 : 0);
		assert_int_equal(token->bytes[31], token->len > 0 ? 0xff : 0);
	} else {
		assert_string_equal(wrong != NULL ? wrong : "fine", row->wrong);
	}
	free(record);
}

static const struct setting_row {
	const char	*name, *lines, *key, *value;
} settings[] = {
	{ "one",                 "a=b",            "a", "b" },
	{ "the second",          "a=b\nc=d",       "c", "d" },
	{ "a newline at the end", "a=b\n",         "a", "b" },
	{ "empty",               "a=\nb=c",        "a", "" },
	{ "with = inside",       "a=b=c",          "a", "b=c" },
	{ "set twice",           "a=b\na=c",       "a", "c" },
	{ "with spaces",         "a= b c ",        "a", " b c " },
	{ "absent",              "a=b",            "b", NULL },
	{ "a prefix of another", "ab=c",           "a", NULL },
	{ "no settings at all",  "",               "a", NULL },
	{ "a line without =",    "nonsense\na=b",  "a", "b" },
};

static void
check_setting(void **state)
{
	const struct setting_row *row = *state;
	struct settings *s = settings_parse(row->lines);
	const char *value = settings_get(s, row->key);

	if (row->value == NULL)
		assert_null(value);
	else
		assert_string_equal(value != NULL ? value : "(none)", row->value);
	settings_free(&s);
	assert_null(s);
	settings_free(&s);
}

int
main(void)
{
	static const struct CMUnitTest fields[] = { cmocka_unit_test(every_field_is_taken) };
	struct CMUnitTest a[NITEMS(boots)], b[NITEMS(peers)], c[NITEMS(settings)];

#define ROW(table, fn, i)	{ (table)[i].name, fn, NULL, NULL, (void *)(uintptr_t)&(table)[i] }
	for (size_t i = 0; i < NITEMS(boots); i++)
		a[i] = (struct CMUnitTest)ROW(boots, check_boot, i);
	for (size_t i = 0; i < NITEMS(peers); i++)
		b[i] = (struct CMUnitTest)ROW(peers, check_peer, i);
	for (size_t i = 0; i < NITEMS(settings); i++)
		c[i] = (struct CMUnitTest)ROW(settings, check_setting, i);
	return cmocka_run_group_tests_name("boot", a, NULL, NULL)
	    + cmocka_run_group_tests_name("boot fields", fields, NULL, NULL)
	    + cmocka_run_group_tests_name("peer", b, NULL, NULL)
	    + cmocka_run_group_tests_name("settings", c, NULL, NULL);
}
