/* actors/runtime/link_store.c - the producer's store with a queue of dirty keys per consumer. */
#include "link_store.h"

#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "record.h"

struct link_value {
	struct record	 value;
	uint32_t	 dirty;		/* per slot: the key is in that slot's queue */
	/* Per slot: the key was sent to that consumer, and its removal was not. */
	uint32_t	 known;
	uint32_t	 unacked;	/* slots to which "gone" was sent and not acknowledged */
	bool		 gone;		/* tombstone: the key is removed, and some consumer still has it */
};

/* A queue of key ids: each id at most once (the dirty bit), so it never outgrows the keys. */
struct ring {
	uint32_t	*ids;
	uint32_t	 cap, head, len;
};

struct gone_sent {
	uint64_t	seq;
	uint32_t	id;
};

struct consumer_slot {
	bool		  used;
	struct ring	  queue;
	/* Queue entries that still belong to the snapshot: compaction leaves them. */
	uint32_t	  snapshot;
	uint32_t	  ghosts;	/* queued tombstones of keys this consumer never had */
	struct gone_sent *gones;	/* sent, in order, not yet acknowledged */
	uint32_t	  gones_cap, gones_head, gones_len;
};

struct link_store {
	uint32_t	 magic;
#define LINK_STORE_MAGIC	0x56494557u
	struct keytab	*keys;		/* struct link_value */
	struct consumer_slot	 slots[LINK_STORE_SLOTS];
	uint32_t	 used_slots;	/* mask */
	uint64_t	 version, count, hash;
	uint32_t	 tombstones;
	size_t		 blob_bytes;
	bool		 ready;
	struct intern	*pool;		/* or NULL */
	struct msg_arena *arena;	/* of the values that were read from it; NULL: no pool */
};

static enum err put(struct link_store *, struct body_item *, bool, bool *);
static struct link_value *entry_of(const struct link_store *, uint32_t);
static void entry_store(struct link_store *, struct link_value *, const struct body_item *);
static void entry_bury(struct link_store *, uint32_t);
static void mark(struct link_store *, uint32_t, uint32_t);
static void mark_gone(struct link_store *, uint32_t);
static void compact(struct link_store *, int);
static void unqueue_last(struct link_store *, int, uint32_t);
static void item_of(const struct link_store *, uint32_t, struct msg_arena *, struct body_item *);
static void ring_push(struct ring *, uint32_t);
static uint32_t ring_at(const struct ring *, uint32_t);
static void gone_push(struct consumer_slot *, uint64_t, uint32_t);

struct link_store *
link_store_new(void)
{
	struct link_store *v;

	OBJ_NEW(v, LINK_STORE_MAGIC);
	v->keys = keytab_new(sizeof(struct link_value));
	return v;
}

void
link_store_free(struct link_store **vp)
{
	struct link_store *v;

	if (*vp == NULL)
		return;
	OBJ_TAKE(v, vp, LINK_STORE_MAGIC);
	KEYTAB_EACH(v->keys, id)
		record_clear(&entry_of(v, id)->value, v->pool);
	for (int s = 0; s < LINK_STORE_SLOTS; s++) {
		free(v->slots[s].queue.ids);
		free(v->slots[s].gones);
	}
	keytab_free(&v->keys);
	if (v->arena != NULL)
		msg_arena_free(v->arena);
	free(v->arena);
	OBJ_FREE(v);
}

void
link_store_intern(struct link_store *v, struct intern *pool)
{
	OBJ_CHECK(v, LINK_STORE_MAGIC);
	MUST(keytab_count(v->keys) == 0 && v->pool == NULL);
	v->pool = pool;
	v->arena = obj_alloc(sizeof(*v->arena));
	msg_arena_init(v->arena);
}

void
link_store_release(struct link_store *v)
{
	if (v->arena != NULL)
		msg_arena_reset(v->arena);
}

enum err
link_store_set(struct link_store *v, struct wire_str key, struct wire_str uid, struct wire_str rv,
    enum msg type, struct wire_bin value, uint64_t trace, bool *changed)
{
	struct body_item item = {
		.key = key, .uid = uid, .rv = rv, .value = value, .trace = trace,
		.type = msg_table[type].number,
	};

	return put(v, &item, false, changed);
}

enum err
link_store_force(struct link_store *v, struct wire_str key, struct wire_str uid, struct wire_str rv,
    enum msg type, struct wire_bin value, uint64_t trace)
{
	struct body_item item = {
		.key = key, .uid = uid, .rv = rv, .value = value, .trace = trace,
		.type = msg_table[type].number,
	};
	bool changed;

	return put(v, &item, true, &changed);
}

bool
link_store_remove(struct link_store *v, struct wire_str key, uint64_t trace)
{
	OBJ_CHECK(v, LINK_STORE_MAGIC);
	const uint32_t id = keytab_find(v->keys, key.p, key.len);
	if (id == KEYTAB_NONE || entry_of(v, id)->gone)
		return false;
	struct link_value *e = entry_of(v, id);
	v->hash ^= link_store_item_hash(keytab_hash(v->keys, id), e->value.version);
	v->count--;
	v->tombstones++;
	e->gone = true;
	e->value.trace = trace;
	e->value.version = ++v->version;
	mark_gone(v, id);
	entry_bury(v, id);
	return true;
}

void
link_store_set_ready(struct link_store *v)
{
	v->ready = true;
}

bool
link_store_ready(const struct link_store *v)
{
	return v->ready;
}

int
link_store_attach(struct link_store *v)
{
	OBJ_CHECK(v, LINK_STORE_MAGIC);
	for (int s = 0; s < LINK_STORE_SLOTS; s++) {
		struct consumer_slot *slot = &v->slots[s];

		if (slot->used)
			continue;
		slot->used = true;
		v->used_slots |= 1u << s;
		KEYTAB_EACH(v->keys, id) {
			if (!entry_of(v, id)->gone)
				mark(v, id, 1u << s);
		}
		slot->snapshot = slot->queue.len;
		return s;
	}
	return -1;
}

void
link_store_detach(struct link_store *v, int s)
{
	struct consumer_slot *slot = &v->slots[s];
	const uint32_t bit = 1u << s;

	MUST(slot->used);
	for (uint32_t i = 0; i < slot->gones_len; i++)
		entry_of(v, slot->gones[(slot->gones_head + i) % slot->gones_cap].id)->unacked--;
	KEYTAB_EACH(v->keys, id) {
		entry_of(v, id)->dirty &= ~bit;
		entry_of(v, id)->known &= ~bit;
		entry_bury(v, id);
	}
	free(slot->queue.ids);
	free(slot->gones);
	*slot = (struct consumer_slot){ 0 };
	v->used_slots &= ~bit;
}

uint32_t
link_store_pending(const struct link_store *v, int s)
{
	return v->slots[s].queue.len;
}

uint32_t
link_store_peek(const struct link_store *v, int s, uint32_t max_keys, struct body_item *out, uint32_t *items)
{
	const struct ring *q = &v->slots[s].queue;
	size_t bytes = 0;
	uint32_t keys = 0;

	*items = 0;
	while (keys < max_keys && keys < q->len) {
		const uint32_t id = ring_at(q, keys);
		const struct link_value *e = entry_of(v, id);

		if (e->gone && (e->known >> s & 1) == 0) {	/* came and went unseen */
			keys++;
			continue;
		}
		struct body_item *item = &out[*items];
		item_of(v, id, v->arena, item);
		bytes += item->key.len + item->uid.len + item->rv.len + item->value.len + 32;
		if (*items > 0 && bytes > LINK_STORE_BATCH_BYTES)
			break;
		(*items)++;
		keys++;
	}
	return keys;
}

void
link_store_commit(struct link_store *v, int s, uint32_t keys, uint64_t seq)
{
	struct consumer_slot *slot = &v->slots[s];
	const uint32_t bit = 1u << s;

	MUST(keys <= slot->queue.len);
	for (uint32_t i = 0; i < keys; i++) {
		const uint32_t id = ring_at(&slot->queue, 0);
		struct link_value *e = entry_of(v, id);

		slot->queue.head = (slot->queue.head + 1) % slot->queue.cap;
		slot->queue.len--;
		if (slot->snapshot > 0)
			slot->snapshot--;
		e->dirty &= ~bit;
		if (!e->gone) {
			e->known |= bit;
			seq++;
		} else if ((e->known & bit) != 0) {
			e->known &= ~bit;
			e->unacked++;
			gone_push(slot, seq++, id);
		} else {
			slot->ghosts -= slot->ghosts > 0;
			entry_bury(v, id);
		}
	}
}

void
link_store_acked(struct link_store *v, int s, uint64_t seq)
{
	struct consumer_slot *slot = &v->slots[s];

	while (slot->gones_len > 0 && slot->gones[slot->gones_head].seq <= seq) {
		const uint32_t id = slot->gones[slot->gones_head].id;

		slot->gones_head = (slot->gones_head + 1) % slot->gones_cap;
		slot->gones_len--;
		entry_of(v, id)->unacked--;
		entry_bury(v, id);
	}
}

bool
link_store_read_now(struct link_store *v, int s, struct wire_str key, struct body_item *out)
{
	const uint32_t bit = 1u << s;

	MUST(v->slots[s].used);
	const uint32_t id = keytab_find(v->keys, key.p, key.len);
	if (id == KEYTAB_NONE || (entry_of(v, id)->gone && (entry_of(v, id)->known & bit) == 0))
		return false;
	item_of(v, id, v->arena, out);
	if (!out->gone) {
		entry_of(v, id)->known |= bit;
		unqueue_last(v, s, id);
	}
	return true;
}

bool
link_store_get(const struct link_store *v, struct wire_str key, struct body_item *out)
{
	const uint32_t id = keytab_find(v->keys, key.p, key.len);

	if (id == KEYTAB_NONE || entry_of(v, id)->gone)
		return false;
	item_of(v, id, v->arena, out);
	return true;
}

bool
link_store_queued(const struct link_store *v, int s, struct wire_str key)
{
	const uint32_t id = keytab_find(v->keys, key.p, key.len);

	return id != KEYTAB_NONE && (entry_of(v, id)->dirty >> s & 1) != 0;
}

uint64_t
link_store_count(const struct link_store *v)
{
	return v->count;
}

uint64_t
link_store_hash(const struct link_store *v)
{
	return v->hash;
}

uint32_t
link_store_tombstones(const struct link_store *v)
{
	return v->tombstones;
}

size_t
link_store_bytes(const struct link_store *v)
{
	size_t n = sizeof(*v) + keytab_bytes(v->keys) + v->blob_bytes;

	for (int s = 0; s < LINK_STORE_SLOTS; s++) {
		n += v->slots[s].queue.cap * sizeof(*v->slots[s].queue.ids)
		    + v->slots[s].gones_cap * sizeof(*v->slots[s].gones);
	}
	return n;
}

void
link_store_each(const struct link_store *v, void (*fn)(const struct body_item *, void *), void *arg)
{
	struct msg_arena arena;

	msg_arena_init(&arena);
	KEYTAB_EACH(v->keys, id) {
		struct body_item item;

		item_of(v, id, &arena, &item);
		if (!item.gone)
			fn(&item, arg);
		msg_arena_reset(&arena);
	}
	msg_arena_free(&arena);
}

/* XOR of these is order-free; the multiplications keep (key, version) pairs from cancelling. */
uint64_t
link_store_item_hash(uint64_t key_hash, uint64_t version)
{
	uint64_t h = (key_hash ^ version * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

	return h ^ h >> 32;
}

static enum err
put(struct link_store *v, struct body_item *item, bool force, bool *changed)
{
	bool added;

	OBJ_CHECK(v, LINK_STORE_MAGIC);
	*changed = false;
	if (item->key.len == 0 || item->key.len > LINK_STORE_KEY_MAX || item->uid.len > LINK_STORE_KEY_MAX
	    || item->rv.len > LINK_STORE_KEY_MAX)
		return E_INVALID;
	if (item->value.len > LINK_STORE_VALUE_MAX)
		return E_TOO_BIG;
	const uint32_t id = keytab_add(v->keys, item->key.p, item->key.len, &added);
	struct link_value *e = entry_of(v, id);
	const bool present = !added && !e->gone;
	if (!force && present && record_same_uid(&e->value, item)
	    && record_same_value(&e->value, v->pool, item)) {
		if (!record_same_rv(&e->value, item)) {
			item->version = e->value.version;
			v->blob_bytes -= record_bytes(&e->value);
			record_touch(&e->value, item);
			v->blob_bytes += record_bytes(&e->value);
		}
		return E_OK;
	}
	if (present)
		v->hash ^= link_store_item_hash(keytab_hash(v->keys, id), e->value.version);
	else
		v->count++;
	if (e->gone)
		v->tombstones--;
	item->version = ++v->version;
	entry_store(v, e, item);
	e->gone = false;
	v->hash ^= link_store_item_hash(keytab_hash(v->keys, id), item->version);
	mark(v, id, v->used_slots);
	*changed = true;
	return E_OK;
}

static struct link_value *
entry_of(const struct link_store *v, uint32_t id)
{
	return keytab_value(v->keys, id);
}

static void
entry_store(struct link_store *v, struct link_value *e, const struct body_item *item)
{
	v->blob_bytes -= record_bytes(&e->value);
	record_store(&e->value, v->pool, item);
	v->blob_bytes += record_bytes(&e->value);
}

/* A tombstone that no consumer needs any more is freed, unless `compact` has done so already. */
static void
entry_bury(struct link_store *v, uint32_t id)
{
	if (keytab_key(v->keys, id, NULL) == NULL)
		return;
	struct link_value *e = entry_of(v, id);
	if (!e->gone || e->dirty != 0 || e->unacked != 0)
		return;
	v->blob_bytes -= record_bytes(&e->value);
	record_clear(&e->value, v->pool);
	v->tombstones--;
	keytab_remove(v->keys, id);
}

static void
mark(struct link_store *v, uint32_t id, uint32_t slots)
{
	struct link_value *e = entry_of(v, id);

	for (uint32_t fresh = slots & ~e->dirty; fresh != 0; fresh &= fresh - 1)
		ring_push(&v->slots[__builtin_ctz(fresh)].queue, id);
	e->dirty |= slots;
}

/* Only consumers that have the key get its removal; for the others its queue entry is skipped. */
static void
mark_gone(struct link_store *v, uint32_t id)
{
	const struct link_value *e = entry_of(v, id);

	mark(v, id, e->known);
	for (uint32_t ghosts = e->dirty & ~e->known; ghosts != 0; ghosts &= ghosts - 1) {
		const int s = __builtin_ctz(ghosts);
		struct consumer_slot *slot = &v->slots[s];

		if (++slot->ghosts > 64 && slot->ghosts > slot->queue.len / 2)
			compact(v, s);
	}
}

/*
 * Keys that come and go while a consumer is slow leave ghosts in its queue; dropping them once they
 * are the larger part keeps memory bounded by keys at constant cost per change. The snapshot's part
 * of the queue is counted, so it stays as it is.
 */
static void
compact(struct link_store *v, int s)
{
	struct consumer_slot *slot = &v->slots[s];
	const uint32_t len = slot->queue.len;
	uint32_t kept = slot->snapshot;

	for (uint32_t i = slot->snapshot; i < len; i++) {
		const uint32_t id = ring_at(&slot->queue, i);
		struct link_value *e = entry_of(v, id);

		if (e->gone && (e->known >> s & 1) == 0) {
			e->dirty &= ~(1u << s);
			entry_bury(v, id);
			continue;
		}
		slot->queue.ids[(slot->queue.head + kept++) % slot->queue.cap] = id;
	}
	slot->queue.len = kept;
	slot->ghosts = 0;
}

/* Searching the whole queue would cost more than it saves; a write that was just answered stands last. */
static void
unqueue_last(struct link_store *v, int s, uint32_t id)
{
	struct consumer_slot *slot = &v->slots[s];

	if (slot->queue.len <= slot->snapshot || ring_at(&slot->queue, slot->queue.len - 1) != id)
		return;
	slot->queue.len--;
	entry_of(v, id)->dirty &= ~(1u << s);
}

static void
item_of(const struct link_store *v, uint32_t id, struct msg_arena *arena, struct body_item *out)
{
	const struct link_value *e = entry_of(v, id);
	size_t len;
	const char *key = keytab_key(v->keys, id, &len);

	*out = record_item(&e->value, v->pool, arena, key, len);
	if (e->gone) {
		out->gone = true;
		out->value = (struct wire_bin){ 0 };
	}
}

static void
ring_push(struct ring *r, uint32_t id)
{
	if (r->len == r->cap) {
		const uint32_t cap = r->cap == 0 ? 16 : r->cap * 2;
		uint32_t *ids = obj_alloc(cap * sizeof(*ids));

		for (uint32_t i = 0; i < r->len; i++)
			ids[i] = ring_at(r, i);
		free(r->ids);
		*r = (struct ring){ .ids = ids, .cap = cap, .len = r->len };
	}
	r->ids[(r->head + r->len++) % r->cap] = id;
}

static uint32_t
ring_at(const struct ring *r, uint32_t i)
{
	return r->ids[(r->head + i) % r->cap];
}

static void
gone_push(struct consumer_slot *slot, uint64_t seq, uint32_t id)
{
	if (slot->gones_len == slot->gones_cap) {
		const uint32_t cap = slot->gones_cap == 0 ? 16 : slot->gones_cap * 2;
		struct gone_sent *gones = obj_alloc(cap * sizeof(*gones));

		for (uint32_t i = 0; i < slot->gones_len; i++)
			gones[i] = slot->gones[(slot->gones_head + i) % slot->gones_cap];
		free(slot->gones);
		slot->gones = gones;
		slot->gones_cap = cap;
		slot->gones_head = 0;
	}
	slot->gones[(slot->gones_head + slot->gones_len++) % slot->gones_cap] =
	    (struct gone_sent){ .seq = seq, .id = id };
}
