/*
 * actors/runtime/view.h - what a producer publishes on a link: the store, and per consumer the queue of
 * dirty keys.
 *
 * A change marks the key dirty for each consumer; the value is read when it is sent. So memory is
 * bounded by keys, a slow consumer gets fewer, newer values, and no consumer can delay another. A
 * removed key stays as a tombstone until every consumer that has it has acknowledged the removal, or
 * has lost its session (then the next snapshot shows it).
 */
#ifndef MUSTER_VIEW_H
#define MUSTER_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "msg.h"
#include "scan.h"

enum {
	VIEW_SLOTS	 = 32,			/* consumers of one link */
	VIEW_KEY_MAX	 = 512,
	VIEW_VALUE_MAX	 = FRAME_MAX_VALUE,
	VIEW_BATCH_BYTES = 128 * 1024,
};

struct view;

struct view *view_new(void);
void view_free(struct view **vp);

/* Same uid and bytes: *changed is false and nothing is sent (rv is kept up to date). */
enum err view_set(struct view *v, struct wire_str key, struct wire_str uid, struct wire_str rv, enum msg type,
    struct wire_bin value, uint64_t trace, bool *changed);
/* The same, but even the same bytes are a change. */
enum err view_force(struct view *v, struct wire_str key, struct wire_str uid, struct wire_str rv,
    enum msg type, struct wire_bin value, uint64_t trace);
bool view_remove(struct view *v, struct wire_str key, uint64_t trace);
void view_set_ready(struct view *v);
bool view_ready(const struct view *v);

/* A consumer's slot, all present keys queued for it; -1 when all are taken. */
int view_attach(struct view *v);
void view_detach(struct view *v, int slot);
uint32_t view_pending(const struct view *v, int slot);
/*
 * The next items for a consumer, without taking them: at most max_keys queued keys are read;
 * *items of them are written to out (those that came and went unseen are left out). Returns the
 * number of keys read, for view_commit.
 */
uint32_t view_peek(const struct view *v, int slot, uint32_t max_keys, struct body_item *out, uint32_t *items);
/* They were sent, numbered from first_seq on. Same keys and items as view_peek gave. */
void view_commit(struct view *v, int slot, uint32_t keys, uint64_t first_seq);
void view_acked(struct view *v, int slot, uint64_t seq);
/*
 * The current item of the key, to be sent to that consumer now, outside the sequence; false when there
 * is none. From then on the consumer counts as having it, and the key leaves the queue if it was the
 * last there; otherwise, and when it is gone, the item is sent once more, in its place.
 */
bool view_tell(struct view *v, int slot, struct wire_str key, struct body_item *out);

/* Views of a present key; false: there is none. */
bool view_get(const struct view *v, struct wire_str key, struct body_item *out);
bool view_queued(const struct view *v, int slot, struct wire_str key);	/* not sent to that consumer yet */

uint64_t view_count(const struct view *v);	/* present keys */
uint64_t view_hash(const struct view *v);	/* XOR of view_item_hash over them */
size_t view_bytes(const struct view *v);	/* memory held */
uint32_t view_tombstones(const struct view *v);
/* Calls fn for every present key, in no order. */
void view_each(const struct view *v, void (*fn)(const struct body_item *item, void *arg), void *arg);

/* One key at one version; both ends compute it, so that a beat can compare what they hold. */
uint64_t view_item_hash(uint64_t key_hash, uint64_t version);

#endif
