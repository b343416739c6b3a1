/* sim/openshift/openshift_fsm.c - the table of steps, and the few rules beside it. */
#include "openshift_fsm.h"

#include "obj.h"

/* Times as they feel on a small cluster, not as a big one would take: see --speed. */
static const struct openshift_step_row rows[ROLLOUT_STEPS] = {
	[ROLLOUT_IDLE]		 = { "idle",		"Done",		0 },
	[ROLLOUT_TARGETED]	 = { "targeted",	"Done",		1000 },
	[ROLLOUT_WORKING]	 = { "working",		"Working",	1500 },
	[ROLLOUT_DRAIN_REQUESTED]	 = { "drain-requested",	"Working",	500 },
	[ROLLOUT_CORDONED]	 = { "cordoned",	"Working",	5000 },
	[ROLLOUT_DRAINED]	 = { "drained",		"Working",	15000 },
	[ROLLOUT_REBOOTING]	 = { "rebooting",	"Rebooting",	3000 },
	[ROLLOUT_DOWN]		 = { "down",		"Rebooting",	20000 },
	[ROLLOUT_UP]		 = { "up",		"Rebooting",	3000 },
	[ROLLOUT_UNCORDON_REQUESTED] = { "uncordon-requested",	"Rebooting",	500 },
	[ROLLOUT_UNCORDONED]	 = { "uncordoned",	"Rebooting",	500 },
	[ROLLOUT_RELEASED]	 = { "released",	"Rebooting",	500 },
};

static struct openshift_move stay(const char *);
static struct openshift_move advance(enum openshift_step);

const struct openshift_step_row *
openshift_step_row(enum openshift_step step)
{
	MUST(step < ROLLOUT_STEPS);
	return &rows[step];
}

struct openshift_move
openshift_next(const struct openshift_node_view *v)
{
	MUST(v->step < ROLLOUT_STEPS);
	if (v->failing)
		return stay("degraded");
	if (v->step == ROLLOUT_IDLE)
		return v->targeted || v->may_start ? advance(ROLLOUT_TARGETED) : stay("");
	if (!v->due)
		return stay("the step is not over");
	if (v->step == ROLLOUT_CORDONED && v->pods > 0)
		return (struct openshift_move){ .verb = ROLLOUT_EVICT, .to = v->step,
		    .why = "pods are left" };
	return advance((v->step + 1) % ROLLOUT_STEPS);
}

size_t
openshift_room(const struct openshift_pace *p)
{
	int64_t most = p->percent ? (int64_t)p->nodes * p->max_unavailable / 100 : p->max_unavailable;

	if (most < 1)
		most = 1;
	const size_t taken = p->unavailable + p->failing;
	return (size_t)most > taken ? (size_t)most - taken : 0;
}

static struct openshift_move
stay(const char *why)
{
	return (struct openshift_move){ .verb = ROLLOUT_STAY, .why = why };
}

static struct openshift_move
advance(enum openshift_step to)
{
	return (struct openshift_move){ .verb = ROLLOUT_ADVANCE, .to = to, .why = "" };
}
