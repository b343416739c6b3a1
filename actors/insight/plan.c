/*
 * actors/insight/plan.c - decides what to do about one insight, and what the outcome of a write
 * means for its key. Pure.
 */
#include "insight.h"

#include "obj.h"

/* What a rule can require to be true or false. */
enum fact {
	ENABLED	  = 1 << 0,
	SYNCED	  = 1 << 1,
	FRESH	  = 1 << 2,
	ABSENT	  = 1 << 3,	/* the CRD is not installed */
	FORBIDDEN = 1 << 4,
	LISTED	  = 1 << 5,
	DESIRED	  = 1 << 6,
	STORED	  = 1 << 7,
	DELETING  = 1 << 8,
	DIFFERS	  = 1 << 9,
	REFUSED	  = 1 << 10,
	LEADING	  = 1 << 11,
	HELD	  = 1 << 12,
};

static unsigned facts_of(const struct insight_input *, const struct insight_plan *);
static void set_condition_times(const struct insight_input *, struct insight_plan *);
static const struct insight_condition *find_condition(const struct insight_status *, struct wire_str);
static bool is_time(struct wire_str);
static const char *difference(const struct insight_input *, const struct insight_plan *);
static bool same_summaries(const struct insight_status *, const struct insight_status *);
static bool same_conditions(const struct insight_plan *, const struct insight_status *);
static bool same(struct wire_str, struct wire_str);

/* The first rule whose facts are all true, or all false, decides; the last three rules cover the rest. */
static const struct {
	unsigned	  all_true, all_false;
	enum insight_verb verb;
	int64_t		  after_ms;
	const char	 *why;
} rules[] = {
	{ 0,                ENABLED,          INSIGHT_NOTHING, 0, "disabled: stored insights are left alone" },
	{ 0,                SYNCED,           INSIGHT_WAIT,    0, "the first snapshot is not complete" },
	{ ABSENT,           0,                INSIGHT_WAIT,    0, "the CRD is not installed" },
	{ FORBIDDEN,        0,                INSIGHT_WAIT,    0, "reading the insights is forbidden" },
	{ 0,                LISTED,           INSIGHT_WAIT,    0, "the first list of the insights is not complete" },
	{ 0,                DESIRED | STORED, INSIGHT_NOTHING, 0, "neither desired nor stored" },
	{ DELETING,         0,                INSIGHT_WAIT,    0, "it is being deleted" },
	{ DESIRED | STORED, DIFFERS,          INSIGHT_NOTHING, 0, "the stored status is the desired one" },
	{ 0,                DESIRED | FRESH,  INSIGHT_WAIT,    INSIGHT_REQUEUE_MS, "an input is stale: nothing is deleted" },
	{ REFUSED,          0,                INSIGHT_WAIT,    0, "the server refused it, and nothing has changed since" },
	{ 0,                LEADING,          INSIGHT_WAIT,    0, "this instance is not the leader" },
	{ HELD,             0,                INSIGHT_WAIT,    0, "the last write was forbidden" },
	{ STORED,           DESIRED,          INSIGHT_DELETE,  0, "its object was deleted, or is in no pool" },
	{ DESIRED,          STORED,           INSIGHT_CREATE,  0, "it does not exist yet" },
	{ DESIRED | STORED, 0,                INSIGHT_STATUS,  0, "the stored status differs" },
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

/*
 * What a write's outcome means for its key. A live read updates the mirror, which does not get new
 * versions of an object whose projected fields are unchanged.
 */
static const struct outcome_action actions[OUTCOME_MAX] = {
	[OUTCOME_OK]         = { .result = WORK_AFTER },	/* at once: the next step */
	[OUTCOME_CONFLICT]   = { .result = WORK_RETRY, .read_live = true },
	[OUTCOME_EXISTS]     = { .result = WORK_RETRY, .read_live = true },
	[OUTCOME_NOT_FOUND]  = { .result = WORK_AFTER, .after_ms = INSIGHT_REQUEUE_MS },
	[OUTCOME_FORBIDDEN]  = { .result = WORK_AFTER, .after_ms = INSIGHT_HOLD_MS, .hold = true },
	[OUTCOME_DENIED]     = { .result = WORK_AFTER, .after_ms = INSIGHT_HOLD_MS, .hold = true },
	[OUTCOME_NOT_LEADER] = { .result = WORK_DONE, .not_leader = true },
	[OUTCOME_INVALID]    = { .result = WORK_DONE, .refused = true },
	[OUTCOME_LIMITED]    = { .result = WORK_RETRY },
	[OUTCOME_BUSY]       = { .result = WORK_AFTER, .after_ms = INSIGHT_REQUEUE_MS },
	[OUTCOME_EXPIRED]    = { .result = WORK_AFTER, .after_ms = INSIGHT_REQUEUE_MS },
	[OUTCOME_UNKNOWN]    = { .result = WORK_RETRY, .read_live = true },
	[OUTCOME_FAILED]     = { .result = WORK_RETRY },
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
	out->after_ms = rules[i].all_true == HELD ? s->hold_ms : rules[i].after_ms;
}

const char *
insight_verb_name(enum insight_verb v)
{
	return (unsigned)v < INSIGHT_VERB_MAX ? verb_names[v] : "?";
}

struct outcome_action
outcome_action(enum op op, enum outcome o, int64_t retry_after_ms)
{
	MUST((unsigned)o < OUTCOME_MAX);
	/* A live read follows a failed write: whatever it returned, the key backs off. */
	if (op == OP_GET)
		return (struct outcome_action){ .result = WORK_RETRY, .after_ms = retry_after_ms };
	struct outcome_action action = actions[o];
	if (action.after_ms < retry_after_ms)
		action.after_ms = retry_after_ms;
	return action;
}

static unsigned
facts_of(const struct insight_input *s, const struct insight_plan *p)
{
	const struct {
		bool		holds;
		enum fact	fact;
	} all[] = {
		{ s->enabled, ENABLED },
		{ s->synced, SYNCED },
		{ s->fresh, FRESH },
		{ s->state == KIND_STATE_ABSENT, ABSENT },
		{ s->state == KIND_STATE_FORBIDDEN, FORBIDDEN },
		{ s->state == KIND_STATE_SYNCED, LISTED },
		{ s->desired != NULL, DESIRED },
		{ s->stored != NULL, STORED },
		{ s->stored != NULL && s->deleting, DELETING },
		{ p->field[0] != '\0', DIFFERS },
		{ s->refused, REFUSED },
		{ s->leading, LEADING },
		{ s->hold_ms > 0, HELD },
	};
	unsigned facts = 0;

	for (size_t i = 0; i < NITEMS(all); i++)
		facts |= all[i].holds ? all[i].fact : 0;
	return facts;
}

/* ---- Condition times ---- */

static void
set_condition_times(const struct insight_input *s, struct insight_plan *out)
{
	const size_t len = time_format(s->now_us, out->now, sizeof(out->now));
	const struct wire_str now = { .p = out->now, .len = (uint32_t)len };

	for (uint32_t i = 0; i < s->desired->nconditions; i++) {
		struct insight_condition c = s->desired->conditions[i];
		const struct insight_condition *const old =
		    s->stored == NULL ? NULL : find_condition(s->stored, c.type);

		if (old != NULL && same(old->status, c.status) && is_time(old->time))
			c.time = old->time;
		else if (!is_time(c.time))
			c.time = now;
		out->conditions[out->nconditions++] = c;
	}
}

static const struct insight_condition *
find_condition(const struct insight_status *s, struct wire_str type)
{
	for (uint32_t i = 0; i < s->nconditions; i++) {
		if (same(s->conditions[i].type, type))
			return &s->conditions[i];
	}
	return NULL;
}

static bool
is_time(struct wire_str text)
{
	int64_t us;

	return text.len > 0 && time_parse(text.p, text.len, &us) && us != TIME_UNSET_US;
}

/* ---- Comparison of the desired with the stored status ---- */

static const char *
difference(const struct insight_input *s, const struct insight_plan *p)
{
	for (unsigned f = 0; f < FIELD_MAX; f++) {
		if (!same(s->desired->fields[f], s->stored->fields[f]))
			return status_fields[f].name;
	}
	if (!same_summaries(s->desired, s->stored))
		return "summaries";
	return same_conditions(p, s->stored) ? "" : "conditions";
}

static bool
same_summaries(const struct insight_status *a, const struct insight_status *b)
{
	if (a->nsummaries != b->nsummaries)
		return false;
	for (uint32_t i = 0; i < a->nsummaries; i++) {
		if (!same(a->summaries[i].type, b->summaries[i].type)
		    || !same(a->summaries[i].count, b->summaries[i].count))
			return false;
	}
	return true;
}

static bool
same_conditions(const struct insight_plan *p, const struct insight_status *stored)
{
	if (p->nconditions != stored->nconditions)
		return false;
	for (uint32_t i = 0; i < p->nconditions; i++) {
		const struct insight_condition *const a = &p->conditions[i];
		const struct insight_condition *const b = &stored->conditions[i];

		if (!same(a->type, b->type) || !same(a->status, b->status) || !same(a->reason, b->reason)
		    || !same(a->message, b->message) || !same(a->time, b->time))
			return false;
	}
	return true;
}

static bool
same(struct wire_str a, struct wire_str b)
{
	return wire_str_compare(a, b) == 0;
}
