/*
 * actors/vip-claimer/pool_set.c - the pools as the plans read them: copies of what the mirror has, because
 * every plan chooses among all of them.
 */
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "obj.h"
#include "stat.h"

enum { LABELS_MAX = 700 };

struct pool_entry {
	struct vip_pool	 pool;
	char		*text;		/* owned: all texts of the pool, one behind the other */
	int64_t		 total, used;
};

struct pool_set {
	uint32_t		 magic;
#define POOL_SET_MAGIC	0x504f4f4cu
	struct keytab		*entries;	/* struct pool_entry, by the object's key */
	struct keytab		*available;	/* double, by the labels of STAT_VIP_POOLS */
	struct vip_pool		*all;		/* of the entries, while `current` */
	size_t			 n;
	bool			 current, measured;
};

static void fill(struct pool_entry *, const struct change *);
static void copy_texts(struct pool_entry *);
static bool pool_labels(const struct vip_pool *, char[LABELS_MAX]);
static bool role_labels(const struct vip_pool *, char[LABELS_MAX]);
static bool put_label(char[LABELS_MAX], const char *, struct wire_str);
static void drop(struct pool_set *, uint32_t);
static void measure_pools(struct pool_set *);
static void measure_available(struct pool_set *);

/* Both kinds have the same fields, so that one may be read as the other. */
_Static_assert(sizeof(struct body_ip_pool) == sizeof(struct body_global_ip_pool), "kinds.h: POOL_FIELDS");

struct pool_set *
pool_set_new(void)
{
	struct pool_set *s;

	OBJ_NEW(s, POOL_SET_MAGIC);
	s->entries = keytab_new(sizeof(struct pool_entry));
	s->available = keytab_new(sizeof(double));
	return s;
}

void
pool_set_free(struct pool_set **sp)
{
	struct pool_set *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, POOL_SET_MAGIC);
	KEYTAB_EACH(s->entries, id)
		free(((struct pool_entry *)keytab_value(s->entries, id))->text);
	keytab_free(&s->entries);
	keytab_free(&s->available);
	free(s->all);
	OBJ_FREE(s);
}

void
pool_set_change(struct pool_set *s, const struct change *c)
{
	OBJ_CHECK(s, POOL_SET_MAGIC);
	const uint32_t known = keytab_find(s->entries, c->key.p, c->key.len);

	s->current = s->measured = false;
	if (c->kind == CHANGE_GONE) {
		if (known != KEYTAB_NONE)
			drop(s, known);
		return;
	}
	const uint32_t id = keytab_add(s->entries, c->key.p, c->key.len, NULL);
	struct pool_entry *const e = keytab_value(s->entries, id);
	char *const old = e->text;
	fill(e, c);
	copy_texts(e);
	free(old);
}

const struct vip_pool *
pool_set_all(struct pool_set *s, size_t *n)
{
	OBJ_CHECK(s, POOL_SET_MAGIC);
	if (!s->current) {
		free(s->all);
		s->all = obj_alloc((keytab_count(s->entries) + 1) * sizeof(*s->all));
		s->n = 0;
		KEYTAB_EACH(s->entries, id)
			s->all[s->n++] = ((const struct pool_entry *)keytab_value(s->entries, id))->pool;
		s->current = true;
	}
	*n = s->n;
	return s->all;
}

static void
fill(struct pool_entry *e, const struct change *c)
{
	const struct body_ip_pool *const b = &c->value->ip_pool;
	struct vip_pool *const p = &e->pool;
	const char *const end = c->key.p + c->key.len, *const slash = memchr(c->key.p, '/', c->key.len);
	struct wire_str paused;

	MUST(slash != NULL);
	*p = (struct vip_pool){ .namespaced = c->type == MSG_IP_POOL, .deleting = b->deleted.len > 0,
		.counted = b->addresses.len > 0, .free = b->free };
	const char *name = slash + 1;
	if (p->namespaced) {
		const char *const second = memchr(name, '/', (size_t)(end - name));

		MUST(second != NULL);
		p->namespace = (struct wire_str){ .p = name, .len = (uint32_t)(second - name) };
		name = second + 1;
	}
	p->name = (struct wire_str){ .p = name, .len = (uint32_t)(end - name) };
	p->paused = map_get(b->core, "paused", &paused);
	map_get(b->labels, "cluster-class", &p->class_label);
	map_get(b->annotations, "cluster-class", &p->class_list);
	map_get(b->labels, "role", &p->role_label);
	map_get(b->annotations, "role", &p->role_list);
	if (!map_get(b->labels, "priority", &p->priority))
		map_get(b->annotations, "priority", &p->priority);
	e->total = b->total;
	e->used = b->used;
}

/* The texts are views into the mirror: copy what is kept. */
static void
copy_texts(struct pool_entry *e)
{
	struct wire_str *const texts[] = { &e->pool.namespace, &e->pool.name, &e->pool.class_label,
		&e->pool.class_list, &e->pool.role_label, &e->pool.role_list, &e->pool.priority };
	size_t size = 1, at = 0;

	for (size_t i = 0; i < NITEMS(texts); i++)
		size += texts[i]->len;
	e->text = obj_alloc(size);
	for (size_t i = 0; i < NITEMS(texts); i++) {
		if (texts[i]->len > 0)
			memcpy(e->text + at, texts[i]->p, texts[i]->len);
		texts[i]->p = e->text + at;
		at += texts[i]->len;
	}
}

/* ---- Metrics ---- */

void
pool_set_measure(struct pool_set *s)
{
	OBJ_CHECK(s, POOL_SET_MAGIC);
	if (s->measured)
		return;
	s->measured = true;
	measure_pools(s);
	measure_available(s);
}

static void
measure_pools(struct pool_set *s)
{
	char labels[LABELS_MAX];

	KEYTAB_EACH(s->entries, id) {
		const struct pool_entry *const e = keytab_value(s->entries, id);

		if (!e->pool.counted || !pool_labels(&e->pool, labels))
			continue;
		stat_set(stat_get(STAT_VIP_POOL_TOTAL, labels), (double)e->total);
		stat_set(stat_get(STAT_VIP_POOL_FREE, labels), (double)e->pool.free);
		stat_set(stat_get(STAT_VIP_POOL_USED, labels), (double)e->used);
	}
}

/* A class without any pool goes; one whose pools are all exhausted stays, as 0. */
static void
measure_available(struct pool_set *s)
{
	char labels[LABELS_MAX];

	KEYTAB_EACH(s->available, id)
		*(double *)keytab_value(s->available, id) = -1;
	KEYTAB_EACH(s->entries, id) {
		const struct vip_pool *const p = &((struct pool_entry *)keytab_value(s->entries, id))->pool;

		if (!role_labels(p, labels))
			continue;
		const uint32_t at = keytab_add(s->available, labels, strlen(labels), NULL);
		double *const n = keytab_value(s->available, at);
		*n = (*n < 0 ? 0 : *n) + !(p->paused || p->deleting || vip_pool_exhausted(p));
	}
	KEYTAB_EACH(s->available, id) {
		const double n = *(const double *)keytab_value(s->available, id);
		struct stat_series *const series =
		    stat_get(STAT_VIP_POOLS, keytab_key(s->available, id, NULL));

		if (n >= 0) {
			stat_set(series, n);
			continue;
		}
		stat_drop(series);
		keytab_remove(s->available, id);
	}
}

static void
drop(struct pool_set *s, uint32_t id)
{
	struct pool_entry *const e = keytab_value(s->entries, id);
	char labels[LABELS_MAX];

	if (pool_labels(&e->pool, labels)) {
		stat_drop(stat_get(STAT_VIP_POOL_TOTAL, labels));
		stat_drop(stat_get(STAT_VIP_POOL_FREE, labels));
		stat_drop(stat_get(STAT_VIP_POOL_USED, labels));
	}
	free(e->text);
	keytab_remove(s->entries, id);
}

/* The original's label, and the namespace: two namespaces may have pools of the same name. */
static bool
pool_labels(const struct vip_pool *p, char labels[LABELS_MAX])
{
	labels[0] = '\0';
	return put_label(labels, "pool_name", p->name) && put_label(labels, "namespace", p->namespace);
}

/* A list of the annotation stays one text. False: the pool is for nobody. */
static bool
role_labels(const struct vip_pool *p, char labels[LABELS_MAX])
{
	const struct wire_str class = p->class_list.len > 0 ? p->class_list : p->class_label;
	const struct wire_str role = p->role_list.len > 0 ? p->role_list : p->role_label;

	labels[0] = '\0';
	return class.len > 0 && role.len > 0 && put_label(labels, "cluster_class", class)
	    && put_label(labels, "role", role);
}

static bool
put_label(char labels[LABELS_MAX], const char *name, struct wire_str value)
{
	char text[254];
	const int n = snprintf(text, sizeof(text), "%.*s", (int)value.len, value.len > 0 ? value.p : "");

	return n >= 0 && (size_t)n < sizeof(text) && stat_label(labels, LABELS_MAX, name, text);
}
