/*
 * sim/aws/sim_aws_sigv4.h - AWS Signature Version 4, as a server checks it. Pure.
 *
 * Written from the description of the protocol and not from a client's code: the client's signatures are
 * checked against this one.
 */
#ifndef MUSTER_SIM_AWS_SIGV4_H
#define MUSTER_SIM_AWS_SIGV4_H

#include <stdbool.h>
#include <stddef.h>

struct evkeyvalq;

enum { AWS_SIGV4_TEXT = 128, AWS_SIGV4_HEADERS = 1024, AWS_SIGV4_HEX = 65 };

/* What the header Authorization states. */
struct sim_aws_authorization {
	char	access_key[AWS_SIGV4_TEXT];
	char	date[16], region[AWS_SIGV4_TEXT], service[AWS_SIGV4_TEXT];	/* the scope */
	char	signed_headers[AWS_SIGV4_HEADERS];	/* "content-type;host;x-amz-date" */
	char	signature[AWS_SIGV4_HEX];
};

/* False: it is not of this form. */
bool sim_aws_authorization_read(const char *header, struct sim_aws_authorization *out);
/* Whether that header is among the signed ones; the name in lower case. */
bool sim_aws_is_signed(const struct sim_aws_authorization *a, const char *name);

/* A POST to "/" without a query. */
struct sim_aws_request {
	const struct evkeyvalq	*headers;
	const void		*body;
	size_t			 body_len;
};

/* The signature that the request should have, in hex. False: a signed header is not there. */
bool sim_aws_sign(const struct sim_aws_authorization *a, const struct sim_aws_request *r,
    const char *secret_key, char hex[AWS_SIGV4_HEX]);

#endif
