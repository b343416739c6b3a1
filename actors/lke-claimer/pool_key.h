/*
 * actors/lke-claimer/pool_key.h - a pool key, (NodePool, instance type), and what a snapshot has of it
 * (contract C2, C3, C8, A10). Pure.
 *
 * Membership
 * - Standard: the pool's `nodes` that have an instance id, and whose instance is in the list.
 * - Enterprise: instances with the tag nodepool=<pool id>, our managed tag and the type of the pool. `nodes`
 *   lags there by up to a minute, so it is used for ids of LKE nodes only; where it has none, the label of
 *   the instance is the id.
 */
#ifndef MUSTER_LKE_POOL_KEY_H
#define MUSTER_LKE_POOL_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan.h"
#include "snapshot.h"

enum { LKE_KEY_SIZE = 253 + 1 + LKE_TYPE_ID_SIZE, LKE_INTENT_SIZE = 96 };

/* "nodepool/type". The length, or 0 when it does not fit. */
size_t lke_key_put(char buf[LKE_KEY_SIZE], struct wire_str nodepool, struct wire_str type);
bool lke_key_read(struct wire_str key, struct wire_str *nodepool, struct wire_str *type);

/* Pools of the key: 0, 1, or 2 for more. *first: the one with the smallest id. */
unsigned lke_key_pools(const struct lke_snapshot *s, struct wire_str nodepool, struct wire_str type,
    const struct lke_pool **first);

struct lke_member {
	const struct lke_instance	*instance;
	const char			*node_id;	/* "": not known */
};
/* By ascending id of the instance. At most `most`. */
uint32_t lke_pool_members(
    const struct lke_snapshot *s, const struct lke_pool *p, struct lke_member *out, uint32_t most);
/* Machines of the cluster that have the tag of that claim: 0, 1, or 2 for more. */
unsigned lke_claim_machines(
    const struct lke_snapshot *s, struct wire_str claim, const struct lke_instance **first);

/*
 * The record of an intent, an annotation of the NodePool: the text of intent.h, which is unique, and what is
 * intended: "2026-05-01T10:00:00Z 0123456789abcdef scale 12". Its key is LKE_INTENT_ANNOTATION and the type.
 */
#define LKE_INTENT_PREFIX	"intent."
#define LKE_INTENT_ANNOTATION	"karpenter.k8s.linode/" LKE_INTENT_PREFIX
/* Annotation of a NodeClaim: the instance that is reserved for it (plan.h). */
#define LKE_RESERVED_ANNOTATION	"karpenter.k8s.linode/instance"

struct lke_intent_record {
	struct wire_str		text;		/* of intent.h */
	enum lke_intent_kind	kind;
	int64_t			count;
};
size_t lke_intent_put(char buf[LKE_INTENT_SIZE], const struct lke_intent_record *r);
bool lke_intent_read(struct wire_str text, struct lke_intent_record *out);

#endif
