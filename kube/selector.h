/*
 * kube/selector.h - label selectors ("a=b,c!=d,e in (f,g),!h", and the LabelSelector object) and field
 * selectors ("metadata.name=x,spec.nodeName!=y"), with the meaning and the strictness of apimachinery.
 */
#ifndef MUSTER_SELECTOR_H
#define MUSTER_SELECTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct selector;

/* The value of a label or field, or NULL when the object has none. */
typedef const char *selector_get(const char *key, const void *arg);

/* NULL with a text in err. "" matches everything. */
struct selector *selector_parse_labels(const char *text, char *err, size_t size);
struct selector *selector_parse_fields(const char *text, char *err, size_t size);
/*
 * From a LabelSelector object (matchLabels, matchExpressions). NULL or JSON null matches nothing,
 * {} everything, as in Go.
 */
struct selector *selector_from_json(const json_t *object, char *err, size_t size);
void selector_free(struct selector **sp);
bool selector_matches(const struct selector *s, selector_get *get, const void *arg);
bool selector_empty(const struct selector *s);
/* Calls fn for each key of a requirement (a server refuses fields that it does not index). */
void selector_each_key(const struct selector *s, void (*fn)(const char *key, void *arg), void *arg);

#endif
