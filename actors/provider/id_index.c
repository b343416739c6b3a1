/* actors/provider/id_index.c - ids to keys, and back for the change of an id. */
#include "id_index.h"

#include <string.h>

#include "keytab.h"
#include "obj.h"

struct id_index {
	uint32_t	 magic;
#define ID_INDEX_MAGIC	0x49444958u
	struct keytab	*keys;		/* char *: the id of each key */
	struct keytab	*ids;		/* char *: the key of each id */
};

static void put(struct id_index *, const char *, const char *, size_t);
static void drop(struct id_index *, const char *, const char *);
static void free_texts(struct keytab **);

struct id_index *
id_index_new(void)
{
	struct id_index *x;

	OBJ_NEW(x, ID_INDEX_MAGIC);
	x->keys = keytab_new(sizeof(char *));
	x->ids = keytab_new(sizeof(char *));
	return x;
}

void
id_index_free(struct id_index **xp)
{
	struct id_index *x;

	if (*xp == NULL)
		return;
	OBJ_TAKE(x, xp, ID_INDEX_MAGIC);
	free_texts(&x->keys);
	free_texts(&x->ids);
	OBJ_FREE(x);
}

void
id_index_set(struct id_index *x, struct wire_str key, struct wire_str id)
{
	OBJ_CHECK(x, ID_INDEX_MAGIC);
	const uint32_t at = keytab_find(x->keys, key.p, key.len);
	char *const old = at != KEYTAB_NONE ? *(char **)keytab_value(x->keys, at) : NULL;

	if (old != NULL && wire_str_is(id, old))
		return;
	if (old != NULL) {
		char *const name = obj_strndup(key.p, key.len);

		keytab_remove(x->keys, at);
		drop(x, name, old);
		free(name);
		free(old);
	}
	if (id.len == 0)
		return;
	const uint32_t added = keytab_add(x->keys, key.p, key.len, NULL);
	*(char **)keytab_value(x->keys, added) = obj_strndup(id.p, id.len);
	put(x, keytab_key(x->keys, added, NULL), id.p, id.len);
}

const char *
id_index_key(const struct id_index *x, struct wire_str id)
{
	OBJ_CHECK(x, ID_INDEX_MAGIC);
	const uint32_t at = keytab_find(x->ids, id.p, id.len);

	return at == KEYTAB_NONE ? NULL : *(char **)keytab_value(x->ids, at);
}

unsigned
id_index_count(const struct id_index *x, struct wire_str id)
{
	const char *const first = id_index_key(x, id);

	if (first == NULL)
		return 0;
	KEYTAB_EACH(x->keys, other) {
		if (wire_str_is(id, *(char **)keytab_value(x->keys, other))
		    && strcmp(keytab_key(x->keys, other, NULL), first) != 0)
			return 2;
	}
	return 1;
}

static void
put(struct id_index *x, const char *key, const char *id, size_t len)
{
	bool added;
	const uint32_t at = keytab_add(x->ids, id, len, &added);

	if (added)
		*(char **)keytab_value(x->ids, at) = obj_strdup(key);
}

/* Another object may have the same id: then it is that one from now on. */
static void
drop(struct id_index *x, const char *key, const char *id)
{
	const uint32_t at = keytab_find(x->ids, id, strlen(id));

	MUST(at != KEYTAB_NONE);
	char *const owner = *(char **)keytab_value(x->ids, at);
	if (strcmp(owner, key) != 0)
		return;
	free(owner);
	keytab_remove(x->ids, at);
	KEYTAB_EACH(x->keys, other) {
		if (strcmp(*(char **)keytab_value(x->keys, other), id) == 0)
			put(x, keytab_key(x->keys, other, NULL), id, strlen(id));
	}
}

static void
free_texts(struct keytab **kp)
{
	KEYTAB_EACH(*kp, id)
		free(*(char **)keytab_value(*kp, id));
	keytab_free(kp);
}
