/* tests/actors/misbehave.c - bad frames over an honest session. Never in a release build. */
#include "misbehave.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actor_private.h"	/* the token: no actor has a reason to look at its own */
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

static void greet(struct misbehave *, struct actor *);
static void offend(struct misbehave *, struct actor *);
static void nothing(void *);
static void whole_frame(msgpack_sbuffer *, const struct envelope *, const union msg_body *);

void
misbehave_start(struct misbehave *m, struct actor *a, int64_t now_ms)
{
	if (strcmp(actor_setting(a, "misbehave"), "no") != 0 && actor_incarnation(a) == 1)
		m->at_ms = now_ms + actor_setting_i64(a, "misbehave-after");
}

/* A step per tick: connect, greet, offend. */
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
	} else if (!m->greeted && socket_writable(m->socket)) {
		greet(m, a);
	} else if (m->greeted && socket_readable(m->socket)) {	/* SNAP_BEGIN: the session is open */
		offend(m, a);
		m->at_ms = 0;
	}
}

/* Past actor_publish, which only ever packs what the schema says. */
void
misbehave_value(struct misbehave *m, struct actor *a, int64_t now_ms)
{
	static const uint8_t bytes[] = { 0x93, 0xc0, 0xc0, 0xc0 };	/* three nils where numbers belong */
	bool changed;

	if (m->at_ms == 0 || now_ms < m->at_ms)
		return;
	m->at_ms = 0;
	MUST(view_set(bus_view(a->bus, LINK_SAMPLES), wire_str_of("bad"), wire_str_of("bad"),
		 wire_str_of("1"), MSG_SAMPLE,
		 (struct wire_bin){ .p = bytes, .len = sizeof(bytes) }, 1, &changed)
	    == E_OK);
	bus_touch(a->bus);
	log_info("misbehaving", KV_S(MESSAGE, actor_setting(a, "misbehave")));
}

void
misbehave_stop(struct misbehave *m)
{
	socket_free(&m->socket);
}

static void
greet(struct misbehave *m, struct actor *a)
{
	const union msg_body hello = { .hello = {
		.role = wire_str_of(role_name(actor_role(a))), .incarnation = actor_incarnation(a),
		.token = { .p = a->boot.token.bytes, .len = a->boot.token.len },
		.schema = msg_schema_hash(), .window = 1024, .nonce = 1,
	} };
	msgpack_sbuffer frame;

	msgpack_sbuffer_init(&frame);
	whole_frame(&frame, &(struct envelope){ .type = MSG_HELLO }, &hello);
	m->greeted = socket_send(m->socket, frame.data, frame.size, false);
	explicit_bzero(frame.data, frame.size);
	msgpack_sbuffer_destroy(&frame);
}

static void
offend(struct misbehave *m, struct actor *a)
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
