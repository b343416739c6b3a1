/* sim/kube/store/sim_history.c - a ring of changes. */
#include "sim_history.h"

#include "obj.h"

enum { RING_FIRST = 1024 };

static void forget_oldest(struct sim_history *);
static void grow(struct sim_history *);
static struct sim_change *at(const struct sim_history *, size_t);

void
sim_history_add(struct sim_history *h, struct sim_change c)
{
	MUST(c.rv == h->forgotten + h->n + 1);
	if (h->n == h->size)
		grow(h);
	*at(h, h->n) = c;
	h->n++;
	h->old_bytes += c.before != NULL ? c.before->size : 0;
	while (h->n > HISTORY_MAX || (h->old_bytes > HISTORY_BYTES_MAX && h->n > 1))
		forget_oldest(h);
	sim_history_expire(h, c.at_ms);
}

void
sim_history_expire(struct sim_history *h, int64_t now_ms)
{
	while (h->n > HISTORY_MIN && at(h, 0)->at_ms < now_ms - HISTORY_AGE_MAX_MS)
		forget_oldest(h);
}

const struct sim_change *
sim_history_get(const struct sim_history *h, uint64_t rv)
{
	if (rv <= h->forgotten || rv > h->forgotten + h->n)
		return NULL;
	return at(h, rv - h->forgotten - 1);
}

void
sim_history_forget_all(struct sim_history *h)
{
	while (h->n > 0)
		forget_oldest(h);
}

void
sim_history_free(struct sim_history *h)
{
	sim_history_forget_all(h);
	free(h->ring);
	*h = (struct sim_history){ 0 };
}

static void
forget_oldest(struct sim_history *h)
{
	struct sim_change *const c = at(h, 0);

	h->old_bytes -= c->before != NULL ? c->before->size : 0;
	h->forgotten = c->rv;
	sim_blob_unref(&c->before);
	sim_blob_unref(&c->after);
	h->first = (h->first + 1) & (h->size - 1);
	h->n--;
}

static void
grow(struct sim_history *h)
{
	const size_t size = h->size != 0 ? h->size * 2 : RING_FIRST;
	struct sim_change *const ring = obj_alloc(size * sizeof(*ring));

	for (size_t i = 0; i < h->n; i++)
		ring[i] = *at(h, i);
	free(h->ring);
	h->ring = ring;
	h->size = size;
	h->first = 0;
}

static struct sim_change *
at(const struct sim_history *h, size_t i)
{
	return &h->ring[(h->first + i) & (h->size - 1)];
}
