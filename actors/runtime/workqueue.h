/*
 * actors/runtime/workqueue.h - a keyed work queue as client-go's. Level-triggered: it holds keys,
 * never events.
 *
 * A key is waiting, delayed or in work; never two workers on one key; a key added while in work
 * runs again when done. Failure: 5 ms doubling to 5 minutes with jitter, per key, forgotten on
 * success; a live change ends it. Live changes overtake the initial list. Time comes in as now_ms;
 * the same calls give the same order (it runs inside the simulation).
 */
#ifndef MUSTER_WORKQUEUE_H
#define MUSTER_WORKQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct workqueue;

enum work_priority { WORK_LIVE, WORK_INITIAL };
enum work_result {
	WORK_DONE,	/* success: backoff forgotten */
	WORK_RETRY,	/* failure: backoff */
	WORK_AFTER,	/* success so far: again after `after_ms`, backoff forgotten */
	WORK_PENDING,	/* the answer comes later: the key stays in work until workqueue_finish */
};

struct work {
	const char	*key;		/* NUL-terminated, valid until workqueue_finish */
	size_t		 len;
	uint64_t	 trace;		/* of the newest add */
	uint32_t	 failures;	/* in a row, before this try */
	int64_t		 waited_ms;
};

struct workqueue_stats {
	uint64_t	adds, retries, done;
	uint32_t	ready, delayed, working;
	int64_t		oldest_working_ms;	/* when the oldest work in progress began; 0: none */
	/* Sum of (begin) times of the work in progress, for unfinished_work. */
	int64_t		sum_working_ms;
};

struct workqueue *workqueue_new(uint64_t seed);
void workqueue_free(struct workqueue **qp);
/*
 * Coalesces; a delayed key becomes ready now. A key that backs off after a failure becomes ready too if
 * the change is live, at most once a second; from an initial list it keeps its time.
 */
void workqueue_add(struct workqueue *q, const char *key, size_t len, enum work_priority prio,
    uint64_t trace, int64_t now_ms);
void workqueue_add_after(struct workqueue *q, const char *key, size_t len, int64_t after_ms,
    uint64_t trace, int64_t now_ms);
/* The next ready key, now in work. False when there is none at now_ms. */
bool workqueue_next(struct workqueue *q, int64_t now_ms, struct work *out);
/*
 * after_ms: with WORK_AFTER the delay; with WORK_RETRY a lower bound for it (Retry-After), or 0, that no
 * change shortens.
 */
void workqueue_finish(struct workqueue *q, const char *key, size_t len, enum work_result result,
    int64_t after_ms, int64_t now_ms);
/* When the next delayed key is due; INT64_MAX: none. A ready key means now. */
int64_t workqueue_due_ms(const struct workqueue *q, int64_t now_ms);
struct workqueue_stats workqueue_stats(const struct workqueue *q);
size_t workqueue_bytes(const struct workqueue *q);

#endif
