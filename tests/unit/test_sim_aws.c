/* tests/unit/test_sim_aws.c - the simulator's signature (vectors of wire-aws.md), its instance types. */
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <cmocka.h>

#include "keytab.h"
#include "obj.h"
#include "sim/aws/sim_aws_private.h"
#include "sim/aws/sim_aws_sigv4.h"

#define BODY	"Action=DescribeInstanceTypes&MaxResults=100&Version=2016-11-15"
#define SECRET	"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define SCOPE	"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/ec2/aws4_request, SignedHeaders="
#define B_NAMES	"content-type;host;x-amz-date;x-amz-security-token"

static const struct vector {
	const char	*name, *signed_headers, *want;	/* want NULL: it cannot be signed */
} vectors[] = {
	{ "A of wire-aws.md", "content-length;" B_NAMES,
	    "b1b5c43c1545eb0f2f6dc16d3702cf1b5ea45eb93b1be191fca1e93ff1c46c3e" },
	{ "B of wire-aws.md", B_NAMES,
	    "3bed63a3b567a46ca8da61622c3f9c1502ea883c6e5a437d13e354265d3e0b96" },
	{ "a header that is not there", "host;x-amz-date;x-none", NULL },
	{ "names that are not sorted", "x-amz-date;host", NULL },
	{ "a name twice", "host;host", NULL },
};

static void
check_vector(void **state)
{
	const struct vector *const v = *state;
	struct sim_aws_authorization a;
	struct evkeyvalq headers;
	char header[512], hex[AWS_SIGV4_HEX];

	TAILQ_INIT(&headers);
	evhttp_add_header(&headers, "Host", "ec2.eu-west-1.amazonaws.com");
	evhttp_add_header(&headers, "Content-Type", "  application/x-www-form-urlencoded ");
	evhttp_add_header(&headers, "Content-Length", "62");
	evhttp_add_header(&headers, "X-Amz-Date", "20260102T030405Z");
	evhttp_add_header(&headers, "X-Amz-Security-Token", "EXAMPLESESSIONTOKEN==");
	snprintf(header, sizeof(header), SCOPE "%s, Signature=00", v->signed_headers);
	assert_true(sim_aws_authorization_read(header, &a));
	const bool is_signed = sim_aws_sign(&a, &(struct sim_aws_request){ .headers = &headers, .body = BODY,
	    .body_len = strlen(BODY) }, SECRET, hex);
	assert_int_equal(is_signed, v->want != NULL);
	if (v->want != NULL)
		assert_string_equal(hex, v->want);
	evhttp_clear_headers(&headers);
}

/* The values are joined: the vector's signature is that of another request. */
static void
a_header_that_came_twice(void **state)
{
	struct sim_aws_authorization a;
	struct evkeyvalq headers;
	char hex[AWS_SIGV4_HEX];

	(void)state;
	TAILQ_INIT(&headers);
	evhttp_add_header(&headers, "Host", "ec2.eu-west-1.amazonaws.com");
	evhttp_add_header(&headers, "Content-Type", "application/x-www-form-urlencoded");
	evhttp_add_header(&headers, "X-Amz-Date", "20260102T030405Z");
	evhttp_add_header(&headers, "X-Amz-Date", "20260102T030405Z");
	evhttp_add_header(&headers, "X-Amz-Security-Token", "EXAMPLESESSIONTOKEN==");
	assert_true(sim_aws_authorization_read(SCOPE B_NAMES ", Signature=00", &a));
	assert_true(sim_aws_sign(&a, &(struct sim_aws_request){ .headers = &headers, .body = BODY,
	    .body_len = strlen(BODY) }, SECRET, hex));
	assert_string_not_equal(hex, vectors[1].want);
	evhttp_clear_headers(&headers);
}

static const struct header {
	const char	*text;
	bool		 good;
} headers_of[] = {
	{ SCOPE "host, Signature=ab", true }, { "AWS4-HMAC-SHA256 Credential=A/2/r/s/aws4_request", false },
	{ "Bearer x", false }, { "", false },
	{ "AWS4-HMAC-SHA256 Credential=A/20260102/r/s/aws3, SignedHeaders=h, Signature=0", false },
	{ "AWS4-HMAC-SHA256 Credential=A/20260102/r/s, SignedHeaders=h, Signature=0", false },
	{ "AWS4-HMAC-SHA256 Credential=/20260102/r/s/aws4_request, SignedHeaders=h, Signature=0", false },
	{ "AWS4-HMAC-SHA256 Credential=A/20260102/r/s/aws4_request, SignedHeaders=, Signature=0", false },
};

static void
authorization_headers(void **state)
{
	struct sim_aws_authorization a;

	(void)state;
	for (size_t i = 0; i < NITEMS(headers_of); i++)
		assert_int_equal(sim_aws_authorization_read(headers_of[i].text, &a), headers_of[i].good);
	assert_true(sim_aws_authorization_read(headers_of[0].text, &a));
	assert_string_equal(a.access_key, "AKIDEXAMPLE");
	assert_string_equal(a.region, "eu-west-1");
	assert_true(sim_aws_is_signed(&a, "host"));
	assert_false(sim_aws_is_signed(&a, "hos"));
}

/* Names are unique, figures are there, and every kind of type that a reader must distinguish occurs. */
static void
types_have_a_realistic_shape(void **state)
{
	struct keytab *names = keytab_new(1);
	struct sim_aws_type *types;
	size_t arm = 0, gpus = 0, parts = 0, old = 0, others = 0;

	(void)state;
	const size_t n = sim_aws_types("us-east-1", &types);
	assert_in_range(n, 780, 1000);
	for (size_t i = 0; i < n; i++) {
		const struct sim_aws_type *const t = &types[i];
		bool added;

		keytab_add(names, t->name, strlen(t->name), &added);
		assert_true(added);
		assert_in_range(t->vcpus, 1, 1024);
		assert_in_range(t->memory_mib, 512, 64 * 1024 * 1024);
		assert_int_equal(t->vcpus % t->threads, 0);
		assert_int_equal(t->accelerator != NULL, t->accelerators + t->logical_gpus > 0);
		arm += strcmp(t->architectures[0], "arm64") == 0;
		old += strcmp(t->architectures[0], "i386") == 0;
		parts += t->logical_gpus > 0;
		gpus += t->accelerator != NULL && t->accelerator->kind == AWS_GPU;
		others += t->accelerator != NULL && t->accelerator->kind != AWS_GPU;
	}
	assert_true(arm > 100 && gpus > 40 && parts > 0 && old > 0 && others > 5);
	free(types);
	keytab_free(&names);
}

static void
regions_differ(void **state)
{
	struct sim_aws_type *types;
	const size_t all = sim_aws_types("us-east-1", &types);

	(void)state;
	free(types);
	const size_t some = sim_aws_types("eu-north-1", &types);
	free(types);
	assert_true(some < all && some > all / 2);
	assert_string_equal(sim_aws_partition_of("cn-north-1"), "aws-cn");
	assert_null(sim_aws_partition_of("eu-nowhere-1"));
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(vectors) + 4] = {
		cmocka_unit_test(a_header_that_came_twice), cmocka_unit_test(authorization_headers),
		cmocka_unit_test(types_have_a_realistic_shape),
		cmocka_unit_test(regions_differ),
	};

	for (size_t i = 0; i < NITEMS(vectors); i++)
		tests[4 + i] = (struct CMUnitTest){ vectors[i].name, check_vector, NULL, NULL,
			(void *)(uintptr_t)&vectors[i] };
	return cmocka_run_group_tests_name("sim_aws", tests, NULL, NULL);
}
