/*
 * tests/unit/test_link_store.c - the producer's store: scripts of calls, then memory under churn against
 * a slow consumer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "keytab.h"
#include "obj.h"
#include "session.h"
#include "link_store.h"

/* Every test runs without a pool, and again with one. */
static struct intern *pool;

static struct link_store *
new_store(void)
{
	struct link_store *const v = link_store_new();

	if (pool != NULL)
		link_store_intern(v, pool);
	return v;
}

enum op {
	OP_END,
	OP_SET,
	OP_SAME,
	OP_FORCE,
	OP_READ_NOW,
	OP_REMOVE,
	OP_ABSENT,
	OP_ATTACH,
	OP_DETACH,
	OP_SEND,
	OP_ACK,
	OP_PENDING,
	OP_COUNT,
	OP_TOMBS
};

struct step {
	enum op		 op;
	int		 slot;
	const char	*key, *uid, *rv, *value;
	uint64_t	 n;
};

/* A change; a set that changes nothing; a removal; a removal of what is not there. */
#define SET(k, u, r, v)		{ .op = OP_SET, .key = (k), .uid = (u), .rv = (r), .value = (v) }
#define SAME(k, u, r, v)	{ .op = OP_SAME, .key = (k), .uid = (u), .rv = (r), .value = (v) }
/* A set that is a change whatever the bytes; a key that is read outside the sequence ("": nothing). */
#define FORCE(k, u, r, v)	{ .op = OP_FORCE, .key = (k), .uid = (u), .rv = (r), .value = (v) }
#define READ_NOW(s, k, item)	{ .op = OP_READ_NOW, .slot = (s), .key = (k), .value = (item) }
#define REMOVE(k)		{ .op = OP_REMOVE, .key = (k) }
#define ABSENT(k)		{ .op = OP_ABSENT, .key = (k) }
#define ATTACH(s)		{ .op = OP_ATTACH, .slot = (s) }
#define DETACH(s)		{ .op = OP_DETACH, .slot = (s) }
/*
 * The next items, at most so many keys: "a@u1/7=x" is a key with uid, rv and value, "-a@u1" one
 * that is gone.
 */
#define SEND(s, max, items)	{ .op = OP_SEND, .slot = (s), .n = (max), .value = (items) }
#define ACK(s, seq)		{ .op = OP_ACK, .slot = (s), .n = (seq) }
#define PENDING(s, count)	{ .op = OP_PENDING, .slot = (s), .n = (count) }
#define COUNT(count)		{ .op = OP_COUNT, .n = (count) }
#define TOMBS(count)		{ .op = OP_TOMBS, .n = (count) }

static const struct row {
	const char	*name;
	struct step	 steps[24];
} rows[] = {
	{ "a consumer gets what is there, in order",
	    { SET("a", "u1", "1", "x"), SET("b", "u2", "2", "y"), ATTACH(0), PENDING(0, 2),
		COUNT(2), SEND(0, 9, "a@u1/1=x b@u2/2=y"), PENDING(0, 0), SEND(0, 9, "") } },
	{ "an empty store is a snapshot, too",
	    { ATTACH(0), PENDING(0, 0), SEND(0, 9, ""), COUNT(0) } },
	{ "the newest value is read when it is sent",
	    { SET("a", "u1", "1", "x"), ATTACH(0), SET("a", "u1", "2", "y"),
		SET("a", "u1", "3", "z"), PENDING(0, 1), SEND(0, 9, "a@u1/3=z") } },
	{ "the same bytes wake nobody",
	    { SET("a", "u1", "1", "x"), ATTACH(0), SEND(0, 9, "a@u1/1=x"),
		SAME("a", "u1", "1", "x"), PENDING(0, 0) } },
	{ "a new rv alone wakes nobody, but is sent with the next value",
	    { SET("a", "u1", "1", "x"), ATTACH(0), SEND(0, 9, "a@u1/1=x"),
		SAME("a", "u1", "2", "x"), PENDING(0, 0), ATTACH(1), SEND(1, 9, "a@u1/2=x"),
		SET("a", "u1", "3", "y"), SEND(0, 9, "a@u1/3=y") } },
	{ "another uid with the same bytes is a change",
	    { SET("a", "u1", "1", "x"), ATTACH(0), SEND(0, 9, "a@u1/1=x"), SET("a", "u2", "2", "x"),
		SEND(0, 9, "a@u2/2=x"), COUNT(1) } },
	{ "a key sent in between goes to the end",
	    { SET("a", "", "", "1"), SET("b", "", "", "1"), ATTACH(0), SEND(0, 1, "a@/=1"),
		SET("a", "", "", "2"), SEND(0, 9, "b@/=1 a@/=2") } },
	{ "consumers do not wait for each other",
	    { SET("a", "", "", "1"), ATTACH(0), ATTACH(1), SEND(0, 9, "a@/=1"),
		SET("a", "", "", "2"), SEND(0, 9, "a@/=2"), SEND(1, 9, "a@/=2"), PENDING(0, 0),
		PENDING(1, 0) } },

	{ "removed with no consumer: no tombstone",
	    { SET("a", "", "", "1"), REMOVE("a"), TOMBS(0), COUNT(0), ABSENT("a") } },
	{ "never there", { ABSENT("a") } },
	{ "a tombstone stays until its removal is acknowledged",
	    { SET("a", "u1", "1", "x"), ATTACH(0), SEND(0, 9, "a@u1/1=x"), ACK(0, 1), REMOVE("a"),
		TOMBS(1), COUNT(0), PENDING(0, 1), SEND(0, 9, "-a@u1"), TOMBS(1), ACK(0, 1),
		TOMBS(1), ACK(0, 2), TOMBS(0), ABSENT("a") } },
	{ "a tombstone stays until every consumer has acknowledged it",
	    { SET("a", "u1", "1", "x"), ATTACH(0), ATTACH(1), SEND(0, 9, "a@u1/1=x"),
		SEND(1, 9, "a@u1/1=x"), REMOVE("a"), SEND(0, 9, "-a@u1"), ACK(0, 2), TOMBS(1),
		SEND(1, 9, "-a@u1"), TOMBS(1), ACK(1, 2), TOMBS(0) } },
	{ "a tombstone ends with the last session, sent or not",
	    { SET("a", "u1", "1", "x"), ATTACH(0), ATTACH(1), SEND(0, 9, "a@u1/1=x"),
		SEND(1, 9, "a@u1/1=x"), REMOVE("a"), SEND(0, 9, "-a@u1"), TOMBS(1), DETACH(1),
		TOMBS(1), DETACH(0), TOMBS(0) } },
	{ "a removed key is not sent to a consumer that never received it",
	    { ATTACH(0), SET("a", "", "", "1"), REMOVE("a"), TOMBS(1), PENDING(0, 1),
		SEND(0, 9, ""), TOMBS(0), PENDING(0, 0) } },
	{ "one of two consumers never received it",
	    { SET("a", "u1", "1", "x"), ATTACH(0), ATTACH(1), SEND(0, 9, "a@u1/1=x"), REMOVE("a"),
		SEND(1, 9, ""), SEND(0, 9, "-a@u1"), ACK(0, 2), TOMBS(0) } },
	{ "removed twice",
	    { SET("a", "", "", "1"), ATTACH(0), SEND(0, 9, "a@/=1"), REMOVE("a"), ABSENT("a"),
		TOMBS(1) } },
	{ "back before its removal was sent",
	    { SET("a", "u1", "1", "x"), ATTACH(0), SEND(0, 9, "a@u1/1=x"), REMOVE("a"),
		SET("a", "u1", "2", "x"), TOMBS(0), COUNT(1), PENDING(0, 1), SEND(0, 9, "a@u1/2=x"),
		REMOVE("a"), SEND(0, 9, "-a@u1"), ACK(0, 3), TOMBS(0) } },
	{ "back after its removal was sent, before it is acknowledged",
	    { SET("a", "u1", "1", "x"), ATTACH(0), SEND(0, 9, "a@u1/1=x"), REMOVE("a"),
		SEND(0, 9, "-a@u1"), SET("a", "u2", "2", "y"), TOMBS(0), ACK(0, 2), COUNT(1),
		SEND(0, 9, "a@u2/2=y"), ACK(0, 3), REMOVE("a"), SEND(0, 9, "-a@u2"), TOMBS(1),
		ACK(0, 4), TOMBS(0) } },
	{ "gone, back and gone again, all unacknowledged",
	    { SET("a", "", "", "1"), ATTACH(0), SEND(0, 9, "a@/=1"), REMOVE("a"), SEND(0, 9, "-a@"),
		SET("a", "", "", "2"), SEND(0, 9, "a@/=2"), REMOVE("a"), SEND(0, 9, "-a@"),
		TOMBS(1), ACK(0, 2), TOMBS(1), ACK(0, 4), TOMBS(0) } },
	{ "a snapshot leaves out what went before it was sent",
	    { SET("a", "", "", "1"), SET("b", "", "", "1"), ATTACH(0), REMOVE("a"), PENDING(0, 2),
		SEND(0, 2, "b@/=1"), TOMBS(0) } },
	{ "a new consumer receives no tombstones",
	    { SET("a", "", "", "1"), ATTACH(0), SEND(0, 9, "a@/=1"), REMOVE("a"), ATTACH(1),
		PENDING(1, 0), DETACH(0), TOMBS(0), SEND(1, 9, "") } },
	{ "a slot is used again, and starts anew",
	    { SET("a", "", "", "1"), ATTACH(0), ATTACH(1), SEND(0, 9, "a@/=1"), DETACH(0),
		ATTACH(0), SEND(0, 9, "a@/=1"), DETACH(1), REMOVE("a"), SEND(0, 9, "-a@"),
		DETACH(0), TOMBS(0) } },
	{ "forced: the same bytes go on, with their new rv",
	    { SET("a", "u1", "1", "x"), ATTACH(0), SEND(0, 9, "a@u1/1=x"),
		FORCE("a", "u1", "2", "x"), PENDING(0, 1), SEND(0, 9, "a@u1/2=x"),
		SAME("a", "u1", "2", "x"), PENDING(0, 0) } },
	{ "forced: a key that was not there",
	    { ATTACH(0), FORCE("a", "u1", "1", "x"), COUNT(1), SEND(0, 9, "a@u1/1=x") } },
	{ "read beside the queue: its value now, and not again",
	    { SET("a", "u1", "1", "x"), ATTACH(0), ATTACH(1), SEND(0, 9, "a@u1/1=x"),
		SET("a", "u1", "2", "y"), READ_NOW(0, "a", "a@u1/2=y"), PENDING(0, 0), PENDING(1, 1),
		SET("a", "u1", "3", "z"), SEND(0, 9, "a@u1/3=z") } },
	{ "read beside the queue while others are behind it: once more in its place",
	    { SET("a", "u1", "1", "x"), ATTACH(0), SEND(0, 9, "a@u1/1=x"), SET("a", "u1", "2", "y"),
		SET("b", "u2", "1", "x"), READ_NOW(0, "a", "a@u1/2=y"), PENDING(0, 2),
		SEND(0, 9, "a@u1/2=y b@u2/1=x") } },
	{ "read beside the queue: what belongs to the snapshot stays in it",
	    { SET("a", "u1", "1", "x"), ATTACH(0), READ_NOW(0, "a", "a@u1/1=x"), PENDING(0, 1),
		SEND(0, 9, "a@u1/1=x") } },
	{ "a new key read beside the queue: its removal is sent, too",
	    { ATTACH(0), SET("a", "u1", "1", "x"), READ_NOW(0, "a", "a@u1/1=x"), REMOVE("a"), TOMBS(1),
		SEND(0, 9, "-a@u1"), ACK(0, 1), TOMBS(0) } },
	{ "a removal read beside the queue, if the consumer has received the key",
	    { SET("a", "u1", "1", "x"), ATTACH(0), ATTACH(1), SEND(0, 9, "a@u1/1=x"), REMOVE("a"),
		READ_NOW(0, "a", "-a@u1"), READ_NOW(1, "a", ""), READ_NOW(0, "b", ""), SEND(0, 9, "-a@u1"),
		SEND(1, 9, ""), ACK(0, 2), TOMBS(0), READ_NOW(0, "a", "") } },
	{ "no more than so many keys at a time, unseen ones included",
	    { SET("a", "", "", "1"), SET("b", "", "", "1"), SET("c", "", "", "1"), ATTACH(0),
		REMOVE("b"), SEND(0, 2, "a@/=1"), SEND(0, 2, "c@/=1") } },
};

static struct wire_str
str(const char *s)
{
	return s == NULL ? (struct wire_str){ 0 } : wire_str_of(s);
}

static bool
set(struct link_store *v, const char *key, const char *uid, const char *rv, const char *value)
{
	const struct wire_bin bytes = { .p = (const uint8_t *)value, .len = (uint32_t)strlen(value) };
	bool changed;

	assert_int_equal(link_store_set(v, str(key), str(uid), str(rv), MSG_STAT, bytes, 1, &changed), E_OK);
	return changed;
}

static void
force(struct link_store *v, const struct step *s)
{
	const struct wire_bin bytes = { .p = (const uint8_t *)s->value, .len = (uint32_t)strlen(s->value) };

	assert_int_equal(link_store_force(v, str(s->key), str(s->uid), str(s->rv), MSG_STAT, bytes, 1), E_OK);
}

/* At the end of the text that is there. */
static void
write_down(const struct body_item *it, char *text, size_t size)
{
	const size_t at = strlen(text);

	assert_int_equal(it->type, it->gone ? it->type : msg_table[MSG_STAT].number);
	assert_true(it->version > 0);
	if (it->gone)
		snprintf(text + at, size - at, "%s-%.*s@%.*s", at > 0 ? " " : "", (int)it->key.len, it->key.p,
		    (int)it->uid.len, it->uid.p);
	else
		snprintf(text + at, size - at, "%s%.*s@%.*s/%.*s=%.*s", at > 0 ? " " : "", (int)it->key.len,
		    it->key.p, (int)it->uid.len, it->uid.p, (int)it->rv.len, it->rv.p, (int)it->value.len,
		    (const char *)it->value.p);
}

static void
read_now(struct link_store *v, const struct step *s)
{
	struct body_item item;
	char text[512] = "";

	if (link_store_read_now(v, s->slot, str(s->key), &item))
		write_down(&item, text, sizeof(text));
	assert_string_equal(text, s->value);
}

/* Peeks twice (it must not take anything), commits, and writes down what was there. */
static void
hand_over(struct link_store *v, int slot, uint32_t max, uint64_t *seq, char *text, size_t size)
{
	struct body_item items[64], again[64];
	uint32_t n, m;

	const uint32_t keys = link_store_peek(v, slot, max, items, &n);
	assert_int_equal(link_store_peek(v, slot, max, again, &m), keys);
	assert_int_equal(n, m);
	text[0] = '\0';
	for (uint32_t i = 0; i < n; i++)
		write_down(&items[i], text, size);
	link_store_commit(v, slot, keys, *seq + 1);
	*seq += n;
}

static void
recount(const struct body_item *item, void *arg)
{
	uint64_t *sums = arg;

	assert_false(item->gone);
	sums[0]++;
	sums[1] ^= link_store_item_hash(hash64(item->key.p, item->key.len), item->version);
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct link_store *v = new_store();
	uint64_t seq[LINK_STORE_SLOTS] = { 0 };

	for (const struct step *s = r->steps; s->op != OP_END; s++) {
		char text[512];

		switch (s->op) {
		case OP_SET: assert_true(set(v, s->key, s->uid, s->rv, s->value)); break;
		case OP_SAME: assert_false(set(v, s->key, s->uid, s->rv, s->value)); break;
		case OP_FORCE: force(v, s); break;
		case OP_READ_NOW: read_now(v, s); break;
		case OP_REMOVE: assert_true(link_store_remove(v, str(s->key), 1)); break;
		case OP_ABSENT: assert_false(link_store_remove(v, str(s->key), 1)); break;
		case OP_ATTACH: assert_int_equal(link_store_attach(v), s->slot); seq[s->slot] = 0; break;
		case OP_DETACH: link_store_detach(v, s->slot); break;
		case OP_ACK: link_store_acked(v, s->slot, s->n); break;
		case OP_PENDING: assert_int_equal(link_store_pending(v, s->slot), s->n); break;
		case OP_COUNT: assert_int_equal(link_store_count(v), s->n); break;
		case OP_TOMBS: assert_int_equal(link_store_tombstones(v), s->n); break;
		default:
			hand_over(v, s->slot, (uint32_t)s->n, &seq[s->slot], text, sizeof(text));
			assert_string_equal(text, s->value);
			break;
		}
		uint64_t sums[2] = { 0, 0 };
		link_store_release(v);
		link_store_each(v, recount, sums);
		assert_int_equal(sums[0], link_store_count(v));
		assert_int_equal(sums[1], link_store_hash(v));
	}
	link_store_free(&v);
	assert_null(v);
	link_store_free(&v);
}

static void
what_does_not_fit_is_refused(void **state)
{
	static char big[LINK_STORE_VALUE_MAX + 1];
	struct link_store *v = new_store();
	const struct wire_str ok = { .p = big, .len = LINK_STORE_KEY_MAX },
			      lengthy = { .p = big, .len = LINK_STORE_KEY_MAX + 1 };
	const struct wire_bin value = { .p = (const uint8_t *)big, .len = LINK_STORE_VALUE_MAX };
	const struct wire_bin too_big = { .p = (const uint8_t *)big, .len = LINK_STORE_VALUE_MAX + 1 };
	bool changed = true;

	(void)state;
	memset(big, 'k', sizeof(big));
	assert_int_equal(
	    link_store_set(v, (struct wire_str){ 0 }, ok, ok, MSG_STAT, value, 0, &changed), E_INVALID);
	assert_int_equal(link_store_set(v, lengthy, ok, ok, MSG_STAT, value, 0, &changed), E_INVALID);
	assert_int_equal(link_store_set(v, ok, lengthy, ok, MSG_STAT, value, 0, &changed), E_INVALID);
	assert_int_equal(link_store_set(v, ok, ok, lengthy, MSG_STAT, value, 0, &changed), E_INVALID);
	assert_int_equal(link_store_set(v, ok, ok, ok, MSG_STAT, too_big, 0, &changed), E_TOO_BIG);
	assert_false(changed);
	assert_int_equal(link_store_count(v), 0);
	assert_int_equal(link_store_set(v, ok, ok, ok, MSG_STAT, value, 0, &changed), E_OK);
	assert_true(changed);
	link_store_free(&v);
}

/*
 * The largest item still makes a frame that the scan takes; batches stop before they grow beyond
 * LINK_STORE_BATCH_BYTES.
 */
static void
batches_fit_a_frame(void **state)
{
	static uint8_t bytes[LINK_STORE_VALUE_MAX];
	struct link_store *v = new_store();
	struct body_item items[SESSION_BATCH];
	msgpack_sbuffer out;
	bool changed;
	uint32_t n;

	(void)state;
	msgpack_sbuffer_init(&out);
	for (char key[2] = "a"; key[0] <= 'e'; key[0]++) {
		const struct wire_bin value = { .p = bytes,
			.len = key[0] == 'c' ? LINK_STORE_VALUE_MAX : LINK_STORE_BATCH_BYTES / 3 };

		link_store_set(v, str(key), str("u"), str("1"), MSG_STAT, value, 0, &changed);
	}
	const int slot = link_store_attach(v);
	static const uint32_t wanted[] = { 2, 1, 2 };
	for (size_t i = 0; i < NITEMS(wanted); i++) {
		const uint32_t keys = link_store_peek(v, slot, SESSION_BATCH, items, &n);

		assert_int_equal(keys, wanted[i]);
		assert_int_equal(n, wanted[i]);
		msgpack_sbuffer_clear(&out);
		frame_begin(&out,
		    &(struct envelope){
			.type = MSG_DELTA, .epoch = UINT64_MAX, .seq = UINT64_MAX });
		for (uint32_t k = 0; k < n; k++)
			msg_pack(&out, MSG_DELTA, &(union msg_body){ .item = items[k] });
		assert_true(out.size <= FRAME_MAX_BYTES);
		link_store_commit(v, slot, keys, 1);
	}
	assert_int_equal(link_store_pending(v, slot), 0);
	msgpack_sbuffer_destroy(&out);
	link_store_free(&v);
}

static void
slots_run_out_and_come_back(void **state)
{
	struct link_store *v = new_store();

	(void)state;
	set(v, "a", "", "", "1");
	for (int s = 0; s < LINK_STORE_SLOTS; s++)
		assert_int_equal(link_store_attach(v), s);
	assert_int_equal(link_store_attach(v), -1);
	for (int s = 0; s < LINK_STORE_SLOTS; s++)
		assert_int_equal(link_store_pending(v, s), 1);
	link_store_detach(v, 17);
	assert_int_equal(link_store_attach(v), 17);
	assert_int_equal(link_store_attach(v), -1);
	link_store_remove(v, str("a"), 0);
	assert_int_equal(link_store_tombstones(v), 1);
	for (int s = 0; s < LINK_STORE_SLOTS; s++)
		link_store_detach(v, s);
	assert_int_equal(link_store_tombstones(v), 0);
	link_store_free(&v);
}

static void
ready_is_set_once(void **state)
{
	struct link_store *v = new_store();

	(void)state;
	assert_false(link_store_ready(v));
	link_store_set_ready(v);
	assert_true(link_store_ready(v));
	link_store_free(&v);
}

/* ---- Memory is bounded by keys, whatever comes and goes ---- */

enum { POPULATION = 50, CHURN = 20000 };

static void
name_key(char *buf, size_t size, int i)
{
	snprintf(buf, size, "node/unique-name-%07d", i);
}

/* Twenty thousand names come and go; the consumer takes nothing, or a little, or everything. */
static void
churn(struct link_store *v, int slot, int every)
{
	uint64_t seq = 0;
	char key[64], text[8192];
	size_t most = 0;

	for (int i = 0; i < CHURN; i++) {
		name_key(key, sizeof(key), i);
		set(v, key, "u", "1", "value");
		if (i >= POPULATION) {
			name_key(key, sizeof(key), i - POPULATION);
			assert_true(link_store_remove(v, str(key), 0));
		}
		if (every > 0 && i % every == 0) {
			hand_over(v, slot, 1, &seq, text, sizeof(text));
			link_store_acked(v, slot, seq);
		}
		most = link_store_bytes(v) > most ? link_store_bytes(v) : most;
		assert_true(link_store_tombstones(v) <= 2 * POPULATION + 65);
		assert_true(link_store_pending(v, slot) <= 4 * POPULATION + 130);
	}
	assert_int_equal(link_store_count(v), POPULATION);
	assert_true(most < 128 * 1024);
}

static void
churn_while_the_consumer_takes_nothing(void **state)
{
	struct link_store *v = new_store();

	(void)state;
	churn(v, link_store_attach(v), 0);
	link_store_free(&v);
}

static void
churn_while_the_consumer_is_slow(void **state)
{
	(void)state;
	for (int every = 1; every <= 40; every += 13) {
		struct link_store *v = new_store();

		churn(v, link_store_attach(v), every);
		link_store_free(&v);
	}
}

/* Keys of the snapshot that go before they are sent stay in the queue: their places are counted. */
static void
compaction_spares_the_snapshot(void **state)
{
	struct link_store *v = new_store();
	struct body_item items[SESSION_BATCH];
	char key[64];
	uint32_t n, left = 200, sent = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		name_key(key, sizeof(key), i);
		set(v, key, "", "", "x");
	}
	const int slot = link_store_attach(v);
	for (int i = 0; i < 190; i++) {
		name_key(key, sizeof(key), i);
		link_store_remove(v, str(key), 0);
	}
	for (int i = 1000; i < 2000; i++) {		/* and enough others to make it compact */
		name_key(key, sizeof(key), i);
		set(v, key, "", "", "x");
		link_store_remove(v, str(key), 0);
	}
	set(v, "late", "", "", "x");
	assert_true(link_store_pending(v, slot) >= 200);
	while (left > 0) {
		const uint32_t keys =
		    link_store_peek(v, slot, left < SESSION_BATCH ? left : SESSION_BATCH, items, &n);

		for (uint32_t i = 0; i < n; i++)
			assert_false(items[i].key.len == 4);	/* "late" is no part of the snapshot */
		link_store_commit(v, slot, keys, sent + 1);
		left -= keys;
		sent += n;
	}
	assert_int_equal(sent, 10);
	for (n = 0; n == 0;) {
		const uint32_t keys = link_store_peek(v, slot, SESSION_BATCH, items, &n);

		assert_true(keys > 0);
		link_store_commit(v, slot, keys, sent + 1);
	}
	assert_memory_equal(items[0].key.p, "late", 4);
	link_store_free(&v);
}

/* One key that flips for ever costs one place, and a slot that is given up gives its memory back. */
static void
memory_comes_back(void **state)
{
	struct link_store *v = new_store();

	(void)state;
	set(v, "a", "", "", "1");
	const size_t before = link_store_bytes(v);
	const int slot = link_store_attach(v);
	for (int i = 0; i < CHURN; i++) {
		link_store_remove(v, str("a"), 0);
		set(v, "a", "", "", "1");
		assert_true(link_store_pending(v, slot) <= 1);
	}
	link_store_detach(v, slot);
	assert_int_equal(link_store_bytes(v), before);
	link_store_free(&v);
}

int
main(void)
{
	static const struct CMUnitTest whole[] = {
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(batches_fit_a_frame),
		cmocka_unit_test(slots_run_out_and_come_back),
		cmocka_unit_test(ready_is_set_once),
		cmocka_unit_test(churn_while_the_consumer_takes_nothing),
		cmocka_unit_test(churn_while_the_consumer_is_slow),
		cmocka_unit_test(compaction_spares_the_snapshot),
		cmocka_unit_test(memory_comes_back),
	};
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	int failed = cmocka_run_group_tests_name("view", tests, NULL, NULL);
	failed += cmocka_run_group_tests_name("view, limits and memory", whole, NULL, NULL);
	pool = intern_new();
	failed += cmocka_run_group_tests_name("view with a pool", tests, NULL, NULL);
	failed += cmocka_run_group_tests_name("view with a pool, limits and memory", whole, NULL, NULL);
	if (intern_count(pool) != 0)
		failed++;
	intern_free(&pool);
	return failed;
}
