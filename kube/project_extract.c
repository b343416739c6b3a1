/*
 * kube/project_extract.c - what was found in one object: spans of its text, in slots, rows and pairs,
 * until the next object. Text is sanitized, not refused (project.h): byte by byte, as Go's own JSON encoder
 * does with what protobuf lets through, so both forms of an object stay equal.
 */
#include <msgpack.h>
#include <stdio.h>
#include <string.h>

#include "project_private.h"
#include "obj.h"
#include "utf8.h"

#define REPLACEMENT	"\xef\xbf\xbd"

static bool put(struct extract *, const struct field_node *, struct text_span);
static struct text_span *add_entry(struct extract *, const struct field_node *);
static bool is_ascii(const char *, size_t);
static size_t print_path(const struct extract *, const struct field_node *, bool, char *, size_t);

void
extract_init(struct extract *t, const struct field_tree *w)
{
	*t = (struct extract){ .tree = w };
	t->zone = msgpack_zone_new(MSGPACK_ZONE_CHUNK_SIZE);
	MUST(t->zone != NULL);
}

void
extract_begin(struct extract *t)
{
	memset(t->slots, 0, t->tree->nslots * sizeof(t->slots[0]));
	t->ntexts = 0;
	t->nentries = 0;
	t->error[0] = '\0';
	msgpack_zone_clear(t->zone);
}

void
extract_end(struct extract *t)
{
	free(t->texts);
	free(t->entries);
	msgpack_zone_free(t->zone);
	*t = (struct extract){ 0 };
}

bool
extract_text(struct extract *t, const struct field_node *s, const char *p, size_t len)
{
	return put(t, s, sanitize_utf8(t, (struct text_span){ p, len }));
}

/* 0 is what protobuf writes for "not there": as a text it is empty, like one that is missing. */
bool
extract_int(struct extract *t, const struct field_node *s, int64_t v)
{
	char digits[24];
	const int len = v == 0 ? 0 : snprintf(digits, sizeof(digits), "%lld", (long long)v);
	char *text = extract_alloc(t, (size_t)len + 1);

	memcpy(text, digits, (size_t)len);
	if (s->column == COLUMN_NONE && !t->slots[s->slot].set)
		t->slots[s->slot].number = v;
	return put(t, s, (struct text_span){ text, (size_t)len });
}

bool
extract_flag(struct extract *t, const struct field_node *s, bool v)
{
	if (s->column == COLUMN_NONE && !t->slots[s->slot].set)
		t->slots[s->slot].number = v;
	return put(t, s, v ? (struct text_span){ "true", 4 } : (struct text_span){ "", 0 });
}

bool
extract_raw(struct extract *t, const struct field_node *s, const char *p, size_t len)
{
	return put(t, s, (struct text_span){ p, len });
}

bool
extract_pair(struct extract *t, const struct field_node *s, const char *key, size_t key_len,
    const char *p, size_t len)
{
	struct text_span *pair = add_entry(t, s);

	if (pair == NULL)
		return false;
	pair[0] = sanitize_utf8(t, (struct text_span){ key, key_len });
	pair[1] = sanitize_utf8(t, (struct text_span){ p, len });
	return true;
}

bool
extract_list_item(struct extract *t, const struct field_node *s, const char *p, size_t len)
{
	struct text_span *text = add_entry(t, s);

	if (text == NULL)
		return false;
	*text = sanitize_utf8(t, (struct text_span){ p, len });
	return true;
}

bool
extract_row(struct extract *t, const struct field_node *s)
{
	t->row = t->slots[s->slot].count;
	const struct text_span *columns = add_entry(t, s);

	if (columns == NULL)
		return false;
	t->row_at = (uint32_t)(columns - t->texts);
	return true;
}

char *
extract_alloc(struct extract *t, size_t len)
{
	char *p = msgpack_zone_malloc_no_align(t->zone, len);

	MUST(p != NULL);
	return p;
}

struct text_span
sanitize_utf8(struct extract *t, struct text_span v)
{
	size_t bad = 0;

	if (is_ascii(v.p, v.len))
		return v;
	for (size_t i = 0, n; i < v.len; i += n) {
		n = v.p[i] == '\0' ? 0 : utf8_length(v.p + i, v.len - i);
		bad += n == 0;
		n += n == 0;
	}
	if (bad == 0)
		return v;
	char *text = extract_alloc(t, v.len + 2 * bad);
	size_t len = 0;
	for (size_t i = 0, n; i < v.len; i += n) {
		n = v.p[i] == '\0' ? 0 : utf8_length(v.p + i, v.len - i);
		memcpy(text + len, n == 0 ? REPLACEMENT : v.p + i, n == 0 ? 3 : n);
		len += n == 0 ? 3 : n;
		n += n == 0;
	}
	return (struct text_span){ text, len };
}

bool
extract_fail(struct extract *t, const struct field_node *s, const char *key, size_t key_len, const char *why)
{
	char path[120], shown[64] = "";
	size_t n = 0;

	for (size_t i = 0; key != NULL && i < key_len && n < sizeof(shown) - 1; i++)
		shown[n++] = key[i] > ' ' && key[i] < 0x7f ? key[i] : '?';
	shown[n] = '\0';
	print_path(t, s, false, path, sizeof(path));
	snprintf(t->error, sizeof(t->error), "%s%s%s%s: %s", path[0] == '\0' ? "the object" : path,
	    key != NULL ? "[" : "", shown, key != NULL ? "]" : "", why);
	return false;
}

/* Into the record being read, or into the node's own slot; the first stays. */
static bool
put(struct extract *t, const struct field_node *s, struct text_span v)
{
	if (s->column != COLUMN_NONE) {
		struct text_span *cell = &t->texts[t->row_at + s->column];
		if (cell->p == NULL)
			*cell = v;
		return true;
	}
	struct extract_slot *slot = &t->slots[s->slot];
	if (!slot->set) {
		slot->text = v;
		slot->set = true;
	}
	return true;
}

/* The texts of one more entry, all empty; NULL: refused, it would be too many. */
static struct text_span *
add_entry(struct extract *t, const struct field_node *s)
{
	struct extract_slot *slot = &t->slots[s->slot];
	const size_t n = s->what == NODE_MAP || s->what == NODE_MAP_QUANTITY ? 2 : s->columns;

	if (t->ntexts + n > EXTRACT_TEXTS_MAX) {
		extract_fail(t, s, NULL, 0, "more entries than a message may have");
		return NULL;
	}
	if (t->ntexts + n > t->texts_size) {
		t->texts_size = t->texts_size * 2 + 64;
		t->texts = obj_realloc(t->texts, t->texts_size * sizeof(t->texts[0]));
	}
	if (t->nentries == t->entries_size) {
		t->entries_size = t->entries_size * 2 + 32;
		t->entries = obj_realloc(t->entries, t->entries_size * sizeof(t->entries[0]));
	}
	t->entries[t->nentries++] = (struct extract_entry){ .at = (uint32_t)t->ntexts };
	if (slot->head == 0)
		slot->head = (uint32_t)t->nentries;
	else
		t->entries[slot->tail - 1].next = (uint32_t)t->nentries;
	slot->tail = (uint32_t)t->nentries;
	slot->count++;
	t->ntexts += n;
	struct text_span *texts = &t->texts[t->ntexts - n];
	memset(texts, 0, n * sizeof(*texts));
	return texts;
}

/* ASCII without NUL, as nearly everything is: eight bytes at a time. */
static bool
is_ascii(const char *p, size_t len)
{
	const uint64_t ones = 0x0101010101010101u, highs = ones << 7;
	uint64_t odd = 0, word;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		odd |= (word | (word - ones)) & highs;	/* of a NUL the subtraction sets the high bit */
	}
	word = ones;
	memcpy(&word, p, len);
	return ((odd | word | (word - ones)) & highs) == 0;
}

/* "spec.taints[2].key": a list with the number of its record, when the path leads into it. */
static size_t
print_path(const struct extract *t, const struct field_node *s, bool inside, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	if (s == &t->tree->nodes[0])
		return 0;
	const struct field_node *parent = &t->tree->nodes[s->parent];
	n = print_path(t, parent, true, buf, size);
	if (n < size)
		n += (size_t)snprintf(buf + n, size - n, "%s%.*s", n > 0 ? "." : "", s->name_len, s->name);
	if (n < size && inside && s->what == NODE_ROWS)
		n += (size_t)snprintf(buf + n, size - n, "[%u]", t->row);
	return n;
}
