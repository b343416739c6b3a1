/*
 * actors/vpsie-claimer/request.h - the requests to the VPSie API (wire-vpsie.md; contract D17). Pure.
 *
 * Clients of the vendor disagree about paths, and the configured URL decides. With a path of its own
 * ("https://api.vpsie.com/v2") every call is below it, as the original autoscaler has it. Without one, or
 * with "/apps/v2", the paths are those of the vendor's SDK: /apps/v2 for clusters, /api/v2 for VMs.
 *
 * What comes from an object of the cluster is checked before it becomes a part of a path.
 */
#ifndef MUSTER_VPSIE_REQUEST_H
#define MUSTER_VPSIE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

enum {
	VPSIE_URL_MAX	 = 256,
	VPSIE_PATH_MAX	 = 512,
	VPSIE_BODY_MAX	 = 4096,
	VPSIE_PAGE	 = 500,		/* `limit` of a list */
};

/* ID, method, in the VMs' part of the API */
#define VPSIE_CALLS(C)									\
	C(LIST_VMS,      "GET",    true)						\
	C(READ_VM,       "GET",    true)	/* by id, else by identifier */		\
	C(DELETE_VM,     "DELETE", true)	/* by id */				\
	C(READ_CLUSTER,  "GET",    false)	/* with its nodes */			\
	C(LIST_GROUPS,   "GET",    false)						\
	C(MAKE_GROUP,    "POST",   false)						\
	C(ADD_WORKER,    "POST",   false)						\
	C(DELETE_WORKER, "DELETE", false)						\
	C(TOKEN,         "POST",   false)	/* client id and secret for a token */

enum vpsie_call {
#define VPSIE_CALL_ENUM(ID, method, vms) CALL_##ID,
	VPSIE_CALLS(VPSIE_CALL_ENUM)
#undef VPSIE_CALL_ENUM
	VPSIE_CALL_MAX
};

/* What a call is about; each call uses some of it. */
struct vpsie_target {
	struct wire_str	cluster, identifier, group_name;
	int64_t		id, group_id, kube_size, offset;
	struct wire_str	client_id, client_secret;
};

struct vpsie_base {
	char	host[VPSIE_URL_MAX];		/* "https://api.vpsie.com": url of the client */
	char	clusters[VPSIE_URL_MAX], vms[VPSIE_URL_MAX];	/* prefixes of paths, "" or "/v2" */
};

struct vpsie_request {
	const char	*method;
	const char	*content_type;		/* NULL: no body */
	char		 path[VPSIE_PATH_MAX];
	char		 body[VPSIE_BODY_MAX];	/* of CALL_TOKEN it holds a secret: wiped by the caller */
	size_t		 body_len;
};

/* NULL, or what is wrong with the URL. */
const char *vpsie_base_parse(const char *url, struct vpsie_base *out);
/* NULL, or why there is no such request. */
const char *vpsie_request(const struct vpsie_base *base, enum vpsie_call call, const struct vpsie_target *t,
    struct vpsie_request *out);

#endif
