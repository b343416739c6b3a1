/*
 * sim/kube/semantics/sim_semantics.h - what the apiserver does to an object: object and request in,
 * object or Status out.
 *
 * No HTTP, no store, no clock: `now` is handed in. Every function returns a new reference, or NULL
 * and a Status (exact code, reason, message and details as kube-apiserver 1.35 writes them) in
 * *status. `old` is never changed.
 *
 * What the store does with the result:
 *   - the result equals `old` (json_equal): nothing was changed, no new resourceVersion, no event;
 *   - sim_semantics_finished(result): the last finalizer is gone: answer it and remove it;
 *   - otherwise keep it; the caller alone writes metadata.resourceVersion.
 * `old` carries its metadata.resourceVersion, because preconditions are checked here, and is in the
 * version of the requested resource: so is the result.
 *
 * Nothing here plays a controller. A Pod that runs on a node and a Namespace are only marked by a
 * delete, as the real server does: the caller plays the kubelet (delete with gracePeriodSeconds
 * 0) and the namespace controller.
 */
#ifndef MUSTER_SIM_SEMANTICS_H
#define MUSTER_SIM_SEMANTICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/kube/discovery/sim_resource.h"

enum sim_patch_type { PATCH_JSON, PATCH_MERGE, PATCH_STRATEGIC, PATCH_APPLY };

struct sim_write_params {
	const struct sim_resource	*resource;
	const char			*namespace, *name;	/* of the URL; "" where there is none */
	const char			*subresource;		/* "", "status", "eviction" */
	const char			*field_manager;		/* "": made from the user agent */
	const char			*user_agent;
	bool				 force;			/* apply */
	bool				 dry_run;
	const char			*field_validation;	/* "" (means Warn), Ignore, Warn, Strict */
	const char			*now;			/* RFC 3339, seconds */
	const char			*new_uid;		/* for a created object */
	const char			*suffix;		/* for generateName: five characters */
	json_t				*warnings;		/* for Warning headers, or NULL */
};

/*
 * POST: metadata filled in (uid, creationTimestamp, generation, namespace, managedFields), pruned, defaulted,
 * validated. That the name is free is the caller's to check: sim_semantics_already_exists().
 */
json_t *sim_semantics_create(const struct sim_write_params *a, const json_t *body, json_t **status);

/*
 * PUT: resourceVersion precondition, immutable metadata, status/spec separation, generation.
 * old NULL: the kinds that may be made by a PUT (leases, events) are created, the others are not found.
 */
json_t *sim_semantics_update(const struct sim_write_params *a, const json_t *old,
    const json_t *body, json_t **status);

/* old NULL: PATCH_APPLY creates, the others are not found. The bytes of an apply patch may be YAML. */
json_t *sim_semantics_patch(const struct sim_write_params *a, const json_t *old,
    enum sim_patch_type type, const char *bytes, size_t len, json_t **status);

enum sim_deletion {
	DELETION_REFUSED,	/* see *status (preconditions) */
	DELETION_GONE,		/* remove it now */
	DELETION_MARKED,	/* *marked is to be kept (finalizers, grace period); may equal `old` */
};
/*
 * options: the DeleteOptions of the body or NULL; with subresource "eviction" the Eviction of the
 * body. propagationPolicy is checked and otherwise Background: no orphan or foregroundDeletion
 * finalizer is ever set.
 */
enum sim_deletion sim_semantics_delete(const struct sim_write_params *a, const json_t *old,
    const json_t *options, json_t **marked, json_t **status);
/* NULL, or the Status of an Eviction that names another Pod than the path. */
json_t *sim_semantics_eviction_refusal(const struct sim_write_params *a, const json_t *eviction);
/* What DELETE answers once `object` (marked or removed) is dealt with: the object, or a Status "Success". */
json_t *sim_semantics_deleted(const struct sim_write_params *a, const json_t *object, enum sim_deletion how);
/* An update that took the last finalizer of a deleted object: remove it. */
bool sim_semantics_finished(const json_t *object);

/*
 * A Status as the real server writes it:
 * {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",...}.
 */
json_t *sim_semantics_failure_of(int code, const char *reason, const struct sim_resource *r,
    const char *name, json_t *causes,	/* r NULL: no details but the causes; taken, NULL: none */
    const char *format, ...) __attribute__((format(printf, 6, 7)));
#define sim_semantics_failure(code, reason, ...)	\
	sim_semantics_failure_of((code), (reason), NULL, "", NULL, __VA_ARGS__)
json_t *sim_semantics_not_found(const struct sim_resource *r, const char *name);
json_t *sim_semantics_already_exists(const struct sim_resource *r, const char *name);

/*
 * A CRD as POSTed: checked (names, versions, structural schema) like the real one; NULL is fine,
 * else a Status.
 */
json_t *sim_semantics_crd_refusal(const json_t *crd);

/* /openapi/v3 documents: the index and one group version, from the resources given (NULL-terminated). */
json_t *sim_openapi_index(const struct sim_resource *const *resources);
json_t *sim_openapi_document(const struct sim_resource *const *resources, const char *group,
    const char *version);

#endif
