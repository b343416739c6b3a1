/* actors/runtime/mirror.c - the consumer's copy, swept and never emptied. */
#include "mirror.h"

#include "keytab.h"
#include "obj.h"
#include "record.h"
#include "link_store.h"

struct mirrored {
	struct record	 value;
	uint32_t	 mark;		/* generation of the last snapshot or delta that named it */
};

struct mirror {
	uint32_t	 magic;
#define MIRROR_MAGIC	0x4d495252u
	struct keytab	*keys;		/* struct mirrored */
	uint32_t	 generation;
	uint64_t	 hash;
	size_t		 blob_bytes;
	struct intern	*pool;		/* or NULL */
	struct msg_arena *arena;	/* of the values that were read from it; NULL: no pool */
};

static void store(struct mirror *, uint32_t, const struct body_item *, bool);
static void drop(struct mirror *, uint32_t, mirror_fn *, void *);
static struct mirrored *copy_of(const struct mirror *, uint32_t);
static void item_of(const struct mirror *, uint32_t, struct msg_arena *, struct body_item *);

struct mirror *
mirror_new(void)
{
	struct mirror *m;

	OBJ_NEW(m, MIRROR_MAGIC);
	m->keys = keytab_new(sizeof(struct mirrored));
	return m;
}

void
mirror_free(struct mirror **mp)
{
	struct mirror *m;

	if (*mp == NULL)
		return;
	OBJ_TAKE(m, mp, MIRROR_MAGIC);
	KEYTAB_EACH(m->keys, id)
		record_clear(&copy_of(m, id)->value, m->pool);
	keytab_free(&m->keys);
	if (m->arena != NULL)
		msg_arena_free(m->arena);
	free(m->arena);
	OBJ_FREE(m);
}

void
mirror_intern(struct mirror *m, struct intern *pool)
{
	OBJ_CHECK(m, MIRROR_MAGIC);
	MUST(keytab_count(m->keys) == 0 && m->pool == NULL);
	m->pool = pool;
	m->arena = obj_alloc(sizeof(*m->arena));
	msg_arena_init(m->arena);
}

void
mirror_release(struct mirror *m)
{
	if (m->arena != NULL)
		msg_arena_reset(m->arena);
}

void
mirror_begin(struct mirror *m)
{
	m->generation++;
}

void
mirror_apply(struct mirror *m, const struct body_item *item, mirror_fn *fn, void *arg)
{
	OBJ_CHECK(m, MIRROR_MAGIC);
	mirror_release(m);
	uint32_t id = keytab_find(m->keys, item->key.p, item->key.len);
	if (item->gone) {
		if (id != KEYTAB_NONE)
			drop(m, id, fn, arg);
		return;
	}
	enum mirror_change kind = MIRROR_ADDED;
	bool silent = false;
	if (id != KEYTAB_NONE) {
		const struct record *old = &copy_of(m, id)->value;

		if (!record_same_uid(old, item)) {
			drop(m, id, fn, arg);
			id = KEYTAB_NONE;
		} else {
			kind = MIRROR_UPDATED;
			silent = record_same_value(old, m->pool, item);
		}
	}
	if (id == KEYTAB_NONE)
		id = keytab_add(m->keys, item->key.p, item->key.len, NULL);
	store(m, id, item, silent);
	if (!silent)
		fn(kind, item, arg);
}

void
mirror_sweep(struct mirror *m, mirror_fn *fn, void *arg)
{
	KEYTAB_EACH(m->keys, id) {
		if (copy_of(m, id)->mark != m->generation)
			drop(m, id, fn, arg);
		mirror_release(m);
	}
}

void
mirror_clear(struct mirror *m, mirror_fn *fn, void *arg)
{
	mirror_begin(m);
	mirror_sweep(m, fn, arg);
}

void
mirror_each(const struct mirror *m, mirror_fn *fn, void *arg)
{
	struct msg_arena arena;

	msg_arena_init(&arena);
	KEYTAB_EACH(m->keys, id) {
		struct body_item item;

		item_of(m, id, &arena, &item);
		fn(MIRROR_UPDATED, &item, arg);
		msg_arena_reset(&arena);
	}
	msg_arena_free(&arena);
}

bool
mirror_get(const struct mirror *m, struct wire_str key, struct body_item *out)
{
	const uint32_t id = keytab_find(m->keys, key.p, key.len);

	if (id == KEYTAB_NONE)
		return false;
	item_of(m, id, m->arena, out);
	return true;
}

uint64_t
mirror_count(const struct mirror *m)
{
	return keytab_count(m->keys);
}

uint64_t
mirror_hash(const struct mirror *m)
{
	return m->hash;
}

size_t
mirror_bytes(const struct mirror *m)
{
	return sizeof(*m) + keytab_bytes(m->keys) + m->blob_bytes;
}

/* same: uid and value are what they were. */
static void
store(struct mirror *m, uint32_t id, const struct body_item *item, bool same)
{
	struct mirrored *c = copy_of(m, id);

	if (c->value.blob != NULL)
		m->hash ^= link_store_item_hash(keytab_hash(m->keys, id), c->value.version);
	m->blob_bytes -= record_bytes(&c->value);
	if (same)
		record_touch(&c->value, item);
	else
		record_store(&c->value, m->pool, item);
	m->blob_bytes += record_bytes(&c->value);
	c->mark = m->generation;
	m->hash ^= link_store_item_hash(keytab_hash(m->keys, id), item->version);
}

/* The copy leaves the table before fn is called: a handler must not find what is gone. */
static void
drop(struct mirror *m, uint32_t id, mirror_fn *fn, void *arg)
{
	struct body_item item;

	item_of(m, id, m->arena, &item);
	struct mirrored c = *copy_of(m, id);
	char *key = obj_memdup(item.key.p, item.key.len);
	item.key.p = key;
	m->hash ^= link_store_item_hash(keytab_hash(m->keys, id), c.value.version);
	m->blob_bytes -= record_bytes(&c.value);
	keytab_remove(m->keys, id);
	item.gone = true;
	fn(MIRROR_GONE, &item, arg);
	record_clear(&c.value, m->pool);
	free(key);
}

static struct mirrored *
copy_of(const struct mirror *m, uint32_t id)
{
	return keytab_value(m->keys, id);
}

static void
item_of(const struct mirror *m, uint32_t id, struct msg_arena *arena, struct body_item *out)
{
	size_t len;
	const char *key = keytab_key(m->keys, id, &len);

	*out = record_item(&copy_of(m, id)->value, m->pool, arena, key, len);
}
