/*
 * tests/dst/insight_expected.c - what node-state evaluates, the modelled node-state that publishes it, and
 * the comparison with what the cluster has stored, which shares no code with insight.
 */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "world_insight.h"

enum { EVALUATE_MAX_MS = 500, PUBLISH_MAX_MS = 20, MESSAGE_LIMIT = 100, CONDITIONS = 2 };

/* The texts of one serial. */
struct texts {
	char	message[160], version[16], estimate[16];
	char	status[CONDITIONS][8], reason[CONDITIONS][16], detail[CONDITIONS][32], since[CONDITIONS][32];
	int64_t	percent;
	char	count[8];
};

struct nodes_model {
	struct insight_world	*world;
	bool			 evaluated;
	msgpack_sbuffer		 conditions, summaries;
};

static runtime_fn evaluate_all, evaluate_one;
static void publish(struct actor *, struct nodes_model *, uint32_t);
static struct texts texts_of(uint32_t);
static const char *differs(const json_t *, const char *, const char *);
static const char *conditions_differ(const json_t *, const struct texts *);

static const char *const types[CONDITIONS] = { "Updating", "Degraded" };

static void
start(struct actor *a, void *self)
{
	struct nodes_model *const m = self;
	struct runtime_actor *const ra = runtime_actor_of(a);

	m->world = ra->runtime->world;
	msgpack_sbuffer_init(&m->conditions);
	msgpack_sbuffer_init(&m->summaries);
	actor_link_ready(a, LINK_FACTS);
	runtime_at(ra, m->world->sim->now_ms + (int64_t)sim_random(m->world->sim, EVALUATE_MAX_MS),
	    evaluate_all, 0);
}

static void
stop(struct actor *a, void *self)
{
	struct nodes_model *const m = self;

	(void)a;
	msgpack_sbuffer_destroy(&m->conditions);
	msgpack_sbuffer_destroy(&m->summaries);
}

static const struct actor_spec spec = {
	.name = "node-state", .state_size = sizeof(struct nodes_model), .start = start, .stop = stop,
};

int
nodes_model_main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

/* ---- What is expected ---- */

void
expected_name(uint32_t place, char name[CLUSTER_NAME_MAX])
{
	if (place < EXPECTED_NODES)
		snprintf(name, CLUSTER_NAME_MAX, "node-%u", place);
	else
		snprintf(name, CLUSTER_NAME_MAX, "pool-%u", place - EXPECTED_NODES);
}

enum kind
expected_kind(uint32_t place)
{
	return place < EXPECTED_NODES ? KIND_NODE_INSIGHT : KIND_POOL_INSIGHT;
}

uint32_t
expected_place(enum kind k, const char *name)
{
	char own[CLUSTER_NAME_MAX];
	uint32_t place = 0;

	for (; place < EXPECTED_MAX; place++) {
		expected_name(place, own);
		if (expected_kind(place) == k && strcmp(own, name) == 0)
			break;
	}
	return place;
}

void
expected_change(struct insight_world *w, uint32_t place, bool desired)
{
	struct expected *const t = &w->expected[place];

	t->desired = desired;
	t->serial++;
	w->expected_changes++;
	SIM_TRACE(w->sim, "state %u is %s, serial %u", place, desired ? "desired" : "not desired", t->serial);
	for (unsigned i = 0; i < w->ntrees; i++)
		runtime_at(w->trees[i].nodes,
		    w->sim->now_ms + (int64_t)sim_random(w->sim, PUBLISH_MAX_MS), evaluate_one, place);
}

/* ---- The modelled node-state ---- */

static void
evaluate_all(struct actor *a, void *self, uint64_t n)
{
	struct nodes_model *const m = self;

	(void)n;
	m->evaluated = true;
	for (uint32_t i = 0; i < EXPECTED_MAX; i++)
		publish(a, m, i);
	actor_link_ready(a, LINK_NODES);
}

static void
evaluate_one(struct actor *a, void *self, uint64_t n)
{
	struct nodes_model *const m = self;

	if (m->evaluated)
		publish(a, m, (uint32_t)n);
}

static void
publish(struct actor *a, struct nodes_model *m, uint32_t place)
{
	const struct expected *const t = &m->world->expected[place];
	const struct texts x = texts_of(t->serial);
	struct wire_rows conditions = { 0 }, summaries = { 0 };
	char name[CLUSTER_NAME_MAX], key[2 * CLUSTER_NAME_MAX];
	union msg_body body;

	int64_t *const published_ms =
	    &m->world->trees[runtime_actor_of(a)->tree].published_ms[place];
	*published_ms = !t->desired ? 0 : *published_ms != 0 ? *published_ms : m->world->sim->now_ms;
	expected_name(place, name);
	snprintf(key, sizeof(key), "%s/%s", place < EXPECTED_NODES ? "nodes" : "machineconfigpools", name);
	if (!t->desired) {
		actor_retract(a, LINK_NODES, key, actor_new_trace(a));
		return;
	}
	msgpack_sbuffer_clear(&m->conditions);
	msgpack_sbuffer_clear(&m->summaries);
	for (unsigned i = 0; i < CONDITIONS; i++)
		rows_put(&m->conditions, &conditions,
		    (const struct wire_str[]){ wire_str_of(types[i]), wire_str_of(x.status[i]),
		    wire_str_of(x.reason[i]), wire_str_of(x.detail[i]), wire_str_of(x.since[i]) }, 5);
	rows_put(&m->summaries, &summaries,
	    (const struct wire_str[]){ wire_str_of("Total"), wire_str_of(x.count) }, 2);
	if (place < EXPECTED_NODES)
		body = (union msg_body){ .node_state = {
			.pool = wire_str_of("worker"), .scope = wire_str_of("WorkerPool"),
			.version = wire_str_of(x.version), .estimate = wire_str_of(x.estimate),
			.message = wire_str_of(x.message), .conditions = conditions,
			.target = wire_str_of(""), .current = wire_str_of(""), .desired = wire_str_of(""),
			.phase = wire_str_of(""), .rule = wire_str_of(""), .reason = wire_str_of(""),
		} };
	else
		body = (union msg_body){ .pool_state = {
			.scope = wire_str_of("WorkerPool"), .target = wire_str_of(""),
			.assessment = wire_str_of(x.version), .percent = x.percent, .summaries = summaries,
			.conditions = conditions, .reason = wire_str_of(""),
		} };
	MUST(actor_publish(a, LINK_NODES, key, "", "",
	    place < EXPECTED_NODES ? MSG_NODE_STATE : MSG_POOL_STATE, &body, actor_new_trace(a)) == E_OK);
}

/* Many serials share a status, so that its time must be kept; some texts are longer than the CRD allows. */
static struct texts
texts_of(uint32_t serial)
{
	static const char *const statuses[] = { "True", "False", "Unknown" };
	struct texts x = { .percent = serial % 101 };

	snprintf(x.message, sizeof(x.message), "step %u%s", serial,
	    serial % 5 == 0 ? " with a text that is longer than the hundred characters that the CRD of a "
	    "NodeProgressInsight allows here" : "");
	snprintf(x.version, sizeof(x.version), "4.17.%u", serial % 9);
	snprintf(x.estimate, sizeof(x.estimate), "%s", serial % 2 == 0 ? "10m" : "");
	snprintf(x.count, sizeof(x.count), "%u", serial % 4);
	for (unsigned i = 0; i < CONDITIONS; i++) {
		snprintf(x.status[i], sizeof(x.status[i]), "%s", statuses[serial / (3 + i) % 3]);
		snprintf(x.reason[i], sizeof(x.reason[i]), "Reason%u", serial % 4);
		snprintf(x.detail[i], sizeof(x.detail[i]), "detail %u", serial);
		if (serial / 3 % 2 == 0)
			snprintf(x.since[i], sizeof(x.since[i]), "2025-12-31T00:00:%02uZ", serial / 3 % 60);
	}
	return x;
}

/* ---- What is stored ---- */

const char *
expected_difference(struct insight_world *w, uint32_t place)
{
	const struct expected *const t = &w->expected[place];
	const struct texts x = texts_of(t->serial);
	char name[CLUSTER_NAME_MAX], message[MESSAGE_LIMIT + 1];

	expected_name(place, name);
	const struct cluster_object *const o = cluster_find(&w->cluster, expected_kind(place), name);
	const json_t *const json = o != NULL ? o->json : NULL;
	if (!t->desired)
		return json == NULL ? NULL : "an insight of an object that is gone";
	if (json == NULL)
		return "an insight is missing";
	const json_t *const status = json_object_get(json, "status");
	const char *wrong = differs(status, "name", name);
	if (wrong == NULL)
		wrong = differs(status, "scopeType", "WorkerPool");
	if (place >= EXPECTED_NODES) {
		const json_t *const sum = json_array_get(json_object_get(status, "summaries"), 0);

		if (wrong == NULL)
			wrong = differs(status, "assessment", x.version);
		if (wrong == NULL
		    && json_integer_value(json_object_get(status, "completionPercent")) != x.percent)
			wrong = "completionPercent";
		if (wrong == NULL && json_integer_value(json_object_get(sum, "count")) != x.count[0] - '0')
			wrong = "summaries";
		return wrong != NULL ? wrong : conditions_differ(json_object_get(status, "conditions"), &x);
	}
	snprintf(message, sizeof(message), "%.*s", MESSAGE_LIMIT, x.message);
	if (wrong == NULL)
		wrong = differs(json_object_get(status, "poolResource"), "name", "worker");
	if (wrong == NULL)
		wrong = differs(status, "version", x.version);
	if (wrong == NULL)
		wrong = differs(status, "estimatedToComplete", x.estimate);
	if (wrong == NULL)
		wrong = differs(status, "message", message);
	return wrong != NULL ? wrong : conditions_differ(json_object_get(status, "conditions"), &x);
}

static const char *
differs(const json_t *object, const char *name, const char *wanted)
{
	const char *const text = json_string_value(json_object_get(object, name));

	return strcmp(text != NULL ? text : "", wanted) == 0 ? NULL : name;
}

static const char *
conditions_differ(const json_t *conditions, const struct texts *x)
{
	if (json_array_size(conditions) != CONDITIONS)
		return "the number of conditions";
	for (unsigned i = 0; i < CONDITIONS; i++) {
		const json_t *const c = json_array_get(conditions, i);

		if (differs(c, "type", types[i]) != NULL || differs(c, "status", x->status[i]) != NULL
		    || differs(c, "reason", x->reason[i]) != NULL
		    || differs(c, "message", x->detail[i]) != NULL)
			return "a condition";
		if (json_string_value(json_object_get(c, "lastTransitionTime")) == NULL)
			return "the time of a condition";
	}
	return NULL;
}
