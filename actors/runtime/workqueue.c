/*
 * actors/runtime/workqueue.c - keys to be processed, each in exactly one place.
 *
 * A key is in one of three lists (ready and live, ready from an initial list, in work) or in the
 * heap of delayed ones; a key that is nowhere is forgotten, so memory follows the keys that matter.
 * No clock and no thread: time comes in, and with the same seed the same calls give the same order.
 */
#include "workqueue.h"

#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "random.h"

enum {
	BACKOFF_FIRST_MS = 5,
	BACKOFF_CAP_MS   = 5 * 60 * 1000,
	EXPEDITE_MS	 = 1000,	/* live changes end the backoff of a key at most this often */
};

enum place { LIST_LIVE, LIST_INITIAL, LIST_WORKING, LIST_MAX, DELAYED = LIST_MAX, NOWHERE };

struct item {
	int64_t			at_ms;		/* in a list: since when; delayed: until when */
	int64_t			wake_ms;	/* in work: run again then; INT64_MAX: no */
	int64_t			earliest_ms;	/* backing off: not before, whatever changes (Retry-After) */
	int64_t			expedited_ms;	/* when a live change last ended a backoff */
	uint64_t		turn;		/* delayed: order among equal times */
	uint64_t		trace;
	uint32_t		prev, next;	/* in a list */
	uint32_t		heap_at;	/* delayed: its position there */
	uint32_t		failures;
	enum place		place;
	enum work_priority	prio;		/* kept through retries and delays; an add may raise it */
	enum work_priority	again;		/* if dirty: priority of what came meanwhile */
	bool			dirty;		/* in work: added again meanwhile */
	bool			backing_off;	/* delayed by a failure */
};

struct list {
	uint32_t	head, tail, count;
};

struct workqueue {
	uint32_t	 magic;
#define WORKQUEUE_MAGIC	0x574f524bu
	struct keytab	*keys;		/* struct item */
	struct list	 lists[LIST_MAX];
	uint32_t	*heap;		/* ids, earliest first */
	uint32_t	 heap_count, cap_heap;
	uint64_t	 turns, random;
	uint64_t	 adds, retries, done;
	int64_t		 sum_working_ms;
};

static struct item *item_of(const struct workqueue *, uint32_t);
static uint32_t intern(struct workqueue *, const char *, size_t);
static void ready(struct workqueue *, uint32_t, int64_t);
static void delay(struct workqueue *, uint32_t, int64_t);
static void take_out(struct workqueue *, uint32_t);
static void list_append(struct workqueue *, enum place, uint32_t);
static void list_remove(struct workqueue *, enum place, uint32_t);
static bool heap_before(const struct workqueue *, uint32_t, uint32_t);
static void heap_put(struct workqueue *, uint32_t, uint32_t);
static void heap_up(struct workqueue *, uint32_t);
static void heap_down(struct workqueue *, uint32_t);
static void expedite(struct workqueue *, uint32_t, int64_t);
static int64_t backoff_ms(struct workqueue *, uint32_t);
static enum work_priority urgent(enum work_priority, enum work_priority);
static int64_t later(int64_t, int64_t);

struct workqueue *
workqueue_new(uint64_t seed)
{
	struct workqueue *q;

	OBJ_NEW(q, WORKQUEUE_MAGIC);
	q->keys = keytab_new(sizeof(struct item));
	q->random = seed;
	for (enum place p = 0; p < LIST_MAX; p++)
		q->lists[p] = (struct list){ .head = KEYTAB_NONE, .tail = KEYTAB_NONE };
	return q;
}

void
workqueue_free(struct workqueue **qp)
{
	struct workqueue *q;

	if (*qp == NULL)
		return;
	OBJ_TAKE(q, qp, WORKQUEUE_MAGIC);
	keytab_free(&q->keys);
	free(q->heap);
	OBJ_FREE(q);
}

void
workqueue_add(struct workqueue *q, const char *key, size_t len, enum work_priority prio,
    uint64_t trace, int64_t now_ms)
{
	OBJ_CHECK(q, WORKQUEUE_MAGIC);
	const uint32_t id = intern(q, key, len);
	struct item *const it = item_of(q, id);
	const int64_t since_ms = it->at_ms;

	it->trace = trace;
	switch (it->place) {
	case LIST_WORKING:
		q->adds += !it->dirty;
		it->again = it->dirty ? urgent(it->again, prio) : prio;
		it->dirty = true;
		break;
	case DELAYED:
		it->prio = urgent(it->prio, prio);
		if (!it->backing_off) {
			q->adds++;
			take_out(q, id);
			ready(q, id, now_ms);
		} else if (prio == WORK_LIVE) {
			expedite(q, id, now_ms);
		}
		break;
	case LIST_INITIAL:
		if (prio == WORK_LIVE) {
			it->prio = WORK_LIVE;
			take_out(q, id);
			ready(q, id, since_ms);
		}
		break;
	case NOWHERE:
		q->adds++;
		it->prio = prio;
		ready(q, id, now_ms);
		break;
	default:	/* ready and live: it cannot be sooner */
		break;
	}
}

void
workqueue_add_after(struct workqueue *q, const char *key, size_t len, int64_t after_ms,
    uint64_t trace, int64_t now_ms)
{
	OBJ_CHECK(q, WORKQUEUE_MAGIC);
	if (after_ms <= 0) {
		workqueue_add(q, key, len, WORK_LIVE, trace, now_ms);
		return;
	}
	const uint32_t id = intern(q, key, len);
	struct item *const it = item_of(q, id);
	const int64_t at_ms = later(now_ms, after_ms);

	it->trace = trace;
	switch (it->place) {
	case LIST_WORKING:
		if (at_ms < it->wake_ms)
			it->wake_ms = at_ms;
		break;
	case DELAYED:
		if (!it->backing_off && at_ms < it->at_ms) {
			take_out(q, id);
			delay(q, id, at_ms);
		}
		break;
	case NOWHERE:
		q->adds++;
		it->prio = WORK_LIVE;
		delay(q, id, at_ms);
		break;
	default:	/* ready already: that is sooner */
		break;
	}
}

bool
workqueue_next(struct workqueue *q, int64_t now_ms, struct work *out)
{
	OBJ_CHECK(q, WORKQUEUE_MAGIC);
	while (q->heap_count > 0 && item_of(q, q->heap[0])->at_ms <= now_ms) {
		const uint32_t due = q->heap[0];
		const int64_t since_ms = item_of(q, due)->at_ms;

		take_out(q, due);
		ready(q, due, since_ms);
	}
	const enum place from = q->lists[LIST_LIVE].count > 0 ? LIST_LIVE : LIST_INITIAL;
	const uint32_t id = q->lists[from].head;

	if (id == KEYTAB_NONE)
		return false;
	struct item *const it = item_of(q, id);

	*out = (struct work){
		.trace = it->trace, .failures = it->failures, .waited_ms = now_ms - it->at_ms,
	};
	out->key = keytab_key(q->keys, id, &out->len);
	take_out(q, id);
	list_append(q, LIST_WORKING, id);
	it->at_ms = now_ms;
	it->wake_ms = INT64_MAX;
	it->dirty = false;
	q->sum_working_ms += now_ms;
	return true;
}

void
workqueue_finish(struct workqueue *q, const char *key, size_t len, enum work_result result, int64_t after_ms,
    int64_t now_ms)
{
	OBJ_CHECK(q, WORKQUEUE_MAGIC);
	const uint32_t id = keytab_find(q->keys, key, len);

	MUST(id != KEYTAB_NONE && item_of(q, id)->place == LIST_WORKING);
	MUST(result == WORK_DONE || result == WORK_RETRY || result == WORK_AFTER);
	struct item *const it = item_of(q, id);

	q->sum_working_ms -= it->at_ms;
	take_out(q, id);
	if (result == WORK_RETRY) {
		const int64_t wait_ms = backoff_ms(q, it->failures);

		q->retries++;
		it->prio = it->dirty ? urgent(it->prio, it->again) : it->prio;
		it->failures += it->failures < UINT32_MAX;
		it->earliest_ms = later(now_ms, after_ms);
		delay(q, id, later(now_ms, wait_ms > after_ms ? wait_ms : after_ms));
		it->backing_off = true;
		if (it->dirty && it->again == WORK_LIVE)
			expedite(q, id, now_ms);
		return;
	}
	q->done++;
	it->failures = 0;
	if (result == WORK_AFTER && later(now_ms, after_ms) < it->wake_ms)
		it->wake_ms = later(now_ms, after_ms);
	if (it->dirty) {
		it->prio = it->again;
		ready(q, id, now_ms);
	} else if (it->wake_ms != INT64_MAX) {
		delay(q, id, it->wake_ms);
	} else {
		keytab_remove(q->keys, id);
	}
}

int64_t
workqueue_due_ms(const struct workqueue *q, int64_t now_ms)
{
	OBJ_CHECK(q, WORKQUEUE_MAGIC);
	if (q->lists[LIST_LIVE].count + q->lists[LIST_INITIAL].count > 0)
		return now_ms;
	if (q->heap_count == 0)
		return INT64_MAX;
	const int64_t due_ms = item_of(q, q->heap[0])->at_ms;
	return due_ms > now_ms ? due_ms : now_ms;
}

struct workqueue_stats
workqueue_stats(const struct workqueue *q)
{
	OBJ_CHECK(q, WORKQUEUE_MAGIC);
	const struct list *const working = &q->lists[LIST_WORKING];

	return (struct workqueue_stats){
		.adds = q->adds, .retries = q->retries, .done = q->done,
		.ready = q->lists[LIST_LIVE].count + q->lists[LIST_INITIAL].count,
		.delayed = q->heap_count,
		.working = working->count,
		.oldest_working_ms = working->count == 0 ? 0 : item_of(q, working->head)->at_ms,
		.sum_working_ms = q->sum_working_ms,
	};
}

size_t
workqueue_bytes(const struct workqueue *q)
{
	return sizeof(*q) + keytab_bytes(q->keys) + q->cap_heap * sizeof(*q->heap);
}

static struct item *
item_of(const struct workqueue *q, uint32_t id)
{
	return keytab_value(q->keys, id);
}

static uint32_t
intern(struct workqueue *q, const char *key, size_t len)
{
	bool added;
	const uint32_t id = keytab_add(q->keys, key, len, &added);

	if (added)
		*item_of(q, id) = (struct item){ .place = NOWHERE, .expedited_ms = INT64_MIN / 2 };
	return id;
}

static void
ready(struct workqueue *q, uint32_t id, int64_t since_ms)
{
	list_append(q, item_of(q, id)->prio == WORK_LIVE ? LIST_LIVE : LIST_INITIAL, id);
	item_of(q, id)->at_ms = since_ms;
}

static void
delay(struct workqueue *q, uint32_t id, int64_t until_ms)
{
	struct item *const it = item_of(q, id);

	MUST(it->place == NOWHERE);
	if (q->heap_count == q->cap_heap) {
		q->cap_heap = q->cap_heap < 16 ? 16 : q->cap_heap + q->cap_heap / 2;
		q->heap = obj_realloc(q->heap, q->cap_heap * sizeof(*q->heap));
	}
	it->place = DELAYED;
	it->at_ms = until_ms;
	it->turn = q->turns++;
	it->backing_off = false;
	heap_put(q, q->heap_count++, id);
	heap_up(q, it->heap_at);
}

static void
take_out(struct workqueue *q, uint32_t id)
{
	struct item *const it = item_of(q, id);

	if (it->place < LIST_MAX) {
		list_remove(q, it->place, id);
	} else {
		const uint32_t hole = it->heap_at, last = q->heap[--q->heap_count];

		MUST(it->place == DELAYED && q->heap[hole] == id);
		if (last != id) {
			heap_put(q, hole, last);
			heap_up(q, hole);
			heap_down(q, item_of(q, last)->heap_at);
		}
	}
	it->place = NOWHERE;
}

static void
list_append(struct workqueue *q, enum place p, uint32_t id)
{
	struct list *const l = &q->lists[p];
	struct item *const it = item_of(q, id);

	MUST(it->place == NOWHERE);
	it->place = p;
	it->prev = l->tail;
	it->next = KEYTAB_NONE;
	*(l->tail == KEYTAB_NONE ? &l->head : &item_of(q, l->tail)->next) = id;
	l->tail = id;
	l->count++;
}

static void
list_remove(struct workqueue *q, enum place p, uint32_t id)
{
	struct list *const l = &q->lists[p];
	const struct item *const it = item_of(q, id);

	*(it->prev == KEYTAB_NONE ? &l->head : &item_of(q, it->prev)->next) = it->next;
	*(it->next == KEYTAB_NONE ? &l->tail : &item_of(q, it->next)->prev) = it->prev;
	l->count--;
}

static bool
heap_before(const struct workqueue *q, uint32_t a, uint32_t b)
{
	const struct item *const x = item_of(q, a), *const y = item_of(q, b);

	return x->at_ms != y->at_ms ? x->at_ms < y->at_ms : x->turn < y->turn;
}

static void
heap_put(struct workqueue *q, uint32_t at, uint32_t id)
{
	q->heap[at] = id;
	item_of(q, id)->heap_at = at;
}

static void
heap_up(struct workqueue *q, uint32_t at)
{
	const uint32_t id = q->heap[at];

	for (; at > 0 && heap_before(q, id, q->heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap_put(q, at, q->heap[(at - 1) / 2]);
	heap_put(q, at, id);
}

static void
heap_down(struct workqueue *q, uint32_t at)
{
	const uint32_t id = q->heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < q->heap_count && heap_before(q, q->heap[child + 1], q->heap[child]))
			child++;
		if (child >= q->heap_count || !heap_before(q, q->heap[child], id))
			break;
		heap_put(q, at, q->heap[child]);
		at = child;
	}
	heap_put(q, at, id);
}

/*
 * A live change may have removed what made the key fail, so its backoff ends. A key that changes all
 * the time and fails each time is limited to one such run per EXPEDITE_MS.
 */
static void
expedite(struct workqueue *q, uint32_t id, int64_t now_ms)
{
	struct item *const it = item_of(q, id);
	int64_t at_ms = it->expedited_ms + EXPEDITE_MS;

	at_ms = at_ms > it->earliest_ms ? at_ms : it->earliest_ms;
	at_ms = at_ms > now_ms ? at_ms : now_ms;
	if (at_ms >= it->at_ms)
		return;
	it->expedited_ms = at_ms;
	take_out(q, id);
	delay(q, id, at_ms);
	it->backing_off = true;
}

/* After so many failures in a row. Jitter keeps keys that failed together from coming back together. */
static int64_t
backoff_ms(struct workqueue *q, uint32_t failures)
{
	int64_t base = BACKOFF_CAP_MS;

	if (failures < 32 && (int64_t)BACKOFF_FIRST_MS << failures < BACKOFF_CAP_MS)
		base = (int64_t)BACKOFF_FIRST_MS << failures;
	return random_jitter(&q->random, base);
}

static enum work_priority
urgent(enum work_priority a, enum work_priority b)
{
	return a < b ? a : b;
}

/* Saturates: "after for ever" is a time that never comes, not one in the past. */
static int64_t
later(int64_t now_ms, int64_t after_ms)
{
	if (after_ms <= 0)
		return now_ms;
	return after_ms < INT64_MAX - 1 - now_ms ? now_ms + after_ms : INT64_MAX - 1;
}
