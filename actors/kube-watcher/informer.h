/*
 * actors/kube-watcher/informer.h - the informer of one kind: performs the steps of its reflector, and
 * passes to it what the server answers.
 *
 *	HTTP stream -> splitter (objects) -> project (fields that are read) -> store (is it a change?)
 *	-> publisher
 *
 * One object at a time: neither a stream nor a list is collected in memory.
 */
#ifndef MUSTER_WATCHER_INFORMER_H
#define MUSTER_WATCHER_INFORMER_H

#include <stdbool.h>
#include <stdint.h>

#include "access.h"
#include "publisher.h"
#include "reflector.h"
#include "store.h"

struct informer;

struct informer_deps {
	struct actor		*actor;
	struct access		*access;
	struct publisher		*publisher;
	struct reflector_server	*server;
	const char		*ns;		/* read only this namespace of a namespaced kind; "": all */
	void		       (*discover)(void *arg);	/* discovery is needed */
	void			*arg;
};

struct informer *informer_new(const struct informer_deps *g, enum kind k);
void informer_free(struct informer **rp);

/* Result of discovery: the server has the kind (in that version), or not. */
void informer_discovered(struct informer *r, bool present, const char *version, bool namespaced);
void informer_run(struct informer *r);		/* starts it */

/* For writes, whose answers are merged into the store at once. */
const char *informer_version(const struct informer *r);		/* "": not known yet */
uint32_t informer_restore_epoch(const struct informer *r);		/* of its store */
/*
 * The answer to a write or a live read of an object. It is published if it is newer than what the
 * store has, and sent in any case when own. The key of the object goes into key; its projection stays
 * valid until the next call.
 */
enum informer_answer {
	ANSWER_PROJECTED,
	ANSWER_SKIPPED,		/* it cannot be projected: key is set, p->error has the cause */
	ANSWER_INVALID,		/* it has no name or version; p->error has the cause */
};
enum informer_answer informer_answer(struct informer *r, enum project_form form, const void *bytes,
    size_t len, bool own, uint64_t trace, char *key, size_t size, struct projected *p);
/* Our own delete took the object away at once. */
void informer_removed(struct informer *r, const char *ns, const char *name, const char *uid, uint64_t trace);
uint32_t informer_count(const struct informer *r);	/* objects that are published */
uint32_t informer_skipped(const struct informer *r);	/* objects that exist and cannot be projected */
/* Which they are and why, for `muster status`: as many as fit. "" when there are none. */
void informer_skipped_text(const struct informer *r, char *buf, size_t size);

#endif
