/* actors/vpsie-claimer/token_files.c - the rules of token_files.h. */
#include "token_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "actors/provider/token.h"
#include "vpsie.h"
#include "clock.h"
#include "kube/kubeconfig_bytes.h"
#include "log.h"
#include "obj.h"

enum {
	RETRY_MS	= 5 * 1000,	/* after an exchange or a check that failed for now */
	DENIED_MS	= 60 * 1000,	/* ... that the provider refused, when there is no other */
	REFRESH_GAP_MS	= 10 * 1000,	/* between two exchanges that a 401 causes */
	FILE_MAX	= 16 * 1024,
	PATH_MAX_BYTES	= 1100,
};

struct vpsie_credential_files {
	struct bytes	token, id, secret;
	char		url[VPSIE_URL_MAX];
};

struct vpsie_credential {
	uint32_t		 magic;
#define VPSIE_CREDENTIAL_MAGIC	0x56435245u
	char			*dir;
	const char		*header;
	struct vpsie_credential_files	 used, fresh;	/* `used`: the token comes from these */
	struct bytes		 rejected[3];	/* token, id, secret that the provider did not accept */
	struct bytes		 line;		/* the header; empty: there is no token */
	uint64_t		 serial;
	int64_t			 obtained_ms, refresh_ms, due_ms;
	bool			 in_flight, trying;	/* ... with the new files */
	bool			 refused;	/* the token in use, and it is to be replaced */
	char			 error[VPSIE_CREDENTIAL_ERROR_MAX], logged[VPSIE_CREDENTIAL_ERROR_MAX];
};

static bool read_files(struct vpsie_credential *);
static bool read_one(struct vpsie_credential *, const char *, struct bytes *, bool *);
static bool same(const struct vpsie_credential_files *, const struct vpsie_credential_files *);
static bool was_rejected(const struct vpsie_credential *);
static void copy_files(struct vpsie_credential_files *, const struct vpsie_credential_files *);
static void wipe_files(struct vpsie_credential_files *);
static void commit(struct vpsie_credential *, const char *, int64_t, int64_t);
static void reject(struct vpsie_credential *, const char *);
static void start_exchange(struct vpsie_claimer *, const struct vpsie_credential_files *);
static void start_check(struct vpsie_claimer *);
static void on_exchanged(const struct client_answer *, void *);
static void on_checked(const struct client_answer *, void *);
static void set_error(struct vpsie_credential *, const char *, const char *);
static void log_change(struct vpsie_credential *);

struct vpsie_credential *
vpsie_credential_new(const char *dir, const char *header)
{
	struct vpsie_credential *c;

	OBJ_NEW(c, VPSIE_CREDENTIAL_MAGIC);
	c->dir = obj_strdup(dir);
	c->header = header;
	c->refresh_ms = INT64_MAX;
	if (read_files(c) && c->fresh.token.data != NULL) {
		/* The first one is used as it is: there is no other that could stay. */
		copy_files(&c->used, &c->fresh);
		commit(c, c->fresh.token.data, clock_mono_ms(), INT64_MAX);
	}
	log_change(c);
	return c;
}

void
vpsie_credential_free(struct vpsie_credential **cp)
{
	struct vpsie_credential *c;

	if (*cp == NULL)
		return;
	OBJ_TAKE(c, cp, VPSIE_CREDENTIAL_MAGIC);
	wipe_files(&c->used);
	wipe_files(&c->fresh);
	for (size_t i = 0; i < NITEMS(c->rejected); i++)
		bytes_wipe(&c->rejected[i]);
	bytes_wipe(&c->line);
	free(c->dir);
	OBJ_FREE(c);
}

void
vpsie_credential_tick(struct vpsie_claimer *claimer, int64_t now_ms)
{
	struct vpsie_credential *const c = claimer->credential;

	OBJ_CHECK(c, VPSIE_CREDENTIAL_MAGIC);
	if (c->in_flight)
		return;
	const bool usable = read_files(c), none = c->line.data == NULL;
	const bool changed = usable && !same(&c->fresh, &c->used);

	if (changed && !was_rejected(c) && now_ms >= c->due_ms) {
		if (c->fresh.token.data == NULL)
			start_exchange(claimer, &c->fresh);
		else
			start_check(claimer);
	} else if (!changed && c->used.token.data == NULL && c->used.id.data != NULL
	    && now_ms >= c->refresh_ms && now_ms >= c->due_ms) {
		start_exchange(claimer, &c->used);
	} else if (!changed && usable && !none) {
		c->error[0] = '\0';
	}
	log_change(c);
}

const char *
vpsie_credential_line(const struct vpsie_credential *c, uint64_t *serial)
{
	OBJ_CHECK(c, VPSIE_CREDENTIAL_MAGIC);
	*serial = c->serial;
	return c->line.data;
}

void
vpsie_credential_refused(struct vpsie_credential *c, uint64_t serial, int64_t now_ms)
{
	OBJ_CHECK(c, VPSIE_CREDENTIAL_MAGIC);
	if (serial != c->serial)
		return;
	if (c->used.token.data == NULL && now_ms - c->obtained_ms >= REFRESH_GAP_MS) {
		c->refresh_ms = now_ms;
		c->refused = true;
	}
	set_error(c, "the provider does not accept the token", NULL);
}

bool
vpsie_credential_renews(const struct vpsie_credential *c, int64_t now_ms)
{
	OBJ_CHECK(c, VPSIE_CREDENTIAL_MAGIC);
	return c->refused && (c->in_flight || now_ms >= c->due_ms);
}

const char *
vpsie_credential_url(const struct vpsie_credential *c)
{
	OBJ_CHECK(c, VPSIE_CREDENTIAL_MAGIC);
	return c->fresh.url;
}

const char *
vpsie_credential_error(const struct vpsie_credential *c)
{
	OBJ_CHECK(c, VPSIE_CREDENTIAL_MAGIC);
	return c->error;
}

/* ---- Files ---- */

/* False: they cannot be used, and error has the cause. */
static bool
read_files(struct vpsie_credential *c)
{
	struct vpsie_credential_files f = { .url = "" };
	struct bytes url = { NULL, 0 };
	bool good = true;

	if (!read_one(c, "token", &f.token, &good) && good) {
		const bool id = read_one(c, "clientId", &f.id, &good);
		const bool secret = read_one(c, "clientSecret", &f.secret, &good);

		if (good && (!id || !secret)) {
			set_error(c,
			    "has neither the file token nor the files clientId and clientSecret",
			    NULL);
			good = false;
		}
	}
	if (good && read_one(c, "url", &url, &good) && url.len < sizeof(f.url))
		memcpy(f.url, url.data, url.len + 1);
	bytes_wipe(&url);
	if (good) {
		wipe_files(&c->fresh);
		c->fresh = f;
	} else {
		wipe_files(&f);
	}
	return good;
}

/* False: it is not there, or cannot be used; then *good is false. */
static bool
read_one(struct vpsie_credential *c, const char *name, struct bytes *out, bool *good)
{
	char path[PATH_MAX_BYTES];
	struct bytes file = { NULL, 0 };
	const char *text = NULL;
	size_t len = 0;

	snprintf(path, sizeof(path), "%s/%s", c->dir, name);
	if (!bytes_read_file(&file, path, FILE_MAX)) {
		if (errno != ENOENT && errno != ENOTDIR) {
			set_error(c, name, strerror(errno));
			*good = false;
		}
		return false;
	}
	const char *const wrong = token_parse(file.data, file.len, &text, &len);
	if (wrong != NULL) {
		set_error(c, name, wrong);
		*good = false;
	} else {
		bytes_set(out, text, len);
	}
	bytes_wipe(&file);
	return wrong == NULL;
}

static bool
same(const struct vpsie_credential_files *a, const struct vpsie_credential_files *b)
{
	return bytes_equal(&a->token, &b->token) && bytes_equal(&a->id, &b->id)
	    && bytes_equal(&a->secret, &b->secret);
}

static bool
was_rejected(const struct vpsie_credential *c)
{
	return bytes_equal(&c->rejected[0], &c->fresh.token) && bytes_equal(&c->rejected[1], &c->fresh.id)
	    && bytes_equal(&c->rejected[2], &c->fresh.secret);
}

static void
copy_files(struct vpsie_credential_files *to, const struct vpsie_credential_files *from)
{
	wipe_files(to);
	if (from->token.data != NULL)
		bytes_set(&to->token, from->token.data, from->token.len);
	if (from->id.data != NULL)
		bytes_set(&to->id, from->id.data, from->id.len);
	if (from->secret.data != NULL)
		bytes_set(&to->secret, from->secret.data, from->secret.len);
}

static void
wipe_files(struct vpsie_credential_files *f)
{
	bytes_wipe(&f->token);
	bytes_wipe(&f->id);
	bytes_wipe(&f->secret);
}

/* ---- Calls ---- */

static void
start_exchange(struct vpsie_claimer *claimer, const struct vpsie_credential_files *f)
{
	struct vpsie_credential *const c = claimer->credential;
	const struct vpsie_target t = { .client_id = { f->id.data, (uint32_t)f->id.len },
		.client_secret = { f->secret.data, (uint32_t)f->secret.len } };
	struct client_call call = { .key = "", .done = on_exchanged, .arg = claimer };

	c->trying = f == &c->fresh;
	c->in_flight = vpsie_calls_send(claimer, CLASS_TOKEN, CALL_TOKEN, &t, &call) != 0;
	if (!c->in_flight)
		reject(c, "clientId or clientSecret cannot be sent");
}

static void
on_exchanged(const struct client_answer *a, void *arg)
{
	struct vpsie_claimer *const claimer = arg;
	struct vpsie_credential *const c = claimer->credential;
	const int64_t now_ms = clock_mono_ms();
	char *token = NULL;
	int64_t refresh_us = 0;

	c->in_flight = false;
	const struct vpsie_answer answer =
	    vpsie_token_read(a->status, a->body, a->body_len, clock_wall_ms() * 1000, &token, &refresh_us);
	if (token != NULL && c->trying)
		copy_files(&c->used, &c->fresh);
	if (token != NULL) {
		commit(c, token, now_ms, now_ms + refresh_us / 1000 - clock_wall_ms());
	} else if (c->trying && c->line.data != NULL
	    && (answer.verdict == ANSWER_DENIED || answer.verdict == ANSWER_REFUSED)) {
		reject(c, answer.message);
	} else {
		set_error(c, "the exchange for a token fails for now",
		    a->status != 0 ? answer.message : a->error);
		c->due_ms = now_ms + (answer.verdict == ANSWER_DENIED ? DENIED_MS : RETRY_MS);
	}
	vpsie_token_free(&token);
	log_change(c);
}

static void
start_check(struct vpsie_claimer *claimer)
{
	struct vpsie_credential *const c = claimer->credential;
	struct client_call call = { .key = "", .done = on_checked, .arg = claimer };
	const struct bytes line = c->line;
	char *fresh = NULL;

	/* This one call carries the new token. */
	MUST(asprintf(&fresh, "%s%s", c->header, c->fresh.token.data) != -1);
	c->line = (struct bytes){ fresh, strlen(fresh) };
	c->in_flight = vpsie_calls_send(claimer, CLASS_CHECK, CALL_LIST_VMS,
			   &(struct vpsie_target){ .id = 0 }, &call)
	    != 0;
	c->line = line;
	bytes_wipe_text(&fresh);
}

static void
on_checked(const struct client_answer *a, void *arg)
{
	struct vpsie_claimer *const claimer = arg;
	struct vpsie_credential *const c = claimer->credential;
	const struct vpsie_answer answer = vpsie_answer_read(a->status, a->body, a->body_len);

	c->in_flight = false;
	if (a->status == 0 || answer.verdict == ANSWER_UNUSABLE || answer.verdict == ANSWER_THROTTLED) {
		set_error(c, "the new token cannot be tried for now",
		    a->status != 0 ? answer.message : a->error);
		c->due_ms = clock_mono_ms() + RETRY_MS;
	} else if (answer.verdict == ANSWER_DENIED || a->status == 403) {
		reject(c, "the provider does not accept the new token");
	} else if (c->fresh.token.data != NULL) {
		copy_files(&c->used, &c->fresh);
		commit(c, c->fresh.token.data, clock_mono_ms(), INT64_MAX);
	}
	log_change(c);
}

static void
commit(struct vpsie_credential *c, const char *token, int64_t now_ms, int64_t refresh_ms)
{
	char *line = NULL;

	MUST(asprintf(&line, "%s%s", c->header, token) != -1);
	bytes_set(&c->line, line, strlen(line));
	bytes_wipe_text(&line);
	c->serial++;
	c->refused = false;
	c->obtained_ms = now_ms;
	c->refresh_ms = refresh_ms;
	c->error[0] = '\0';
	log_info("a token of the VPSie API is in use", KV_S(PATH, c->dir));
}

static void
reject(struct vpsie_credential *c, const char *why)
{
	const struct bytes *const from[] = { &c->fresh.token, &c->fresh.id, &c->fresh.secret };

	for (size_t i = 0; i < NITEMS(c->rejected); i++) {
		bytes_wipe(&c->rejected[i]);
		if (from[i]->data != NULL)
			bytes_set(&c->rejected[i], from[i]->data, from[i]->len);
	}
	set_error(c, "the provider does not accept it", why);
}

static void
set_error(struct vpsie_credential *c, const char *what, const char *cause)
{
	snprintf(c->error, sizeof(c->error), "%.120s: %s%s%s", c->dir, what, cause != NULL ? ": " : "",
	    cause != NULL ? cause : "");
}

static void
log_change(struct vpsie_credential *c)
{
	if (strcmp(c->error, c->logged) == 0)
		return;
	snprintf(c->logged, sizeof(c->logged), "%s", c->error);
	if (c->error[0] != '\0')
		log_warnx(c->line.data != NULL
			? "a credential of the VPSie API cannot be used: the current one stays"
			: "there is no credential of the VPSie API: no call is sent",
		    KV_S(WHY, c->error),
		    KV_S(HINT, "correct the files in credential-dir; a restart is not needed"));
}
