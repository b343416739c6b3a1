/*
 * tests/unit/selector_text.h - a selector as Go's String() prints it: requirements by key, values sorted,
 * blanks gone. Tests compare what was parsed by it.
 */
#ifndef MUSTER_SELECTOR_TEXT_H
#define MUSTER_SELECTOR_TEXT_H

#include <string.h>

#include "kube/selector_private.h"
#include "obj.h"

/* How an operator is written between key and values. */
static const struct {
	const char	*before, *infix, *open, *close;
} selector_notation[OP_MAX] = {
	[OP_IN]            = { "",  " in ",    "(", ")" },
	[OP_NOT_IN]        = { "",  " notin ", "(", ")" },
	[OP_EQUALS]        = { "",  "=",       "",  "" },
	[OP_DOUBLE_EQUALS] = { "",  "==",      "",  "" },
	[OP_NOT_EQUALS]    = { "",  "!=",      "",  "" },
	[OP_GREATER]       = { "",  ">",       "",  "" },
	[OP_LESS]          = { "",  "<",       "",  "" },
	[OP_EXISTS]        = { "",  "",        "",  "" },
	[OP_ABSENT]        = { "!", "",        "",  "" },
};

/* Text into a buffer that may be too small. */
struct selector_text {
	char	*buf;
	size_t	 size, used;
};

static void
selector_text_put(struct selector_text *o, const char *text, bool escape)
{
	for (; *text != '\0'; text++) {
		const bool special = escape && strchr("\\,=", *text) != NULL;

		for (int i = special ? 0 : 1; i < 2; i++) {
			if (o->used + 1 < o->size) {
				o->buf[o->used] = i == 0 ? '\\' : *text;
				o->buf[o->used + 1] = '\0';
			}
			o->used++;
		}
	}
}

/* Cut to size and NUL-terminated; the whole length. */
static size_t
selector_print(const struct selector *s, char *buf, size_t size)
{
	struct selector_text o = { .buf = buf, .size = size };

	OBJ_CHECK(s, SELECTOR_MAGIC);
	if (size > 0)
		buf[0] = '\0';
	for (size_t i = 0; i < s->count; i++) {
		const struct requirement *r = &s->list[i];

		selector_text_put(&o, i > 0 ? "," : "", false);
		selector_text_put(&o, selector_notation[r->op].before, false);
		selector_text_put(&o, r->key, false);
		selector_text_put(&o, selector_notation[r->op].infix, false);
		selector_text_put(&o, selector_notation[r->op].open, false);
		for (size_t v = 0; v < r->nvalues; v++) {
			selector_text_put(&o, v > 0 ? "," : "", false);
			selector_text_put(&o, r->values[v], s->fields);
		}
		selector_text_put(&o, selector_notation[r->op].close, false);
	}
	return o.used;
}

#endif
