/*
 * actors/runtime/http_sigv4.h - AWS Signature Version 4 of a request.
 *
 * curl can sign, too, but 7.88 to 8.2 send an X-Amz-Date that the caller gives a second time (curl issue
 * 11738): a server that joins the two values, as the protocol demands, computes another signature. The date
 * must be the caller's: it is that of AWS, not of this host.
 */
#ifndef MUSTER_HTTP_SIGV4_H
#define MUSTER_HTTP_SIGV4_H

#include "http.h"

/* headers: "Name: value" up to NULL. They and the host are signed; each of them is to be sent once. */
struct http_signing {
	const char		*method, *host, *path;	/* host as the header Host has it; no query */
	const char *const	*headers;
	const void		*body;
	size_t			 body_len;
};

/*
 * The value of Authorization; the caller frees it. NULL: the scope is not aws:amz:REGION:SERVICE, the headers
 * have no X-Amz-Date of the form 20260102T030405Z, or there are too many of them.
 */
char *http_sigv4_authorization(const struct http_sigv4 *key, const struct http_signing *s);

#endif
