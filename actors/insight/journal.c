/* actors/insight/journal.c - the last plan and the last write of each key. */
#include "insight.h"
#include "keytab.h"
#include "obj.h"

struct journal {
	uint32_t		 magic;
#define JOURNAL_MAGIC	0x4a4f5552u
	struct keytab		*keys;
	struct journal_entry	*entries;	/* by key id */
	uint32_t		 cap;
};

struct journal *
journal_new(void)
{
	struct journal *j;

	OBJ_NEW(j, JOURNAL_MAGIC);
	j->keys = keytab_new(0);
	return j;
}

void
journal_free(struct journal **jp)
{
	struct journal *j;

	if (*jp == NULL)
		return;
	OBJ_TAKE(j, jp, JOURNAL_MAGIC);
	for (uint32_t id = 0; id < keytab_ids(j->keys); id++)
		free(j->entries[id].message);
	free(j->entries);
	keytab_free(&j->keys);
	OBJ_FREE(j);
}

struct journal_entry *
journal_entry(struct journal *j, const char *key, size_t len)
{
	bool added;

	OBJ_CHECK(j, JOURNAL_MAGIC);
	const uint32_t id = keytab_add(j->keys, key, len, &added);
	if (id >= j->cap) {
		j->cap = id < 16 ? 16 : id + id / 2;
		j->entries = obj_realloc(j->entries, j->cap * sizeof(*j->entries));
	}
	if (added)
		j->entries[id] = (struct journal_entry){ .why = NULL };
	return &j->entries[id];
}

const struct journal_entry *
journal_find(const struct journal *j, const char *key, size_t len)
{
	OBJ_CHECK(j, JOURNAL_MAGIC);
	const uint32_t id = keytab_find(j->keys, key, len);

	return id == KEYTAB_NONE ? NULL : &j->entries[id];
}

void
journal_drop(struct journal *j, const char *key, size_t len)
{
	OBJ_CHECK(j, JOURNAL_MAGIC);
	const uint32_t id = keytab_find(j->keys, key, len);

	if (id == KEYTAB_NONE)
		return;
	free(j->entries[id].message);
	j->entries[id] = (struct journal_entry){ .why = NULL };
	keytab_remove(j->keys, id);
}

void
journal_clear_refused(struct journal *j, const char *key, size_t len)
{
	OBJ_CHECK(j, JOURNAL_MAGIC);
	const uint32_t id = keytab_find(j->keys, key, len);

	if (id != KEYTAB_NONE)
		j->entries[id].refused = false;
}

void
journal_clear_all_refused(struct journal *j)
{
	OBJ_CHECK(j, JOURNAL_MAGIC);
	for (uint32_t id = 0; id < keytab_ids(j->keys); id++) {
		if (keytab_key(j->keys, id, NULL) != NULL)
			j->entries[id].refused = false;
	}
}
