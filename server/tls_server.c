/* server/tls_server.c - OpenSSL under evhttp. */
#include "tls_server.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "obj.h"

enum file { FILE_CERT, FILE_KEY, FILE_CLIENT_CA, FILE_MAX };

/* A Secret's mount replaces its files through a symbolic link: the inode is another then. */
struct stamp {
	dev_t		device;
	ino_t		inode;
	struct timespec	changed;
};

struct tls_server {
	uint32_t		 magic;
#define TLS_SERVER_MAGIC	0x544c5353u
	SSL_CTX			*ctx;
	char			*paths[FILE_MAX];	/* NULL: there is none */
	enum tls_clients	 clients;
	struct stamp		 seen[FILE_MAX];	/* when they were read last, with success or not */
	bool			 refused;		/* they are read again next time */
};

static bool stamps_changed(struct tls_server *);
static SSL_CTX *load(const struct tls_server *, char *, size_t);
static int admit(int, X509_STORE_CTX *);

struct tls_server *
tls_server_new(const struct tls_server_files *files, char *err, size_t size)
{
	struct tls_server *t;

	/* OpenSSL writes without MSG_NOSIGNAL: a client that goes early would end the process. */
	signal(SIGPIPE, SIG_IGN);
	OBJ_NEW(t, TLS_SERVER_MAGIC);
	t->paths[FILE_CERT] = obj_strdup(files->cert);
	t->paths[FILE_KEY] = obj_strdup(files->key);
	if (files->client_ca != NULL && files->client_ca[0] != '\0')
		t->paths[FILE_CLIENT_CA] = obj_strdup(files->client_ca);
	t->clients = files->clients;
	stamps_changed(t);
	t->ctx = load(t, err, size);
	if (t->ctx == NULL)
		tls_server_free(&t);
	return t;
}

void
tls_server_free(struct tls_server **tp)
{
	struct tls_server *t;

	if (*tp == NULL)
		return;
	OBJ_TAKE(t, tp, TLS_SERVER_MAGIC);
	SSL_CTX_free(t->ctx);
	for (int i = 0; i < FILE_MAX; i++)
		free(t->paths[i]);
	OBJ_FREE(t);
}

enum tls_reload
tls_server_reload(struct tls_server *t, char *err, size_t size)
{
	OBJ_CHECK(t, TLS_SERVER_MAGIC);
	const bool changed = stamps_changed(t);
	if (!changed && !t->refused)
		return TLS_UNCHANGED;
	SSL_CTX *const fresh = load(t, err, size);
	t->refused = fresh == NULL;
	if (t->refused)
		return changed ? TLS_REFUSED : TLS_UNCHANGED;
	SSL_CTX_free(t->ctx);		/* connections that are open keep theirs */
	t->ctx = fresh;
	return TLS_RELOADED;
}

struct bufferevent *
tls_server_accept(struct tls_server *t, struct event_base *base)
{
	OBJ_CHECK(t, TLS_SERVER_MAGIC);
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
tls_server_client(struct bufferevent *bev, char *name, size_t size)
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

/* True: a file is not as it was when it was read last. */
static bool
stamps_changed(struct tls_server *t)
{
	bool differs = false;

	for (int i = 0; i < FILE_MAX; i++) {
		struct stamp now = { 0 };
		struct stat st;

		if (t->paths[i] != NULL && stat(t->paths[i], &st) == 0)
			now = (struct stamp){
				.device = st.st_dev, .inode = st.st_ino, .changed = st.st_mtim
			};
		differs |= now.device != t->seen[i].device || now.inode != t->seen[i].inode
		    || now.changed.tv_sec != t->seen[i].changed.tv_sec
		    || now.changed.tv_nsec != t->seen[i].changed.tv_nsec;
		t->seen[i] = now;
	}
	return differs;
}

static SSL_CTX *
load(const struct tls_server *t, char *err, size_t size)
{
	const char *const ca = t->paths[FILE_CLIENT_CA];
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	const char *wrong = NULL;

	MUST(ctx != NULL);
	ERR_clear_error();
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	if (SSL_CTX_use_certificate_chain_file(ctx, t->paths[FILE_CERT]) != 1)
		wrong = t->paths[FILE_CERT];
	else if (SSL_CTX_use_PrivateKey_file(ctx, t->paths[FILE_KEY], SSL_FILETYPE_PEM) != 1)
		wrong = t->paths[FILE_KEY];
	else if (ca != NULL && SSL_CTX_load_verify_locations(ctx, ca, NULL) != 1)
		wrong = ca;
	if (wrong != NULL) {
		const char *const reason = ERR_reason_error_string(ERR_peek_error());

		snprintf(err, size, "%s: %s", wrong, reason != NULL ? reason : "cannot be read");
		ERR_clear_error();
		SSL_CTX_free(ctx);
		return NULL;
	}
	if (ca != NULL) {
		const bool admitted = t->clients == TLS_CLIENTS_ADMITTED;

		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | (admitted ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT),
		    admitted ? admit : NULL);
		SSL_CTX_set_client_CA_list(ctx, SSL_load_client_CA_file(ca));
		SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"muster", 6);
	}
	return ctx;
}

static int
admit(int fine, X509_STORE_CTX *ctx)
{
	(void)fine;
	(void)ctx;
	return 1;
}
