/*
 * sim/kube/schema/sim_schema.h - the types of objects: a CRD's openAPIV3Schema, or our table of the
 * built-in kinds (sim_schema_types.def).
 *
 * Both are JSON schemas of the form a CRD has; a built-in one also has
 *	$ref				the name of another type of the table
 *	x-kubernetes-patch-strategy	and -merge-key: for strategic merge patches
 *	x-muster-name, x-muster-go	how Go calls the type in its messages
 *	x-muster-number			of the field in protobuf; "2/3": in a message that JSON has not
 *	x-muster-zero			what Go prints where the field is not set
 *	x-muster-zero-kept		a zero that was sent is kept (a pointer in Go)
 * x-kubernetes-validations (CEL rules) are not evaluated.
 */
#ifndef MUSTER_SIM_SCHEMA_H
#define MUSTER_SIM_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/base/sim_buf.h"
#include "sim/kube/semantics/sim_semantics.h"

/* The table of built-in types, by name ("io.k8s.api.core.v1.Node"); made once. */
const json_t *sim_schema_types(void);

/* The schema of a kind. NULL: nothing is known of it, everything is let through. */
const json_t *sim_schema_of(const struct sim_resource *r);
/* The type that a $ref names, or the schema itself. */
const json_t *sim_schema_follow(const json_t *schema);
/*
 * The schema of a member: of properties, else of additionalProperties; NULL: unknown. whole: the
 * schema is that of a whole object, which has apiVersion, kind and metadata though its schema does
 * not list them.
 */
const json_t *sim_schema_member(const json_t *schema, const char *key, bool whole);
const json_t *sim_schema_items(const json_t *schema);
/* The member is declared by its name, not one of a map. */
bool sim_schema_names(const json_t *schema, const char *key, bool whole);
bool sim_schema_keeps_unknown(const json_t *schema);

enum sim_list_type { LIST_ATOMIC, LIST_SET, LIST_MAP };
/* How server-side apply sees a list; *keys (of LIST_MAP) is an array of texts. */
enum sim_list_type sim_schema_list(const json_t *schema, const json_t **keys);

/*
 * What the server makes of the object it got: unknown fields dropped (refused or warned of, by
 * field_validation), text brought into its form, defaults set. patch: what was patched in, NULL
 * where the object itself was sent; strategic: the real server reads the result of such a patch
 * another way, with other messages.
 */
json_t *sim_schema_decode(const struct sim_write_params *a, const json_t *body, const json_t *patch,
    bool strategic, json_t **status);
/* Its last step, which an apply needs alone: zeroes, defaults, what a kind completes. */
void sim_schema_complete(const struct sim_write_params *a, json_t *object);
/* The parts of it. Unknown fields are put in `unknown`, an array of paths. */
json_t *sim_schema_typed(const json_t *schema, const json_t *value, const char *path, json_t *unknown,
    bool strategic, char **error_text);
void sim_schema_prune(const json_t *schema, json_t *object, json_t *unknown);
void sim_schema_default(const json_t *schema, json_t *value);
/* What Go prints where nothing is set: of a whole object, and added to what is there. */
json_t *sim_schema_zero(const json_t *schema);
void sim_schema_fill_zero(const json_t *schema, json_t *value);

/*
 * JSON as the real server writes it: the fields of a built-in type in the order of its Go struct,
 * which is that of the table; the keys of a map, and of everything without a schema (NULL), sorted.
 */
void sim_schema_write(struct sim_buf *out, const json_t *schema, const json_t *value);
void sim_schema_write_member(struct sim_buf *out, const json_t *schema, const char *key, const json_t *value);
/* The path of a member, a text: "spec.size". New reference. */
json_t *sim_schema_path(const char *path, const char *key);
/* The keys of object in that order: free the array. */
size_t sim_schema_keys(const json_t *schema, const json_t *object, const char ***keys);

/*
 * Values against the schema of a CRD; what did not change since `old` is let through. status_only:
 * just the status.
 */
void sim_schema_check(json_t *errors, const struct sim_resource *r, const json_t *object, const json_t *old,
    bool status_only);
/* One value, at this path. */
void sim_schema_check_value(json_t *errors, const json_t *schema, const json_t *value, const char *path);

#endif
