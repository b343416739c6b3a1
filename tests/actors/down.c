/*
 * tests/actors/down.c - an actor downstream of node-state: holds the states and the facts, records
 * every notification, and returns both over a unix socket (setting `socket`), one JSON object per line.
 *
 *	{"op":"dump"}	{"fresh","states":{"nodes/n1":{"uid","rv","type","fields"}},"facts":{...}}
 *	{"op":"notifications","since":N}
 *			{"next":M,"notifications":[{"link","kind","key","trace","initial","at_us","rv",
 *			"fields"}]}: those from number N on, of M in total
 *	{"op":"counts"}	{"nodes":{"added","updated","gone"},"facts":{...}}: since the start
 *
 * With the setting `latency-file` it records only how long each live state took to arrive.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "kube.h"
#include "log.h"
#include "obj.h"

enum { NOTIFICATIONS_MAX = 200000, LATENCIES_MAX = 1 << 20 };

struct count {
	uint64_t	 of[CHANGE_GONE + 1];
};

struct down {
	struct actor		*actor;
	struct kube_serve	*serve;
	int64_t			 slow_ms;
	struct count		 counts[LINK_MAX];
	bool			 synced[LINK_MAX];
	json_t			*notifications;
	uint32_t		*latencies;	/* in us, from evaluation to handler; NULL: not measured */
	size_t			 nlatencies;
};

static void on_change(struct actor *, void *, const struct change *);
static void on_synced(struct actor *, void *, const struct change *);
static void start(struct actor *, void *);
static void stop(struct actor *, void *);
static void record_change(struct down *, const struct change *);
static void measure(struct down *, const struct change *);
static void sleep_ms(int64_t);
static void write_latencies(const struct down *, const char *);
static json_t *answer(const json_t *, uint64_t, void *);
static json_t *answer_dump(struct down *, const json_t *);
static json_t *answer_notifications(struct down *, const json_t *);
static json_t *answer_counts(struct down *, const json_t *);

static const char *const change_names[] = {
	[CHANGE_ADDED] = "added", [CHANGE_UPDATED] = "updated", [CHANGE_GONE] = "gone",
};

static const struct {
	const char	 *op;
	json_t		*(*answer)(struct down *, const json_t *);
} ops[] = {
	{ "dump",          answer_dump },
	{ "notifications", answer_notifications },
	{ "counts",        answer_counts },
};

static const struct actor_row rows[] = {
	/* message         only from         handler   */
	{ MSG_NODE_STATE,  ROLE_NODE_STATE,  on_change },
	{ MSG_POOL_STATE,  ROLE_NODE_STATE,  on_change },
	{ MSG_NODE_FACT,   ROLE_NODE_STATE,  on_change },
	{ MSG_SNAP_END,    ROLE_NODE_STATE,  on_synced },
};

static const struct actor_spec spec = {
	.state_size = sizeof(struct down), .rows = rows, .nrows = NITEMS(rows), .start = start, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

static void
start(struct actor *a, void *self)
{
	struct down *d = self;
	char path[256];

	d->actor = a;
	d->slow_ms = actor_setting_i64(a, "slow");
	d->notifications = json_array();
	if (actor_setting(a, "latency-file")[0] != '\0')
		d->latencies = obj_alloc(LATENCIES_MAX * sizeof(*d->latencies));
	snprintf(path, sizeof(path), "%s", actor_setting(a, "socket"));
	if (path[0] == '\0')
		snprintf(path, sizeof(path), "%s/%s/ask.sock", actor_run_dir(a), role_name(actor_role(a)));
	d->serve = kube_serve_new(actor_base(a), path, answer, d);
}

static void
stop(struct actor *a, void *self)
{
	struct down *d = self;

	if (d->latencies != NULL)
		write_latencies(d, actor_setting(a, "latency-file"));
	kube_serve_free(&d->serve);
	json_decref(d->notifications);
	free(d->latencies);
}

/* ---- Messages of node-state ---- */

static void
on_change(struct actor *a, void *self, const struct change *c)
{
	struct down *d = self;

	(void)a;
	d->counts[c->link].of[c->kind]++;
	if (d->latencies != NULL)
		measure(d, c);
	else if (json_array_size(d->notifications) < NOTIFICATIONS_MAX)
		record_change(d, c);
	sleep_ms(d->slow_ms);
}

static void
on_synced(struct actor *a, void *self, const struct change *c)
{
	(void)a;
	((struct down *)self)->synced[c->link] = true;
}

static int64_t
wall_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
record_change(struct down *d, const struct change *c)
{
	json_t *const object = kube_object(c, actor_role(d->actor));
	char trace[17];

	snprintf(trace, sizeof(trace), "%016" PRIx64, c->trace);
	json_object_update_new(object, json_pack("{s:s, s:s, s:o, s:s, s:b, s:I}",
	    "link", link_table[c->link].name, "kind", change_names[c->kind], "key", kube_text(c->key),
	    "trace", trace, "initial", c->initial, "at_us", (json_int_t)wall_us()));
	json_array_append_new(d->notifications, object);
}

static void
measure(struct down *d, const struct change *c)
{
	const bool live = c->type == MSG_NODE_STATE && c->kind != CHANGE_GONE && !c->initial;

	if (!live || d->nlatencies == LATENCIES_MAX)
		return;
	d->latencies[d->nlatencies++] = (uint32_t)(wall_us() - c->value->node_state.evaluated_us);
}

/* The actor sleeps: it receives nothing meanwhile. */
static void
sleep_ms(int64_t ms)
{
	const struct timespec length = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	if (ms > 0)
		nanosleep(&length, NULL);
}

static void
write_latencies(const struct down *d, const char *path)
{
	FILE *f = fopen(path, "we");

	for (size_t i = 0; f != NULL && i < d->nlatencies; i++)
		fprintf(f, "%" PRIu32 "\n", d->latencies[i]);
	if (f == NULL || fclose(f) != 0)
		log_warn("cannot write the latencies", KV_S(PATH, path));
}

/* ---- Requests ---- */

static json_t *
answer(const json_t *question, uint64_t conn, void *arg)
{
	const char *op = json_string_value(json_object_get(question, "op"));

	(void)conn;
	for (size_t i = 0; op != NULL && i < NITEMS(ops); i++) {
		if (strcmp(op, ops[i].op) == 0)
			return ops[i].answer(arg, question);
	}
	return json_pack("{s:s}", "error", "unknown op");
}

struct object_dump {
	enum role	 reader;
	json_t		*objects;
};

static void
add_to_dump(const struct change *c, void *arg)
{
	struct object_dump *const p = arg;
	char key[OBJECT_KEY_MAX + 1];

	snprintf(key, sizeof(key), "%.*s", (int)c->key.len, c->key.p);
	json_object_set_new(p->objects, key, kube_object(c, p->reader));
}

static json_t *
mirror(struct down *d, enum link l)
{
	struct object_dump p = { .reader = actor_role(d->actor), .objects = json_object() };

	actor_each(d->actor, l, add_to_dump, &p);
	return p.objects;
}

static bool
fresh(const struct down *d, enum link l)
{
	return d->synced[l] && actor_fresh(d->actor, l);
}

static json_t *
answer_dump(struct down *d, const json_t *question)
{
	(void)question;
	return json_pack("{s:b, s:o, s:o}", "fresh", fresh(d, LINK_NODES) && fresh(d, LINK_FACTS),
	    "states", mirror(d, LINK_NODES), "facts", mirror(d, LINK_FACTS));
}

static json_t *
answer_notifications(struct down *d, const json_t *question)
{
	const json_int_t since = json_integer_value(json_object_get(question, "since"));
	const size_t n = json_array_size(d->notifications);
	json_t *list = json_array();

	for (size_t i = since < 0 ? 0 : (size_t)since; i < n; i++)
		json_array_append(list, json_array_get(d->notifications, i));
	return json_pack("{s:I, s:o}", "next", (json_int_t)n, "notifications", list);
}

static json_t *
count_of(const struct count *n)
{
	json_t *o = json_object();

	for (size_t i = 0; i < NITEMS(change_names); i++)
		json_object_set_new(o, change_names[i], json_integer((json_int_t)n->of[i]));
	return o;
}

static json_t *
answer_counts(struct down *d, const json_t *question)
{
	(void)question;
	return json_pack("{s:o, s:o}", link_table[LINK_NODES].name, count_of(&d->counts[LINK_NODES]),
	    link_table[LINK_FACTS].name, count_of(&d->counts[LINK_FACTS]));
}
