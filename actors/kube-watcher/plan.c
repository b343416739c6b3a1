/* actors/kube-watcher/plan.c - admission of writes, and what their answers mean. Pure. */
#include "plan.h"

#include <string.h>

#include "obj.h"
#include "random.h"

enum { RESOURCE_MAX = 128 };

static const struct {
	enum verb	 verb;
	const char	*subresource;
} ops[OP_MAX] = {
#define OP_RIGHT(ID, name, verb_, subresource_) [OP_##ID] = {			\
		.verb = VERB_##verb_, .subresource = (subresource_) },
	OPS(OP_RIGHT)
};

static const uint32_t limits[BUDGET_MAX] = {
	[BUDGET_WRITES] = WRITES_PER_SENDER, [BUDGET_READS] = READS_PER_SENDER,
};

/*
 * What a status means for a mutation. Every 5xx is missing on purpose: behind a proxy, or when
 * etcd is slow, it may come after the deed.
 */
static const struct {
	int		 status;
	const char	*reason;	/* NULL: whatever it is */
	enum outcome	 outcome;
	const char	*why;
} statuses[] = {
	{ 400, NULL, OUTCOME_INVALID, "the server cannot parse the request" },
	{ 401, NULL, OUTCOME_FAILED, "the server does not accept the credential" },
	{ 403, NULL, OUTCOME_FORBIDDEN, "the cluster does not allow it" },
	{ 404, NULL, OUTCOME_NOT_FOUND, "no such object, or no such resource" },
	{ 405, NULL, OUTCOME_INVALID, "the server cannot do this to that resource" },
	{ 406, NULL, OUTCOME_INVALID, "the server has no such representation" },
	{ 409, "AlreadyExists", OUTCOME_EXISTS, "an object of that name is already there" },
	{ 409, NULL, OUTCOME_CONFLICT, "the object has changed, or is another one by now" },
	{ 410, NULL, OUTCOME_FAILED, "the resourceVersion is too old for the server" },
	{ 413, NULL, OUTCOME_INVALID, "it is too large" },
	{ 415, NULL, OUTCOME_INVALID, "the server does not take this kind of patch here" },
	{ 422, NULL, OUTCOME_INVALID, "the server refuses the content" },
	{ 429, NULL, OUTCOME_LIMITED, "the server limits requests" },
};

static bool has_right(const struct plan_write *);
static struct plan_verdict refused(enum outcome, const char *);
static struct plan_step try_slot(struct plan *, uint32_t, const struct lease *, int64_t);
static struct plan_step finish(struct plan *, uint32_t, enum outcome, const char *);
static struct plan_result evaluate_answer(const struct plan_slot *, const struct plan_answer *);
static enum plan_merge merge_of(const struct plan_slot *, enum plan_body);
static bool may_repeat(const struct plan_slot *, const struct plan_answer *, enum outcome);
static void cut_window(struct plan *, const struct plan_slot *, int64_t);
static void grow_window(struct plan *, const struct plan_slot *);
static void not_under_way(struct plan *, struct plan_slot *);
static int64_t backoff_ms(struct plan *, const struct plan_slot *, int64_t);
static void release(struct plan *, uint32_t);
static enum plan_budget budget_of(enum op);
static bool is_read(enum op);
static bool is_good(int);
static int64_t least(int64_t, int64_t);

void
plan_init(struct plan *p, double per_second, double burst, uint64_t seed, int64_t now_ms)
{
	bool can_write[ROLE_MAX] = { false };
	unsigned senders = 0;

	for (size_t i = 0; i < rights_count; i++) {
		senders += !can_write[rights_table[i].role];
		can_write[rights_table[i].role] = true;
	}
	MUST(senders <= PLAN_SENDERS_MAX);
	*p = (struct plan){ .random = seed, .quiet_ms = now_ms, .window = PLAN_WRITES_MAX,
	    .window_cut_ms = now_ms - 1 };
	for (size_t i = 0; i < BUDGET_MAX; i++)
		p->rates[i] = rate_new(per_second, burst, now_ms);
}

struct plan_verdict
plan_admit(struct plan *p, const struct plan_write *w, const struct lease *l, int64_t now_ms)
{
	uint32_t room = PLAN_WRITES_MAX;

	MUST((unsigned)w->op < OP_MAX && (unsigned)w->sender < ROLE_MAX);
	const enum plan_budget budget = budget_of(w->op);
	if (!has_right(w))
		return refused(OUTCOME_DENIED,
		    "rights.h does not list this verb on this resource for the sender");
	if (!is_read(w->op) && !lease_covers(l, 0, now_ms))
		return refused(OUTCOME_NOT_LEADER, "the Lease is not held");
	if (w->deadline_ms <= now_ms)
		return refused(OUTCOME_EXPIRED, "it came after its deadline");
	if (p->in_flight[w->sender][budget] >= limits[budget])
		return refused(OUTCOME_BUSY, "the sender has too many requests in flight");
	for (uint32_t i = 0; i < PLAN_WRITES_MAX; i++) {
		const struct plan_slot *s = &p->slots[i];

		if (!s->used)
			room = i < room ? i : room;
		else if (s->object == w->object && s->sender == w->sender && !is_read(s->op)
		    && !is_read(w->op))
			return refused(OUTCOME_BUSY, "the sender has a write of this object in flight");
	}
	MUST(room < PLAN_WRITES_MAX);	/* there is room for every sender's share */
	p->slots[room] = (struct plan_slot){
		.used = true, .sender = w->sender, .object = w->object, .op = w->op,
		.whole = w->subresource[0] == '\0' || strcmp(w->subresource, "status") == 0,
		.deadline_ms = least(w->deadline_ms, now_ms + PLAN_DEADLINE_MAX_MS),
		.at_ms = now_ms, .last = OUTCOME_EXPIRED,
	};
	p->count++;
	p->in_flight[w->sender][budget]++;
	return (struct plan_verdict){ .admitted = true, .slot = room };
}

struct plan_step
plan_next(struct plan *p, const struct lease *l, int64_t now_ms)
{
	struct plan_step soonest = { .verb = PLAN_WAIT, .at_ms = INT64_MAX };

	for (uint32_t n = 0; n < PLAN_WRITES_MAX && p->count > 0; n++) {
		const uint32_t i = (p->turn + n) % PLAN_WRITES_MAX;

		if (!p->slots[i].used || p->slots[i].sent)
			continue;
		const struct plan_step step = try_slot(p, i, l, now_ms);
		if (step.verb != PLAN_WAIT) {
			p->turn = i + 1;
			return step;
		}
		soonest.at_ms = least(soonest.at_ms, step.at_ms);
	}
	return soonest;
}

struct plan_result
plan_answered(struct plan *p, uint32_t slot, const struct plan_answer *a, int64_t now_ms)
{
	MUST(slot < PLAN_WRITES_MAX && p->slots[slot].used && p->slots[slot].sent);
	struct plan_slot *s = &p->slots[slot];
	struct plan_result r = evaluate_answer(s, a);

	not_under_way(p, s);
	if (a->retry_after_ms > 0)
		r.retry_after_ms = least(a->retry_after_ms, PLAN_RETRY_AFTER_MAX_MS);
	if (a->status == 429 && s->op != OP_EVICT)
		cut_window(p, s, now_ms);
	else if (is_good(a->status) && !is_read(s->op))
		grow_window(p, s);
	/* An eviction's 429 is about its disruption budget, not about us. */
	if (a->status == 429 && s->op != OP_EVICT && r.retry_after_ms > 0) {
		for (size_t i = 0; i < BUDGET_MAX; i++)
			rate_penalise(&p->rates[i], now_ms + r.retry_after_ms);
	}
	if (may_repeat(s, a, r.outcome)) {
		s->at_ms = now_ms + backoff_ms(p, s, r.retry_after_ms);
		s->last = r.outcome;
		s->tries++;
		r.again = s->at_ms < s->deadline_ms;
	}
	if (r.outcome == OUTCOME_UNKNOWN)
		p->quiet_ms = now_ms + PLAN_LINGER_MS;
	if (!r.again)
		release(p, slot);
	return r;
}

bool
plan_forget(struct plan *p, uint32_t slot, bool in_flight)
{
	MUST(slot < PLAN_WRITES_MAX && p->slots[slot].used && (p->slots[slot].sent || !in_flight));
	if (!in_flight)
		release(p, slot);
	else
		p->slots[slot].orphan = true;
	return !in_flight;
}

uint32_t
plan_under_way(const struct plan *p)
{
	return p->under_way;
}

bool
plan_settled(const struct plan *p, int64_t now_ms)
{
	return plan_under_way(p) == 0 && now_ms >= p->quiet_ms;
}

/* ---- May it be sent ---- */

static bool
has_right(const struct plan_write *w)
{
	const char *sub = ops[w->op].subresource[0] != '\0' ? ops[w->op].subresource : w->subresource;
	const size_t len = strlen(w->resource), sub_len = strlen(sub);
	char full[RESOURCE_MAX];

	if (w->op == OP_EVENT)
		return rights_allow(w->sender, VERB_CREATE, "events.k8s.io", "events");
	if (sub_len == 0)
		return rights_allow(w->sender, ops[w->op].verb, w->group, w->resource);
	if (len + 1 + sub_len >= sizeof(full))
		return false;
	memcpy(full, w->resource, len);
	full[len] = '/';
	memcpy(full + len + 1, sub, sub_len + 1);
	return rights_allow(w->sender, ops[w->op].verb, w->group, full);
}

static struct plan_verdict
refused(enum outcome outcome, const char *why)
{
	return (struct plan_verdict){ .outcome = outcome, .why = why };
}

static struct plan_step
try_slot(struct plan *p, uint32_t slot, const struct lease *l, int64_t now_ms)
{
	struct plan_slot *s = &p->slots[slot];
	const int64_t left_ms = s->deadline_ms - now_ms;
	const int64_t timeout_ms = least(left_ms, is_read(s->op) ? PLAN_READ_MS : lease_mutation_ms(l));

	if (left_ms <= 0)
		return finish(p, slot, s->last, "its deadline has passed");
	if (!is_read(s->op) && !lease_covers(l, 0, now_ms))
		return finish(p, slot, OUTCOME_NOT_LEADER, "the Lease is not held any more");
	if (now_ms < s->at_ms)
		return (struct plan_step){ .verb = PLAN_WAIT, .at_ms = least(s->at_ms, s->deadline_ms) };
	/* The next renewal will make room, or leading will end. */
	if (!is_read(s->op) && !lease_covers(l, timeout_ms, now_ms))
		return (struct plan_step){ .verb = PLAN_WAIT, .at_ms = least(l->until_ms, s->deadline_ms) };
	/* The next answer will make room. */
	if (!is_read(s->op) && p->under_way >= p->window)
		return (struct plan_step){ .verb = PLAN_WAIT, .at_ms = s->deadline_ms };
	const int64_t wait_ms = rate_take(&p->rates[budget_of(s->op)], now_ms);
	if (wait_ms > 0)
		return (struct plan_step){ .verb = PLAN_WAIT,
			.at_ms = least(now_ms + wait_ms, s->deadline_ms) };
	s->sent = true;
	s->sent_ms = now_ms;
	p->under_way += !is_read(s->op);
	return (struct plan_step){ .verb = PLAN_SEND, .slot = slot, .timeout_ms = timeout_ms };
}

static struct plan_step
finish(struct plan *p, uint32_t slot, enum outcome outcome, const char *why)
{
	release(p, slot);
	return (struct plan_step){ .verb = PLAN_FINISH, .slot = slot, .outcome = outcome, .why = why };
}

/* ---- What the answer means ---- */

static struct plan_result
evaluate_answer(const struct plan_slot *s, const struct plan_answer *a)
{
	struct plan_result r = { .outcome = OUTCOME_UNKNOWN,
		.why = "sent, and no answer that can be trusted" };
	const bool whole = !is_read(s->op) || a->body == BODY_OBJECT || a->body == BODY_LIST;
	if (a->predates_restore && is_good(a->status)) {
		r.outcome = is_read(s->op) ? OUTCOME_FAILED : OUTCOME_UNKNOWN;
		r.why = "the cluster was restored to an earlier time since it was sent";
		return r;
	}
	if (is_good(a->status) && whole)
		return (struct plan_result){
			.outcome = OUTCOME_OK, .merge = merge_of(s, a->body), .why = "done" };
	for (size_t i = 0; i < NITEMS(statuses); i++) {
		if (statuses[i].status == a->status
		    && (statuses[i].reason == NULL || strcmp(statuses[i].reason, a->reason) == 0))
			return (struct plan_result){ .outcome = statuses[i].outcome, .why = statuses[i].why };
	}
	if (is_read(s->op) || (a->status == 0 && !a->sent)) {
		r.outcome = OUTCOME_FAILED;
		r.why = a->status == 0 ? "the server cannot be reached"
		    : is_good(a->status) ? "the answer broke off" : "the server failed";
	}
	return r;
}

static enum plan_merge
merge_of(const struct plan_slot *s, enum plan_body body)
{
	static const enum plan_merge by_body[] = {
		[BODY_NONE] = MERGE_NOTHING, [BODY_STATUS] = MERGE_NOTHING,
		[BODY_OBJECT] = MERGE_OBJECT, [BODY_LIST] = MERGE_FORWARD,
	};

	/* A Status in answer to a delete: nothing is left. The object: something still holds it. */
	if (s->op == OP_DELETE && body == BODY_STATUS)
		return MERGE_GONE;
	return s->whole && s->op != OP_EVICT ? by_body[body] : MERGE_NOTHING;
}

static bool
may_repeat(const struct plan_slot *s, const struct plan_answer *a, enum outcome outcome)
{
	if (s->orphan || s->op == OP_EVICT)
		return false;
	if (outcome == OUTCOME_LIMITED)
		return true;
	if (is_read(s->op))
		return outcome == OUTCOME_FAILED
		    && (a->status == 0 || a->status >= 500 || is_good(a->status));
	return a->status == 0 && !a->sent;
}

/* ---- The window ---- */

/* Those that were sent before the last cut have the same cause as that one. */
static void
cut_window(struct plan *p, const struct plan_slot *s, int64_t now_ms)
{
	const uint32_t now = p->under_way < p->window ? p->under_way + 1 : p->window;

	if (s->sent_ms <= p->window_cut_ms)
		return;
	p->window = now > 1 ? now / 2 : 1;
	p->window_done = 0;
	p->window_cut_ms = now_ms;
}

static void
grow_window(struct plan *p, const struct plan_slot *s)
{
	if (p->window == PLAN_WRITES_MAX || s->sent_ms <= p->window_cut_ms || ++p->window_done < p->window)
		return;
	p->window_done = 0;
	p->window = p->window + 1 < PLAN_WINDOW_FREE ? p->window + 1 : PLAN_WRITES_MAX;
}

static void
not_under_way(struct plan *p, struct plan_slot *s)
{
	p->under_way -= s->sent && !is_read(s->op);
	s->sent = false;
}

static int64_t
backoff_ms(struct plan *p, const struct plan_slot *s, int64_t asked_ms)
{
	int64_t delay_ms = PLAN_RETRY_MS;

	for (unsigned i = 0; i < s->tries && delay_ms < PLAN_RETRY_CAP_MS; i++)
		delay_ms *= 2;
	delay_ms = random_jitter(&p->random, least(delay_ms, PLAN_RETRY_CAP_MS));
	return delay_ms > asked_ms ? delay_ms : asked_ms;
}

static void
release(struct plan *p, uint32_t slot)
{
	struct plan_slot *const s = &p->slots[slot];

	not_under_way(p, s);
	p->count--;
	p->in_flight[s->sender][budget_of(s->op)]--;
	p->slots[slot] = (struct plan_slot){ .used = false };
}

static enum plan_budget
budget_of(enum op op)
{
	return is_read(op) ? BUDGET_READS : BUDGET_WRITES;
}

/* It changes nothing: it needs no lease, and may be sent again at any time. */
static bool
is_read(enum op op)
{
	return ops[op].verb == VERB_GET || ops[op].verb == VERB_LIST;
}

static bool
is_good(int status)
{
	return status >= 200 && status < 300;
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}
