/*
 * actors/vpsie-claimer/fsm.h - the life of one VPSieNode: its phase and what is observed decide what is next.
 *
 * Rules (contract D10, D14, D16, D18, D21 to D23)
 * - Level-triggered: the events below are facts, in the order of their priority. The first that has a cell in
 *   the row of the phase decides; a cell that is empty means that the phase ignores the event.
 * - One step at a time: a write, or a call of the provider, or a phase. Phases are not passed over.
 * - The intent is in the object before the request leaves. A request that may have been sent is never
 *   repeated: discovery finds its machine, or the timeout fails the VPSieNode.
 * - One observation is no absence and no expiry: GONE, EXPIRED and JOIN_EXPIRED are true only when a second
 *   one, apart in time, agrees (absence.h).
 * - Failed stays until somebody deletes the object, or failed-ttl ends it. A machine that comes after the
 *   timeout is bound to it all the same, so that it goes with the object.
 */
#ifndef MUSTER_VPSIE_FSM_H
#define MUSTER_VPSIE_FSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actors/provider/absence.h"
#include "msg.h"

/* ID, status.phase, label `phase` of metrics is the same in lower case */
#define VPSIE_PHASES(P)									\
	P(NEW,          "")								\
	P(PENDING,      "Pending")							\
	P(PROVISIONING, "Provisioning")							\
	P(PROVISIONED,  "Provisioned")							\
	P(JOINING,      "Joining")							\
	P(READY,        "Ready")							\
	P(TERMINATING,  "Terminating")							\
	P(DELETING,     "Deleting")							\
	P(FAILED,       "Failed")							\
	P(OTHER,        "?")		/* of a later version: left alone */

enum vpsie_phase {
#define VPSIE_PHASE_ENUM(ID, name) PHASE_##ID,
	VPSIE_PHASES(VPSIE_PHASE_ENUM)
#undef VPSIE_PHASE_ENUM
	PHASE_MAX
};

/* ID, name: what to do. Writes, then calls. */
#define VPSIE_VERBS(V)									\
	V(NOTHING,  "nothing")								\
	V(WAIT,     "wait")								\
	V(HOLD,     "hold")		/* write: the finalizer */			\
	V(MOVE,     "move")		/* write: status, with the next phase */	\
	V(STATUS,   "status")		/* write: status; the phase stays */		\
	V(INTEND,   "intend")		/* write: the intent, with resourceVersion */	\
	V(WITHDRAW, "withdraw")		/* write: the intent goes */			\
	V(BIND,     "bind")		/* write: spec, with what was discovered */	\
	V(LABEL,    "label")		/* write: labels of the Node */			\
	V(UNJOIN,   "delete-node")	/* write: the Node object goes */		\
	V(RELEASE,  "release")		/* write: the finalizer goes */			\
	V(REMOVE,   "remove")		/* write: the VPSieNode is deleted (failed-ttl) */	\
	V(CREATE,   "create")		/* call: the POST for a worker */		\
	V(READ,     "read")		/* call: GET of its VM */			\
	V(DRAIN,    "drain")								\
	V(DESTROY,  "destroy")		/* call: DELETE of its machine */

enum vpsie_verb {
#define VPSIE_VERB_ENUM(ID, name) VPSIE_##ID,
	VPSIE_VERBS(VPSIE_VERB_ENUM)
#undef VPSIE_VERB_ENUM
	VPSIE_VERB_MAX
};

/* ID, text of the fact. The order is the priority inside every phase. */
#define VPSIE_EVENTS(E)									\
	E(RELEASABLE,   "it is being deleted, and our finalizer is gone")		\
	E(UNDELETED,    "its phase is one of deletion, and its deletion was not requested")	\
	E(DELETED,      "its deletion was requested")					\
	E(UNHELD,       "the finalizer comes before everything else")			\
	E(FOUND,        "a machine was discovered for it")				\
	E(GONE,         "two lists agree that its machine is gone")			\
	E(CHANGED,      "an address of its machine has changed")			\
	E(RUNNING,      "its machine runs")						\
	E(CAPACITY,     "the provider refused: a limit of the account or plan is reached")	\
	E(REFUSED,      "the provider refused the request for certain")			\
	E(EXPIRED,      "its machine was not there in time")				\
	E(BLOCKED,      "its NodeGroup has no platform group yet")			\
	E(UNREQUESTED,  "no machine was requested yet")					\
	E(UNSENT,       "the intent is written, and the request was not sent")		\
	E(NODE_GONE,    "its Node is gone")						\
	E(UNLABELLED,   "its Node lacks labels")					\
	E(NODE_READY,   "its Node is ready")						\
	E(JOIN_EXPIRED, "its Node did not become ready in time")			\
	E(UNDRAINED,    "its Node is drained before the machine goes")			\
	E(TOOK_OVER,    "this instance has just taken over: its Node may not be read yet")	\
	E(LISTED,       "its machine is there")						\
	E(TTL,          "failed-ttl has passed")					\
	E(STALE,        "the status differs")						\
	E(SENT,         "a machine was requested, and may still appear")		\
	E(KNOWN,        "its machine does not run yet")					\
	E(UNSURE,       "one list without its machine proves nothing")			\
	E(NODE_LEFT,    "its machine is gone, its Node object is left")			\
	E(UNJOINED,     "its Node has not joined yet")					\
	E(UNREADY,      "its Node is not ready")					\
	E(ALWAYS,       "nothing else is to be done in its phase")

enum vpsie_event {
#define VPSIE_EVENT_ENUM(ID, text) EV_##ID,
	VPSIE_EVENTS(VPSIE_EVENT_ENUM)
#undef VPSIE_EVENT_ENUM
	EV_MAX
};
_Static_assert(EV_MAX <= 32, "events are a mask");

/* What is observed of one VPSieNode. */
struct vpsie_facts {
	/* The object. */
	bool			exists, deleting, finalizer;
	enum vpsie_phase	phase;
	bool			intent;		/* creation-requested=true */
	bool			identified;	/* spec has an id or a UUID */
	bool			stale;		/* status.c would write something else than is there */
	bool			groupless;	/* neither spec nor NodeGroup has the platform's group */
	/* The request. */
	bool			sent;		/* it may have left: in this life or an earlier one */
	bool			refused;	/* for certain: 4xx, or 200 with error (D23) */
	bool			capacity;	/* ... with a capacity message (D17) */
	/* The machine, by the last complete lists; for an unidentified one by the matching (discover.h). */
	bool			found;		/* given to it, and spec does not have it yet */
	bool			moved;		/* an address differs from spec */
	bool			listed, running;	/* there; ... and running, or without a status */
	enum absence_verdict	absence;	/* of its machine */
	/* The Node. */
	bool			node, labelled, node_ready, drained;
	bool			named;		/* status.nodeName is set: it had one */
	bool			took_over;	/* just now (fence.h): the Node may come later */
	/* Time, each confirmed by a second observation (vpsie_expired). */
	bool			expired, join_expired, ttl_expired;
};

struct vpsie_step {
	enum vpsie_verb		 verb;
	enum vpsie_phase	 next;		/* VPSIE_MOVE: status.phase afterwards */
	enum vpsie_event	 event;		/* that decided */
	const char		*why;
	/* VPSIE_MOVE: reason of the condition and of the Event; to PHASE_FAILED also status.lastError. */
	const char		*reason, *message;
};

struct vpsie_step vpsie_step(const struct vpsie_facts *f);
/*
 * Whether limit_ms have passed since a stored time, by cluster time, in two observations apart_ms apart in
 * monotonic time (A9). since_us or limit_ms 0: never.
 */
bool vpsie_expired(struct absence *a, int64_t since_us, int64_t limit_ms, int64_t cluster_us,
    int64_t apart_ms, int64_t now_ms);

enum vpsie_phase vpsie_phase_of(struct wire_str text);
const char *vpsie_phase_name(enum vpsie_phase p);
const char *vpsie_verb_name(enum vpsie_verb v);

#endif
