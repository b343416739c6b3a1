/* actors/insight/plan.c - decides what to do about one insight. Pure. */
#include "insight.h"

#include <string.h>

#include "obj.h"

/* What a rule can require to be true or false. */
enum fact {
	DESIRED	  = 1 << 0,
	STORED	  = 1 << 1,
	DELETING  = 1 << 2,
	DIFFERS	  = 1 << 3,
};

static unsigned facts_of(const struct insight_input *, const struct insight_plan *);
static void set_condition_times(const struct insight_input *, struct insight_plan *);
static const char *difference(const struct insight_input *, const struct insight_plan *);
static bool same_summaries(const struct insight_status *, const struct insight_status *);

/* The first rule whose facts are all true, or all false, decides; the last three rules cover the rest. */
static const struct {
	unsigned	  all_true, all_false;
	enum insight_verb verb;
	const char	 *why;
} rules[] = {
	{ 0,                DESIRED | STORED, INSIGHT_NOTHING, "neither desired nor stored" },
	{ DELETING,         0,                INSIGHT_WAIT,    "it is being deleted" },
	{ DESIRED | STORED, DIFFERS,          INSIGHT_NOTHING, "the stored status is the desired one" },
	{ STORED,           DESIRED,          INSIGHT_DELETE,  "its object was deleted, or is in no pool" },
	{ DESIRED,          STORED,           INSIGHT_CREATE,  "it does not exist yet" },
	{ DESIRED | STORED, 0,                INSIGHT_STATUS,  "the stored status differs" },
};

const struct status_field_row status_fields[FIELD_MAX] = {
#define FIELD_ROW(ID, inside_, name_, form_, limit_, kinds_) [FIELD_##ID] = {	\
		.inside = (inside_), .name = (name_), .form = (form_), .limit = (limit_), .kinds = (kinds_) },
	STATUS_FIELDS(FIELD_ROW)
};

static const char *const verb_names[INSIGHT_VERB_MAX] = {
	[INSIGHT_NOTHING] = "nothing", [INSIGHT_CREATE] = "create", [INSIGHT_STATUS] = "status",
	[INSIGHT_DELETE] = "delete", [INSIGHT_WAIT] = "wait",
};

void
insight_plan(const struct insight_input *s, struct insight_plan *out)
{
	*out = (struct insight_plan){ .field = "" };
	if (s->desired != NULL)
		set_condition_times(s, out);
	if (s->desired != NULL && s->stored != NULL)
		out->field = difference(s, out);
	const unsigned facts = facts_of(s, out);
	size_t i = 0;
	while (i < NITEMS(rules)
	    && ((facts & rules[i].all_true) != rules[i].all_true || (facts & rules[i].all_false) != 0))
		i++;
	MUST(i < NITEMS(rules));
	out->verb = rules[i].verb;
	out->why = rules[i].why;
}

void
insight_step(const struct insight_plan *p, struct reconcile_step *out)
{
	out->form = p->verb == INSIGHT_NOTHING ? STEP_NOTHING
	    : p->verb == INSIGHT_WAIT ? STEP_WAIT : STEP_WRITE;
	out->verb = insight_verb_name(p->verb);
	out->why = p->why;
	out->field = p->field[0] != '\0' ? p->field : NULL;
	out->destroys = p->verb == INSIGHT_DELETE;
}

const char *
insight_verb_name(enum insight_verb v)
{
	return (unsigned)v < INSIGHT_VERB_MAX ? verb_names[v] : "?";
}

static unsigned
facts_of(const struct insight_input *s, const struct insight_plan *p)
{
	return (s->desired != NULL ? DESIRED : 0) | (s->stored != NULL ? STORED : 0)
	    | (s->stored != NULL && s->deleting ? DELETING : 0) | (p->field[0] != '\0' ? DIFFERS : 0);
}

static void
set_condition_times(const struct insight_input *s, struct insight_plan *out)
{
	const size_t len = time_format(s->now_us, out->now, sizeof(out->now));
	const struct wire_str now = { .p = out->now, .len = (uint32_t)len };

	out->nconditions = s->desired->nconditions;
	memcpy(out->conditions, s->desired->conditions, sizeof(out->conditions));
	conditions_set_times(out->conditions, out->nconditions,
	    s->stored != NULL ? s->stored->conditions : NULL,
	    s->stored != NULL ? s->stored->nconditions : 0, now);
}

/* ---- Comparison of the desired with the stored status ---- */

static const char *
difference(const struct insight_input *s, const struct insight_plan *p)
{
	for (unsigned f = 0; f < FIELD_MAX; f++) {
		if (!wire_str_same(s->desired->fields[f], s->stored->fields[f]))
			return status_fields[f].name;
	}
	if (!same_summaries(s->desired, s->stored))
		return "summaries";
	return conditions_equal(p->conditions, p->nconditions, s->stored->conditions, s->stored->nconditions)
	    ? "" : "conditions";
}

static bool
same_summaries(const struct insight_status *a, const struct insight_status *b)
{
	if (a->nsummaries != b->nsummaries)
		return false;
	for (uint32_t i = 0; i < a->nsummaries; i++) {
		if (!wire_str_same(a->summaries[i].type, b->summaries[i].type)
		    || !wire_str_same(a->summaries[i].count, b->summaries[i].count))
			return false;
	}
	return true;
}
