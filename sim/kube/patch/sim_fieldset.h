/*
 * sim/kube/patch/sim_fieldset.h - sets of fields, kept as the trie that fieldsV1 is: {"f:spec":
 * {"f:size": {".": {}}}}.
 *
 * Here a node that is itself in the set always has ".", in fieldsV1 only where it also has
 * children: sim_fieldset_read and sim_fieldset_write go between the two. A set is a JSON object;
 * NULL is the empty set. Names of children: "f:NAME" a member, "k:{...}" an item of a list by its
 * keys, "v:..." by its value.
 */
#ifndef MUSTER_SIM_FIELDSET_H
#define MUSTER_SIM_FIELDSET_H

#include <jansson.h>
#include <stdbool.h>

json_t *sim_fieldset_read(const json_t *fields);		/* NULL where it is no such trie */
json_t *sim_fieldset_write(const json_t *set);

bool sim_fieldset_is_empty(const json_t *set);
bool sim_fieldset_has(const json_t *set);	/* the node itself */
void sim_fieldset_mark(json_t **set);		/* puts the node itself in; NULL becomes a set */
/* Puts `child` under `name`; takes child. An empty child changes nothing. */
void sim_fieldset_put(json_t **set, const char *name, json_t *child);

/* New references, or NULL for the empty set; the arguments are not changed. */
json_t *sim_fieldset_union(const json_t *a, const json_t *b);
json_t *sim_fieldset_intersection(const json_t *a, const json_t *b);
json_t *sim_fieldset_difference(const json_t *a, const json_t *b);
/* Without what is in b and everything below it. */
json_t *sim_fieldset_without(const json_t *a, const json_t *b);

/* Every member as a path in words (".spec.rules[id=\"a\"].on"), in order: an array of texts. */
json_t *sim_fieldset_paths(const json_t *set);
/* One name in such a path: ".name", "[key=value,...]", "[=value]". Free it. */
char *sim_fieldset_element(const char *name);

#endif
