/* actors/node-state/assess.c - the assessment of one node. Pure. */
#include "assess.h"

#include <string.h>

#include "kube/time.h"
#include "obj.h"

#define CAUSE_ROW(ID, words, type, must)	[CAUSE_##ID] = { words, must },
static const struct {
	const char	*text, *must;	/* the status that its condition must have */
} causes[CAUSE_MAX] = { ASSESS_CAUSES(CAUSE_ROW) };

#define PHASE_ROW(ID, name)	[PHASE_##ID] = name,
static const char *const phases[PHASE_MAX] = { ASSESS_PHASES(PHASE_ROW) };

#define RULE_ROW(ID, phase, status, message, text)	[RULE_##ID] = { PHASE_##phase, text },
static const struct {
	enum assess_phase	 phase;
	const char		*text;
} rules[RULE_MAX] = { ASSESS_RULES(RULE_ROW) };

static bool failing(const struct assess_in *);
static bool draining(const struct assess_in *);
static enum assess_rule decide(const struct assess_in *, const struct assess *);
static unsigned find_causes(const struct assess_in *);
static bool done(const struct assess_in *);
static bool image_fits_pool(const struct assess_in *);
static struct wire_str earliest(const struct assess_in *, unsigned);

struct assess
assess_node(const struct assess_in *in)
{
	const struct wire_str current = in->mco[MCO_CURRENT_CONFIG], desired = in->mco[MCO_DESIRED_CONFIG];
	const bool has_version = in->current_version.len > 0;
	const bool at_target = has_version && wire_str_same(in->target, in->current_version);
	struct assess a = { .outdated = !at_target };

	/* Multi-arch migration: the version stays, the config changes. So both must agree. */
	a.updated = at_target && (desired.p == NULL || wire_str_same(current, desired));
	a.updating = !a.updated && has_version && in->desired_version.len > 0
	    && wire_str_same(in->target, in->desired_version);
	a.draining = a.updating && draining(in);
	a.degraded = desired.len > 0 && failing(in);
	a.rule = decide(in, &a);
	a.phase = rules[a.rule].phase;
	a.causes = image_fits_pool(in) ? find_causes(in) : 0;
	a.unavailable = a.causes != 0;
	a.available = !a.unavailable || a.updating;
	a.since = earliest(in, a.causes);
	return a;
}

const char *
assess_phase_name(enum assess_phase p)
{
	MUST(p < PHASE_MAX);
	return phases[p];
}

const char *
assess_cause_text(enum assess_cause c)
{
	MUST(c < CAUSE_MAX);
	return causes[c].text;
}

const char *
assess_rule_text(enum assess_rule r)
{
	MUST(r > RULE_NONE && r < RULE_MAX);
	return rules[r].text;
}

static enum assess_rule
decide(const struct assess_in *in, const struct assess *a)
{
	const struct wire_str state = in->mco[MCO_STATE];

	if (a->draining)
		return RULE_DRAINING;
	if (a->updating && wire_str_is(state, "Rebooting"))
		return RULE_REBOOTING;
	if (a->updating && wire_str_is(state, "Done"))
		return RULE_DONE;
	if (a->updating)
		return RULE_UPDATING;
	if (a->updated)
		return RULE_UPDATED;
	return in->paused ? RULE_PAUSED : RULE_PENDING;
}

/*
 * The drain controller has not applied the requested drain yet; or the daemon has not started yet (state
 * is still Done), which must not be taken for the end of the update.
 */
static bool
draining(const struct assess_in *in)
{
	const struct wire_str desired = in->mco[MCO_DESIRED_DRAIN], applied = in->mco[MCO_LAST_APPLIED_DRAIN];

	if (desired.len == 0 || applied.len == 0)
		return false;
	const char *const dash = memchr(desired.p, '-', desired.len);
	const struct wire_str verb = { desired.p, dash != NULL ? (uint32_t)(dash - desired.p) : desired.len };

	return (!wire_str_same(desired, applied) && wire_str_is(verb, "drain"))
	    || wire_str_is(in->mco[MCO_STATE], "Done");
}

static bool
failing(const struct assess_in *in)
{
	const struct wire_str state = in->mco[MCO_STATE];

	return wire_str_is(state, "Degraded") || wire_str_is(state, "Unreconcilable");
}

static unsigned
find_causes(const struct assess_in *in)
{
	unsigned found = 0;

	for (unsigned i = 0; i < ASSESS_CONDITIONS; i++) {
		const struct wire_str status = in->conditions[i].status;

		if (status.p != NULL && !wire_str_is(status, causes[i].must))
			found |= 1U << i;
	}
	if (in->unschedulable)
		found |= 1U << CAUSE_UNSCHEDULABLE;
	/* A node with a failing daemon can get another config, so it does not block the pool. */
	if (found == 0 && !done(in) && !failing(in))
		found = 1U << CAUSE_DAEMON;
	return found;
}

static bool
done(const struct assess_in *in)
{
	const struct wire_str current = in->mco[MCO_CURRENT_CONFIG];
	const struct wire_str image = in->mco[MCO_CURRENT_IMAGE], desired_image = in->mco[MCO_DESIRED_IMAGE];
	const bool images_done = (image.p == NULL && desired_image.p == NULL)
	    || (image.len > 0 && wire_str_same(image, desired_image));

	return current.len > 0 && wire_str_same(current, in->mco[MCO_DESIRED_CONFIG]) && images_done
	    && wire_str_is(in->mco[MCO_STATE], "Done");
}

/* As MCO: a node whose desired image is not the pool's is not unavailable. */
static bool
image_fits_pool(const struct assess_in *in)
{
	return wire_str_same(in->mco[MCO_DESIRED_IMAGE], in->pool_image);
}

/* A time that cannot be parsed is ignored. */
static struct wire_str
earliest(const struct assess_in *in, unsigned found)
{
	struct wire_str first = { .p = "" };
	int64_t first_us = INT64_MAX, us;

	for (unsigned i = 0; i < ASSESS_CONDITIONS; i++) {
		const struct wire_str since = in->conditions[i].since;

		if ((found & 1U << i) == 0 || since.len == 0 || !time_parse(since.p, since.len, &us))
			continue;
		if (us > TIME_UNSET_US && us < first_us) {
			first = since;
			first_us = us;
		}
	}
	return first;
}
