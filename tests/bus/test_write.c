/*
 * tests/bus/test_write.c - writes between honest ends: each ends exactly once and truthfully, and
 * whoever wrote sees its own write. Two buses over real sockets.
 *
 * muster-test: parallel
 */
#include "write_rig.h"

#include "random.h"

#define A	"namespaces/a"
#define B	"namespaces/b"

static void
a_write_is_answered_and_seen(void **state)
{
	struct office o;

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	const uint64_t id = office_ask(&o, OP_MERGE, A, 10000);
	RIG_UNTIL(&o.rig, o.watcher.nasked == 1);
	const struct asked *a = &o.watcher.asked[0];
	assert_int_equal(a->id, id);
	assert_int_equal(a->op, OP_MERGE);
	assert_int_equal(a->from, ROLE_TEST_KUBE_1);
	assert_int_equal(a->trace, 77);
	assert_string_equal(a->key, A);
	assert_string_equal(a->body, "{}");
	office_answer(&o, a, "2", "y");
	RIG_UNTIL(&o.rig, d->nresults == 1);
	assert_int_equal(d->results[0].id, id);
	assert_int_equal(d->results[0].outcome, OUTCOME_OK);
	assert_int_equal(d->results[0].status, 200);
	assert_int_equal(d->results[0].nitems, 1);
	assert_string_equal(d->results[0].seen_rv, "2");
	assert_int_equal(d->end.updated, 1);
	rig_turn(&o.rig, 50);		/* the same as a delta, which is no news */
	assert_int_equal(d->end.updated, 1);
	assert_int_equal(d->nresults, 1);
	office_end(&o);
}

/* An own write that changes nothing anybody reads moves the resourceVersion, and wakes no handler. */
static void
the_same_bytes_move_the_version(void **state)
{
	struct office o;

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	office_ask(&o, OP_MERGE, A, 10000);
	RIG_UNTIL(&o.rig, o.watcher.nasked == 1);
	office_answer(&o, &o.watcher.asked[0], "9", "x");
	RIG_UNTIL(&o.rig, d->nresults == 1);
	assert_string_equal(d->results[0].seen_rv, "9");
	assert_int_equal(d->end.updated, 0);
	office_end(&o);
}

static void
what_was_made_and_what_is_gone(void **state)
{
	struct office o;
	const struct body_result ok = { .outcome = OUTCOME_OK, .status = 200 };
	const char *const keys[] = { B, "namespaces/unheard-of" };

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	office_ask(&o, OP_CREATE, B, 10000);
	RIG_UNTIL(&o.rig, o.watcher.nasked == 1);
	office_answer(&o, &o.watcher.asked[0], "5", "new");
	RIG_UNTIL(&o.rig, d->nresults == 1);
	assert_string_equal(d->results[0].seen_rv, "5");
	assert_int_equal(d->end.added, 2);
	office_ask(&o, OP_DELETE, B, 10000);
	RIG_UNTIL(&o.rig, o.watcher.nasked == 2);
	office_remove(&o, LINK_KUBE_TEST_1, B);
	bus_result(o.watcher.end.bus, o.watcher.asked[1].handle, &ok, keys, NITEMS(keys));
	RIG_UNTIL(&o.rig, d->nresults == 2);
	assert_int_equal(d->results[1].nitems, 1);
	assert_string_equal(d->results[1].seen_rv, "");
	assert_int_equal(d->end.gone, 1);
	office_end(&o);
}

/*
 * Answers come beside the numbers and the credit of the session; still both ends hold the same,
 * which every exact beat compares. So many random writes that each way for them to differ is met,
 * then beats.
 */
static void
beats_stay_exact(void **state)
{
	enum { WRITES = 400, NAMES = 6 };
	static const char *const names[NAMES] = { A, B, "namespaces/c", "namespaces/d",
		"namespaces/e", "namespaces/f" };
	struct office o;
	uint64_t seed = 11;

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	for (unsigned n = 0; n < WRITES; n++) {
		const char *const key = names[random_below(&seed, NAMES)];
		char rv[16];

		office_ask(&o, OP_APPLY, key, 10000);
		RIG_UNTIL(&o.rig, o.watcher.nasked == 1);
		const struct asked a = o.watcher.asked[0];
		o.watcher.nasked = 0;
		snprintf(rv, sizeof(rv), "%u", 10 + n);
		office_answer(&o, &a, rv, random_below(&seed, 2) == 0 ? "x" : "y");
		for (uint64_t i = random_below(&seed, 3); i > 0; i--) {	/* the watch goes on meanwhile */
			const char *const other = names[random_below(&seed, NAMES)];

			if (random_below(&seed, 2) == 0)
				office_remove(&o, LINK_KUBE_TEST_1, other);
			else
				office_put(&o, LINK_KUBE_TEST_1, other, rv, "z", false);
		}
		RIG_UNTIL(&o.rig, d->nresults == n + 1);
		assert_int_equal(d->results[n].outcome, OUTCOME_OK);
		if (random_below(&seed, 2) == 0)
			rig_turn(&o.rig, 1);
	}
	const double frames = office_stat(STAT_BUS_FRAMES, "direction", "in");
	/* Nothing but beats. */
	RIG_UNTIL(&o.rig, office_stat(STAT_BUS_FRAMES, "direction", "in") >= frames + 3);
	assert_int_equal((int)office_stat(STAT_RESYNC, "reason", "hash"), 0);
	assert_int_equal(d->end.synced, 1);
	office_end(&o);
}

static void
so_many_and_no_more(void **state)
{
	struct office o;

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	for (unsigned n = 0; n < WRITES_PER_SENDER + 3; n++)
		office_ask(&o, OP_LIST, A, 10000);
	RIG_UNTIL(&o.rig, o.watcher.nasked == WRITES_PER_SENDER && d->nresults == 3);
	for (unsigned n = 0; n < 3; n++)
		assert_int_equal(d->results[n].outcome, OUTCOME_BUSY);
	for (unsigned n = 0; n < WRITES_PER_SENDER; n++)
		office_answer(&o, &o.watcher.asked[n], "2", "x");
	RIG_UNTIL(&o.rig, d->nresults == WRITES_PER_SENDER + 3);
	for (unsigned n = 3; n < d->nresults; n++)
		assert_int_equal(d->results[n].outcome, OUTCOME_OK);
	office_end(&o);
}

/* A `done` that asks again at once: the loop still turns, and in the end there is room. */
static void
ask_again(struct desk *d, const struct write_result *r)
{
	const struct write_request w = {
		.op = OP_MERGE, .resource = "namespaces", .name = "a", .timeout_ms = 10000
	};

	if (r->outcome == OUTCOME_BUSY)
		bus_write(d->end.bus, d->link, &w, NULL, NULL);
}

/* As many as may be in flight. */
static void
fill(struct office *o)
{
	for (unsigned n = 0; n < WRITES_PER_SENDER; n++)
		office_ask(o, OP_MERGE, A, 10000);
	RIG_UNTIL(&o->rig, o->watcher.nasked == WRITES_PER_SENDER);
}

static void
asking_again_at_once_holds_nobody(void **state)
{
	struct office o;

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	fill(&o);
	d->on_result = ask_again;
	office_ask(&o, OP_MERGE, A, 10000);
	RIG_UNTIL(&o.rig, d->nresults >= 3);
	office_answer(&o, &o.watcher.asked[0], "2", "y");
	RIG_UNTIL(&o.rig, o.watcher.nasked == WRITES_PER_SENDER + 1);
	office_end(&o);
}

static void
nothing_is_sent_before_the_picture_is_complete(void **state)
{
	struct office o;

	(void)state;
	memset(&o, 0, sizeof(o));
	rig_init(&o.rig);
	office_watcher(&o, WATCHER, false);
	office_open(&o, &o.actors[0], ROLE_TEST_KUBE_1, LINK_KUBE_TEST_1, 1);
	office_introduce(&o, &o.actors[0]);
	struct desk *d = &o.actors[0];
	const uint64_t patient = office_ask(&o, OP_MERGE, A, 15000);
	const uint64_t hasty = office_ask(&o, OP_MERGE, B, 100);
	RIG_UNTIL(&o.rig, d->nresults == 1);
	assert_int_equal(d->results[0].id, hasty);
	assert_int_equal(d->results[0].outcome, OUTCOME_EXPIRED);
	assert_int_equal(o.watcher.nasked, 0);
	link_store_set_ready(bus_store(o.watcher.end.bus, LINK_KUBE_TEST_1));
	bus_touch(o.watcher.end.bus);
	RIG_UNTIL(&o.rig, o.watcher.nasked == 1);
	assert_int_equal(o.watcher.asked[0].id, patient);
	assert_int_equal(d->end.synced, 1);
	office_end(&o);
}

static void
a_lost_session_leaves_sent_writes_unknown(void **state)
{
	struct office o;

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	office_ask(&o, OP_MERGE, A, 15000);
	RIG_UNTIL(&o.rig, o.watcher.nasked == 1);
	rig_close(&o.watcher.end);
	const uint64_t unsent = office_ask(&o, OP_MERGE, B, 15000);
	o.watcher.nasked = 0;
	office_watcher(&o, WATCHER + 1, true);
	office_introduce(&o, d);
	RIG_UNTIL(&o.rig, d->nresults == 1 && o.watcher.nasked == 1);
	assert_int_equal(d->results[0].outcome, OUTCOME_UNKNOWN);
	assert_int_equal(o.watcher.asked[0].id, unsent);
	office_answer(&o, &o.watcher.asked[0], "3", "y");
	RIG_UNTIL(&o.rig, d->nresults == 2);
	assert_int_equal(d->results[1].id, unsent);
	assert_int_equal(d->results[1].outcome, OUTCOME_OK);
	assert_int_equal(d->end.gone, 0);
	office_end(&o);
}

static void
no_answer_in_time_is_unknown_and_a_late_one_still_shows(void **state)
{
	struct office o;

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	const int64_t before_ms = clock_mono_ms();
	office_ask(&o, OP_MERGE, A, 50);
	RIG_UNTIL(&o.rig, d->nresults == 1);
	assert_int_equal(d->results[0].outcome, OUTCOME_UNKNOWN);
	assert_true(clock_mono_ms() - before_ms >= 50 + WRITE_GRACE_MS);
	office_answer(&o, &o.watcher.asked[0], "2", "late");
	RIG_UNTIL(&o.rig, d->end.updated == 1);
	rig_turn(&o.rig, 20);
	assert_int_equal(d->nresults, 1);
	assert_int_equal(d->end.synced, 1);
	assert_int_equal(d->end.nreports, 0);
	office_end(&o);
}

static void
a_handle_of_a_lost_session_is_void(void **state)
{
	struct office o;
	const struct body_result ok = { .outcome = OUTCOME_OK };
	const struct body_item item = { .key = wire_str_of(A), .gone = true };

	(void)state;
	office_start(&o);
	office_ask(&o, OP_MERGE, A, 10000);
	RIG_UNTIL(&o.rig, o.watcher.nasked == 1);
	struct desk *d = &o.actors[0];
	rig_close(&d->end);
	office_open(&o, d, ROLE_TEST_KUBE_1, LINK_KUBE_TEST_1, 2);
	office_introduce(&o, d);
	RIG_UNTIL(&o.rig, d->end.synced == 1);
	assert_int_equal(o.watcher.ended_of[ROLE_TEST_KUBE_1], 1);	/* the producer is told, once */
	assert_int_equal(bus_result_items(o.watcher.end.bus, o.watcher.asked[0].handle, &item, 1), E_OK);
	bus_result(o.watcher.end.bus, o.watcher.asked[0].handle, &ok, NULL, 0);
	bus_result(o.watcher.end.bus, o.watcher.asked[0].handle, &ok, NULL, 0);
	rig_turn(&o.rig, 20);
	assert_int_equal(d->nresults, 0);
	assert_int_equal(d->end.nreports, 0);
	office_end(&o);
}

static void
sum_items(struct desk *d, const struct write_result *r)
{
	(void)d;
	assert_int_equal(r->nitems, 1001);
	for (size_t i = 0; i < 1000; i++) {
		char key[64], json[64];

		snprintf(key, sizeof(key), "secrets/ns/s-%zu", i);
		snprintf(json, sizeof(json), "{\"n\":%zu}", i);
		assert_int_equal(wire_str_compare(r->items[i].key, wire_str_of(key)), 0);
		assert_int_equal(r->items[i].type, MSG_RAW);
		assert_int_equal(r->items[i].kind, CHANGE_UPDATED);
		assert_int_equal(wire_str_compare(r->items[i].value->raw.json, wire_str_of(json)), 0);
	}
	assert_int_equal(r->items[1000].type, MSG_NAMESPACE);
	assert_int_equal(wire_str_compare(r->items[1000].key, wire_str_of(A)), 0);
}

/* A live list of what nobody projects: many frames, none of it in the mirror. */
static void
a_long_answer(void **state)
{
	struct office o;
	struct body_item items[1000];
	char keys[1000][32], jsons[1000][32];
	msgpack_sbuffer values[1000];
	const char *const stored[] = { A };
	const struct body_result ok = { .outcome = OUTCOME_OK };

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	d->on_result = sum_items;
	office_ask(&o, OP_LIST, A, 10000);
	RIG_UNTIL(&o.rig, o.watcher.nasked == 1);
	for (size_t i = 0; i < NITEMS(items); i++) {
		snprintf(keys[i], sizeof(keys[i]), "secrets/ns/s-%zu", i);
		snprintf(jsons[i], sizeof(jsons[i]), "{\"n\":%zu}", i);
		msgpack_sbuffer_init(&values[i]);
		msg_pack(&values[i], MSG_RAW, &(union msg_body){ .raw = { .json = wire_str_of(jsons[i]) } });
		items[i] = (struct body_item){ .key = wire_str_of(keys[i]), .type = msg_table[MSG_RAW].number,
			.value = { .p = (const uint8_t *)values[i].data, .len = (uint32_t)values[i].size } };
	}
	assert_int_equal(
	    bus_result_items(o.watcher.end.bus, o.watcher.asked[0].handle, items, NITEMS(items)),
	    E_OK);
	bus_result(o.watcher.end.bus, o.watcher.asked[0].handle, &ok, stored, 1);
	RIG_UNTIL(&o.rig, d->nresults == 1);
	assert_int_equal(d->results[0].outcome, OUTCOME_OK);
	assert_int_equal(d->end.added, 1);
	assert_int_equal(d->end.nreports, 0);
	for (size_t i = 0; i < NITEMS(items); i++)
		msgpack_sbuffer_destroy(&values[i]);
	office_end(&o);
}

/* What does not fit is refused where it arises, not by the peer. */
static void
sizes(void **state)
{
	static char large[LINK_STORE_VALUE_MAX + 1], wordy[100000];
	struct office o;
	struct body_item item = { .key = wire_str_of(A), .type = msg_table[MSG_RAW].number };

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	memset(large, ' ', sizeof(large));
	memset(wordy, '\0', sizeof(wordy));
	for (size_t i = 0; i + 2 < sizeof(wordy); i += 2)
		memcpy(wordy + i, "\xc3\xa9", 2);
	struct write_request w = { .op = OP_UPDATE,
		.resource = "namespaces",
		.name = "a",
		.timeout_ms = 10000,
		.body = large,
		.body_len = WRITE_BODY_MAX + 1 };
	bus_write(d->end.bus, d->link, &w, NULL, NULL);
	RIG_UNTIL(&o.rig, d->nresults == 1);
	assert_int_equal(d->results[0].outcome, OUTCOME_INVALID);
	w.body_len = WRITE_BODY_MAX;
	bus_write(d->end.bus, d->link, &w, NULL, NULL);
	RIG_UNTIL(&o.rig, o.watcher.nasked == 1);
	item.value = (struct wire_bin){ .p = (const uint8_t *)large, .len = LINK_STORE_VALUE_MAX + 1 };
	const uint64_t handle = o.watcher.asked[0].handle;
	assert_int_equal(bus_result_items(o.watcher.end.bus, handle, &item, 1), E_TOO_BIG);
	const struct body_result r = { .outcome = OUTCOME_FAILED, .reason = wire_str_of(wordy),
		.message = wire_str_of(wordy), .causes = wire_str_of(wordy), .rv = wire_str_of(wordy) };
	bus_result(o.watcher.end.bus, handle, &r, NULL, 0);
	RIG_UNTIL(&o.rig, d->nresults == 2);
	assert_int_equal(d->results[1].outcome, OUTCOME_FAILED);
	assert_int_equal(d->end.nreports, 0);
	office_end(&o);
}

static void
only_named_peers_are_there(void **state)
{
	struct office o;

	(void)state;
	office_start(&o);
	assert_true(bus_has_peer(o.watcher.end.bus, ROLE_TEST_KUBE_1));
	assert_false(bus_has_peer(o.watcher.end.bus, ROLE_TEST_KUBE_2));
	bus_peer(o.watcher.end.bus, ROLE_TEST_KUBE_2, 0, NULL, NULL, PEER_DOWN);
	assert_true(bus_has_peer(o.watcher.end.bus, ROLE_TEST_KUBE_2));
	bus_peer(o.watcher.end.bus, ROLE_TEST_KUBE_1, 1, NULL, NULL, PEER_OFF);
	assert_false(bus_has_peer(o.watcher.end.bus, ROLE_TEST_KUBE_1));
	office_end(&o);
}

/* The watcher leaves the configuration with a write under way. */
static void
a_watcher_that_is_off(void **state)
{
	struct office o;

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	office_ask(&o, OP_MERGE, A, 10000);
	RIG_UNTIL(&o.rig, o.watcher.nasked == 1);
	office_ask(&o, OP_MERGE, B, 200);
	bus_peer(d->end.bus, ROLE_KUBE_WATCHER, WATCHER, NULL, NULL, PEER_OFF);
	RIG_UNTIL(&o.rig, d->nresults == 2);
	assert_int_equal(d->results[0].outcome, OUTCOME_UNKNOWN);
	assert_int_equal(d->results[1].outcome, OUTCOME_EXPIRED);
	office_end(&o);
}

/* The process ends: whoever waits is told, once; who then asks again is not heard. */
static void
nobody_is_left_waiting(void **state)
{
	struct office o;

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	fill(&o);
	d->on_result = ask_again;
	office_ask(&o, OP_MERGE, A, 10000);
	bus_end_writes(d->end.bus);
	assert_int_equal(d->nresults, 1 + WRITES_PER_SENDER);
	assert_int_equal(d->results[0].outcome, OUTCOME_BUSY);
	for (unsigned n = 1; n < d->nresults; n++)
		assert_int_equal(d->results[n].outcome, OUTCOME_UNKNOWN);
	office_end(&o);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_is_answered_and_seen),
		cmocka_unit_test(the_same_bytes_move_the_version),
		cmocka_unit_test(what_was_made_and_what_is_gone),
		cmocka_unit_test(beats_stay_exact),
		cmocka_unit_test(so_many_and_no_more),
		cmocka_unit_test(asking_again_at_once_holds_nobody),
		cmocka_unit_test(nothing_is_sent_before_the_picture_is_complete),
		cmocka_unit_test(a_lost_session_leaves_sent_writes_unknown),
		cmocka_unit_test(no_answer_in_time_is_unknown_and_a_late_one_still_shows),
		cmocka_unit_test(a_handle_of_a_lost_session_is_void),
		cmocka_unit_test(a_long_answer),
		cmocka_unit_test(sizes),
		cmocka_unit_test(only_named_peers_are_there),
		cmocka_unit_test(a_watcher_that_is_off),
		cmocka_unit_test(nobody_is_left_waiting),
	};

	return cmocka_run_group_tests_name("write", tests, NULL, NULL);
}
