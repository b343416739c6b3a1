/* tests/unit/test_provider_drain_ends.c - how a drain ends: volumes, limits; and many drains at once. */
#include "drain_rig.h"

/* What was put on the Node and taken off again is put on again; a view that lags is no reason to. */
static void
marked_again(void **state)
{
	struct drain_target node;
	struct drain *d = start(&drain_kubectl, &node);
	const int64_t now_ms = clock_mono_ms();

	(void)state;
	node.cordoned = false;
	drain_advance(d, &node, now_ms);
	answer(0, (struct write_result){ .outcome = OUTCOME_OK });
	drain_advance(d, &node, now_ms);
	assert_int_equal(bus.sent[1].op, OP_LIST);
	answer_list(1, (const char *const[]){ NAMED("a") }, 1, "");
	node.cordoned = true;
	drain_advance(d, &node, now_ms);
	answer(2, (struct write_result){ .outcome = OUTCOME_OK });
	node.cordoned = false;
	drain_advance(d, &node, now_ms);
	assert_int_equal(bus.n, 4);
	assert_int_equal(bus.sent[3].op, OP_JSON);
	answer(3, (struct write_result){ .outcome = OUTCOME_OK });
	drain_free(&d);
}

/* A limit ends a drain once; it begins anew after a pause, with all of its time. */
static void
ended_by_a_limit(void **state)
{
	static const char *const pods[] = { NAMED("a") };
	struct drain_target node;
	struct drain *d = start(&drain_kubectl, &node);
	const int64_t now_ms = clock_mono_ms(), limit_ms = now_ms + drain_kubectl.eviction_limit_ms + 1000;

	(void)state;
	drain_advance(d, &node, now_ms);
	answer_list(0, pods, 1, "");
	drain_advance(d, &node, now_ms);
	answer(1, (struct write_result){ .outcome = OUTCOME_LIMITED });
	const struct drain_step end = drain_advance(d, &node, limit_ms);
	assert_int_equal(end.verb, DRAIN_GAVE_UP);
	assert_int_equal(end.at_ms, limit_ms + drain_kubectl.again_ms);
	assert_string_equal(drain_limit(d), "Pod ns/a: the eviction was refused for too long");
	assert_int_equal(drain_advance(d, &node, limit_ms + 1).verb, DRAIN_WAIT);
	assert_int_equal(bus.n, 2);
	drain_advance(d, &node, end.at_ms);
	assert_int_equal(bus.sent[2].op, OP_LIST);
	answer_list(2, pods, 1, "");
	drain_advance(d, &node, end.at_ms);
	assert_int_equal(bus.n, 4);
	assert_int_equal(bus.sent[3].op, OP_EVICT);
	answer(3, (struct write_result){ .outcome = OUTCOME_OK });
	drain_free(&d);
}

static void
answer_projected(size_t i, enum kind k, const char *const *objects, size_t n)
{
	struct projection *p = projection_new(k, "v1", ROLE_BIT(TEST_CLAIMER));
	struct change items[4];
	union msg_body values[4];
	struct projected out;

	for (size_t m = 0; m < n; m++) {
		assert_true(project(p, PROJECT_JSON, objects[m], strlen(objects[m]), 0, &out));
		uint8_t *const bytes = msg_arena_alloc(&arena, out.values[0].len);
		memcpy(bytes, out.values[0].bytes, out.values[0].len);
		assert_true(msg_unpack_value(
		    kind_table[k].message, bytes, out.values[0].len, &arena, &values[m]));
		items[m] = (struct change){ .type = kind_table[k].message, .value = &values[m] };
	}
	answer(i, (struct write_result){ .outcome = OUTCOME_OK, .items = items, .nitems = n });
	projection_free(&p);
}

#define ATTACHMENT(name, node, volume)							\
	"{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u\",\"resourceVersion\":\"1\"},\"spec\":"	\
	"{\"nodeName\":\"" node "\",\"source\":{\"persistentVolumeName\":\"" volume "\"}}}"

/* The volume of a Pod that stays is not waited for; that of another is. */
static void
volumes(void **state)
{
	static const char *const pods[] = { POD("",
	    "\"tolerations\":[{\"operator\":\"Exists\"}],\"volumes\":[{\"name\":\"v\","
	    "\"persistentVolumeClaim\":{\"claimName\":\"data\"}}]") };
	static const char *const attached[] = { ATTACHMENT("a", "n1", "pv-1"), ATTACHMENT("b", "n1", "pv-2"),
		ATTACHMENT("c", "n2", "pv-3") };
	static const char *const claim[] = {
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"data\",\"uid\":\"u\","
		"\"resourceVersion\":\"1\"},\"spec\":{\"volumeName\":\"pv-1\"}}" };
	struct drain_target node;
	struct drain *d = start(&drain_karpenter, &node);
	int64_t now_ms = clock_mono_ms();

	(void)state;
	drain_free(&d);
	d = drain_new(&(struct drain_config){ .pool = &pool, .node = "n1", .policy = &drain_karpenter,
	    .started_ms = now_ms - 6000, .deadline_ms = INT64_MAX, .progress = note_progress });
	drain_advance(d, &node, now_ms);
	answer_list(0, pods, 1, "");
	assert_true(drain_advance(d, &node, now_ms).pods_gone);
	assert_string_equal(bus.sent[1].resource, "volumeattachments");
	answer(1, (struct write_result){ .outcome = OUTCOME_FAILED });
	assert_non_null(strstr(drain_error(d), "the VolumeAttachments were not listed"));
	drain_advance(d, &node, now_ms += 2000);
	answer_projected(2, KIND_VOLUME_ATTACHMENT, attached, 3);
	drain_advance(d, &node, now_ms);
	assert_int_equal(bus.sent[3].op, OP_GET);
	assert_string_equal(bus.sent[3].resource, "persistentvolumeclaims");
	assert_string_equal(bus.sent[3].ns, "ns");
	assert_string_equal(bus.sent[3].name, "data");
	answer_projected(3, KIND_VOLUME_CLAIM, claim, 1);
	assert_int_equal(drain_advance(d, &node, clock_mono_ms()).verb, DRAIN_WAIT);
	assert_int_equal(bus.n, 4);
	drain_advance(d, &node, now_ms + 2000);
	answer_projected(4, KIND_VOLUME_ATTACHMENT, attached, 1);
	assert_int_equal(drain_advance(d, &node, clock_mono_ms()).verb, DRAIN_DONE);
	drain_free(&d);
}

/* Of all drains together, DRAIN_POOL_MAX requests are in flight; the others get their turn in order. */
static void
turns(void **state)
{
	struct drain_target node;
	struct drain *d[DRAIN_POOL_MAX + 2];
	const int64_t now_ms = clock_mono_ms();

	(void)state;
	d[0] = start(&drain_kubectl, &node);
	for (size_t i = 1; i < NITEMS(d); i++)
		d[i] = drain_new(&(struct drain_config){ .pool = &pool, .node = "n1",
		    .policy = &drain_kubectl, .started_ms = now_ms, .deadline_ms = INT64_MAX,
		    .progress = note_progress });
	for (size_t i = 0; i < NITEMS(d); i++) {
		drain_advance(d[i], &node, now_ms);
		drain_advance(d[i], &node, now_ms);
		assert_int_equal(drain_busy_until_ms(d[i]) > now_ms, i < DRAIN_POOL_MAX);
	}
	assert_int_equal(bus.n, DRAIN_POOL_MAX);
	drain_free(&d[DRAIN_POOL_MAX]);		/* while it waits */
	const int before = bus.progress;
	bus.sent[0].done(NULL, NULL, &(struct write_result){ .outcome = OUTCOME_OK }, bus.sent[0].arg);
	assert_int_equal(bus.progress, before + 2);	/* its own, and the turn of the last */
	assert_int_equal(drain_busy_until_ms(d[0]), 0);
	assert_int_equal(drain_advance(d[0], &node, clock_mono_ms()).verb, DRAIN_DONE);
	drain_advance(d[NITEMS(d) - 1], &node, now_ms);
	assert_int_equal(bus.n, DRAIN_POOL_MAX + 1);
	for (size_t i = 1; i < bus.n; i++)
		answer_list(i, NULL, 0, "");
	assert_int_equal(pool.in_flight[DRAIN_TURN_READ], 0);
	for (size_t i = 0; i < NITEMS(d); i++)
		drain_free(&d[i]);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(marked_again), cmocka_unit_test(ended_by_a_limit),
		cmocka_unit_test(volumes), cmocka_unit_test(turns),
	};

	return cmocka_run_group_tests_name("drain, ends", tests, drain_rig_open, drain_rig_close);
}
