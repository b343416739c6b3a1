/* tests/unit/test_lke_pool_key.c - pool keys and their machines in a snapshot: C2, C3, C7, C8, C13, A10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/lke-claimer/pool_key.h"
#include "obj.h"

#define NP		"karpenter.sh/nodepool:np"
#define MANAGED		"karpenter.k8s.linode/lke-managed:true"
#define CLAIM_A		"karpenter.sh/nodeclaim:a"

static struct lke_tag_set
tags_of(const char *words)
{
	char text[256], *save;
	struct wire_str tags[16];
	uint32_t n = 0;

	snprintf(text, sizeof(text), "%s", words);
	for (char *s = strtok_r(text, " ", &save); s != NULL; s = strtok_r(NULL, " ", &save))
		tags[n++] = wire_str_of(s);
	return tag_set_new(tags, n);
}

static void
add_pool(struct lke_snapshot *s, int64_t id, const char *type, const char *tags)
{
	struct lke_pool p = { .id = id, .count = 2, .tags = tags_of(tags) };

	snprintf(p.type, sizeof(p.type), "%s", type);
	p.nodes = obj_alloc(3 * sizeof(*p.nodes));
	p.nodes[0] = (struct lke_node){ .id = "n-7", .instance_id = 7 };
	p.nodes[1] = (struct lke_node){ .id = "n-null" };
	p.nodes[2] = (struct lke_node){ .id = "n-99", .instance_id = 99 };
	p.nnodes = 3;
	snapshot_put_pool(s, &p);
}

static void
add_machine(struct lke_snapshot *s, int64_t id, int64_t pool_id, const char *type, const char *tags)
{
	struct lke_instance v = { .id = id, .pool_id = pool_id, .tags = tags_of(tags) };

	snprintf(v.type, sizeof(v.type), "%s", type);
	snprintf(v.label, sizeof(v.label), "label-%lld", (long long)id);
	snapshot_put_instance(s, &v);
}

static void
c2_pools_of_a_key(void **state)
{
	struct lke_snapshot *s = snapshot_new(LKE_STANDARD, 1);
	const struct lke_pool *p = NULL;
	const struct wire_str np = wire_str_of("np"), type = wire_str_of("t");

	(void)state;
	add_pool(s, 1, "t", NP);						/* not managed */
	add_pool(s, 2, "t", MANAGED);						/* of no NodePool */
	add_pool(s, 3, "u", NP " " MANAGED);					/* of another type */
	add_pool(s, 4, "t", "karpenter.sh/nodepool:np2 " MANAGED);
	assert_int_equal(lke_key_pools(s, np, type, &p), 0);
	add_pool(s, 6, "t", NP " " MANAGED);
	assert_int_equal(lke_key_pools(s, np, type, &p), 1);
	assert_int_equal(p->id, 6);
	/* C4: of the existing provider. C7: two of them are not one. */
	add_pool(s, 5, "t", "karpenter.sh/nodepool=np karpenter.k8s.linode/lke-managed=true");
	assert_int_equal(lke_key_pools(s, np, type, &p), 2);
	snapshot_free(&s);
}

static void
c3_members(void **state)
{
	(void)state;
	for (unsigned tier = 0; tier < 2; tier++) {
		struct lke_snapshot *s = snapshot_new((enum lke_tier)tier, 1);
		struct lke_member m[8];

		add_pool(s, 5, "t", NP " " MANAGED);
		add_machine(s, 9, 5, "t", MANAGED);
		add_machine(s, 8, 6, "t", MANAGED);	/* C13: of another pool */
		add_machine(s, 7, 5, "t", MANAGED " " CLAIM_A);
		add_machine(s, 6, 5, "u", MANAGED);	/* of another type */
		add_machine(s, 5, 5, "t", "");		/* not managed */
		const uint32_t n = lke_pool_members(s, snapshot_pool(s, 5), m, NITEMS(m));
		/* Standard: by the pool's nodes; 99 is in no list of instances. Enterprise: by tags. */
		assert_int_equal(n, tier == LKE_STANDARD ? 1 : 2);
		assert_int_equal(m[0].instance->id, 7);
		assert_string_equal(m[0].node_id, "n-7");
		if (tier == LKE_ENTERPRISE) {
			/* C8: while `nodes` lags, the label is the id of the node. */
			assert_int_equal(m[1].instance->id, 9);
			assert_string_equal(m[1].node_id, "label-9");
		}
		snapshot_free(&s);
	}
}

static void
c7_machines_of_a_claim(void **state)
{
	struct lke_snapshot *s = snapshot_new(LKE_STANDARD, 1);
	const struct lke_instance *v = NULL;

	(void)state;
	add_machine(s, 9, 0, "t", CLAIM_A);
	add_machine(s, 8, 0, "t", "karpenter.sh/nodeclaim:ab");
	assert_int_equal(lke_claim_machines(s, wire_str_of("a"), &v), 1);
	assert_int_equal(v->id, 9);
	assert_int_equal(lke_claim_machines(s, wire_str_of("b"), &v), 0);
	add_machine(s, 3, 0, "u", "karpenter.sh/nodeclaim=a");
	assert_int_equal(lke_claim_machines(s, wire_str_of("a"), &v), 2);
	/* C13: one that is being deleted is not counted. */
	snapshot_instance(s, 3)->leaving = true;
	assert_int_equal(lke_claim_machines(s, wire_str_of("a"), &v), 1);
	snapshot_free(&s);
}

static void
keys_and_texts(void **state)
{
	char buf[LKE_KEY_SIZE], wide[LKE_KEY_SIZE];
	struct wire_str np, type;

	(void)state;
	assert_true(lke_key_put(buf, wire_str_of("np"), wire_str_of("g6-standard-2")) > 0);
	assert_string_equal(buf, "np/g6-standard-2");
	assert_true(lke_key_read(wire_str_of(buf), &np, &type));
	assert_true(wire_str_is(np, "np") && wire_str_is(type, "g6-standard-2"));
	assert_false(lke_key_read(wire_str_of("np"), &np, &type));
	assert_false(lke_key_read(wire_str_of("/t"), &np, &type));
	assert_false(lke_key_read(wire_str_of("np/"), &np, &type));
	assert_false(lke_key_read(wire_str_of(""), &np, &type));
	memset(wide, 'a', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	assert_int_equal(lke_key_put(buf, wire_str_of(wide), wire_str_of("t")), 0);
}

#define AT	"2026-05-01T10:00:00Z 0123456789abcdef"

static void
a10_the_record_of_an_intent(void **state)
{
	static const char *const bad[] = {
		"", AT, AT " scale", AT " scale ", AT " grow 1", "now 0 scale 1", AT " scale -1",
		AT " scale 1 2", AT " scale 9999999999", "2026-05-01T10:00:00Z scale 12", " scale 1",
	};
	const struct lke_intent_record r = { .text = wire_str_of(AT), .kind = LKE_INTEND_SCALE,
	    .count = 12 };
	struct lke_intent_record got;
	char buf[LKE_INTENT_SIZE];

	(void)state;
	assert_true(lke_intent_put(buf, &r) > 0);
	assert_string_equal(buf, AT " scale 12");
	assert_true(lke_intent_read(wire_str_of(buf), &got));
	assert_true(wire_str_same(got.text, r.text) && got.kind == r.kind && got.count == r.count);
	assert_true(lke_intent_read(wire_str_of(AT " delete 0"), &got));
	assert_int_equal(got.kind, LKE_INTEND_DELETE);
	for (size_t i = 0; i < NITEMS(bad); i++)
		assert_false(lke_intent_read(wire_str_of(bad[i]), &got));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c2_pools_of_a_key), cmocka_unit_test(c3_members),
		cmocka_unit_test(c7_machines_of_a_claim), cmocka_unit_test(keys_and_texts),
		cmocka_unit_test(a10_the_record_of_an_intent),
	};

	return cmocka_run_group_tests_name("lke_pool_key", tests, NULL, NULL);
}
