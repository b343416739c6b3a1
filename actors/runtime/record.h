/*
 * actors/runtime/record.h - one key's stored value: uid, rv and bytes in one allocation, for store and
 * mirror.
 */
#ifndef MUSTER_RECORD_H
#define MUSTER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

struct record {
	uint8_t		*blob;		/* NULL: empty */
	uint32_t	 uid_len, rv_len, value_len;
	uint16_t	 type;		/* wire number of the value's message */
	uint64_t	 version, trace;
};

/* Replaces what was there by a copy of the item's uid, rv, value, type, version and trace; no view into r. */
void record_store(struct record *r, const struct body_item *item);
void record_clear(struct record *r);
bool record_same_uid(const struct record *r, const struct body_item *item);
bool record_same_rv(const struct record *r, const struct body_item *item);
bool record_same_value(const struct record *r, const struct body_item *item);	/* type and bytes */
/* Views into the record, under this key. */
struct body_item record_item(const struct record *r, const char *key, size_t key_len);
size_t record_bytes(const struct record *r);	/* heap memory held */

#endif
