/* actors/vpsie-claimer/watermark.c - the line of watermark.h. Pure. */
#include "watermark.h"

#include <string.h>

#include "kube/time.h"
#include "text_index.h"

/* A word of the line: "name=value". */
struct word {
	struct wire_str	name, value;
};

static struct wire_str key_of(const struct machine *);
static bool printable(struct wire_str);
static void put(char *, size_t *, const char *, size_t);
static bool next_word(struct wire_str *, struct word *);
static bool parse_number(struct wire_str, int64_t *);
static bool parse_free(struct wire_str, struct watermark *);

void
watermark_take(const struct machine *machines, const struct discover_owner *owners, uint32_t n,
    struct wire_str cluster, struct watermark *out)
{
	*out = (struct watermark){ .has_free = true };
	for (uint32_t i = 0; i < n; i++) {
		const struct machine *const m = &machines[i];
		const struct wire_str key = key_of(m);

		if (m->deleted || m->master
		    || (m->cluster.len > 0 && text_compare_folded(m->cluster, cluster) != 0))
			continue;
		if (m->cluster.len > 0)
			out->nodes++;
		if (m->created_us > out->newest_us && m->cluster.len > 0)
			out->newest_us = m->created_us;
		if (owners[i].owner != DISCOVER_NONE || m->cluster.len == 0)
			continue;
		if (out->nfree == WATERMARK_FREE_MAX || !printable(key))
			out->has_free = false;
		else
			out->free[out->nfree++] = key;
	}
}

void
watermark_print(const struct watermark *w, char buf[WATERMARK_TEXT_MAX])
{
	char number[24], time[TIME_TEXT_MAX];
	size_t len = 0, at = sizeof(number);
	int64_t nodes = w->nodes;
	bool fits = w->has_free;

	do {
		number[--at] = (char)('0' + nodes % 10);
		nodes /= 10;
	} while (nodes > 0);
	put(buf, &len, "nodes=", 6);
	put(buf, &len, number + at, sizeof(number) - at);
	if (w->newest_us > 0) {
		put(buf, &len, " newest=", 8);
		put(buf, &len, time, time_format(w->newest_us, time, sizeof(time)));
	}
	put(buf, &len, " free=", 6);
	const size_t start = len;
	for (uint32_t i = 0; i < w->nfree && fits; i++) {
		fits = len + 1 + w->free[i].len + 4 < WATERMARK_TEXT_MAX;
		if (fits && i > 0)
			put(buf, &len, ",", 1);
		if (fits)
			put(buf, &len, w->free[i].p, w->free[i].len);
	}
	if (!fits) {
		len = start;
		put(buf, &len, "...", 3);
	}
	buf[len] = '\0';
}

bool
watermark_parse(struct wire_str text, struct watermark *out)
{
	struct word word;
	bool good = text.len > 0, counted = false;

	*out = (struct watermark){ .has_free = false };
	while (good && next_word(&text, &word)) {
		if (wire_str_is(word.name, "nodes"))
			counted = good = parse_number(word.value, &out->nodes);
		else if (wire_str_is(word.name, "newest"))
			good = time_parse(word.value.p, word.value.len, &out->newest_us);
		else if (wire_str_is(word.name, "free"))
			good = parse_free(word.value, out);
	}
	if (!good || !counted)
		*out = (struct watermark){ .has_free = false };
	return good && counted;
}

/* As candidate.c compares them. */
static struct wire_str
key_of(const struct machine *m)
{
	return m->identifier.len > 0 ? m->identifier : m->hostname;
}

static bool
printable(struct wire_str s)
{
	for (uint32_t i = 0; i < s.len; i++) {
		if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == ',')
			return false;
	}
	return s.len > 0;
}

static void
put(char *buf, size_t *len, const char *text, size_t n)
{
	memcpy(buf + *len, text, n);
	*len += n;
}

static bool
next_word(struct wire_str *left, struct word *out)
{
	while (left->len > 0 && left->p[0] == ' ') {
		left->p++;
		left->len--;
	}
	if (left->len == 0)
		return false;
	const char *const end = memchr(left->p, ' ', left->len);
	const uint32_t len = end != NULL ? (uint32_t)(end - left->p) : left->len;
	const char *const equals = memchr(left->p, '=', len);
	const uint32_t name = equals != NULL ? (uint32_t)(equals - left->p) : len;

	out->name = (struct wire_str){ left->p, name };
	out->value = name < len ? (struct wire_str){ equals + 1, len - name - 1 } : wire_str_of("");
	left->p += len;
	left->len -= len;
	return true;
}

static bool
parse_number(struct wire_str s, int64_t *out)
{
	*out = 0;
	for (uint32_t i = 0; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || i >= 15)
			return false;
		*out = *out * 10 + (s.p[i] - '0');
	}
	return s.len > 0;
}

static bool
parse_free(struct wire_str s, struct watermark *out)
{
	out->has_free = !wire_str_is(s, "...");
	while (out->has_free && s.len > 0) {
		const char *const comma = memchr(s.p, ',', s.len);
		const uint32_t len = comma != NULL ? (uint32_t)(comma - s.p) : s.len;

		if (out->nfree == WATERMARK_FREE_MAX || len == 0)
			return false;
		out->free[out->nfree++] = (struct wire_str){ s.p, len };
		s.p += len + (comma != NULL);
		s.len -= len + (comma != NULL);
	}
	return true;
}
