/* bench/ends.c - a producer and a consumer of samples without a supervisor. */
#include "ends.h"

#include <czmq.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock.h"
#include "obj.h"

enum { INCARNATION = 1, PADDING_MAX = 65536 };

static const struct secret token = { .bytes = "the token of both ends", .len = 22 };

/* Prepared once, as in an actor; a uid is as long as those of Kubernetes. */
struct name {
	char	key[16], uid[37];
};

struct source {
	struct name		*names;
	struct tap		*tap;
	struct bus		*bus;
	uint32_t		 keys, next;
	uint64_t		 number;
	struct wire_bin		 padding;
	msgpack_sbuffer		 value;
};

struct sink {
	struct tap	*tap;
	struct bus	*bus;
	uint64_t	 producer;	/* incarnation announced last */
};

static void make_folder(const char *, enum role);
static void on_report(enum role, uint64_t, const char *, void *);

struct event_base *
bench_loop(const char *name)
{
	mallopt(M_ARENA_MAX, 1);
	log_open(name, LOG_CONSOLE, LEVEL_WARN);
	zsys_init();
	zsys_handler_set(NULL);
	struct event_base *base = event_base_new();
	MUST(base != NULL);
	return base;
}

uint32_t
bench_number(const char *name, const char *text)
{
	char *end;
	const unsigned long n = strtoul(text, &end, 10);

	if (*end != '\0' || n == 0 || n > UINT32_MAX) {
		fprintf(stderr, "%s: needs a number above 0, not %s\n", name, text);
		exit(2);
	}
	return (uint32_t)n;
}

void
bench_until(struct event_base *base, const bool *fact)
{
	while (!*fact)
		MUST(event_base_loop(base, EVLOOP_ONCE) != -1);
}

struct source *
source_new(struct event_base *base, const char *dir, uint32_t keys, uint32_t value_bytes)
{
	static uint8_t padding[PADDING_MAX];
	const struct bus_owner owner = { .report = on_report };
	struct source *s = obj_alloc(sizeof(*s));

	MUST(value_bytes <= PADDING_MAX);
	s->keys = keys;
	s->names = obj_alloc(keys * sizeof(*s->names));
	for (uint32_t i = 0; i < keys; i++) {
		snprintf(s->names[i].key, sizeof(s->names[i].key), "key-%08" PRIu32, i);
		snprintf(s->names[i].uid, sizeof(s->names[i].uid), "%036" PRIu32, i);
	}
	s->padding = (struct wire_bin){ .p = padding, .len = value_bytes };
	msgpack_sbuffer_init(&s->value);
	make_folder(dir, ROLE_TEST_PRODUCER);
	s->tap = tap_open(base, dir, ROLE_TEST_PRODUCER, INCARNATION);
	MUST(s->tap != NULL);
	s->bus = bus_new(base, dir, ROLE_TEST_PRODUCER, INCARNATION, s->tap, &owner);
	MUST(bus_bind(s->bus));
	bus_peer(s->bus, ROLE_TEST_CONSUMER_1, INCARNATION, &token, NULL, PEER_UP);
	for (uint32_t i = 0; i < keys; i++)
		source_change(s);
	s->number = 0;
	link_store_set_ready(bus_store(s->bus, LINK_SAMPLES));
	return s;
}

void
source_free(struct source **sp)
{
	struct source *s = *sp;

	*sp = NULL;
	bus_free(&s->bus);
	tap_close(&s->tap);
	msgpack_sbuffer_destroy(&s->value);
	free(s->names);
	free(s);
}

/* The same path as actor_publish. */
void
source_change(struct source *s)
{
	const struct name *n = &s->names[s->next];
	bool changed;
	const union msg_body body = { .sample = {
		.number = ++s->number, .sent_us = clock_mono_us(), .padding = s->padding,
	} };

	s->next = s->next + 1 == s->keys ? 0 : s->next + 1;
	msgpack_sbuffer_clear(&s->value);
	msg_pack(&s->value, MSG_SAMPLE, &body);
	const struct wire_bin value = { .p = (const uint8_t *)s->value.data, .len = (uint32_t)s->value.size };
	MUST(link_store_set(bus_store(s->bus, LINK_SAMPLES), wire_str_of(n->key), wire_str_of(n->uid),
	    wire_str_of("12345678"), MSG_SAMPLE, value, s->number, &changed) == E_OK);
	MUST(changed);
	bus_touch(s->bus);
}

uint32_t
source_pending(const struct source *s)
{
	return link_store_pending(bus_store(s->bus, LINK_SAMPLES), 0);
}

struct sink *
sink_new(struct event_base *base, const char *dir, void (*fn)(const struct change *, void *), void *arg)
{
	struct bus_owner owner = { .changed = fn, .report = on_report, .arg = arg };
	struct sink *s = obj_alloc(sizeof(*s));

	owner.wanted[LINK_SAMPLES] = MSG_BIT(SAMPLE);
	s->producer = INCARNATION;
	make_folder(dir, ROLE_TEST_CONSUMER_1);
	s->tap = tap_open(base, dir, ROLE_TEST_CONSUMER_1, INCARNATION);
	MUST(s->tap != NULL);
	s->bus = bus_new(base, dir, ROLE_TEST_CONSUMER_1, INCARNATION, s->tap, &owner);
	bus_peer(s->bus, ROLE_TEST_PRODUCER, s->producer, NULL, &token, PEER_UP);
	return s;
}

void
sink_free(struct sink **sp)
{
	struct sink *s = *sp;

	*sp = NULL;
	bus_free(&s->bus);
	tap_close(&s->tap);
	free(s);
}

void
sink_resync(struct sink *s)
{
	bus_peer(s->bus, ROLE_TEST_PRODUCER, ++s->producer, NULL, &token, PEER_UP);
}

bool
bench_watched(void)
{
#if MUSTER_TAP
	return tap_subscribed[TAP_OUT][LINK_SAMPLES][MSG_DELTA]
	    && tap_subscribed[TAP_IN][LINK_SAMPLES][MSG_DELTA];
#else
	return false;
#endif
}

/* Creates the folder where an end binds; in a real tree the supervisor does it. */
static void
make_folder(const char *dir, enum role r)
{
	char path[256];

	snprintf(path, sizeof(path), "%.200s/%s", dir, role_name(r));
	MUST(mkdir(path, 0700) == 0 || errno == EEXIST);
}

/* Between these two ends no frame may be refused: the figure would be wrong. */
static void
on_report(enum role who, uint64_t incarnation, const char *reason, void *arg)
{
	(void)incarnation, (void)arg;
	fprintf(stderr, "bench: %s sent a frame that is refused: %s\n", role_name(who), reason);
	exit(1);
}
