/* sim/aws/sim_aws_ec2.c - DescribeInstanceTypes: whether the call is signed, and its pages. */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim_aws_private.h"
#include "sim_aws_sigv4.h"

enum { SKEW_MS = 5 * 60 * 1000, PAGE_LEAST = 5, PAGE_MOST = 100, NAMES_MAX = 100, TOKEN_TEXT = 256 };

#define ROOT	"DescribeInstanceTypesResponse"

/* Why a call is refused. */
struct refusal {
	int		 status;
	const char	*code, *message;	/* code NULL: it is not */
};

static const struct refusal
    missing = { 403, "MissingAuthenticationToken", "The request must be signed" },
    incomplete = { 400, "IncompleteSignature", "The Authorization header is not one of AWS4-HMAC-SHA256" },
    unknown = { 401, "AuthFailure", "AWS was not able to validate the provided access credentials" },
    other_scope = { 403, "SignatureDoesNotMatch", "Credential should be scoped to the region of the host, "
	"service ec2, and the date of X-Amz-Date" },
    too_few = { 403, "SignatureDoesNotMatch", "Host, X-Amz-Date and X-Amz-Security-Token must be signed" },
    too_old = { 400, "RequestExpired", "Request has expired." },
    too_new = { 403, "SignatureDoesNotMatch", "Signature not yet current: the request is more than 5 min. "
	"later than the service" },
    mismatch = { 403, "SignatureDoesNotMatch", "The request signature we calculated does not match the "
	"signature you provided. Check your AWS Secret Access Key and signing method." },
    none = { .code = NULL };

static struct refusal check(struct sim_aws *, const struct sim_provider_call *, struct sim_aws_credential **);
static struct refusal check_scope(const struct sim_aws_authorization *, const struct sim_provider_call *,
    const struct sim_aws_credential *);
static struct refusal check_time(const struct sim_aws *, const char *);
static bool read_amz_date(const char *, int64_t *);
static bool host_agrees(const char *, const char *);
static const struct sim_aws_region *types_of(struct sim_aws *, const char *);
static struct sim_provider_answer list_named(
    struct sim_aws *, const struct sim_provider_call *, const struct sim_aws_region *);
static struct sim_provider_answer list_page(
    struct sim_aws *, const struct sim_provider_call *, const struct sim_aws_region *);
static const struct sim_aws_type *find(const struct sim_aws *, const struct sim_aws_region *, const char *);
static void begin(struct sim_aws *, struct sim_buf *);
static bool read_token(const char *, const char *, size_t *);
static void put_token(struct sim_aws *, struct sim_buf *, const char *, size_t);

bool
sim_aws_admit(void *model, struct sim_provider_call *c, struct sim_provider_answer *refused)
{
	struct sim_aws_credential *used = NULL;

	if (sim_aws_is_sts(c))
		return true;
	const struct refusal r = check(model, c, &used);
	if (used != NULL)
		memcpy(c->token, used->token, sizeof(c->token));
	if (r.code != NULL) {
		*refused = sim_aws_refuse(model, false, r.status, r.code, r.message);
		return false;
	}
	used->calls++;
	return true;
}

struct sim_provider_answer
sim_aws_describe_types(void *model, const struct sim_provider_call *c)
{
	struct sim_aws *const a = model;
	struct sim_aws_authorization signature;

	MUST(sim_aws_authorization_read(sim_provider_header(c, "Authorization"), &signature));
	const struct sim_aws_region *const region = types_of(a, signature.region);
	if (strcmp(sim_json_text(c->body, "Version"), "2016-11-15") != 0)
		return sim_aws_refuse(a, false, 400, "NoSuchVersion",
		    "The requested version of service AmazonEC2 does not exist");
	if (strcmp(sim_json_text(c->body, "DryRun"), "true") == 0)
		return sim_aws_refuse(a, false, 412, "DryRunOperation",
		    "Request would have succeeded, but DryRun flag is set.");
	if (json_object_get(c->body, "Filter.1.Name") != NULL)
		return sim_aws_refuse(a, false, 400, "InvalidParameterValue", "Filters are not simulated");
	if (json_object_get(c->body, "InstanceType.1") == NULL)
		return list_page(a, c, region);
	if (json_object_get(c->body, "MaxResults") != NULL)
		return sim_aws_refuse(a, false, 400, "InvalidParameterCombination",
		    "The parameter instanceTypes cannot be used with the parameter maxResults");
	return list_named(a, c, region);
}

/* ---- Signature ---- */

static struct refusal
check(struct sim_aws *a, const struct sim_provider_call *c, struct sim_aws_credential **used)
{
	const char *const header = sim_provider_header(c, "Authorization");
	const char *const session = sim_provider_header(c, "X-Amz-Security-Token");
	const char *const date = sim_provider_header(c, "X-Amz-Date");
	struct sim_aws_authorization signature;
	char hex[AWS_SIGV4_HEX];

	if (header == NULL)
		return missing;
	if (!sim_aws_authorization_read(header, &signature) || date == NULL)
		return incomplete;
	struct sim_aws_credential *const k = sim_aws_find_credential(a, signature.access_key);
	if (k == NULL || session == NULL || strcmp(session, k->session_token) != 0)
		return unknown;
	*used = k;
	const struct refusal scope = check_scope(&signature, c, k);
	if (scope.code != NULL)
		return scope;
	if (!sim_aws_is_signed(&signature, "host") || !sim_aws_is_signed(&signature, "x-amz-date")
	    || !sim_aws_is_signed(&signature, "x-amz-security-token"))
		return too_few;
	const struct refusal time = check_time(a, date);
	if (time.code != NULL)
		return time;
	if (!sim_aws_sign(&signature, &(struct sim_aws_request){ .headers = &c->headers, .body = c->text,
	    .body_len = c->text_len }, k->secret_key, hex) || strcmp(hex, signature.signature) != 0)
		return mismatch;
	if (k->expires_ms <= sim_aws_now_ms(a)
	    || (a->settings.credential_calls > 0 && k->calls >= a->settings.credential_calls))
		return too_old;
	return none;
}

static struct refusal
check_scope(const struct sim_aws_authorization *s, const struct sim_provider_call *c,
    const struct sim_aws_credential *k)
{
	const char *const partition = sim_aws_partition_of(s->region);

	/* A region that does not exist, is not enabled, or is of another partition: one answer for all. */
	if (partition == NULL || strcmp(partition, k->partition) != 0)
		return unknown;
	if (strcmp(s->service, "ec2") != 0 || strncmp(sim_provider_header(c, "X-Amz-Date"), s->date, 8) != 0
	    || !host_agrees(sim_provider_header(c, "Host"), s->region))
		return other_scope;
	return none;
}

static struct refusal
check_time(const struct sim_aws *a, const char *date)
{
	int64_t at_us;

	if (!read_amz_date(date, &at_us))
		return incomplete;
	const int64_t behind_ms = sim_aws_now_ms(a) - at_us / 1000;
	return behind_ms > SKEW_MS ? too_old : behind_ms < -SKEW_MS ? too_new : none;
}

/* 20260102T030405Z */
static bool
read_amz_date(const char *date, int64_t *at_us)
{
	char text[24];

	if (strlen(date) != 16)
		return false;
	snprintf(text, sizeof(text), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", date, date + 4, date + 6, date + 9,
	    date + 11, date + 13);
	return time_parse(text, strlen(text), at_us);
}

/* ec2.REGION.amazonaws.com must be of that region; an address of its own is of every one. */
static bool
host_agrees(const char *host, const char *region)
{
	const size_t len = strlen(region);

	if (host == NULL || strncmp(host, "ec2.", 4) != 0 || strstr(host, ".amazonaws.") == NULL)
		return host != NULL;
	return strncmp(host + 4, region, len) == 0 && host[4 + len] == '.';
}

/* ---- Types ---- */

static const struct sim_aws_region *
types_of(struct sim_aws *a, const char *region)
{
	for (size_t i = 0; i < a->nregions; i++) {
		if (strcmp(a->regions[i].name, region) == 0)
			return &a->regions[i];
	}
	MUST(a->nregions < NITEMS(a->regions));
	struct sim_aws_region *const r = &a->regions[a->nregions++];
	snprintf(r->name, sizeof(r->name), "%s", region);
	r->n = sim_aws_types(region, &r->types);
	return r;
}

/* InstanceType.1, InstanceType.2 ...: all of them exist, or it is an error. */
static struct sim_provider_answer
list_named(struct sim_aws *a, const struct sim_provider_call *c, const struct sim_aws_region *region)
{
	struct sim_buf text = { 0 };
	char field[AWS_NAME_MAX], message[AWS_NAME_MAX];

	begin(a, &text);
	for (int i = 1; i <= NAMES_MAX; i++) {
		snprintf(field, sizeof(field), "InstanceType.%d", i);
		const char *const name = json_string_value(json_object_get(c->body, field));
		if (name == NULL)
			break;
		const struct sim_aws_type *const t = find(a, region, name);
		if (t == NULL) {
			sim_buf_free(&text);
			snprintf(message, sizeof(message),
			    "The following supplied instance types do not exist: [%.64s]", name);
			return sim_aws_refuse(a, false, 400, "InvalidInstanceType", message);
		}
		sim_aws_xml_type(&text, t);
	}
	sim_buf_puts(&text, "</instanceTypeSet></" ROOT ">");
	struct sim_provider_answer answer = sim_aws_answer(a, &text);
	answer.detail = json_sprintf("%s by name", region->name);
	return answer;
}

static struct sim_provider_answer
list_page(struct sim_aws *a, const struct sim_provider_call *c, const struct sim_aws_region *region)
{
	const char *const asked = sim_json_text(c->body, "MaxResults");
	const char *const token = sim_json_text(c->body, "NextToken");
	const long size = asked[0] != '\0' ? strtol(asked, NULL, 10) : PAGE_MOST;
	struct sim_buf text = { 0 };
	size_t first = 0, at;
	long shown = 0;

	if (size < PAGE_LEAST || size > PAGE_MOST)
		return sim_aws_refuse(a, false, 400, "InvalidParameterValue",
		    "The value for parameter maxResults is invalid. Expecting a value from 5 to 100.");
	if (token[0] != '\0' && !read_token(token, region->name, &first))
		return sim_aws_refuse(a, false, 400, "InvalidNextToken", "The token is not valid");
	begin(a, &text);
	for (at = first; at < region->n && shown < size; at++) {
		if (has_text(a->hidden, region->types[at].name))
			continue;
		sim_aws_xml_type(&text, &region->types[at]);
		shown++;
	}
	sim_buf_puts(&text, "</instanceTypeSet>");
	if (token[0] != '\0' && a->settings.repeat_token != 0)
		sim_aws_xml_text(&text, "nextToken", token);
	else if (at < region->n)
		put_token(a, &text, region->name, at);
	sim_buf_puts(&text, "</" ROOT ">");
	struct sim_provider_answer answer = sim_aws_answer(a, &text);
	answer.detail = json_sprintf("%s from %zu to %zu of %zu", region->name, first, at, region->n);
	return answer;
}

/* NULL: there is none, or it is hidden. */
static const struct sim_aws_type *
find(const struct sim_aws *a, const struct sim_aws_region *region, const char *name)
{
	for (size_t i = 0; i < region->n; i++) {
		if (strcmp(region->types[i].name, name) == 0 && !has_text(a->hidden, name))
			return &region->types[i];
	}
	return NULL;
}

static void
begin(struct sim_aws *a, struct sim_buf *to)
{
	char id[SIM_UID_MAX];

	sim_buf_puts(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<" ROOT " xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">");
	sim_aws_xml_text(to, "requestId", sim_uid(a->sim, id));
	sim_buf_puts(to, "<instanceTypeSet>");
}

/* A token is base64 of "REGION OFFSET NUMBER": opaque to a client, and of one page alone. */
static void
put_token(struct sim_aws *a, struct sim_buf *to, const char *region, size_t at)
{
	char plain[TOKEN_TEXT];

	const int len = snprintf(plain, sizeof(plain), "%.128s %zu %llu", region, at,
	    (unsigned long long)++a->last_page);
	json_auto_t *text = sim_json_base64(plain, (size_t)len);
	sim_aws_xml_text(to, "nextToken", json_string_value(text));
}

static bool
read_token(const char *token, const char *region, size_t *at)
{
	unsigned char plain[2 * TOKEN_TEXT] = { 0 };
	const size_t len = strlen(token);
	char of[TOKEN_TEXT];
	unsigned long long number;

	if (len > TOKEN_TEXT || EVP_DecodeBlock(plain, (const unsigned char *)token, (int)len) < 0)
		return false;
	return sscanf((const char *)plain, "%255s %zu %llu", of, at, &number) == 3 && strcmp(of, region) == 0;
}
