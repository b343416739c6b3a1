/*
 * tests/unit/drain_rig.h - what tests of a drain have instead of the bus: the requests that it sends,
 * answered by the test with objects that are projected as kube-watcher does it.
 */
#ifndef MUSTER_TEST_DRAIN_RIG_H
#define MUSTER_TEST_DRAIN_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actor.h"
#include "actors/provider/drain.h"
#include "actors/provider/drain_pods.h"
#include "clock.h"
#include "kube/project.h"
#include "obj.h"

#define META(more)	"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\","	\
			"\"resourceVersion\":\"1\"" more "}"
#define POD(meta, spec)	META(meta) ",\"spec\":{" spec "}}"
#define CLUSTER_US	INT64_C(1767322800000000)	/* 2026-01-02T03:00:00Z */

static struct projection *projection;
static struct msg_arena arena;

/* As kube-watcher does it. */
static bool
project_pod(const char *json, union msg_body *value, char *uid, size_t uid_size, char *err, size_t size)
{
	struct projected out;

	if (!project(projection, PROJECT_JSON, json, strlen(json), 0, &out)) {
		snprintf(err, size, "%s", out.error);
		return false;
	}
	snprintf(uid, uid_size, "%s", out.uid);
	assert_int_equal(out.nvalues, 1);
	/* The texts are views: into what the arena has, not into the projection. */
	uint8_t *const bytes = msg_arena_alloc(&arena, out.values[0].len);
	memcpy(bytes, out.values[0].bytes, out.values[0].len);
	assert_true(msg_unpack_value(MSG_NODE_POD, bytes, out.values[0].len, &arena, value));
	return true;
}

/* ---- Requests ---- */

enum { REQUESTS_MAX = 32 };

static struct {
	struct sent {
		enum op		 op;
		char		 resource[32], ns[32], name[64], uid[64], rv[16], fields[64], body[512];
		write_done	*done;
		void		*arg;
	} sent[REQUESTS_MAX];
	size_t	n;
	int	progress;
	bool	timeless;	/* cluster time is not known */
} bus;

static void
copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from == NULL ? "" : from);
}

uint64_t
actor_write(struct actor *a, enum link l, const struct write_request *w, write_done *done, void *arg)
{
	struct sent *const s = &bus.sent[bus.n++];

	(void)a, (void)l;
	assert_true(bus.n <= REQUESTS_MAX);
	*s = (struct sent){ .op = w->op, .done = done, .arg = arg };
	copy(s->resource, sizeof(s->resource), w->resource);
	copy(s->ns, sizeof(s->ns), w->ns);
	copy(s->name, sizeof(s->name), w->name);
	copy(s->uid, sizeof(s->uid), w->uid);
	copy(s->rv, sizeof(s->rv), w->rv);
	copy(s->fields, sizeof(s->fields), w->fields);
	snprintf(s->body, sizeof(s->body), "%.*s", (int)w->body_len, (const char *)w->body);
	assert_true(w->timeout_ms > 0);
	return bus.n;
}

bool
actor_cluster_time_us(struct actor *a, enum link l, int64_t *us)
{
	(void)a, (void)l;
	*us = CLUSTER_US;
	return !bus.timeless;
}

static void
note_progress(void *arg)
{
	(void)arg;
	bus.progress++;
}

static void
answer(size_t i, struct write_result r)
{
	struct sent *const s = &bus.sent[i];
	const int before = bus.progress;

	assert_non_null(s->done);
	s->done(NULL, NULL, &r, s->arg);
	s->done = NULL;
	assert_int_equal(bus.progress, before + 1);
}

static void
answer_list(size_t i, const char *const *pods, size_t n, const char *skipped)
{
	char uids[8][64], err[256];
	struct change items[8];
	union msg_body values[8];

	for (size_t k = 0; k < n; k++) {
		assert_true(project_pod(pods[k], &values[k], uids[k], sizeof(uids[k]), err, sizeof(err)));
		items[k] = (struct change){
			.type = MSG_NODE_POD, .value = &values[k], .uid = wire_str_of(uids[k]) };
	}
	/* kube-watcher's message of a success is not empty. */
	answer(i, (struct write_result){ .op = OP_LIST, .outcome = OUTCOME_OK, .items = items, .nitems = n,
	    .skipped = skipped[0] != '\0', .message = wire_str_of(skipped[0] != '\0' ? skipped : "done") });
}

static struct drain_pool pool;

static struct drain *
start(const struct drain_policy *policy, struct drain_target *node)
{
	memset(&bus, 0, sizeof(bus));
	*node = (struct drain_target){ .uid = "node-uid", .rv = "7", .tainted = true, .labelled = true,
		.cordoned = true };
	drain_pool_init(&pool);
	return drain_new(&(struct drain_config){ .pool = &pool, .node = "n1", .policy = policy,
	    .deadline_ms = INT64_MAX, .started_ms = clock_mono_ms(), .progress = note_progress });
}

#define NAMED(name)	"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\","	\
			"\"uid\":\"u-" name "\",\"resourceVersion\":\"1\"},"	\
			"\"spec\":{\"terminationGracePeriodSeconds\":30}}"

static int
drain_rig_open(void **state)
{
	(void)state;
	projection = projection_new(KIND_NODE_POD, "v1", ROLE_BIT(TEST_CLAIMER));
	msg_arena_init(&arena);
	return 0;
}

static int
drain_rig_close(void **state)
{
	(void)state;
	projection_free(&projection);
	msg_arena_free(&arena);
	return 0;
}

#endif
