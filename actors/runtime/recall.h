/*
 * actors/runtime/recall.h - the flight recorder: the last hops of whatever passed through this
 * actor, for `muster trace` and `muster explain`.
 *
 * A ring of fixed size without pointers: adding a hop allocates nothing (but the ring itself, with the
 * first one) and makes no system call. Keys are kept as hashes; who asks knows the name. The time
 * is handed in.
 */
#ifndef MUSTER_RECALL_H
#define MUSTER_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

/*
 * No hop for what comes from the API server and changes nothing: a heartbeat of each of 5,000 nodes
 * would leave no room for anything else. What is published by kube-watcher came from there.
 */
#define HOPS(H)									\
	H(TAKEN,     "taken")		/* a producer told of it */		\
	H(PUBLISHED, "published")	/* it changed in a store of ours */	\
	H(SENT,      "sent")		/* to a consumer */			\
	H(ASKED,     "asked")		/* we asked for a write */		\
	H(ORDERED,   "ordered")		/* a consumer asked us for a write */	\
	H(REQUEST,   "request")		/* it left for the API server */	\
	H(RESULT,    "result")		/* we told the consumer how it ended */	\
	H(WROTE,     "wrote")		/* we were told how our write ended */	\
	H(NOTE,      "note")		/* what the actor itself says */

enum hop_what {
#define HOP_ENUM(ID, name) HOP_##ID,
	HOPS(HOP_ENUM)
#undef HOP_ENUM
	HOP_MAX
};
const char *hop_name(enum hop_what w);

enum {
	RECALL_HOPS   = 2048,
	RECALL_TRACES = 64,	/* changes that one question is answered with, the newest */
	HOP_TEXT      = 24,
	HOP_NOBODY    = 0xff,	/* no link, no peer */
};

struct hop {
	int64_t		at_us;		/* wall clock */
	uint64_t	trace;		/* 0: none */
	uint32_t	key;		/* recall_key */
	uint8_t		what, link, peer, unused;
	char		text[HOP_TEXT];	/* ends with a NUL unless it is full */
};

struct recall;

struct recall *recall_new(void);
void recall_free(struct recall **rp);
uint32_t recall_key(const char *key, size_t len);
/*
 * spare: only while the ring has room. For what is no change of the object (a snapshot of 5,000
 * keys), so that it does not push out the changes.
 */
void recall_add(struct recall *r, const struct hop *h, bool spare);
/*
 * The hops of these keys, and those that share a trace with one of them (the RECALL_TRACES newest traces),
 * oldest first, into out (room for RECALL_HOPS). They stay valid until the next hop.
 */
size_t recall_find(const struct recall *r, const uint32_t *keys, size_t nkeys, const struct hop **out);
size_t recall_count(const struct recall *r);
int64_t recall_since_us(const struct recall *r);	/* of the oldest hop; 0: none */
/*
 * A hop's text: words, then the resourceVersion if there is one; cut to fit, `?` for what is not
 * printable.
 */
void hop_say(struct hop *h, const char *words, struct wire_str rv);

struct actor;
/*
 * For an actor that moves objects by other ways than its links: kube-watcher's requests. key: as on
 * the bus.
 */
void actor_hop_as(struct actor *a, enum hop_what what, const char *key, uint64_t trace, const char *text);

#endif
