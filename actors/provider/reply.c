/*
 * actors/provider/reply.c - reads a provider's JSON answer.
 *
 * Jansson refuses bytes that are not UTF-8, NUL in texts and numbers that no int64_t or double holds. Depth
 * is checked before it parses: its own limit is 2048.
 */
#include "reply.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"

static bool parse(struct reply *, const char *, size_t, int);
static const char *too_deep(const char *, size_t);
static const json_t *member_of(const struct reply_at *, const char *, enum reply_need);
static bool child(
    const struct reply_at *, const char *, enum reply_need, int, const char *, struct reply_at *);
static size_t path_of(const struct reply_at *, char *, size_t);
static void wipe_texts(json_t *);
static void wiping_free(void *);

bool
reply_parse(struct reply *r, const char *body, size_t len)
{
	return parse(r, body, len, JSON_OBJECT);
}

bool
reply_parse_list(struct reply *r, const char *body, size_t len)
{
	return parse(r, body, len, JSON_ARRAY);
}

static bool
parse(struct reply *r, const char *body, size_t len, int type)
{
	json_error_t e;

	*r = (struct reply){ 0 };
	const char *const wrong =
	    len > REPLY_BYTES_MAX ? "the body is larger than 16 MiB" : too_deep(body, len);
	if (wrong != NULL) {
		snprintf(r->error, sizeof(r->error), "%s", wrong);
		return false;
	}
	r->root = json_loadb(body, len, JSON_REJECT_DUPLICATES, &e);
	if (r->root == NULL)
		/* The text of jansson quotes the body, which may hold a secret: only the place is given. */
		snprintf(r->error, sizeof(r->error), "not JSON at line %d, column %d", e.line, e.column);
	else if ((int)json_typeof(r->root) != type)
		snprintf(r->error, sizeof(r->error), "not a JSON %s", type == JSON_ARRAY ? "list" : "object");
	return reply_ok(r);
}

bool
reply_parse_secret(struct reply *r, const char *body, size_t len)
{
	json_malloc_t allocate;
	json_free_t release;

	/* Only the frees inside the parser: of its text buffer, which had every text of the answer. */
	json_get_alloc_funcs(&allocate, &release);
	json_set_alloc_funcs(allocate, wiping_free);
	const bool ok = reply_parse(r, body, len);
	json_set_alloc_funcs(allocate, release);
	return ok;
}

void
reply_free(struct reply *r, bool wipe)
{
	if (wipe && r->root != NULL)
		wipe_texts(r->root);
	json_decref(r->root);
	r->root = NULL;
}

bool
reply_ok(const struct reply *r)
{
	return r->error[0] == '\0';
}

void
reply_fail(const struct reply_at *at, const char *member, const char *cause)
{
	const struct reply_at leaf = { .from = at, .member = member };
	char path[REPLY_ERROR_MAX / 2];

	if (!reply_ok(at->reply))
		return;
	path_of(&leaf, path, sizeof(path));
	snprintf(at->reply->error, sizeof(at->reply->error), "%s: %s", path, cause);
}

struct reply_at
reply_root(struct reply *r)
{
	return (struct reply_at){ .reply = r, .json = reply_ok(r) ? r->root : NULL };
}

bool
reply_object(const struct reply_at *at, const char *member, enum reply_need need, struct reply_at *out)
{
	return child(at, member, need, JSON_OBJECT, "not an object", out);
}

bool
reply_list(const struct reply_at *at, const char *member, enum reply_need need, struct reply_at *out)
{
	return child(at, member, need, JSON_ARRAY, "not a list", out);
}

bool
reply_i64(const struct reply_at *at, const char *member, enum reply_need need, int64_t *out)
{
	const json_t *const v = member_of(at, member, need);

	if (v == NULL)
		return false;
	if (!json_is_integer(v)) {
		reply_fail(at, member, json_is_real(v) ? "not a whole number" : "not a number");
		return false;
	}
	*out = json_integer_value(v);
	return true;
}

bool
reply_f64(const struct reply_at *at, const char *member, enum reply_need need, double *out)
{
	const json_t *const v = member_of(at, member, need);

	if (v == NULL)
		return false;
	if (!json_is_number(v)) {
		reply_fail(at, member, "not a number");
		return false;
	}
	*out = json_number_value(v);
	return true;
}

bool
reply_flag(const struct reply_at *at, const char *member, enum reply_need need, bool *out)
{
	const json_t *const v = member_of(at, member, need);

	if (v == NULL)
		return false;
	if (!json_is_boolean(v)) {
		reply_fail(at, member, "not true or false");
		return false;
	}
	*out = json_is_true(v);
	return true;
}

bool
reply_text(const struct reply_at *at, const char *member, enum reply_need need, const char **out)
{
	const json_t *const v = member_of(at, member, need);

	if (v == NULL)
		return false;
	if (!json_is_string(v)) {
		reply_fail(at, member, "not a text");
		return false;
	}
	*out = json_string_value(v);
	return true;
}

bool
reply_time(const struct reply_at *at, const char *member, enum reply_need need, int64_t *out)
{
	const char *text;

	if (!reply_text(at, member, need, &text))
		return false;
	if (reply_parse_time(text, strlen(text), out))
		return true;
	reply_fail(at, member, "not a time");
	return false;
}

size_t
reply_count(const struct reply_at *list)
{
	return list->json == NULL ? 0 : json_array_size(list->json);
}

bool
reply_element(const struct reply_at *list, size_t i, struct reply_at *out)
{
	*out = (struct reply_at){ .reply = list->reply, .from = list, .index = i };
	if (i >= reply_count(list) || !reply_ok(list->reply))
		return false;
	const json_t *const v = json_array_get(list->json, i);
	if (!json_is_object(v)) {
		reply_fail(out, "", "not an object");
		return false;
	}
	out->json = v;
	return true;
}

bool
reply_text_element(const struct reply_at *list, size_t i, const char **out)
{
	if (i >= reply_count(list) || !reply_ok(list->reply))
		return false;
	const json_t *const v = json_array_get(list->json, i);
	if (!json_is_string(v)) {
		const struct reply_at element = { .reply = list->reply, .from = list, .index = i };

		reply_fail(&element, "", "not a text");
		return false;
	}
	*out = json_string_value(v);
	return true;
}

bool
reply_parse_time(const char *text, size_t len, int64_t *us)
{
	enum { LONGEST = 40 };		/* the longest form with nine decimals and a zone has 35 */
	char rfc3339[LONGEST + 2];

	if (len < sizeof("2026-05-01T10:00:00") - 1 || len > LONGEST)
		return false;
	memcpy(rfc3339, text, len);
	if (rfc3339[10] == ' ')
		rfc3339[10] = 'T';
	if (time_parse(rfc3339, len, us))
		return true;
	rfc3339[len] = 'Z';		/* without a zone: providers mean UTC */
	return time_parse(rfc3339, len + 1, us);
}

/* Brackets outside of texts, counted before a parser recurses into them. */
static const char *
too_deep(const char *p, size_t len)
{
	size_t depth = 0;
	bool in_text = false;

	for (size_t i = 0; i < len; i++) {
		if (in_text) {
			if (p[i] == '\\')
				i++;
			else if (p[i] == '"')
				in_text = false;
		} else if (p[i] == '"') {
			in_text = true;
		} else if ((p[i] == '{' || p[i] == '[') && ++depth > REPLY_DEPTH_MAX) {
			return "more than 64 levels deep";
		} else if ((p[i] == '}' || p[i] == ']') && depth > 0) {
			depth--;
		}
	}
	return NULL;
}

static const json_t *
member_of(const struct reply_at *at, const char *member, enum reply_need need)
{
	if (at->json == NULL || !reply_ok(at->reply))
		return NULL;
	const json_t *const v = json_object_get(at->json, member);
	if (v != NULL && !json_is_null(v))
		return v;
	if (need == REPLY_REQUIRED)
		reply_fail(at, member, v == NULL ? "missing" : "null");
	return NULL;
}

static bool
child(const struct reply_at *at, const char *member, enum reply_need need, int type, const char *cause,
    struct reply_at *out)
{
	*out = (struct reply_at){ .reply = at->reply, .from = at, .member = member };
	const json_t *const v = member_of(at, member, need);
	if (v == NULL)
		return false;
	if ((int)json_typeof(v) != type) {
		reply_fail(at, member, cause);
		return false;
	}
	out->json = v;
	return true;
}

/* "data[3].instance_id"; what does not fit is cut. The bytes written, without the NUL. */
static size_t
path_of(const struct reply_at *at, char *buf, size_t size)
{
	if (at->from == NULL) {
		buf[0] = '\0';
		return 0;
	}
	const size_t len = path_of(at->from, buf, size);
	const char *const dot = len > 0 && at->member != NULL && at->member[0] != '\0' ? "." : "";
	const int n = at->member == NULL ? snprintf(buf + len, size - len, "[%zu]", at->index)
					 : snprintf(buf + len, size - len, "%s%s", dot, at->member);

	return n > 0 && (size_t)n < size - len ? len + (size_t)n : size - 1;
}

static void
wipe_texts(json_t *v)
{
	size_t i;
	const char *key;
	json_t *inner;

	if (json_is_string(v))
		/* Jansson gives no other access; the bytes are its own copy, not a literal. */
		explicit_bzero((char *)(uintptr_t)json_string_value(v), json_string_length(v));
	json_array_foreach(v, i, inner)
		wipe_texts(inner);
	json_object_foreach(v, key, inner)
		wipe_texts(inner);
}

static void
wiping_free(void *p)
{
	if (p != NULL)
		explicit_bzero(p, malloc_usable_size(p));
	free(p);
}
