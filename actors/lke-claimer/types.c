/*
 * actors/lke-claimer/types.c - the cheapest instance type that fits a NodeClaim. Pure.
 *
 * The tests of a type come in a fixed order, and each type fails at one of them. When none passes, the
 * message is about the test that the last of them failed: that is what has to change.
 */
#include "types.h"

#include <string.h>

#include "obj.h"
#include "text_buffer.h"

/* How far a type came; a later one is nearer to being chosen. */
enum stage { AT_REQUIREMENTS, AT_RESOURCES, AT_REGION, AT_CAPACITY, FITS, STAGE_MAX };

struct view {
	const struct lke_resolve_input	*in;
	int64_t				 wanted[LKE_RESOURCE_MAX];
	uint8_t				 stage[LKE_TYPES_MAX];	/* of each type */
	uint32_t			 count[STAGE_MAX];	/* types that failed there */
	const struct lke_type		*best;
	int64_t				 retry_at_ms;
};

static bool read_claim(struct view *, struct text_buffer *);
static enum stage test(const struct view *, const struct lke_type *);
static bool cheaper(const struct lke_type *, const struct lke_type *);
static const struct lke_requirement *too_few(const struct view *, uint32_t *);
static bool first_of_its_value(const struct view *, const struct lke_requirement *, size_t);
static void explain(const struct view *, enum lke_resolved, struct text_buffer *);
static void put_match(const struct view *, struct text_buffer *);
static void put_room(const struct view *, struct text_buffer *);
static void put_requirement(struct text_buffer *, const struct lke_requirement *);

void
lke_resolve(const struct lke_resolve_input *in, struct lke_resolution *out)
{
	struct view v = { .in = in, .retry_at_ms = INT64_MAX };
	struct text_buffer text = { .p = out->message, .size = sizeof(out->message) };
	uint32_t values;

	out->message[0] = '\0';
	out->type = NULL;
	out->retry_at_ms = INT64_MAX;
	out->result = LKE_INVALID;
	MUST(in->ntypes <= LKE_TYPES_MAX);
	if (!read_claim(&v, &text))
		return;
	for (size_t i = 0; i < in->ntypes; i++) {
		const struct lke_type *const t = &in->types[i];
		const enum stage s = test(&v, t);

		v.stage[i] = (uint8_t)s;
		v.count[s]++;
		if (s == FITS && (v.best == NULL || cheaper(t, v.best)))
			v.best = t;
		if (s == AT_CAPACITY && t->refused_until_ms < v.retry_at_ms)
			v.retry_at_ms = t->refused_until_ms;
	}
	if (v.count[FITS] + v.count[AT_CAPACITY] > 0 && too_few(&v, &values) != NULL)
		out->result = LKE_TOO_FEW;
	else if (v.best != NULL)
		out->result = LKE_RESOLVED;
	else
		out->result = v.count[AT_CAPACITY] > 0 ? LKE_NO_CAPACITY
		    : v.count[AT_REGION] > 0 ? LKE_NOT_OFFERED
		    : v.count[AT_RESOURCES] > 0 ? LKE_NO_ROOM : LKE_NO_MATCH;
	if (out->result == LKE_RESOLVED)
		out->type = v.best;
	else
		explain(&v, out->result, &text);
	if (out->result == LKE_NO_CAPACITY)
		out->retry_at_ms = v.retry_at_ms;
}

/* Requests of the NodeClaim as numbers. False: the text has what is wrong. */
static bool
read_claim(struct view *v, struct text_buffer *text)
{
	for (uint32_t i = 0; i < v->in->nrequests; i++) {
		const struct lke_request *const q = &v->in->requests[i];
		const enum lke_resource r = lke_resource_find(q->name);
		int64_t amount = 0;

		/* The amount of a resource that no type has matters only if it is 0. */
		if (!lke_resource_read(r == LKE_RESOURCE_MAX ? LKE_PODS : r, q->quantity, &amount)) {
			text_put(text, "spec.resources.requests: the quantity of ");
			text_putn(text, q->name.p, q->name.len);
			text_put(text, " cannot be read");
			return false;
		}
		if (r == LKE_RESOURCE_MAX && amount > 0) {
			text_put(text, "spec.resources.requests: no instance type has ");
			text_putn(text, q->name.p, q->name.len);
			return false;
		}
		if (r != LKE_RESOURCE_MAX)
			v->wanted[r] = amount;
	}
	return true;
}

static enum stage
test(const struct view *v, const struct lke_type *t)
{
	const struct lke_resources has = lke_allocatable(t, v->in->sizing);

	for (uint32_t i = 0; i < v->in->nrequirements; i++) {
		if (!lke_requirement_allows(&v->in->requirements[i], t, v->in->region))
			return AT_REQUIREMENTS;
	}
	/* A plan whose memory is all reserved cannot run a Pod. */
	if (has.of[LKE_MEMORY] == 0 || has.of[LKE_CPU] == 0)
		return AT_RESOURCES;
	for (unsigned r = 0; r < LKE_RESOURCE_MAX; r++) {
		if (v->wanted[r] > has.of[r])
			return AT_RESOURCES;
	}
	if (!t->available)
		return AT_REGION;
	return t->refused_until_ms > v->in->now_ms ? AT_CAPACITY : FITS;
}

/* A type without a price comes last. Of equal prices the id decides, so that the choice is the same again. */
static bool
cheaper(const struct lke_type *a, const struct lke_type *b)
{
	/* -1 is the largest then. */
	const uint64_t price_a = (uint64_t)a->price, price_b = (uint64_t)b->price;

	return price_a != price_b ? price_a < price_b : strcmp(a->id, b->id) < 0;
}

/* The requirement whose minValues are more than the types that fit have; *values: how many they have. */
static const struct lke_requirement *
too_few(const struct view *v, uint32_t *values)
{
	for (uint32_t i = 0; i < v->in->nrequirements; i++) {
		const struct lke_requirement *const r = &v->in->requirements[i];

		*values = 0;
		if (r->min_values == 0 || lke_label_find(r->key) == LKE_LABEL_MAX)
			continue;
		for (size_t t = 0; t < v->in->ntypes; t++)
			*values += first_of_its_value(v, r, t);
		if (*values < r->min_values)
			return r;
	}
	return NULL;
}

/* The type fits, and none before it that fits has the same value of that label. */
static bool
first_of_its_value(const struct view *v, const struct lke_requirement *r, size_t t)
{
	const enum lke_label label = lke_label_find(r->key);
	char value[LKE_LABEL_SIZE], other[LKE_LABEL_SIZE];

	if (v->stage[t] < AT_CAPACITY
	    || lke_label_value(value, &v->in->types[t], v->in->region, label) == 0)
		return false;
	for (size_t i = 0; i < t; i++) {
		if (v->stage[i] >= AT_CAPACITY
		    && lke_label_value(other, &v->in->types[i], v->in->region, label) > 0
		    && strcmp(other, value) == 0)
			return false;
	}
	return true;
}

/* ---- The message ---- */

static void
explain(const struct view *v, enum lke_resolved result, struct text_buffer *text)
{
	const struct lke_requirement *r;
	uint32_t values;

	switch (result) {
	case LKE_NO_MATCH:
		put_match(v, text);
		break;
	case LKE_NO_ROOM:
		put_room(v, text);
		break;
	case LKE_NOT_OFFERED:
		text_put_int(text, v->count[AT_REGION]);
		text_put(text, " instance types fit, but none of them is available in the region ");
		text_put(text, v->in->region);
		text_put(text, ": allow other instance types");
		break;
	case LKE_TOO_FEW:
		r = too_few(v, &values);
		put_requirement(text, r);
		text_put(text, " requires ");
		text_put_int(text, r->min_values);
		text_put(text, " different values (minValues), but the instance types that fit have ");
		text_put_int(text, values);
		break;
	case LKE_NO_CAPACITY:
		text_put(text, "the API had no capacity for any of the ");
		text_put_int(text, v->count[AT_CAPACITY]);
		text_put(text, " instance types that fit, in the region ");
		text_put(text, v->in->region);
		text_put(text, ": allow other instance types, or raise the quota of the account");
		break;
	case LKE_RESOLVED:
	case LKE_INVALID:
		break;
	}
}

/* A requirement that no type satisfies by itself is named; else it is all of them together. */
static void
put_match(const struct view *v, struct text_buffer *text)
{
	const struct lke_resolve_input *const in = v->in;

	for (uint32_t i = 0; i < in->nrequirements; i++) {
		size_t t = 0;

		while (t < in->ntypes
		    && !lke_requirement_allows(&in->requirements[i], &in->types[t], in->region))
			t++;
		if (t == in->ntypes) {
			text_put(text, "no instance type of the region ");
			text_put(text, in->region);
			text_put(text, " satisfies the requirement ");
			put_requirement(text, &in->requirements[i]);
			return;
		}
	}
	text_put(text, "no instance type of the region ");
	text_put(text, in->region);
	text_put(text, " satisfies all requirements together");
}

/* The resource of which even the type that has most of it has too little, else all of them together. */
static void
put_room(const struct view *v, struct text_buffer *text)
{
	char amount[LKE_LABEL_SIZE];

	text_put_int(text, v->count[AT_RESOURCES]);
	text_put(text, " instance types satisfy the requirements, but none has room for the requests");
	for (unsigned r = 0; r < LKE_RESOURCE_MAX; r++) {
		int64_t most = 0;

		for (size_t i = 0; i < v->in->ntypes; i++) {
			const int64_t has = lke_allocatable(&v->in->types[i], v->in->sizing).of[r];

			if (v->stage[i] == AT_RESOURCES && has > most)
				most = has;
		}
		if (v->wanted[r] <= most)
			continue;
		text_put(text, ": ");
		text_put(text, lke_resource_name((enum lke_resource)r));
		text_put(text, " of ");
		lke_resource_put(amount, (enum lke_resource)r, v->wanted[r]);
		text_put(text, amount);
		text_put(text, " is requested, the largest has ");
		lke_resource_put(amount, (enum lke_resource)r, most);
		text_put(text, amount);
		text_put(text, " allocatable");
		return;
	}
	text_put(text, " together: request less, or allow larger instance types");
}

/* "node.kubernetes.io/instance-type In [a, b, ...]": a list of 600 would fill the message. */
static void
put_requirement(struct text_buffer *text, const struct lke_requirement *r)
{
	enum { SHOWN = 3 };

	text_putn(text, r->key.p, r->key.len);
	text_put(text, " ");
	text_put(text, lke_operator_name(r->op));
	if (r->nvalues == 0)
		return;
	text_put(text, " [");
	for (uint32_t i = 0; i < r->nvalues && i < SHOWN; i++) {
		text_put(text, i > 0 ? ", " : "");
		text_putn(text, r->values[i].p, r->values[i].len);
	}
	text_put(text, r->nvalues > SHOWN ? ", ...]" : "]");
}
