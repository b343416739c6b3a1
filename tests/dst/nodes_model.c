/*
 * tests/dst/nodes_model.c - the cluster of the world of node-state: random objects, their bytes,
 * the owner of a node (by the MCO rule, implemented a second time), and the final states.
 */
#include <stdio.h>
#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "world_nodes.h"

#define ROLE	"node-role.kubernetes.io/"
#define MATCH(role)	"{\"matchLabels\":{\"" ROLE role "\":\"\"}}"

enum { GPU = 1, INFRA = 2, MASTER = 4, WORKER = 8, WINDOWS = 16 };

/* By their bytes, as in a map. */
static const struct {
	const char	*key, *value;
	uint8_t		 bit;
} labels[] = {
	{ "kubernetes.io/os", "windows", WINDOWS }, { ROLE "gpu", "", GPU }, { ROLE "infra", "", INFRA },
	{ ROLE "master", "", MASTER }, { ROLE "worker", "", WORKER },
};

/* nothing: matches no node. The first five are the pools' usual ones, in the order of `pools`. */
static const struct {
	const char	*text;
	uint8_t		 need, lack;
	bool		 nothing;
} selectors[] = {
	{ MATCH("master"), MASTER, 0, false }, { MATCH("worker"), WORKER, 0, false }, { MATCH("infra"), INFRA, 0, false },
	{ MATCH("gpu"), GPU, 0, false }, { "{}", 0, 0, true },
	{ "", 0, 0, true }, { "{\"matchLabels\":1}", 0, 0, true },
	{ "{\"matchExpressions\":[{\"key\":\"" ROLE "gpu\",\"operator\":\"DoesNotExist\"}]}", 0, GPU, false },
	{ "{\"matchLabels\":{\"" ROLE "infra\":\"\"},\"matchExpressions\":"
	  "[{\"key\":\"" ROLE "worker\",\"operator\":\"Exists\"}]}", INFRA | WORKER, 0, false },
};

enum { POOL_MASTER, POOL_WORKER };
static const char *const pools[MODEL_POOLS] = { "master", "worker", "infra", "gpu", "edge" };
static const char *const versions[] = { NULL, "", "4.20.2", "4.20.3", "latest" };
static const char *const images[] = { NULL, "", "os:1", "os:2" };

/* The eight annotations by their bytes; NULL: absent. */
static const struct {
	const char	*key;
	const char	*values[8];
	uint8_t		 count;
} annotations[8] = {
	{ "currentConfig", { NULL, "", "c0", "c1", "c2", "c3" }, 6 },
	{ "currentImage", { NULL, NULL, NULL, "", "os:1", "os:2" }, 6 },
	{ "desiredConfig", { NULL, "", "c0", "c1", "c2", "c3" }, 6 },
	{ "desiredDrain", { NULL, "", "drain-c1", "uncordon-c1" }, 4 },
	{ "desiredImage", { NULL, NULL, NULL, "", "os:1", "os:2" }, 6 },
	{ "lastAppliedDrain", { NULL, "", "drain-c1", "uncordon-c1" }, 4 },
	{ "reason", { NULL, "", "disk full", "a reason \xe2\x82\xac" }, 4 },
	{ "state", { NULL, "Done", "Done", "Working", "Rebooting", "Degraded", "Unreconcilable", "" }, 8 },
};

static const char *const ready[] = { NULL, "True", "True", "False", "Unknown" };

/* A node-state that evaluates once, and its scratch memory. */
struct fresh {
	struct fleet	*fleet;
	struct msg_arena arena, inner;
	msgpack_sbuffer	 bytes;
	union msg_body	 body;
};

static void draw(struct model_object *, uint32_t, struct sim *);
static bool selects(const struct model_object *, const struct model_object *);
static void mark_absent(struct model *);
static void pack_node(const struct model_object *, msgpack_sbuffer *);
static void pack_pool(const struct model_object *, msgpack_sbuffer *);
static const union msg_body *fresh_read(struct fresh *, const struct model *, uint32_t);
static void fresh_take(struct fresh *, const struct model *, uint32_t);
static uint64_t fresh_evaluate(struct fresh *, const struct model *, uint32_t);
static void no_enqueue(void *, struct wire_str, uint64_t);
static void no_nodes(void *, fleet_node_fn *, void *);

void
model_init(struct model *m, struct sim *sim)
{
	*m = (struct model){ .rv = 1 };
	for (uint32_t i = 0; i < MODEL_OBJECTS; i++) {
		struct model_object *o = &m->objects[i];

		o->present = sim_chance(sim, 800);
		o->life = 1;
		o->rv = m->rv;
		for (uint32_t n = 0; n < 16; n++)
			draw(o, i, sim);
		if (i >= FIRST_POOL && i < FIRST_CONFIG)
			o->picks[0] = (uint8_t)(i - FIRST_POOL);
	}
	mark_absent(m);
}

uint32_t
model_change(struct model *m, struct sim *sim)
{
	const uint32_t place = sim_chance(sim, 600) ? (uint32_t)sim_random(sim, MODEL_NODES)
						    : (uint32_t)sim_random(sim, MODEL_OBJECTS);
	struct model_object *o = &m->objects[place];

	m->rv++;
	if (!o->present || sim_chance(sim, 120)) {
		o->present = !o->present;
		o->life += o->present;
	}
	for (uint64_t n = sim_random(sim, 4); n > 0; n--)
		draw(o, place, sim);
	o->rv = m->rv;
	mark_absent(m);
	return place;
}

/* Draws a value for one of its fields; it may be the same as before. */
static void
draw(struct model_object *o, uint32_t place, struct sim *sim)
{
	if (place < FIRST_POOL) {
		const uint64_t field = sim_random(sim, 12);

		if (field < NITEMS(annotations))
			o->picks[field] = (uint8_t)sim_random(sim, annotations[field].count);
		else if (field == 8)
			o->ready = (uint8_t)sim_random(sim, NITEMS(ready));
		else if (field == 9)
			o->unschedulable = !o->unschedulable;
		else
			o->labels ^= (uint8_t)(1u << sim_random(sim, sim_chance(sim, 100) ? 5 : 4));
	} else if (place < FIRST_CONFIG) {
		const uint64_t field = sim_random(sim, 3);
		const uint8_t usual = (uint8_t)(place - FIRST_POOL);

		if (field == 0)
			o->picks[0] = sim_chance(sim, 600)
			    ? usual
			    : (uint8_t)sim_random(sim, NITEMS(selectors));
		else if (field == 1)
			o->picks[1] = !o->picks[1];
		else
			o->picks[2] = (uint8_t)sim_random(sim, NITEMS(images));
	} else {
		o->picks[0] = (uint8_t)sim_random(sim, NITEMS(versions));
	}
}

/* ---- Keys, types and owners ---- */

void
model_key(uint32_t place, char key[NODES_KEY_MAX])
{
	if (place < FIRST_POOL)
		snprintf(key, NODES_KEY_MAX, "nodes/n%u", place);
	else if (place < FIRST_CONFIG)
		snprintf(key, NODES_KEY_MAX, "machineconfigpools/%s", pools[place - FIRST_POOL]);
	else if (place < THE_VERSION)
		snprintf(key, NODES_KEY_MAX, "machineconfigs/c%u", place - FIRST_CONFIG);
	else
		snprintf(key, NODES_KEY_MAX, "clusterversions/version");
}

uint32_t
model_place(struct wire_str key)
{
	char known[NODES_KEY_MAX];
	uint32_t place = 0;

	for (; place < MODEL_OBJECTS; place++) {
		model_key(place, known);
		if (wire_str_compare(key, wire_str_of(known)) == 0)
			break;
	}
	return place;
}

enum msg
model_type(uint32_t place)
{
	return place < FIRST_POOL ? MSG_NODE : place < FIRST_CONFIG ? MSG_MACHINE_CONFIG_POOL
	    : place < THE_VERSION ? MSG_MACHINE_CONFIG : MSG_CLUSTER_VERSION;
}

static bool
selects(const struct model_object *pool, const struct model_object *node)
{
	const uint8_t s = pool->picks[0];

	return pool->present && !selectors[s].nothing
	    && (node->labels & selectors[s].need) == selectors[s].need
	    && (node->labels & selectors[s].lack) == 0;
}

int
model_owner(const struct model *m, uint32_t node)
{
	const struct model_object *const n = &m->objects[node], *const p = &m->objects[FIRST_POOL];
	int custom = -1, customs = 0;

	for (int i = POOL_WORKER + 1; i < MODEL_POOLS; i++) {
		if (selects(&p[i], n)) {
			custom = i;
			customs++;
		}
	}
	if (!n->present || (n->labels & WINDOWS) != 0 || customs > 1)
		return -1;
	if (selects(&p[POOL_MASTER], n))
		return POOL_MASTER;
	if (customs == 1)
		return custom;
	return selects(&p[POOL_WORKER], n) ? POOL_WORKER : -1;
}

bool
model_has_state(const struct model *m, uint32_t place)
{
	return place < FIRST_POOL ? model_owner(m, place) >= 0 : m->objects[place].present;
}

static void
mark_absent(struct model *m)
{
	for (uint32_t i = 0; i < STATES; i++) {
		if (!model_has_state(m, i))
			m->absent_rv[i] = m->rv;
	}
}

/* ---- Bytes ---- */

void
model_pack(const struct model *m, uint32_t place, msgpack_sbuffer *out)
{
	const struct model_object *const o = &m->objects[place];
	const char *const version = place < FIRST_CONFIG ? NULL : versions[o->picks[0]];
	msgpack_sbuffer bytes;
	union msg_body body = { 0 };

	msgpack_sbuffer_clear(out);
	if (place < FIRST_POOL) {
		pack_node(o, out);
		return;
	}
	if (place < FIRST_CONFIG) {
		pack_pool(o, out);
		return;
	}
	msgpack_sbuffer_init(&bytes);
	if (version != NULL && place < THE_VERSION)
		map_put(&bytes, &body.machine_config.annotations, wire_str_of("release-image-version"),
		    wire_str_of(version));
	else if (version != NULL)
		rows_put(&bytes, &body.cluster_version.history,
		    (const struct wire_str[]){ wire_str_of("Partial"), wire_str_of(version) }, 2);
	msg_pack(out, model_type(place), &body);
	msgpack_sbuffer_destroy(&bytes);
}

static void
pack_node(const struct model_object *o, msgpack_sbuffer *out)
{
	msgpack_sbuffer label_bytes, mco_bytes, rows;
	union msg_body body = { .node = { .unschedulable = o->unschedulable } };

	msgpack_sbuffer_init(&label_bytes);
	msgpack_sbuffer_init(&mco_bytes);
	msgpack_sbuffer_init(&rows);
	for (size_t i = 0; i < NITEMS(labels); i++) {
		if ((o->labels & labels[i].bit) != 0)
			map_put(&label_bytes, &body.node.labels, wire_str_of(labels[i].key),
			    wire_str_of(labels[i].value));
	}
	for (size_t i = 0; i < NITEMS(annotations); i++) {
		const char *const value = annotations[i].values[o->picks[i]];

		if (value != NULL)
			map_put(&mco_bytes, &body.node.mco, wire_str_of(annotations[i].key),
			    wire_str_of(value));
	}
	if (ready[o->ready] != NULL)
		rows_put(&rows, &body.node.conditions,
		    (const struct wire_str[]){ wire_str_of("Ready"), wire_str_of(ready[o->ready]),
			wire_str_of("r"),
			wire_str_of("2026-01-02T03:04:05Z") },
		    4);
	msg_pack(out, MSG_NODE, &body);
	msgpack_sbuffer_destroy(&label_bytes);
	msgpack_sbuffer_destroy(&mco_bytes);
	msgpack_sbuffer_destroy(&rows);
}

static void
pack_pool(const struct model_object *o, msgpack_sbuffer *out)
{
	const char *const image = images[o->picks[2]];
	msgpack_sbuffer label_bytes, annotation_bytes;
	union msg_body body = { .machine_config_pool = {
		.selector = wire_str_of(selectors[o->picks[0]].text), .paused = o->picks[1] != 0,
	} };

	msgpack_sbuffer_init(&label_bytes);
	msgpack_sbuffer_init(&annotation_bytes);
	if (image != NULL) {
		map_put(&label_bytes, &body.machine_config_pool.labels,
		    wire_str_of("layering-enabled"), wire_str_of(""));
		map_put(&annotation_bytes, &body.machine_config_pool.annotations,
		    wire_str_of("newestImageEquivalentConfig"), wire_str_of(image));
	}
	msg_pack(out, MSG_MACHINE_CONFIG_POOL, &body);
	msgpack_sbuffer_destroy(&label_bytes);
	msgpack_sbuffer_destroy(&annotation_bytes);
}

/* ---- The final states ---- */

uint64_t
state_hash(enum msg type, struct wire_bin value, struct msg_arena *arena)
{
	union msg_body body;
	msgpack_sbuffer bytes;

	if (!msg_unpack_value(type, value.p, value.len, arena, &body))
		return 0;
	if (type == MSG_NODE_STATE) {
		body.node_state.reason = wire_str_of("");
		body.node_state.evaluated_us = 0;
		body.node_state.evaluations = 0;
	} else {
		body.pool_state.reason = wire_str_of("");
		body.pool_state.evaluated_us = 0;
	}
	msgpack_sbuffer_init(&bytes);
	msg_pack(&bytes, type, &body);
	const uint64_t h = hash64(bytes.data, bytes.size);
	msgpack_sbuffer_destroy(&bytes);
	return h;
}

/*
 * Evaluates each key once with a fleet of its own, pools and versions first: nothing is incremental.
 */
void
model_evaluate(const struct model *m, uint64_t hashes[STATES])
{
	struct fresh f = { .fleet = fleet_new(
			       (struct fleet_hooks){ .enqueue = no_enqueue, .each_node = no_nodes }) };

	msg_arena_init(&f.arena);
	msg_arena_init(&f.inner);
	msgpack_sbuffer_init(&f.bytes);
	for (uint32_t i = 0; i < MODEL_OBJECTS; i++)
		fresh_take(&f, m, (i + FIRST_POOL) % MODEL_OBJECTS);	/* Nodes come last */
	fleet_open(f.fleet);
	for (uint32_t place = 0; place < STATES; place++)
		hashes[place] = fresh_evaluate(&f, m, place);
	msgpack_sbuffer_destroy(&f.bytes);
	msg_arena_free(&f.arena);
	msg_arena_free(&f.inner);
	fleet_free(&f.fleet);
}

static const union msg_body *
fresh_read(struct fresh *f, const struct model *m, uint32_t place)
{
	if (!m->objects[place].present)
		return NULL;
	msg_arena_reset(&f->arena);
	model_pack(m, place, &f->bytes);
	MUST(msg_unpack_value(model_type(place), f->bytes.data, f->bytes.size, &f->arena, &f->body));
	return &f->body;
}

static void
fresh_take(struct fresh *f, const struct model *m, uint32_t place)
{
	const union msg_body *const body = fresh_read(f, m, place);
	char key[NODES_KEY_MAX];

	model_key(place, key);
	if (body != NULL)
		fleet_update(f->fleet, model_type(place), wire_str_of(key), body, 0);
}

static uint64_t
fresh_evaluate(struct fresh *f, const struct model *m, uint32_t place)
{
	const union msg_body *const body = fresh_read(f, m, place);
	struct fleet_state s;
	msgpack_sbuffer packed;
	char key[NODES_KEY_MAX];
	uint64_t hash = 0;

	model_key(place, key);
	if (body == NULL)
		return 0;
	const struct body_node *const node = place < FIRST_POOL ? &body->node : NULL;
	if (fleet_evaluate(f->fleet, wire_str_of(key), node, 0, 0, &s) != EVAL_CHANGED)
		return 0;
	msgpack_sbuffer_init(&packed);
	msg_pack(&packed, s.type, &s.body);
	msg_arena_reset(&f->inner);
	hash = state_hash(s.type,
	    (struct wire_bin){ (const uint8_t *)packed.data, (uint32_t)packed.size }, &f->inner);
	msgpack_sbuffer_destroy(&packed);
	return hash;
}

static void
no_enqueue(void *arg, struct wire_str key, uint64_t trace)
{
	(void)arg, (void)key, (void)trace;
}

static void
no_nodes(void *arg, fleet_node_fn *fn, void *fn_arg)
{
	(void)arg, (void)fn, (void)fn_arg;
}
