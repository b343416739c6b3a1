/*
 * actors/runtime/mirror.h - a consumer's copy of one producer's store: the last value of every key.
 *
 * A mirror is never emptied to be filled again. A snapshot marks what it names; what it did not
 * name is swept at its end and reported gone. Until then the old values stay readable.
 */
#ifndef MUSTER_MIRROR_H
#define MUSTER_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "intern.h"
#include "msg.h"

enum mirror_change { MIRROR_ADDED, MIRROR_UPDATED, MIRROR_GONE };

/* For MIRROR_GONE the item holds the last value known. */
typedef void mirror_fn(enum mirror_change kind, const struct body_item *item, void *arg);

struct mirror;

struct mirror *mirror_new(void);
void mirror_free(struct mirror **mp);
/*
 * The mirror is empty; what repeats in its values is stored in that pool, which outlives it. Then what
 * mirror_get returns is valid until mirror_release or the next item, and what mirror_each passes until fn
 * returns.
 */
void mirror_intern(struct mirror *m, struct intern *pool);
void mirror_release(struct mirror *m);

void mirror_begin(struct mirror *m);				/* a snapshot starts: nothing is marked yet */
/*
 * One item of a snapshot, a delta or a write's answer; fn is called only if uid or bytes differ.
 * A new uid under an old key is gone, then added.
 */
void mirror_apply(struct mirror *m, const struct body_item *item, mirror_fn *fn, void *arg);
void mirror_sweep(struct mirror *m, mirror_fn *fn, void *arg);	/* the snapshot is complete */
/* The producer was removed from the configuration. */
void mirror_clear(struct mirror *m, mirror_fn *fn, void *arg);
void mirror_each(const struct mirror *m, mirror_fn *fn, void *arg);
/* Views into the mirror. */
bool mirror_get(const struct mirror *m, struct wire_str key, struct body_item *out);

uint64_t mirror_count(const struct mirror *m);
uint64_t mirror_hash(const struct mirror *m);			/* see link_store_item_hash */
size_t mirror_bytes(const struct mirror *m);

#endif
