/* actors/lke-claimer/memory.c - what this process remembers by key, and small readers that all files use. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "clock.h"
#include "obj.h"

static void free_values(struct keytab **);
static void *value_of(struct keytab *, const char *, size_t, size_t);
static void *value_find(const struct keytab *, const char *, size_t);

void
memory_open(struct lke_claimer *c)
{
	c->claims = keytab_new(sizeof(void *));
	c->pools = keytab_new(sizeof(void *));
	c->machines = keytab_new(sizeof(void *));
}

void
memory_close(struct lke_claimer *c)
{
	free_values(&c->claims);
	free_values(&c->pools);
	free_values(&c->machines);
}

/* What is in no list any more, but for what somebody still waits to see gone. */
void
memory_forget_machines(struct lke_claimer *c)
{
	const int64_t now_ms = clock_mono_ms();

	KEYTAB_EACH(c->machines, id) {
		struct machine_memory *const m = *(struct machine_memory **)keytab_value(c->machines, id);
		const int64_t number = wire_int(wire_str_of(keytab_key(c->machines, id, NULL)));

		if (c->snapshot == NULL || snapshot_instance(c->snapshot, number) != NULL
		    || (m->deleted && now_ms - m->deleted_ms < 10 * LKE_LEAVING_MS))
			continue;
		free(m);
		keytab_remove(c->machines, id);
	}
}

struct claim_memory *
claim_memory(struct lke_claimer *c, const char *key)
{
	return value_of(c->claims, key, strlen(key), sizeof(struct claim_memory));
}

struct claim_memory *
claim_memory_find(const struct lke_claimer *c, const char *key)
{
	return value_find(c->claims, key, strlen(key));
}

struct pool_memory *
pool_memory(struct lke_claimer *c, const char *key)
{
	return value_of(c->pools, key, strlen(key), sizeof(struct pool_memory));
}

struct machine_memory *
machine_memory(struct lke_claimer *c, int64_t id)
{
	char key[24];
	const int n = snprintf(key, sizeof(key), "%" PRId64, id);

	return value_of(c->machines, key, (size_t)n, sizeof(struct machine_memory));
}

struct machine_memory *
machine_memory_find(const struct lke_claimer *c, int64_t id)
{
	char key[24];
	const int n = snprintf(key, sizeof(key), "%" PRId64, id);

	return value_find(c->machines, key, (size_t)n);
}

static void *
value_of(struct keytab *t, const char *key, size_t len, size_t size)
{
	bool added;
	void **const value = keytab_value(t, keytab_add(t, key, len, &added));

	if (added)
		*value = obj_alloc(size);
	return *value;
}

static void *
value_find(const struct keytab *t, const char *key, size_t len)
{
	const uint32_t id = keytab_find(t, key, len);

	return id == KEYTAB_NONE ? NULL : *(void **)keytab_value(t, id);
}

static void
free_values(struct keytab **tp)
{
	KEYTAB_EACH(*tp, id)
		free(*(void **)keytab_value(*tp, id));
	keytab_free(tp);
}

/* ---- Readers ---- */

void
provider_id_put(char buf[LKE_PROVIDER_ID_MAX], int64_t id)
{
	snprintf(buf, LKE_PROVIDER_ID_MAX, LKE_PROVIDER "%" PRId64, id);
}

int64_t
provider_id_read(struct wire_str text)
{
	const uint32_t prefix = (uint32_t)strlen(LKE_PROVIDER);

	if (text.len <= prefix || memcmp(text.p, LKE_PROVIDER, prefix) != 0)
		return 0;
	return wire_int((struct wire_str){ text.p + prefix, text.len - prefix });
}

int64_t
wire_int(struct wire_str text)
{
	int64_t n = 0;

	if (text.len == 0 || text.len > 18)
		return 0;
	for (uint32_t i = 0; i < text.len; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return 0;
		n = n * 10 + (text.p[i] - '0');
	}
	return n;
}

bool
claimer_doubtful(const struct lke_claimer *c, int64_t now_ms)
{
	const struct brake_verdict v =
	    brake_check(&c->brake, actor_fresh(c->r.actor, LINK_KUBE_LKE_CLAIMER), now_ms);

	return v.reason != BRAKE_RELEASED && v.reason != BRAKE_RATE;
}

bool
claimer_braked(const struct lke_claimer *c, int64_t now_ms, int64_t *retry_at_ms)
{
	const struct brake_verdict v =
	    brake_check(&c->brake, actor_fresh(c->r.actor, LINK_KUBE_LKE_CLAIMER), now_ms);

	*retry_at_ms = v.retry_at_ms;
	return v.reason != BRAKE_RELEASED;
}

const struct lke_type *
claimer_type(const struct lke_claimer *c, const char *id)
{
	for (size_t i = 0; i < c->types.n; i++) {
		if (strcmp(c->types.types[i].id, id) == 0)
			return &c->types.types[i];
	}
	return NULL;
}

bool
cluster_now_us(struct lke_claimer *c, int64_t *us)
{
	return actor_cluster_time_us(c->r.actor, LINK_KUBE_LKE_CLAIMER, us);
}
