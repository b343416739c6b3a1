/*
 * sim/base/sim_yaml.h - YAML as Kubernetes reads it (YAML 1.1 scalars by the core schema, JSON is
 * YAML) into jansson.
 *
 * Anchors and merge keys are refused: no file can grow in memory.
 */
#ifndef MUSTER_SIM_YAML_H
#define MUSTER_SIM_YAML_H

#include <jansson.h>
#include <stddef.h>

/* The first document. NULL with a text in err (never empty then); an empty text is JSON null. */
json_t *sim_yaml_parse(const char *text, size_t len, char *err, size_t size);
/* Every document that is not empty, as an array. */
json_t *sim_yaml_parse_all(const char *text, size_t len, char *err, size_t size);

#endif
