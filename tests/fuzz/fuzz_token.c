/*
 * tests/fuzz/fuzz_token.c - any bytes as a provider's token file.
 *
 * Rule: what is accepted can be sent as it is in a header: printable ASCII without blanks, a part of the
 * file, all of it but the blanks around. What is refused leaves the results untouched.
 */
#include <stdint.h>
#include <string.h>

#include "actors/provider/token.h"
#include "obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const bytes = (const char *)data;
	const char *text = NULL;
	size_t len = 0;

	if (token_parse(bytes, size, &text, &len) != NULL) {
		MUST(text == NULL && len == 0);
		return 0;
	}
	MUST(len > 0 && len <= TOKEN_BYTES_MAX && text >= bytes && text + len <= bytes + size);
	for (size_t i = 0; i < len; i++)
		MUST(text[i] > ' ' && text[i] <= '~');
	for (const char *p = bytes; p < bytes + size; p++)
		MUST((p >= text && p < text + len) || memchr(" \t\r\n", *p, 4) != NULL);
	return 0;
}
