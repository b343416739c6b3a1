/*
 * tests/unit/test_insight_plan.c - B5: the plan for an insight, input by input, between the two gates of the
 * reconcile loop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/insight/insight.h"
#include "obj.h"

/* 2026-11-17T03:04:05Z, the time of every input. */
#define NOW_US	INT64_C(1794884645000000)
#define NOW	"2026-11-17T03:04:05Z"
#define OLD	"2026-01-02T03:00:00Z"
#define CAUSE	"2026-11-17T02:00:00Z"

/* What is unusual in an input: otherwise all is complete, current, and this instance leads. */
enum { OFF = 1, UNSYNCED = 2, STALE = 4, FOLLOWER = 8, REFUSED = 16, HELD = 32, DELETING = 64, ABSENT = 128,
	FORBIDDEN = 256, LISTING = 512 };
enum { HOLD_MS = 45000 };

/*
 * A status in words: "field=value", "Condition=status/reason/time/message", "#Type=count". NULL:
 * there is none.
 */
#define DONE_TEXT	"name=w1 scopeType=WorkerPool group=g resource=r pool=worker version=4.20.3 "	\
			"estimatedToComplete=0s"
#define COMPLETED	"Updating=False/Completed"
#define WELL		"Available=True/AsExpected"
#define SOUND		"Degraded=False/AsExpected"
#define STATE		DONE_TEXT " " COMPLETED " " WELL " " SOUND
#define STORED		DONE_TEXT " " COMPLETED "/" OLD " " WELL "/" OLD " " SOUND "/" OLD
#define POOL		"name=p scopeType=WorkerPool assessment=Pending completionPercent=50 "	\
			"#Total=2 #Draining=0"

static const struct row {
	const char		*name;
	unsigned		 unusual;
	const char		*state, *stored;
	enum insight_verb	 want;
	const char		*field;		/* that differs */
	const char		*times;		/* of the conditions to be written; NULL: does not matter */
	int64_t			 after_ms;
} rows[] = {
	/* What is to be done */
	{ "B5 none there: created", 0, STATE, NULL, INSIGHT_CREATE, "", NULL, 0 },
	{ "B5 created empty: the status follows, all times now", 0, STATE, "", INSIGHT_STATUS, "name", NOW " " NOW " " NOW, 0 },
	{ "B5 the stored status is the desired one: not a single write", 0, STATE, STORED, INSIGHT_NOTHING, "", OLD " " OLD " " OLD, 0 },
	{ "B5 neither desired nor stored", 0, NULL, NULL, INSIGHT_NOTHING, "", NULL, 0 },
	{ "B5 gone or in no pool: deleted", 0, NULL, STORED, INSIGHT_DELETE, "", NULL, 0 },
	{ "B5 gone, and never had a status: deleted", 0, NULL, "", INSIGHT_DELETE, "", NULL, 0 },
	{ "B5 a pool: none there", 0, POOL, NULL, INSIGHT_CREATE, "", NULL, 0 },
	{ "B5 a pool: the stored status is the desired one", 0, POOL, POOL, INSIGHT_NOTHING, "", NULL, 0 },

	/* Who differs: each field */
	{ "B5 A1 status.name changed by another client", 0, STATE, "name=x", INSIGHT_STATUS, "name", NULL, 0 },
	{ "B5 A1 scopeType", 0, "scopeType=WorkerPool", "scopeType=ControlPlane", INSIGHT_STATUS, "scopeType", NULL, 0 },
	{ "B5 A1 poolResource.group", 0, "group=g", "", INSIGHT_STATUS, "group", NULL, 0 },
	{ "B5 A1 poolResource.resource", 0, "resource=a", "resource=b", INSIGHT_STATUS, "resource", NULL, 0 },
	{ "B5 moved to another pool", 0, "pool=infra", "pool=worker", INSIGHT_STATUS, "name", NULL, 0 },
	{ "B5 another version", 0, "version=4.20.4", "version=4.20.3", INSIGHT_STATUS, "version", NULL, 0 },
	{ "B5 a version that is not there any more", 0, "", "version=4.20.3", INSIGHT_STATUS, "version", NULL, 0 },
	{ "B5 estimatedToComplete appears", 0, "estimatedToComplete=10m0s", "", INSIGHT_STATUS, "estimatedToComplete", NULL, 0 },
	{ "B5 estimatedToComplete goes", 0, "", "estimatedToComplete=10m0s", INSIGHT_STATUS, "estimatedToComplete", NULL, 0 },
	{ "B5 a message", 0, "message=x", "", INSIGHT_STATUS, "message", NULL, 0 },
	{ "B5 an absent message is an empty one", 0, "message=", "", INSIGHT_NOTHING, "", NULL, 0 },
	{ "B5 assessment", 0, "assessment=Completed", "assessment=Pending", INSIGHT_STATUS, "assessment", NULL, 0 },
	{ "B5 completionPercent", 0, "completionPercent=0", "completionPercent=1", INSIGHT_STATUS, "completionPercent", NULL, 0 },
	{ "B5 a count", 0, "#Total=2", "#Total=3", INSIGHT_STATUS, "summaries", NULL, 0 },
	{ "B5 a summary of another type", 0, "#Total=2", "#Draining=2", INSIGHT_STATUS, "summaries", NULL, 0 },
	{ "B5 a summary is missing", 0, "#Total=2 #Draining=0", "#Total=2", INSIGHT_STATUS, "summaries", NULL, 0 },
	{ "B5 a foreign summary", 0, "#Total=2", "#Total=2 #Mine=1", INSIGHT_STATUS, "summaries", NULL, 0 },

	/* Conditions and their times */
	{ "B5 turned: now, the others keep theirs", 0,
	    "Updating=True/Draining " WELL, "Updating=False/Pending/" OLD " " WELL "/" OLD,
	    INSIGHT_STATUS, "conditions", NOW " " OLD, 0 },
	{ "B5 turned with a cause: the time of the cause", 0,
	    "Available=False/Unavailable/" CAUSE, WELL "/" OLD, INSIGHT_STATUS, "conditions", CAUSE, 0 },
	{ "B5 a cause counts only when it turns", 0,
	    "Available=False/Unavailable/" CAUSE, "Available=False/Unavailable/" OLD,
	    INSIGHT_NOTHING, "", OLD, 0 },
	{ "B5 new with a cause", 0, "Available=False/Unavailable/" CAUSE, "", INSIGHT_STATUS, "conditions", CAUSE, 0 },
	{ "B5 a cause that is no time: now", 0, "Available=False/Unavailable/yesterday", "", INSIGHT_STATUS, "conditions", NOW, 0 },
	{ "B5 reason changed, status not: the time stays", 0,
	    "Updating=True/Rebooting", "Updating=True/Draining/" OLD, INSIGHT_STATUS, "conditions", OLD, 0 },
	{ "B5 message changed, status not: the time stays", 0,
	    "Degraded=True/Degraded//x", "Degraded=True/Degraded/" OLD "/y",
	    INSIGHT_STATUS, "conditions", OLD, 0 },
	{ "B5 a stored time that is none: now", 0, WELL, WELL "/soon", INSIGHT_STATUS, "conditions", NOW, 0 },
	{ "B5 a stored time that is missing: now", 0, WELL, WELL, INSIGHT_STATUS, "conditions", NOW, 0 },
	{ "B5 a stored time that Go takes for none: now", 0, WELL, WELL "/0001-01-01T00:00:00Z", INSIGHT_STATUS, "conditions", NOW, 0 },
	{ "B5 a stored time in another form stays as it is", 0, WELL, WELL "/2026-01-02T05:00:00.5+02:00",
	    INSIGHT_NOTHING, "", "2026-01-02T05:00:00.5+02:00", 0 },
	{ "B5 a foreign condition is dropped", 0, WELL, WELL "/" OLD " Mine=True/Mine/" OLD, INSIGHT_STATUS, "conditions", OLD, 0 },
	{ "B5 a foreign condition in front is dropped", 0, WELL, "Mine=True/Mine/" OLD " " WELL "/" OLD,
	    INSIGHT_STATUS, "conditions", OLD, 0 },
	{ "B5 ours in another order: put in ours", 0, WELL " " SOUND, SOUND "/" OLD " " WELL "/" NOW,
	    INSIGHT_STATUS, "conditions", NOW " " OLD, 0 },
	{ "B5 one of ours is missing", 0, WELL " " SOUND, WELL "/" OLD, INSIGHT_STATUS, "conditions", OLD " " NOW, 0 },

	/* When to wait */
	{ "B5 switched off: left alone", OFF, NULL, STORED, INSIGHT_NOTHING, "", NULL, 0 },
	{ "B5 switched off: not created", OFF, STATE, NULL, INSIGHT_NOTHING, "", NULL, 0 },
	{ "B5 before the first complete snapshot nothing is created", UNSYNCED, STATE, NULL, INSIGHT_WAIT, "", NULL, 0 },
	{ "B5 no CRD", ABSENT, STATE, NULL, INSIGHT_WAIT, "", NULL, 0 },
	{ "B5 no CRD any more", ABSENT, NULL, STORED, INSIGHT_WAIT, "", NULL, 0 },
	{ "B5 may not be read", FORBIDDEN, STATE, NULL, INSIGHT_WAIT, "", NULL, 0 },
	{ "B5 still being listed: it may be there", LISTING, STATE, NULL, INSIGHT_WAIT, "", NULL, 0 },
	{ "B5 being deleted, and desired: after its deletion", DELETING, STATE, STORED, INSIGHT_WAIT, "", NULL, 0 },
	{ "B5 being deleted, and not desired", DELETING, NULL, STORED, INSIGHT_WAIT, "", NULL, 0 },
	{ "B5 a stale mirror: nothing is deleted, the key is requeued", STALE, NULL, STORED, INSIGHT_WAIT, "", NULL, RECONCILE_REQUEUE_MS },
	{ "B5 a stale mirror: what is desired is written all the same", STALE, STATE, "", INSIGHT_STATUS, "name", NULL, 0 },
	{ "B5 another leads: no creation", FOLLOWER, STATE, NULL, INSIGHT_WAIT, "", NULL, 0 },
	{ "B5 another leads: no status", FOLLOWER, STATE, "", INSIGHT_WAIT, "name", NULL, 0 },
	{ "B5 another leads: no deletion", FOLLOWER, NULL, STORED, INSIGHT_WAIT, "", NULL, 0 },
	{ "B5 another leads, and all is well", FOLLOWER, STATE, STORED, INSIGHT_NOTHING, "", NULL, 0 },
	{ "B5 A4 refused: not again", REFUSED, STATE, "", INSIGHT_WAIT, "name", NULL, 0 },
	{ "B5 A4 not allowed: after a while", HELD, STATE, "", INSIGHT_WAIT, "name", NULL, HOLD_MS },
	{ "B5 not allowed, but all is well", HELD, STATE, STORED, INSIGHT_NOTHING, "", NULL, 0 },

	/* The defects of the original: docs/migration.md */
	{ "B5 regression: silent removal (a node that left all pools)", 0, NULL, STORED, INSIGHT_DELETE, "", NULL, 0 },
	{ "B5 regression: deletion at restart (not synced yet)", UNSYNCED, NULL, STORED, INSIGHT_WAIT, "", NULL, 0 },
	{ "B5 regression: deletion at restart (node-state is silent)", STALE, NULL, STORED, INSIGHT_WAIT, "", NULL, RECONCILE_REQUEUE_MS },
	{ "B5 regression: lost condition times (no memory but the insight)", 0,
	    STATE, STORED, INSIGHT_NOTHING, "", OLD " " OLD " " OLD, 0 },
	{ "B5 regression: status written without comparing", 0, POOL, POOL, INSIGHT_NOTHING, "", NULL, 0 },
};

/* ---- Words to statuses ---- */

static struct wire_str
part(char **at, char end)
{
	const struct wire_str s = { .p = *at, .len = (uint32_t)(strchrnul(*at, end) - *at) };

	*at += s.len + ((*at)[s.len] != '\0');
	return s;
}

static enum status_field
field_of(struct wire_str name)
{
	/* "name" stands there twice. */
	if (wire_str_compare(name, wire_str_of("pool")) == 0)
		return FIELD_POOL;
	unsigned f = 0;
	while (f < FIELD_MAX && wire_str_compare(name, wire_str_of(status_fields[f].name)) != 0)
		f++;
	return (enum status_field)f;
}

static void
put(struct insight_status *s, char *word)
{
	const struct wire_str name = part(&word, '=');
	const enum status_field f = field_of(name);

	if (name.len > 0 && name.p[0] == '#') {
		s->summaries[s->nsummaries++] = (struct insight_summary){
			.type = name, .count = wire_str_of(word) };
	} else if (f != FIELD_MAX) {
		s->fields[f] = wire_str_of(word);
	} else {
		struct status_condition *const c = &s->conditions[s->nconditions++];

		c->type = name;
		c->status = part(&word, '/');
		c->reason = part(&word, '/');
		c->time = part(&word, '/');
		c->message = wire_str_of(word);
	}
}

/* Views into words, which is changed. */
static const struct insight_status *
status_of(struct insight_status *s, const char *text, char *words, size_t size)
{
	char *rest = words;

	if (text == NULL)
		return NULL;
	MUST((size_t)snprintf(words, size, "%s", text) < size);
	for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
		put(s, word);
	return s;
}

static void
plan_of(const struct row *r, struct insight_plan *p, struct reconcile_step *step)
{
	static struct insight_status state, stored;
	static char words[2][1024];
	const unsigned u = r->unusual;

	state = stored = (struct insight_status){ .nconditions = 0 };
	const struct gate_facts facts = {
		.enabled = (u & OFF) == 0, .synced = (u & UNSYNCED) == 0,
		.fresh = (u & (UNSYNCED | STALE)) == 0,
		.leading = (u & FOLLOWER) == 0, .refused = (u & REFUSED) != 0,
		.hold_ms = (u & HELD) ? HOLD_MS : -5,
		.state = (u & ABSENT) ? KIND_STATE_ABSENT : (u & FORBIDDEN) ? KIND_STATE_FORBIDDEN
		    : (u & LISTING) ? KIND_STATE_LISTING : KIND_STATE_SYNCED,
	};
	const struct insight_input input = {
		.deleting = (u & DELETING) != 0, .now_us = NOW_US,
		.desired = status_of(&state, r->state, words[0], sizeof(words[0])),
		.stored = status_of(&stored, r->stored, words[1], sizeof(words[1])),
	};
	*p = (struct insight_plan){ .field = "" };
	*step = (struct reconcile_step){ .form = STEP_NOTHING };
	if (!gate_plan(&facts, step))
		return;
	insight_plan(&input, p);
	insight_step(p, step);
	gate_step(&facts, step);
}

static void
check_plan(void **arg)
{
	const struct row *const r = *arg;
	struct insight_plan p;
	struct reconcile_step step;
	char times[256] = "";

	plan_of(r, &p, &step);
	assert_string_equal(step.verb, insight_verb_name(r->want));
	assert_string_equal(step.field != NULL ? step.field : "", r->field);
	assert_int_equal(step.after_ms, r->after_ms);
	assert_true(strlen(step.why) > 0);
	for (uint32_t i = 0; i < p.nconditions; i++) {
		const struct wire_str t = p.conditions[i].time;
		const size_t len = strlen(times);

		snprintf(times + len, sizeof(times) - len, "%s%.*s", i > 0 ? " " : "", (int)t.len, t.p);
	}
	if (r->times != NULL)
		assert_string_equal(times, r->times);
}

/* ---- A written status is the desired one: the next plan is to do nothing ---- */

static void
B5_A1_a_written_status_is_right(void **arg)
{
	(void)arg;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		static struct insight_status state, stored;
		static char words[2][1024];
		struct insight_plan first, second;
		struct reconcile_step step;

		if (rows[i].want != INSIGHT_STATUS)
			continue;
		plan_of(&rows[i], &first, &step);
		state = stored = (struct insight_status){ .nconditions = 0 };
		status_of(&state, rows[i].state, words[0], sizeof(words[0]));
		status_of(&stored, rows[i].state, words[1], sizeof(words[1]));
		memcpy(stored.conditions, first.conditions, sizeof(stored.conditions));
		insight_plan(&(struct insight_input){
			.desired = &state, .stored = &stored,
			.now_us = NOW_US + 3600 * INT64_C(1000000),
		}, &second);
		assert_int_equal(second.verb, INSIGHT_NOTHING);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_plan, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(B5_A1_a_written_status_is_right);
	return _cmocka_run_group_tests("insight_plan", tests, n, NULL, NULL);
}
