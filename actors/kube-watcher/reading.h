/*
 * actors/kube-watcher/reading.h - one kind being read: performs what its reflector decides, feeds
 * it what the server does.
 *
 *	HTTP stream -> cut (pieces) -> project (fields somebody asked for) -> store (is it news?) -> outlet
 *
 * One object at a time: the stream is never collected, a list never held.
 */
#ifndef MUSTER_WATCHER_READING_H
#define MUSTER_WATCHER_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "access.h"
#include "outlet.h"
#include "reflector.h"
#include "store.h"

struct reading;

struct reading_ground {
	struct actor		*actor;
	struct access		*access;
	struct outlet		*outlet;
	struct reflector_server	*server;
	const char		*ns;		/* read only this namespace of a namespaced kind; "": all */
	void		       (*discover)(void *arg);	/* somebody must ask the server what it has */
	void			*arg;
};

struct reading *reading_new(const struct reading_ground *g, enum kind k);
void reading_free(struct reading **rp);

/* Discovery has news: the kind is there (in that version), or not. */
void reading_found(struct reading *r, bool present, const char *version, bool namespaced);
void reading_drive(struct reading *r);		/* the beginning */

/* For writes, whose answers are merged at once. */
const char *reading_version(const struct reading *r);		/* "": not known yet */
uint32_t reading_time(const struct reading *r);		/* store_time */
/*
 * The answer to a write or a live read of an object. It is published if it is newer than what the
 * store has, and sent in any case when own. The key of the object goes into key; its projection stays
 * valid until the next call.
 */
enum reading_answer {
	ANSWER_PROJECTED,
	ANSWER_SKIPPED,		/* it cannot be projected: key is set, p->error has the cause */
	ANSWER_INVALID,		/* it has no name or version; p->error has the cause */
};
enum reading_answer reading_answer(struct reading *r, enum project_form form, const void *bytes, size_t len,
    bool own, uint64_t trace, char *key, size_t size, struct projected *p);
/* Our own delete took the object away at once. */
void reading_removed(struct reading *r, const char *ns, const char *name, const char *uid, uint64_t trace);
uint32_t reading_count(const struct reading *r);	/* objects that are published */
uint32_t reading_skipped(const struct reading *r);	/* objects that exist and cannot be projected */
/* Which they are and why, for `muster status`: as many as fit. "" when there are none. */
void reading_skipped_text(const struct reading *r, char *buf, size_t size);

#endif
