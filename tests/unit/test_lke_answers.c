/* tests/unit/test_lke_answers.c - answers of the Linode API: A7, C3, C11, C12, C13. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/lke-claimer/answers.h"
#include "obj.h"

#define LIST(page, pages, results, data)	\
	"{\"data\":[" data "],\"page\":" #page ",\"pages\":" #pages ",\"results\":" #results "}"
#define ONE(data)	LIST(1, 1, 1, data)
#define POOL(id, count, nodes, more)								\
	"{\"id\":" #id ",\"type\":\"g6-standard-2\",\"label\":\"\",\"count\":" #count		\
	",\"nodes\":" nodes ",\"disks\":[],\"autoscaler\":{\"enabled\":false,\"min\":2,\"max\":2},"	\
	"\"labels\":{},\"taints\":[]" more "}"
#define NODE(id, instance)	"{\"id\":\"" id "\",\"instance_id\":" instance ",\"status\":\"not_ready\"}"
#define TAGS(tags)	",\"tags\":[" tags "]"
#define VM(id, status, cluster, tags)								\
	"{\"id\":" #id ",\"label\":\"lke70001-90001-" #id "\",\"status\":\"" status "\","		\
	"\"created\":\"2026-05-01T10:00:05\",\"type\":\"g6-standard-2\",\"ipv4\":[\"203.0.113.7\"],"	\
	"\"image\":null,\"region\":\"us-ord\",\"specs\":{\"disk\":81920},\"lke_cluster_id\":" cluster	\
	",\"tags\":[" tags "],\"placement_group\":null}"

enum which { POOLS, INSTANCES, STANDARD_POOL, STANDARD_VM };

/*
 * want: pools as "id/type/count/tags [node=instance ...]", then instances as "id/pool/leaving/tags"; or the
 * error. A walk is the pages that were read.
 */
static const struct row {
	const char	*name;
	enum lke_tier	 tier;
	enum which	 which;
	const char	*body, *want, *error;
} rows[] = {
	{ "C3 Standard: null until the machine is there", LKE_STANDARD, POOLS,
	    ONE(POOL(90001, 2, "[" NODE("90001-a", "5550001") "," NODE("90001-b", "null") "]",
	    TAGS("\"a=b\""))),
	    "90001/g6-standard-2/2/1 90001-a=5550001 90001-b=0;", "" },
	{ "C3 Enterprise: no nodes for a while, other fields", LKE_ENTERPRISE, POOLS,
	    ONE(POOL(90002, 2, "[]", TAGS("") ",\"k8s_version\":\"v1.31.8+lke1\",\"firewall_id\":null")),
	    "90002/g6-standard-2/2/0;", "" },
	{ "nodes null", LKE_ENTERPRISE, POOLS, ONE(POOL(90002, 2, "null", TAGS(""))), "90002/g6-standard-2/2/0;", "" },
	{ "by ascending id", LKE_STANDARD, POOLS, LIST(1, 1, 2, POOL(9, 1, "[]", TAGS("")) ","
	    POOL(8, 1, "[]", TAGS(""))),
	    "8/g6-standard-2/1/0;9/g6-standard-2/1/0;", "" },
	{ "the members of the list in another order", LKE_STANDARD, POOLS,
	    "{\"pages\":1,\"results\":0,\"page\":1,\"data\":[]}", "", "" },
	{ "the answer to POST and PUT", LKE_STANDARD, STANDARD_POOL, POOL(9, 3, "[" NODE("9-a",
	    "null") "]", TAGS("")),
	    "9/g6-standard-2/3/0 9-a=0;", "" },
	{ "an instance", LKE_STANDARD, INSTANCES, ONE(VM(7, "running", "70001", "\"x\",\"y\"")), "7/0/0/2;", "" },
	{ "C13 one that is being deleted", LKE_STANDARD, INSTANCES, ONE(VM(7, "deleting", "70001", "")), "7/0/1/0;", "" },
	{ "C3 the pool of an instance", LKE_ENTERPRISE, INSTANCES,
	    ONE(VM(7, "running", "70001", "\"nodepool=90002\",\"lke70001\"")), "7/90002/0/2;", "" },
	{ "C3 C13 of another cluster", LKE_ENTERPRISE, INSTANCES, ONE(VM(7, "running", "70002", "\"lke70001\"")), "", "" },
	{ "C3 a tag of which ours is the beginning", LKE_ENTERPRISE, INSTANCES,
	    LIST(1, 1, 2, VM(7, "running", "null", "\"lke700012\"") "," VM(8, "running", "null",
	    "\"lke70001\"")),
	    "8/0/0/1;", "" },
	{ "Standard has no such tags", LKE_STANDARD, INSTANCES, ONE(VM(7, "running", "null", "\"lke70001\"")), "", "" },
	{ "of no cluster at all", LKE_STANDARD, INSTANCES, ONE(VM(7, "running", "null", "")), "", "" },
	{ "the answer to PUT of an instance", LKE_STANDARD, STANDARD_VM, VM(7, "running", "70001", "\"x\""), "7/0/0/1;", "" },

	{ "A7 no JSON", LKE_STANDARD, POOLS, "<html>", NULL, NULL },
	{ "A7 no list", LKE_STANDARD, POOLS, "{\"page\":1,\"pages\":1,\"results\":0}", NULL, "data: missing" },
	{ "A7 a list of texts", LKE_STANDARD, POOLS, ONE("\"x\""), NULL, "data[0]: not an object" },
	{ "A7 an id that is none", LKE_STANDARD, POOLS, ONE(POOL(0, 1, "[]", TAGS(""))), NULL, "data[0].id: not an id" },
	{ "A7 a fraction", LKE_STANDARD, POOLS, ONE(POOL(1.5, 1, "[]", TAGS(""))), NULL, "data[0].id: not a whole number" },
	{ "A7 a negative count", LKE_STANDARD, POOLS, ONE(POOL(1, -1, "[]", TAGS(""))), NULL, "data[0].count: out of range" },
	{ "A7 no tags", LKE_STANDARD, POOLS, ONE(POOL(1, 1, "[]", "")), NULL, "data[0].tags: missing" },
	{ "A7 a tag that is a number", LKE_STANDARD, POOLS, ONE(POOL(1, 1, "[]", TAGS("1"))), NULL, "data[0].tags[0]: not a text" },
	{ "A7 an instance id that is a text", LKE_STANDARD, POOLS, ONE(POOL(1, 1, "[" NODE("a",
	    "\"7\"") "]", TAGS(""))),
	    NULL, "data[0].nodes[0].instance_id: not a number" },
	{ "A7 an instance id of 0", LKE_STANDARD, POOLS, ONE(POOL(1, 1, "[" NODE("a", "0") "]", TAGS(""))),
	    NULL, "data[0].nodes[0].instance_id: not an id" },
	{ "A7 an empty node id", LKE_STANDARD, POOLS, ONE(POOL(1, 1, "[" NODE("", "7") "]", TAGS(""))),
	    NULL, "data[0].nodes[0].id: empty" },
	{ "A7 a node id without end", LKE_STANDARD, POOLS,
	    ONE(POOL(1, 1, "["
	    NODE("a234567890123456789012345678901234567890123456789012345678901234", "7") "]",
	    TAGS(""))), NULL, "data[0].nodes[0].id: too long" },
	{ "A7 a wrong cluster id", LKE_STANDARD, INSTANCES, ONE(VM(7, "running", "\"x\"", "")),
	    NULL, "data[0].lke_cluster_id: not a number" },
	{ "A7 the second of two is wrong: the first does not count either", LKE_STANDARD, INSTANCES,
	    LIST(1, 1, 2, VM(7, "running", "70001", "") "," VM(8, "running", "70001", "null")), NULL,
	    "data[1].tags[0]: not a text" },
	{ "A7 a page out of order", LKE_STANDARD, POOLS, LIST(2, 2, 0, ""), NULL, "page: it does not belong to the pages before it" },
	{ "A7 pages without end", LKE_STANDARD, POOLS, LIST(1, 201, 100500, ""), NULL, "page: it does not belong to the pages before it" },
};

static bool
read_body(struct lke_body *b, enum which which, struct lke_snapshot *s)
{
	int64_t id = 0;

	switch (which) {
	case POOLS:
		return lke_answer_pools(b, s);
	case INSTANCES:
		return lke_answer_instances(b, s);
	case STANDARD_POOL:
		return lke_answer_pool(b, s, &id) && id > 0;
	case STANDARD_VM:
		return lke_answer_instance(b, s, &id) && id > 0;
	}
	return false;
}

static void
print_snapshot(const struct lke_snapshot *s, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < s->npools; i++) {
		const struct lke_pool *const p = &s->pools[i];

		len += (size_t)snprintf(buf + len, size - len, "%lld/%s/%lld/%u", (long long)p->id, p->type,
		    (long long)p->count, p->tags.n);
		for (uint32_t n = 0; n < p->nnodes; n++)
			len += (size_t)snprintf(buf + len, size - len, " %s=%lld", p->nodes[n].id,
			    (long long)p->nodes[n].instance_id);
		len += (size_t)snprintf(buf + len, size - len, ";");
	}
	for (size_t i = 0; i < s->ninstances; i++) {
		const struct lke_instance *const v = &s->instances[i];

		len += (size_t)snprintf(buf + len, size - len, "%lld/%lld/%d/%u;", (long long)v->id,
		    (long long)v->pool_id, v->leaving, v->tags.n);
	}
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct lke_snapshot *s = snapshot_new(r->tier, 70001);
	struct lke_body b = { .p = r->body, .len = strlen(r->body) };
	char got[512];

	assert_int_equal(read_body(&b, r->which, s), r->want != NULL);
	print_snapshot(s, got, sizeof(got));
	assert_string_equal(got, r->want == NULL ? "" : r->want);
	if (r->error != NULL)
		assert_string_equal(b.err, r->error);
	assert_int_equal(b.err[0] == '\0', r->want != NULL);
	/* What was refused has changed nothing: the walk is where it was. */
	if (r->want == NULL)
		assert_true(s->pool_walk.next == 1 && s->instance_walk.next == 1);
	snapshot_free(&s);
	assert_null(s);
}

/* ---- Pages ---- */

static const struct pages_row {
	const char	*name, *pools[2], *instances[3];
	const char	*want;		/* NULL: a good snapshot; "refused": a page is; else why it is not */
} pages_rows[] = {
	{ "C12 one page of each", { LIST(1, 1, 0, "") }, { ONE(VM(7, "running", "70001", "")) }, NULL },
	{ "C12 no page at all of an empty list", { LIST(1, 0, 0, "") }, { LIST(1, 0, 0, "") }, NULL },
	{ "C12 three pages", { LIST(1, 1, 0, "") }, { LIST(1, 3, 3, VM(7, "running", "70001", "")),
	    LIST(2, 3, 3, VM(8, "running", "null", "")), LIST(3, 3, 3, VM(9, "running", "70001",
	    "")) }, NULL },
	{ "C12 the number of entries changes between two pages", { LIST(1, 1, 0, "") },
	    { LIST(1, 2, 2, VM(7, "running", "70001", "")), LIST(2, 2, 1, "") }, "refused" },
	{ "C12 an entry twice: another one is missing", { LIST(1, 1, 0, "") },
	    { LIST(1, 2, 2, VM(7, "running", "70001", "")), LIST(2, 2, 2, VM(7, "running", "70001", "")) },
	    "the pages of the instances do not have as many entries as the list" },
	{ "C12 fewer entries than the list has", { LIST(1, 1, 0, "") }, { LIST(1, 1, 2, VM(7, "running", "70001", "")) },
	    "the pages of the instances do not have as many entries as the list" },
	{ "C12 fewer pools than the list has", { LIST(1, 1, 1, "") }, { LIST(1, 1, 0, "") },
	    "the pages of the pools do not have as many entries as the list" },
	{ "C12 a page is missing", { LIST(1, 2, 0, "") }, { LIST(1, 1, 0, "") }, "not all pages have been read" },
};

static void
check_pages(void **state)
{
	const struct pages_row *const r = *state;
	struct lke_snapshot *s = snapshot_new(LKE_STANDARD, 70001);
	bool good = true;

	for (size_t i = 0; i < NITEMS(r->pools) && r->pools[i] != NULL; i++) {
		struct lke_body b = { .p = r->pools[i], .len = strlen(r->pools[i]) };

		good = good && lke_answer_pools(&b, s);
	}
	for (size_t i = 0; i < NITEMS(r->instances) && r->instances[i] != NULL; i++) {
		struct lke_body b = { .p = r->instances[i], .len = strlen(r->instances[i]) };

		good = good && lke_answer_instances(&b, s);
	}
	assert_int_equal(good, r->want == NULL || strcmp(r->want, "refused") != 0);
	const char *const why = snapshot_end(s);
	if (r->want == NULL)
		assert_null(why);
	else if (good)
		assert_string_equal(why, r->want);
	else
		assert_non_null(why);
	snapshot_free(&s);
}

/* Answers to mutations make the next snapshot unnecessary. */
static void
c12_answers_update_the_snapshot(void **state)
{
	static const char pool[] = ONE(POOL(9, 2, "[" NODE("9-a", "7") "," NODE("9-b", "8") "]", TAGS("")));
	static const char scaled[] = POOL(9, 3, "[" NODE("9-a", "7") "," NODE("9-b", "8") ","
	    NODE("9-c", "null") "]",
	    TAGS(""));
	struct lke_snapshot *s = snapshot_new(LKE_STANDARD, 70001);
	struct lke_body b = { .p = pool, .len = sizeof(pool) - 1 };
	int64_t id = 0;

	(void)state;
	assert_true(lke_answer_pools(&b, s));
	b = (struct lke_body){ .p = scaled, .len = sizeof(scaled) - 1 };
	assert_true(lke_answer_pool(&b, s, &id));
	assert_int_equal(id, 9);
	assert_int_equal(snapshot_pool(s, 9)->count, 3);
	snapshot_drop_node(s, 9, "9-a");
	assert_int_equal(snapshot_pool(s, 9)->count, 2);
	assert_int_equal(snapshot_pool(s, 9)->nnodes, 2);
	assert_string_equal(snapshot_pool(s, 9)->nodes[0].id, "9-b");
	/* Enterprise: the list of nodes may lag, the count does not. */
	snapshot_drop_node(s, 9, "unlisted");
	assert_int_equal(snapshot_pool(s, 9)->count, 1);
	snapshot_drop_node(s, 10, "9-b");
	snapshot_drop_pool(s, 10);
	snapshot_drop_pool(s, 9);
	assert_null(snapshot_pool(s, 9));
	assert_null(snapshot_instance(s, 7));
	snapshot_free(&s);
}

/* ---- Clusters, types, errors ---- */

#define CLUSTER(label, more)									\
	"{\"id\":70001,\"status\":\"ready\",\"label\":\"" label "\",\"region\":\"us-ord\"" more "}"

static void
clusters_by_label(void **state)
{
	static const char *const bodies[] = {
		ONE(CLUSTER("demo", ",\"tier\":\"enterprise\",\"k8s_version\":\"v1.31.8+lke1\"")),
		ONE(CLUSTER("demo", "")),
		ONE(CLUSTER("demo-2", "")),
		LIST(1, 1, 2, CLUSTER("demo", "") "," CLUSTER("demo", "")),
		ONE(CLUSTER("demo", ",\"tier\":\"gold\"")),
	};
	static const unsigned want[] = { 1, 1, 0, 2, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < NITEMS(bodies); i++) {
		struct lke_body b = { .p = bodies[i], .len = strlen(bodies[i]) };
		struct lke_walk w = { .next = 1 };
		struct lke_cluster c = { 0 };
		unsigned found = 0;
		const bool good = lke_answer_clusters(&b, "demo", &w, &found, &c);

		assert_int_equal(good, want[i] != UINT32_MAX);
		if (!good) {
			assert_string_equal(b.err, "data[0].tier: neither standard nor enterprise");
			continue;
		}
		assert_int_equal(found, want[i]);
		assert_int_equal(w.next, 0);
		assert_int_equal(c.tier, i == 0 ? LKE_ENTERPRISE : LKE_STANDARD);
		assert_string_equal(c.region, found > 0 ? "us-ord" : "");
	}
}

#define PLAN(id, price, regions)								\
	"{\"id\":\"" id "\",\"label\":\"Linode 4GB\",\"class\":\"standard\",\"memory\":4096,"	\
	"\"disk\":81920,\"vcpus\":2,\"gpus\":0,\"transfer\":4000,\"network_out\":4000,"		\
	"\"successor\":null,\"price\":" price ",\"region_prices\":[" regions "]}"
#define PLAN_PRICE(hourly)	"{\"hourly\":" hourly ",\"monthly\":24.0}"
#define REGION_PRICE(id, hourly)	"{\"id\":\"" id "\",\"hourly\":" hourly ",\"monthly\":28.8}"

static void
c11_prices_and_availability(void **state)
{
	static const char pages[][1024] = {
		LIST(1, 2, 3, PLAN("a", PLAN_PRICE("0.036"), REGION_PRICE("id-cgk", "0.043"))
		    "," PLAN("b", PLAN_PRICE("0.1"), REGION_PRICE("us-ord", "0.2") ","
		    REGION_PRICE("x", "1"))),
		LIST(2, 2, 3, PLAN("c", "null", "")),
	};
	static const char availability[] = "[{\"region\":\"us-ord\",\"plan\":\"a\",\"available\":false},"
	    "{\"region\":\"us-ord\",\"plan\":\"z\",\"available\":false},"
	    "{\"region\":\"nl-ams\",\"plan\":\"b\",\"available\":false},"
	    "{\"region\":\"us-ord\",\"plan\":\"c\",\"available\":true}]";
	static const char wrong[] = "[{\"region\":\"us-ord\",\"plan\":\"b\",\"available\":false},"
	    "{\"region\":\"us-ord\",\"plan\":\"b\",\"available\":1}]";
	struct lke_types t = { .walk = { .next = 1 } };
	struct lke_body b;

	(void)state;
	for (size_t i = 0; i < NITEMS(pages); i++) {
		b = (struct lke_body){ .p = pages[i], .len = strlen(pages[i]) };
		assert_true(lke_answer_types(&b, "us-ord", &t));
	}
	assert_int_equal(t.walk.next, 0);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.types[0].price, 36000);
	assert_int_equal(t.types[1].price, 200000);	/* C11: the region's price replaces the general one */
	assert_int_equal(t.types[2].price, -1);
	assert_int_equal(t.types[0].memory_mib, 4096);
	b = (struct lke_body){ .p = wrong, .len = sizeof(wrong) - 1 };
	assert_false(lke_answer_availability(&b, "us-ord", &t));
	assert_string_equal(b.err, "[1].available: not true or false");
	assert_true(t.types[1].available);
	b = (struct lke_body){ .p = availability, .len = sizeof(availability) - 1 };
	assert_true(lke_answer_availability(&b, "us-ord", &t));
	assert_false(t.types[0].available);
	assert_true(t.types[1].available && t.types[2].available);	/* absent is not unavailable */
	b = (struct lke_body){ .p = "{}", .len = 2 };
	assert_false(lke_answer_availability(&b, "us-ord", &t));
	assert_string_equal(b.err, "not a JSON list");
	lke_types_free(&t);
}

static const struct error_row {
	const char	*name;
	enum lke_call	 call;
	int		 status;
	const char	*body;
	enum lke_fault	 want;
} error_rows[] = {
	{ "429", LKE_CALL_TAG_INSTANCE, 429, "{\"errors\":[{\"reason\":\"Too many requests\"}]}", LKE_FAULT_LIMITED },
	{ "401", LKE_CALL_LIST_POOLS, 401, "{\"errors\":[{\"reason\":\"Invalid Token\"}]}", LKE_FAULT_TOKEN },
	{ "403", LKE_CALL_LIST_POOLS, 403, "{}", LKE_FAULT_FORBIDDEN },
	{ "404", LKE_CALL_DELETE_NODE, 404, "{\"errors\":[{\"reason\":\"Not found\"}]}", LKE_FAULT_GONE },
	{ "busy", LKE_CALL_TAG_INSTANCE, 400, "{\"errors\":[{\"reason\":\"Linode busy.\"}]}", LKE_FAULT_TRANSIENT },
	{ "a gateway's 400", LKE_CALL_CREATE_POOL, 400, "<html><h1>400</h1></html>", LKE_FAULT_TRANSIENT },
	{ "a gateway's 502", LKE_CALL_CREATE_POOL, 502, "<html>", LKE_FAULT_TRANSIENT },
	{ "408", LKE_CALL_LIST_POOLS, 408, "", LKE_FAULT_TRANSIENT },
	{ "a redirect", LKE_CALL_LIST_POOLS, 302, "", LKE_FAULT_TRANSIENT },
	{ "C11 no capacity", LKE_CALL_SCALE_POOL, 400, "{\"errors\":[{\"reason\":\"limit reached\"}]}", LKE_FAULT_CAPACITY },
	{ "C11 the count", LKE_CALL_SCALE_POOL, 400, "{\"errors\":[{\"field\":\"count\",\"reason\":\"x\"}]}", LKE_FAULT_CAPACITY },
	{ "C11 the type", LKE_CALL_CREATE_POOL, 400, "{\"errors\":[{\"field\":\"type\",\"reason\":\"x\"}]}", LKE_FAULT_CAPACITY },
	{ "another field", LKE_CALL_CREATE_POOL, 400, "{\"errors\":[{\"field\":\"firewall_id\",\"reason\":\"x\"}]}", LKE_FAULT_INVALID },
	{ "a tag", LKE_CALL_TAG_INSTANCE, 400, "{\"errors\":[{\"field\":\"tags\",\"reason\":\"too long\"}]}", LKE_FAULT_INVALID },
	{ "a filter", LKE_CALL_LIST_INSTANCES, 400,
	    "{\"errors\":[{\"field\":\"X-Filter\",\"reason\":\"Cannot filter on foo\"}]}",
	    LKE_FAULT_INVALID },
	{ "a 400 of another call", LKE_CALL_TAG_INSTANCE, 400, "{\"errors\":[{\"reason\":\"no\"}]}", LKE_FAULT_INVALID },
	{ "422", LKE_CALL_CREATE_POOL, 422, "{}", LKE_FAULT_INVALID },
};

static void
check_error(void **state)
{
	const struct error_row *const r = *state;
	const struct lke_body b = { .p = r->body, .len = strlen(r->body) };
	struct lke_error e;

	lke_answer_error(&b, &e);
	assert_int_equal(lke_fault(r->call, r->status, &e), r->want);
	assert_true(strlen(lke_fault_text(r->want)) > 10 && strlen(lke_fault_label(r->want)) > 3);
}

static void
a_long_reason_is_cut(void **state)
{
	char body[1024];
	struct lke_error e;

	(void)state;
	snprintf(body, sizeof(body),
	    "{\"errors\":[{\"field\":\"f\",\"reason\":\"%0*d\"},{\"reason\":\"b\"}]}", 500, 0);
	lke_answer_error(&(struct lke_body){ .p = body, .len = strlen(body) }, &e);
	assert_int_equal(strlen(e.reason), sizeof(e.reason) - 1);
	assert_string_equal(e.field, "f");
}

static struct CMUnitTest
test_of(const char *name, CMUnitTestFunction check, const void *row)
{
	return (struct CMUnitTest){ name, check, NULL, NULL, (void *)(uintptr_t)row };
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(pages_rows) + NITEMS(error_rows) + 4];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = test_of(rows[i].name, check_row, &rows[i]);
	for (size_t i = 0; i < NITEMS(pages_rows); i++)
		tests[n++] = test_of(pages_rows[i].name, check_pages, &pages_rows[i]);
	for (size_t i = 0; i < NITEMS(error_rows); i++)
		tests[n++] = test_of(error_rows[i].name, check_error, &error_rows[i]);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(c12_answers_update_the_snapshot);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(clusters_by_label);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(c11_prices_and_availability);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_long_reason_is_cut);
	return cmocka_run_group_tests_name("lke_answers", tests, NULL, NULL);
}
