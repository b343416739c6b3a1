/*
 * sim/http/sim_tls.c - OpenSSL under evhttp.
 *
 * A client without a certificate, or with a bad one, still gets its connection: it gets 401 in
 * HTTP, as the apiserver does.
 */
#include "sim_tls.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "obj.h"

struct sim_tls {
	uint32_t	 magic;
#define TLS_MAGIC	0x544c5353u
	SSL_CTX		*ctx;
	const char	*cert, *key, *client_ca;
	struct timespec	 changed;	/* of the certificate's file */
};

static SSL_CTX *load(const struct sim_tls *, char *, size_t);
static struct timespec changed_at(const char *);
static int let_through(int, X509_STORE_CTX *);

struct sim_tls *
sim_tls_new(const char *cert, const char *key, const char *client_ca, char *err, size_t size)
{
	struct sim_tls *t;

	OBJ_NEW(t, TLS_MAGIC);
	t->cert = cert;
	t->key = key;
	t->client_ca = client_ca;
	t->changed = changed_at(cert);
	t->ctx = load(t, err, size);
	if (t->ctx == NULL)
		sim_tls_free(&t);
	return t;
}

void
sim_tls_free(struct sim_tls **tp)
{
	struct sim_tls *t;

	if (*tp == NULL)
		return;
	OBJ_TAKE(t, tp, TLS_MAGIC);
	SSL_CTX_free(t->ctx);
	OBJ_FREE(t);
}

struct bufferevent *
sim_tls_accept(struct sim_tls *t, struct event_base *base)
{
	const struct timespec changed = changed_at(t->cert);
	char err[256];

	/* A pair that does not fit yet (the key is still the old one) leaves things as they are. */
	if (changed.tv_sec != t->changed.tv_sec || changed.tv_nsec != t->changed.tv_nsec) {
		SSL_CTX *const fresh = load(t, err, sizeof(err));

		if (fresh != NULL) {
			SSL_CTX_free(t->ctx);
			t->ctx = fresh;
			t->changed = changed;
		}
	}
	SSL *const ssl = SSL_new(t->ctx);
	MUST(ssl != NULL);
	struct bufferevent *const bev =
	    bufferevent_openssl_socket_new(base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
	MUST(bev != NULL);
	/* Clients that just go, without a word of TLS, are usual. */
	bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}

bool
sim_tls_client(struct bufferevent *bev, char *name, size_t size)
{
	SSL *const ssl = bufferevent_openssl_get_ssl(bev);
	X509 *const cert = ssl != NULL ? SSL_get1_peer_certificate(ssl) : NULL;
	bool known = false;

	if (cert != NULL && SSL_get_verify_result(ssl) == X509_V_OK)
		known = X509_NAME_get_text_by_NID(
			    X509_get_subject_name(cert), NID_commonName, name, (int)size)
		    > 0;
	X509_free(cert);
	return known;
}

static SSL_CTX *
load(const struct sim_tls *t, char *err, size_t size)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	const char *wrong = NULL;

	MUST(ctx != NULL);
	ERR_clear_error();
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	if (SSL_CTX_use_certificate_chain_file(ctx, t->cert) != 1)
		wrong = t->cert;
	else if (SSL_CTX_use_PrivateKey_file(ctx, t->key, SSL_FILETYPE_PEM) != 1)
		wrong = t->key;
	else if (t->client_ca != NULL && SSL_CTX_load_verify_locations(ctx, t->client_ca, NULL) != 1)
		wrong = t->client_ca;
	if (wrong != NULL) {
		const char *const reason = ERR_reason_error_string(ERR_peek_error());

		snprintf(err, size, "%s: %s", wrong, reason != NULL ? reason : "cannot be read");
		SSL_CTX_free(ctx);
		return NULL;
	}
	if (t->client_ca != NULL) {
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, let_through);
		SSL_CTX_set_client_CA_list(ctx, SSL_load_client_CA_file(t->client_ca));
		SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"sim", 3);
	}
	return ctx;
}

static struct timespec
changed_at(const char *path)
{
	struct stat st = { 0 };

	return stat(path, &st) == 0 ? st.st_mtim : (struct timespec){ 0 };
}

static int
let_through(int fine, X509_STORE_CTX *ctx)
{
	(void)fine;
	(void)ctx;
	return 1;
}
