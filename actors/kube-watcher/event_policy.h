/*
 * actors/kube-watcher/event_policy.h - Kubernetes Events (events.k8s.io/v1) without storms: which become an
 * object, which a count in a series, which are dropped. Pure.
 *
 * The same (regarding, type, reason, action, note, reporter) again within 6 minutes is a series: one
 * Event that counts. A series is written when it begins, every 30 minutes while it lasts, and when it
 * ends. One object may cause 25 new Events at once, then one per 5 minutes. Best effort: 12 tries, then
 * it is dropped and counted; no actor waits for it.
 *
 * The caller keeps the body of a slot's Event until it was created, in an array of EVENT_SLOTS_MAX.
 */
#ifndef MUSTER_WATCHER_EVENT_POLICY_H
#define MUSTER_WATCHER_EVENT_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	EVENT_SLOTS_MAX		= 512,		/* Events remembered */
	EVENT_OBJECTS_MAX	= 1024,		/* objects whose bursts are counted */
	EVENT_SERIES_MS	= 6 * 60 * 1000,
	EVENT_HEARTBEAT_MS	= 30 * 60 * 1000,
	EVENT_BURST		= 25,
	EVENT_REFILL_MS	= 5 * 60 * 1000,
	EVENT_TRIES		= 12,
	EVENT_RETRY_MS	= 10 * 1000,
	EVENT_NOTE_MAX	= 1024,
	EVENT_NAME_MAX	= 253,
};

struct event_hash {
	uint64_t	object;		/* hash64 of regarding: kind, namespace, name, uid */
	uint64_t	content;	/* hash64 of type, reason, action, note and reporting controller */
};

enum event_verb {
	EVENT_WAIT,		/* until at_ms */
	EVENT_CREATE,	/* POST the body of slot, metadata.name by event_name */
	EVENT_PATCH,		/* merge {"series":{"count","lastObservedTime"}} into it */
	EVENT_COUNTED,	/* part of a series: nothing to do now */
	EVENT_DROPPED,	/* this object caused too many, or there is no room */
};

struct event_step {
	enum event_verb	verb;
	uint32_t		slot;
	uint64_t		unique;		/* for event_name */
	int64_t			count, last_us;	/* of the series */
	int64_t			at_ms;
};

struct event_slot {
	uint64_t	object, content, unique;
	int64_t		seen_ms, at_ms;	/* at_ms: not written before */
	int64_t		last_us;
	int64_t		count, sending, written;	/* occurrences: seen, on the way, at the server */
	unsigned	tries;
	bool		used, busy, created;
};

struct event_budget {
	uint64_t	object;
	int64_t		refilled_ms;
	uint32_t	tokens;
	bool		used;
};

struct event_policy {
	struct event_slot	slots[EVENT_SLOTS_MAX];
	struct event_budget	objects[EVENT_OBJECTS_MAX];
	uint32_t		count;
	uint64_t		dropped;	/* Events lost: too many, no room, or given up */
	uint64_t		random;
};

enum event_result {
	EVENT_OK,		/* also: it exists already (an earlier try whose answer was lost) */
	EVENT_MISSING,	/* 404 on a PATCH: its hour is over */
	EVENT_AGAIN,		/* network, 429, 5xx */
	EVENT_REFUSED,	/* will never work (403, 422 ...) */
};

void event_policy_init(struct event_policy *r, uint64_t seed);
/*
 * An Event occurred. CREATE: the caller stores the body under `slot` now, and sends it when
 * event_policy_next returns it. now_us: unix time.
 */
struct event_step event_policy_observe(
    struct event_policy *r, const struct event_hash *e, int64_t now_ms, int64_t now_us);
/* CREATE or PATCH: the slot is busy until event_policy_answered. */
struct event_step event_policy_next(struct event_policy *r, int64_t now_ms);
void event_policy_answered(struct event_policy *r, uint32_t slot, enum event_result result, int64_t now_ms);

/* How much of a note fits: whole characters, at most EVENT_NOTE_MAX bytes; malformed UTF-8 ends it. */
size_t event_note_length(const char *note, size_t len);
/* "<object>.<16 hex digits>", NUL-terminated, cut to what a name may be; the length. */
size_t event_name(const char *object, uint64_t unique, char out[EVENT_NAME_MAX + 1]);

#endif
