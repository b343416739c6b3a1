/* tests/unit/test_lke_plan.c - the plan of a pool key: C1, C2, C5 to C9, C12 to C14, C19, A6, A10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/lke-claimer/plan.h"
#include "obj.h"

enum { MOST = 64, NOW_MS = 1000000 };

/*
 * Claims, the one that waits longest first: a name, then ~7 reserved, ? the reserved one is gone,
 * @7 tagged, @@7 tagged twice, =7 providerID, ! deleting, * deleting and removable, - without
 * finalizer, # the same tag, ^ of another key. Machines: an id, then @ one tag of a claim, O a tag of
 * a claim that does not exist, T two tags, L leaving, J joined, t tainted, P runs Pods, U that is not
 * known, D not drained, X expired, S suspect, N its LKE node is not listed. Words: what differs from a
 * current list of one pool with as many machines as its count. want: assignments "a=7", then for a
 * verb its count, its machine, or "own"; then "taint 7" or "drain 7".
 */
static const struct row {
	const char	*name, *claims, *machines, *words;
	enum lke_verb	 verb;
	const char	*want, *why;
} rows[] = {
	/* C2: the first machines, the first claims */
	{ "C2 first instance id, claim that waits longest", "b a", "7 8 9", "", LKE_NOTHING, "b=7 a=8", NULL },
	{ "C1 one claim, one machine", "a", "7", "", LKE_NOTHING, "a=7", NULL },
	{ "C1 a machine with a tag is not given again", "a b@7", "7@ 8", "", LKE_NOTHING, "a=8", NULL },
	{ "C1 a claim with a tag gets no other machine", "a@7", "7@ 8", "", LKE_NOTHING, "", NULL },
	{ "C1 a tag on a machine of another pool counts, too", "a@99", "7", "", LKE_NOTHING, "", NULL },
	{ "C1 a claim with a providerID gets no other machine, even if its tag is lost", "a=7", "7 8", "", LKE_NOTHING, "", NULL },
	{ "C1 ... and its machine is not given to another", "b a=7", "7 8", "", LKE_NOTHING, "b=8", NULL },
	{ "C1 a reservation is repeated, whatever else is free", "b a~8", "7 8", "", LKE_NOTHING, "b=7 a=8", NULL },
	{ "C1 a reserved machine that the list does not have: wait", "a~9", "7", "", LKE_NOTHING, "", NULL },
	{ "C1 ... until two lists agree", "a~9?", "7", "", LKE_NOTHING, "a=7", NULL },
	{ "C1 a machine that leaves is not given", "a", "7L 8", "count=1", LKE_NOTHING, "a=8", NULL },
	{ "C1 A10 no finalizer yet: nothing", "a-", "7", "", LKE_NOTHING, "", NULL },
	{ "C9 one that runs Pods is claimed first", "a b", "7 8 9JtPD", "", LKE_NOTHING, "a=9 b=7", NULL },
	{ "C9 what runs Pods is read before somebody chooses", "a", "7 8JU 9JU", "", LKE_WAIT, "read 8", NULL },
	{ "C9 ... if there is a choice", "a b", "7JU 8JU", "", LKE_NOTHING, "a=7 b=8", NULL },
	{ "C9 ... and what is reserved is no choice", "a~7", "7JU 8JU", "", LKE_NOTHING, "a=7 taint 8", NULL },
	{ "C9 ... nor is it read of many", "a",
	    "1JU 2JU 3JU 4JU 5JU 6JU 7JU 8JU 9JU 10JU 11JU 12JU 13JU 14JU 15JU 16JU 17JU", "", LKE_NOTHING,
	    "a=1 taint 2", NULL },
	{ "C9 ... nor what nobody waits for", "", "7JU", "", LKE_NOTHING, "taint 7", NULL },
	{ "a claim that is being deleted waits for nothing", "a!", "7", "", LKE_NOTHING, "", NULL },

	/* C5: scaling */
	{ "C5 A10 C2a the intent comes first", "a b c", "", "count=0", LKE_INTEND, "3", NULL },
	{ "C2a C5 no pool: one for all of them", "a b c", "", "pools=0 intent=ready kind=create target=3", LKE_CREATE, "3", NULL },
	{ "C5 once, by all that wait", "a b c", "7@", "intent=ready target=4", LKE_SCALE, "4", NULL },
	{ "C5 less what is claimable", "a b c", "7 8@", "intent=ready target=4", LKE_SCALE, "a=7 4", NULL },
	{ "C5 less what is on its way", "a b c", "7@", "count=3 intent=ready target=4", LKE_SCALE, "4", NULL },
	{ "C5 C13 never again for what is on its way", "a b", "7@", "count=3", LKE_LIST, "", "machines are on their way" },
	{ "C5 more is on its way than waits", "a", "", "count=9", LKE_LIST, "", NULL },
	{ "C3 machines that are there first, then wait", "a b", "7", "count=2", LKE_LIST, "a=7", NULL },
	{ "never none: what is overdue does not count", "a b", "7@", "count=3 overdue", LKE_INTEND, "5", NULL },
	{ "C5 claims that came after the intent do not delay it", "a b c", "7@", "intent=ready target=2", LKE_SCALE, "2", NULL },
	{ "C5 fewer are needed: another intent", "a", "7@", "intent=ready target=5", LKE_INTEND, "2", NULL },
	{ "C5 the intent was for a pool", "a", "7@", "intent=ready kind=create target=1", LKE_INTEND, "2", NULL },
	{ "none is needed: the intent goes", "a", "7", "intent=ready target=2", LKE_FORGET, "a=7", NULL },
	{ "C5 one mutation at a time", "a", "", "pools=0 mutating intent=ready kind=create target=1", LKE_WAIT, "", NULL },
	{ "C5 ... and claims go on", "a b", "7", "mutating", LKE_WAIT, "a=7", NULL },
	{ "A8 the fence, or the budget", "a", "", "pools=0 closed intent=ready kind=create target=1", LKE_WAIT, "1", NULL },
	{ "C19 the NodePool does not exist", "a", "", "pools=0 nodepool=no", LKE_WAIT, "1",
	    "the NodePool does not exist, or its class is not ready: nothing is made" },
	{ "C19 no pool because a list lost everything", "a", "", "pools=0 doubtful", LKE_LIST, "1", NULL },
	{ "the snapshot is older than the last call", "a", "", "pools=0 stale", LKE_LIST, "1", NULL },
	{ "no snapshot at all", "a", "", "unlisted", LKE_LIST, "", NULL },

	/* A10: what a call has done */
	{ "A10 the outcome is known", "a", "7", "intent=ended", LKE_FORGET, "a=7", NULL },
	{ "A10 a pool is in the list: the call made it", "a b", "",
	    "count=2 intent=sent kind=create target=2", LKE_FORGET, "",
	    "the list shows the effect of the call" },
	{ "A10 the count is what the call set", "a", "7@", "count=2 intent=sent target=2", LKE_FORGET, "", NULL },
	{ "C1 A10 a DELETE of the pool may still arrive: nobody gets its machines", "a", "7",
	    "intent=sent kind=delete unsettled", LKE_LIST, "",
	    "whether the call has had an effect is not known" },
	{ "A10 nothing to be seen: it may still arrive", "a", "",
	    "pools=0 intent=sent kind=create target=1 unsettled", LKE_LIST, "",
	    "whether the call has had an effect is not known" },
	{ "A10 C13 no second PUT while the first may arrive", "a b", "7@", "intent=sent target=2 unsettled", LKE_LIST, "", NULL },
	{ "A10 the list is older than the call", "a", "7@", "count=2 stale unsettled intent=sent target=2", LKE_LIST, "", NULL },
	{ "A10 time has passed, and the list is older than that", "a", "",
	    "pools=0 intent=sent kind=create target=1 early", LKE_LIST, "", NULL },
	{ "A10 time has passed, and nothing is there", "a", "",
	    "pools=0 intent=sent kind=create target=1", LKE_FORGET, "",
	    "the call has had no effect" },
	{ "C19 ... but the list lost half of what there was", "a", "",
	    "pools=0 doubtful intent=sent kind=create target=1", LKE_LIST, "", NULL },

	/* C8, C19: deletion */
	{ "C8 the node of a claim that is deleted", "a@7* b@8", "7@ 8@", "", LKE_DELETE_NODE, "7", NULL },
	{ "C8 not before it is drained", "a@7! b@8", "7@ 8@", "", LKE_NOTHING, "", NULL },
	{ "C8 C19 the last machine: the pool", "a@7*", "7@", "intent=ready kind=delete", LKE_DELETE_POOL, "", NULL },
	{ "A10 C8 the intent comes first", "a@7*", "7@", "", LKE_INTEND, "", NULL },
	{ "A10 C8 somebody waits now: the intent is another one", "b a@7*", "7@", "intent=ready kind=delete", LKE_INTEND, "2", NULL },
	{ "A10 C8 ... and none at all for one machine of two", "a@7* b@8", "7@ 8@", "intent=ready kind=delete", LKE_FORGET, "", NULL },
	{ "A10 C8 the pool is gone", "b", "", "pools=0 intent=sent kind=delete", LKE_FORGET, "", "the list shows the effect of the call" },
	{ "A10 C8 the DELETE may still arrive: nothing is scaled", "b", "7@L",
	    "count=1 intent=sent kind=delete unsettled", LKE_LIST, "", NULL },
	{ "A10 C8 it had no effect", "b", "7@", "intent=sent kind=delete", LKE_FORGET, "", "the call has had no effect" },
	{ "C9 a DELETE of before our start may arrive: not given", "a", "7S 8", "", LKE_NOTHING, "a=8", NULL },
	{ "C8 a pool that is empty", "", "", "count=0 intent=ready kind=delete", LKE_DELETE_POOL, "", NULL },
	{ "C8 ... with an intent", "", "", "count=0", LKE_INTEND, "", NULL },
	{ "C19 all machines of it go", "a@7* b@8*", "7@ 8@", "intent=ready kind=delete", LKE_DELETE_POOL, "", NULL },
	{ "C8 C13 one is on its way: not the pool", "a@7*", "7@", "count=2", LKE_DELETE_NODE, "7", NULL },
	{ "C8 somebody waits: not the pool", "b a@7*", "7@", "count=2", LKE_DELETE_NODE, "7", NULL },
	{ "C5 first those that wait", "b a@7*", "7@", "", LKE_INTEND, "2", NULL },
	{ "C8 an unclaimed machine: not the pool", "a@7*", "7@ 8", "", LKE_DELETE_NODE, "7", NULL },
	{ "C8 a reserved one that is not listed: not the pool", "b~9 a@7*", "7@", "", LKE_DELETE_NODE, "7", NULL },
	{ "C8 a machine of another pool does not hold this one", "b^~9=9 c^~10 a@7*", "7@",
	    "intent=ready kind=delete", LKE_DELETE_POOL, "", NULL },
	{ "C8 ... one of this pool does, whoever has it", "b^~8 a@7*", "7@ 8", "", LKE_DELETE_NODE, "b=8 7", NULL },
	{ "C8 one that leaves does not hold the pool", "a@7*", "7@ 8L", "count=1 intent=ready kind=delete", LKE_DELETE_POOL, "", NULL },
	{ "C8 its call was answered: not again", "a@7* b@8", "7@L 8@", "count=1", LKE_NOTHING, "", NULL },
	{ "C8 by providerID when the tag is lost", "a=7* b@8", "7 8@", "", LKE_DELETE_NODE, "7", NULL },
	{ "C8 by the reservation: the PUT may have been lost", "a~7* b@8", "7 8@", "", LKE_DELETE_NODE, "7", NULL },
	{ "C8 Enterprise: its LKE node is not listed", "a@7* b@8", "7@N 8@", "", LKE_LIST, "",
	    "the LKE node of the machine is not listed yet" },
	{ "C8 ... but the pool can go", "a@7*", "7@N", "intent=ready kind=delete", LKE_DELETE_POOL, "", NULL },
	{ "A6 a deletion needs a live list", "a@7* b@8", "7@ 8@", "age=31000", LKE_LIST, "", NULL },
	{ "C14 a list serves many deletions", "a@7* b@8", "7@ 8@", "age=29000", LKE_DELETE_NODE, "7", NULL },
	{ "A6 the list is older than the last call", "a@7* b@8", "7@ 8@", "stale", LKE_LIST, "", NULL },
	{ "A6 C8 not the pool by a doubtful list", "a@7*", "7@", "doubtful", LKE_DELETE_NODE, "7", NULL },
	{ "A8 fence", "a@7* b@8", "7@ 8@", "closed", LKE_WAIT, "", NULL },
	{ "A6 the brake is not for what others deleted", "a@7* b@8", "7@ 8@", "braked", LKE_DELETE_NODE, "7", NULL },

	/* C9: orphans */
	{ "C9 not before its time", "", "7 8@", "", LKE_NOTHING, "", NULL },
	{ "C9 expired", "", "7X 8@", "", LKE_DELETE_NODE, "7 own", NULL },
	{ "C9 its claim does not exist", "", "7O 8@", "", LKE_NOTHING, "", NULL },
	{ "C9 its claim does not exist, for that long", "", "7OX 8@", "", LKE_DELETE_NODE, "7 own", NULL },
	{ "C9 never a claimed one", "a@7", "7@X 8@X", "", LKE_NOTHING, "", NULL },
	{ "C9 never one that a claim of another key has", "", "7@X", "", LKE_NOTHING, "", NULL },
	{ "C9 never one that a claim needs", "a", "7X", "", LKE_NOTHING, "a=7", NULL },
	{ "C9 never one that a claim has reserved", "a~7!", "7X 8", "", LKE_NOTHING, "", NULL },
	{ "C9 never while a list is doubtful", "", "7X 8@", "doubtful", LKE_NOTHING, "", NULL },
	{ "C9 A6 the brake", "", "7X 8@", "braked", LKE_WAIT, "own", NULL },
	{ "A8 C9 just taken over: its Node may come later", "", "7X 8@", "took_over", LKE_NOTHING, "", NULL },
	{ "A8 C9 ... its Node is known", "", "7JtX 8@", "took_over", LKE_DELETE_NODE, "7 own", NULL },
	{ "C9 the last one: the pool", "", "7X", "intent=ready kind=delete", LKE_DELETE_POOL, "own", NULL },
	{ "C9 A6 the last one: the brake holds the pool, too", "a@8*", "7X 8@", "braked", LKE_DELETE_NODE, "8", NULL },
	{ "C9 first what somebody deleted", "a@8*", "7X 8@ 9", "", LKE_DELETE_NODE, "8", NULL },
	{ "C9 its Node is tainted as soon as it is seen", "", "7J 8@J", "", LKE_NOTHING, "taint 7", NULL },
	{ "C9 ... unless a claim gets it", "a", "7J", "", LKE_NOTHING, "a=7", NULL },
	{ "C9 tainted once", "", "7Jt", "", LKE_NOTHING, "", NULL },
	{ "C9 drained before it goes", "", "7JtXD 8@", "", LKE_NOTHING, "drain 7", NULL },
	{ "C9 then it goes", "", "7JtX 8@", "", LKE_DELETE_NODE, "7 own", NULL },
	{ "C9 a Node of a claim that does not exist", "", "7OJ", "", LKE_NOTHING, "taint 7", NULL },
	{ "C9 not drained by a doubtful list", "", "7JtXD 8@", "doubtful", LKE_NOTHING, "", NULL },

	/* C7: violations */
	{ "C7 C13 two pools", "a", "7", "pools=2", LKE_STOP, "", "two pools have the tags and the type of this key" },
	{ "C7 C13 two machines with one tag", "a@@7 b", "7@ 8@ 9", "", LKE_STOP, "", "two machines have the tag of one NodeClaim" },
	{ "C7 two tags on one machine", "a@7 b@7", "7T 8", "", LKE_STOP, "", "a machine has the tags of two NodeClaims" },
	{ "C4 C7 two names with one tag", "a# b", "7", "", LKE_STOP, "", "the names of two NodeClaims give the same tag" },
	{ "C7 tag and providerID differ", "a=7@8", "7 8@", "", LKE_STOP, "",
	    "a NodeClaim's providerID and its tag name different machines" },
	{ "C7 no deletion either", "a@7* b@@8", "7@ 8@ 9@", "", LKE_STOP, "", NULL },
};

/* A row as input. */
struct world {
	struct lke_plan_claim		claims[MOST];
	struct lke_plan_instance	instances[MOST];
	char				names[MOST][16];
	struct lke_plan_input		in;
};

static int64_t
number(const char **p)
{
	char *end;
	const long n = strtol(*p, &end, 10);

	*p = end;
	return n;
}

static void
read_claims(struct world *w, const char *p)
{
	while (*p != '\0') {
		const uint32_t i = w->in.nclaims++;
		struct lke_plan_claim *const c = &w->claims[i];
		const size_t len = strcspn(p, " ~?@=!*-#^");

		snprintf(w->names[i], sizeof(w->names[i]), "%.*s", (int)len, p);
		*c = (struct lke_plan_claim){ .name = w->names[i], .held = true };
		for (p += len; *p != ' ' && *p != '\0';) {
			switch (*p++) {
			case '~':
				c->reserved = number(&p);
				break;
			case '?':
				c->reserved_gone = true;
				break;
			case '@':
				c->tagged++;
				if (*p != '@')
					c->tagged_id = number(&p);
				break;
			case '=':
				c->provider_id = number(&p);
				break;
			case '*':
				c->removable = c->deleting = true;
				break;
			case '!':
				c->deleting = true;
				break;
			case '-':
				c->held = false;
				break;
			case '^':
				c->held = false;
				c->other_key = true;
				break;
			default:
				c->same_tag = true;
				break;
			}
		}
		p += *p == ' ';
	}
}

static void
read_machines(struct world *w, const char *p)
{
	while (*p != '\0') {
		struct lke_plan_instance *const m = &w->instances[w->in.ninstances++];

		*m = (struct lke_plan_instance){ .id = number(&p), .node_id = "n", .drained = true };
		for (; *p != ' ' && *p != '\0'; p++) {
			m->tags += *p == '@' || *p == 'O' ? 1 : *p == 'T' ? 2 : 0;
			m->ownerless |= *p == 'O';
			m->leaving |= *p == 'L';
			m->joined |= *p == 'J';
			m->tainted |= *p == 't';
			m->pods |= *p == 'P';
			m->pods_unread |= *p == 'U';
			m->expired |= *p == 'X';
			m->suspect |= *p == 'S';
			if (*p == 'D')
				m->drained = false;
			if (*p == 'N')
				m->node_id = "";
		}
		w->in.count += !m->leaving;
		p += *p == ' ';
	}
}

static void
read_word(struct lke_plan_input *in, const char *word)
{
	const char *const value = strchr(word, '=') == NULL ? "" : strchr(word, '=') + 1;
	const struct {
		const char	*word;
		bool		*flag, to;
	} flags[] = {
		{ "unlisted", &in->listed, false }, { "stale", &in->current, false },
		{ "doubtful", &in->doubtful, true }, { "overdue", &in->overdue, true },
		{ "mutating", &in->mutating, true },
		{ "closed", &in->open, false }, { "braked", &in->braked, true },
		{ "took_over", &in->took_over, true },
		{ "nodepool=no", &in->nodepool, false }, { "early", &in->settled_list, false },
	};

	for (size_t i = 0; i < NITEMS(flags); i++) {
		if (strcmp(word, flags[i].word) == 0) {
			*flags[i].flag = flags[i].to;
			return;
		}
	}
	if (strcmp(word, "unsettled") == 0)
		in->settled = in->settled_list = false;
	else if (strncmp(word, "pools=", 6) == 0)
		in->pools = (unsigned)atoi(value);
	else if (strncmp(word, "count=", 6) == 0)
		in->count = atoi(value);
	else if (strncmp(word, "target=", 7) == 0)
		in->intent_count = atoi(value);
	else if (strncmp(word, "kind=", 5) == 0)
		in->intent_kind = value[0] == 'c' ? LKE_INTEND_CREATE : LKE_INTEND_DELETE;
	else if (strncmp(word, "age=", 4) == 0)
		in->begun_ms = NOW_MS - atoi(value);
	else if (strncmp(word, "intent=", 7) == 0)
		in->intent = strcmp(value, "ready") == 0 ? LKE_INTENT_READY
		    : strcmp(value, "sent") == 0 ? LKE_INTENT_SENT : LKE_INTENT_ENDED;
	else
		fail_msg("unknown word %s", word);
}

static void
read_row(struct world *w, const struct row *r)
{
	char words[128], *save;

	memset(w, 0, sizeof(*w));
	w->in = (struct lke_plan_input){ .claims = w->claims, .instances = w->instances, .listed = true,
		.current = true, .begun_ms = NOW_MS, .pools = 1, .pool_id = 5, .settled = true,
		.intent_kind = LKE_INTEND_SCALE,
		.settled_list = true, .settled_at_ms = NOW_MS + 20000, .open = true,
		.retry_at_ms = NOW_MS + 777, .nodepool = true, .now_ms = NOW_MS };
	read_claims(w, r->claims);
	read_machines(w, r->machines);
	snprintf(words, sizeof(words), "%s", r->words);
	for (char *s = strtok_r(words, " ", &save); s != NULL; s = strtok_r(NULL, " ", &save))
		read_word(&w->in, s);
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct world w;
	uint32_t assign[MOST];
	struct lke_plan p;
	char got[256] = "";
	size_t len = 0;

	read_row(&w, r);
	lke_plan(&w.in, assign, &p);
	for (uint32_t i = 0; i < w.in.nclaims; i++) {
		if (assign[i] != LKE_NONE)
			len += (size_t)snprintf(got + len, sizeof(got) - len, " %s=%lld", w.names[i],
			    (long long)w.instances[assign[i]].id);
	}
	if (p.count > 0)
		len += (size_t)snprintf(got + len, sizeof(got) - len, " %lld", (long long)p.count);
	if (p.instance != LKE_NONE)
		len += (size_t)snprintf(got + len, sizeof(got) - len, " %lld",
		    (long long)w.instances[p.instance].id);
	if (p.own)
		len += (size_t)snprintf(got + len, sizeof(got) - len, " own");
	if (p.orphan != LKE_NONE)
		snprintf(got + len, sizeof(got) - len, " %s %lld",
		    p.orphan_step == LKE_ORPHAN_TAINT ? "taint"
		    : p.orphan_step == LKE_ORPHAN_READ_PODS ? "read" : "drain",
		    (long long)w.instances[p.orphan].id);
	if (p.verb != r->verb)
		print_message("%s\n", p.why);
	assert_string_equal(lke_verb_name(p.verb), lke_verb_name(r->verb));
	assert_string_equal(got + (got[0] == ' '), r->want);
	if (r->why != NULL)
		assert_string_equal(p.why, r->why);
	/* What may never start has a time, or something that has to change. */
	if (p.verb == LKE_LIST)
		assert_true(p.retry_at_ms >= NOW_MS && p.retry_at_ms <= NOW_MS + 20000);
	if (strstr(r->words, "closed") != NULL || (p.own && strstr(r->words, "braked") != NULL))
		assert_int_equal(p.retry_at_ms, NOW_MS + 777);
}

/* C6, C12: lists come at 500 ms at first, and later after an eighth of the time that was waited so far. */
static void
c6_lists_are_spaced(void **state)
{
	static const struct {
		int64_t	waited_ms, want_ms;
	} spaced[] = { { 0, 500 }, { 500, 500 }, { 4000, 500 }, { 4800, 600 }, { 8000, 1000 },
	    { 60000, 7500 }, { 120000, 15000 }, { 3600000, 15000 }, { INT64_MAX / 2, 15000 } };
	static const struct row waiting = { .claims = "a", .machines = "", .words = "count=1" };
	struct world w;
	uint32_t assign[MOST];
	struct lke_plan p;

	(void)state;
	for (unsigned i = 0; i < 2 * NITEMS(spaced); i++) {
		read_row(&w, &waiting);
		w.in.tier = i % 2 == 0 ? LKE_STANDARD : LKE_ENTERPRISE;
		w.in.waits_ms = w.in.begun_ms - spaced[i / 2].waited_ms;
		lke_plan(&w.in, assign, &p);
		assert_int_equal(p.retry_at_ms, NOW_MS + spaced[i / 2].want_ms);
	}
	/* C6: 200 ms are enough to see what became of a call. */
	read_row(&w, &(struct row){ .claims = "a", .machines = "",
	    .words = "count=1 intent=sent kind=scale target=3 stale" });
	w.in.waits_ms = w.in.begun_ms;
	lke_plan(&w.in, assign, &p);
	assert_int_equal(p.retry_at_ms, NOW_MS + 200);
	/* One that is long ago delays nothing. */
	w.in.begun_ms = NOW_MS - 60000;
	lke_plan(&w.in, assign, &p);
	assert_int_equal(p.retry_at_ms, NOW_MS);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
		    (void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(c6_lists_are_spaced);
	return cmocka_run_group_tests_name("lke_plan", tests, NULL, NULL);
}
