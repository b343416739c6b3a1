/* supervisor/policy.c - restart, backoff, escalation, watchdog, stop budget, the list of deaths. Pure. */
#include "policy.h"

#include <stddef.h>

#include "err.h"
#include "random.h"

static const struct {
	const char	*name;
	bool		 death;
} causes[CAUSE_MAX] = {
#define CAUSE_ROW(ID, text, is_death) [CAUSE_##ID] = { .name = (text), .death = (is_death) },
	CAUSES(CAUSE_ROW)
};

static const enum cause cause_of_stop[STOP_REASON_MAX] = {
	[STOP_REASON_ORDERED] = CAUSE_ORDERED, [STOP_REASON_WATCHDOG] = CAUSE_WATCHDOG,
	[STOP_REASON_NOT_READY] = CAUSE_NOT_READY, [STOP_REASON_REPORTED] = CAUSE_REPORTED,
	[STOP_REASON_REPORT_LIMIT] = CAUSE_REPORT_LIMIT,
};

static bool burst(struct policy *, int64_t);
static int64_t backoff(struct policy *, int64_t, uint64_t *);

enum cause
policy_cause(const struct ending *e)
{
	if (e->stop_reason != STOP_REASON_NONE)
		return cause_of_stop[e->stop_reason];
	if (e->out_of_memory)
		return CAUSE_MEMORY;
	if (!e->exited)
		return CAUSE_SIGNAL;
	return e->code == EXIT_CONFIG ? CAUSE_CONFIG : CAUSE_EXIT;
}

const char *
policy_cause_name(enum cause c)
{
	return (unsigned)c < CAUSE_MAX ? causes[c].name : "?";
}

bool
policy_cause_is_death(enum cause c)
{
	return (unsigned)c < CAUSE_MAX && causes[c].death;
}

struct verdict
policy_death(struct policy *p, const struct life *l, int64_t now_ms, uint64_t *random)
{
	if (l->ready_ms >= POLICY_RESET_MS) {
		p->step = 0;
		p->free_used = false;
	}
	if (l->tree_stopping)
		return (struct verdict){ .verb = VERDICT_STAY_STOPPED, .why = "the tree is stopping" };
	if (l->cause == CAUSE_ORDERED)
		return (struct verdict){ .verb = VERDICT_RESTART, .why = "a restart was ordered" };
	if (l->cause == CAUSE_CONFIG)
		return (struct verdict){ .verb = VERDICT_FAILED, .escalate = l->core,
		    .why = "its configuration must change first" };
	if (l->restart == RESTART_TEMPORARY)
		return (struct verdict){ .verb = VERDICT_STAY_STOPPED, .why = "temporary: never restarted" };
	if (l->restart == RESTART_TRANSIENT && l->clean)
		return (struct verdict){ .verb = VERDICT_STAY_STOPPED, .why = "transient: it ended well" };

	const bool early = l->ready_ms < POLICY_HEALTHY_MS;
	/* One actor's reports must not be able to end the tree. */
	const bool counts = l->cause != CAUSE_REPORTED && l->cause != CAUSE_REPORT_LIMIT;
	if (early && counts && burst(p, now_ms) && l->core)
		return (struct verdict){ .verb = VERDICT_STAY_STOPPED, .escalate = true,
		    .why = "core actor in a crash loop" };
	return (struct verdict){ .verb = VERDICT_RESTART, .delay_ms = backoff(p, l->ready_ms, random),
	    .why = early ? "it died early" : "it had been ready" };
}

bool
policy_beats_missed(int64_t last_beat_ms, int64_t interval_ms, int64_t now_ms)
{
	return now_ms - last_beat_ms > interval_ms * POLICY_MISSED_BEATS;
}

bool
policy_unsynced(bool synced, int64_t bound_ms, int64_t now_ms)
{
	return !synced && now_ms - bound_ms >= POLICY_SYNC_MS;
}

int64_t
policy_lateness(int64_t planned_ms, int64_t now_ms)
{
	const int64_t late_ms = now_ms - planned_ms;

	return late_ms > POLICY_LATE_MS ? late_ms : 0;
}

int64_t
policy_rearm(int64_t deadline_ms, int64_t late_ms, int64_t now_ms)
{
	const int64_t moved_ms = deadline_ms + late_ms, soonest_ms = now_ms + POLICY_GRACE_MS;

	return moved_ms > soonest_ms ? moved_ms : soonest_ms;
}

int64_t
policy_stop_ms(int64_t row_ms, int64_t later_ms, int64_t left_ms)
{
	if (left_ms <= 0)
		return 0;
	if (row_ms + later_ms <= left_ms)
		return row_ms;
	return left_ms * row_ms / (row_ms + later_ms);
}

int64_t
policy_extend_ms(int64_t asked_ms, int64_t later_ms, int64_t left_ms)
{
	const int64_t most_ms = left_ms < 0 ? POLICY_EXTEND_MS : left_ms - later_ms;

	if (asked_ms < 0 || most_ms < 0)
		return 0;
	return earlier(asked_ms, most_ms);
}

/* A bad reporter must not be able to restart its peers in a loop. */
bool
policy_report_allowed(struct policy_reports *r, int64_t now_ms)
{
	int64_t *const oldest = &r->at_ms[r->count % POLICY_REPORTS];

	if (r->count >= POLICY_REPORTS && now_ms - *oldest < POLICY_REPORTS_MS)
		return false;
	*oldest = now_ms;
	r->count++;
	return true;
}

void
tally_add(struct tally *t, const struct death *d)
{
	t->count[d->cause]++;
	t->last[t->total % TALLY_LAST] = *d;
	t->total++;
}

const struct death *
tally_last(const struct tally *t, unsigned i)
{
	if (i >= TALLY_LAST || i >= t->total)
		return NULL;
	return &t->last[(t->total - 1 - i) % TALLY_LAST];
}

/* Notes an early death; true when this one and the four before it fell into the window. */
static bool
burst(struct policy *p, int64_t now_ms)
{
	p->early[p->nearly % POLICY_ESCALATE_DEATHS] = now_ms;
	p->nearly++;
	if (p->nearly < POLICY_ESCALATE_DEATHS)
		return false;
	const int64_t oldest = p->early[p->nearly % POLICY_ESCALATE_DEATHS];

	return now_ms - oldest <= POLICY_ESCALATE_MS;
}

static int64_t
backoff(struct policy *p, int64_t ready_ms, uint64_t *random)
{
	if (ready_ms >= POLICY_HEALTHY_MS && p->step == 0 && !p->free_used) {
		p->free_used = true;
		return 0;
	}
	int64_t delay_ms = POLICY_BACKOFF_FIRST_MS;
	for (unsigned i = 0; i < p->step && delay_ms < POLICY_BACKOFF_CAP_MS; i++)
		delay_ms *= 2;
	p->step++;
	return random_jitter(random, earlier(delay_ms, POLICY_BACKOFF_CAP_MS));
}
