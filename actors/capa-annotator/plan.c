/* actors/capa-annotator/plan.c - decides what to do about one MachineDeployment. Pure. */
#include "capa.h"

#include <string.h>

#include "obj.h"
#include "utf8.h"

/* What a rule can require to be true or false. */
enum fact {
	SYNCED		  = 1 << 0,
	DELETING	  = 1 << 1,
	LEADING		  = 1 << 2,
	REFERENCE	  = 1 << 3,	/* infrastructureRef has a name */
	AWS_REFERENCE	  = 1 << 4,	/* ... and names an AWSMachineTemplate */
	TEMPLATE_LISTED	  = 1 << 5,
	TEMPLATE_READABLE = 1 << 6,
	TEMPLATE	  = 1 << 7,
	TYPE_NAMED	  = 1 << 8,
	REGION_LISTED	  = 1 << 9,	/* all that could have the region has been listed */
	REGION		  = 1 << 10,
	REGION_VALID	  = 1 << 11,
	SAME_PARTITION	  = 1 << 12,
	FOUND		  = 1 << 13,	/* the catalogue has been asked */
	WALKING		  = 1 << 14,
	FAILED		  = 1 << 15,
	UNKNOWN		  = 1 << 16,
	FIGURES		  = 1 << 17,
	LABELS_FIT	  = 1 << 18,
	DIFFERS		  = 1 << 19,
	REFUSED		  = 1 << 20,
	HELD		  = 1 << 21,
};

/* What a message names behind its reason. */
enum subject { NO_SUBJECT, OF_REFERENCE, OF_TEMPLATE, OF_CLUSTER, OF_REGION, OF_TYPE };

/* The object and the texts that facts and messages are about. */
struct view {
	struct capa_object		 template;
	enum capa_reference_check	 check;
	bool				 labels_fit;
};

static unsigned facts_of(const struct capa_input *, const struct capa_plan *, const struct view *);
static bool unread(const struct capa_input *);
static void put_message(const struct capa_input *, const struct view *, enum subject, struct capa_plan *);
static void put(struct capa_plan *, size_t *, struct wire_str);

/* The Event of a rule. */
enum { NONE = CAPA_EVENT_NONE, ERROR = CAPA_RECONCILE_ERROR, UPDATE = CAPA_FAILED_UPDATE };

/* The first rule whose facts are all true, or all false, decides; the last one covers the rest. */
static const struct rule {
	unsigned	 all_true, all_false;
	enum capa_verb	 verb;
	int		 event;
	enum subject	 subject;
	const char	*why;
} rules[] = {
	{ 0, SYNCED,            CAPA_WAIT,    NONE,   NO_SUBJECT,   "the first snapshot is not complete" },
	{ DELETING, 0,          CAPA_NOTHING, NONE,   NO_SUBJECT,   "it is being deleted" },
	{ 0, LEADING,           CAPA_WAIT,    NONE,   NO_SUBJECT,   "this instance is not the leader" },
	{ 0, REFERENCE,         CAPA_WARN,    ERROR,  NO_SUBJECT,   "infrastructureRef is missing or has no name" },
	{ 0, AWS_REFERENCE,     CAPA_WARN,    ERROR,  OF_REFERENCE, "infrastructureRef does not name an AWSMachineTemplate" },
	{ 0, TEMPLATE_LISTED,   CAPA_WAIT,    NONE,   OF_TEMPLATE,  "the AWSMachineTemplates are not listed yet" },
	{ 0, TEMPLATE_READABLE, CAPA_WARN,    ERROR,  OF_TEMPLATE,  "reading AWSMachineTemplates is forbidden" },
	{ 0, TEMPLATE,          CAPA_WARN,    ERROR,  OF_TEMPLATE,  "the AWSMachineTemplate does not exist" },
	{ 0, TYPE_NAMED,        CAPA_WARN,    ERROR,  OF_TEMPLATE,  "the AWSMachineTemplate has no instanceType" },
	{ 0, REGION_LISTED,     CAPA_WAIT,    NONE,   OF_CLUSTER,   "the objects that have the region are not listed yet" },
	{ 0, REGION,            CAPA_WARN,    ERROR,  OF_CLUSTER,   "neither Cluster nor annotation leads to a region" },
	{ 0, REGION_VALID,      CAPA_WARN,    ERROR,  OF_REGION,    "this is not the name of an AWS region" },
	{ 0, SAME_PARTITION,    CAPA_WARN,    ERROR,  OF_REGION,    "the region is in another partition than the role" },
	{ 0, FOUND,             CAPA_FIND,    NONE,   OF_TYPE,      "the catalogue of the region is needed" },
	{ WALKING, 0,           CAPA_WAIT,    NONE,   OF_TYPE,      "the instance types of the region are being read" },
	{ FAILED, 0,            CAPA_WAIT,    NONE,   OF_TYPE,      "the instance types of the region could not be read" },
	{ UNKNOWN, 0,           CAPA_WARN,    UPDATE, OF_TYPE,      "unknown instance type" },
	{ 0, FIGURES,           CAPA_WARN,    ERROR,  OF_TYPE,      "EC2 gives no vCPU count or no memory size for it" },
	{ 0, LABELS_FIT,        CAPA_WARN,    ERROR,  NO_SUBJECT,   "the annotation for labels is too long" },
	{ 0, DIFFERS,           CAPA_NOTHING, NONE,   OF_TYPE,      "the annotations are right" },
	{ REFUSED, 0,           CAPA_WAIT,    NONE,   NO_SUBJECT,   "the server refused the patch, and nothing has changed since" },
	{ HELD, 0,              CAPA_WAIT,    NONE,   NO_SUBJECT,   "the last patch was forbidden" },
	{ 0, 0,                 CAPA_PATCH,   NONE,   OF_TYPE,      "the annotations differ" },
};

static const char *const verb_names[CAPA_VERB_MAX] = {
	[CAPA_NOTHING] = "nothing", [CAPA_WAIT] = "wait", [CAPA_WARN] = "warn", [CAPA_FIND] = "find",
	[CAPA_PATCH] = "patch",
};

static const char *const reasons[] = {
	[CAPA_EVENT_NONE] = "", [CAPA_RECONCILE_ERROR] = "ReconcileError",
	[CAPA_FAILED_UPDATE] = "FailedUpdate",
};

void
capa_plan(const struct capa_input *s, struct capa_plan *out)
{
	struct view v = { .labels_fit = true };
	size_t i = 0;

	const bool has_region = s->region_object == CAPA_PRESENT && s->region.len > 0;
	out->region = has_region ? s->region : s->region_annotation;
	out->type = s->instance_type;
	out->annotations.changes = 0;
	v.check = capa_template_of(&s->infrastructure, s->namespace, &v.template);
	if (s->found && s->answer == CATALOGUE_KNOWN)
		v.labels_fit = capa_annotations(&s->type, s->current, &out->annotations);
	const unsigned facts = facts_of(s, out, &v);
	while ((facts & rules[i].all_true) != rules[i].all_true || (facts & rules[i].all_false) != 0) {
		i++;
		MUST(i < NITEMS(rules));
	}
	out->verb = rules[i].verb;
	out->event = (enum capa_event)rules[i].event;
	out->why = rules[i].why;
	out->after_ms = rules[i].all_true == HELD ? s->hold_ms : 0;
	if (out->verb != CAPA_PATCH)
		out->annotations.changes = 0;
	put_message(s, &v, rules[i].subject, out);
}

const char *
capa_verb_name(enum capa_verb v)
{
	return (unsigned)v < CAPA_VERB_MAX ? verb_names[v] : "?";
}

const char *
capa_event_reason(enum capa_event e)
{
	return (unsigned)e < NITEMS(reasons) ? reasons[e] : "?";
}

static unsigned
facts_of(const struct capa_input *s, const struct capa_plan *p, const struct view *v)
{
	const bool valid = aws_region_valid(p->region);
	const struct {
		bool		holds;
		enum fact	fact;
	} all[] = {
		{ s->synced, SYNCED },
		{ s->deleting, DELETING },
		{ s->leading, LEADING },
		{ v->check != CAPA_REFERENCE_EMPTY, REFERENCE },
		{ v->check == CAPA_REFERENCE_GOOD, AWS_REFERENCE },
		{ s->template != CAPA_UNREAD, TEMPLATE_LISTED },
		{ s->template != CAPA_FORBIDDEN, TEMPLATE_READABLE },
		{ s->template == CAPA_PRESENT, TEMPLATE },
		{ s->instance_type.len > 0, TYPE_NAMED },
		{ !unread(s), REGION_LISTED },
		{ p->region.len > 0, REGION },
		{ valid, REGION_VALID },
		{ valid && aws_region_partition(p->region) == s->partition, SAME_PARTITION },
		{ s->found, FOUND },
		{ s->found && s->answer == CATALOGUE_WAITING, WALKING },
		{ s->found && s->answer == CATALOGUE_FAILED, FAILED },
		{ s->found && s->answer == CATALOGUE_UNKNOWN, UNKNOWN },
		{ s->type.vcpus > 0 && s->type.memory_mib > 0, FIGURES },
		{ v->labels_fit, LABELS_FIT },
		{ p->annotations.changes > 0, DIFFERS },
		{ s->refused, REFUSED },
		{ s->hold_ms > 0, HELD },
	};
	unsigned facts = 0;

	for (size_t i = 0; i < NITEMS(all); i++)
		facts |= all[i].holds ? all[i].fact : 0;
	return facts;
}

/* The region could still come from an object of a kind that is not listed yet. */
static bool
unread(const struct capa_input *s)
{
	return s->cluster_name.len > 0
	    && (s->cluster == CAPA_UNREAD || (s->cluster == CAPA_PRESENT && s->region_object == CAPA_UNREAD));
}

/* ---- The message: the reason, and what it is about ---- */

static void
put_message(const struct capa_input *s, const struct view *v, enum subject subject, struct capa_plan *out)
{
	const struct wire_str slash = wire_str_of("/");
	const struct wire_str parts[][3] = {
		[NO_SUBJECT] = { { .len = 0 } },
		[OF_REFERENCE] = { s->infrastructure.kind, slash, s->infrastructure.name },
		[OF_TEMPLATE] = { v->template.namespace, slash, v->template.name },
		[OF_CLUSTER] = { s->namespace, slash, s->cluster_name },
		[OF_REGION] = { out->region },
		[OF_TYPE] = { out->type, wire_str_of(" in "), out->region },
	};
	size_t len = 0;

	put(out, &len, wire_str_of(out->why));
	if (subject != NO_SUBJECT)
		put(out, &len, wire_str_of(": "));
	for (size_t i = 0; i < NITEMS(parts[subject]); i++)
		put(out, &len, parts[subject][i]);
	out->message[len] = '\0';
}

/* Cut between characters when it does not fit. */
static void
put(struct capa_plan *out, size_t *len, struct wire_str s)
{
	const size_t n = s.len == 0 ? 0 : utf8_cut(s.p, s.len, CAPA_MESSAGE_MAX - 1 - *len, s.len);

	if (n > 0)
		memcpy(out->message + *len, s.p, n);
	*len += n;
}
