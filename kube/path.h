/*
 * kube/path.h - the URL of a Kubernetes object, collection or subresource, and its query. Pure.
 *
 *	/api/v1/nodes/worker-3				group "", cluster-scoped
 *	/apis/apps/v1/namespaces/a/deployments/b/scale	with namespace and subresource
 *
 * A name must never choose the path: a part with a slash, a percent sign, "." or ".." is
 * refused (the server refuses such names too); what else is not plain is percent-encoded.
 */
#ifndef MUSTER_KUBE_PATH_H
#define MUSTER_KUBE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The longest path: prefix, group, version, ns, resource, name (253, each byte escaped) and subresource. */
enum { KUBE_PATH_MAX = 2048 };

/* NULL and "" are the same: that part is not there. version and resource must be. */
struct kube_path {
	const char	*group, *version, *resource;
	const char	*ns;		/* "": cluster-scoped, or all namespaces */
	const char	*name;		/* "": the collection */
	const char	*subresource;	/* only with a name */
};

/* False: a part is missing or refused, or it does not fit; buf is then "". */
bool path_make(char *buf, size_t size, const struct kube_path *p);
/*
 * Adds `?key=value`, or `&key=value` when there is a query already; the value is percent-encoded.
 * False: it does not fit, and buf is as before.
 */
bool path_query(char *buf, size_t size, const char *key, const char *value);

#endif
