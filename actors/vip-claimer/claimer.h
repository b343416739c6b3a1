/*
 * actors/vip-claimer/claimer.h - the running actor: its state and its parts.
 *
 *	main.c		its tables, its start, tick and stop; turns a plan into a step
 *	report.c	log lines and Events of a plan
 *	cluster_view.c	a Cluster and what belongs to it, as the mirrors have them; which keys a change
 *			concerns
 *	pool_set.c	the pools, in the form of the plans
 *	figures.c	the metrics of Clusters, claims and pools
 *	hook.c		serves the hooks of Cluster API, on every replica
 *	explain.c	`muster explain cluster/NAMESPACE/NAME`
 *
 * What decides is pure: vip.h, wire.h. The key of the work queue is "clusters/<namespace>/<name>", for both
 * roles: the address of the control plane is planned first, then that for ingress.
 */
#ifndef MUSTER_VIP_CLAIMER_H
#define MUSTER_VIP_CLAIMER_H

#include "actors/reconcile/reconcile.h"
#include "vip.h"

#define VIP_CLUSTERS	"clusters"

enum {	/* rows of the kinds */
	VIP_KIND_CLUSTERS, VIP_KIND_CLASSES, VIP_KIND_CLAIMS, VIP_KIND_ADDRESSES, VIP_KIND_GLOBAL_POOLS,
	VIP_KIND_POOLS, VIP_KIND_MAX
};

struct pool_set;
struct hook;

/* What this incarnation remembers of a Cluster. It is lost with the process. */
struct cluster_note {
	struct {
		enum vip_verb	verb;		/* what was decided last */
		uint64_t	logged;		/* hash of the step that was logged last; 0: none */
		uint64_t	warned;		/* hash of the Event's text that was sent last; 0: none */
		bool		patched;	/* the address was requested to be set, and is not seen yet */
		bool		claimed, ready;	/* there is a claim; it has an address */
	}		roles[VIP_ROLE_MAX];
	uint64_t	class;			/* hash of the key of its ClusterClass */
};

struct claimer {
	struct reconciler	 r;		/* first: reconcile.h */
	int64_t			 budget_ms, default_port;
	struct pool_set		*pools;
	struct keytab		*notes;		/* struct cluster_note, by key */
	struct keytab		*figures;	/* figures.c: struct figure, by "role/namespace" */
	struct hook		*hook;		/* NULL: the hooks are disabled */
};

static inline struct claimer *
claimer_of(struct reconciler *r)
{
	return (struct claimer *)r;
}

/* ---- A Cluster (cluster_view.c) ---- */

/* Texts of the input are views into the mirrors, or into ns and name. */
struct cluster_view {
	char			ns[64], name[254];
	char			claim_name[VIP_NAME_SIZE];
	struct change		cluster_object, claim_object;
	union msg_body		cluster, class, claim, address;
	struct vip_input	in;
};

/* False: a name that no object has. */
bool cluster_view_name(struct cluster_view *v, struct wire_str ns, struct wire_str name);
bool cluster_view_key(struct cluster_view *v, const char *key, size_t len);
/* Fills v->in for the reconciler. The names are set. */
void cluster_view_read(struct cluster_view *v, struct claimer *c, enum vip_role role);
/*
 * For a hook: NULL, or the Cluster of the request, which is read instead of the mirror's, from which only its
 * uid may come. synced: the mirrors are complete, and current unless the endpoint is set.
 */
void cluster_view_hook(struct cluster_view *v, struct claimer *c, const struct vip_cluster *request);
/*
 * For GeneratePatches: the mirror's Cluster; absent if the request is about another life of that name, whose
 * uid it has.
 */
void cluster_view_patches(struct cluster_view *v, struct claimer *c, struct wire_str uid);
void cluster_view_keys(struct reconciler *r, const struct change *c);
/* The resource that may not be read; NULL: none. */
const char *cluster_view_forbidden(const struct claimer *c);

/* ---- Pools (pool_set.c) ---- */

struct pool_set *pool_set_new(void);
void pool_set_free(struct pool_set **sp);
/* A pool of either kind was added, changed or is gone. */
void pool_set_change(struct pool_set *s, const struct change *c);
/* All of them, until the next change. */
const struct vip_pool *pool_set_all(struct pool_set *s, size_t *n);
/* The metrics of the pools. */
void pool_set_measure(struct pool_set *s);

/* ---- Log lines and Events (report.c) ---- */

/* Each text once; a standby reports nothing. */
void report_plan(struct claimer *c, const struct cluster_view *v, struct cluster_note *note,
    const struct vip_plan *p);

/* ---- Metrics (figures.c) ---- */

/* To free with keytab_free. */
struct keytab *figures_new(void);
void figures_planned(const struct cluster_view *v, enum vip_verb verb, int64_t began_us);
void figures_warned(const struct cluster_view *v, const struct vip_plan *p);
void figures_allocated(const struct cluster_view *v);
/* Claims by role and namespace. */
void figures_claims(struct claimer *c);

/* ---- Hooks (hook.c) ---- */

/* NULL: enable-runtime-extension is false. A configuration that cannot work ends the process. */
struct hook *hook_new(struct claimer *c);
void hook_free(struct hook **hp);
/* A certificate that was missing or wrong is read again. */
void hook_tick(struct hook *h, int64_t now_ms);
/* Why the hooks are not served; NULL: they are. */
const char *hook_obstacle(const struct hook *h);

void claimer_explain(struct actor *actor, void *self, const char *resource, const char *name,
    struct json *out);

#endif
