/* kube/project_pack.c - bodies, byte for byte as msg_pack makes them of a struct; but there is no struct. */
#include "project_pack.h"

#include <string.h>

#include "obj.h"

static void put_str(msgpack_packer *, const struct take *, const struct pack_field *);
static void put_flag(msgpack_packer *, const struct take *, const struct pack_field *);
static void put_i64(msgpack_packer *, const struct take *, const struct pack_field *);
static void put_map(msgpack_packer *, const struct take *, const struct pack_field *);
static void put_rows(msgpack_packer *, const struct take *, const struct pack_field *);
static bool picked(const struct pack_field *, struct view, struct view *);
static void put_view(msgpack_packer *, struct view);
static const struct take_slot *slot_of(const struct take *, const struct pack_field *);
static int append(void *, const char *, size_t);
static bool is_sorted(const struct take *, const struct take_slot *);
static void sort_map(struct take *, struct take_slot *);
static int by_key(const void *, const void *, void *);
static int compare(struct view, struct view);

/* The types that kinds.h may use. */
static const struct {
	const char *type;
	void (*put)(msgpack_packer *, const struct take *, const struct pack_field *);
} types[] = {
	{ "str", put_str }, { "flag", put_flag }, { "i64", put_i64 }, { "map", put_map }, { "rows", put_rows },
};

struct pack_field
pack_field_of(const struct kind_field *f, const struct way *w, uint16_t slot)
{
	struct pack_field field = { .readers = f->readers, .slot = slot };

	for (size_t i = 0; i < NITEMS(types); i++) {
		if (strcmp(types[i].type, f->type) == 0)
			field.put = types[i].put;
	}
	MUST(field.put != NULL);
	const char *brace = strchr(f->json, '{');
	field.pick = brace != NULL ? brace + 1 : NULL;
	for (size_t i = 1; i < w->nsteps && slot != SLOT_NONE; i++) {
		if (w->steps[i].slot == slot)
			field.columns = w->steps[i].columns;
	}
	return field;
}

void
pack_sort_maps(struct take *t)
{
	for (size_t i = 1; i < t->way->nsteps; i++) {
		const struct step *s = &t->way->steps[i];

		if (s->what != STEP_MAP && s->what != STEP_MAP_QUANTITY)
			continue;
		if (!is_sorted(t, &t->slots[s->slot]))
			sort_map(t, &t->slots[s->slot]);
	}
}

void
pack_body(msgpack_sbuffer *out, const struct take *t, const struct pack_field *fields, size_t nfields,
    uint64_t readers)
{
	msgpack_packer pk = { .data = out, .callback = append };

	msgpack_pack_array(&pk, nfields);
	for (const struct pack_field *f = fields; f < fields + nfields; f++) {
		const struct pack_field unread = { .slot = SLOT_NONE };

		f->put(&pk, t, (f->readers & readers) != 0 ? f : &unread);
	}
}

static void
put_str(msgpack_packer *pk, const struct take *t, const struct pack_field *f)
{
	put_view(pk, slot_of(t, f)->text);
}

static void
put_flag(msgpack_packer *pk, const struct take *t, const struct pack_field *f)
{
	if (slot_of(t, f)->number != 0)
		msgpack_pack_true(pk);
	else
		msgpack_pack_false(pk);
}

static void
put_i64(msgpack_packer *pk, const struct take *t, const struct pack_field *f)
{
	msgpack_pack_int64(pk, slot_of(t, f)->number);
}

static void
put_map(msgpack_packer *pk, const struct take *t, const struct pack_field *f)
{
	const struct take_slot *s = slot_of(t, f);
	uint32_t count = 0;
	struct view key;

	for (uint32_t e = s->head; e != 0; e = t->entries[e - 1].next)
		count += picked(f, t->views[t->entries[e - 1].at], &key);
	msgpack_pack_map(pk, count);
	for (uint32_t e = s->head; e != 0; e = t->entries[e - 1].next) {
		if (!picked(f, t->views[t->entries[e - 1].at], &key))
			continue;
		put_view(pk, key);
		put_view(pk, t->views[t->entries[e - 1].at + 1]);
	}
}

/* "prefix name name}": keys of that prefix, without it; if names follow, only these. */
static bool
picked(const struct pack_field *f, struct view key, struct view *out)
{
	*out = key;
	if (f->pick == NULL)
		return true;
	const size_t prefix = strcspn(f->pick, " }");
	if (key.len <= prefix || memcmp(key.p, f->pick, prefix) != 0)
		return false;
	*out = (struct view){ key.p + prefix, key.len - prefix };
	const char *name = f->pick + prefix;
	if (*name == '}')
		return true;
	while (*name == ' ') {
		const size_t len = strcspn(++name, " }");

		if (len == out->len && memcmp(name, out->p, len) == 0)
			return true;
		name += len;
	}
	return false;
}

static void
put_rows(msgpack_packer *pk, const struct take *t, const struct pack_field *f)
{
	const struct take_slot *s = slot_of(t, f);

	msgpack_pack_array(pk, s->count);
	for (uint32_t e = s->head; e != 0; e = t->entries[e - 1].next) {
		msgpack_pack_array(pk, f->columns);
		for (uint32_t c = 0; c < f->columns; c++)
			put_view(pk, t->views[t->entries[e - 1].at + c]);
	}
}

static const struct take_slot *
slot_of(const struct take *t, const struct pack_field *f)
{
	static const struct take_slot nothing;

	return f->slot == SLOT_NONE ? &nothing : &t->slots[f->slot];
}

static void
put_view(msgpack_packer *pk, struct view v)
{
	msgpack_pack_str_with_body(pk, v.p == NULL ? "" : v.p, v.len);
}

/* In place of msgpack_sbuffer_write, which at the end of memory packs on (as in proto/msg.c). */
static int
append(void *buffer, const char *p, size_t len)
{
	msgpack_sbuffer *b = buffer;

	if (b->alloc - b->size < len) {
		b->alloc = b->alloc * 2 + len + MSGPACK_SBUFFER_INIT_SIZE;
		b->data = obj_realloc(b->data, b->alloc);
	}
	memcpy(b->data + b->size, p, len);
	b->size += len;
	return 0;
}

static bool
is_sorted(const struct take *t, const struct take_slot *s)
{
	uint32_t before = 0;

	for (uint32_t e = s->head; e != 0; before = e, e = t->entries[e - 1].next) {
		if (before != 0
		    && compare(t->views[t->entries[before - 1].at], t->views[t->entries[e - 1].at]) >= 0)
			return false;
	}
	return true;
}

/* Links the entries anew: by key, of equal keys only the first that came. */
static void
sort_map(struct take *t, struct take_slot *s)
{
	struct take_entry *order = obj_alloc(s->count * sizeof(*order));
	size_t n = 0;

	for (uint32_t e = s->head; e != 0; e = t->entries[e - 1].next)
		order[n++] = (struct take_entry){ .at = t->entries[e - 1].at, .next = e };
	qsort_r(order, n, sizeof(*order), by_key, t->views);
	s->head = s->tail = order[0].next;
	s->count = 1;
	for (size_t i = 1; i < n; i++) {
		if (compare(t->views[order[i - 1].at], t->views[order[i].at]) == 0)
			continue;
		t->entries[s->tail - 1].next = order[i].next;
		s->tail = order[i].next;
		s->count++;
	}
	t->entries[s->tail - 1].next = 0;
	free(order);
}

static int
by_key(const void *a, const void *b, void *views)
{
	const struct take_entry *x = a, *y = b;
	const struct view *v = views;
	const int order = compare(v[x->at], v[y->at]);

	return order != 0 ? order : x->at < y->at ? -1 : 1;
}

static int
compare(struct view a, struct view b)
{
	const int order = memcmp(a.p, b.p, a.len < b.len ? a.len : b.len);

	return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}
