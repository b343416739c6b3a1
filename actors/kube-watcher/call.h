/*
 * actors/kube-watcher/call.h - a WRITE of an actor as an HTTP request: method, path, content type,
 * body with its preconditions.
 *
 * Preconditions go where the server enforces them in the same transaction: metadata.uid and
 * resourceVersion of the body, the same through a JSON patch, or DeleteOptions. The field manager
 * is `muster-<actor>`: managedFields show who owns what.
 */
#ifndef MUSTER_WATCHER_CALL_H
#define MUSTER_WATCHER_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "kube/path.h"
#include "msg.h"
#include "roles.h"
#include "writes.h"

/* A WRITE that write_check has passed, NUL-terminated. Texts are the owner's. */
struct call_params {
	enum role	 sender;
	enum op		 op;
	const char	*group, *version, *resource, *ns, *name, *subresource;
	const char	*uid, *rv, *labels, *fields;
	const void	*body;
	size_t		 body_len;
	const char	*cont;		/* continue token of a list; "": the first page */
};

struct call_http {
	const char	*method;
	const char	*content_type;	/* NULL: no body */
	char		 path[KUBE_PATH_MAX * 4];
	char		*body;		/* to free; NULL: none */
	size_t		 body_len;
};

enum { CALL_LIST_PAGE = 500 };

/*
 * Copies what write_check has passed. Returns the one piece of memory that holds all of its texts, to
 * be released with free(); the body may be a Secret's.
 */
char *call_copy(struct call_params *a, enum role sender, const struct body_write *w);
/* A hash of what names the object: group, resource, namespace, name. */
uint64_t call_object(const struct call_params *a);
/* NULL: fine; else what is wrong with it, for the RESULT's message. */
const char *call_make(const struct call_params *a, struct call_http *out);
void call_free(struct call_http *c);

#endif
