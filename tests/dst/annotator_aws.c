/*
 * tests/dst/annotator_aws.c - STS and EC2 of the world `annotator`: tokens, credentials that expire, the
 * instance types of each region in pages, and everything that AWS can answer instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "obj.h"
#include "world_annotator.h"

enum {
	PAGE = 3, CREDENTIALS_KEPT = 512, SKEW_MS = 5 * 60 * 1000, LIFE_MIN_S = 60, LIFE_MAX_S = 900,
	ROTATION_MS = 30 * 1000, OLD_TOKEN_MS = 20 * 1000, DOWN_MS = 60 * 1000, HOUR_MS = 3600 * 1000,
};

const char *const capaw_region_names[CAPAW_REGIONS] = { "eu-west-1", "us-east-1", "ap-southeast-2" };

/* Of the first form; the architectures as EC2 lists them. */
static const struct {
	const char	*name;
	uint32_t	 vcpus, memory_mib, count, logical;
	const char	*maker, *gpu_type, *archs, *arch;
} types[CAPAW_TYPES] = {
	{ "m5.large",     2,  8192,   0, 0, NULL,     NULL,             "x86_64",      "amd64" },
	{ "m6g.xlarge",   4,  16384,  0, 0, NULL,     NULL,             "arm64",       "arm64" },
	{ "g5.12xlarge",  48, 196608, 4, 0, "NVIDIA", "nvidia.com/gpu", "x86_64",      "amd64" },
	{ "g4ad.8xlarge", 32, 131072, 2, 0, "AMD",    "amd.com/gpu",    "x86_64",      "amd64" },
	{ "g6f.large",    2,  8192,   0, 1, "NVIDIA", "nvidia.com/gpu", "x86_64",      "amd64" },
	{ "dl1.24xlarge", 96, 786432, 8, 0, "Habana", NULL,             "x86_64",      "amd64" },
	{ "mac2.metal",   8,  16384,  0, 0, NULL,     NULL,             "arm64_mac",   "arm64" },
	{ "t2.nano",      1,  512,    0, 0, NULL,     NULL,             "i386 x86_64", "amd64" },
};

/* Expiry of the last credentials, by serial. */
static int64_t expires_ms[CREDENTIALS_KEPT];

#define ROLE_ARN	"arn:aws:iam::111122223333:role/annotator"
#define LAUGHS	"<?xml version=\"1.0\"?><!DOCTYPE lolz [<!ENTITY lol \"lol\">"		\
		"<!ENTITY lol2 \"&lol;&lol;&lol;&lol;\"><!ENTITY lol3 \"&lol2;&lol2;&lol2;\">]>"	\
		"<lolz>&lol3;</lolz>"
#define MANY	"<DescribeInstanceTypesResponse><instanceTypeSet><item>"			\
		"<instanceType>m5.large</instanceType>"						\
		"<vCpuInfo><defaultVCpus>many</defaultVCpus></vCpuInfo></item></instanceTypeSet>"	\
		"</DescribeInstanceTypesResponse>"
#define EMPTY	"<DescribeInstanceTypesResponse><instanceTypeSet/></DescribeInstanceTypesResponse>"
#define HTML	"<html><head><title>503</title></head><body>Service <br> Unavailable</body></html>"

static void serve_sts(struct capaw *, struct http_exchange *);
static bool sts_fault(struct capaw *, struct http_exchange *);
static void give_credentials(struct capaw *, struct http_exchange *, bool);
static bool is_token_valid(const struct capaw *, uint32_t);
static void serve_ec2(struct capaw *, struct http_exchange *, uint32_t);
static bool refuses_signature(struct capaw *, struct http_exchange *, uint32_t);
static bool ec2_fault(struct capaw *, struct http_exchange *, uint32_t, const char *);
static void put_page(struct capaw *, struct http_exchange *, uint32_t, uint32_t, uint32_t, const char *);
static void put_type(FILE *, uint32_t, uint8_t);
static void put_error(struct http_exchange *, bool, int, const char *);
static void answer_text(struct http_exchange *, int, const char *);
static void cut(struct capaw *, struct http_exchange *);
static void ask_to_wait(struct capaw *, struct http_exchange *);
static void page_token(char *, size_t, const char *);
static const char *field(const char *, const char *);
static int64_t aws_ms(const struct capaw *);
static sim_fn write_token, lose_token;

/* ---- What there is ---- */

const char *
capaw_type_name(uint32_t type)
{
	return type < CAPAW_TYPES ? types[type].name : "z1.nowhere";
}

/* Each form has other figures; GPUs go with the last one. */
struct capaw_figures
capaw_figures(uint32_t type, uint8_t form)
{
	const uint32_t count = types[type].count > 0 ? types[type].count : types[type].logical;
	const uint32_t gpus = form == CAPAW_FORMS ? 0 : count;

	MUST(type < CAPAW_TYPES && form > 0);
	return (struct capaw_figures){ .vcpus = types[type].vcpus + form / 2,
		.memory_mib = types[type].memory_mib + form * 256u, .gpus = gpus,
		.maker = gpus > 0 ? types[type].maker : NULL,
		.gpu_type = gpus > 0 ? types[type].gpu_type : NULL, .arch = types[type].arch };
}

const struct capaw_catalogue *
capaw_catalogue(const struct capaw *w, uint32_t region)
{
	return &w->regions[region].all[w->regions[region].count - 1];
}

uint32_t
capaw_request_region(const struct http_exchange *x)
{
	char host[128];

	for (uint32_t i = 0; i < CAPAW_REGIONS; i++) {
		snprintf(host, sizeof(host), "ec2.%s.amazonaws.com", capaw_region_names[i]);
		if (strcmp(host, x->host) == 0)
			return i;
	}
	return CAPAW_NONE;
}

uint32_t
capaw_answered_catalogue(const struct http_exchange *x, bool *last)
{
	*last = (x->note & 1) != 0;
	return x->note == 0 || x->status != 200 || x->spoiled || x->breaks ? CAPAW_NONE
									    : (uint32_t)(x->note >> 1) - 1;
}

void
capaw_aws_open(struct capaw *w)
{
	struct sim *const sim = w->h.sim;

	setenv("AWS_ROLE_ARN", ROLE_ARN, 1);
	setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/token", 1);
	/* STS of this region, or of the first one that is read. */
	if (w->h.sweep || sim_random(sim, 2) == 0)
		setenv("AWS_REGION", capaw_region_names[0], 1);
	else
		unsetenv("AWS_REGION");
	for (uint32_t r = 0; r < CAPAW_REGIONS; r++) {
		struct capaw_catalogue *const c = &w->regions[r].all[0];

		w->regions[r].count = 1;
		for (uint32_t t = 0; t < CAPAW_TYPES; t++)
			c->forms[t] = w->h.sweep || sim_random(sim, 4) != 0 ? 1 : 0;
		c->forms[r] = 1;
	}
	w->token = w->old_token = 1;
	write_token(sim, w, 0);
}

void
capaw_aws_stop_faults(struct capaw *w)
{
	w->aws_faults = 0;
	for (uint32_t r = 0; r < CAPAW_REGIONS; r++)
		w->regions[r].down_until_ms = 0;
	write_token(w->h.sim, w, 0);
}

static int64_t
aws_ms(const struct capaw *w)
{
	return RUNTIME_EPOCH_MS + w->h.sim->now_ms + w->ahead_ms;
}

/* ---- What happens ---- */

/* A type comes, goes, or gets other figures. */
void
capaw_change_catalogue(struct harness *h)
{
	struct capaw *const w = (struct capaw *)h;
	struct capaw_region *const r = &w->regions[sim_random(h->sim, CAPAW_REGIONS)];
	const uint32_t type = (uint32_t)sim_random(h->sim, CAPAW_TYPES);

	if (r->count == CAPAW_CATALOGUES_MAX)
		return;
	struct capaw_catalogue next = r->all[r->count - 1];
	next.forms[type] = next.forms[type] == 0 || sim_random(h->sim, 2) == 0
	    ? 1 + (uint8_t)sim_random(h->sim, CAPAW_FORMS) : 0;
	unsigned present = 0;
	for (uint32_t i = 0; i < CAPAW_TYPES; i++)
		present += next.forms[i] != 0;
	if (present == 0)
		return;
	SIM_TRACE(h->sim, "catalogue %u of %s: %s has the form %u", r->count,
	    capaw_region_names[r - w->regions], types[type].name, next.forms[type]);
	r->all[r->count++] = next;
}

/* As the kubelet does: the file follows, at times later than the old token is valid. */
void
capaw_rotate_token(struct harness *h)
{
	struct capaw *const w = (struct capaw *)h;
	const int64_t later_ms = (int64_t)sim_random(h->sim, ROTATION_MS);

	w->old_token = w->token++;
	w->old_until_ms = h->sim->now_ms + OLD_TOKEN_MS;
	SIM_TRACE(h->sim, "the web identity token is number %u", w->token);
	if (sim_chance(h->sim, 300))
		sim_at(h->sim, h->sim->now_ms + later_ms / 2, lose_token, w, 0);
	sim_at(h->sim, h->sim->now_ms + later_ms, write_token, w, 0);
}

static void
write_token(struct sim *sim, void *arg, uint64_t n)
{
	struct capaw *const w = arg;

	(void)sim, (void)n;
	snprintf(w->token_file, sizeof(w->token_file), "token-%u\n", w->token);
}

/* The file of the web identity token, whatever its path is. */
const char *
capaw_file(void *world, const char *path)
{
	const struct capaw *const w = world;

	(void)path;
	return w->token_file[0] != '\0' ? w->token_file : NULL;
}

static void
lose_token(struct sim *sim, void *arg, uint64_t n)
{
	struct capaw *const w = arg;

	(void)n;
	SIM_TRACE(sim, "the token file is gone");
	w->token_file[0] = '\0';
}

void
capaw_revoke_credentials(struct harness *h)
{
	struct capaw *const w = (struct capaw *)h;

	SIM_TRACE(h->sim, "the credentials up to %llu are revoked", (unsigned long long)w->credentials);
	w->revoked = w->credentials;
}

void
capaw_move_aws_clock(struct harness *h)
{
	static const int64_t offsets[] = { 0, HOUR_MS, -HOUR_MS, 6 * 60 * 1000 };
	struct capaw *const w = (struct capaw *)h;

	w->ahead_ms = offsets[sim_random(h->sim, NITEMS(offsets))];
	SIM_TRACE(h->sim, "the clock of AWS is ahead by %lld ms", (long long)w->ahead_ms);
}

void
capaw_stop_region(struct harness *h)
{
	struct capaw *const w = (struct capaw *)h;
	const uint32_t r = (uint32_t)sim_random(h->sim, CAPAW_REGIONS);

	w->regions[r].down_until_ms = h->sim->now_ms + 1 + (int64_t)sim_random(h->sim, DOWN_MS);
	SIM_TRACE(h->sim, "EC2 of %s is down", capaw_region_names[r]);
}

/* ---- Requests ---- */

void
capaw_serve(struct harness *h, struct http_exchange *x)
{
	struct capaw *const w = (struct capaw *)h;
	const uint32_t region = capaw_request_region(x);
	const time_t now = (time_t)(aws_ms(w) / 1000);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(x->date, sizeof(x->date), "%a, %d %b %Y %H:%M:%S GMT", &utc);
	if (strcmp(x->method, "POST") != 0 || strcmp(x->path, "/") != 0)
		sim_fail(h->sim, "a request %s %s to %s", x->method, x->path, x->host);
	else if (region != CAPAW_NONE)
		serve_ec2(w, x, region);
	else
		serve_sts(w, x);
}

/* ---- STS ---- */

static void
serve_sts(struct capaw *w, struct http_exchange *x)
{
	char host[128];
	bool known = false;

	for (uint32_t i = 0; i < CAPAW_REGIONS; i++) {
		snprintf(host, sizeof(host), "sts.%s.amazonaws.com", capaw_region_names[i]);
		known |= strcmp(host, x->host) == 0;
	}
	const char *const token = field(x->body, "WebIdentityToken=");
	if (!known || strstr(x->body, "Action=AssumeRoleWithWebIdentity&") == NULL || token == NULL
	    || strncmp(token, "token-", strlen("token-")) != 0 || x->signature != NULL) {
		sim_fail(w->h.sim, "a request to %s that is none to STS, or is signed", x->host);
		return;
	}
	if (sim_chance(w->h.sim, w->aws_faults) && sts_fault(w, x))
		return;
	if (!is_token_valid(w, (uint32_t)strtoul(token + strlen("token-"), NULL, 10)))
		put_error(x, false, 400, sim_random(w->h.sim, 2) == 0 ? "InvalidIdentityToken"
									  : "ExpiredTokenException");
	else
		give_credentials(w, x, false);
}

static bool
sts_fault(struct capaw *w, struct http_exchange *x)
{
	static const char *const codes[] = { "Throttling", "IDPCommunicationError", "InvalidIdentityToken",
		"PackedPolicyTooLarge" };

	switch (sim_random(w->h.sim, 6)) {
	case 0:
		put_error(x, false, 400, codes[sim_random(w->h.sim, NITEMS(codes))]);
		ask_to_wait(w, x);
		break;
	case 1:
		answer_text(x, 503, HTML);
		break;
	case 2:
		put_error(x, false, 403, "AccessDenied");
		break;
	case 3:
		give_credentials(w, x, false);
		cut(w, x);
		break;
	case 4:
		answer_text(x, 200, LAUGHS);
		break;
	default:
		give_credentials(w, x, true);
		break;
	}
	return true;
}

static bool
is_token_valid(const struct capaw *w, uint32_t n)
{
	return n == w->token || (n == w->old_token && w->h.sim->now_ms < w->old_until_ms);
}

static void
give_credentials(struct capaw *w, struct http_exchange *x, bool expired)
{
	const uint64_t life_s = w->h.sweep ? LIFE_MAX_S
	    : LIFE_MIN_S + sim_random(w->h.sim, LIFE_MAX_S - LIFE_MIN_S);
	const unsigned long long n = ++w->credentials;
	const int64_t until_ms = aws_ms(w) + (expired ? -1000 : (int64_t)life_s * 1000);
	const time_t until = (time_t)(until_ms / 1000);
	char text[32];
	struct tm utc;

	expires_ms[n % CREDENTIALS_KEPT] = until_ms;
	gmtime_r(&until, &utc);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	x->status = 200;
	MUST(asprintf(&x->answer, "<AssumeRoleWithWebIdentityResponse "
	    "xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleWithWebIdentityResult>"
	    "<Audience>sts.amazonaws.com</Audience><Credentials>"
	    "<AccessKeyId>ASIA%llu</AccessKeyId><SecretAccessKey>secret%llu</SecretAccessKey>"
	    "<SessionToken>session%llu</SessionToken><Expiration>%s</Expiration></Credentials>"
	    "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>", n, n, n, text) != -1);
}

/* ---- EC2 ---- */

static void
serve_ec2(struct capaw *w, struct http_exchange *x, uint32_t region)
{
	const struct capaw_region *const r = &w->regions[region];
	char token[64];
	unsigned of = region, catalogue = r->count - 1, offset = 0;

	page_token(token, sizeof(token), x->body);
	if (strstr(x->body, "Action=DescribeInstanceTypes&") == NULL || x->signature == NULL) {
		sim_fail(w->h.sim, "a request to %s that is none of EC2, or is not signed", x->host);
		return;
	}
	if (r->down_until_ms > w->h.sim->now_ms) {
		answer_text(x, 503, HTML);
		return;
	}
	if (refuses_signature(w, x, region)
	    || (sim_chance(w->h.sim, w->aws_faults) && ec2_fault(w, x, region, token)))
		return;
	if (token[0] != '\0'
	    && (sscanf(token, "page-%u-%u-%u", &of, &catalogue, &offset) != 3 || of != region))
		put_error(x, true, 400, "InvalidNextToken");
	else
		put_page(w, x, region, catalogue, offset, NULL);
}

/* The credentials are of one set, and good; the time is that of AWS. */
static bool
refuses_signature(struct capaw *w, struct http_exchange *x, uint32_t region)
{
	static const char *const expired[] = { "RequestExpired", "ExpiredToken", "InvalidClientTokenId",
		"AuthFailure" };
	static const char *const skewed[] = { "RequestExpired", "SignatureDoesNotMatch", "AuthFailure" };
	char scope[64] = "", access[32] = "", secret[32] = "", wanted[64], session[48];
	struct tm utc = { 0 };

	sscanf(x->signature, "%63s\n%31s\n%31s", scope, access, secret);
	const unsigned long long n = strtoull(access + strcspn(access, "0123456789"), NULL, 10);
	snprintf(wanted, sizeof(wanted), "aws:amz:%s:ec2", capaw_region_names[region]);
	snprintf(session, sizeof(session), "X-Amz-Security-Token: session%llu\n", n);
	const char *const date = field(x->signature, "X-Amz-Date: ");
	if (strcmp(scope, wanted) != 0 || strtoull(secret + strlen("secret"), NULL, 10) != n || date == NULL
	    || strstr(x->signature, session) == NULL || strptime(date, "%Y%m%dT%H%M%SZ", &utc) == NULL) {
		sim_fail(w->h.sim, "a request to %s with a signature that cannot be right", x->host);
		return true;
	}
	const int64_t skew_ms = (int64_t)timegm(&utc) * 1000 - aws_ms(w);
	if (skew_ms > SKEW_MS || skew_ms < -SKEW_MS) {
		put_error(x, true, 400, skewed[sim_random(w->h.sim, NITEMS(skewed))]);
		return true;
	}
	if (n <= w->revoked || n + CREDENTIALS_KEPT <= w->credentials
	    || expires_ms[n % CREDENTIALS_KEPT] <= aws_ms(w)) {
		put_error(x, true, 400, expired[sim_random(w->h.sim, NITEMS(expired))]);
		return true;
	}
	return false;
}

static bool
ec2_fault(struct capaw *w, struct http_exchange *x, uint32_t region, const char *token)
{
	const uint32_t catalogue = w->regions[region].count - 1;

	switch (sim_random(w->h.sim, 10)) {
	case 0:
		put_error(x, true, 503, "RequestLimitExceeded");
		ask_to_wait(w, x);
		break;
	case 1:
		answer_text(x, 503, HTML);
		break;
	case 2:
		put_page(w, x, region, catalogue, 0, NULL);
		cut(w, x);
		break;
	case 3:
		answer_text(x, 200, LAUGHS);
		break;
	case 4:
		put_page(w, x, region, catalogue, 0, token[0] != '\0' ? token : "page-again");
		x->note = 0;
		break;
	case 5:
		put_error(x, true, 400, "InvalidNextToken");
		break;
	case 6:
		put_error(x, true, 403, "UnauthorizedOperation");
		break;
	case 7:
		put_error(x, true, 500, "InternalError");
		break;
	case 8:
		/* All is well, and there is nothing. */
		answer_text(x, 200, EMPTY);
		return token[0] == '\0';
	default:
		answer_text(x, 200, MANY);
		break;
	}
	return true;
}

/* again NULL: the token of the next page, if there is one. */
static void
put_page(struct capaw *w, struct http_exchange *x, uint32_t region, uint32_t catalogue, uint32_t offset,
    const char *again)
{
	const struct capaw_catalogue *const c = &w->regions[region].all[catalogue];
	uint32_t shown = 0, i = offset;
	size_t size = 0;

	free(x->answer);
	x->answer = NULL;
	FILE *const out = open_memstream(&x->answer, &size);
	MUST(out != NULL);
	fputs("<DescribeInstanceTypesResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">"
	    "<requestId>r</requestId><instanceTypeSet>", out);
	for (; i < CAPAW_TYPES && shown < PAGE; i++) {
		if (c->forms[i] == 0)
			continue;
		put_type(out, i, c->forms[i]);
		shown++;
	}
	while (i < CAPAW_TYPES && c->forms[i] == 0)
		i++;
	fputs("</instanceTypeSet>", out);
	if (again != NULL)
		fprintf(out, "<nextToken>%s</nextToken>", again);
	else if (i < CAPAW_TYPES)
		fprintf(out, "<nextToken>page-%u-%u-%u-%llu</nextToken>", region, catalogue, i,
		    (unsigned long long)++w->page_tokens);
	else if (catalogue % 2 == 1)
		fputs("<nextToken/>", out);
	fputs("</DescribeInstanceTypesResponse>", out);
	MUST(fclose(out) == 0);
	x->status = 200;
	x->note = ((uint64_t)catalogue + 1) << 1 | (i == CAPAW_TYPES);
}

static void
put_type(FILE *out, uint32_t type, uint8_t form)
{
	const struct capaw_figures f = capaw_figures(type, form);
	const char *arch = types[type].archs;

	fprintf(out, "<item><instanceType>%s</instanceType><processorInfo><supportedArchitectures>",
	    types[type].name);
	for (size_t len; arch[0] != '\0'; arch += len + (arch[len] == ' ')) {
		len = strcspn(arch, " ");
		fprintf(out, "<item>%.*s</item>", (int)len, arch);
	}
	fprintf(out, "</supportedArchitectures><manufacturer>AMD</manufacturer></processorInfo><vCpuInfo>"
	    "<defaultVCpus>%u</defaultVCpus></vCpuInfo><memoryInfo><sizeInMiB>%u</sizeInMiB></memoryInfo>",
	    f.vcpus, f.memory_mib);
	if (f.gpus > 0) {
		const bool logical = types[type].count == 0;

		fprintf(out, "<gpuInfo><gpus><item><manufacturer>%s</manufacturer><count>%u</count>"
		    "<memoryInfo><sizeInMiB>24576</sizeInMiB></memoryInfo>", f.maker, logical ? 0 : f.gpus);
		if (logical)
			fprintf(out, "<logicalGpuCount>%u</logicalGpuCount>", f.gpus);
		fputs("</item></gpus></gpuInfo>", out);
	}
	fputs("</item>", out);
}

/* ---- Helpers ---- */

/* Both services have a form of their own. */
static void
put_error(struct http_exchange *x, bool ec2, int status, const char *code)
{
	free(x->answer);
	x->status = status;
	if (ec2)
		MUST(asprintf(&x->answer, "<Response><Errors><Error><Code>%s</Code>"
		    "<Message>simulated</Message></Error></Errors><RequestID>r</RequestID></Response>",
		    code) != -1);
	else
		MUST(asprintf(&x->answer, "<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code>"
		    "<Message>simulated</Message></Error><RequestId>r</RequestId></ErrorResponse>",
		    code) != -1);
}

static void
answer_text(struct http_exchange *x, int status, const char *text)
{
	free(x->answer);
	x->status = status;
	x->answer = obj_strdup(text);
	x->note = 0;
}

/* The document ends too early, and the connection does not show it. */
static void
cut(struct capaw *w, struct http_exchange *x)
{
	x->answer[1 + sim_random(w->h.sim, strlen(x->answer) - 1)] = '\0';
	x->note = 0;
}

static void
ask_to_wait(struct capaw *w, struct http_exchange *x)
{
	static const char *const texts[] = { "", "", "1", "4" };

	snprintf(x->retry_after, sizeof(x->retry_after), "%s", texts[sim_random(w->h.sim, NITEMS(texts))]);
}

/* "": the first page. */
static void
page_token(char *buf, size_t size, const char *body)
{
	const char *const text = field(body, "NextToken=");

	snprintf(buf, size, "%.*s", text != NULL ? (int)strcspn(text, "&") : 0, text != NULL ? text : "");
}

static const char *
field(const char *text, const char *name)
{
	const char *const at = strstr(text, name);

	return at != NULL ? at + strlen(name) : NULL;
}
