/*
 * supervisor/actors.h - every child of musterd: what it runs, when it starts and stops, what it may
 * use, whom it needs.
 *
 * C(ROLE, fields...): a row is one actor. N(WHO, NEEDS, why): enabling the first enables the
 * second; the log has the reason. Stages start in ascending order of `stage` (each waits for `bound` of the
 * one below) and end in ascending order of `stop_stage`: claimers first, then node-state, then
 * kube-watcher, which releases the Lease as its last act, then metrics. Environment variables that an actor
 * has for itself are rows of environment.h.
 */
#ifndef MUSTER_ACTORS_H
#define MUSTER_ACTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "roles.h"

#ifdef MUSTER_TEST_ACTORS
#include "../tests/actors/children.def"
#else
#define TEST_CHILDREN(C)
#define TEST_NEEDS(N)
#endif

#define CHILDREN(C)								\
	C(KUBE_WATCHER, .program = "muster-kube-watcher", .stage = 1, .stop_stage = 3, .core = true,	\
	    .ready_ms = 30000, .stop_ms = 8000, .data_mib = 96,			\
	    .each_kib = 4, .each_of = "max-objects", .cluster = true, .tcp = TCP_CONNECT,		\
	    .tasks = 512, .consumers_at_start = true)				\
	C(NODE_STATE, .program = "muster-node-state", .stage = 2, .stop_stage = 2, .core = true,	\
	    .ready_ms = 30000, .stop_ms = 3000, .data_mib = 64,			\
	    .each_kib = 8, .each_of = "max-nodes", .consumers_at_start = true)	\
	C(INSIGHT, .program = "muster-insight", .stage = 3, .stop_stage = 1,	\
	    .ready_ms = 30000, .stop_ms = 5000, .data_mib = 64,			\
	    .each_kib = 8, .each_of = "max-nodes")				\
	C(VPSIE_CLAIMER, .program = "muster-vpsie-claimer", .stage = 3, .stop_stage = 1,	\
	    .ready_ms = 30000, .stop_ms = 4000, .data_mib = 128,		\
	    .each_kib = 16, .each_of = "max-nodes", .tcp = TCP_CONNECT, .mutates_provider = true,	\
	    .folder = "credential-dir")						\
	C(METRICS, .program = "muster-metrics", .stage = 3, .stop_stage = 4,	\
	    .ready_ms = 30000, .stop_ms = 3000, .data_mib = 64,			\
	    .each_kib = 16, .each_of = "max-nodes", .each_section = "node-state",	\
	    .receives_tree = true, .default_on = true, .tcp = TCP_BIND, .folder = "tls-dir")	\
	C(LKE_CLAIMER, .program = "muster-lke-claimer", .stage = 3, .stop_stage = 1,	\
	    .ready_ms = 30000, .stop_ms = 5000, .data_mib = 96,			\
	    .each_kib = 32, .each_of = "max-nodes", .tcp = TCP_CONNECT, .mutates_provider = true)	\
	C(CAPA_ANNOTATOR, .program = "muster-capa-annotator", .stage = 3, .stop_stage = 1,	\
	    .ready_ms = 30000, .stop_ms = 3000, .data_mib = 96,			\
	    .each_kib = 8, .each_of = "max-machinedeployments", .tcp = TCP_CONNECT)	\
	C(VIP_CLAIMER, .program = "muster-vip-claimer", .stage = 3, .stop_stage = 1,	\
	    .ready_ms = 30000, .stop_ms = 3000, .data_mib = 192,		\
	    .each_kib = 16, .each_of = "max-clusters", .tcp = TCP_BIND, .folder = "tls-dir")	\
	TEST_CHILDREN(C)

#define NEEDS(N)	/* who, needs, why */					\
	N(NODE_STATE, KUBE_WATCHER, "it evaluates the nodes that kube-watcher reads")	\
	N(INSIGHT, NODE_STATE, "it writes down what node-state evaluates")	\
	N(INSIGHT, KUBE_WATCHER, "it writes its insights through it")		\
	N(LKE_CLAIMER, NODE_STATE, "it finds the Nodes of its machines in what node-state publishes")	\
	N(LKE_CLAIMER, KUBE_WATCHER, "it reads and writes NodeClaims through it")	\
	N(VPSIE_CLAIMER, NODE_STATE, "it finds the Nodes of its machines in what node-state publishes")	\
	N(VPSIE_CLAIMER, KUBE_WATCHER, "it reads and writes VPSieNodes through it")	\
	N(CAPA_ANNOTATOR, KUBE_WATCHER, "it reads and annotates MachineDeployments through it")	\
	N(VIP_CLAIMER, KUBE_WATCHER, "it reads Clusters, claims and pools and writes through it")	\
	TEST_NEEDS(N)

enum { STOP_STAGE_MAX = 4 };

enum restart {
	RESTART_PERMANENT,	/* always */
	RESTART_TRANSIENT,	/* unless it ended with 0 */
	RESTART_TEMPORARY,	/* never */
};

/*
 * Which TCP an actor needs. Landlock takes the rest away, where the kernel can (confine.h). Whoever
 * connects makes HTTP calls: proxy variables reach no other actor (environment.h).
 */
enum tcp {
	TCP_NONE    = 0,
	TCP_BIND    = 1 << 0,
	TCP_CONNECT = 1 << 1,
};

struct child_row {
	enum role	 role;
	const char	*program;
	int		 stage, stop_stage;
	bool		 core;		/* nothing works without it: its crash loop ends musterd */
	enum restart	 restart;
	int64_t		 ready_ms;	/* from exec to `bound` */
	int64_t		 stop_ms;	/* from `stop` to SIGKILL */
	/* RLIMIT_DATA = data_mib + each_kib for every object of the ceiling in setting each_of */
	uint32_t	 data_mib, each_kib;
	const char	*each_of;
	const char	*each_section;	/* whose setting that is; NULL: its own */
	uint32_t	 tasks;		/* threads and processes of its own; 0: CHILD_TASKS (child.c) */
	enum tcp	 tcp;
	const char	*files[3];	/* settings that name files it may write, beside its credentials */
	const char	*folder;	/* setting that names a folder it may read; NULL: none */
	bool		 cluster;	/* may read where clients find the cluster's credential */
	bool		 mutates_provider;	/* with leader election: the lease must be long enough (A8) */
	bool		 receives_tree;	/* gets the status of the whole tree */
	bool		 default_on;	/* runs unless the configuration disables it */
	/* Its work follows from which consumers are enabled when it starts: a change of them restarts it. */
	bool		 consumers_at_start;
};

enum child_id {
#define CHILD_ENUM(ID, ...) CHILD_##ID,
	CHILDREN(CHILD_ENUM)
#undef CHILD_ENUM
	CHILD_MAX
};

extern const struct child_row child_table[CHILD_MAX];

/* The row of that role; CHILD_MAX when musterd has no such child. */
enum child_id child_find(enum role r);

#endif
