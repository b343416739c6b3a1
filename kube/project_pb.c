/* kube/project_pb.c - along the steps through one object as protobuf. Nothing is copied but times. */
#include "pb.h"
#include "project_private.h"
#include "time.h"

/* The seconds that RFC 3339 can say: years 1 to 9999. */
#define SECONDS_MIN	INT64_C(-62135596800)
#define SECONDS_MAX	INT64_C(253402300799)

static bool walk(struct take *, const struct step *, struct pb);
static bool inside(struct take *, const struct step *, const struct pb_field *);
static bool text(struct take *, const struct step *, const struct pb_field *);
static bool moment(struct take *, const struct step *, const struct pb_field *);
static bool quantity(struct take *, const struct step *, const struct pb_field *);
static bool integer(struct take *, const struct step *, const struct pb_field *);
static bool flag(struct take *, const struct step *, const struct pb_field *);
static bool pair(struct take *, const struct step *, const struct pb_field *);
static bool listed(struct take *, const struct step *, const struct pb_field *);
static bool record(struct take *, const struct step *, const struct pb_field *);
static struct view quantity_text(const struct pb_field *);

static const struct {
	enum pb_wire wire;
	bool (*take)(struct take *, const struct step *, const struct pb_field *);
} readers[] = {
	[STEP_IN]	    = { PB_BYTES,  inside },
	[STEP_TEXT]	    = { PB_BYTES,  text },
	[STEP_TIME]	    = { PB_BYTES,  moment },
	[STEP_QUANTITY]	    = { PB_BYTES,  quantity },
	[STEP_INT]	    = { PB_VARINT, integer },
	[STEP_FLAG]	    = { PB_VARINT, flag },
	[STEP_MAP]	    = { PB_BYTES,  pair },
	[STEP_MAP_QUANTITY] = { PB_BYTES,  pair },
	[STEP_TEXTS]	    = { PB_BYTES,  listed },
	[STEP_ROWS]	    = { PB_BYTES,  record },
};

bool
walk_pb(struct take *t, const void *bytes, size_t len)
{
	return walk(t, &t->way->steps[0], pb_over(bytes, len));
}

/* As deep as the steps go, no deeper. */
static bool
walk(struct take *t, const struct step *parent, struct pb m)
{
	for (struct pb_field f; pb_next(&m, &f);) {
		const struct step *s = way_by_number(t->way, parent, f.number);

		if (s == NULL)
			continue;
		if (f.wire != readers[s->what].wire)
			return take_refuse(t, s, NULL, 0, "not of the wire type that belongs here");
		if (!readers[s->what].take(t, s, &f))
			return false;
	}
	return m.broken == NULL || take_refuse(t, parent, NULL, 0, m.broken);
}

static bool
inside(struct take *t, const struct step *s, const struct pb_field *f)
{
	return walk(t, s, pb_inside(f));
}

static bool
text(struct take *t, const struct step *s, const struct pb_field *f)
{
	return take_text(t, s, (const char *)f->p, f->len);
}

/* metav1.Time {1: seconds}. An empty message, and Go's zero time, are no time at all. */
static bool
moment(struct take *t, const struct step *s, const struct pb_field *f)
{
	struct pb m = pb_inside(f);
	int64_t seconds = f->len == 0 ? SECONDS_MIN : 0;

	for (struct pb_field part; pb_next(&m, &part);) {
		if (part.number == 1 && part.wire == PB_VARINT)
			seconds = (int64_t)part.value;
	}
	if (m.broken != NULL)
		return take_refuse(t, s, NULL, 0, m.broken);
	if (seconds < SECONDS_MIN || seconds > SECONDS_MAX)
		return take_refuse(t, s, NULL, 0, "a time before the year 1 or after 9999");
	if (seconds == SECONDS_MIN)
		return take_raw(t, s, "", 0);
	char *buf = take_memory(t, TIME_TEXT_MAX);
	const size_t len = time_format(seconds * 1000000, buf, TIME_TEXT_MAX);
	return take_raw(t, s, buf, len);
}

static bool
quantity(struct take *t, const struct step *s, const struct pb_field *f)
{
	const struct view v = quantity_text(f);

	return v.p == NULL ? take_refuse(t, s, NULL, 0, "not a quantity") : take_text(t, s, v.p, v.len);
}

static bool
integer(struct take *t, const struct step *s, const struct pb_field *f)
{
	return take_int(t, s, (int64_t)f->value);
}

static bool
flag(struct take *t, const struct step *s, const struct pb_field *f)
{
	return take_flag(t, s, f->value != 0);
}

/* An entry of a map is a message {1: key, 2: value}. */
static bool
pair(struct take *t, const struct step *s, const struct pb_field *f)
{
	struct view halves[2] = { { "", 0 }, { "", 0 } };
	struct pb m = pb_inside(f);

	for (struct pb_field part; pb_next(&m, &part);) {
		if (part.number > 2)
			continue;
		if (part.wire != PB_BYTES)
			return take_refuse(t, s, NULL, 0, "not of the wire type that belongs here");
		halves[part.number - 1] = part.number == 2 && s->what == STEP_MAP_QUANTITY
		    ? quantity_text(&part) : (struct view){ (const char *)part.p, part.len };
	}
	if (m.broken != NULL)
		return take_refuse(t, s, NULL, 0, m.broken);
	if (halves[1].p == NULL)
		return take_refuse(t, s, halves[0].p, halves[0].len, "not a quantity");
	return take_pair(t, s, halves[0].p, halves[0].len, halves[1].p, halves[1].len);
}

static bool
listed(struct take *t, const struct step *s, const struct pb_field *f)
{
	return take_listed(t, s, (const char *)f->p, f->len);
}

static bool
record(struct take *t, const struct step *s, const struct pb_field *f)
{
	return take_row(t, s) && walk(t, s, pb_inside(f));
}

/* resource.Quantity {1: text}; NULL: broken. */
static struct view
quantity_text(const struct pb_field *f)
{
	struct pb m = pb_inside(f);
	struct view v = { "", 0 };

	for (struct pb_field part; pb_next(&m, &part);) {
		if (part.number == 1 && part.wire == PB_BYTES)
			v = (struct view){ (const char *)part.p, part.len };
	}
	return m.broken == NULL ? v : (struct view){ NULL, 0 };
}
