/* actors/vpsie-claimer/group.c - decides about one NodeGroup. Pure. */
#include "group.h"

#include <string.h>

#include "obj.h"
#include "random.h"
#include "text_index.h"

/* What a rule can require to be true or false. */
enum fact {
	EXISTS	  = 1 << 0,
	DELETING  = 1 << 1,
	FINALIZER = 1 << 2,
	MEMBERS	  = 1 << 3,	/* there are some */
	LIVE	  = 1 << 4,	/* ... that are not being deleted */
	VALID	  = 1 << 5,
	GROUP	  = 1 << 6,	/* its platform group is known */
	LISTED	  = 1 << 7,
	NAMED	  = 1 << 8,
	INTENT	  = 1 << 9,
	SENT	  = 1 << 10,
	ABSENT	  = 1 << 11,
	FEWER	  = 1 << 12,
	MORE	  = 1 << 13,
	REMOVABLE = 1 << 14,
	STALE	  = 1 << 15,
	SHARED	  = 1 << 16,	/* a NodeGroup of another namespace makes the platform group */
};

/* The first rule whose facts are all true, or all false, decides. */
static const struct {
	unsigned	 all_true, all_false;
	enum group_verb	 verb;
	const char	*why;
} rules[] = {
	{ 0,                  EXISTS,                 GROUP_NOTHING, "it does not exist" },
	{ DELETING,           FINALIZER,              GROUP_WAIT,    "it is being deleted, and our finalizer is gone" },
	{ DELETING | LIVE,    0,                      GROUP_REMOVE,  "it was deleted: its VPSieNodes go first" },
	{ DELETING | MEMBERS, 0,                      GROUP_WAIT,    "its VPSieNodes are being deleted" },
	{ DELETING,           0,                      GROUP_RELEASE, "it was deleted, and has no VPSieNodes" },
	{ 0,                  FINALIZER,              GROUP_HOLD,    "the finalizer comes before everything else" },
	{ STALE,              VALID,                  GROUP_STATUS,  "its spec cannot be served, and its status lacks that" },
	{ 0,                  VALID,                  GROUP_WAIT,    "its spec cannot be served" },
	{ 0,                  GROUP | LISTED,         GROUP_LIST,    "the groups of its cluster are not listed yet" },
	{ SHARED,             GROUP | NAMED | SENT,   GROUP_WAIT,    "a NodeGroup of its name in another namespace makes their group" },
	{ 0,                  GROUP | NAMED | INTENT, GROUP_INTEND,  "the intent comes before the request for a group" },
	{ INTENT,             GROUP | NAMED | SENT,   GROUP_MAKE,    "the platform has no group of its name" },
	{ SENT | ABSENT,      GROUP | NAMED,          GROUP_MAKE,    "two lists agree that its group was not made" },
	{ SENT,               GROUP | NAMED,          GROUP_WAIT,    "its group was requested, and may still appear" },
	{ FEWER,              0,                      GROUP_CREATE,  "it has fewer VPSieNodes than desired" },
	{ MORE | REMOVABLE,   0,                      GROUP_REMOVE,  "it has more VPSieNodes than desired" },
	{ STALE,              0,                      GROUP_STATUS,  "the status differs" },
	{ MORE,               0,                      GROUP_WAIT,    "it has too many VPSieNodes, and all are protected" },
	{ 0,                  0,                      GROUP_WAIT,    "it has as many VPSieNodes as desired" },
};

static const char *const verb_names[GROUP_VERB_MAX] = {
#define GROUP_NAME(ID, name) [GROUP_##ID] = (name),
	GROUP_VERBS(GROUP_NAME)
};

static bool valid(const struct group_input *, struct group_plan *);
static bool bad(struct group_plan *, const char *, const char *);
static void put(struct group_plan *, const char *);
static void put_number(struct group_plan *, int64_t);
static void count(const struct group_input *, struct group_plan *, uint32_t *);
static uint32_t sort_removable(const struct group_input *, uint32_t *, uint32_t *);
static id_before removed_before;
static uint64_t mix(uint64_t, struct wire_str);

void
group_plan(const struct group_input *in, uint32_t *order, uint32_t *spare, struct group_plan *out)
{
	uint32_t live = 0;
	size_t i = 0;

	*out = (struct group_plan){ .reason = "" };
	const bool is_valid = !in->exists || valid(in, out);
	out->group_id = in->group_id > 0 ? in->group_id : in->listed && in->named == 1 ? in->listed_id : 0;
	count(in, out, &live);
	const uint32_t removable = sort_removable(in, order, spare);
	const uint32_t more = is_valid && live > out->desired ? live - (uint32_t)out->desired : 0;
	const struct {
		bool		holds;
		enum fact	fact;
	} all[] = {
		{ in->exists, EXISTS }, { in->deleting, DELETING }, { in->finalizer, FINALIZER },
		{ in->nmembers > 0, MEMBERS }, { live > 0, LIVE }, { is_valid, VALID },
		{ out->group_id > 0, GROUP }, { in->listed, LISTED }, { in->named > 0, NAMED },
		{ in->intent, INTENT }, { in->sent, SENT }, { in->absence == ABSENCE_CONFIRMED, ABSENT },
		{ is_valid && live < out->desired, FEWER }, { more > 0, MORE }, { removable > 0, REMOVABLE },
		{ in->stale, STALE }, { in->shared, SHARED },
	};
	unsigned facts = 0;
	for (size_t k = 0; k < NITEMS(all); k++)
		facts |= all[k].holds ? all[k].fact : 0;
	while ((facts & rules[i].all_true) != rules[i].all_true || (facts & rules[i].all_false) != 0)
		i++;
	out->verb = rules[i].verb;
	out->why = rules[i].why;
	if (out->verb == GROUP_CREATE)
		out->create = (uint32_t)out->desired - live;
	if (out->verb == GROUP_REMOVE)
		out->nremove = in->deleting || removable < more ? removable : more;
	out->scaling = is_valid && live != out->desired;
}

const char *
group_verb_name(enum group_verb v)
{
	return (unsigned)v < GROUP_VERB_MAX ? verb_names[v] : "?";
}

void
group_vpsienode_name(char out[VPSIENODE_NAME_MAX], struct wire_str group, struct wire_str uid,
    struct wire_str salt, uint32_t number)
{
	uint64_t h = mix(mix(number, uid), salt);
	const uint32_t len = group.len < GROUP_NAME_MAX ? group.len : GROUP_NAME_MAX;

	h = random_next(&h);
	memcpy(out, group.p, len);
	out[len] = '-';
	for (uint32_t i = 0; i < 8; i++)
		out[len + 1 + i] = "0123456789abcdef"[h >> 4 * i & 15];
	out[len + 9] = '\0';
}

/* ---- Input that cannot be served ---- */

/* False: reason and message have the cause, and what to do. */
static bool
valid(const struct group_input *in, struct group_plan *out)
{
	if (in->name.len > GROUP_NAME_MAX)
		return bad(out, "InvalidName",
		    "its name has more than 54 characters, so that labels cannot hold the names of its "
		    "VPSieNodes: create one with a shorter name");
	if (in->min < 0 || in->max < 0)
		return bad(out, "InvalidSpec", "minNodes and maxNodes must not be negative");
	if (in->min > in->max) {
		bad(out, "InvalidSpec", "minNodes (");
		put_number(out, in->min);
		put(out, ") is greater than maxNodes (");
		put_number(out, in->max);
		put(out, "): nothing is created or removed until one of them is changed");
		return false;
	}
	if (in->cluster.len == 0)
		return bad(out, "InvalidSpec",
		    "resourceIdentifier is empty: set it to the identifier of the cluster");
	if (in->cluster_missing)
		return bad(out, "ClusterNotFound",
		    "the provider has no cluster of this resourceIdentifier: correct it");
	if (in->group_id <= 0 && in->listed && in->named > 1)
		return bad(out, "AmbiguousGroup",
		    "the cluster has several groups of this name: delete all but one of them");
	if (in->group_id <= 0 && in->listed && in->named == 0 && in->kube_size <= 0)
		return bad(out, "InvalidSpec",
		    "the cluster has no group of this name: set kubeSizeID, so that it can be made");
	return true;
}

/* Always false. */
static bool
bad(struct group_plan *out, const char *reason, const char *message)
{
	out->reason = reason;
	put(out, message);
	return false;
}

static void
put(struct group_plan *out, const char *text)
{
	const size_t len = strlen(out->message), n = strlen(text);

	MUST(len + n < sizeof(out->message));
	memcpy(out->message + len, text, n + 1);
}

static void
put_number(struct group_plan *out, int64_t n)
{
	char digits[24] = { '\0' };
	size_t at = sizeof(digits) - 1;

	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	put(out, digits + at);
}

/* ---- Members ---- */

static void
count(const struct group_input *in, struct group_plan *out, uint32_t *live)
{
	const int64_t wanted = in->has_desired ? in->desired : in->min;

	out->desired = wanted < in->min ? in->min : wanted > in->max ? in->max : wanted;
	out->at_min = out->desired == in->min;
	out->at_max = out->desired == in->max;
	out->current = in->nmembers;
	for (uint32_t i = 0; i < in->nmembers; i++) {
		out->ready += in->members[i].phase == PHASE_READY && !in->members[i].deleting;
		*live += !in->members[i].deleting;
	}
}

/* Those that may go, in the order in which they go. */
static uint32_t
sort_removable(const struct group_input *in, uint32_t *order, uint32_t *spare)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < in->nmembers; i++) {
		if (!in->members[i].deleting && (in->deleting || !in->members[i].protected))
			order[n++] = i;
	}
	id_sort(order, spare, n, removed_before, in->members);
	return n;
}

static bool
removed_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct group_member *const x = (const struct group_member *)arg + a;
	const struct group_member *const y = (const struct group_member *)arg + b;
	const bool ready_x = x->phase == PHASE_READY, ready_y = y->phase == PHASE_READY;

	if (x->shed != y->shed)
		return x->shed;
	if (ready_x != ready_y)
		return !ready_x;
	if (x->created_us != y->created_us)
		return x->created_us > y->created_us;
	return wire_str_compare(x->name, y->name) > 0;
}

static uint64_t
mix(uint64_t h, struct wire_str s)
{
	for (uint32_t i = 0; i < s.len; i++)
		h = (h ^ (uint8_t)s.p[i]) * 0x100000001b3u;
	return random_next(&h);
}
