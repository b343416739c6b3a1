/* sim/kube/discovery/sim_resource.c - names of a resource as in messages and documents. */
#include "sim_resource.h"

#include <stdio.h>

const char *
sim_resource_api_version(const struct sim_resource *r, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", r->group, r->group[0] != '\0' ? "/" : "", r->version);
	return buf;
}

const char *
sim_resource_key(const struct sim_resource *r, const char *ns, const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", r->namespaced ? ns : "", r->namespaced ? "/" : "", name);
	return buf;
}

const char *
sim_resource_qualified(const struct sim_resource *r, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", r->plural, r->group[0] != '\0' ? "." : "", r->group);
	return buf;
}
