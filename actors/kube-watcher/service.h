/*
 * actors/kube-watcher/service.h - the write service: every write of every actor, and live reads for
 * destructive decisions.
 *
 *	WRITE -> plan (right, lease, deadline, rate) -> call (HTTP) -> plan (what it means) -> RESULT
 *
 * The answer is merged into the store before the RESULT goes out, so no sender sees a state older than
 * its own write.
 */
#ifndef MUSTER_WATCHER_SERVICE_H
#define MUSTER_WATCHER_SERVICE_H

#include "access.h"
#include "elect.h"
#include "informer.h"

struct service;

struct service_deps {
	struct actor	*actor;
	struct access	*access;
	struct informer	*const *informers;	/* by kind; NULL where no actor reads it */
	uint64_t	 readers;	/* roles that are enabled */
	double		 per_second;
};

struct service *service_new(const struct service_deps *g);
void service_free(struct service **sp);
/* Until then every write is refused. */
void service_set_lease(struct service *s, const struct lease *l);
void service_write(struct service *s, const struct write_in *w);
/* What was not sent of that sender is dropped; what is in flight is logged, now and when it is answered. */
void service_session_ended(struct service *s, enum role sender);
void service_drive(struct service *s);		/* also: the lease changed */
bool service_settled(const struct service *s);	/* nothing that was sent can still take effect */

#endif
