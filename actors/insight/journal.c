/* actors/insight/journal.c - the last plan and the last write of each key. */
#include "insight.h"
#include "keytab.h"
#include "obj.h"

struct journal {
	uint32_t	 magic;
#define JOURNAL_MAGIC	0x4a4f5552u
	struct keytab	*entries;	/* struct journal_entry */
};

struct journal *
journal_new(void)
{
	struct journal *j;

	OBJ_NEW(j, JOURNAL_MAGIC);
	j->entries = keytab_new(sizeof(struct journal_entry));
	return j;
}

void
journal_free(struct journal **jp)
{
	struct journal *j;

	if (*jp == NULL)
		return;
	OBJ_TAKE(j, jp, JOURNAL_MAGIC);
	for (uint32_t id = 0; id < keytab_ids(j->entries); id++) {
		if (keytab_key(j->entries, id, NULL) != NULL)
			free(((struct journal_entry *)keytab_value(j->entries, id))->message);
	}
	keytab_free(&j->entries);
	OBJ_FREE(j);
}

struct journal_entry *
journal_entry(struct journal *j, const char *key, size_t len)
{
	OBJ_CHECK(j, JOURNAL_MAGIC);
	return keytab_value(j->entries, keytab_add(j->entries, key, len, NULL));
}

const struct journal_entry *
journal_find(const struct journal *j, const char *key, size_t len)
{
	OBJ_CHECK(j, JOURNAL_MAGIC);
	const uint32_t id = keytab_find(j->entries, key, len);

	return id == KEYTAB_NONE ? NULL : keytab_value(j->entries, id);
}

void
journal_drop(struct journal *j, const char *key, size_t len)
{
	OBJ_CHECK(j, JOURNAL_MAGIC);
	const uint32_t id = keytab_find(j->entries, key, len);

	if (id == KEYTAB_NONE)
		return;
	free(((struct journal_entry *)keytab_value(j->entries, id))->message);
	keytab_remove(j->entries, id);
}

void
journal_clear_refused(struct journal *j, const char *key, size_t len)
{
	OBJ_CHECK(j, JOURNAL_MAGIC);
	const uint32_t id = keytab_find(j->entries, key, len);

	if (id != KEYTAB_NONE)
		((struct journal_entry *)keytab_value(j->entries, id))->refused = false;
}

void
journal_clear_all_refused(struct journal *j)
{
	OBJ_CHECK(j, JOURNAL_MAGIC);
	for (uint32_t id = 0; id < keytab_ids(j->entries); id++) {
		if (keytab_key(j->entries, id, NULL) != NULL)
			((struct journal_entry *)keytab_value(j->entries, id))->refused = false;
	}
}
