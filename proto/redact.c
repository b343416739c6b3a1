/*
 * proto/redact.c - hides what the schema declares secret, before a message is shown or copied.
 *
 * Every field of every body passes through the redact_ function of its type. A new type does not
 * compile without one, and a new message with a secret needs nothing here.
 */
#include <string.h>

#include "msg.h"
#include "obj.h"

#define HIDDEN	"***"

/* What earlier fields of the body decide about later ones. */
struct redaction {
	struct wire_str		 resource;
	enum msg		 nested;
	struct msg_arena	*arena;
	bool			 inside;	/* of a value: there is no value in a value */
	bool			 hidden;
};

static bool redact(enum msg, union msg_body *, struct msg_arena *, bool);
static void
redact_secret(struct redaction *r, wire_secret *v)
{
	*v = (wire_secret){ 0 };
	r->hidden = true;
}

static void
redact_resource(struct redaction *r, const wire_resource *v)
{
	r->resource = *v;
}

static void
redact_object(struct redaction *r, wire_object *v)
{
	if (!msg_object_is_secret(r->resource))
		return;
	*v = wire_str_of(HIDDEN);
	r->hidden = true;
}

static void
redact_number(struct redaction *r, const wire_number *v)
{
	r->nested = msg_by_number(*v);
}

static void
replace(struct redaction *r, wire_value *v, const union msg_body *body)
{
	msgpack_sbuffer packed;

	msgpack_sbuffer_init(&packed);
	msg_pack(&packed, r->nested, body);
	uint8_t *copy = msg_arena_alloc(r->arena, packed.size);
	*v = (wire_value){ .p = memcpy(copy, packed.data, packed.size), .len = (uint32_t)packed.size };
	msgpack_sbuffer_destroy(&packed);
}

static void
redact_value(struct redaction *r, wire_value *v)
{
	union msg_body body;

	if (v->len == 0 || (r->nested != MSG_MAX && !msg_table[r->nested].secret))
		return;
	if (r->inside || r->nested == MSG_MAX
	    || !msg_unpack_value(r->nested, v->p, v->len, r->arena, &body)) {
		*v = (wire_value){ 0 };
		r->hidden = true;
	} else if (redact(r->nested, &body, r->arena, true)) {
		replace(r, v, &body);
		r->hidden = true;
	}
}

#define redact_str(r, v)
#define redact_bin(r, v)
#define redact_u64(r, v)
#define redact_i64(r, v)
#define redact_f64(r, v)
#define redact_flag(r, v)
#define redact_nums(r, v)
#define redact_map(r, v)
#define redact_rows(r, v)

#define REDACT(type, name, ...)	redact_##type(r, &m->name);
#define REDACTOR(body)								\
	static void								\
	redact_body_##body(struct redaction *r, union msg_body *any)		\
	{									\
		struct body_##body *m = &any->body;				\
		(void)r, (void)m;						\
		body##_FIELDS(REDACT)						\
	}
BODIES(REDACTOR)

static void (*const redactors[MSG_MAX])(struct redaction *, union msg_body *) = {
#define REDACTOR_ROW(ID, body, ...) [MSG_##ID] = redact_body_##body,
	MESSAGES(REDACTOR_ROW)
};

bool
msg_redact(enum msg m, union msg_body *body, struct msg_arena *arena)
{
	return redact(m, body, arena, false);
}

/* Of whatever API group: one too many is better than one too few. */
bool
msg_object_is_secret(struct wire_str resource)
{
	return resource.len == 0 || wire_str_compare(resource, wire_str_of("secrets")) == 0;
}

static bool
redact(enum msg m, union msg_body *body, struct msg_arena *arena, bool inside)
{
	struct redaction r = { .nested = MSG_MAX, .arena = arena, .inside = inside };

	MUST((unsigned)m < MSG_MAX);
	redactors[m](&r, body);
	return r.hidden;
}
