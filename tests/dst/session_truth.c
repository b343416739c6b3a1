/* tests/dst/session_truth.c - the model of the store, and checks of what a consumer holds against it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "world_session.h"

static const struct truth_key *find(const struct truth *, struct wire_str, uint64_t *);
static struct wire_bin value_of(const struct truth_key *);
static bool same(const void *, size_t, const void *, size_t);

void
truth_init(struct truth *t, struct sim *sim)
{
	const uint64_t size = sim_random(sim, 1000);

	/*
	 * Mostly a handful of keys, where every interleaving is likely; at times whole windows, or
	 * a few big values.
	 */
	t->count = 2 + (uint32_t)sim_random(sim, 12);
	t->value_max = size < 5 ? VALUE_MAX_BYTES : 40;
	if (size >= 925)
		t->count = size < 999 ? 20 + (uint32_t)sim_random(sim, 150) : 1500;
	t->keys = obj_alloc(t->count * sizeof(*t->keys));
	for (uint32_t i = 0; i < t->count; i++) {
		t->keys[i].unique = sim_chance(sim, 250);
		t->keys[i].has_uid = !sim_chance(sim, 200);
	}
}

void
truth_free(struct truth *t)
{
	free(t->keys);
}

void
truth_read(const struct truth *t, uint32_t i, struct truth_item *out)
{
	const struct truth_key *k = &t->keys[i];
	const int uid_len = k->has_uid ? snprintf(out->uid, sizeof(out->uid), "u%" PRIu64, k->life) : 0;
	const int rv_len = snprintf(out->rv, sizeof(out->rv), "%" PRIu64, k->rv);

	out->key_s = (struct wire_str){ .p = k->name, .len = k->name_len };
	out->uid_s = (struct wire_str){ .p = out->uid, .len = (uint32_t)uid_len };
	out->rv_s = (struct wire_str){ .p = out->rv, .len = (uint32_t)rv_len };
	out->value = value_of(k);
}

bool
truth_was_removed(const struct truth *t, const struct body_item *item)
{
	uint64_t life;
	const struct truth_key *k = find(t, item->key, &life);

	if (k == NULL)
		return false;
	if (k->unique && life != k->life)
		return life < k->life;
	return !k->present || k->removed_rv > text_number(item->rv);
}

const char *
truth_differs(const struct truth *t, const struct body_item *item)
{
	struct truth_item now;
	uint64_t life;
	const struct truth_key *k = find(t, item->key, &life);

	if (k == NULL || !k->present || (k->unique && life != k->life))
		return "a key that is not present";
	truth_read(t, (uint32_t)(k - t->keys), &now);
	if (!same(item->uid.p, item->uid.len, now.uid_s.p, now.uid_s.len))
		return "another uid";
	if (!same(item->value.p, item->value.len, now.value.p, now.value.len))
		return "other bytes";
	const uint64_t rv = text_number(item->rv);
	if (rv < k->value_rv || rv > k->rv)
		return "an rv that this value never had";
	return NULL;
}

/* Digits up to the end or the first other byte; a leading letter is skipped. */
uint64_t
text_number(struct wire_str s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s.len; i++) {
		if (s.p[i] >= '0' && s.p[i] <= '9')
			n = n * 10 + (uint64_t)(s.p[i] - '0');
		else if (i > 0)
			break;
	}
	return n;
}

/* "k<index>.<life>" -> its key; life is 0 for names that stay. */
static const struct truth_key *
find(const struct truth *t, struct wire_str name, uint64_t *life)
{
	const char *dot = memchr(name.p, '.', name.len);
	const uint64_t i = text_number(name);

	if (name.len < 4 || dot == NULL || i >= t->count)
		return NULL;
	*life = text_number((struct wire_str){ .p = dot, .len = name.len - (uint32_t)(dot - name.p) });
	return &t->keys[i];
}

/* Bytes are a function of the write that made them, so no copy is needed to compare them. */
static struct wire_bin
value_of(const struct truth_key *k)
{
	static uint8_t bytes[VALUE_MAX_BYTES];

	memset(bytes, (int)(k->value_rv & 0xff), k->value_len);
	memcpy(bytes, &k->value_rv, k->value_len < sizeof(k->value_rv) ? k->value_len : sizeof(k->value_rv));
	return (struct wire_bin){ .p = bytes, .len = k->value_len };
}

static bool
same(const void *a, size_t a_len, const void *b, size_t b_len)
{
	return a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0);
}
