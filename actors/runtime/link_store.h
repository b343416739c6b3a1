/*
 * actors/runtime/link_store.h - what a producer publishes on a link: the store, and per consumer the queue of
 * dirty keys.
 *
 * A change marks the key dirty for each consumer; the value is read when it is sent. So memory is
 * bounded by keys, a slow consumer gets fewer, newer values, and no consumer can delay another. A
 * removed key stays as a tombstone until every consumer that has it has acknowledged the removal, or
 * has lost its session (then the next snapshot shows it).
 */
#ifndef MUSTER_LINK_STORE_H
#define MUSTER_LINK_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "intern.h"
#include "msg.h"
#include "scan.h"

enum {
	LINK_STORE_SLOTS	 = 32,			/* consumers of one link */
	LINK_STORE_KEY_MAX	 = 512,
	LINK_STORE_VALUE_MAX	 = FRAME_MAX_VALUE,
	LINK_STORE_BATCH_BYTES = 128 * 1024,
};

struct link_store;

struct link_store *link_store_new(void);
void link_store_free(struct link_store **vp);
/*
 * The store is empty; what repeats in its values is stored in that pool, which outlives it. Then what
 * link_store_peek, link_store_get and link_store_read_now return is valid until link_store_release, and
 * what link_store_each passes until fn returns.
 */
void link_store_intern(struct link_store *v, struct intern *pool);
void link_store_release(struct link_store *v);

/* Same uid and bytes: *changed is false and nothing is sent (rv is kept up to date). */
enum err link_store_set(struct link_store *v, struct wire_str key, struct wire_str uid,
    struct wire_str rv, enum msg type, struct wire_bin value, uint64_t trace, bool *changed);
/* The same, but even the same bytes are a change. */
enum err link_store_force(struct link_store *v, struct wire_str key, struct wire_str uid, struct wire_str rv,
    enum msg type, struct wire_bin value, uint64_t trace);
bool link_store_remove(struct link_store *v, struct wire_str key, uint64_t trace);
void link_store_set_ready(struct link_store *v);
bool link_store_ready(const struct link_store *v);

/* A consumer's slot, all present keys queued for it; -1 when all are taken. */
int link_store_attach(struct link_store *v);
void link_store_detach(struct link_store *v, int slot);
uint32_t link_store_pending(const struct link_store *v, int slot);
/*
 * The next items for a consumer, without taking them: at most max_keys queued keys are read;
 * *items of them are written to out (those that came and went unseen are left out). Returns the
 * number of keys read, for link_store_commit.
 */
uint32_t link_store_peek(const struct link_store *v, int slot, uint32_t max_keys,
    struct body_item *out, uint32_t *items);
/* They were sent, numbered from first_seq on. Same keys and items as link_store_peek gave. */
void link_store_commit(struct link_store *v, int slot, uint32_t keys, uint64_t first_seq);
void link_store_acked(struct link_store *v, int slot, uint64_t seq);
/*
 * The current item of the key, to be sent to that consumer now, outside the sequence; false when there
 * is none. From then on the consumer counts as having it, and the key leaves the queue if it was the
 * last there; otherwise, and when it is gone, the item is sent once more, in its place.
 */
bool link_store_read_now(struct link_store *v, int slot, struct wire_str key, struct body_item *out);

/* Views of a present key; false: there is none. */
bool link_store_get(const struct link_store *v, struct wire_str key, struct body_item *out);
/* Not sent to that consumer yet. */
bool link_store_queued(const struct link_store *v, int slot, struct wire_str key);

uint64_t link_store_count(const struct link_store *v);	/* present keys */
uint64_t link_store_hash(const struct link_store *v);	/* XOR of link_store_item_hash over them */
size_t link_store_bytes(const struct link_store *v);	/* memory held */
uint32_t link_store_tombstones(const struct link_store *v);
/* Calls fn for every present key, in no order. */
void link_store_each(
    const struct link_store *v, void (*fn)(const struct body_item *item, void *arg), void *arg);

/* One key at one version; both ends compute it, so that a beat can compare what they hold. */
uint64_t link_store_item_hash(uint64_t key_hash, uint64_t version);

#endif
