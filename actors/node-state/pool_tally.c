/* actors/node-state/pool_tally.c - the totals of a pool's nodes, and the state of the pool. Pure. */
#include "pool_tally.h"

#include "obj.h"

#define SUMMARY_ROW(ID, name)	[SUMMARY_##ID] = name,
static const char *const summary_names[SUMMARY_MAX] = { POOL_SUMMARIES(SUMMARY_ROW) };

#define ASSESSMENT_ROW(ID, name)	[POOL_IS_##ID] = name,
static const char *const assessment_names[POOL_ASSESSMENT_MAX] = { POOL_ASSESSMENTS(ASSESSMENT_ROW) };

/* A status with its reason and text; fixed, so that a changed count does not change a condition. */
struct condition_text {
	const char	*status, *reason, *message;
};

static const struct condition_text progressing = { "True", "Progressing", "Nodes of the pool are updating" };
static const struct condition_text updating[POOL_ASSESSMENT_MAX] = {
	[POOL_IS_DEGRADED]    = { "False", "Pending", "The update of the pool does not progress" },
	[POOL_IS_EXCLUDED]    = { "False", "Paused",  "The pool is paused with outdated nodes" },
	[POOL_IS_PROGRESSING] = { "True", "Progressing", "Nodes of the pool are updating" },
	[POOL_IS_COMPLETED]   = { "False", "Updated", "All nodes of the pool are updated" },
	[POOL_IS_PENDING]     = { "False", "Pending", "The update of the pool is pending" },
};

static const struct condition_text empty = { "True", "NoNodes", "The pool has no nodes" };
static const struct condition_text healthy[POOL_ASSESSMENT_MAX] = {
	[POOL_IS_DEGRADED]    = { "False", "NodesDegraded", "Nodes of the pool are degraded" },
	[POOL_IS_EXCLUDED]    = { "True", "Paused", "The pool is paused" },
	[POOL_IS_PROGRESSING] = { "True", "NoProblems", "No node of the pool is degraded" },
	[POOL_IS_COMPLETED]   = { "True", "AllNodesUpdated", "All nodes of the pool are updated" },
	[POOL_IS_PENDING]     = { "True", "NoProblems", "No node of the pool is degraded" },
};

static enum pool_assessment assess_pool(const struct pool_tally *, bool);
static uint32_t active(const struct pool_tally *);
static struct state_condition condition(const char *, const struct condition_text *);
static void count_to_text(struct pool_summary_row *);

void
pool_tally_add(struct pool_tally *t, const struct tally_node *n)
{
	MUST(n->phase < PHASE_MAX && t->total < UINT32_MAX);
	t->total++;
	t->phases[n->phase]++;
	t->degraded += n->degraded;
	t->available += n->available;
	t->outdated += n->outdated;
}

void
pool_tally_remove(struct pool_tally *t, const struct tally_node *n)
{
	MUST(n->phase < PHASE_MAX && t->total > 0 && t->phases[n->phase] > 0);
	MUST(t->degraded >= n->degraded && t->available >= n->available && t->outdated >= n->outdated);
	t->total--;
	t->phases[n->phase]--;
	t->degraded -= n->degraded;
	t->available -= n->available;
	t->outdated -= n->outdated;
}

struct tally_node
tally_node_of(const struct assess *a)
{
	return (struct tally_node){
		.phase = a->phase,
		.degraded = a->degraded,
		.available = a->available,
		.outdated = a->outdated,
	};
}

void
pool_tally_report(const struct pool_tally *t, bool paused, struct pool_report *out)
{
	const uint32_t counts[SUMMARY_MAX] = {
		[SUMMARY_TOTAL]       = t->total,
		[SUMMARY_AVAILABLE]   = t->available,
		[SUMMARY_PROGRESSING] = t->phases[PHASE_UPDATING] + t->phases[PHASE_REBOOTING],
		[SUMMARY_OUTDATED]    = t->outdated,
		[SUMMARY_DRAINING]    = t->phases[PHASE_DRAINING],
		[SUMMARY_EXCLUDED]    = t->phases[PHASE_PAUSED],
		[SUMMARY_DEGRADED]    = t->degraded,
	};
	const enum pool_assessment is = assess_pool(t, paused);
	const bool moving = is == POOL_IS_DEGRADED && active(t) > 0;

	*out = (struct pool_report){ .assessment = is, .name = assessment_names[is] };
	if (t->total > 0)
		out->percent = (int64_t)t->phases[PHASE_COMPLETED] * 100 / t->total;
	for (unsigned i = 0; i < SUMMARY_MAX; i++) {
		out->summaries[i] = (struct pool_summary_row){ .type = summary_names[i], .count = counts[i] };
		count_to_text(&out->summaries[i]);
	}
	out->conditions[POOL_UPDATING] = condition("Updating", moving ? &progressing : &updating[is]);
	out->conditions[POOL_HEALTHY] = condition("Healthy", t->total == 0 ? &empty : &healthy[is]);
}

/* The order of the tests matters. */
static enum pool_assessment
assess_pool(const struct pool_tally *t, bool paused)
{
	if (t->degraded > 0)
		return POOL_IS_DEGRADED;
	if (paused && t->outdated > 0)
		return POOL_IS_EXCLUDED;
	if (active(t) > 0)
		return POOL_IS_PROGRESSING;
	if (t->total > 0 && t->phases[PHASE_COMPLETED] == t->total)
		return POOL_IS_COMPLETED;
	return POOL_IS_PENDING;
}

static uint32_t
active(const struct pool_tally *t)
{
	return t->phases[PHASE_DRAINING] + t->phases[PHASE_UPDATING] + t->phases[PHASE_REBOOTING];
}

static struct state_condition
condition(const char *type, const struct condition_text *s)
{
	return (struct state_condition){
		.type = type, .status = s->status, .reason = s->reason, .message = wire_str_of(s->message),
		.since = { .p = "" },
	};
}

static void
count_to_text(struct pool_summary_row *row)
{
	char digits[12];
	unsigned n = 0, i = 0;

	for (uint32_t left = row->count; left > 0 || n == 0; left /= 10)
		digits[n++] = (char)('0' + left % 10);
	while (n > 0)
		row->text[i++] = digits[--n];
	row->text[i] = '\0';
}
