/*
 * tests/actors/misbehave.h - a test actor that is authenticated and then sends what it may not, as
 * its setting `misbehave` requires. Only the first incarnation does: the next one shows that the
 * restart was the remedy.
 */
#ifndef MUSTER_TEST_MISBEHAVE_H
#define MUSTER_TEST_MISBEHAVE_H

#include <stdint.h>

#include "actor.h"
#include "links.h"
#include "socket.h"

/* A token of a consumer, sent to a producer that it was not minted for. */
struct replay {
	enum role	 as, producer;
	enum link	 link;
	struct socket	*socket;
	bool		 sent, answered;
};

struct misbehave {
	int64_t		 at_ms;		/* 0: never, or done */
	struct socket	*socket;	/* beside the one of the runtime, with the actor's own token */
	bool		 hello_sent;
	struct replay	 replays[64];
	size_t		 nreplays;
};

void misbehave_start(struct misbehave *m, struct actor *a, int64_t now_ms);
void misbehave_tick(struct misbehave *m, struct actor *a, int64_t now_ms);	/* a consumer: a bad frame */
void misbehave_value(struct misbehave *m, struct actor *a, int64_t now_ms);	/* a producer: a bad value */
void misbehave_replay(struct misbehave *m, struct actor *a, int64_t now_ms);	/* a producer: its tokens */
void misbehave_stop(struct misbehave *m);

#endif
