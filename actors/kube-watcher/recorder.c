/* actors/kube-watcher/recorder.c - which Events are written, which are counted, which are dropped. Pure. */
#include "recorder.h"

#include <string.h>

#include "obj.h"
#include "random.h"
#include "utf8.h"

enum { HEX_DIGITS = 16 };

static struct recorder_slot *find(struct recorder *, const struct recorder_event *, int64_t);
static struct recorder_step count_again(struct recorder *, struct recorder_slot *, int64_t, int64_t);
static struct recorder_slot *make_room(struct recorder *);
static bool is_idle(const struct recorder_slot *);
static bool may_speak(struct recorder *, uint64_t, int64_t);
static struct recorder_object *object_of(struct recorder *, uint64_t, int64_t);
static int64_t emptied_ms(const struct recorder_object *);
static int64_t due_ms(const struct recorder_slot *);
static bool is_over(const struct recorder_slot *, int64_t);
static struct recorder_step work_on(struct recorder *, struct recorder_slot *);
static void forget(struct recorder *, struct recorder_slot *);
static uint32_t index_of(const struct recorder *, const struct recorder_slot *);

void
recorder_init(struct recorder *r, uint64_t seed)
{
	*r = (struct recorder){ .random = seed };
}

struct recorder_step
recorder_note(struct recorder *r, const struct recorder_event *e, int64_t now_ms, int64_t now_us)
{
	struct recorder_slot *s = find(r, e, now_ms);

	if (s != NULL)
		return count_again(r, s, now_ms, now_us);
	if (!may_speak(r, e->object, now_ms) || (s = make_room(r)) == NULL) {
		r->dropped++;
		return (struct recorder_step){ .verb = RECORDER_DROPPED };
	}
	/* From what it is about and when: the same for every try, another one for the next series. */
	uint64_t mix = e->object ^ (e->content << 1 | e->content >> 63) ^ (uint64_t)now_us;
	*s = (struct recorder_slot){
		.used = true, .object = e->object, .content = e->content, .unique = random_next(&mix),
		.count = 1, .seen_ms = now_ms, .at_ms = now_ms, .last_us = now_us,
	};
	r->count++;
	return (struct recorder_step){
		.verb = RECORDER_CREATE, .slot = index_of(r, s), .unique = s->unique, .count = 1,
		.last_us = now_us,
	};
}

struct recorder_step
recorder_next(struct recorder *r, int64_t now_ms)
{
	int64_t at_ms = INT64_MAX;

	for (uint32_t i = 0; i < RECORDER_MAX && r->count > 0; i++) {
		struct recorder_slot *s = &r->slots[i];

		if (!s->used || s->busy)
			continue;
		if (is_over(s, now_ms) && is_idle(s)) {
			forget(r, s);
			continue;
		}
		if (due_ms(s) <= now_ms)
			return work_on(r, s);
		at_ms = due_ms(s) < at_ms ? due_ms(s) : at_ms;
	}
	return (struct recorder_step){ .verb = RECORDER_WAIT, .at_ms = at_ms };
}

void
recorder_answered(struct recorder *r, uint32_t slot, enum recorder_result result, int64_t now_ms)
{
	MUST(slot < RECORDER_MAX && r->slots[slot].used && r->slots[slot].busy);
	struct recorder_slot *s = &r->slots[slot];

	s->busy = false;
	if (result == RECORDER_OK) {
		s->written = s->created ? s->sending : 1;
		s->created = true;
		s->tries = 0;
		s->written_ms = now_ms;
		/* The first repetition is told at once; later ones with the heartbeat. */
		s->at_ms = s->written == 1 ? now_ms : now_ms + RECORDER_HEARTBEAT_MS;
	} else if (result == RECORDER_AGAIN && ++s->tries < RECORDER_TRIES) {
		s->at_ms = now_ms + random_jitter(&r->random, RECORDER_RETRY_MS);
	} else {
		/* MISSING: its time on the server is over; the next occurrence begins a new one. */
		r->dropped += result != RECORDER_MISSING;
		forget(r, s);
	}
}

size_t
recorder_note_length(const char *note, size_t len)
{
	size_t n = 0;

	while (n < len) {
		const size_t character = utf8_length(note + n, len - n);

		if (character == 0 || n + character > RECORDER_NOTE_MAX)
			break;
		n += character;
	}
	return n;
}

size_t
recorder_name(const char *object, uint64_t unique, char out[RECORDER_NAME_MAX + 1])
{
	static const char digits[] = "0123456789abcdef";
	const size_t most = RECORDER_NAME_MAX - 1 - HEX_DIGITS;
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

static struct recorder_slot *
find(struct recorder *r, const struct recorder_event *e, int64_t now_ms)
{
	for (uint32_t i = 0; i < RECORDER_MAX && r->count > 0; i++) {
		struct recorder_slot *s = &r->slots[i];

		if (s->used && s->object == e->object && s->content == e->content && !is_over(s, now_ms))
			return s;
	}
	return NULL;
}

static struct recorder_step
count_again(struct recorder *r, struct recorder_slot *s, int64_t now_ms, int64_t now_us)
{
	s->count++;
	s->seen_ms = now_ms;
	s->last_us = now_us;
	return (struct recorder_step){ .verb = RECORDER_COUNTED, .slot = index_of(r, s), .count = s->count };
}

/* When something has to be written, or the series is over. */
static int64_t
due_ms(const struct recorder_slot *s)
{
	const int64_t over_ms = s->seen_ms + RECORDER_SERIES_MS;

	if (!s->created || s->tries > 0)
		return s->at_ms;
	if (s->count == s->written)
		return over_ms;
	return s->at_ms < over_ms ? s->at_ms : over_ms;
}

static bool
is_over(const struct recorder_slot *s, int64_t now_ms)
{
	return now_ms - s->seen_ms >= RECORDER_SERIES_MS;
}

/* Nothing of it is left to be written. */
static bool
is_idle(const struct recorder_slot *s)
{
	return s->created && !s->busy && s->count == s->written;
}

static struct recorder_step
work_on(struct recorder *r, struct recorder_slot *s)
{
	s->busy = true;
	s->sending = s->count;
	return (struct recorder_step){
		.verb = s->created ? RECORDER_PATCH : RECORDER_CREATE, .slot = index_of(r, s),
		.unique = s->unique, .count = s->count, .last_us = s->last_us,
	};
}

/* A free slot, or that of the Event that was seen least lately and is not being written. */
static struct recorder_slot *
make_room(struct recorder *r)
{
	struct recorder_slot *oldest = NULL;

	for (uint32_t i = 0; i < RECORDER_MAX; i++) {
		struct recorder_slot *s = &r->slots[i];

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
forget(struct recorder *r, struct recorder_slot *s)
{
	*s = (struct recorder_slot){ .used = false };
	r->count--;
}

static uint32_t
index_of(const struct recorder *r, const struct recorder_slot *s)
{
	return (uint32_t)(s - r->slots);
}

/* ---- How much one object may say ---- */

static bool
may_speak(struct recorder *r, uint64_t object, int64_t now_ms)
{
	struct recorder_object *o = object_of(r, object, now_ms);
	const int64_t refills = (now_ms - o->refilled_ms) / RECORDER_REFILL_MS;

	if (refills > 0) {
		o->refilled_ms += refills * RECORDER_REFILL_MS;
		o->tokens = o->tokens + refills < RECORDER_BURST ? o->tokens + (uint32_t)refills
								 : RECORDER_BURST;
	}
	if (o->tokens == 0)
		return false;
	o->tokens--;
	return true;
}

/* Its bucket; a new one takes the place of the fullest, which has the least to remember. */
static struct recorder_object *
object_of(struct recorder *r, uint64_t object, int64_t now_ms)
{
	struct recorder_object *place = &r->objects[0];

	for (uint32_t i = 0; i < RECORDER_OBJECTS_MAX; i++) {
		struct recorder_object *o = &r->objects[i];

		if (o->used && o->object == object)
			return o;
		if (emptied_ms(o) < emptied_ms(place))
			place = o;
	}
	*place = (struct recorder_object){
		.used = true, .object = object, .refilled_ms = now_ms, .tokens = RECORDER_BURST };
	return place;
}

/* When the bucket would have been empty, had it been filled one by one: the earlier, the fuller it is now. */
static int64_t
emptied_ms(const struct recorder_object *o)
{
	return o->used ? o->refilled_ms - (int64_t)o->tokens * RECORDER_REFILL_MS : INT64_MIN;
}
