/* sim/provider/sim_provider_past.c - a ring of the last states. */
#include "sim_provider_past.h"

#include <stdlib.h>

#include "obj.h"

struct sim_provider_past {
	uint32_t	 magic;
#define PAST_MAGIC	0x50415354u
	json_t		**states;
	size_t		 most;
	uint64_t	 n;		/* kept so far, those that were replaced included */
};

struct sim_provider_past *
sim_provider_past_new(size_t most)
{
	struct sim_provider_past *p;

	OBJ_NEW(p, PAST_MAGIC);
	p->states = obj_alloc(most * sizeof(json_t *));
	p->most = most;
	return p;
}

void
sim_provider_past_free(struct sim_provider_past **pp)
{
	struct sim_provider_past *p;

	if (*pp == NULL)
		return;
	OBJ_TAKE(p, pp, PAST_MAGIC);
	for (size_t i = 0; i < p->most; i++)
		json_decref(p->states[i]);
	free(p->states);
	OBJ_FREE(p);
}

void
sim_provider_past_keep(struct sim_provider_past *p, json_t *list)
{
	json_t **const at = &p->states[p->n++ % p->most];

	json_decref(*at);
	*at = list;
}

json_t *
sim_provider_past_at(const struct sim_provider_past *p, int64_t behind)
{
	const uint64_t kept = p->n < p->most ? p->n : p->most;

	if (behind <= 0 || kept == 0)
		return NULL;
	const uint64_t back = (uint64_t)behind < kept ? (uint64_t)behind : kept;
	return p->states[(p->n - back) % p->most];
}
