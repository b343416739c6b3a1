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
	/* The answer as far as it has come: copies of its frames, and what they decode to. */
	struct msg_arena	 arena;
	size_t			 bytes;
	struct change		*items;
	size_t			 nitems;
	enum outcome		 refused;	/* OK: it is in the table */
	uint32_t		 key;		/* hop_log_key of the object; 0: none */
	write_done		*done;
	void			*arg;
};
STAILQ_HEAD(pending_list, pending_write);

/* The bodies of one frame of an answer. */
struct frame_copy {
	size_t		len;
	uint8_t		bytes[];
};

struct write_client {
	uint32_t		 magic;
#define WRITE_CLIENT_MAGIC	0x41534b53u
	struct write_table	 table;
	uint64_t		 last_id;
	struct pending_list		 waiting;	/* those in the table */
	struct pending_list		 refused;	/* those that never got there */
};

static void pending_free(struct pending_write *);
static struct body_write body_of(uint64_t, const struct write_request *, int64_t);
static struct wire_str text(const char *);
static void end(struct bus *, int64_t);
static struct pending_write *find(struct bus *, uint64_t);
static void finish(struct bus *, struct pending_write *, struct write_result);
static void finish_unanswered(struct bus *, struct pending_write *, enum outcome);
static void wipe(void *);

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
	struct pending_write *pending = obj_alloc(sizeof(*pending));
	*pending = (struct pending_write){ .id = ++all->last_id, .link = l, .op = w->op, .trace = w->trace,
		.requested_ms = now_ms, .done = done, .arg = arg };
	msgpack_sbuffer_init(&pending->body);
	msg_arena_init(&pending->arena);
	const union msg_body body = { .write = body_of(pending->id, w, now_ms + w->timeout_ms) };
	pending->key =
	    bus_hop_write(b, HOP_WRITE_REQUESTED, l, link_table[l].binder, &body.write, w->trace);
	if (w->body_len > WRITE_BODY_MAX)
		pending->refused = OUTCOME_INVALID;
	else if (!write_table_add(&all->table, pending->id, l, now_ms + w->timeout_ms))
		pending->refused = OUTCOME_BUSY;
	if (pending->refused == OUTCOME_OK) {
		msg_pack(&pending->body, MSG_WRITE, &body);
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

	if (b->write_client == NULL || i->session.state != IN_LIVE)
		return INT64_MAX;
	while ((id = write_table_due(&b->write_client->table, i->link, now_ms)) != 0) {
		const struct pending_write *pending = find(b, id);

		msgpack_sbuffer_clear(&b->buffer);
		frame_begin(&b->buffer, &(struct envelope){
		    .type = MSG_WRITE, .epoch = i->session.epoch, .seq = id, .trace = pending->trace });
		MUST(msgpack_sbuffer_write(&b->buffer, pending->body.data, pending->body.size) == 0);
		if (!in_send(i, MSG_WRITE))
			return now_ms + RETRY_MS;
		write_table_sent(&b->write_client->table, id);
	}
	return INT64_MAX;
}

struct msg_arena *
write_client_keep(struct bus *b, enum link l, struct frame *f)
{
	struct pending_write *pending = find(b, f->env.seq);

	if (pending == NULL || pending->link != l)
		return &b->arena;
	pending->bytes += f->left;
	if (pending->bytes > ANSWER_MAX_BYTES)	/* write_client_item refuses it */
		return &b->arena;
	struct frame_copy *copy = msg_arena_alloc(&pending->arena, sizeof(*copy) + f->left);
	MUST(msgpack_zone_push_finalizer(&pending->arena.zone, wipe, copy));
	copy->len = f->left;
	f->next = memcpy(copy->bytes, f->next, f->left);
	return &pending->arena;
}

const char *
write_client_item(struct bus *b, uint64_t id, const struct change *item)
{
	struct pending_write *pending = find(b, id);

	if (b->write_client == NULL || id > b->write_client->last_id)
		return "answers what was never asked";
	if (pending == NULL)	/* we have given it up; the mirror takes the object all the same */
		return NULL;
	if (pending->link != item->link)
		return "answers what was not sent";
	if (pending->bytes > ANSWER_MAX_BYTES)
		return "answer larger than 32 MiB";
	const size_t n = pending->nitems++;
	if ((n & (n - 1)) == 0)		/* as many as there is room for */
		pending->items = obj_realloc(pending->items, (n * 2 + 1) * sizeof(*pending->items));
	pending->items[n] = *item;
	if (item->value != NULL)
		pending->items[n].value = memcpy(msg_arena_alloc(&pending->arena, sizeof(*item->value)),
		    item->value, sizeof(*item->value));
	return NULL;
}

const char *
write_client_result(struct bus *b, enum link l, const union msg_body *any)
{
	const struct body_result *r = &any->result;

	if (b->write_client == NULL || r->id > b->write_client->last_id)
		return "answers what was never asked";
	if (r->outcome >= OUTCOME_MAX || r->status > 999)
		return "no such outcome";
	struct pending_write *pending = find(b, r->id);
	if (pending == NULL)
		return NULL;
	if (pending->link != l || !write_table_answered(&b->write_client->table, r->id))
		return "answers what was not sent";
	const bool whole = r->items == pending->nitems;
	if (whole)
		finish(b, pending, (struct write_result){
		    .outcome = (enum outcome)r->outcome, .status = (unsigned)r->status, .reason = r->reason,
		    .message = r->message, .causes = r->causes, .rv = r->rv,
		    .retry_after_ms = r->retry_after_ms, .skipped = r->skipped, .items = pending->items,
		    .nitems = pending->nitems });
	else
		finish_unanswered(b, pending, OUTCOME_UNKNOWN);
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
	for (int n = 0; n < REQUESTS_PER_SENDER; n++) {
		if ((id = write_table_ended(&all->table, now_ms, &how)) == 0)
			break;
		finish_unanswered(b, find(b, id), how);
	}
}

/* ---- One write ---- */

static void
pending_free(struct pending_write *pending)
{
	/* The body may be a Secret's; so may an answer's frame be, which `wipe` clears. */
	if (pending->body.size > 0)
		explicit_bzero(pending->body.data, pending->body.size);
	msgpack_sbuffer_destroy(&pending->body);
	msg_arena_free(&pending->arena);
	free(pending->items);
	free(pending);
}

static struct body_write
body_of(uint64_t id, const struct write_request *w, int64_t deadline_ms)
{
	return (struct body_write){
		.id = id, .op = (uint64_t)w->op,
		.group = text(w->group), .version = text(w->version),
		.resource = text(w->resource), .ns = text(w->ns), .name = text(w->name),
		.subresource = text(w->subresource), .uid = text(w->uid), .rv = text(w->rv),
		.labels = text(w->labels), .fields = text(w->fields), .deadline_ms = deadline_ms,
		.body = { .p = w->body, .len = (uint32_t)w->body_len },
	};
}

static struct wire_str
text(const char *s)
{
	return wire_str_of(s != NULL ? s : "");
}

static struct pending_write *
find(struct bus *b, uint64_t id)
{
	struct pending_write *pending = NULL;

	if (b->write_client != NULL) {
		STAILQ_FOREACH(pending, &b->write_client->waiting, next) {
			if (pending->id == id)
				break;
		}
	}
	return pending;
}

/* The one place that calls `done`. */
static void
finish(struct bus *b, struct pending_write *pending, struct write_result r)
{
	char labels[160] = "";
	struct write_client *all = b->write_client;

	if (find(b, pending->id) != NULL)
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
	bus_hop_outcome(b, (struct bus_hop){ .what = HOP_WRITE_DONE, .link = pending->link,
	    .peer = link_table[pending->link].binder, .hash = pending->key, .rv = r.rv, .trace = r.trace },
	    r.outcome, r.status);
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

static void
wipe(void *arg)
{
	struct frame_copy *const copy = arg;

	explicit_bzero(copy->bytes, copy->len);
}
