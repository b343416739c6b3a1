/*
 * actors/runtime/tap.h - copies of the frames that an actor sends and receives, for any reader; a reader
 * cannot disturb the actor.
 *
 * Each actor binds one XPUB, <run-dir>/<role>/tap.ipc: at most 1,000 records wait per reader and TAP_BUDGET
 * bytes for all of them; it never waits, it loses records. With no reader nothing is copied: XPUB receives
 * the first subscription, until then tap_record is one load and a branch.
 *
 * A record is three parts:
 *	topic	"<o|i>/<actor>/<link>/<MESSAGE>": o as sent, i as received; readers subscribe
 *		to prefixes of it
 *	meta	a packed `tap` body (messages.h)
 *	frame	the bytes as they went over the link; a message with a secret field is repacked without it
 */
#ifndef MUSTER_TAP_H
#define MUSTER_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "links.h"
#include "msg.h"
#include "roles.h"

/* Bytes that records may take in the memory of an actor until their readers have them. */
enum { TAP_BUDGET = 16 * 1024 * 1024 };

struct tap;
struct event_base;

struct tap *tap_open(struct event_base *base, const char *run_dir, enum role r, uint64_t incarnation);
void tap_close(struct tap **tp);

#if MUSTER_TAP
/* Set while there is a subscriber of that topic. */
extern bool tap_subscribed[TAP_DIRECTIONS][LINK_MAX][MSG_MAX];
void tap_copy(struct tap *t, enum tap_direction d, enum link l, enum msg m, const char *peer,
    const void *frame, size_t len);
#define tap_record(t, d, l, m, peer, frame, len)				\
	do {									\
		if (__builtin_expect(tap_subscribed[d][l][m], 0))			\
			tap_copy(t, d, l, m, peer, frame, len);			\
	} while (0)
#else	/* only to measure what the idle tap costs: ./dev bench bus */
#define tap_record(t, d, l, m, peer, frame, len)				\
	((void)(t), (void)(l), (void)(m), (void)(peer), (void)(frame), (void)(len))
#endif

#endif
