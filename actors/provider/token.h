/*
 * actors/provider/token.h - a provider's token in a file that is replaced while the actor runs.
 *
 * Rules
 * - The file is opened by its path each time: a projected volume replaces a symbolic link on the way to it.
 *   Once a second at most its identity (device, inode, size, times) is compared; a change reads it again,
 *   and so does a refusal by the provider.
 * - A file that cannot be read, or does not hold one token, changes nothing but the error: the token before
 *   stays in use.
 * - The token is wiped when it is replaced and at the end. No text here contains a part of it.
 */
#ifndef MUSTER_TOKEN_H
#define MUSTER_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOKEN_BYTES_MAX = 16 * 1024, TOKEN_CHECK_MS = 1000, TOKEN_ERROR_MAX = 256 };

struct token;

/* Valid until the next call of token_now, token_refused or token_free. */
struct token_view {
	const char	*text;
	size_t		 len;
	uint64_t	 serial;	/* moves with every change of the token */
	const char	*error;		/* why the file was not used last; "": it was */
};

/* NULL with a text in err when there is no token to begin with. */
struct token *token_open(const char *path, int64_t now_ms, char *err, size_t size);
void token_free(struct token **tp);
struct token_view token_now(struct token *t, int64_t now_ms);
/* The provider refused the token of that serial. True: another one is in use by now. */
bool token_refused(struct token *t, uint64_t serial, int64_t now_ms);

/*
 * The token in the bytes of a file, without the blanks around it. Returns NULL, or what is wrong with
 * them. Pure.
 */
const char *token_parse(const char *bytes, size_t len, const char **text, size_t *text_len);

#endif
