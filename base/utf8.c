/* base/utf8.c - well-formed UTF-8, by the table of the Unicode standard (3-7), and how it is shown. */
#include "utf8.h"

#include <string.h>

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

static size_t escape(char[UTF8_SHOWN_MAX], char, unsigned, unsigned);

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

uint32_t
utf8_code(const char *s, size_t bytes)
{
	const unsigned char *const b = (const unsigned char *)s;
	uint32_t code = bytes == 1 ? b[0] : b[0] & (0x7fu >> bytes);

	for (size_t i = 1; i < bytes; i++)
		code = code << 6 | (b[i] & 0x3f);
	return code;
}

size_t
utf8_span(const char *s, size_t len, bool (*refused)(uint32_t code))
{
	size_t at = 0;

	for (size_t n; at < len; at += n) {
		n = utf8_length(s + at, len - at);
		if (n == 0 || (refused != NULL && refused(utf8_code(s + at, n))))
			break;
	}
	return at;
}

bool
utf8_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f);
}

size_t
utf8_cut(const char *s, size_t len, size_t max_bytes, size_t max_points)
{
	size_t at = 0;

	for (size_t n; at < len && max_points > 0; max_points--, at += n) {
		n = utf8_length(s + at, len - at);
		n += n == 0;
		if (at + n > max_bytes)
			break;
	}
	return at;
}

size_t
utf8_show_json(const char *s, size_t len, char out[UTF8_SHOWN_MAX], size_t *out_len)
{
	static const char shorts[128] = {
		['"'] = '"',  ['\\'] = '\\', ['\n'] = 'n', ['\t'] = 't',
		['\r'] = 'r', ['\b'] = 'b',  ['\f'] = 'f',
	};
	const unsigned char c = (unsigned char)s[0];
	const size_t n = utf8_length(s, len);

	if (n == 0)
		*out_len = escape(out, 'u', 0xfffd, 4);
	else if (n == 1 && shorts[c] != 0)
		*out_len = escape(out, shorts[c], 0, 0);
	else if (n == 1 && (c < 0x20 || c == 0x7f))
		*out_len = escape(out, 'u', c, 4);
	else if (n == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0)	/* C1: 0x9b steers a terminal */
		*out_len = escape(out, 'u', (unsigned char)s[1], 4);
	else
		memcpy(out, s, *out_len = n);
	return n > 0 ? n : 1;
}

size_t
utf8_show_text(const char *s, size_t len, char out[UTF8_SHOWN_MAX], size_t *out_len)
{
	if (utf8_length(s, len) != 0)
		return utf8_show_json(s, len, out, out_len);
	*out_len = escape(out, 'x', (unsigned char)s[0], 2);
	return 1;
}

/* A backslash, that letter, and so many digits. */
static size_t
escape(char out[UTF8_SHOWN_MAX], char letter, unsigned code, unsigned digits)
{
	out[0] = '\\';
	out[1] = letter;
	for (unsigned i = 0; i < digits; i++)
		out[2 + i] = "0123456789abcdef"[code >> 4 * (digits - 1 - i) & 15];
	return 2 + digits;
}
