/* actors/reconcile/gate.c - whether a key may be planned, and whether its step may be performed. Pure. */
#include "obj.h"
#include "reconcile.h"

struct rule {
	bool		 closed;
	enum step_form	 form;
	int64_t		 after_ms;
	const char	*why;
};

static bool pass(const struct rule *, size_t, struct reconcile_step *);

bool
gate_plan(const struct gate_facts *f, struct reconcile_step *s)
{
	const struct rule rules[] = {
		{ f->ending, STEP_NOTHING, 0, "this process stops: nothing new begins" },
		{ !f->enabled, STEP_NOTHING, 0, "disabled: what is stored is left alone" },
		{ !f->synced, STEP_WAIT, 0, "the first snapshot is not complete" },
		{ f->state == KIND_STATE_ABSENT, STEP_WAIT, 0, "the CRD is not installed" },
		{ f->state == KIND_STATE_FORBIDDEN, STEP_WAIT, 0, "reading this kind is forbidden" },
		{ f->state != KIND_STATE_SYNCED, STEP_WAIT, 0, "the first list of this kind is not complete" },
	};

	return pass(rules, NITEMS(rules), s);
}

void
gate_step(const struct gate_facts *f, struct reconcile_step *s)
{
	const struct rule rules[] = {
		{ s->destroys && !f->fresh, STEP_WAIT, RECONCILE_REQUEUE_MS, "an input is stale: nothing is deleted" },
		{ f->refused, STEP_WAIT, 0, "the server refused it, and nothing has changed since" },
		{ !f->leading, STEP_WAIT, 0, "this instance is not the leader" },
		{ f->hold_ms > 0, STEP_WAIT, f->hold_ms, "the last write was forbidden" },
	};

	if (s->form != STEP_NOTHING && s->form != STEP_WAIT)
		pass(rules, NITEMS(rules), s);
}

/* The first rule that is closed decides. */
static bool
pass(const struct rule *rules, size_t n, struct reconcile_step *s)
{
	for (size_t i = 0; i < n; i++) {
		if (!rules[i].closed)
			continue;
		s->form = rules[i].form;
		s->verb = rules[i].form == STEP_WAIT ? "wait" : "nothing";
		s->why = rules[i].why;
		s->after_ms = rules[i].after_ms;
		return false;
	}
	return true;
}
