/*
 * tests/fuzz/fuzz_linode.c - any bytes as an answer of the Linode API.
 *
 * Input: which answer and which tier (1 byte), then the body. Rules: an answer is taken without an error, or
 * refused with one, and then nothing has changed; entries are sorted, none twice, their ids above 0 and their
 * names not empty; read again, it gives the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "actors/lke-claimer/answers.h"
#include "keytab.h"
#include "obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KINDS = 7 };

static uint64_t
hash_tags(uint64_t h, const struct lke_tag_set *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		enum lke_tag key;
		struct wire_str value;

		h = hash64_more(h, t->tags[i].p, t->tags[i].len);
		MUST(!lke_tag_read(t->tags[i], &key, &value) || value.len > 0);
	}
	return h;
}

static uint64_t
hash_snapshot(const struct lke_snapshot *s)
{
	uint64_t h = HASH64_SEED;

	for (size_t i = 0; i < s->npools; i++) {
		const struct lke_pool *const p = &s->pools[i];

		MUST(p->id > 0 && p->count >= 0 && p->type[0] != '\0' && (i == 0 || p[-1].id < p->id));
		h = hash_tags(hash64_more(h, &p->id, 2 * sizeof(p->id)), &p->tags);
		for (uint32_t n = 0; n < p->nnodes; n++) {
			MUST(p->nodes[n].id[0] != '\0' && p->nodes[n].instance_id >= 0);
			h = hash64_more(h, p->nodes[n].id, strlen(p->nodes[n].id));
		}
	}
	for (size_t i = 0; i < s->ninstances; i++) {
		const struct lke_instance *const v = &s->instances[i];

		MUST(v->id > 0 && v->label[0] != '\0' && v->pool_id >= 0 && (i == 0 || v[-1].id < v->id));
		h = hash_tags(hash64_more(h, &v->id, 2 * sizeof(v->id)), &v->tags);
	}
	return h;
}

static uint64_t
read_types(struct lke_body *b, bool availability, bool *good)
{
	struct lke_types t = { .walk = { .next = 1 } };
	uint64_t h = HASH64_SEED;

	*good = availability ? lke_answer_availability(b, "us-ord", &t) : lke_answer_types(b, "us-ord", &t);
	MUST(*good || t.n == 0);
	for (size_t i = 0; i < t.n; i++) {
		struct lke_resolution r;

		MUST(t.types[i].id[0] != '\0' && t.types[i].price >= -1);
		h = hash64_more(h, &t.types[i].price, sizeof(t.types[i].price));
		lke_resolve(&(struct lke_resolve_input){ .region = "us-ord", .types = t.types, .ntypes = t.n,
		    .sizing = &lke_sizing_default }, &r);
		MUST((r.result == LKE_RESOLVED) == (r.type != NULL));
	}
	lke_types_free(&t);
	return h;
}

/* Returns a hash of all that was read. */
static uint64_t
read_answer(uint8_t kind, const uint8_t *bytes, size_t len)
{
	struct lke_snapshot *s = snapshot_new(kind & 1 ? LKE_ENTERPRISE : LKE_STANDARD, 70001);
	struct lke_body b = { .p = (const char *)bytes, .len = len };
	struct lke_walk walk = { .next = 1 };
	struct lke_cluster cluster = { 0 };
	struct lke_error e;
	unsigned found = 0;
	int64_t id;
	bool good;
	uint64_t h = HASH64_SEED;

	switch (kind / 2 % KINDS) {
	case 0:
		good = lke_answer_pools(&b, s);
		break;
	case 1:
		good = lke_answer_instances(&b, s);
		break;
	case 2:
		good = lke_answer_pool(&b, s, &id);
		break;
	case 3:
		good = lke_answer_instance(&b, s, &id);
		break;
	case 4:
		good = lke_answer_clusters(&b, "demo", &walk, &found, &cluster);
		MUST(good || (found == 0 && walk.next == 1));
		break;
	default:
		h = read_types(&b, kind / 2 % KINDS == 5, &good);
		break;
	}
	MUST(good == (b.err[0] == '\0'));
	MUST(good || (s->npools == 0 && s->ninstances == 0 && s->pool_walk.next == 1));
	h ^= hash_snapshot(s);
	if (good)
		(void)snapshot_end(s);
	lke_answer_error(&b, &e);
	MUST(lke_fault(LKE_CALL_CREATE_POOL, 400, &e) < LKE_FAULT_MAX);
	snapshot_free(&s);
	return h;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	void *const exact = obj_memdup(data + 1, size - 1);

	MUST(read_answer(data[0], exact, size - 1) == read_answer(data[0], exact, size - 1));
	free(exact);
	return 0;
}
