/* sim/aws/sim_aws_sts.c - AssumeRoleWithWebIdentity: credentials for a token. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"
#include "random.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim_aws_private.h"

enum { SESSION_TOKEN_BYTES = 900, ACCOUNT_DIGITS = 12, DURATION_LEAST = 900, DURATION_MOST = 43200 };

#define RESULT	"AssumeRoleWithWebIdentityResult"

static const char *wrong(const struct sim_provider_call *);
static const char *role_of(const char *, char *, size_t);
static struct sim_aws_credential *add_credential(struct sim_aws *, const char *, const char *, int64_t);
static void put_random(uint64_t *, const char *, char *, size_t);
static void put_user(struct sim_buf *, const char *, const char *, const char *);

struct sim_provider_answer
sim_aws_assume_role(void *model, const struct sim_provider_call *c)
{
	struct sim_aws *const a = model;
	const char *const session = sim_json_text(c->body, "RoleSessionName");
	const char *const duration = sim_json_text(c->body, "DurationSeconds");
	char partition[16], id[SIM_UID_MAX], time[TIME_TEXT_MAX];
	struct sim_buf text = { 0 };

	if (wrong(c) != NULL)
		return sim_aws_refuse(a, true, 400, "ValidationError", wrong(c));
	const char *const role = role_of(sim_json_text(c->body, "RoleArn"), partition, sizeof(partition));
	const int64_t asked_s = duration[0] != '\0' ? strtoll(duration, NULL, 10) : 3600;
	struct sim_aws_credential *const made = add_credential(a, c->token, partition,
	    a->settings.credentials_s != 0 ? a->settings.credentials_s : asked_s);
	time_format(made->expires_ms * 1000, time, sizeof(time));
	sim_buf_puts(&text, "<AssumeRoleWithWebIdentityResponse "
	    "xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\n<" RESULT ">\n"
	    "<Audience>sts.amazonaws.com</Audience>\n");
	put_user(&text, partition, role, session);
	sim_buf_puts(&text, "<SubjectFromWebIdentityToken>system:serviceaccount:muster:annotator"
	    "</SubjectFromWebIdentityToken>\n<Credentials>");
	sim_aws_xml_text(&text, "SessionToken", made->session_token);
	sim_aws_xml_text(&text, "SecretAccessKey", made->secret_key);
	sim_aws_xml_text(&text, "Expiration", time);
	sim_aws_xml_text(&text, "AccessKeyId", made->access_key);
	sim_buf_printf(&text, "</Credentials>\n<PackedPolicySize>3</PackedPolicySize>\n</" RESULT ">\n"
	    "<ResponseMetadata><RequestId>%s</RequestId></ResponseMetadata>\n"
	    "</AssumeRoleWithWebIdentityResponse>\n", sim_uid(a->sim, id));
	struct sim_provider_answer answer = sim_aws_answer(a, &text);
	answer.effect = json_sprintf("credentials %s of role %s", made->access_key, role);
	return answer;
}

struct sim_aws_credential *
sim_aws_find_credential(struct sim_aws *a, const char *access_key)
{
	for (size_t i = 0; i < NITEMS(a->credentials); i++) {
		if (a->credentials[i].session_token != NULL
		    && strcmp(a->credentials[i].access_key, access_key) == 0)
			return &a->credentials[i];
	}
	return NULL;
}

/* What is wrong with the request; NULL: nothing. */
static const char *
wrong(const struct sim_provider_call *c)
{
	const char *const session = sim_json_text(c->body, "RoleSessionName");
	const char *const duration = sim_json_text(c->body, "DurationSeconds");
	const size_t len = strlen(session);
	char partition[16];

	if (strcmp(sim_json_text(c->body, "Version"), "2011-06-15") != 0)
		return "The requested version of service sts does not exist";
	if (role_of(sim_json_text(c->body, "RoleArn"), partition, sizeof(partition)) == NULL)
		return "1 validation error detected: Value at 'roleArn' is not the ARN of a role";
	if (len < 2 || len > 64 || strspn(session, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789_=,.@-") != len)
		return "1 validation error detected: Value at 'roleSessionName' must have 2 to 64 characters "
		       "of letters, digits and _=,.@-";
	if (duration[0] != '\0' && (strtol(duration, NULL, 10) < DURATION_LEAST
	    || strtol(duration, NULL, 10) > DURATION_MOST))
		return "1 validation error detected: Value at 'durationSeconds' must be 900 to 43200";
	return NULL;
}

/* The name in "arn:PARTITION:iam::ACCOUNT:role/NAME"; NULL: not of that form. */
static const char *
role_of(const char *arn, char *partition, size_t size)
{
	const char *const after = strncmp(arn, "arn:", 4) == 0 ? arn + 4 : "";
	const size_t len = strcspn(after, ":");

	if (len == 0 || len >= size || strncmp(after + len, ":iam::", 6) != 0)
		return NULL;
	const char *const account = after + len + 6, *const role = account + strspn(account, "0123456789");
	if (role - account != ACCOUNT_DIGITS || strncmp(role, ":role/", 6) != 0 || role[6] == '\0')
		return NULL;
	memcpy(partition, after, len);
	partition[len] = '\0';
	return role + 6;
}

static struct sim_aws_credential *
add_credential(struct sim_aws *a, const char *token, const char *partition, int64_t lasts_s)
{
	static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct sim_aws_credential *const c = &a->credentials[a->ncredentials++ % NITEMS(a->credentials)];
	char key[17];

	free(c->session_token);
	*c = (struct sim_aws_credential){ .expires_ms = sim_aws_now_ms(a) + lasts_s * 1000,
		.session_token = obj_alloc(SESSION_TOKEN_BYTES + 3) };
	put_random(&a->sim->seed, upper, key, sizeof(key) - 1);
	snprintf(c->access_key, sizeof(c->access_key), "ASIA%s", key);
	put_random(&a->sim->seed, base64, c->secret_key, 40);
	put_random(&a->sim->seed, base64, c->session_token, SESSION_TOKEN_BYTES);
	memcpy(c->session_token + SESSION_TOKEN_BYTES, "==", 3);
	snprintf(c->token, sizeof(c->token), "%s", token);
	snprintf(c->partition, sizeof(c->partition), "%s", partition);
	return c;
}

static void
put_random(uint64_t *seed, const char *alphabet, char *to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = alphabet[random_below(seed, strlen(alphabet))];
	to[len] = '\0';
}

static void
put_user(struct sim_buf *to, const char *partition, const char *role, const char *session)
{
	struct sim_buf arn = { 0 };

	sim_buf_printf(&arn, "arn:%s:sts::111122223333:assumed-role/%s/%s", partition, role, session);
	sim_buf_puts(to, "<AssumedRoleUser>");
	sim_aws_xml_text(to, "Arn", arn.bytes);
	sim_buf_printf(to, "<AssumedRoleId>AROASIMULATEDROLE0001:%s</AssumedRoleId></AssumedRoleUser>\n",
	    session);
	sim_buf_free(&arn);
}
