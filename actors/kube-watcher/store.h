/*
 * actors/kube-watcher/store.h - which objects of one kind exist, and how new our word of each is. The
 * values live in the bus views; here a node costs about 100 bytes.
 *
 * Three sources speak about the same keys: lists, the watch, and the answers to our own writes. They
 * overtake each other, so each word is dated (uid, resourceVersion) and judged here; the caller publishes
 * what is judged to be news, and nothing else.
 *
 * Laws
 * - Of one uid only newer versions are published; a version whose order is unknown counts as newer.
 * - Another uid under the same key is another object: the old one is gone, the new one is added.
 * - A key is gone when the watch says so, when our own delete was done, or when a complete list did not
 *   name it; not when the list is older than our word of it (an own write overtook the list).
 * - An object that we deleted ourselves stays deleted: older news of that uid, still on its way, is
 *   ignored until the watch or a newer list has caught up.
 * - An object that cannot be projected exists all the same: it has an entry, and is gone only when it is
 *   deleted. It has no value: what was published of an earlier version is retracted (STORE_GONE), and a later
 *   version that can be projected is added (STORE_ADDED).
 * - A list that is believed begins another time: the cluster was restored, its numbers start over. What
 *   we know from before holds until the list or an answer says otherwise, whatever their numbers; an
 *   answer to a request from before may not come in here at all (store_time).
 */
#ifndef MUSTER_STORE_H
#define MUSTER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* One object as somebody told of it. Texts are views. */
struct store_word {
	const char	*key;		/* what names it on the bus: name, or namespace/name */
	size_t		 key_len;
	const char	*uid, *rv;
	bool		 unreadable;	/* it exists, but cannot be projected: there is no value to publish */
};

enum store_news {
	STORE_IGNORE,	/* known already, or older than what we know */
	STORE_ADDED,	/* publish */
	STORE_UPDATED,	/* publish */
	STORE_REPLACED,	/* another uid: publish the old one's end, then this one */
	STORE_GONE,	/* publish the end */
	STORE_SKIPPED,	/* unreadable, and nothing of it was published before: log it */
};

/* A key that has ended. */
typedef void store_gone_fn(const char *key, size_t key_len, void *arg);

struct store *store_new(void);
void store_free(struct store **sp);

/* A list begins. believe: its word holds even where it is older than ours (a cluster that was restored). */
void store_begin(struct store *s, bool believe);
/*
 * The list is complete and of version rv: tells what is gone. Between BEGIN and COMMIT the watch and own
 * writes may go on as usual.
 */
void store_commit(struct store *s, const char *rv, store_gone_fn *fn, void *arg);
/* The list broke off: everything stays. */
void store_drop(struct store *s);
/*
 * What the list under way would mean if it were complete and of version rv. Of the keys that we
 * knew:
 *	named		it has them
 *	missing		they would be gone
 *	behind		it has them though we deleted them, or in an older version though it should know ours
 *	ahead		our word is newer than the whole list, from before it began: an own write overtook it
 * A list of the most recent state is behind nothing, and nothing is ahead of it, unless the cluster
 * was restored to an earlier time.
 */
struct store_picture {
	uint32_t	named, missing, behind, ahead;
};
struct store_picture store_picture(const struct store *s, const char *rv);

/* An object was listed, or ADDED or MODIFIED. */
enum store_news store_seen(struct store *s, const struct store_word *w);
/* The watch says DELETED. STORE_GONE or STORE_IGNORE. */
enum store_news store_deleted(struct store *s, const struct store_word *w);
/* Changes when a list begins that is believed. Remember it with a request, compare it with the answer. */
uint32_t store_time(const struct store *s);
/*
 * The answer to an own write, or to a live GET, sent in the present time. stream_rv: how far the watch
 * has come (reflector rv): what it has passed it has told, and knows better.
 */
enum store_news store_answered(struct store *s, const struct store_word *w, const char *stream_rv);
/* Our own delete was done, and the object is gone (no finalizer held it). STORE_GONE or STORE_IGNORE. */
enum store_news store_removed(struct store *s, const struct store_word *w);

uint32_t store_count(const struct store *s);		/* of all objects, unreadable ones too */
uint32_t store_unreadable(const struct store *s);	/* how many of them cannot be projected */
bool store_is_unreadable(const struct store *s, const char *key, size_t key_len);
bool store_has(const struct store *s, const char *key, size_t key_len);
/* The resourceVersion known of a key into rv (size bytes); false: no such key. */
bool store_rv(const struct store *s, const char *key, size_t key_len, char *rv, size_t size);
/* The keys, in no order; fn may not change the store. */
void store_each(const struct store *s, store_gone_fn *fn, void *arg);
uint32_t store_tombstones(const struct store *s);
size_t store_bytes(const struct store *s);

#endif
