/* actors/lke-claimer/answers_types.c - the catalogue and errors in answers; the parts that answers share. */
#include <string.h>

#include "answers_private.h"
#include "obj.h"

static void read_type(const struct reply_at *, const char *, struct lke_type *);
static void read_price(const struct reply_at *, const char *, struct lke_type *);
static bool read_hourly(const struct reply_at *, int64_t *);
static void read_amount(const struct reply_at *, const char *, enum reply_need, uint32_t *);

static const struct {
	const char	*label, *text;
} faults[LKE_FAULT_MAX] = {
#define LKE_FAULT_ROW(ID, label, text) [LKE_FAULT_##ID] = { label, text },
	LKE_FAULTS(LKE_FAULT_ROW)
#undef LKE_FAULT_ROW
};

bool
lke_answer_types(struct lke_body *b, const char *region, struct lke_types *t)
{
	struct lke_walk walk = t->walk;
	struct reply r;
	struct reply_at root, data, at;

	answer_page(&r, b, &root, &data, &walk);
	const size_t n = reply_count(&data);
	if (n > LKE_TYPES_MAX - t->n)
		reply_fail(&root, "data", "too many instance types");
	struct lke_type *const types = obj_alloc((t->n + n + 1) * sizeof(*types));
	if (t->n > 0)
		memcpy(types, t->types, t->n * sizeof(*types));
	for (size_t i = 0; reply_element(&data, i, &at); i++)
		read_type(&at, region, &types[t->n + i]);
	if (!answer_end(&r, b)) {
		free(types);
		return false;
	}
	free(t->types);
	t->types = types;
	t->n += n;
	t->walk = walk;
	return true;
}

bool
lke_answer_availability(struct lke_body *b, const char *region, struct lke_types *t)
{
	struct lke_type *const types = obj_alloc((t->n + 1) * sizeof(*types));
	struct reply r;
	struct reply_at at;

	if (t->n > 0)
		memcpy(types, t->types, t->n * sizeof(*types));
	/* The only list without pages: the body is the list. */
	reply_parse_list(&r, b->p, b->len);
	const struct reply_at root = reply_root(&r);
	for (size_t i = 0; reply_element(&root, i, &at); i++) {
		const char *plan = "", *where = "";
		bool available = true;

		reply_text(&at, "region", REPLY_REQUIRED, &where);
		reply_text(&at, "plan", REPLY_REQUIRED, &plan);
		reply_flag(&at, "available", REPLY_REQUIRED, &available);
		for (size_t k = 0; k < t->n && strcmp(where, region) == 0; k++) {
			if (strcmp(types[k].id, plan) == 0)
				types[k].available = available;
		}
	}
	if (!answer_end(&r, b)) {
		free(types);
		return false;
	}
	free(t->types);
	t->types = types;
	return true;
}

void
lke_types_free(struct lke_types *t)
{
	free(t->types);
	*t = (struct lke_types){ 0 };
}

/* ---- Errors ---- */

void
lke_answer_error(const struct lke_body *b, struct lke_error *out)
{
	struct reply r;
	struct reply_at errors, first;
	const char *text;

	*out = (struct lke_error){ .reason = "" };
	if (reply_parse(&r, b->p, b->len)) {
		const struct reply_at root = reply_root(&r);

		reply_list(&root, "errors", REPLY_REQUIRED, &errors);
		if (reply_element(&errors, 0, &first)) {
			if (reply_text(&first, "reason", REPLY_OPTIONAL, &text))
				snprintf(out->reason, sizeof(out->reason), "%s", text);
			if (reply_text(&first, "field", REPLY_OPTIONAL, &text))
				snprintf(out->field, sizeof(out->field), "%s", text);
		}
	}
	reply_free(&r, false);
}

/*
 * The texts for "no capacity" and "quota" are not documented. So a 400 for a pool means that, unless it is
 * about a field that has nothing to do with how many machines of which type there shall be.
 */
enum lke_fault
lke_fault(enum lke_call c, int status, const struct lke_error *e)
{
	static const char *const fields[] = {
		"tags", "labels", "taints", "k8s_version", "firewall_id", "update_strategy", "label",
		"disk_encryption", "X-Filter",
	};
	const bool sizes = c == LKE_CALL_CREATE_POOL || c == LKE_CALL_SCALE_POOL;

	if (status == 429)
		return LKE_FAULT_LIMITED;
	if (status == 401)
		return LKE_FAULT_TOKEN;
	if (status == 403)
		return LKE_FAULT_FORBIDDEN;
	if (status == 404)
		return LKE_FAULT_GONE;
	/* A gateway answers 400 without an error of the API. */
	if (status < 400 || status >= 500 || status == 408 || strcmp(e->reason, "Linode busy.") == 0
	    || (status == 400 && e->reason[0] == '\0'))
		return LKE_FAULT_TRANSIENT;
	for (size_t i = 0; i < NITEMS(fields); i++) {
		if (strcmp(e->field, fields[i]) == 0)
			return LKE_FAULT_INVALID;
	}
	return status == 400 && sizes ? LKE_FAULT_CAPACITY : LKE_FAULT_INVALID;
}

const char *
lke_fault_label(enum lke_fault f)
{
	return (unsigned)f < LKE_FAULT_MAX ? faults[f].label : "?";
}

const char *
lke_fault_text(enum lke_fault f)
{
	return (unsigned)f < LKE_FAULT_MAX ? faults[f].text : "?";
}

/* ---- What answers share ---- */

void
answer_page(struct reply *r, const struct lke_body *b, struct reply_at *root, struct reply_at *data,
    struct lke_walk *w)
{
	int64_t page = 0, pages = 0, results = 0;

	reply_parse(r, b->p, b->len);
	*root = reply_root(r);
	reply_list(root, "data", REPLY_REQUIRED, data);
	reply_i64(root, "page", REPLY_REQUIRED, &page);
	reply_i64(root, "pages", REPLY_REQUIRED, &pages);
	reply_i64(root, "results", REPLY_REQUIRED, &results);
	if (reply_ok(r) && !walk_page(w, page, pages, results, reply_count(data)))
		reply_fail(root, "page", "it does not belong to the pages before it");
}

bool
answer_end(struct reply *r, struct lke_body *b)
{
	const bool good = reply_ok(r);

	b->err[0] = '\0';
	if (!good)
		snprintf(b->err, sizeof(b->err), "%s", r->error);
	reply_free(r, false);
	return good;
}

bool
answer_id(const struct reply_at *at, const char *member, enum reply_need need, int64_t *out)
{
	int64_t id;

	if (!reply_i64(at, member, need, &id))
		return false;
	if (id <= 0)
		reply_fail(at, member, "not an id");
	else
		*out = id;
	return id > 0;
}

void
answer_name(const struct reply_at *at, const char *member, char *buf, size_t size)
{
	const char *text;

	if (!reply_text(at, member, REPLY_REQUIRED, &text))
		return;
	if (text[0] == '\0')
		reply_fail(at, member, "empty");
	else if (strlen(text) >= size)
		reply_fail(at, member, "too long");
	else
		memcpy(buf, text, strlen(text) + 1);
}

static void
read_type(const struct reply_at *at, const char *region, struct lke_type *t)
{
	answer_name(at, "id", t->id, sizeof(t->id));
	answer_name(at, "class", t->class, sizeof(t->class));
	read_amount(at, "vcpus", REPLY_REQUIRED, &t->vcpus);
	read_amount(at, "memory", REPLY_REQUIRED, &t->memory_mib);
	read_amount(at, "disk", REPLY_REQUIRED, &t->disk_mib);
	read_amount(at, "gpus", REPLY_OPTIONAL, &t->gpus);
	read_amount(at, "accelerated_devices", REPLY_OPTIONAL, &t->accelerated);
	read_amount(at, "transfer", REPLY_OPTIONAL, &t->transfer_gb);
	read_amount(at, "network_out", REPLY_OPTIONAL, &t->network_mbit);
	t->available = true;
	read_price(at, region, t);
}

/* The price of the region replaces the general one. */
static void
read_price(const struct reply_at *at, const char *region, struct lke_type *t)
{
	struct reply_at price, list, entry;
	const char *where;

	t->price = -1;
	if (reply_object(at, "price", REPLY_OPTIONAL, &price))
		read_hourly(&price, &t->price);
	reply_list(at, "region_prices", REPLY_OPTIONAL, &list);
	for (size_t i = 0; reply_element(&list, i, &entry); i++) {
		if (reply_text(&entry, "id", REPLY_REQUIRED, &where) && strcmp(where, region) == 0)
			read_hourly(&entry, &t->price);
	}
}

static bool
read_hourly(const struct reply_at *at, int64_t *out)
{
	double hourly;

	if (!reply_f64(at, "hourly", REPLY_OPTIONAL, &hourly))
		return false;
	if (hourly < 0 || hourly > 1e6)
		reply_fail(at, "hourly", "out of range");
	else
		*out = (int64_t)(hourly * 1e6 + 0.5);
	return true;
}

static void
read_amount(const struct reply_at *at, const char *member, enum reply_need need, uint32_t *out)
{
	int64_t n;

	if (!reply_i64(at, member, need, &n))
		return;
	if (n < 0 || n > UINT32_MAX / 2)
		reply_fail(at, member, "out of range");
	else
		*out = (uint32_t)n;
}
