/*
 * actors/capa-annotator/web_identity.c - the web identity of this process (contract F3, F6, F7, FR4).
 *
 * Never: the token in a log line or an error. It is read from its file for each request: kubelet replaces it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/provider/token.h"
#include "annotator.h"
#include "kube/kubeconfig_bytes.h"
#include "obj.h"

#define SESSION_NAME	"muster-capa-annotator"

static struct wire_str variable(const char *);
static bool refuse(char *, size_t, const char *, const char *);
static bool is_url(struct wire_str);

bool
web_identity_read(struct web_identity *w, char *why, size_t size)
{
	static const char *const urls[] = { "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS",
		"AWS_ENDPOINT_URL_EC2" };
	const struct wire_str ca = variable("AWS_CA_BUNDLE"), name = variable("AWS_ROLE_SESSION_NAME");

	*w = (struct web_identity){ .role_arn = variable("AWS_ROLE_ARN"),
		.session_name = name.len > 0 ? name : wire_str_of(SESSION_NAME),
		.token_file = variable("AWS_WEB_IDENTITY_TOKEN_FILE").p, .region = variable("AWS_REGION"),
		.ca_file = ca.len > 0 ? ca.p : NULL, .urls = { .all = variable(urls[0]),
		    .service = { [AWS_STS] = variable(urls[1]), [AWS_EC2] = variable(urls[2]) } } };
	w->partition = aws_role_partition(w->role_arn);
	if (w->role_arn.len == 0)
		return refuse(why, size, "AWS_ROLE_ARN", "is not set");
	if (w->token_file[0] == '\0')
		return refuse(why, size, "AWS_WEB_IDENTITY_TOKEN_FILE", "is not set");
	if (w->partition == AWS_PARTITION_MAX)
		return refuse(why, size, "AWS_ROLE_ARN", "is not the ARN of a role");
	if (w->token_file[0] != '/')
		return refuse(why, size, "AWS_WEB_IDENTITY_TOKEN_FILE", "is not an absolute path");
	if (!aws_session_name_valid(w->session_name))
		return refuse(why, size, "AWS_ROLE_SESSION_NAME",
		    "is not 2 to 64 of letters, digits and _=,.@-");
	if (w->region.len > 0
	    && (!aws_region_valid(w->region) || aws_region_partition(w->region) != w->partition))
		return refuse(why, size, "AWS_REGION", "is not a region of the role's partition");
	for (size_t i = 0; i < NITEMS(urls); i++) {
		const struct wire_str url = variable(urls[i]);

		if (url.len > 0 && !is_url(url))
			return refuse(why, size, urls[i], "is not http:// or https:// with a host");
	}
	return true;
}

char *
web_identity_body(const struct web_identity *w, size_t *len, char *why, size_t size)
{
	struct bytes file = { NULL, 0 };
	const char *text = NULL;
	size_t text_len = 0;
	char *body = NULL;

	if (!bytes_read_file(&file, w->token_file, TOKEN_BYTES_MAX * 2)) {
		snprintf(why, size, "token file %.200s cannot be read: %s", w->token_file, strerror(errno));
		return NULL;
	}
	const char *const wrong = token_parse(file.data, file.len, &text, &text_len);
	if (wrong != NULL) {
		snprintf(why, size, "token file %.200s %s", w->token_file, wrong);
	} else {
		const struct aws_identity identity = { .role_arn = w->role_arn,
			.session_name = w->session_name, .token = { .p = text, .len = (uint32_t)text_len } };
		/* A byte becomes three at most; the names are short. */
		const size_t room = 3 * (text_len + w->role_arn.len + w->session_name.len) + 256;

		body = obj_alloc(room);
		*len = aws_sts_body(body, room, &identity);
		MUST(*len > 0);
	}
	bytes_wipe(&file);
	return body;
}

static struct wire_str
variable(const char *name)
{
	const char *const value = getenv(name);

	return wire_str_of(value != NULL ? value : "");
}

static bool
refuse(char *why, size_t size, const char *name, const char *what)
{
	snprintf(why, size, "%s %s", name, what);
	return false;
}

static bool
is_url(struct wire_str url)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < NITEMS(schemes); i++) {
		const size_t len = strlen(schemes[i]);

		if (url.len > len && url.len < AWS_URL_MAX && memcmp(url.p, schemes[i], len) == 0
		    && url.p[len] != '/')
			return true;
	}
	return false;
}
