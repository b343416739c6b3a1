/*
 * sim/kube/printers/sim_table.c - the columns of a resource: of the built-in kinds from tables, of
 * a CRD from its printer columns.
 */
#include "sim_table.h"

#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim_duration.h"
#include "sim_jsonpath.h"

static const struct {
	const char		*plural;
	const struct sim_column	*columns;
} tables[] = {
	{ "pods",                      sim_table_pods },
	{ "nodes",                     sim_table_nodes },
	{ "events",                    sim_table_events },
	{ "namespaces",                sim_table_namespaces },
	{ "secrets",                   sim_table_secrets },
	{ "configmaps",                sim_table_config_maps },
	{ "leases",                    sim_table_leases },
	{ "poddisruptionbudgets",      sim_table_budgets },
	{ "customresourcedefinitions", sim_table_crds },
};

/* What a CRD that names none has. */
static const char age_path[] = ".metadata.creationTimestamp";

static const struct sim_column *columns_of(const struct sim_resource *);
static void add_definition(json_t *, const char *, const char *, const char *, int, const char *);
static json_t *builtin_cell(const struct sim_column *, const struct sim_table_row *);
static json_t *custom_cell(const json_t *, const char *, const char *, int64_t);
static json_t *as_text(const json_t *);

json_t *
sim_table_columns(const struct sim_resource *r)
{
	json_t *const out = json_array();
	size_t i;
	json_t *custom;

	if (r->builtin) {
		for (const struct sim_column *c = columns_of(r); c->name != NULL; c++)
			add_definition(out, c->name, c->type, c->format, c->priority, "");
		return out;
	}
	add_definition(out, "Name", "string", "name", 0, "");
	if (r->columns == NULL)
		add_definition(out, "Age", "date", "", 0, "");
	json_array_foreach(r->columns, i, custom) add_definition(out, sim_json_text(custom, "name"),
	    sim_json_text(custom, "type"), sim_json_text(custom, "format"),
	    (int)sim_json_int_at(custom, "priority", 0), sim_json_text(custom, "description"));
	return out;
}

json_t *
sim_table_cells(const struct sim_resource *r, const json_t *object, int64_t now_us)
{
	const struct sim_table_row row = { object, now_us };
	json_t *const cells = json_array();
	size_t i;
	json_t *custom;

	if (r->builtin) {
		for (const struct sim_column *c = columns_of(r); c->name != NULL; c++)
			json_array_append_new(cells, builtin_cell(c, &row));
		return cells;
	}
	json_array_append_new(cells, json_string(meta_text(object, "name")));
	if (r->columns == NULL)
		json_array_append_new(cells, custom_cell(object, age_path, "date", now_us));
	json_array_foreach(r->columns, i, custom) json_array_append_new(cells,
	    custom_cell(object, sim_json_text(custom, "jsonPath"), sim_json_text(custom, "type"), now_us));
	return cells;
}

json_t *
sim_table_since(const char *time, int64_t now_us)
{
	char buf[SIM_DURATION_MAX];

	return json_string(sim_duration_since(time, now_us, buf));
}

json_t *
sim_table_age(const struct sim_table_row *row)
{
	return sim_table_since(meta_text(row->object, "creationTimestamp"), row->now_us);
}

static const struct sim_column *
columns_of(const struct sim_resource *r)
{
	for (size_t i = 0; i < NITEMS(tables); i++) {
		if (strcmp(tables[i].plural, r->plural) == 0)
			return tables[i].columns;
	}
	return sim_table_plain;
}

static void
add_definition(json_t *out, const char *name, const char *type, const char *format, int priority,
    const char *description)
{
	json_array_append_new(out,
	    json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", name, "type", type, "format",
		format != NULL ? format : "", "description", description, "priority", priority));
}

static json_t *
builtin_cell(const struct sim_column *c, const struct sim_table_row *row)
{
	const json_t *const value = c->cell == NULL ? sim_jsonpath_first(row->object, c->path) : NULL;

	if (c->cell != NULL)
		return c->cell(row);
	if (strcmp(c->type, "integer") == 0)
		return json_integer(json_integer_value(value));
	if (json_is_integer(value))
		return json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return json_string(json_string_length(value) > 0 ? json_string_value(value)
	    : c->absent != NULL ? c->absent : "");
}

static json_t *
custom_cell(const json_t *object, const char *path, const char *type, int64_t now_us)
{
	json_t *const value = sim_jsonpath_first(object, path);

	if (value == NULL || json_is_null(value))
		return json_null();
	if (strcmp(type, "string") == 0)
		return as_text(value);
	if (strcmp(type, "integer") == 0 && json_is_number(value))
		return json_integer((json_int_t)json_number_value(value));
	if ((strcmp(type, "number") == 0 && json_is_number(value))
	    || (strcmp(type, "boolean") == 0 && json_is_boolean(value)))
		return json_incref(value);
	if (strcmp(type, "date") == 0 && json_is_string(value))
		return sim_table_since(json_string_value(value), now_us);
	return json_null();
}

static json_t *
as_text(const json_t *value)
{
	struct sim_buf b = { 0 };

	if (json_is_string(value))
		return json_string(json_string_value(value));
	sim_buf_json(&b, value);
	json_t *const text = json_stringn(b.bytes, b.len);
	sim_buf_free(&b);
	return text;
}
