/*
 * tests/bus/test_write_hostile.c - writes that may not be, answers that are lies, and readers of
 * the tap who would like to see a Secret. Raw libzmq against a bus.
 *
 * muster-test: parallel
 */
#include "write_rig.h"

#define A	"namespaces/a"
#define SECRET	"c2VjcmV0LXN0dWZm"

/* ---- A consumer that has proven who it is, and then writes what it may not ---- */

struct rogue {
	struct office	 o;
	void		*dealer;
	struct envelope	 session;
	msgpack_sbuffer	 frame;
	struct msg_arena arena;
	zmq_msg_t	 msg;
};

static struct body_write
honest(uint64_t id)
{
	return (struct body_write){ .id = id, .op = OP_MERGE, .resource = wire_str_of("namespaces"),
		.name = wire_str_of("a"), .deadline_ms = clock_mono_ms() + 10000, .body = wire_str_of("{}") };
}

static void
rogue_write(struct rogue *g, uint64_t epoch, struct body_write w)
{
	rig_frame(&g->frame, &(struct envelope){ .type = MSG_WRITE, .epoch = epoch, .seq = w.id },
	    &(union msg_body){ .write = w });
	rig_send(g->dealer, &g->frame);
}

static void
rogue_hello(struct rogue *g, enum msg until)
{
	const struct secret token = { .bytes = "of the second", .len = TOKEN_BYTES };
	union msg_body body = { .hello = { .role = wire_str_of("test-kube-2"), .incarnation = 1, .window = 64,
	    .nonce = 5, .schema = msg_schema_hash(), .token = { .p = token.bytes, .len = token.len } } };

	bus_peer(g->o.watcher.end.bus, ROLE_TEST_KUBE_2, 1, &token, NULL, PEER_UP);
	rig_frame(&g->frame, &(struct envelope){ .type = MSG_HELLO }, &body);
	rig_send(g->dealer, &g->frame);
	rig_expect(&g->o.rig, g->dealer, &g->msg, until, &g->session, &g->arena, &body);
}

static void
rogue_connect(struct rogue *g)
{
	char address[160];
	const int zero = 0;

	g->dealer = zmq_socket(g->o.rig.context, ZMQ_DEALER);
	zmq_setsockopt(g->dealer, ZMQ_LINGER, &zero, sizeof(zero));
	zmq_setsockopt(g->dealer, ZMQ_ROUTING_ID, "test-kube-2.1.x", 15);
	snprintf(address, sizeof(address), "ipc://%s/kube-watcher/kube.test-2.ipc", g->o.rig.dir);
	assert_int_equal(zmq_connect(g->dealer, address), 0);
}

static void
rogue_start(struct rogue *g)
{
	memset(g, 0, sizeof(*g));
	office_start(&g->o);
	msgpack_sbuffer_init(&g->frame);
	msg_arena_init(&g->arena);
	zmq_msg_init(&g->msg);
	rogue_connect(g);
}

static void
rogue_end(struct rogue *g)
{
	zmq_msg_close(&g->msg);
	msg_arena_free(&g->arena);
	msgpack_sbuffer_destroy(&g->frame);
	zmq_close(g->dealer);
	office_end(&g->o);
}

static void
old_epoch(struct rogue *g)
{
	rogue_write(g, g->session.epoch - 1, honest(1));
}

static void
no_id(struct rogue *g)
{
	rogue_write(g, g->session.epoch, honest(0));
}

static void
no_operation(struct rogue *g)
{
	struct body_write w = honest(1);

	w.op = OP_MAX;
	rogue_write(g, g->session.epoch, w);
}

static void
no_resource(struct rogue *g)
{
	struct body_write w = honest(1);

	w.resource.len = 0;
	rogue_write(g, g->session.epoch, w);
}

static void
same_id(struct rogue *g)
{
	rogue_write(g, g->session.epoch, honest(1));
	rogue_write(g, g->session.epoch, honest(1));
}

static void
large_body(struct rogue *g)
{
	static char large[WRITE_BODY_MAX + 1];
	struct body_write w = honest(1);

	memset(large, ' ', sizeof(large));
	w.body = (struct wire_str){ .p = large, .len = sizeof(large) };
	rogue_write(g, g->session.epoch, w);
}

static void
an_answer(struct rogue *g)
{
	rig_frame(&g->frame, &(struct envelope){ .type = MSG_RESULT, .epoch = g->session.epoch },
	    &(union msg_body){ .result = { .id = 1 } });
	rig_send(g->dealer, &g->frame);
}

static const struct crime {
	const char	 *name;
	void		(*commit)(struct rogue *);
	const char	 *reason;
} crimes[] = {
	{ "a write of another epoch",  old_epoch,    "a write outside its session" },
	{ "a write without an id",     no_id,        "a write that asks for nothing" },
	{ "an operation nobody knows", no_operation, "a write that asks for nothing" },
	{ "no resource",               no_resource,  "a write that asks for nothing" },
	{ "two writes of one id",      same_id,      "a write with the id of another" },
	{ "a body that is too large",  large_body,   "a write larger than 512 KiB" },
	{ "an answer",                 an_answer,    "a message that consumers do not send" },
};

static void
is_reported(const struct rogue *g, enum role who, const char *reason)
{
	assert_int_equal(g->o.watcher.end.nreports, 1);
	assert_int_equal(g->o.watcher.end.reports[0].who, who);
	assert_string_equal(g->o.watcher.end.reports[0].reason, reason);
}

static void
a_crime(void **state)
{
	const struct crime *crime = *state;
	struct envelope env;
	union msg_body body;
	struct rogue g;

	rogue_start(&g);
	rogue_hello(&g, MSG_SNAP_END);
	crime->commit(&g);
	rig_expect(&g.o.rig, g.dealer, &g.msg, MSG_CLOSE, &env, &g.arena, &body);
	is_reported(&g, ROLE_TEST_KUBE_2, crime->reason);
	assert_true(g.o.watcher.nasked <= 1);	/* nothing bad got through */
	assert_int_equal(g.o.actors[0].end.synced, 1);
	rogue_end(&g);
}

static void
a_write_without_a_session(void **state)
{
	struct rogue g;

	(void)state;
	rogue_start(&g);
	rogue_write(&g, EPOCH_MAKE(WATCHER, 1), honest(1));
	RIG_UNTIL(&g.o.rig, g.o.watcher.end.nreports == 1);
	is_reported(&g, ROLE_NONE, "a write without a session");
	assert_int_equal(g.o.watcher.nasked, 0);
	rogue_end(&g);
}

/*
 * The producer is not ready: it has said so, and there is a session; but there is nothing to write
 * about yet.
 */
static void
a_write_before_the_picture(void **state)
{
	struct rogue g;
	struct envelope env;
	union msg_body body;

	(void)state;
	rogue_start(&g);
	zmq_close(g.dealer);
	rig_close(&g.o.watcher.end);
	office_watcher(&g.o, WATCHER + 1, false);
	rogue_connect(&g);
	rogue_hello(&g, MSG_BEAT);
	rogue_write(&g, g.session.epoch, honest(1));
	rig_expect(&g.o.rig, g.dealer, &g.msg, MSG_CLOSE, &env, &g.arena, &body);
	is_reported(&g, ROLE_TEST_KUBE_2, "a write outside its session");
	rogue_end(&g);
}

/* More than a sender may have in flight, and what comes too late: the producer admits, not the bus. */
static void
the_bus_refuses_no_write_by_itself(void **state)
{
	struct rogue g;

	(void)state;
	rogue_start(&g);
	rogue_hello(&g, MSG_SNAP_END);
	struct body_write late = honest(1);
	late.deadline_ms = clock_mono_ms() - 1;
	rogue_write(&g, g.session.epoch, late);
	for (uint64_t id = 2; id < 2 + 2 * WRITES_PER_SENDER; id++)
		rogue_write(&g, g.session.epoch, honest(id));
	RIG_UNTIL(&g.o.rig, g.o.watcher.nasked == 1 + 2 * WRITES_PER_SENDER);
	assert_int_equal(g.o.watcher.end.nreports, 0);
	rogue_end(&g);
}

/* ---- A watcher that lies ---- */

struct liar {
	struct office	 o;
	void		*router;
	zmq_msg_t	 id, msg;	/* of the consumer; its last frame */
	uint64_t	 nonce, epoch, asked;
	struct msg_arena arena;
	msgpack_sbuffer	 frame, value;
};

static void
liar_say(struct liar *l, const struct envelope *env, const union msg_body *body)
{
	rig_frame(&l->frame, env, body);
	assert_true(zmq_send(l->router, zmq_msg_data(&l->id), zmq_msg_size(&l->id), ZMQ_SNDMORE) >= 0);
	assert_int_equal(zmq_send(l->router, l->frame.data, l->frame.size, 0), l->frame.size);
}

static bool
liar_hears(struct liar *l)
{
	return zmq_msg_recv(&l->id, l->router, ZMQ_DONTWAIT) != -1
	    && zmq_msg_recv(&l->msg, l->router, 0) != -1;
}

static void
liar_expect(struct liar *l, enum msg type, union msg_body *body)
{
	struct frame f;

	do {
		RIG_UNTIL(&l->o.rig, liar_hears(l));
		msg_arena_reset(&l->arena);
		assert_null(frame_open(&f, zmq_msg_data(&l->msg), zmq_msg_size(&l->msg), &l->arena));
		assert_true(frame_next(&f, &l->arena, body));
	} while (f.env.type != type);
}

/* An empty picture, and a write that waits for its answer. */
static void
liar_start(struct liar *l)
{
	char address[160];
	const int zero = 0;
	union msg_body body;

	memset(l, 0, sizeof(*l));
	rig_init(&l->o.rig);
	zmq_msg_init(&l->id);
	zmq_msg_init(&l->msg);
	msg_arena_init(&l->arena);
	msgpack_sbuffer_init(&l->frame);
	msgpack_sbuffer_init(&l->value);
	rig_folder(l->o.rig.dir, ROLE_KUBE_WATCHER);
	l->router = zmq_socket(l->o.rig.context, ZMQ_ROUTER);
	zmq_setsockopt(l->router, ZMQ_LINGER, &zero, sizeof(zero));
	snprintf(address, sizeof(address), "ipc://%s/kube-watcher/kube.test-1.ipc", l->o.rig.dir);
	assert_int_equal(zmq_bind(l->router, address), 0);
	office_open(&l->o, &l->o.actors[0], ROLE_TEST_KUBE_1, LINK_KUBE_TEST_1, 1);
	bus_peer(l->o.actors[0].end.bus, ROLE_KUBE_WATCHER, WATCHER, NULL, NULL, PEER_UP);
	liar_expect(l, MSG_HELLO, &body);
	l->epoch = EPOCH_MAKE(WATCHER, 1);
	liar_say(l, &(struct envelope){ .type = MSG_SNAP_BEGIN, .epoch = l->epoch },
	    &(union msg_body){ .snap_begin = { .nonce = body.hello.nonce } });
	liar_say(l, &(struct envelope){ .type = MSG_SNAP_END, .epoch = l->epoch },
	    &(union msg_body){ .snap_end = { .count = 0 } });
	RIG_UNTIL(&l->o.rig, l->o.actors[0].end.synced == 1);
	office_ask(&l->o, OP_MERGE, A, 10000);
	liar_expect(l, MSG_WRITE, &body);
	l->asked = body.write.id;
}

static void
liar_end(struct liar *l)
{
	zmq_msg_close(&l->id);
	zmq_msg_close(&l->msg);
	msg_arena_free(&l->arena);
	msgpack_sbuffer_destroy(&l->frame);
	msgpack_sbuffer_destroy(&l->value);
	zmq_close(l->router);
	office_end(&l->o);
}

static void
say_result(struct liar *l, uint64_t epoch, struct body_result r)
{
	liar_say(l, &(struct envelope){ .type = MSG_RESULT, .epoch = epoch, .seq = r.id },
	    &(union msg_body){ .result = r });
}

static void
say_item(struct liar *l, enum msg type, uint64_t version)
{
	msgpack_sbuffer_clear(&l->value);
	msg_pack(&l->value, type, &(union msg_body){ .raw = { .json = wire_str_of("{}") } });
	liar_say(l, &(struct envelope){ .type = MSG_RESULT_ITEMS, .epoch = l->epoch, .seq = l->asked },
	    &(union msg_body){ .item = { .key = wire_str_of(A), .version = version,
		.type = msg_table[type].number,
		.value = { .p = (const uint8_t *)l->value.data, .len = (uint32_t)l->value.size } } });
}

static void
say_never_asked(struct liar *l)
{
	say_result(l, l->epoch, (struct body_result){ .id = l->asked + 1 });
}

static void
say_items_never_asked(struct liar *l)
{
	l->asked++;
	say_item(l, MSG_RAW, 0);
}

static void
say_no_outcome(struct liar *l)
{
	say_result(l, l->epoch, (struct body_result){ .id = l->asked, .outcome = OUTCOME_MAX });
}

static void
say_too_few_items(struct liar *l)
{
	say_result(l, l->epoch, (struct body_result){ .id = l->asked, .items = 1 });
}

static void
say_other_epoch(struct liar *l)
{
	say_result(l, l->epoch + 1, (struct body_result){ .id = l->asked });
}

/* RAW is an answer, never state. */
static void
say_raw_state(struct liar *l)
{
	say_item(l, MSG_RAW, 1);
}

static void
say_foreign_item(struct liar *l)
{
	msgpack_sbuffer_clear(&l->value);
	msg_pack(&l->value, MSG_SAMPLE, &(union msg_body){ .sample = { .number = 1 } });
	liar_say(l, &(struct envelope){ .type = MSG_RESULT_ITEMS, .epoch = l->epoch, .seq = l->asked },
	    &(union msg_body){ .item = { .key = wire_str_of(A), .type = msg_table[MSG_SAMPLE].number,
		.value = { .p = (const uint8_t *)l->value.data, .len = (uint32_t)l->value.size } } });
}

static void
say_write(struct liar *l)
{
	liar_say(l, &(struct envelope){ .type = MSG_WRITE, .epoch = l->epoch },
	    &(union msg_body){ .write = honest(1) });
}

static const struct lie {
	const char	 *name;
	void		(*say)(struct liar *);
	const char	 *reason;
} lies[] = {
	{ "an answer to nothing",          say_never_asked,       "answers what was never asked" },
	{ "items to nothing",              say_items_never_asked, "answers what was never asked" },
	{ "an outcome nobody knows",       say_no_outcome,        "no such outcome" },
	{ "an answer that is not whole",   say_too_few_items,     "an answer that is not whole" },
	{ "an answer of another session",  say_other_epoch,       "an answer of another session" },
	{ "a raw object as state",         say_raw_state,         "a value that this link does not carry" },
	{ "an object of another link",     say_foreign_item,      "a value that this link does not carry" },
	{ "a write",                       say_write,             "a message that producers do not send" },
};

/* The watcher is reported, the session starts over, and the write has ended: nobody knows how. */
static void
a_lie(void **state)
{
	const struct lie *lie = *state;
	union msg_body body;
	struct liar l;

	liar_start(&l);
	struct desk *d = &l.o.actors[0];
	lie->say(&l);
	RIG_UNTIL(&l.o.rig, d->end.nreports > 0 && d->nresults == 1);
	assert_int_equal(d->end.reports[0].who, ROLE_KUBE_WATCHER);
	assert_string_equal(d->end.reports[0].reason, lie->reason);
	assert_int_equal(d->results[0].outcome, OUTCOME_UNKNOWN);
	liar_expect(&l, MSG_HELLO, &body);
	assert_int_equal(d->nresults, 1);
	liar_end(&l);
}

/* Told twice: the second time it is old news, not a lie. */
static void
an_answer_again(void **state)
{
	struct liar l;

	(void)state;
	liar_start(&l);
	struct desk *d = &l.o.actors[0];
	for (int n = 0; n < 2; n++) {
		say_item(&l, MSG_RAW, 0);
		say_result(&l, l.epoch, (struct body_result){ .id = l.asked, .items = 1, .status = 201 });
	}
	RIG_UNTIL(&l.o.rig, d->nresults == 1);
	rig_turn(&l.o.rig, 20);
	assert_int_equal(d->results[0].outcome, OUTCOME_OK);
	assert_int_equal(d->results[0].status, 201);
	assert_int_equal(d->nresults, 1);
	assert_int_equal(d->end.nreports, 0);
	liar_end(&l);
}

/* ---- The tap ---- */

static void *
reader(struct office *o, const char *actor)
{
	char address[160];
	const int zero = 0;
	void *s = zmq_socket(o->rig.context, ZMQ_SUB);

	zmq_setsockopt(s, ZMQ_LINGER, &zero, sizeof(zero));
	zmq_setsockopt(s, ZMQ_SUBSCRIBE, "", 0);
	snprintf(address, sizeof(address), "ipc://%s/%s/tap.ipc", o->rig.dir, actor);
	assert_int_equal(zmq_connect(s, address), 0);
	return s;
}

static bool
has_something(void *s)
{
	int events;
	size_t size = sizeof(events);

	return zmq_getsockopt(s, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN) != 0;
}

/* Reads until a record of that topic; nothing that was read may hold the secret. */
static void
tap_until(struct office *o, void *s, const char *topic)
{
	char part[4096];
	bool met = false;

	for (int more = 1; !met || more != 0;) {
		size_t size = sizeof(more);
		int len = -1;

		RIG_UNTIL(&o->rig, (len = zmq_recv(s, part, sizeof(part), ZMQ_DONTWAIT)) != -1);
		assert_null(memmem(part, (size_t)len, SECRET, strlen(SECRET)));
		met = met || ((size_t)len == strlen(topic) && memcmp(part, topic, (size_t)len) == 0);
		zmq_getsockopt(s, ZMQ_RCVMORE, &more, &size);
	}
}

static void
a_secret_is_not_shown(void **state)
{
	struct office o;
	const struct write_request w = { .op = OP_UPDATE,
		.version = "v1",
		.resource = "secrets",
		.ns = "ns",
		.name = "s",
		.body = SECRET,
		.body_len = strlen(SECRET),
		.timeout_ms = 10000 };
	msgpack_sbuffer value;

	(void)state;
	office_start(&o);
	struct desk *d = &o.actors[0];
	void *sides[] = { reader(&o, "test-kube-1"), reader(&o, "kube-watcher") };
	RIG_UNTIL(&o.rig, has_something(sides[0]) && has_something(sides[1]));	/* beats: both are in */
	bus_write(d->end.bus, d->link, &w, NULL, NULL);
	RIG_UNTIL(&o.rig, o.watcher.nasked == 1);
	assert_string_equal(o.watcher.asked[0].body, SECRET);	/* it did pass */
	msgpack_sbuffer_init(&value);
	msg_pack(&value, MSG_RAW, &(union msg_body){ .raw = { .resource = wire_str_of("secrets"),
	    .json = wire_str_of(SECRET) } });
	const struct body_item item = { .key = wire_str_of("secrets/ns/s"), .type = msg_table[MSG_RAW].number,
		.value = { .p = (const uint8_t *)value.data, .len = (uint32_t)value.size } };
	assert_int_equal(bus_result_items(o.watcher.end.bus, o.watcher.asked[0].handle, &item, 1), E_OK);
	bus_result(o.watcher.end.bus, o.watcher.asked[0].handle,
	    &(struct body_result){ .status = 200 }, NULL, 0);
	RIG_UNTIL(&o.rig, d->nresults == 1);
	assert_int_equal(d->results[0].nitems, 1);
	tap_until(&o, sides[0], "i/test-kube-1/kube.test-1/RESULT");
	tap_until(&o, sides[1], "o/kube-watcher/kube.test-1/RESULT");
	msgpack_sbuffer_destroy(&value);
	zmq_close(sides[0]);
	zmq_close(sides[1]);
	office_end(&o);
}

int
main(int argc, char **argv)
{
	static const struct CMUnitTest alone[] = {
		cmocka_unit_test(a_write_without_a_session), cmocka_unit_test(a_write_before_the_picture),
		cmocka_unit_test(the_bus_refuses_no_write_by_itself), cmocka_unit_test(an_answer_again),
		cmocka_unit_test(a_secret_is_not_shown),
	};
	struct CMUnitTest criminal[NITEMS(crimes)], lying[NITEMS(lies)];

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);	/* a glob, for a person */
	log_open("test", LOG_JSON, LEVEL_ERROR);
	for (size_t i = 0; i < NITEMS(crimes); i++)
		criminal[i] = (struct CMUnitTest){ crimes[i].name, a_crime, NULL, NULL,
			(void *)(uintptr_t)&crimes[i] };
	for (size_t i = 0; i < NITEMS(lies); i++)
		lying[i] = (struct CMUnitTest){ lies[i].name, a_lie, NULL, NULL,
			(void *)(uintptr_t)&lies[i] };
	return cmocka_run_group_tests_name("writes that may not be", criminal, NULL, NULL)
	    + cmocka_run_group_tests_name("answers that are lies", lying, NULL, NULL)
	    + cmocka_run_group_tests_name("at the edge", alone, NULL, NULL);
}
