/* actors/node-state/conditions.c - the texts of a NodeProgressInsight. Pure. */
#include "conditions.h"

#include <string.h>

#include "ascii.h"
#include "obj.h"
#include "text_buffer.h"
#include "utf8.h"

#define RULE_ROW(ID, phase, status, message, text)	[RULE_##ID] = { status, message },
static const struct {
	const char	*status, *message;
} updating[RULE_MAX] = { ASSESS_RULES(RULE_ROW) };

/* For a node that is neither degraded nor unavailable. */
static const char *const estimates[PHASE_MAX] = {
	[PHASE_DRAINING] = "10m0s", [PHASE_REBOOTING] = "10m0s", [PHASE_UPDATING] = "10m0s",
	[PHASE_COMPLETED] = "0s",   [PHASE_PAUSED] = "",         [PHASE_PENDING] = "",
};

#define NOTHING	((struct wire_str){ .p = "" })

static void set_unavailable(const struct assess *, struct conditions *);
static void set_degraded(const struct assess_in *, struct conditions *);
static struct wire_str join_causes(unsigned, char[CONDITIONS_CAUSES_MAX]);
static uint32_t identifier(struct wire_str, bool);

void
conditions_from(const struct assess_in *in, const struct assess *a, struct conditions *out)
{
	const bool certain = !a->degraded && a->available;

	out->list[CONDITION_UPDATING] = (struct state_condition){
		.type = "Updating", .status = updating[a->rule].status, .reason = assess_phase_name(a->phase),
		.message = wire_str_of(updating[a->rule].message), .since = NOTHING,
	};
	out->list[CONDITION_AVAILABLE] = (struct state_condition){
		.type = "Available", .status = "True", .reason = "AsExpected",
		.message = wire_str_of("The node is available"), .since = NOTHING,
	};
	out->list[CONDITION_DEGRADED] = (struct state_condition){
		.type = "Degraded", .status = "False", .reason = "AsExpected",
		.message = wire_str_of("The node is not degraded"), .since = NOTHING,
	};
	out->scope = wire_str_of(conditions_scope(in->pool));
	out->version = conditions_is_semver(in->current_version) ? in->current_version : NOTHING;
	out->phase = wire_str_of(assess_phase_name(a->phase));
	out->estimate = certain ? wire_str_of(estimates[a->phase]) : NOTHING;
	out->message = NOTHING;
	if (!a->available)
		set_unavailable(a, out);
	if (a->degraded)
		set_degraded(in, out);
}

const char *
conditions_scope(struct wire_str pool)
{
	return wire_str_is(pool, "master") ? "ControlPlane" : "WorkerPool";
}

struct wire_str
conditions_cut(struct wire_str text, uint32_t points)
{
	if (text.len == 0)
		return NOTHING;
	text.len = (uint32_t)utf8_cut(text.p, text.len, SIZE_MAX, points);
	return text;
}

/* 1.2.3 or 1.2.3-rc.1, as the CRD's pattern has it: no leading zeros, no build part. */
bool
conditions_is_semver(struct wire_str text)
{
	struct wire_str left = text;

	if (text.len > CONDITIONS_VERSION_MAX)
		return false;
	for (unsigned part = 0;; part++) {	/* three numbers, then the identifiers of a pre-release */
		const uint32_t n = identifier(left, part < 3);

		if (n == 0 || n == left.len)
			return n > 0 && part >= 2;
		if (left.p[n] != (part == 2 ? '-' : '.'))
			return false;
		left = (struct wire_str){ left.p + n + 1, left.len - n - 1 };
	}
}

static void
set_unavailable(const struct assess *a, struct conditions *out)
{
	struct state_condition *const c = &out->list[CONDITION_AVAILABLE];

	c->status = "False";
	c->reason = "Unavailable";
	c->message = join_causes(a->causes, out->causes);
	c->since = a->since;
	out->message = conditions_cut(c->message, CONDITIONS_MESSAGE_MAX);
}

/* The reason of the daemon can be long; each field has its own limit. */
static void
set_degraded(const struct assess_in *in, struct conditions *out)
{
	struct state_condition *const c = &out->list[CONDITION_DEGRADED];

	c->status = "True";
	c->reason = "Degraded";
	c->message = conditions_cut(in->mco[MCO_REASON], CONDITIONS_TEXT_MAX);
	out->message = conditions_cut(in->mco[MCO_REASON], CONDITIONS_MESSAGE_MAX);
}

static struct wire_str
join_causes(unsigned found, char buf[CONDITIONS_CAUSES_MAX])
{
	struct text_buffer t = { .p = buf, .size = CONDITIONS_CAUSES_MAX };

	for (unsigned i = 0; i < CAUSE_MAX; i++) {
		if ((found & 1U << i) == 0)
			continue;
		text_put(&t, t.len > 0 ? " | " : "");
		text_put(&t, assess_cause_text(i));
	}
	return (struct wire_str){ .p = buf, .len = (uint32_t)t.len };
}

/* How long the number, or the identifier, at the start is; 0: there is none. */
static uint32_t
identifier(struct wire_str s, bool number)
{
	uint32_t n = 0, digits = 0;

	for (; n < s.len; n++) {
		const bool digit = ascii_digit(s.p[n]);

		if (!digit && (number || (!ascii_letter(s.p[n]) && s.p[n] != '-')))
			break;
		digits += digit;
	}
	/* Digits alone are a number, also in a pre-release. */
	return digits == n && n > 1 && s.p[0] == '0' ? 0 : n;
}
