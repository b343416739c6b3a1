/*
 * tests/actors/echo.c - the downstream writer of `./dev bench kube`: copies each node's label
 * muster.dev/touch to its annotation muster.dev/echo. It reads what node-state reads, and that
 * one annotation.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "log.h"
#include "obj.h"

enum { WRITE_MS = 8000 };

#define TOUCH	"muster.dev/touch"
#define ECHO	"muster.dev/echo"

/* A node's two values. */
struct touched {
	char	touch[256], echo[256];
};

static void on_node(struct actor *, void *, const struct change *);
static void on_nothing(struct actor *, void *, const struct change *);
static void copy_values(const struct body_node *, struct touched *);
static bool must_write(const struct touched *);
static enum work_result work(struct actor *, void *, const struct work *, int64_t *);
static write_done echoed;

static const struct actor_row rows[] = {
	/* message      only from           handler    */
	{ MSG_NODE,     ROLE_KUBE_WATCHER,  on_node    },
	{ MSG_KIND,     ROLE_KUBE_WATCHER,  on_nothing },
	{ MSG_LEADER,   ROLE_KUBE_WATCHER,  on_nothing },
	{ MSG_SNAP_END, ROLE_KUBE_WATCHER,  on_nothing },
};

static const struct actor_spec spec = { .rows = rows, .nrows = NITEMS(rows), .work = work };

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

static void
on_node(struct actor *a, void *self, const struct change *c)
{
	struct touched t;

	(void)self;
	if (c->kind == CHANGE_GONE || c->initial)
		return;
	copy_values(&c->value->node, &t);
	if (must_write(&t))
		actor_enqueue(a, c->key.p, c->key.len, WORK_LIVE, c->trace);
}

static void
on_nothing(struct actor *a, void *self, const struct change *c)
{
	(void)a, (void)self, (void)c;
}

static void
copy_values(const struct body_node *node, struct touched *t)
{
	struct wire_str v;

	map_get(node->labels, TOUCH, &v);
	snprintf(t->touch, sizeof(t->touch), "%.*s", (int)v.len, v.p);
	map_get(node->echo, "echo", &v);
	snprintf(t->echo, sizeof(t->echo), "%.*s", (int)v.len, v.p);
}

static bool
must_write(const struct touched *t)
{
	return t->touch[0] != '\0' && strcmp(t->touch, t->echo) != 0;
}

static enum work_result
work(struct actor *a, void *self, const struct work *w, int64_t *after_ms)
{
	struct touched t;
	struct change c;
	union msg_body value;

	(void)self, (void)after_ms;
	if (!actor_read(a, LINK_KUBE_TEST_ECHO, w->key, w->len, &c, &value))
		return WORK_DONE;
	copy_values(&value.node, &t);
	if (!must_write(&t))
		return WORK_DONE;
	json_t *body = json_pack("{s:{s:{s:s}}}", "metadata", "annotations", ECHO, t.touch);
	char *text = json_dumps(body, JSON_COMPACT);
	const struct write_request ask = { .op = OP_MERGE, .version = "v1", .resource = "nodes",
		.name = strchr(w->key, '/') + 1, .body = text, .body_len = strlen(text),
		.timeout_ms = WRITE_MS, .trace = w->trace };
	actor_write(a, LINK_KUBE_TEST_ECHO, &ask, echoed, obj_strdup(w->key));
	free(text);
	json_decref(body);
	return WORK_PENDING;
}

static void
echoed(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	char *key = arg;

	(void)self;
	if (r->outcome != OUTCOME_OK)
		log_warnx("no echo", KV_S(KEY, key), KV_S(REASON, outcome_name(r->outcome)),
		    KV_SN(WHY, r->message.p, r->message.len));
	actor_finish(a, key, strlen(key),
	    r->outcome == OUTCOME_OK || r->outcome == OUTCOME_NOT_FOUND ? WORK_DONE : WORK_RETRY,
	    r->retry_after_ms);
	free(key);
}
