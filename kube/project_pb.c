/* kube/project_pb.c - walks one protobuf object along a field tree. Nothing is copied but times. */
#include "pb.h"
#include "project_private.h"
#include "time.h"

/* The seconds that RFC 3339 can express: years 1 to 9999. */
#define SECONDS_MIN	INT64_C(-62135596800)
#define SECONDS_MAX	INT64_C(253402300799)

typedef bool reader(struct extract *, const struct field_node *, const struct pb_field *);
static reader inside, text, moment, quantity, integer, flag, pair, listed, record;
static bool walk(struct extract *, const struct field_node *, struct pb);
static struct text_span quantity_text(const struct pb_field *);

static const struct {
	enum pb_wire wire;
	reader	    *read;
} readers[] = {
	[NODE_OBJECT]	    = { PB_BYTES,  inside },
	[NODE_TEXT]	    = { PB_BYTES,  text },
	[NODE_TIME]	    = { PB_BYTES,  moment },
	[NODE_QUANTITY]	    = { PB_BYTES,  quantity },
	[NODE_INT]	    = { PB_VARINT, integer },
	[NODE_FLAG]	    = { PB_VARINT, flag },
	[NODE_MAP]	    = { PB_BYTES,  pair },
	[NODE_MAP_QUANTITY] = { PB_BYTES,  pair },
	[NODE_TEXTS]	    = { PB_BYTES,  listed },
	[NODE_ROWS]	    = { PB_BYTES,  record },
};

bool
walk_pb(struct extract *t, const void *bytes, size_t len)
{
	return walk(t, &t->tree->nodes[0], pb_over(bytes, len));
}

/* As deep as the tree, no deeper. */
static bool
walk(struct extract *t, const struct field_node *parent, struct pb m)
{
	for (struct pb_field f; pb_next(&m, &f);) {
		const struct field_node *s = field_tree_by_number(t->tree, parent, f.number);

		if (s == NULL)
			continue;
		if (f.wire != readers[s->what].wire)
			return extract_fail(t, s, NULL, 0, "not of the wire type that belongs here");
		if (!readers[s->what].read(t, s, &f))
			return false;
	}
	return m.broken == NULL || extract_fail(t, parent, NULL, 0, m.broken);
}

static bool
inside(struct extract *t, const struct field_node *s, const struct pb_field *f)
{
	return walk(t, s, pb_inside(f));
}

static bool
text(struct extract *t, const struct field_node *s, const struct pb_field *f)
{
	return extract_text(t, s, (const char *)f->p, f->len);
}

/* metav1.Time {1: seconds}. An empty message, and Go's zero time, are no time at all. */
static bool
moment(struct extract *t, const struct field_node *s, const struct pb_field *f)
{
	struct pb m = pb_inside(f);
	int64_t seconds = f->len == 0 ? SECONDS_MIN : 0;

	for (struct pb_field part; pb_next(&m, &part);) {
		if (part.number == 1 && part.wire == PB_VARINT)
			seconds = (int64_t)part.value;
	}
	if (m.broken != NULL)
		return extract_fail(t, s, NULL, 0, m.broken);
	if (seconds < SECONDS_MIN || seconds > SECONDS_MAX)
		return extract_fail(t, s, NULL, 0, "a time before the year 1 or after 9999");
	if (seconds == SECONDS_MIN)
		return extract_raw(t, s, "", 0);
	char *buf = extract_alloc(t, TIME_TEXT_MAX);
	const size_t len = time_format(seconds * 1000000, buf, TIME_TEXT_MAX);
	return extract_raw(t, s, buf, len);
}

static bool
quantity(struct extract *t, const struct field_node *s, const struct pb_field *f)
{
	const struct text_span v = quantity_text(f);

	return v.p == NULL ? extract_fail(t, s, NULL, 0, "not a quantity") : extract_text(t, s, v.p, v.len);
}

static bool
integer(struct extract *t, const struct field_node *s, const struct pb_field *f)
{
	return extract_int(t, s, (int64_t)f->value);
}

static bool
flag(struct extract *t, const struct field_node *s, const struct pb_field *f)
{
	return extract_flag(t, s, f->value != 0);
}

/* An entry of a map is a message {1: key, 2: value}. */
static bool
pair(struct extract *t, const struct field_node *s, const struct pb_field *f)
{
	struct text_span halves[2] = { { "", 0 }, { "", 0 } };
	struct pb m = pb_inside(f);

	for (struct pb_field part; pb_next(&m, &part);) {
		if (part.number > 2)
			continue;
		if (part.wire != PB_BYTES)
			return extract_fail(t, s, NULL, 0, "not of the wire type that belongs here");
		halves[part.number - 1] = part.number == 2 && s->what == NODE_MAP_QUANTITY
		    ? quantity_text(&part) : (struct text_span){ (const char *)part.p, part.len };
	}
	if (m.broken != NULL)
		return extract_fail(t, s, NULL, 0, m.broken);
	if (halves[1].p == NULL)
		return extract_fail(t, s, halves[0].p, halves[0].len, "not a quantity");
	return extract_pair(t, s, halves[0].p, halves[0].len, halves[1].p, halves[1].len);
}

static bool
listed(struct extract *t, const struct field_node *s, const struct pb_field *f)
{
	return extract_list_item(t, s, (const char *)f->p, f->len);
}

static bool
record(struct extract *t, const struct field_node *s, const struct pb_field *f)
{
	return extract_row(t, s) && walk(t, s, pb_inside(f));
}

/* resource.Quantity {1: text}; NULL: broken. */
static struct text_span
quantity_text(const struct pb_field *f)
{
	struct pb m = pb_inside(f);
	struct text_span v = { "", 0 };

	for (struct pb_field part; pb_next(&m, &part);) {
		if (part.number == 1 && part.wire == PB_BYTES)
			v = (struct text_span){ (const char *)part.p, part.len };
	}
	return m.broken == NULL ? v : (struct text_span){ NULL, 0 };
}
