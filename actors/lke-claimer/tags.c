/* actors/lke-claimer/tags.c - tags of pools and instances. Pure. */
#include "tags.h"

#include <string.h>

#include "ascii.h"
#include "obj.h"

enum { DIGITS = 8, HASHED = DIGITS + 1 };	/* "-" and the digits */

static const char *const keys[LKE_TAG_KEYS] = {
#define LKE_TAG_ROW(ID, key) [LKE_TAG_##ID] = (key),
	LKE_TAGS(LKE_TAG_ROW)
#undef LKE_TAG_ROW
};

static uint32_t fnv32(struct wire_str);
static bool number(struct wire_str, const char *, int64_t *);

const char *
lke_tag_key(enum lke_tag t)
{
	MUST((unsigned)t < LKE_TAG_KEYS);
	return keys[t];
}

size_t
lke_tag_value(char buf[LKE_TAG_SIZE], enum lke_tag t, struct wire_str value)
{
	static const char hex[] = "0123456789abcdef";
	const size_t room = LKE_TAG_MAX - strlen(lke_tag_key(t)) - 1;
	size_t len = value.len;

	if (len <= room) {
		memcpy(buf, value.p, len);
	} else {
		const uint32_t hash = fnv32(value);

		memcpy(buf, value.p, room - HASHED);
		buf[room - HASHED] = '-';
		for (size_t i = 0; i < DIGITS; i++)
			buf[room - 1 - i] = hex[hash >> 4 * i & 15];
		len = room;
	}
	buf[len] = '\0';
	return len;
}

size_t
lke_tag_put(char buf[LKE_TAG_SIZE], enum lke_tag_style style, enum lke_tag t, struct wire_str value)
{
	const size_t key_len = strlen(lke_tag_key(t));
	char shortened[LKE_TAG_SIZE];
	const size_t len = lke_tag_value(shortened, t, value);

	memcpy(buf, keys[t], key_len);
	buf[key_len] = style == LKE_TAGS_EQUALS ? '=' : ':';
	memcpy(buf + key_len + 1, shortened, len + 1);
	return key_len + 1 + len;
}

bool
lke_tag_read(struct wire_str tag, enum lke_tag *t, struct wire_str *value)
{
	for (unsigned i = 0; i < LKE_TAG_KEYS; i++) {
		const size_t len = strlen(keys[i]);

		if (tag.len > len + 1 && memcmp(tag.p, keys[i], len) == 0
		    && (tag.p[len] == ':' || tag.p[len] == '=')) {
			*t = (enum lke_tag)i;
			*value = (struct wire_str){ tag.p + len + 1, tag.len - (uint32_t)len - 1 };
			return true;
		}
	}
	return false;
}

bool
lke_tag_means(enum lke_tag t, struct wire_str tag_value, struct wire_str name)
{
	char buf[LKE_TAG_SIZE];
	const size_t len = lke_tag_value(buf, t, name);

	return wire_str_same(tag_value, (struct wire_str){ buf, (uint32_t)len });
}

bool
lke_tag_pool_id(struct wire_str tag, int64_t *id)
{
	return number(tag, "nodepool=", id);
}

bool
lke_tag_cluster_id(struct wire_str tag, int64_t *id)
{
	return number(tag, "lke", id);
}

unsigned
lke_tags_claim(const struct wire_str *tags, uint32_t n, struct wire_str *value)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct wire_str v;
		enum lke_tag t;

		if (!lke_tag_read(tags[i], &t, &v) || t != LKE_TAG_CLAIM)
			continue;
		if (found == 0)
			*value = v;
		else if (wire_str_same(v, *value))
			continue;
		found++;
	}
	return found < 2 ? found : 2;
}

bool
lke_tags_have(const struct wire_str *tags, uint32_t n, enum lke_tag t, struct wire_str name)
{
	for (uint32_t i = 0; i < n; i++) {
		struct wire_str v;
		enum lke_tag key;

		if (lke_tag_read(tags[i], &key, &v) && key == t && lke_tag_means(t, v, name))
			return true;
	}
	return false;
}

bool
lke_tag_list_add(struct lke_tag_list *l, enum lke_tag_style style, enum lke_tag t, struct wire_str value)
{
	if (l->n == LKE_TAGS_MAX)
		return false;
	lke_tag_put(l->text[l->n++], style, t, value);
	return true;
}

bool
lke_tag_list_keep(struct lke_tag_list *l, struct wire_str tag)
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (wire_str_is(tag, l->text[i]))
			return true;
	}
	if (l->n == LKE_TAGS_MAX || tag.len > LKE_TAG_MAX)
		return false;
	memcpy(l->text[l->n], tag.p, tag.len);
	l->text[l->n++][tag.len] = '\0';
	return true;
}

bool
lke_tag_list_merge(struct lke_tag_list *l, const struct wire_str *tags, uint32_t n)
{
	const uint32_t ours = l->n;

	for (uint32_t i = 0; i < n; i++) {
		struct wire_str value, other;
		enum lke_tag t, key;
		bool replaced = false;

		/* One of our keys stays unless this list has that key itself. */
		for (uint32_t k = 0; lke_tag_read(tags[i], &t, &value) && k < ours && !replaced; k++)
			replaced = lke_tag_read(wire_str_of(l->text[k]), &key, &other) && key == t;
		if (!replaced && !lke_tag_list_keep(l, tags[i]))
			return false;
	}
	return true;
}

static uint32_t
fnv32(struct wire_str s)
{
	uint32_t h = 2166136261u;

	for (uint32_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619u;
	return h;
}

/* Digits without a leading zero, up to what an id can be. */
static bool
number(struct wire_str tag, const char *before, int64_t *id)
{
	const size_t at = strlen(before);
	int64_t n = 0;

	if (tag.len <= at || tag.len - at > 18 || memcmp(tag.p, before, at) != 0 || tag.p[at] == '0')
		return false;
	for (size_t i = at; i < tag.len; i++) {
		if (!ascii_digit(tag.p[i]))
			return false;
		n = n * 10 + (tag.p[i] - '0');
	}
	*id = n;
	return true;
}
