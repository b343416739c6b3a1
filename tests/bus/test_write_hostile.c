/*
 * tests/bus/test_write_hostile.c - writes that are not allowed, answers that are wrong, and readers
 * of the tap, which must not show a Secret. Raw libzmq against a bus.
 *
 * muster-test: parallel
 */
#include "write_rig.h"

#define A	"namespaces/a"
#define SECRET	"c2VjcmV0LXN0dWZm"

/* ---- An authenticated consumer that sends bad writes ---- */

struct client {
	struct write_rig	 wr;
	void		*dealer;
	struct envelope	 session;
	msgpack_sbuffer	 frame;
	struct msg_arena arena;
	zmq_msg_t	 msg;
};

static struct body_write
valid_write(uint64_t id)
{
	return (struct body_write){ .id = id, .op = OP_MERGE, .resource = wire_str_of("namespaces"),
		.name = wire_str_of("a"), .deadline_ms = clock_mono_ms() + 10000, .body = wire_str_of("{}") };
}

static void
client_write(struct client *c, uint64_t epoch, struct body_write w)
{
	rig_frame(&c->frame, &(struct envelope){ .type = MSG_WRITE, .epoch = epoch, .seq = w.id },
	    &(union msg_body){ .write = w });
	rig_send(c->dealer, &c->frame);
}

static void
client_hello(struct client *c, enum msg until)
{
	const struct secret token = { .bytes = "of the second", .len = TOKEN_BYTES };
	union msg_body body = { .hello = { .role = wire_str_of("test-kube-2"), .incarnation = 1, .window = 64,
	    .nonce = 5, .schema = msg_schema_hash(), .token = { .p = token.bytes, .len = token.len } } };

	bus_peer(c->wr.watcher.end.bus, ROLE_TEST_KUBE_2, 1, &token, NULL, PEER_UP);
	rig_frame(&c->frame, &(struct envelope){ .type = MSG_HELLO }, &body);
	rig_send(c->dealer, &c->frame);
	rig_expect(&c->wr.rig, c->dealer, &c->msg, until, &c->session, &c->arena, &body);
}

static void
client_connect(struct client *c)
{
	char address[160];
	const int zero = 0;

	c->dealer = zmq_socket(c->wr.rig.context, ZMQ_DEALER);
	zmq_setsockopt(c->dealer, ZMQ_LINGER, &zero, sizeof(zero));
	zmq_setsockopt(c->dealer, ZMQ_ROUTING_ID, "test-kube-2.1.x", 15);
	snprintf(address, sizeof(address), "ipc://%s/kube-watcher/kube.test-2.ipc", c->wr.rig.dir);
	assert_int_equal(zmq_connect(c->dealer, address), 0);
}

static void
client_start(struct client *c)
{
	memset(c, 0, sizeof(*c));
	write_rig_start(&c->wr);
	msgpack_sbuffer_init(&c->frame);
	msg_arena_init(&c->arena);
	zmq_msg_init(&c->msg);
	client_connect(c);
}

static void
client_end(struct client *c)
{
	zmq_msg_close(&c->msg);
	msg_arena_free(&c->arena);
	msgpack_sbuffer_destroy(&c->frame);
	zmq_close(c->dealer);
	write_rig_end(&c->wr);
}

static void
old_epoch(struct client *c)
{
	client_write(c, c->session.epoch - 1, valid_write(1));
}

static void
no_id(struct client *c)
{
	client_write(c, c->session.epoch, valid_write(0));
}

static void
no_operation(struct client *c)
{
	struct body_write w = valid_write(1);

	w.op = OP_MAX;
	client_write(c, c->session.epoch, w);
}

static void
no_resource(struct client *c)
{
	struct body_write w = valid_write(1);

	w.resource.len = 0;
	client_write(c, c->session.epoch, w);
}

static void
same_id(struct client *c)
{
	client_write(c, c->session.epoch, valid_write(1));
	client_write(c, c->session.epoch, valid_write(1));
}

static void
large_body(struct client *c)
{
	static char large[WRITE_BODY_MAX + 1];
	struct body_write w = valid_write(1);

	memset(large, ' ', sizeof(large));
	w.body = (struct wire_str){ .p = large, .len = sizeof(large) };
	client_write(c, c->session.epoch, w);
}

static void
an_answer(struct client *c)
{
	rig_frame(&c->frame, &(struct envelope){ .type = MSG_RESULT, .epoch = c->session.epoch },
	    &(union msg_body){ .result = { .id = 1 } });
	rig_send(c->dealer, &c->frame);
}

static const struct bad_write {
	const char	 *name;
	void		(*send)(struct client *);
	const char	 *reason;
} bad_writes[] = {
	{ "a write of another epoch",  old_epoch,    "a write outside its session" },
	{ "a write without an id",     no_id,        "a write that asks for nothing" },
	{ "an unknown operation",      no_operation, "a write that asks for nothing" },
	{ "no resource",               no_resource,  "a write that asks for nothing" },
	{ "two writes of one id",      same_id,      "a write with the id of another" },
	{ "a body that is too large",  large_body,   "a write larger than 512 KiB" },
	{ "an answer",                 an_answer,    "a message that consumers do not send" },
};

static void
is_reported(const struct client *c, enum role who, const char *reason)
{
	assert_int_equal(c->wr.watcher.end.nreports, 1);
	assert_int_equal(c->wr.watcher.end.reports[0].who, who);
	assert_string_equal(c->wr.watcher.end.reports[0].reason, reason);
}

static void
a_bad_write(void **state)
{
	const struct bad_write *bad = *state;
	struct envelope env;
	union msg_body body;
	struct client c;

	client_start(&c);
	client_hello(&c, MSG_SNAP_END);
	bad->send(&c);
	rig_expect(&c.wr.rig, c.dealer, &c.msg, MSG_CLOSE, &env, &c.arena, &body);
	is_reported(&c, ROLE_TEST_KUBE_2, bad->reason);
	assert_true(c.wr.watcher.nreceived <= 1);	/* no bad write was delivered */
	assert_int_equal(c.wr.actors[0].end.synced, 1);
	client_end(&c);
}

static void
a_write_without_a_session(void **state)
{
	struct client c;

	(void)state;
	client_start(&c);
	client_write(&c, EPOCH_MAKE(WATCHER, 1), valid_write(1));
	RIG_UNTIL(&c.wr.rig, c.wr.watcher.end.nreports == 1);
	is_reported(&c, ROLE_NONE, "a write without a session");
	assert_int_equal(c.wr.watcher.nreceived, 0);
	client_end(&c);
}

/* The producer has sent that it is not ready. There is a session, but no snapshot yet. */
static void
a_write_before_the_snapshot(void **state)
{
	struct client c;
	struct envelope env;
	union msg_body body;

	(void)state;
	client_start(&c);
	zmq_close(c.dealer);
	rig_close(&c.wr.watcher.end);
	write_rig_watcher(&c.wr, WATCHER + 1, false);
	client_connect(&c);
	client_hello(&c, MSG_BEAT);
	client_write(&c, c.session.epoch, valid_write(1));
	rig_expect(&c.wr.rig, c.dealer, &c.msg, MSG_CLOSE, &env, &c.arena, &body);
	is_reported(&c, ROLE_TEST_KUBE_2, "a write outside its session");
	client_end(&c);
}

/* More writes than a sender may have in flight, and one past its deadline: the bus delivers them all. */
static void
the_bus_refuses_no_write_by_itself(void **state)
{
	struct client c;

	(void)state;
	client_start(&c);
	client_hello(&c, MSG_SNAP_END);
	struct body_write late = valid_write(1);
	late.deadline_ms = clock_mono_ms() - 1;
	client_write(&c, c.session.epoch, late);
	for (uint64_t id = 2; id < 2 + 2 * WRITES_PER_SENDER; id++)
		client_write(&c, c.session.epoch, valid_write(id));
	RIG_UNTIL(&c.wr.rig, c.wr.watcher.nreceived == 1 + 2 * WRITES_PER_SENDER);
	assert_int_equal(c.wr.watcher.end.nreports, 0);
	client_end(&c);
}

/* ---- A fake watcher that sends bad answers ---- */

struct fake {
	struct write_rig	 wr;
	void		*router;
	zmq_msg_t	 id, msg;	/* of the consumer; its last frame */
	uint64_t	 epoch, write_id;
	struct msg_arena arena;
	msgpack_sbuffer	 frame, value;
};

static void
fake_send(struct fake *f, const struct envelope *env, const union msg_body *body)
{
	rig_frame(&f->frame, env, body);
	assert_true(zmq_send(f->router, zmq_msg_data(&f->id), zmq_msg_size(&f->id), ZMQ_SNDMORE) >= 0);
	assert_int_equal(zmq_send(f->router, f->frame.data, f->frame.size, 0), f->frame.size);
}

static bool
fake_receive(struct fake *f)
{
	return zmq_msg_recv(&f->id, f->router, ZMQ_DONTWAIT) != -1
	    && zmq_msg_recv(&f->msg, f->router, 0) != -1;
}

static void
fake_expect(struct fake *f, enum msg type, union msg_body *body)
{
	struct frame frame;

	do {
		RIG_UNTIL(&f->wr.rig, fake_receive(f));
		msg_arena_reset(&f->arena);
		assert_null(frame_open(&frame, zmq_msg_data(&f->msg), zmq_msg_size(&f->msg), &f->arena));
		assert_true(frame_next(&frame, &f->arena, body));
	} while (frame.env.type != type);
}

/* Sends an empty snapshot, and receives a write that waits for its answer. */
static void
fake_start(struct fake *f)
{
	char address[160];
	const int zero = 0;
	union msg_body body;

	memset(f, 0, sizeof(*f));
	rig_init(&f->wr.rig);
	zmq_msg_init(&f->id);
	zmq_msg_init(&f->msg);
	msg_arena_init(&f->arena);
	msgpack_sbuffer_init(&f->frame);
	msgpack_sbuffer_init(&f->value);
	rig_folder(f->wr.rig.dir, ROLE_KUBE_WATCHER);
	f->router = zmq_socket(f->wr.rig.context, ZMQ_ROUTER);
	zmq_setsockopt(f->router, ZMQ_LINGER, &zero, sizeof(zero));
	snprintf(address, sizeof(address), "ipc://%s/kube-watcher/kube.test-1.ipc", f->wr.rig.dir);
	assert_int_equal(zmq_bind(f->router, address), 0);
	write_rig_open(&f->wr, &f->wr.actors[0], ROLE_TEST_KUBE_1, LINK_KUBE_TEST_1, 1);
	bus_peer(f->wr.actors[0].end.bus, ROLE_KUBE_WATCHER, WATCHER, NULL, NULL, PEER_UP);
	fake_expect(f, MSG_HELLO, &body);
	f->epoch = EPOCH_MAKE(WATCHER, 1);
	fake_send(f, &(struct envelope){ .type = MSG_SNAP_BEGIN, .epoch = f->epoch },
	    &(union msg_body){ .snap_begin = { .nonce = body.hello.nonce } });
	fake_send(f, &(struct envelope){ .type = MSG_SNAP_END, .epoch = f->epoch },
	    &(union msg_body){ .snap_end = { .count = 0 } });
	RIG_UNTIL(&f->wr.rig, f->wr.actors[0].end.synced == 1);
	write_rig_request(&f->wr, OP_MERGE, A, 10000);
	fake_expect(f, MSG_WRITE, &body);
	f->write_id = body.write.id;
}

static void
fake_end(struct fake *f)
{
	zmq_msg_close(&f->id);
	zmq_msg_close(&f->msg);
	msg_arena_free(&f->arena);
	msgpack_sbuffer_destroy(&f->frame);
	msgpack_sbuffer_destroy(&f->value);
	zmq_close(f->router);
	write_rig_end(&f->wr);
}

static void
send_result(struct fake *f, uint64_t epoch, struct body_result r)
{
	fake_send(f, &(struct envelope){ .type = MSG_RESULT, .epoch = epoch, .seq = r.id },
	    &(union msg_body){ .result = r });
}

static void
send_item(struct fake *f, enum msg type, uint64_t version)
{
	msgpack_sbuffer_clear(&f->value);
	msg_pack(&f->value, type, &(union msg_body){ .raw = { .json = wire_str_of("{}") } });
	fake_send(f, &(struct envelope){ .type = MSG_RESULT_ITEMS, .epoch = f->epoch, .seq = f->write_id },
	    &(union msg_body){ .item = { .key = wire_str_of(A), .version = version,
		.type = msg_table[type].number,
		.value = { .p = (const uint8_t *)f->value.data, .len = (uint32_t)f->value.size } } });
}

static void
send_unrequested_result(struct fake *f)
{
	send_result(f, f->epoch, (struct body_result){ .id = f->write_id + 1 });
}

static void
send_unrequested_items(struct fake *f)
{
	f->write_id++;
	send_item(f, MSG_RAW, 0);
}

static void
send_no_outcome(struct fake *f)
{
	send_result(f, f->epoch, (struct body_result){ .id = f->write_id, .outcome = OUTCOME_MAX });
}

static void
send_too_few_items(struct fake *f)
{
	send_result(f, f->epoch, (struct body_result){ .id = f->write_id, .items = 1 });
}

static void
send_other_epoch(struct fake *f)
{
	send_result(f, f->epoch + 1, (struct body_result){ .id = f->write_id });
}

/* RAW is an answer, never state. */
static void
send_raw_state(struct fake *f)
{
	send_item(f, MSG_RAW, 1);
}

static void
send_foreign_item(struct fake *f)
{
	msgpack_sbuffer_clear(&f->value);
	msg_pack(&f->value, MSG_SAMPLE, &(union msg_body){ .sample = { .number = 1 } });
	fake_send(f, &(struct envelope){ .type = MSG_RESULT_ITEMS, .epoch = f->epoch, .seq = f->write_id },
	    &(union msg_body){ .item = { .key = wire_str_of(A), .type = msg_table[MSG_SAMPLE].number,
		.value = { .p = (const uint8_t *)f->value.data, .len = (uint32_t)f->value.size } } });
}

static void
send_write(struct fake *f)
{
	fake_send(f, &(struct envelope){ .type = MSG_WRITE, .epoch = f->epoch },
	    &(union msg_body){ .write = valid_write(1) });
}

static const struct bad_answer {
	const char	 *name;
	void		(*send)(struct fake *);
	const char	 *reason;
} bad_answers[] = {
	{ "an answer to nothing",          send_unrequested_result, "answers what was never asked" },
	{ "items to nothing",              send_unrequested_items,  "answers what was never asked" },
	{ "an unknown outcome",            send_no_outcome,         "no such outcome" },
	{ "an answer that is not whole",   send_too_few_items,      "an answer that is not whole" },
	{ "an answer of another session",  send_other_epoch,        "an answer of another session" },
	{ "a raw object as state",         send_raw_state,          "a value that this link does not carry" },
	{ "an object of another link",     send_foreign_item,       "a value that this link does not carry" },
	{ "a write",                       send_write,              "a message that producers do not send" },
};

/* The watcher is reported, the session starts over, and the write has ended with an unknown outcome. */
static void
a_bad_answer(void **state)
{
	const struct bad_answer *bad = *state;
	union msg_body body;
	struct fake f;

	fake_start(&f);
	struct write_peer *p = &f.wr.actors[0];
	bad->send(&f);
	RIG_UNTIL(&f.wr.rig, p->end.nreports > 0 && p->nresults == 1);
	assert_int_equal(p->end.reports[0].who, ROLE_KUBE_WATCHER);
	assert_string_equal(p->end.reports[0].reason, bad->reason);
	assert_int_equal(p->results[0].outcome, OUTCOME_UNKNOWN);
	fake_expect(&f, MSG_HELLO, &body);
	assert_int_equal(p->nresults, 1);
	fake_end(&f);
}

/* The second copy of an answer is dropped, and is no reason for a report. */
static void
an_answer_again(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f);
	struct write_peer *p = &f.wr.actors[0];
	for (int n = 0; n < 2; n++) {
		send_item(&f, MSG_RAW, 0);
		send_result(&f, f.epoch, (struct body_result){ .id = f.write_id, .items = 1, .status = 201 });
	}
	RIG_UNTIL(&f.wr.rig, p->nresults == 1);
	rig_turn(&f.wr.rig, 20);
	assert_int_equal(p->results[0].outcome, OUTCOME_OK);
	assert_int_equal(p->results[0].status, 201);
	assert_int_equal(p->nresults, 1);
	assert_int_equal(p->end.nreports, 0);
	fake_end(&f);
}

/* ---- The tap ---- */

static void *
reader(struct write_rig *wr, const char *actor)
{
	char address[160];
	const int zero = 0;
	void *s = zmq_socket(wr->rig.context, ZMQ_SUB);

	zmq_setsockopt(s, ZMQ_LINGER, &zero, sizeof(zero));
	zmq_setsockopt(s, ZMQ_SUBSCRIBE, "", 0);
	snprintf(address, sizeof(address), "ipc://%s/%s/tap.ipc", wr->rig.dir, actor);
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

/* Reads up to a record of that topic; nothing that was read may contain the secret. */
static void
tap_until(struct write_rig *wr, void *s, const char *topic)
{
	char part[4096];
	bool met = false;

	for (int more = 1; !met || more != 0;) {
		size_t size = sizeof(more);
		int len = -1;

		RIG_UNTIL(&wr->rig, (len = zmq_recv(s, part, sizeof(part), ZMQ_DONTWAIT)) != -1);
		assert_null(memmem(part, (size_t)len, SECRET, strlen(SECRET)));
		met = met || ((size_t)len == strlen(topic) && memcmp(part, topic, (size_t)len) == 0);
		zmq_getsockopt(s, ZMQ_RCVMORE, &more, &size);
	}
}

static void
a_secret_is_not_shown(void **state)
{
	struct write_rig wr;
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
	write_rig_start(&wr);
	struct write_peer *p = &wr.actors[0];
	void *sides[] = { reader(&wr, "test-kube-1"), reader(&wr, "kube-watcher") };
	RIG_UNTIL(&wr.rig, has_something(sides[0]) && has_something(sides[1]));	/* beats */
	bus_write(p->end.bus, p->link, &w, NULL, NULL);
	RIG_UNTIL(&wr.rig, wr.watcher.nreceived == 1);
	assert_string_equal(wr.watcher.received[0].body, SECRET);	/* it did pass */
	msgpack_sbuffer_init(&value);
	msg_pack(&value, MSG_RAW, &(union msg_body){ .raw = { .resource = wire_str_of("secrets"),
	    .json = wire_str_of(SECRET) } });
	const struct body_item item = { .key = wire_str_of("secrets/ns/s"), .type = msg_table[MSG_RAW].number,
		.value = { .p = (const uint8_t *)value.data, .len = (uint32_t)value.size } };
	assert_int_equal(bus_result_items(wr.watcher.end.bus, wr.watcher.received[0].handle, &item, 1), E_OK);
	bus_result(wr.watcher.end.bus, wr.watcher.received[0].handle,
	    &(struct body_result){ .status = 200 }, NULL, 0);
	RIG_UNTIL(&wr.rig, p->nresults == 1);
	assert_int_equal(p->results[0].nitems, 1);
	tap_until(&wr, sides[0], "i/test-kube-1/kube.test-1/RESULT");
	tap_until(&wr, sides[1], "o/kube-watcher/kube.test-1/RESULT");
	msgpack_sbuffer_destroy(&value);
	zmq_close(sides[0]);
	zmq_close(sides[1]);
	write_rig_end(&wr);
}

int
main(int argc, char **argv)
{
	static const struct CMUnitTest alone[] = {
		cmocka_unit_test(a_write_without_a_session), cmocka_unit_test(a_write_before_the_snapshot),
		cmocka_unit_test(the_bus_refuses_no_write_by_itself), cmocka_unit_test(an_answer_again),
		cmocka_unit_test(a_secret_is_not_shown),
	};
	struct CMUnitTest writes[NITEMS(bad_writes)], answers[NITEMS(bad_answers)];

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);	/* a glob, for a person */
	log_open("test", LOG_JSON, LEVEL_ERROR);
	for (size_t i = 0; i < NITEMS(bad_writes); i++)
		writes[i] = (struct CMUnitTest){ bad_writes[i].name, a_bad_write, NULL, NULL,
			(void *)(uintptr_t)&bad_writes[i] };
	for (size_t i = 0; i < NITEMS(bad_answers); i++)
		answers[i] = (struct CMUnitTest){ bad_answers[i].name, a_bad_answer, NULL, NULL,
			(void *)(uintptr_t)&bad_answers[i] };
	return cmocka_run_group_tests_name("bad writes", writes, NULL, NULL)
	    + cmocka_run_group_tests_name("bad answers", answers, NULL, NULL)
	    + cmocka_run_group_tests_name("single cases", alone, NULL, NULL);
}
