/*
 * kube/project_take.c - what was found in one object: views into it, in slots, rows and pairs,
 * until the next object.
 *
 * Text is mended, not refused: a byte that is not UTF-8, and a NUL, become U+FFFD, byte by byte, as
 * Go's own JSON encoder does with what protobuf lets through. So both forms of an object stay
 * equal, and one odd annotation cannot hide a node.
 */
#include <msgpack.h>
#include <stdio.h>
#include <string.h>

#include "project_private.h"
#include "obj.h"
#include "utf8.h"

#define REPLACEMENT	"\xef\xbf\xbd"

static bool put(struct take *, const struct step *, struct view);
static struct view *add_entry(struct take *, const struct step *);
static bool is_plain(const char *, size_t);
static size_t print_path(const struct take *, const struct step *, bool, char *, size_t);

void
take_init(struct take *t, const struct way *w)
{
	*t = (struct take){ .way = w };
	t->zone = msgpack_zone_new(MSGPACK_ZONE_CHUNK_SIZE);
	MUST(t->zone != NULL);
}

void
take_begin(struct take *t)
{
	memset(t->slots, 0, t->way->nslots * sizeof(t->slots[0]));
	t->nviews = 0;
	t->nentries = 0;
	t->error[0] = '\0';
	msgpack_zone_clear(t->zone);
}

void
take_end(struct take *t)
{
	free(t->views);
	free(t->entries);
	msgpack_zone_free(t->zone);
	*t = (struct take){ 0 };
}

bool
take_text(struct take *t, const struct step *s, const char *p, size_t len)
{
	return put(t, s, take_mend(t, (struct view){ p, len }));
}

/* 0 is what protobuf writes for "not there": as a text it is empty, like one that is missing. */
bool
take_int(struct take *t, const struct step *s, int64_t v)
{
	char digits[24];
	const int len = v == 0 ? 0 : snprintf(digits, sizeof(digits), "%lld", (long long)v);
	char *text = take_memory(t, (size_t)len + 1);

	memcpy(text, digits, (size_t)len);
	if (s->column == COLUMN_NONE && !t->slots[s->slot].set)
		t->slots[s->slot].number = v;
	return put(t, s, (struct view){ text, (size_t)len });
}

bool
take_flag(struct take *t, const struct step *s, bool v)
{
	if (s->column == COLUMN_NONE && !t->slots[s->slot].set)
		t->slots[s->slot].number = v;
	return put(t, s, v ? (struct view){ "true", 4 } : (struct view){ "", 0 });
}

bool
take_raw(struct take *t, const struct step *s, const char *p, size_t len)
{
	return put(t, s, (struct view){ p, len });
}

bool
take_pair(struct take *t, const struct step *s, const char *key, size_t key_len, const char *p, size_t len)
{
	struct view *pair = add_entry(t, s);

	if (pair == NULL)
		return false;
	pair[0] = take_mend(t, (struct view){ key, key_len });
	pair[1] = take_mend(t, (struct view){ p, len });
	return true;
}

bool
take_listed(struct take *t, const struct step *s, const char *p, size_t len)
{
	struct view *text = add_entry(t, s);

	if (text == NULL)
		return false;
	*text = take_mend(t, (struct view){ p, len });
	return true;
}

bool
take_row(struct take *t, const struct step *s)
{
	t->row = t->slots[s->slot].count;
	const struct view *columns = add_entry(t, s);

	if (columns == NULL)
		return false;
	t->row_at = (uint32_t)(columns - t->views);
	return true;
}

char *
take_memory(struct take *t, size_t len)
{
	char *p = msgpack_zone_malloc_no_align(t->zone, len);

	MUST(p != NULL);
	return p;
}

struct view
take_mend(struct take *t, struct view v)
{
	size_t bad = 0;

	if (is_plain(v.p, v.len))
		return v;
	for (size_t i = 0, n; i < v.len; i += n) {
		n = v.p[i] == '\0' ? 0 : utf8_length(v.p + i, v.len - i);
		bad += n == 0;
		n += n == 0;
	}
	if (bad == 0)
		return v;
	char *text = take_memory(t, v.len + 2 * bad);
	size_t len = 0;
	for (size_t i = 0, n; i < v.len; i += n) {
		n = v.p[i] == '\0' ? 0 : utf8_length(v.p + i, v.len - i);
		memcpy(text + len, n == 0 ? REPLACEMENT : v.p + i, n == 0 ? 3 : n);
		len += n == 0 ? 3 : n;
		n += n == 0;
	}
	return (struct view){ text, len };
}

bool
take_refuse(struct take *t, const struct step *s, const char *key, size_t key_len, const char *why)
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

/* Into the record being read, or into the step's own slot; the first stays. */
static bool
put(struct take *t, const struct step *s, struct view v)
{
	if (s->column != COLUMN_NONE) {
		struct view *cell = &t->views[t->row_at + s->column];
		if (cell->p == NULL)
			*cell = v;
		return true;
	}
	struct take_slot *slot = &t->slots[s->slot];
	if (!slot->set) {
		slot->text = v;
		slot->set = true;
	}
	return true;
}

/* The views of one more entry, all empty; NULL: refused, it would be too many. */
static struct view *
add_entry(struct take *t, const struct step *s)
{
	struct take_slot *slot = &t->slots[s->slot];
	const size_t n = s->what == STEP_MAP || s->what == STEP_MAP_QUANTITY ? 2 : s->columns;

	if (t->nviews + n > TAKE_VIEWS_MAX) {
		take_refuse(t, s, NULL, 0, "more entries than a message may have");
		return NULL;
	}
	if (t->nviews + n > t->views_size) {
		t->views_size = t->views_size * 2 + 64;
		t->views = obj_realloc(t->views, t->views_size * sizeof(t->views[0]));
	}
	if (t->nentries == t->entries_size) {
		t->entries_size = t->entries_size * 2 + 32;
		t->entries = obj_realloc(t->entries, t->entries_size * sizeof(t->entries[0]));
	}
	t->entries[t->nentries++] = (struct take_entry){ .at = (uint32_t)t->nviews };
	if (slot->head == 0)
		slot->head = (uint32_t)t->nentries;
	else
		t->entries[slot->tail - 1].next = (uint32_t)t->nentries;
	slot->tail = (uint32_t)t->nentries;
	slot->count++;
	t->nviews += n;
	struct view *views = &t->views[t->nviews - n];
	memset(views, 0, n * sizeof(*views));
	return views;
}

/* ASCII without NUL, as nearly everything is: eight bytes at a time. */
static bool
is_plain(const char *p, size_t len)
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

/* "spec.taints[2].key": a list with the number of its record, when the way leads into it. */
static size_t
print_path(const struct take *t, const struct step *s, bool inside, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	if (s == &t->way->steps[0])
		return 0;
	const struct step *parent = &t->way->steps[s->parent];
	n = print_path(t, parent, true, buf, size);
	if (n < size)
		n += (size_t)snprintf(buf + n, size - n, "%s%.*s", n > 0 ? "." : "", s->name_len, s->name);
	if (n < size && inside && s->what == STEP_ROWS)
		n += (size_t)snprintf(buf + n, size - n, "[%u]", t->row);
	return n;
}
