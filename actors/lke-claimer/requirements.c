/* actors/lke-claimer/requirements.c - labels of an instance type, and requirements on them. Pure. */
#include <string.h>

#include "ascii.h"
#include "obj.h"
#include "text_buffer.h"
#include "types.h"

static const char *const label_keys[LKE_LABEL_MAX] = {
#define LKE_LABEL_ROW(ID, key) [LKE_LABEL_##ID] = (key),
	LKE_LABELS(LKE_LABEL_ROW)
#undef LKE_LABEL_ROW
};

/* Karpenter takes these for the labels that replaced them. */
static const struct {
	const char	*key;
	enum lke_label	 label;
} former_keys[] = {
	{ "beta.kubernetes.io/instance-type",         LKE_LABEL_TYPE },
	{ "beta.kubernetes.io/arch",                  LKE_LABEL_ARCH },
	{ "beta.kubernetes.io/os",                    LKE_LABEL_OS },
	{ "failure-domain.beta.kubernetes.io/zone",   LKE_LABEL_ZONE },
	{ "failure-domain.beta.kubernetes.io/region", LKE_LABEL_REGION },
};

static const char *const operator_names[LKE_OPERATOR_MAX] = {
	[LKE_IN] = "In", [LKE_NOT_IN] = "NotIn", [LKE_EXISTS] = "Exists",
	[LKE_DOES_NOT_EXIST] = "DoesNotExist", [LKE_GT] = "Gt", [LKE_LT] = "Lt", [LKE_GTE] = "Gte",
	[LKE_LTE] = "Lte",
};

static bool among(const struct lke_requirement *, struct wire_str);
static bool compare(const struct lke_requirement *, struct wire_str);
static bool number(struct wire_str, uint64_t *);
static struct wire_str part(const char *, unsigned);

const char *
lke_label_key(enum lke_label l)
{
	MUST((unsigned)l < LKE_LABEL_MAX);
	return label_keys[l];
}

enum lke_label
lke_label_find(struct wire_str key)
{
	for (unsigned i = 0; i < LKE_LABEL_MAX; i++) {
		if (wire_str_is(key, label_keys[i]))
			return (enum lke_label)i;
	}
	for (size_t i = 0; i < NITEMS(former_keys); i++) {
		if (wire_str_is(key, former_keys[i].key))
			return former_keys[i].label;
	}
	return LKE_LABEL_MAX;
}

/*
 * The id of a plan is <generation>-<class>-..., "g6-standard-2", and of one with GPUs
 * <generation>-gpu-<name>-..., "g2-gpu-rtx4000a1-xl".
 */
size_t
lke_label_value(char buf[LKE_LABEL_SIZE], const struct lke_type *t, const char *region, enum lke_label l)
{
	struct text_buffer text = { .p = buf, .size = LKE_LABEL_SIZE };
	struct wire_str s;

	buf[0] = '\0';
	switch (l) {
	case LKE_LABEL_TYPE:
		text_put(&text, t->id);
		break;
	case LKE_LABEL_ZONE:
	case LKE_LABEL_REGION:
		text_put(&text, region);
		break;
	case LKE_LABEL_CAPACITY_TYPE:
		text_put(&text, "on-demand");
		break;
	case LKE_LABEL_ARCH:
		text_put(&text, "amd64");
		break;
	case LKE_LABEL_OS:
		text_put(&text, "linux");
		break;
	case LKE_LABEL_CPU:
		text_put_int(&text, t->vcpus);
		break;
	case LKE_LABEL_MEMORY:
		text_put_int(&text, t->memory_mib);
		break;
	case LKE_LABEL_DISK:
		text_put_int(&text, t->disk_mib);
		break;
	case LKE_LABEL_CLASS:
		text_put(&text, t->class);
		break;
	case LKE_LABEL_GENERATION:
		s = part(t->id, 0);
		if (part(t->id, 1).len > 0 && s.len > 1 && s.p[0] == 'g')
			text_putn(&text, s.p + 1, s.len - 1);
		else if (part(t->id, 1).len > 0)
			text_putn(&text, s.p, s.len);
		break;
	case LKE_LABEL_GPU_NAME:
		s = part(t->id, 2);
		if (wire_str_is(part(t->id, 1), "gpu") && s.len > 0)
			text_putn(&text, s.p, s.len);
		break;
	case LKE_LABEL_GPU_COUNT:
		text_put_int(&text, t->gpus);
		break;
	case LKE_LABEL_TRANSFER:
		text_put_int(&text, t->transfer_gb);
		break;
	case LKE_LABEL_NETWORK_OUT:
		text_put_int(&text, t->network_mbit);
		break;
	case LKE_LABEL_ACCELERATED:
		text_put_int(&text, t->accelerated);
		break;
	case LKE_LABEL_MAX:
		break;
	}
	return text.len;
}

const char *
lke_operator_name(enum lke_operator op)
{
	return (unsigned)op < LKE_OPERATOR_MAX ? operator_names[op] : "?";
}

bool
lke_operator_read(struct wire_str text, enum lke_operator *op)
{
	for (unsigned i = 0; i < LKE_OPERATOR_MAX; i++) {
		if (wire_str_is(text, operator_names[i])) {
			*op = (enum lke_operator)i;
			return true;
		}
	}
	return false;
}

bool
lke_requirement_allows(const struct lke_requirement *r, const struct lke_type *t, const char *region)
{
	const enum lke_label label = lke_label_find(r->key);
	char buf[LKE_LABEL_SIZE];

	if (label == LKE_LABEL_MAX)
		return true;
	const size_t len = lke_label_value(buf, t, region, label);
	const struct wire_str value = { buf, (uint32_t)len };
	switch (r->op) {
	case LKE_IN:
		return len > 0 && among(r, value);
	case LKE_NOT_IN:
		return len == 0 || !among(r, value);
	case LKE_EXISTS:
		return len > 0;
	case LKE_DOES_NOT_EXIST:
		return len == 0;
	case LKE_GT:
	case LKE_LT:
	case LKE_GTE:
	case LKE_LTE:
		return len > 0 && compare(r, value);
	case LKE_OPERATOR_MAX:
		break;
	}
	return false;
}

static bool
among(const struct lke_requirement *r, struct wire_str value)
{
	for (uint32_t i = 0; i < r->nvalues; i++) {
		if (wire_str_same(r->values[i], value))
			return true;
	}
	return false;
}

static bool
compare(const struct lke_requirement *r, struct wire_str value)
{
	uint64_t is, bound;

	if (r->nvalues != 1 || !number(value, &is) || !number(r->values[0], &bound))
		return false;
	return r->op == LKE_GT ? is > bound : r->op == LKE_LT ? is < bound
	    : r->op == LKE_GTE ? is >= bound : is <= bound;
}

static bool
number(struct wire_str s, uint64_t *out)
{
	uint64_t n = 0;

	if (s.len == 0 || s.len > 18)
		return false;
	for (uint32_t i = 0; i < s.len; i++) {
		if (!ascii_digit(s.p[i]))
			return false;
		n = n * 10 + (uint64_t)(s.p[i] - '0');
	}
	*out = n;
	return true;
}

/* The n-th part of an id between hyphens; empty when there is none. */
static struct wire_str
part(const char *id, unsigned n)
{
	size_t len = 0;

	for (; n > 0; n--) {
		while (*id != '\0' && *id != '-')
			id++;
		id += *id == '-';
	}
	while (id[len] != '\0' && id[len] != '-')
		len++;
	return (struct wire_str){ id, (uint32_t)len };
}
