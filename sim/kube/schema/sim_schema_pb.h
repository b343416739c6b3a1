/*
 * sim/kube/schema/sim_schema_pb.h - bodies that are protobuf: so kubectl and controller-runtime
 * send built-in kinds.
 *
 * Only read, never written: answers are JSON. Definitions of CRDs are not read: clients send them
 * as JSON.
 */
#ifndef MUSTER_SIM_SCHEMA_PB_H
#define MUSTER_SIM_SCHEMA_PB_H

#include <jansson.h>
#include <stddef.h>

/* The object in the envelope ("k8s\0", runtime.Unknown); NULL: malformed, or of an unknown kind. */
json_t *sim_schema_read_protobuf(const char *bytes, size_t len);

#endif
