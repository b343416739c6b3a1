/*
 * actors/runtime/write_server.c - the writes that other actors request of this one: each is open under a
 * handle until it is answered. Whether it is admitted is decided by the actor, once.
 *
 * Answers go out at once and beside the session's numbers, so that credit cannot hold them back;
 * over the same socket as the deltas, so that a mirror never goes back. An answer that cannot be
 * sent ends the session, and its outcome is unknown.
 */
#include "bus_private.h"
#include "obj.h"
#include "utf8.h"

enum { REASON_MAX = 256, MESSAGE_MAX = 8 * 1024, CAUSES_MAX = 32 * 1024 };

struct open_write {
	uint64_t	handle, id, epoch, trace;
	enum link	link;
	enum role	from;
	uint32_t	key;		/* hop_log_key of the object; 0: none */
	uint64_t	items;		/* sent so far */
};

struct write_server {
	uint32_t		 magic;
#define WRITE_SERVER_MAGIC	0x414e5357u
	struct open_write	*open;
	size_t			 len, cap;
	uint64_t		 last_handle;
};

/* Items of an answer on their way into frames. */
struct batch {
	struct bus		*bus;
	struct open_write	*write;
	struct consumer		*to;
	uint32_t		 items;		/* in b->buffer */
};

static const char *refusal(const struct consumer *, const struct envelope *, const struct body_write *);
static uint64_t open_write(struct write_server *, const struct open_write *);
static bool is_open(const struct write_server *, enum link, uint64_t, uint64_t);
static struct open_write *find(struct bus *, uint64_t, struct consumer **);
static void forget(struct write_server *, size_t);
static bool batch_add(struct batch *, const struct body_item *);
static bool batch_flush(struct batch *);
static struct wire_str clip(struct wire_str, uint32_t);

void
write_server_free(struct write_server **ap)
{
	struct write_server *all;

	if (*ap == NULL)
		return;
	OBJ_TAKE(all, ap, WRITE_SERVER_MAGIC);
	free(all->open);
	OBJ_FREE(all);
}

const char *
write_server_take(struct bus *b, enum link l, struct consumer *c, const struct envelope *env,
    const union msg_body *any)
{
	const struct body_write *w = &any->write;
	const char *const wrong = refusal(c, env, w);

	MUST(b->owner.write != NULL);
	if (wrong != NULL)
		return wrong;
	if (b->write_server == NULL)
		OBJ_NEW(b->write_server, WRITE_SERVER_MAGIC);
	if (is_open(b->write_server, l, c->session.epoch, w->id))
		return "a write with the id of another";
	const uint64_t handle = open_write(b->write_server, &(struct open_write){
	    .id = w->id, .epoch = c->session.epoch, .link = l, .trace = env->trace, .from = c->role,
	    .key = bus_hop_write(b, HOP_WRITE_RECEIVED, l, c->role, w, env->trace) });
	b->owner.write(&(struct write_in){ .from = c->role, .link = l, .id = w->id, .handle = handle,
	    .trace = env->trace, .deadline_ms = w->deadline_ms, .body = w }, b->owner.arg);
	return NULL;
}

void
write_server_lost(struct bus *b, enum link l, uint64_t epoch)
{
	struct write_server *all = b->write_server;
	enum role from = ROLE_NONE;

	for (size_t i = all == NULL ? 0 : all->len; i > 0; i--) {
		if (all->open[i - 1].link != l || all->open[i - 1].epoch != epoch)
			continue;
		from = all->open[i - 1].from;
		forget(all, i - 1);
	}
	if (from != ROLE_NONE)
		b->owner.session_ended(from, b->owner.arg);
}

enum err
bus_result_items(struct bus *b, uint64_t handle, const struct body_item *items, size_t n)
{
	struct batch batch = { .bus = b };

	for (size_t i = 0; i < n; i++) {
		if (items[i].key.len == 0 || items[i].key.len > LINK_STORE_KEY_MAX
		    || items[i].uid.len > LINK_STORE_KEY_MAX || items[i].rv.len > LINK_STORE_KEY_MAX)
			return E_INVALID;
		if (items[i].value.len > LINK_STORE_VALUE_MAX)
			return E_TOO_BIG;
	}
	batch.write = find(b, handle, &batch.to);
	if (batch.write == NULL)
		return E_OK;
	for (size_t i = 0; i < n; i++) {
		struct body_item item = items[i];

		MUST(item.gone || link_answers(batch.write->link, msg_by_number(item.type)));
		item.version = 0;	/* not of the store: no mirror takes it */
		if (!batch_add(&batch, &item))
			return E_OK;	/* the session is over, and the handle with it */
	}
	batch_flush(&batch);
	return E_OK;
}

void
bus_result(struct bus *b, uint64_t handle, const struct body_result *r, const char *const *keys, size_t nkeys)
{
	struct batch batch = { .bus = b };
	struct body_item item;

	batch.write = find(b, handle, &batch.to);
	if (batch.write == NULL)
		return;
	const enum link l = batch.write->link;
	link_store_release(b->outs[l]->store);
	for (size_t i = 0; i < nkeys; i++) {
		if (link_store_read_now(b->outs[l]->store, batch.to->slot, wire_str_of(keys[i]), &item)
		    && !batch_add(&batch, &item))
			return;
	}
	if (!batch_flush(&batch))
		return;
	out_delivered(b->outs[l], batch.to);
	union msg_body body = { .result = *r };
	body.result.id = batch.write->id;
	body.result.items = batch.write->items;
	body.result.reason = clip(r->reason, REASON_MAX);
	body.result.message = clip(r->message, MESSAGE_MAX);
	body.result.causes = clip(r->causes, CAUSES_MAX);
	body.result.rv = clip(r->rv, LINK_STORE_KEY_MAX);
	bus_frame(b, &(struct envelope){ .type = MSG_RESULT, .epoch = batch.write->epoch,
	    .seq = batch.write->id, .trace = batch.write->trace }, &body);
	bus_hop_outcome(b, (struct bus_hop){ .what = HOP_RESULT, .link = l, .peer = batch.to->role,
	    .hash = batch.write->key, .rv = body.result.rv, .trace = batch.write->trace },
	    (enum outcome)r->outcome, (unsigned)r->status);
	forget(b->write_server, (size_t)(batch.write - b->write_server->open));
	out_send(b->outs[l], batch.to, MSG_RESULT);
}

/* ---- Open writes ---- */

/*
 * An honest consumer writes only after its SNAP_END, in the session that it has.
 */
static const char *
refusal(const struct consumer *c, const struct envelope *env, const struct body_write *w)
{
	if (c->session.state != OUT_LIVE || env->epoch != c->session.epoch)
		return "a write outside its session";
	if (w->id == 0 || w->op >= OP_MAX || w->resource.len == 0)
		return "a write that asks for nothing";
	if (w->body.len > WRITE_BODY_MAX)
		return "a write larger than 512 KiB";
	return NULL;
}

/* Its handle. */
static uint64_t
open_write(struct write_server *all, const struct open_write *w)
{
	if (all->len == all->cap) {
		all->cap = all->cap * 2 + 16;
		all->open = obj_realloc(all->open, all->cap * sizeof(*all->open));
	}
	all->open[all->len] = *w;
	all->open[all->len++].handle = ++all->last_handle;
	return all->last_handle;
}

/* That session has a write of this id without an answer. */
static bool
is_open(const struct write_server *all, enum link l, uint64_t epoch, uint64_t id)
{
	for (size_t i = 0; i < all->len; i++) {
		if (all->open[i].link == l && all->open[i].epoch == epoch && all->open[i].id == id)
			return true;
	}
	return false;
}

/* NULL: the session has ended, and the handle with it. */
static struct open_write *
find(struct bus *b, uint64_t handle, struct consumer **to)
{
	struct write_server *all = b->write_server;

	MUST(all != NULL && handle != 0 && handle <= all->last_handle);
	for (size_t i = 0; i < all->len; i++) {
		if (all->open[i].handle != handle)
			continue;
		*to = out_session(b->outs[all->open[i].link], all->open[i].epoch);
		MUST(*to != NULL);	/* close_consumer forgets its writes */
		return &all->open[i];
	}
	return NULL;
}

static void
forget(struct write_server *all, size_t i)
{
	all->open[i] = all->open[--all->len];
}

/* ---- Sending ---- */

/* False: it could not be sent, the session is over. */
static bool
batch_add(struct batch *t, const struct body_item *item)
{
	struct bus *b = t->bus;
	const size_t size = item->key.len + item->uid.len + item->rv.len + item->value.len;

	if (t->items > 0 && (t->items == SESSION_BATCH || b->buffer.size + size > LINK_STORE_BATCH_BYTES)
	    && !batch_flush(t))
		return false;
	if (t->items++ == 0) {
		msgpack_sbuffer_clear(&b->buffer);
		frame_begin(&b->buffer,
		    &(struct envelope){ .type = MSG_RESULT_ITEMS,
			.epoch = t->write->epoch,
			.seq = t->write->id,
			.trace = t->write->trace });
	}
	msg_pack(&b->buffer, MSG_RESULT_ITEMS, &(union msg_body){ .item = *item });
	return true;
}

static bool
batch_flush(struct batch *t)
{
	if (t->items == 0)
		return true;
	t->write->items += t->items;
	t->items = 0;
	return out_send(t->bus->outs[t->write->link], t->to, MSG_RESULT_ITEMS);
}

/* Texts of the API server: cut between characters, so that what is left is still text. */
static struct wire_str
clip(struct wire_str s, uint32_t max)
{
	if (s.len > max)
		s.len = (uint32_t)utf8_cut(s.p, s.len, max, SIZE_MAX);
	return s;
}
