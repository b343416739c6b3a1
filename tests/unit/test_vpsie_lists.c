/* tests/unit/test_vpsie_lists.c - lists of VMs, of a cluster's nodes and of groups: A7, D11, D17, D23. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/vpsie-claimer/request.h"
#include "actors/vpsie-claimer/wire.h"
#include "obj.h"

#define VM	"{\"id\":41001,\"identifier\":\"u1\",\"user_id\":9,\"hostname\":\"k8s-worker-3f2a\","	\
		"\"default_ip\":\"203.0.113.20\",\"default_ipv6\":\"\",\"private_ip\":\"10.0.4.20\","	\
		"\"cpu\":2,\"ram\":4096,\"ssd\":80,\"traffic\":3000,\"boxsize_id\":12,"			\
		"\"datacenter_id\":5,"								\
		"\"dcIdentifier\":\"dc-uuid\",\"node_id\":77,\"power\":1,\"is_active\":1," \
		"\"is_deleted\":0,"									\
		"\"state\":\"x\",\"notes\":null,\"created_on\":\"2026-01-09T10:01:00Z\",\"dropped_on\":null}"
#define SHOWN	"41001/u1/k8s-worker-3f2a//203.0.113.20+10.0.4.20/2/4096/80/12/5/dc-uuid/1767952860"
#define NODES	"{\"error\":false,\"data\":{\"identifier\":\"c1\",\"slaveCount\":1,\"nodes\":["

/* kind: V list of VMs, O one VM, C cluster, G groups. want: machines or groups; "!": the error. */
static const struct row {
	const char	*name;
	char		 kind;
	const char	*body, *want;
} rows[] = {
	{ "a VM", 'V', "{\"error\":false,\"total\":1,\"data\":[" VM "]}", SHOWN },
	{ "no VM", 'V', "{\"error\":false,\"total\":0,\"data\":[]}", "" },
	{ "no total: a page that is not full is the last", 'V', "{\"error\":false,\"data\":[" VM "]}", SHOWN },
	{ "the total of the pagination", 'V', "{\"error\":false,\"data\":[" VM "],\"pagination\":{\"total\":1,\"count\":1}}", SHOWN },
	{ "D17 a truncated list goes on", 'V', "{\"error\":false,\"total\":2,\"data\":[" VM "]}", "more" },
	{ "D17 an empty page before the total", 'V', "{\"error\":false,\"total\":2,\"data\":[]}", "!the list is truncated: 0 entries" },
	{ "D17 HTTP 200 with error", 'V', "{\"error\":true,\"code\":400,\"message\":\"no\",\"data\":[" VM "]}", "!no" },
	{ "A7 data is null", 'V', "{\"error\":false,\"data\":null}", "!data: null" },
	{ "A7 data is true", 'V', "{\"error\":false,\"data\":true}", "!data: not a list" },
	{ "A7 an empty body", 'V', "", "!data: missing" },
	{ "A7 HTML", 'V', "<html></html>", "!not JSON at line 1, column 1" },
	{ "A7 a wrong type names its field", 'V', "{\"data\":[" VM ",{\"id\":\"7\"}]}", "!data[1].id: not a number" },
	{ "A7 an element that is no object", 'V', "{\"data\":[7]}", "!data[0]: not an object" },
	{ "A7 a negative id", 'V', "{\"data\":[{\"id\":-7}]}", "!data[0].id: negative" },
	{ "A7 a malformed time", 'V', "{\"data\":[{\"id\":7,\"created_on\":\"yesterday\"}]}", "!data[0].created_on: not a time" },
	{ "A7 a total in words", 'V', "{\"data\":[],\"total\":\"1\"}", "!total: not a number" },
	{ "A7 a total beyond all limits", 'V', "{\"data\":[],\"total\":9000000}", "!data: more than 100000 entries" },
	{ "a time without a zone is UTC", 'V',
	    "{\"data\":[{\"id\":7,\"created_on\":\"2026-01-09 10:01:00\"}]}", "7/////0/0/0/0/0//1767952860" },
	{ "an empty time is none", 'V', "{\"data\":[{\"id\":7,\"created_on\":\"\"}]}", "7/////0/0/0/0/0//0" },
	{ "null is absent", 'V', "{\"data\":[{\"id\":7,\"private_ip\":null,\"hostname\":null}]}", "7/////0/0/0/0/0//0" },
	{ "the original's fields: name, status", 'V',
	    "{\"data\":[{\"id\":7,\"name\":\"n\",\"status\":\"running\"}]}", "7//n/running//0/0/0/0/0//0" },
	{ "a deleted VM", 'V', "{\"data\":[{\"id\":7,\"is_deleted\":1},{\"id\":8,\"is_terminated\":true}]}",
	    "7/////0/0/0/0/0//0/deleted 8/////0/0/0/0/0//0/deleted" },

	{ "D18 a VM in its envelope", 'O', "{\"error\":false,\"data\":" VM "}", SHOWN },
	{ "D18 a VM, bare", 'O', VM, SHOWN },
	{ "D18 a VM, wrapped twice", 'O', "{\"error\":false,\"data\":{\"vmData\":" VM ",\"vmTags\":[]}}", SHOWN },
	{ "D18 an object that is no VM", 'O', "{\"error\":false,\"data\":{}}", "!data.id: missing" },
	{ "D18 an empty body", 'O', "", "!id: missing" },
	{ "D18 an error", 'O', "{\"error\":true,\"code\":404,\"message\":\"none\"}", "!none" },

	{ "D11 nodes of a cluster: no id is taken from them", 'C',
	    NODES "{\"id\":5,\"identifier\":\"u1\",\"hostname\":\"h\",\"ip\":\"10.0.0.1\","
	    "\"role\":\"slave\",\"disk\":80}]}}",
	    "0/u1/h//10.0.0.1/0/0/80/0/0//0/in=c1" },
	{ "the SDK's fields of a node", 'C',
	    NODES "{\"id\":5,\"hostname\":\"h\",\"default_ip\":\"1.2.3.4\",\"private_ip\":null,"
	    "\"node_type\":1,\"datacenter_id\":5,"
	    "\"created_on\":\"2026-01-09T10:01:00Z\"}]}}", "0//h//1.2.3.4/0/0/0/0/5//1767952860/in=c1" },
	{ "masters and workers apart", 'C',
	    "{\"error\":false,\"data\":{\"masters\":[{\"identifier\":\"m\"}],"
	    "\"slaves\":[{\"identifier\":\"s\"}]}}",
	    "0/s////0/0/0/0/0//0/in=c1 0/m////0/0/0/0/0//0/in=c1/master" },
	{ "a master among the nodes", 'C',
	    NODES "{\"identifier\":\"m\",\"role\":\"Master\"},{\"identifier\":\"s\"}]}}",
	    "0/m////0/0/0/0/0//0/in=c1/master 0/s////0/0/0/0/0//0/in=c1" },
	{ "D16 fewer workers than are counted", 'C', NODES "]}}", "short" },
	{ "no nodes at all", 'C', "{\"error\":false,\"data\":{}}", "!data.nodes: missing" },
	{ "nodes of a wrong type", 'C', "{\"error\":false,\"data\":{\"nodes\":7}}", "!data.nodes: not a list" },
	{ "a cluster without data", 'C', "", "!data: missing" },
	{ "an unknown cluster", 'C', "{\"error\":true,\"code\":404,\"message\":\"no cluster\"}", "!no cluster" },

	{ "D15 groups", 'G',
	    "{\"error\":false,\"total\":2,\"data\":[{\"id\":77,\"group_name\":\"web\","
	    "\"identifier\":\"g1\",\"boxsize_id\":12,"
	    "\"datacenter_id\":5,\"dcIdentifier\":\"dc\",\"ram\":4096,\"cpu\":2,\"nodes_count\":3,"
	    "\"is_deleted\":0,"
	    "\"created_on\":\"2026-01-09T10:01:00Z\"},{\"id\":78,\"is_deleted\":1}]}",
	    "77/web/g1/12/5/dc/2/4096/3/1767952860 78///0/0//0/0/0/0/deleted" },
	{ "no groups", 'G', "{\"error\":false,\"data\":[]}", "" },
	{ "a group without an id", 'G', "{\"error\":false,\"data\":[{\"group_name\":\"web\"}]}", "!data[0].id: missing" },
	{ "groups without a body", 'G', "", "!data: missing" },
};

static size_t
print_machine(const struct machine *m, char *buf, size_t size)
{
	size_t len = (size_t)snprintf(buf, size, "%lld/%.*s/%.*s/%.*s/", (long long)m->id,
	    (int)m->identifier.len, m->identifier.p, (int)m->hostname.len, m->hostname.p,
	    (int)m->status.len, m->status.p);
	bool first = true;

	for (size_t i = 0; i < MACHINE_ADDRESSES_MAX; i++) {
		if (m->addresses[i].len == 0)
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%.*s", first ? "" : "+",
		    (int)m->addresses[i].len, m->addresses[i].p);
		first = false;
	}
	len += (size_t)snprintf(buf + len, size - len, "/%lld/%lld/%lld/%lld/%lld/%.*s/%lld",
	    (long long)m->cpu, (long long)m->ram, (long long)m->ssd, (long long)m->boxsize_id,
	    (long long)m->datacenter_id, (int)m->datacenter.len, m->datacenter.p,
	    (long long)(m->created_us / 1000000));
	if (m->cluster.len > 0)
		len += (size_t)snprintf(
		    buf + len, size - len, "/in=%.*s", (int)m->cluster.len, m->cluster.p);
	len += (size_t)snprintf(buf + len, size - len, "%s%s", m->master ? "/master" : "",
	    m->deleted ? "/deleted" : "");
	return len;
}

static void
print_list(const struct vpsie_list *l, char *buf, size_t size)
{
	uint32_t n, ngroups;
	const struct machine *const m = vpsie_list_machines(l, &n);
	const struct vpsie_group *const g = vpsie_list_group_rows(l, &ngroups);
	size_t len = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		len += (size_t)snprintf(buf + len, size - len, "%s", i > 0 ? " " : "");
		len += print_machine(&m[i], buf + len, size - len);
	}
	for (uint32_t i = 0; i < ngroups; i++)
		len += (size_t)snprintf(buf + len, size - len,
		    "%s%lld/%.*s/%.*s/%lld/%lld/%.*s/%lld/%lld/%lld/%lld%s", i > 0 ? " " : "",
		    (long long)g[i].id, (int)g[i].name.len, g[i].name.p, (int)g[i].identifier.len,
		    g[i].identifier.p, (long long)g[i].is.boxsize_id,
		    (long long)g[i].is.datacenter_id, (int)g[i].is.datacenter.len,
		    g[i].is.datacenter.p, (long long)g[i].is.cpu, (long long)g[i].is.ram,
		    (long long)g[i].nodes, (long long)(g[i].created_us / 1000000),
		    g[i].deleted ? "/deleted" : "");
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct vpsie_list *l = vpsie_list_new();
	const size_t len = strlen(r->body);
	struct vpsie_answer a;
	bool is_short = false;
	char got[2048];

	const enum vpsie_page page = r->kind == 'V' ? vpsie_list_vms(l, 200, r->body, len, &a)
	    : r->kind == 'O'                        ? vpsie_list_vm(l, 200, r->body, len, &a)
	    : r->kind == 'G'
	    ? vpsie_list_groups(l, wire_str_of("c1"), 200, r->body, len, &a)
	    : vpsie_list_cluster(l, wire_str_of("c1"), 200, r->body, len, &is_short, &a);
	if (page == PAGE_FAILED)
		snprintf(got, sizeof(got), "!%s", a.message);
	else if (page == PAGE_MORE || is_short)
		snprintf(got, sizeof(got), "%s", is_short ? "short" : "more");
	else
		print_list(l, got, sizeof(got));
	assert_string_equal(got, r->want);
	assert_int_equal(page == PAGE_FAILED, a.verdict != ANSWER_GOOD);
	vpsie_list_free(&l);
	vpsie_list_free(&l);
}

/* A page with VMs from `first` on. */
static char *
page_of(int first, int n, int total)
{
	char *const body = obj_alloc((size_t)n * 64 + 128);
	size_t len = 0;

	len += (size_t)sprintf(body, "{\"error\":false,");
	if (total >= 0)
		len += (size_t)sprintf(body + len, "\"total\":%d,", total);
	len += (size_t)sprintf(body + len, "\"data\":[");
	for (int i = 0; i < n; i++)
		len += (size_t)sprintf(body + len, "%s{\"id\":%d,\"hostname\":\"h%d\"}",
		    i > 0 ? "," : "", first + i, first + i);
	sprintf(body + len, "]}");
	return body;
}

static enum vpsie_page
feed(struct vpsie_list *l, int first, int n, int total, struct vpsie_answer *a)
{
	char *const body = page_of(first, n, total);
	const enum vpsie_page page = vpsie_list_vms(l, 200, body, strlen(body), a);

	free(body);
	return page;
}

static void
D23_all_pages_are_read(void **state)
{
	struct vpsie_answer a;
	struct vpsie_list *l = vpsie_list_new();

	(void)state;
	assert_int_equal(feed(l, 1, 20, 45, &a), PAGE_MORE);
	assert_int_equal(vpsie_list_count(l), 20);
	assert_int_equal(feed(l, 21, 20, 45, &a), PAGE_MORE);
	assert_int_equal(feed(l, 41, 5, 45, &a), PAGE_LAST);
	assert_int_equal(vpsie_list_count(l), 45);
	vpsie_list_free(&l);

	/* No total: a full page may not be the last. */
	l = vpsie_list_new();
	assert_int_equal(feed(l, 1, VPSIE_PAGE, -1, &a), PAGE_MORE);
	assert_int_equal(feed(l, 1 + VPSIE_PAGE, 0, -1, &a), PAGE_LAST);
	vpsie_list_free(&l);

	/* The server ignores limit and offset, and sends everything. */
	l = vpsie_list_new();
	assert_int_equal(feed(l, 1, VPSIE_PAGE + 100, -1, &a), PAGE_LAST);
	vpsie_list_free(&l);

	/* It ignores the offset, and sends the first page again: the rest stays unknown. */
	l = vpsie_list_new();
	assert_int_equal(feed(l, 1, 20, 45, &a), PAGE_MORE);
	assert_int_equal(feed(l, 1, 20, 45, &a), PAGE_FAILED);
	assert_string_equal(
	    a.message, "the list is truncated: 20 entries, and the offset is ignored");
	assert_int_equal(a.verdict, ANSWER_UNUSABLE);
	vpsie_list_free(&l);
}

/* VMs; nodes of the cluster c1 behind "|"; "id:identifier:hostname:address" each. */
static const struct merge_row {
	const char *name, *vms, *nodes, *want;
} merges[] = {
	{ "D11 by identifier", "1:u1:h:", "0:U1:x:10.0.0.1",
	    "1/u1/h//10.0.0.1/0/0/0/0/0//0/in=c1" },
	{ "D11 by address", "1::h:10.0.0.1", "0:u1::10.0.0.1",
	    "1/u1/h//10.0.0.1/0/0/0/0/0//0/in=c1" },
	{ "D11 by a hostname that is the only one", "1::h:10.0.0.1",
	    "0:u1:H:", "1/u1/h//10.0.0.1/0/0/0/0/0//0/in=c1" },
	{ "two VMs have the hostname", "1::h: 2::h:", "0:u1:h:",
	    "1//h///0/0/0/0/0//0 2//h///0/0/0/0/0//0 0/u1/h///0/0/0/0/0//0/in=c1" },
	{ "two nodes have the hostname", "1::h:", "0:u1:h: 0:u2:h:",
	    "1//h///0/0/0/0/0//0 0/u1/h///0/0/0/0/0//0/in=c1 0/u2/h///0/0/0/0/0//0/in=c1" },
	{ "one hostname, two addresses", "1::h:10.0.0.1", "0:u1:h:10.0.0.2",
	    "1//h//10.0.0.1/0/0/0/0/0//0 0/u1/h//10.0.0.2/0/0/0/0/0//0/in=c1" },
	{ "one address, two identifiers", "1:u1:h:10.0.0.1", "0:u2:g:10.0.0.1",
	    "1/u1/h//10.0.0.1/0/0/0/0/0//0 0/u2/g//10.0.0.1/0/0/0/0/0//0/in=c1" },
	{ "D11 a worker that is in no VM list", "", "0:u1:h:10.0.0.1",
	    "0/u1/h//10.0.0.1/0/0/0/0/0//0/in=c1" },
	{ "D11 a VM that is in no cluster", "1:u1:h:", "", "1/u1/h///0/0/0/0/0//0" },
	{ "two addresses become one list", "1:u1:h:10.0.0.1", "0:u1:h:10.0.0.2",
	    "1/u1/h//10.0.0.1+10.0.0.2/0/0/0/0/0//0/in=c1" },
};

static uint32_t
read_machines(const char *text, struct machine *out)
{
	uint32_t n = 0;

	for (const char *p = text; *p != '\0'; n++) {
		struct wire_str parts[4];

		for (size_t i = 0; i < 4; i++) {
			parts[i] = (struct wire_str){ .p = p, .len = (uint32_t)strcspn(p, ": ") };
			p += parts[i].len + (p[parts[i].len] != '\0');
		}
		out[n] = (struct machine){ .id = strtoll(parts[0].p, NULL, 10),
			.identifier = parts[1],
			.hostname = parts[2],
			.addresses = { parts[3] } };
	}
	return n;
}

static void
check_merge(void **state)
{
	const struct merge_row *const r = *state;
	struct machine m[8];
	const uint32_t nvms = read_machines(r->vms, m),
		       n = nvms + read_machines(r->nodes, m + nvms);
	void *const memory = obj_alloc(machines_merge_bytes(n) + 1);
	char got[1024] = "";
	size_t len = 0;

	for (uint32_t i = nvms; i < n; i++)
		m[i].cluster = wire_str_of("c1");
	const uint32_t left = machines_merge(m, nvms, n, memory, 7);
	for (uint32_t i = 0; i < left; i++) {
		len += (size_t)snprintf(got + len, sizeof(got) - len, "%s", i > 0 ? " " : "");
		len += print_machine(&m[i], got + len, sizeof(got) - len);
	}
	assert_string_equal(got, r->want);
	free(memory);
}

static void
D11_vms_and_nodes_become_one_list(void **state)
{
	static const char vms[] = "{\"error\":false,\"data\":[" VM "]}";
	static const char nodes[] =
	    NODES "{\"identifier\":\"U1\",\"ip\":\"10.9.9.9\"},{\"identifier\":\"u2\"}]}}";
	static const char wrong[] = NODES "{\"identifier\":\"u3\"},{\"identifier\":7}]}}";
	struct vpsie_list *l = vpsie_list_new();
	struct vpsie_answer a;
	bool is_short;
	uint32_t n;

	(void)state;
	assert_int_equal(vpsie_list_vms(l, 200, vms, strlen(vms), &a), PAGE_LAST);
	assert_int_equal(
	    vpsie_list_cluster(l, wire_str_of("c1"), 200, nodes, strlen(nodes), &is_short, &a),
	    PAGE_LAST);
	/* A7: an answer with a wrong field changes nothing. */
	assert_int_equal(
	    vpsie_list_cluster(l, wire_str_of("c2"), 200, wrong, strlen(wrong), &is_short, &a),
	    PAGE_FAILED);
	assert_string_equal(a.message, "data.nodes[1].identifier: not a text");
	vpsie_list_merge(l, 7);
	const struct machine *const m = vpsie_list_machines(l, &n);
	assert_int_equal(n, 2);
	assert_int_equal(m[0].id, 41001);
	assert_true(
	    wire_str_is(m[0].cluster, "c1") && wire_str_is(m[1].identifier, "u2") && m[1].id == 0);
	vpsie_list_free(&l);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(merges) + 2];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(merges); i++)
		tests[n++] = (struct CMUnitTest){ merges[i].name, check_merge, NULL, NULL,
			(void *)(uintptr_t)&merges[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(D23_all_pages_are_read);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(D11_vms_and_nodes_become_one_list);
	return _cmocka_run_group_tests("vpsie_lists", tests, n, NULL, NULL);
}
