/*
 * tests/unit/test_node_pools.c - B2, B3: the nodes that a pool selects, what a put changes, and the
 * owner of a node whatever the order of the pools.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "actors/node-state/pools.h"
#include "obj.h"
#include "random.h"
#include "tests/unit/words.h"

#define ROLE	"node-role.kubernetes.io/"

static unsigned
put_layered(struct pools *p, const char *name, const char *selector, bool paused, const char *labels,
    const char *annotations)
{
	struct words l, a;
	unsigned changes;

	words_init(&l, labels);
	words_init(&a, annotations);
	changes = pools_put(p, wire_str_of(name),
	    &(struct body_machine_config_pool){
		.labels = l.map, .annotations = a.map, .selector = wire_str_of(selector), .paused = paused });
	words_free(&l);
	words_free(&a);
	return changes;
}

static unsigned
put(struct pools *p, const char *name, const char *selector, bool paused)
{
	return put_layered(p, name, selector, paused, "", "");
}

static bool
matches(const struct pool *o, const char *labels, bool (*test)(const struct pool *, struct wire_map))
{
	struct words w;
	bool yes;

	words_init(&w, labels);
	yes = test(o, w.map);
	words_free(&w);
	return yes;
}

static const struct row {
	const char	*name, *selector, *labels;
	bool		 want;
	bool		 wrong;		/* the selector is invalid */
} rows[] = {
	{ "B2 no selector matches nothing", "", "a=b", false, false },
	{ "B2 null matches nothing", "null", "a=b", false, false },
	{ "B2 {} matches nothing", "{}", "a=b", false, false },
	{ "B2 empty matchLabels match nothing", "{\"matchLabels\":{}}", "a=b", false, false },
	{ "B2 empty matchExpressions match nothing", "{\"matchExpressions\":[]}", "", false, false },
	{ "B2 matchLabels with an empty value", "{\"matchLabels\":{\"" ROLE "infra\":\"\"}}", ROLE "infra=", true, false },
	{ "B2 matchLabels: another value", "{\"matchLabels\":{\"a\":\"b\"}}", "a=c", false, false },
	{ "B2 matchLabels: a longer value", "{\"matchLabels\":{\"a\":\"b\"}}", "a=bb", false, false },
	{ "B2 matchLabels are ANDed", "{\"matchLabels\":{\"a\":\"1\",\"b\":\"2\"}}", "a=1", false, false },
	{ "B2 matchLabels AND matchExpressions",
	  "{\"matchLabels\":{\"a\":\"1\"},\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Exists\"}]}",
	  "a=1", false, false },
	{ "B2 In", "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\",\"y\"]}]}", "a=y", true, false },
	{ "B2 In needs the key", "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\"]}]}", "b=x", false, false },
	{ "B2 NotIn", "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"x\"]}]}", "a=x", false, false },
	{ "B2 NotIn matches who lacks the key",
	  "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"x\"]}]}",
	  "b=x", true, false },
	{ "B2 Exists", "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}", "a=", true, false },
	{ "B2 DoesNotExist", "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"DoesNotExist\"}]}", "a=", false, false },
	{ "B2 DoesNotExist matches who lacks the key",
	  "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"DoesNotExist\"}]}", "", true,
	  false },
	{ "B2 no JSON matches nothing", "{\"matchLabels\":", "a=b", false, true },
	{ "B2 a list matches nothing", "[]", "a=b", false, true },
	{ "B2 an unknown operator matches nothing", "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Is\"}]}", "a=b", false, true },
	{ "B2 In without values matches nothing", "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}", "a=b", false, true },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct pools *p = pools_new();

	put(p, "infra", r->selector, false);
	const struct pool *const o = pools_find(p, wire_str_of("infra"));
	assert_int_equal(matches(o, r->labels, pool_matches), r->want);
	assert_int_equal(o->error[0] != '\0', r->wrong);
	assert_string_equal(o->selector, r->selector);
	pools_free(&p);
}

#define A	"{\"matchLabels\":{\"a\":\"\"}}"
#define B	"{\"matchLabels\":{\"b\":\"\"}}"
#define IMAGE	"newestImageEquivalentConfig="

static void
a_put_returns_what_changed_B3(void **state)
{
	struct pools *p = pools_new();
	const unsigned all = POOL_ADDED | POOL_SELECTOR | POOL_PAUSED | POOL_LAYERING;

	(void)state;
	assert_int_equal(put(p, "infra", A, false), all);
	assert_int_equal(put(p, "infra", A, false), 0);
	assert_int_equal(put(p, "infra", A, true), POOL_PAUSED);
	assert_int_equal(put(p, "infra", B, true), POOL_SELECTOR);
	assert_int_equal(put(p, "infra", A, false), POOL_SELECTOR | POOL_PAUSED);
	assert_int_equal(put_layered(p, "infra", A, false, "layering-enabled=", IMAGE "os:1"), POOL_LAYERING);
	assert_int_equal(put_layered(p, "infra", A, false, "layering-enabled=", IMAGE "os:1"), 0);
	assert_int_equal(put_layered(p, "infra", A, false, "layering-enabled=", IMAGE "os:2"), POOL_LAYERING);
	assert_true(pools_remove(p, wire_str_of("infra")));
	assert_false(pools_remove(p, wire_str_of("infra")));
	assert_null(pools_find(p, wire_str_of("infra")));
	assert_int_equal(put(p, "infra", A, false), all);
	pools_free(&p);
}

static void
layered_is_label_and_image_B2(void **state)
{
	static const struct {
		const char	*labels, *annotations, *want;
	} cases[] = {
		{ "", "", "" },
		{ "layering-enabled=", "", "" },
		{ "", IMAGE "os:1", "" },
		{ "layering-enabled=", IMAGE, "" },
		{ "layering-enabled=", IMAGE "os:1", "os:1" },
		{ "layering-enabled=false", IMAGE "os:1", "os:1" },	/* MCO tests the key alone */
	};
	struct pools *p = pools_new();

	(void)state;
	for (size_t i = 0; i < NITEMS(cases); i++) {
		put_layered(p, "infra", A, false, cases[i].labels, cases[i].annotations);
		const struct wire_str got = wire_str_of(pools_find(p, wire_str_of("infra"))->image);

		assert_int_equal(wire_str_compare(got, wire_str_of(cases[i].want)), 0);
	}
	pools_free(&p);
}

static void
who_matched_before_a_change_B3(void **state)
{
	struct pools *p = pools_new();
	const struct pool *o;

	(void)state;
	put(p, "infra", A, false);
	o = pools_find(p, wire_str_of("infra"));
	assert_false(matches(o, "a=", pool_matched));
	put(p, "infra", B, false);
	assert_true(matches(o, "a=", pool_matched));
	assert_false(matches(o, "a=", pool_matches));
	assert_false(matches(o, "b=", pool_matched));
	assert_true(matches(o, "b=", pool_matches));
	put(p, "infra", B, true);
	assert_true(matches(o, "b=", pool_matched));
	assert_true(matches(o, "b=", pool_matches));
	put(p, "infra", "{}", true);
	assert_true(matches(o, "b=", pool_matched));
	assert_false(matches(o, "b=", pool_matches));
	assert_true(o->paused);
	pools_free(&p);
}

static void
overlong_label_values_equal_nothing(void **state)
{
	char labels[256] = "a=", longer[128] = { 0 };
	struct pools *p = pools_new();

	(void)state;
	memset(longer, 'v', 63);
	snprintf(labels, sizeof(labels), "{\"matchLabels\":{\"a\":\"%s\"}}", longer);
	put(p, "infra", labels, false);
	const struct pool *const o = pools_find(p, wire_str_of("infra"));
	snprintf(labels, sizeof(labels), "a=%s", longer);
	assert_true(matches(o, labels, pool_matches));
	for (size_t len = 64; len < 100; len++) {
		longer[len - 1] = 'v';
		snprintf(labels, sizeof(labels), "a=%s", longer);
		assert_false(matches(o, labels, pool_matches));
	}
	pools_free(&p);
}

/* Names, selectors and labels for the map-order defect: OUE stops at whatever it meets first. */
static const struct {
	const char	*name, *selector;
} fleet[] = {
	{ "master", "{\"matchLabels\":{\"" ROLE "master\":\"\"}}" },
	{ "worker", "{\"matchLabels\":{\"" ROLE "worker\":\"\"}}" },
	{ "infra",  "{\"matchLabels\":{\"" ROLE "infra\":\"\"}}" },
	{ "gpu",    "{\"matchLabels\":{\"" ROLE "gpu\":\"\"}}" },
	{ "all",    "{}" },
};
static const struct owned {
	const char	*labels, *owner, *why;
} owned[] = {
	{ ROLE "worker=", "worker", "only pool worker matches" },
	{ ROLE "infra= " ROLE "worker=", "infra", "custom pool infra matches" },
	{ ROLE "infra= " ROLE "master=", "master", "pool master matches: it comes before a custom pool" },
	{ ROLE "gpu= " ROLE "infra= " ROLE "worker=", NULL,
	  "pools gpu and infra both match: MCO does not manage such a node" },
	{ "kubernetes.io/os=windows " ROLE "worker=", NULL, "a Windows node: MCO does not manage it" },
	{ "kubernetes.io/os=linux " ROLE "worker=", "worker", "only pool worker matches" },
	{ "a=b", NULL, "no pool's selector matches" },
};

static void
check_owner(const struct pools *p, const struct owned *want)
{
	struct choice choice;
	char why[CHOOSE_WHY_MAX];
	struct words w;

	words_init(&w, want->labels);
	const struct pool *const o = pools_owner(p, w.map, &choice, NULL, 0);
	assert_true(o == pools_owner(p, w.map, &choice, why, sizeof(why)));
	words_free(&w);
	if (want->owner == NULL)
		assert_null(o);
	else
		assert_string_equal(o->name, want->owner);
	assert_int_equal(choice.index < 0, want->owner == NULL);
	assert_string_equal(why, want->why);
}

/* Pools are put, removed and put again in random orders, so that every walk is another one. */
static void
order_of_pools_never_counts_B2(void **state)
{
	struct pools *p = pools_new();
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < 8; i++)
			pools_remove(p, wire_str_of(fleet[random_below(&seed, NITEMS(fleet))].name));
		while (pools_count(p) < NITEMS(fleet)) {
			const size_t i = random_below(&seed, NITEMS(fleet));

			put(p, fleet[i].name, fleet[i].selector, false);
		}
		for (size_t i = 0; i < NITEMS(owned); i++)
			check_owner(p, &owned[i]);
	}
	pools_free(&p);
}

static void
a_walk_meets_each_pool_once(void **state)
{
	struct pools *p = pools_new();
	char name[32];
	bool seen[100] = { false };
	uint32_t cursor = 0, count = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "pool-%d", i);
		put(p, name, A, false);
	}
	assert_true(pools_remove(p, wire_str_of("pool-50")));
	for (const struct pool *o; (o = pools_next(p, &cursor)) != NULL; count++) {
		const int i = atoi(o->name + strlen("pool-"));

		assert_false(seen[i]);
		seen[i] = true;
	}
	assert_false(seen[50]);
	assert_int_equal(count, 99);
	/* far more matches than are counted: still several custom pools, still no owner */
	struct words w;
	struct choice choice;
	words_init(&w, "a=");
	assert_null(pools_owner(p, w.map, &choice, NULL, 0));
	words_free(&w);
	pools_free(&p);
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(a_put_returns_what_changed_B3),
		cmocka_unit_test(layered_is_label_and_image_B2),
		cmocka_unit_test(who_matched_before_a_change_B3),
		cmocka_unit_test(overlong_label_values_equal_nothing),
		cmocka_unit_test(order_of_pools_never_counts_B2),
		cmocka_unit_test(a_walk_meets_each_pool_once),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	memcpy(tests + NITEMS(rows), others, sizeof(others));
	return cmocka_run_group_tests_name("node_pools", tests, NULL, NULL);
}
