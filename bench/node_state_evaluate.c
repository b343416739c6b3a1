/*
 * bench/node_state_evaluate.c - what one evaluation costs node-state, in CPU time and without a bus.
 *
 *	bench-node_state_evaluate NODES PASSES
 *
 * Prints {"same_per_s", "changed_per_s", "body_bytes"}. An evaluation is what the actor does for one key of
 * its queue: it reads the Node from the mirror, unpacks and assesses it, and compares the result with the
 * last state. same: the state is unchanged. changed: the state is another one every time, so it is packed and
 * stored for consumers. The change of the Node in the mirror is not counted: the bus does that.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "actors/node-state/fleet.h"
#include "ends.h"
#include "mirror.h"
#include "obj.h"
#include "link_store.h"

#define ROLE	"node-role.kubernetes.io/"
#define CONFIG	"rendered-worker-28035b192362088e42615b59b7fb4b1b"
#define NEXT	"rendered-worker-5d1c08f2a7e94b06b3c2f1d0e9a8b7c6"
#define PROVIDER "aws:///eu-west-1c/i-04f2c9d8b7a6e5143"
#define HOST	"ip-10-0-171-203.eu-west-1.compute.internal"
#define SINCE	"2026-11-17T07:56:00Z"

enum { KEY_MAX = 40 };

struct pair {
	const char	*key, *value;
};

struct bench {
	uint32_t		 nodes;
	struct fleet		*fleet;
	struct intern		*pool;
	struct mirror		*mirror;
	struct link_store		*view;
	struct msg_arena	 arena;
	msgpack_sbuffer		 packed;
	size_t			 body_bytes;	/* of one Node on the bus */
};

static void set_up(struct bench *);
static void tear_down(struct bench *);
static void take_pool(struct bench *, const char *);
static void take_config(struct bench *, const char *, const char *);
static void take_version(struct bench *, const char *);
static void hold_nodes(struct bench *, const char *);
static void pack_node(struct bench *, const char *);
static double pass(struct bench *, enum fleet_result);
static void evaluate(struct bench *, struct wire_str, enum fleet_result);
static double cpu_s(void);
static void enqueue(void *, struct wire_str, uint64_t);
static void each_node(void *, fleet_node_fn *, void *);
static void ignore(enum mirror_change, const struct body_item *, void *);
static struct wire_str key_of(char *, uint32_t);
static struct wire_map map_of(msgpack_sbuffer *, const struct pair *, size_t);
static void put_row(msgpack_sbuffer *, struct wire_rows *, const char *const *, uint32_t);

/* By their bytes ascending, as everywhere on the bus. */
static const struct pair labels[] = {
	{ "beta.kubernetes.io/arch", "amd64" }, { "beta.kubernetes.io/instance-type", "m6i.2xlarge" },
	{ "beta.kubernetes.io/os", "linux" }, { "failure-domain.beta.kubernetes.io/region", "eu-west-1" },
	{ "failure-domain.beta.kubernetes.io/zone", "eu-west-1c" }, { "kubernetes.io/arch", "amd64" },
	{ "kubernetes.io/hostname", HOST },
	{ "kubernetes.io/os", "linux" }, { ROLE "worker", "" },
	{ "node.kubernetes.io/instance-type", "m6i.2xlarge" }, { "node.openshift.io/os_id", "rhcos" },
	{ "topology.ebs.csi.aws.com/zone", "eu-west-1c" }, { "topology.kubernetes.io/region", "eu-west-1" },
	{ "topology.kubernetes.io/zone", "eu-west-1c" },
};

static const char *const conditions[][4] = {
	{ "MemoryPressure", "False", "KubeletHasSufficientMemory", SINCE },
	{ "DiskPressure", "False", "KubeletHasNoDiskPressure", SINCE },
	{ "PIDPressure", "False", "KubeletHasSufficientPID", SINCE },
	{ "Ready", "True", "KubeletReady", SINCE },
};

static const char *const addresses[][2] = {
	{ "InternalIP", "10.0.171.203" }, { "Hostname", HOST },
	{ "InternalDNS", HOST },
};

int
main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: bench-node_state_evaluate NODES PASSES\n");
		return 2;
	}
	struct bench b = { .nodes = bench_number("NODES", argv[1]) };
	const uint32_t passes = bench_number("PASSES", argv[2]);
	double same_s = 0, changed_s = 0;

	set_up(&b);
	for (uint32_t i = 0; i < passes; i++) {
		same_s += pass(&b, EVAL_UNCHANGED);
		hold_nodes(&b, i % 2 == 0 ? "Working" : "Done");
		changed_s += pass(&b, EVAL_CHANGED);
	}
	const double count = (double)passes * b.nodes;
	printf("{\"same_per_s\": %.0f, \"changed_per_s\": %.0f, \"body_bytes\": %zu}\n", count / same_s,
	    count / changed_s, b.body_bytes);
	tear_down(&b);
	return 0;
}

/* Three pools, two configs, a target: an update in progress, every node evaluated once. */
static void
set_up(struct bench *b)
{
	msg_arena_init(&b->arena);
	msgpack_sbuffer_init(&b->packed);
	b->pool = intern_new();
	b->mirror = mirror_new();
	mirror_intern(b->mirror, b->pool);
	b->view = link_store_new();
	link_store_intern(b->view, b->pool);
	b->fleet = fleet_new((struct fleet_hooks){ .enqueue = enqueue, .each_node = each_node, .arg = b });
	take_pool(b, "master");
	take_pool(b, "infra");
	take_pool(b, "worker");
	take_config(b, CONFIG, "4.20.3");
	take_config(b, NEXT, "4.20.4");
	take_version(b, "4.20.4");
	fleet_open(b->fleet);
	hold_nodes(b, "Done");
	pass(b, EVAL_CHANGED);
}

static void
tear_down(struct bench *b)
{
	fleet_free(&b->fleet);
	link_store_free(&b->view);
	mirror_free(&b->mirror);
	intern_free(&b->pool);
	msgpack_sbuffer_destroy(&b->packed);
	msg_arena_free(&b->arena);
}

/* ---- Objects ---- */

static void
take_pool(struct bench *b, const char *name)
{
	char key[KEY_MAX], selector[100];

	snprintf(key, sizeof(key), "machineconfigpools/%s", name);
	snprintf(selector, sizeof(selector), "{\"matchLabels\":{\"" ROLE "%s\":\"\"}}", name);
	const union msg_body body = { .machine_config_pool = { .selector = wire_str_of(selector) } };
	fleet_update(b->fleet, MSG_MACHINE_CONFIG_POOL, wire_str_of(key), &body, 0);
}

static void
take_config(struct bench *b, const char *name, const char *version)
{
	const struct pair annotation = { "release-image-version", version };
	char key[100];
	msgpack_sbuffer bytes;

	msgpack_sbuffer_init(&bytes);
	snprintf(key, sizeof(key), "machineconfigs/%s", name);
	const union msg_body body = { .machine_config = { .annotations = map_of(&bytes, &annotation, 1) } };
	fleet_update(b->fleet, MSG_MACHINE_CONFIG, wire_str_of(key), &body, 0);
	msgpack_sbuffer_destroy(&bytes);
}

static void
take_version(struct bench *b, const char *version)
{
	const char *const entry[] = { "Partial", version };
	union msg_body body = { 0 };
	msgpack_sbuffer bytes;

	msgpack_sbuffer_init(&bytes);
	put_row(&bytes, &body.cluster_version.history, entry, NITEMS(entry));
	fleet_update(b->fleet, MSG_CLUSTER_VERSION, wire_str_of("clusterversions/version"), &body, 0);
	msgpack_sbuffer_destroy(&bytes);
}

/* Puts every node into the mirror, its daemon in that state. */
static void
hold_nodes(struct bench *b, const char *state)
{
	char key[KEY_MAX];

	pack_node(b, state);
	b->body_bytes = b->packed.size;
	for (uint32_t i = 0; i < b->nodes; i++) {
		const struct body_item item = {
			.key = key_of(key, i), .uid = wire_str_of("635b0b7e-74f0-483e-98c8-0a5e762810c2"),
			.rv = wire_str_of("48151623"), .type = msg_table[MSG_NODE].number,
			.value = { (const uint8_t *)b->packed.data, (uint32_t)b->packed.size },
		};

		mirror_apply(b->mirror, &item, ignore, NULL);
	}
}

static void
pack_node(struct bench *b, const char *state)
{
	const struct pair mco[] = {
		{ "currentConfig", CONFIG }, { "desiredConfig", NEXT }, { "desiredDrain", "uncordon-" NEXT },
		{ "reason", "" }, { "state", state },
	};
	union msg_body body = { .node = {
		.deleted = wire_str_of(""), .provider_id = wire_str_of(PROVIDER),
	} };
	msgpack_sbuffer parts[4];

	for (size_t i = 0; i < NITEMS(parts); i++)
		msgpack_sbuffer_init(&parts[i]);
	body.node.labels = map_of(&parts[0], labels, NITEMS(labels));
	body.node.mco = map_of(&parts[1], mco, NITEMS(mco));
	for (size_t i = 0; i < NITEMS(conditions); i++)
		put_row(&parts[2], &body.node.conditions, conditions[i], NITEMS(conditions[i]));
	for (size_t i = 0; i < NITEMS(addresses); i++)
		put_row(&parts[3], &body.node.addresses, addresses[i], NITEMS(addresses[i]));
	msgpack_sbuffer_clear(&b->packed);
	msg_pack(&b->packed, MSG_NODE, &body);
	for (size_t i = 0; i < NITEMS(parts); i++)
		msgpack_sbuffer_destroy(&parts[i]);
}

/* ---- Evaluations ---- */

/* Evaluates each node once; returns CPU seconds. Every evaluation must have the wanted result. */
static double
pass(struct bench *b, enum fleet_result wanted)
{
	const double began_s = cpu_s();
	char key[KEY_MAX];

	for (uint32_t i = 0; i < b->nodes; i++)
		evaluate(b, key_of(key, i), wanted);
	return cpu_s() - began_s;
}

static void
evaluate(struct bench *b, struct wire_str key, enum fleet_result wanted)
{
	struct body_item item;
	union msg_body node;
	struct fleet_state state;
	bool changed = false;

	mirror_release(b->mirror);
	MUST(mirror_get(b->mirror, key, &item));
	msg_arena_reset(&b->arena);
	MUST(msg_unpack_value(MSG_NODE, item.value.p, item.value.len, &b->arena, &node));
	const enum fleet_result result = fleet_evaluate(b->fleet, key, &node.node, 1, 1, &state);
	MUST(result == wanted);
	if (result == EVAL_CHANGED)
		MUST(link_store_set(
			 b->view, key, item.uid, item.rv, state.type, state.packed, 1, &changed)
			== E_OK
		    && changed);
}

static double
cpu_s(void)
{
	struct timespec t;

	MUST(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- Hooks of the fleet and the mirror ---- */

static void
enqueue(void *arg, struct wire_str key, uint64_t trace)
{
	(void)arg, (void)key, (void)trace;
}

/* The fleet calls it only when the selector of a pool changes: none does. */
static void
each_node(void *arg, fleet_node_fn *fn, void *fn_arg)
{
	(void)arg, (void)fn, (void)fn_arg;
}

static void
ignore(enum mirror_change kind, const struct body_item *item, void *arg)
{
	(void)kind, (void)item, (void)arg;
}

/* ---- Helpers ---- */

static struct wire_str
key_of(char *buf, uint32_t number)
{
	const int len = snprintf(buf, KEY_MAX, "nodes/worker-%05u", number);

	return (struct wire_str){ buf, (uint32_t)len };
}

static struct wire_map
map_of(msgpack_sbuffer *bytes, const struct pair *pairs, size_t n)
{
	struct wire_map map = { 0 };

	for (size_t i = 0; i < n; i++)
		map_put(bytes, &map, wire_str_of(pairs[i].key), wire_str_of(pairs[i].value));
	return map;
}

static void
put_row(msgpack_sbuffer *bytes, struct wire_rows *rows, const char *const *texts, uint32_t columns)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	MUST(columns <= NITEMS(cells));
	for (uint32_t i = 0; i < columns; i++)
		cells[i] = wire_str_of(texts[i]);
	rows_put(bytes, rows, cells, columns);
}
