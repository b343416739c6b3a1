/* actors/node-state/pools.c - the table of MachineConfigPools with their compiled selectors. */
#include "pools.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "keytab.h"
#include "kube/selector.h"
#include "obj.h"

#define LAYERED_LABEL	"layering-enabled"
#define IMAGE_KEY	"newestImageEquivalentConfig"
#define OS_LABEL	"kubernetes.io/os"

enum {
	POOLS_MAGIC	= 0x504f4f31,
	/* A legal label value has at most 63 characters: one more, and it equals no value of any selector. */
	LABEL_VALUE_MAX	= 64,
};

struct pools {
	uint32_t	 magic;
	struct keytab	*names;			/* struct pool *: the pools themselves never move */
};

/* Selectors need NUL-terminated texts; labels are views without a NUL. */
struct label_lookup {
	struct wire_map	 labels;
	char		*value;			/* LABEL_VALUE_MAX + 1 bytes */
};

static struct pool **pool_at(const struct pools *, uint32_t);
static void drop(struct pool *);
static bool replace(char **, struct wire_str);
static struct selector *compile(struct pool *);
static bool selects(const struct selector *, struct wire_map);
static const char *get_label(const char *, const void *);

struct pools *
pools_new(void)
{
	struct pools *p;

	OBJ_NEW(p, POOLS_MAGIC);
	p->names = keytab_new(sizeof(struct pool *));
	return p;
}

void
pools_free(struct pools **pp)
{
	struct pools *p;

	if (*pp == NULL)
		return;
	OBJ_TAKE(p, pp, POOLS_MAGIC);
	KEYTAB_EACH(p->names, id)
		drop(*pool_at(p, id));
	keytab_free(&p->names);
	OBJ_FREE(p);
}

unsigned
pools_put(struct pools *p, struct wire_str name, const struct body_machine_config_pool *body)
{
	struct wire_str layered, image;
	unsigned changes = 0;
	bool added;

	OBJ_CHECK(p, POOLS_MAGIC);
	const uint32_t id = keytab_add(p->names, name.p, name.len, &added);
	if (added) {
		*pool_at(p, id) = obj_alloc(sizeof(struct pool));
		replace(&(*pool_at(p, id))->name, name);
	}
	struct pool *const o = *pool_at(p, id);

	if (!map_get(body->labels, LAYERED_LABEL, &layered) || !map_get(body->annotations, IMAGE_KEY, &image))
		image = (struct wire_str){ .p = "" };
	selector_free(&o->before);
	o->before = o->now;
	if (replace(&o->selector, body->selector))
		changes |= POOL_SELECTOR;
	o->now = compile(o);
	if (replace(&o->image, image))
		changes |= POOL_LAYERING;
	if (o->paused != body->paused)
		changes |= POOL_PAUSED;
	o->paused = body->paused;
	return added ? POOL_ADDED | POOL_SELECTOR | POOL_PAUSED | POOL_LAYERING : changes;
}

bool
pools_remove(struct pools *p, struct wire_str name)
{
	OBJ_CHECK(p, POOLS_MAGIC);
	const uint32_t id = keytab_find(p->names, name.p, name.len);

	if (id == KEYTAB_NONE)
		return false;
	drop(*pool_at(p, id));
	keytab_remove(p->names, id);
	return true;
}

const struct pool *
pools_find(const struct pools *p, struct wire_str name)
{
	OBJ_CHECK(p, POOLS_MAGIC);
	const uint32_t id = keytab_find(p->names, name.p, name.len);

	return id == KEYTAB_NONE ? NULL : *pool_at(p, id);
}

uint32_t
pools_count(const struct pools *p)
{
	OBJ_CHECK(p, POOLS_MAGIC);
	return keytab_count(p->names);
}

const struct pool *
pools_next(const struct pools *p, uint32_t *cursor)
{
	OBJ_CHECK(p, POOLS_MAGIC);
	const uint32_t id = keytab_next(p->names, *cursor);

	*cursor = id == KEYTAB_NONE ? id : id + 1;
	return id == KEYTAB_NONE ? NULL : *pool_at(p, id);
}

bool
pool_matches(const struct pool *o, struct wire_map labels)
{
	return selects(o->now, labels);
}

bool
pool_matched(const struct pool *o, struct wire_map labels)
{
	return selects(o->before, labels);
}

const struct pool *
pools_owner(const struct pools *p, struct wire_map labels, struct choice *choice, char *why, size_t size)
{
	const struct pool *found[POOLS_MATCH_MAX];
	const char *names[POOLS_MATCH_MAX];
	struct wire_str os;
	uint32_t cursor = 0;
	size_t count = 0;

	for (const struct pool *o; count < POOLS_MATCH_MAX && (o = pools_next(p, &cursor)) != NULL;) {
		if (!pool_matches(o, labels))
			continue;
		names[count] = o->name;
		found[count++] = o;
	}
	const bool windows = map_get(labels, OS_LABEL, &os) && wire_str_is(os, "windows");
	*choice = choose_pool(names, count, windows);
	if (why != NULL)
		choose_why(*choice, names, count, why, size);
	return choice->index >= 0 ? found[choice->index] : NULL;
}

static struct pool **
pool_at(const struct pools *p, uint32_t id)
{
	return keytab_value(p->names, id);
}

static void
drop(struct pool *o)
{
	selector_free(&o->now);
	selector_free(&o->before);
	free(o->name);
	free(o->image);
	free(o->selector);
	free(o);
}

/* True: it is another text now. */
static bool
replace(char **text, struct wire_str s)
{
	if (*text != NULL && wire_str_is(s, *text))
		return false;
	free(*text);
	*text = obj_strndup(s.p, s.len);
	return true;
}

/* NULL: matches nothing, because it is empty or invalid; o->error has the reason. */
static struct selector *
compile(struct pool *o)
{
	json_error_t where;
	json_t *json;
	struct selector *s;

	o->error[0] = '\0';
	if (o->selector[0] == '\0')
		return NULL;
	json = json_loads(o->selector, JSON_DECODE_ANY, &where);
	if (json == NULL) {
		snprintf(o->error, sizeof(o->error), "not JSON: %s", where.text);
		return NULL;
	}
	s = selector_from_json(json, o->error, sizeof(o->error));
	json_decref(json);
	if (s != NULL && selector_empty(s))
		selector_free(&s);
	return s;
}

static bool
selects(const struct selector *s, struct wire_map labels)
{
	char value[LABEL_VALUE_MAX + 1];
	const struct label_lookup lookup = { .labels = labels, .value = value };

	return s != NULL && selector_matches(s, get_label, &lookup);
}

static const char *
get_label(const char *key, const void *arg)
{
	const struct label_lookup *const lookup = arg;
	struct wire_str value;

	if (!map_get(lookup->labels, key, &value))
		return NULL;
	const size_t len = value.len < LABEL_VALUE_MAX ? value.len : LABEL_VALUE_MAX;
	memcpy(lookup->value, value.p, len);
	lookup->value[len] = '\0';
	return lookup->value;
}
