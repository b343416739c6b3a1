/*
 * tests/dst/runtime_token.c - token.h in the simulation: there are no files, and that token never changes;
 * and the file of a program that reads its token by itself.
 */
#include "runtime_token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kube/kubeconfig_bytes.h"
#include "obj.h"
#include "provider/token.h"

bool __real_bytes_read_file(struct bytes *b, const char *path, size_t max);
bool __wrap_bytes_read_file(struct bytes *b, const char *path, size_t max);

const char *runtime_token_file;

bool
__wrap_bytes_read_file(struct bytes *b, const char *path, size_t max)
{
	if (runtime_token_file == NULL)
		return __real_bytes_read_file(b, path, max);
	if (runtime_token_file[0] == '\0') {
		errno = ENOENT;
		return false;
	}
	b->len = strlen(runtime_token_file);
	b->data = obj_strdup(runtime_token_file);
	return true;
}

struct token {
	const char	*text;
};

struct token *
token_open(const char *path, int64_t now_ms, char *err, size_t size)
{
	struct token *const t = obj_alloc(sizeof(*t));

	(void)path, (void)now_ms, (void)err, (void)size;
	t->text = "simulated";
	return t;
}

void
token_free(struct token **tp)
{
	free(*tp);
	*tp = NULL;
}

struct token_view
token_now(struct token *t, int64_t now_ms)
{
	(void)now_ms;
	return (struct token_view){ .text = t->text, .len = 9, .serial = 1, .error = "" };
}

bool
token_refused(struct token *t, uint64_t serial, int64_t now_ms)
{
	(void)t, (void)serial, (void)now_ms;
	return false;
}
