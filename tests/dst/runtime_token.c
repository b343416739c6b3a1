/* tests/dst/runtime_token.c - token.h in the simulation: there are no files, and the token never changes. */
#include <stdlib.h>

#include "obj.h"
#include "provider/token.h"

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
