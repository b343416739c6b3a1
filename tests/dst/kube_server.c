/* tests/dst/kube_server.c - the model apiserver: objects, their history, and what a write does to them. */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "world_kube.h"

static void append(struct kube_server *, uint32_t, enum watch_type);
static void end_uid(struct kube_server *, uint32_t);
static struct kube_reply refuse(int, const char *);
static struct kube_reply object_of(const struct kube_server *, uint32_t);

void
server_init(struct kube_server *s, struct sim *sim)
{
	s->keys = 1 + (uint32_t)sim_random(sim, KUBE_KEYS_MAX);
	s->rv = s->compacted = 1 + sim_random(sim, 1000);
	for (uint32_t i = 0; i < s->keys; i++) {
		if (sim_chance(sim, 700))
			server_create(s, i);
	}
	for (uint32_t i = 0; i < KUBE_REPLICAS; i++)
		s->seen[i] = s->rv;
	s->watchlist = sim_chance(sim, 600)
	    ? WATCHLIST_GOOD
	    : (enum kube_watchlist)sim_random(sim, WATCHLIST_FORBIDDEN + 1);
	s->finalizers = sim_chance(sim, 500);
}

void
server_create(struct kube_server *s, uint32_t key)
{
	MUST(s->now.objects[key].uid == 0);
	s->now.objects[key] = (struct kube_object){ .uid = ++s->uids };
	append(s, key, WATCH_ADDED);
}

void
server_change(struct kube_server *s, uint32_t key)
{
	MUST(s->now.objects[key].uid != 0);
	append(s, key, WATCH_MODIFIED);
}

void
server_delete(struct kube_server *s, uint32_t key)
{
	MUST(s->now.objects[key].uid != 0);
	end_uid(s, s->now.objects[key].uid);
	append(s, key, WATCH_DELETED);
	s->now.objects[key] = (struct kube_object){ 0 };
}

void
server_compact(struct kube_server *s, uint64_t rv)
{
	if (rv > s->compacted)
		s->compacted = rv;
}

/* Restores a backup: all later changes are undone. The replicas start again, and so do all connections. */
void
server_restore(struct kube_server *s, uint64_t rv)
{
	const struct kube_state was = s->now;

	s->now = server_at(s, rv);
	s->nlog = server_after(s, rv);
	s->rv = rv;
	s->compacted = s->compacted < rv ? s->compacted : rv;
	s->restores++;
	for (uint32_t i = 0; i < s->keys; i++) {
		if (was.objects[i].uid != 0 && was.objects[i].uid != s->now.objects[i].uid)
			end_uid(s, was.objects[i].uid);
	}
	for (uint32_t i = 0; i < KUBE_REPLICAS; i++)
		s->seen[i] = rv;
}

struct kube_state
server_at(const struct kube_server *s, uint64_t rv)
{
	struct kube_state state = { 0 };

	for (uint32_t i = 0; i < s->nlog && s->log[i].rv <= rv; i++) {
		const struct kube_event *e = &s->log[i];

		state.objects[e->key] =
		    e->type == WATCH_DELETED ? (struct kube_object){ 0 } : e->object;
	}
	return state;
}

uint32_t
server_after(const struct kube_server *s, uint64_t rv)
{
	uint32_t low = 0, high = s->nlog;

	while (low < high) {
		const uint32_t mid = (low + high) / 2;

		if (s->log[mid].rv <= rv)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct kube_reply
server_execute(struct kube_server *s, struct sim *sim, const struct kube_write *w, bool *done)
{
	struct kube_object *o = &s->now.objects[w->key];
	const bool full = s->nlog >= KUBE_LOG_MAX - 1;

	*done = false;
	if (w->op == OP_GET)
		return o->uid == 0 ? refuse(404, "NotFound") : object_of(s, w->key);
	if (full)
		return refuse(403, "Forbidden");
	if (w->op == OP_CREATE) {
		if (o->uid != 0)
			return refuse(409, "AlreadyExists");
		*done = true;
		server_create(s, w->key);
		return object_of(s, w->key);
	}
	if (o->uid == 0)
		return refuse(404, "NotFound");
	if ((w->uid != 0 && w->uid != o->uid) || (w->rv != 0 && w->rv != o->rv))
		return refuse(409, "Conflict");
	*done = true;
	if (w->op != OP_DELETE) {
		server_change(s, w->key);
		return object_of(s, w->key);
	}
	if (s->finalizers && !o->ending && sim_chance(sim, 500)) {
		o->ending = true;
		server_change(s, w->key);
		return object_of(s, w->key);
	}
	server_delete(s, w->key);
	return (struct kube_reply){ .status = 200, .reason = "", .body = BODY_STATUS };
}

static void
append(struct kube_server *s, uint32_t key, enum watch_type type)
{
	MUST(s->nlog < KUBE_LOG_MAX && s->uids < KUBE_LOG_MAX);
	struct kube_object *o = &s->now.objects[key];

	o->rv = ++s->rv;
	s->log[s->nlog++] = (struct kube_event){ .rv = s->rv, .key = key, .type = type, .object = *o };
}

static void
end_uid(struct kube_server *s, uint32_t uid)
{
	s->ended[uid] = true;
}

static struct kube_reply
refuse(int status, const char *reason)
{
	return (struct kube_reply){ .status = status, .reason = reason, .body = BODY_STATUS };
}

static struct kube_reply
object_of(const struct kube_server *s, uint32_t key)
{
	return (struct kube_reply){
		.status = 200, .reason = "", .body = BODY_OBJECT, .object = s->now.objects[key] };
}

/* ---- Texts ---- */

void
kube_key(char out[KUBE_TEXT], uint32_t key)
{
	memcpy(out, "nodes/n00", sizeof("nodes/n00"));
	out[7] = (char)('0' + key / 10);
	out[8] = (char)('0' + key % 10);
}

void
kube_uid(char out[KUBE_TEXT], uint32_t uid)
{
	static const char digits[] = "0123456789abcdef";

	memcpy(out, "00000000-5eed-4000-8000-000000000000", 37);
	for (int i = 0; i < 8; i++)
		out[i] = digits[uid >> (28 - 4 * i) & 15];
}

void
kube_rv(char out[KUBE_TEXT], uint64_t rv)
{
	char reversed[KUBE_TEXT];
	size_t n = 0, len = 0;

	for (; rv > 0; rv /= 10)
		reversed[n++] = (char)('0' + rv % 10);
	while (n > 0)
		out[len++] = reversed[--n];
	out[len] = '\0';
}

uint64_t
kube_number(const char *text)
{
	uint64_t n = 0;

	for (; *text != '\0'; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	return n;
}
