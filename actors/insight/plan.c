/* actors/insight/plan.c - what to do about one insight. Pure. */
#include "plan.h"

#include "obj.h"

/* What a scene comes down to. */
enum fact {
	ON	  = 1 << 0,
	SYNCED	  = 1 << 1,
	FRESH	  = 1 << 2,
	ABSENT	  = 1 << 3,	/* the CRD */
	FORBIDDEN = 1 << 4,
	LISTED	  = 1 << 5,
	WANTED	  = 1 << 6,	/* node-state knows its object */
	STORED	  = 1 << 7,
	GOING	  = 1 << 8,
	WRONG	  = 1 << 9,
	REFUSED	  = 1 << 10,
	LEADING	  = 1 << 11,
	HELD	  = 1 << 12,
};

#define DOUBT	"a picture is not current: nothing is deleted on its word"

static unsigned facts_of(const struct insight_scene *, const struct insight_plan *);
static void set_times(const struct insight_scene *, struct insight_plan *);
static const struct condition *find(const struct status *, struct wire_str);
static bool is_time(struct wire_str);
static const char *difference(const struct insight_scene *, const struct insight_plan *);
static bool same_summaries(const struct status *, const struct status *);
static bool same_conditions(const struct insight_plan *, const struct status *);
static bool same(struct wire_str, struct wire_str);

/* The first whose facts are all there, or all missing, decides; the last three leave nothing out. */
static const struct {
	unsigned	  there, missing;
	enum insight_verb verb;
	int64_t		  after_ms;
	const char	 *why;
} rules[] = {
	{ 0,               ON,              INSIGHT_NOTHING, 0, "switched off: what is there is left alone" },
	{ 0,               SYNCED,          INSIGHT_WAIT,    0, "the first complete picture is still to come" },
	{ ABSENT,          0,               INSIGHT_WAIT,    0, "the CRD is not installed" },
	{ FORBIDDEN,       0,               INSIGHT_WAIT,    0, "the cluster does not let us read the insights" },
	{ 0,               LISTED,          INSIGHT_WAIT,    0, "the insights are still being listed" },
	{ 0,               WANTED | STORED, INSIGHT_NOTHING, 0, "not wanted, and not there" },
	{ GOING,           0,               INSIGHT_WAIT,    0, "it is being deleted" },
	{ WANTED | STORED, WRONG,           INSIGHT_NOTHING, 0, "it is as it should be" },
	{ 0,               WANTED | FRESH,  INSIGHT_WAIT,    INSIGHT_LOOK_MS, DOUBT },
	{ REFUSED,         0,               INSIGHT_WAIT,    0, "the server refused it, and nothing has changed since" },
	{ 0,               LEADING,         INSIGHT_WAIT,    0, "the Lease is not ours" },
	{ HELD,            0,               INSIGHT_WAIT,    0, "the cluster did not allow it lately" },
	{ STORED,          WANTED,          INSIGHT_DELETE,  0, "its object is gone, or in no pool" },
	{ WANTED,          STORED,          INSIGHT_CREATE,  0, "there is none yet" },
	{ WANTED | STORED, 0,               INSIGHT_STATUS,  0, "it is not as it should be" },
};

static const char *const verb_names[INSIGHT_VERB_MAX] = {
	[INSIGHT_NOTHING] = "nothing", [INSIGHT_CREATE] = "create", [INSIGHT_STATUS] = "status",
	[INSIGHT_DELETE] = "delete", [INSIGHT_WAIT] = "wait",
};

/*
 * Of a write. Reading live brings back what the mirror lacks: it is not told of versions without
 * news in them.
 */
static const struct insight_next nexts[OUTCOME_MAX] = {
	[OUTCOME_OK]         = { .result = WORK_AFTER },	/* at once: the next step, or all is well */
	[OUTCOME_CONFLICT]   = { .result = WORK_RETRY, .read_live = true },
	[OUTCOME_EXISTS]     = { .result = WORK_RETRY, .read_live = true },
	[OUTCOME_NOT_FOUND]  = { .result = WORK_AFTER, .after_ms = INSIGHT_LOOK_MS },
	[OUTCOME_FORBIDDEN]  = { .result = WORK_AFTER, .after_ms = INSIGHT_HOLD_MS, .hold = true },
	[OUTCOME_DENIED]     = { .result = WORK_AFTER, .after_ms = INSIGHT_HOLD_MS, .hold = true },
	[OUTCOME_NOT_LEADER] = { .result = WORK_DONE, .stand_by = true },
	[OUTCOME_INVALID]    = { .result = WORK_DONE, .refused = true },
	[OUTCOME_LIMITED]    = { .result = WORK_RETRY },
	[OUTCOME_BUSY]       = { .result = WORK_AFTER, .after_ms = INSIGHT_LOOK_MS },
	[OUTCOME_EXPIRED]    = { .result = WORK_AFTER, .after_ms = INSIGHT_LOOK_MS },
	[OUTCOME_UNKNOWN]    = { .result = WORK_RETRY, .read_live = true },
	[OUTCOME_FAILED]     = { .result = WORK_RETRY },
};

void
insight_plan(const struct insight_scene *s, struct insight_plan *out)
{
	*out = (struct insight_plan){ .field = "" };
	if (s->state != NULL)
		set_times(s, out);
	if (s->state != NULL && s->stored != NULL)
		out->field = difference(s, out);
	const unsigned facts = facts_of(s, out);
	size_t i = 0;
	while (i < NITEMS(rules)
	    && ((facts & rules[i].there) != rules[i].there || (facts & rules[i].missing) != 0))
		i++;
	MUST(i < NITEMS(rules));
	out->verb = rules[i].verb;
	out->why = rules[i].why;
	out->after_ms = rules[i].there == HELD ? s->hold_ms : rules[i].after_ms;
}

const char *
insight_verb_name(enum insight_verb v)
{
	return (unsigned)v < INSIGHT_VERB_MAX ? verb_names[v] : "?";
}

struct insight_next
insight_next(enum op op, enum outcome o, int64_t retry_after_ms)
{
	MUST((unsigned)o < OUTCOME_MAX);
	/* Looking live is the second half of what went wrong before: whatever it brought, that backs off. */
	if (op == OP_GET)
		return (struct insight_next){ .result = WORK_RETRY, .after_ms = retry_after_ms };
	struct insight_next next = nexts[o];
	if (next.after_ms < retry_after_ms)
		next.after_ms = retry_after_ms;
	return next;
}

static unsigned
facts_of(const struct insight_scene *s, const struct insight_plan *p)
{
	const struct {
		bool		holds;
		enum fact	fact;
	} all[] = {
		{ s->on, ON },
		{ s->synced, SYNCED },
		{ s->fresh, FRESH },
		{ s->kind == KIND_STATE_ABSENT, ABSENT },
		{ s->kind == KIND_STATE_FORBIDDEN, FORBIDDEN },
		{ s->kind == KIND_STATE_SYNCED, LISTED },
		{ s->state != NULL, WANTED },
		{ s->stored != NULL, STORED },
		{ s->stored != NULL && s->deleting, GOING },
		{ p->field[0] != '\0', WRONG },
		{ s->refused, REFUSED },
		{ s->leading, LEADING },
		{ s->hold_ms > 0, HELD },
	};
	unsigned facts = 0;

	for (size_t i = 0; i < NITEMS(all); i++)
		facts |= all[i].holds ? all[i].fact : 0;
	return facts;
}

/* ---- Times ---- */

static void
set_times(const struct insight_scene *s, struct insight_plan *out)
{
	const size_t len = time_format(s->now_us, out->now, sizeof(out->now));
	const struct wire_str now = { .p = out->now, .len = (uint32_t)len };

	for (uint32_t i = 0; i < s->state->nconditions; i++) {
		struct condition c = s->state->conditions[i];
		const struct condition *const old = s->stored == NULL ? NULL : find(s->stored, c.type);

		if (old != NULL && same(old->status, c.status) && is_time(old->time))
			c.time = old->time;
		else if (!is_time(c.time))
			c.time = now;
		out->conditions[out->nconditions++] = c;
	}
}

static const struct condition *
find(const struct status *s, struct wire_str type)
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

/* ---- Is it as it should be ---- */

static const char *
difference(const struct insight_scene *s, const struct insight_plan *p)
{
	for (unsigned f = 0; f < FIELD_MAX; f++) {
		if (!same(s->state->fields[f], s->stored->fields[f]))
			return field_table[f].name;
	}
	if (!same_summaries(s->state, s->stored))
		return "summaries";
	return same_conditions(p, s->stored) ? "" : "conditions";
}

static bool
same_summaries(const struct status *a, const struct status *b)
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
same_conditions(const struct insight_plan *p, const struct status *stored)
{
	if (p->nconditions != stored->nconditions)
		return false;
	for (uint32_t i = 0; i < p->nconditions; i++) {
		const struct condition *const a = &p->conditions[i], *const b = &stored->conditions[i];

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
