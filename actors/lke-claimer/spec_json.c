/* actors/lke-claimer/spec_json.c - requirements and kubelet, from JSON. No clock, no I/O. */
#include "spec_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"

static bool read_one(const json_t *, struct lke_requirement *, struct wire_str *);
static bool percentage_read(struct wire_str, int64_t *);
static void read_reserved(const json_t *, const char *, struct lke_resources *);
static struct wire_str text_of(const json_t *);

bool
requirements_read(struct lke_requirements *out, struct wire_str json, char *err, size_t size)
{
	size_t nvalues = 0, i;
	const json_t *at;
	bool ok = true;

	*out = (struct lke_requirements){ .n = 0 };
	err[0] = '\0';
	if (json.len == 0)
		return true;
	out->root = json_loadb(json.p, json.len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_array(out->root)) {
		snprintf(err, size, "spec.requirements: not a list");
		return false;
	}
	json_array_foreach(out->root, i, at)
		nvalues += json_array_size(json_object_get(at, "values"));
	out->list = obj_alloc((json_array_size(out->root) + 1) * sizeof(*out->list));
	out->values = obj_alloc((nvalues + 1) * sizeof(*out->values));
	struct wire_str *values = out->values;
	json_array_foreach(out->root, i, at) {
		ok = read_one(at, &out->list[out->n], values);
		if (!ok) {
			snprintf(err, size,
			    "spec.requirements[%zu]: no key, or an operator that is not known", i);
			break;
		}
		values += out->list[out->n++].nvalues;
	}
	return ok;
}

void
requirements_free(struct lke_requirements *r)
{
	json_decref(r->root);
	free(r->list);
	free(r->values);
	*r = (struct lke_requirements){ .n = 0 };
}

static bool
read_one(const json_t *at, struct lke_requirement *out, struct wire_str *values)
{
	const json_t *const least = json_object_get(at, "minValues"), *value;
	size_t i;

	*out = (struct lke_requirement){ .key = text_of(json_object_get(at, "key")), .values = values };
	if (out->key.len == 0 || !lke_operator_read(text_of(json_object_get(at, "operator")), &out->op))
		return false;
	json_array_foreach(json_object_get(at, "values"), i, value)
		values[out->nvalues++] = text_of(value);
	if (json_is_integer(least) && json_integer_value(least) > 0
	    && json_integer_value(least) <= LKE_TYPES_MAX)
		out->min_values = (uint32_t)json_integer_value(least);
	return true;
}

struct lke_sizing
kubelet_read(struct wire_str json, uint32_t memory_overhead)
{
	struct lke_sizing s = lke_sizing_default;
	json_t *const root = json.len == 0 ? NULL : json_loadb(json.p, json.len, JSON_REJECT_DUPLICATES,
	    NULL);
	const json_t *const pods = json_object_get(root, "maxPods");
	const json_t *const per_core = json_object_get(root, "podsPerCore");
	const struct wire_str eviction =
	    text_of(json_object_get(json_object_get(root, "evictionHard"), "memory.available"));
	int64_t amount;

	s.memory_overhead = memory_overhead;
	if (json_is_integer(pods))
		s.max_pods = json_integer_value(pods);
	if (json_is_integer(per_core))
		s.pods_per_core = json_integer_value(per_core);
	read_reserved(root, "kubeReserved", &s.kube_reserved);
	read_reserved(root, "systemReserved", &s.system_reserved);
	if (eviction.len > 0 && lke_resource_read(LKE_MEMORY, eviction, &amount))
		s.eviction_memory = amount;
	else if (percentage_read(eviction, &amount))
		s.eviction_ppm = amount;
	json_decref(root);
	return s;
}

/* In millionths. As the kubelet has it, 100 % switches the eviction off. */
static bool
percentage_read(struct wire_str text, int64_t *ppm)
{
	char copy[16], *end;

	if (text.len < 2 || text.len >= sizeof(copy) || text.p[text.len - 1] != '%')
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)text.len - 1, text.p);
	/* Digits alone: strtod reads signs, hexadecimal numbers and infinity, too. */
	if (strspn(copy, "0123456789.") != text.len - 1)
		return false;
	const double percent = strtod(copy, &end);
	if (*end != '\0' || percent > 100)
		return false;
	*ppm = percent == 100 ? 0 : (int64_t)(percent * 10000 + 0.5);
	return true;
}

static void
read_reserved(const json_t *root, const char *member, struct lke_resources *out)
{
	const json_t *const reserved = json_object_get(root, member);

	for (unsigned r = 0; r < LKE_RESOURCE_MAX; r++) {
		const struct wire_str text =
		    text_of(json_object_get(reserved, lke_resource_name((enum lke_resource)r)));
		int64_t amount;

		if (text.len > 0 && lke_resource_read((enum lke_resource)r, text, &amount))
			out->of[r] = amount;
	}
}

bool
duration_read(struct wire_str text, int64_t *us)
{
	static const struct {
		const char	*name;
		double		 us;
	} units[] = { { "ms", 1e3 }, { "us", 1 }, { "ns", 1e-3 }, { "h", 3600e6 }, { "m", 60e6 }, { "s",
	    1e6 } };
	char copy[64];
	const char *at = copy;
	double sum = 0;

	if (text.len == 0 || text.len >= sizeof(copy))
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)text.len, text.p);
	while (*at != '\0') {
		char *end = NULL;
		size_t u = 0;
		/* Digits alone: strtod reads signs, hexadecimal numbers and infinity, too. */
		const size_t digits = strspn(at, "0123456789.");
		const double number = digits > 0 ? strtod(at, &end) : -1;

		if (number < 0 || end != at + digits)
			return false;
		while (u < NITEMS(units) && strncmp(end, units[u].name, strlen(units[u].name)) != 0)
			u++;
		if (u == NITEMS(units))
			return false;
		sum += number * units[u].us;
		at = end + strlen(units[u].name);
	}
	if (sum > 1e15)
		return false;
	*us = (int64_t)sum;
	return true;
}

static struct wire_str
text_of(const json_t *j)
{
	if (!json_is_string(j))
		return (struct wire_str){ "", 0 };
	return (struct wire_str){ json_string_value(j), (uint32_t)json_string_length(j) };
}
