/*
 * tests/unit/test_capa_identity.c - the web identity from variables and a file: F3, F6, F9, FR4.1
 * to FR4.4.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors/capa-annotator/annotator.h"
#include "obj.h"

#define ARN	"arn:aws:iam::111122223333:role/annotator"

static const char *const names[] = { "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_SESSION_NAME",
	"AWS_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL_EC2", "AWS_CA_BUNDLE" };
enum { ROLE, TOKEN, SESSION, REGION, URL, URL_STS, URL_EC2, CA, NAMES };

static const struct row {
	const char	*name, *values[NAMES];
	const char	*why;		/* "": it can be used */
} rows[] = {
	{ "both variables", { ARN, "/t" }, "" },
	{ "FR4.2 no role", { NULL, "/t" }, "AWS_ROLE_ARN is not set" },
	{ "FR4.2 no token file", { ARN }, "AWS_WEB_IDENTITY_TOKEN_FILE is not set" },
	{ "an empty one is not set", { "", "/t" }, "AWS_ROLE_ARN is not set" },
	{ "no ARN of a role", { "arn:aws:iam::1:user/x", "/t" }, "AWS_ROLE_ARN is not the ARN of a role" },
	{ "a relative path", { ARN, "t" }, "AWS_WEB_IDENTITY_TOKEN_FILE is not an absolute path" },
	{ "a session name", { ARN, "/t", "pod-1" }, "" },
	{ "a session name with a blank", { ARN, "/t", "pod 1" },
	    "AWS_ROLE_SESSION_NAME is not 2 to 64 of letters, digits and _=,.@-" },
	{ "a region", { ARN, "/t", NULL, "eu-west-1" }, "" },
	{ "F9 a region of another partition", { ARN, "/t", NULL, "cn-north-1" },
	    "AWS_REGION is not a region of the role's partition" },
	{ "no region at all", { ARN, "/t", NULL, "evil.example/" },
	    "AWS_REGION is not a region of the role's partition" },
	{ "F6 endpoints", { ARN, "/t", NULL, NULL, "http://127.0.0.1:1", "https://a", "https://b/" }, "" },
	{ "an endpoint that is none", { ARN, "/t", NULL, NULL, NULL, "ftp://a" },
	    "AWS_ENDPOINT_URL_STS is not http:// or https:// with a host" },
	{ "an endpoint without a host", { ARN, "/t", NULL, NULL, NULL, NULL, "https:///" },
	    "AWS_ENDPOINT_URL_EC2 is not http:// or https:// with a host" },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct web_identity w;
	char why[WEB_IDENTITY_ERROR_MAX] = "";

	for (size_t i = 0; i < NAMES; i++) {
		if (r->values[i] == NULL)
			unsetenv(names[i]);
		else
			setenv(names[i], r->values[i], 1);
	}
	assert_int_equal(web_identity_read(&w, why, sizeof(why)), r->why[0] == '\0');
	assert_string_equal(why, r->why);
}

static void
put_file(const char *path, const char *text)
{
	FILE *const f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* F3: what the file has now. No text of an error has a part of the token. */
static void
token_is_read_each_time(void **state)
{
	static const char *const wrong[] = { "", " \n", "two tokens", "caf\xc3\xa9" };
	char path[] = "/tmp/test-identity-XXXXXX", why[WEB_IDENTITY_ERROR_MAX];
	const int fd = mkstemp(path);
	const struct web_identity w = { .role_arn = wire_str_of(ARN), .session_name = wire_str_of("s1"),
		.token_file = path };
	size_t len = 0;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (int i = 0; i < 2; i++) {
		put_file(path, i == 0 ? "first\n" : "second");
		char *const body = web_identity_body(&w, &len, why, sizeof(why));
		assert_non_null(body);
		assert_int_equal(len, strlen(body));
		assert_non_null(
		    strstr(body, i == 0 ? "&WebIdentityToken=first" : "&WebIdentityToken=second"));
		free(body);
	}
	for (size_t i = 0; i < NITEMS(wrong); i++) {
		put_file(path, wrong[i]);
		assert_null(web_identity_body(&w, &len, why, sizeof(why)));
		assert_non_null(strstr(why, path));
		assert_null(strstr(why, "two"));
	}
	unlink(path);
	assert_null(web_identity_body(&w, &len, why, sizeof(why)));
	assert_non_null(strstr(why, "cannot be read"));
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(token_is_read_each_time);
	return cmocka_run_group_tests_name("capa_identity", tests, NULL, NULL);
}
