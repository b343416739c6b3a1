/* sim/cluster/sim_garbage_collector.c - finds orphans by uid. */
#include "sim_garbage_collector.h"

#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "sim/kube/store/sim_objects.h"
#include "sim/kube/store/sim_store.h"

static bool anybody_owned(const struct depot *);
static struct keytab *living(const struct depot *);
static bool is_orphan(const struct blob *, const struct keytab *);

void
collect_orphans(struct sim *s)
{
	if (!anybody_owned(s->depot))
		return;
	struct keytab *alive = living(s->depot);
	for (size_t i = 0; i < depot_nstorages(s->depot); i++) {
		struct storage *const st = depot_nth(s->depot, i);

		/* Backwards: a deletion moves only what was looked at already. */
		for (size_t n = st->n; n-- > 0;) {
			if (is_orphan(st->objects[n], alive))
				object_delete(s, st, st->objects[n], NULL);
		}
	}
	keytab_free(&alive);
}

static bool
anybody_owned(const struct depot *store)
{
	for (size_t i = 0; i < depot_nstorages(store); i++) {
		const struct storage *const st = depot_nth(store, i);

		for (size_t n = 0; n < st->n; n++) {
			if (blob_owners(st->objects[n])[0] != '\0')
				return true;
		}
	}
	return false;
}

static struct keytab *
living(const struct depot *store)
{
	struct keytab *const alive = keytab_new();

	for (size_t i = 0; i < depot_nstorages(store); i++) {
		const struct storage *const st = depot_nth(store, i);

		for (size_t n = 0; n < st->n; n++) {
			const char *const uid = blob_uid(st->objects[n]);

			keytab_add(alive, uid, strlen(uid), NULL);
		}
	}
	return alive;
}

static bool
is_orphan(const struct blob *b, const struct keytab *alive)
{
	const char *owner = blob_owners(b);

	if (owner[0] == '\0')
		return false;
	for (; owner[0] != '\0'; owner += strlen(owner) + 1) {
		if (keytab_find(alive, owner, strlen(owner)) != KEYTAB_NONE)
			return false;
	}
	return true;
}
