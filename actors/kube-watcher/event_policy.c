/* actors/kube-watcher/event_policy.c - which Events are created, counted or dropped. Pure. */
#include "event_policy.h"

#include <string.h>

#include "obj.h"
#include "random.h"
#include "utf8.h"

enum { HEX_DIGITS = 16 };

static struct event_slot *find(struct event_policy *, const struct event_hash *, int64_t);
static struct event_slot *make_room(struct event_policy *);
static bool is_idle(const struct event_slot *);
static bool may_create(struct event_policy *, uint64_t, int64_t);
static struct event_budget *budget_of(struct event_policy *, uint64_t, int64_t);
static int64_t emptied_ms(const struct event_budget *);
static int64_t due_ms(const struct event_slot *);
static bool is_over(const struct event_slot *, int64_t);
static void forget(struct event_policy *, struct event_slot *);
static uint32_t index_of(const struct event_policy *, const struct event_slot *);

void
event_policy_init(struct event_policy *r, uint64_t seed)
{
	*r = (struct event_policy){ .random = seed };
}

struct event_step
event_policy_observe(struct event_policy *r, const struct event_hash *e, int64_t now_ms, int64_t now_us)
{
	struct event_slot *s = find(r, e, now_ms);

	if (s != NULL) {
		s->count++;
		s->seen_ms = now_ms;
		s->last_us = now_us;
		return (struct event_step){
			.verb = EVENT_COUNTED, .slot = index_of(r, s), .count = s->count };
	}
	if (!may_create(r, e->object, now_ms) || (s = make_room(r)) == NULL) {
		r->dropped++;
		return (struct event_step){ .verb = EVENT_DROPPED };
	}
	/* From what it is about and when: the same for every try, another one for the next series. */
	uint64_t mix = e->object ^ (e->content << 1 | e->content >> 63) ^ (uint64_t)now_us;
	*s = (struct event_slot){
		.used = true, .object = e->object, .content = e->content, .unique = random_next(&mix),
		.count = 1, .seen_ms = now_ms, .at_ms = now_ms, .last_us = now_us,
	};
	r->count++;
	return (struct event_step){
		.verb = EVENT_CREATE, .slot = index_of(r, s), .unique = s->unique, .count = 1,
		.last_us = now_us,
	};
}

struct event_step
event_policy_next(struct event_policy *r, int64_t now_ms)
{
	int64_t at_ms = INT64_MAX;

	for (uint32_t i = 0; i < EVENT_SLOTS_MAX && r->count > 0; i++) {
		struct event_slot *s = &r->slots[i];

		if (!s->used || s->busy)
			continue;
		if (is_over(s, now_ms) && is_idle(s)) {
			forget(r, s);
			continue;
		}
		if (due_ms(s) > now_ms) {
			at_ms = due_ms(s) < at_ms ? due_ms(s) : at_ms;
			continue;
		}
		s->busy = true;
		s->sending = s->count;
		return (struct event_step){
			.verb = s->created ? EVENT_PATCH : EVENT_CREATE, .slot = i, .unique = s->unique,
			.count = s->count, .last_us = s->last_us,
		};
	}
	return (struct event_step){ .verb = EVENT_WAIT, .at_ms = at_ms };
}

void
event_policy_answered(struct event_policy *r, uint32_t slot, enum event_result result, int64_t now_ms)
{
	MUST(slot < EVENT_SLOTS_MAX && r->slots[slot].used && r->slots[slot].busy);
	struct event_slot *s = &r->slots[slot];

	s->busy = false;
	if (result == EVENT_OK) {
		s->written = s->created ? s->sending : 1;
		s->created = true;
		s->tries = 0;
		/* The first repetition is written at once; later ones with the heartbeat. */
		s->at_ms = s->written == 1 ? now_ms : now_ms + EVENT_HEARTBEAT_MS;
	} else if (result == EVENT_AGAIN && ++s->tries < EVENT_TRIES) {
		s->at_ms = now_ms + random_jitter(&r->random, EVENT_RETRY_MS);
	} else {
		/* MISSING: its time on the server is over; the next occurrence begins a new one. */
		r->dropped += result != EVENT_MISSING;
		forget(r, s);
	}
}

size_t
event_note_length(const char *note, size_t len)
{
	size_t n = 0;

	while (n < len) {
		const size_t character = utf8_length(note + n, len - n);

		if (character == 0 || n + character > EVENT_NOTE_MAX)
			break;
		n += character;
	}
	return n;
}

size_t
event_name(const char *object, uint64_t unique, char out[EVENT_NAME_MAX + 1])
{
	static const char digits[] = "0123456789abcdef";
	const size_t most = EVENT_NAME_MAX - 1 - HEX_DIGITS;
	size_t len = strlen(object);

	if (len > most)
		len = most;
	memcpy(out, object, len);
	while (len > 0 && (out[len - 1] == '.' || out[len - 1] == '-'))
		len--;		/* a label ends with a letter or a digit */
	out[len++] = '.';
	for (int i = HEX_DIGITS - 1; i >= 0; i--)
		out[len++] = digits[unique >> (4 * i) & 15];
	out[len] = '\0';
	return len;
}

/* ---- Series ---- */

static struct event_slot *
find(struct event_policy *r, const struct event_hash *e, int64_t now_ms)
{
	for (uint32_t i = 0; i < EVENT_SLOTS_MAX && r->count > 0; i++) {
		struct event_slot *s = &r->slots[i];

		if (s->used && s->object == e->object && s->content == e->content && !is_over(s, now_ms))
			return s;
	}
	return NULL;
}

/* When something has to be written, or the series is over. */
static int64_t
due_ms(const struct event_slot *s)
{
	const int64_t over_ms = s->seen_ms + EVENT_SERIES_MS;

	if (!s->created || s->tries > 0)
		return s->at_ms;
	if (s->count == s->written)
		return over_ms;
	return s->at_ms < over_ms ? s->at_ms : over_ms;
}

static bool
is_over(const struct event_slot *s, int64_t now_ms)
{
	return now_ms - s->seen_ms >= EVENT_SERIES_MS;
}

/* Nothing of it is left to be written. */
static bool
is_idle(const struct event_slot *s)
{
	return s->created && !s->busy && s->count == s->written;
}

/* A free slot, or that of the Event that was seen least lately and is not being written. */
static struct event_slot *
make_room(struct event_policy *r)
{
	struct event_slot *oldest = NULL;

	for (uint32_t i = 0; i < EVENT_SLOTS_MAX; i++) {
		struct event_slot *s = &r->slots[i];

		if (!s->used)
			return s;
		if (!s->busy && s->created && (oldest == NULL || s->seen_ms < oldest->seen_ms))
			oldest = s;
	}
	if (oldest != NULL)
		forget(r, oldest);
	return oldest;
}

static void
forget(struct event_policy *r, struct event_slot *s)
{
	*s = (struct event_slot){ .used = false };
	r->count--;
}

static uint32_t
index_of(const struct event_policy *r, const struct event_slot *s)
{
	return (uint32_t)(s - r->slots);
}

/* ---- How many Events one object may cause ---- */

static bool
may_create(struct event_policy *r, uint64_t object, int64_t now_ms)
{
	struct event_budget *o = budget_of(r, object, now_ms);
	const int64_t refills = (now_ms - o->refilled_ms) / EVENT_REFILL_MS;

	if (refills > 0) {
		o->refilled_ms += refills * EVENT_REFILL_MS;
		o->tokens = o->tokens + refills < EVENT_BURST ? o->tokens + (uint32_t)refills
								 : EVENT_BURST;
	}
	if (o->tokens == 0)
		return false;
	o->tokens--;
	return true;
}

/* Its bucket; a new one takes the place of the fullest, which has the least to remember. */
static struct event_budget *
budget_of(struct event_policy *r, uint64_t object, int64_t now_ms)
{
	struct event_budget *place = &r->objects[0];

	for (uint32_t i = 0; i < EVENT_OBJECTS_MAX; i++) {
		struct event_budget *o = &r->objects[i];

		if (o->used && o->object == object)
			return o;
		if (emptied_ms(o) < emptied_ms(place))
			place = o;
	}
	*place = (struct event_budget){
		.used = true, .object = object, .refilled_ms = now_ms, .tokens = EVENT_BURST };
	return place;
}

/* When the bucket would have been empty, had it been filled one by one: the earlier, the fuller it is now. */
static int64_t
emptied_ms(const struct event_budget *o)
{
	return o->used ? o->refilled_ms - (int64_t)o->tokens * EVENT_REFILL_MS : INT64_MIN;
}
