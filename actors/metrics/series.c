/* actors/metrics/series.c - families in order of name, their series in order of actor and labels. */
#include "series.h"

#include <stdint.h>
#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "builtin.h"

enum { HELP_MAX = 512, KEY_MAX = 2048, ACTOR_MAX = 64, LINE_ROOM = 64 /* for suffix, bound and value */ };

/* Pointers in the order of some function of theirs. */
struct sorted {
	void	**list;
	size_t	  n, room;
};

struct family {
	char		*name, *help;
	enum stat_kind	 kind;
	struct sorted	 series;
};

struct series {
	struct family	*family;
	char		*actor, *labels;
	double		 value;
	uint64_t	 count;
	double		*buckets;
	uint32_t	 nbuckets;
	size_t		 cost;
};

struct series_table {
	uint32_t	 magic;
#define SERIES_MAGIC	0x53455249u
	struct keytab	*keys;		/* "<actor>/<key>" -> struct series * */
	struct sorted	 families;	/* none is empty */
	size_t		 cost, budget;	/* bytes */
};

/* What to find: a family by name, or a series by actor and labels. */
struct want {
	const char	*actor;
	struct wire_str	 text;
};

/* <0: the item is before the one to find. */
typedef int order(const void *item, const struct want *w);

static const char *refusal(struct wire_str, const struct body_stat *);
static const char *insert(struct series_table *, struct series **, const char *, const struct body_stat *);
static void take_out(struct series_table *, struct series *);
static size_t cost_of(const char *, const struct body_stat *);
static bool same_place(const struct series *, const struct body_stat *);
static void set_value(struct series *, const struct body_stat *);
static size_t full_key(char *, const char *, struct wire_str);
static order family_order, series_order;
static bool sorted_find(const struct sorted *, order *, const struct want *, size_t *);
static void sorted_insert(struct sorted *, size_t, void *);
static void sorted_remove(struct sorted *, size_t);
static int compare(const char *, struct wire_str);
static char *copy(struct wire_str);

struct series_table *
series_new(size_t budget_bytes)
{
	struct series_table *t;

	OBJ_NEW(t, SERIES_MAGIC);
	t->keys = keytab_new(sizeof(struct series *));
	t->budget = budget_bytes;
	return t;
}

void
series_free(struct series_table **tp)
{
	struct series_table *t;

	if (*tp == NULL)
		return;
	OBJ_TAKE(t, tp, SERIES_MAGIC);
	for (uint32_t id = 0; id < keytab_ids(t->keys); id++) {
		if (keytab_key(t->keys, id, NULL) != NULL)
			take_out(t, *(struct series **)keytab_value(t->keys, id));
	}
	MUST(t->families.n == 0);
	free(t->families.list);
	keytab_free(&t->keys);
	OBJ_FREE(t);
}

const char *
series_set(struct series_table *t, const char *actor, struct wire_str key, const struct body_stat *s)
{
	char name[KEY_MAX + ACTOR_MAX];

	OBJ_CHECK(t, SERIES_MAGIC);
	const char *why = refusal(key, s);

	if (why != NULL) {
		series_drop(t, actor, key);
		return why;
	}
	const uint32_t id = keytab_add(t->keys, name, full_key(name, actor, key), NULL);
	struct series **const place = keytab_value(t->keys, id);
	if (*place != NULL && same_place(*place, s)) {
		set_value(*place, s);
		return NULL;
	}
	if (*place != NULL)
		take_out(t, *place);
	why = t->cost + cost_of(actor, s) > t->budget ? "all series together cost too much memory"
	    : insert(t, place, actor, s);
	if (why != NULL)
		keytab_remove(t->keys, id);
	return why;
}

void
series_drop(struct series_table *t, const char *actor, struct wire_str key)
{
	char name[KEY_MAX + ACTOR_MAX];

	OBJ_CHECK(t, SERIES_MAGIC);
	const uint32_t id =
	    key.len > KEY_MAX ? KEYTAB_NONE : keytab_find(t->keys, name, full_key(name, actor, key));
	if (id == KEYTAB_NONE)
		return;
	take_out(t, *(struct series **)keytab_value(t->keys, id));
	keytab_remove(t->keys, id);
}

size_t
series_count(const struct series_table *t)
{
	return keytab_count(t->keys);
}

size_t
series_cost(const struct series_table *t)
{
	return t->cost;
}

void
series_write(const struct series_table *t, struct text *out, series_shown *shown, const void *arg)
{
	OBJ_CHECK(t, SERIES_MAGIC);
	for (size_t i = 0; i < t->families.n; i++) {
		const struct family *f = t->families.list[i];
		bool headed = false;

		for (size_t k = 0; k < f->series.n; k++) {
			const struct series *s = f->series.list[k];

			if (shown != NULL && !shown(s->actor, arg))
				continue;
			if (!headed)
				exposition_head(out, f->name, f->kind, f->help);
			headed = true;
			exposition_series(out, f->name, f->kind, &(struct exposition_series){
			    .actor = s->actor, .labels = s->labels, .value = s->value, .count = s->count,
			    .buckets = s->buckets, .nbuckets = s->nbuckets });
		}
	}
}

/* What is wrong with it by itself. Its family is checked by insert. */
static const char *
refusal(struct wire_str key, const struct body_stat *s)
{
	if (key.len > KEY_MAX)
		return "key is too long";
	if (!exposition_name_ok(s->family.p, s->family.len))
		return "not a name of a metric";
	if (builtin_family(s->family.p, s->family.len))
		return "family belongs to the metrics actor";
	if (s->kind > STAT_HISTOGRAM)
		return "unknown kind of metric";
	if (s->help.len > HELP_MAX || !exposition_utf8_ok(s->help.p, s->help.len))
		return "help is too long or not UTF-8";
	if (!exposition_labels_ok(s->labels.p, s->labels.len))
		return "labels are not well-formed";
	if (s->kind == STAT_HISTOGRAM ? !exposition_buckets_ok(s->buckets.p, s->buckets.len, s->count)
	    : s->buckets.len != 0)
		return "buckets are not those of a histogram";
	return NULL;
}

static const char *
insert(struct series_table *t, struct series **place, const char *actor, const struct body_stat *s)
{
	const struct want by_name = { .text = s->family };
	const struct want by_labels = { .actor = actor, .text = s->labels };
	struct family *f;
	size_t at;

	if (sorted_find(&t->families, family_order, &by_name, &at)) {
		f = t->families.list[at];
	} else {
		f = obj_alloc(sizeof(*f));
		f->name = copy(s->family);
		f->help = copy(s->help);
		f->kind = (enum stat_kind)s->kind;
		sorted_insert(&t->families, at, f);
	}
	if (f->kind != (enum stat_kind)s->kind)
		return "another actor gives that family another kind";
	if (sorted_find(&f->series, series_order, &by_labels, &at))
		return "the actor has that series under another key";
	struct series *new = obj_alloc(sizeof(*new));
	*new = (struct series){ .family = f, .actor = obj_strdup(actor), .labels = copy(s->labels),
		.cost = cost_of(actor, s), .nbuckets = s->buckets.len,
		.buckets = s->buckets.len == 0 ? NULL : obj_alloc(s->buckets.len * sizeof(double)) };
	set_value(new, s);
	t->cost += new->cost;
	sorted_insert(&f->series, at, new);
	*place = new;
	return NULL;
}

/* Frees it; its family goes with its last series. */
static void
take_out(struct series_table *t, struct series *s)
{
	struct family *f = s->family;
	size_t at;

	t->cost -= s->cost;
	MUST(sorted_find(&f->series, series_order, &(struct want){ s->actor, wire_str_of(s->labels) }, &at));
	sorted_remove(&f->series, at);
	if (f->series.n == 0) {
		const struct want by_name = { .text = wire_str_of(f->name) };

		MUST(sorted_find(&t->families, family_order, &by_name, &at));
		sorted_remove(&t->families, at);
		free(f->name);
		free(f->help);
		free(f->series.list);
		free(f);
	}
	free(s->actor);
	free(s->labels);
	free(s->buckets);
	free(s);
}

static size_t
cost_of(const char *actor, const struct body_stat *s)
{
	const size_t lines = s->kind == STAT_HISTOGRAM ? s->buckets.len / 2 + 3 : 1;
	const size_t line = s->family.len + s->labels.len + strlen(actor) + LINE_ROOM;

	return 2 * lines * line + SERIES_OVERHEAD;
}

static bool
same_place(const struct series *s, const struct body_stat *m)
{
	return compare(s->family->name, m->family) == 0 && compare(s->labels, m->labels) == 0
	    && s->family->kind == (enum stat_kind)m->kind && s->nbuckets == m->buckets.len;
}

static void
set_value(struct series *s, const struct body_stat *m)
{
	s->value = m->value;
	s->count = m->count;
	if (s->nbuckets > 0)
		memcpy(s->buckets, m->buckets.p, s->nbuckets * sizeof(double));
}

static size_t
full_key(char *buf, const char *actor, struct wire_str key)
{
	const size_t len = strlen(actor);

	MUST(len < ACTOR_MAX && key.len <= KEY_MAX);
	memcpy(buf, actor, len);
	buf[len] = '/';
	if (key.len > 0)
		memcpy(buf + len + 1, key.p, key.len);
	return len + 1 + key.len;
}

static int
family_order(const void *item, const struct want *w)
{
	return compare(((const struct family *)item)->name, w->text);
}

static int
series_order(const void *item, const struct want *w)
{
	const struct series *s = item;
	const int by_actor = strcmp(s->actor, w->actor);

	return by_actor != 0 ? by_actor : compare(s->labels, w->text);
}

/* Where it is, or where it belongs. */
static bool
sorted_find(const struct sorted *s, order *compare_item, const struct want *w, size_t *at)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const int o = compare_item(s->list[mid], w);

		if (o == 0) {
			*at = mid;
			return true;
		}
		if (o < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*at = low;
	return false;
}

static void
sorted_insert(struct sorted *s, size_t at, void *item)
{
	if (s->n == s->room) {
		s->room = s->room == 0 ? 4 : s->room * 2;
		s->list = obj_realloc(s->list, s->room * sizeof(s->list[0]));
	}
	memmove(&s->list[at + 1], &s->list[at], (s->n - at) * sizeof(s->list[0]));
	s->list[at] = item;
	s->n++;
}

static void
sorted_remove(struct sorted *s, size_t at)
{
	s->n--;
	memmove(&s->list[at], &s->list[at + 1], (s->n - at) * sizeof(s->list[0]));
}

/* strcmp with a view. */
static int
compare(const char *a, struct wire_str b)
{
	const int head = b.len == 0 ? 0 : strncmp(a, b.p, b.len);

	return head != 0 ? head : a[b.len] != '\0';
}

static char *
copy(struct wire_str s)
{
	char *new = obj_alloc((size_t)s.len + 1);

	if (s.len > 0)
		memcpy(new, s.p, s.len);
	return new;
}
