/* tests/unit/test_lke_spec_json.c - requirements, kubelet and durations of specs, from JSON text (C11). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/lke-claimer/spec_json.h"
#include "obj.h"

static void
c11_requirements(void **state)
{
	struct lke_requirements r;
	char err[128];

	(void)state;
	assert_true(requirements_read(&r, wire_str_of(""), err, sizeof(err)));
	assert_int_equal(r.n, 0);
	requirements_free(&r);
	assert_true(requirements_read(&r,
	    wire_str_of("[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\",\"y\"],"
	    "\"minValues\":2},{\"key\":\"b\",\"operator\":\"Exists\"}]"), err, sizeof(err)));
	assert_int_equal(r.n, 2);
	assert_true(wire_str_is(r.list[0].key, "a") && r.list[0].op == LKE_IN);
	assert_int_equal(r.list[0].nvalues, 2);
	assert_true(wire_str_is(r.list[0].values[1], "y"));
	assert_int_equal(r.list[0].min_values, 2);
	assert_int_equal(r.list[1].op, LKE_EXISTS);
	assert_int_equal(r.list[1].nvalues, 0);
	requirements_free(&r);
}

static void
c11_requirements_that_are_none(void **state)
{
	static const struct {
		const char *json, *err;
	} bad[] = {
		{ "{}", "spec.requirements: not a list" }, { "[", "spec.requirements: not a list" },
		{ "[{\"key\":\"a\",\"operator\":\"In\"},{\"operator\":\"In\"}]",
		    "spec.requirements[1]: no key, or an operator that is not known" },
		{ "[{\"key\":\"a\",\"operator\":\"Like\"}]",
		    "spec.requirements[0]: no key, or an operator that is not known" },
		{ "[7]", "spec.requirements[0]: no key, or an operator that is not known" },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(bad); i++) {
		struct lke_requirements r;
		char err[128];

		assert_false(requirements_read(&r, wire_str_of(bad[i].json), err, sizeof(err)));
		assert_string_equal(err, bad[i].err);
		requirements_free(&r);
	}
}

static void
c11_kubelet(void **state)
{
	const struct lke_sizing none = kubelet_read(wire_str_of(""), 75);
	const struct lke_sizing wrong = kubelet_read(wire_str_of("{\"maxPods\":\"many\"}"), 75);
	const struct lke_sizing set = kubelet_read(wire_str_of("{\"maxPods\":60,\"podsPerCore\":10,"
	    "\"kubeReserved\":{\"cpu\":\"100m\",\"memory\":\"1Gi\"},\"systemReserved\":{\"memory\":\"x\"},"
	    "\"evictionHard\":{\"memory.available\":\"200Mi\"}}"), 10);

	(void)state;
	assert_int_equal(none.max_pods, lke_sizing_default.max_pods);
	assert_int_equal(none.memory_overhead, 75);
	assert_memory_equal(&none, &wrong, sizeof(none));
	assert_int_equal(set.max_pods, 60);
	assert_int_equal(set.pods_per_core, 10);
	assert_int_equal(set.kube_reserved.of[LKE_CPU], 100);
	assert_int_equal(set.kube_reserved.of[LKE_MEMORY], INT64_C(1) << 30);
	assert_int_equal(set.system_reserved.of[LKE_MEMORY],
	    lke_sizing_default.system_reserved.of[LKE_MEMORY]);
	assert_int_equal(set.eviction_memory, INT64_C(200) << 20);
}

static void
c11_evictionHard_in_percent(void **state)
{
	static const struct {
		const char	*text;
		int64_t		 ppm;
	} all[] = { { "5%", 50000 }, { "7.5%", 75000 }, { "0%", 0 }, { "100%", 0 }, { "101%", -1 },
		{ "%", -1 }, { "-5%", -1 }, { "0x5%", -1 }, { "5 %", -1 }, { "1.2.3%", -1 }, { "5", -1 } };
	char json[128];

	(void)state;
	for (size_t i = 0; i < NITEMS(all); i++) {
		snprintf(json, sizeof(json), "{\"evictionHard\":{\"memory.available\":\"%s\"}}", all[i].text);
		assert_int_equal(kubelet_read(wire_str_of(json), 75).eviction_ppm, all[i].ppm);
	}
}

static void
c8_durations(void **state)
{
	static const char *const bad[] = { "", "5", "-5s", "s", "1h x", "0x5s", "inf", "1e400h", "1..2s",
		"999999999999h", "1h30" };
	static const struct {
		const char	*text;
		int64_t		 us;
	} good[] = { { "30s", 30000000 }, { "1h30m0s", INT64_C(5400000000) }, { "1.5s", 1500000 },
		{ "250ms", 250000 }, { "0s", 0 } };
	int64_t us = 0;

	(void)state;
	for (size_t i = 0; i < NITEMS(good); i++) {
		assert_true(duration_read(wire_str_of(good[i].text), &us));
		assert_int_equal(us, good[i].us);
	}
	for (size_t i = 0; i < NITEMS(bad); i++)
		assert_false(duration_read(wire_str_of(bad[i]), &us));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c11_requirements), cmocka_unit_test(c11_requirements_that_are_none),
		cmocka_unit_test(c11_kubelet), cmocka_unit_test(c11_evictionHard_in_percent),
		cmocka_unit_test(c8_durations),
	};

	return cmocka_run_group_tests_name("lke_spec_json", tests, NULL, NULL);
}
