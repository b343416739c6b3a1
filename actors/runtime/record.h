/*
 * actors/runtime/record.h - one key's stored value: uid, rv and bytes in one allocation, for store and
 * mirror.
 *
 * With a pool (intern.h) the bytes are a stored form, and a uid that is a UUID has 16 bytes. A record is
 * used with the same pool all its life; NULL: none.
 */
#ifndef MUSTER_RECORD_H
#define MUSTER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "intern.h"
#include "msg.h"

struct record {
	uint8_t		*blob;		/* NULL: empty */
	uint64_t	 version, trace;
	uint32_t	 value_len, stored_len;	/* of the value, and of its bytes in the blob */
	uint16_t	 uid_len, rv_len;
	uint16_t	 type;		/* wire number of the value's message */
	bool		 uuid;		/* the uid is in binary */
};

/* Replaces what was there by a copy of the item's uid, rv, value, type, version and trace; no view into r. */
void record_store(struct record *r, struct intern *pool, const struct body_item *item);
/* rv, version and trace of the item alone: the rest is the same already. */
void record_touch(struct record *r, const struct body_item *item);
void record_clear(struct record *r, struct intern *pool);
bool record_same_uid(const struct record *r, const struct body_item *item);
bool record_same_rv(const struct record *r, const struct body_item *item);
/* type and bytes */
bool record_same_value(const struct record *r, const struct intern *pool, const struct body_item *item);
/* Views under this key: into the record, and with a pool into the arena for uid and value. */
struct body_item record_item(const struct record *r, const struct intern *pool, struct msg_arena *arena,
    const char *key, size_t key_len);
size_t record_bytes(const struct record *r);	/* heap memory held */

#endif
