/* sim/cluster/sim_garbage_collector.c - finds orphans by uid. */
#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "sim/kube/store/sim_objects.h"
#include "sim/kube/store/sim_store.h"
#include "sim_controllers.h"

static bool anybody_owned(const struct sim_store *);
static struct keytab *living(const struct sim_store *);
static bool is_orphan(const struct sim_blob *, const struct keytab *);

void
sim_collect_orphans(struct simulator *s)
{
	if (!anybody_owned(s->store))
		return;
	struct keytab *alive = living(s->store);
	for (size_t i = 0; i < sim_store_nstorages(s->store); i++) {
		struct sim_storage *const st = sim_store_nth(s->store, i);

		/* Backwards: a deletion moves only what was visited already. */
		for (size_t n = st->n; n-- > 0;) {
			if (is_orphan(st->objects[n], alive))
				sim_object_delete(s, st, st->objects[n], NULL);
		}
	}
	keytab_free(&alive);
}

static bool
anybody_owned(const struct sim_store *store)
{
	for (size_t i = 0; i < sim_store_nstorages(store); i++) {
		const struct sim_storage *const st = sim_store_nth(store, i);

		for (size_t n = 0; n < st->n; n++) {
			if (sim_blob_owners(st->objects[n])[0] != '\0')
				return true;
		}
	}
	return false;
}

static struct keytab *
living(const struct sim_store *store)
{
	struct keytab *const alive = keytab_new(0);

	for (size_t i = 0; i < sim_store_nstorages(store); i++) {
		const struct sim_storage *const st = sim_store_nth(store, i);

		for (size_t n = 0; n < st->n; n++) {
			const char *const uid = sim_blob_uid(st->objects[n]);

			keytab_add(alive, uid, strlen(uid), NULL);
		}
	}
	return alive;
}

static bool
is_orphan(const struct sim_blob *b, const struct keytab *alive)
{
	const char *owner = sim_blob_owners(b);

	if (owner[0] == '\0')
		return false;
	for (; owner[0] != '\0'; owner += strlen(owner) + 1) {
		if (keytab_find(alive, owner, strlen(owner)) != KEYTAB_NONE)
			return false;
	}
	return true;
}
