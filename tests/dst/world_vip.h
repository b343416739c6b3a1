/*
 * tests/dst/world_vip.h - the worlds `vip` and `vip-sweep`: vip-claimer, with its hooks, on the harness
 * (harness.h); a modelled IPAM provider, and a modelled Cluster API that calls the hooks.
 *
 *	world_vip.c	setup, the final state, the sweep
 *	vip_objects.c	Clusters, ClusterClasses and pools, and what people do with them
 *	vip_ipam.c	the IPAM provider and the garbage collector
 *	vip_topology.c	Cluster API: calls of the hooks, and what it renders from the answers
 *	vip_server.c	the listener of the hooks, without sockets
 *	vip_checks.c	what must hold of requests and of answers
 *	vip_breaks.c	rules that can be broken
 */
#ifndef MUSTER_DST_WORLD_VIP_H
#define MUSTER_DST_WORLD_VIP_H

#include "harness.h"
#include "vip-claimer/wire.h"

enum {
	VIPW_CLUSTERS = 4, VIPW_CLASSES = 2, VIPW_POOLS = 4, VIPW_LIVES_MAX = 64, VIPW_TEXT = 64,
	VIPW_SIZE_MAX = 3, VIPW_SIZE_END = 8,	/* addresses of a pool; after the last fault */
	VIPW_PATH = 160, VIPW_REQUEST = 4096,
};
#define VIPW_PREFIX	"vip.capi.gorizond.io/"
#define VIPW_CLASS_KEY	VIPW_PREFIX "cluster-class"
#define VIPW_ROLE_KEY	VIPW_PREFIX "role"
#define VIPW_INGRESS	VIPW_PREFIX "ingress-vip"
#define VIPW_VARIABLE	"clusterVip"
#define VIPW_SETTINGS	"before-create-timeout=55000\ndefault-port=6443\ntls-dir=/tls\n"		\
			"enable-runtime-extension=true\nclient-ca-file=\nhook-bind-address=:9443\n"	\
			"extension-name=vip-allocator"

/* One Cluster, from its creation to its end. */
struct vipw_life {
	char	uid[VIPW_TEXT];
	char	given[VIPW_TEXT];	/* the address of the first patch of GeneratePatches */
	int64_t	given_ms;
	bool	disturbed;		/* somebody else set its endpoint, or deleted its claim */
};

struct vipw_pool {
	bool	 exists, paused;
	uint32_t size;
	int64_t	 since_ms;	/* it exists since then */
};

/* What Cluster API does about one Cluster, and its present call of a hook. */
struct vipw_topology {
	json_t		*seen;		/* the Cluster, as its cache has it; NULL: it does not exist */
	char		 uid[VIPW_TEXT];	/* of that one */
	bool		 passed;	/* BeforeClusterCreate */
	bool		 rendered;
	char		 host[VIPW_TEXT];	/* of the infrastructure cluster; "": none */
	bool		 scheduled;
	uint64_t	 call;		/* its number; 0: none is open */
	enum vip_hook	 hook;
	char		 path[VIPW_PATH], body[VIPW_REQUEST];
	json_t		*answer;
	int		 code;
};

struct http_listener;

struct vipw {
	struct harness		 h;		/* first */
	struct vipw_pool	 pools[VIPW_POOLS];
	bool			 declares[VIPW_CLASSES];
	struct vipw_life	 lives[VIPW_LIVES_MAX];
	uint32_t		 nlives;
	struct vipw_topology	 topologies[VIPW_CLUSTERS];
	uint64_t		 calls;
	struct http_listener	*listeners[RUNTIME_TREES];	/* NULL: the hooks are not served there */
	bool			 no_certificate;
	uint64_t		 ipam_rv;	/* of the cluster, at the last step */
	int64_t			 ipam_stopped_ms;	/* it gives no address until then */
	int64_t			 cut_ms[RUNTIME_TREES];	/* the tree was cut off then, for the last time */
	uint32_t		 answers[2];		/* that passed, and that gave an address */
};

extern const struct world vip_world, vip_sweep_world;

/* The entry of the program (tests/CMakeLists.txt). */
int vip_claimer_main(int argc, char **argv);

/* ---- vip_objects.c ---- */

/* "a.b.c" of an object; NULL: absent. */
const json_t *vipw_at(const json_t *object, const char *path);
/* "": absent, or no text. */
const char *vipw_text(const json_t *object, const char *path);
/* A label or an annotation, whose key has dots. */
const char *vipw_label(const json_t *object, const char *key);
const char *vipw_annotation(const json_t *object, const char *key);
void vipw_cluster_name(char buf[CLUSTER_NAME_MAX], uint32_t n);
void vipw_claim_name(char buf[CLUSTER_NAME_MAX], uint32_t cluster, bool ingress);
/* The number of the Cluster whose claim that is; VIPW_CLUSTERS: of none. */
uint32_t vipw_claim_cluster(const char *claim, bool *ingress);
void vipw_pool_name(char buf[CLUSTER_NAME_MAX], uint32_t n);
enum kind vipw_pool_kind(uint32_t n);
bool vipw_pool_serves(uint32_t n, const char *class, bool ingress);
/* NULL: it does not exist. */
struct cluster_object *vipw_object(struct vipw *w, enum kind k, const char *name);
struct cluster_object *vipw_cluster(struct vipw *w, uint32_t n);
/* NULL: no Cluster ever had that uid. */
struct vipw_life *vipw_life(struct vipw *w, const char *uid);
void vipw_put_cluster(struct vipw *w, uint32_t n, uint32_t class, bool ingress);
void vipw_put_class(struct vipw *w, uint32_t n, bool declares);
void vipw_put_pool(struct vipw *w, uint32_t n, uint32_t size);
void vipw_put_claim(struct vipw *w, uint32_t cluster, uint32_t pool);
bool vipw_is_paused(const json_t *cluster);
/* Nobody disturbs any more: everything that a Cluster needs is there. */
void vipw_repair(struct vipw *w);
harness_act_fn vipw_toggle_cluster, vipw_change_cluster, vipw_set_endpoint, vipw_change_class,
    vipw_change_pool, vipw_claim_by_hand, vipw_delete_claim, vipw_stop_ipam, vipw_toggle_certificate;

/* ---- vip_ipam.c ---- */

/* Provider, garbage collector and pools' statuses: a step every second. */
sim_fn vipw_ipam_step;

/* ---- vip_topology.c ---- */

void vipw_topology_start(struct vipw *w);
void vipw_topology_free(struct vipw *w);

/* ---- vip_server.c ---- */

void vipw_server_use(struct vipw *w);		/* NULL: none */
/* Inside the process: its handler is called. False: nobody serves. */
bool vipw_server_call(struct vipw *w, unsigned tree, struct vipw_topology *t);

/* ---- vip_checks.c ---- */

void vipw_requested(struct harness *h, struct runtime_actor *ra, const struct write_request *r);
void vipw_executed(struct harness *h, const struct flight *f, const json_t *before);
/* BeforeClusterCreate lets the Cluster of that request pass. */
void vipw_check_pass(struct vipw *w, const struct runtime_actor *ra, const struct vipw_topology *t);
/* GeneratePatches answers Success; host "": without a patch. */
void vipw_check_patches(struct vipw *w, const struct runtime_actor *ra, const struct vipw_topology *t,
    const char *host, int64_t port);

#endif
