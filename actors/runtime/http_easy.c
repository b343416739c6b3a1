/*
 * actors/runtime/http_easy.c - from a request to a curl handle, and what comes back through it.
 *
 * What a hostile server or URL could use is disabled here: other protocols, redirects, header injection,
 * endless bodies and headers, CAs that the caller did not name, silent repeats.
 */
#include "http_private.h"

#include <ctype.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "http_sigv4.h"
#include "obj.h"

/* Only memory can fail here: the values were checked, and curl copies the strings. */
#define SET(q, option, value)	MUST(curl_easy_setopt((q)->easy, option, value) == CURLE_OK)

/* Half-open connections hung Go clients for half an hour for lack of TCP keepalive. */
enum { TCP_DEAD_AFTER_MS = 60 * 1000 };

static bool set_target(struct http_call *, const struct http_request *);
static bool take_url(struct http_call *, const struct http_request *, CURLU *);
static bool set_headers(struct http_call *, const struct http_request *);
static bool authorize(struct http_call *, const char *, const char *, size_t);
static bool authorize_aws(struct http_call *, const struct http_request *);
static void set_body(struct http_call *, const struct http_request *);
static void set_tls(struct http_call *, const struct http_tls *);
static void set_pem(struct http_call *, CURLoption, const void *, size_t);
static void set_limits(struct http_call *, const struct http_request *);
static bool refuse(struct http_call *, const char *, const char *);
static bool add_header(struct http_call *, const char *, size_t);
static bool has_header(const char *const *, const char *);
static size_t on_body(char *, size_t, size_t, void *);
static void grow_answer(struct http_call *, size_t);
static size_t on_header(char *, size_t, size_t, void *);
static void call_on_start(const struct http_call *);
static int on_ready_to_send(void *, char *, char *, int, int);
static int on_new_socket(void *, curl_socket_t, curlsocktype);

bool
http_prepare(struct http_call *q, const struct http_request *r)
{
	q->easy = curl_easy_init();
	MUST(q->easy != NULL);
	SET(q, CURLOPT_PRIVATE, (void *)q);
	SET(q, CURLOPT_ERRORBUFFER, q->curl_error);
	if (!set_target(q, r) || !set_headers(q, r))
		return false;
	set_body(q, r);
	set_tls(q, r->tls);
	set_limits(q, r);
	if (r->proxy != NULL)
		SET(q, CURLOPT_PROXY, r->proxy);
	if (r->gzip)
		SET(q, CURLOPT_ACCEPT_ENCODING, "gzip");
	return true;
}

void
http_dispose(struct http_call *q)
{
	for (struct curl_slist *l = q->headers; l != NULL; l = l->next)
		explicit_bzero(l->data, strlen(l->data));
	if (q->body != NULL)
		explicit_bzero(q->body, q->body_len);
	curl_easy_cleanup(q->easy);
	curl_slist_free_all(q->headers);
	curl_slist_free_all(q->connect_to);
	if (q->deadline != NULL)
		event_free(q->deadline);
	if (q->secret && q->answer != NULL)
		explicit_bzero(q->answer, q->answer_cap);
	free(q->body);
	free(q->answer);
	free(q->host);
	free(q->where);
	free(q);
}

static bool
set_target(struct http_call *q, const struct http_request *r)
{
	CURLU *const u = curl_url();

	MUST(u != NULL && r->method != NULL && r->url != NULL && r->done != NULL);
	const size_t n = strspn(r->method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	const bool method_ok = n > 0 && n < sizeof(q->method) && r->method[n] == '\0';
	snprintf(q->method, sizeof(q->method), "%s", method_ok ? r->method : "?");
	q->host = obj_strdup("");
	q->where = obj_strdup(q->method);

	const bool ok = (method_ok || refuse(q, "method is not in upper case letters", NULL))
	    && take_url(q, r, u);
	curl_url_cleanup(u);
	q->harmless = r->harmless || strcmp(q->method, "GET") == 0 || strcmp(q->method, "HEAD") == 0;
	return ok;
}

/*
 * An error text names the place by scheme, host and path; a URL that cannot be taken apart is not
 * shown at all.
 */
static bool
take_url(struct http_call *q, const struct http_request *r, CURLU *u)
{
	char *scheme = NULL, *host = NULL, *port = NULL, *path = NULL, *user = NULL, *url = NULL;
	const char *const name = r->tls == NULL ? NULL : r->tls->server_name;
	bool ok = false;

	const CURLUcode bad = curl_url_set(u, CURLUPART_URL, r->url, 0);
	if (bad != CURLUE_OK) {
		refuse(q, "URL is not one", curl_url_strerror(bad));
		goto out;
	}
	MUST(curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK);
	if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0) {
		refuse(q, "URL must begin with http:// or https://", NULL);
		goto out;
	}
	MUST(curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK);
	MUST(curl_url_get(u, CURLUPART_PATH, &path, 0) == CURLUE_OK);
	for (char *c = host; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	curl_url_get(u, CURLUPART_PORT, &port, 0);
	free(q->host);
	free(q->where);
	MUST(asprintf(&q->host, "%s%s%s", host, port != NULL ? ":" : "", port != NULL ? port : "") != -1);
	MUST(asprintf(&q->where, "%s %s://%s%.200s", q->method, scheme, q->host, path) != -1);
	if (curl_url_get(u, CURLUPART_USER, &user, 0) == CURLUE_OK) {
		refuse(q, "URL must not carry a user name", NULL);
		goto out;
	}
	/*
	 * To be verified under another name: the URL gets that name, the connection goes to the
	 * host all the same.
	 */
	if (name != NULL && strcmp(scheme, "https") == 0) {
		char to[512], line[512];

		snprintf(to, sizeof(to), "::%s:%s", host, port != NULL ? port : "443");
		snprintf(line, sizeof(line), "Host: %s", q->host);
		if (curl_url_set(u, CURLUPART_HOST, name, 0) != CURLUE_OK) {
			refuse(q, "TLS server name is not a host name", NULL);
			goto out;
		}
		q->connect_to = curl_slist_append(NULL, to);
		MUST(q->connect_to != NULL);
		SET(q, CURLOPT_CONNECT_TO, q->connect_to);
		if (!has_header(r->headers, "Host"))
			add_header(q, line, strlen(line));
	}
	MUST(curl_url_get(u, CURLUPART_URL, &url, 0) == CURLUE_OK);
	SET(q, CURLOPT_URL, url);
	ok = true;
out:
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	curl_free(path);
	curl_free(user);
	curl_free(url);
	return ok;
}

static bool
set_headers(struct http_call *q, const struct http_request *r)
{
	for (const char *const *h = r->headers; h != NULL && *h != NULL; h++) {
		if (!add_header(q, *h, strlen(*h)))
			return refuse(q, "a header holds a control character", NULL);
	}
	if (r->bearer != NULL && !authorize(q, "Bearer", r->bearer, r->bearer_len))
		return false;
	if (r->basic != NULL && !authorize(q, "Basic", r->basic, strlen(r->basic)))
		return false;
	if (r->sigv4 != NULL && !authorize_aws(q, r))
		return false;
	/* curl would wait a second for "100 Continue", and call every body a form. */
	add_header(q, "Expect:", 7);
	if (!has_header(r->headers, "Content-Type"))
		add_header(q, "Content-Type:", 13);
	SET(q, CURLOPT_HTTPHEADER, q->headers);
	SET(q, CURLOPT_USERAGENT, q->http->user_agent);
	return true;
}

/* Our own copy is wiped at once, the one in the header list when the request ends. */
static bool
authorize(struct http_call *q, const char *scheme, const char *secret, size_t secret_len)
{
	static const char name[] = "Authorization: ";
	const size_t len = sizeof(name) - 1 + strlen(scheme) + 1 + secret_len;
	char *const line = obj_alloc(len + 1);

	char *const end = stpcpy(stpcpy(stpcpy(line, name), scheme), " ");
	memcpy(end, secret, secret_len);
	const bool ok = add_header(q, line, len);
	explicit_bzero(line, len);
	free(line);
	return ok
	    || refuse(
		q, "the credential holds a control character", "is there a line end in its file?");
}

/* The header Host that is signed is the one that is sent. */
static bool
authorize_aws(struct http_call *q, const struct http_request *r)
{
	char host[512], *value, *path = NULL, *query = NULL;
	CURLU *const u = curl_url();

	MUST(u != NULL && curl_url_set(u, CURLUPART_URL, r->url, 0) == CURLUE_OK);
	MUST(curl_url_get(u, CURLUPART_PATH, &path, 0) == CURLUE_OK);
	const bool plain = curl_url_get(u, CURLUPART_QUERY, &query, 0) != CURLUE_OK;
	const int len = snprintf(host, sizeof(host), "Host: %s", q->host);
	value = http_sigv4_authorization(r->sigv4, &(struct http_signing){ .method = q->method,
	    .host = q->host, .path = path, .headers = r->headers, .body = r->body, .body_len = r->body_len });
	curl_free(path);
	curl_free(query);
	curl_url_cleanup(u);
	if (value == NULL || !plain || len >= (int)sizeof(host) || has_header(r->headers, "Host")) {
		free(value);
		return refuse(q, "request cannot be signed: it needs X-Amz-Date, and no query", NULL);
	}
	if (q->connect_to == NULL)
		add_header(q, host, (size_t)len);
	char *line = NULL;
	MUST(asprintf(&line, "Authorization: %s", value) != -1);
	const bool ok = add_header(q, line, strlen(line));
	free(value);
	free(line);
	return ok || refuse(q, "the access key holds a control character", NULL);
}

static void
set_body(struct http_call *q, const struct http_request *r)
{
	if (strcmp(q->method, "HEAD") == 0) {
		SET(q, CURLOPT_NOBODY, 1L);
		return;
	}
	/* Even an empty POST has a length; a GET or DELETE without body has none. */
	if (r->body_len > 0 || (strcmp(q->method, "GET") != 0 && strcmp(q->method, "DELETE") != 0)) {
		q->body_len = r->body_len;
		q->body = obj_memdup(r->body, r->body_len);
		SET(q, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_len);
		SET(q, CURLOPT_POSTFIELDS, q->body);
	}
	SET(q, CURLOPT_CUSTOMREQUEST, q->method);
}

/*
 * A caller that names a CA trusts only that CA. curl would add the system's directory to it
 * (CAPATH has a compiled-in default, and 7.88 loads it beside a blob), so it is cleared, and with
 * it the cost of the system's store. Otherwise the environment names that store, as for every
 * OpenSSL program; curl by itself does not read it.
 */
static void
set_tls(struct http_call *q, const struct http_tls *tls)
{
	static const struct http_tls none;
	const struct http_tls *const t = tls != NULL ? tls : &none;
	const bool own = t->ca != NULL || t->ca_file != NULL || t->insecure;
	static const curl_version_info_data *built;	/* once: curl queries twenty libraries for it */
	const char *file = getenv("SSL_CERT_FILE"), *dir = getenv("SSL_CERT_DIR");

	if (built == NULL)
		built = curl_version_info(CURLVERSION_NOW);
	if (file == NULL && dir == NULL) {
		file = built->cainfo;
		dir = built->capath;
	}
	SET(q, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(q, CURLOPT_SSL_VERIFYPEER, t->insecure ? 0L : 1L);
	SET(q, CURLOPT_SSL_VERIFYHOST, t->insecure ? 0L : 2L);
	SET(q, CURLOPT_CAINFO, own ? t->ca_file : file);
	SET(q, CURLOPT_CAPATH, own ? NULL : dir);
	set_pem(q, CURLOPT_CAINFO_BLOB, t->ca, t->ca_len);
	set_pem(q, CURLOPT_SSLCERT_BLOB, t->cert, t->cert_len);
	set_pem(q, CURLOPT_SSLKEY_BLOB, t->key, t->key_len);
}

static void
set_pem(struct http_call *q, CURLoption option, const void *pem, size_t len)
{
	struct curl_blob copied = { .data = (void *)(uintptr_t)pem, .len = len, .flags = CURL_BLOB_COPY };

	if (pem != NULL)
		SET(q, option, &copied);
}

static void
set_limits(struct http_call *q, const struct http_request *r)
{
	q->secret = r->secret;
	q->max_body = r->max_body != 0 ? r->max_body : HTTP_MAX_BODY;
	q->max_headers = r->max_headers != 0 ? r->max_headers : HTTP_MAX_HEADERS;
	SET(q, CURLOPT_PROTOCOLS_STR, "http,https");
	SET(q, CURLOPT_FOLLOWLOCATION, 0L);
	SET(q, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(q, CURLOPT_NOSIGNAL, 1L);
	/*
	 * Giving up on a name lookup must not wait for its thread (curl 7.88 joins it otherwise, in
	 * our loop).
	 */
	SET(q, CURLOPT_QUICK_EXIT, 1L);
	SET(q, CURLOPT_CONNECTTIMEOUT_MS,
	    (long)(r->connect_timeout_ms > 0 ? r->connect_timeout_ms : HTTP_CONNECT_TIMEOUT_MS));
	SET(q, CURLOPT_TCP_KEEPALIVE, 1L);
	SET(q, CURLOPT_TCP_KEEPIDLE, 30L);
	SET(q, CURLOPT_TCP_KEEPINTVL, 10L);
	SET(q, CURLOPT_SOCKOPTFUNCTION, on_new_socket);
	SET(q, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(q, CURLOPT_WRITEFUNCTION, on_body);
	SET(q, CURLOPT_WRITEDATA, (void *)q);
	SET(q, CURLOPT_HEADERFUNCTION, on_header);
	SET(q, CURLOPT_HEADERDATA, (void *)q);
	SET(q, CURLOPT_PREREQFUNCTION, on_ready_to_send);
	SET(q, CURLOPT_PREREQDATA, (void *)q);
	if (q->on_data == NULL)
		SET(q, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)q->max_body);
}

static bool
refuse(struct http_call *q, const char *why, const char *detail)
{
	q->verdict = E_INVALID;
	snprintf(q->cause, sizeof(q->cause), "%s%s%s", why, detail != NULL ? ": " : "",
	    detail != NULL ? detail : "");
	return false;
}

static bool
add_header(struct http_call *q, const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
			return false;
	}
	struct curl_slist *const longer = curl_slist_append(q->headers, line);

	MUST(longer != NULL);
	q->headers = longer;
	return true;
}

static bool
has_header(const char *const *headers, const char *name)
{
	const size_t n = strlen(name);

	for (; headers != NULL && *headers != NULL; headers++) {
		if (strncasecmp(*headers, name, n) == 0 && (*headers)[n] == ':')
			return true;
	}
	return false;
}

/* A return other than n ends the transfer; the reason is in q->verdict. */
static size_t
on_body(char *data, size_t one, size_t n, void *arg)
{
	struct http_call *const q = arg;
	long status = 0;

	(void)one;
	if (q->stand == CANCELLED)
		return 0;
	curl_easy_getinfo(q->easy, CURLINFO_RESPONSE_CODE, &status);
	if (q->on_data != NULL && status >= 200 && status <= 299) {
		if (q->on_data(data, n, q->arg))
			return n;
		if (q->stand != CANCELLED) {
			q->verdict = E_MALFORMED;
			snprintf(q->cause, sizeof(q->cause), "the reader refused the data");
		}
		return 0;
	}
	if (n > q->max_body - q->answer_len) {
		q->verdict = E_TOO_BIG;
		snprintf(q->cause, sizeof(q->cause), "body is larger than %zu bytes", q->max_body);
		return 0;
	}
	if (q->answer_len + n + 1 > q->answer_cap)
		grow_answer(q, (q->answer_len + n) * 2 + 1);
	memcpy(q->answer + q->answer_len, data, n);
	q->answer_len += n;
	q->answer[q->answer_len] = '\0';
	if (q->secret)
		explicit_bzero(data, n);	/* curl's buffer: it reads these bytes no more */
	return n;
}

static void
grow_answer(struct http_call *q, size_t cap)
{
	q->answer_cap = cap;
	if (!q->secret) {
		q->answer = obj_realloc(q->answer, cap);
		return;
	}
	char *const larger = obj_alloc(cap);	/* realloc could leave a copy behind that nobody wipes */

	if (q->answer != NULL) {
		memcpy(larger, q->answer, q->answer_len);
		explicit_bzero(q->answer, q->answer_len);
		free(q->answer);
	}
	q->answer = larger;
}

static size_t
on_header(char *data, size_t one, size_t n, void *arg)
{
	struct http_call *const q = arg;

	(void)one;
	if (n > q->max_headers - q->header_bytes) {
		q->verdict = E_TOO_BIG;
		snprintf(q->cause, sizeof(q->cause), "headers are larger than %zu bytes", q->max_headers);
		return 0;
	}
	q->header_bytes += n;
	if (n > 5 && memcmp(data, "HTTP/", 5) == 0)
		q->headers_ended = false;	/* a new answer, after a 100 */
	else if ((data[0] == '\r' || data[0] == '\n') && !q->headers_ended) {
		q->headers_ended = true;	/* trailers may follow */
		q->answered_ms = clock_mono_ms();
		call_on_start(q);
	}
	return n;
}

/* A 100 or 103 is not the answer yet. */
static void
call_on_start(const struct http_call *q)
{
	const char *type = NULL;
	long status = 0;

	curl_easy_getinfo(q->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(q->easy, CURLINFO_CONTENT_TYPE, &type);
	if (q->on_start != NULL && status >= 200 && q->stand != CANCELLED)
		q->on_start((int)status, type == NULL ? "" : type, q->arg);
}

/*
 * Called before each sending, the repeats included that curl makes by itself when a kept connection
 * turns out to be dead. It does so for POST too, although the server may have acted before it died:
 * that one we refuse.
 */
static int
on_ready_to_send(void *arg, char *peer, char *local, int peer_port, int local_port)
{
	struct http_call *const q = arg;

	(void)peer, (void)local, (void)peer_port, (void)local_port;
	if (q->sent && !q->harmless) {
		q->verdict = E_NETWORK;
		snprintf(q->cause, sizeof(q->cause), "the connection died before the answer; not sent again");
		return CURL_PREREQFUNC_ABORT;
	}
	if (!http_may_begin(q))
		return CURL_PREREQFUNC_ABORT;
	q->sent = true;
	return CURL_PREREQFUNC_OK;
}

static int
on_new_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	const unsigned int ms = TCP_DEAD_AFTER_MS;

	(void)arg, (void)purpose;
	/* A socket that is not TCP (a proxy on a path) refuses: then without. */
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	return CURL_SOCKOPT_OK;
}
