/* sim/semantics_version.c - one object in the versions of its CRD (strategy None: only apiVersion differs). */
#include <stdio.h>
#include <stdlib.h>

#include "obj.h"
#include "semantics.h"

json_t *
semantics_as_version(const json_t *object, const struct resource *r)
{
	json_t *other = json_copy((json_t *)(uintptr_t)object);
	char *version;

	MUST(asprintf(&version, "%s%s%s", r->group, *r->group == '\0' ? "" : "/", r->version) > 0);
	json_object_set_new(other, "apiVersion", json_string(version));
	free(version);
	return other;
}
