/*
 * tests/dst/lke_api.c - the calls of the modelled Linode API, its answers, and its lists, which lag.
 *
 * In Standard the nodes of a pool are there at once, with null as the instance's id until that exists. In
 * Enterprise they lag, and instances have the tags of their pool and two more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"
#include "provider/fence.h"
#include "world_lke.h"

#define ROOT	"/v4beta"
#define POOLS	ROOT "/lke/clusters/7/pools"
#define NODES	ROOT "/lke/clusters/7/nodes/"
#define MACHINES ROOT "/linode/instances"

enum {
	BLINK_MS = LKEW_APART_MS - 100,
	TWIN_MS = 10 * 1000,	/* what was decided from the list before has left by then */
};

typedef void call(struct lkew *, struct http_exchange *, uint32_t);
static call get_cluster, list_pools, list_instances, list_types, get_availability, create_pool, scale_pool;
static call delete_pool, delete_node, tag_instance;

/* The longest that fits comes first; a path that ends with a slash has an id. */
static const struct route {
	const char	*method, *path;
	call		*fn;
	uint32_t	 base;		/* of its ids */
} routes[] = {
	{ "GET", POOLS "?", list_pools, 0 }, { "POST", POOLS, create_pool, 0 },
	{ "PUT", POOLS "/", scale_pool, LKEW_POOL_BASE },
	{ "DELETE", POOLS "/", delete_pool, LKEW_POOL_BASE },
	{ "DELETE", NODES "7-", delete_node, 0 }, { "GET", MACHINES "?", list_instances, 0 },
	{ "PUT", MACHINES "/", tag_instance, LKEW_INSTANCE_BASE },
	{ "GET", ROOT "/lke/clusters/7", get_cluster, 0 }, { "GET", ROOT "/linode/types", list_types, 0 },
	{ "GET", ROOT "/regions/us-ord/availability", get_availability, 0 },
};

static const struct route *find_route(const struct http_exchange *, uint32_t *);
static void check_twin(struct lkew *, const struct http_exchange *, uint32_t);
static void reply(struct http_exchange *, json_t *);
static void reply_page(struct http_exchange *, json_t *);
static void not_found(struct http_exchange *);
static json_t *pool_json(struct lkew *, uint32_t, bool);
static json_t *instance_json(struct lkew *, uint32_t, bool);
static json_t *tags_json(const struct lkew_tags *);
static bool read_tags(const json_t *, struct lkew_tags *);
static int64_t shown_ms(struct lkew *, const struct http_exchange *);
static void check_intent(struct lkew *, const struct lkew_tags *, const char *);

void
lkew_serve(struct harness *h, struct http_exchange *x)
{
	struct lkew *const w = (struct lkew *)h;
	uint32_t id = LKEW_NONE;
	const struct route *const r = find_route(x, &id);

	if (r == NULL) {
		sim_fail(h->sim, "%s sends %s %s, which the API does not have", x->from->name,
		    x->method, x->path);
		not_found(x);
		return;
	}
	r->fn(w, x, id);
}

static const struct route *
find_route(const struct http_exchange *x, uint32_t *id)
{
	for (size_t i = 0; i < NITEMS(routes); i++) {
		const size_t len = strlen(routes[i].path);

		if (strcmp(x->method, routes[i].method) != 0 || strncmp(x->path, routes[i].path, len) != 0)
			continue;
		*id = (uint32_t)strtoul(x->path + len, NULL, 10) - routes[i].base;
		return &routes[i];
	}
	return NULL;
}

void
lkew_leaves(struct harness *h, const struct http_exchange *x)
{
	struct lkew *const w = (struct lkew *)h;
	uint32_t id = LKEW_NONE;
	const struct route *const r = find_route(x, &id);

	if (r == NULL || r->fn == tag_instance || r->fn == create_pool)
		return;
	for (uint32_t i = 0; i < w->nmachines; i++) {
		if ((r->fn == delete_node && i == id) || (r->fn == delete_pool && w->machines[i].pool == id))
			lkew_check_orphan(w, i);
	}
	if (r->fn == delete_node)
		id = id < w->nmachines ? w->machines[id].pool : LKEW_NONE;
	if (id < w->npools)
		check_twin(w, x, id);
}

/* While a key has two pools, and the process has read both, no pool of the key is changed (C7). */
static void
check_twin(struct lkew *w, const struct http_exchange *x, uint32_t pool)
{
	const struct lkew_reader *const reader = &w->readers[x->from->tree];

	if (w->twin == LKEW_NONE || w->pools[w->twin_of].deleted || reader->incarnation != x->incarnation
	    || reader->read_ms == 0 || w->h.sim->now_ms - reader->read_ms < TWIN_MS
	    || !lkew_same_key(&w->pools[pool], &w->pools[w->twin]))
		return;
	sim_fail(w->h.sim, "%s sends %s %s, and the key of that pool has two", x->from->name, x->method,
	    x->path);
}

/* ---- What is read ---- */

static void
get_cluster(struct lkew *w, struct http_exchange *x, uint32_t id)
{
	(void)id;
	reply(x, json_pack("{s:i, s:s, s:s, s:s, s:s, s:s}", "id", LKEW_CLUSTER, "label", "dst", "region",
	    "us-ord", "tier", w->enterprise ? "enterprise" : "standard", "status", "ready", "k8s_version",
	    w->enterprise ? "v1.31.1+lke4" : "1.31"));
}

static void
list_types(struct lkew *w, struct http_exchange *x, uint32_t id)
{
	json_t *const data = json_array();

	(void)w, (void)id;
	for (int i = 1; i <= 2; i++) {
		char name[32];

		snprintf(name, sizeof(name), "g6-standard-%d", i);
		json_array_append_new(data, json_pack("{s:s, s:s, s:i, s:i, s:i, s:{s:f}, s:[]}", "id", name,
		    "class", "standard", "vcpus", i, "memory", 4096 * i, "disk", 81920 * i, "price", "hourly",
		    0.018 * i, "region_prices"));
	}
	reply_page(x, data);
}

static void
get_availability(struct lkew *w, struct http_exchange *x, uint32_t id)
{
	(void)w, (void)id;
	reply(x, json_array());
}

static void
list_pools(struct lkew *w, struct http_exchange *x, uint32_t id)
{
	struct lkew_reader *const reader = &w->readers[x->from->tree];
	const int64_t now_ms = w->h.sim->now_ms;
	json_t *const data = json_array();
	unsigned twins = 0;

	(void)id;
	for (uint32_t i = 0; i < w->npools; i++) {
		const struct lkew_pool *const p = &w->pools[i];

		if (p->listed_ms > now_ms || (p->deleted && p->until_ms <= now_ms))
			continue;
		json_array_append_new(data, pool_json(w, i, true));
		twins += i == w->twin || (w->twin != LKEW_NONE && i == w->twin_of);
	}
	if (reader->incarnation != x->incarnation)
		*reader = (struct lkew_reader){ .incarnation = x->incarnation };
	reader->pools_read = twins == 2;
	if (twins < 2)
		reader->read_ms = 0;
	reply_page(x, data);
}

static void
list_instances(struct lkew *w, struct http_exchange *x, uint32_t id)
{
	struct lkew_reader *const reader = &w->readers[x->from->tree];
	const int64_t now_ms = w->h.sim->now_ms;
	const uint32_t most = harness_list_limit(&w->h, x);
	json_t *const data = json_array();

	(void)id;
	for (uint32_t i = 0; i < w->nmachines && json_array_size(data) < most; i++) {
		const struct lkew_machine *const m = &w->machines[i];

		if (m->listed_ms <= now_ms && (now_ms < m->blinks_ms || now_ms >= m->blinks_ms + BLINK_MS)
		    && (!m->deleted || m->until_ms > now_ms))
			json_array_append_new(data, instance_json(w, i, true));
	}
	harness_listed(&w->h, x, most, (uint32_t)json_array_size(data));
	if (reader->pools_read && reader->read_ms == 0 && !x->lost && !x->spoiled && x->call != NULL)
		reader->read_ms = now_ms;
	reply_page(x, data);
}

/* listed: as a list has it, which lags. */
static json_t *
pool_json(struct lkew *w, uint32_t pool, bool listed)
{
	const struct lkew_pool *const p = &w->pools[pool];
	const int64_t now_ms = w->h.sim->now_ms;
	json_t *const nodes = json_array();

	for (uint32_t i = 0; i < w->nmachines; i++) {
		const struct lkew_machine *const m = &w->machines[i];
		char id[32];

		if (m->pool != pool || m->nodes_ms > now_ms
		    || (m->deleted && (!listed || m->until_ms <= now_ms)))
			continue;
		snprintf(id, sizeof(id), "7-%u", i);
		json_t *const node = json_pack("{s:s, s:s}", "id", id, "status",
		    m->joined_ms != 0 ? "ready" : "not_ready");
		json_object_set_new(node, "instance_id", m->id_ms > now_ms ? json_null()
		    : json_integer(LKEW_INSTANCE_BASE + i));
		json_array_append_new(nodes, node);
	}
	return json_pack("{s:i, s:s, s:I, s:o, s:o}", "id", LKEW_POOL_BASE + (int)pool, "type", p->type,
	    "count", (json_int_t)(listed && p->count_ms > now_ms ? p->old_count : p->count), "tags",
	    tags_json(&p->tags), "nodes", nodes);
}

static json_t *
instance_json(struct lkew *w, uint32_t machine, bool listed)
{
	const struct lkew_machine *const m = &w->machines[machine];
	char created[TIME_TEXT_MAX], label[32];

	/* Its clock is right; it has no zone and no fractions. */
	time_format((RUNTIME_EPOCH_MS + m->made_ms) * 1000, created, sizeof(created));
	created[strlen("2026-01-01T00:00:00")] = '\0';
	snprintf(label, sizeof(label), "7-%u", machine);
	return json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:i, s:o}", "id",
	    (json_int_t)LKEW_INSTANCE_BASE + machine, "label", label, "type", w->pools[m->pool].type,
	    "created", created, "status", m->deleted ? "deleting" : "running", "region", "us-ord",
	    "lke_cluster_id", LKEW_CLUSTER, "tags",
	    tags_json(listed && m->tags_ms > w->h.sim->now_ms ? &m->old_tags : &m->tags));
}

static json_t *
tags_json(const struct lkew_tags *tags)
{
	json_t *const list = json_array();

	for (uint32_t i = 0; i < tags->n; i++)
		json_array_append_new(list, json_string(tags->text[i]));
	return list;
}

/* ---- What is changed ---- */

static void
create_pool(struct lkew *w, struct http_exchange *x, uint32_t id)
{
	json_t *const body = json_loads(x->body, 0, NULL);
	const char *const type = json_string_value(json_object_get(body, "type"));
	const json_int_t count = json_integer_value(json_object_get(body, "count"));
	struct lkew_tags tags;

	(void)id;
	if (type == NULL || count < 1 || !read_tags(json_object_get(body, "tags"), &tags)) {
		sim_fail(w->h.sim, "a pool is made with %s", x->body);
	} else {
		check_intent(w, &tags, type);
		reply(x, pool_json(w, lkew_add_pool(w, type, &tags, count, shown_ms(w, x)), false));
	}
	json_decref(body);
}

/* A10: who comes after a crash must find that a pool may have been made. */
static void
check_intent(struct lkew *w, const struct lkew_tags *tags, const char *type)
{
	const char *const nodepool = lkew_tag_value(tags, LKEW_NODEPOOL_TAG);
	char annotation[96], expected[LKEW_TAG_MAX + 1];

	snprintf(annotation, sizeof(annotation), "karpenter.k8s.linode/intent.%s", type);
	for (unsigned i = 0; nodepool != NULL && i < w->h.cluster.count; i++) {
		const struct cluster_object *const o = &w->h.cluster.objects[i];

		if (o->kind == KIND_NODE_POOL && o->json != NULL
		    && strcmp(lkew_expected(expected, LKEW_NODEPOOL_TAG, o->name), nodepool) == 0
		    && harness_annotation(o, annotation)[0] != '\0')
			return;
	}
	sim_fail(w->h.sim, "a pool is made for %s, and no NodePool has an intent for it",
	    nodepool != NULL ? nodepool : "nobody");
}

static void
scale_pool(struct lkew *w, struct http_exchange *x, uint32_t id)
{
	json_t *const body = json_loads(x->body, 0, NULL);
	const json_int_t count = json_integer_value(json_object_get(body, "count"));

	if (id >= w->npools || w->pools[id].deleted) {
		not_found(x);
	} else if (w->pools[id].human || count < 1) {
		sim_fail(w->h.sim, "pool %u is scaled with %s", id, x->body);
	} else {
		lkew_set_count(w, id, count, shown_ms(w, x));
		reply(x, pool_json(w, id, false));
	}
	json_decref(body);
}

static void
delete_pool(struct lkew *w, struct http_exchange *x, uint32_t id)
{
	if (id >= w->npools || w->pools[id].deleted) {
		not_found(x);
		return;
	}
	lkew_delete_pool(w, id, true);
	reply(x, json_object());
}

static void
delete_node(struct lkew *w, struct http_exchange *x, uint32_t id)
{
	if (id >= w->nmachines || w->machines[id].deleted) {
		not_found(x);
		return;
	}
	lkew_delete_machine(w, id, true);
	reply(x, json_object());
}

static void
tag_instance(struct lkew *w, struct http_exchange *x, uint32_t id)
{
	json_t *const body = json_loads(x->body, 0, NULL);
	struct lkew_tags tags;

	if (id >= w->nmachines || w->machines[id].deleted) {
		not_found(x);
	} else if (!read_tags(json_object_get(body, "tags"), &tags)) {
		sim_fail(w->h.sim, "machine %u is tagged with %s", id, x->body);
	} else {
		lkew_set_tags(w, id, &tags);
		reply(x, instance_json(w, id, false));
	}
	json_decref(body);
}

static bool
read_tags(const json_t *list, struct lkew_tags *out)
{
	const json_t *tag;
	size_t i;

	*out = (struct lkew_tags){ .n = 0 };
	json_array_foreach(list, i, tag) {
		if (!json_is_string(tag) || json_string_length(tag) > LKEW_TAG_MAX || out->n == LKEW_TAGS_MAX)
			return false;
		snprintf(out->text[out->n++], sizeof(out->text[0]), "%s", json_string_value(tag));
	}
	return json_is_array(list);
}

/* Its sender gave it up and lives on: it waits FENCE_SETTLE_MS from then. Lists may lag so long. */
static int64_t
shown_ms(struct lkew *w, const struct http_exchange *x)
{
	const int64_t at_ms = w->h.sim->now_ms + harness_lag(w->h.sim);
	const int64_t settled_ms = x->ended_ms + FENCE_SETTLE_MS;

	if (!w->h.sim->faults_over && harness_given_up(x) && at_ms < settled_ms && sim_chance(w->h.sim, 500))
		return settled_ms - 1;
	return at_ms;
}

/* ---- Answers ---- */

static void
reply(struct http_exchange *x, json_t *body)
{
	MUST(body != NULL);
	x->status = 200;
	x->answer = json_dumps(body, JSON_COMPACT);
	json_decref(body);
}

static void
reply_page(struct http_exchange *x, json_t *data)
{
	const int n = (int)json_array_size(data);

	reply(x, json_pack("{s:o, s:i, s:i, s:i}", "data", data, "page", 1, "pages", 1, "results", n));
}

static void
not_found(struct http_exchange *x)
{
	x->status = 404;
	x->answer = obj_strdup("{\"errors\":[{\"reason\":\"Not found\"}]}");
}
