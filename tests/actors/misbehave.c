/* tests/actors/misbehave.c - bad frames in an authenticated session. Never in a release build. */
#include "misbehave.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "actor_private.h"
#include "bus_private.h"	/* the tokens: no actor has a reason to read them */
#include "envelope.h"
#include "log.h"
#include "obj.h"

typedef void frame_fn(msgpack_sbuffer *);
static frame_fn garbage, message;

static const struct {
	const char	*name;
	frame_fn	*fill;
} ways[] = {
	{ "garbage", garbage },
	{ "message", message },
};

static void open_replay(struct misbehave *, struct actor *, enum role, enum link, enum role);
static void replay(struct replay *, struct actor *);
static void send_hello(struct misbehave *, struct actor *);
static void send_bad_frame(struct misbehave *, struct actor *);
static void nothing(void *);
static void whole_frame(msgpack_sbuffer *, const struct envelope *, const union msg_body *);

void
misbehave_start(struct misbehave *m, struct actor *a, int64_t now_ms)
{
	if (strcmp(actor_setting(a, "misbehave"), "no") != 0 && actor_incarnation(a) == 1)
		m->at_ms = now_ms + actor_setting_i64(a, "misbehave-after");
}

/* One step per tick: connect, send HELLO, send the bad frame. */
void
misbehave_tick(struct misbehave *m, struct actor *a, int64_t now_ms)
{
	char path[128], id[64];

	if (m->at_ms == 0 || now_ms < m->at_ms)
		return;
	if (m->socket == NULL) {
		MUST(link_path(path, sizeof(path), actor_run_dir(a), LINK_SAMPLES, ROLE_TEST_PRODUCER));
		snprintf(id, sizeof(id), "%s.%" PRIu64 ".beside", role_name(actor_role(a)),
		    actor_incarnation(a));
		m->socket = socket_new(SOCKET_DEALER, path, id, actor_base(a), nothing, NULL);
		MUST(m->socket != NULL);
	} else if (!m->hello_sent && socket_writable(m->socket)) {
		send_hello(m, a);
	} else if (m->hello_sent && socket_readable(m->socket)) {	/* SNAP_BEGIN: the session is open */
		send_bad_frame(m, a);
		m->at_ms = 0;
	}
}

/* Not through actor_publish, which packs only what the schema allows. */
void
misbehave_value(struct misbehave *m, struct actor *a, int64_t now_ms)
{
	static const uint8_t bytes[] = { 0x93, 0xc0, 0xc0, 0xc0 };	/* three nils where numbers belong */
	bool changed;

	if (m->at_ms == 0 || now_ms < m->at_ms || strcmp(actor_setting(a, "misbehave"), "value") != 0)
		return;
	m->at_ms = 0;
	MUST(link_store_set(bus_store(a->bus, LINK_SAMPLES), wire_str_of("bad"), wire_str_of("bad"),
		 wire_str_of("1"), MSG_SAMPLE,
		 (struct wire_bin){ .p = bytes, .len = sizeof(bytes) }, 1, &changed)
	    == E_OK);
	bus_touch(a->bus);
	log_info("misbehaving", KV_S(MESSAGE, actor_setting(a, "misbehave")));
}

/* Every token that this producer was given, on every link of another producer that its owner reads. */
void
misbehave_replay(struct misbehave *m, struct actor *a, int64_t now_ms)
{
	if (m->at_ms == 0 || now_ms < m->at_ms || strcmp(actor_setting(a, "misbehave"), "replay") != 0)
		return;
	for (unsigned as = 0; m->nreplays == 0 && as < ROLE_MAX; as++) {
		for (unsigned l = 0; a->bus->peers[as].expected.len > 0 && l < LINK_MAX; l++) {
			for (unsigned r = 0; link_connects((enum link)l, (enum role)as) && r < ROLE_MAX; r++)
				open_replay(m, a, (enum role)as, (enum link)l, (enum role)r);
		}
	}
	for (size_t i = 0; i < m->nreplays; i++)
		replay(&m->replays[i], a);
}

void
misbehave_stop(struct misbehave *m)
{
	socket_free(&m->socket);
	for (size_t i = 0; i < m->nreplays; i++)
		socket_free(&m->replays[i].socket);
}

static void
open_replay(struct misbehave *m, struct actor *a, enum role as, enum link l, enum role producer)
{
	char path[128], id[64];

	if (producer == actor_role(a) || !link_binds(l, producer))
		return;
	MUST(link_path(path, sizeof(path), actor_run_dir(a), l, producer));
	if (access(path, F_OK) == -1)
		return;
	MUST(m->nreplays < NITEMS(m->replays));
	snprintf(id, sizeof(id), "%s.%" PRIu64 ".replay", role_name(as), a->bus->peers[as].incarnation);
	m->replays[m->nreplays++] = (struct replay){
		.as = as, .link = l, .producer = producer,
		.socket = socket_new(SOCKET_DEALER, path, id, actor_base(a), nothing, NULL),
	};
}

/* Sends the HELLO once, and logs the type of the answer: CLOSE is a refusal. */
static void
replay(struct replay *p, struct actor *a)
{
	const struct peer *owner = &a->bus->peers[p->as];
	const union msg_body hello = { .hello = {
		.role = wire_str_of(role_name(p->as)), .incarnation = owner->incarnation,
		.token = { .p = owner->expected.bytes, .len = owner->expected.len },
		.schema = msg_schema_hash(), .window = 1024, .nonce = 1,
	} };
	msgpack_sbuffer frame;
	zmq_msg_t msg;
	bool more;

	if (!p->sent && socket_writable(p->socket)) {
		msgpack_sbuffer_init(&frame);
		whole_frame(&frame, &(struct envelope){ .type = MSG_HELLO }, &hello);
		p->sent = socket_send(p->socket, frame.data, frame.size, false);
		msgpack_sbuffer_destroy(&frame);
	}
	zmq_msg_init(&msg);
	if (!p->answered && socket_readable(p->socket) && socket_recv(p->socket, &msg, &more)) {
		struct frame f;

		msg_arena_reset(&a->bus->arena);
		MUST(frame_open(&f, zmq_msg_data(&msg), zmq_msg_size(&msg), &a->bus->arena) == NULL);
		p->answered = true;
		log_info("token replayed", KV_S(FROM, role_name(p->as)), KV_S(LINK, link_table[p->link].name),
		    KV_S(PEER, role_name(p->producer)), KV_S(MESSAGE, msg_name(f.env.type)));
	}
	zmq_msg_close(&msg);
}

static void
send_hello(struct misbehave *m, struct actor *a)
{
	const struct secret *token = &a->bus->peers[ROLE_TEST_PRODUCER].presented;
	const union msg_body hello = { .hello = {
		.role = wire_str_of(role_name(actor_role(a))), .incarnation = actor_incarnation(a),
		.token = { .p = token->bytes, .len = token->len },
		.schema = msg_schema_hash(), .window = 1024, .nonce = 1,
	} };
	msgpack_sbuffer frame;

	msgpack_sbuffer_init(&frame);
	whole_frame(&frame, &(struct envelope){ .type = MSG_HELLO }, &hello);
	m->hello_sent = socket_send(m->socket, frame.data, frame.size, false);
	explicit_bzero(frame.data, frame.size);
	msgpack_sbuffer_destroy(&frame);
}

static void
send_bad_frame(struct misbehave *m, struct actor *a)
{
	msgpack_sbuffer frame;

	msgpack_sbuffer_init(&frame);
	for (size_t i = 0; i < NITEMS(ways); i++) {
		if (strcmp(ways[i].name, actor_setting(a, "misbehave")) == 0)
			ways[i].fill(&frame);
	}
	MUST(socket_send(m->socket, frame.data, frame.size, false));
	log_info("misbehaving", KV_S(MESSAGE, actor_setting(a, "misbehave")));
	msgpack_sbuffer_destroy(&frame);
}

static void
garbage(msgpack_sbuffer *out)
{
	static const char claims_gigabytes[] = { '\xdd', '\xff', 0, 0, 0 };

	msgpack_sbuffer_write(out, claims_gigabytes, sizeof(claims_gigabytes));
}

static void
message(msgpack_sbuffer *out)
{
	whole_frame(out, &(struct envelope){ .type = MSG_BEAT },
	    &(union msg_body){ .beat = { .ready = true } });
}

static void
nothing(void *arg)
{
	(void)arg;
}

static void
whole_frame(msgpack_sbuffer *out, const struct envelope *env, const union msg_body *body)
{
	frame_begin(out, env);
	msg_pack(out, env->type, body);
}
