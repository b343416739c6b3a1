/* cli/lost.c - the last number seen, per topic of each actor. */
#include "lost.h"

#include "obj.h"

struct mark {
	uint64_t	incarnation, seq;
};

struct lost {
	uint32_t	magic;
#define LOST_MAGIC	0x4c4f5354u
	struct mark	marks[ROLE_MAX][TAP_DIRECTIONS][LINK_MAX][MSG_MAX];
};

struct lost *
lost_new(void)
{
	struct lost *l;

	OBJ_NEW(l, LOST_MAGIC);
	return l;
}

void
lost_free(struct lost **lp)
{
	struct lost *l;

	if (*lp == NULL)
		return;
	OBJ_TAKE(l, lp, LOST_MAGIC);
	OBJ_FREE(l);
}

uint64_t
lost_before(struct lost *l, const struct capture *c)
{
	OBJ_CHECK(l, LOST_MAGIC);
	struct mark *m = &l->marks[c->actor][c->direction][c->link][c->message];
	const struct mark now = { .incarnation = c->meta.incarnation, .seq = c->meta.seq };
	const bool follows = m->incarnation == now.incarnation && now.seq > m->seq;
	const uint64_t missing = follows ? now.seq - m->seq - 1 : 0;

	*m = now;
	return missing;
}
