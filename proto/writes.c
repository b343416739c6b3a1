/* proto/writes.c - operations, outcomes and object keys as data. */
#include "writes.h"

#include <stdio.h>
#include <string.h>

const struct op_row op_table[OP_MAX] = {
#define OP_ROW(ID, name_, verb_, subresource_) [OP_##ID] = {			\
		.name = (name_), .verb = VERB_##verb_, .subresource = (subresource_) },
	OPS(OP_ROW)
};

static const struct {
	const char *name, *text;
} outcomes[OUTCOME_MAX] = {
#define OUTCOME_ROW(ID, name_, text_) [OUTCOME_##ID] = { .name = (name_), .text = (text_) },
	OUTCOMES(OUTCOME_ROW)
};

enum op
op_find(const char *name, size_t len)
{
	for (unsigned o = 0; o < OP_MAX; o++) {
		if (strlen(op_table[o].name) == len && memcmp(op_table[o].name, name, len) == 0)
			return (enum op)o;
	}
	return OP_MAX;
}

const char *
outcome_name(enum outcome o)
{
	return (unsigned)o < OUTCOME_MAX ? outcomes[o].name : "?";
}

const char *
outcome_text(enum outcome o)
{
	return (unsigned)o < OUTCOME_MAX ? outcomes[o].text : "?";
}

bool
object_key(char *buf, size_t size, const char *resource, const char *ns, const char *name)
{
	if (resource[0] == '\0' || strpbrk(resource, ":/") != NULL || strchr(ns, '/') != NULL
	    || name[0] == '\0' || strchr(name, '/') != NULL)
		return false;
	const int n = snprintf(buf, size, "%s/%s%s%s", resource, ns, ns[0] != '\0' ? "/" : "", name);
	return n > 0 && (size_t)n < size && n <= OBJECT_KEY_MAX;
}
