/* tests/unit/test_capa_endpoint.c - regions, partitions, endpoints and errors of AWS: F3, F6, F9, FR7.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/capa-annotator/aws_endpoint.h"
#include "actors/capa-annotator/aws_error.h"
#include "obj.h"

static const struct region_row {
	const char	*region, *partition;	/* NULL: refused */
	const char	*host;
} regions[] = {
	{ "eu-west-1", "aws", "ec2.eu-west-1.amazonaws.com" },
	{ "ap-southeast-7", "aws", "ec2.ap-southeast-7.amazonaws.com" },
	{ "us-east-10", "aws", "ec2.us-east-10.amazonaws.com" },
	{ "zz-moon-1", "aws", "ec2.zz-moon-1.amazonaws.com" },		/* unknown: as the SDKs have it */
	{ "cn-northwest-1", "aws-cn", "ec2.cn-northwest-1.amazonaws.com.cn" },
	{ "us-gov-west-1", "aws-us-gov", "ec2.us-gov-west-1.amazonaws.com" },
	{ "eusc-de-east-1", "aws-eusc", "ec2.eusc-de-east-1.amazonaws.eu" },
	{ "us-iso-east-1", "aws-iso", "ec2.us-iso-east-1.c2s.ic.gov" },
	{ "us-isob-east-1", "aws-iso-b", "ec2.us-isob-east-1.sc2s.sgov.gov" },
	{ "eu-isoe-west-1", "aws-iso-e", "ec2.eu-isoe-west-1.cloud.adc-e.uk" },
	{ "us-isof-south-1", "aws-iso-f", "ec2.us-isof-south-1.csp.hci.ic.gov" },
	{ "", NULL, NULL }, { "eu", NULL, NULL }, { "eu-west", NULL, NULL }, { "eu-west-", NULL, NULL }, { "eu-1", NULL, NULL },
	{ "eu--west-1", NULL, NULL }, { "-eu-west-1", NULL, NULL }, { "e-west-1", NULL, NULL }, { "europe-west-1", NULL, NULL },
	{ "eu-west-1a", NULL, NULL }, { "eu-west-1-", NULL, NULL }, { "eu-west-1.evil.example", NULL, NULL }, { "EU-WEST-1", NULL, NULL },
	{ "eu-west-1/", NULL, NULL }, { "eu-west-1\n", NULL, NULL }, { "eu west-1", NULL, NULL }, { "eu-west-1@evil", NULL, NULL },
	{ "eu-westwestwestwestwestwestwest-1", NULL, NULL },
};

static void
f6_f9_regions_partitions_and_hosts(void **state)
{
	static const struct aws_overrides none;
	char url[AWS_URL_MAX], want[AWS_URL_MAX];

	(void)state;
	for (size_t i = 0; i < NITEMS(regions); i++) {
		const struct wire_str region = wire_str_of(regions[i].region);
		const size_t len = aws_endpoint_url(url, sizeof(url), AWS_EC2, region, &none);

		print_message("%s\n", regions[i].region);
		assert_int_equal(aws_region_valid(region), regions[i].partition != NULL);
		assert_int_equal(len > 0, regions[i].partition != NULL);
		if (len == 0)
			continue;
		assert_string_equal(aws_partition_name(aws_region_partition(region)), regions[i].partition);
		snprintf(want, sizeof(want), "https://%s/", regions[i].host);
		assert_string_equal(url, want);
		assert_int_equal(len, strlen(want));
		assert_int_equal(aws_endpoint_url(url, len, AWS_EC2, region, &none), 0);
	}
}

static void
f6_the_variables_of_the_endpoints(void **state)
{
	struct aws_overrides o = { .all = wire_str_of("http://127.0.0.1:5000") };
	const struct wire_str region = wire_str_of("eu-west-1");
	char url[AWS_URL_MAX];

	(void)state;
	assert_true(aws_endpoint_url(url, sizeof(url), AWS_STS, region, &o) > 0);
	assert_string_equal(url, "http://127.0.0.1:5000");
	o.service[AWS_STS] = wire_str_of("https://sts.example");
	assert_true(aws_endpoint_url(url, sizeof(url), AWS_STS, region, &o) > 0);
	assert_string_equal(url, "https://sts.example");
	assert_true(aws_endpoint_url(url, sizeof(url), AWS_EC2, region, &o) > 0);
	assert_string_equal(url, "http://127.0.0.1:5000");
	o.all = (struct wire_str){ .len = 0 };
	assert_true(aws_endpoint_url(url, sizeof(url), AWS_EC2, region, &o) > 0);
	assert_string_equal(url, "https://ec2.eu-west-1.amazonaws.com/");
	/* a variable does not make a bad region a good one: it is in the scope of the signature */
	assert_int_equal(aws_endpoint_url(url, sizeof(url), AWS_STS, wire_str_of("../x"), &o), 0);
	assert_string_equal(aws_service_name(AWS_STS), "sts");
	assert_string_equal(aws_service_name(AWS_EC2), "ec2");
}

static void
f6_f9_the_partition_of_the_role(void **state)
{
	static const struct {
		const char	*arn, *partition;
	} roles[] = {
		{ "arn:aws:iam::111122223333:role/annotator", "aws" },
		{ "arn:aws-cn:iam::111122223333:role/path/annotator", "aws-cn" },
		{ "arn:aws-us-gov:iam::111122223333:role/x", "aws-us-gov" },
		{ "arn:aws-iso-b:iam::111122223333:role/x", "aws-iso-b" },
		{ "", "?" }, { "arn:", "?" }, { "arn:aws", "?" }, { "annotator", "?" },
		{ "arn:aws-moon:iam::111122223333:role/x", "?" }, { "arn:aws:iam::111122223333:role/", "?" },
		{ "arn:aws:iam::111122223333:user/annotator", "?" }, { "arn:aws:iam::1111:role/annotator-of-all", "?" },
		{ "arn:aws:sts::111122223333:role/annotator", "?" }, { "arn:aws:iam::11112222333x:role/annotator", "?" },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(roles); i++)
		assert_string_equal(aws_partition_name(aws_role_partition(wire_str_of(roles[i].arn))),
		    roles[i].partition);
}

static const struct fault_row {
	const char		*name;
	enum aws_service	 service;
	int			 status;
	const char		*code;
	bool			 skewed;
	enum aws_fault		 want;
} faults[] = {
	{ "F3 EC2 throttles with 503", AWS_EC2, 503, "RequestLimitExceeded", false, AWS_FAULT_THROTTLED },
	{ "F3 STS throttles with 400", AWS_STS, 400, "Throttling", false, AWS_FAULT_THROTTLED },
	{ "F3 429 of a proxy", AWS_EC2, 429, "", false, AWS_FAULT_THROTTLED },
	{ "F3 503 with an HTML page", AWS_EC2, 503, "", false, AWS_FAULT_TRANSIENT },
	{ "F3 500", AWS_STS, 500, "InternalFailure", false, AWS_FAULT_TRANSIENT },
	{ "F3 a success that cannot be read", AWS_EC2, 200, "", false, AWS_FAULT_TRANSIENT },
	{ "F3 a redirect", AWS_EC2, 301, "", false, AWS_FAULT_TRANSIENT },
	{ "F3 the issuer of the token does not answer STS", AWS_STS, 400, "IDPCommunicationError", false, AWS_FAULT_TRANSIENT },
	{ "F3 a rotated token", AWS_STS, 400, "ExpiredTokenException", false, AWS_FAULT_TOKEN },
	{ "F3 a token that STS cannot check yet", AWS_STS, 400, "InvalidIdentityToken", false, AWS_FAULT_TOKEN },
	{ "F3 the trust policy", AWS_STS, 403, "AccessDenied", false, AWS_FAULT_DENIED },
	{ "F3 no permission", AWS_EC2, 403, "UnauthorizedOperation", false, AWS_FAULT_DENIED },
	{ "F3 403 without a code", AWS_EC2, 403, "", false, AWS_FAULT_DENIED },
	{ "F3 expired credentials in the middle of paging", AWS_EC2, 400, "RequestExpired", false, AWS_FAULT_CREDENTIALS },
	{ "F3 the same with a wrong clock", AWS_EC2, 400, "RequestExpired", true, AWS_FAULT_CLOCK },
	{ "F3 a signature by a wrong clock", AWS_EC2, 403, "SignatureDoesNotMatch", true, AWS_FAULT_CLOCK },
	{ "F3 credentials that EC2 refuses", AWS_EC2, 401, "AuthFailure", false, AWS_FAULT_CREDENTIALS },
	{ "F3 an expired session, whatever the clock", AWS_EC2, 400, "ExpiredToken", true, AWS_FAULT_CREDENTIALS },
	{ "F3 codes of one service are not those of the other", AWS_EC2, 400, "ExpiredTokenException", false, AWS_FAULT_INVALID },
	{ "F3 the token of a page", AWS_EC2, 400, "InvalidNextToken", false, AWS_FAULT_PAGING },
	{ "F3 a bad parameter", AWS_EC2, 400, "InvalidParameterValue", false, AWS_FAULT_INVALID },
	{ "F3 a code that nobody lists", AWS_EC2, 400, "Surprise", false, AWS_FAULT_INVALID },
};

static void
check_fault(void **state)
{
	const struct fault_row *const r = *state;

	assert_string_equal(
	    aws_fault_label(aws_fault(r->service, r->status, r->code, r->skewed)), aws_fault_label(r->want));
	assert_true(strlen(aws_fault_text(r->want)) > 1);
}

int
main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(f6_f9_regions_partitions_and_hosts),
		cmocka_unit_test(f6_the_variables_of_the_endpoints),
		cmocka_unit_test(f6_f9_the_partition_of_the_role),
	};
	struct CMUnitTest tests[NITEMS(faults) + NITEMS(others)];

	memcpy(tests, others, sizeof(others));
	for (size_t i = 0; i < NITEMS(faults); i++)
		tests[NITEMS(others) + i] = (struct CMUnitTest){ faults[i].name, check_fault, NULL, NULL,
			(void *)(uintptr_t)&faults[i] };
	return cmocka_run_group_tests_name("aws_endpoint", tests, NULL, NULL);
}
