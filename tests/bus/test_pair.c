/*
 * tests/bus/test_pair.c - a consumer's bus against a real producer's, and against one that lies:
 * the mirror is kept, the liar is reported by name, and the next honest snapshot repairs
 * everything.
 *
 * muster-test: parallel
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "err.h"
#include "rig.h"

enum { KEYS = 10, LIAR = 3 };

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

/* ---- What the supervisor says of the producer ---- */

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
		rig_introduce(&r, &r.consumers[i]);
	rig_turn(&r, 300);
	assert_int_equal(r.consumers[0].synced, 1);	/* it is not ready, and says so */
	assert_false(bus_fresh(r.consumers[0].bus, LINK_SAMPLES));
	link_store_set_ready(bus_store(r.producer.bus, LINK_SAMPLES));
	bus_touch(r.producer.bus);
	for (int i = 0; i < 2; i++) {
		RIG_UNTIL(&r, r.consumers[i].synced == 2);
		assert_int_equal(r.consumers[i].gone, 0);
		assert_int_equal(r.consumers[i].updated, 0);	/* the same bytes: nothing to tell */
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
	rig_introduce(&r, &r.consumers[2]);
	RIG_UNTIL(&r, r.consumers[2].synced == 1);
	bus_stats(r.producer.bus);
	assert_int_equal((int)rig_stat(STAT_SESSIONS, NULL, NULL), 2);
	rig_undisturbed(&r, &r.consumers[1]);
	rig_free(&r);
}

/* ---- Handlers that look around ---- */

static void
look_twice(struct rig_end *e, const struct change *c)
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
	r.consumers[0].on_change = look_twice;
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
a_walk_inside_a_walk(void **state)
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

/* ---- A producer that lies ---- */

struct liar {
	struct rig	 r;
	void		*router;
	zmq_msg_t	 id;		/* of the consumer */
	uint64_t	 nonce, epoch, seq;
	struct msg_arena arena;
	msgpack_sbuffer	 frame, value;
};

static void
liar_send(struct liar *l, bool more)
{
	zmq_send(l->router, zmq_msg_data(&l->id), zmq_msg_size(&l->id), ZMQ_SNDMORE);
	assert_int_equal(zmq_send(l->router, l->frame.data, l->frame.size, more ? ZMQ_SNDMORE : 0),
	    l->frame.size);
}

static void
liar_say(struct liar *l, enum msg type, uint64_t seq, const union msg_body *body)
{
	rig_frame(&l->frame, &(struct envelope){ .type = type, .epoch = l->epoch, .seq = seq }, body);
	liar_send(l, false);
}

/* Two parts in one message: the sender and its frame. */
static bool
liar_hears(struct liar *l, zmq_msg_t *m)
{
	return zmq_msg_recv(&l->id, l->router, ZMQ_DONTWAIT) != -1 && zmq_msg_recv(m, l->router, 0) != -1;
}

static void
liar_expect_hello(struct liar *l)
{
	zmq_msg_t m;

	zmq_msg_init(&m);
	for (;;) {
		union msg_body body;
		struct frame f;

		RIG_UNTIL(&l->r, liar_hears(l, &m));
		msg_arena_reset(&l->arena);
		assert_null(frame_open(&f, zmq_msg_data(&m), zmq_msg_size(&m), &l->arena));
		assert_true(frame_next(&f, &l->arena, &body));
		if (f.env.type != MSG_HELLO)
			continue;
		assert_true(body.hello.nonce != l->nonce);
		l->nonce = body.hello.nonce;
		break;
	}
	zmq_msg_close(&m);
}

static struct body_item
liar_item(struct liar *l, const char *key, uint64_t number)
{
	msgpack_sbuffer_clear(&l->value);
	msg_pack(&l->value, MSG_SAMPLE, &(union msg_body){ .sample = { .number = number } });
	return (struct body_item){
		.key = wire_str_of(key), .uid = wire_str_of("uid"), .version = number,
		.type = msg_table[MSG_SAMPLE].number,
		.value = { .p = (const uint8_t *)l->value.data, .len = (uint32_t)l->value.size },
	};
}

/* The truth, for once: two keys. */
static void
liar_snapshot(struct liar *l)
{
	static const char *const keys[] = { "a", "b" };

	l->epoch++;
	l->seq = 0;
	liar_say(l, MSG_SNAP_BEGIN, 0, &(union msg_body){ .snap_begin = { .nonce = l->nonce } });
	for (size_t i = 0; i < NITEMS(keys); i++)
		liar_say(l, MSG_SNAP_ITEMS, ++l->seq, &(union msg_body){ .item = liar_item(l, keys[i], 1) });
	liar_say(l, MSG_SNAP_END, l->seq, &(union msg_body){ .snap_end = { .count = NITEMS(keys) } });
}

static void
liar_start(struct liar *l)
{
	*l = (struct liar){ .epoch = EPOCH_MAKE(LIAR, 0) };
	rig_init(&l->r);
	zmq_msg_init(&l->id);
	msg_arena_init(&l->arena);
	msgpack_sbuffer_init(&l->frame);
	msgpack_sbuffer_init(&l->value);
	l->router = rig_raw(&l->r, ZMQ_ROUTER, NULL);
	rig_open(&l->r, &l->r.consumers[0], ROLE_TEST_CONSUMER_1, 1);
	bus_peer(l->r.consumers[0].bus, ROLE_TEST_PRODUCER, LIAR, NULL, NULL, PEER_UP);
	liar_expect_hello(l);
	liar_snapshot(l);
	RIG_UNTIL(&l->r, l->r.consumers[0].synced == 1);
}

static void
liar_end(struct liar *l)
{
	zmq_msg_close(&l->id);
	msg_arena_free(&l->arena);
	msgpack_sbuffer_destroy(&l->frame);
	msgpack_sbuffer_destroy(&l->value);
	zmq_close(l->router);
	rig_free(&l->r);
}

static void
say_garbage(struct liar *l)
{
	msgpack_sbuffer_clear(&l->frame);
	msgpack_sbuffer_write(&l->frame, "\xdd\xff\0\0\0", 5);
	liar_send(l, false);
}

static void
say_two_parts(struct liar *l)
{
	rig_frame(&l->frame, &(struct envelope){ .type = MSG_BEAT, .epoch = l->epoch, .seq = l->seq },
	    &(union msg_body){ .beat = { .ready = true } });
	liar_send(l, true);
	assert_int_equal(zmq_send(l->router, l->frame.data, l->frame.size, ZMQ_SNDMORE), l->frame.size);
	assert_int_equal(zmq_send(l->router, l->frame.data, l->frame.size, 0), l->frame.size);
}

static void
say_ack(struct liar *l)
{
	liar_say(l, MSG_ACK, l->seq, &(union msg_body){ .ack = { .credit = 1 } });
}

static void
say_value_alone(struct liar *l)
{
	liar_say(l, MSG_SAMPLE, l->seq, &(union msg_body){ .sample = { .number = 1 } });
}

static void
say_item(struct liar *l, struct body_item item)
{
	liar_say(l, MSG_DELTA, l->seq + 1, &(union msg_body){ .item = item });
}

static void
say_no_key(struct liar *l)
{
	say_item(l, liar_item(l, "", 2));
}

static void
say_long_key(struct liar *l)
{
	static char key[LINK_STORE_KEY_MAX + 2];

	memset(key, 'k', sizeof(key) - 1);
	say_item(l, liar_item(l, key, 2));
}

static void
say_other_type(struct liar *l)
{
	struct body_item item = liar_item(l, "a", 2);

	item.type = msg_table[MSG_STAT].number;
	say_item(l, item);
}

static void
say_unknown_type(struct liar *l)
{
	struct body_item item = liar_item(l, "a", 2);

	item.type = UINT64_C(1) << 40 | item.type;
	say_item(l, item);
}

static void
say_bad_value(struct liar *l)
{
	struct body_item item = liar_item(l, "a", 2);

	item.value.len--;
	say_item(l, item);
}

static void
say_claiming_value(struct liar *l)
{
	struct body_item item = liar_item(l, "a", 2);

	item.value = (struct wire_bin){ .p = (const uint8_t *)"\xdd\xff\0\0\0", .len = 5 };
	say_item(l, item);
}

/* The first item is good and is taken; the second is not. */
static void
say_half_a_batch(struct liar *l)
{
	rig_frame(&l->frame, &(struct envelope){ .type = MSG_DELTA, .epoch = l->epoch, .seq = l->seq + 1 },
	    &(union msg_body){ .item = liar_item(l, "a", 2) });
	msg_pack(&l->frame, MSG_DELTA, &(union msg_body){ .item = { .key = wire_str_of("b") } });
	liar_send(l, false);
}

static const struct lie {
	const char	 *name;
	void		(*say)(struct liar *);
	const char	 *reason;
} lies[] = {
	{ "garbage",                    say_garbage,        "declares more bytes than it has" },
	{ "three parts",                say_two_parts,      "wrong number of parts" },
	{ "an ACK",                     say_ack,            "a message that producers do not send" },
	{ "a value by itself",          say_value_alone,    "a message that producers do not send" },
	{ "an item without a key",      say_no_key,         "empty or overlong key" },
	{ "an item with an endless key", say_long_key,      "empty or overlong key" },
	{ "a value of another link",    say_other_type,     "a value that this link does not carry" },
	{ "a value of no known type",   say_unknown_type,   "a value that this link does not carry" },
	{ "a value cut short",          say_bad_value,      "value does not fit the schema" },
	{ "a value that claims gigabytes", say_claiming_value, "value does not fit the schema" },
	{ "a batch with one bad item",  say_half_a_batch,   "a value that this link does not carry" },
};

static void
a_lie(void **state)
{
	const struct lie *lie = *state;
	struct liar l;

	liar_start(&l);
	struct rig_end *c = &l.r.consumers[0];
	lie->say(&l);
	RIG_UNTIL(&l.r, c->nreports > 0);
	assert_int_equal(c->reports[0].who, ROLE_TEST_PRODUCER);
	assert_int_equal(c->reports[0].incarnation, LIAR);
	assert_string_equal(c->reports[0].reason, lie->reason);
	assert_false(bus_fresh(c->bus, LINK_SAMPLES));
	assert_int_equal(keys_of(c), 2);
	liar_expect_hello(&l);		/* it asks again, and the truth repairs everything */
	liar_snapshot(&l);
	RIG_UNTIL(&l.r, c->synced == 2);
	assert_int_equal(c->nreports, 1);
	assert_int_equal(c->gone, 0);
	assert_int_equal(keys_of(c), 2);
	assert_true(bus_fresh(c->bus, LINK_SAMPLES));
	liar_end(&l);
}

/* ---- What is no lie but weather: nobody is reported ---- */

static void
lose_one(struct liar *l)
{
	liar_say(l, MSG_DELTA, l->seq + 2, &(union msg_body){ .item = liar_item(l, "a", 3) });
}

static void
lose_the_last(struct liar *l)
{
	liar_say(l, MSG_BEAT, l->seq + 1, &(union msg_body){ .beat = { .ready = true, .exact = true } });
}

static void
hold_something_else(struct liar *l)
{
	liar_say(l, MSG_BEAT, l->seq,
	    &(union msg_body){ .beat = { .ready = true, .exact = true, .count = 2, .hash = 1 } });
}

static void
close_it(struct liar *l)
{
	liar_say(l, MSG_CLOSE, l->seq, &(union msg_body){ .close = { .reason = wire_str_of("why not") } });
}

static const struct weather {
	const char	 *name;
	void		(*happen)(struct liar *);
	const char	 *reason;
} weathers[] = {
	{ "a lost delta",         lose_one,            "gap" },
	{ "the last delta lost",  lose_the_last,       "gap" },
	{ "unequal content",      hold_something_else, "hash" },
	{ "a closed session",     close_it,            "closed" },
};

static void
a_resync(void **state)
{
	const struct weather *w = *state;
	struct liar l;

	liar_start(&l);
	struct rig_end *c = &l.r.consumers[0];
	w->happen(&l);
	liar_expect_hello(&l);
	assert_int_equal((int)rig_stat(STAT_RESYNC, "reason", w->reason), 1);
	assert_int_equal(keys_of(c), 2);
	liar_snapshot(&l);
	RIG_UNTIL(&l.r, c->synced == 2);
	assert_int_equal(c->nreports, 0);
	assert_int_equal(c->gone, 0);
	liar_end(&l);
}

/* Both programs must be of one build: nobody restarts what cannot work. */
static void
another_schema_is_a_configuration_error(void **state)
{
	struct liar *l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char command[128];
	int status;

	(void)state;
	fflush(stdout);
	const pid_t pid = fork();
	if (pid == 0) {
		liar_start(l);
		liar_say(l, MSG_CLOSE, 0,
		    &(union msg_body){ .close = { .reason = wire_str_of("schema differs") } });
		RIG_UNTIL(&l->r, l->r.consumers[0].synced == 99);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(command, sizeof(command), "rm -rf %s", l->r.dir);	/* it died with its folder in place */
	assert_int_equal(system(command), 0);
	munmap(l, sizeof(*l));
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
		ALONE(a_handler_may_read_the_mirror), ALONE(a_walk_inside_a_walk),
	};
	struct CMUnitTest lying[NITEMS(lies)], resyncing[NITEMS(weathers)];

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);	/* a glob, for a person */
	log_open("test", LOG_JSON, LEVEL_ERROR);
	for (size_t i = 0; i < NITEMS(lies); i++)
		lying[i] = (struct CMUnitTest){ lies[i].name, a_lie, NULL, NULL,
			(void *)(uintptr_t)&lies[i] };
	for (size_t i = 0; i < NITEMS(weathers); i++) {
		resyncing[i] = (struct CMUnitTest){
			weathers[i].name, a_resync, NULL, NULL, (void *)(uintptr_t)&weathers[i]
		};
	}
	return cmocka_run_group_tests_name("a pair", alone, NULL, NULL)
	    + cmocka_run_group_tests_name("a producer that lies", lying, NULL, NULL)
	    + cmocka_run_group_tests_name("weather", resyncing, NULL, NULL);
}
