/*
 * tests/unit/test_print.c - any message as text: JSON that parses whatever is in it, no secret, no
 * byte too many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "msg.h"
#include "obj.h"

#define TEXT(s)		{ .p = (s), .len = sizeof(s) - 1 }
#define PLACE(s, ...)	{ .p = (const uint8_t *)(s), .len = sizeof(s) - 1, __VA_ARGS__ }
#define BYTES(s)	{ .p = (const uint8_t *)(s), .len = sizeof(s) - 1 }
#define TOKEN		"hunter2-very-secret"

static const double buckets[] = { 0.005, 3, __builtin_inf(), 7, __builtin_nan(""), -__builtin_inf() };

/*
 * Expected text with ' for ", which is easier to read; both_quotes turns it round. json comes
 * without its braces.
 */
static const struct row {
	const char	*name;
	enum msg	 msg;
	union msg_body	 body;
	const char	*text, *json;
} rows[] = {
	{ "numbers", MSG_ACK, { .ack = { .credit = UINT64_MAX } },
	    "credit=18446744073709551615",
	    "'credit':18446744073709551615" },
	{ "a secret", MSG_HELLO,
	    { .hello = { .role = TEXT("metrics"), .incarnation = 3, .token = BYTES(TOKEN), .schema = 4,
		  .window = 5, .nonce = 6 } },
	    "role='metrics' incarnation=3 token=*** schema=4 window=5 nonce=6",
	    "'role':'metrics','incarnation':3,'token':'***','schema':4,'window':5,'nonce':6" },
	{ "an item", MSG_DELTA,
	    { .item = { .key = TEXT("node/a"), .uid = TEXT("u"), .rv = TEXT("9"), .version = 1, .trace = 2,
		  .gone = true, .type = 0x101, .value = BYTES("\0\1") } },
	    "key='node/a' uid='u' rv='9' version=1 trace=2 gone=true type=257 value=<2 bytes>",
	    "'key':'node/a','uid':'u','rv':'9','version':1,'trace':2,'gone':true,'type':257,"
	    "'value':{'bytes':2}" },
	{ "an empty item", MSG_SNAP_ITEMS, { .item = { .gone = false } },
	    "key='' uid='' rv='' version=0 trace=0 gone=false type=0 value=<0 bytes>",
	    "'key':'','uid':'','rv':'','version':0,'trace':0,'gone':false,'type':0,"
	    "'value':{'bytes':0}" },
	{ "quotes, controls and a terminal escape", MSG_CLOSE,
	    { .close = { .nonce = 1, .reason = TEXT("a\"b\\c\n\t\x1b[31m\x7f\x01") } },
	    "nonce=1 reason='a\\'b\\\\c\\n\\t\\u001b[31m\\u007f\\u0001'",
	    "'nonce':1,'reason':'a\\'b\\\\c\\n\\t\\u001b[31m\\u007f\\u0001'" },
	{ "text of every length stays", MSG_CLOSE, { .close = { .reason = TEXT("aé€😀") } },
	    "nonce=0 reason='aé€😀'",
	    "'nonce':0,'reason':'aé€😀'" },
	{ "a control character of two bytes", MSG_CLOSE, { .close = { .reason = TEXT("\xc2\x9b" "31m") } },
	    "nonce=0 reason='\\u009b31m'",
	    "'nonce':0,'reason':'\\u009b31m'" },
	{ "bytes that are no text", MSG_CLOSE, { .close = { .reason = TEXT("\x9b\xc0\xafz\xed\xa0\x80\xe2\x82") } },
	    "nonce=0 reason='\\x9b\\xc0\\xafz\\xed\\xa0\\x80\\xe2\\x82'",
	    "'nonce':0,'reason':'\\ufffd\\ufffd\\ufffdz\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd'" },
	{ "signed and negative", MSG_TAP,
	    { .tap = { .seq = 1, .time_us = INT64_MIN, .peer = TEXT("x") } },
	    "seq=1 time_us=-9223372036854775808 incarnation=0 peer='x'",
	    "'seq':1,'time_us':-9223372036854775808,'incarnation':0,'peer':'x'" },
	{ "reals JSON has no words for", MSG_STAT,
	    { .stat = { .family = TEXT("f"), .value = -__builtin_inf(),
		  .buckets = { .p = buckets, .len = NITEMS(buckets) } } },
	    "family='f' kind=0 help='' labels='' value='-Inf' count=0 "
	    "buckets=[0.0050000000000000001,3,'+Inf',7,'NaN','-Inf']",
	    "'family':'f','kind':0,'help':'','labels':'','value':'-Inf','count':0,"
	    "'buckets':[0.0050000000000000001,3,'+Inf',7,'NaN','-Inf']" },
	{ "no numbers at all", MSG_STAT, { .stat = { .value = 1e300 } },
	    "family='' kind=0 help='' labels='' value=1.0000000000000001e+300 count=0 buckets=[]",
	    "'family':'','kind':0,'help':'','labels':'','value':1.0000000000000001e+300,'count':0,"
	    "'buckets':[]" },
	{ "a map, and names that need quotes", MSG_NAMESPACE,
	    { .nspace = { .labels = PLACE("\xa1" "a\xa1" "1\xa4" "b\" ~\xa0", .count = 2) } },
	    "labels={a='1','b\\' ~'=''} deleted=''",
	    "'labels':{'a':'1','b\\' ~':''},'deleted':''" },
	{ "rows of two columns and of one", MSG_NODE,
	    { .node = { .finalizers = PLACE("\x91\xa1" "f\x91\xa1" "g", .count = 2, .columns = 1),
		  .addresses = PLACE("\x92\xa1" "a\xa1" "b\x92\xa0\xa1" "c", .count = 2, .columns = 2) } },
	    "labels={} annotations={} mco={} vpsie={} vpsie_labels={} deleted='' "
	    "finalizers=['f','g'] provider_id='' unschedulable=false taints=[] "
	    "conditions=[] addresses=[['a','b'],['','c']] echo={}",
	    "'labels':{},'annotations':{},'mco':{},'vpsie':{},'vpsie_labels':{},'deleted':'',"
	    "'finalizers':['f','g'],'provider_id':'',"
	    "'unschedulable':false,'taints':[],'conditions':[],'addresses':[['a','b'],['','c']],'echo':{}" },
	{ "a write", MSG_WRITE,
	    { .write = { .id = 4, .op = 2, .resource = TEXT("nodes"), .name = TEXT("n1"), .deadline_ms = 9,
		  .body = TEXT("{}") } },
	    "id=4 op=2 group='' version='' resource='nodes' ns='' name='n1' subresource='' uid='' "
	    "rv='' labels='' fields='' deadline_ms=9 body='{}'",
	    "'id':4,'op':2,'group':'','version':'','resource':'nodes','ns':'','name':'n1',"
	    "'subresource':'','uid':'','rv':'','labels':'','fields':'','deadline_ms':9,'body':'{}'" },
	{ "a secret that no list names", MSG_SEALED,
	    { .sealed = { .name = TEXT("n"), .password = BYTES(TOKEN), .last = TEXT("l") } },
	    "name='n' password=*** last='l'",
	    "'name':'n','password':'***','last':'l'" },
	{ "an object of a resource that may be shown", MSG_RAW,
	    { .raw = { .resource = TEXT("nodes"), .json = TEXT("{}") } },
	    "resource='nodes' json='{}'",
	    "'resource':'nodes','json':'{}'" },
	{ "an object of a resource that is not named", MSG_RAW, { .raw = { .json = TEXT(TOKEN) } },
	    "resource='' json='***'",
	    "'resource':'','json':'***'" },
	{ "a Secret", MSG_RAW, { .raw = { .resource = TEXT("secrets"), .json = TEXT(TOKEN) } },
	    "resource='secrets' json='***'",
	    "'resource':'secrets','json':'***'" },
	{ "a write of a Secret", MSG_WRITE,
	    { .write = { .id = 4, .resource = TEXT("secrets"), .name = TEXT("n1"), .body = TEXT(TOKEN) } },
	    "id=4 op=0 group='' version='' resource='secrets' ns='' name='n1' subresource='' uid='' "
	    "rv='' labels='' fields='' deadline_ms=0 body='***'",
	    "'id':4,'op':0,'group':'','version':'','resource':'secrets','ns':'','name':'n1',"
	    "'subresource':'','uid':'','rv':'','labels':'','fields':'','deadline_ms':0,'body':'***'" },
};

static const char *
both_quotes(char *buf, const char *text)
{
	size_t i = 0;

	for (; text[i] != '\0'; i++)
		buf[i] = text[i] == '\'' ? '"' : text[i];
	buf[i] = '\0';
	return buf;
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	char buf[1024], want[1024];

	assert_int_equal(msg_print(r->msg, &r->body, false, buf, sizeof(buf)), strlen(r->text));
	assert_string_equal(buf, both_quotes(want, r->text));
	assert_int_equal(msg_print(r->msg, &r->body, true, buf, sizeof(buf)), strlen(r->json));
	assert_string_equal(buf, both_quotes(want, r->json));
}

/*
 * In a buffer of every size, exactly allocated: a prefix of the whole, terminated, and not one byte
 * beyond.
 */
static void
cut_to_any_size(void **state)
{
	const struct row *r = *state;
	char whole[1024];

	for (int json = 0; json <= 1; json++) {
		const size_t full = msg_print(r->msg, &r->body, json, whole, sizeof(whole));

		for (size_t size = 1; size <= full + 2; size++) {
			char *buf = malloc(size);

			memset(buf, 0xee, size);
			const size_t len = msg_print(r->msg, &r->body, json, buf, size);
			assert_int_equal(len, full < size - 1 ? full : strlen(buf));
			assert_true(len < size);
			assert_int_equal(buf[len], '\0');
			assert_memory_equal(buf, whole, len);
			assert_int_not_equal(whole[len] & 0xc0, 0x80);	/* not within a character */
			free(buf);
		}
	}
}

/* Any text that passed the codec: the JSON parses, and nothing of it reaches a terminal as it was. */
static void
hostile_text_is_valid_json(void **state)
{
	char text[256], buf[4096], document[4200];

	(void)state;
	for (size_t i = 0; i < 255; i++)
		text[i] = (char)(i + 1);
	for (uint32_t from = 0; from < 255; from++) {
		for (uint32_t len = 0; len <= 255 - from; len += 1 + len / 3) {
			const union msg_body body = {
				.close = { .reason = { .p = text + from, .len = len } }
			};
			json_error_t e;

			msg_print(MSG_CLOSE, &body, false, buf, sizeof(buf));
			for (const char *p = buf; *p != '\0'; p++)
				assert_true(*p >= ' ' && *p <= '~');
			msg_print(MSG_CLOSE, &body, true, buf, sizeof(buf));
			snprintf(document, sizeof(document), "{%s}", buf);
			json_t *j = json_loads(document, JSON_REJECT_DUPLICATES, &e);
			if (j == NULL)
				fail_msg("%s: %s", e.text, document);
			json_decref(j);
		}
	}
}

/* Neither form, at no size, shows a piece of it that is longer than chance. */
static void
secrets_never_show(void **state)
{
	char buf[512];

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		for (int json = 0; json <= 1; json++) {
			for (size_t size = 1; size < sizeof(buf); size++) {
				msg_print(rows[i].msg, &rows[i].body, json, buf, size);
				assert_null(strstr(buf, "hun"));
				assert_null(strstr(buf, "very"));
			}
		}
	}
}

int
main(void)
{
	static const struct CMUnitTest whole[] = {
		cmocka_unit_test(hostile_text_is_valid_json), cmocka_unit_test(secrets_never_show),
	};
	static char names[NITEMS(rows)][64];
	struct CMUnitTest tests[2 * NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++) {
		void *row = (void *)(uintptr_t)&rows[i];

		snprintf(names[i], sizeof(names[i]), "%s, cut to any size", rows[i].name);
		tests[2 * i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL, row };
		tests[2 * i + 1] = (struct CMUnitTest){ names[i], cut_to_any_size, NULL, NULL, row };
	}
	const int failed = cmocka_run_group_tests_name("print", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("print, any text", whole, NULL, NULL);
}
