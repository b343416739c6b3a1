/* kube/selector_private.h - a selector as its own files see it. */
#ifndef MUSTER_SELECTOR_PRIVATE_H
#define MUSTER_SELECTOR_PRIVATE_H

#include <stdint.h>

#include "selector.h"

enum { SELECTOR_MAGIC = 0x53454c31 };

enum selector_op {
	OP_IN,
	OP_NOT_IN,
	OP_EQUALS,
	OP_DOUBLE_EQUALS,	/* printed as it was written */
	OP_NOT_EQUALS,
	OP_GREATER,
	OP_LESS,
	OP_EXISTS,
	OP_ABSENT,
	OP_MAX
};

struct requirement {
	enum selector_op	 op;
	char			*key;
	char		       **values;
	size_t			 nvalues;
	size_t			 order;		/* in which it was added */
};

struct selector {
	uint32_t		 magic;
	bool			 fields;	/* an absent field is "", an absent label is absent */
	bool			 nothing;
	struct requirement	*list;
	size_t			 count;
};

struct selector *selector_new(bool fields);
struct requirement *selector_add(struct selector *s, enum selector_op op, const char *key, size_t len);
void selector_add_value(struct requirement *r, const char *value, size_t len);
void selector_sort_values(struct requirement *r, bool unique);
void selector_sort(struct selector *s);		/* by key, as Go does for labels */
bool selector_integer(const char *text, int64_t *out);	/* as strconv.ParseInt(text, 10, 64) */

/*
 * What is wrong with a requirement, in Go's words, cut to size; false when nothing is. Keys and
 * values are quoted as %q does.
 */
bool selector_wrong_key(const char *path, const char *key, char *err, size_t size);
bool selector_wrong_requirement(const struct requirement *r, char *err, size_t size);

#endif
