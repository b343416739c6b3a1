/* actors/vpsie-claimer/answer.c - the envelope of an answer, and the small answers: a worker, a token. */
#include <string.h>
#include <strings.h>

#include "actors/provider/reply.h"
#include "obj.h"
#include "utf8.h"
#include "wire.h"

static void judge(const struct reply_at *, int, struct vpsie_answer *);
static void set_message(struct vpsie_answer *, const char *);
static void copy(const struct reply_at *, const char *, char[VPSIE_TEXT_MAX + 1]);

/* Messages after which another try is of no use (the original's list). */
static const char *const capacity_texts[] = { "exceeds the allowed limit", "quota exceeded",
	"plan does not allow", "maximum number of", "limit reached", "subscription does not allow" };

static const struct {
	const char	*name, *text;
} verdicts[ANSWER_MAX] = {
#define VERDICT_ROW(ID, n, t) [ANSWER_##ID] = { .name = (n), .text = (t) },
	VPSIE_VERDICTS(VERDICT_ROW)
};

const char *
vpsie_verdict_name(enum vpsie_verdict v)
{
	return (unsigned)v < ANSWER_MAX ? verdicts[v].name : "?";
}

const char *
vpsie_verdict_text(enum vpsie_verdict v)
{
	return (unsigned)v < ANSWER_MAX ? verdicts[v].text : "?";
}

struct vpsie_answer
vpsie_answer_read(int status, const char *body, size_t len)
{
	struct vpsie_answer a;
	struct reply r;

	vpsie_answer_open(&r, status, body, len, false, &a);
	reply_free(&r, false);
	return a;
}

/* ---- The envelope ---- */

bool
vpsie_answer_open(struct reply *r, int status, const char *body, size_t len, bool secret,
    struct vpsie_answer *a)
{
	const bool success = status >= 200 && status < 300;

	*a = (struct vpsie_answer){ .verdict = ANSWER_GOOD };
	*r = (struct reply){ .root = NULL };
	if (success && len == 0)
		return false;
	if (secret ? reply_parse_secret(r, body, len) : reply_parse(r, body, len)) {
		const struct reply_at root = reply_root(r);

		judge(&root, status, a);
		return a->verdict == ANSWER_GOOD;
	}
	/* A page of HTML from a proxy: after 200 the request may have arrived. */
	judge(&(struct reply_at){ .reply = r }, status, a);
	if (success)
		a->verdict = ANSWER_UNUSABLE;
	set_message(a, r->error);
	return false;
}

/* The status and the body's own flag; `error` is a boolean, but clients have read it as a text. */
static void
judge(const struct reply_at *root, int status, struct vpsie_answer *a)
{
	const json_t *const error = root->json == NULL ? NULL : json_object_get(root->json, "error");
	const json_t *const message = root->json == NULL ? NULL : json_object_get(root->json, "message");
	const json_t *const code = root->json == NULL ? NULL : json_object_get(root->json, "code");
	const bool failed = json_is_true(error) || (json_is_string(error) && json_string_length(error) > 0);

	a->code = json_is_integer(code) ? json_integer_value(code) : 0;
	if (status >= 200 && status < 300 && !failed)
		return;
	set_message(a, json_is_string(message) ? json_string_value(message)
		: json_is_string(error)        ? json_string_value(error)
					       : "");
	/* With HTTP 200 the body's code is the only one. */
	const int64_t meant = status >= 200 && status < 300 && a->code > 0 ? a->code : status;
	a->verdict = meant == 401 || meant == 403 ? ANSWER_DENIED
	    : meant == 404			  ? ANSWER_NOT_FOUND
	    : meant == 429			  ? ANSWER_THROTTLED
	    : status >= 500 || status == 408 || status < 200 ? ANSWER_UNUSABLE
							     : ANSWER_REFUSED;
	if (a->verdict == ANSWER_UNUSABLE || a->verdict == ANSWER_THROTTLED)
		return;
	for (size_t i = 0; i < NITEMS(capacity_texts); i++) {
		if (strcasestr(a->message, capacity_texts[i]) != NULL)
			a->verdict = ANSWER_CAPACITY;
	}
	/* "rate limit reached" is no limit of the plan. */
	if (strcasestr(a->message, "rate limit") != NULL)
		a->verdict = ANSWER_THROTTLED;
}

/* As it may stand in a status, a log line and an Event. */
static void
set_message(struct vpsie_answer *a, const char *text)
{
	const size_t len = strlen(text), n = utf8_cut(text, len, sizeof(a->message) - 1, len);

	for (size_t i = 0; i < n; i++)
		a->message[i] = (unsigned char)text[i] < ' ' || text[i] == 127 ? ' ' : text[i];
	a->message[n] = '\0';
}

bool
vpsie_answer_close(struct reply *r, struct vpsie_answer *a)
{
	const bool good = a->verdict == ANSWER_GOOD && reply_ok(r);

	if (a->verdict == ANSWER_GOOD && !good) {
		a->verdict = ANSWER_UNUSABLE;
		set_message(a, r->error);
	}
	reply_free(r, false);
	return good;
}

void
vpsie_answer_needs_body(struct vpsie_answer *a, const char *error)
{
	if (a->verdict != ANSWER_GOOD)
		return;
	a->verdict = ANSWER_UNUSABLE;
	set_message(a, error);
}

/* ---- The small answers ---- */

/* `data` true, or an object, or absent. false is no refusal in words, so it may have been made. */
struct vpsie_answer
vpsie_added_read(int status, const char *body, size_t len, struct vpsie_added *out)
{
	struct vpsie_answer a;
	struct reply_at data;
	struct reply r;

	*out = (struct vpsie_added){ .id = 0 };
	vpsie_answer_open(&r, status, body, len, false, &a);
	const struct reply_at root = reply_root(&r);
	const json_t *const v =
	    a.verdict == ANSWER_GOOD && root.json != NULL ? json_object_get(root.json, "data") : NULL;
	if (json_is_object(v)) {
		reply_object(&root, "data", REPLY_REQUIRED, &data);
		reply_i64(&data, "id", REPLY_OPTIONAL, &out->id);
		copy(&data, "identifier", out->identifier);
		copy(&data, "hostname", out->hostname);
		if (out->id < 0)
			reply_fail(&data, "id", "negative");
	} else if (v != NULL && !json_is_true(v) && !json_is_null(v)) {
		reply_fail(&root, "data", "neither true nor an object");
	}
	if (!vpsie_answer_close(&r, &a))
		*out = (struct vpsie_added){ .id = 0 };
	return a;
}

static void
copy(const struct reply_at *at, const char *member, char out[VPSIE_TEXT_MAX + 1])
{
	const char *text;

	if (!reply_text(at, member, REPLY_OPTIONAL, &text))
		return;
	if (strlen(text) > VPSIE_TEXT_MAX)
		reply_fail(at, member, "longer than 512 bytes");
	else
		memcpy(out, text, strlen(text) + 1);
}

/* A time that is missing, malformed or over: an hour from now is assumed, as the original does. */
struct vpsie_answer
vpsie_token_read(int status, const char *body, size_t len, int64_t now_us, char **token, int64_t *refresh_us)
{
	struct vpsie_answer a;
	struct reply_at access;
	const char *text = "", *expires;
	int64_t until_us = 0;
	struct reply r;

	*token = NULL;
	if (vpsie_answer_open(&r, status, body, len, true, &a)) {
		const struct reply_at root = reply_root(&r);

		reply_object(&root, "accessToken", REPLY_REQUIRED, &access);
		if (reply_text(&access, "token", REPLY_REQUIRED, &text) && text[0] == '\0')
			reply_fail(&access, "token", "empty");
		for (const char *p = text; *p != '\0'; p++) {
			if (*p <= ' ' || *p > '~')
				reply_fail(&access, "token", "not printable");
		}
		if (reply_text(&access, "expires", REPLY_OPTIONAL, &expires))
			reply_parse_time(expires, strlen(expires), &until_us);
		if (reply_ok(&r))
			*token = obj_strdup(text);
		else
			vpsie_answer_needs_body(&a, r.error);
	} else {
		vpsie_answer_needs_body(&a, "accessToken: missing");
	}
	reply_free(&r, true);
	if (*token == NULL)
		return a;
	if (until_us <= now_us)
		until_us = now_us + INT64_C(1000000) * VPSIE_TOKEN_LIFE_S;
	const int64_t early_us = INT64_C(1000000) * VPSIE_TOKEN_EARLY_S;
	/* One that lives for less than that is used for half of its life. */
	const int64_t life_us = until_us - now_us;
	*refresh_us = now_us + (life_us > 2 * early_us ? life_us - early_us : life_us / 2);
	return a;
}

void
vpsie_token_free(char **token)
{
	if (*token != NULL)
		explicit_bzero(*token, strlen(*token));
	free(*token);
	*token = NULL;
}
