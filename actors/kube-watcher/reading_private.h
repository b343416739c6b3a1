/*
 * actors/kube-watcher/reading_private.h - a kind being read (reading.c) and its one request under
 * way (stream.c).
 */
#ifndef MUSTER_WATCHER_READING_PRIVATE_H
#define MUSTER_WATCHER_READING_PRIVATE_H

#include "reading.h"
#include "stat.h"

struct stream;

enum { DETAIL_MAX = 400, SKIPPED_NAMED_MAX = 4 };

/* An object that cannot be projected. */
struct skipped {
	char	key[OUTLET_KEY_MAX];
	char	why[200];
};

struct reading {
	uint32_t		 magic;
#define READING_MAGIC	0x52454144u
	struct reading_ground	 ground;
	enum kind		 kind;
	char			 version[64];
	bool			 namespaced;
	struct projection	*projection;
	struct projected	 projected;
	struct store		*store;
	struct reflector	 reflector;
	struct stream		*stream;
	struct event		*timer;
	enum kind_state		 told;		/* to the outlet */
	uint32_t		 skipped_told;	/* likewise: how many objects are skipped */
	struct skipped		 skipped[SKIPPED_NAMED_MAX];	/* some of them, for status and detail */
	char			 detail[DETAIL_MAX + 1];	/* of the last failure */
	bool			 driving;
	int64_t			 began_ms;	/* of the list under way */
	struct stat_series	*objects, *skipped_objects, *events[WATCH_UNKNOWN + 1];
};

/* Starts what the reflector asked for; it becomes r->stream. */
void stream_start(struct reading *r, const struct reflector_step *step);
/* Ends r->stream without another word. Also from inside its own callbacks. */
void stream_forget(struct reading *r);

/*
 * Performs what the store decided about an object: it is published, retracted, or logged as skipped.
 * unreadable: it could not be projected (p->error).
 */
void reading_publish(struct reading *r, const char *key, const struct projected *p, bool unreadable,
    enum store_news news, bool own, uint64_t trace);

void reading_count_one(const struct reading *r, enum stat_id id, const char *label, const char *value);

#endif
