/*
 * actors/node-state/fleet.c - takes updates of objects and enqueues the keys that they affect.
 *
 * Per node it keeps a hash of its last state, its owner, its share of the owner's tally, and the
 * hashes of the names of its two configs; not the Node.
 */
#include <string.h>

#include "fleet_private.h"

#define CONFIGS		"machineconfigs"
#define VERSIONS	"clusterversions"

enum { POOL_NAME_MAX = 253, POOL_KEY_MAX = sizeof(POOLS) + POOL_NAME_MAX };

/* The argument of each_node: enqueue the nodes that this pool selects or selected. */
struct search {
	struct fleet		*fleet;
	const struct pool	*pool;
	uint64_t		 trace;
};

static void update_node(struct fleet *, struct wire_str, const union msg_body *, uint64_t);
static void update_pool(struct fleet *, struct wire_str, const union msg_body *, uint64_t);
static void update_config(struct fleet *, struct wire_str, const union msg_body *, uint64_t);
static void update_version(struct fleet *, struct wire_str, const union msg_body *, uint64_t);
static void enqueue(struct fleet *, struct wire_str, enum fleet_cause, uint64_t);
static void enqueue_selected(struct wire_str, const struct body_node *, void *);
static struct wire_str pool_key(char *, struct wire_str);
static void enqueue_members(struct fleet *, struct wire_str, uint64_t);

static const struct {
	enum msg	type;
	void	      (*update)(struct fleet *, struct wire_str, const union msg_body *, uint64_t);
} updaters[] = {
	{ MSG_NODE,                update_node },
	{ MSG_MACHINE_CONFIG_POOL, update_pool },
	{ MSG_MACHINE_CONFIG,      update_config },
	{ MSG_CLUSTER_VERSION,     update_version },
};

struct fleet *
fleet_new(struct fleet_hooks hooks)
{
	struct fleet *f;

	OBJ_NEW(f, FLEET_MAGIC);
	f->hooks = hooks;
	f->pools = pools_new();
	f->versions = versions_new();
	f->target = obj_strdup("");
	f->nodes = keytab_new(sizeof(struct fleet_node));
	f->sums = keytab_new(sizeof(struct pool_sum));
	msgpack_sbuffer_init(&f->rows);
	msgpack_sbuffer_init(&f->summaries);
	msgpack_sbuffer_init(&f->packed);
	return f;
}

void
fleet_free(struct fleet **fp)
{
	struct fleet *f;

	if (*fp == NULL)
		return;
	OBJ_TAKE(f, fp, FLEET_MAGIC);
	pools_free(&f->pools);
	versions_free(&f->versions);
	keytab_free(&f->nodes);
	keytab_free(&f->sums);
	free(f->target);
	msgpack_sbuffer_destroy(&f->rows);
	msgpack_sbuffer_destroy(&f->summaries);
	msgpack_sbuffer_destroy(&f->packed);
	OBJ_FREE(f);
}

void
fleet_update(struct fleet *f, enum msg type, struct wire_str key, const union msg_body *value, uint64_t trace)
{
	OBJ_CHECK(f, FLEET_MAGIC);
	for (size_t i = 0; i < NITEMS(updaters); i++) {
		if (updaters[i].type == type)
			updaters[i].update(f, key, value, trace);
	}
}

void
fleet_open(struct fleet *f)
{
	OBJ_CHECK(f, FLEET_MAGIC);
	f->open = true;
}

bool
fleet_is_open(const struct fleet *f)
{
	OBJ_CHECK(f, FLEET_MAGIC);
	return f->open;
}

void
fleet_each_pool(struct fleet *f, void (*fn)(void *arg, struct wire_str key), void *arg)
{
	char key[POOL_KEY_MAX];
	uint32_t cursor = 0;

	OBJ_CHECK(f, FLEET_MAGIC);
	for (const struct pool *p; (p = pools_next(f->pools, &cursor)) != NULL;)
		fn(arg, pool_key(key, wire_str_of(p->name)));
}

uint32_t
fleet_managed(const struct fleet *f)
{
	OBJ_CHECK(f, FLEET_MAGIC);
	return f->managed;
}

uint32_t
fleet_evaluations(const struct fleet *f, struct wire_str key)
{
	OBJ_CHECK(f, FLEET_MAGIC);
	const uint32_t id = keytab_find(f->nodes, key.p, key.len);

	return id == KEYTAB_NONE ? 0 : fleet_node(f, id)->evaluations;
}

const struct pools *
fleet_pools(const struct fleet *f)
{
	return f->pools;
}

struct wire_str
fleet_target(const struct fleet *f)
{
	return wire_str_of(f->target);
}

struct wire_str
fleet_name(struct wire_str key, const char *resource)
{
	const size_t len = strlen(resource);

	if (key.len <= len + 1 || memcmp(key.p, resource, len) != 0 || key.p[len] != '/')
		return (struct wire_str){ "", 0 };
	return (struct wire_str){ key.p + len + 1, key.len - (uint32_t)len - 1 };
}

/* ---- Updates, and the keys that they enqueue ---- */

static void
update_node(struct fleet *f, struct wire_str key, const union msg_body *value, uint64_t trace)
{
	(void)value;
	if (f->open)
		enqueue(f, key, FLEET_NODE, trace);
}

/*
 * A changed selector enqueues the nodes that it selected and those that it selects. A changed pause
 * or image enqueues the nodes that the pool owns. A deleted pool enqueues the nodes that it
 * selected: another pool may own them now.
 */
static void
update_pool(struct fleet *f, struct wire_str key, const union msg_body *value, uint64_t trace)
{
	const struct wire_str name = fleet_name(key, POOLS);
	unsigned changed = POOL_SELECTOR;

	if (name.len == 0 || name.len > POOL_NAME_MAX)
		return;
	if (value != NULL)
		changed = pools_put(f->pools, name, &value->machine_config_pool);
	struct search s = { .fleet = f, .pool = pools_find(f->pools, name), .trace = trace };
	if (s.pool == NULL || changed == 0)
		return;
	if (f->open && (changed & POOL_SELECTOR) != 0)
		f->hooks.each_node(f->hooks.arg, enqueue_selected, &s);
	else if (f->open)
		enqueue_members(f, name, trace);
	fleet_enqueue_pool(f, name, FLEET_POOL, trace);
	if (value == NULL)
		pools_remove(f->pools, name);
}

static void
update_config(struct fleet *f, struct wire_str key, const union msg_body *value, uint64_t trace)
{
	const struct wire_str name = fleet_name(key, CONFIGS);

	if (name.len == 0)
		return;
	const bool changed = value != NULL ? versions_put(f->versions, name, &value->machine_config)
	    : versions_remove(f->versions, name);
	const uint64_t hash = fleet_name_hash(name);
	if (!changed || !f->open)
		return;
	KEYTAB_EACH(f->nodes, id) {
		if (fleet_node(f, id)->current == hash || fleet_node(f, id)->desired == hash)
			enqueue(f, fleet_key(f->nodes, id), FLEET_CONFIG, trace);
	}
}

/* There is one ClusterVersion, named version. The first entry of its history is the target. */
static void
update_version(struct fleet *f, struct wire_str key, const union msg_body *value, uint64_t trace)
{
	struct wire_str cells[ROWS_COLUMNS_MAX] = { { "", 0 }, { "", 0 } };

	if (!wire_str_is(fleet_name(key, VERSIONS), "version"))
		return;
	if (value != NULL) {
		struct wire_rows history = value->cluster_version.history;

		rows_next(&history, cells);
	}
	if (wire_str_is(cells[1], f->target))
		return;
	free(f->target);
	f->target = obj_strndup(cells[1].p, cells[1].len);
	if (f->open) {
		KEYTAB_EACH(f->nodes, id)
			enqueue(f, fleet_key(f->nodes, id), FLEET_VERSION, trace);
	}
	uint32_t cursor = 0;
	for (const struct pool *p; (p = pools_next(f->pools, &cursor)) != NULL;)
		fleet_enqueue_pool(f, wire_str_of(p->name), FLEET_VERSION, trace);
}

static void
enqueue(struct fleet *f, struct wire_str key, enum fleet_cause cause, uint64_t trace)
{
	const uint32_t id = keytab_find(f->nodes, key.p, key.len);

	if (id != KEYTAB_NONE)
		fleet_node(f, id)->cause = (uint8_t)cause;
	f->hooks.enqueue(f->hooks.arg, key, trace);
}

void
fleet_enqueue_pool(struct fleet *f, struct wire_str name, enum fleet_cause cause, uint64_t trace)
{
	char key[POOL_KEY_MAX];

	if (!f->open)
		return;
	fleet_sum(f, fleet_sum_id(f, name))->cause = (uint8_t)cause;
	f->hooks.enqueue(f->hooks.arg, pool_key(key, name), trace);
}

static struct wire_str
pool_key(char *buf, struct wire_str name)
{
	memcpy(buf, POOLS "/", sizeof(POOLS));
	memcpy(buf + sizeof(POOLS), name.p, name.len);
	return (struct wire_str){ buf, (uint32_t)sizeof(POOLS) + name.len };
}

static void
enqueue_selected(struct wire_str key, const struct body_node *n, void *arg)
{
	const struct search *s = arg;

	if (pool_matches(s->pool, n->labels) || pool_matched(s->pool, n->labels))
		enqueue(s->fleet, key, FLEET_POOL, s->trace);
}

static void
enqueue_members(struct fleet *f, struct wire_str pool, uint64_t trace)
{
	const uint32_t owner = keytab_find(f->sums, pool.p, pool.len);

	KEYTAB_EACH(f->nodes, id) {
		if (owner != KEYTAB_NONE && fleet_node(f, id)->owner == owner)
			enqueue(f, fleet_key(f->nodes, id), FLEET_POOL, trace);
	}
}

/* ---- Tables ---- */

uint32_t
fleet_sum_id(struct fleet *f, struct wire_str name)
{
	return keytab_add(f->sums, name.p, name.len, NULL);
}

uint64_t
fleet_name_hash(struct wire_str name)
{
	return name.len == 0 ? 0 : hash64(name.p, name.len);
}

struct wire_str
fleet_key(const struct keytab *k, uint32_t id)
{
	size_t len;
	const char *key = keytab_key(k, id, &len);

	return (struct wire_str){ key, (uint32_t)len };
}
