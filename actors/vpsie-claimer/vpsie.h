/*
 * actors/vpsie-claimer/vpsie.h - the parts of the actor that are not pure.
 *
 *	main.c		 tables, start, stop, tick; which key a change concerns
 *	node_plan.c	 a VPSieNode: facts (node_view.c), the table of phases (fsm.h), a step
 *	group_key.c	 a NodeGroup: input (group_view.c, group.h), a step
 *	node_write.c	 the bodies of writes of a VPSieNode and its Node
 *	matching.c	 one matching (discover.h) over mirrors and the last list, for all keys
 *	listing.c	 the list: VMs, then nodes and groups of each cluster, as one effect
 *	calls.c		 the other calls of the provider
 *	token_files.c	 the files of credential-dir, exchange and refresh of the token
 *	explain.c	 `muster explain`
 */
#ifndef MUSTER_VPSIE_H
#define MUSTER_VPSIE_H

#include "actors/provider/brake.h"
#include "actors/provider/call_effect.h"
#include "actors/provider/drain_set.h"
#include "actors/provider/id_index.h"
#include "actors/provider/intent.h"
#include "actors/provider/shared_list.h"
#include "actors/reconcile/reconcile.h"
#include "token_files.h"
#include "discover.h"
#include "fsm.h"
#include "group.h"
#include "request.h"
#include "node_status.h"
#include "wire.h"

#define VPSIE_NODES		"vpsienodes"
#define NODE_GROUPS		"nodegroups"
#define VPSIE_NODE_FINALIZER	"vpsienode." VPSIE_GROUP "/finalizer"
#define NODE_GROUP_FINALIZER	"nodegroup." VPSIE_GROUP "/finalizer"
/* Without the prefix, as the mirrors have them. */
#define ANNOTATION_REQUESTED	"creation-requested"	/* of the original: "true" */
#define ANNOTATION_REQUEST	"creation-request"	/* ours: the text of intent.h */
#define ANNOTATION_WATERMARK	"creation-watermark"
#define ANNOTATION_GROUP	"group-request"		/* of a NodeGroup: the same */
#define LABEL_UID		"vpsienode-uid"

enum { VPSIE_KIND_NODES, VPSIE_KIND_GROUPS, VPSIE_KIND_CLUSTER_NODES };	/* rows of the kinds */

enum {
	VPSIE_IDENTIFIER_MAX  = 128,
	VPSIE_RETRY_MIN_MS    = 5 * 1000,	/* after a request that was refused; doubles */
	VPSIE_RETRY_MAX_MS    = 5 * 60 * 1000,
	VPSIE_DELETE_MS	      = 10 * 1000,	/* between two DELETEs of a machine that stays listed */
	VPSIE_WAIT_MS	      = 1000,
	VPSIE_WARN_ATTEMPTS   = 6,		/* D20: lists without a Node before one warning */
	VPSIE_ERROR_MAX	      = 320,
	VPSIE_FAILURES	      = 2,	/* lists in a row that failed: from then on the status has it */
	POST_KEY_MAX	      = 320,
	VPSIE_LABEL_MAX	      = 63,
};

/* Classes of calls. */
enum vpsie_class { CLASS_READ, CLASS_MAKE, CLASS_DELETE, CLASS_TOKEN, CLASS_CHECK, CLASS_MAX };

/* What this incarnation remembers of a VPSieNode. It is lost with the process, which only delays. */
struct vpsienode_claim {
	struct intent	intent;
	bool		refused, capacity;	/* the last request, for certain */
	char		error[VPSIE_ERROR_MAX];	/* of the last call for it; "": none */
	unsigned	failures;		/* refusals in a row */
	int64_t		retry_ms;		/* no request before */
	/* What its BIND writes, or what the POST returned: it counts as bound from then on. */
	int64_t		bind_id;
	char		bind_identifier[VPSIE_IDENTIFIER_MAX];
	char		bind_rv[64];	/* its precondition: it may arrive while the object has that */
	bool		made;			/* ... the POST returned it */
	char		posting[POST_KEY_MAX];	/* the group whose turn it has; "": none */
	uint64_t	after;			/* lists that had begun when its last call ended */
	uint64_t	attempt;		/* the last list in which its machine was searched for */
	unsigned	attempts;
	bool		warned;
	int64_t		deleted_ms;		/* a DELETE was answered then; 0: none */
	int64_t		read_ms;		/* a GET of its VM */
	bool		read_running;
	enum vpsie_phase event_phase;		/* the last that an Event was sent about */
	struct absence	absence, expired, join_expired, ttl, request;
	bool		request_over;	/* the time in which its machine could be made (`request`) */
};

/* The same of a NodeGroup. */
struct nodegroup_claim {
	struct intent	intent;
	char		error[VPSIE_ERROR_MAX];
	unsigned	failures;
	int64_t		retry_ms;
	uint64_t	after;
	struct absence	absence;
	const char	*event_reason;		/* the last that an Event was sent about */
};

struct vpsie_settings {
	int64_t	discovery_ms, resync_ms, provisioning_ms, joining_ms, failed_ttl_ms, confirm_ms, skew_ms;
};

/* The list that is in flight. */
struct vpsie_listing {
	struct inflight_effect	*effect;	/* NULL: none is */
	const char		*key;
	uint64_t		 trace;
	int64_t			 began_ms;
	struct vpsie_list	*list;
	struct keytab		*clusters, *missing;
	uint32_t		 cluster;	/* id of the one that is being read */
	bool			 is_short;
};

struct vpsie_matching;

struct vpsie_claimer {
	struct reconciler	 r;		/* first: reconcile.h */
	struct call_effects	 calls;
	struct client_class	 classes[CLASS_MAX];
	struct vpsie_base	 base;
	char			 url[VPSIE_URL_MAX];
	struct vpsie_credential	*credential;
	struct vpsie_settings	 set;
	struct drain_policy	 policy;
	struct drain_set	*drains;
	struct brake		 brake;
	struct keytab		*claims, *groups;	/* struct vpsienode_claim, struct nodegroup_claim */
	struct id_index		*owners;	/* by the name of a Node: the key of its VPSieNode */
	struct keytab		*waiting;	/* keys that a new Node may concern */
	bool			 phases_changed;	/* of a VPSieNode, since they were counted */
	int64_t			 count_ms;	/* they are counted again then, in any case */
	struct keytab		*posting;	/* "cluster/group" with a turn: intent, POST, answer */
	/* The last complete list. */
	struct shared_list	 list;
	struct vpsie_list	*machines;	/* NULL: none yet */
	bool			 list_short;	/* it lacks workers that the provider counts */
	struct keytab		*missing;	/* clusters that the provider does not have */
	char			 list_error[VPSIE_ERROR_MAX];	/* of the last list; "": it was complete */
	const char		*list_reason;
	struct vpsie_listing		 listing;
	struct vpsie_matching		*matching;
};

struct vpsie_claimer *vpsie_of(struct reconciler *r);
/* Made when absent; valid until the next call. */
struct vpsienode_claim *vpsie_claim(struct vpsie_claimer *c, const char *key);
struct nodegroup_claim *vpsie_group_claim(struct vpsie_claimer *c, const char *key);
void vpsie_forget(struct keytab *k, const char *key, size_t len);	/* absent is fine */
/* "resource/namespace/name": the two at its end. */
void vpsie_key_split(const char *key, struct wire_str *ns, struct wire_str *name);
/* The object of the step: Events are about it, too. */
void vpsie_write_object(
    struct reconcile_write *w, unsigned kind, const struct work *work, const struct change *object);
void vpsie_wait_step(struct reconcile_step *step, const char *why, int64_t after_ms);

/* ---- One VPSieNode (node_view.c) ---- */

struct vpsienode_view {
	struct vpsie_claimer		*c;
	const struct work	*work;
	struct vpsienode_claim		*claim;
	struct change		 object;
	union msg_body		 body;
	struct vpsie_facts	 facts;
	struct wire_str		 cluster, datacenter;	/* its own, else those of its NodeGroup */
	int64_t			 group_id;
	const struct machine	*machine;	/* of a list that may be used; NULL: none */
	enum discover_reason	 how;
	const struct discover_fact *fact;	/* its Node, copied; NULL: it has none */
	struct change		 node;		/* ... on the link of facts */
	union msg_body		 node_body;
	/*
	 * ... and as kube-watcher has it, for writes: a fact keeps its resourceVersion while nothing changes
	 * that node-state reads, and a heartbeat of the kubelet is enough for another.
	 */
	struct change		 written;
	union msg_body		 written_body;
	struct node_status	 stored;
	bool			 listed;	/* a list may be used */
	int64_t			 list_age_ms;	/* how old a list may be in its phase; 0: it needs none */
	int64_t			 settled_ms;
	int64_t			 now_ms, cluster_us;
	char			 now[48];	/* cluster time; "": not known */
	const char		*error_reason, *error;	/* of calls, for the status; or NULL */
};

void vpsie_node_view_read(struct vpsienode_view *v, struct vpsie_claimer *c, const struct work *w);
/* When its worker was requested; without our annotation: when it was made. Cluster time; 0: unknown. */
int64_t vpsie_node_request_us(const struct body_vpsie_node *b);
/* It failed because the machine of our request did not come in time: that machine may still come. */
bool vpsie_node_timed_out(const struct body_vpsie_node *b);
/* Id and UUID by which the machine is deleted or read: those of the list, else those of the object. */
int64_t vpsie_node_view_id(const struct vpsienode_view *v);
struct wire_str vpsie_node_view_identifier(const struct vpsienode_view *v);
const char *vpsie_machine_address(const struct machine *m, struct wire_str *out);
struct wire_str vpsie_machine_address6(const struct machine *m);
bool vpsie_machine_runs(const struct machine *m);	/* without a status it may */

/* ---- Plans ---- */

void vpsie_node_plan(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step);
void vpsie_group_plan_key(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step);
/* A list, if none may be used; else *step stays. True: *step was changed. */
bool vpsie_plan_list(struct vpsie_claimer *c, const struct work *w, struct reconcile_step *step);
/* False: a call cannot be sent now, and *step has the cause. */
bool vpsie_plan_call(struct vpsie_claimer *c, enum vpsie_call call, const struct vpsie_target *t,
    struct reconcile_step *step);
bool vpsie_node_write(struct vpsienode_view *v, const struct vpsie_step *s, struct reconcile_step *step);
/* Whether the Node has all labels. */
bool vpsie_node_labelled(const struct vpsienode_view *v, struct wire_map labels);
bool vpsie_node_claimed(const struct vpsienode_view *v, struct wire_map labels);	/* by another one */

/* ---- Matching (matching.c) ---- */

struct vpsie_matching *vpsie_matching_new(void);
void vpsie_matching_free(struct vpsie_matching **mp);
void vpsie_matching_changed(struct vpsie_claimer *c);	/* an input did */
void vpsie_matching_node_gone(struct vpsie_claimer *c, const char *key, size_t len);
const struct discover_input *vpsie_matching_input(
    struct vpsie_claimer *c, const struct discover_result **result);
/* Its index; DISCOVER_NONE: not there. */
uint32_t vpsie_matching_find(struct vpsie_claimer *c, const char *key);
/* Cluster, datacenter and group of a VPSieNode, its NodeGroup's where it has none. */
void vpsie_matching_group(struct vpsie_claimer *c, struct wire_str ns, const struct body_vpsie_node *b,
    struct wire_str *cluster, struct wire_str *datacenter, int64_t *group_id);

/* ---- Calls (calls.c, listing.c) ---- */

bool vpsie_calls_open(struct vpsie_claimer *c);
/* Once a second: another URL, when nothing is in flight. */
void vpsie_calls_tick(struct vpsie_claimer *c);
effect_start vpsie_call_list, vpsie_call_create, vpsie_call_read, vpsie_call_destroy, vpsie_call_make_group;
void vpsie_listing_close(struct vpsie_claimer *c);
/*
 * One VPSieNode of each group at a time writes its intent, sends its POST and gets the answer: a process that
 * is killed leaves at most one intent per group whose request may or may not have been sent.
 */
void vpsie_post_key(char out[POST_KEY_MAX], struct wire_str cluster, int64_t group_id);
bool vpsie_turn_take(struct vpsie_claimer *c, struct vpsienode_claim *claim, struct wire_str cluster,
    int64_t group_id);		/* false: another one has it */
void vpsie_turn_end(struct vpsie_claimer *c, struct vpsienode_claim *claim);	/* none is fine */
/* Sends it with the credential; done as in client.h. 0: there is none, or no such request. */
uint64_t vpsie_calls_send(struct vpsie_claimer *c, enum vpsie_class class, enum vpsie_call call,
    const struct vpsie_target *t, struct client_call *more);

void vpsie_explain_key(struct actor *a, void *self, const char *resource, const char *name, struct json *out);

#endif
