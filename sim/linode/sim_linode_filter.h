/* sim/linode/sim_linode_filter.h - what an X-Filter header chooses of a list. Pure. */
#ifndef MUSTER_SIM_LINODE_FILTER_H
#define MUSTER_SIM_LINODE_FILTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * NULL: every key is a field that may be filtered by (fields, up to NULL) or an operator. Else the text of
 * the error.
 */
const char *sim_linode_filter_check(const json_t *filter, const char *const *fields, char *buf, size_t size);
/* substring: +contains of tags also finds a tag that has the text inside; else only that very tag. */
bool sim_linode_filter_fits(const json_t *filter, const json_t *object, bool substring);

#endif
