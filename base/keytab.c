/* base/keytab.c - open addressing over 32-bit ids; the keys themselves are stable allocations. */
#include "keytab.h"

#include <string.h>

#include "obj.h"

struct slot {
	char		*key;		/* NULL: free id */
	uint32_t	 len;
	uint32_t	 next_free;	/* while free */
	uint64_t	 hash;
};

struct keytab {
	uint32_t	 magic;
#define KEYTAB_MAGIC	0x4b455954u
	struct slot	*slots;
	uint32_t	 nslots, cap_slots, count, free_head;
	uint32_t	*index;		/* id, or KEYTAB_NONE; power of two, at most half full */
	uint32_t	 index_size;
	size_t		 key_bytes;
};

static void index_insert(struct keytab *, uint32_t);
static void index_grow(struct keytab *);
static uint32_t index_position(const struct keytab *, uint32_t);

uint64_t
hash64_more(uint64_t h, const void *p, size_t len)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < len; i++)
		h = (h ^ b[i]) * 0x100000001b3u;
	return h;
}

uint64_t
hash64(const void *p, size_t len)
{
	return hash64_more(HASH64_SEED, p, len);
}

struct keytab *
keytab_new(void)
{
	struct keytab *k;

	OBJ_NEW(k, KEYTAB_MAGIC);
	k->free_head = KEYTAB_NONE;
	index_grow(k);
	return k;
}

void
keytab_free(struct keytab **kp)
{
	struct keytab *k;

	if (*kp == NULL)
		return;
	OBJ_TAKE(k, kp, KEYTAB_MAGIC);
	for (uint32_t i = 0; i < k->nslots; i++)
		free(k->slots[i].key);
	free(k->slots);
	free(k->index);
	OBJ_FREE(k);
}

uint32_t
keytab_find(const struct keytab *k, const char *key, size_t len)
{
	const uint64_t h = hash64(key, len);
	const uint32_t mask = k->index_size - 1;

	for (uint32_t i = (uint32_t)h & mask;; i = (i + 1) & mask) {
		const uint32_t id = k->index[i];

		if (id == KEYTAB_NONE)
			return KEYTAB_NONE;
		const struct slot *s = &k->slots[id];
		if (s->hash == h && s->len == len && memcmp(s->key, key, len) == 0)
			return id;
	}
}

uint32_t
keytab_add(struct keytab *k, const char *key, size_t len, bool *added)
{
	uint32_t id = keytab_find(k, key, len);

	if (added != NULL)
		*added = id == KEYTAB_NONE;
	if (id != KEYTAB_NONE)
		return id;
	if (k->free_head != KEYTAB_NONE) {
		id = k->free_head;
		k->free_head = k->slots[id].next_free;
	} else {
		if (k->nslots == k->cap_slots) {
			k->cap_slots = k->cap_slots == 0 ? 8 : k->cap_slots + k->cap_slots / 2;
			k->slots = obj_realloc(k->slots, k->cap_slots * sizeof(*k->slots));
		}
		id = k->nslots++;
	}
	struct slot *s = &k->slots[id];
	s->key = obj_alloc(len + 1);
	memcpy(s->key, key, len);
	s->len = (uint32_t)len;
	s->hash = hash64(key, len);
	k->key_bytes += len + 1;
	k->count++;
	if (k->count * 2 > k->index_size)
		index_grow(k);
	else
		index_insert(k, id);
	return id;
}

/* Backward-shift deletion: no tombstones in the index, so lookups never decay under churn. */
void
keytab_remove(struct keytab *k, uint32_t id)
{
	const uint32_t mask = k->index_size - 1;

	MUST(id < k->nslots && k->slots[id].key != NULL);
	uint32_t hole = index_position(k, id);
	for (uint32_t i = (hole + 1) & mask; k->index[i] != KEYTAB_NONE; i = (i + 1) & mask) {
		const uint32_t home = (uint32_t)k->slots[k->index[i]].hash & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			k->index[hole] = k->index[i];
			hole = i;
		}
	}
	k->index[hole] = KEYTAB_NONE;
	k->key_bytes -= k->slots[id].len + 1;
	free(k->slots[id].key);
	k->slots[id] = (struct slot){ .next_free = k->free_head };
	k->free_head = id;
	k->count--;
}

const char *
keytab_key(const struct keytab *k, uint32_t id, size_t *len)
{
	if (id >= k->nslots || k->slots[id].key == NULL)
		return NULL;
	if (len != NULL)
		*len = k->slots[id].len;
	return k->slots[id].key;
}

uint64_t
keytab_hash(const struct keytab *k, uint32_t id)
{
	MUST(id < k->nslots && k->slots[id].key != NULL);
	return k->slots[id].hash;
}

uint32_t
keytab_count(const struct keytab *k)
{
	return k->count;
}

uint32_t
keytab_ids(const struct keytab *k)
{
	return k->nslots;
}

size_t
keytab_bytes(const struct keytab *k)
{
	return sizeof(*k) + k->cap_slots * sizeof(*k->slots) + k->index_size * sizeof(*k->index)
	    + k->key_bytes;
}

static uint32_t
index_position(const struct keytab *k, uint32_t id)
{
	const uint32_t mask = k->index_size - 1;
	uint32_t i = (uint32_t)k->slots[id].hash & mask;

	while (k->index[i] != id)
		i = (i + 1) & mask;
	return i;
}

static void
index_insert(struct keytab *k, uint32_t id)
{
	const uint32_t mask = k->index_size - 1;
	uint32_t i = (uint32_t)k->slots[id].hash & mask;

	while (k->index[i] != KEYTAB_NONE)
		i = (i + 1) & mask;
	k->index[i] = id;
}

static void
index_grow(struct keytab *k)
{
	k->index_size = k->index_size == 0 ? 16 : k->index_size * 2;
	k->index = obj_realloc(k->index, k->index_size * sizeof(*k->index));
	memset(k->index, 0xff, k->index_size * sizeof(*k->index));
	for (uint32_t id = 0; id < k->nslots; id++) {
		if (k->slots[id].key != NULL)
			index_insert(k, id);
	}
}
