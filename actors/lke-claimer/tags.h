/*
 * actors/lke-claimer/tags.h - tags of pools and instances: how they are written, recognised and merged
 * (contract C1, C2, C3, C4, C15, C19). Pure.
 *
 * Rules
 * - "key:value", or "key=value" in clusters of the existing provider (tag-style). Both are recognised always:
 *   a change of the setting must not make a claimed machine claimable, or a second pool of a key.
 * - A tag has at most LKE_TAG_MAX characters. A value that does not fit becomes its first characters, "-" and
 *   the eight digits of its FNV-1a-32. For a claim that is exactly the existing provider's form.
 * - A PUT of tags replaces them all. Those of others stay, in their order; ours of either style are replaced.
 */
#ifndef MUSTER_LKE_TAGS_H
#define MUSTER_LKE_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

enum { LKE_TAG_MAX = 50, LKE_TAG_SIZE = LKE_TAG_MAX + 1 };

enum lke_tag_style { LKE_TAGS_COLON, LKE_TAGS_EQUALS };

/* ID, key. A claim's tag is on instances alone; the others are on pools, and on instances. */
#define LKE_TAGS(T)							\
	T(CLAIM,     "karpenter.sh/nodeclaim")				\
	T(NODEPOOL,  "karpenter.sh/nodepool")				\
	T(MANAGED,   "karpenter.k8s.linode/lke-managed")		\
	T(NODECLASS, "karpenter.k8s.linode/linodenodeclass")		\
	T(CLUSTER,   "lke-cluster-name")

enum lke_tag {
#define LKE_TAG_ENUM(ID, key) LKE_TAG_##ID,
	LKE_TAGS(LKE_TAG_ENUM)
#undef LKE_TAG_ENUM
	LKE_TAG_KEYS
};

#define LKE_TAG_TRUE	"true"		/* the value of LKE_TAG_MANAGED */

const char *lke_tag_key(enum lke_tag t);
/* The value as a tag of that key has it: whole, or shortened. NUL-terminated; its length. */
size_t lke_tag_value(char buf[LKE_TAG_SIZE], enum lke_tag t, struct wire_str value);
/* The whole tag, NUL-terminated; its length. */
size_t lke_tag_put(char buf[LKE_TAG_SIZE], enum lke_tag_style style, enum lke_tag t, struct wire_str value);
/* One of ours, in either style. Its value is not empty. */
bool lke_tag_read(struct wire_str tag, enum lke_tag *t, struct wire_str *value);
/* tag_value: of a tag that was read. name: as it is in Kubernetes. */
bool lke_tag_means(enum lke_tag t, struct wire_str tag_value, struct wire_str name);

/* What Enterprise puts on each instance by itself: "nodepool=<pool id>", "lke<cluster id>". */
bool lke_tag_pool_id(struct wire_str tag, int64_t *id);
bool lke_tag_cluster_id(struct wire_str tag, int64_t *id);

/*
 * The claim that the tags name. 0: none; 1: *value is the value of its tag; 2: more than one, which violates
 * C7. The same value in both styles is one.
 */
unsigned lke_tags_claim(const struct wire_str *tags, uint32_t n, struct wire_str *value);
/* A tag of that key and name is among them. */
bool lke_tags_have(const struct wire_str *tags, uint32_t n, enum lke_tag t, struct wire_str name);

/*
 * A list for a PUT or POST. Ours come first in the order they are added, then what was there. False: it is
 * full, or a tag is longer than the API accepts; such a list must not be sent.
 */
enum { LKE_TAGS_MAX = 64 };
struct lke_tag_list {
	char		text[LKE_TAGS_MAX][LKE_TAG_SIZE];
	uint32_t	n;
};
bool lke_tag_list_add(
    struct lke_tag_list *l, enum lke_tag_style style, enum lke_tag t, struct wire_str value);
/* A tag as it is, of the LinodeNodeClass or of the instance; one that is there is not repeated. */
bool lke_tag_list_keep(struct lke_tag_list *l, struct wire_str tag);
/* All tags of an instance that are not ours to replace. */
bool lke_tag_list_merge(struct lke_tag_list *l, const struct wire_str *tags, uint32_t n);

#endif
