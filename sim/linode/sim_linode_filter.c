/* sim/linode/sim_linode_filter.c - X-Filter: fields, operators, +and, +or. */
#include "sim_linode_filter.h"

#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"

typedef bool operator_fn(const json_t *have, const json_t *want, bool substring);
static operator_fn equal, not_equal, greater, greater_or_equal, less, less_or_equal, contains;

static const struct {
	const char	*name;
	operator_fn	*fits;
} operators[] = {
	{ "+eq", equal }, { "+neq", not_equal }, { "+gt", greater }, { "+gte", greater_or_equal },
	{ "+lt", less }, { "+lte", less_or_equal }, { "+contains", contains },
};

static const char *check_list(const json_t *, const char *const *, char *, size_t);
static bool is_field(const char *, const char *const *);
static operator_fn *find_operator(const char *);
static bool fits_field(const json_t *, const json_t *, bool);
static int order_of(const json_t *, const json_t *);

const char *
sim_linode_filter_check(const json_t *filter, const char *const *fields, char *buf, size_t size)
{
	const char *key, *inner, *wrong = NULL;
	json_t *value, *operand;

	if (!json_is_object(filter))
		return "Invalid filter";
	JSON_EACH(filter, key, value) {
		if (strcmp(key, "+and") == 0 || strcmp(key, "+or") == 0) {
			wrong = check_list(value, fields, buf, size);
		} else if (!is_field(key, fields)) {
			snprintf(buf, size, "Cannot filter on %.64s", key);
			wrong = buf;
		} else if (json_is_object(value)) {
			JSON_EACH(value, inner, operand) {
				(void)operand;
				if (find_operator(inner) == NULL)
					wrong = "Unknown operator";
			}
		}
		if (wrong != NULL)
			return wrong;
	}
	return NULL;
}

bool
sim_linode_filter_fits(const json_t *filter, const json_t *object, bool substring)
{
	const char *key;
	json_t *value, *one;
	size_t i;

	JSON_EACH(filter, key, value) {
		if (strcmp(key, "+and") == 0) {
			json_array_foreach(value, i, one) {
				if (!sim_linode_filter_fits(one, object, substring))
					return false;
			}
		} else if (strcmp(key, "+or") == 0) {
			bool any = false;

			json_array_foreach(value, i, one)
				any = any || sim_linode_filter_fits(one, object, substring);
			if (!any)
				return false;
		} else if (!fits_field(sim_json_at(object, key), value, substring)) {
			return false;
		}
	}
	return true;
}

static const char *
check_list(const json_t *list, const char *const *fields, char *buf, size_t size)
{
	const char *wrong = json_is_array(list) ? NULL : "Invalid filter";
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one) {
		if (wrong == NULL)
			wrong = sim_linode_filter_check(one, fields, buf, size);
	}
	return wrong;
}

static bool
is_field(const char *key, const char *const *fields)
{
	for (size_t i = 0; fields[i] != NULL; i++) {
		if (strcmp(fields[i], key) == 0)
			return true;
	}
	return false;
}

static operator_fn *
find_operator(const char *name)
{
	for (size_t i = 0; i < NITEMS(operators); i++) {
		if (strcmp(operators[i].name, name) == 0)
			return operators[i].fits;
	}
	return NULL;
}

static bool
fits_field(const json_t *have, const json_t *want, bool substring)
{
	const char *name;
	json_t *operand;

	if (!json_is_object(want))
		return equal(have, want, substring);
	JSON_EACH(want, name, operand) {
		if (!find_operator(name)(have, operand, substring))
			return false;
	}
	return true;
}

/* Of a list: it has that element. */
static bool
equal(const json_t *have, const json_t *want, bool substring)
{
	json_t *one;
	size_t i;

	(void)substring;
	if (!json_is_array(have))
		return json_equal(have, want);
	json_array_foreach(have, i, one) {
		if (json_equal(one, want))
			return true;
	}
	return false;
}

static bool
not_equal(const json_t *have, const json_t *want, bool substring)
{
	return !equal(have, want, substring);
}

static bool
greater(const json_t *have, const json_t *want, bool substring)
{
	(void)substring;
	return order_of(have, want) > 0;
}

static bool
greater_or_equal(const json_t *have, const json_t *want, bool substring)
{
	return greater(have, want, substring) || equal(have, want, substring);
}

static bool
less(const json_t *have, const json_t *want, bool substring)
{
	(void)substring;
	return order_of(have, want) < 0;
}

static bool
less_or_equal(const json_t *have, const json_t *want, bool substring)
{
	return less(have, want, substring) || equal(have, want, substring);
}

static bool
contains(const json_t *have, const json_t *want, bool substring)
{
	json_t *one;
	size_t i;

	if (!json_is_string(want))
		return false;
	if (json_is_string(have))
		return strstr(json_string_value(have), json_string_value(want)) != NULL;
	if (!substring)
		return equal(have, want, substring);
	json_array_foreach(have, i, one) {
		if (json_is_string(one) && strstr(json_string_value(one), json_string_value(want)) != NULL)
			return true;
	}
	return false;
}

/* 0: equal, or not to be compared. */
static int
order_of(const json_t *have, const json_t *want)
{
	if (json_is_string(have) && json_is_string(want))
		return strcmp(json_string_value(have), json_string_value(want));
	if (!json_is_number(have) || !json_is_number(want))
		return 0;
	const double a = json_number_value(have), b = json_number_value(want);
	return a < b ? -1 : a > b;
}
