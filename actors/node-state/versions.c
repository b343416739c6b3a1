/* actors/node-state/versions.c - the versions of the rendered MachineConfigs. */
#include "versions.h"

#include <string.h>

#include "keytab.h"
#include "obj.h"

#define VERSION_KEY	"release-image-version"

enum { VERSIONS_MAGIC = 0x56455231 };

/* A version, NUL-terminated. */
struct version {
	uint32_t	len;
	char		text[];
};

struct versions {
	uint32_t	 magic;
	struct keytab	*names;		/* struct version *, only of names that have a version */
};

static struct version **version_at(const struct versions *, uint32_t);
static bool set(struct versions *, struct wire_str, struct wire_str);

struct versions *
versions_new(void)
{
	struct versions *v;

	OBJ_NEW(v, VERSIONS_MAGIC);
	v->names = keytab_new(sizeof(struct version *));
	return v;
}

void
versions_free(struct versions **vp)
{
	struct versions *v;

	if (*vp == NULL)
		return;
	OBJ_TAKE(v, vp, VERSIONS_MAGIC);
	for (uint32_t id = 0; id < keytab_ids(v->names); id++) {
		if (keytab_key(v->names, id, NULL) != NULL)
			free(*version_at(v, id));
	}
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
	free(*version_at(v, id));
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
	const struct version *const found = *version_at(v, id);
	return (struct wire_str){ .p = found->text, .len = found->len };
}

static bool
set(struct versions *v, struct wire_str name, struct wire_str version)
{
	struct version **const at = version_at(v, keytab_add(v->names, name.p, name.len, NULL));

	if (*at != NULL && (*at)->len == version.len && memcmp((*at)->text, version.p, version.len) == 0)
		return false;
	free(*at);
	*at = obj_alloc(sizeof(**at) + version.len + 1);
	(*at)->len = version.len;
	memcpy((*at)->text, version.p, version.len);
	return true;
}

static struct version **
version_at(const struct versions *v, uint32_t id)
{
	return keytab_value(v->names, id);
}
