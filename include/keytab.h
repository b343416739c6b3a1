/*
 * include/keytab.h - string keys with stable small numbers, and a value for each: the index under
 * every table of ours.
 *
 * A key keeps its id (0, 1, 2 ...) until it is removed; ids of removed keys are used again, so a
 * table stays as large as its largest population. The key's bytes are copied once.
 *
 * Which keys collide is different in every process (SipHash with a random key): whoever chooses the
 * keys cannot make lookups slow. Ids do not depend on it.
 */
#ifndef MUSTER_KEYTAB_H
#define MUSTER_KEYTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEYTAB_NONE	UINT32_MAX

struct keytab;

/* Each key has a value of that size, 0: none. */
struct keytab *keytab_new(size_t value_size);
/* What the values point to is the caller's: free it before. */
void keytab_free(struct keytab **kp);
/* The id of key, or KEYTAB_NONE. */
uint32_t keytab_find(const struct keytab *k, const char *key, size_t len);
/* The same in two steps: keytab_place depends on the key alone, the same for every table of this process. */
uint32_t keytab_place(const char *key, size_t len);
uint32_t keytab_find_at(const struct keytab *k, uint32_t place, const char *key, size_t len);
/* The id of key, added if absent (then *added is true; added may be NULL). */
uint32_t keytab_add(struct keytab *k, const char *key, size_t len, bool *added);
/* What its value points to is the caller's: free it before. */
void keytab_remove(struct keytab *k, uint32_t id);
/* The value of a live id, all zero when its key was added. Moves when a key is added. */
void *keytab_value(const struct keytab *k, uint32_t id);
/* NUL-terminated bytes of a live id; NULL for a free one. len may be NULL. */
const char *keytab_key(const struct keytab *k, uint32_t id, size_t *len);
/* hash64 of the key: the same in every process. */
uint64_t keytab_hash(const struct keytab *k, uint32_t id);
uint32_t keytab_count(const struct keytab *k);	/* live keys */
uint32_t keytab_ids(const struct keytab *k);	/* ever in use; the live ones are below it */
/* The first live id from that one on, or KEYTAB_NONE. */
uint32_t keytab_next(const struct keytab *k, uint32_t id);
/* Every live id; the one at hand may be removed. */
#define KEYTAB_EACH(k, id)	\
	for (uint32_t id = keytab_next((k), 0); (id) != KEYTAB_NONE; (id) = keytab_next((k), (id) + 1))
size_t keytab_bytes(const struct keytab *k);	/* memory held, for bounds in tests and bench */

/* FNV-1a, 64 bit: for what two processes compare, which are beats and the schema. */
uint64_t hash64(const void *p, size_t len);
uint64_t hash64_more(uint64_t h, const void *p, size_t len);
#define HASH64_SEED	0xcbf29ce484222325u

#endif
