/*
 * actors/vpsie-claimer/discover.h - which machine of the provider, and which Node, belongs to which VPSieNode
 * (contract D11, D13, D20, D23, M1, M2, M4). Pure.
 *
 * The provider answers `data: true` to the request for a worker, and no id. So one matching over everything
 * that was listed decides for all VPSieNodes that wait; each machine and each Node goes to one at most.
 *
 * Machines, in the order of certainty:
 * 1. ADDRESS	the VPSieNode already has its address, or its Node is labelled with the VPSieNode
 * 2. NAME	its name is the start of the hostname; the longest name of any VPSieNode owns the machine.
 *		Several machines match: the newest. Several VPSieNodes (in two namespaces): the first request
 * 3. NODE	an unclaimed Node has its address, and 4. holds
 * 4. ORDER	in the cluster's node list, in its group by size and datacenter, made after the request, no
 *		name owns it: the first request gets the first machine. Those of a group are interchangeable.
 *		Of requests that were preceded by different machines, the one that may have the fewest comes
 *		first: else a slow machine would find only requests for which it is too old
 *
 * Whoever is being deleted, or failed because its machine did not come in time, still gets the machine of its
 * request, so that it ends with an owner; but only one that no other request may have (enum discover_turn).
 *
 * A machine or a Node that another VPSieNode has is never taken, however it is bound: by id, by UUID, by
 * address, by label or by nodeName. What is in no list of the cluster was requested by nobody here: only
 * ADDRESS and NAME can take it. A duplicate hostname decides nothing about Nodes.
 *
 * Time and memory are linear in machines and Nodes: discover.c finds everything through text_index.h.
 */
#ifndef MUSTER_VPSIE_DISCOVER_H
#define MUSTER_VPSIE_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

enum { MACHINE_ADDRESSES_MAX = 4 };
#define DISCOVER_NONE	UINT32_MAX

/* A machine of the VM list, of a cluster's node list, or of both. Texts are views; "": unknown. */
struct machine {
	int64_t		id;		/* of the VM list; 0: unknown */
	struct wire_str	identifier;	/* UUID */
	struct wire_str	hostname, status;
	struct wire_str	addresses[MACHINE_ADDRESSES_MAX];	/* default_ip, private_ip, ip, default_ipv6 */
	struct wire_str	cluster;	/* whose node list has it */
	struct wire_str	datacenter;	/* dcIdentifier */
	int64_t		datacenter_id, boxsize_id, cpu, ram, ssd, traffic;	/* 0: unknown */
	int64_t		created_us;	/* 0: unknown */
	bool		master, deleted;
};

/* A node group of the platform: what its machines are like. */
struct machine_group {
	int64_t		datacenter_id, boxsize_id, cpu, ram;	/* 0: unknown */
	struct wire_str	datacenter;
};

/* Of equal rules the one whose turn comes first gets the machine, whatever the order of the requests. */
enum discover_turn {
	TURN_LIVE,
	/* Its request may be on its way: a machine is kept for it, and given to nobody in this matching. */
	TURN_UNSENT,
	TURN_LATE,	/* it is being deleted, or it failed */
	TURN_MAX
};

/* A VPSieNode, waiting or not: all of them count, since their names and machines are theirs. */
struct discover_vpsienode {
	struct wire_str		 namespace, name, uid;
	struct wire_str		 cluster, datacenter;	/* spec.resourceIdentifier, spec.datacenterID */
	uint32_t		 group;			/* index of groups; DISCOVER_NONE: unknown */
	bool			 waits;			/* requested, and it has no machine yet */
	enum discover_turn	 turn;			/* of one that waits */
	bool			 seeks_node;		/* it has a machine, and no Node yet */
	int64_t			 id;			/* spec.vpsieInstanceID */
	struct wire_str		 identifier, address, address6, hostname, node_name;
	/* The intent (D10). */
	int64_t			 requested_us;		/* cluster time; 0: unknown */
	int64_t			 until_us;		/* its machine was made before then; 0: at any time */
	int64_t			 newest_us;		/* of the group's machines then, provider's clock */
	const struct wire_str	*before;		/* identifiers of free machines then */
	uint32_t		 nbefore;
	bool			 has_before;		/* ... and those are all */
};

/* A Node of the cluster, as node-state has it. */
struct discover_fact {
	struct wire_str		 name, hostname;
	const struct wire_str	*addresses;		/* InternalIP and ExternalIP */
	uint32_t		 naddresses;
	struct wire_str		 claim_namespace, claim_name, claim_uid;	/* labels; "": none */
	bool			 control_plane, deleting;
	/* It came after the list of machines had begun: one of its hostname may be missing there. */
	bool			 newer;
};

struct discover_input {
	const struct discover_vpsienode	*vpsienodes;
	const struct machine		*machines;
	const struct discover_fact	*facts;
	const struct machine_group	*groups;
	uint32_t			 nvpsienodes, nmachines, nfacts, ngroups;
	int64_t				 skew_us;	/* the provider's clock may be so much behind ours */
	uint64_t			 seed;
};

/* ID, name for explain, whether the machine is taken, text */
#define DISCOVER_REASONS(R)									\
	R(ADDRESS,      "address",       true,  "the VPSieNode has its address")		\
	R(NAME,         "name",          true,  "its hostname begins with the name of the VPSieNode")	\
	R(NODE,         "node",          true,  "an unclaimed Node has its address")		\
	R(ORDER,        "order",         true,  "the first request gets the first machine")	\
	R(HAS,          "has",           true,  "the VPSieNode has it already")			\
	R(FREE,         "free",          false, "it would do, and the VPSieNode has another one")	\
	R(DELETED,      "deleted",       false, "the provider has deleted it")			\
	R(MASTER,       "control-plane", false, "it is a machine of the control plane")		\
	R(NOT_RUNNING,  "not-running",   false, "it does not run")				\
	R(BOUND,        "bound",         false, "another VPSieNode has it")			\
	R(DISPUTED,     "disputed",      false, "two VPSieNodes have it")			\
	R(NODE_BOUND,   "node-bound",    false, "its Node belongs to another VPSieNode")	\
	R(OTHER_CLUSTER, "other-cluster", false, "it is in another cluster")			\
	R(OTHER_DATACENTER, "other-datacenter", false, "it is in another datacenter")		\
	R(OTHER_SIZE,   "other-size",    false, "it has another size than its node group")	\
	R(EXISTED,      "existed",       false, "it was there before the request")		\
	R(OLDER,        "older",         false, "it is older than the request")			\
	R(TOO_LATE,     "too-late",      false, "it was made long after the request, whose time was over") \
	R(OTHER_NAME,   "other-name",    false, "another VPSieNode's name begins its hostname")	\
	R(NOT_LISTED,   "not-listed",    false, "the cluster's node list does not have it")	\
	R(UNIDENTIFIED, "unidentified",  false, "no list has its id or its UUID")			\
	R(UNDATED,      "undated",       false, "nothing shows that it was made after the request")	\
	R(KEPT,         "kept",          false, "it is kept for a request that is not answered yet")	\
	R(NOT_WAITING,  "not-waiting",   false, "the VPSieNode does not wait for a machine")

enum discover_reason {
#define DISCOVER_ENUM(ID, name, taken, text) DISCOVER_##ID,
	DISCOVER_REASONS(DISCOVER_ENUM)
#undef DISCOVER_ENUM
	DISCOVER_REASON_MAX
};

/* How a VPSieNode and its Node were matched; D20 has the order. */
enum node_match { NODE_MATCH_NONE, NODE_MATCH_LABEL, NODE_MATCH_ADDRESS, NODE_MATCH_NAME,
		  NODE_MATCH_HOSTNAME, NODE_MATCH_MAX };

/* Of one VPSieNode. */
struct discover_match {
	uint32_t		machine;	/* DISCOVER_NONE: none */
	enum discover_reason	how;		/* of a machine: HAS, or the rule that gave it */
	uint32_t		fact;
	enum node_match		node_how;
};
/* Of one machine. */
struct discover_owner {
	uint32_t	owner;		/* the VPSieNode that has it, or DISCOVER_NONE */
	uint32_t	named;		/* the first VPSieNode whose name owns it, or DISCOVER_NONE */
	uint32_t	fact;		/* the Node that has its address, or DISCOVER_NONE */
	bool		disputed;
};
/* Of one Node. */
struct discover_claim {
	uint32_t	owner;		/* the VPSieNode that has it, or DISCOVER_NONE */
	uint32_t	hostnames;	/* VPSieNodes that have its hostname, and nothing better */
	bool		foreign;	/* labelled for a VPSieNode that does not exist */
};

struct discover_result {
	struct discover_match	*matches;	/* by VPSieNode */
	struct discover_owner	*owners;	/* by machine */
	struct discover_claim	*claims;	/* by Node */
};

size_t discover_bytes(const struct discover_input *in);
/* memory: discover_bytes of them, aligned as by malloc. The result lives there. */
void discover(const struct discover_input *in, void *memory, struct discover_result *out);
/* What the matching decided about that machine for that VPSieNode, and why. */
enum discover_reason discover_explain(const struct discover_input *in, const struct discover_result *r,
    uint32_t vpsienode, uint32_t machine);

const char *discover_reason_name(enum discover_reason r);
const char *discover_reason_text(enum discover_reason r);
bool discover_reason_taken(enum discover_reason r);
const char *node_match_name(enum node_match m);

/* ---- Between the files of the matching ---- */

/* Whether the machine may be given to the VPSieNode by that rule; DISCOVER_FREE: it may (candidate.c). */
enum discover_reason candidate_check(const struct discover_input *in, const struct discover_vpsienode *v,
    const struct machine *m, enum discover_reason rule);
/* Nodes that a VPSieNode has, by label or nodeName; before the machines (node_match.c). */
struct text_index;
void node_match_bound(const struct discover_input *in, const struct text_index *names,
    const struct text_index *fact_names, struct discover_result *r);
bool node_match_seeks(const struct discover_input *in, const struct discover_result *r, uint32_t vpsienode);
/* Nodes for those that seek one, after the machines. ids: in the order of their requests; found: scratch. */
struct fact_indexes {
	const struct text_index	*addresses, *names, *hostnames;
	const struct text_index	*machines;	/* their hostnames */
};
void node_match_all(const struct discover_input *in, const struct fact_indexes *x, const uint32_t *ids,
    uint32_t n, uint32_t *found, struct discover_result *r);

#endif
