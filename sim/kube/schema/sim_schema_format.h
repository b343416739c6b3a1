/*
 * sim/kube/schema/sim_schema_format.h - the formats and patterns of a schema.
 *
 * Patterns are Go's (RE2); they are matched by the C library after a translation. A pattern that
 * cannot be translated (\p, \x, flags but i) and a format that is not known let every text through.
 */
#ifndef MUSTER_SIM_SCHEMA_FORMAT_H
#define MUSTER_SIM_SCHEMA_FORMAT_H

#include <stdbool.h>

bool sim_schema_format_fits(const char *format, const char *text);
bool sim_schema_pattern_fits(const char *pattern, const char *text);
/* In code points. */
long long sim_schema_format_length(const char *text);

#endif
