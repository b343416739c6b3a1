/* actors/kube-watcher/groups.c - one name inside, one name outside. */
#include "groups.h"

#include <stdio.h>
#include <string.h>

#include "kinds.h"
#include "obj.h"

static char insight_group[254] = INSIGHT_GROUP;

void
groups_init(const char *name)
{
	const int len = snprintf(insight_group, sizeof(insight_group), "%s", name);

	MUST(len > 0 && (size_t)len < sizeof(insight_group));	/* the configuration was checked */
}

const char *
group_served(const char *group)
{
	return strcmp(group, INSIGHT_GROUP) == 0 ? insight_group : group;
}
