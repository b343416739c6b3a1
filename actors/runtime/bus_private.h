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

struct bus {
	uint32_t		 magic;
#define BUS_MAGIC	0x42555321u
	struct event_base	*base;
	const char		*run_dir;
	enum role		 role;
	uint64_t		 incarnation;
	struct tap		*tap;
	struct hop_log		*hop_log;
	struct bus_owner	 owner;
	struct event		*pump;		/* run soon */
	struct event		*timer;		/* run at the next deadline */
	struct peer		 peers[ROLE_MAX];
	struct bus_out		*outs[LINK_MAX];
	struct bus_in		*ins[LINK_MAX][ROLE_MAX];
	struct write_client	*write_client;	/* writes of our own, without an outcome yet */
	struct write_server	*write_server;	/* writes of others, not answered yet */
	struct msg_arena	 arena;		/* of the frame being handled */
	struct msg_arena	 arena_gone;	/* of a last value, decoded while the frame is still in use */
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

struct bus_out *out_new(struct bus *b, enum link l);
void out_free(struct bus_out **op);
struct turn out_turn(struct bus_out *o, int64_t now_ms);
struct link_store *out_store(struct bus_out *o);
void out_delivered(struct bus_out *o, const struct consumer *c);	/* its queue may be empty now */
struct timing **out_timing(struct bus_out *o);		/* NULL in it: not measured */
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
bool in_complete(const struct bus_in *i);	/* has had a whole snapshot */
bool in_fresh(const struct bus_in *i);
void in_drop(struct bus_in *i);			/* the producer is off: every value of it is gone */
void in_each(struct bus_in *i, void (*fn)(const struct change *, void *), void *arg);
bool in_get(struct bus_in *i, struct wire_str key, void (*fn)(const struct change *, void *), void *arg);
void in_stats(struct bus_in *i);
bool in_held(struct bus_in *i, struct wire_str key, struct json *j);
void in_keys(struct bus_in *i, void (*fn)(struct wire_str, void *), void *arg);
bool in_live(const struct bus_in *i);		/* inside a session, after its snapshot */
uint64_t in_epoch(const struct bus_in *i);
enum link in_link(const struct bus_in *i);
/* The frame in b->buffer; false: not now. */
bool in_send(struct bus_in *i, enum msg m);

/* write_client.c: the writes this actor requests. NULL until the first one. */
void write_client_free(struct write_client **ap);
/* Sends what waits; the earliest time to try again. */
int64_t write_client_send(struct bus *b, struct bus_in *i, int64_t now_ms);
/* One item of an answer, or the answer's end. A text: why it is refused. */
const char *write_client_item(struct bus *b, enum link l, uint64_t id, const union msg_body *item);
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

/* The frame in b->buffer to a socket, copied to the tap if it has a reader. False with errno. */
bool bus_send(struct bus *b, struct socket *s, const struct bus_address *to, enum link l, enum msg m);
/* Of a write, for a hop: "update status", "ok 200". */
void bus_hop_order(char text[HOP_TEXT + 1], enum op op, struct wire_str subresource);
void bus_hop_outcome(char text[HOP_TEXT + 1], enum outcome how, unsigned status);
void bus_wake(void *arg);
void bus_count(enum stat_id id, enum link l, const char *label, const char *value);
void bus_gauge(enum stat_id id, enum link l, const char *label, const char *value, double n);
/* The series of frames or items of a link in one direction, for the hot path. */
struct stat_series *bus_traffic(enum stat_id id, enum link l, enum tap_direction d);

#endif
