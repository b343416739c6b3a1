/* sim/cluster/sim_garbage_collector.c - finds orphans by uid. */
#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "sim/kube/store/sim_objects.h"
#include "sim/kube/store/sim_store.h"
#include "sim_controllers.h"

static void add_owners(struct keytab *, const struct sim_storage *);
static void mark_living(struct keytab *, const struct sim_storage *);
static bool is_orphan(const struct sim_blob *, const struct keytab *);

void
sim_collect_orphans(struct simulator *s)
{
	struct sim_store *const store = s->store;
	/* The uids that an object names as its owner's, and whether such an object is there. */
	struct keytab *owners = keytab_new(sizeof(bool));

	for (size_t i = 0; i < store->n; i++)
		add_owners(owners, store->storages[i]);
	for (size_t i = 0; keytab_count(owners) > 0 && i < store->n; i++)
		mark_living(owners, store->storages[i]);
	for (size_t i = 0; keytab_count(owners) > 0 && i < store->n; i++) {
		struct sim_storage *const st = store->storages[i];

		/* Backwards: a deletion moves only what was visited already. */
		for (size_t n = st->n; n-- > 0;) {
			if (is_orphan(st->objects[n], owners))
				sim_object_delete(s, st, st->objects[n], false);
		}
	}
	keytab_free(&owners);
}

static void
add_owners(struct keytab *owners, const struct sim_storage *st)
{
	for (size_t n = 0; n < st->n; n++) {
		for (const char *o = sim_blob_owners(st->objects[n]); o[0] != '\0'; o += strlen(o) + 1)
			keytab_add(owners, o, strlen(o), NULL);
	}
}

static void
mark_living(struct keytab *owners, const struct sim_storage *st)
{
	for (size_t n = 0; n < st->n; n++) {
		const char *const uid = sim_blob_uid(st->objects[n]);
		const uint32_t id = keytab_find(owners, uid, strlen(uid));

		if (id != KEYTAB_NONE)
			*(bool *)keytab_value(owners, id) = true;
	}
}

static bool
is_orphan(const struct sim_blob *b, const struct keytab *owners)
{
	const char *owner = sim_blob_owners(b);

	if (owner[0] == '\0')
		return false;
	for (; owner[0] != '\0'; owner += strlen(owner) + 1) {
		if (*(bool *)keytab_value(owners, keytab_find(owners, owner, strlen(owner))))
			return false;
	}
	return true;
}
