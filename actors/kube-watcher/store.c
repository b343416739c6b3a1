/*
 * actors/kube-watcher/store.c - objects of one kind by key: a uid, a version, and the last list that
 * contains it, in 32 bytes. No clock, no socket, no log; it allocates its own memory.
 */
#include "store.h"

#include <stdio.h>
#include <string.h>

#include "keytab.h"
#include "kube/rv.h"
#include "obj.h"
#include "uuid.h"

enum { RV_DIGITS_MAX = 19, TOMBSTONES_MAX = 1024, LIST_MASK = 0x1fffffff };

/* A UUID in binary, anything else as its hash: they are only compared for equality. */
struct uid {
	uint8_t	b[UUID_BYTES];
};

struct stored_object {
	struct uid	uid;
	union {
		uint64_t	number;
		char	       *text;	/* odd: no number, or one that does not fit */
	}		rv;
	uint32_t	odd : 1;
	uint32_t	listed_older : 1;	/* that list has an older version than the store */
	uint32_t	unreadable : 1;	/* nothing of it is published */
	uint32_t	listed_in : 29;	/* the last list that contains it */
	uint32_t	answered_in;	/* the last list that an answer to a write overtook */
};
_Static_assert(sizeof(struct stored_object) == 32, "15,000 nodes are 15,000 of these");

/* An object that is gone though older versions of it may still be reported. */
struct tombstone {
	struct uid	uid;
	uint64_t	rv;	/* its last version; 0: unknown, or not a number */
	uint32_t	created_in;	/* the list under way then, or the last one before */
	uint32_t	seen_in;	/* the last list that contains the object all the same */
	bool		until_list_ends;	/* DELETED came within a list: only until that is complete */
};

struct store {
	uint32_t	 magic;
#define STORE_MAGIC	0x53544f52u
	struct keytab	*keys;		/* each has a struct stored_object */
	uint32_t	 list : 29;	/* number of the present list, or of the last one */
	bool		 listing, accept_rollback;
	uint32_t	 restore_epoch;	/* counts the lists that were begun to accept a rollback */
	uint32_t	 seen;		/* known keys that the present list contains */
	uint32_t	 unreadable;	/* entries that are */
	struct tombstone	*tombstones;
	uint32_t	 ntombstones, cap_tombstones;
	size_t		 text_bytes;
};

static struct stored_object *object_of(const struct store *, uint32_t);
static enum store_change add(struct store *, const struct object_version *, const struct uid *, bool);
static enum store_change update(struct store *, struct stored_object *, const struct object_version *,
    const struct uid *);
static enum store_change remove_key(struct store *, uint32_t);
static bool is_missing_from_list(const struct store *, const struct stored_object *, enum rv_order);
static void add_tombstone(struct store *, const struct uid *, uint64_t, bool);
static struct tombstone *effective_tombstone(struct store *, const struct uid *);
static struct tombstone *find_tombstone(const struct store *, const struct uid *);
static void drop_tombstone(struct store *, struct tombstone *);
static struct uid uid_of(const char *);
static bool same_uid(const struct uid *, const struct uid *);
static void set_rv(struct store *, struct stored_object *, const char *);
static enum rv_order order_with(const char *, const struct stored_object *);
static const char *rv_text(const struct stored_object *, char[RV_DIGITS_MAX + 2]);
static uint64_t number_of(const char *);
static bool fits(const char *, size_t);

struct store *
store_new(void)
{
	struct store *s;

	OBJ_NEW(s, STORE_MAGIC);
	s->keys = keytab_new(sizeof(struct stored_object));
	return s;
}

void
store_free(struct store **sp)
{
	struct store *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, STORE_MAGIC);
	for (uint32_t id = 0; id < keytab_ids(s->keys); id++) {
		if (keytab_key(s->keys, id, NULL) != NULL && object_of(s, id)->odd)
			free(object_of(s, id)->rv.text);
	}
	keytab_free(&s->keys);
	free(s->tombstones);
	OBJ_FREE(s);
}

/* ---- A list ---- */

void
store_begin(struct store *s, bool accept_rollback)
{
	MUST(!s->listing);
	s->list = (s->list + 1) & LIST_MASK;
	s->listing = true;
	s->accept_rollback = accept_rollback;
	s->restore_epoch += accept_rollback;
	s->seen = 0;
}

void
store_commit(struct store *s, const char *rv, store_gone_fn *fn, void *arg)
{
	MUST(s->listing);
	for (uint32_t id = 0; id < keytab_ids(s->keys); id++) {
		size_t len;
		const char *key = keytab_key(s->keys, id, &len);
		const struct stored_object *const e = key == NULL ? NULL : object_of(s, id);

		if (e == NULL || !is_missing_from_list(s, e, order_with(rv, e)))
			continue;
		if (!e->unreadable)
			fn(key, len, arg);
		remove_key(s, id);
	}
	/*
	 * A list that does not contain it is newer than its end: nothing older can come any more. Unless it
	 * is older than its beginning: a replica that lags has seen neither.
	 */
	const uint64_t number = fits(rv, strlen(rv)) ? number_of(rv) : UINT64_MAX;
	for (uint32_t i = s->ntombstones; i-- > 0;) {
		const struct tombstone *t = &s->tombstones[i];
		const bool ended = t->created_in != s->list && t->seen_in != s->list;

		if (t->until_list_ends || (ended && (s->accept_rollback || number >= t->rv)))
			drop_tombstone(s, &s->tombstones[i]);
	}
	s->listing = s->accept_rollback = false;
}

void
store_drop(struct store *s)
{
	MUST(s->listing);
	s->listing = s->accept_rollback = false;
}

struct list_diff
store_list_diff(const struct store *s, const char *rv)
{
	struct list_diff d = { .seen = s->seen };

	for (uint32_t id = 0; id < keytab_ids(s->keys); id++) {
		if (keytab_key(s->keys, id, NULL) == NULL)
			continue;
		const struct stored_object *const e = object_of(s, id);
		const enum rv_order list_is = order_with(rv, e);
		d.missing += is_missing_from_list(s, e, list_is);
		d.older += e->listed_in == s->list && e->listed_older && list_is != RV_OLDER;
		d.newer += e->answered_in != s->list && list_is == RV_OLDER;
	}
	for (uint32_t i = 0; i < s->ntombstones; i++)
		d.older += s->tombstones[i].seen_in == s->list && s->tombstones[i].created_in != s->list;
	return d;
}

/* ---- Versions ---- */

enum store_change
store_seen(struct store *s, const struct object_version *v)
{
	const struct uid uid = uid_of(v->uid);
	struct tombstone *t = effective_tombstone(s, &uid);

	if (t != NULL) {
		if (s->listing)
			t->seen_in = s->list;
		return STORE_IGNORE;
	}
	const uint32_t id = keytab_find(s->keys, v->key, v->key_len);
	if (id == KEYTAB_NONE)
		return add(s, v, &uid, false);
	struct stored_object *const e = object_of(s, id);
	const bool older = order_with(v->rv, e) == RV_OLDER;
	const bool rollback = s->listing && s->accept_rollback && e->answered_in != s->list;
	const enum store_change change =
	    older && !rollback ? STORE_IGNORE : update(s, e, v, &uid);
	if (s->listing && same_uid(&e->uid, &uid)) {
		s->seen += e->listed_in != s->list;
		e->listed_in = s->list;
		e->listed_older = older && !rollback;
	}
	return change;
}

enum store_change
store_deleted(struct store *s, const struct object_version *v)
{
	const struct uid uid = uid_of(v->uid);
	struct tombstone *t = find_tombstone(s, &uid);

	if (t != NULL)
		drop_tombstone(s, t);
	if (s->listing)
		add_tombstone(s, &uid, 0, true);
	const uint32_t id = keytab_find(s->keys, v->key, v->key_len);
	if (id == KEYTAB_NONE || !same_uid(&object_of(s, id)->uid, &uid))
		return STORE_IGNORE;
	return remove_key(s, id);
}

enum store_change
store_answered(struct store *s, const struct object_version *v, const char *stream_rv)
{
	const struct uid uid = uid_of(v->uid);
	const enum rv_order o = rv_compare(v->rv, strlen(v->rv), stream_rv, strlen(stream_rv));
	/* The watch is of another epoch then. */
	const bool accepting_rollback = s->listing && s->accept_rollback;
	const bool passed = !accepting_rollback && (o == RV_OLDER || o == RV_SAME);

	if (effective_tombstone(s, &uid) != NULL)
		return STORE_IGNORE;
	const uint32_t id = keytab_find(s->keys, v->key, v->key_len);
	if (id == KEYTAB_NONE)
		return passed ? STORE_IGNORE : add(s, v, &uid, true);
	struct stored_object *const e = object_of(s, id);
	const bool predates_restore =
	    accepting_rollback && e->listed_in != s->list && e->answered_in != s->list;
	if (!predates_restore && (order_with(v->rv, e) == RV_OLDER || (passed && !same_uid(&e->uid, &uid))))
		return STORE_IGNORE;
	e->answered_in = s->list;
	return update(s, e, v, &uid);
}

enum store_change
store_removed(struct store *s, const struct object_version *v)
{
	const struct uid uid = uid_of(v->uid);
	const uint32_t id = keytab_find(s->keys, v->key, v->key_len);
	const struct stored_object *const e = id == KEYTAB_NONE ? NULL : object_of(s, id);
	const bool ours = e != NULL && same_uid(&e->uid, &uid);

	/* Not there, and no list under way: the watch reported DELETED before the answer came. */
	if (ours || s->listing)
		add_tombstone(s, &uid, ours && !e->odd ? e->rv.number : 0, false);
	if (!ours)
		return STORE_IGNORE;
	return remove_key(s, id);
}

uint32_t
store_restore_epoch(const struct store *s)
{
	return s->restore_epoch;
}

uint32_t
store_count(const struct store *s)
{
	return keytab_count(s->keys);
}

uint32_t
store_unreadable(const struct store *s)
{
	return s->unreadable;
}

bool
store_is_unreadable(const struct store *s, const char *key, size_t key_len)
{
	const uint32_t id = keytab_find(s->keys, key, key_len);

	return id != KEYTAB_NONE && object_of(s, id)->unreadable;
}

bool
store_rv(const struct store *s, const char *key, size_t key_len, char *rv, size_t size)
{
	const uint32_t id = keytab_find(s->keys, key, key_len);
	char digits[RV_DIGITS_MAX + 2];

	if (id == KEYTAB_NONE)
		return false;
	snprintf(rv, size, "%s", rv_text(object_of(s, id), digits));
	return true;
}

uint32_t
store_tombstones(const struct store *s)
{
	return s->ntombstones;
}

size_t
store_bytes(const struct store *s)
{
	return sizeof(*s) + keytab_bytes(s->keys) + s->text_bytes
	    + s->cap_tombstones * sizeof(*s->tombstones);
}

/* ---- Entries ---- */

static struct stored_object *
object_of(const struct store *s, uint32_t id)
{
	return keytab_value(s->keys, id);
}

static enum store_change
add(struct store *s, const struct object_version *v, const struct uid *uid, bool own)
{
	struct stored_object *const e = object_of(s, keytab_add(s->keys, v->key, v->key_len, NULL));

	e->uid = *uid;
	if (own)
		e->answered_in = s->list;
	else if (s->listing)
		e->listed_in = s->list;
	e->unreadable = v->unreadable;
	s->unreadable += v->unreadable;
	set_rv(s, e, v->rv);
	return v->unreadable ? STORE_SKIPPED : STORE_ADDED;
}

/* The version is not older, or a rollback is accepted. */
static enum store_change
update(struct store *s, struct stored_object *e, const struct object_version *v, const struct uid *uid)
{
	char digits[RV_DIGITS_MAX + 2];
	const bool same = same_uid(&e->uid, uid), was_unreadable = e->unreadable;

	if (same && was_unreadable == v->unreadable && strcmp(rv_text(e, digits), v->rv) == 0)
		return STORE_IGNORE;
	e->uid = *uid;
	e->unreadable = v->unreadable;
	s->unreadable += v->unreadable;
	s->unreadable -= was_unreadable;
	set_rv(s, e, v->rv);
	if (v->unreadable)
		return was_unreadable ? STORE_IGNORE : STORE_GONE;
	return was_unreadable ? STORE_ADDED : same ? STORE_UPDATED : STORE_REPLACED;
}

/* Of an unreadable object nothing is published that could be retracted. */
static enum store_change
remove_key(struct store *s, uint32_t id)
{
	const bool unreadable = object_of(s, id)->unreadable;

	s->unreadable -= unreadable;
	set_rv(s, object_of(s, id), "1");	/* frees a text */
	keytab_remove(s->keys, id);
	return unreadable ? STORE_IGNORE : STORE_GONE;
}

/*
 * It is not in the list, and the list is newer. It is not newer than an own write that was answered before
 * the list began, unless it must contain that (accept_rollback: a consistent read after it), nor than one
 * that was answered since.
 */
static bool
is_missing_from_list(const struct store *s, const struct stored_object *e, enum rv_order list_is)
{
	if (e->listed_in == s->list)
		return false;
	if (e->answered_in == s->list)
		return list_is == RV_NEWER || list_is == RV_SAME;
	return s->accept_rollback || list_is != RV_OLDER;
}

/* ---- Tombstones ---- */

static void
add_tombstone(struct store *s, const struct uid *uid, uint64_t rv, bool until_list_ends)
{
	if (find_tombstone(s, uid) != NULL)
		return;
	/* The oldest is the least likely to be needed. */
	if (s->ntombstones == TOMBSTONES_MAX)
		drop_tombstone(s, &s->tombstones[0]);
	if (s->ntombstones == s->cap_tombstones) {
		s->cap_tombstones = s->cap_tombstones == 0 ? 8 : s->cap_tombstones * 2;
		s->tombstones = obj_realloc(s->tombstones, s->cap_tombstones * sizeof(*s->tombstones));
	}
	s->tombstones[s->ntombstones++] = (struct tombstone){ .uid = *uid, .rv = rv,
	    .created_in = s->list, .until_list_ends = until_list_ends };
}

/* NULL also if it is from before a list that accepts a rollback: the object may be there again. */
static struct tombstone *
effective_tombstone(struct store *s, const struct uid *uid)
{
	struct tombstone *t = find_tombstone(s, uid);

	if (t == NULL || !s->listing || !s->accept_rollback || t->created_in == s->list)
		return t;
	drop_tombstone(s, t);
	return NULL;
}

static struct tombstone *
find_tombstone(const struct store *s, const struct uid *uid)
{
	for (uint32_t i = 0; i < s->ntombstones; i++) {
		if (same_uid(&s->tombstones[i].uid, uid))
			return &s->tombstones[i];
	}
	return NULL;
}

static void
drop_tombstone(struct store *s, struct tombstone *t)
{
	const size_t behind = (size_t)(&s->tombstones[s->ntombstones] - t - 1);

	memmove(t, t + 1, behind * sizeof(*t));
	s->ntombstones--;
}

/* ---- uid and resourceVersion, packed ---- */

static struct uid
uid_of(const char *text)
{
	const size_t len = strlen(text);
	struct uid uid;

	if (uuid_parse(text, len, uid.b))
		return uid;
	const uint64_t halves[2] = { hash64(text, len), hash64_more(hash64("uid", 3), text, len) };
	memcpy(uid.b, halves, sizeof(uid.b));
	return uid;
}

static bool
same_uid(const struct uid *a, const struct uid *b)
{
	return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

static void
set_rv(struct store *s, struct stored_object *e, const char *rv)
{
	const size_t len = strlen(rv);

	if (e->odd) {
		s->text_bytes -= strlen(e->rv.text) + 1;
		free(e->rv.text);
	}
	e->odd = !fits(rv, len);
	if (e->odd) {
		e->rv.text = obj_memdup(rv, len + 1);
		s->text_bytes += len + 1;
		return;
	}
	e->rv.number = number_of(rv);
}

/* Of a text that fits. */
static uint64_t
number_of(const char *rv)
{
	uint64_t n = 0;

	for (; *rv != '\0'; rv++)
		n = n * 10 + (uint64_t)(*rv - '0');
	return n;
}

static bool
fits(const char *rv, size_t len)
{
	return len <= RV_DIGITS_MAX && rv_valid(rv, len);
}

/* How a version compares with the one in the store. */
static enum rv_order
order_with(const char *rv, const struct stored_object *e)
{
	char digits[RV_DIGITS_MAX + 2];

	if (!e->odd && fits(rv, strlen(rv))) {
		const uint64_t number = number_of(rv);

		return number < e->rv.number ? RV_OLDER : number > e->rv.number ? RV_NEWER : RV_SAME;
	}
	const char *ours = rv_text(e, digits);
	return rv_compare(rv, strlen(rv), ours, strlen(ours));
}

static const char *
rv_text(const struct stored_object *e, char digits[RV_DIGITS_MAX + 2])
{
	char *p = digits + RV_DIGITS_MAX + 1;

	if (e->odd)
		return e->rv.text;
	*p = '\0';
	for (uint64_t n = e->rv.number; n > 0; n /= 10)
		*--p = (char)('0' + n % 10);
	return p;
}
