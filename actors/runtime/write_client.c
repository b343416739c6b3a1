/*
 * actors/runtime/write_client.c - the writes this actor requests: packed at once, sent inside a live
 * session, ended exactly once.
 *
 * What becomes of them is decided in write_table.c; here are the frames and the callbacks.
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
struct pending_write {
	STAILQ_ENTRY(pending_write)	 next;
	uint64_t		 id, trace;
	enum link		 link;
	enum op			 op;
	int64_t			 requested_ms;
	msgpack_sbuffer		 body;		/* packed, for the time it can be sent */
	msgpack_sbuffer		 items;		/* of the answer, packed, as far as they have come */
	uint64_t		 nitems;
	enum outcome		 refused;	/* OK: it is in the table */
	uint32_t		 key;		/* hop_log_key of the object; 0: none */
	write_done		*done;
	void			*arg;
};
STAILQ_HEAD(pending_list, pending_write);

struct write_client {
	uint32_t		 magic;
#define WRITE_CLIENT_MAGIC	0x41534b53u
	struct write_table	 table;
	uint64_t		 last_id;
	struct pending_list		 waiting;	/* those in the table */
	struct pending_list		 refused;	/* those that never got there */
};

static struct pending_write *pending_new(
    enum link, const struct write_request *, write_done *, void *, int64_t);
static void pending_free(struct pending_write *);
static void pack(struct pending_write *, const struct write_request *, int64_t);
static void note_requested(struct bus *, struct pending_write *, const struct write_request *);
static void note_done(struct bus *, const struct pending_write *, const struct write_result *);
static struct wire_str text(const char *);
static void end(struct bus *, int64_t);
static struct pending_write *find(struct write_client *, uint64_t);
static void finish(struct bus *, struct pending_write *, struct write_result);
static void finish_unanswered(struct bus *, struct pending_write *, enum outcome);
static bool open_items(struct pending_write *, struct change *, union msg_body *, struct msg_arena *);

uint64_t
bus_write(struct bus *b, enum link l, const struct write_request *w, write_done *done, void *arg)
{
	const int64_t now_ms = clock_mono_ms();

	MUST(link_table[l].writes && link_connects(l, b->role));
	MUST((unsigned)w->op < OP_MAX && w->timeout_ms > 0 && w->resource != NULL);
	MUST(w->body_len == 0 || memchr(w->body, '\0', w->body_len) == NULL);
	if (b->write_client == NULL) {
		OBJ_NEW(b->write_client, WRITE_CLIENT_MAGIC);
		STAILQ_INIT(&b->write_client->waiting);
		STAILQ_INIT(&b->write_client->refused);
	}
	struct write_client *all = b->write_client;
	struct pending_write *pending = pending_new(l, w, done, arg, now_ms);
	pending->id = ++all->last_id;
	note_requested(b, pending, w);
	if (w->body_len > WRITE_BODY_MAX)
		pending->refused = OUTCOME_INVALID;
	else if (!write_table_add(&all->table, pending->id, l, now_ms + w->timeout_ms))
		pending->refused = OUTCOME_BUSY;
	if (pending->refused == OUTCOME_OK) {
		pack(pending, w, now_ms);
		STAILQ_INSERT_TAIL(&all->waiting, pending, next);
	} else {
		STAILQ_INSERT_TAIL(&all->refused, pending, next);
	}
	bus_touch(b);
	return pending->id;
}

void
bus_end_writes(struct bus *b)
{
	if (b->write_client != NULL)
		end(b, INT64_MAX);
}

void
write_client_free(struct write_client **ap)
{
	struct write_client *all;
	struct pending_write *pending;

	if (*ap == NULL)
		return;
	OBJ_TAKE(all, ap, WRITE_CLIENT_MAGIC);
	STAILQ_CONCAT(&all->waiting, &all->refused);
	while ((pending = STAILQ_FIRST(&all->waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&all->waiting, next);
		pending_free(pending);
	}
	OBJ_FREE(all);
}

int64_t
write_client_send(struct bus *b, struct bus_in *i, int64_t now_ms)
{
	uint64_t id;

	if (b->write_client == NULL || !in_live(i))
		return INT64_MAX;
	while ((id = write_table_due(&b->write_client->table, in_link(i), now_ms)) != 0) {
		const struct pending_write *pending = find(b->write_client, id);

		msgpack_sbuffer_clear(&b->buffer);
		frame_begin(&b->buffer, &(struct envelope){
		    .type = MSG_WRITE, .epoch = in_epoch(i), .seq = id, .trace = pending->trace });
		MUST(msgpack_sbuffer_write(&b->buffer, pending->body.data, pending->body.size) == 0);
		if (!in_send(i, MSG_WRITE))
			return now_ms + RETRY_MS;
		write_table_sent(&b->write_client->table, id);
	}
	return INT64_MAX;
}

const char *
write_client_item(struct bus *b, enum link l, uint64_t id, const union msg_body *item)
{
	struct pending_write *pending = b->write_client == NULL ? NULL : find(b->write_client, id);

	if (b->write_client == NULL || id > b->write_client->last_id)
		return "answers what was never asked";
	if (pending == NULL)	/* we have given it up; the mirror takes the object all the same */
		return NULL;
	if (pending->link != l)
		return "answers what was not sent";
	msg_pack(&pending->items, MSG_RESULT_ITEMS, item);
	pending->nitems++;
	return pending->items.size <= ANSWER_MAX_BYTES ? NULL : "answer larger than 32 MiB";
}

const char *
write_client_result(struct bus *b, enum link l, const union msg_body *any)
{
	const struct body_result *r = &any->result;

	if (b->write_client == NULL || r->id > b->write_client->last_id)
		return "answers what was never asked";
	if (r->outcome >= OUTCOME_MAX || r->status > 999)
		return "no such outcome";
	struct pending_write *pending = find(b->write_client, r->id);
	if (pending == NULL)
		return NULL;
	if (pending->link != l || !write_table_answered(&b->write_client->table, r->id))
		return "answers what was not sent";
	/* From here on it ends, whatever may be wrong with its items. */
	struct msg_arena arena;
	struct change *items = obj_alloc((pending->nitems + 1) * sizeof(*items));
	union msg_body *values = obj_alloc((pending->nitems + 1) * sizeof(*values));
	msg_arena_init(&arena);
	const bool whole = r->items == pending->nitems && open_items(pending, items, values, &arena);
	if (whole)
		finish(b, pending, (struct write_result){
		    .outcome = (enum outcome)r->outcome, .status = (unsigned)r->status, .reason = r->reason,
		    .message = r->message, .causes = r->causes, .rv = r->rv,
		    .retry_after_ms = r->retry_after_ms, .items = items, .nitems = pending->nitems });
	else
		finish_unanswered(b, pending, OUTCOME_UNKNOWN);
	msg_arena_free(&arena);
	free(values);
	free(items);
	return whole ? NULL : "an answer that is not whole";
}

void
write_client_lost(struct bus *b, enum link l)
{
	if (b->write_client == NULL)
		return;
	write_table_lost(&b->write_client->table, l);
	bus_touch(b);
}

struct turn
write_client_turn(struct bus *b, int64_t now_ms)
{
	const struct write_client *all = b->write_client;

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
	struct pending_list refused = STAILQ_HEAD_INITIALIZER(refused);
	struct write_client *all = b->write_client;
	struct pending_write *pending;
	enum outcome how;
	uint64_t id;

	STAILQ_CONCAT(&refused, &all->refused);
	while ((pending = STAILQ_FIRST(&refused)) != NULL) {
		STAILQ_REMOVE_HEAD(&refused, next);
		finish_unanswered(b, pending, pending->refused);
	}
	for (int n = 0; n < WRITES_PER_SENDER; n++) {
		if ((id = write_table_ended(&all->table, now_ms, &how)) == 0)
			break;
		finish_unanswered(b, find(all, id), how);
	}
}

/* ---- One write ---- */

static struct pending_write *
pending_new(enum link l, const struct write_request *w, write_done *done, void *arg, int64_t now_ms)
{
	struct pending_write *pending = obj_alloc(sizeof(*pending));

	pending->link = l;
	pending->op = w->op;
	pending->trace = w->trace;
	pending->requested_ms = now_ms;
	pending->done = done;
	pending->arg = arg;
	msgpack_sbuffer_init(&pending->body);
	msgpack_sbuffer_init(&pending->items);
	return pending;
}

static void
pending_free(struct pending_write *pending)
{
	/* The body may be a Secret's. */
	if (pending->body.size > 0)
		explicit_bzero(pending->body.data, pending->body.size);
	if (pending->items.size > 0)
		explicit_bzero(pending->items.data, pending->items.size);
	msgpack_sbuffer_destroy(&pending->body);
	msgpack_sbuffer_destroy(&pending->items);
	free(pending);
}

static void
pack(struct pending_write *pending, const struct write_request *w, int64_t now_ms)
{
	const union msg_body body = { .write = {
		.id = pending->id, .op = (uint64_t)w->op,
		.group = text(w->group), .version = text(w->version),
		.resource = text(w->resource), .ns = text(w->ns), .name = text(w->name),
		.subresource = text(w->subresource), .uid = text(w->uid), .rv = text(w->rv),
		.labels = text(w->labels), .fields = text(w->fields), .deadline_ms = now_ms + w->timeout_ms,
		.body = { .p = w->body, .len = (uint32_t)w->body_len },
	} };

	msg_pack(&pending->body, MSG_WRITE, &body);
}

/* For `muster trace` (hop_log.h). An Event is about another object than it names: no hop. */
static void
note_requested(struct bus *b, struct pending_write *pending, const struct write_request *w)
{
	char key[OBJECT_KEY_MAX + 1], what[HOP_TEXT + 1];

	if (w->op == OP_EVENT || !object_key(key, sizeof(key), w->resource, text(w->ns).p, text(w->name).p))
		return;
	pending->key = hop_log_key(key, strlen(key));
	bus_hop_order(what, w->op, text(w->subresource));
	bus_hop(b, &(struct bus_hop){ .what = HOP_WRITE_REQUESTED, .link = pending->link,
	    .peer = link_table[pending->link].binder, .hash = pending->key, .trace = w->trace,
	    .text = what });
}

static void
note_done(struct bus *b, const struct pending_write *pending, const struct write_result *r)
{
	char what[HOP_TEXT + 1];

	bus_hop_outcome(what, r->outcome, r->status);
	bus_hop(b, &(struct bus_hop){ .what = HOP_WRITE_DONE, .link = pending->link,
	    .peer = link_table[pending->link].binder, .hash = pending->key, .rv = r->rv,
	    .trace = pending->trace, .text = what });
}

static struct wire_str
text(const char *s)
{
	return wire_str_of(s != NULL ? s : "");
}

static struct pending_write *
find(struct write_client *all, uint64_t id)
{
	struct pending_write *pending;

	STAILQ_FOREACH(pending, &all->waiting, next) {
		if (pending->id == id)
			return pending;
	}
	return NULL;
}

/* The one place that calls `done`. */
static void
finish(struct bus *b, struct pending_write *pending, struct write_result r)
{
	char labels[160] = "";
	struct write_client *all = b->write_client;

	if (find(all, pending->id) != NULL)
		STAILQ_REMOVE(&all->waiting, pending, pending_write, next);
	stat_label(labels, sizeof(labels), "link", link_table[pending->link].name);
	stat_label(labels, sizeof(labels), "op", op_table[pending->op].name);
	stat_observe(stat_get(STAT_WRITE_REQUEST_TIME, labels),
	    (double)(clock_mono_ms() - pending->requested_ms) / 1000);
	stat_label(labels, sizeof(labels), "outcome", outcome_name(r.outcome));
	stat_add(stat_get(STAT_WRITE_REQUESTS, labels), 1);
	r.id = pending->id;
	r.op = pending->op;
	r.trace = pending->trace;
	note_done(b, pending, &r);
	log_set_trace(pending->trace);
	b->owner.wrote(&r, pending->done, pending->arg, b->owner.arg);
	log_set_trace(0);
	pending_free(pending);
}

static void
finish_unanswered(struct bus *b, struct pending_write *pending, enum outcome how)
{
	const char *message = how == OUTCOME_INVALID ? "body: larger than 512 KiB" : outcome_text(how);

	finish(b, pending, (struct write_result){ .outcome = how, .reason = text(""),
	    .message = text(message), .causes = text(""), .rv = text("") });
}

/* They were checked when they came; here they are read once more, as views that last as long as `done`. */
static bool
open_items(struct pending_write *pending, struct change *items, union msg_body *values,
    struct msg_arena *arena)
{
	const char *p = pending->items.data;
	size_t left = pending->items.size, used;

	for (uint64_t n = 0; n < pending->nitems; n++, p += used, left -= used) {
		union msg_body body;

		if (!msg_unpack(MSG_RESULT_ITEMS, p, left, &used, arena, &body))
			return false;
		const struct body_item *item = &body.item;
		items[n] = (struct change){
			.kind = item->gone ? CHANGE_GONE : CHANGE_UPDATED, .link = pending->link,
			.from = link_table[pending->link].binder, .key = item->key, .uid = item->uid,
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
