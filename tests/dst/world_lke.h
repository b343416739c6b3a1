/*
 * tests/dst/world_lke.h - the worlds `lke` and `lke-sweep`: lke-claimer on the harness (harness.h),
 * and a modelled Linode API, Standard or Enterprise.
 *
 *	world_lke.c	NodeClaims, what happens to them, the sweep
 *	lke_checks.c	what must hold after every step
 *	lke_settled.c	the final state
 *	lke_api.c	the calls of the API and its answers
 *	lke_model.c	pools and machines; what must hold when one goes
 */
#ifndef MUSTER_DST_WORLD_LKE_H
#define MUSTER_DST_WORLD_LKE_H

#include "harness.h"

enum {
	LKEW_CLAIMS = 6, LKEW_KEYS = 3, LKEW_MACHINES_MAX = 128, LKEW_POOLS_MAX = 64, LKEW_TAGS_MAX = 12,
	LKEW_TAG_MAX = 50,
	LKEW_CLUSTER = 7, LKEW_INSTANCE_BASE = 1000, LKEW_POOL_BASE = 100,
	LKEW_ORPHAN_MS = 30 * 1000, LKEW_APART_MS = 5 * 1000,
};
#define LKEW_NONE	UINT32_MAX

struct lkew_tags {
	char		text[LKEW_TAGS_MAX][LKEW_TAG_MAX + 1];
	uint32_t	n;
};

struct lkew_pool {
	char			type[32];
	struct lkew_tags	tags;
	int64_t			count;
	int64_t			listed_ms;	/* in lists from then on */
	int64_t			old_count, count_ms;	/* lists have the old count until then */
	bool			deleted;
	int64_t			until_ms;	/* deleted: in lists until then */
	bool			human;		/* somebody made it by hand */
};

struct lkew_machine {
	uint32_t		pool;
	struct lkew_tags	tags, old_tags;
	int64_t			tags_ms;	/* lists have the old tags until then */
	int64_t			made_ms;
	int64_t			id_ms;		/* its instance exists from then on: before, its id is null */
	int64_t			listed_ms, nodes_ms;	/* in lists of instances; in the nodes of its pool */
	int64_t			blinks_ms;	/* lists lack it once, from then on */
	int64_t			joined_ms;	/* its Node joined; 0: not yet */
	bool			deleted;
	int64_t			until_ms;	/* deleted: in lists until then */
};

/* Whether a process has read that a key has two pools (C7). */
struct lkew_reader {
	uint64_t	incarnation;
	bool		pools_read;	/* its last list of pools had both */
	int64_t		read_ms;	/* ... and the instances after it were answered then; 0: no */
};

struct lkew {
	struct harness		 h;		/* first */
	bool			 enterprise;
	char			 settings[640];
	struct lkew_pool	 pools[LKEW_POOLS_MAX];
	uint32_t		 npools;
	struct lkew_machine	 machines[LKEW_MACHINES_MAX];
	uint32_t		 nmachines;
	uint64_t		 changes, checked;	/* at the provider; when the checks ran */
	uint64_t		 compared;	/* when `different` was found */
	const char		*different;
	int64_t			 clock_ms, clock_moved_ms;	/* of the cluster, as seen; when it moved */
	uint32_t		 twin, twin_of;	/* a second pool of a key, made by hand; LKEW_NONE: none */
	struct lkew_reader	 readers[RUNTIME_TREES];
};

extern const struct world lke_world, lke_sweep_world;

/* The entry of the program (tests/CMakeLists.txt). */
int lke_claimer_main(int argc, char **argv);

/* ---- lke_api.c ---- */

void lkew_serve(struct harness *h, struct http_exchange *x);
void lkew_leaves(struct harness *h, const struct http_exchange *x);

/* ---- lke_model.c ---- */

/* count machines; shown_ms: lists have it from then on. */
uint32_t lkew_add_pool(struct lkew *w, const char *type, const struct lkew_tags *tags, int64_t count,
    int64_t shown_ms);
void lkew_set_count(struct lkew *w, uint32_t pool, int64_t count, int64_t shown_ms);
/* by_actor: the rules of deletions are checked. */
void lkew_delete_machine(struct lkew *w, uint32_t machine, bool by_actor);
/* About to be deleted: one that nobody has claimed was old in two observations (C9, A9). */
void lkew_check_orphan(struct lkew *w, uint32_t machine);
void lkew_delete_pool(struct lkew *w, uint32_t pool, bool by_actor);
void lkew_set_tags(struct lkew *w, uint32_t machine, const struct lkew_tags *tags);
void lkew_add_tag(struct lkew_tags *tags, const char *key, const char *value);
/* The value of the first tag of that key, in either style; NULL: none. */
const char *lkew_tag_value(const struct lkew_tags *tags, const char *key);
/* The value that the tag of that key must have for that name (C4). */
const char *lkew_expected(char buf[LKEW_TAG_MAX + 1], const char *key, const char *name);
/* A machine of the pool has the tag, a reservation or the providerID of a NodeClaim. */
bool lkew_in_use(struct lkew *w, uint32_t pool);
struct cluster_object *lkew_claim_of_tag(struct lkew *w, const char *value);	/* NULL: none */
/* The machine of a providerID; LKEW_NONE: it has none. */
uint32_t lkew_claim_machine(const struct cluster_object *claim);
void lkew_node_name(char buf[CLUSTER_NAME_MAX], uint32_t machine);
bool lkew_same_key(const struct lkew_pool *a, const struct lkew_pool *b);

/* ---- lke_checks.c, lke_settled.c ---- */

void lkew_check(struct sim *sim, void *world);
const char *lkew_difference(struct harness *h);	/* NULL: the final state is reached */
bool lkew_lists_lag(const struct harness *h);

#define LKEW_GROUP		"karpenter.k8s.linode"
#define LKEW_RESERVED		"karpenter.k8s.linode/instance"	/* annotation of a NodeClaim */
#define LKEW_CLAIM_TAG		"karpenter.sh/nodeclaim"
#define LKEW_NODEPOOL_TAG	"karpenter.sh/nodepool"
#define LKEW_MANAGED_TAG	"karpenter.k8s.linode/lke-managed"

#endif
