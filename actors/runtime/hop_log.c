/* actors/runtime/hop_log.c - a ring of hops. Pure but for its memory. */
#include "hop_log.h"

#include <string.h>

#include "keytab.h"
#include "obj.h"

_Static_assert(sizeof(struct hop) == 48, "the ring is 96 KiB");

struct hop_log {
	uint32_t	 magic;
#define HOP_LOG_MAGIC	0x5245434cu
	struct hop	*ring;		/* NULL: no hop yet */
	uint64_t	 added;		/* ever */
};

static size_t append(struct hop *, size_t, const char *, size_t);
static const struct hop *at(const struct hop_log *, size_t);
static size_t traces_of(const struct hop_log *, const uint32_t *, size_t, uint64_t *);
static bool has_trace(const uint64_t *, size_t, uint64_t);

static const char *const names[HOP_MAX] = {
#define HOP_NAME(ID, name) [HOP_##ID] = (name),
	HOPS(HOP_NAME)
#undef HOP_NAME
};

const char *
hop_name(enum hop_what w)
{
	return (unsigned)w < HOP_MAX ? names[w] : "?";
}

struct hop_log *
hop_log_new(void)
{
	struct hop_log *r;

	OBJ_NEW(r, HOP_LOG_MAGIC);
	return r;
}

void
hop_log_free(struct hop_log **rp)
{
	struct hop_log *r;

	if (*rp == NULL)
		return;
	OBJ_TAKE(r, rp, HOP_LOG_MAGIC);
	free(r->ring);
	OBJ_FREE(r);
}

/*
 * 32 bits: the probability that one of 2,048 hops has the hash of another key by chance is one in two
 * million.
 */
uint32_t
hop_log_key(const char *key, size_t len)
{
	const uint64_t h = hash64(key, len);

	return (uint32_t)(h ^ h >> 32);
}

void
hop_log_add(struct hop_log *r, const struct hop *h, bool spare)
{
	if (spare && r->added >= HOP_LOG_HOPS)
		return;
	if (r->ring == NULL)
		r->ring = obj_alloc(HOP_LOG_HOPS * sizeof(*r->ring));
	r->ring[r->added++ % HOP_LOG_HOPS] = *h;
}

size_t
hop_log_find(const struct hop_log *r, const uint32_t *keys, size_t nkeys, const struct hop **out)
{
	uint64_t traces[HOP_LOG_TRACES];
	const size_t ntraces = traces_of(r, keys, nkeys, traces);
	const size_t count = hop_log_count(r);
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct hop *h = at(r, i);

		if (h->trace != 0 ? has_trace(traces, ntraces, h->trace) : hop_log_has(keys, nkeys, h->key))
			out[n++] = h;
	}
	return n;
}

bool
hop_log_has(const uint32_t *keys, size_t nkeys, uint32_t key)
{
	for (size_t i = 0; i < nkeys; i++) {
		if (keys[i] == key)
			return true;
	}
	return false;
}

size_t
hop_log_count(const struct hop_log *r)
{
	return r->added < HOP_LOG_HOPS ? r->added : HOP_LOG_HOPS;
}

int64_t
hop_log_since_us(const struct hop_log *r)
{
	return r->added == 0 ? 0 : at(r, 0)->at_us;
}

void
hop_set_text(struct hop *h, const char *words, struct wire_str rv)
{
	size_t n = 0;

	memset(h->text, 0, HOP_TEXT);
	n = append(h, n, words, strlen(words));
	if (rv.len == 0)
		return;
	n = n > 0 ? append(h, n, " rv ", 4) : append(h, n, "rv ", 3);
	append(h, n, rv.p, rv.len);
}

static size_t
append(struct hop *h, size_t n, const char *s, size_t len)
{
	for (size_t i = 0; i < len && n < HOP_TEXT; i++)
		h->text[n++] = s[i] >= ' ' && s[i] <= '~' ? s[i] : '?';
	return n;
}

/* The i-th hop in the ring, oldest first. */
static const struct hop *
at(const struct hop_log *r, size_t i)
{
	const uint64_t first = r->added < HOP_LOG_HOPS ? 0 : r->added;

	return &r->ring[(first + i) % HOP_LOG_HOPS];
}

/* The newest traces with a hop of one of the keys. */
static size_t
traces_of(const struct hop_log *r, const uint32_t *keys, size_t nkeys, uint64_t *traces)
{
	size_t n = 0;

	for (size_t i = hop_log_count(r); i > 0 && n < HOP_LOG_TRACES; i--) {
		const struct hop *h = at(r, i - 1);

		if (h->trace != 0 && hop_log_has(keys, nkeys, h->key) && !has_trace(traces, n, h->trace))
			traces[n++] = h->trace;
	}
	return n;
}

static bool
has_trace(const uint64_t *traces, size_t n, uint64_t trace)
{
	for (size_t i = 0; i < n; i++) {
		if (traces[i] == trace)
			return true;
	}
	return false;
}
