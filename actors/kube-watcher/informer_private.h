/* actors/kube-watcher/informer_private.h - an informer and its one open request (stream.c). */
#ifndef MUSTER_WATCHER_INFORMER_PRIVATE_H
#define MUSTER_WATCHER_INFORMER_PRIVATE_H

#include "informer.h"
#include "stat.h"

struct stream;

enum { DETAIL_MAX = 400, SKIPPED_NAMED_MAX = 4 };

/* An object that cannot be projected. */
struct skipped {
	char	key[PUBLISHER_KEY_MAX];
	char	why[200];
};

struct informer {
	uint32_t		 magic;
#define INFORMER_MAGIC	0x52454144u
	struct informer_deps	 deps;
	enum kind		 kind;
	char			 version[64];
	bool			 namespaced;
	struct projection	*projection;
	struct projected	 projected;
	struct store		*store;
	struct reflector	 reflector;
	struct stream		*stream;
	struct event		*timer;
	enum kind_state		 published_state;		/* in message KIND */
	uint32_t		 published_skipped;	/* likewise: how many objects are skipped */
	struct skipped		 skipped[SKIPPED_NAMED_MAX];	/* some of them, for status and detail */
	char			 detail[DETAIL_MAX + 1];	/* of the last failure */
	bool			 driving;
	int64_t			 began_ms;	/* of the list under way */
	struct stat_series	*objects, *skipped_objects, *events[WATCH_UNKNOWN + 1];
};

/* Starts the request that the reflector decided; it becomes r->stream. */
void stream_start(struct informer *r, const struct reflector_step *step);
/* Cancels r->stream without another callback. Also from inside its own callbacks. */
void stream_forget(struct informer *r);

/*
 * Performs what the store decided about an object: it is published, retracted, or logged as skipped.
 * unreadable: it could not be projected (p->error).
 */
void informer_publish(struct informer *r, const char *key, const struct projected *p, bool unreadable,
    enum store_change change, bool own, uint64_t trace);

void informer_count_one(const struct informer *r, enum stat_id id, const char *label, const char *value);

#endif
