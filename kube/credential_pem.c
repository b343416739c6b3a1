/* kube/credential_pem.c - checks certificates and keys with OpenSSL. */
#include "credential_pem.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "obj.h"

static BIO *open_bio(const struct bytes *);
static X509 *read_cert(const struct bytes *);
static EVP_PKEY *read_key(const struct bytes *);
static int no_password(char *, int, int, void *);

const char *
pem_fault_ca(const struct bytes *ca)
{
	X509 *const cert = read_cert(ca);
	const bool ok = cert != NULL;

	X509_free(cert);
	return ok ? NULL : "holds no certificate (PEM)";
}

const char *
pem_fault_pair(const struct bytes *cert, const struct bytes *key)
{
	X509 *const c = read_cert(cert);
	EVP_PKEY *const k = read_key(key);
	const char *fault = NULL;

	if (c == NULL)
		fault = "the client certificate is no certificate (PEM)";
	else if (k == NULL)
		fault = "the client key is no private key (PEM without a password)";
	else if (X509_check_private_key(c, k) != 1)
		fault = "the client key does not belong to the client certificate";
	X509_free(c);
	EVP_PKEY_free(k);
	ERR_clear_error();
	return fault;
}

static BIO *
open_bio(const struct bytes *b)
{
	if (b->data == NULL || b->len == 0 || b->len > INT_MAX)
		return NULL;
	BIO *const bio = BIO_new_mem_buf(b->data, (int)b->len);
	MUST(bio != NULL);
	return bio;
}

static X509 *
read_cert(const struct bytes *b)
{
	BIO *const bio = open_bio(b);
	X509 *const cert = bio == NULL ? NULL : PEM_read_bio_X509(bio, NULL, no_password, NULL);

	BIO_free(bio);
	ERR_clear_error();
	return cert;
}

static EVP_PKEY *
read_key(const struct bytes *b)
{
	BIO *const bio = open_bio(b);
	EVP_PKEY *const key = bio == NULL ? NULL : PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);

	BIO_free(bio);
	ERR_clear_error();
	return key;
}

/* Without this OpenSSL reads a password from the terminal. */
static int
no_password(char *buf, int size, int writing, void *arg)
{
	(void)buf, (void)size, (void)writing, (void)arg;
	return -1;
}
