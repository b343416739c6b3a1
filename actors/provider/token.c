/* actors/provider/token.c - reads a provider's token again when its file changes. */
#include "token.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kube/kubeconfig_bytes.h"
#include "obj.h"

struct token {
	uint32_t	 magic;
#define TOKEN_MAGIC	0x544f4b45u
	char		*path;
	struct bytes	 bytes;
	uint64_t	 serial;
	struct stat	 identity;	/* of the file that was read last; all zero: read it again */
	int64_t		 checked_ms;
	char		 error[TOKEN_ERROR_MAX];
};

static void check(struct token *);
static void read_file(struct token *);
static void set_error(struct token *, const char *, const char *);
static bool same_file(const struct stat *, const struct stat *);
static bool same_time(const struct timespec *, const struct timespec *);

struct token *
token_open(const char *path, int64_t now_ms, char *err, size_t size)
{
	struct token *t;

	OBJ_NEW(t, TOKEN_MAGIC);
	t->path = obj_strdup(path);
	t->checked_ms = now_ms;
	check(t);
	if (t->bytes.data == NULL) {
		snprintf(err, size, "%s", t->error);
		token_free(&t);
	}
	return t;
}

void
token_free(struct token **tp)
{
	struct token *t;

	if (*tp == NULL)
		return;
	OBJ_TAKE(t, tp, TOKEN_MAGIC);
	bytes_wipe(&t->bytes);
	free(t->path);
	OBJ_FREE(t);
}

struct token_view
token_now(struct token *t, int64_t now_ms)
{
	OBJ_CHECK(t, TOKEN_MAGIC);
	if (now_ms - t->checked_ms >= TOKEN_CHECK_MS) {
		t->checked_ms = now_ms;
		check(t);
	}
	return (struct token_view){
		.text = t->bytes.data, .len = t->bytes.len, .serial = t->serial, .error = t->error,
	};
}

bool
token_refused(struct token *t, uint64_t serial, int64_t now_ms)
{
	OBJ_CHECK(t, TOKEN_MAGIC);
	/* A burst of refusals of one token is one reason to read. */
	if (serial == t->serial) {
		t->checked_ms = now_ms;
		t->identity = (struct stat){ 0 };
		check(t);
	}
	return serial != t->serial;
}

static void
check(struct token *t)
{
	struct stat now;

	/* Before it is read: what is written in between differs from this identity next time. */
	if (stat(t->path, &now) == -1) {
		set_error(t, "cannot be read", strerror(errno));
		t->identity = (struct stat){ 0 };
	} else if (!same_file(&now, &t->identity)) {
		t->identity = now;
		read_file(t);
	}
}

static void
read_file(struct token *t)
{
	struct bytes file = { NULL, 0 }, fresh = { NULL, 0 };
	const char *text = NULL;
	size_t len = 0;

	if (!bytes_read_file(&file, t->path, TOKEN_BYTES_MAX * 2)) {
		set_error(t, "cannot be read", strerror(errno));
		t->identity = (struct stat){ 0 };
		return;
	}
	const char *const wrong = token_parse(file.data, file.len, &text, &len);
	if (wrong != NULL) {
		set_error(t, wrong, NULL);
		bytes_wipe(&file);
		return;
	}
	t->error[0] = '\0';
	bytes_set(&fresh, text, len);
	if (!bytes_equal(&fresh, &t->bytes)) {
		bytes_take(&t->bytes, &fresh);
		t->serial++;
	}
	bytes_wipe(&fresh);
	bytes_wipe(&file);
}

static void
set_error(struct token *t, const char *what, const char *cause)
{
	snprintf(t->error, sizeof(t->error), "token file %.160s %s%s%s", t->path, what,
	    cause != NULL ? ": " : "", cause != NULL ? cause : "");
}

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size
	    && same_time(&a->st_mtim, &b->st_mtim) && same_time(&a->st_ctim, &b->st_ctim);
}

static bool
same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}
