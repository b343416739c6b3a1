/*
 * actors/capa-annotator/wire.h - the requests to STS and EC2, and their answers read as they arrive
 * (contract F3, F4, F9). Sending and signing are not here.
 *
 * An answer is one of three: what was asked for, an error of the service (its code and message), or bytes
 * that are neither, for which aws_answer_error has the place and the cause. Only an answer that was read to
 * its end counts: a page that is cut adds nothing that is committed.
 */
#ifndef MUSTER_CAPA_WIRE_H
#define MUSTER_CAPA_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aws_endpoint.h"
#include "catalogue.h"

enum {
	AWS_PAGE_RESULTS = 100,	/* MaxResults: the most that EC2 allows */
	AWS_TYPES_MAX	 = CATALOGUE_TYPES_MAX,	/* of one page: emulators ignore MaxResults */
	AWS_KEY_MAX	 = 256,
	AWS_TOKEN_MAX	 = 64 * 1024,	/* of a session or of a page: neither has a documented limit */
	AWS_CODE_MAX	 = 128,
	AWS_MESSAGE_MAX	 = 512,
};

/* ---- Requests: bodies of a POST to "/", application/x-www-form-urlencoded ---- */

#define AWS_FORM_TYPE	"application/x-www-form-urlencoded"

struct aws_identity {
	struct wire_str	role_arn, session_name;
	struct wire_str	token;		/* as the file has it; blanks at its end are left out */
};

/* Letters, digits and "_=,.@-", 2 to 64 of them. */
bool aws_session_name_valid(struct wire_str name);
/*
 * Both return the length, or 0 when it does not fit. The body for STS holds the token: the caller wipes it.
 * next_token "": the first page.
 */
size_t aws_sts_body(char *buf, size_t size, const struct aws_identity *identity);
size_t aws_ec2_body(char *buf, size_t size, struct wire_str next_token);

/* ---- Answers ---- */

struct aws_credentials {
	char	*access_key, *secret_key, *session_token;
	int64_t	 expires_us;		/* wall clock */
};
/* Overwrites what it frees. */
void aws_credentials_free(struct aws_credentials *c);

/* One type of a page, in the order of the page. False: the page is refused. */
typedef bool aws_type_handler(void *arg, struct wire_str name, const struct instance_type *figures);

struct aws_answer;

/* types may be NULL for AWS_STS. */
struct aws_answer *aws_answer_new(enum aws_service service, aws_type_handler *types, void *arg);
void aws_answer_free(struct aws_answer **ap);
/* False: the rest of the body is of no use. */
bool aws_answer_feed(struct aws_answer *a, const void *bytes, size_t len);
/* The body is over. True: it is what was asked for. */
bool aws_answer_end(struct aws_answer *a);

/* The error of the service; "": it sent none. */
const char *aws_answer_code(const struct aws_answer *a);
const char *aws_answer_message(const struct aws_answer *a);	/* cut */
const char *aws_answer_request_id(const struct aws_answer *a);	/* for a support case */
/* Why the bytes are no answer; "": they are one. */
const char *aws_answer_error(const struct aws_answer *a);

/* After aws_answer_end returned true. STS: moves them to *out. EC2: a view; "": this was the last page. */
void aws_answer_credentials(struct aws_answer *a, struct aws_credentials *out);
struct wire_str aws_answer_next_token(const struct aws_answer *a);

#endif
