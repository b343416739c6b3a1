/* proto/rights.c - who may do what in the cluster, as data. Pure. */
#include "rights.h"

#include <string.h>

const struct rights_row rights_table[] = {
#define RIGHTS_ROW(ROLE, group_, resource_, verbs_) {				\
		.role = ROLE_##ROLE, .group = (group_), .resource = (resource_), .verbs = (verbs_) },
	RIGHTS(RIGHTS_ROW)
};
const size_t rights_count = sizeof(rights_table) / sizeof(rights_table[0]);

bool
rights_allow(enum role r, enum verb v, const char *group, const char *resource)
{
	if ((v == VERB_GET || v == VERB_LIST) && kind_find_live(group, resource, r) != KIND_MAX)
		return true;
	for (size_t i = 0; i < rights_count; i++) {
		const struct rights_row *row = &rights_table[i];

		if (row->role == r && (row->verbs >> v & 1) != 0 && strcmp(row->group, group) == 0
		    && strcmp(row->resource, resource) == 0)
			return true;
	}
	return false;
}
