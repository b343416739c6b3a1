/*
 * actors/capa-annotator/region_walk.c - reads the instance types of a region: all pages of
 * DescribeInstanceTypes, one request at a time, each page parsed as it arrives (contract F3, F4,
 * F8).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "annotator.h"
#include "clock.h"
#include "log.h"
#include "obj.h"
#include "stat.h"

enum {
	DATE_SIZE = sizeof("X-Amz-Date: 20260102T030405Z"),
	REGION_KEY_MAX = sizeof(ANNOTATOR_REGIONS) + AWS_REGION_MAX,
};

static effect_start send_page;
static call_answered on_page;
static bool on_data(const void *, size_t, void *);
static aws_type_handler on_type;
static void page_done(struct region_walk *);
static void page_failed(struct region_walk *, const struct client_answer *);
static void complete(struct region_walk *);
static catalogue_changed on_changed;
static void end_walk(struct region_walk *, const char *);
static struct region_walk *find_walk(const struct annotator *, const char *, size_t);
static bool is_due(const struct region_walk *, int64_t);
static void drop_walk(struct annotator *, const char *, size_t);
static void free_walk(struct region_walk *);
static void set_figures(const struct region_walk *, int64_t);

static struct wire_str
region_of(const struct region_walk *w)
{
	return wire_str_of(w->region);
}

static struct wire_str
put_key(char key[REGION_KEY_MAX], const struct region_walk *w)
{
	snprintf(key, REGION_KEY_MAX, ANNOTATOR_REGIONS "%s", w->region);
	return wire_str_of(key);
}

void
region_walk_want(struct annotator *a, struct wire_str region)
{
	char key[REGION_KEY_MAX];
	const int len = snprintf(key, sizeof(key), ANNOTATOR_REGIONS "%.*s", (int)region.len, region.p);
	struct catalogue_state state;
	bool added = false;

	if (!catalogue_state(a->catalogue, region, &state))
		return;		/* as many regions as there may be are wanted already */
	const uint32_t id = keytab_add(a->walks, key, (size_t)len, &added);
	if (added) {
		struct region_walk *const w = obj_alloc(sizeof(*w));

		w->annotator = a;
		snprintf(w->region, sizeof(w->region), "%.*s", (int)region.len, region.p);
		*(struct region_walk **)keytab_value(a->walks, id) = w;
		MUST(annotator_open_calls(a, &w->calls, AWS_EC2, region));
	}
	if (is_due(*(struct region_walk **)keytab_value(a->walks, id), clock_mono_ms()))
		actor_enqueue(a->r.actor, key, (size_t)len, WORK_LIVE, 0);
}

void
region_walk_plan(struct annotator *a, const struct work *work, struct reconcile_step *step)
{
	const int64_t now_ms = clock_mono_ms();
	struct region_walk *const w = find_walk(a, work->key, work->len);
	struct catalogue_state state;

	*step = (struct reconcile_step){ .form = STEP_NOTHING, .verb = "nothing",
		.why = "no MachineDeployment is in this region", .forget = true };
	if (w == NULL)
		return;
	const bool used =
	    ref_index_used(a->refs, (struct wire_str){ .p = work->key, .len = (uint32_t)work->len });
	if (!used && !a->r.leading) {
		/* Who is in a region is recorded while it leads: somebody may be in this one. */
		*step = (struct reconcile_step){ .form = STEP_WAIT, .verb = "wait",
			.why = "this instance is not the leader" };
		return;
	}
	if (!used) {
		drop_walk(a, work->key, work->len);
		return;
	}
	MUST(catalogue_state(a->catalogue, region_of(w), &state));
	const int64_t at_ms = w->begun ? w->resume_ms : state.due_ms;
	*step = (struct reconcile_step){ .form = STEP_WAIT, .verb = "wait" };
	if (at_ms > now_ms) {
		step->why = w->begun ? "the last request failed" : "its instance types were read";
		step->after_ms = at_ms - now_ms;
	} else if (!aws_session_usable(a, now_ms)) {
		step->why = "there are no credentials yet";
		aws_session_want(a, work->key, region_of(w));
	} else {
		*step = (struct reconcile_step){ .form = STEP_EFFECT, .verb = "read",
			.why = "its instance types are due", .what = "read instance types",
			.start = send_page };
	}
}

/* Timers of the work queue are lost while this instance does not lead. */
void
region_walk_tick(struct annotator *a, int64_t now_ms)
{
	KEYTAB_EACH(a->walks, id) {
		const struct region_walk *const w = *(struct region_walk **)keytab_value(a->walks, id);
		size_t len;
		const char *const key = keytab_key(a->walks, id, &len);

		if (a->r.leading && is_due(w, now_ms))
			actor_enqueue(a->r.actor, key, len, WORK_LIVE, 0);
		set_figures(w, now_ms);
	}
}

void
region_walk_close(struct annotator *a)
{
	if (a->walks == NULL)
		return;
	KEYTAB_EACH(a->walks, id)
		free_walk(*(struct region_walk **)keytab_value(a->walks, id));
	keytab_free(&a->walks);
}

void
region_walk_fail(struct annotator *a, const char *key, int64_t retry_ms, const char *error)
{
	struct region_walk *const w = find_walk(a, key, strlen(key));

	if (w == NULL)
		return;
	log_warnx("the instance types of a region could not be read: what was read before stays in use",
	    KV_S(VALUE, w->region), KV_S(WHY, error), KV_I(NEXT_MS, retry_ms - clock_mono_ms()),
	    KV_S(HINT, "the role needs ec2:DescribeInstanceTypes, and the region must be enabled"));
	catalogue_fail(a->catalogue, region_of(w), retry_ms, error);
	w->failures++;
	end_walk(w, "failed");
}

/* ---- One page ---- */

static void
send_page(struct reconciler *r, struct inflight_effect *f, const struct work *work,
    const struct reconcile_step *step)
{
	struct annotator *const a = annotator_of(r);
	struct region_walk *const w = find_walk(a, work->key, work->len);
	const struct aws_credentials *const c = &a->session.credentials;
	const struct wire_str token = wire_str_of(w->next_token == NULL ? "" : w->next_token);
	const size_t size = 3 * (size_t)token.len + 256;
	char scope[AWS_REGION_MAX + 32], date[DATE_SIZE], *session = NULL;
	const time_t now = (time_t)(aws_session_aws_time_us(a) / 1000000);
	struct tm utc;

	(void)step;
	if (!w->begun) {
		catalogue_begin(a->catalogue, region_of(w));
		w->begun = true;
		w->began_ms = clock_mono_ms();
	}
	w->in_flight = true;
	w->serial = a->session.serial;
	w->answer = aws_answer_new(AWS_EC2, on_type, w);
	char *const body = obj_alloc(size);
	const size_t len = aws_ec2_body(body, size, token);
	MUST(len > 0 && gmtime_r(&now, &utc) != NULL);
	MUST(strftime(date, sizeof(date), "X-Amz-Date: %Y%m%dT%H%M%SZ", &utc) > 0);
	MUST(asprintf(&session, "X-Amz-Security-Token: %s", c->session_token) != -1);
	snprintf(scope, sizeof(scope), "aws:amz:%s:ec2", w->region);
	const char *const headers[] = { "Content-Type: " AWS_FORM_TYPE, date, session, NULL };
	call_effect_send(&w->calls, f, work, &(struct client_call){ .class = AWS_EC2, .method = "POST",
	    .path = "/", .headers = headers, .body = body, .body_len = len, .on_data = on_data, .data_arg = w,
	    .sigv4 = &(struct http_sigv4){ .scope = scope, .access_key = c->access_key,
	    .secret_key = c->secret_key } }, on_page);
	bytes_wipe_text(&session);
	free(body);
}

static bool
on_data(const void *data, size_t len, void *arg)
{
	struct region_walk *const w = arg;

	return aws_answer_feed(w->answer, data, len);
}

static bool
on_type(void *arg, struct wire_str name, const struct instance_type *figures)
{
	struct region_walk *const w = arg;

	return catalogue_add(w->annotator->catalogue, region_of(w), name, figures);
}

static bool
on_page(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *answer)
{
	struct region_walk *const w = find_walk(annotator_of(r), key, strlen(key));

	(void)about;
	w->in_flight = false;
	/* The body of a success has been read as it came. */
	if (answer->status < 200 || answer->status > 299)
		aws_answer_feed(w->answer, answer->body, answer->body_len);
	if (aws_answer_end(w->answer) && answer->outcome == CALL_DONE && answer->status == 200)
		page_done(w);
	else
		page_failed(w, answer);
	aws_answer_free(&w->answer);
	return true;	/* planned again: the next page, a pause, or nothing */
}

static void
page_done(struct region_walk *w)
{
	struct annotator *const a = w->annotator;
	const struct wire_str next = aws_answer_next_token(w->answer);

	w->pages++;
	w->tries = 0;
	w->renewed = w->clock_set = false;
	w->resume_ms = 0;
	switch (catalogue_page(a->catalogue, region_of(w), next)) {
	case CATALOGUE_MORE:
		free(w->next_token);
		w->next_token = obj_strndup(next.p, next.len);
		break;
	case CATALOGUE_LAST:
		complete(w);
		break;
	case CATALOGUE_BROKEN: {
		const struct aws_retry_plan p = aws_retry(&a->retry, &(struct aws_retry_facts){
		    .fault = AWS_FAULT_PAGING, .failures = w->failures });
		char key[REGION_KEY_MAX];

		region_walk_fail(a, put_key(key, w).p, clock_mono_ms() + p.after_ms,
		    "EC2 repeats the token of a page, or has too many pages");
		break;
	}
	}
}

static void
page_failed(struct region_walk *w, const struct client_answer *answer)
{
	struct annotator *const a = w->annotator;
	const enum aws_fault fault = aws_session_fault(a, AWS_EC2, answer, w->answer);
	const int64_t now_ms = clock_mono_ms();
	char text[CATALOGUE_ERROR_MAX], key[REGION_KEY_MAX];

	struct aws_retry_plan p = aws_retry(&a->retry, &(struct aws_retry_facts){ .fault = fault,
	    .tries = ++w->tries, .failures = w->failures, .renewed = w->renewed,
	    .clock_set = w->clock_set, .retry_after_ms = answer->retry_after_ms });
	catalogue_page_failed(a->catalogue, region_of(w));
	aws_session_describe(AWS_EC2, fault, answer, w->answer, text, sizeof(text));
	log_debug("a page of instance types failed", KV_S(VALUE, w->region),
	    KV_S(REASON, aws_fault_label(fault)), KV_S(WHY, text), KV_I(NEXT_MS, p.after_ms));
	w->resume_ms = now_ms + p.after_ms;
	if (p.verb == AWS_RETRY_RENEW) {
		w->renewed = true;
		aws_session_refused(a, w->serial);
	} else if (p.verb == AWS_RETRY_CLOCK) {
		w->clock_set = true;
		aws_session_adopt_clock(a, answer);
	} else if (p.verb == AWS_RETRY_GIVE_UP) {
		region_walk_fail(a, put_key(key, w).p, w->resume_ms, text);
	}
}

/* ---- The end of a walk ---- */

static void
complete(struct region_walk *w)
{
	struct annotator *const a = w->annotator;
	const int64_t now_ms = clock_mono_ms();
	struct catalogue_state state;
	char key[REGION_KEY_MAX];

	MUST(catalogue_state(a->catalogue, region_of(w), &state));
	const bool first = state.completed_ms < 0;
	const bool good = catalogue_commit(a->catalogue, region_of(w), now_ms, on_changed, w);
	/* What cannot be the name of a type is in no catalogue, but waits for the first one, too. */
	if (good && first)
		deployment_view_target_changed(a, put_key(key, w));
	MUST(catalogue_state(a->catalogue, region_of(w), &state));
	if (good)
		log_info("the instance types of a region were read", KV_S(VALUE, w->region),
		    KV_I(COUNT, state.types), KV_I(SEQ, w->pages), KV_I(DURATION_MS, now_ms - w->began_ms));
	else
		log_warnx("the instance types of a region could not be read", KV_S(VALUE, w->region),
		    KV_S(WHY, state.error));
	w->failures = good ? 0 : w->failures + 1;
	end_walk(w, good ? "done" : "failed");
}

static void
on_changed(void *arg, struct wire_str type)
{
	struct region_walk *const w = arg;

	deployment_view_type_changed(w->annotator, w->region, type);
}

static void
end_walk(struct region_walk *w, const char *result)
{
	char labels[128] = "";

	w->begun = w->renewed = w->clock_set = false;
	w->tries = 0;
	w->pages = 0;
	w->resume_ms = 0;
	free(w->next_token);
	w->next_token = NULL;
	if (stat_label(labels, sizeof(labels), "region", w->region)
	    && stat_label(labels, sizeof(labels), "result", result))
		stat_add(stat_get(STAT_CAPA_READS, labels), 1);
	set_figures(w, clock_mono_ms());
}

/* ---- Helpers ---- */

static struct region_walk *
find_walk(const struct annotator *a, const char *key, size_t len)
{
	const uint32_t id = keytab_find(a->walks, key, len);

	return id == KEYTAB_NONE ? NULL : *(struct region_walk **)keytab_value(a->walks, id);
}

static bool
is_due(const struct region_walk *w, int64_t now_ms)
{
	struct catalogue_state state;

	if (w->in_flight || !catalogue_state(w->annotator->catalogue, region_of(w), &state))
		return false;
	return (w->begun ? w->resume_ms : state.due_ms) <= now_ms;
}

static void
drop_walk(struct annotator *a, const char *key, size_t len)
{
	const uint32_t id = keytab_find(a->walks, key, len);
	struct region_walk *const w = *(struct region_walk **)keytab_value(a->walks, id);
	char labels[64] = "";

	if (w->begun)
		catalogue_fail(a->catalogue, region_of(w), 0, "nobody wants it any more");
	catalogue_drop(a->catalogue, region_of(w));
	if (stat_label(labels, sizeof(labels), "region", w->region)) {
		stat_drop(stat_get(STAT_CAPA_TYPES, labels));
		stat_drop(stat_get(STAT_CAPA_AGE, labels));
	}
	log_info("no MachineDeployment is in a region any more: its instance types are dropped",
	    KV_S(VALUE, w->region));
	keytab_remove(a->walks, id);
	free_walk(w);
}

static void
free_walk(struct region_walk *w)
{
	call_effects_close(&w->calls);
	aws_answer_free(&w->answer);
	free(w->next_token);
	free(w);
}

static void
set_figures(const struct region_walk *w, int64_t now_ms)
{
	struct catalogue_state state;
	char labels[64] = "";

	if (!catalogue_state(w->annotator->catalogue, region_of(w), &state) || state.completed_ms < 0
	    || !stat_label(labels, sizeof(labels), "region", w->region))
		return;
	stat_set(stat_get(STAT_CAPA_TYPES, labels), state.types);
	stat_set(stat_get(STAT_CAPA_AGE, labels), (double)(now_ms - state.completed_ms) / 1000);
}
