/*
 * actors/capa-annotator/aws_session.c - temporary credentials of STS, for all regions of the role's
 * partition.
 *
 * They are requested when a region has to be read and there are none that are good for long enough;
 * never while nothing has to be read. Never: a credential in a log line or an error.
 */
#include <stdio.h>
#include <string.h>

#include "annotator.h"
#include "clock.h"
#include "kube/kubeconfig_bytes.h"
#include "kube/time.h"
#include "log.h"
#include "obj.h"
#include "stat.h"

static effect_start send_request;
static call_answered on_answer;
static bool take_credentials(struct annotator *, struct aws_answer *, int64_t);
static void end_waiting(struct annotator *, bool);
static void give_up(struct annotator *, int64_t, const char *);
static bool date_of(const struct client_answer *, int64_t *);

void
aws_session_open(struct annotator *a)
{
	a->session.waiting = keytab_new(0);
}

void
aws_session_close(struct annotator *a)
{
	struct aws_session *const s = &a->session;

	if (s->calls.client != NULL)
		call_effects_close(&s->calls);
	bytes_wipe(&s->body);
	aws_credentials_free(&s->credentials);
	keytab_free(&s->waiting);
}

bool
aws_session_usable(const struct annotator *a, int64_t now_ms)
{
	return a->session.credentials.access_key != NULL && now_ms < a->session.renew_ms;
}

/* STS of AWS_REGION; without that variable the one of the first region: it is in the same partition. */
void
aws_session_want(struct annotator *a, const char *key, struct wire_str region)
{
	struct aws_session *const s = &a->session;

	if (s->calls.client == NULL) {
		const struct wire_str own = a->identity.region;

		MUST(annotator_open_calls(a, &s->calls, AWS_STS, own.len > 0 ? own : region));
	}
	keytab_add(s->waiting, key, strlen(key), NULL);
	if (!s->in_flight)
		actor_enqueue(a->r.actor, ANNOTATOR_CREDENTIALS, strlen(ANNOTATOR_CREDENTIALS), WORK_LIVE, 0);
}

void
aws_session_refused(struct annotator *a, uint64_t serial)
{
	if (serial == a->session.serial)
		aws_credentials_free(&a->session.credentials);
}

void
aws_session_plan(struct annotator *a, struct reconcile_step *step)
{
	struct aws_session *const s = &a->session;
	const int64_t now_ms = clock_mono_ms();
	char why[CATALOGUE_ERROR_MAX];

	*step = (struct reconcile_step){ .form = STEP_NOTHING, .verb = "nothing",
		.why = "no region waits for credentials", .forget = true };
	if (keytab_count(s->waiting) == 0 || aws_session_usable(a, now_ms)) {
		end_waiting(a, true);
		return;
	}
	*step = (struct reconcile_step){ .form = STEP_WAIT, .verb = "wait",
		.why = "STS did not give credentials", .after_ms = s->resume_ms - now_ms };
	if (s->resume_ms > now_ms)
		return;
	/* Here and not when it is sent: a file that cannot be read is no request that failed. */
	bytes_wipe(&s->body);
	s->body.data = web_identity_body(&a->identity, &s->body.len, why, sizeof(why));
	if (s->body.data == NULL) {
		const struct aws_retry_plan p = aws_retry(&a->retry,
		    &(struct aws_retry_facts){ .fault = AWS_FAULT_TOKEN, .tries = AWS_RETRY_TRIES,
		    .failures = s->failures });

		give_up(a, now_ms + p.after_ms, why);
		step->after_ms = p.after_ms;
		return;
	}
	*step = (struct reconcile_step){ .form = STEP_EFFECT, .verb = "request",
		.why = "a region has to be read", .what = "request credentials", .start = send_request };
}

int64_t
aws_session_aws_time_us(const struct annotator *a)
{
	return a->session.clock_known ? clock_mono_ms() * 1000 + a->session.clock_us : clock_wall_ms() * 1000;
}

bool
aws_session_adopt_clock(struct annotator *a, const struct client_answer *answer)
{
	int64_t us;

	if (!date_of(answer, &us))
		return false;
	a->session.clock_known = true;
	a->session.clock_us = us - clock_mono_ms() * 1000;
	return true;
}

enum aws_fault
aws_session_fault(const struct annotator *a, enum aws_service service, const struct client_answer *answer,
    const struct aws_answer *xml)
{
	int64_t us;
	const int64_t ahead_ms =
	    date_of(answer, &us) ? (us - aws_session_aws_time_us(a)) / 1000 : 0;

	return aws_fault(service, answer->status, aws_answer_code(xml),
	    ahead_ms > AWS_SKEW_MS || ahead_ms < -AWS_SKEW_MS);
}

void
aws_session_describe(enum aws_service service, enum aws_fault fault, const struct client_answer *answer,
    const struct aws_answer *xml, char *buf, size_t size)
{
	const char *const name = service == AWS_STS ? "STS" : "EC2";
	const char *const cause = answer->error[0] != '\0' ? answer->error : aws_answer_error(xml);
	char labels[128] = "";

	if (aws_answer_code(xml)[0] != '\0')
		snprintf(buf, size, "%s answered %d %s: %.120s", name, answer->status, aws_answer_code(xml),
		    aws_answer_message(xml));
	else if (answer->status >= 200 && answer->status <= 299)
		snprintf(buf, size, "the answer of %s cannot be used: %.160s", name,
		    aws_answer_error(xml)[0] != '\0' ? aws_answer_error(xml) : cause);
	else
		snprintf(buf, size, "%s: %.200s", name, cause);
	if (stat_label(labels, sizeof(labels), "service", aws_service_name(service))
	    && stat_label(labels, sizeof(labels), "fault", aws_fault_label(fault)))
		stat_add(stat_get(STAT_CAPA_AWS_ERRORS, labels), 1);
}

/* ---- The request ---- */

static void
send_request(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	static const char *const headers[] = { "Content-Type: " AWS_FORM_TYPE, NULL };
	struct aws_session *const s = &annotator_of(r)->session;

	(void)step;
	s->in_flight = true;
	call_effect_send(&s->calls, f, w, &(struct client_call){ .class = AWS_STS, .method = "POST",
	    .path = "/", .headers = headers, .body = s->body.data, .body_len = s->body.len }, on_answer);
	bytes_wipe(&s->body);
}

static bool
on_answer(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *answer)
{
	struct annotator *const a = annotator_of(r);
	struct aws_session *const s = &a->session;
	struct aws_answer *xml = aws_answer_new(AWS_STS, NULL, NULL);
	const int64_t now_ms = clock_mono_ms();
	char text[CATALOGUE_ERROR_MAX];

	(void)key, (void)about;
	s->in_flight = false;
	aws_answer_feed(xml, answer->body, answer->body_len);
	const bool read = aws_answer_end(xml) && answer->outcome == CALL_DONE && answer->status == 200;
	if (read)
		aws_session_adopt_clock(a, answer);
	if (!read || !take_credentials(a, xml, now_ms)) {
		const enum aws_fault fault = aws_session_fault(a, AWS_STS, answer, xml);
		const struct aws_retry_plan p = aws_retry(&a->retry,
		    &(struct aws_retry_facts){ .fault = fault,
			.tries = ++s->tries,
			.failures = s->failures,
			.retry_after_ms = answer->retry_after_ms });

		aws_session_describe(AWS_STS, fault, answer, xml, text, sizeof(text));
		if (read)
			snprintf(text, sizeof(text), "STS gave credentials that have expired");
		s->resume_ms = now_ms + p.after_ms;
		if (p.verb != AWS_RETRY_AGAIN)
			give_up(a, s->resume_ms, text);
	}
	aws_answer_free(&xml);
	return true;	/* planned again: the next attempt, or nothing */
}

/* False: they have expired. */
static bool
take_credentials(struct annotator *a, struct aws_answer *xml, int64_t now_ms)
{
	struct aws_session *const s = &a->session;
	struct aws_credentials fresh;

	aws_answer_credentials(xml, &fresh);
	const int64_t left_ms = (fresh.expires_us - aws_session_aws_time_us(a)) / 1000;
	if (left_ms <= 0) {
		aws_credentials_free(&fresh);
		return false;
	}
	aws_credentials_free(&s->credentials);
	s->credentials = fresh;
	s->serial++;
	s->renew_ms = now_ms + (left_ms - a->slack_ms > left_ms / 2 ? left_ms - a->slack_ms : left_ms / 2);
	s->tries = s->failures = 0;
	s->resume_ms = 0;
	if (s->error[0] != '\0')
		log_info("STS gives credentials again", KV_I(DURATION_MS, left_ms));
	s->error[0] = '\0';
	end_waiting(a, true);
	return true;
}

static void
give_up(struct annotator *a, int64_t retry_ms, const char *error)
{
	struct aws_session *const s = &a->session;

	if (strcmp(s->error, error) != 0)
		log_error("no credentials of AWS: no instance types can be read", KV_S(WHY, error),
		    KV_I(NEXT_MS, retry_ms - clock_mono_ms()),
		    KV_S(HINT, "check the token file, and the trust policy of the role AWS_ROLE_ARN"));
	snprintf(s->error, sizeof(s->error), "%s", error);
	s->resume_ms = retry_ms;
	s->tries = 0;
	s->failures++;
	end_waiting(a, false);
}

/* Those that wait go on, or their walks have failed. */
static void
end_waiting(struct annotator *a, bool usable)
{
	struct aws_session *const s = &a->session;

	KEYTAB_EACH(s->waiting, id) {
		size_t len;
		const char *const key = keytab_key(s->waiting, id, &len);

		if (!usable)
			region_walk_fail(a, key, s->resume_ms, s->error);
		actor_enqueue(a->r.actor, key, len, WORK_LIVE, 0);
		keytab_remove(s->waiting, id);
	}
}

static bool
date_of(const struct client_answer *answer, int64_t *us)
{
	const char *const date = answer->http == NULL ? NULL : http_header(answer->http, "Date");

	return date != NULL && time_parse_http(date, strlen(date), us);
}
