/* actors/capa-annotator/aws_endpoint.c - the rules of aws_endpoint.h. Pure. */
#include "aws_endpoint.h"

#include <string.h>

#include "ascii.h"
#include "obj.h"

static const struct {
	const char	*name, *suffix;
} partitions[AWS_PARTITION_MAX] = {
#define AWS_PARTITION_ROW(ID, name, suffix) [AWS_##ID] = { name, suffix },
	AWS_PARTITIONS(AWS_PARTITION_ROW)
#undef AWS_PARTITION_ROW
};

/* What stands before the last word and the number of a region. */
static const struct {
	const char		*prefix;
	enum aws_partition	 partition;
} prefixes[] = {
	{ "cn", AWS_CHINA }, { "us-gov", AWS_GOV }, { "eusc-de", AWS_EUSC }, { "us-iso", AWS_ISO },
	{ "us-isob", AWS_ISO_B }, { "eu-isoe", AWS_ISO_E }, { "us-isof", AWS_ISO_F },
};

static const char *const services[AWS_SERVICE_MAX] = { [AWS_STS] = "sts", [AWS_EC2] = "ec2" };

static size_t word_at(struct wire_str, size_t);
static struct wire_str without_last_word(struct wire_str);
static bool append(char *, size_t, size_t *, struct wire_str);

bool
aws_region_valid(struct wire_str region)
{
	const size_t first = word_at(region, 0);
	size_t at = first, words = 0;

	if (region.len > AWS_REGION_MAX || first < 2 || first > 4)
		return false;
	while (at < region.len && region.p[at] == '-' && word_at(region, at + 1) > 0) {
		at += 1 + word_at(region, at + 1);
		words++;
	}
	if (words == 0 || at + 1 >= region.len || region.p[at] != '-')
		return false;
	while (++at < region.len) {
		if (!ascii_digit(region.p[at]))
			return false;
	}
	return true;
}

enum aws_partition
aws_region_partition(struct wire_str region)
{
	const struct wire_str prefix = without_last_word(without_last_word(region));

	for (size_t i = 0; i < NITEMS(prefixes); i++) {
		if (wire_str_compare(prefix, wire_str_of(prefixes[i].prefix)) == 0)
			return prefixes[i].partition;
	}
	return AWS_COMMERCIAL;
}

enum aws_partition
aws_role_partition(struct wire_str arn)
{
	static const char start[] = "arn:", middle[] = ":iam::", end[] = ":role/";
	enum { ACCOUNT = 12 };
	size_t at = sizeof(start) - 1, p = 0;

	if (arn.len < at || memcmp(arn.p, start, at) != 0)
		return AWS_PARTITION_MAX;
	const char *const colon = memchr(arn.p + at, ':', arn.len - at);
	const size_t name_len = colon == NULL ? 0 : (size_t)(colon - (arn.p + at));
	const struct wire_str name = { .p = arn.p + at, .len = (uint32_t)name_len };
	while (p < AWS_PARTITION_MAX && wire_str_compare(name, wire_str_of(partitions[p].name)) != 0)
		p++;
	at += name_len;
	/* An account, and a name behind the last part. */
	if (arn.len <= at + sizeof(middle) - 1 + ACCOUNT + sizeof(end) - 1
	    || memcmp(arn.p + at, middle, sizeof(middle) - 1) != 0)
		return AWS_PARTITION_MAX;
	at += sizeof(middle) - 1;
	for (size_t i = 0; i < ACCOUNT; i++) {
		if (!ascii_digit(arn.p[at + i]))
			return AWS_PARTITION_MAX;
	}
	const bool role = memcmp(arn.p + at + ACCOUNT, end, sizeof(end) - 1) == 0;
	return role ? (enum aws_partition)p : AWS_PARTITION_MAX;
}

const char *
aws_partition_name(enum aws_partition p)
{
	return (unsigned)p < AWS_PARTITION_MAX ? partitions[p].name : "?";
}

const char *
aws_service_name(enum aws_service s)
{
	return (unsigned)s < AWS_SERVICE_MAX ? services[s] : "?";
}

size_t
aws_endpoint_url(char *buf, size_t size, enum aws_service service, struct wire_str region,
    const struct aws_overrides *overrides)
{
	const struct wire_str own = overrides->service[service];
	size_t len = 0;
	bool fits;

	MUST((unsigned)service < AWS_SERVICE_MAX && size > 0);
	if (!aws_region_valid(region))
		return 0;
	if (own.len > 0 || overrides->all.len > 0) {
		fits = append(buf, size, &len, own.len > 0 ? own : overrides->all);
	} else {
		const enum aws_partition p = aws_region_partition(region);

		fits = append(buf, size, &len, wire_str_of("https://"))
		    && append(buf, size, &len, wire_str_of(services[service]))
		    && append(buf, size, &len, wire_str_of("."))
		    && append(buf, size, &len, region)
		    && append(buf, size, &len, wire_str_of("."))
		    && append(buf, size, &len, wire_str_of(partitions[p].suffix))
		    && append(buf, size, &len, wire_str_of("/"));
	}
	return fits ? len : 0;
}

/* Lower-case letters from there on. */
static size_t
word_at(struct wire_str s, size_t from)
{
	size_t at = from;

	while (at < s.len && s.p[at] >= 'a' && s.p[at] <= 'z')
		at++;
	return at - from;
}

static struct wire_str
without_last_word(struct wire_str s)
{
	while (s.len > 0 && s.p[s.len - 1] != '-')
		s.len--;
	s.len -= s.len > 0;
	return s;
}

/* NUL-terminates. False: it does not fit. */
static bool
append(char *buf, size_t size, size_t *len, struct wire_str s)
{
	if (s.len >= size - *len)
		return false;
	if (s.len > 0)
		memcpy(buf + *len, s.p, s.len);
	*len += s.len;
	buf[*len] = '\0';
	return true;
}
