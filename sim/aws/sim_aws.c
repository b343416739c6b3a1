/* sim/aws/sim_aws.c - the routes of the simulated AWS (spec/wire-aws.md), its settings and its errors. */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim/provider/sim_providers.h"
#include "sim_aws_private.h"

/* Names of settings (POST /providers, op set), where they go, and what they may be. */
static const struct {
	const char	*name;
	size_t		 offset;
	int64_t		 least, most;
} settings[] = {
	{ "credentials_s",    offsetof(struct sim_aws_settings, credentials_s),    0, 43200 },
	{ "credential_calls", offsetof(struct sim_aws_settings, credential_calls), 0, INT64_MAX },
	{ "clock_ahead_s",    offsetof(struct sim_aws_settings, clock_ahead_s),    -1000000, 1000000 },
	{ "repeat_token",     offsetof(struct sim_aws_settings, repeat_token),     0, 1 },
};

/*
 * What most errors of the shared part are here; the first row that fits. reason: a fault names its own code.
 * EC2 answers a call too many with 503, STS with 400, and neither with Retry-After.
 */
static const struct {
	int		 from;		/* 0: any other */
	bool		 sts;
	int		 status;	/* 0: as it is */
	const char	*code, *message;	/* message NULL: as it is */
} errors[] = {
	{ 401, true,  400, "InvalidIdentityToken", "No OpenIDConnect provider found in your account for this token" },
	{ 401, false, 401, "AuthFailure", "AWS was not able to validate the provided access credentials" },
	{ 429, true,  400, "Throttling", "Rate exceeded" },
	{ 429, false, 503, "RequestLimitExceeded", "Request limit exceeded." },
	{ 400, true,  400, "ValidationError", NULL },
	{ 400, false, 400, "InvalidAction", "The action is not valid for this web service." },
	{ 403, true,  403, "AccessDenied", NULL },
	{ 403, false, 403, "UnauthorizedOperation", NULL },
	{ 503, true,  503, "ServiceUnavailable", NULL },
	{ 503, false, 503, "Unavailable", NULL },
	{ 0,   true,  0,   "InternalFailure", NULL },
	{ 0,   false, 0,   "InternalError", NULL },
};

/* No limits, unless a test sets them (POST /providers). */
static const struct sim_provider_class assume_role = { "assume-role", 0, 0, NULL },
    describe_types = { "describe-types", 0, 0, NULL };

#define STS_ACTION	"AssumeRoleWithWebIdentity"
static const struct sim_provider_route routes[] = {
	{ EVHTTP_REQ_POST, "/ Action=" STS_ACTION,           &assume_role,    sim_aws_assume_role,    false },
	{ EVHTTP_REQ_POST, "/ Action=DescribeInstanceTypes", &describe_types, sim_aws_describe_types, true },
	{ .pattern = NULL },
};
static const struct sim_provider_auth auth[] = { { .header = NULL } };

static void *open_model(struct simulator *, bool);
static void close_model(void *);
static json_t *state_of(void *);
static bool set(void *, const char *, const json_t *);
static json_t *error_of(int, const char *);
static struct sim_provider_answer fail(
    void *, const struct sim_provider_call *, int, const char *, const char *);

static const struct sim_provider_spec spec = {
	.name = "aws", .routes = routes, .auth = auth, .error = error_of,
};
static const struct sim_provider_rules rules = {
	.type = "text/xml;charset=UTF-8", .token_field = "WebIdentityToken", .quiet_limits = true,
	.fail = fail, .admit = sim_aws_admit,
};
extern const struct sim_provider_kind sim_aws_kind;
const struct sim_provider_kind sim_aws_kind = {
	.spec = &spec, .open = open_model, .close = close_model, .state = state_of, .set = set,
	.rules = &rules,
};

bool
sim_aws_is_sts(const struct sim_provider_call *c)
{
	return strcmp(sim_json_text(c->body, "Action"), STS_ACTION) == 0;
}

int64_t
sim_aws_now_ms(const struct sim_aws *a)
{
	return clock_wall_ms() + a->settings.clock_ahead_s * 1000;
}

struct sim_provider_answer
sim_aws_refuse(struct sim_aws *a, bool sts, int status, const char *code, const char *message)
{
	char id[SIM_UID_MAX];

	return (struct sim_provider_answer){ .code = status, .ahead_s = a->settings.clock_ahead_s,
		.body = sim_aws_xml_error(sts, code, message, sim_uid(a->sim, id)) };
}

struct sim_provider_answer
sim_aws_answer(const struct sim_aws *a, struct sim_buf *text)
{
	const struct sim_provider_answer answer = { .code = 200, .ahead_s = a->settings.clock_ahead_s,
		.body = json_stringn(text->bytes, text->len) };

	sim_buf_free(text);
	return answer;
}

static void *
open_model(struct simulator *s, bool join)
{
	struct sim_aws *a;

	(void)join;		/* it has no machines */
	OBJ_NEW(a, SIM_AWS_MAGIC);
	a->sim = s;
	a->hidden = json_array();
	return a;
}

static void
close_model(void *model)
{
	struct sim_aws *a = model;

	OBJ_CHECK(a, SIM_AWS_MAGIC);
	for (size_t i = 0; i < NITEMS(a->credentials); i++)
		free(a->credentials[i].session_token);
	for (size_t i = 0; i < a->nregions; i++)
		free(a->regions[i].types);
	json_decref(a->hidden);
	OBJ_FREE(a);
}

/* The credentials without their secrets, and how many types each region has whose types were requested. */
static json_t *
state_of(void *model)
{
	const struct sim_aws *const a = model;
	json_t *const credentials = json_array(), *const types = json_object();

	for (size_t i = 0; i < NITEMS(a->credentials); i++) {
		const struct sim_aws_credential *const c = &a->credentials[i];

		if (c->session_token != NULL)
			json_array_append_new(credentials, json_pack("{s:s, s:s, s:I, s:b}", "access_key",
			    c->access_key, "token", c->token, "calls", (json_int_t)c->calls, "expired",
			    c->expires_ms <= sim_aws_now_ms(a)));
	}
	for (size_t i = 0; i < a->nregions; i++)
		json_object_set_new(types, a->regions[i].name, json_integer((json_int_t)a->regions[i].n));
	return json_pack("{s:I, s:o, s:o}", "made", (json_int_t)a->ncredentials, "credentials", credentials,
	    "types", types);
}

static bool
set(void *model, const char *key, const json_t *value)
{
	struct sim_aws *const a = model;

	if (strcmp(key, "hidden") == 0 && json_is_array(value)) {
		json_decref(a->hidden);
		a->hidden = json_deep_copy(value);
		return true;
	}
	if (strcmp(key, "expired") == 0 && json_is_true(value)) {
		for (size_t i = 0; i < NITEMS(a->credentials); i++)
			a->credentials[i].expires_ms = 0;
		return true;
	}
	for (size_t i = 0; i < NITEMS(settings); i++) {
		if (strcmp(settings[i].name, key) != 0 || !json_is_integer(value)
		    || json_integer_value(value) < settings[i].least
		    || json_integer_value(value) > settings[i].most)
			continue;
		char *const to = (char *)&a->settings + settings[i].offset;
		*(int64_t *)(uintptr_t)to = json_integer_value(value);
		return true;
	}
	return false;
}

/* Not called: the rules have their own. */
static json_t *
error_of(int code, const char *why)
{
	(void)code;
	return json_string(why);
}

static struct sim_provider_answer
fail(void *model, const struct sim_provider_call *c, int status, const char *why, const char *reason)
{
	const bool sts = sim_aws_is_sts(c);
	size_t i = 0;

	if (reason[0] != '\0')
		return sim_aws_refuse(model, sts, status, reason, why);
	while (errors[i].sts != sts || (errors[i].from != status && errors[i].from != 0))
		i++;
	return sim_aws_refuse(model, sts, errors[i].status != 0 ? errors[i].status : status, errors[i].code,
	    errors[i].message != NULL ? errors[i].message : why);
}
