/* supervisor/question.c - asks the actors about one object, and keeps what they say until all have. */
#include "question.h"

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

struct asked {
	uint64_t	 incarnation;	/* 0: was not up */
	bool		 deaf;		/* did not take the question */
	char		*answer;	/* NULL: none yet */
	size_t		 len;
};

struct question {
	uint32_t	 magic;
#define QUESTION_MAGIC	0x51554553u
	struct tree	*tree;
	uint64_t	 id;
	int64_t		 until_ms;
	char		 object[OBJECT_MAX + 1];
	struct asked	 asked[CHILD_MAX];
};

/* Those that are open: answers name them by number. */
static struct {
	struct question	*list[QUESTIONS];
	uint64_t	 last_id;
} questions;

static bool waits_for(const struct question *, unsigned);
static uint64_t put_answers(struct json *, const struct question *);
static void put_names(struct json *, const char *, uint64_t);

struct question *
question_ask(struct tree *t, const char *verb, const char *object)
{
	struct question *q;
	size_t slot = 0;

	while (slot < QUESTIONS && questions.list[slot] != NULL)
		slot++;
	if (slot == QUESTIONS)
		return NULL;
	OBJ_NEW(q, QUESTION_MAGIC);
	q->tree = t;
	q->id = ++questions.last_id;
	q->until_ms = t->now_ms + QUESTION_MS;
	memcpy(q->object, object, strlen(object) + 1);
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		const struct child *const ch = &t->children[i];

		if (ch->pid == 0 || ch->bound_ms == 0 || ch->lifeline.fd == -1)
			continue;
		q->asked[i].incarnation = ch->incarnation;
		q->asked[i].deaf = !lifeline_send(ch->lifeline.fd, "ask %llu %s %s",
		    (unsigned long long)q->id, verb, object);
	}
	return questions.list[slot] = q;
}

void
question_free(struct question **qp)
{
	struct question *q;

	if (*qp == NULL)
		return;
	OBJ_TAKE(q, qp, QUESTION_MAGIC);
	for (size_t i = 0; i < QUESTIONS; i++) {
		if (questions.list[i] == q)
			questions.list[i] = NULL;
	}
	for (unsigned i = 0; i < CHILD_MAX; i++)
		free(q->asked[i].answer);
	OBJ_FREE(q);
}

void
question_answer(const struct child *ch, uint64_t id, const char *text, size_t len)
{
	for (size_t i = 0; i < QUESTIONS; i++) {
		struct question *const q = questions.list[i];

		if (q == NULL || q->id != id)
			continue;
		struct asked *const a = &q->asked[ch - q->tree->children];
		if (a->incarnation != ch->incarnation || a->answer != NULL)
			return;		/* of another life, or once more */
		a->answer = obj_memdup(text, len);
		a->len = len;
	}
}

bool
question_ended(const struct question *q, int64_t now_ms)
{
	bool waits = false;

	for (unsigned i = 0; i < CHILD_MAX; i++)
		waits = waits || waits_for(q, i);
	return !waits || now_ms >= q->until_ms;
}

int64_t
question_until_ms(const struct question *q)
{
	return q->until_ms;
}

char *
question_json(const struct question *q, size_t *len)
{
	uint64_t missing = 0, down = 0;
	size_t size = FRAME_BYTES;

	for (unsigned i = 0; i < CHILD_MAX; i++) {
		const struct asked *const a = &q->asked[i];

		size += GROWTH * a->len;
		if (a->incarnation != 0 && a->answer == NULL)
			missing |= UINT64_C(1) << i;
		else if (a->incarnation == 0 && q->tree->children[i].spec->enabled)
			down |= UINT64_C(1) << i;
	}
	size = size < QUESTION_SIZE ? size : QUESTION_SIZE;
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

/* One that died, or stopped listening, will not answer any more. */
static bool
waits_for(const struct question *q, unsigned i)
{
	const struct asked *const a = &q->asked[i];
	const struct child *const ch = &q->tree->children[i];

	return a->incarnation != 0 && !a->deaf && a->answer == NULL && ch->pid != 0
	    && ch->incarnation == a->incarnation && ch->lifeline.fd != -1;
}

/*
 * As texts: what is no JSON, or a thousand brackets deep, is the reader's business. Returns who had
 * no room.
 */
static uint64_t
put_answers(struct json *j, const struct question *q)
{
	uint64_t left_off = 0;

	json_open(j, "actors", '{');
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		const struct asked *const a = &q->asked[i];
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
