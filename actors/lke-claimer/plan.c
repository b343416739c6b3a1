/* actors/lke-claimer/plan.c - decides for one pool key. Pure. */
#include "plan.h"

#include "obj.h"

/* What the rules are about. */
struct view {
	const struct lke_plan_input	*in;
	uint32_t			*assign;
	uint32_t			 members;	/* machines that are there and stay */
	uint32_t			 waiting;	/* claims without a machine that can be assigned */
	uint32_t			 claimable;	/* machines that are left over */
	uint32_t			 coming;
	int64_t				 need;		/* machines to make */
	uint32_t			 unread;	/* a choice depends on its Pods; LKE_NONE: none */
};

static const char *violation(const struct lke_plan_input *);
static void match(struct view *);
static bool pods_matter(struct view *);
static uint32_t next_claimable(const struct view *, uint32_t, bool);
static bool claimable(const struct view *, uint32_t);
static bool waits(const struct lke_plan_claim *);
static void assign_reserved(struct view *);
static bool plan_intent(const struct view *, struct lke_plan *);
static bool plan_growth(const struct view *, struct lke_plan *);
static bool intended(const struct lke_plan_input *, enum lke_intent_kind, int64_t);
static bool plan_removal(const struct view *, struct lke_plan *);
static uint32_t find_removable(const struct view *, bool *);
static bool pool_may_go(const struct view *);
static bool may_go(const struct view *, uint32_t, bool *);
static uint32_t owner(const struct view *, uint32_t);
static void plan_orphan_node(const struct view *, struct lke_plan *);
static int64_t next_list(const struct lke_plan_input *);

static const char *const verb_names[LKE_VERB_MAX] = {
#define LKE_VERB_ROW(ID, name) [LKE_##ID] = (name),
	LKE_VERBS(LKE_VERB_ROW)
#undef LKE_VERB_ROW
};

void
lke_plan(const struct lke_plan_input *in, uint32_t *assign, struct lke_plan *out)
{
	struct view v = { .in = in, .assign = assign, .unread = LKE_NONE };

	*out = (struct lke_plan){ .verb = LKE_NOTHING, .why = "every claim has its machine",
		.retry_at_ms = INT64_MAX, .instance = LKE_NONE, .orphan = LKE_NONE };
	for (uint32_t i = 0; i < in->nclaims; i++)
		assign[i] = LKE_NONE;
	if (!in->listed) {
		out->verb = LKE_LIST;
		out->why = "no snapshot of the cluster is there";
		out->retry_at_ms = in->now_ms;
		return;
	}
	const char *const wrong = violation(in);
	if (wrong != NULL) {
		/* Only another list can show that it is gone. */
		out->verb = LKE_STOP;
		out->why = wrong;
		out->retry_at_ms = next_list(in);
		return;
	}
	match(&v);
	out->waiting = v.waiting;
	out->claimable = v.claimable;
	out->coming = v.coming;
	if (v.unread != LKE_NONE) {
		out->verb = LKE_WAIT;
		out->why = "whether the Node of an unclaimed machine runs Pods decides who gets it";
		out->orphan = v.unread;
		out->orphan_step = LKE_ORPHAN_READ_PODS;
		return;
	}
	plan_orphan_node(&v, out);
	if (in->mutating) {
		out->verb = LKE_WAIT;
		out->why = "a mutation of the pool is in flight";
	} else if (!plan_intent(&v, out) && !plan_growth(&v, out) && !plan_removal(&v, out)
	    && v.waiting > 0) {
		out->verb = LKE_LIST;
		out->why = "machines are on their way";
		out->retry_at_ms = next_list(in);
	}
}

const char *
lke_verb_name(enum lke_verb v)
{
	return (unsigned)v < LKE_VERB_MAX ? verb_names[v] : "?";
}

/* ---- C7 ---- */

static const char *
violation(const struct lke_plan_input *in)
{
	if (in->pools > 1)
		return "two pools have the tags and the type of this key";
	for (uint32_t i = 0; i < in->ninstances; i++) {
		if (in->instances[i].tags > 1)
			return "a machine has the tags of two NodeClaims";
	}
	for (uint32_t i = 0; i < in->nclaims; i++) {
		const struct lke_plan_claim *const c = &in->claims[i];

		if (c->same_tag)
			return "the names of two NodeClaims give the same tag";
		if (c->tagged > 1)
			return "two machines have the tag of one NodeClaim";
		if (c->tagged == 1 && c->provider_id != 0 && c->provider_id != c->tagged_id)
			return "a NodeClaim's providerID and its tag name different machines";
	}
	return NULL;
}

/* ---- Who gets which machine ---- */

static void
match(struct view *v)
{
	const struct lke_plan_input *const in = v->in;
	uint32_t next[2];

	for (uint32_t i = 0; i < in->ninstances; i++)
		v->members += !in->instances[i].leaving;
	assign_reserved(v);
	if (pods_matter(v))
		return;
	/* Machines that run Pods first, then by ascending id. */
	next[0] = next_claimable(v, 0, true);
	next[1] = next_claimable(v, 0, false);
	for (uint32_t i = 0; i < in->nclaims; i++) {
		const struct lke_plan_claim *const c = &in->claims[i];

		if (!waits(c) || v->assign[i] != LKE_NONE)
			continue;
		const bool pods = next[0] != LKE_NONE;
		if (!pods && next[1] == LKE_NONE) {
			v->waiting++;
			continue;
		}
		v->assign[i] = next[!pods];
		next[!pods] = next_claimable(v, next[!pods] + 1, pods);
	}
	for (; next[0] != LKE_NONE; next[0] = next_claimable(v, next[0] + 1, true))
		v->claimable++;
	for (; next[1] != LKE_NONE; next[1] = next_claimable(v, next[1] + 1, false))
		v->claimable++;
	if (in->pools == 1 && in->count > v->members && !in->overdue)
		v->coming = (uint32_t)(in->count - v->members);
	v->need = (int64_t)v->waiting - v->coming;
}

/* C9: there are more machines than claims, and of one it is not known whether it runs Pods. */
static bool
pods_matter(struct view *v)
{
	uint32_t waiting = 0, free = 0, unread = 0;

	for (uint32_t i = 0; i < v->in->nclaims; i++)
		waiting += waits(&v->in->claims[i]) && v->assign[i] == LKE_NONE;
	for (uint32_t i = 0; i < v->in->ninstances && waiting > 0; i++) {
		if (!claimable(v, i))
			continue;
		free++;
		if (v->in->instances[i].pods_unread && unread++ == 0)
			v->unread = i;
	}
	if (free <= waiting || unread > LKE_READ_PODS_MAX)
		v->unread = LKE_NONE;
	return v->unread != LKE_NONE;
}

/* A recorded assignment stands for as long as its machine may be there. */
static void
assign_reserved(struct view *v)
{
	const struct lke_plan_input *const in = v->in;

	for (uint32_t i = 0; i < in->nclaims; i++) {
		const struct lke_plan_claim *const c = &in->claims[i];

		if (c->deleting || c->reserved == 0 || c->tagged > 0 || c->provider_id != 0)
			continue;
		for (uint32_t k = 0; k < in->ninstances; k++) {
			const struct lke_plan_instance *const m = &in->instances[k];

			if (m->id == c->reserved && !m->leaving && m->tags == 0)
				v->assign[i] = k;
		}
	}
}

/* It has no machine, and none is recorded for it that may still be there. */
static bool
waits(const struct lke_plan_claim *c)
{
	return c->held && !c->deleting && c->tagged == 0 && c->provider_id == 0
	    && (c->reserved == 0 || c->reserved_gone);
}

static uint32_t
next_claimable(const struct view *v, uint32_t from, bool pods)
{
	for (uint32_t i = from; i < v->in->ninstances; i++) {
		if (v->in->instances[i].pods == pods && claimable(v, i))
			return i;
	}
	return LKE_NONE;
}

static bool
claimable(const struct view *v, uint32_t i)
{
	const struct lke_plan_instance *const m = &v->in->instances[i];
	/* It may still arrive, and take every machine of the pool. */
	const bool deleted = v->in->intent == LKE_INTENT_SENT && v->in->intent_kind == LKE_INTEND_DELETE;

	return !deleted && !m->leaving && !m->suspect && m->tags == 0 && owner(v, i) == LKE_NONE;
}

/* The claim that a machine belongs to, by its tag, a reservation or a providerID. */
static uint32_t
owner(const struct view *v, uint32_t i)
{
	const int64_t id = v->in->instances[i].id;

	for (uint32_t k = 0; k < v->in->nclaims; k++) {
		const struct lke_plan_claim *const c = &v->in->claims[k];

		if ((c->tagged > 0 && c->tagged_id == id) || c->provider_id == id
		    || (c->reserved == id && !c->reserved_gone))
			return k;
	}
	return LKE_NONE;
}

/* ---- The pool grows ---- */

/* True: an intent decides what is next. */
static bool
plan_intent(const struct view *v, struct lke_plan *out)
{
	const struct lke_plan_input *const in = v->in;

	if (in->intent == LKE_INTENT_ENDED) {
		out->verb = LKE_FORGET;
		out->why = "the outcome of the call is known";
		return true;
	}
	if (in->intent == LKE_INTENT_READY && v->need <= 0 && !pool_may_go(v)) {
		out->verb = LKE_FORGET;
		out->why = "what was intended is not needed any more";
		return true;
	}
	if (in->intent != LKE_INTENT_SENT)
		return false;
	const bool done = in->intent_kind == LKE_INTEND_CREATE ? in->pools == 1
	    : in->intent_kind == LKE_INTEND_DELETE ? in->pools == 0
	    : in->pools == 1 && in->count >= in->intent_count;
	if (in->current && !in->doubtful && done) {
		out->verb = LKE_FORGET;
		out->why = "the list shows the effect of the call";
		return true;
	}
	if (in->current && in->settled && in->settled_list && !in->doubtful) {
		out->verb = LKE_FORGET;
		out->why = "the call has had no effect";
		return true;
	}
	out->verb = LKE_LIST;
	out->why = "whether the call has had an effect is not known";
	/* The first list soon, the one that decides when no call can be on its way any more. */
	out->retry_at_ms = !in->current || in->settled ? next_list(in) : in->settled_at_ms;
	return true;
}

static bool
plan_growth(const struct view *v, struct lke_plan *out)
{
	const struct lke_plan_input *const in = v->in;
	const bool creates = in->pools == 0;
	const int64_t count = creates ? v->need : in->count + v->need;

	if (v->need <= 0)
		return false;
	out->kind = creates ? LKE_INTEND_CREATE : LKE_INTEND_SCALE;
	out->count = count;
	out->verb = LKE_WAIT;
	if (!in->nodepool) {
		out->why = "the NodePool does not exist, or its class is not ready: nothing is made";
	} else if (!in->current) {
		out->verb = LKE_LIST;
		out->why = "the snapshot is older than the last call";
		out->retry_at_ms = next_list(in);
	} else if (in->doubtful) {
		out->verb = LKE_LIST;
		out->why = "the list lost more than half of its entries, and no second list confirms it";
		out->retry_at_ms = next_list(in);
	} else if (!intended(in, out->kind, count)) {
		out->verb = LKE_INTEND;
		out->why = "the intent comes before the call";
	} else if (!in->open) {
		out->why = "neither fence nor budget let a call start";
		out->retry_at_ms = in->retry_at_ms;
	} else {
		out->verb = creates ? LKE_CREATE : LKE_SCALE;
		out->count = in->intent_count;
		out->why = creates ? "claims wait, and there is no pool"
				   : "claims wait, and nothing is claimable";
	}
	return true;
}

/* For that many, or for fewer: claims that came since then do not delay the call. */
static bool
intended(const struct lke_plan_input *in, enum lke_intent_kind kind, int64_t count)
{
	return in->intent == LKE_INTENT_READY && in->intent_kind == kind && in->intent_count <= count
	    && in->intent_count > (kind == LKE_INTEND_CREATE ? 0 : in->count);
}

/* ---- Machines go ---- */

static bool
plan_removal(const struct view *v, struct lke_plan *out)
{
	const struct lke_plan_input *const in = v->in;
	const uint32_t i = find_removable(v, &out->own);
	/* The last two nodes went one by one, because a list had a count that was too high. */
	const bool empty = in->pools == 1 && in->count == 0 && pool_may_go(v);

	if (i == LKE_NONE && !empty)
		return false;
	out->verb = LKE_WAIT;
	if (!in->current || in->now_ms - in->begun_ms > LKE_LIVE_MS) {
		out->verb = LKE_LIST;
		out->why = "a deletion needs a live list";
		out->retry_at_ms = in->now_ms;
	} else if (!in->open || (out->own && in->braked)) {
		out->why = "neither fence, budget nor brake let a deletion start";
		out->retry_at_ms = in->retry_at_ms;
	} else if (pool_may_go(v)) {
		out->kind = LKE_INTEND_DELETE;
		out->verb = in->intent == LKE_INTENT_READY && in->intent_kind == LKE_INTEND_DELETE
		    ? LKE_DELETE_POOL : LKE_INTEND;
		out->why = empty ? "no machine is in the pool, and none is on its way"
				 : "every machine of the pool goes, and none is on its way";
	} else if (in->instances[i].node_id[0] == '\0') {
		out->verb = LKE_LIST;
		out->why = "the LKE node of the machine is not listed yet";
		out->retry_at_ms = next_list(in);
	} else {
		out->verb = LKE_DELETE_NODE;
		out->why = out->own ? "nobody has claimed the machine" : "its claim is being deleted";
		out->instance = i;
	}
	return true;
}

/* Claims that somebody deleted come first. *own: nobody did. */
static uint32_t
find_removable(const struct view *v, bool *own)
{
	uint32_t orphan = LKE_NONE;

	for (uint32_t i = 0; i < v->in->ninstances; i++) {
		bool o;

		if (!may_go(v, i, &o))
			continue;
		if (!o) {
			*own = false;
			return i;
		}
		if (orphan == LKE_NONE)
			orphan = i;
	}
	*own = orphan != LKE_NONE;
	return orphan;
}

static bool
may_go(const struct view *v, uint32_t i, bool *own)
{
	const struct lke_plan_instance *const m = &v->in->instances[i];
	const uint32_t c = owner(v, i);

	*own = c == LKE_NONE;
	if (m->leaving)
		return false;
	if (c != LKE_NONE)
		return v->in->claims[c].removable;
	for (uint32_t k = 0; k < v->in->nclaims; k++) {
		if (v->assign[k] == i)
			return false;
	}
	/* Never on the strength of a doubtful list, never while a claim could use it. */
	return (m->tags == 0 || m->ownerless) && m->expired && m->drained && !v->in->doubtful
	    && (m->joined || !v->in->took_over);
}

/* C19: all machines of the pool go, and nothing else is or will be in it. */
static bool
pool_may_go(const struct view *v)
{
	if (v->in->pools != 1 || v->in->doubtful || v->waiting > 0
	    || v->in->count > v->members)
		return false;
	for (uint32_t i = 0; i < v->in->ninstances; i++) {
		bool own;

		if (!v->in->instances[i].leaving && (!may_go(v, i, &own) || (own && v->in->braked)))
			return false;
	}
	for (uint32_t i = 0; i < v->in->nclaims; i++) {
		const struct lke_plan_claim *const c = &v->in->claims[i];

		/* A claim of the key that has reserved a machine, or waits for one, keeps it. */
		if (v->assign[i] != LKE_NONE
		    || (c->reserved != 0 && !c->reserved_gone && !c->removable && !c->other_key))
			return false;
	}
	return true;
}

/* C9: Karpenter plans Pods onto a Node that no claim has, so it is tainted, and drained before it goes. */
static void
plan_orphan_node(const struct view *v, struct lke_plan *out)
{
	for (uint32_t i = 0; i < v->in->ninstances && out->orphan == LKE_NONE; i++) {
		const struct lke_plan_instance *const m = &v->in->instances[i];
		bool assigned = m->leaving || !m->joined || owner(v, i) != LKE_NONE;

		for (uint32_t k = 0; k < v->in->nclaims && !assigned; k++)
			assigned = v->assign[k] == i;
		if (assigned || (m->tags > 0 && !m->ownerless))
			continue;
		if (!m->tainted)
			out->orphan_step = LKE_ORPHAN_TAINT;
		else if (m->expired && !m->drained && !v->in->doubtful)
			out->orphan_step = LKE_ORPHAN_DRAIN;
		else
			continue;
		out->orphan = i;
	}
}

/* ---- Lists ---- */

/*
 * Evenly at first, at the least distance of C6; later by the time that was waited, so that what has come is
 * seen after an eighth more than it took, in both tiers.
 */
static int64_t
next_list(const struct lke_plan_input *in)
{
	const int64_t least = in->intent == LKE_INTENT_SENT ? LKE_SCALED_MS : LKE_PROVISION_MS;
	const int64_t share = (in->begun_ms - in->waits_ms) / LKE_LIST_SHARE;
	const int64_t apart = share < least ? least
	    : share < LKE_LIST_MAX_MS ? share : LKE_LIST_MAX_MS;

	return in->begun_ms + apart > in->now_ms ? in->begun_ms + apart : in->now_ms;
}
