/*
 * actors/kube-watcher/result_items.h - the objects of an answer that no store has, on their way to the sender
 * of the request: as JSON, or as its projection; and those that it does not get, counted.
 */
#ifndef MUSTER_WATCHER_RESULT_ITEMS_H
#define MUSTER_WATCHER_RESULT_ITEMS_H

#include "publisher.h"

struct result_items {
	struct actor	*actor;
	uint64_t	 handle, trace;		/* of the request (actor.h) */
	enum role	 sender;
	uint32_t	 skipped;		/* objects that the sender does not get */
	char		 skipped_first[PUBLISHER_KEY_MAX + 256];
};

/* Its JSON text; ns and name are those of the request. */
void result_items_raw(struct result_items *r, const char *resource, const char *ns, const char *name,
    const char *text, size_t len);
/* The sender's own projection of it. */
void result_items_projected(struct result_items *r, enum kind k, const char *key, const struct projected *p);
/* An object of a LIVE kind as JSON. */
void result_items_live(struct result_items *r, enum kind k, struct projection *p, const void *bytes,
    size_t len);
void result_items_skip(struct result_items *r, const char *key, const char *why);

#endif
