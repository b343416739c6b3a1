/* tests/unit/test_http_sigv4.c - our signatures: vectors A and B of wire-aws.md, what cannot be signed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/runtime/http_sigv4.h"
#include "obj.h"

#define BODY	"Action=DescribeInstanceTypes&MaxResults=100&Version=2016-11-15"
#define TYPE	"Content-Type: application/x-www-form-urlencoded"
#define DATE	"X-Amz-Date: 20260102T030405Z"
#define TOKEN	"X-Amz-Security-Token: EXAMPLESESSIONTOKEN=="
#define SCOPE	"aws:amz:eu-west-1:ec2"
#define START	"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/ec2/aws4_request, SignedHeaders="
#define NAMES	"content-type;host;x-amz-date;x-amz-security-token, Signature="
#define SIGNED_A "b1b5c43c1545eb0f2f6dc16d3702cf1b5ea45eb93b1be191fca1e93ff1c46c3e"
#define SIGNED_B "3bed63a3b567a46ca8da61622c3f9c1502ea883c6e5a437d13e354265d3e0b96"

enum { HEADERS_MAX = 20 };

static const struct vector {
	const char	*name, *scope, *want;		/* want NULL: it cannot be signed */
	const char	*headers[HEADERS_MAX];
} vectors[] = {
	{ "A of wire-aws.md", SCOPE, START "content-length;" NAMES SIGNED_A,
	    { "Content-Length: 62", TYPE, DATE, TOKEN } },
	{ "B of wire-aws.md", SCOPE, START NAMES SIGNED_B, { TYPE, DATE, TOKEN } },
	{ "the order of the headers does not count", SCOPE, START NAMES SIGNED_B, { TOKEN, DATE, TYPE } },
	{ "nor do blanks and capitals", SCOPE, START NAMES SIGNED_B,
	    { "CONTENT-type:   application/x-www-form-urlencoded ", "x-amz-DATE:20260102T030405Z", TOKEN } },
	{ "no date", SCOPE, NULL, { TYPE, TOKEN } },
	{ "a date of another form", SCOPE, NULL, { "X-Amz-Date: 2026-01-02T03:04:05Z" } },
	{ "a date that is too short", SCOPE, NULL, { "X-Amz-Date: 20260102" } },
	{ "text after the date", SCOPE, NULL, { DATE "x" } },
	{ "no service", "aws:amz:eu-west-1", NULL, { DATE } },
	{ "another provider", "goog4:goog:eu-west-1:ec2", NULL, { DATE } },
	{ "a line that is no header", SCOPE, NULL, { DATE, "nothing" } },
	{ "too many headers", SCOPE, NULL, { DATE, "a: 1", "b: 1", "c: 1", "d: 1", "e: 1", "f: 1", "g: 1",
	    "h: 1", "i: 1", "j: 1", "k: 1", "l: 1", "m: 1", "n: 1", "o: 1" } },
};

static void
check_vector(void **state)
{
	const struct vector *const v = *state;
	const struct http_sigv4 key = { .scope = v->scope, .access_key = "AKIDEXAMPLE",
		.secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
	char *const got = http_sigv4_authorization(&key, &(struct http_signing){ .method = "POST",
	    .path = "/", .host = "ec2.eu-west-1.amazonaws.com", .headers = v->headers, .body = BODY,
	    .body_len = strlen(BODY) });

	if (v->want == NULL) {
		assert_null(got);
	} else {
		assert_non_null(got);
		assert_string_equal(got, v->want);
	}
	free(got);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(vectors)];

	for (size_t i = 0; i < NITEMS(vectors); i++)
		tests[i] = (struct CMUnitTest){ vectors[i].name, check_vector, NULL, NULL,
			(void *)(uintptr_t)&vectors[i] };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
