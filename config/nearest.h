/* config/nearest.h - what somebody may have meant. Pure. */
#ifndef MUSTER_NEAREST_H
#define MUSTER_NEAREST_H

#include <stddef.h>

/* The first of the names that the fewest typing errors turn into this word; NULL when none is near. */
const char *nearest_word(const char *word, size_t len, const char *const *names, size_t n);
/*
 * Typing errors between two words: insert, delete, change, swap of neighbours.
 * SIZE_MAX when either is over 64 bytes.
 */
size_t nearest_distance(const char *a, size_t alen, const char *b, size_t blen);

#endif
