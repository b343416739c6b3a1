/* actors/metrics/body.c - shared, counted bodies of /metrics. */
#include "body.h"

#include "obj.h"

enum { FIRST_SIZE = 64 * 1024 };

struct bodies {
	uint32_t	 magic;
#define BODIES_MAGIC	0x424f4459u
	struct body	*newest;	/* NULL: none yet, or closed */
	int64_t		 rendered_ms;
	unsigned	 count;
	bool		 closed;
};

static void render_newest(struct bodies *, body_render *, void *, size_t);

struct bodies *
bodies_new(void)
{
	struct bodies *b;

	OBJ_NEW(b, BODIES_MAGIC);
	return b;
}

void
bodies_free(struct bodies **bp)
{
	struct bodies *b;

	if (*bp == NULL)
		return;
	OBJ_TAKE(b, bp, BODIES_MAGIC);
	b->closed = true;
	if (b->newest != NULL)
		body_release(b->newest);
	else
		OBJ_FREE(b);
}

struct body *
bodies_get(struct bodies *b, body_render *render, void *arg, int64_t now_ms)
{
	OBJ_CHECK(b, BODIES_MAGIC);
	if (b->newest == NULL || now_ms - b->rendered_ms >= BODY_FRESH_MS) {
		const size_t last = b->newest == NULL ? 0 : b->newest->len;

		if (b->newest != NULL && b->newest->refs == 1) {
			body_release(b->newest);
			b->newest = NULL;
		}
		if (b->count < BODIES_MAX) {
			if (b->newest != NULL)
				body_release(b->newest);
			render_newest(b, render, arg, last + last / 8 + FIRST_SIZE);
			b->rendered_ms = now_ms;
		}
	}
	MUST(b->newest != NULL);	/* only a newer one takes its place */
	b->newest->refs++;
	return b->newest;
}

void
body_release(struct body *body)
{
	struct bodies *b = body->owner;

	MUST(body->refs > 0);
	if (--body->refs > 0)
		return;
	free(body->text);
	free(body);
	if (--b->count == 0 && b->closed)
		OBJ_FREE(b);
}

static void
render_newest(struct bodies *b, body_render *render, void *arg, size_t size)
{
	struct text out;

	for (;;) {
		out = (struct text){ .buf = obj_alloc(size), .size = size };
		render(arg, &out);
		if (out.len < size)
			break;
		free(out.buf);
		size = out.len + out.len / 8;
	}
	b->newest = obj_alloc(sizeof(*b->newest));
	*b->newest = (struct body){ .owner = b, .refs = 1, .text = out.buf, .len = out.len };
	b->count++;
}
