/*
 * include/keytab.h - a set of string keys with stable small numbers: the index under every table of
 * ours.
 *
 * A key keeps its id (0, 1, 2 ...) until it is removed; ids of removed keys are used again, so
 * arrays indexed by id stay as large as the largest population. The key's bytes are copied once.
 */
#ifndef MUSTER_KEYTAB_H
#define MUSTER_KEYTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEYTAB_NONE	UINT32_MAX

struct keytab;

struct keytab *keytab_new(void);
void keytab_free(struct keytab **kp);
/* The id of key, or KEYTAB_NONE. */
uint32_t keytab_find(const struct keytab *k, const char *key, size_t len);
/* The id of key, added if absent (then *added is true; added may be NULL). */
uint32_t keytab_add(struct keytab *k, const char *key, size_t len, bool *added);
void keytab_remove(struct keytab *k, uint32_t id);
/* NUL-terminated bytes of a live id; NULL for a free one. len may be NULL. */
const char *keytab_key(const struct keytab *k, uint32_t id, size_t *len);
uint64_t keytab_hash(const struct keytab *k, uint32_t id);
uint32_t keytab_count(const struct keytab *k);	/* live keys */
/* Ids ever in use: loop 0 .. ids-1, skipping keytab_key == NULL. */
uint32_t keytab_ids(const struct keytab *k);
size_t keytab_bytes(const struct keytab *k);	/* memory held, for bounds in tests and bench */

/*
 * FNV-1a, 64 bit: one hash for keys, beats and the schema. Not for hostile flooding: keys come from
 * the apiserver.
 */
uint64_t hash64(const void *p, size_t len);
uint64_t hash64_more(uint64_t h, const void *p, size_t len);
#define HASH64_SEED	0xcbf29ce484222325u

#endif
