/* actors/node-state/versions.c - the versions of the rendered MachineConfigs. */
#include "versions.h"

#include <string.h>

#include "keytab.h"
#include "obj.h"

#define VERSION_KEY	"release-image-version"

enum { VERSIONS_MAGIC = 0x56455231 };

/* A version with its NUL: room for what follows is taken at once. */
struct version {
	uint32_t	len;
	char		text[];
};

struct versions {
	uint32_t	  magic;
	struct keytab	 *names;	/* only of those that have a version */
	struct version	**list;		/* by id */
	uint32_t	  room;
};

static bool set(struct versions *, struct wire_str, struct wire_str);

struct versions *
versions_new(void)
{
	struct versions *v;

	OBJ_NEW(v, VERSIONS_MAGIC);
	v->names = keytab_new(0);
	return v;
}

void
versions_free(struct versions **vp)
{
	struct versions *v;

	if (*vp == NULL)
		return;
	OBJ_TAKE(v, vp, VERSIONS_MAGIC);
	for (uint32_t i = 0; i < v->room; i++)
		free(v->list[i]);
	free(v->list);
	keytab_free(&v->names);
	OBJ_FREE(v);
}

bool
versions_put(struct versions *v, struct wire_str name, const struct body_machine_config *body)
{
	struct wire_str version;

	OBJ_CHECK(v, VERSIONS_MAGIC);
	if (!map_get(body->annotations, VERSION_KEY, &version) || version.len == 0)
		return versions_remove(v, name);
	return set(v, name, version);
}

bool
versions_remove(struct versions *v, struct wire_str name)
{
	OBJ_CHECK(v, VERSIONS_MAGIC);
	const uint32_t id = keytab_find(v->names, name.p, name.len);

	if (id == KEYTAB_NONE)
		return false;
	free(v->list[id]);
	v->list[id] = NULL;
	keytab_remove(v->names, id);
	return true;
}

struct wire_str
versions_find(const struct versions *v, struct wire_str name)
{
	OBJ_CHECK(v, VERSIONS_MAGIC);
	const uint32_t id = name.len > 0 ? keytab_find(v->names, name.p, name.len) : KEYTAB_NONE;

	if (id == KEYTAB_NONE)
		return (struct wire_str){ .p = "" };
	return (struct wire_str){ .p = v->list[id]->text, .len = v->list[id]->len };
}

uint32_t
versions_count(const struct versions *v)
{
	OBJ_CHECK(v, VERSIONS_MAGIC);
	return keytab_count(v->names);
}

size_t
versions_bytes(const struct versions *v)
{
	OBJ_CHECK(v, VERSIONS_MAGIC);
	size_t bytes = sizeof(*v) + keytab_bytes(v->names) + v->room * sizeof(*v->list);

	for (uint32_t i = 0; i < v->room; i++)
		bytes += v->list[i] != NULL ? sizeof(**v->list) + v->list[i]->len + 1 : 0;
	return bytes;
}

static bool
set(struct versions *v, struct wire_str name, struct wire_str version)
{
	const uint32_t id = keytab_add(v->names, name.p, name.len, NULL);

	while (id >= v->room) {
		v->list = obj_realloc(v->list, (v->room + 64) * sizeof(*v->list));
		memset(v->list + v->room, 0, 64 * sizeof(*v->list));
		v->room += 64;
	}
	const struct version *const old = v->list[id];
	if (old != NULL && old->len == version.len && memcmp(old->text, version.p, version.len) == 0)
		return false;
	free(v->list[id]);
	v->list[id] = obj_alloc(sizeof(**v->list) + version.len + 1);
	v->list[id]->len = version.len;
	memcpy(v->list[id]->text, version.p, version.len);
	return true;
}
