/* actors/vpsie-claimer/fsm.c - the phases as a table: phase x event. Pure. An empty cell means: ignore. */
#include "fsm.h"

#include "obj.h"

static unsigned events_of(const struct vpsie_facts *);
static bool machine_wanted(const struct vpsie_facts *);

/* A cell: what is done, the phase afterwards, and the reason that is written with it. */
struct cell {
	enum vpsie_verb		 verb;
	enum vpsie_phase	 next;		/* PHASE_NEW: it stays */
	const char		*reason, *message;
};

#define DISCOVERY_TIMEOUT	"VPS discovery timeout: unable to discover VPS ID after async provisioning"

#define TERMINATE	{ VPSIE_MOVE, PHASE_TERMINATING, "Terminating", "deletion requested" }
#define VM_LOST		{ VPSIE_MOVE, PHASE_FAILED, "VPSNotFound", "the VPS was deleted by somebody else" }

/* What several phases have in common. The empty cell is VPSIE_NOTHING. */
#define HELD										\
	[EV_RELEASABLE] = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },			\
	[EV_DELETED]    = TERMINATE,							\
	[EV_UNHELD]     = { VPSIE_HOLD, PHASE_NEW, NULL, NULL }
#define SETTLED										\
	[EV_STALE]      = { VPSIE_STATUS, PHASE_NEW, NULL, NULL },			\
	[EV_UNJOINED]   = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },			\
	[EV_UNREADY]    = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },			\
	[EV_ALWAYS]     = { VPSIE_WAIT, PHASE_NEW, NULL, NULL }
#define DISCOVERED									\
	[EV_FOUND]      = { VPSIE_BIND, PHASE_NEW, NULL, NULL },			\
	[EV_CHANGED]    = { VPSIE_BIND, PHASE_NEW, NULL, NULL }
#define GOING										\
	[EV_RELEASABLE] = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },			\
	[EV_UNDELETED]  = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },			\
	[EV_TOOK_OVER]  = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },			\
	[EV_FOUND]      = { VPSIE_BIND, PHASE_NEW, NULL, NULL }

static const struct cell steps[PHASE_MAX][EV_MAX] = {
	[PHASE_NEW] = {
		HELD,
		[EV_ALWAYS]       = { VPSIE_MOVE, PHASE_PENDING, "Pending", "accepted" },
	},
	[PHASE_PENDING] = {
		HELD,
		[EV_BLOCKED]      = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },
		[EV_ALWAYS]       = { VPSIE_MOVE, PHASE_PROVISIONING, "Provisioning", "provisioning a VPS" },
	},
	[PHASE_PROVISIONING] = {
		HELD,
		DISCOVERED,
		[EV_RUNNING]      = { VPSIE_MOVE, PHASE_PROVISIONED, "Provisioned", "the VPS runs" },
		[EV_CAPACITY]     = { VPSIE_MOVE, PHASE_FAILED, "CapacityLimitReached",
				      "the provider refuses more workers: raise its limit, delete this" },
		[EV_REFUSED]      = { VPSIE_WITHDRAW, PHASE_NEW, NULL, NULL },
		/* One that is identified, or was never requested, has another reason: timeout_cell. */
		[EV_EXPIRED]      = { VPSIE_MOVE, PHASE_FAILED, "DiscoveryTimeout", DISCOVERY_TIMEOUT },
		[EV_BLOCKED]      = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },
		[EV_UNREQUESTED]  = { VPSIE_INTEND, PHASE_NEW, NULL, NULL },
		[EV_UNSENT]       = { VPSIE_CREATE, PHASE_NEW, NULL, NULL },
		[EV_STALE]        = { VPSIE_STATUS, PHASE_NEW, NULL, NULL },
		[EV_SENT]         = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },
		/* A 404 means that it is not there yet (D18), so GONE has no cell here. */
		[EV_KNOWN]        = { VPSIE_READ, PHASE_NEW, NULL, NULL },
	},
	[PHASE_PROVISIONED] = {
		HELD,
		[EV_GONE]         = VM_LOST,
		[EV_ALWAYS]       = { VPSIE_MOVE, PHASE_JOINING, "Joining", "waiting for the Node" },
	},
	[PHASE_JOINING] = {
		HELD,
		DISCOVERED,
		SETTLED,
		[EV_GONE]         = VM_LOST,
		[EV_UNLABELLED]   = { VPSIE_LABEL, PHASE_NEW, NULL, NULL },
		[EV_NODE_READY]   = { VPSIE_MOVE, PHASE_READY, "Ready", "the Node is ready" },
		[EV_JOIN_EXPIRED] = { VPSIE_MOVE, PHASE_FAILED, "JoiningTimeout", "Join timeout exceeded" },
	},
	[PHASE_READY] = {
		HELD,
		DISCOVERED,
		SETTLED,
		[EV_GONE]         = VM_LOST,
		/* provisionedAt is set anew with it: joining-timeout starts there. createdAt never moves. */
		[EV_NODE_GONE]    = { VPSIE_MOVE, PHASE_JOINING, "NodeNotFound", "the Node is gone" },
		[EV_UNLABELLED]   = { VPSIE_LABEL, PHASE_NEW, NULL, NULL },
	},
	[PHASE_TERMINATING] = {
		GOING,
		[EV_UNDRAINED]    = { VPSIE_DRAIN, PHASE_NEW, NULL, NULL },
		[EV_ALWAYS]       = { VPSIE_MOVE, PHASE_DELETING, "Deleting", "deleting the VPS" },
	},
	[PHASE_DELETING] = {
		GOING,
		/* One that was found only now may have joined long ago. */
		[EV_UNDRAINED]    = { VPSIE_DRAIN, PHASE_NEW, NULL, NULL },
		[EV_LISTED]       = { VPSIE_DESTROY, PHASE_NEW, NULL, NULL },
		/* The request may have been sent: until its time is over its machine may still appear. */
		[EV_SENT]         = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },
		[EV_UNSURE]       = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },
		[EV_NODE_LEFT]    = { VPSIE_UNJOIN, PHASE_NEW, NULL, NULL },
		[EV_ALWAYS]       = { VPSIE_RELEASE, PHASE_NEW, NULL, NULL },
	},
	[PHASE_FAILED] = {
		HELD,
		/* Its machine came late: it goes with the VPSieNode. */
		[EV_FOUND]        = { VPSIE_BIND, PHASE_NEW, NULL, NULL },
		[EV_TTL]          = { VPSIE_REMOVE, PHASE_NEW, "TTLExpired", "failed-ttl has passed" },
		[EV_STALE]        = { VPSIE_STATUS, PHASE_NEW, NULL, NULL },
		[EV_ALWAYS]       = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },
	},
	[PHASE_OTHER] = {
		[EV_ALWAYS]       = { VPSIE_WAIT, PHASE_NEW, NULL, NULL },
	},
};

/* After 15 minutes without a machine that was never requested, or that is there and does not run. */
static const struct cell timeout_cell = { VPSIE_MOVE, PHASE_FAILED, "ProvisioningTimeout",
	"VPS provisioning timeout exceeded" };

static const char *const phase_names[PHASE_MAX] = {
#define PHASE_NAME(ID, name) [PHASE_##ID] = (name),
	VPSIE_PHASES(PHASE_NAME)
};
static const char *const verb_names[VPSIE_VERB_MAX] = {
#define VERB_NAME(ID, name) [VPSIE_##ID] = (name),
	VPSIE_VERBS(VERB_NAME)
};
static const char *const event_texts[EV_MAX] = {
#define EVENT_TEXT(ID, text) [EV_##ID] = (text),
	VPSIE_EVENTS(EVENT_TEXT)
};

struct vpsie_step
vpsie_step(const struct vpsie_facts *f)
{
	const unsigned events = events_of(f);
	unsigned e = 0;

	MUST((unsigned)f->phase < PHASE_MAX);
	if (!f->exists)
		return (struct vpsie_step){ .next = f->phase, .event = EV_ALWAYS, .why = "it is gone" };
	while ((events >> e & 1) == 0 || steps[f->phase][e].verb == VPSIE_NOTHING)
		e++;
	MUST(e < EV_MAX);
	const struct cell *c = &steps[f->phase][e];
	if (e == EV_EXPIRED && (f->identified || !f->intent))
		c = &timeout_cell;
	return (struct vpsie_step){ .verb = c->verb, .next = c->next == PHASE_NEW ? f->phase : c->next,
		.event = (enum vpsie_event)e, .why = event_texts[e], .reason = c->reason,
		.message = c->message };
}

bool
vpsie_expired(struct absence *a, int64_t since_us, int64_t limit_ms, int64_t cluster_us, int64_t apart_ms,
    int64_t now_ms)
{
	const bool over = since_us > 0 && limit_ms > 0 && (cluster_us - since_us) / 1000 > limit_ms;

	/* Each evaluation is an observation of its own: the time numbers it. */
	return absence_observe(a, over, (uint64_t)now_ms + 1, now_ms, apart_ms, now_ms) == ABSENCE_CONFIRMED;
}

enum vpsie_phase
vpsie_phase_of(struct wire_str text)
{
	for (unsigned p = 0; p < PHASE_OTHER; p++) {
		if (wire_str_is(text, phase_names[p]))
			return (enum vpsie_phase)p;
	}
	return PHASE_OTHER;
}

const char *
vpsie_phase_name(enum vpsie_phase p)
{
	return (unsigned)p < PHASE_MAX ? phase_names[p] : "?";
}

const char *
vpsie_verb_name(enum vpsie_verb v)
{
	return (unsigned)v < VPSIE_VERB_MAX ? verb_names[v] : "?";
}

static unsigned
events_of(const struct vpsie_facts *f)
{
	const bool wanted = machine_wanted(f);
	const bool gone = f->identified && f->absence == ABSENCE_CONFIRMED;
	const struct {
		bool			holds;
		enum vpsie_event	event;
	} all[] = {
		{ f->deleting && !f->finalizer, EV_RELEASABLE },
		{ !f->deleting, EV_UNDELETED },
		{ f->deleting, EV_DELETED },
		{ !f->finalizer, EV_UNHELD },
		{ f->found, EV_FOUND },
		{ gone, EV_GONE },
		{ f->identified && f->moved, EV_CHANGED },
		{ f->identified && f->running, EV_RUNNING },
		{ wanted && f->refused && f->capacity, EV_CAPACITY },
		{ wanted && f->refused && f->intent, EV_REFUSED },
		{ f->expired, EV_EXPIRED },
		{ wanted && !f->sent && f->groupless, EV_BLOCKED },
		{ wanted && !f->intent, EV_UNREQUESTED },
		{ wanted && f->intent && !f->sent, EV_UNSENT },
		{ f->named && !f->node, EV_NODE_GONE },
		{ f->node && !f->labelled, EV_UNLABELLED },
		{ f->node && f->labelled && f->node_ready, EV_NODE_READY },
		{ f->join_expired, EV_JOIN_EXPIRED },
		/* A machine that is only a candidate may be given to another one: its Node is not drained. */
		{ f->node && !f->drained && (f->identified || f->named)
			&& (f->phase != PHASE_DELETING || f->listed),
		    EV_UNDRAINED },
		{ f->identified && !f->node && f->took_over, EV_TOOK_OVER },
		{ f->identified && f->listed, EV_LISTED },
		{ f->ttl_expired, EV_TTL },
		{ f->stale, EV_STALE },
		/* A machine that never came is given up like one that is gone: in time, and by two lists. */
		{ wanted && f->intent && f->sent && !(f->expired && f->absence == ABSENCE_CONFIRMED), EV_SENT },
		{ f->identified && !f->running, EV_KNOWN },
		{ f->identified && !f->listed && !gone, EV_UNSURE },
		{ f->node, EV_NODE_LEFT },
		{ !f->node, EV_UNJOINED },
		{ !f->node_ready, EV_UNREADY },
		{ true, EV_ALWAYS },
	};
	unsigned events = 0;

	for (size_t i = 0; i < NITEMS(all); i++)
		events |= all[i].holds ? 1u << all[i].event : 0;
	return events;
}

/* Nothing identifies a machine of its own yet. */
static bool
machine_wanted(const struct vpsie_facts *f)
{
	return !f->identified && !f->found;
}
