/* actors/lke-claimer/meters.c - the metrics of lke-claimer itself (include/stat_names.h). */
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "kube/time.h"
#include "stat.h"

static enum lke_state state_of(const struct claim_view *);
static void launched(const struct claim_view *);
static void set(enum stat_id, const char *, unsigned);

static const char *const state_names[LKE_STATE_MAX] = {
#define LKE_STATE_ROW(ID, name) [LKE_STATE_##ID] = (name),
	LKE_STATES(LKE_STATE_ROW)
#undef LKE_STATE_ROW
};

/* All of them, also those that are 0: a panel must not have gaps. */
void
meters_tick(struct lke_claimer *c)
{
	struct lke_counts n = { .set = 1 };

	KEYTAB_EACH(c->claims, id)
		n.claims[(*(struct claim_memory **)keytab_value(c->claims, id))->state]++;
	KEYTAB_EACH(c->pools, id) {
		const struct pool_memory *const p = *(struct pool_memory **)keytab_value(c->pools, id);

		n.claimed += p->claimed;
		n.claimable += p->claimable;
		n.coming += p->coming;
		n.stopped += p->violation != NULL;
	}
	if (memcmp(&n, &c->counts, sizeof(n)) == 0)
		return;
	for (unsigned s = LKE_STATE_NONE + 1; s < LKE_STATE_MAX; s++)
		set(STAT_LKE_CLAIMS, state_names[s], n.claims[s]);
	set(STAT_LKE_MACHINES, "claimed", n.claimed);
	set(STAT_LKE_MACHINES, "unclaimed", n.claimable);
	set(STAT_LKE_MACHINES, "coming", n.coming);
	stat_set(stat_get(STAT_LKE_STOPPED, ""), n.stopped);
	c->counts = n;
}

static void
set(enum stat_id id, const char *state, unsigned n)
{
	char label[48];

	snprintf(label, sizeof(label), "state=\"%s\"", state);
	stat_set(stat_get(id, label), n);
}

void
meters_claim(struct claim_view *v)
{
	const enum lke_state before = v->memory->state;

	v->memory->state = v->in.exists ? state_of(v) : LKE_STATE_NONE;
	/* One that was launched before this process started has no time here. */
	if (before == LKE_STATE_WAITING && v->in.launched && v->c->r.leading)
		launched(v);
}

static enum lke_state
state_of(const struct claim_view *v)
{
	const struct lke_claim_input *const in = &v->in;

	if (!in->ours)
		return LKE_STATE_NONE;
	if (in->foreign)
		return LKE_STATE_FOREIGN;
	if (in->deleting)
		return LKE_STATE_DELETING;
	return in->initialized ? LKE_STATE_INITIALIZED : in->registered ? LKE_STATE_REGISTERED
	     : in->launched ? LKE_STATE_LAUNCHED : LKE_STATE_WAITING;
}

static void
launched(const struct claim_view *v)
{
	const struct wire_str created = v->body.node_claim.created;
	int64_t cluster_us, created_us;

	if (cluster_now_us(v->c, &cluster_us) && time_parse(created.p, created.len, &created_us)
	    && cluster_us >= created_us)
		stat_observe(stat_get(STAT_LKE_LAUNCH_TIME, ""), (double)(cluster_us - created_us) / 1e6);
}

void
meters_pool(struct pool_view *v)
{
	struct pool_memory *const m = v->memory;

	m->claimed = 0;
	for (uint32_t i = 0; i < v->in.ninstances; i++)
		m->claimed += v->instances[i].tags > 0 && !v->instances[i].leaving;
	m->claimable = v->plan.claimable;
	m->coming = v->plan.coming;
}

void
meters_warning(const char *reason)
{
	char label[64];

	snprintf(label, sizeof(label), "reason=\"%s\"", reason);
	stat_add(stat_get(STAT_LKE_WARNINGS, label), 1);
}

void
meters_orphans(unsigned removed)
{
	if (removed > 0)
		stat_add(stat_get(STAT_LKE_ORPHANS, ""), removed);
}
