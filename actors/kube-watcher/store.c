/*
 * actors/kube-watcher/store.c - objects of one kind by key: a uid, a version, and the last list that
 * named it, in 32 bytes. No clock, no socket, no log; memory of its own.
 */
#include "store.h"

#include <stdio.h>
#include <string.h>

#include "keytab.h"
#include "kube/rv.h"
#include "obj.h"

enum { RV_DIGITS_MAX = 19, TOMBS_MAX = 1024, UUID_TEXT = 36, LIST_MASK = 0x1fffffff };

/* A UUID as it is, anything else by its hash: all we ever ask is whether two are the same. */
struct uid {
	uint8_t	b[16];
};

struct entry {
	struct uid	uid;
	union {
		uint64_t	number;
		char	       *text;	/* odd: no number, or one that does not fit */
	}		rv;
	uint32_t	odd    : 1;
	uint32_t	behind : 1;	/* that list named it, but an older version than ours */
	uint32_t	unreadable : 1;	/* nothing of it is published */
	uint32_t	mark   : 29;	/* the last list that named it */
	uint32_t	own;		/* the last list that an answer of ours overtook */
};
_Static_assert(sizeof(struct entry) == 32, "15,000 nodes are 15,000 of these");

/* An object that is gone though older news of it may still come. */
struct tomb {
	struct uid	uid;
	uint64_t	rv;	/* the last version that we knew; 0: none, or one that is no number */
	uint32_t	dug;	/* during this list, or after it */
	uint32_t	named;	/* the last list that names it all the same */
	bool		told;	/* by the watch, inside a list: only until that is complete */
};

struct store {
	uint32_t	 magic;
#define STORE_MAGIC	0x53544f52u
	struct keytab	*keys;
	struct entry	*entries;	/* by id of the key */
	uint32_t	 cap;
	uint32_t	 list : 29;	/* number of the present list, or of the last one */
	bool		 listing, believe;
	uint32_t	 time;		/* lists that were begun to be believed */
	uint32_t	 named;		/* keys that we knew, and that the present list names */
	uint32_t	 unreadable;	/* entries that are */
	struct tomb	*tombs;
	uint32_t	 ntombs, cap_tombs;
	size_t		 text_bytes;
};

static enum store_news add(struct store *, const struct store_word *, const struct uid *, bool);
static enum store_news take(struct store *, struct entry *, const struct store_word *, const struct uid *);
static enum store_news remove_key(struct store *, uint32_t);
static bool is_swept(const struct store *, const struct entry *, enum rv_order);
static void bury(struct store *, const struct uid *, uint64_t, bool);
static struct tomb *tomb_of(struct store *, const struct uid *);
static struct tomb *find_tomb(const struct store *, const struct uid *);
static void drop_tomb(struct store *, struct tomb *);
static struct uid uid_of(const char *);
static bool same_uid(const struct uid *, const struct uid *);
static int hex_digit(char);
static void set_rv(struct store *, struct entry *, const char *);
static enum rv_order order_with(const char *, const struct entry *);
static const char *rv_text(const struct entry *, char[RV_DIGITS_MAX + 2]);
static uint64_t number_of(const char *);
static bool fits(const char *, size_t);

struct store *
store_new(void)
{
	struct store *s;

	OBJ_NEW(s, STORE_MAGIC);
	s->keys = keytab_new(0);
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
		if (keytab_key(s->keys, id, NULL) != NULL && s->entries[id].odd)
			free(s->entries[id].rv.text);
	}
	keytab_free(&s->keys);
	free(s->entries);
	free(s->tombs);
	OBJ_FREE(s);
}

/* ---- A list ---- */

void
store_begin(struct store *s, bool believe)
{
	MUST(!s->listing);
	s->list = (s->list + 1) & LIST_MASK;
	s->listing = true;
	s->believe = believe;
	s->time += believe;
	s->named = 0;
}

void
store_commit(struct store *s, const char *rv, store_gone_fn *fn, void *arg)
{
	MUST(s->listing);
	for (uint32_t id = 0; id < keytab_ids(s->keys); id++) {
		size_t len;
		const char *key = keytab_key(s->keys, id, &len);

		if (key == NULL || !is_swept(s, &s->entries[id], order_with(rv, &s->entries[id])))
			continue;
		if (!s->entries[id].unreadable)
			fn(key, len, arg);
		remove_key(s, id);
	}
	/*
	 * A list that did not name it is newer than its end: nothing older can come any more. Unless it is
	 * older than its beginning: a replica that lags knows of neither.
	 */
	const uint64_t number = fits(rv, strlen(rv)) ? number_of(rv) : UINT64_MAX;
	for (uint32_t i = s->ntombs; i-- > 0;) {
		const struct tomb *t = &s->tombs[i];
		const bool ended = t->dug != s->list && t->named != s->list;

		if (t->told || (ended && (s->believe || number >= t->rv)))
			drop_tomb(s, &s->tombs[i]);
	}
	s->listing = s->believe = false;
}

void
store_drop(struct store *s)
{
	MUST(s->listing);
	s->listing = s->believe = false;
}

struct store_picture
store_picture(const struct store *s, const char *rv)
{
	struct store_picture p = { .named = s->named };

	for (uint32_t id = 0; id < keytab_ids(s->keys); id++) {
		const struct entry *e = &s->entries[id];

		if (keytab_key(s->keys, id, NULL) == NULL)
			continue;
		const enum rv_order list_is = order_with(rv, e);
		p.missing += is_swept(s, e, list_is);
		p.behind += e->mark == s->list && e->behind && list_is != RV_OLDER;
		p.ahead += e->own != s->list && list_is == RV_OLDER;
	}
	for (uint32_t i = 0; i < s->ntombs; i++)
		p.behind += s->tombs[i].named == s->list && s->tombs[i].dug != s->list;
	return p;
}

/* ---- Words ---- */

enum store_news
store_seen(struct store *s, const struct store_word *w)
{
	const struct uid uid = uid_of(w->uid);
	struct tomb *t = tomb_of(s, &uid);

	if (t != NULL) {
		if (s->listing)
			t->named = s->list;
		return STORE_IGNORE;
	}
	const uint32_t id = keytab_find(s->keys, w->key, w->key_len);
	if (id == KEYTAB_NONE)
		return add(s, w, &uid, false);
	struct entry *e = &s->entries[id];
	const bool older = order_with(w->rv, e) == RV_OLDER;
	const bool believed = s->listing && s->believe && e->own != s->list;
	const enum store_news news =
	    older && !believed ? STORE_IGNORE : take(s, e, w, &uid);
	if (s->listing && same_uid(&e->uid, &uid)) {
		s->named += e->mark != s->list;
		e->mark = s->list;
		e->behind = older && !believed;
	}
	return news;
}

enum store_news
store_deleted(struct store *s, const struct store_word *w)
{
	const struct uid uid = uid_of(w->uid);
	struct tomb *t = find_tomb(s, &uid);

	if (t != NULL)
		drop_tomb(s, t);
	if (s->listing)
		bury(s, &uid, 0, true);
	const uint32_t id = keytab_find(s->keys, w->key, w->key_len);
	if (id == KEYTAB_NONE || !same_uid(&s->entries[id].uid, &uid))
		return STORE_IGNORE;
	return remove_key(s, id);
}

enum store_news
store_answered(struct store *s, const struct store_word *w, const char *stream_rv)
{
	const struct uid uid = uid_of(w->uid);
	const enum rv_order o = rv_compare(w->rv, strlen(w->rv), stream_rv, strlen(stream_rv));
	const bool believing = s->listing && s->believe;	/* the watch was of another time */
	const bool passed = !believing && (o == RV_OLDER || o == RV_SAME);

	if (tomb_of(s, &uid) != NULL)
		return STORE_IGNORE;
	const uint32_t id = keytab_find(s->keys, w->key, w->key_len);
	if (id == KEYTAB_NONE)
		return passed ? STORE_IGNORE : add(s, w, &uid, true);
	struct entry *e = &s->entries[id];
	const bool bygone = believing && e->mark != s->list && e->own != s->list;
	if (!bygone && (order_with(w->rv, e) == RV_OLDER || (passed && !same_uid(&e->uid, &uid))))
		return STORE_IGNORE;
	e->own = s->list;
	return take(s, e, w, &uid);
}

enum store_news
store_removed(struct store *s, const struct store_word *w)
{
	const struct uid uid = uid_of(w->uid);
	const uint32_t id = keytab_find(s->keys, w->key, w->key_len);
	const bool ours = id != KEYTAB_NONE && same_uid(&s->entries[id].uid, &uid);

	/* Not there, and no list under way: the watch has told its end before the answer came. */
	if (ours || s->listing)
		bury(s, &uid, ours && !s->entries[id].odd ? s->entries[id].rv.number : 0, false);
	if (!ours)
		return STORE_IGNORE;
	return remove_key(s, id);
}

uint32_t
store_time(const struct store *s)
{
	return s->time;
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

	return id != KEYTAB_NONE && s->entries[id].unreadable;
}

bool
store_has(const struct store *s, const char *key, size_t key_len)
{
	return keytab_find(s->keys, key, key_len) != KEYTAB_NONE;
}

bool
store_rv(const struct store *s, const char *key, size_t key_len, char *rv, size_t size)
{
	const uint32_t id = keytab_find(s->keys, key, key_len);
	char digits[RV_DIGITS_MAX + 2];

	if (id == KEYTAB_NONE)
		return false;
	snprintf(rv, size, "%s", rv_text(&s->entries[id], digits));
	return true;
}

void
store_each(const struct store *s, store_gone_fn *fn, void *arg)
{
	for (uint32_t id = 0; id < keytab_ids(s->keys); id++) {
		size_t len;
		const char *key = keytab_key(s->keys, id, &len);

		if (key != NULL)
			fn(key, len, arg);
	}
}

uint32_t
store_tombstones(const struct store *s)
{
	return s->ntombs;
}

size_t
store_bytes(const struct store *s)
{
	return sizeof(*s) + keytab_bytes(s->keys) + s->cap * sizeof(*s->entries)
	    + s->cap_tombs * sizeof(*s->tombs) + s->text_bytes;
}

/* ---- Entries ---- */

static enum store_news
add(struct store *s, const struct store_word *w, const struct uid *uid, bool own)
{
	const uint32_t id = keytab_add(s->keys, w->key, w->key_len, NULL);

	if (id >= s->cap) {
		s->cap = s->cap == 0 ? 8 : s->cap + s->cap / 2;
		s->entries = obj_realloc(s->entries, s->cap * sizeof(*s->entries));
	}
	struct entry *e = &s->entries[id];
	*e = (struct entry){ .uid = *uid };
	if (own)
		e->own = s->list;
	else if (s->listing)
		e->mark = s->list;
	e->unreadable = w->unreadable;
	s->unreadable += w->unreadable;
	set_rv(s, e, w->rv);
	return w->unreadable ? STORE_SKIPPED : STORE_ADDED;
}

/* Not older, or believed all the same. */
static enum store_news
take(struct store *s, struct entry *e, const struct store_word *w, const struct uid *uid)
{
	char digits[RV_DIGITS_MAX + 2];
	const bool same = same_uid(&e->uid, uid), was_unreadable = e->unreadable;

	if (same && was_unreadable == w->unreadable && strcmp(rv_text(e, digits), w->rv) == 0)
		return STORE_IGNORE;
	e->uid = *uid;
	e->unreadable = w->unreadable;
	s->unreadable += w->unreadable;
	s->unreadable -= was_unreadable;
	set_rv(s, e, w->rv);
	if (w->unreadable)
		return was_unreadable ? STORE_IGNORE : STORE_GONE;
	return was_unreadable ? STORE_ADDED : same ? STORE_UPDATED : STORE_REPLACED;
}

/* Of an unreadable object nothing is published that could be retracted. */
static enum store_news
remove_key(struct store *s, uint32_t id)
{
	const bool unreadable = s->entries[id].unreadable;

	s->unreadable -= unreadable;
	set_rv(s, &s->entries[id], "1");	/* frees a text */
	keytab_remove(s->keys, id);
	return unreadable ? STORE_IGNORE : STORE_GONE;
}

/*
 * Not named, and the list knows better than we do. It does not when an own write is newer: one that was
 * answered before the list began, unless the list must contain it (believe: a consistent read after it);
 * or one that was answered since.
 */
static bool
is_swept(const struct store *s, const struct entry *e, enum rv_order list_is)
{
	if (e->mark == s->list)
		return false;
	if (e->own == s->list)
		return list_is == RV_NEWER || list_is == RV_SAME;
	return s->believe || list_is != RV_OLDER;
}

/* ---- Tombs ---- */

static void
bury(struct store *s, const struct uid *uid, uint64_t rv, bool told)
{
	if (find_tomb(s, uid) != NULL)
		return;
	/* The oldest has waited longest, and is the least likely to be needed. */
	if (s->ntombs == TOMBS_MAX)
		drop_tomb(s, &s->tombs[0]);
	if (s->ntombs == s->cap_tombs) {
		s->cap_tombs = s->cap_tombs == 0 ? 8 : s->cap_tombs * 2;
		s->tombs = obj_realloc(s->tombs, s->cap_tombs * sizeof(*s->tombs));
	}
	s->tombs[s->ntombs++] = (struct tomb){ .uid = *uid, .rv = rv, .dug = s->list, .told = told };
}

/* The one that counts: from before a list that is believed, it may be there again. */
static struct tomb *
tomb_of(struct store *s, const struct uid *uid)
{
	struct tomb *t = find_tomb(s, uid);

	if (t == NULL || !s->listing || !s->believe || t->dug == s->list)
		return t;
	drop_tomb(s, t);
	return NULL;
}

static struct tomb *
find_tomb(const struct store *s, const struct uid *uid)
{
	for (uint32_t i = 0; i < s->ntombs; i++) {
		if (same_uid(&s->tombs[i].uid, uid))
			return &s->tombs[i];
	}
	return NULL;
}

static void
drop_tomb(struct store *s, struct tomb *t)
{
	const size_t behind = (size_t)(&s->tombs[s->ntombs] - t - 1);

	memmove(t, t + 1, behind * sizeof(*t));
	s->ntombs--;
}

/* ---- uid and resourceVersion, packed ---- */

static struct uid
uid_of(const char *text)
{
	const size_t len = strlen(text);
	struct uid uid = { 0 };
	size_t nibbles = 0;

	for (size_t i = 0; len == UUID_TEXT && i < len; i++) {
		const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		const int digit = dash ? 0 : hex_digit(text[i]);

		if ((dash && text[i] != '-') || digit < 0)
			break;
		if (dash)
			continue;
		uid.b[nibbles / 2] = (uint8_t)(uid.b[nibbles / 2] << 4 | digit);
		nibbles++;
	}
	if (nibbles == 2 * sizeof(uid.b))
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

/* Lower case only, as the apiserver writes it: upper case would be another text, and so another uid. */
static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void
set_rv(struct store *s, struct entry *e, const char *rv)
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

/* What a version is beside the one we know. */
static enum rv_order
order_with(const char *rv, const struct entry *e)
{
	char digits[RV_DIGITS_MAX + 2];
	const char *ours = rv_text(e, digits);

	return rv_compare(rv, strlen(rv), ours, strlen(ours));
}

static const char *
rv_text(const struct entry *e, char digits[RV_DIGITS_MAX + 2])
{
	char *p = digits + RV_DIGITS_MAX + 1;

	if (e->odd)
		return e->rv.text;
	*p = '\0';
	for (uint64_t n = e->rv.number; n > 0; n /= 10)
		*--p = (char)('0' + n % 10);
	return p;
}
