/*
 * tests/bus/test_hello.c - who gets a session, and who does not: role, incarnation, token, schema and
 * routing id must all match what the supervisor has announced.
 *
 * muster-test: parallel
 */
#include "rig.h"

static void
as_it_is(union msg_body *b)
{
	(void)b;
}

static void
other_token(union msg_body *b)
{
	static const uint8_t token[TOKEN_BYTES] = { 1, 2, 3 };

	b->hello.token.p = token;
}

static void
no_token(union msg_body *b)
{
	b->hello.token.len = 0;
}

static void
part_of_the_token(union msg_body *b)
{
	b->hello.token.len--;
}

static void
role_that_may_not(union msg_body *b)
{
	b->hello.role = wire_str_of("metrics");
}

static void
role_of_the_producer(union msg_body *b)
{
	b->hello.role = wire_str_of("test-producer");
}

static void
role_that_is_none(union msg_body *b)
{
	b->hello.role = wire_str_of("");
}

static void
later_incarnation(union msg_body *b)
{
	b->hello.incarnation = 2;
}

static void
role_without_a_process(union msg_body *b)
{
	b->hello.role = wire_str_of("test-consumer-9");
}

static void
other_schema(union msg_body *b)
{
	b->hello.schema ^= 1;
}

static const struct hello_row {
	const char	 *name, *id;
	void		(*change)(union msg_body *);
	const char	 *refusal;
} hellos[] = {
	{ "another token",           RIG_HELLO_ID, other_token,          "wrong token" },
	{ "no token",                RIG_HELLO_ID, no_token,             "wrong token" },
	{ "a token cut short",       RIG_HELLO_ID, part_of_the_token,    "wrong token" },
	{ "a role that may not",     RIG_HELLO_ID, role_that_may_not,    "this role may not connect to this link" },
	{ "the producer's own role", RIG_HELLO_ID, role_of_the_producer, "this role may not connect to this link" },
	{ "no role",                 RIG_HELLO_ID, role_that_is_none,    "this role may not connect to this link" },
	{ "a later incarnation",     "test-consumer-2.2.raw", later_incarnation,
	    "not the incarnation the supervisor announced" },
	{ "a role that does not run", "test-consumer-9.1.raw", role_without_a_process,
	    "not the incarnation the supervisor announced" },
	{ "the routing id of another role", "test-consumer-3.1.raw", as_it_is, "routing id does not match the HELLO" },
	{ "the routing id of another incarnation", "test-consumer-2.11.raw", as_it_is,
	    "routing id does not match the HELLO" },
	{ "any routing id",          RIG_UNKNOWN_ID, as_it_is,          "routing id does not match the HELLO" },
	{ "an overlong routing id",
	    "test-consumer-2.1.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    as_it_is, "routing id does not match the HELLO" },
	{ "a generated routing id",  NULL, as_it_is,              "routing id does not match the HELLO" },
	{ "another schema",          RIG_HELLO_ID, other_schema,         "schema differs" },
};

static void
hello_refused(void **state)
{
	const struct hello_row *row = *state;
	static const uint8_t token[TOKEN_BYTES] = { 42 };
	struct secret secret = { .len = TOKEN_BYTES };
	union msg_body body = { .hello = rig_hello };
	struct msg_arena arena;
	struct envelope env;
	msgpack_sbuffer b;
	zmq_msg_t m;
	struct rig r;

	rig_start(&r, 1, 10);
	memcpy(secret.bytes, token, TOKEN_BYTES);
	bus_peer(r.producer.bus, ROLE_TEST_CONSUMER_2, 1, &secret, NULL, PEER_UP);
	body.hello.token = (wire_secret){ .p = token, .len = TOKEN_BYTES };
	body.hello.schema = msg_schema_hash();
	row->change(&body);
	msgpack_sbuffer_init(&b);
	msg_arena_init(&arena);
	zmq_msg_init(&m);
	void *s = rig_raw(&r, ZMQ_DEALER, row->id);
	rig_frame(&b, &(struct envelope){ .type = MSG_HELLO }, &body);
	rig_send(s, &b);
	rig_expect(&r, s, &m, MSG_CLOSE, &env, &arena, &body);
	assert_int_equal(body.close.nonce, rig_hello.nonce);
	assert_int_equal(body.close.reason.len, strlen(row->refusal));
	assert_memory_equal(body.close.reason.p, row->refusal, strlen(row->refusal));
	assert_int_equal((int)rig_stat(STAT_BUS_REJECTED, "reason", "hello"), 1);
	/* A late HELLO of a dead incarnation is no different, so no peer is reported. */
	assert_int_equal(r.producer.nreports, 0);
	rig_undisturbed(&r, &r.consumers[0]);
	zmq_msg_close(&m);
	msg_arena_free(&arena);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/* The supervisor sends `-` for the token of a peer that is dead: the token opens no session any more. */
static void
the_token_of_a_dead_peer(void **state)
{
	union msg_body body = { .hello = rig_hello };
	struct msg_arena arena;
	struct envelope env;
	struct rig_end as = { 0 };
	msgpack_sbuffer b;
	zmq_msg_t m;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	void *s = rig_authenticated(&r, RIG_HELLO_ID, &as, &env);
	bus_peer(r.producer.bus, as.role, as.incarnation, NULL, NULL, PEER_DOWN);
	body.hello.token = (wire_secret){ .p = as.token.bytes, .len = TOKEN_BYTES };
	body.hello.schema = msg_schema_hash();
	msgpack_sbuffer_init(&b);
	msg_arena_init(&arena);
	zmq_msg_init(&m);
	rig_frame(&b, &(struct envelope){ .type = MSG_HELLO }, &body);
	rig_send(s, &b);
	rig_expect(&r, s, &m, MSG_CLOSE, &env, &arena, &body);
	zmq_msg_close(&m);
	msg_arena_free(&arena);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/*
 * Routing ids are self-declared. One with the role and incarnation of a valid consumer, but another
 * nonce, neither receives its frames nor sends in its name.
 */
static void
a_routing_id_with_another_nonce(void **state)
{
	msgpack_sbuffer b;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = rig_raw(&r, ZMQ_DEALER, "test-consumer-1.1.0000000000000000");
	rig_garbage(&b);
	rig_send(s, &b);
	RIG_UNTIL(&r, r.producer.nreports == 1);
	assert_int_equal(r.producer.reports[0].who, ROLE_NONE);
	rig_undisturbed(&r, &r.consumers[0]);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/* Receives the routing id that a new consumer sends with its first frame. */
static void
receive_id(struct rig *r, void *router, char *id, size_t size)
{
	zmq_msg_t m, rest;

	zmq_msg_init(&m);
	zmq_msg_init(&rest);
	RIG_UNTIL(r, rig_recv(router, &m));
	assert_true(zmq_msg_size(&m) < size);
	memcpy(id, zmq_msg_data(&m), zmq_msg_size(&m));
	id[zmq_msg_size(&m)] = '\0';
	while (zmq_msg_more(&m) && rig_recv(router, &rest) && zmq_msg_more(&rest))
		;
	zmq_msg_close(&rest);
	zmq_msg_close(&m);
}

/* A ROUTER gives an id to any peer that declares it, so role and incarnation alone must not be the id. */
static void
a_routing_id_cannot_be_guessed(void **state)
{
	static const char known[] = "test-consumer-1.1.";
	char ids[2][80];
	struct rig r;

	(void)state;
	rig_init(&r);
	void *const router = rig_raw(&r, ZMQ_ROUTER, NULL);
	for (int i = 0; i < 2; i++) {
		struct rig_end *const c = &r.consumers[0];

		rig_open(&r, c, ROLE_TEST_CONSUMER_1, 1);
		bus_peer(c->bus, ROLE_TEST_PRODUCER, RIG_PRODUCER, NULL, &c->token, PEER_UP);
		receive_id(&r, router, ids[i], sizeof(ids[i]));
		rig_close(c);
		assert_memory_equal(ids[i], known, strlen(known));
		assert_int_equal(strlen(ids[i]), strlen(known) + 16);
	}
	assert_string_not_equal(ids[0], ids[1]);
	zmq_close(router);
	rig_free(&r);
}

/*
 * A token opens sessions with the producer that it was minted for, and with no other: here one
 * consumer has two producers, and the second one presents what it was given to the first.
 * (issue 10.1)
 */
static void
the_token_for_another_producer(void **state)
{
	union msg_body body = { .hello = rig_hello };
	struct secret here = { .len = TOKEN_BYTES, .bytes = "for the first producer" };
	struct secret there = { .len = TOKEN_BYTES, .bytes = "for the second producer" };
	struct msg_arena arena;
	struct envelope env;
	msgpack_sbuffer b;
	zmq_msg_t m;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	bus_peer(r.producer.bus, ROLE_TEST_CONSUMER_2, 1, &here, &there, PEER_UP);
	body.hello.token = (wire_secret){ .p = there.bytes, .len = TOKEN_BYTES };
	body.hello.schema = msg_schema_hash();
	msgpack_sbuffer_init(&b);
	msg_arena_init(&arena);
	zmq_msg_init(&m);
	void *s = rig_raw(&r, ZMQ_DEALER, RIG_HELLO_ID);
	rig_frame(&b, &(struct envelope){ .type = MSG_HELLO }, &body);
	rig_send(s, &b);
	rig_expect(&r, s, &m, MSG_CLOSE, &env, &arena, &body);
	assert_memory_equal(body.close.reason.p, "wrong token", body.close.reason.len);
	zmq_msg_close(&m);
	msg_arena_free(&arena);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/*
 * A second session of the same incarnation ends the first: one role, one session, however often it
 * sends HELLO.
 */
static void
two_sessions_of_one_role(void **state)
{
	struct envelope first, second;
	struct msg_arena arena;
	union msg_body body;
	struct rig_end as = { 0 };
	zmq_msg_t m;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msg_arena_init(&arena);
	zmq_msg_init(&m);
	void *a = rig_authenticated(&r, RIG_HELLO_ID, &as, &first);
	void *b = rig_authenticated(&r, "test-consumer-2.1.again", &as, &second);
	assert_true(second.epoch > first.epoch);
	rig_expect(&r, a, &m, MSG_CLOSE, &second, &arena, &body);
	assert_int_equal(second.epoch, first.epoch);
	assert_int_equal(r.producer.nreports, 0);
	bus_stats(r.producer.bus);
	assert_int_equal((int)rig_stat(STAT_SESSIONS, NULL, NULL), 2);
	zmq_msg_close(&m);
	msg_arena_free(&arena);
	zmq_close(a);
	zmq_close(b);
	rig_free(&r);
}

static void
an_ack_without_a_session(void **state)
{
	struct msg_arena arena;
	struct envelope env;
	union msg_body body;
	msgpack_sbuffer b;
	zmq_msg_t m;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	msg_arena_init(&arena);
	zmq_msg_init(&m);
	void *s = rig_raw(&r, ZMQ_DEALER, RIG_UNKNOWN_ID);
	rig_frame(&b, &(struct envelope){ .type = MSG_ACK, .epoch = 77, .seq = 1 },
	    &(union msg_body){ .ack = { .credit = 1 } });
	rig_send(s, &b);
	rig_expect(&r, s, &m, MSG_CLOSE, &env, &arena, &body);
	assert_int_equal(env.epoch, 77);
	assert_int_equal(r.producer.nreports, 0);
	rig_undisturbed(&r, &r.consumers[0]);
	zmq_msg_close(&m);
	msg_arena_free(&arena);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

#define ALONE(fn)	{ .name = #fn, .test_func = (fn) }

int
main(int argc, char **argv)
{
	static const struct CMUnitTest alone[] = {
		ALONE(the_token_of_a_dead_peer), ALONE(the_token_for_another_producer),
		ALONE(a_routing_id_with_another_nonce), ALONE(a_routing_id_cannot_be_guessed),
		ALONE(two_sessions_of_one_role), ALONE(an_ack_without_a_session),
	};
	struct CMUnitTest refused[NITEMS(hellos)];

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);	/* a glob, for a person */
	log_open("test", LOG_JSON, LEVEL_ERROR);
	for (size_t i = 0; i < NITEMS(hellos); i++) {
		void *row = (void *)(uintptr_t)&hellos[i];

		refused[i] = (struct CMUnitTest){ hellos[i].name, hello_refused, NULL, NULL, row };
	}
	return cmocka_run_group_tests_name("HELLO refused", refused, NULL, NULL)
	    + cmocka_run_group_tests_name("sessions", alone, NULL, NULL);
}
