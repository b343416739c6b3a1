/*
 * tests/actors/kube.c - reads every kind that it may, and answers requests over a unix socket
 * (setting `socket`), one JSON object per line: what it holds, what it received, and writes.
 *
 *	{"op":"dump"}	{"fresh","synced","leader","until_ms","cluster_us" (null: not known yet),
 *			"kinds":{"nodes":{"state","version","detail","skipped"}},
 *			"objects":{"nodes/n1":{"uid","rv","type","fields"}}}
 *	{"op":"counts"}	{"added","updated","gone","gone_keys"}: the calls of its handlers since the start
 *	{"op":"write","tag","verb","group","version","resource","namespace","name","subresource",
 *	 "labels","fields","body","uid","rv","timeout_ms"}
 *			{"tag","id","outcome","status","reason","message","causes","rv",
 *			"retry_after_ms","objects","skipped"}
 *	{"op":"event",...,"type","reason","action","note"}: the same with an Event about the object
 *
 * A text of a write may also be an array of bytes, for what JSON cannot carry.
 */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "kube.h"
#include "log.h"
#include "obj.h"

enum { WRITE_MS = 8000, GONE_KEYS_MAX = 10000, TEXTS = 10 };

struct kube {
	struct actor		*actor;
	enum link		 link;
	struct kube_serve	*serve;
	bool			 synced;
	uint64_t		 added, updated, gone;
	json_t			*gone_keys;
};

/* A write in flight, and the connection that gets its result. */
struct pending_write {
	uint64_t	 conn;
	json_t		*tag;
};

struct object_dump {
	enum role	 reader;
	json_t		*kinds, *objects;
	bool		 leading;
	int64_t		 until_ms;
};

static void on_object(struct actor *, void *, const struct change *);
static void on_nothing(struct actor *, void *, const struct change *);
static void on_synced(struct actor *, void *, const struct change *);
static void start(struct actor *, void *);
static void stop(struct actor *, void *);
static write_done wrote;
static json_t *answer_dump(struct kube *, const json_t *, uint64_t);
static json_t *answer_counts(struct kube *, const json_t *, uint64_t);
static json_t *answer_write(struct kube *, const json_t *, uint64_t);
static json_t *answer_event(struct kube *, const json_t *, uint64_t);
static json_t *answer(const json_t *, uint64_t, void *);
static char *text_of(const json_t *);

static const struct {
	const char	 *op;
	json_t		*(*answer)(struct kube *, const json_t *, uint64_t);
} ops[] = {
	{ "dump",   answer_dump },
	{ "counts", answer_counts },
	{ "write",  answer_write },
	{ "event",  answer_event },
};

static const struct actor_row rows[] = {
	/* message        only from           handler    */
	{ MSG_NODE,       ROLE_KUBE_WATCHER,  on_object  },
	{ MSG_POD,        ROLE_KUBE_WATCHER,  on_object  },
	{ MSG_NAMESPACE,  ROLE_KUBE_WATCHER,  on_object  },
	{ MSG_WIDGET,     ROLE_KUBE_WATCHER,  on_object  },
	{ MSG_KIND,       ROLE_KUBE_WATCHER,  on_nothing },	/* a dump reads it from the mirror */
	{ MSG_LEADER,     ROLE_KUBE_WATCHER,  on_nothing },
	{ MSG_SNAP_END,   ROLE_KUBE_WATCHER,  on_synced  },
};

static const struct actor_spec spec = {
	.state_size = sizeof(struct kube), .rows = rows, .nrows = NITEMS(rows),
	.start = start, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

static void
start(struct actor *a, void *self)
{
	struct kube *k = self;
	char path[256];

	k->actor = a;
	k->link = actor_role(a) == ROLE_TEST_KUBE_1 ? LINK_KUBE_TEST_1 : LINK_KUBE_TEST_2;
	k->gone_keys = json_array();
	snprintf(path, sizeof(path), "%s", actor_setting(a, "socket"));
	if (path[0] == '\0')
		snprintf(path, sizeof(path), "%s/%s/ask.sock", actor_run_dir(a), role_name(actor_role(a)));
	k->serve = kube_serve_new(actor_base(a), path, answer, k);
}

static void
stop(struct actor *a, void *self)
{
	struct kube *k = self;

	(void)a;
	kube_serve_free(&k->serve);
	json_decref(k->gone_keys);
}

/* ---- Messages of kube-watcher ---- */

static void
on_object(struct actor *a, void *self, const struct change *c)
{
	struct kube *k = self;

	(void)a;
	k->added += c->kind == CHANGE_ADDED;
	k->updated += c->kind == CHANGE_UPDATED;
	k->gone += c->kind == CHANGE_GONE;
	if (c->kind == CHANGE_GONE && json_array_size(k->gone_keys) < GONE_KEYS_MAX)
		json_array_append_new(k->gone_keys, kube_text(c->key));
}

static void
on_nothing(struct actor *a, void *self, const struct change *c)
{
	(void)a, (void)self, (void)c;
}

static void
on_synced(struct actor *a, void *self, const struct change *c)
{
	(void)a, (void)c;
	((struct kube *)self)->synced = true;
}

/* ---- Requests ---- */

static json_t *
answer(const json_t *question, uint64_t conn, void *arg)
{
	const char *op = json_string_value(json_object_get(question, "op"));

	for (size_t i = 0; op != NULL && i < NITEMS(ops); i++) {
		if (strcmp(op, ops[i].op) == 0)
			return ops[i].answer(arg, question, conn);
	}
	return json_pack("{s:s}", "error", "unknown op");
}

static void
add_to_dump(const struct change *c, void *arg)
{
	struct object_dump *p = arg;
	char key[OBJECT_KEY_MAX + 1];

	snprintf(key, sizeof(key), "%.*s", (int)c->key.len, c->key.p);
	if (c->type == MSG_KIND) {
		const struct body_kind *kind = &c->value->kind;

		snprintf(key, sizeof(key), "%.*s", (int)kind->resource.len, kind->resource.p);
		json_object_set_new(p->kinds, key, json_pack("{s:s, s:o, s:o, s:I}",
		    "state", kind_state_name((enum kind_state)kind->state),
		    "version", kube_text(kind->version), "detail", kube_text(kind->detail),
		    "skipped", (json_int_t)kind->skipped));
	} else if (c->type == MSG_LEADER) {
		p->until_ms = c->value->leader.until_ms;
		p->leading = c->value->leader.leading && clock_mono_ms() < p->until_ms;
	} else {
		json_object_set_new(p->objects, key, kube_object(c, p->reader));
	}
}

static json_t *
answer_dump(struct kube *k, const json_t *question, uint64_t conn)
{
	struct object_dump p = {
		.reader = actor_role(k->actor), .kinds = json_object(), .objects = json_object()
	};
	int64_t cluster_us;

	(void)question, (void)conn;
	const bool timed = actor_cluster_time_us(k->actor, k->link, &cluster_us);
	actor_each(k->actor, k->link, add_to_dump, &p);
	return json_pack("{s:b, s:b, s:b, s:I, s:o, s:o, s:o}", "fresh",
	    k->synced && actor_fresh(k->actor, k->link), "synced", k->synced, "leader", p.leading,
	    "until_ms", (json_int_t)p.until_ms, "cluster_us",
	    timed ? json_integer(cluster_us) : json_null(), "kinds", p.kinds, "objects", p.objects);
}

static json_t *
answer_counts(struct kube *k, const json_t *question, uint64_t conn)
{
	(void)question, (void)conn;
	return json_pack("{s:I, s:I, s:I, s:O}", "added", (json_int_t)k->added, "updated",
	    (json_int_t)k->updated, "gone", (json_int_t)k->gone, "gone_keys", k->gone_keys);
}

/* Sends the write that the request describes; its answer is sent once the write has ended. */
static json_t *
send_write(struct kube *k, const json_t *question, uint64_t conn, const char *verb, const json_t *body)
{
	const json_t *timeout = json_object_get(question, "timeout_ms");
	struct write_request w = {
		.op = op_find(verb, strlen(verb)),
		.timeout_ms = json_is_integer(timeout) ? json_integer_value(timeout) : WRITE_MS,
		.trace = actor_new_trace(k->actor),
	};
	const struct {
		const char *name, **to;
	} texts[TEXTS] = {
		{ "group", &w.group }, { "version", &w.version }, { "resource", &w.resource }, { "namespace", &w.ns },
		{ "name", &w.name }, { "subresource", &w.subresource }, { "uid", &w.uid }, { "rv", &w.rv },
		{ "labels", &w.labels }, { "fields", &w.fields },
	};
	char *text = NULL, *held[TEXTS];

	if (w.op == OP_MAX || w.timeout_ms <= 0 || json_object_get(question, "resource") == NULL)
		return json_pack("{s:s}", "error", "no such write");
	for (size_t i = 0; i < TEXTS; i++)
		*texts[i].to = held[i] = text_of(json_object_get(question, texts[i].name));
	if (body != NULL) {
		text = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY);
		w.body = text;
		w.body_len = strlen(text);
	}
	struct pending_write *pending = obj_alloc(sizeof(*pending));
	pending->conn = conn;
	pending->tag = json_deep_copy(json_object_get(question, "tag"));
	actor_write(k->actor, k->link, &w, wrote, pending);
	free(text);
	for (size_t i = 0; i < TEXTS; i++)
		free(held[i]);
	return NULL;
}

static char *
text_of(const json_t *value)
{
	const size_t len = json_array_size(value);
	char *const bytes = obj_alloc(len + 1);

	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)json_integer_value(json_array_get(value, i));
	if (!json_is_string(value))
		return bytes;
	free(bytes);
	return obj_strdup(json_string_value(value));
}

static json_t *
answer_write(struct kube *k, const json_t *question, uint64_t conn)
{
	const char *verb = json_string_value(json_object_get(question, "verb"));

	return send_write(k, question, conn, verb != NULL ? verb : "", json_object_get(question, "body"));
}

static json_t *
answer_event(struct kube *k, const json_t *question, uint64_t conn)
{
	static const char *const names[] = { "type", "reason", "action", "note" };
	json_t *body = json_object();

	for (size_t i = 0; i < NITEMS(names); i++)
		json_object_set(body, names[i], json_object_get(question, names[i]));
	json_t *now = send_write(k, question, conn, "event", body);
	json_decref(body);
	return now;
}

static void
wrote(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	struct kube *k = self;
	struct pending_write *pending = arg;
	json_t *objects = json_array();

	for (size_t i = 0; i < r->nitems; i++) {
		if (r->items[i].kind == CHANGE_GONE)
			continue;
		json_t *object = kube_object(&r->items[i], actor_role(a));

		json_object_set_new(object, "key", kube_text(r->items[i].key));
		json_array_append_new(objects, object);
	}
	json_t *const result = json_pack("{s:o, s:I, s:s, s:i, s:o, s:o, s:o, s:o, s:I, s:o, s:I}",
	    "tag", pending->tag != NULL ? pending->tag : json_null(), "id", (json_int_t)r->id,
	    "outcome", outcome_name(r->outcome), "status", (int)r->status, "reason", kube_text(r->reason),
	    "message", kube_text(r->message), "causes", kube_text(r->causes), "rv", kube_text(r->rv),
	    "retry_after_ms", (json_int_t)r->retry_after_ms, "objects", objects,
	    "skipped", (json_int_t)r->skipped);
	kube_serve_answer(k->serve, pending->conn, result);
	free(pending);
}
