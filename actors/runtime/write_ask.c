/*
 * actors/runtime/write_ask.c - the writes this actor asks for: packed when asked, sent inside a
 * live session, ended exactly once.
 *
 * What becomes of them is decided in write_table.c; here are the frames, and whoever waits.
 */
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "bus_private.h"
#include "clock.h"
#include "obj.h"
#include "write_table.h"

enum { ANSWER_MAX_BYTES = 32 * 1024 * 1024, RETRY_MS = 10 };

/* One write, from actor_write to its `done`. */
struct ask {
	STAILQ_ENTRY(ask)	 next;
	uint64_t		 id, trace;
	enum link		 link;
	enum op			 op;
	int64_t			 asked_ms;
	msgpack_sbuffer		 body;		/* packed, for the time it can be sent */
	msgpack_sbuffer		 items;		/* of the answer, packed, as far as they have come */
	uint64_t		 nitems;
	enum outcome		 refused;	/* OK: it is in the table */
	uint32_t		 key;		/* recall_key of the object; 0: none */
	write_done		*done;
	void			*arg;
};
STAILQ_HEAD(ask_list, ask);

struct asks {
	uint32_t		 magic;
#define ASKS_MAGIC	0x41534b53u
	struct write_table	 table;
	uint64_t		 last_id;
	struct ask_list		 waiting;	/* those in the table */
	struct ask_list		 refused;	/* those that never got there */
};

static struct ask *ask_new(enum link, const struct write_ask *, write_done *, void *, int64_t);
static void ask_free(struct ask *);
static void pack(struct ask *, const struct write_ask *, int64_t);
static void note_asked(struct bus *, struct ask *, const struct write_ask *);
static void note_wrote(struct bus *, const struct ask *, const struct write_result *);
static struct wire_str text(const char *);
static void end(struct bus *, int64_t);
static struct ask *find(struct asks *, uint64_t);
static void finish(struct bus *, struct ask *, struct write_result);
static void finish_unanswered(struct bus *, struct ask *, enum outcome);
static bool open_items(struct ask *, struct change *, union msg_body *, struct msg_arena *);

uint64_t
bus_write(struct bus *b, enum link l, const struct write_ask *w, write_done *done, void *arg)
{
	const int64_t now_ms = clock_mono_ms();

	MUST(link_table[l].writes && link_connects(l, b->role));
	MUST((unsigned)w->op < OP_MAX && w->timeout_ms > 0 && w->resource != NULL);
	MUST(w->body_len == 0 || memchr(w->body, '\0', w->body_len) == NULL);
	if (b->asks == NULL) {
		OBJ_NEW(b->asks, ASKS_MAGIC);
		STAILQ_INIT(&b->asks->waiting);
		STAILQ_INIT(&b->asks->refused);
	}
	struct asks *all = b->asks;
	struct ask *ask = ask_new(l, w, done, arg, now_ms);
	ask->id = ++all->last_id;
	note_asked(b, ask, w);
	if (w->body_len > WRITE_BODY_MAX)
		ask->refused = OUTCOME_INVALID;
	else if (!write_table_add(&all->table, ask->id, l, now_ms + w->timeout_ms))
		ask->refused = OUTCOME_BUSY;
	if (ask->refused == OUTCOME_OK) {
		pack(ask, w, now_ms);
		STAILQ_INSERT_TAIL(&all->waiting, ask, next);
	} else {
		STAILQ_INSERT_TAIL(&all->refused, ask, next);
	}
	bus_touch(b);
	return ask->id;
}

void
bus_end_writes(struct bus *b)
{
	if (b->asks != NULL)
		end(b, INT64_MAX);
}

void
asks_free(struct asks **ap)
{
	struct asks *all;
	struct ask *ask;

	if (*ap == NULL)
		return;
	OBJ_TAKE(all, ap, ASKS_MAGIC);
	STAILQ_CONCAT(&all->waiting, &all->refused);
	while ((ask = STAILQ_FIRST(&all->waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&all->waiting, next);
		ask_free(ask);
	}
	OBJ_FREE(all);
}

int64_t
asks_send(struct bus *b, struct bus_in *i, int64_t now_ms)
{
	uint64_t id;

	if (b->asks == NULL || !in_live(i))
		return INT64_MAX;
	while ((id = write_table_due(&b->asks->table, in_link(i), now_ms)) != 0) {
		const struct ask *ask = find(b->asks, id);

		msgpack_sbuffer_clear(&b->buffer);
		frame_begin(&b->buffer, &(struct envelope){
		    .type = MSG_WRITE, .epoch = in_epoch(i), .seq = id, .trace = ask->trace });
		MUST(msgpack_sbuffer_write(&b->buffer, ask->body.data, ask->body.size) == 0);
		if (!in_send(i, MSG_WRITE))
			return now_ms + RETRY_MS;
		write_table_sent(&b->asks->table, id);
	}
	return INT64_MAX;
}

const char *
asks_item(struct bus *b, enum link l, uint64_t id, const union msg_body *item)
{
	struct ask *ask = b->asks == NULL ? NULL : find(b->asks, id);

	if (b->asks == NULL || id > b->asks->last_id)
		return "answers what was never asked";
	if (ask == NULL)	/* we have given it up; the mirror takes the object all the same */
		return NULL;
	if (ask->link != l)
		return "answers what was not sent";
	msg_pack(&ask->items, MSG_RESULT_ITEMS, item);
	ask->nitems++;
	return ask->items.size <= ANSWER_MAX_BYTES ? NULL : "answer larger than 32 MiB";
}

const char *
asks_result(struct bus *b, enum link l, const union msg_body *any)
{
	const struct body_result *r = &any->result;

	if (b->asks == NULL || r->id > b->asks->last_id)
		return "answers what was never asked";
	if (r->outcome >= OUTCOME_MAX || r->status > 999)
		return "no such outcome";
	struct ask *ask = find(b->asks, r->id);
	if (ask == NULL)
		return NULL;
	if (ask->link != l || !write_table_answered(&b->asks->table, r->id))
		return "answers what was not sent";
	/* From here on it ends, whatever may be wrong with its items. */
	struct msg_arena arena;
	struct change *items = obj_alloc((ask->nitems + 1) * sizeof(*items));
	union msg_body *values = obj_alloc((ask->nitems + 1) * sizeof(*values));
	msg_arena_init(&arena);
	const bool whole = r->items == ask->nitems && open_items(ask, items, values, &arena);
	if (whole)
		finish(b, ask, (struct write_result){
		    .outcome = (enum outcome)r->outcome, .status = (unsigned)r->status, .reason = r->reason,
		    .message = r->message, .causes = r->causes, .rv = r->rv,
		    .retry_after_ms = r->retry_after_ms, .items = items, .nitems = ask->nitems });
	else
		finish_unanswered(b, ask, OUTCOME_UNKNOWN);
	msg_arena_free(&arena);
	free(values);
	free(items);
	return whole ? NULL : "an answer that is not whole";
}

void
asks_lost(struct bus *b, enum link l)
{
	if (b->asks == NULL)
		return;
	write_table_lost(&b->asks->table, l);
	bus_touch(b);
}

struct turn
asks_turn(struct bus *b, int64_t now_ms)
{
	const struct asks *all = b->asks;

	if (all == NULL)
		return (struct turn){ .at_ms = INT64_MAX };
	end(b, now_ms);
	return (struct turn){ .again = !STAILQ_EMPTY(&all->refused), .at_ms = write_table_at(&all->table) };
}

/*
 * What has ended without an answer, of what is there now: a `done` that asks again at once must not
 * hold the loop.
 */
static void
end(struct bus *b, int64_t now_ms)
{
	struct ask_list refused = STAILQ_HEAD_INITIALIZER(refused);
	struct asks *all = b->asks;
	struct ask *ask;
	enum outcome how;
	uint64_t id;

	STAILQ_CONCAT(&refused, &all->refused);
	while ((ask = STAILQ_FIRST(&refused)) != NULL) {
		STAILQ_REMOVE_HEAD(&refused, next);
		finish_unanswered(b, ask, ask->refused);
	}
	for (int n = 0; n < WRITES_PER_SENDER && (id = write_table_ended(&all->table, now_ms, &how)) != 0; n++)
		finish_unanswered(b, find(all, id), how);
}

/* ---- One write ---- */

static struct ask *
ask_new(enum link l, const struct write_ask *w, write_done *done, void *arg, int64_t now_ms)
{
	struct ask *ask = obj_alloc(sizeof(*ask));

	ask->link = l;
	ask->op = w->op;
	ask->trace = w->trace;
	ask->asked_ms = now_ms;
	ask->done = done;
	ask->arg = arg;
	msgpack_sbuffer_init(&ask->body);
	msgpack_sbuffer_init(&ask->items);
	return ask;
}

static void
ask_free(struct ask *ask)
{
	/* The body may be a Secret's. */
	if (ask->body.size > 0)
		explicit_bzero(ask->body.data, ask->body.size);
	if (ask->items.size > 0)
		explicit_bzero(ask->items.data, ask->items.size);
	msgpack_sbuffer_destroy(&ask->body);
	msgpack_sbuffer_destroy(&ask->items);
	free(ask);
}

static void
pack(struct ask *ask, const struct write_ask *w, int64_t now_ms)
{
	const union msg_body body = { .write = {
		.id = ask->id, .op = (uint64_t)w->op, .group = text(w->group), .version = text(w->version),
		.resource = text(w->resource), .ns = text(w->ns), .name = text(w->name),
		.subresource = text(w->subresource), .uid = text(w->uid), .rv = text(w->rv),
		.labels = text(w->labels), .fields = text(w->fields), .deadline_ms = now_ms + w->timeout_ms,
		.body = { .p = w->body, .len = (uint32_t)w->body_len },
	} };

	msg_pack(&ask->body, MSG_WRITE, &body);
}

/* For the recorder. An Event is about another object than it names: no hop. */
static void
note_asked(struct bus *b, struct ask *ask, const struct write_ask *w)
{
	char key[OBJECT_KEY_MAX + 1], what[HOP_TEXT + 1];

	if (w->op == OP_EVENT || !object_key(key, sizeof(key), w->resource, text(w->ns).p, text(w->name).p))
		return;
	ask->key = recall_key(key, strlen(key));
	bus_hop_order(what, w->op, text(w->subresource));
	bus_hop(b, &(struct bus_hop){ .what = HOP_ASKED, .link = ask->link,
	    .peer = link_table[ask->link].binder, .hash = ask->key, .trace = w->trace, .text = what });
}

static void
note_wrote(struct bus *b, const struct ask *ask, const struct write_result *r)
{
	char what[HOP_TEXT + 1];

	bus_hop_outcome(what, r->outcome, r->status);
	bus_hop(b, &(struct bus_hop){ .what = HOP_WROTE, .link = ask->link,
	    .peer = link_table[ask->link].binder, .hash = ask->key, .rv = r->rv, .trace = ask->trace,
	    .text = what });
}

static struct wire_str
text(const char *s)
{
	return wire_str_of(s != NULL ? s : "");
}

static struct ask *
find(struct asks *all, uint64_t id)
{
	struct ask *ask;

	STAILQ_FOREACH(ask, &all->waiting, next) {
		if (ask->id == id)
			return ask;
	}
	return NULL;
}

/* The one place that calls `done`. */
static void
finish(struct bus *b, struct ask *ask, struct write_result r)
{
	char labels[160] = "";
	struct asks *all = b->asks;

	if (find(all, ask->id) != NULL)
		STAILQ_REMOVE(&all->waiting, ask, ask, next);
	stat_label(labels, sizeof(labels), "link", link_table[ask->link].name);
	stat_label(labels, sizeof(labels), "op", op_table[ask->op].name);
	stat_observe(stat_get(STAT_WRITE_REQUEST_TIME, labels),
	    (double)(clock_mono_ms() - ask->asked_ms) / 1000);
	stat_label(labels, sizeof(labels), "outcome", outcome_name(r.outcome));
	stat_add(stat_get(STAT_WRITE_REQUESTS, labels), 1);
	r.id = ask->id;
	r.op = ask->op;
	r.trace = ask->trace;
	note_wrote(b, ask, &r);
	log_set_trace(ask->trace);
	b->owner.wrote(&r, ask->done, ask->arg, b->owner.arg);
	log_set_trace(0);
	ask_free(ask);
}

static void
finish_unanswered(struct bus *b, struct ask *ask, enum outcome how)
{
	const char *message = how == OUTCOME_INVALID ? "body: larger than 512 KiB" : outcome_text(how);

	finish(b, ask, (struct write_result){ .outcome = how, .reason = text(""), .message = text(message),
	    .causes = text(""), .rv = text("") });
}

/* They were checked when they came; here they are read once more, as views that last as long as `done`. */
static bool
open_items(struct ask *ask, struct change *items, union msg_body *values, struct msg_arena *arena)
{
	const char *p = ask->items.data;
	size_t left = ask->items.size, used;

	for (uint64_t n = 0; n < ask->nitems; n++, p += used, left -= used) {
		union msg_body body;

		if (!msg_unpack(MSG_RESULT_ITEMS, p, left, &used, arena, &body))
			return false;
		const struct body_item *item = &body.item;
		items[n] = (struct change){
			.kind = item->gone ? CHANGE_GONE : CHANGE_UPDATED, .link = ask->link,
			.from = link_table[ask->link].binder, .key = item->key, .uid = item->uid,
			.rv = item->rv, .trace = item->trace, .type = msg_by_number(item->type),
		};
		if (item->gone)
			continue;
		if (!msg_unpack_value(items[n].type, item->value.p, item->value.len, arena, &values[n]))
			return false;
		items[n].value = &values[n];
	}
	return true;
}
