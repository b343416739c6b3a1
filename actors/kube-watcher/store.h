/*
 * actors/kube-watcher/store.h - which objects of one kind exist, and the newest version known of each.
 * The values are in the stores of the links; here an object costs about 100 bytes.
 *
 * Lists, the watch and the answers to own writes report about the same keys, and overtake each other.
 * So each report has a uid and a resourceVersion; the store decides whether it is a change, and the
 * caller publishes changes and nothing else.
 *
 * Rules
 * - Of one uid only newer versions are published; a version whose order is unknown counts as newer.
 * - Another uid under the same key is another object: the old one is gone, the new one is added.
 * - A key is gone when the watch reports DELETED, when an own delete was done, or when a complete list
 *   does not contain it; not when the list is older than the version in the store (an own write
 *   overtook the list).
 * - An object that we deleted ourselves stays deleted: older reports of that uid are ignored until the
 *   watch or a newer list has caught up (a tombstone).
 * - An object that cannot be projected exists all the same: it has an entry, and is gone only when it is
 *   deleted. It has no value: what was published of an earlier version is retracted (STORE_GONE), and a
 *   later version that can be projected is added (STORE_ADDED).
 * - A list that accepts a rollback begins another restore epoch: the cluster was restored from a backup,
 *   its versions count anew. Entries from before stay until the list or an answer has another version of
 *   them, whatever its number; an answer to a request from before must not be passed in here at all.
 */
#ifndef MUSTER_STORE_H
#define MUSTER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* One report about an object. Texts are not copied. */
struct object_version {
	const char	*key;		/* its key on the bus */
	size_t		 key_len;
	const char	*uid, *rv;
	bool		 unreadable;	/* it exists, but cannot be projected: there is no value to publish */
};

enum store_change {
	STORE_IGNORE,	/* in the store already, or older */
	STORE_ADDED,	/* publish */
	STORE_UPDATED,	/* publish */
	STORE_REPLACED,	/* another uid: publish the end of the old one, then this one */
	STORE_GONE,	/* publish the end */
	STORE_SKIPPED,	/* unreadable, and nothing of it was published before: log it */
};

/* A key that has ended. */
typedef void store_gone_fn(const char *key, size_t key_len, void *arg);

struct store *store_new(void);
void store_free(struct store **sp);

/*
 * A list begins. accept_rollback: it wins even where it is older than the store (the cluster was
 * restored).
 */
void store_begin(struct store *s, bool accept_rollback);
/*
 * The list is complete and of version rv: fn is called for each key that is gone. Between store_begin
 * and store_commit the watch and own writes may go on as usual.
 */
void store_commit(struct store *s, const char *rv, store_gone_fn *fn, void *arg);
/* The list broke off: everything stays. */
void store_drop(struct store *s);
/*
 * How the list under way differs from the store, if it were complete and of version rv. Keys of the
 * store that are
 *	seen		in the list
 *	missing		not in the list: they would be gone
 *	older		in the list though we deleted them, or in an older version than the store has
 *	newer		newer than the whole list, from before it began: an own write overtook it
 * With a list of the most recent state older and newer are 0, unless the cluster was restored from a
 * backup.
 */
struct list_diff {
	uint32_t	seen, missing, older, newer;
};
struct list_diff store_list_diff(const struct store *s, const char *rv);

/* An object was listed, or ADDED or MODIFIED. */
enum store_change store_seen(struct store *s, const struct object_version *v);
/* The watch reported DELETED. STORE_GONE or STORE_IGNORE. */
enum store_change store_deleted(struct store *s, const struct object_version *v);
/* Changes when a list begins that accepts a rollback. Keep it with a request, compare it when answered. */
uint32_t store_restore_epoch(const struct store *s);
/*
 * The answer to an own write, or to a live GET, of the present restore epoch. stream_rv: the version that
 * the watch has reached: it has reported everything up to there.
 */
enum store_change store_answered(struct store *s, const struct object_version *v, const char *stream_rv);
/* Our own delete was done, and the object is gone (no finalizer held it). STORE_GONE or STORE_IGNORE. */
enum store_change store_removed(struct store *s, const struct object_version *v);

uint32_t store_count(const struct store *s);		/* of all objects, unreadable ones too */
uint32_t store_unreadable(const struct store *s);	/* how many of them cannot be projected */
bool store_is_unreadable(const struct store *s, const char *key, size_t key_len);
/* The resourceVersion known of a key into rv (size bytes); false: no such key. */
bool store_rv(const struct store *s, const char *key, size_t key_len, char *rv, size_t size);
uint32_t store_tombstones(const struct store *s);
size_t store_bytes(const struct store *s);

#endif
