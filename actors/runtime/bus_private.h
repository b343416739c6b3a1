/* actors/runtime/bus_private.h - the two kinds of link ends, for bus*.c and write_*.c only. */
#ifndef MUSTER_BUS_PRIVATE_H
#define MUSTER_BUS_PRIVATE_H

#include "bus.h"
#include "session.h"
#include "socket.h"
#include "stat.h"

enum { BUS_TURN_FRAMES = 256 };	/* per link end and turn, so that no link starves the loop */

struct peer {
	bool		known;		/* a peer record was received */
	uint64_t	incarnation;
	struct secret	expected;	/* in its HELLO to us; len 0: none */
	struct secret	presented;	/* in our HELLO to it */
	enum peer_state	state;
};

/* A link that is read, by one of its producers. */
struct in_end {
	uint8_t	link, producer;
};

struct bus {
	uint32_t		 magic;
#define BUS_MAGIC	0x42555321u
	struct event_base	*base;
	const char		*run_dir;
	enum role		 role;
	uint64_t		 incarnation;
	struct tap		*tap;
	struct hop_log		*hop_log;
	struct intern		*pool;		/* what repeats in the values of all stores, and of mirrors */
	struct bus_owner	 owner;
	struct event		*pump;		/* run soon */
	struct event		*timer;		/* run at the next deadline */
	struct peer		 peers[ROLE_MAX];
	struct bus_out		*outs[LINK_MAX];
	struct bus_in		*ins[LINK_MAX][ROLE_MAX];
	/*
	 * The places of outs and ins that are in use: few, while the tables grow with every role. The pump
	 * runs for each change and walks these alone.
	 */
	uint8_t			 out_ends[LINK_MAX];
	struct in_end		 in_ends[LINK_MAX * ROLE_MAX];
	unsigned		 nouts, nins;
	struct write_client	*write_client;	/* writes of our own, without an outcome yet */
	struct write_server	*write_server;	/* writes of others, not answered yet */
	struct msg_arena	 arena;		/* of the frame being handled */
	struct msg_arena	 arena_gone;	/* of a last value, decoded while the frame is still in use */
	struct msg_arena	 arena_read;	/* of in_read */
	msgpack_sbuffer		 buffer;	/* of the frame being built */
};

/* What a turn of one link end left behind. */
struct turn {
	bool	again;		/* stopped early: more is waiting */
	int64_t	at_ms;		/* or check again then */
};

enum { ID_MAX = 64, NO_SLOT = -1 };

/* A consumer at a link of ours. */
struct consumer {
	bool			 open;
	enum role		 role;
	uint64_t		 incarnation;
	char			 id[ID_MAX];	/* routing id: role.incarnation.nonce */
	size_t			 id_len;
	struct session_out	 session;
	int			 slot;		/* of the view, once the snapshot has begun */
};

/* A link that this actor produces: bus_out.c. */
struct bus_out {
	uint32_t		 magic;
#define OUT_MAGIC	0x4f555421u
	struct bus		*bus;
	enum link		 link;
	struct socket		*socket;
	struct link_store	*store;
	struct consumer		 consumers[LINK_STORE_SLOTS];
	uint32_t		 sessions;	/* opened since the start: makes epochs */
	int64_t			 refused_ms;	/* when a refused HELLO was last logged */
	struct stat_series	*items, *frames_out, *frames_in;
	struct timing		 timing;
};

/* A link that this actor reads from one producer: bus_in.c. */
struct bus_in {
	uint32_t		 magic;
#define IN_MAGIC	0x494e2121u
	struct bus		*bus;
	enum link		 link;
	enum role		 producer;
	struct socket		*socket;
	struct session_in	 session;
	struct mirror		*mirror;
	bool			 complete;	/* has had a whole snapshot */
	bool			 writable;	/* the socket had a connection at the last turn */
	struct stat_series	*items, *frames_in, *frames_out;
	int64_t			 taken_us;	/* wall clock, of the frame that is (or was last) taken */
	struct msg_arena	*arena;		/* of that frame */
	const union msg_body	*fresh;		/* the value being applied, decoded when it was checked */
};

struct bus_out *out_new(struct bus *b, enum link l);
void out_free(struct bus_out **op);
struct turn out_turn(struct bus_out *o, int64_t now_ms);
void out_delivered(struct bus_out *o, const struct consumer *c);	/* its queue may be empty now */
bool out_held(struct bus_out *o, struct wire_str key, struct json *j);
void out_peer_gone(struct bus_out *o, enum role who, uint64_t newer_than);
void out_stats(struct bus_out *o);
/* The open session of that epoch; NULL: it is over. */
struct consumer *out_session(struct bus_out *o, uint64_t epoch);
/*
 * The frame in b->buffer; when the consumer cannot be reached, or takes nothing any more, its
 * session is over.
 */
bool out_send(struct bus_out *o, struct consumer *c, enum msg m);

struct bus_in *in_new(struct bus *b, enum link l, enum role producer);
void in_free(struct bus_in **ip);
struct turn in_turn(struct bus_in *i, int64_t now_ms);
void in_producer_up(struct bus_in *i, uint64_t incarnation, int64_t now_ms);
bool in_fresh(const struct bus_in *i);
void in_drop(struct bus_in *i);			/* the producer is off: every value of it is gone */
void in_each(struct bus_in *i, void (*fn)(const struct change *, void *), void *arg);
bool in_read(struct bus_in *i, struct wire_str key, struct change *out, union msg_body *value);
void in_stats(struct bus_in *i);
void in_release(struct bus_in *i);		/* what in_read returned ends */
bool in_held(struct bus_in *i, struct wire_str key, struct json *j);
/* The frame in b->buffer; false: not now. */
bool in_send(struct bus_in *i, enum msg m);

/* write_client.c: the writes this actor requests. NULL until the first one. */
void write_client_free(struct write_client **ap);
/* Sends what waits; the earliest time to try again. */
int64_t write_client_send(struct bus *b, struct bus_in *i, int64_t now_ms);
/*
 * A frame of an answer, before its bodies are read: f goes on in a copy that lives until `done`, with the
 * arena to decode it into. So it is decoded once, for the mirror and for `done`.
 */
struct msg_arena *write_client_keep(struct bus *b, enum link l, struct frame *f);
/* One item of an answer, or the answer's end. A text: why it is refused. */
const char *write_client_item(struct bus *b, uint64_t id, const struct change *item);
const char *write_client_result(struct bus *b, enum link l, const union msg_body *any);
void write_client_lost(struct bus *b, enum link l);	/* the session is over */
struct turn write_client_turn(struct bus *b, int64_t now_ms);

/* write_server.c: the writes that others request of this actor. */
void write_server_free(struct write_server **ap);
/* A WRITE inside c's session. A text: why it is refused. */
const char *write_server_take(struct bus *b, enum link l, struct consumer *c, const struct envelope *env,
    const union msg_body *any);
void write_server_lost(struct bus *b, enum link l, uint64_t epoch);

struct bus_address {
	const char	*id;		/* routing id: ROUTER only, else NULL */
	size_t		 id_len;
	const char	*name;		/* for the tap */
};

void bus_frame(struct bus *b, const struct envelope *env, const union msg_body *body);	/* into b->buffer */
/* The frame in b->buffer to a socket, copied to the tap if it has a reader. False with errno. */
bool bus_send(struct bus *b, struct socket *s, const struct bus_address *to, enum link l, enum msg m);
/* A hop of a write, with the text "update status"; hop_log_key of its object, or 0 and no hop. */
uint32_t bus_hop_write(struct bus *b, enum hop_what what, enum link l, enum role peer,
    const struct body_write *w, uint64_t trace);
void bus_hop_outcome(struct bus *b, struct bus_hop h, enum outcome how, unsigned status);	/* "ok 200" */
void bus_wake(void *arg);
void bus_count(enum stat_id id, enum link l, const char *label, const char *value);
void bus_gauge(enum stat_id id, enum link l, const char *label, const char *value, double n);
/* The series of frames or items of a link in one direction, for the hot path. */
struct stat_series *bus_traffic(enum stat_id id, enum link l, enum tap_direction d);

#endif
