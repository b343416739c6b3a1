/* actors/runtime/http_answer.c - what an answer means. Pure: tables, no clock, no I/O. */
#include "http_private.h"

#include <ctype.h>
#include <string.h>

#include "obj.h"

/* The first row that holds the status counts. */
static const struct {
	int		from, to;
	enum err	err;
} statuses[] = {
	{ 200, 299, E_OK },
	{ 304, 304, E_OK },		/* of the caller's own If-None-Match */
	{ 401, 401, E_DENIED },
	{ 403, 403, E_DENIED },
	{ 404, 404, E_NOT_FOUND },
	{ 410, 410, E_NOT_FOUND },
	{ 408, 408, E_TIMEOUT },
	{ 409, 409, E_AGAIN },		/* read again, try again */
	{ 413, 413, E_TOO_BIG },
	{ 425, 425, E_AGAIN },
	{ 429, 429, E_LIMITED },
	{ 400, 499, E_INVALID },
	{ 500, 599, E_SERVER },
	{ 300, 399, E_INVALID },	/* a redirect: the URL in the configuration is not the right one */
};

static const struct {
	CURLcode	code;
	enum err	err;
} curl_errors[] = {
	{ CURLE_OK,                       E_OK },
	{ CURLE_OPERATION_TIMEDOUT,       E_TIMEOUT },
	{ CURLE_URL_MALFORMAT,            E_INVALID },
	{ CURLE_UNSUPPORTED_PROTOCOL,     E_SERVER },	/* their answer is no HTTP/1 */
	{ CURLE_WEIRD_SERVER_REPLY,       E_SERVER },
	{ CURLE_BAD_FUNCTION_ARGUMENT,    E_INVALID },
	{ CURLE_FILESIZE_EXCEEDED,        E_TOO_BIG },
	{ CURLE_OUT_OF_MEMORY,            E_NO_MEMORY },
	{ CURLE_BAD_CONTENT_ENCODING,     E_MALFORMED },
	{ CURLE_PEER_FAILED_VERIFICATION, E_TLS },
	{ CURLE_SSL_CONNECT_ERROR,        E_TLS },
	{ CURLE_SSL_CERTPROBLEM,          E_TLS },
	{ CURLE_SSL_CIPHER,               E_TLS },
	{ CURLE_SSL_CACERT_BADFILE,       E_TLS },
	{ CURLE_SSL_ISSUER_ERROR,         E_TLS },
	{ CURLE_SSL_INVALIDCERTSTATUS,    E_TLS },
	{ CURLE_SSL_PINNEDPUBKEYNOTMATCH, E_TLS },
};

enum err
http_err_of_status(int status)
{
	for (size_t i = 0; i < NITEMS(statuses); i++) {
		if (status >= statuses[i].from && status <= statuses[i].to)
			return statuses[i].err;
	}
	return E_MALFORMED;
}

enum err
http_err_of_curl(CURLcode code, bool headers_ended)
{
	/* A header line over curl's own limit (100 KiB) is CURLE_OUT_OF_MEMORY. */
	if (code == CURLE_OUT_OF_MEMORY && !headers_ended)
		return E_TOO_BIG;
	for (size_t i = 0; i < NITEMS(curl_errors); i++) {
		if (curl_errors[i].code == code)
			return curl_errors[i].err;
	}
	return E_NETWORK;
}

/*
 * Seconds or a date; anything else is 0; clamped, because a mistake there must not stop requests for
 * hours.
 */
int64_t
http_retry_after_ms(const char *value, const char *date, int64_t wall_ms)
{
	int64_t wait_ms = 0;

	if (value == NULL)
		return 0;
	if (isdigit((unsigned char)value[0])) {
		const size_t digits = strspn(value, "0123456789");

		if (value[digits + strspn(value + digits, " \t")] != '\0')
			return 0;
		wait_ms = digits > 9 ? HTTP_RETRY_AFTER_MAX_MS : strtoll(value, NULL, 10) * 1000;
	} else {
		const time_t until = curl_getdate(value, NULL),
			     now = date == NULL ? -1 : curl_getdate(date, NULL);

		if (until == -1)
			return 0;
		/* Years beyond a billion are dates, too: the seconds are clamped before they become more. */
		const int64_t left_s = (int64_t)until - (now == -1 ? wall_ms / 1000 : (int64_t)now);
		if (left_s < 0)
			return 0;
		wait_ms = left_s < HTTP_RETRY_AFTER_MAX_MS / 1000 ? left_s * 1000 : HTTP_RETRY_AFTER_MAX_MS;
	}
	return wait_ms < HTTP_RETRY_AFTER_MAX_MS ? wait_ms : HTTP_RETRY_AFTER_MAX_MS;
}
