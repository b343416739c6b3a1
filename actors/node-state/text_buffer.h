/* actors/node-state/text_buffer.h - appends texts to a buffer of the caller, without printf. Pure. */
#ifndef MUSTER_NODE_TEXT_BUFFER_H
#define MUSTER_NODE_TEXT_BUFFER_H

#include <stddef.h>
#include <string.h>

struct text_buffer {
	char	*p;
	size_t	 size, len;	/* size > 0; len without the NUL */
};

/* Cut where the room ends; always NUL-terminated. */
static inline void
text_put(struct text_buffer *t, const char *s)
{
	const size_t len = strlen(s), room = t->size - 1 - t->len;
	const size_t n = len < room ? len : room;

	memcpy(t->p + t->len, s, n);
	t->len += n;
	t->p[t->len] = '\0';
}

#endif
