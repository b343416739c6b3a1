/* kube/selector_build.c - putting a selector together. */
#include <string.h>

#include "obj.h"
#include "selector_private.h"

static int by_key(const void *, const void *);
static int by_value(const void *, const void *);
static char *copy(const char *, size_t);

struct selector *
selector_new(bool fields)
{
	struct selector *s;

	OBJ_NEW(s, SELECTOR_MAGIC);
	s->fields = fields;
	return s;
}

/* Doubles at powers of two. The result is good until the next one is added. */
struct requirement *
selector_add(struct selector *s, enum selector_op op, const char *key, size_t len)
{
	if ((s->count & (s->count - 1)) == 0)
		s->list = obj_realloc(s->list, (s->count == 0 ? 1 : s->count * 2) * sizeof(*s->list));
	struct requirement *const r = &s->list[s->count];
	*r = (struct requirement){ .op = op, .key = copy(key, len), .order = s->count++ };
	return r;
}

void
selector_add_value(struct requirement *r, const char *value, size_t len)
{
	if ((r->nvalues & (r->nvalues - 1)) == 0)
		r->values = obj_realloc(r->values,
		    (r->nvalues == 0 ? 1 : r->nvalues * 2) * sizeof(*r->values));
	r->values[r->nvalues++] = copy(value, len);
}

void
selector_sort_values(struct requirement *r, bool unique)
{
	size_t kept = 0;

	if (r->nvalues > 1)
		qsort(r->values, r->nvalues, sizeof(*r->values), by_value);
	for (size_t i = 0; unique && i < r->nvalues; i++) {
		if (kept > 0 && strcmp(r->values[kept - 1], r->values[i]) == 0)
			free(r->values[i]);
		else
			r->values[kept++] = r->values[i];
	}
	if (unique)
		r->nvalues = kept;
}

void
selector_sort(struct selector *s)
{
	if (s->count > 1)
		qsort(s->list, s->count, sizeof(*s->list), by_key);
}

bool
selector_integer(const char *text, int64_t *out)
{
	const bool negative = *text == '-';
	const uint64_t limit = (uint64_t)INT64_MAX + negative;
	uint64_t n = 0;

	text += *text == '-' || *text == '+';
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return false;
		const uint64_t digit = (uint64_t)(*text - '0');
		if (n > (limit - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*out = negative ? (int64_t)-n : (int64_t)n;
	return true;
}

static int
by_key(const void *a, const void *b)
{
	const struct requirement *x = a, *y = b;
	const int order = strcmp(x->key, y->key);

	return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static int
by_value(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *
copy(const char *text, size_t len)
{
	char *const s = obj_alloc(len + 1);

	memcpy(s, text, len);
	return s;
}
