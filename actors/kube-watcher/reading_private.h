/*
 * actors/kube-watcher/reading_private.h - a kind being read (reading.c) and its one request under
 * way (stream.c).
 */
#ifndef MUSTER_WATCHER_READING_PRIVATE_H
#define MUSTER_WATCHER_READING_PRIVATE_H

#include "reading.h"
#include "stat.h"

struct stream;

enum { DETAIL_MAX = 400 };

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
	char			 detail[DETAIL_MAX + 1];	/* of the last failure */
	bool			 driving;
	int64_t			 began_ms;	/* of the list under way */
	struct stat_series	*objects, *events[WATCH_UNKNOWN + 1];
};

/* Starts what the reflector asked for; it becomes r->stream. */
void stream_start(struct reading *r, const struct reflector_step *step);
/* Ends r->stream without another word. Also from inside its own callbacks. */
void stream_forget(struct reading *r);

void reading_count_one(const struct reading *r, enum stat_id id, const char *label, const char *value);

#endif
