/* kube/splitter.c - what all splitters share: the buffer of an unfinished object, the end of input. */
#include "splitter.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "splitter_private.h"
#include "obj.h"

#define SPLITTER_MAGIC	0x5c155045u

/* Room for most objects; a larger buffer is freed after its object. */
enum { HELD_FIRST = 32 * 1024, HELD_KEEP = 1024 * 1024 };

static bool watch_whole(struct splitter *);

static const struct {
	splitter_step *step;
	bool	(*whole)(struct splitter *);
} splitters[2][2] = {
	[SPLIT_WATCH] = { [PROJECT_JSON] = { splitter_json_watch, watch_whole },
			[PROJECT_PROTO] = { splitter_pb_watch, watch_whole } },
	[SPLIT_LIST]  = { [PROJECT_JSON] = { splitter_json_list, splitter_json_list_complete },
			[PROJECT_PROTO] = { splitter_pb_list, splitter_pb_list_complete } },
};

struct splitter *
splitter_new(enum splitter_shape shape, enum project_form form, splitter_object_fn *piece, void *arg)
{
	struct splitter *c;

	OBJ_NEW(c, SPLITTER_MAGIC);
	c->step = splitters[shape][form].step;
	c->whole = splitters[shape][form].whole;
	c->piece = piece;
	c->arg = arg;
	return c;
}

void
splitter_free(struct splitter **cp)
{
	struct splitter *c;

	if (*cp == NULL)
		return;
	OBJ_TAKE(c, cp, SPLITTER_MAGIC);
	free(c->held);
	free(c->rv);
	free(c->next);
	OBJ_FREE(c);
}

bool
splitter_feed(struct splitter *c, const void *bytes, size_t len)
{
	const char *p = bytes;

	OBJ_CHECK(c, SPLITTER_MAGIC);
	while (len > 0 && !c->over) {
		const size_t n = c->step(c, p, len);

		c->over = n == 0;
		p += n;
		len -= n;
	}
	return !c->over;
}

bool
splitter_end(struct splitter *c)
{
	OBJ_CHECK(c, SPLITTER_MAGIC);
	return !c->over && c->whole(c);
}

const char *
splitter_error(const struct splitter *c)
{
	OBJ_CHECK(c, SPLITTER_MAGIC);
	return c->error;
}

const char *
splitter_list_rv(const struct splitter *c)
{
	OBJ_CHECK(c, SPLITTER_MAGIC);
	return c->rv == NULL ? "" : c->rv;
}

const char *
splitter_list_continue(const struct splitter *c)
{
	OBJ_CHECK(c, SPLITTER_MAGIC);
	return c->next == NULL ? "" : c->next;
}

bool
splitter_fail(struct splitter *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->error, sizeof(c->error), format, ap);
	va_end(ap);
	c->over = true;
	return false;
}

bool
splitter_buffer(struct splitter *c, const char *p, size_t len, size_t max)
{
	if (len > max - c->held_len)
		return splitter_fail(
		    c, "after %zu objects: one that is longer than %zu bytes", c->items, max);
	const size_t needed = c->held_len + len + PROJECT_PADDING;
	if (needed > c->held_size) {
		c->held_size = c->held_size * 2 > HELD_FIRST ? c->held_size * 2 : HELD_FIRST;
		if (c->held_size < needed)
			c->held_size = needed;
		c->held = obj_realloc(c->held, c->held_size);
	}
	memcpy(c->held + c->held_len, p, len);
	c->held_len += len;
	return true;
}

bool
splitter_deliver(struct splitter *c, const char *p, size_t len, size_t behind)
{
	const bool in_place = c->held_len == 0 && behind >= PROJECT_PADDING && len <= SPLITTER_OBJECT_MAX;

	if (!in_place && !splitter_buffer(c, p, len, SPLITTER_OBJECT_MAX))
		return false;
	c->items++;
	if (in_place)
		return c->piece(p, len, c->arg);
	memset(c->held + c->held_len, 0, PROJECT_PADDING);
	const bool go_on = c->piece(c->held, c->held_len, c->arg);
	splitter_drop(c);
	return go_on;
}

void
splitter_drop(struct splitter *c)
{
	c->held_len = 0;
	if (c->held_size > HELD_KEEP) {
		free(c->held);
		c->held = NULL;
		c->held_size = 0;
	}
}

void
splitter_copy_text(char **to, const char *p, size_t len)
{
	if (*to != NULL)
		return;
	*to = obj_alloc(len + 1);
	memcpy(*to, p, len);
}

bool
splitter_list_has_rv(struct splitter *c)
{
	if (splitter_list_rv(c)[0] == '\0' || strlen(c->rv) > PROJECT_RV_MAX)
		return splitter_fail(c, "the list has no resourceVersion, or one of more than %d bytes",
		    PROJECT_RV_MAX);
	return true;
}

/* A watch may end between any two of its frames. */
static bool
watch_whole(struct splitter *c)
{
	if (c->held_len == 0 && c->pb.head_len == 0 && c->pb.left == 0)
		return true;
	return splitter_fail(c, "the stream ended within an event, of which %zu bytes had come", c->held_len);
}
