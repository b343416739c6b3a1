/* actors/node-state/versions.c - the versions of the rendered MachineConfigs. */
#include "versions.h"

#include <string.h>

#include "keytab.h"
#include "obj.h"

#define VERSION_KEY	"release-image-version"

enum { VERSIONS_MAGIC = 0x56455231 };

struct versions {
	uint32_t	 magic;
	struct keytab	*names;		/* char *: the version, of names that have one */
};

static char **version_at(const struct versions *, uint32_t);

struct versions *
versions_new(void)
{
	struct versions *v;

	OBJ_NEW(v, VERSIONS_MAGIC);
	v->names = keytab_new(sizeof(char *));
	return v;
}

void
versions_free(struct versions **vp)
{
	struct versions *v;

	if (*vp == NULL)
		return;
	OBJ_TAKE(v, vp, VERSIONS_MAGIC);
	KEYTAB_EACH(v->names, id)
		free(*version_at(v, id));
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
	char **const at = version_at(v, keytab_add(v->names, name.p, name.len, NULL));
	if (*at != NULL && wire_str_is(version, *at))
		return false;
	free(*at);
	*at = obj_strndup(version.p, version.len);
	return true;
}

bool
versions_remove(struct versions *v, struct wire_str name)
{
	OBJ_CHECK(v, VERSIONS_MAGIC);
	const uint32_t id = keytab_find(v->names, name.p, name.len);

	if (id == KEYTAB_NONE)
		return false;
	free(*version_at(v, id));
	keytab_remove(v->names, id);
	return true;
}

struct wire_str
versions_find(const struct versions *v, struct wire_str name)
{
	OBJ_CHECK(v, VERSIONS_MAGIC);
	const uint32_t id = name.len > 0 ? keytab_find(v->names, name.p, name.len) : KEYTAB_NONE;

	return wire_str_of(id == KEYTAB_NONE ? "" : *version_at(v, id));
}

static char **
version_at(const struct versions *v, uint32_t id)
{
	return keytab_value(v->names, id);
}
