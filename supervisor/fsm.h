/*
 * supervisor/fsm.h - what a child can be, what can happen to it, and what follows.
 *
 * States without a process: OFF, WAITING, BACKOFF, STOPPED, FAILED. The others have one until it is reaped:
 *	STARTING	forked, `bound` not received; its deadline is the ready timeout
 *	RUNNING		bound; its beats are watched
 *	ABORTING	stuck: SIGABRT sent, SIGKILL at the deadline
 *	CYCLING		`stop` sent, to start again
 *	STOPPING	`stop` sent, to stay stopped
 * FAILED is left only when the configuration changes or on a restart request.
 */
#ifndef MUSTER_FSM_H
#define MUSTER_FSM_H

#include <stdbool.h>

#define FSM_STATES(S)	/* ID, as people see it, has a process */		\
	S(OFF,      "off",      false)						\
	S(WAITING,  "waiting",  false)						\
	S(STARTING, "starting", true)						\
	S(RUNNING,  "running",  true)						\
	S(BACKOFF,  "backoff",  false)						\
	S(ABORTING, "stopping", true)						\
	S(CYCLING,  "stopping", true)						\
	S(STOPPING, "stopping", true)						\
	S(STOPPED,  "stopped",  false)						\
	S(FAILED,   "failed",   false)

enum fsm_state {
	ST_SAME,		/* in the table: stay */
#define FSM_ENUM(ID, name, process) ST_##ID,
	FSM_STATES(FSM_ENUM)
#undef FSM_ENUM
	ST_MAX
};

enum fsm_event {
	EV_ENABLE,		/* the configuration has it */
	EV_DISABLE,		/* ... or no longer does */
	EV_OPEN,		/* every stage below has settled */
	EV_BOUND,		/* its `bound` record was received */
	EV_DEADLINE,		/* the state's own deadline passed */
	EV_BEATS_MISSED,		/* three beats missed */
	EV_REPORTED,		/* a peer reported it, within the limit */
	EV_REPORT_LIMIT,	/* it reported a peer more often than the limit */
	EV_RESTART,		/* its configuration changed, or a person requested it */
	EV_STOP,		/* the tree stops and its stage has come */
	EV_KILL_ALL,		/* the tree stops and its time is over */
	EV_DIED,		/* reaped, or could not be started; it is to start again */
	EV_GONE,		/* reaped; it stays stopped */
	EV_REFUSED,		/* reaped; it will not work with this configuration */
	EV_MAX
};

enum fsm_action {
	A_NONE,
	A_SPAWN,		/* new incarnation */
	A_UP,			/* send peer records to the others */
	A_TERM,			/* `stop` and SIGTERM */
	A_ABORT,		/* SIGABRT */
	A_KILL,			/* SIGKILL to the group */
	A_BACKOFF,		/* wait for the next start */
	A_MAX
};

struct fsm_step {
	enum fsm_action	action;
	enum fsm_state	next;
};

struct fsm_step fsm_step(enum fsm_state s, enum fsm_event e);
const char *fsm_state_name(enum fsm_state s);
bool fsm_has_process(enum fsm_state s);

#endif
