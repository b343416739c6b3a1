/*
 * tests/dst/world_nodes.h - the world of node-state: a cluster whose Nodes, pools, MachineConfigs
 * and ClusterVersion change, node-state that evaluates them, and two actors downstream.
 *
 * Product code: the fleet (pools, versions, assessment, tally), the work queue, and the link below
 * it (view, session, mirror, codecs), put together as actors/node-state/main.c and the runtime's
 * bus do it. Simulated is the rest: the cluster ("model"); kube-watcher's link, on which changes
 * come late and in order, and which sometimes starts over with a snapshot; and the network
 * downstream.
 *
 * Every change of the model has a number; what node-state publishes carries the number up to which
 * it was evaluated (as its trace). So every value of a consumer has a version.
 */
#ifndef MUSTER_WORLD_NODES_H
#define MUSTER_WORLD_NODES_H

#include "actors/node-state/fleet.h"
#include "dst.h"
#include "envelope.h"
#include "mirror.h"
#include "session.h"
#include "link_store.h"
#include "workqueue.h"

enum {
	DOWNS = 2,
	MODEL_NODES = 6,
	MODEL_POOLS = 5,
	MODEL_CONFIGS = 4,
	MODEL_VERSION = 1,
	/* every object has a place: Nodes, then pools, configs, the ClusterVersion */
	FIRST_POOL = MODEL_NODES,
	FIRST_CONFIG = FIRST_POOL + MODEL_POOLS,
	THE_VERSION = FIRST_CONFIG + MODEL_CONFIGS,
	MODEL_OBJECTS = THE_VERSION + 1,
	STATES = FIRST_CONFIG,		/* Nodes and pools have a state downstream, at their own place */
	NODES_KEY_MAX = 64,
	NODES_TURN = 64,
};

/* Rules that `--break` removes, in the glue, never in the product. */
#define NODES_BREAKS(B)									\
	B(SILENT_REMOVAL, "silent-removal", "the state of a removed node or pool stays")		\
	B(PAUSED_FLIP,  "paused-flip",  "a paused pool enqueues no node")	\
	B(OLD_SELECTOR, "old-selector", "nodes that a pool selected before are not enqueued")	\
	B(CONFIG,       "config",       "the version of a MachineConfig enqueues no node")	\
	B(TARGET,       "target",       "a new target version enqueues no node")		\
	B(EARLY_READY,  "early-ready",  "downstream is ready before the first full evaluation")	\
	B(HALF_SNAPSHOT, "half-snapshot", "evaluations go on while a snapshot is incomplete")	\
	B(MAP_ORDER,    "map-order",    "the first pool that matches owns the node")		\
	B(NOISY,        "noisy",        "every evaluation is published, changed or not")		\
	B(FULL_QUEUE,   "full-queue",   "what a consumer has no room for is dropped")

enum nodes_break {
	NODES_BREAK_NONE,
#define NODES_BREAK_ENUM(ID, name, what) NODES_BREAK_##ID,
	NODES_BREAKS(NODES_BREAK_ENUM)
#undef NODES_BREAK_ENUM
};

/* ---- The cluster ---- */

/* One object: small numbers that select its texts in nodes_model.c. */
struct model_object {
	bool		present;
	uint8_t		labels;		/* Node: bits of the roles, and Windows */
	uint8_t		picks[8];	/* Node: annotations; pool: selector, paused, image; else: text */
	uint8_t		ready;
	bool		unschedulable;
	uint32_t	life;		/* the uid */
	uint64_t	rv;
};

struct model {
	struct model_object	objects[MODEL_OBJECTS];
	uint64_t		rv;
	uint64_t		absent_rv[STATES];	/* the last change after which it had no state */
};

void model_init(struct model *m, struct sim *sim);
/* One random change of one object; which one. */
uint32_t model_change(struct model *m, struct sim *sim);
void model_key(uint32_t place, char key[NODES_KEY_MAX]);
uint32_t model_place(struct wire_str key);	/* MODEL_OBJECTS: of no object */
enum msg model_type(uint32_t place);
/* The object as kube-watcher would send it, in `out`. */
void model_pack(const struct model *m, uint32_t place, msgpack_sbuffer *out);
/* The pool that owns the node by the MCO rule, implemented a second time; -1: none. */
int model_owner(const struct model *m, uint32_t node);
bool model_has_state(const struct model *m, uint32_t place);

/* The hash of a state without the fields that describe its evaluation; 0: not a state. */
uint64_t state_hash(enum msg type, struct wire_bin value, struct msg_arena *arena);
/* The hashes of the states that a new node-state computes for each place; 0: no state. */
void model_evaluate(const struct model *m, uint64_t hashes[STATES]);

/* ---- kube-watcher's link: in order, late, and sometimes with a new snapshot ---- */

enum feed_what { FEED_BEGIN, FEED_OBJECT, FEED_END };

struct feed_event {
	enum feed_what	 what;
	uint32_t	 place;
	bool		 gone;
	uint32_t	 life;
	uint64_t	 rv;		/* of the model, when it was published */
	int64_t		 at_ms;
	uint8_t		*bytes;
	size_t		 len;
};

struct feed {
	struct feed_event *events;
	uint32_t	   head, len, room;
};

/* ---- Actors ---- */

struct nodes_peer {
	bool			open;
	struct session_out	session;
	int			slot;
};

struct nodes_down {
	struct sim_node		 node;
	char			 name[8];
	uint32_t		 index;
	uint64_t		 incarnation, window;
	struct sim_pipe		 up, down;
	bool			 writable;
	struct session_in	 session;
	struct mirror		*mirror;
	uint64_t		 held[STATES];	/* state_hash of what it received; 0: nothing */
	int64_t			 slow_ms;
};

struct node_state {
	struct sim_node		 node;
	uint64_t		 incarnation;
	uint32_t		 sessions;
	struct fleet		*fleet;
	struct intern		*pool;		/* of mirror and view, as node-state has it */
	struct mirror		*mirror;	/* of the cluster */
	struct link_store		*view;
	struct workqueue	*queue;
	struct nodes_peer	 peers[DOWNS];
	uint64_t		 known_rv;	/* everything up to here was received */
	bool			 fresh;		/* no snapshot is in progress */
	bool			 muted;		/* a broken rule drops what the fleet enqueues */
	const struct pool	*only;		/* another drops nodes that this pool does not select */
};

struct nodes_world {
	struct sim		*sim;
	struct model		 model;
	struct feed		 feed;
	struct node_state	 state;
	struct nodes_down	 downs[DOWNS];
	msgpack_sbuffer		 buffer, value;
	struct msg_arena	 arena, inner;	/* inner: for what is decoded while another value is in use */
	uint32_t		 actions;
	bool			 final_changes_made;
	int64_t			 faults_over_ms;
	uint64_t		 expected[STATES], expected_rv;
};

extern const struct world nodes_world;

void state_start(struct nodes_world *w);
void state_crash(struct nodes_world *w);
void state_resync(struct nodes_world *w);	/* kube-watcher starts over: what was in flight is lost */
void state_update(struct nodes_world *w, uint32_t place);	/* the model has changed here */
void state_free_feed(struct nodes_world *w);

void state_serve(struct nodes_world *w);	/* the producer's end of the link downstream (nodes_link.c) */
void state_drop_peers(struct nodes_world *w);
int64_t state_due_ms(struct nodes_world *w);

void down_start(struct nodes_world *w, uint32_t i);
void down_crash(struct nodes_world *w, uint32_t i);
const char *down_unsettled(struct nodes_world *w, struct nodes_down *d);

/* Sends one body in its envelope; parses a received frame: NULL when it is valid, else why not. */
enum sim_sent nodes_send(struct nodes_world *w, struct sim_pipe *p, const struct envelope *env,
    const union msg_body *body);
const char *nodes_open(
    struct nodes_world *w, const struct sim_frame *bytes, struct frame *f, union msg_body *first);

static inline bool
nodes_broken(const struct nodes_world *w, enum nodes_break b)
{
	return w->sim->broken == (unsigned)b;
}

#endif
