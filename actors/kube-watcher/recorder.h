/*
 * actors/kube-watcher/recorder.h - Kubernetes Events (events.k8s.io/v1) without storms: which become an
 * object, which a count in a series, which are dropped. Pure.
 *
 * The same (regarding, type, reason, action, note, reporter) again within 6 minutes is a series: one
 * Event that counts. A series is written when it begins, every 30 minutes while it lasts, and when it
 * ends. One object may cause 25 new Events at once, then one per 5 minutes. Best effort: 12 tries, then
 * it is dropped and counted; nobody waits for it.
 *
 * The caller keeps the body of a slot's Event until it was created, in an array of RECORDER_MAX.
 */
#ifndef MUSTER_RECORDER_H
#define MUSTER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RECORDER_MAX		= 512,		/* Events remembered */
	RECORDER_OBJECTS_MAX	= 1024,		/* objects whose bursts are counted */
	RECORDER_SERIES_MS	= 6 * 60 * 1000,
	RECORDER_HEARTBEAT_MS	= 30 * 60 * 1000,
	RECORDER_BURST		= 25,
	RECORDER_REFILL_MS	= 5 * 60 * 1000,
	RECORDER_TRIES		= 12,
	RECORDER_RETRY_MS	= 10 * 1000,
	RECORDER_NOTE_MAX	= 1024,
	RECORDER_NAME_MAX	= 253,
};

struct recorder_event {
	uint64_t	object;		/* hash64 of regarding: kind, namespace, name, uid */
	uint64_t	content;	/* hash64 of type, reason, action, note and reporting controller */
};

enum recorder_verb {
	RECORDER_WAIT,		/* until at_ms */
	RECORDER_CREATE,	/* POST the body of slot, metadata.name by recorder_name */
	RECORDER_PATCH,		/* merge {"series":{"count","lastObservedTime"}} into it */
	RECORDER_COUNTED,	/* part of a series: nothing to do now */
	RECORDER_DROPPED,	/* this object has said enough, or there is no room */
};

struct recorder_step {
	enum recorder_verb	verb;
	uint32_t		slot;
	uint64_t		unique;		/* for recorder_name */
	int64_t			count, last_us;	/* of the series */
	int64_t			at_ms;
};

struct recorder_slot {
	uint64_t	object, content, unique;
	int64_t		seen_ms, written_ms, at_ms;	/* at_ms: not written before */
	int64_t		last_us;
	int64_t		count, sending, written;	/* occurrences: seen, on the way, at the server */
	unsigned	tries;
	bool		used, busy, created;
};

struct recorder_object {
	uint64_t	object;
	int64_t		refilled_ms;
	uint32_t	tokens;
	bool		used;
};

struct recorder {
	struct recorder_slot	slots[RECORDER_MAX];
	struct recorder_object	objects[RECORDER_OBJECTS_MAX];
	uint32_t		count;
	uint64_t		dropped;	/* Events lost: too many, no room, or given up */
	uint64_t		random;
};

enum recorder_result {
	RECORDER_OK,		/* also: it exists already (an earlier try whose answer was lost) */
	RECORDER_MISSING,	/* 404 on a PATCH: its hour is over */
	RECORDER_AGAIN,		/* network, 429, 5xx */
	RECORDER_REFUSED,	/* will never work (403, 422 ...) */
};

void recorder_init(struct recorder *r, uint64_t seed);
/*
 * Something happened. CREATE: the caller stores the body under `slot` now; it is sent when recorder_next
 * says so. now_us: unix time.
 */
struct recorder_step recorder_note(
    struct recorder *r, const struct recorder_event *e, int64_t now_ms, int64_t now_us);
/* CREATE or PATCH: the slot is busy until recorder_answered. */
struct recorder_step recorder_next(struct recorder *r, int64_t now_ms);
void recorder_answered(struct recorder *r, uint32_t slot, enum recorder_result result, int64_t now_ms);

/* How much of a note fits: whole characters, at most RECORDER_NOTE_MAX bytes; malformed UTF-8 ends it. */
size_t recorder_note_length(const char *note, size_t len);
/* "<object>.<16 hex digits>", NUL-terminated, cut to what a name may be; the length. */
size_t recorder_name(const char *object, uint64_t unique, char out[RECORDER_NAME_MAX + 1]);

#endif
