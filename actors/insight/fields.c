/* actors/insight/fields.c - the fields of a status as data, and their limits. Pure. */
#include "fields.h"

#include "utf8.h"

static struct wire_str cut(struct wire_str, uint32_t);

const struct field_row field_table[FIELD_MAX] = {
#define FIELD_ROW(ID, inside_, name_, form_, limit_, sorts_) [FIELD_##ID] = {	\
		.inside = (inside_), .name = (name_), .form = (form_), .limit = (limit_), .sorts = (sorts_) },
	STATUS_FIELDS(FIELD_ROW)
};

void
fields_cut(struct status *s)
{
	for (unsigned f = 0; f < FIELD_MAX; f++) {
		if (field_table[f].limit > 0)
			s->fields[f] = cut(s->fields[f], field_table[f].limit);
	}
	for (uint32_t i = 0; i < s->nconditions; i++)
		s->conditions[i].message = cut(s->conditions[i].message, CONDITION_MESSAGE);
}

/* The server counts code points. */
static struct wire_str
cut(struct wire_str s, uint32_t limit)
{
	uint32_t at = 0;

	for (uint32_t n = 0; n < limit && at < s.len; n++) {
		const size_t len = utf8_length(s.p + at, s.len - at);

		at += len > 0 ? (uint32_t)len : 1;
	}
	return (struct wire_str){ .p = s.p, .len = at };
}
