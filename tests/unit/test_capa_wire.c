/* tests/unit/test_capa_wire.c - requests and answers of STS and EC2: FR4, FR5.2, FR5.3, F3, F4, F9. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/capa-annotator/wire.h"
#include "actors/capa-annotator/xml_reader.h"
#include "obj.h"

#define STS(credentials)									\
	"<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"	\
	"<AssumeRoleWithWebIdentityResult><Audience>sts.amazonaws.com</Audience>"		\
	"<AssumedRoleUser><Arn>a</Arn><AssumedRoleId>AccessKeyId</AssumedRoleId></AssumedRoleUser>"	\
	"<Credentials>" credentials "</Credentials>"						\
	"</AssumeRoleWithWebIdentityResult>"							\
	"<ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata>"			\
	"</AssumeRoleWithWebIdentityResponse>"
#define KEYS	"<AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>hunter2</SecretAccessKey>"	\
		"<SessionToken>tokenEXAMPLE==</SessionToken>"
#define UNTIL	"<Expiration>2026-01-02T04:04:05Z</Expiration>"
#define STS_AT	"AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/Credentials/"

#define EC2(items, more)									\
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"						\
	"<DescribeInstanceTypesResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">"	\
	"<requestId>r-2</requestId><instanceTypeSet>" items "</instanceTypeSet>" more		\
	"</DescribeInstanceTypesResponse>"
#define ITEM(name, arch, figures)								\
	"<item><instanceType>" name "</instanceType><currentGeneration>true</currentGeneration>"	\
	"<processorInfo><manufacturer>AMD</manufacturer>"					\
	"<supportedArchitectures>" arch "</supportedArchitectures></processorInfo>" figures "</item>"
#define X86	"<item>x86_64</item>"
#define SIZE(vcpus, mib)									\
	"<vCpuInfo><defaultVCpus>" vcpus "</defaultVCpus><defaultCores>9</defaultCores></vCpuInfo>"	\
	"<memoryInfo><sizeInMiB>" mib "</sizeInMiB></memoryInfo>"
#define GPU(maker, count)									\
	"<item><name>A10G</name><manufacturer>" maker "</manufacturer><count>" count "</count>"	\
	"<memoryInfo><sizeInMiB>24576</sizeInMiB></memoryInfo></item>"
#define GPUS(items)	"<gpuInfo><gpus>" items "</gpus><totalGpuMemory>1</totalGpuMemory></gpuInfo>"
/* A page with the one type "a". */
#define ONE(figures)	EC2(ITEM("a", X86, figures), "")
#define ARCH(list)	EC2(ITEM("a", list, SIZE("1", "1")), "")
#define EC2_AT	"DescribeInstanceTypesResponse/instanceTypeSet/item"
#define SIZE_AT	EC2_AT "/memoryInfo/sizeInMiB"
#define VCPU_AT	EC2_AT "/vCpuInfo/defaultVCpus"
#define EC2_FAIL(code)										\
	"<Response><Errors><Error><Code>" code "</Code><Message>m</Message></Error></Errors>"	\
	"<RequestID>r-3</RequestID></Response>"
#define STS_FAIL(code)										\
	"<ErrorResponse xmlns=\"x\"><Error><Type>Sender</Type><Code>" code "</Code>"		\
	"<Message>m</Message></Error><RequestId>r-4</RequestId></ErrorResponse>"

/* types: "name/vCPUs/MiB/GPUs/arch/maker"; then the token. code: of the service; error: of the bytes. */
static const struct row {
	const char		*name;
	enum aws_service	 service;
	const char		*body, *want, *code, *error;
} rows[] = {
	{ "F3 FR4.4 credentials", AWS_STS, STS(KEYS UNTIL), "ASIAEXAMPLE hunter2 tokenEXAMPLE== 1767326645000000", "", "" },
	{ "F3 in another order, with unknown elements", AWS_STS,
	    STS("<New><AccessKeyId>x</AccessKeyId></New>" UNTIL KEYS),
	    "ASIAEXAMPLE hunter2 tokenEXAMPLE== 1767326645000000", "", "" },
	{ "F3 a prefix of the namespace", AWS_STS,
	    "<a:AssumeRoleWithWebIdentityResponse xmlns:a=\"x\">"
	    "<a:AssumeRoleWithWebIdentityResult><a:Credentials>" KEYS UNTIL
	    "</a:Credentials></a:AssumeRoleWithWebIdentityResult></a:AssumeRoleWithWebIdentityResponse>",
	    "ASIAEXAMPLE hunter2 tokenEXAMPLE== 1767326645000000", "", "" },
	{ "F3 no expiry", AWS_STS, STS(KEYS), "", "", STS_AT "Expiration: missing" },
	{ "F3 no secret", AWS_STS, STS("<AccessKeyId>A</AccessKeyId><SessionToken>t</SessionToken>" UNTIL),
	    "", "", STS_AT "SecretAccessKey: missing" },
	{ "F3 no session token", AWS_STS,
	    STS("<AccessKeyId>A</AccessKeyId><SecretAccessKey>s</SecretAccessKey>" UNTIL),
	    "", "", STS_AT "SessionToken: missing" },
	{ "F3 no key", AWS_STS, STS(UNTIL), "", "", STS_AT "AccessKeyId: missing" },
	{ "F3 an empty secret", AWS_STS, STS("<SecretAccessKey/>" UNTIL), "", "", STS_AT "SecretAccessKey: it is empty" },
	{ "F3 a secret twice", AWS_STS, STS(KEYS KEYS UNTIL), "", "", STS_AT "AccessKeyId: it occurs twice" },
	{ "F3 an expiry that is no time", AWS_STS, STS(KEYS "<Expiration>soon</Expiration>"), "", "", STS_AT "Expiration: not a time" },
	{ "F3 an error of STS", AWS_STS, STS_FAIL("ExpiredTokenException"), "", "ExpiredTokenException", "" },
	{ "F3 the form of EC2 from STS", AWS_STS, EC2_FAIL("AccessDenied"), "", "AccessDenied", "" },
	{ "F3 an answer of EC2 is none of STS", AWS_STS, EC2("", ""), "", "", "the document is no answer of STS" },

	{ "FR5.1 FR5.2 F4 a page", AWS_EC2,
	    EC2(ITEM("m5.large", X86, SIZE("2", "8192"))
	    ITEM("t4g.nano", "<item>arm64</item>", SIZE("2", "512")), "<nextToken>abc==</nextToken>"),
	    "m5.large/2/8192/0/0/0 t4g.nano/2/512/0/1/0 abc==", "", "" },
	{ "FR5.6 the last page", AWS_EC2, EC2(ITEM("m5.large", X86, SIZE("2", "8192")), ""), "m5.large/2/8192/0/0/0", "", "" },
	{ "FR5.6 an empty token ends the list, too", AWS_EC2,
	    EC2(ITEM("a", X86, SIZE("2", "8192")), "<nextToken/>"), "a/2/8192/0/0/0", "", "" },
	{ "an empty page", AWS_EC2, EC2("", "<nextToken>t</nextToken>"), "t", "", "" },
	{ "a token twice", AWS_EC2, EC2("", "<nextToken>t</nextToken><nextToken>u</nextToken>"), NULL, "",
	    "DescribeInstanceTypesResponse/nextToken: it occurs twice" },
	{ "F9 GPUs: the memory of a GPU is not that of the type", AWS_EC2,
	    EC2(ITEM("g5.12xlarge", X86, SIZE("48", "196608") GPUS(GPU("NVIDIA", "4"))), ""),
	    "g5.12xlarge/48/196608/4/0/1", "", "" },
	{ "F9 the maker of the processor is not that of the GPU", AWS_EC2,
	    ONE(SIZE("1", "1") GPUS(GPU("AMD", "2"))), "a/1/1/2/0/2", "", "" },
	{ "F9 another maker", AWS_EC2,
	    EC2(ITEM("dl1.24xlarge", X86, SIZE("96", "786432") GPUS(GPU("Habana", "8"))), ""),
	    "dl1.24xlarge/96/786432/8/0/3", "", "" },
	{ "F9 a fraction of a GPU: the logical count", AWS_EC2,
	    ONE(SIZE("2", "8192") GPUS("<item><manufacturer>NVIDIA</manufacturer><count>0</count>"
	    "<logicalGpuCount>1</logicalGpuCount><gpuPartitionSize>0.125</gpuPartitionSize></item>")),
	    "a/2/8192/1/0/1", "", "" },
	{ "F9 where the count is not 0 it counts", AWS_EC2,
	    ONE(SIZE("2", "1") GPUS("<item><logicalGpuCount>9</logicalGpuCount><count>2</count>"
	    "<manufacturer>AMD</manufacturer></item>")), "a/2/1/2/0/2", "", "" },
	{ "F9 two models of one maker are added", AWS_EC2,
	    ONE(SIZE("2", "1") GPUS(GPU("AMD", "2") GPU("AMD", "3"))), "a/2/1/5/0/2", "", "" },
	{ "F9 a model without a count adds nothing", AWS_EC2,
	    ONE(SIZE("2", "1") GPUS(GPU("AMD", "2") "<item><manufacturer>AMD</manufacturer></item>")),
	    "a/2/1/2/0/2", "", "" },
	{ "F9 of two makers no resource is right", AWS_EC2,
	    ONE(SIZE("2", "1") GPUS(GPU("AMD", "2") GPU("NVIDIA", "3"))), "a/2/1/5/0/3", "", "" },
	{ "the figures of one item are not those of the next", AWS_EC2,
	    EC2(ITEM("a", "<item>arm64</item>", SIZE("4", "5") GPUS(GPU("AMD", "2")))
	    "<item><instanceType>b</instanceType></item>", ""),
	    "a/4/5/2/1/2 b/0/0/0/0/0", "", "" },
	{ "FR5.3 F9 arm64_mac is arm64", AWS_EC2, ARCH("<item>arm64_mac</item>"), "a/1/1/0/1/0", "", "" },
	{ "FR5.3 i386 beside x86_64 is amd64", AWS_EC2, ARCH("<item>i386</item><item>x86_64</item>"), "a/1/1/0/0/0", "", "" },
	{ "FR5.3 x86_64_mac is amd64", AWS_EC2, ARCH("<item>x86_64_mac</item>"), "a/1/1/0/0/0", "", "" },
	{ "FR5.3 arm64 in any place", AWS_EC2, ARCH("<item>x86_64</item><item>arm64</item>"), "a/1/1/0/1/0", "", "" },
	{ "text in pieces, entities of XML, CDATA", AWS_EC2,
	    EC2(ITEM("m<![CDATA[5]]>.<!-- x -->l&#97;rge", X86, SIZE("&#50;", "8192")), ""),
	    "m5.large/2/8192/0/0/0", "", "" },
	{ "an item without a name", AWS_EC2, EC2("<item><vCpuInfo/></item>", ""), NULL, "", EC2_AT ": it has no instanceType" },
	{ "a count that is no number", AWS_EC2, ONE(SIZE("two", "1")), NULL, "", VCPU_AT ": not a number" },
	{ "a sign", AWS_EC2, ONE(SIZE("-2", "1")), NULL, "", VCPU_AT ": not a number" },
	{ "an empty number", AWS_EC2, ONE(SIZE("2", "")), NULL, "", SIZE_AT ": not a number" },
	{ "a number that is too large", AWS_EC2, ONE(SIZE("2", "4294967296")), NULL, "", SIZE_AT ": the number is too large" },
	{ "a number with many digits", AWS_EC2, ONE(SIZE("2", "000000000000000000001")), NULL, "", SIZE_AT ": the text is too long" },
	{ "a long name", AWS_EC2,
	    EC2(ITEM("a2345678901234567890123456789012345678901234567890123456789012345", X86, ""), ""),
	    NULL, "", EC2_AT "/instanceType: the text is too long" },
	{ "F3 an error of EC2: the code, not the status", AWS_EC2, EC2_FAIL("RequestLimitExceeded"), "", "RequestLimitExceeded", "" },
	{ "F3 an error without a code is an error", AWS_EC2, EC2_FAIL(""), "", "Unknown", "" },
	{ "F3 503 with an HTML page", AWS_EC2, "<html><body><h1>503</h1></body></html>", "", "", "the document is no answer of EC2" },
	{ "F3 HTML that is no XML", AWS_EC2, "<html><br></html>", "", "", "line 1, column 12: mismatched tag" },
	{ "an answer of STS is none of EC2", AWS_EC2, STS(KEYS UNTIL), "", "", "the document is no answer of EC2" },
	{ "an empty body", AWS_EC2, "", "", "", "line 1, column 0: no element found" },
	{ "truncated XML: its types are not complete", AWS_EC2,
	    "<DescribeInstanceTypesResponse><instanceTypeSet>"
	    ITEM("a", X86, SIZE("1", "1")) "<item><instanceType>b</instan", NULL, "",
	    "line 1, column 416: unclosed token" },
	{ "truncated between elements", AWS_EC2, "<DescribeInstanceTypesResponse><instanceTypeSet>",
	    "", "", "line 1, column 48: no element found" },
	{ "text behind the end", AWS_EC2, EC2("", "") "<more/>", "", "", "line 2, column 173: junk after document element" },
	{ "billion laughs", AWS_EC2,
	    "<!DOCTYPE a [<!ENTITY l0 \"ha\"><!ENTITY l1 \"&l0;&l0;&l0;&l0;\">]><a>&l1;</a>", "", "",
	    "the document: it has a document type declaration" },
	{ "an external entity", AWS_STS, "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>", "", "",
	    "the document: it has a document type declaration" },
	{ "bytes that are not UTF-8", AWS_EC2, EC2(ITEM("m\xff", X86, ""), ""), NULL, "",
	    "line 2, column 144: not well-formed (invalid token)" },
};

static bool
note_type(void *arg, struct wire_str name, const struct instance_type *t)
{
	char *const list = arg;
	const size_t len = strlen(list);

	snprintf(list + len, 256 - len, "%s%.*s/%u/%u/%u/%u/%u", len > 0 ? " " : "", (int)name.len,
	    name.p, t->vcpus, t->memory_mib, t->gpus, t->arch, t->maker);
	return true;
}

/* What an answer holds, in words. */
static void
print_answer(struct aws_answer *a, enum aws_service service, char *list)
{
	struct aws_credentials c;
	const size_t len = strlen(list);

	if (service == AWS_EC2) {
		const struct wire_str token = aws_answer_next_token(a);

		if (token.len > 0)
			snprintf(list + len, 256 - len, "%s%.*s", len > 0 ? " " : "", (int)token.len,
			    token.p);
		return;
	}
	aws_answer_credentials(a, &c);
	snprintf(list, 256, "%s %s %s %lld", c.access_key, c.secret_key, c.session_token,
	    (long long)c.expires_us);
	aws_credentials_free(&c);
	assert_null(c.secret_key);
}

static void
check_row(void **state)
{
	static const size_t chunks[] = { SIZE_MAX, 1, 7 };
	const struct row *const r = *state;
	const size_t len = strlen(r->body);

	/* However the body arrives, it is read the same. */
	for (size_t i = 0; i < NITEMS(chunks); i++) {
		char list[256] = "";
		struct aws_answer *a = aws_answer_new(r->service, note_type, list);
		size_t n;

		for (size_t at = 0; at < len; at += n) {
			n = chunks[i] < len - at ? chunks[i] : len - at;
			if (!aws_answer_feed(a, r->body + at, n))
				break;
		}
		const bool good = aws_answer_end(a);
		assert_string_equal(aws_answer_code(a), r->code);
		assert_string_equal(aws_answer_error(a), r->error);
		assert_int_equal(good, r->code[0] == '\0' && r->error[0] == '\0');
		if (good)
			print_answer(a, r->service, list);
		if (r->want != NULL)
			assert_string_equal(list, r->want);
		assert_null(strstr(aws_answer_error(a), "hunter2"));
		aws_answer_free(&a);
		assert_null(a);
	}
}

/* ---- Secrets do not stay in memory ---- */

void __explicit_bzero_chk(void *p, size_t len, size_t size);

static unsigned wiped;		/* blocks that held the secret */

/* Before the C library's own, in this program. The names of the parameters are those of its header. */
void
explicit_bzero(void *__s, size_t __n)
{
	void *volatile bytes = __s;	/* declared write-only there */

	wiped += memmem(bytes, __n, "hunter2", 7) != NULL;
	memset(__s, 0, __n);
	__asm__ volatile("" : : "r"(__s) : "memory");
}

void
__explicit_bzero_chk(void *p, size_t len, size_t size)
{
	(void)size;
	explicit_bzero(p, len);
}

static void
f3_every_copy_of_a_secret_is_overwritten(void **state)
{
	static const char body[] = STS(UNTIL KEYS);
	static const char end[] = "</SecretAccessKey>", token[] = "<SessionToken>hunter2";
	const size_t to_secret = (size_t)(strstr(body, end) - body) + sizeof(end) - 1;
	const size_t to_token = (size_t)(strstr(body, "<SessionToken>") - body);
	struct aws_credentials c;

	(void)state;
	/* The credentials of a good answer. */
	struct aws_answer *a = aws_answer_new(AWS_STS, NULL, NULL);
	assert_true(aws_answer_feed(a, body, sizeof(body) - 1) && aws_answer_end(a));
	aws_answer_credentials(a, &c);
	aws_answer_free(&a);
	wiped = 0;
	aws_credentials_free(&c);
	assert_int_equal(wiped, 1);

	/* An answer that is cut: credentials that nobody took, text of the element, the parser's buffer. */
	a = aws_answer_new(AWS_STS, NULL, NULL);
	assert_true(aws_answer_feed(a, body, to_secret));
	assert_false(aws_answer_end(a));
	wiped = 0;
	aws_answer_free(&a);
	assert_int_equal(wiped, 3);

	/* A text that outgrows its block. */
	a = aws_answer_new(AWS_STS, NULL, NULL);
	assert_true(aws_answer_feed(a, body, to_token) && aws_answer_feed(a, token, sizeof(token) - 1));
	wiped = 0;
	for (int i = 0; i < 600; i++)
		assert_true(aws_answer_feed(a, "x", 1));
	assert_true(wiped > 0);
	aws_answer_free(&a);

	/* A secret in the parser's own buffer: the element has not ended. */
	a = aws_answer_new(AWS_STS, NULL, NULL);
	assert_true(aws_answer_feed(a, "<a b=\"hunter2", 13));
	wiped = 0;
	aws_answer_free(&a);
	assert_int_equal(wiped, 1);
}

static void
f3_messages_and_request_ids(void **state)
{
	char list[256] = "", body[4096];
	struct aws_answer *a = aws_answer_new(AWS_EC2, note_type, list);

	(void)state;
	snprintf(body, sizeof(body),
	    "<Response><Errors><Error><Code>C</Code><Message>%0*d\xc3\xa9-rest</Message></Error></Errors>"
	    "<RequestID>r-9</RequestID></Response>", AWS_MESSAGE_MAX - 1, 0);
	for (size_t i = 0; body[i] != '\0'; i++)
		assert_true(aws_answer_feed(a, body + i, 1));
	assert_false(aws_answer_end(a));
	/* cut before the character that does not fit, and nothing behind it */
	assert_int_equal(strlen(aws_answer_message(a)), AWS_MESSAGE_MAX - 1);
	assert_string_equal(aws_answer_request_id(a), "r-9");
	aws_answer_free(&a);
}

static bool
refuse_type(void *arg, struct wire_str name, const struct instance_type *t)
{
	(void)name;
	(void)t;
	return ++*(int *)arg < 3;
}

static void
feed_many(struct aws_answer *a, const char *text, size_t times)
{
	for (size_t i = 0; i < times && aws_answer_feed(a, text, strlen(text)); i++)
		continue;
}

static void
a7_everything_has_a_limit(void **state)
{
	static const char start[] = "<DescribeInstanceTypesResponse><instanceTypeSet>";
	static const char item[] = "<item><instanceType>a</instanceType></item>";
	static char blanks[64 * 1024];
	const struct {
		const char	*start, *text;
		size_t		 times;
		const char	*error;
	} limits[] = {
		{ "", "<a>", XML_DEPTH_MAX + 1, "the document: more than 64 levels deep" },
		{ start, item, AWS_TYPES_MAX + 1, EC2_AT ": more items than a page may have" },
		{ "<a>", blanks, XML_BYTES_MAX / sizeof(blanks) + 2, "the document: larger than 16 MiB" },
		{ "<DescribeInstanceTypesResponse><nextToken>", blanks, 2,
		    "DescribeInstanceTypesResponse/nextToken: the text is too long" },
		{ "<a><", "long_name_of_an_element", 64, "" },
	};
	char list[64 * 1024] = "";
	int items = 0;

	(void)state;
	memset(blanks, ' ', sizeof(blanks) - 1);
	for (size_t i = 0; i < NITEMS(limits); i++) {
		struct aws_answer *a = aws_answer_new(AWS_EC2, note_type, list);

		list[0] = '\0';
		feed_many(a, limits[i].start, 1);
		feed_many(a, limits[i].text, limits[i].times);
		feed_many(a, ">", 1);
		assert_false(aws_answer_end(a));
		if (limits[i].error[0] != '\0')
			assert_string_equal(aws_answer_error(a), limits[i].error);
		else
			assert_string_equal(aws_answer_error(a),
			    "the document: the name of an element is too long");
		aws_answer_free(&a);
	}
	/* the catalogue is full */
	struct aws_answer *a = aws_answer_new(AWS_EC2, refuse_type, &items);
	feed_many(a, start, 1);
	feed_many(a, item, 9);
	assert_false(aws_answer_end(a));
	assert_string_equal(aws_answer_error(a), EC2_AT ": the catalogue has no room for it");
	assert_int_equal(items, 3);
	aws_answer_free(&a);
}

static void
fr4_the_request_to_sts(void **state)
{
	struct aws_identity id = { .role_arn = wire_str_of("arn:aws:iam::111122223333:role/annotator"),
		.session_name = wire_str_of("s=1,@x"), .token = wire_str_of("eyJ.a-b_c~d+/=\r\n \n") };
	static const char want[] =
	    "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A111122223333%3Arole%2Fannotator"
	    "&RoleSessionName=s%3D1%2C%40x&Version=2011-06-15&WebIdentityToken=eyJ.a-b_c~d%2B%2F%3D";
	char body[512];

	(void)state;
	assert_int_equal(aws_sts_body(body, sizeof(body), &id), sizeof(want) - 1);
	assert_string_equal(body, want);
	assert_int_equal(aws_sts_body(body, 100, &id), 0);
	assert_int_equal(aws_sts_body(body, 0, &id), 0);
	assert_true(aws_session_name_valid(id.session_name));
	assert_true(aws_session_name_valid(wire_str_of("muster-capa-annotator")));
	assert_false(aws_session_name_valid(wire_str_of("x")));
	assert_false(aws_session_name_valid(wire_str_of("a b")));
	assert_false(aws_session_name_valid((struct wire_str){ .p = "a\0b", .len = 3 }));
	memset(body, 'x', 65);
	assert_true(aws_session_name_valid((struct wire_str){ .p = body, .len = 64 }));
	assert_false(aws_session_name_valid((struct wire_str){ .p = body, .len = 65 }));
}

/* The body that the signature vector of the wire facts is made of. */
static void
f4_the_request_to_ec2(void **state)
{
	static const char first[] = "Action=DescribeInstanceTypes&MaxResults=100&Version=2016-11-15";
	static const char next[] =
	    "Action=DescribeInstanceTypes&MaxResults=100&NextToken=a%2Bb%3D%3D&Version=2016-11-15";
	char body[256];

	(void)state;
	assert_int_equal(aws_ec2_body(body, sizeof(body), (struct wire_str){ .len = 0 }), 62);
	assert_string_equal(body, first);
	assert_int_equal(aws_ec2_body(body, sizeof(body), wire_str_of("a+b==")), sizeof(next) - 1);
	assert_string_equal(body, next);
	assert_int_equal(aws_ec2_body(body, 62, (struct wire_str){ .len = 0 }), 0);
	assert_int_equal(aws_ec2_body(body, 63, (struct wire_str){ .len = 0 }), 62);
}

int
main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(f3_every_copy_of_a_secret_is_overwritten),
		cmocka_unit_test(f3_messages_and_request_ids),
		cmocka_unit_test(a7_everything_has_a_limit),
		cmocka_unit_test(fr4_the_request_to_sts),
		cmocka_unit_test(f4_the_request_to_ec2),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	memcpy(tests, others, sizeof(others));
	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[NITEMS(others) + i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("aws_wire", tests, NULL, NULL);
}
