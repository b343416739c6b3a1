/* sim/kube/discovery/sim_resource.c - names of a resource as messages and documents say them. */
#include "sim_resource.h"

#include <stdio.h>

const char *
resource_api_version(const struct resource *r, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", r->group, r->group[0] != '\0' ? "/" : "", r->version);
	return buf;
}

const char *
resource_qualified(const struct resource *r, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", r->plural, r->group[0] != '\0' ? "." : "", r->group);
	return buf;
}
