/*
 * proto/links.h - every link: who binds, who connects, which values may pass. The layout is the
 * authorisation.
 *
 * L(ID, name, binder, connectors, values, gating, writes). The binder is the producer; a link bound by
 * ANY exists once per actor. A value that is not in the list, or a HELLO from a role that is not a
 * connector, ends that session. GATING: a consumer is not "synced" before its
 * first snapshot over this link; BESIDE: it may come when it likes. WRITES: the consumer may send
 * WRITE inside its session; READS: it may not.
 */
#ifndef MUSTER_LINKS_H
#define MUSTER_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"
#include "roles.h"

#ifdef MUSTER_TEST_ACTORS
#include "../tests/actors/links.def"
#else
#define TEST_LINKS(L)
#define TEST_DOWN_BITS	UINT64_C(0)
#define TEST_CLAIMER_BIT	UINT64_C(0)
#endif

/*
 * What kube-watcher hands to an actor: its kinds, how they stand, who leads. Over the same link
 * come its writes.
 */
#define KIND_VALUE_BIT(ID, ...)	| MSG_BIT(ID)
#define KUBE_VALUES	(MSG_BIT(KIND) | MSG_BIT(LEADER) KINDS(KIND_VALUE_BIT))

/* Node facts have a link of their own: insight does not need labels, a claimer does not need drains. */
#define FACT_READERS	(ROLE_BIT(VPSIE_CLAIMER) | ROLE_BIT(LKE_CLAIMER) | TEST_DOWN_BITS | TEST_CLAIMER_BIT)

#define LINKS(L)								\
	L(STATS, "stats", ANY, ROLE_BIT(METRICS), MSG_BIT(STAT), BESIDE, READS)	\
	L(KUBE_NODE_STATE, "kube.node-state", KUBE_WATCHER, ROLE_BIT(NODE_STATE), KUBE_VALUES, GATING,	\
	    WRITES)								\
	L(KUBE_INSIGHT, "kube.insight", KUBE_WATCHER, ROLE_BIT(INSIGHT), KUBE_VALUES, GATING, WRITES)	\
	L(KUBE_LKE_CLAIMER, "kube.lke-claimer", KUBE_WATCHER, ROLE_BIT(LKE_CLAIMER), KUBE_VALUES,	\
	    GATING, WRITES)							\
	L(KUBE_VPSIE, "kube.vpsie-claimer", KUBE_WATCHER, ROLE_BIT(VPSIE_CLAIMER), KUBE_VALUES, GATING,	\
	    WRITES)								\
	L(KUBE_CAPA, "kube.capa-annotator", KUBE_WATCHER, ROLE_BIT(CAPA_ANNOTATOR), KUBE_VALUES,	\
	    GATING, WRITES)							\
	L(KUBE_VIP, "kube.vip-claimer", KUBE_WATCHER, ROLE_BIT(VIP_CLAIMER), KUBE_VALUES, GATING,	\
	    WRITES)								\
	L(NODES, "nodes", NODE_STATE, ROLE_BIT(INSIGHT) | TEST_DOWN_BITS,	\
	    MSG_BIT(NODE_STATE) | MSG_BIT(POOL_STATE), GATING, READS)		\
	L(FACTS, "facts", NODE_STATE, FACT_READERS, MSG_BIT(NODE_FACT), GATING, READS)	\
	TEST_LINKS(L)

enum link {
#define LINK_ENUM(ID, ...) LINK_##ID,
	LINKS(LINK_ENUM)
#undef LINK_ENUM
	LINK_MAX
};

struct link_row {
	const char	*name;
	enum role	 binder;	/* ROLE_ANY: each actor binds one of its own */
	uint64_t	 connectors;	/* mask of roles */
	uint64_t	 values;	/* mask of messages */
	bool		 gating;
	bool		 writes;
};
extern const struct link_row link_table[LINK_MAX];

enum { LINK_PATH_MAX = 107 };	/* sockaddr_un less its NUL, measured on libzmq 4.3.4 */

bool link_binds(enum link l, enum role r);
bool link_connects(enum link l, enum role r);
bool link_carries(enum link l, enum msg m);
bool link_answers(enum link l, enum msg m);		/* m may be an item of a write's answer */
/* A frame of m on that link may have something to redact (msg_redact). */
bool link_may_hide(enum link l, enum msg m);
enum link link_find(const char *name, size_t len);	/* LINK_MAX when unknown */
/* "<run_dir>/<binder>/<link>.ipc"; false when it does not fit a unix socket path (107 bytes). */
bool link_path(char *buf, size_t size, const char *run_dir, enum link l, enum role binder);

/* The tap of an actor (actors/runtime/tap.h): OUT frames as sent, IN frames as received. */
enum tap_direction { TAP_OUT, TAP_IN, TAP_DIRECTIONS };
/* "<run_dir>/<role>/tap.ipc"; false when it does not fit. */
bool tap_path(char *buf, size_t size, const char *run_dir, enum role r);
/* "o/metrics/stats/HELLO"; returns its length. */
size_t tap_topic(char *buf, size_t size, enum tap_direction d, enum role r, enum link l, enum msg m);

#endif
