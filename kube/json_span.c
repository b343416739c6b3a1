/* kube/json_span.c - strings and brackets, as bits of a 64-byte block. */
#include "json_span.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 64 };

/* What ends a number or a word; the NUL at the end counts. */
static const char delimiters[] = " \t\r\n,:{}[]\"";

/* One bit per byte of a block. */
struct marks {
	uint64_t quote, backslash, open, close;
};

static struct marks mark(const char *);
static uint64_t escaped(uint64_t, size_t, bool *);
static uint64_t between(uint64_t);
static size_t closing(struct json_depth *, uint64_t, uint64_t);
static bool next(struct json_members *, char, char);
static bool take_value(struct json_members *, struct json_span *);
static bool skip_blanks(struct json_members *, char);
static size_t value_length(const char *, const char *);
static size_t string_length(const char *, const char *);

size_t
json_depth_run(struct json_depth *d, const char *p, size_t len)
{
	for (size_t at = 0; at < len; at += BLOCK) {
		const size_t n = len - at < BLOCK ? len - at : BLOCK;
		char tail[BLOCK];

		if (n < BLOCK) {
			memset(tail, ' ', sizeof(tail));
			memcpy(tail, p + at, n);
		}
		const struct marks m = mark(n < BLOCK ? tail : p + at);
		const uint64_t quotes = m.quote & ~escaped(m.backslash, n, &d->escape);
		const uint64_t strings = between(quotes) ^ d->in_string;
		const size_t end = closing(d, m.open & ~strings, m.close & ~strings);

		if (end > 0) {
			*d = (struct json_depth){ 0 };
			return at + end;
		}
		d->in_string = strings >> (BLOCK - 1) != 0 ? ~UINT64_C(0) : 0;
	}
	return len;
}

struct json_members
json_members_of(struct json_span object)
{
	return (struct json_members){ .p = object.p, .end = object.p + object.len };
}

bool
json_members_next(struct json_members *m, struct json_span *key, struct json_span *value)
{
	if (!next(m, '{', '}'))
		return false;
	const size_t len = string_length(m->p, m->end);
	if (len == 0)
		return false;
	*key = (struct json_span){ .p = m->p + 1, .len = len - 2 };
	m->p += len;
	return skip_blanks(m, ':') && take_value(m, value);
}

bool
json_elements_next(struct json_members *m, struct json_span *value)
{
	return next(m, '[', ']') && take_value(m, value);
}

bool
json_span_find(struct json_span object, const char *name, struct json_span *value)
{
	struct json_members m = json_members_of(object);

	for (struct json_span key; json_members_next(&m, &key, value);) {
		if (span_is(key.p, key.len, name))
			return true;
	}
	return false;
}

bool
json_span_text(struct json_span value, struct json_span *text)
{
	if (value.len < 2 || value.p[0] != '"' || memchr(value.p, '\\', value.len) != NULL)
		return false;
	*text = (struct json_span){ .p = value.p + 1, .len = value.len - 2 };
	return true;
}

#ifdef __SSE2__
static uint64_t
equal(const __m128i bytes[4], char c)
{
	const __m128i wanted = _mm_set1_epi8(c);
	uint64_t bits = 0;

	for (int i = 3; i >= 0; i--)
		bits = bits << 16 | (uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes[i], wanted));
	return bits;
}

/* '[' and '{', ']' and '}' differ in one bit only, and no other byte becomes one of them by it. */
static struct marks
mark(const char *block)
{
	const __m128i fold = _mm_set1_epi8(0x20);
	__m128i bytes[4], folded[4];

	for (int i = 0; i < 4; i++) {
		memcpy(&bytes[i], block + 16 * i, 16);
		folded[i] = _mm_or_si128(bytes[i], fold);
	}
	return (struct marks){ .quote = equal(bytes, '"'), .backslash = equal(bytes, '\\'),
		.open = equal(folded, '{'), .close = equal(folded, '}') };
}
#else
static struct marks
mark(const char *block)
{
	struct marks m = { 0 };

	for (unsigned i = 0; i < BLOCK; i++) {
		const char c = block[i];

		m.quote |= (uint64_t)(c == '"') << i;
		m.backslash |= (uint64_t)(c == '\\') << i;
		m.open |= (uint64_t)(c == '{' || c == '[') << i;
		m.close |= (uint64_t)(c == '}' || c == ']') << i;
	}
	return m;
}
#endif

/* What stands behind a backslash, itself not behind one. `pending`: the last of the n bytes was such. */
static uint64_t
escaped(uint64_t backslash, size_t n, bool *pending)
{
	uint64_t bits = *pending ? 1 : 0;

	*pending = false;
	backslash &= ~bits;
	while (backslash != 0) {
		const unsigned at = (unsigned)__builtin_ctzll(backslash);

		if (at + 1 == n) {
			*pending = true;
			break;
		}
		bits |= UINT64_C(2) << at;
		backslash &= ~(UINT64_C(3) << at);
	}
	return bits;
}

/* From each odd quote to the even one after it. */
static uint64_t
between(uint64_t quotes)
{
	for (unsigned shift = 1; shift < BLOCK; shift *= 2)
		quotes ^= quotes << shift;
	return quotes;
}

/* Bracket by bracket: the bytes up to the one that closes the value, or 0. */
static size_t
closing(struct json_depth *d, uint64_t opens, uint64_t closes)
{
	for (uint64_t both = opens | closes; both != 0; both &= both - 1) {
		const unsigned at = (unsigned)__builtin_ctzll(both);

		if (opens >> at & 1)
			d->depth++;
		else if (d->depth <= 1)
			return at + 1;
		else
			d->depth--;
	}
	return 0;
}

/* To the next member or element. False: the end, or something else. */
static bool
next(struct json_members *m, char open, char close)
{
	const bool first = !m->started;

	if (m->whole || !skip_blanks(m, first ? open : '\0'))
		return false;
	m->started = true;
	if (skip_blanks(m, close)) {
		skip_blanks(m, '\0');
		m->whole = m->p == m->end;
		m->p = m->end;
		return false;
	}
	return (first || skip_blanks(m, ',')) && skip_blanks(m, '\0');
}

static bool
take_value(struct json_members *m, struct json_span *value)
{
	if (!skip_blanks(m, '\0'))
		return false;
	*value = (struct json_span){ .p = m->p, .len = value_length(m->p, m->end) };
	m->p += value->len;
	return value->len > 0;
}

/* Over blanks, and over `sign` unless it is NUL. False: something else, or the end. */
static bool
skip_blanks(struct json_members *m, char sign)
{
	while (m->p < m->end && (*m->p == ' ' || *m->p == '\t' || *m->p == '\n' || *m->p == '\r'))
		m->p++;
	if (m->p == m->end)
		return false;
	if (sign == '\0')
		return true;
	if (*m->p != sign)
		return false;
	m->p++;
	return true;
}

/* 0: it does not end before `end`. */
static size_t
value_length(const char *p, const char *end)
{
	struct json_depth d = { 0 };

	if (*p == '"')
		return string_length(p, end);
	if (*p == '{' || *p == '[') {
		const size_t n = json_depth_run(&d, p, (size_t)(end - p));
		return d.depth == 0 ? n : 0;
	}
	const char *at = p;
	while (at < end && memchr(delimiters, *at, sizeof(delimiters)) == NULL)
		at++;
	return (size_t)(at - p);
}

static size_t
string_length(const char *p, const char *end)
{
	if (*p != '"')
		return 0;
	for (const char *at = p + 1; at < end; at++) {
		if (*at == '"')
			return (size_t)(at - p) + 1;
		at += *at == '\\';
	}
	return 0;
}
