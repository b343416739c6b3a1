/*
 * actors/capa-annotator/aws_endpoint.h - regions, partitions, host names and role ARNs of AWS. Pure.
 *
 * Contract F6. A region comes from an object that others write, and becomes part of a host name: one that
 * has not the form of a region never does. Credentials do not cross partitions: a role of one partition is
 * of no use in a region of another.
 */
#ifndef MUSTER_AWS_ENDPOINT_H
#define MUSTER_AWS_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "msg.h"

enum {
	AWS_REGION_MAX = 32,	/* bytes; the longest one today has 15 */
	AWS_URL_MAX    = 512,	/* with the NUL */
};

/* ID, name in an ARN, suffix of its host names. */
#define AWS_PARTITIONS(P)						\
	P(COMMERCIAL, "aws",        "amazonaws.com")			\
	P(CHINA,      "aws-cn",     "amazonaws.com.cn")			\
	P(GOV,        "aws-us-gov", "amazonaws.com")			\
	P(EUSC,       "aws-eusc",   "amazonaws.eu")			\
	P(ISO,        "aws-iso",    "c2s.ic.gov")			\
	P(ISO_B,      "aws-iso-b",  "sc2s.sgov.gov")			\
	P(ISO_E,      "aws-iso-e",  "cloud.adc-e.uk")			\
	P(ISO_F,      "aws-iso-f",  "csp.hci.ic.gov")

enum aws_partition {
#define AWS_PARTITION_ENUM(ID, name, suffix) AWS_##ID,
	AWS_PARTITIONS(AWS_PARTITION_ENUM)
#undef AWS_PARTITION_ENUM
	AWS_PARTITION_MAX	/* none */
};

enum aws_service { AWS_STS, AWS_EC2, AWS_SERVICE_MAX };

/* AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL_EC2; "": not set. */
struct aws_overrides {
	struct wire_str	all, service[AWS_SERVICE_MAX];
};

/* Letters, then words of letters, then a number, separated by "-": "eu-west-1", "us-gov-west-1". */
bool aws_region_valid(struct wire_str region);
/* Of a valid region. One that no table has belongs to the partition aws, as the SDKs have it. */
enum aws_partition aws_region_partition(struct wire_str region);
/* Of "arn:<partition>:iam::<account>:role/<name>"; AWS_PARTITION_MAX: not the ARN of a role. */
enum aws_partition aws_role_partition(struct wire_str arn);
const char *aws_partition_name(enum aws_partition p);
const char *aws_service_name(enum aws_service s);	/* "sts", "ec2": also in the scope of a signature */
/*
 * Where to send a request: the variable of the service, else the variable for all, else the host name of
 * the service in the region. The length; 0: the region is not valid, or it does not fit.
 */
size_t aws_endpoint_url(char *buf, size_t size, enum aws_service service, struct wire_str region,
    const struct aws_overrides *overrides);

#endif
