/*
 * tests/bus/test_pair.c - a consumer's bus against a real producer's, and against a fake producer that
 * sends bad messages: the mirror is kept, the producer is reported by name, and the next valid
 * snapshot repairs everything.
 *
 * muster-test: parallel
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "err.h"
#include "rig.h"

enum { KEYS = 10, FAKE_PRODUCER = 3 };

static void
count_one(const struct change *c, void *arg)
{
	assert_int_equal(c->type, MSG_SAMPLE);
	++*(unsigned *)arg;
}

static unsigned
keys_of(struct rig_end *e)
{
	unsigned n = 0;

	bus_each(e->bus, LINK_SAMPLES, count_one, &n);
	return n;
}

/* ---- States of the producer that the supervisor sends ---- */

static void
a_producer_that_is_down_makes_the_mirror_stale(void **state)
{
	struct rig r;

	(void)state;
	rig_start(&r, 1, KEYS);
	struct rig_end *c = &r.consumers[0];
	assert_true(bus_fresh(c->bus, LINK_SAMPLES));
	bus_peer(c->bus, ROLE_TEST_PRODUCER, RIG_PRODUCER, NULL, &c->token, PEER_DOWN);
	assert_false(bus_fresh(c->bus, LINK_SAMPLES));
	assert_true(bus_synced(c->bus));
	assert_int_equal(keys_of(c), KEYS);
	bus_peer(c->bus, ROLE_TEST_PRODUCER, RIG_PRODUCER, NULL, &c->token, PEER_UP);
	assert_true(bus_fresh(c->bus, LINK_SAMPLES));
	rig_free(&r);
}

static void
a_producer_that_is_off_takes_its_keys_along(void **state)
{
	struct rig r;

	(void)state;
	rig_start(&r, 1, KEYS);
	struct rig_end *c = &r.consumers[0];
	bus_peer(c->bus, ROLE_TEST_PRODUCER, RIG_PRODUCER, NULL, &c->token, PEER_OFF);
	assert_int_equal(c->gone, KEYS);
	assert_int_equal(keys_of(c), 0);
	bus_peer(c->bus, ROLE_TEST_PRODUCER, RIG_PRODUCER, NULL, &c->token, PEER_UP);
	RIG_UNTIL(&r, c->synced == 2);
	assert_int_equal(keys_of(c), KEYS);
	rig_free(&r);
}

static void
a_new_incarnation_of_the_producer_gets_hello_at_once(void **state)
{
	struct rig r;

	(void)state;
	rig_start(&r, 2, KEYS);
	rig_close(&r.producer);
	rig_open(&r, &r.producer, ROLE_TEST_PRODUCER, RIG_PRODUCER + 1);
	for (int k = 0; k < KEYS; k++) {
		char key[32];

		snprintf(key, sizeof(key), "key-%d", k);
		rig_set(&r, key, 1);
	}
	for (int i = 0; i < 2; i++)
		rig_announce(&r, &r.consumers[i]);
	rig_turn(&r, 300);
	assert_int_equal(r.consumers[0].synced, 1);	/* it is not ready, and its beats report so */
	assert_false(bus_fresh(r.consumers[0].bus, LINK_SAMPLES));
	link_store_set_ready(bus_store(r.producer.bus, LINK_SAMPLES));
	bus_touch(r.producer.bus);
	for (int i = 0; i < 2; i++) {
		RIG_UNTIL(&r, r.consumers[i].synced == 2);
		assert_int_equal(r.consumers[i].gone, 0);
		assert_int_equal(r.consumers[i].updated, 0);	/* the same bytes: no change */
	}
	rig_free(&r);
}

static void
a_new_incarnation_of_a_consumer_replaces_the_old_one(void **state)
{
	struct rig r;

	(void)state;
	rig_start(&r, 2, KEYS);
	rig_open(&r, &r.consumers[2], ROLE_TEST_CONSUMER_1, 2);
	rig_announce(&r, &r.consumers[2]);
	RIG_UNTIL(&r, r.consumers[2].synced == 1);
	bus_stats(r.producer.bus);
	assert_int_equal((int)rig_stat(STAT_SESSIONS, NULL, NULL), 2);
	rig_undisturbed(&r, &r.consumers[1]);
	rig_free(&r);
}

/* ---- Handlers that read the mirror ---- */

static void
check_mirror(struct rig_end *e, const struct change *c)
{
	unsigned n = 0;

	if (c->kind == CHANGE_SYNCED)
		return;
	const uint64_t number = c->value->sample.number;
	bus_each(e->bus, LINK_SAMPLES, count_one, &n);
	assert_int_equal(c->value->sample.number, number);
	assert_int_equal(n, c->kind == CHANGE_GONE ? KEYS - 1 : KEYS);
}

static void
a_handler_may_read_the_mirror(void **state)
{
	struct rig r;

	(void)state;
	rig_start(&r, 1, KEYS);
	r.consumers[0].on_change = check_mirror;
	rig_set(&r, "key-3", 2);
	RIG_UNTIL(&r, r.consumers[0].updated == 1);
	assert_true(link_store_remove(bus_store(r.producer.bus, LINK_SAMPLES), wire_str_of("key-4"), 1));
	bus_touch(r.producer.bus);
	RIG_UNTIL(&r, r.consumers[0].gone == 1);
	rig_free(&r);
}

struct nested {
	struct bus	*bus;
	unsigned	 outer, inner;
};

static void
count_inner(const struct change *c, void *arg)
{
	(void)c;
	((struct nested *)arg)->inner++;
}

static void
count_outer(const struct change *c, void *arg)
{
	struct nested *n = arg;

	(void)c;
	n->outer++;
	bus_each(n->bus, LINK_SAMPLES, count_inner, n);
}

static void
an_iteration_inside_an_iteration(void **state)
{
	struct rig r;

	(void)state;
	rig_start(&r, 1, KEYS);
	struct nested n = { .bus = r.consumers[0].bus };
	bus_each(n.bus, LINK_SAMPLES, count_outer, &n);
	assert_int_equal(n.outer, KEYS);
	assert_int_equal(n.inner, KEYS * KEYS);
	rig_free(&r);
}

/* ---- A fake producer that sends bad messages ---- */

struct fake {
	struct rig	 r;
	void		*router;
	zmq_msg_t	 id;		/* of the consumer */
	uint64_t	 nonce, epoch, seq;
	struct msg_arena arena;
	msgpack_sbuffer	 frame, value;
};

static void
fake_send_frame(struct fake *f, bool more)
{
	zmq_send(f->router, zmq_msg_data(&f->id), zmq_msg_size(&f->id), ZMQ_SNDMORE);
	assert_int_equal(zmq_send(f->router, f->frame.data, f->frame.size, more ? ZMQ_SNDMORE : 0),
	    f->frame.size);
}

static void
fake_send(struct fake *f, enum msg type, uint64_t seq, const union msg_body *body)
{
	rig_frame(&f->frame, &(struct envelope){ .type = type, .epoch = f->epoch, .seq = seq }, body);
	fake_send_frame(f, false);
}

/* Two parts in one message: the sender and its frame. */
static bool
fake_receive(struct fake *f, zmq_msg_t *m)
{
	return zmq_msg_recv(&f->id, f->router, ZMQ_DONTWAIT) != -1 && zmq_msg_recv(m, f->router, 0) != -1;
}

static void
fake_expect_hello(struct fake *f)
{
	zmq_msg_t m;

	zmq_msg_init(&m);
	for (;;) {
		union msg_body body;
		struct frame frame;

		RIG_UNTIL(&f->r, fake_receive(f, &m));
		msg_arena_reset(&f->arena);
		assert_null(frame_open(&frame, zmq_msg_data(&m), zmq_msg_size(&m), &f->arena));
		assert_true(frame_next(&frame, &f->arena, &body));
		if (frame.env.type != MSG_HELLO)
			continue;
		assert_true(body.hello.nonce != f->nonce);
		f->nonce = body.hello.nonce;
		break;
	}
	zmq_msg_close(&m);
}

static struct body_item
fake_item(struct fake *f, const char *key, uint64_t number)
{
	msgpack_sbuffer_clear(&f->value);
	msg_pack(&f->value, MSG_SAMPLE, &(union msg_body){ .sample = { .number = number } });
	return (struct body_item){
		.key = wire_str_of(key), .uid = wire_str_of("uid"), .version = number,
		.type = msg_table[MSG_SAMPLE].number,
		.value = { .p = (const uint8_t *)f->value.data, .len = (uint32_t)f->value.size },
	};
}

/* A valid snapshot: two keys. */
static void
fake_snapshot(struct fake *f)
{
	static const char *const keys[] = { "a", "b" };

	f->epoch++;
	f->seq = 0;
	fake_send(f, MSG_SNAP_BEGIN, 0, &(union msg_body){ .snap_begin = { .nonce = f->nonce } });
	for (size_t i = 0; i < NITEMS(keys); i++)
		fake_send(f, MSG_SNAP_ITEMS, ++f->seq, &(union msg_body){ .item = fake_item(f, keys[i], 1) });
	fake_send(f, MSG_SNAP_END, f->seq, &(union msg_body){ .snap_end = { .count = NITEMS(keys) } });
}

static void
fake_start(struct fake *f)
{
	*f = (struct fake){ .epoch = EPOCH_MAKE(FAKE_PRODUCER, 0) };
	rig_init(&f->r);
	zmq_msg_init(&f->id);
	msg_arena_init(&f->arena);
	msgpack_sbuffer_init(&f->frame);
	msgpack_sbuffer_init(&f->value);
	f->router = rig_raw(&f->r, ZMQ_ROUTER, NULL);
	rig_open(&f->r, &f->r.consumers[0], ROLE_TEST_CONSUMER_1, 1);
	bus_peer(f->r.consumers[0].bus, ROLE_TEST_PRODUCER, FAKE_PRODUCER, NULL, NULL, PEER_UP);
	fake_expect_hello(f);
	fake_snapshot(f);
	RIG_UNTIL(&f->r, f->r.consumers[0].synced == 1);
}

static void
fake_end(struct fake *f)
{
	zmq_msg_close(&f->id);
	msg_arena_free(&f->arena);
	msgpack_sbuffer_destroy(&f->frame);
	msgpack_sbuffer_destroy(&f->value);
	zmq_close(f->router);
	rig_free(&f->r);
}

static void
send_garbage(struct fake *f)
{
	msgpack_sbuffer_clear(&f->frame);
	msgpack_sbuffer_write(&f->frame, "\xdd\xff\0\0\0", 5);
	fake_send_frame(f, false);
}

static void
send_two_parts(struct fake *f)
{
	rig_frame(&f->frame, &(struct envelope){ .type = MSG_BEAT, .epoch = f->epoch, .seq = f->seq },
	    &(union msg_body){ .beat = { .ready = true } });
	fake_send_frame(f, true);
	assert_int_equal(zmq_send(f->router, f->frame.data, f->frame.size, ZMQ_SNDMORE), f->frame.size);
	assert_int_equal(zmq_send(f->router, f->frame.data, f->frame.size, 0), f->frame.size);
}

static void
send_ack(struct fake *f)
{
	fake_send(f, MSG_ACK, f->seq, &(union msg_body){ .ack = { .credit = 1 } });
}

static void
send_value_alone(struct fake *f)
{
	fake_send(f, MSG_SAMPLE, f->seq, &(union msg_body){ .sample = { .number = 1 } });
}

static void
send_item(struct fake *f, struct body_item item)
{
	fake_send(f, MSG_DELTA, f->seq + 1, &(union msg_body){ .item = item });
}

static void
send_no_key(struct fake *f)
{
	send_item(f, fake_item(f, "", 2));
}

static void
send_long_key(struct fake *f)
{
	static char key[LINK_STORE_KEY_MAX + 2];

	memset(key, 'k', sizeof(key) - 1);
	send_item(f, fake_item(f, key, 2));
}

static void
send_other_type(struct fake *f)
{
	struct body_item item = fake_item(f, "a", 2);

	item.type = msg_table[MSG_STAT].number;
	send_item(f, item);
}

static void
send_unknown_type(struct fake *f)
{
	struct body_item item = fake_item(f, "a", 2);

	item.type = UINT64_C(1) << 40 | item.type;
	send_item(f, item);
}

static void
send_bad_value(struct fake *f)
{
	struct body_item item = fake_item(f, "a", 2);

	item.value.len--;
	send_item(f, item);
}

static void
send_claiming_value(struct fake *f)
{
	struct body_item item = fake_item(f, "a", 2);

	item.value = (struct wire_bin){ .p = (const uint8_t *)"\xdd\xff\0\0\0", .len = 5 };
	send_item(f, item);
}

/* The first item is good and is accepted; the second is not. */
static void
send_half_a_batch(struct fake *f)
{
	rig_frame(&f->frame, &(struct envelope){ .type = MSG_DELTA, .epoch = f->epoch, .seq = f->seq + 1 },
	    &(union msg_body){ .item = fake_item(f, "a", 2) });
	msg_pack(&f->frame, MSG_DELTA, &(union msg_body){ .item = { .key = wire_str_of("b") } });
	fake_send_frame(f, false);
}

static const struct bad_message {
	const char	 *name;
	void		(*send)(struct fake *);
	const char	 *reason;
} bad_messages[] = {
	{ "garbage",                       send_garbage,        "declares more bytes than it has" },
	{ "three parts",                   send_two_parts,      "wrong number of parts" },
	{ "an ACK",                        send_ack,            "a message that producers do not send" },
	{ "a value by itself",             send_value_alone,    "a message that producers do not send" },
	{ "an item without a key",         send_no_key,         "empty or overlong key" },
	{ "an item with an endless key",   send_long_key,       "empty or overlong key" },
	{ "a value of another link",       send_other_type,     "a value that this link does not carry" },
	{ "a value of no known type",      send_unknown_type,   "a value that this link does not carry" },
	{ "a value cut short",             send_bad_value,      "value does not fit the schema" },
	{ "a value that claims gigabytes", send_claiming_value, "value does not fit the schema" },
	{ "a batch with one bad item",     send_half_a_batch,   "a value that this link does not carry" },
};

static void
a_bad_message(void **state)
{
	const struct bad_message *bad = *state;
	struct fake f;

	fake_start(&f);
	struct rig_end *c = &f.r.consumers[0];
	bad->send(&f);
	RIG_UNTIL(&f.r, c->nreports > 0);
	assert_int_equal(c->reports[0].who, ROLE_TEST_PRODUCER);
	assert_int_equal(c->reports[0].incarnation, FAKE_PRODUCER);
	assert_string_equal(c->reports[0].reason, bad->reason);
	assert_false(bus_fresh(c->bus, LINK_SAMPLES));
	assert_int_equal(keys_of(c), 2);
	fake_expect_hello(&f);		/* it sends HELLO again, and a snapshot repairs everything */
	fake_snapshot(&f);
	RIG_UNTIL(&f.r, c->synced == 2);
	assert_int_equal(c->nreports, 1);
	assert_int_equal(c->gone, 0);
	assert_int_equal(keys_of(c), 2);
	assert_true(bus_fresh(c->bus, LINK_SAMPLES));
	fake_end(&f);
}

/* ---- Transient faults: a resync, and no report ---- */

static void
lose_one(struct fake *f)
{
	fake_send(f, MSG_DELTA, f->seq + 2, &(union msg_body){ .item = fake_item(f, "a", 3) });
}

static void
lose_the_last(struct fake *f)
{
	fake_send(f, MSG_BEAT, f->seq + 1, &(union msg_body){ .beat = { .ready = true, .exact = true } });
}

static void
hold_something_else(struct fake *f)
{
	fake_send(f, MSG_BEAT, f->seq,
	    &(union msg_body){ .beat = { .ready = true, .exact = true, .count = 2, .hash = 1 } });
}

static void
close_it(struct fake *f)
{
	fake_send(f, MSG_CLOSE, f->seq, &(union msg_body){ .close = { .reason = wire_str_of("why not") } });
}

static const struct fault {
	const char	 *name;
	void		(*happen)(struct fake *);
	const char	 *reason;
} faults[] = {
	{ "a lost delta",         lose_one,            "gap" },
	{ "the last delta lost",  lose_the_last,       "gap" },
	{ "unequal content",      hold_something_else, "hash" },
	{ "a closed session",     close_it,            "closed" },
};

static void
a_resync(void **state)
{
	const struct fault *fault = *state;
	struct fake f;

	fake_start(&f);
	struct rig_end *c = &f.r.consumers[0];
	fault->happen(&f);
	fake_expect_hello(&f);
	assert_int_equal((int)rig_stat(STAT_RESYNC, "reason", fault->reason), 1);
	assert_int_equal(keys_of(c), 2);
	fake_snapshot(&f);
	RIG_UNTIL(&f.r, c->synced == 2);
	assert_int_equal(c->nreports, 0);
	assert_int_equal(c->gone, 0);
	fake_end(&f);
}

/* Both programs must be of one build: a restart cannot repair another schema. */
static void
another_schema_is_a_configuration_error(void **state)
{
	struct fake *f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char command[128];
	int status;

	(void)state;
	fflush(stdout);
	const pid_t pid = fork();
	if (pid == 0) {
		fake_start(f);
		fake_send(f, MSG_CLOSE, 0,
		    &(union msg_body){ .close = { .reason = wire_str_of("schema differs") } });
		RIG_UNTIL(&f->r, f->r.consumers[0].synced == 99);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(command, sizeof(command), "rm -rf %s", f->r.dir);	/* the child did not remove it */
	assert_int_equal(system(command), 0);
	munmap(f, sizeof(*f));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_CONFIG);
}

#define ALONE(fn)	{ .name = #fn, .test_func = (fn) }

int
main(int argc, char **argv)
{
	static const struct CMUnitTest alone[] = {
		/* First: it forks, and libzmq must not run yet. */
		ALONE(another_schema_is_a_configuration_error),
		ALONE(a_producer_that_is_down_makes_the_mirror_stale),
		ALONE(a_producer_that_is_off_takes_its_keys_along),
		ALONE(a_new_incarnation_of_the_producer_gets_hello_at_once),
		ALONE(a_new_incarnation_of_a_consumer_replaces_the_old_one),
		ALONE(a_handler_may_read_the_mirror), ALONE(an_iteration_inside_an_iteration),
	};
	struct CMUnitTest reported[NITEMS(bad_messages)], resyncing[NITEMS(faults)];

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);	/* a glob, for a person */
	log_open("test", LOG_JSON, LEVEL_ERROR);
	for (size_t i = 0; i < NITEMS(bad_messages); i++)
		reported[i] = (struct CMUnitTest){ bad_messages[i].name, a_bad_message, NULL, NULL,
			(void *)(uintptr_t)&bad_messages[i] };
	for (size_t i = 0; i < NITEMS(faults); i++) {
		resyncing[i] = (struct CMUnitTest){
			faults[i].name, a_resync, NULL, NULL, (void *)(uintptr_t)&faults[i]
		};
	}
	return cmocka_run_group_tests_name("a pair", alone, NULL, NULL)
	    + cmocka_run_group_tests_name("bad messages", reported, NULL, NULL)
	    + cmocka_run_group_tests_name("transient faults", resyncing, NULL, NULL);
}
