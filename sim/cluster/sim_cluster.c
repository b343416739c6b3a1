/* sim/cluster/sim_cluster.c - Nodes that come, beat, change and go, by themselves or by order. */
#include "sim_cluster.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "random.h"
#include "sim/base/sim_json.h"
#include "sim/kube/store/sim_store.h"
#include "sim/openshift/openshift.h"
#include "sim/sim_options.h"
#include "sim_node.h"

enum { TICK_MS = 20 };

struct sim_cluster {
	uint32_t		 magic;
#define WORLD_MAGIC	0x574f524cu
	struct simulator	*sim;
	struct sim_storage	*nodes;
	json_t			*images;	/* what every Node has pulled */
	size_t			 next;		/* the number of the next new Node */
	double			 per_second, owed;	/* changes */
	struct event		*timer;
	struct openshift	*rollout;
};

/* Changes a Node in place. */
typedef void change_fn(struct sim_cluster *w, json_t *node, const json_t *command, const char *now);
static change_fn beat, label, annotate, taint, flap, make_ready, make_unready, cordon;

static const struct cluster_op {
	const char	*name;
	unsigned	 weight;	/* in the churn, of all weights */
	change_fn	*change;
} ops[] = {
	{ "heartbeat", 70, beat },
	{ "label",     10, label },
	{ "annotate",   0, annotate },
	{ "taint",      6, taint },
	{ "flap",       6, flap },
	{ "ready",      0, make_ready },
	{ "unready",    0, make_unready },
	{ "cordon",     2, cordon },
};
/* Beside the above: one Node more, one less. */
enum { WEIGHT_ADD = 3, WEIGHT_REMOVE = 3 };

static long do_to_nodes(struct sim_cluster *, const json_t *, char *, size_t);
static void add(struct sim_cluster *);
static void apply(struct sim_cluster *, const struct cluster_op *, const char *, const json_t *);
static void something(struct sim_cluster *);
static void on_tick(evutil_socket_t, short, void *);
static const struct cluster_op *find(const char *);
static json_t *targets(struct sim_cluster *, const json_t *, char *, size_t);

struct sim_cluster *
sim_cluster_new(struct simulator *s)
{
	struct sim_cluster *w;

	OBJ_NEW(w, WORLD_MAGIC);
	w->sim = s;
	w->nodes = sim_store_storage(s->store, "", "nodes");
	w->images = sim_node_images((size_t)s->options->node_bytes);
	w->next = 1;
	w->timer = event_new(s->base, -1, EV_PERSIST, on_tick, w);
	MUST(w->timer != NULL);
	w->rollout = openshift_new(s);
	return w;
}

void
sim_cluster_free(struct sim_cluster **wp)
{
	struct sim_cluster *w;

	if (*wp == NULL)
		return;
	OBJ_TAKE(w, wp, WORLD_MAGIC);
	openshift_free(&w->rollout);
	event_free(w->timer);
	json_decref(w->images);
	OBJ_FREE(w);
}

void
sim_cluster_populate(struct sim_cluster *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(w);
}

void
sim_cluster_churn(struct sim_cluster *w, double per_second)
{
	w->per_second = per_second;
	w->owed = 0;
	if (per_second > 0)
		event_add(w->timer, &(struct timeval){ .tv_usec = TICK_MS * 1000 });
	else
		event_del(w->timer);
}

bool
sim_cluster_begin_openshift(struct sim_cluster *w, char *err, size_t size)
{
	return openshift_begin(w->rollout, err, size);
}

json_t *
sim_cluster_node(struct sim_cluster *w, const char *name)
{
	char uid[SIM_UID_MAX], now[SIM_TIME_MAX];

	return sim_node_new(&(struct sim_node_spec){
	    .number = w->next++, .name = name, .uid = sim_uid(w->sim, uid), .now = sim_now(now),
	    .images = w->images, .managed = w->sim->options->node_bytes > 0,
	});
}

json_t *
sim_cluster_command(struct sim_cluster *w, const json_t *command, char *err, size_t size)
{
	if (openshift_has_command(sim_json_text(command, "op")))
		return openshift_command(w->rollout, command, err, size);
	const long n = do_to_nodes(w, command, err, size);
	return n < 0 ? NULL : json_pack("{s:I}", "changed", (json_int_t)n);
}

/* How many it changed; -1 with a text in err. */
static long
do_to_nodes(struct sim_cluster *w, const json_t *command, char *err, size_t size)
{
	const char *const name = sim_json_text(command, "op");
	const struct cluster_op *const op = find(name);
	const bool removes = strcmp(name, "remove") == 0;
	const int64_t count = sim_json_int_at(command, "count", 1);

	if (strcmp(name, "churn") == 0) {
		sim_cluster_churn(w, json_number_value(json_object_get(command, "per_second")));
		return 0;
	}
	if (strcmp(name, "add") == 0) {
		sim_cluster_populate(w, count > 0 ? (size_t)count : 0);
		return count;
	}
	if (op == NULL && !removes) {
		snprintf(err, size,
		    "op: \"%s\" is none of add, remove, heartbeat, label, annotate, taint, flap, ready, "
		    "unready, cordon, churn, and those of an OpenShift (docs/simulator.md)",
		    name);
		return -1;
	}
	json_auto_t *names = targets(w, command, err, size);
	if (names == NULL)
		return -1;
	size_t i;
	json_t *target;
	json_array_foreach(names, i, target) {
		if (removes)
			sim_store_remove(w->sim->store, w->nodes, json_string_value(target));
		else
			apply(w, op, json_string_value(target), command);
	}
	return (long)json_array_size(names);
}

static void
add(struct sim_cluster *w)
{
	char name[NODE_NAME_MAX];

	while (sim_storage_get(w->nodes, sim_node_name(w->next, name)) != NULL)
		w->next++;
	json_auto_t *node = sim_cluster_node(w, name);
	sim_store_put(w->sim->store, w->nodes, node);
}

static void
apply(struct sim_cluster *w, const struct cluster_op *op, const char *name, const json_t *command)
{
	const struct sim_blob *const b = sim_storage_get(w->nodes, name);
	char now[SIM_TIME_MAX];

	if (b == NULL)
		return;
	json_auto_t *node = sim_blob_parse(b, w->nodes->form);
	op->change(w, node, command, sim_now(now));
	sim_store_put(w->sim->store, w->nodes, node);
}

/* One change of the churn. */
static void
something(struct sim_cluster *w)
{
	unsigned sum = WEIGHT_ADD + WEIGHT_REMOVE;
	char name[NODE_NAME_MAX];

	for (size_t i = 0; i < NITEMS(ops); i++)
		sum += ops[i].weight;
	unsigned draw = (unsigned)random_below(&w->sim->seed, sum);
	if (draw < WEIGHT_ADD || w->nodes->n == 0) {
		add(w);
		return;
	}
	snprintf(name, sizeof(name), "%s",
	    sim_blob_name(w->nodes->objects[random_below(&w->sim->seed, w->nodes->n)]));
	draw -= WEIGHT_ADD;
	if (draw < WEIGHT_REMOVE) {
		sim_store_remove(w->sim->store, w->nodes, name);
		return;
	}
	draw -= WEIGHT_REMOVE;
	size_t i = 0;
	for (; draw >= ops[i].weight; i++)
		draw -= ops[i].weight;
	apply(w, &ops[i], name, NULL);
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct sim_cluster *const w = arg;

	(void)fd;
	(void)what;
	OBJ_CHECK(w, WORLD_MAGIC);
	for (w->owed += w->per_second * w->sim->options->speed * TICK_MS / 1000; w->owed >= 1; w->owed--)
		something(w);
}

static const struct cluster_op *
find(const char *name)
{
	for (size_t i = 0; i < NITEMS(ops); i++) {
		if (strcmp(ops[i].name, name) == 0)
			return &ops[i];
	}
	return NULL;
}

/* "names": these; "count": so many, at random; neither: all. */
static json_t *
targets(struct sim_cluster *w, const json_t *command, char *err, size_t size)
{
	const json_t *const names = json_object_get(command, "names");
	json_auto_t *out = json_array();
	size_t i;
	json_t *name;

	json_array_foreach(names, i, name) {
		const char *const text = json_string_value(name);

		if (text == NULL || sim_storage_get(w->nodes, text) == NULL) {
			snprintf(err, size, "names: there is no node \"%s\"", text != NULL ? text : "?");
			return NULL;
		}
		json_array_append(out, name);
	}
	if (names != NULL)
		return json_incref(out);
	const int64_t all = (int64_t)w->nodes->n, count = sim_json_int_at(command, "count", all);
	const size_t first = count < all ? random_below(&w->sim->seed, w->nodes->n) : 0;
	for (size_t n = 0; n < w->nodes->n && (int64_t)n < count; n++)
		json_array_append_new(
		    out, json_string(sim_blob_name(w->nodes->objects[(first + n) % w->nodes->n])));
	return json_incref(out);
}

static void
beat(struct sim_cluster *w, json_t *node, const json_t *command, const char *now)
{
	(void)w, (void)command;
	sim_node_beat(node, now);
}

/* {"key": ..., "value": ...}; by itself a counter in a label of its own. */
static void
label(struct sim_cluster *w, json_t *node, const json_t *command, const char *now)
{
	const char *const key = sim_json_text(command, "key"), *const value = sim_json_text(command, "value");
	json_t *const labels = sim_json_branch(sim_json_branch(node, "metadata"), "labels");

	(void)now;
	if (key[0] == '\0')
		json_object_set_new(labels, "sim.muster.dev/round",
		    json_sprintf("%llu", (unsigned long long)random_below(&w->sim->seed, 1000)));
	else if (json_object_get(command, "value") == NULL)
		json_object_del(labels, key);
	else
		json_object_set_new(labels, key, json_string(value));
}

static void
annotate(struct sim_cluster *w, json_t *node, const json_t *command, const char *now)
{
	const char *const key = sim_json_text(command, "key");
	json_t *const annotations = sim_json_branch(sim_json_branch(node, "metadata"), "annotations");

	(void)w;
	json_object_set_new(annotations, key[0] != '\0' ? key : "sim.muster.dev/touched",
	    json_string(key[0] != '\0' ? sim_json_text(command, "value") : now));
}

static void
taint(struct sim_cluster *w, json_t *node, const json_t *command, const char *now)
{
	static const char key[] = "sim.muster.dev/maintenance";

	(void)w, (void)command, (void)now;
	sim_node_set_taint(node, key, "NoSchedule",
	    sim_json_find(sim_json_at(node, "spec.taints"), "key", key) == NULL);
}

static void
flap(struct sim_cluster *w, json_t *node, const json_t *command, const char *now)
{
	const json_t *const ready = sim_json_find(sim_json_at(node, "status.conditions"), "type", "Ready");

	(void)w, (void)command;
	sim_node_set_ready(node, strcmp(sim_json_text(ready, "status"), "True") != 0, now);
}

static void
make_ready(struct sim_cluster *w, json_t *node, const json_t *command, const char *now)
{
	(void)w, (void)command;
	sim_node_set_ready(node, true, now);
}

static void
make_unready(struct sim_cluster *w, json_t *node, const json_t *command, const char *now)
{
	(void)w, (void)command;
	sim_node_set_ready(node, false, now);
}

static void
cordon(struct sim_cluster *w, json_t *node, const json_t *command, const char *now)
{
	json_t *const spec = sim_json_branch(node, "spec");

	(void)w, (void)command, (void)now;
	if (json_is_true(json_object_get(spec, "unschedulable")))
		json_object_del(spec, "unschedulable");
	else
		json_object_set_new(spec, "unschedulable", json_true());
}
