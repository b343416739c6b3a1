/* kube/project_pack.c - packs bodies byte for byte as msg_pack does, without a struct in between. */
#include "project_pack.h"

#include <string.h>

#include "obj.h"

static pack_put put_str, put_flag, put_i64, put_map, put_rows;
static bool selects(const struct pack_field *, struct text_span, struct text_span *);
static void put_text(msgpack_packer *, struct text_span);
static const struct extract_slot *slot_of(const struct extract *, const struct pack_field *);
static int append(void *, const char *, size_t);
static bool is_sorted(const struct extract *, const struct extract_slot *);
static void sort_map(struct extract *, struct extract_slot *);
static int by_key(const void *, const void *, void *);
static int compare(struct text_span, struct text_span);

/* The types that kinds.h may use. */
static const struct {
	const char *type;
	pack_put   *put;
} types[] = {
	{ "str", put_str }, { "flag", put_flag }, { "i64", put_i64 }, { "map", put_map }, { "rows", put_rows },
};

struct pack_field
pack_field_of(const struct kind_field *f, const struct field_tree *w, uint16_t slot)
{
	struct pack_field field = { .readers = f->readers, .slot = slot };

	for (size_t i = 0; i < NITEMS(types); i++) {
		if (strcmp(types[i].type, f->type) == 0)
			field.put = types[i].put;
	}
	MUST(field.put != NULL);
	const char *brace = strchr(f->json, '{');
	field.selection = brace != NULL ? brace + 1 : NULL;
	for (size_t i = 1; i < w->nnodes && slot != SLOT_NONE; i++) {
		if (w->nodes[i].slot == slot)
			field.columns = w->nodes[i].columns;
	}
	return field;
}

void
pack_sort_maps(struct extract *t)
{
	for (size_t i = 1; i < t->tree->nnodes; i++) {
		const struct field_node *s = &t->tree->nodes[i];

		if (s->what != NODE_MAP && s->what != NODE_MAP_QUANTITY)
			continue;
		if (!is_sorted(t, &t->slots[s->slot]))
			sort_map(t, &t->slots[s->slot]);
	}
}

void
pack_body(msgpack_sbuffer *out, const struct extract *t, const struct pack_field *fields, size_t nfields,
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
put_str(msgpack_packer *pk, const struct extract *t, const struct pack_field *f)
{
	put_text(pk, slot_of(t, f)->text);
}

static void
put_flag(msgpack_packer *pk, const struct extract *t, const struct pack_field *f)
{
	if (slot_of(t, f)->number != 0)
		msgpack_pack_true(pk);
	else
		msgpack_pack_false(pk);
}

static void
put_i64(msgpack_packer *pk, const struct extract *t, const struct pack_field *f)
{
	msgpack_pack_int64(pk, slot_of(t, f)->number);
}

static void
put_map(msgpack_packer *pk, const struct extract *t, const struct pack_field *f)
{
	const struct extract_slot *s = slot_of(t, f);
	uint32_t count = 0;
	struct text_span key;

	for (uint32_t e = s->head; e != 0; e = t->entries[e - 1].next)
		count += selects(f, t->texts[t->entries[e - 1].at], &key);
	msgpack_pack_map(pk, count);
	for (uint32_t e = s->head; e != 0; e = t->entries[e - 1].next) {
		if (!selects(f, t->texts[t->entries[e - 1].at], &key))
			continue;
		put_text(pk, key);
		put_text(pk, t->texts[t->entries[e - 1].at + 1]);
	}
}

/* "prefix name name}": keys of that prefix, without it; if names follow, only these. */
static bool
selects(const struct pack_field *f, struct text_span key, struct text_span *out)
{
	*out = key;
	if (f->selection == NULL)
		return true;
	const size_t prefix = strcspn(f->selection, " }");
	if (key.len <= prefix || memcmp(key.p, f->selection, prefix) != 0)
		return false;
	*out = (struct text_span){ key.p + prefix, key.len - prefix };
	const char *name = f->selection + prefix;
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
put_rows(msgpack_packer *pk, const struct extract *t, const struct pack_field *f)
{
	const struct extract_slot *s = slot_of(t, f);

	msgpack_pack_array(pk, s->count);
	for (uint32_t e = s->head; e != 0; e = t->entries[e - 1].next) {
		msgpack_pack_array(pk, f->columns);
		for (uint32_t c = 0; c < f->columns; c++)
			put_text(pk, t->texts[t->entries[e - 1].at + c]);
	}
}

static const struct extract_slot *
slot_of(const struct extract *t, const struct pack_field *f)
{
	static const struct extract_slot nothing;

	return f->slot == SLOT_NONE ? &nothing : &t->slots[f->slot];
}

static void
put_text(msgpack_packer *pk, struct text_span v)
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
is_sorted(const struct extract *t, const struct extract_slot *s)
{
	uint32_t before = 0;

	for (uint32_t e = s->head; e != 0; before = e, e = t->entries[e - 1].next) {
		if (before != 0
		    && compare(t->texts[t->entries[before - 1].at], t->texts[t->entries[e - 1].at]) >= 0)
			return false;
	}
	return true;
}

/* Links the entries anew: by key, of equal keys only the first that came. */
static void
sort_map(struct extract *t, struct extract_slot *s)
{
	struct extract_entry *order = obj_alloc(s->count * sizeof(*order));
	size_t n = 0;

	for (uint32_t e = s->head; e != 0; e = t->entries[e - 1].next)
		order[n++] = (struct extract_entry){ .at = t->entries[e - 1].at, .next = e };
	qsort_r(order, n, sizeof(*order), by_key, t->texts);
	s->head = s->tail = order[0].next;
	s->count = 1;
	for (size_t i = 1; i < n; i++) {
		if (compare(t->texts[order[i - 1].at], t->texts[order[i].at]) == 0)
			continue;
		t->entries[s->tail - 1].next = order[i].next;
		s->tail = order[i].next;
		s->count++;
	}
	t->entries[s->tail - 1].next = 0;
	free(order);
}

static int
by_key(const void *a, const void *b, void *texts)
{
	const struct extract_entry *x = a, *y = b;
	const struct text_span *v = texts;
	const int order = compare(v[x->at], v[y->at]);

	return order != 0 ? order : x->at < y->at ? -1 : 1;
}

static int
compare(struct text_span a, struct text_span b)
{
	const int order = memcmp(a.p, b.p, a.len < b.len ? a.len : b.len);

	return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}
