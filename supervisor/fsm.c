/* supervisor/fsm.c - the state x event table. Pure. An empty cell is all zero and means: ignore. */
#include "fsm.h"

#include "obj.h"

static const struct {
	const char	*name;
	bool		 process;
} states[ST_MAX] = {
	[ST_SAME] = { .name = "?" },
#define STATE_ROW(ID, text, has) [ST_##ID] = { .name = (text), .process = (has) },
	FSM_STATES(STATE_ROW)
};

static const struct fsm_step steps[ST_MAX][EV_MAX] = {
	[ST_OFF] = {
		[EV_ENABLE]   = { A_NONE,  ST_WAITING },
	},
	[ST_WAITING] = {
		[EV_OPEN]     = { A_SPAWN, ST_STARTING },
		[EV_DISABLE]  = { A_NONE,  ST_OFF },
		[EV_STOP]     = { A_NONE,  ST_STOPPED },
	},
	[ST_STARTING... ST_RUNNING] = {
		[EV_REPORTED] = { A_TERM,  ST_CYCLING },
		[EV_REPORT_LIMIT] = { A_TERM, ST_CYCLING },
		[EV_RESTART]  = { A_TERM,  ST_CYCLING },
		[EV_DISABLE]  = { A_TERM,  ST_STOPPING },
		[EV_STOP]     = { A_TERM,  ST_STOPPING },
		[EV_KILL_ALL] = { A_KILL,  ST_STOPPING },
		[EV_DIED]     = { A_BACKOFF, ST_BACKOFF },
		[EV_GONE]     = { A_NONE,  ST_STOPPED },
		[EV_REFUSED]  = { A_NONE,  ST_FAILED },
	},
	[ST_STARTING][EV_BOUND] = { A_UP, ST_RUNNING },
	[ST_STARTING][EV_DEADLINE] = { A_ABORT, ST_ABORTING },
	[ST_RUNNING][EV_BEATS_MISSED] = { A_ABORT, ST_ABORTING },
	[ST_BACKOFF] = {
		[EV_DEADLINE] = { A_SPAWN, ST_STARTING },
		[EV_RESTART]  = { A_SPAWN, ST_STARTING },
		[EV_DISABLE]  = { A_NONE,  ST_OFF },
		[EV_STOP]     = { A_NONE,  ST_STOPPED },
	},
	[ST_ABORTING... ST_CYCLING] = {
		[EV_DEADLINE] = { A_KILL,  ST_SAME },
		[EV_DISABLE]  = { A_NONE,  ST_STOPPING },
		[EV_STOP]     = { A_NONE,  ST_STOPPING },
		[EV_KILL_ALL] = { A_KILL,  ST_STOPPING },
		[EV_DIED]     = { A_BACKOFF, ST_BACKOFF },
		[EV_GONE]     = { A_NONE,  ST_STOPPED },
		[EV_REFUSED]  = { A_NONE,  ST_FAILED },
	},
	[ST_STOPPING] = {
		[EV_DEADLINE] = { A_KILL,  ST_SAME },
		[EV_KILL_ALL] = { A_KILL,  ST_SAME },
		[EV_ENABLE]   = { A_NONE,  ST_CYCLING },	/* on again before it was gone */
		[EV_DIED]     = { A_NONE,  ST_STOPPED },
		[EV_GONE]     = { A_NONE,  ST_STOPPED },
		[EV_REFUSED]  = { A_NONE,  ST_STOPPED },
	},
	[ST_STOPPED] = {
		[EV_ENABLE]   = { A_NONE,  ST_WAITING },
		[EV_RESTART]  = { A_SPAWN, ST_STARTING },
		[EV_DISABLE]  = { A_NONE,  ST_OFF },
	},
	[ST_FAILED] = {
		[EV_RESTART]  = { A_SPAWN, ST_STARTING },
		[EV_DISABLE]  = { A_NONE,  ST_OFF },
	},
};

struct fsm_step
fsm_step(enum fsm_state s, enum fsm_event e)
{
	MUST((unsigned)s < ST_MAX && (unsigned)e < EV_MAX);
	return steps[s][e];
}

const char *
fsm_state_name(enum fsm_state s)
{
	return (unsigned)s < ST_MAX ? states[s].name : "?";
}

bool
fsm_has_process(enum fsm_state s)
{
	MUST((unsigned)s < ST_MAX);
	return states[s].process;
}
