/*
 * tests/unit/test_vpsie_fsm.c - the life of a VPSieNode: A9, A10, D1, D6, D10, D14, D16 to D18, D21 to D23,
 * E3, E4, L1 to L4, M3, and the defects 4 and 6 of the original.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/vpsie-claimer/fsm.h"
#include "obj.h"

#define IS(p)		.exists = true, .finalizer = true, .phase = PHASE_##p
#define GOING(p)	IS(p), .deleting = true
#define HAS		.identified = true, .listed = true, .running = true
#define JOINED		.node = true, .labelled = true, .named = true
#define GONE		.absence = ABSENCE_CONFIRMED

static const struct row {
	const char		*name;
	struct vpsie_facts	 in;
	enum vpsie_verb		 want;
	enum vpsie_phase	 next;
	const char		*reason;	/* NULL: none */
} rows[] = {
	{ "no VPSieNode", { .exists = false }, VPSIE_NOTHING, PHASE_NEW, NULL },
	{ "A2 a new one: the finalizer first", { .exists = true }, VPSIE_HOLD, PHASE_NEW, NULL },
	{ "D14 held: Pending", { IS(NEW) }, VPSIE_MOVE, PHASE_PENDING, "Pending" },
	{ "D14 then Provisioning", { IS(PENDING) }, VPSIE_MOVE, PHASE_PROVISIONING, "Provisioning" },
	{ "D15 no platform group yet", { IS(PENDING), .groupless = true }, VPSIE_WAIT, PHASE_PENDING, NULL },
	{ "a phase of a later version is left alone", { IS(OTHER) }, VPSIE_WAIT, PHASE_OTHER, NULL },
	{ "... also when it is deleted", { GOING(OTHER) }, VPSIE_WAIT, PHASE_OTHER, NULL },

	/* The request */
	{ "A10 D10 defect 4: the intent before the request", { IS(PROVISIONING) }, VPSIE_INTEND, PHASE_PROVISIONING, NULL },
	{ "A10 D10 then the request", { IS(PROVISIONING), .intent = true }, VPSIE_CREATE, PHASE_PROVISIONING, NULL },
	{ "D10 a request that may have left is not repeated",
	    { IS(PROVISIONING), .intent = true, .sent = true }, VPSIE_WAIT, PHASE_PROVISIONING, NULL },
	{ "D10 ... however many lists lack its machine",
	    { IS(PROVISIONING), .intent = true, .sent = true, GONE }, VPSIE_WAIT, PHASE_PROVISIONING, NULL },
	{ "no group known: no intent", { IS(PROVISIONING), .groupless = true }, VPSIE_WAIT, PHASE_PROVISIONING, NULL },
	{ "no group known: no request", { IS(PROVISIONING), .intent = true, .groupless = true }, VPSIE_WAIT, PHASE_PROVISIONING, NULL },
	{ "D23 refused for certain: the intent goes",
	    { IS(PROVISIONING), .intent = true, .refused = true }, VPSIE_WITHDRAW, PHASE_PROVISIONING, NULL },
	{ "D23 ... and comes again with the next try", { IS(PROVISIONING), .refused = true }, VPSIE_INTEND, PHASE_PROVISIONING, NULL },
	{ "D17 a capacity message is final", { IS(PROVISIONING), .intent = true, .refused = true, .capacity = true },
	    VPSIE_MOVE, PHASE_FAILED, "CapacityLimitReached" },
	{ "D17 ... also when the intent is gone", { IS(PROVISIONING), .refused = true, .capacity = true },
	    VPSIE_MOVE, PHASE_FAILED, "CapacityLimitReached" },

	/* Discovery */
	{ "D2 D3 D19 discovered: spec is written",
	    { IS(PROVISIONING), .intent = true, .sent = true, .found = true }, VPSIE_BIND,
	    PHASE_PROVISIONING, NULL },
	{ "D1 found at the last moment: found", { IS(PROVISIONING), .intent = true, .sent = true, .found = true, .expired = true },
	    VPSIE_BIND, PHASE_PROVISIONING, NULL },
	{ "D14 it runs: Provisioned", { IS(PROVISIONING), .intent = true, HAS }, VPSIE_MOVE, PHASE_PROVISIONED, "Provisioned" },
	{ "D18 a known id that does not run: read",
	    { IS(PROVISIONING), .identified = true, .listed = true }, VPSIE_READ, PHASE_PROVISIONING, NULL },
	{ "D18 404 while provisioning: not there yet", { IS(PROVISIONING), .identified = true, GONE },
	    VPSIE_READ, PHASE_PROVISIONING, NULL },
	{ "its address came late", { IS(PROVISIONING), HAS, .moved = true }, VPSIE_BIND, PHASE_PROVISIONING, NULL },
	{ "D19 the last error is shown while it waits",
	    { IS(PROVISIONING), .intent = true, .sent = true, .stale = true }, VPSIE_STATUS,
	    PHASE_PROVISIONING, NULL },
	{ "D6 E3 12.2 requested and never found: DiscoveryTimeout", { IS(PROVISIONING), .intent = true, .sent = true, .expired = true },
	    VPSIE_MOVE, PHASE_FAILED, "DiscoveryTimeout" },
	{ "E3 found, and it never ran: ProvisioningTimeout", { IS(PROVISIONING), .intent = true, .identified = true, .expired = true },
	    VPSIE_MOVE, PHASE_FAILED, "ProvisioningTimeout" },
	{ "E3 never requested: ProvisioningTimeout", { IS(PROVISIONING), .expired = true },
	    VPSIE_MOVE, PHASE_FAILED, "ProvisioningTimeout" },
	{ "D22 the annotation without our watermark: not requested again", { IS(PROVISIONING), .intent = true, .sent = true },
	    VPSIE_WAIT, PHASE_PROVISIONING, NULL },

	/* Joining */
	{ "D14 no phase is passed over", { IS(PROVISIONED), HAS, JOINED, .node_ready = true }, VPSIE_MOVE, PHASE_JOINING, "Joining" },
	{ "12.2 deleted outside before it joined", { IS(PROVISIONED), .identified = true, GONE }, VPSIE_MOVE, PHASE_FAILED, "VPSNotFound" },
	{ "not joined yet", { IS(JOINING), HAS }, VPSIE_WAIT, PHASE_JOINING, NULL },
	{ "L1 L2 L3 L4 D13 its Node is there: labels", { IS(JOINING), HAS, .node = true }, VPSIE_LABEL, PHASE_JOINING, NULL },
	{ "L4 labels before Ready", { IS(JOINING), HAS, .node = true, .node_ready = true }, VPSIE_LABEL, PHASE_JOINING, NULL },
	{ "M3 labelled: nodeName and joinedAt", { IS(JOINING), HAS, JOINED, .stale = true }, VPSIE_STATUS, PHASE_JOINING, NULL },
	{ "labelled, not ready", { IS(JOINING), HAS, JOINED }, VPSIE_WAIT, PHASE_JOINING, NULL },
	{ "D14 ready: Ready", { IS(JOINING), HAS, JOINED, .node_ready = true }, VPSIE_MOVE, PHASE_READY, "Ready" },
	{ "ready at the last moment",
	    { IS(JOINING), HAS, JOINED, .node_ready = true, .join_expired = true }, VPSIE_MOVE,
	    PHASE_READY, "Ready" },
	{ "E3 never ready: JoiningTimeout", { IS(JOINING), HAS, .join_expired = true }, VPSIE_MOVE, PHASE_FAILED, "JoiningTimeout" },
	{ "12.2 its Node disappears: it waits for it", { IS(JOINING), HAS, .named = true }, VPSIE_WAIT, PHASE_JOINING, NULL },
	{ "D22 id 0: its machine is discovered by its address", { IS(JOINING), .found = true }, VPSIE_BIND, PHASE_JOINING, NULL },

	/* Ready */
	{ "A1 nothing to do", { IS(READY), HAS, JOINED, .node_ready = true }, VPSIE_WAIT, PHASE_READY, NULL },
	{ "D21 NotReady: a condition, the phase stays", { IS(READY), HAS, JOINED, .stale = true }, VPSIE_STATUS, PHASE_READY, NULL },
	{ "D21 the Node is gone: Joining", { IS(READY), HAS, .named = true }, VPSIE_MOVE, PHASE_JOINING, "NodeNotFound" },
	{ "D16 D21 the machine is gone: Failed", { IS(READY), .identified = true, JOINED, GONE }, VPSIE_MOVE, PHASE_FAILED, "VPSNotFound" },
	{ "D16 one list without it: nothing", { IS(READY), .identified = true, JOINED, .node_ready = true, .absence = ABSENCE_WAIT },
	    VPSIE_WAIT, PHASE_READY, NULL },
	{ "D23 labels removed by hand are put back",
	    { IS(READY), HAS, .node = true, .named = true, .node_ready = true }, VPSIE_LABEL,
	    PHASE_READY, NULL },
	{ "its address changes", { IS(READY), HAS, JOINED, .node_ready = true, .moved = true }, VPSIE_BIND, PHASE_READY, NULL },
	{ "D22 Ready with id 0, its machine in no list", { IS(READY), JOINED, .node_ready = true, GONE }, VPSIE_WAIT, PHASE_READY, NULL },
	{ "a finalizer removed by hand is put back",
	    { .exists = true, .phase = PHASE_READY, HAS, JOINED, .node_ready = true }, VPSIE_HOLD,
	    PHASE_READY, NULL },
	{ "timeouts of earlier phases do not count", { IS(READY), HAS, JOINED, .node_ready = true, .expired = true, .join_expired = true },
	    VPSIE_WAIT, PHASE_READY, NULL },

	/* Deletion */
	{ "D14 deleted: Terminating", { GOING(READY), HAS, JOINED }, VPSIE_MOVE, PHASE_TERMINATING, "Terminating" },
	{ "deleted while it was requested", { GOING(PROVISIONING), .intent = true, .sent = true },
	    VPSIE_MOVE, PHASE_TERMINATING, "Terminating" },
	{ "deleted, somebody else's finalizer",
	    { .exists = true, .deleting = true, .phase = PHASE_DELETING }, VPSIE_WAIT, PHASE_DELETING, NULL },
	{ "A6 a phase of deletion, and no deletion: nothing is destroyed", { IS(DELETING), HAS }, VPSIE_WAIT, PHASE_DELETING, NULL },
	{ "A6 ... nor drained", { IS(TERMINATING), HAS, JOINED }, VPSIE_WAIT, PHASE_TERMINATING, NULL },
	{ "D15 drained first", { GOING(TERMINATING), HAS, JOINED }, VPSIE_DRAIN, PHASE_TERMINATING, NULL },
	{ "D11 a machine that is only a candidate: its Node is not drained",
	    { GOING(TERMINATING), .intent = true, .sent = true, .node = true },
	    VPSIE_MOVE, PHASE_DELETING, "Deleting" },
	{ "D22 only the name of its Node is known: drained", { GOING(TERMINATING), JOINED },
	    VPSIE_DRAIN, PHASE_TERMINATING, NULL },
	{ "drained: Deleting", { GOING(TERMINATING), HAS, JOINED, .drained = true }, VPSIE_MOVE, PHASE_DELETING, "Deleting" },
	{ "it never joined", { GOING(TERMINATING), HAS }, VPSIE_MOVE, PHASE_DELETING, "Deleting" },
	{ "A8 just taken over: its Node may come later", { GOING(TERMINATING), HAS, .took_over = true },
	    VPSIE_WAIT, PHASE_TERMINATING, NULL },
	{ "A8 ... nor is the VM deleted", { GOING(DELETING), HAS, .took_over = true }, VPSIE_WAIT, PHASE_DELETING, NULL },
	{ "A8 ... its Node is known", { GOING(DELETING), HAS, JOINED, .drained = true, .took_over = true },
	    VPSIE_DESTROY, PHASE_DELETING, NULL },
	{ "A8 ... it has no VM", { GOING(TERMINATING), .took_over = true }, VPSIE_MOVE, PHASE_DELETING, "Deleting" },
	{ "D16 its machine is there", { GOING(DELETING), HAS, JOINED, .drained = true }, VPSIE_DESTROY, PHASE_DELETING, NULL },
	{ "D16 defect 6: one list without it proves nothing", { GOING(DELETING), .identified = true, .absence = ABSENCE_WAIT },
	    VPSIE_WAIT, PHASE_DELETING, NULL },
	{ "D15 its machine was found only now, and has a Node: drained first", { GOING(DELETING), HAS, JOINED },
	    VPSIE_DRAIN, PHASE_DELETING, NULL },
	{ "D15 ... a Node whose machine is gone is not drained",
	    { GOING(DELETING), .identified = true, JOINED, GONE },
	    VPSIE_UNJOIN, PHASE_DELETING, NULL },
	{ "D16 two lists without it, its Node object is left", { GOING(DELETING), .identified = true, JOINED, .drained = true, GONE },
	    VPSIE_UNJOIN, PHASE_DELETING, NULL },
	{ "D16 two lists without it: released", { GOING(DELETING), .identified = true, GONE }, VPSIE_RELEASE, PHASE_DELETING, NULL },
	{ "nothing was ever requested: released", { GOING(DELETING) }, VPSIE_RELEASE, PHASE_DELETING, NULL },
	{ "the request was not sent for certain: released", { GOING(DELETING), .intent = true }, VPSIE_RELEASE, PHASE_DELETING, NULL },
	{ "A2 its machine may still appear", { GOING(DELETING), .intent = true, .sent = true, GONE }, VPSIE_WAIT, PHASE_DELETING, NULL },
	{ "A2 it appears: bound, to be destroyed",
	    { GOING(DELETING), .intent = true, .sent = true, .found = true }, VPSIE_BIND,
	    PHASE_DELETING, NULL },
	{ "A2 its time is over, one list without it",
	    { GOING(DELETING), .intent = true, .sent = true, .expired = true, .absence = ABSENCE_WAIT },
	    VPSIE_WAIT, PHASE_DELETING, NULL },
	{ "A2 its time is over, two lists without it", { GOING(DELETING), .intent = true, .sent = true, .expired = true, GONE },
	    VPSIE_RELEASE, PHASE_DELETING, NULL },

	/* Failed */
	{ "E4 D14 Failed stays", { IS(FAILED), .intent = true, .sent = true, .expired = true }, VPSIE_WAIT, PHASE_FAILED, NULL },
	{ "A2 D16 E4 its machine appears late: bound, and it stays Failed",
	    { IS(FAILED), .intent = true, .sent = true, .found = true }, VPSIE_BIND, PHASE_FAILED, NULL },
	{ "A2 D16 ... before failed-ttl removes it",
	    { IS(FAILED), .intent = true, .sent = true, .found = true, .ttl_expired = true }, VPSIE_BIND,
	    PHASE_FAILED, NULL },
	{ "E4 ... and then nothing more", { IS(FAILED), .intent = true, HAS }, VPSIE_WAIT, PHASE_FAILED, NULL },
	{ "E4 deleted by hand", { GOING(FAILED), .intent = true, .sent = true }, VPSIE_MOVE, PHASE_TERMINATING, "Terminating" },
	{ "D14 failed-ttl, when it is set", { IS(FAILED), .ttl_expired = true }, VPSIE_REMOVE, PHASE_FAILED, "TTLExpired" },
	{ "D22 Failed of the original: its status is left", { IS(FAILED) }, VPSIE_WAIT, PHASE_FAILED, NULL },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	const struct vpsie_step s = vpsie_step(&r->in);

	assert_string_equal(vpsie_verb_name(s.verb), vpsie_verb_name(r->want));
	assert_string_equal(vpsie_phase_name(s.next), vpsie_phase_name(r->next));
	assert_string_equal(s.reason == NULL ? "" : s.reason, r->reason == NULL ? "" : r->reason);
	assert_true(strlen(s.why) > 5);
	/* A phase that is written has a reason and a message; 11.3 has the text of the seed. */
	if (s.verb == VPSIE_MOVE)
		assert_true(strlen(s.reason) > 0 && strlen(s.message) > 0);
	if (r->reason != NULL && strcmp(r->reason, "DiscoveryTimeout") == 0)
		assert_string_equal(s.message,
		    "VPS discovery timeout: unable to discover VPS ID after async provisioning");
}

/* Every combination of facts: what must hold whatever is observed. */
static void
D10_A6_no_fact_permits_a_second_request_or_an_undue_deletion(void **state)
{
	uint64_t cases = 0;

	(void)state;
	for (unsigned phase = 0; phase < PHASE_MAX; phase++) {
		for (unsigned bits = 0; bits < 1u << 16; bits++) {
			const struct vpsie_facts f = { .exists = true,
				.phase = (enum vpsie_phase)phase,
				.deleting = bits & 1,
				.finalizer = bits >> 1 & 1,
				.intent = bits >> 2 & 1,
				.identified = bits >> 3 & 1,
				.stale = bits >> 4 & 1,
				.groupless = bits >> 5 & 1,
				.sent = bits >> 6 & 1,
				.refused = bits >> 7 & 1,
				.found = bits >> 8 & 1,
				.listed = bits >> 9 & 1,
				.running = bits >> 9 & 1,
				.node = bits >> 10 & 1,
				.labelled = bits >> 11 & 1,
				.drained = bits >> 12 & 1,
				.expired = bits >> 13 & 1,
				.absence = (bits >> 14) % 3 };
			const struct vpsie_step s = vpsie_step(&f);

			cases++;
			if (s.verb == VPSIE_CREATE)
				assert_true(f.intent && !f.sent && !f.identified && !f.deleting
				    && f.finalizer);
			if (s.verb == VPSIE_INTEND)
				assert_true(!f.intent && !f.identified && !f.deleting);
			if (s.verb == VPSIE_DESTROY || s.verb == VPSIE_DRAIN
			    || s.verb == VPSIE_UNJOIN)
				assert_true(f.deleting && f.finalizer);
			if (s.verb == VPSIE_RELEASE && f.identified)
				assert_int_equal(f.absence, ABSENCE_CONFIRMED);
			/* D23: one phase at a time. */
			if (s.verb == VPSIE_MOVE && s.next == PHASE_READY)
				assert_int_equal(f.phase, PHASE_JOINING);
			if (s.verb != VPSIE_MOVE)
				assert_int_equal(s.next, f.phase);
		}
	}
	assert_int_equal(cases, (uint64_t)PHASE_MAX << 16);
}

static void
A9_an_expiry_needs_two_observations(void **state)
{
	enum { MINUTE = 60 * 1000, LIMIT = 15 * MINUTE };
	const int64_t since = 1000000, late = since + INT64_C(16) * MINUTE * 1000;
	struct absence a = { .seen = false };

	(void)state;
	assert_false(
	    vpsie_expired(&a, since, LIMIT, since + INT64_C(15) * MINUTE * 1000, 5000, 100));
	assert_false(vpsie_expired(&a, since, LIMIT, late, 5000, 1000));
	assert_false(vpsie_expired(&a, since, LIMIT, late, 5000, 5999));
	assert_true(vpsie_expired(&a, since, LIMIT, late, 5000, 6000));
	/* A jump of the clock there and back between two observations. */
	a = (struct absence){ .seen = false };
	assert_false(vpsie_expired(&a, since, LIMIT, late, 5000, 1000));
	assert_false(vpsie_expired(&a, since, LIMIT, since + MINUTE, 5000, 4000));
	assert_false(vpsie_expired(&a, since, LIMIT, late, 5000, 6500));
	/* No start, or no limit: never. */
	for (int64_t at = 0; at < 100000; at += 10000) {
		assert_false(vpsie_expired(&a, 0, LIMIT, late, 5000, at));
		assert_false(vpsie_expired(&a, since, 0, late, 5000, at));
	}
}

static void
D14_phases_have_the_original_names(void **state)
{
	(void)state;
	for (unsigned p = 0; p < PHASE_OTHER; p++)
		assert_int_equal(
		    vpsie_phase_of(wire_str_of(vpsie_phase_name((enum vpsie_phase)p))), p);
	assert_int_equal(vpsie_phase_of(wire_str_of("Hibernating")), PHASE_OTHER);
	assert_string_equal(vpsie_phase_name(PHASE_MAX), "?");
	assert_string_equal(vpsie_verb_name(VPSIE_VERB_MAX), "?");
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 3];
	size_t n = 0;

	for (; n < NITEMS(rows); n++)
		tests[n] = (struct CMUnitTest){ rows[n].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(
	    D10_A6_no_fact_permits_a_second_request_or_an_undue_deletion);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(A9_an_expiry_needs_two_observations);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(D14_phases_have_the_original_names);
	return _cmocka_run_group_tests("vpsie_fsm", tests, n, NULL, NULL);
}
