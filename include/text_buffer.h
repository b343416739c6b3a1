/* include/text_buffer.h - appends texts to a buffer of the caller, without printf. Pure. */
#ifndef MUSTER_TEXT_BUFFER_H
#define MUSTER_TEXT_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "utf8.h"

struct text_buffer {
	char	*p;
	size_t	 size, len;	/* size > 0; len without the NUL */
};

/* Cut between characters where the room ends; always NUL-terminated. */
static inline void
text_putn(struct text_buffer *t, const char *s, size_t len)
{
	const size_t room = t->size - 1 - t->len;
	const size_t n = len <= room ? len : utf8_cut(s, len, room, room);

	if (n > 0)
		memcpy(t->p + t->len, s, n);
	t->len += n;
	t->p[t->len] = '\0';
}

static inline void
text_put(struct text_buffer *t, const char *s)
{
	text_putn(t, s, strlen(s));
}

static inline void
text_put_int(struct text_buffer *t, int64_t n)
{
	char digits[24];
	size_t at = sizeof(digits);
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;

	do {
		digits[--at] = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (n < 0)
		digits[--at] = '-';
	text_putn(t, digits + at, sizeof(digits) - at);
}

#endif
