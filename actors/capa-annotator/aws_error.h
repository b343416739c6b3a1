/*
 * actors/capa-annotator/aws_error.h - what an error of STS or EC2 means for the request. Pure.
 *
 * The code in the XML decides, not the status alone: EC2 answers a throttled request with 503. None of
 * these ever means that an instance type is unknown (contract F3): only a complete catalogue can show that.
 */
#ifndef MUSTER_AWS_ERROR_H
#define MUSTER_AWS_ERROR_H

#include <stdbool.h>

#include "aws_endpoint.h"

/* ID, label of a metric, text for people. */
#define AWS_FAULTS(F)											\
	F(TRANSIENT,   "transient",   "the service failed; the request is repeated")			\
	F(THROTTLED,   "throttled",   "the service limits the rate; the request is repeated later")	\
	F(CREDENTIALS, "credentials", "the credentials are refused; new ones are fetched")		\
	F(TOKEN,       "token",       "STS refuses the web identity token; the file is read again")	\
	F(CLOCK,       "clock",       "the clock of this host differs from that of the service")	\
	F(DENIED,      "denied",      "the role is not allowed to do this")				\
	F(PAGING,      "paging",      "the token of the next page is refused; paging starts again")	\
	F(INVALID,     "invalid",     "the service refuses the request as it is")

enum aws_fault {
#define AWS_FAULT_ENUM(ID, label, text) AWS_FAULT_##ID,
	AWS_FAULTS(AWS_FAULT_ENUM)
#undef AWS_FAULT_ENUM
	AWS_FAULT_MAX
};

/* So far the clocks of client and service may differ; AWS refuses a signature that is 5 minutes off. */
enum { AWS_SKEW_MS = 4 * 60 * 1000 };

/*
 * code: of the XML, "" when the answer had none (an HTML page of a proxy). skewed: the Date header of the
 * answer and our clock differ by more than AWS_SKEW_MS.
 */
enum aws_fault aws_fault(enum aws_service service, int status, const char *code, bool skewed);
const char *aws_fault_label(enum aws_fault f);
const char *aws_fault_text(enum aws_fault f);

#endif
