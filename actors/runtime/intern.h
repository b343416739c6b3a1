/*
 * actors/runtime/intern.h - values whose repeating parts are stored once per process.
 *
 * Values of one kind are alike: the labels, conditions and names of configs of 5,000 Nodes differ in a few
 * texts. A stored form of a value has its own bytes, and for what repeats the number of a span in a pool.
 *
 * A span is a whole msgpack object: a text, a row, a map. It enters the pool when it comes a second time
 * within some thousand others, so what is unique costs nothing there. It leaves it with its last reference.
 */
#ifndef MUSTER_INTERN_H
#define MUSTER_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

enum {
	INTERN_SPAN_MIN	 = 5,		/* a reference has two bytes, and may split a literal */
	INTERN_SPANS_MAX = 32768,	/* what repeats beyond is stored where it stands */
};

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern **tp);
/*
 * The stored form of a value: to be copied at once, for the next call overwrites it. Its references are the
 * caller's until intern_release. Bytes that are no msgpack are stored as they are.
 */
struct wire_bin intern_store(struct intern *t, const void *value, size_t len);
void intern_release(struct intern *t, const void *stored, size_t stored_len);
/* The value again, into as many bytes as it had. */
void intern_expand(const struct intern *t, const void *stored, size_t stored_len, uint8_t *value);
bool intern_same(
    const struct intern *t, const void *stored, size_t stored_len, const void *value, size_t len);
uint32_t intern_count(const struct intern *t);	/* spans */
size_t intern_bytes(const struct intern *t);	/* memory held */

#endif
