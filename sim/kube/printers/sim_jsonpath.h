/*
 * sim/kube/printers/sim_jsonpath.h - the JSONPath of printer columns: .a.b, ['a'], [0], [-1], [*],
 * [?(@.a=="b")], a dot in a name as \. Pure.
 */
#ifndef MUSTER_SIM_JSONPATH_H
#define MUSTER_SIM_JSONPATH_H

#include <jansson.h>

/* The first value the path finds; NULL: none, or not such a path. Borrowed. */
json_t *sim_jsonpath_first(const json_t *root, const char *path);

#endif
