/* actors/provider/token_parse.c - the one token that a file may hold. Pure. */
#include "token.h"

static bool is_blank(char);

const char *
token_parse(const char *bytes, size_t len, const char **text, size_t *text_len)
{
	while (len > 0 && is_blank(bytes[len - 1]))
		len--;
	while (len > 0 && is_blank(bytes[0])) {
		bytes++;
		len--;
	}
	if (len == 0)
		return "is empty";
	if (len > TOKEN_BYTES_MAX)
		return "is larger than a token may be";
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] <= ' ' || bytes[i] > '~')
			return "holds more than one token, or a byte that cannot be sent";
	}
	*text = bytes;
	*text_len = len;
	return NULL;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
