/*
 * tests/bus/test_write.c - writes between valid ends: each ends exactly once and with the right result,
 * and the sender's mirror holds its own write. Two buses over real sockets.
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
	struct write_rig wr;

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	const uint64_t id = write_rig_request(&wr, OP_MERGE, A, 10000);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 1);
	const struct received_write *a = &wr.watcher.received[0];
	assert_int_equal(a->id, id);
	assert_int_equal(a->op, OP_MERGE);
	assert_int_equal(a->from, ROLE_TEST_KUBE_1);
	assert_int_equal(a->trace, 77);
	assert_string_equal(a->key, A);
	assert_string_equal(a->body, "{}");
	write_rig_answer(&wr, a, "2", "y");
	RIG_UNTIL(&wr.rig, p->nresults == 1);
	assert_int_equal(p->results[0].id, id);
	assert_int_equal(p->results[0].outcome, OUTCOME_OK);
	assert_int_equal(p->results[0].status, 200);
	assert_int_equal(p->results[0].nitems, 1);
	assert_string_equal(p->results[0].seen_rv, "2");
	assert_int_equal(p->end.updated, 1);
	rig_turn(&wr.rig, 50);		/* the same object as a delta, which is no change */
	assert_int_equal(p->end.updated, 1);
	assert_int_equal(p->nresults, 1);
	write_rig_end(&wr);
}

/* An own write that changes no field that is read moves the resourceVersion, and calls no handler. */
static void
the_same_bytes_move_the_version(void **state)
{
	struct write_rig wr;

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	write_rig_request(&wr, OP_MERGE, A, 10000);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 1);
	write_rig_answer(&wr, &wr.watcher.received[0], "9", "x");
	RIG_UNTIL(&wr.rig, p->nresults == 1);
	assert_string_equal(p->results[0].seen_rv, "9");
	assert_int_equal(p->end.updated, 0);
	write_rig_end(&wr);
}

static void
a_created_and_a_deleted_object(void **state)
{
	struct write_rig wr;
	const struct body_result ok = { .outcome = OUTCOME_OK, .status = 200 };
	const char *const keys[] = { B, "namespaces/unknown" };

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	write_rig_request(&wr, OP_CREATE, B, 10000);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 1);
	write_rig_answer(&wr, &wr.watcher.received[0], "5", "new");
	RIG_UNTIL(&wr.rig, p->nresults == 1);
	assert_string_equal(p->results[0].seen_rv, "5");
	assert_int_equal(p->end.added, 2);
	write_rig_request(&wr, OP_DELETE, B, 10000);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 2);
	write_rig_remove(&wr, LINK_KUBE_TEST_1, B);
	bus_result(wr.watcher.end.bus, wr.watcher.received[1].handle, &ok, keys, NITEMS(keys));
	RIG_UNTIL(&wr.rig, p->nresults == 2);
	assert_int_equal(p->results[1].nitems, 1);
	assert_string_equal(p->results[1].seen_rv, "");
	assert_int_equal(p->end.gone, 1);
	write_rig_end(&wr);
}

/*
 * Answers are outside the sequence numbers and the credit of the session; still both ends hold the
 * same, which every exact beat compares. The random writes are so many that every way for the ends to
 * differ occurs; then only beats are sent.
 */
static void
beats_stay_exact(void **state)
{
	enum { WRITES = 400, NAMES = 6 };
	static const char *const names[NAMES] = { A, B, "namespaces/c", "namespaces/d",
		"namespaces/e", "namespaces/f" };
	struct write_rig wr;
	uint64_t seed = 11;

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	for (unsigned n = 0; n < WRITES; n++) {
		const char *const key = names[random_below(&seed, NAMES)];
		char rv[16];

		write_rig_request(&wr, OP_APPLY, key, 10000);
		RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 1);
		const struct received_write a = wr.watcher.received[0];
		wr.watcher.nreceived = 0;
		snprintf(rv, sizeof(rv), "%u", 10 + n);
		write_rig_answer(&wr, &a, rv, random_below(&seed, 2) == 0 ? "x" : "y");
		for (uint64_t i = random_below(&seed, 3); i > 0; i--) {	/* the watch goes on meanwhile */
			const char *const other = names[random_below(&seed, NAMES)];

			if (random_below(&seed, 2) == 0)
				write_rig_remove(&wr, LINK_KUBE_TEST_1, other);
			else
				write_rig_put(&wr, LINK_KUBE_TEST_1, other, rv, "z", false);
		}
		RIG_UNTIL(&wr.rig, p->nresults == n + 1);
		assert_int_equal(p->results[n].outcome, OUTCOME_OK);
		if (random_below(&seed, 2) == 0)
			rig_turn(&wr.rig, 1);
	}
	const double frames = write_rig_stat(STAT_BUS_FRAMES, "direction", "in");
	/* Nothing but beats. */
	RIG_UNTIL(&wr.rig, write_rig_stat(STAT_BUS_FRAMES, "direction", "in") >= frames + 3);
	assert_int_equal((int)write_rig_stat(STAT_RESYNC, "reason", "hash"), 0);
	assert_int_equal(p->end.synced, 1);
	write_rig_end(&wr);
}

static void
writes_in_flight_are_limited(void **state)
{
	struct write_rig wr;

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	for (unsigned n = 0; n < REQUESTS_PER_SENDER + 3; n++)
		write_rig_request(&wr, OP_LIST, A, 10000);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == REQUESTS_PER_SENDER && p->nresults == 3);
	for (unsigned n = 0; n < 3; n++)
		assert_int_equal(p->results[n].outcome, OUTCOME_BUSY);
	for (unsigned n = 0; n < REQUESTS_PER_SENDER; n++)
		write_rig_answer(&wr, &wr.watcher.received[n], "2", "x");
	RIG_UNTIL(&wr.rig, p->nresults == REQUESTS_PER_SENDER + 3);
	for (unsigned n = 3; n < p->nresults; n++)
		assert_int_equal(p->results[n].outcome, OUTCOME_OK);
	write_rig_end(&wr);
}

/* A `done` that requests a write at once: the loop still turns, and in the end there is room. */
static void
write_again(struct write_peer *p, const struct write_result *r)
{
	const struct write_request w = {
		.op = OP_MERGE, .resource = "namespaces", .name = "a", .timeout_ms = 10000
	};

	if (r->outcome == OUTCOME_BUSY)
		bus_write(p->end.bus, p->link, &w, NULL, NULL);
}

/* Requests as many writes as may be in flight. */
static void
fill(struct write_rig *wr)
{
	for (unsigned n = 0; n < REQUESTS_PER_SENDER; n++)
		write_rig_request(wr, OP_MERGE, A, 10000);
	RIG_UNTIL(&wr->rig, wr->watcher.nreceived == REQUESTS_PER_SENDER);
}

static void
writing_again_at_once_blocks_no_other(void **state)
{
	struct write_rig wr;

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	fill(&wr);
	p->on_result = write_again;
	write_rig_request(&wr, OP_MERGE, A, 10000);
	RIG_UNTIL(&wr.rig, p->nresults >= 3);
	write_rig_answer(&wr, &wr.watcher.received[0], "2", "y");
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == REQUESTS_PER_SENDER + 1);
	write_rig_end(&wr);
}

static void
nothing_is_sent_before_the_snapshot_is_complete(void **state)
{
	struct write_rig wr;

	(void)state;
	memset(&wr, 0, sizeof(wr));
	rig_init(&wr.rig);
	write_rig_watcher(&wr, WATCHER, false);
	write_rig_open(&wr, &wr.actors[0], ROLE_TEST_KUBE_1, LINK_KUBE_TEST_1, 1);
	write_rig_announce(&wr, &wr.actors[0]);
	struct write_peer *p = &wr.actors[0];
	const uint64_t with_time = write_rig_request(&wr, OP_MERGE, A, 15000);
	const uint64_t without_time = write_rig_request(&wr, OP_MERGE, B, 100);
	RIG_UNTIL(&wr.rig, p->nresults == 1);
	assert_int_equal(p->results[0].id, without_time);
	assert_int_equal(p->results[0].outcome, OUTCOME_EXPIRED);
	assert_int_equal(wr.watcher.nreceived, 0);
	link_store_set_ready(bus_store(wr.watcher.end.bus, LINK_KUBE_TEST_1));
	bus_touch(wr.watcher.end.bus);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 1);
	assert_int_equal(wr.watcher.received[0].id, with_time);
	assert_int_equal(p->end.synced, 1);
	write_rig_end(&wr);
}

static void
a_lost_session_leaves_sent_writes_unknown(void **state)
{
	struct write_rig wr;

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	write_rig_request(&wr, OP_MERGE, A, 15000);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 1);
	rig_close(&wr.watcher.end);
	const uint64_t unsent = write_rig_request(&wr, OP_MERGE, B, 15000);
	wr.watcher.nreceived = 0;
	write_rig_watcher(&wr, WATCHER + 1, true);
	write_rig_announce(&wr, p);
	RIG_UNTIL(&wr.rig, p->nresults == 1 && wr.watcher.nreceived == 1);
	assert_int_equal(p->results[0].outcome, OUTCOME_UNKNOWN);
	assert_int_equal(wr.watcher.received[0].id, unsent);
	write_rig_answer(&wr, &wr.watcher.received[0], "3", "y");
	RIG_UNTIL(&wr.rig, p->nresults == 2);
	assert_int_equal(p->results[1].id, unsent);
	assert_int_equal(p->results[1].outcome, OUTCOME_OK);
	assert_int_equal(p->end.gone, 0);
	write_rig_end(&wr);
}

static void
no_answer_in_time_is_unknown_and_a_late_one_still_shows(void **state)
{
	struct write_rig wr;

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	const int64_t before_ms = clock_mono_ms();
	write_rig_request(&wr, OP_MERGE, A, 50);
	RIG_UNTIL(&wr.rig, p->nresults == 1);
	assert_int_equal(p->results[0].outcome, OUTCOME_UNKNOWN);
	assert_true(clock_mono_ms() - before_ms >= 50 + WRITE_GRACE_MS);
	write_rig_answer(&wr, &wr.watcher.received[0], "2", "late");
	RIG_UNTIL(&wr.rig, p->end.updated == 1);
	rig_turn(&wr.rig, 20);
	assert_int_equal(p->nresults, 1);
	assert_int_equal(p->end.synced, 1);
	assert_int_equal(p->end.nreports, 0);
	write_rig_end(&wr);
}

static void
a_handle_of_a_lost_session_is_void(void **state)
{
	struct write_rig wr;
	const struct body_result ok = { .outcome = OUTCOME_OK };
	const struct body_item item = { .key = wire_str_of(A), .gone = true };

	(void)state;
	write_rig_start(&wr);
	write_rig_request(&wr, OP_MERGE, A, 10000);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 1);
	struct write_peer *p = &wr.actors[0];
	rig_close(&p->end);
	write_rig_open(&wr, p, ROLE_TEST_KUBE_1, LINK_KUBE_TEST_1, 2);
	write_rig_announce(&wr, p);
	RIG_UNTIL(&wr.rig, p->end.synced == 1);
	assert_int_equal(wr.watcher.ended_of[ROLE_TEST_KUBE_1], 1);	/* called back once */
	assert_int_equal(bus_result_items(wr.watcher.end.bus, wr.watcher.received[0].handle, &item, 1), E_OK);
	bus_result(wr.watcher.end.bus, wr.watcher.received[0].handle, &ok, NULL, 0);
	bus_result(wr.watcher.end.bus, wr.watcher.received[0].handle, &ok, NULL, 0);
	rig_turn(&wr.rig, 20);
	assert_int_equal(p->nresults, 0);
	assert_int_equal(p->end.nreports, 0);
	write_rig_end(&wr);
}

static void
sum_items(struct write_peer *p, const struct write_result *r)
{
	(void)p;
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

/* A live list of a kind that no actor projects: many frames, and nothing of it in the mirror. */
static void
a_long_answer(void **state)
{
	struct write_rig wr;
	struct body_item items[1000];
	char keys[1000][32], jsons[1000][32];
	msgpack_sbuffer values[1000];
	const char *const stored[] = { A };
	const struct body_result ok = { .outcome = OUTCOME_OK };

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	p->on_result = sum_items;
	write_rig_request(&wr, OP_LIST, A, 10000);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 1);
	for (size_t i = 0; i < NITEMS(items); i++) {
		snprintf(keys[i], sizeof(keys[i]), "secrets/ns/s-%zu", i);
		snprintf(jsons[i], sizeof(jsons[i]), "{\"n\":%zu}", i);
		msgpack_sbuffer_init(&values[i]);
		msg_pack(&values[i], MSG_RAW, &(union msg_body){ .raw = { .json = wire_str_of(jsons[i]) } });
		items[i] = (struct body_item){ .key = wire_str_of(keys[i]), .type = msg_table[MSG_RAW].number,
			.value = { .p = (const uint8_t *)values[i].data, .len = (uint32_t)values[i].size } };
	}
	assert_int_equal(
	    bus_result_items(wr.watcher.end.bus, wr.watcher.received[0].handle, items, NITEMS(items)),
	    E_OK);
	bus_result(wr.watcher.end.bus, wr.watcher.received[0].handle, &ok, stored, 1);
	RIG_UNTIL(&wr.rig, p->nresults == 1);
	assert_int_equal(p->results[0].outcome, OUTCOME_OK);
	assert_int_equal(p->end.added, 1);
	assert_int_equal(p->end.nreports, 0);
	for (size_t i = 0; i < NITEMS(items); i++)
		msgpack_sbuffer_destroy(&values[i]);
	write_rig_end(&wr);
}

/* What is too large is refused by the sender, not by the peer. */
static void
sizes(void **state)
{
	static char large[LINK_STORE_VALUE_MAX + 1], wordy[100000];
	struct write_rig wr;
	struct body_item item = { .key = wire_str_of(A), .type = msg_table[MSG_RAW].number };

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
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
	bus_write(p->end.bus, p->link, &w, NULL, NULL);
	RIG_UNTIL(&wr.rig, p->nresults == 1);
	assert_int_equal(p->results[0].outcome, OUTCOME_INVALID);
	w.body_len = WRITE_BODY_MAX;
	bus_write(p->end.bus, p->link, &w, NULL, NULL);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 1);
	item.value = (struct wire_bin){ .p = (const uint8_t *)large, .len = LINK_STORE_VALUE_MAX + 1 };
	const uint64_t handle = wr.watcher.received[0].handle;
	assert_int_equal(bus_result_items(wr.watcher.end.bus, handle, &item, 1), E_TOO_BIG);
	const struct body_result r = { .outcome = OUTCOME_FAILED, .reason = wire_str_of(wordy),
		.message = wire_str_of(wordy), .causes = wire_str_of(wordy), .rv = wire_str_of(wordy) };
	bus_result(wr.watcher.end.bus, handle, &r, NULL, 0);
	RIG_UNTIL(&wr.rig, p->nresults == 2);
	assert_int_equal(p->results[1].outcome, OUTCOME_FAILED);
	assert_int_equal(p->end.nreports, 0);
	write_rig_end(&wr);
}

static void
only_named_peers_are_there(void **state)
{
	struct write_rig wr;

	(void)state;
	write_rig_start(&wr);
	assert_true(bus_has_peer(wr.watcher.end.bus, ROLE_TEST_KUBE_1));
	assert_false(bus_has_peer(wr.watcher.end.bus, ROLE_TEST_KUBE_2));
	bus_peer(wr.watcher.end.bus, ROLE_TEST_KUBE_2, 0, NULL, NULL, PEER_DOWN);
	assert_true(bus_has_peer(wr.watcher.end.bus, ROLE_TEST_KUBE_2));
	bus_peer(wr.watcher.end.bus, ROLE_TEST_KUBE_1, 1, NULL, NULL, PEER_OFF);
	assert_false(bus_has_peer(wr.watcher.end.bus, ROLE_TEST_KUBE_1));
	write_rig_end(&wr);
}

/* The watcher is removed from the configuration while a write is in flight. */
static void
a_watcher_that_is_off(void **state)
{
	struct write_rig wr;

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	write_rig_request(&wr, OP_MERGE, A, 10000);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 1);
	write_rig_request(&wr, OP_MERGE, B, 200);
	bus_peer(p->end.bus, ROLE_KUBE_WATCHER, WATCHER, NULL, NULL, PEER_OFF);
	RIG_UNTIL(&wr.rig, p->nresults == 2);
	assert_int_equal(p->results[0].outcome, OUTCOME_UNKNOWN);
	assert_int_equal(p->results[1].outcome, OUTCOME_EXPIRED);
	write_rig_end(&wr);
}

/* The process ends: each write in flight ends, once; a write that is requested then is not accepted. */
static void
every_write_in_flight_ends(void **state)
{
	struct write_rig wr;

	(void)state;
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	fill(&wr);
	p->on_result = write_again;
	write_rig_request(&wr, OP_MERGE, A, 10000);
	bus_end_writes(p->end.bus);
	assert_int_equal(p->nresults, 1 + REQUESTS_PER_SENDER);
	assert_int_equal(p->results[0].outcome, OUTCOME_BUSY);
	for (unsigned n = 1; n < p->nresults; n++)
		assert_int_equal(p->results[n].outcome, OUTCOME_UNKNOWN);
	write_rig_end(&wr);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_is_answered_and_seen),
		cmocka_unit_test(the_same_bytes_move_the_version),
		cmocka_unit_test(a_created_and_a_deleted_object),
		cmocka_unit_test(beats_stay_exact),
		cmocka_unit_test(writes_in_flight_are_limited),
		cmocka_unit_test(writing_again_at_once_blocks_no_other),
		cmocka_unit_test(nothing_is_sent_before_the_snapshot_is_complete),
		cmocka_unit_test(a_lost_session_leaves_sent_writes_unknown),
		cmocka_unit_test(no_answer_in_time_is_unknown_and_a_late_one_still_shows),
		cmocka_unit_test(a_handle_of_a_lost_session_is_void),
		cmocka_unit_test(a_long_answer),
		cmocka_unit_test(sizes),
		cmocka_unit_test(only_named_peers_are_there),
		cmocka_unit_test(a_watcher_that_is_off),
		cmocka_unit_test(every_write_in_flight_ends),
	};

	return cmocka_run_group_tests_name("write", tests, NULL, NULL);
}
