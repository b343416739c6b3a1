/* actors/capa-annotator/aws_error.c - the codes of both services, as AWS SDKs class them. Pure. */
#include "aws_error.h"

#include <string.h>

#include "obj.h"

enum { OF_STS = 1 << AWS_STS, OF_EC2 = 1 << AWS_EC2, OF_BOTH = OF_STS | OF_EC2 };

static const struct {
	const char	*label, *text;
} faults[AWS_FAULT_MAX] = {
#define AWS_FAULT_ROW(ID, label, text) [AWS_FAULT_##ID] = { label, text },
	AWS_FAULTS(AWS_FAULT_ROW)
#undef AWS_FAULT_ROW
};

static const struct {
	const char	*code;
	unsigned	 services;
	enum aws_fault	 fault;
	bool		 clock;		/* a wrong clock causes it, too */
} codes[] = {
	{ "Throttling",                             OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "ThrottlingException",                    OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "ThrottledException",                     OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "RequestThrottled",                       OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "RequestThrottledException",              OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "TooManyRequestsException",               OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "RequestLimitExceeded",                   OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "BandwidthLimitExceeded",                 OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "LimitExceededException",                 OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "SlowDown",                               OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "PriorRequestNotComplete",                OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "EC2ThrottledException",                  OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "ProvisionedThroughputExceededException", OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "TransactionInProgressException",         OF_BOTH, AWS_FAULT_THROTTLED,   false },
	{ "RequestTimeout",                         OF_BOTH, AWS_FAULT_TRANSIENT,   false },
	{ "RequestTimeoutException",                OF_BOTH, AWS_FAULT_TRANSIENT,   false },
	{ "IDPCommunicationError",                  OF_STS,  AWS_FAULT_TRANSIENT,   false },
	{ "InvalidIdentityToken",                   OF_STS,  AWS_FAULT_TOKEN,       false },
	{ "ExpiredTokenException",                  OF_STS,  AWS_FAULT_TOKEN,       false },
	{ "IDPRejectedClaim",                       OF_STS,  AWS_FAULT_DENIED,      false },
	{ "RegionDisabledException",                OF_STS,  AWS_FAULT_DENIED,      false },
	{ "AccessDenied",                           OF_BOTH, AWS_FAULT_DENIED,      false },
	{ "UnauthorizedOperation",                  OF_EC2,  AWS_FAULT_DENIED,      false },
	{ "OptInRequired",                          OF_EC2,  AWS_FAULT_DENIED,      false },
	{ "RequestExpired",                         OF_EC2,  AWS_FAULT_CREDENTIALS, true },
	{ "SignatureDoesNotMatch",                  OF_EC2,  AWS_FAULT_CREDENTIALS, true },
	{ "AuthFailure",                            OF_EC2,  AWS_FAULT_CREDENTIALS, true },
	{ "ExpiredToken",                           OF_EC2,  AWS_FAULT_CREDENTIALS, false },
	{ "InvalidClientTokenId",                   OF_EC2,  AWS_FAULT_CREDENTIALS, false },
	{ "InvalidNextToken",                       OF_EC2,  AWS_FAULT_PAGING,      false },
	{ "InvalidPaginationToken",                 OF_EC2,  AWS_FAULT_PAGING,      false },
	{ "InvalidParameterValue",                  OF_EC2,  AWS_FAULT_INVALID,     false },
	{ "InvalidInstanceType",                    OF_EC2,  AWS_FAULT_INVALID,     false },
	{ "ValidationError",                        OF_STS,  AWS_FAULT_INVALID,     false },
};

enum aws_fault
aws_fault(enum aws_service service, int status, const char *code, bool skewed)
{
	MUST((unsigned)service < AWS_SERVICE_MAX);
	for (size_t i = 0; i < NITEMS(codes); i++) {
		if ((codes[i].services & 1u << service) != 0 && strcmp(code, codes[i].code) == 0)
			return codes[i].clock && skewed ? AWS_FAULT_CLOCK : codes[i].fault;
	}
	if (status == 429)
		return AWS_FAULT_THROTTLED;
	if (status == 401 || status == 403)
		return AWS_FAULT_DENIED;
	/* A success that could not be read, and every redirect, are faults on the way. */
	return status >= 400 && status < 500 ? AWS_FAULT_INVALID : AWS_FAULT_TRANSIENT;
}

const char *
aws_fault_label(enum aws_fault f)
{
	return (unsigned)f < AWS_FAULT_MAX ? faults[f].label : "?";
}

const char *
aws_fault_text(enum aws_fault f)
{
	return (unsigned)f < AWS_FAULT_MAX ? faults[f].text : "?";
}
