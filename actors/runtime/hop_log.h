/*
 * actors/runtime/hop_log.h - a ring of the last hops of changes through this actor, for `muster
 * trace` and `muster explain`.
 *
 * A ring of fixed size without pointers: adding a hop allocates nothing (except the ring itself,
 * with the first one) and makes no system call. Keys are kept as hashes: a request contains the
 * name. The time is a parameter.
 */
#ifndef MUSTER_HOP_LOG_H
#define MUSTER_HOP_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

/*
 * An event of the API server that changes no projected field has no hop: the heartbeats of 5,000
 * nodes would fill the ring. What kube-watcher publishes came from the API server.
 */
#define HOPS(H)									\
	H(RECEIVED,  "received")	/* from a producer */			\
	H(PUBLISHED, "published")	/* it changed in a store of this actor */	\
	H(SENT,      "sent")		/* to a consumer */			\
	H(WRITE_REQUESTED, "write-requested")	/* this actor requested a write */	\
	H(WRITE_RECEIVED, "write-received")	/* a consumer's request for a write arrived */	\
	H(REQUEST,   "request")		/* it was sent to the API server */	\
	H(RESULT,    "result")		/* its outcome was sent to the consumer */	\
	H(WRITE_DONE, "write-done")	/* the outcome of this actor's write arrived */	\
	H(NOTE,      "note")		/* added by the actor itself */

enum hop_what {
#define HOP_ENUM(ID, name) HOP_##ID,
	HOPS(HOP_ENUM)
#undef HOP_ENUM
	HOP_MAX
};
const char *hop_name(enum hop_what w);

enum {
	HOP_LOG_HOPS   = 2048,
	HOP_LOG_TRACES = 64,	/* the newest changes, of which an answer has the hops */
	HOP_TEXT      = 24,
	HOP_NONE    = 0xff,	/* no link, no peer */
};

struct hop {
	int64_t		at_us;		/* wall clock */
	uint64_t	trace;		/* 0: none */
	uint32_t	key;		/* hop_log_key */
	uint8_t		what, link, peer, unused;
	char		text[HOP_TEXT];	/* ends with a NUL unless it is full */
};

struct hop_log;

struct hop_log *hop_log_new(void);
void hop_log_free(struct hop_log **rp);
uint32_t hop_log_key(const char *key, size_t len);
/*
 * spare: add it only while the ring has room. For hops that are no change of the object (a snapshot
 * of 5,000 keys), so that they do not displace changes.
 */
void hop_log_add(struct hop_log *r, const struct hop *h, bool spare);
/*
 * The hops of these keys, and those that share a trace with one of them (the HOP_LOG_TRACES newest
 * traces), oldest first, into out (room for HOP_LOG_HOPS). They stay valid until the next hop.
 */
size_t hop_log_find(const struct hop_log *r, const uint32_t *keys, size_t nkeys, const struct hop **out);
bool hop_log_has(const uint32_t *keys, size_t nkeys, uint32_t key);	/* one of them is that key */
size_t hop_log_count(const struct hop_log *r);
int64_t hop_log_since_us(const struct hop_log *r);	/* of the oldest hop; 0: none */
/*
 * A hop's text: words, then the resourceVersion if there is one; cut to fit, `?` for what is not
 * printable.
 */
void hop_set_text(struct hop *h, const char *words, struct wire_str rv);

struct actor;
/* For hops outside the links: kube-watcher's requests to the API server. key: as on the bus. */
void actor_hop_as(struct actor *a, enum hop_what what, const char *key, uint64_t trace, const char *text);

#endif
