/* base/utf8.c - well-formed UTF-8, by the table of the Unicode standard (table 3-7). */
#include "utf8.h"

#include "obj.h"

static const struct {
	unsigned char first, last;	/* range of the first byte */
	unsigned char low, high;	/* of the second: no overlong forms, no surrogates */
	unsigned char bytes;
} forms[] = {
	{ 0x00, 0x7f, 0x00, 0x00, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

size_t
utf8_length(const char *s, size_t len)
{
	const unsigned char *const b = (const unsigned char *)s;
	size_t f = 0;

	while (f < NITEMS(forms) && (b[0] < forms[f].first || b[0] > forms[f].last))
		f++;
	if (f == NITEMS(forms) || forms[f].bytes > len)
		return 0;
	if (forms[f].bytes > 1 && (b[1] < forms[f].low || b[1] > forms[f].high))
		return 0;
	for (size_t i = 2; i < forms[f].bytes; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	}
	return forms[f].bytes;
}
