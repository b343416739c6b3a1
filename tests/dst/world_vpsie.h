/*
 * tests/dst/world_vpsie.h - the worlds `vpsie` and `vpsie-sweep`: vpsie-claimer on the harness
 * (harness.h), and a modelled VPSie API that answers the request for a worker with `data: true`.
 *
 *	world_vpsie.c	setup, breaks, the sweep
 *	vpsie_acts.c	NodeGroups and VPSieNodes, and what people do to them
 *	vpsie_check.c	what must hold after every step
 *	vpsie_final.c	the final state
 *	vpsie_api.c	the calls of the API, its tokens
 *	vpsie_json.c	its answers
 *	vpsie_model.c	machines and their Nodes; what must hold when one is requested, or goes
 */
#ifndef MUSTER_DST_WORLD_VPSIE_H
#define MUSTER_DST_WORLD_VPSIE_H

#include "harness.h"

enum {
	VPW_NODE_GROUPS = 4, VPW_MACHINES_MAX = 160, VPW_PLATFORM_MAX = 12, VPW_RECORDS_MAX = 256,
	VPW_POSTS_MAX = 64, VPW_TEXT_MAX = 64, VPW_ADDRESSES = 4,
	VPW_VM_BASE = 41000, VPW_GROUP_BASE = 300, VPW_HUMAN_SIZE = 14,
	VPW_PROVISIONING_MS = 300 * 1000, VPW_JOINING_MS = 200 * 1000, VPW_CONFIRM_MS = 30 * 1000,
	/* A request that may have been sent is given that much time at least to show its machine. */
	VPW_EXPECT_MS = 60 * 1000,
};
#define VPW_NONE	UINT32_MAX
#define VPW_CLUSTER	"c1"
#define VPW_GROUP	"autoscaler.vpsie.com"

/* A group of the platform. */
struct vpw_platform {
	char	name[VPW_TEXT_MAX];
	int64_t	size;
	int64_t	listed_ms;
};

struct vpw_machine {
	uint32_t	group;		/* of the platform; VPW_NONE: a VM outside the cluster */
	bool		human, control_plane;
	uint32_t	record;		/* the VPSieNode whose request made it, or VPW_NONE */
	char		uuid[VPW_TEXT_MAX], hostname[VPW_TEXT_MAX], node[VPW_TEXT_MAX];
	int64_t		made_ms;	/* created_on */
	/* In the cluster's node list, in the VM list; INT64_MAX: never. */
	int64_t		listed_ms, vm_ms;
	int64_t		runs_ms, ip_ms, settled_ms;	/* before settled_ms the lists have another address */
	unsigned	address;
	int64_t		blinks_ms;	/* lists lack it for a while, from then on */
	bool		slow;		/* it comes when nobody waits for it any more */
	int64_t		shown_ms;	/* the first complete list that had it was answered then; 0: none */
	int64_t		joined_ms, node_ready_ms;	/* its Node; 0: it has none, it is not ready */
	bool		foreign;	/* its Node was claimed by somebody else */
	bool		stopped;	/* it died */
	bool		deleted;
	int64_t		until_ms;	/* deleted: in lists until then */
};

/* A VPSieNode, also one that is gone: what happened to it in all lives of the actor. */
struct vpw_record {
	char		name[CLUSTER_NAME_MAX], uid[VPW_TEXT_MAX];
	bool		exists, deleting, intent;
	unsigned	phase;
	char		created_at[40];
	uint32_t	machine;	/* that spec has, or had */
	unsigned	sent;		/* requests that left and were not refused for certain */
	unsigned	made;		/* ... that had an effect */
	int64_t		sent_ms, intent_ms;	/* the last */
	unsigned	capacity;	/* refusals with a capacity message */
	int64_t		ended_ms;	/* it was gone then; 0: it exists */
	uint64_t	rv;		/* checked */
};

/* What a process got of the list that it reads. */
struct vpw_reader {
	uint64_t	incarnation;
	uint32_t	limit, entries;
	int64_t		began_ms;
	bool		good;
};

struct vpw {
	struct harness		 h;		/* first */
	char			 settings[640];
	struct vpw_platform	 platform[VPW_PLATFORM_MAX];
	uint32_t		 nplatform;
	struct vpw_machine	 machines[VPW_MACHINES_MAX];
	uint32_t		 nmachines;
	struct vpw_record	 records[VPW_RECORDS_MAX];
	uint32_t		 nrecords;
	struct { uint64_t exchange; uint32_t record; } posts[VPW_POSTS_MAX];
	uint32_t		 nposts;
	struct vpw_reader	 readers[RUNTIME_TREES];
	uint64_t		 changes, checked, checked_rv;
	int64_t			 acted_ms;	/* somebody stopped, deleted or renumbered a machine */
	unsigned		 lost_orders;	/* requests that the provider took and never carried out */
	/* The API. */
	unsigned		 node_view;	/* which of the vendor's types its nodes have */
	bool			 counts, vm_status, total, object_answers, named;
	bool			 static_token;
	unsigned		 issued;	/* tokens */
	unsigned		 revoked;	/* those up to this one are not accepted */
	int64_t			 token_life_ms, tokens_ms[256];
	unsigned		 secret;	/* in the files of credential-dir */
	bool			 bad_secret;
	int64_t			 quota_until_ms, outage_until_ms;
	uint32_t		 flagged;	/* in a thousand calls: 200 with error */
	/* Calls since everything was settled. */
	uint64_t		 quiet_calls;
	int64_t			 settled_ms;
	bool			 quiet_checked;
};

extern const struct world vpsie_world, vpsie_sweep_world;

/* The entry of the program (tests/CMakeLists.txt). */
int vpsie_claimer_main(int argc, char **argv);

/* ---- vpsie_acts.c ---- */

struct vpw_node_group {
	const char	*name, *platform;	/* of the object, and of the group of the platform */
	int64_t		 size;
};
extern const struct vpw_node_group vpw_node_groups[VPW_NODE_GROUPS];
extern const struct harness_act vpw_acts[];
extern const size_t vpw_nacts;
void vpw_create_node_group(struct vpw *w, uint32_t n, int64_t min, int64_t max);
void vpw_scale(struct vpw *w, uint32_t n, int64_t desired);
/* Names and fields of a VPSieNode that somebody made by hand. */
void vpw_create_vpsienode(struct vpw *w, uint32_t n);
/* People correct what they did wrong. */
void vpw_correct(struct vpw *w);

/* ---- vpsie_check.c ---- */

void vpw_check(struct sim *sim, void *world);
/* The VPSieNode of that key ("vpsienodes/<namespace>/<name>") that exists, or was the last. */
uint32_t vpw_record_of_key(struct vpw *w, const char *key);
uint32_t vpw_record_of(struct vpw *w, const struct cluster_object *o);
/* The machine that its spec has; VPW_NONE: none. */
uint32_t vpw_bound(struct vpw *w, const struct cluster_object *o);
/* The VPSieNode that has the machine; NULL: none. */
struct cluster_object *vpw_owner(struct vpw *w, uint32_t machine);
const char *vpw_text(const struct cluster_object *o, const char *part, const char *member);
int64_t vpw_number(const struct cluster_object *o, const char *part, const char *member);
unsigned vpw_phase(const struct cluster_object *o);

/* ---- vpsie_final.c ---- */

const char *vpw_difference(struct harness *h);
bool vpw_lists_lag(const struct harness *h);

/* ---- vpsie_api.c ---- */

void vpw_serve(struct harness *h, struct http_exchange *x);
void vpw_leaves(struct harness *h, const struct http_exchange *x);
void vpw_answered(struct runtime *r, const struct http_exchange *x);
const char *vpw_file(void *world, const char *path);

/* ---- vpsie_json.c ---- */

json_t *vpw_vms_json(struct vpw *w, uint32_t limit);
json_t *vpw_cluster_json(struct vpw *w, uint32_t limit);
json_t *vpw_groups_json(struct vpw *w);
json_t *vpw_vm_json(struct vpw *w, uint32_t machine);
/* In one of the two lists. */
bool vpw_is_listed(const struct vpw *w, uint32_t machine);

/* ---- vpsie_model.c ---- */

/* made for that record; VPW_NONE: a human's. shown_ms: in no list before. */
uint32_t vpw_add_machine(struct vpw *w, uint32_t group, uint32_t record, int64_t shown_ms);
void vpw_delete_machine(struct vpw *w, uint32_t machine, bool by_actor);
/* Its Node object goes. */
void vpw_leave(struct vpw *w, uint32_t machine);
void vpw_put_node(struct vpw *w, uint32_t machine, bool ready);
uint32_t vpw_add_platform(struct vpw *w, const char *name, int64_t size, int64_t listed_ms);
uint32_t vpw_find_platform(const struct vpw *w, const char *name);
/* Text of one of its addresses: public, private, IPv6; another one before it has settled. */
void vpw_address(char buf[VPW_TEXT_MAX], const struct vpw_machine *m, unsigned which, bool settled);
/* The machine of a Node; VPW_NONE: nobody's. */
uint32_t vpw_machine_of_node(const struct vpw *w, const char *node);

#endif
