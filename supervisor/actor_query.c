/* supervisor/actor_query.c - sends a query about one object to the actors, and collects their answers. */
#include "actor_query.h"

#include <string.h>

#include "json.h"
#include "lifeline.h"
#include "obj.h"
#include "request.h"
#include "tree.h"

enum {
	FRAME_BYTES = 16 * 1024,	/* of the JSON around the answers: names of children */
	GROWTH	    = 2,		/* of an answer by its escapes, if it is what it should be */
};

_Static_assert(CHILD_MAX <= 64, "sets of children are 64-bit masks");

struct target {
	uint64_t	 incarnation;	/* 0: was not up */
	bool		 unreachable;	/* its lifeline was full */
	char		*answer;	/* NULL: none yet */
	size_t		 len;
};

struct actor_query {
	uint32_t	 magic;
#define QUERY_MAGIC	0x51554553u
	struct tree	*tree;
	uint64_t	 id;
	int64_t		 until_ms;
	char		 object[OBJECT_MAX + 1];
	struct target	 targets[CHILD_MAX];
};

/* The open ones; an answer has the id of its query. */
static struct {
	struct actor_query	*list[QUERIES];
	uint64_t	 last_id;
} queries;

static bool is_awaited(const struct actor_query *, unsigned);
static uint64_t put_answers(struct json *, const struct actor_query *);
static void put_names(struct json *, const char *, uint64_t);

struct actor_query *
actor_query_start(struct tree *t, const char *verb, const char *object)
{
	struct actor_query *q;
	size_t slot = 0;

	while (slot < QUERIES && queries.list[slot] != NULL)
		slot++;
	if (slot == QUERIES)
		return NULL;
	OBJ_NEW(q, QUERY_MAGIC);
	q->tree = t;
	q->id = ++queries.last_id;
	q->until_ms = t->now_ms + QUERY_MS;
	memcpy(q->object, object, strlen(object) + 1);
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		const struct child *const ch = &t->children[i];

		if (ch->pid == 0 || ch->bound_ms == 0 || ch->lifeline.fd == -1)
			continue;
		q->targets[i].incarnation = ch->incarnation;
		q->targets[i].unreachable = !lifeline_send(ch->lifeline.fd, "query %llu %s %s",
		    (unsigned long long)q->id, verb, object);
	}
	return queries.list[slot] = q;
}

void
actor_query_free(struct actor_query **qp)
{
	struct actor_query *q;

	if (*qp == NULL)
		return;
	OBJ_TAKE(q, qp, QUERY_MAGIC);
	for (size_t i = 0; i < QUERIES; i++) {
		if (queries.list[i] == q)
			queries.list[i] = NULL;
	}
	for (unsigned i = 0; i < CHILD_MAX; i++)
		free(q->targets[i].answer);
	OBJ_FREE(q);
}

void
actor_query_answer(const struct child *ch, uint64_t id, const char *text, size_t len)
{
	for (size_t i = 0; i < QUERIES; i++) {
		struct actor_query *const q = queries.list[i];

		if (q == NULL || q->id != id)
			continue;
		struct target *const a = &q->targets[ch - q->tree->children];
		if (a->incarnation != ch->incarnation || a->answer != NULL)
			return;		/* from an earlier incarnation, or a second one */
		a->answer = obj_memdup(text, len);
		a->len = len;
	}
}

bool
actor_query_done(const struct actor_query *q, int64_t now_ms)
{
	bool waits = false;

	for (unsigned i = 0; i < CHILD_MAX; i++)
		waits = waits || is_awaited(q, i);
	return !waits || now_ms >= q->until_ms;
}

int64_t
actor_query_until_ms(const struct actor_query *q)
{
	return q->until_ms;
}

char *
actor_query_json(const struct actor_query *q, size_t *len)
{
	uint64_t missing = 0, down = 0;
	size_t size = FRAME_BYTES;

	for (unsigned i = 0; i < CHILD_MAX; i++) {
		const struct target *const a = &q->targets[i];

		size += GROWTH * a->len;
		if (a->incarnation != 0 && a->answer == NULL)
			missing |= UINT64_C(1) << i;
		else if (a->incarnation == 0 && q->tree->children[i].spec->enabled)
			down |= UINT64_C(1) << i;
	}
	size = size < QUERY_SIZE ? size : QUERY_SIZE;
	struct json j = { .buf = obj_alloc(size), .size = size };
	json_open(&j, NULL, '{');
	json_str(&j, "object", q->object);
	const uint64_t left_off = put_answers(&j, q);
	put_names(&j, "missing", missing);
	put_names(&j, "down", down);
	put_names(&j, "left_off", left_off);
	json_close(&j, '}');
	*len = json_end(&j);
	MUST(*len > 0);		/* the frame was kept free */
	return j.buf;
}

/* An actor that died, or has closed its lifeline, will not answer. */
static bool
is_awaited(const struct actor_query *q, unsigned i)
{
	const struct target *const a = &q->targets[i];
	const struct child *const ch = &q->tree->children[i];

	return a->incarnation != 0 && !a->unreachable && a->answer == NULL && ch->pid != 0
	    && ch->incarnation == a->incarnation && ch->lifeline.fd != -1;
}

/*
 * As strings: whether an answer is valid JSON is for the client to find out. Returns the actors whose
 * answers did not fit.
 */
static uint64_t
put_answers(struct json *j, const struct actor_query *q)
{
	uint64_t left_off = 0;

	json_open(j, "actors", '{');
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		const struct target *const a = &q->targets[i];
		struct json with = *j;

		if (a->answer == NULL)
			continue;
		with.size -= FRAME_BYTES - sizeof(q->object);
		json_strn(&with, q->tree->children[i].name, a->answer, a->len);
		if (with.full) {
			left_off |= UINT64_C(1) << i;
			continue;
		}
		with.size = j->size;
		*j = with;
	}
	json_close(j, '}');
	return left_off;
}

static void
put_names(struct json *j, const char *name, uint64_t children)
{
	json_open(j, name, '[');
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		if ((children >> i & 1) != 0)
			json_str(j, NULL, role_name(child_table[i].role));
	}
	json_close(j, ']');
}
