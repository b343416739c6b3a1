/*
 * supervisor/question.h - one question to every actor, and their answers as far as they have come.
 *
 * Never: wait, or believe. An actor answers in its own time or not at all; what it says goes to the
 * client as a text, whatever it is.
 */
#ifndef MUSTER_QUESTION_H
#define MUSTER_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree;
struct child;
struct question;

enum {
	QUESTIONS     = 4,		/* at a time */
	QUESTION_MS   = 2000,
	QUESTION_SIZE = 960 * 1024,	/* of all answers together; the client takes 1 MiB */
};

/* Asks every actor that is up. NULL: too many questions are open. */
struct question *question_ask(struct tree *t, const char *verb, const char *object);
void question_free(struct question **qp);
/* From an actor; one that nobody waits for (any more) is dropped. */
void question_answer(const struct child *ch, uint64_t id, const char *text, size_t len);
/* Everybody who is still alive has answered, or the time is up. */
bool question_ended(const struct question *q, int64_t now_ms);
int64_t question_until_ms(const struct question *q);
/*
 * {"object": ..., "actors": {"<name>": "<its answer, as text>"}, "missing": [did not answer in time],
 * "down": [enabled and not up], "left_off": [too long to go with the others]}: allocated, with its length.
 */
char *question_json(const struct question *q, size_t *len);

#endif
