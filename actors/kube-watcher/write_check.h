/*
 * actors/kube-watcher/write_check.h - whether a WRITE is well formed: it has what its operation needs,
 * and each of its fields can be part of a path and of a JSON text. Pure.
 *
 * It runs once, where a WRITE enters kube-watcher. What passes can be made into a request (call.h,
 * event_object.h) and never fails an assertion there, whoever sent it.
 */
#ifndef MUSTER_WATCHER_WRITE_CHECK_H
#define MUSTER_WATCHER_WRITE_CHECK_H

#include "msg.h"

struct write_fault {
	const char	*field;		/* NULL: the WRITE is well formed */
	const char	*why;
};

enum {
	WRITE_LABEL_MAX		= 63,	/* namespace, version, resource, subresource: DNS labels */
	WRITE_NAME_MAX		= 253,	/* name, group */
	WRITE_TOKEN_MAX		= 64,	/* uid, resourceVersion: as much as the store keeps */
	WRITE_SELECTOR_MAX	= 2048,
};

struct write_fault write_check(const struct body_write *w);

#endif
