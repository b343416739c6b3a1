/*
 * proto/writes.h - what an actor can request of kube-watcher, and the outcomes.
 *
 * OPS: O(ID, name, RBAC verb, subresource that is fixed or ""). OUTCOMES: O(ID, name, text for people).
 */
#ifndef MUSTER_WRITES_H
#define MUSTER_WRITES_H

#include "rights.h"

#define OPS(O)									\
	O(CREATE,    "create",    CREATE, "")					\
	O(UPDATE,    "update",    UPDATE, "")					\
	O(MERGE,     "merge",     PATCH,  "")	/* JSON merge patch */		\
	O(JSON,      "json",      PATCH,  "")	/* JSON patch */		\
	O(STRATEGIC, "strategic", PATCH,  "")	/* built-in kinds only */	\
	O(APPLY,     "apply",     PATCH,  "")	/* server-side apply, forced */	\
	O(DELETE,    "delete",    DELETE, "")					\
	O(EVICT,     "evict",     CREATE, "eviction")				\
	O(GET,       "get",       GET,    "")	/* live, for destructive decisions */ \
	O(LIST,      "list",      LIST,   "")	/* the same */			\
	O(EVENT,     "event",     CREATE, "")	/* an Event about the object: aggregated, best effort */

enum op {
#define OP_ENUM(ID, name, verb, subresource) OP_##ID,
	OPS(OP_ENUM)
#undef OP_ENUM
	OP_MAX
};

#define OUTCOMES(O)										\
	O(OK,         "ok",         "done")							\
	O(CONFLICT,   "conflict",   "the object has changed since it was read")			\
	O(EXISTS,     "exists",     "an object of that name is already there")			\
	O(NOT_FOUND,  "not-found",  "no such object")						\
	O(FORBIDDEN,  "forbidden",  "the cluster does not allow it (RBAC)")			\
	O(DENIED,     "denied",     "this actor has no right to it (rights.h)")			\
	O(NOT_LEADER, "not-leader", "the Lease is not held")					\
	O(INVALID,    "invalid",    "the server refuses the content")				\
	O(LIMITED,    "limited",    "the server limits requests")				\
	O(BUSY,       "busy",       "a write of this object, or too many others, are in flight")	\
	O(EXPIRED,    "expired",    "the deadline passed before it was sent: nothing happened")	\
	O(UNKNOWN,    "unknown",    "it was sent and no answer came: read live, then plan again")	\
	O(FAILED,     "failed",     "it did not happen: server or network failed")

enum outcome {
#define OUTCOME_ENUM(ID, name, text) OUTCOME_##ID,
	OUTCOMES(OUTCOME_ENUM)
#undef OUTCOME_ENUM
	OUTCOME_MAX
};

struct op_row {
	const char	*name;
	enum verb	 verb;
	const char	*subresource;
};
extern const struct op_row op_table[OP_MAX];

enum {
	WRITES_PER_SENDER = 32,		/* mutations of one actor in flight; more are BUSY */
	READS_PER_SENDER  = 16,		/* live reads, the same */
	REQUESTS_PER_SENDER = WRITES_PER_SENDER + READS_PER_SENDER,
	WRITE_BODY_MAX	  = 512 * 1024,	/* bytes of one body: half a frame */
	OBJECT_KEY_MAX	  = 512,
};

enum op op_find(const char *name, size_t len);		/* OP_MAX when unknown */
/*
 * An object's key on the bus and in the stores: "<resource>/<name>" or
 * "<resource>/<namespace>/<name>". False: one of them cannot be part of a key, or all together are
 * too long.
 */
bool object_key(char *buf, size_t size, const char *resource, const char *ns, const char *name);
const char *outcome_name(enum outcome o);		/* "?" when out of range */
const char *outcome_text(enum outcome o);

#endif
