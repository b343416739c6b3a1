/* actors/insight/status.c - JSON of an insight, driven by the table of its fields. */
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json begin(char *, size_t, enum sort, const char *, struct wire_str);
static void put_field(struct json *, const struct field_row *, struct wire_str);
static void put_text(struct json *, const char *, struct wire_str);
static void put_number(struct json *, const char *, struct wire_str);

size_t
status_create_body(char *buf, size_t size, enum sort sort, const char *api, struct wire_str name)
{
	struct json j = begin(buf, size, sort, api, name);

	json_open(&j, "spec", '{');
	json_close(&j, '}');
	json_close(&j, '}');
	return json_end(&j);
}

size_t
status_update_body(char *buf, size_t size, enum sort sort, const char *api, const struct status *want,
    const struct insight_plan *p)
{
	struct json j = begin(buf, size, sort, api, want->fields[FIELD_NAME]);

	json_open(&j, "status", '{');
	status_put(&j, sort, want, p->conditions, p->nconditions);
	json_close(&j, '}');
	json_close(&j, '}');
	return json_end(&j);
}

size_t
status_refusal_body(char *buf, size_t size, const char *verb, struct wire_str why)
{
	struct json j = { .buf = buf, .size = size };

	json_open(&j, NULL, '{');
	json_str(&j, "type", "Warning");
	json_str(&j, "reason", "InsightRefused");
	json_str(&j, "action", verb);
	put_text(&j, "note", why);
	json_close(&j, '}');
	return json_end(&j);
}

void
status_put(struct json *j, enum sort sort, const struct status *s, const struct condition *conditions,
    uint32_t nconditions)
{
	const char *inside = "";

	for (unsigned f = 0; f < FIELD_MAX; f++) {
		const struct field_row *const row = &field_table[f];

		if ((row->sorts >> sort & 1) == 0 || (row->form == IF_ANY && s->fields[f].len == 0))
			continue;
		if (strcmp(inside, row->inside) != 0) {
			if (inside[0] != '\0')
				json_close(j, '}');
			if (row->inside[0] != '\0')
				json_open(j, row->inside, '{');
			inside = row->inside;
		}
		put_field(j, row, s->fields[f]);
	}
	if (inside[0] != '\0')
		json_close(j, '}');
	if (s->nsummaries > 0)
		json_open(j, "summaries", '[');
	for (uint32_t i = 0; i < s->nsummaries; i++) {
		json_open(j, NULL, '{');
		put_text(j, "type", s->summaries[i].type);
		put_number(j, "count", s->summaries[i].count);
		json_close(j, '}');
	}
	if (s->nsummaries > 0)
		json_close(j, ']');
	json_open(j, "conditions", '[');
	for (uint32_t i = 0; i < nconditions; i++) {
		json_open(j, NULL, '{');
		put_text(j, "type", conditions[i].type);
		put_text(j, "status", conditions[i].status);
		put_text(j, "reason", conditions[i].reason);
		put_text(j, "message", conditions[i].message);
		put_text(j, "lastTransitionTime", conditions[i].time);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static struct json
begin(char *buf, size_t size, enum sort sort, const char *api, struct wire_str name)
{
	struct json j = { .buf = buf, .size = size };

	json_open(&j, NULL, '{');
	json_str(&j, "apiVersion", api);
	json_str(&j, "kind", sort_table[sort].kind);
	json_open(&j, "metadata", '{');
	put_text(&j, "name", name);
	json_close(&j, '}');
	return j;
}

static void
put_field(struct json *j, const struct field_row *row, struct wire_str value)
{
	if (row->form == NUMBER)
		put_number(j, row->name, value);
	else
		put_text(j, row->name, value);
}

static void
put_text(struct json *j, const char *name, struct wire_str s)
{
	json_strn(j, name, s.len > 0 ? s.p : "", s.len);
}

static void
put_number(struct json *j, const char *name, struct wire_str s)
{
	char text[24];

	snprintf(text, sizeof(text), "%.*s", (int)s.len, s.p);
	json_int(j, name, strtoll(text, NULL, 10));
}
