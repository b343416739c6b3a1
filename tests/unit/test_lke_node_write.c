/* tests/unit/test_lke_node_write.c - patches of a Node (C8, C9, C10). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/lke-claimer/node_write.h"
#include "obj.h"

#define NODE									\
	"{\"metadata\":{\"name\":\"n\",\"uid\":\"u1\",\"resourceVersion\":\"7\",\"finalizers\":[\"x/y\"]," \
	"\"ownerReferences\":[{\"uid\":\"other\",\"name\":\"o\"}]%s},\"spec\":{\"taints\":["	\
	"{\"key\":\"karpenter.sh/unregistered\",\"effect\":\"NoExecute\"},"	\
	"{\"key\":\"a\",\"value\":\"old\",\"effect\":\"NoSchedule\"}]},"	\
	"\"status\":{\"allocatable\":{\"cpu\":\"2\",\"memory\":\"0\"}}}"

struct texts {
	msgpack_sbuffer	labels, annotations, taints;
};

static struct live_node
node(const char *more)
{
	struct live_node n;
	char text[1024];
	const int len = snprintf(text, sizeof(text), NODE, more);

	assert_true(live_node_read(&n, (struct wire_str){ text, (uint32_t)len }));
	return n;
}

static struct node_registration
registration(struct texts *t)
{
	struct node_registration r = { .claim = "c", .claim_uid = "u2" };
	const struct wire_str taint[] = { wire_str_of("a"), wire_str_of("new"), wire_str_of("NoSchedule") };
	const struct wire_str startup[] = { wire_str_of("b"), wire_str_of(""), wire_str_of("NoExecute") };

	msgpack_sbuffer_init(&t->labels);
	msgpack_sbuffer_init(&t->annotations);
	msgpack_sbuffer_init(&t->taints);
	map_put(&t->labels, &r.labels, wire_str_of("l"), wire_str_of("1"));
	map_put(&t->annotations, &r.annotations, wire_str_of("karpenter.k8s.linode/instance"),
	    wire_str_of("7"));
	map_put(&t->annotations, &r.annotations, wire_str_of("note"), wire_str_of("2"));
	rows_put(&t->taints, &r.taints, taint, 3);
	rows_put(&t->taints, &r.taints, startup, 3);
	return r;
}

static void
end(struct texts *t)
{
	msgpack_sbuffer_destroy(&t->labels);
	msgpack_sbuffer_destroy(&t->annotations);
	msgpack_sbuffer_destroy(&t->taints);
}

static void
check(const char *got, size_t len, const char *wanted)
{
	json_t *const a = json_loadb(got, len, 0, NULL), *const b = json_loads(wanted, 0, NULL);

	assert_non_null(b);
	if (!json_equal(a, b))
		fail_msg("%.*s", (int)len, got);
	json_decref(a);
	json_decref(b);
}

#define META	"\"uid\":\"u1\",\"resourceVersion\":\"7\""
#define TAINT_A	"{\"key\":\"a\",\"value\":\"old\",\"effect\":\"NoSchedule\"}"
#define OWNERS	"[{\"uid\":\"other\",\"name\":\"o\"},{\"apiVersion\":\"karpenter.sh/v1\","	\
	"\"kind\":\"NodeClaim\",\"name\":\"c\",\"uid\":\"u2\",\"blockOwnerDeletion\":true}]"

static void
c10_registration(void **state)
{
	struct live_node n = node("");
	struct texts t;
	const struct node_registration r = registration(&t);
	char buf[2048];

	(void)state;
	assert_false(n.finalizer);
	assert_true(n.unregistered);
	check(buf, node_write_register(buf, sizeof(buf), &n, &r), "{\"metadata\":{" META ","
	    "\"labels\":{\"l\":\"1\",\"karpenter.sh/registered\":\"true\"},\"annotations\":{\"note\":\"2\"},"
	    "\"finalizers\":[\"x/y\",\"karpenter.sh/termination\"],\"ownerReferences\":" OWNERS "},"
	    "\"spec\":{\"taints\":[" TAINT_A ",{\"key\":\"b\",\"effect\":\"NoExecute\"}]}}");
	assert_int_equal(node_write_register(buf, 40, &n, &r), 0);
	live_node_free(&n);
	/* Its owner wants to keep the taints: only the one of registration goes. */
	n = node(",\"labels\":{\"karpenter.sh/do-not-sync-taints\":\"true\"}");
	const size_t len = node_write_register(buf, sizeof(buf), &n, &r);
	assert_null(memmem(buf, len, "\"b\"", 3));
	live_node_free(&n);
	end(&t);
}

static void
c8_c9_label_finalizer_and_taint(void **state)
{
	struct live_node n = node("");
	char buf[1024];

	(void)state;
	check(buf, node_write_label(buf, sizeof(buf), &n, "k", "v"), "{\"metadata\":{" META
	    ",\"labels\":{\"k\":\"v\"}}}");
	check(buf, node_write_release(buf, sizeof(buf), &n),
	    "{\"metadata\":{" META ",\"finalizers\":[\"x/y\"]}}");
	check(buf, node_write_taint(buf, sizeof(buf), &n),
	    "{\"metadata\":{" META "},\"spec\":{\"taints\":[" TAINT_A
	    ",{\"key\":\"karpenter.sh/unregistered\",\"effect\":\"NoExecute\"}]}}");
	live_node_free(&n);
}

static void
c10_requested_resources(void **state)
{
	struct live_node n = node("");
	static const struct {
		const char *name, *amount;
		bool	    there;
	} rows[] = {
		{ "cpu", "1", true }, { "memory", "1Gi", false }, { "memory", "0", true },
		{ "nvidia.com/gpu", "1", false }, { "nvidia.com/gpu", "0", true },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		msgpack_sbuffer bytes;
		struct wire_map map = { .p = NULL };

		msgpack_sbuffer_init(&bytes);
		map_put(&bytes, &map, wire_str_of(rows[i].name), wire_str_of(rows[i].amount));
		assert_int_equal(live_node_allocates(&n, map), rows[i].there);
		msgpack_sbuffer_destroy(&bytes);
	}
	live_node_free(&n);
}

static void
what_is_no_Node(void **state)
{
	static const char *const bad[] = { "", "[]", "{}", "{\"metadata\":{\"uid\":\"u\"}}",
	    "{\"metadata\":7}", "{" };

	(void)state;
	for (size_t i = 0; i < NITEMS(bad); i++) {
		struct live_node n;

		assert_false(live_node_read(&n, wire_str_of(bad[i])));
		live_node_free(&n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c10_registration), cmocka_unit_test(c8_c9_label_finalizer_and_taint),
		cmocka_unit_test(c10_requested_resources), cmocka_unit_test(what_is_no_Node),
	};

	return cmocka_run_group_tests_name("lke_node_write", tests, NULL, NULL);
}
