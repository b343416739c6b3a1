/*
 * tests/unit/test_credential.c - what to send now: when it is read again, and files and
 * certificates that change under it. The test sets the time.
 */
#include "credential_rig.h"
#include "kube/credential_plan.h"
#include "kube/time.h"
#include "log.h"

/* Everything happens at 100 s of the monotonic clock unless the row states another time. */
static const struct row {
	const char		*name;
	struct credential_times	 t;
	int64_t			 next;
} rows[] = {
	{ "nothing to do", { .answered_at = -1 }, CREDENTIAL_NEVER },
	{ "files every minute", { .has_files = true, .files_at = 100 * S }, 160 * S },
	{ "files after a 401", { .has_files = true, .files_at = 100 * S, .files_refused = true }, 101 * S },
	{ "no plugin, no files, but a 401", { .files_refused = true, .plugin_refused = true }, CREDENTIAL_NEVER },
	{ "a plugin that holds nothing", { .has_plugin = true, .answered_at = -1 }, INT64_MIN },
	{ "a plugin at work", { .has_plugin = true, .answered_at = -1, .running = true }, CREDENTIAL_NEVER },
	{ "good for ever", { .has_plugin = true, .answered_at = 100 * S, .expires_at = CREDENTIAL_NEVER },
	  CREDENTIAL_NEVER },
	{ "renewed before its end", { .has_plugin = true, .answered_at = 100 * S, .expires_at = 400 * S }, 390 * S },
	{ "but not at once", { .has_plugin = true, .answered_at = 100 * S, .expires_at = 105 * S }, 110 * S },
	{ "refused", { .has_plugin = true, .answered_at = 100 * S, .expires_at = CREDENTIAL_NEVER,
	  .plugin_refused = true }, 110 * S },
	{ "failed once", { .has_plugin = true, .answered_at = -1, .failures = 1, .failed_at = 100 * S }, 101 * S },
	{ "failed four times", { .has_plugin = true, .answered_at = -1, .failures = 4, .failed_at = 100 * S }, 108 * S },
	{ "failed for days", { .has_plugin = true, .answered_at = -1, .failures = 9999, .failed_at = 100 * S }, 160 * S },
	{ "renewal failed", { .has_plugin = true, .answered_at = 100 * S, .expires_at = 200 * S,
	  .failures = 2, .failed_at = 190 * S }, 192 * S },
	{ "both", { .has_files = true, .files_at = 150 * S, .has_plugin = true, .answered_at = 100 * S,
	  .expires_at = 400 * S }, 210 * S },
};

static void
check_row(void **state)
{
	const struct row *r = *state;

	if (r->next != INT64_MIN)
		assert_int_equal(credential_due(&r->t, r->next - 1), 0);
	if (r->next != CREDENTIAL_NEVER)
		assert_int_not_equal(credential_due(&r->t, r->next), 0);
}

static void
the_end_of_an_answer(void **state)
{
	const int64_t wall = INT64_C(1800000000000000);

	(void)state;
	assert_int_equal(credential_expiry(100 * S, wall, TIME_UNSET_US), CREDENTIAL_NEVER);
	assert_int_equal(credential_expiry(100 * S, wall, wall + INT64_C(900000000)), 1000 * S);
	/* a clock that is wrong by years makes no loop of runs */
	assert_int_equal(credential_expiry(100 * S, wall, 0), 110 * S);
	assert_int_equal(credential_expiry(100 * S, 0, wall), 100 * S + wall / 1000);
}

static struct credential *
credential(const char *cluster, const char *user)
{
	struct kubeconfig *k = config(cluster, user);
	char err[1024] = "";
	struct credential *const c = credential_open(&k, NULL, now, err, sizeof(err));

	assert_null(k);
	assert_string_equal(err, "");
	return c;
}

static void
refused(const char *cluster, const char *user, const char *want)
{
	struct kubeconfig *k = config(cluster, user);
	char err[1024] = "";

	assert_null(credential_open(&k, NULL, now, err, sizeof(err)));
	assert_null(k);
	assert_non_null(strstr(err, "/f: context \"c\": "));
	assert_non_null(strstr(err, want));
}

static void
a_token_rotates(void **state)
{
	(void)state;
	put("t", " one\n");
	struct credential *c = credential("", "tokenFile: t");
	const struct credential_view first = view_of(c, CREDENTIAL_READY);
	assert_string_equal(first.token, "one");
	assert_int_equal(first.token_len, 3);
	assert_string_equal(first.server, "https://h:1");
	assert_int_equal(next_ms(c), now + 60 * S);
	put("t", "two");
	now += 59 * S;
	assert_false(credential_tick(c, now));
	assert_string_equal(view_of(c, CREDENTIAL_READY).token, "one");
	now += 1 * S;
	assert_true(credential_tick(c, now));
	const struct credential_view second = view_of(c, CREDENTIAL_READY);
	assert_string_equal(second.token, "two");
	assert_true(second.serial > first.serial);
	credential_free(&c);
	assert_null(c);
}

static void
a_401_reads_it_at_once(void **state)
{
	(void)state;
	put("t", "one");
	struct credential *c = credential("", "tokenFile: t");
	put("t", "two");
	now += 20 * S;
	assert_true(credential_unauthorized(c, now));
	assert_string_equal(view_of(c, CREDENTIAL_READY).token, "two");
	/* others of the same burst were sent with the old one */
	now += 1;
	assert_true(credential_unauthorized(c, now));
	now += 20 * S;
	assert_false(credential_unauthorized(c, now));	/* the same again: no use in trying */
	/* not twice within a second: the next tick does it */
	put("t", "three");
	now += S / 2;
	assert_false(credential_unauthorized(c, now));
	assert_string_equal(view_of(c, CREDENTIAL_READY).token, "two");
	now += S;
	assert_true(credential_tick(c, now));
	assert_string_equal(view_of(c, CREDENTIAL_READY).token, "three");
	credential_free(&c);
}

static void
no_trust_reads_the_authority_at_once(void **state)
{
	char ca[2][4096], key[4096];

	(void)state;
	make_pair(ca[0], key, sizeof(key));
	make_pair(ca[1], key, sizeof(key));
	put("a", ca[0]);
	struct credential *c = credential(", certificate-authority: a", "token: t");
	now += 20 * S;
	assert_false(credential_tls_refused(c, now));	/* nothing new: the fault is the server's */
	put("a", ca[1]);
	now += S / 2;
	assert_false(credential_tls_refused(c, now));	/* not twice within a second */
	now += S;
	assert_true(credential_tls_refused(c, now));
	assert_string_equal(view_of(c, CREDENTIAL_READY).ca, ca[1]);
	put("a", "no certificate");
	now += 20 * S;
	assert_false(credential_tls_refused(c, now));
	assert_string_equal(view_of(c, CREDENTIAL_READY).ca, ca[1]);
	credential_free(&c);
}

static void
what_worked_is_kept(void **state)
{
	static const char *const bad[] = { "", " \n", "two tokens", "tok\x01", "t\xc3\xa9", NULL };
	char path[128];

	(void)state;
	put("t", "good");
	struct credential *c = credential("", "tokenFile: t");
	for (size_t i = 0; i < NITEMS(bad); i++) {
		snprintf(path, sizeof(path), "%s/t", dir);
		if (bad[i] == NULL)
			assert_int_equal(unlink(path), 0);
		else
			put("t", bad[i]);
		now += 61 * S;
		assert_false(credential_tick(c, now));
		const struct credential_view v = view_of(c, CREDENTIAL_READY);
		assert_string_equal(v.token, "good");
		assert_non_null(v.error);
		assert_non_null(strstr(v.error, path));
	}
	put("t", "better");
	now += 61 * S;
	assert_true(credential_tick(c, now));
	assert_string_equal(view_of(c, CREDENTIAL_READY).token, "better");
	assert_null(view_of(c, CREDENTIAL_READY).error);
	credential_free(&c);
}

static void
the_start_is_strict(void **state)
{
	char cert[2][4096], key[2][4096];

	(void)state;
	make_pair(cert[0], key[0], sizeof(cert[0]));
	make_pair(cert[1], key[1], sizeof(cert[1]));
	put("c", cert[0]);
	put("k", key[1]);
	put("empty", "");
	refused("", "tokenFile: missing", "cannot read tokenFile ");
	refused("", "tokenFile: empty", "/empty is empty");
	refused(", certificate-authority: missing", "token: t", "cannot read certificate-authority ");
	refused(", certificate-authority: empty", "token: t", "/empty holds no certificate (PEM)");
	refused(", certificate-authority-data: Y2E=", "token: t",
	    "certificate-authority-data holds no certificate (PEM)");
	refused("", "client-certificate: k, client-key: k",
	    "the client certificate is no certificate (PEM): ");
	refused("", "client-certificate: c, client-key: c", "the client key is no private key");
	refused("", "client-certificate: c, client-key: k",
	    "the client key does not belong to the client certificate");
	/* a missing certificate authority is an error even if the token can be read */
	put("t", "tok");
	refused(", certificate-authority: missing", "tokenFile: t", "cannot read certificate-authority ");
	/* but a token beside the file is a token */
	struct credential *c = credential("", "token: spare, tokenFile: missing");
	assert_string_equal(view_of(c, CREDENTIAL_READY).token, "spare");
	assert_non_null(view_of(c, CREDENTIAL_READY).error);
	put("missing", "proper");
	now += 60 * S;
	assert_string_equal(view_of(c, CREDENTIAL_READY).token, "proper");
	credential_free(&c);
}

static void
certificates_rotate_in_pairs(void **state)
{
	char cert[3][4096], key[3][4096];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		make_pair(cert[i], key[i], sizeof(cert[i]));
	put("ca", cert[2]);
	put("c", cert[0]);
	put("k", key[0]);
	struct credential *c =
	    credential(", certificate-authority: ca", "client-certificate: c, client-key: k");
	const struct credential_view first = view_of(c, CREDENTIAL_READY);
	assert_string_equal(first.ca, cert[2]);
	assert_string_equal(first.cert, cert[0]);
	assert_string_equal(first.key, key[0]);
	assert_null(first.token);
	/* unchanged bytes change nothing */
	put("c", cert[0]);
	now += 60 * S;
	assert_false(credential_tick(c, now));
	assert_int_equal(view_of(c, CREDENTIAL_READY).serial, first.serial);
	/* the certificate is there before its key */
	put("c", cert[1]);
	now += 60 * S;
	assert_false(credential_tick(c, now));
	assert_string_equal(view_of(c, CREDENTIAL_READY).cert, cert[0]);
	assert_non_null(strstr(view_of(c, CREDENTIAL_READY).error, "does not belong"));
	put("k", key[1]);
	now += 60 * S;
	assert_true(credential_tick(c, now));
	const struct credential_view second = view_of(c, CREDENTIAL_READY);
	assert_string_equal(second.cert, cert[1]);
	assert_string_equal(second.key, key[1]);
	assert_true(second.serial > first.serial);
	assert_null(second.error);
	/* read while it is being written */
	put("ca", "-----BEGIN CERTIFICATE-----\nMIIB");
	now += 60 * S;
	assert_false(credential_tick(c, now));
	assert_string_equal(view_of(c, CREDENTIAL_READY).ca, cert[2]);
	put("ca", cert[1]);
	now += 2 * S;
	assert_true(credential_unauthorized(c, now));
	assert_true(view_of(c, CREDENTIAL_READY).serial > second.serial);
	credential_free(&c);
}

static char logged[1024];

static void
keep_line(const char *line, size_t len)
{
	snprintf(logged, sizeof(logged), "%.*s", (int)len, line);
}

/* (issue 10.15) */
static void
a_server_that_is_not_verified_is_warned_about(void **state)
{
	static const char *const fields[] = { "\"level\":\"warn\"", "not verified", "https://h:1",
		"insecure-skip-tls-verify", "/f" };

	(void)state;
	logged[0] = '\0';
	log_set_sink(keep_line);
	struct credential *c = credential("", "token: t");
	assert_string_equal(logged, "");
	credential_free(&c);
	c = credential(", insecure-skip-tls-verify: true", "token: t");
	log_set_sink(NULL);
	for (size_t i = 0; i < NITEMS(fields); i++)
		assert_non_null(strstr(logged, fields[i]));
	credential_free(&c);
}

static void
what_never_changes(void **state)
{
	struct credential *c = credential(
	    ", proxy-url: 'socks5://p:1', disable-compression: true, tls-server-name: s, "
	    "insecure-skip-tls-verify: true",
	    "username: u, password: p");
	const struct credential_view v = view_of(c, CREDENTIAL_READY);

	(void)state;
	assert_string_equal(v.basic, "dTpw");
	assert_string_equal(v.proxy, "socks5h://p:1");
	assert_string_equal(v.tls_server_name, "s");
	assert_true(v.insecure && v.disable_compression);
	assert_null(v.ca);
	assert_null(v.token);
	assert_int_equal(next_ms(c), CREDENTIAL_NEVER);
	now += 20 * S;
	assert_false(credential_unauthorized(c, now));
	credential_free(&c);
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(the_end_of_an_answer), IN_A_FOLDER(a_token_rotates),
		IN_A_FOLDER(a_401_reads_it_at_once), IN_A_FOLDER(no_trust_reads_the_authority_at_once),
		IN_A_FOLDER(what_worked_is_kept),
		IN_A_FOLDER(the_start_is_strict), IN_A_FOLDER(certificates_rotate_in_pairs),
		IN_A_FOLDER(a_server_that_is_not_verified_is_warned_about),
		IN_A_FOLDER(what_never_changes),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];
	size_t n = 0;

	for (; n < NITEMS(rows); n++)
		tests[n] = (struct CMUnitTest){ rows[n].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[n] };
	memcpy(tests + n, others, sizeof(others));
	return cmocka_run_group_tests_name("credential", tests, NULL, NULL);
}
