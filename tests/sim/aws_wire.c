/*
 * tests/sim/aws_wire.c - capa-annotator's requests and answers over the provider client, as a program: for
 * sim/test_aws_wire.py and real/test_moto.py.
 *
 *	muster-test-aws URL REGION ROLE_ARN TOKEN_FILE
 *
 * Assumes the role, then reads all pages into a catalogue. A line for each type: {"name", "vcpus",
 * "memory_mib", "gpus", "arch", "maker"}; the last line is {"pages", "expires_us"}. When it fails, the last
 * line is {"service", "page", "status", "code", "message", "error", "fault", "retry_after_ms"}, and the exit
 * code is 1.
 */
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actors/capa-annotator/aws_error.h"
#include "actors/capa-annotator/wire.h"
#include "actors/provider/client.h"
#include "clock.h"
#include "json.h"
#include "kube/time.h"
#include "obj.h"

enum { LINE_SIZE = 4096, BODY_SIZE = 128 * 1024, FILE_SIZE = 64 * 1024 };

static const struct client_class classes[AWS_SERVICE_MAX] = {
	[AWS_STS] = { .name = "sts", .harmless = true, .secret = true },
	[AWS_EC2] = { .name = "ec2", .harmless = true },
};
static const struct fence_lease lease = { .known = false };

struct wire_run {
	struct event_base	*base;
	struct client		*client;
	const char		*region;
	struct aws_credentials	 credentials;
	struct catalogue	*catalogue;
	int			 pages;
	bool			 failed;
};

static void send_page(struct wire_run *r, struct wire_str token);

static bool
print_type(void *arg, struct wire_str name, const struct instance_type *t)
{
	static const char *const makers[] = { [GPU_NONE] = "", [GPU_NVIDIA] = "NVIDIA", [GPU_AMD] = "AMD",
		[GPU_OTHER] = "other" };
	struct wire_run *const r = arg;
	char line[LINE_SIZE];
	struct json j = { .buf = line, .size = sizeof(line) };

	json_open(&j, NULL, '{');
	json_strn(&j, "name", name.p, name.len);
	json_int(&j, "vcpus", t->vcpus);
	json_int(&j, "memory_mib", t->memory_mib);
	json_int(&j, "gpus", t->gpus);
	json_str(&j, "arch", t->arch == ARCH_ARM64 ? "arm64" : "amd64");
	json_str(&j, "maker", makers[t->maker]);
	json_close(&j, '}');
	MUST(json_end(&j) > 0);
	puts(line);
	return catalogue_add(r->catalogue, wire_str_of(r->region), name, t);
}

static void
end_failed(struct wire_run *r, enum aws_service service, const struct client_answer *a,
    const struct aws_answer *xml)
{
	const char *const date = a->http != NULL ? http_header(a->http, "Date") : NULL;
	char line[LINE_SIZE];
	struct json j = { .buf = line, .size = sizeof(line) };
	int64_t date_us = 0;

	const bool dated = date != NULL && time_parse_http(date, strlen(date), &date_us);
	const int64_t ahead_ms = dated ? date_us / 1000 - clock_wall_ms() : 0;
	const bool skewed = ahead_ms > AWS_SKEW_MS || ahead_ms < -AWS_SKEW_MS;
	json_open(&j, NULL, '{');
	json_str(&j, "service", aws_service_name(service));
	json_int(&j, "page", r->pages);
	json_int(&j, "status", a->status);
	json_str(&j, "code", aws_answer_code(xml));
	json_str(&j, "message", aws_answer_message(xml));
	json_str(&j, "error", a->error[0] != '\0' ? a->error : aws_answer_error(xml));
	json_str(&j, "fault", aws_fault_label(aws_fault(service, a->status, aws_answer_code(xml), skewed)));
	json_int(&j, "retry_after_ms", a->retry_after_ms);
	json_close(&j, '}');
	MUST(json_end(&j) > 0);
	puts(line);
	r->failed = true;
	event_base_loopbreak(r->base);
}

/* The answer that was read, or NULL after end_failed. */
static struct aws_answer *
read_answer(struct wire_run *r, enum aws_service service, const struct client_answer *a)
{
	struct aws_answer *xml = aws_answer_new(service, print_type, r);

	aws_answer_feed(xml, a->body, a->body_len);
	if (aws_answer_end(xml) && a->status == 200)
		return xml;
	end_failed(r, service, a, xml);
	aws_answer_free(&xml);
	return NULL;
}

static void
on_changed(void *arg, struct wire_str type)
{
	(void)arg, (void)type;
}

static void
on_page(const struct client_answer *a, void *arg)
{
	struct wire_run *const r = arg;
	struct aws_answer *xml = read_answer(r, AWS_EC2, a);

	if (xml == NULL)
		return;
	r->pages++;
	const struct wire_str next = aws_answer_next_token(xml);
	switch (catalogue_page(r->catalogue, wire_str_of(r->region), next)) {
	case CATALOGUE_MORE:
		send_page(r, next);
		break;
	case CATALOGUE_LAST:
		r->failed = !catalogue_commit(
		    r->catalogue, wire_str_of(r->region), clock_mono_ms(), on_changed, NULL);
		printf("{\"pages\":%d,\"expires_us\":%lld}\n", r->pages,
		    (long long)r->credentials.expires_us);
		event_base_loopbreak(r->base);
		break;
	case CATALOGUE_BROKEN:
		printf("{\"pages\":%d,\"error\":\"the token of the next page came before\"}\n", r->pages);
		r->failed = true;
		event_base_loopbreak(r->base);
		break;
	}
	aws_answer_free(&xml);
}

static void
send_page(struct wire_run *r, struct wire_str token)
{
	static char body[BODY_SIZE], session[AWS_TOKEN_MAX + 64];
	char scope[AWS_REGION_MAX + 32], date[sizeof("X-Amz-Date: 20260102T030405Z")];
	const char *const headers[] = { "Content-Type: " AWS_FORM_TYPE, date, session, NULL };
	const time_t now = time(NULL);
	struct tm utc;
	const size_t len = aws_ec2_body(body, sizeof(body), token);

	MUST(len > 0 && gmtime_r(&now, &utc) != NULL);
	MUST(strftime(date, sizeof(date), "X-Amz-Date: %Y%m%dT%H%M%SZ", &utc) > 0);
	snprintf(session, sizeof(session), "X-Amz-Security-Token: %s", r->credentials.session_token);
	snprintf(scope, sizeof(scope), "aws:amz:%s:ec2", r->region);
	client_send(r->client, &(struct client_call){ .class = AWS_EC2, .method = "POST", .path = "/",
	    .headers = headers, .body = body, .body_len = len, .done = on_page, .arg = r,
	    .sigv4 = &(struct http_sigv4){ .scope = scope, .access_key = r->credentials.access_key,
	    .secret_key = r->credentials.secret_key } });
}

static void
on_credentials(const struct client_answer *a, void *arg)
{
	struct wire_run *const r = arg;
	struct aws_answer *xml = read_answer(r, AWS_STS, a);

	if (xml == NULL)
		return;
	aws_answer_credentials(xml, &r->credentials);
	aws_answer_free(&xml);
	send_page(r, (struct wire_str){ .p = "" });
}

static void
assume_role(struct wire_run *r, const char *role, const char *token_file)
{
	static char body[BODY_SIZE], token[FILE_SIZE];
	static const char *const headers[] = { "Content-Type: " AWS_FORM_TYPE, NULL };
	FILE *const f = fopen(token_file, "re");

	MUST(f != NULL);
	const size_t token_len = fread(token, 1, sizeof(token), f);
	fclose(f);
	const size_t len = aws_sts_body(body, sizeof(body), &(struct aws_identity){
	    .role_arn = wire_str_of(role), .session_name = wire_str_of("muster-test"),
	    .token = { .p = token, .len = (uint32_t)token_len } });
	MUST(len > 0);
	client_send(r->client, &(struct client_call){ .class = AWS_STS, .method = "POST", .path = "/",
	    .headers = headers, .body = body, .body_len = len, .done = on_credentials, .arg = r });
}

int
main(int argc, char **argv)
{
	struct wire_run r = { .base = event_base_new() };
	char why[256];

	MUST(argc == 5 && r.base != NULL);
	r.region = argv[2];
	r.client = client_new(&(struct client_config){ .base = r.base, .provider = "aws", .url = argv[1],
	    .user_agent = "muster-test-aws", .classes = classes, .nclasses = AWS_SERVICE_MAX,
	    .lease = &lease }, why, sizeof(why));
	MUST(r.client != NULL);
	r.catalogue = catalogue_new(&(struct catalogue_times){ CATALOGUE_TTL_MS, CATALOGUE_EARLY_MS });
	catalogue_find(r.catalogue, wire_str_of(r.region), wire_str_of("any"), clock_mono_ms(),
	    &(struct instance_type){ 0 });
	catalogue_begin(r.catalogue, wire_str_of(r.region));
	assume_role(&r, argv[3], argv[4]);
	event_base_dispatch(r.base);
	aws_credentials_free(&r.credentials);
	catalogue_free(&r.catalogue);
	client_free(&r.client);
	event_base_free(r.base);
	return r.failed ? 1 : 0;
}
