/*
 * tests/unit/credential_rig.h - a folder with secrets that a test changes, a clock that it moves,
 * and a kubeconfig that names them.
 */
#ifndef MUSTER_CREDENTIAL_RIG_H
#define MUSTER_CREDENTIAL_RIG_H

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "kube/credential.c"	/* NOLINT(bugprone-suspicious-include): its next due time is static */
#include "obj.h"

enum { S = 1000 };

#define IN_A_FOLDER(test)	cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

static char dir[64];
static int64_t now = 1000 * S;

static int
make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/muster-credential-XXXXXX");
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int
remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

/* As a mount is changed: the new file appears under its name at once. */
static void
put(const char *name, const char *text)
{
	char path[128], other[140];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(other, sizeof(other), "%s.new", path);
	FILE *const f = fopen(other, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(other, 0755), 0);
	assert_int_equal(rename(other, path), 0);
}

/* When credential_tick has something to do, by asking ever closer; CREDENTIAL_NEVER: nothing. */
static inline int64_t
next_ms(const struct credential *c)
{
	int64_t idle = 0, due = CREDENTIAL_NEVER;

	while (due - idle > 1) {
		const int64_t middle = idle + (due - idle) / 2;

		if (credential_due(&c->times, middle) != 0)
			due = middle;
		else
			idle = middle;
	}
	return due;
}

static struct kubeconfig *
config(const char *cluster, const char *user)
{
	char text[4096], name[128], err[KUBECONFIG_ERROR_MAX] = "";

	snprintf(name, sizeof(name), "%s/f", dir);
	snprintf(text, sizeof(text), "contexts: [{name: c, context: {cluster: k, user: u, namespace: n}}]\n"
	    "clusters: [{name: k, cluster: {server: 'https://h:1'%s}}]\n"
	    "users: [{name: u, user: {%s}}]\n", cluster, user);
	struct kubeconfig *const k = kubeconfig_parse(name, text, strlen(text), "c", err, sizeof(err));
	assert_string_equal(err, "");
	return k;
}

static struct credential_view
view_of(struct credential *c, enum credential_state want)
{
	struct credential_view v;

	assert_int_equal(credential_now(c, now, &v), want);
	return v;
}

/* A key pair of its own, as PEM. */
static void
make_pair(char *cert, char *key, size_t size)
{
	EVP_PKEY *const pkey = EVP_EC_gen("P-256");
	X509 *const x = X509_new();
	BIO *const bio[2] = { BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()) };
	char *const out[2] = { cert, key };

	X509_gmtime_adj(X509_getm_notBefore(x), 0);
	X509_gmtime_adj(X509_getm_notAfter(x), 3600);
	X509_set_pubkey(x, pkey);
	assert_true(X509_sign(x, pkey, EVP_sha256()) > 0);
	assert_int_equal(PEM_write_bio_X509(bio[0], x), 1);
	assert_int_equal(PEM_write_bio_PrivateKey(bio[1], pkey, NULL, NULL, 0, NULL, NULL), 1);
	for (int i = 0; i < 2; i++) {
		const int n = BIO_read(bio[i], out[i], (int)size - 1);

		assert_true(n > 0);
		out[i][n] = '\0';
		BIO_free(bio[i]);
	}
	X509_free(x);
	EVP_PKEY_free(pkey);
}

#endif
