/* actors/metrics/exposition_check.c - names, labels and buckets that the exposition may contain. Pure. */
#include <math.h>
#include <string.h>

#include "exposition.h"
#include "utf8.h"

enum { LABELS_MAX = 16 };	/* per series; more is a mistake */

struct label {
	const char	*name;
	size_t		 len;
};

static size_t name_length(const char *, size_t, bool);
static size_t value_length(const char *, size_t);
static bool seen_before(const struct label *, size_t);
static bool ours(const struct label *);
static bool is_nul(uint32_t);

bool
exposition_name_ok(const char *name, size_t len)
{
	return len > 0 && len <= EXPOSITION_NAME_MAX && name_length(name, len, true) == len;
}

/* name="value" and so on, with commas between. */
bool
exposition_labels_ok(const char *labels, size_t len)
{
	struct label list[LABELS_MAX];
	size_t n = 0;

	if (len > EXPOSITION_LABELS_MAX || !exposition_utf8_ok(labels, len))
		return false;
	for (size_t at = 0; at < len; n++) {
		if (n == LABELS_MAX || (n > 0 && labels[at++] != ','))
			return false;
		list[n] = (struct label){ labels + at, name_length(labels + at, len - at, false) };
		at += list[n].len;
		if (list[n].len == 0 || ours(&list[n]) || seen_before(list, n))
			return false;
		if (at == len || labels[at++] != '=')
			return false;
		const size_t value = value_length(labels + at, len - at);
		if (value == 0)
			return false;
		at += value;
	}
	return true;
}

bool
exposition_utf8_ok(const char *s, size_t len)
{
	return utf8_span(s, len, is_nul) == len;
}

static bool
is_nul(uint32_t code)
{
	return code == 0;
}

/* Bounds rise, counts do not fall, and none exceeds the total. */
bool
exposition_buckets_ok(const double *buckets, size_t n, uint64_t count)
{
	if (n % 2 != 0 || n > 2 * EXPOSITION_BUCKETS_MAX)
		return false;
	for (size_t i = 0; i < n; i += 2) {
		if (!isfinite(buckets[i]) || !(buckets[i + 1] >= 0) || buckets[i + 1] > (double)count)
			return false;
		if (i > 0 && (buckets[i] <= buckets[i - 2] || buckets[i + 1] < buckets[i - 1]))
			return false;
	}
	return true;
}

/* Bytes of the name that s starts with; families may have colons. */
static size_t
name_length(const char *s, size_t len, bool family)
{
	size_t n = 0;

	for (; n < len; n++) {
		const char c = s[n];
		const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'
		    || (family && c == ':');

		if (!letter && (n == 0 || c < '0' || c > '9'))
			break;
	}
	return n;
}

/* Bytes of the quoted value that s starts with, quotes included; 0: not well-formed. */
static size_t
value_length(const char *s, size_t len)
{
	if (len < 2 || s[0] != '"')
		return 0;
	for (size_t n = 1; n < len; n++) {
		if (s[n] == '"')
			return n + 1;
		if (s[n] == '\n')
			return 0;
		if (s[n] == '\\' && (++n == len || strchr("\\n\"", s[n]) == NULL))
			return 0;
	}
	return 0;
}

static bool
seen_before(const struct label *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].len == list[n].len && memcmp(list[i].name, list[n].name, list[n].len) == 0)
			return true;
	}
	return false;
}

static bool
ours(const struct label *l)
{
	return (l->len == 5 && memcmp(l->name, "actor", 5) == 0)
	    || (l->len == 2 && memcmp(l->name, "le", 2) == 0);
}
