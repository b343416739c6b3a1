/*
 * proto/session.c - the session protocol as two small state machines. Pure: no clock, no socket, no
 * memory of its own.
 *
 * Never: a decision here on anything but its arguments. tests/dst runs both ends against loss,
 * repetition, reordering and restarts; what is true there must be what is true in production.
 */
#include "session.h"

#include "obj.h"
#include "random.h"

static struct out_step out_waiting(const struct session_out *, const struct out_view *, int64_t);
static struct out_step out_snapshot(const struct session_out *, const struct out_view *, int64_t);
static struct out_step out_live(const struct session_out *, const struct out_view *, int64_t);
static struct out_step out_items(const struct session_out *, enum msg, uint32_t);
static struct out_step out_idle(const struct session_out *, bool, int64_t);
static struct in_step resync(struct session_in *, enum resync, int64_t);
static enum resync in_sequence(const struct session_in *, const struct envelope *, uint64_t);
static int64_t hello_delay(struct session_in *);

/* The arguments of session_in_frame. */
struct in_frame {
	const struct envelope	*env;
	const union msg_body	*first;
	uint32_t		 bodies;
	const struct in_view	*v;
	int64_t			 now_ms;
};
typedef struct in_step in_frame_fn(struct session_in *, const struct in_frame *);
static in_frame_fn in_snap_begin, in_items, in_snap_end, in_beat, in_close;

static const char *const resync_names[RESYNC_MAX] = {
#define RESYNC_ROW(ID, name) [RESYNC_##ID] = (name),
	RESYNC_REASONS(RESYNC_ROW)
};

const char *
resync_name(enum resync r)
{
	return (unsigned)r < RESYNC_MAX ? resync_names[r] : "?";
}

/* ---- The producer's end ---- */

void
session_out_hello(struct session_out *s, uint64_t epoch, uint64_t nonce, uint64_t window, int64_t now_ms)
{
	*s = (struct session_out){
		.state = OUT_WAITING,
		.epoch = epoch,
		.nonce = nonce,
		.limit = window < SESSION_WINDOW_MAX ? window : SESSION_WINDOW_MAX,
		.received_ms = now_ms,
		.sent_ms = now_ms - SESSION_BEAT_MS,	/* the first beat is due at once */
	};
}

bool
session_out_ack(struct session_out *s, uint64_t epoch, uint64_t seq, uint64_t credit, int64_t now_ms)
{
	if (s->state == OUT_CLOSED || epoch != s->epoch)
		return true;
	if (seq > s->seq)
		return false;
	s->received_ms = now_ms;
	if (seq >= s->acked) {
		s->acked = seq;
		s->limit = seq + (credit < SESSION_WINDOW_MAX ? credit : SESSION_WINDOW_MAX);
	}
	return true;
}

struct out_step
session_out_next(const struct session_out *s, const struct out_view *v, int64_t now_ms)
{
	static struct out_step (*const by_state[])(
	    const struct session_out *, const struct out_view *, int64_t) = {
		[OUT_WAITING] = out_waiting,
		[OUT_SNAPSHOT] = out_snapshot,
		[OUT_LIVE] = out_live,
	};

	if (s->state == OUT_CLOSED)
		return (struct out_step){ .verb = OUT_NOTHING, .at_ms = INT64_MAX };
	if (now_ms - s->received_ms >= SESSION_CONSUMER_TIMEOUT_MS)
		return (struct out_step){ .verb = OUT_CLOSE, .why = "no frame from the consumer for 10 s" };
	return by_state[s->state](s, v, now_ms);
}

void
session_out_sent(struct session_out *s, const struct out_step *step, uint32_t keys, uint32_t items,
    int64_t now_ms)
{
	/* Keys that came and went unseen make no frame: the beat stays due. */
	if (step->verb != OUT_SEND_ITEMS || items > 0)
		s->sent_ms = now_ms;
	switch (step->verb) {
	case OUT_SEND_BEGIN:
		s->state = OUT_SNAPSHOT;
		s->snap_left = keys;
		break;
	case OUT_SEND_ITEMS:
		s->seq += items;
		if (s->state == OUT_SNAPSHOT) {
			MUST(keys <= s->snap_left);
			s->snap_left -= keys;
			s->snap_sent += items;
		}
		break;
	case OUT_SEND_END:
		s->state = OUT_LIVE;
		break;
	case OUT_CLOSE:
		s->state = OUT_CLOSED;
		break;
	case OUT_NOTHING:
	case OUT_SEND_BEAT:
		break;
	}
}

/* A consumer that waits keeps its session by answering beats, so received_ms moves here too. */
static struct out_step
out_waiting(const struct session_out *s, const struct out_view *v, int64_t now_ms)
{
	if (v->ready)
		return (struct out_step){ .verb = OUT_SEND_BEGIN };
	return out_idle(s, false, now_ms);
}

static struct out_step
out_snapshot(const struct session_out *s, const struct out_view *v, int64_t now_ms)
{
	(void)v;
	if (s->snap_left == 0)
		return (struct out_step){ .verb = OUT_SEND_END };
	if (s->seq < s->limit)
		return out_items(s, MSG_SNAP_ITEMS, s->snap_left);
	return out_idle(s, false, now_ms);
}

static struct out_step
out_live(const struct session_out *s, const struct out_view *v, int64_t now_ms)
{
	if (v->pending > 0 && s->seq < s->limit)
		return out_items(s, MSG_DELTA, v->pending);
	return out_idle(s, v->pending == 0, now_ms);
}

static struct out_step
out_items(const struct session_out *s, enum msg type, uint32_t available)
{
	uint64_t n = s->limit - s->seq;

	if (n > SESSION_BATCH)
		n = SESSION_BATCH;
	if (n > available)
		n = available;
	return (struct out_step){ .verb = OUT_SEND_ITEMS, .type = type, .max_items = (uint32_t)n };
}

static struct out_step
out_idle(const struct session_out *s, bool exact, int64_t now_ms)
{
	const int64_t beat_at = s->sent_ms + SESSION_BEAT_MS;
	const int64_t mute_at = s->received_ms + SESSION_CONSUMER_TIMEOUT_MS;

	if (now_ms >= beat_at)
		return (struct out_step){ .verb = OUT_SEND_BEAT, .exact = exact };
	return (struct out_step){ .verb = OUT_NOTHING, .at_ms = beat_at < mute_at ? beat_at : mute_at };
}

/* ---- The consumer's end ---- */

void
session_in_init(struct session_in *s, uint64_t window, uint64_t seed)
{
	*s = (struct session_in){ .state = IN_DOWN, .window = window, .random = seed };
}

struct in_step
session_in_frame(struct session_in *s, const struct envelope *env, const union msg_body *first,
    uint32_t bodies, const struct in_view *v, int64_t now_ms)
{
	static in_frame_fn *const on[MSG_MAX] = {
		[MSG_SNAP_BEGIN] = in_snap_begin, [MSG_SNAP_ITEMS] = in_items, [MSG_SNAP_END] = in_snap_end,
		[MSG_DELTA] = in_items, [MSG_BEAT] = in_beat, [MSG_CLOSE] = in_close,
	};

	if (on[env->type] == NULL || s->state == IN_DOWN)
		return (struct in_step){ .verb = IN_IGNORE };
	return on[env->type](s, &(struct in_frame){ env, first, bodies, v, now_ms });
}

struct in_step
session_in_next(struct session_in *s, bool drained, int64_t now_ms)
{
	if (s->state == IN_DOWN || s->state == IN_HELLO) {
		if (s->answer_due && drained)
			return (struct in_step){ .verb = IN_SEND_ACK };
		if (now_ms >= s->hello_at_ms) {
			s->nonce = random_next(&s->random) | 1;	/* never 0: 0 is "no HELLO" */
			return (struct in_step){ .verb = IN_SEND_HELLO };
		}
		return (struct in_step){ .verb = IN_WAIT, .at_ms = s->hello_at_ms };
	}
	if (now_ms - s->received_ms >= SESSION_PRODUCER_TIMEOUT_MS)
		return resync(s, RESYNC_SILENT, now_ms);
	const uint64_t taken = s->seq - s->acked;
	const int64_t silent_at = s->received_ms + SESSION_PRODUCER_TIMEOUT_MS;
	if ((taken > 0 && taken >= s->window / 2)
	    || (drained && (s->answer_due || (taken > 0 && now_ms >= s->ack_at_ms))))
		return (struct in_step){ .verb = IN_SEND_ACK };
	return (struct in_step){ .verb = IN_WAIT,
		.at_ms = taken > 0 && s->ack_at_ms < silent_at ? s->ack_at_ms : silent_at };
}

void
session_in_sent(struct session_in *s, enum in_verb verb, bool ok, int64_t now_ms)
{
	if (verb == IN_SEND_HELLO) {
		if (ok) {
			s->state = IN_HELLO;
			s->epoch = 0;
			s->answer_due = false;
			s->attempts++;
		}
		s->hello_at_ms = now_ms + hello_delay(s);
	} else if (verb == IN_SEND_ACK && ok) {
		s->acked = s->seq;
		s->answer_due = false;
	}
}

struct in_step
session_in_refuse(struct session_in *s, int64_t now_ms)
{
	s->attempts++;
	return resync(s, RESYNC_REFUSED, now_ms);
}

void
session_in_connected(struct session_in *s, int64_t now_ms)
{
	if (s->state == IN_DOWN && s->attempts == 0)
		s->hello_at_ms = now_ms;
}

struct in_step
session_in_producer_up(struct session_in *s, uint64_t incarnation, int64_t now_ms)
{
	if (s->epoch != 0 && EPOCH_INCARNATION(s->epoch) >= incarnation)
		/* A session with it, or with a later one, is open already. */
		return (struct in_step){ .verb = IN_IGNORE };
	s->attempts = 0;
	if (s->state == IN_SNAPSHOT || s->state == IN_LIVE)
		return resync(s, RESYNC_PEER, now_ms);
	s->hello_at_ms = now_ms;
	return (struct in_step){ .verb = IN_IGNORE };
}

static struct in_step
in_snap_begin(struct session_in *s, const struct in_frame *f)
{
	if (f->first->snap_begin.nonce != s->nonce)	/* the answer to an older HELLO */
		return s->state == IN_HELLO ? (struct in_step){ .verb = IN_IGNORE }
					    : resync(s, RESYNC_EPOCH, f->now_ms);
	if (s->state != IN_HELLO)			/* the answer to our HELLO, again */
		return resync(s, RESYNC_REPEAT, f->now_ms);
	s->state = IN_SNAPSHOT;
	s->epoch = f->env->epoch;
	s->seq = f->env->seq;
	s->acked = f->env->seq;
	s->snap_taken = 0;
	s->received_ms = f->now_ms;
	s->answer_due = false;
	return (struct in_step){ .verb = IN_BEGIN };
}

static struct in_step
in_items(struct session_in *s, const struct in_frame *f)
{
	if (s->state == IN_HELLO)			/* the tail of the session we gave up */
		return (struct in_step){ .verb = IN_IGNORE };
	const enum resync wrong = in_sequence(s, f->env, s->seq + 1);
	if (wrong != RESYNC_NONE)
		return resync(s, wrong, f->now_ms);
	if ((f->env->type == MSG_SNAP_ITEMS) != (s->state == IN_SNAPSHOT))
		return resync(s, RESYNC_ORDER, f->now_ms);
	if (s->seq == s->acked)
		s->ack_at_ms = f->now_ms + SESSION_ACK_MS;
	s->seq += f->bodies;
	s->received_ms = f->now_ms;
	if (s->state == IN_SNAPSHOT)
		s->snap_taken += f->bodies;
	return (struct in_step){ .verb = IN_ITEMS };
}

static struct in_step
in_snap_end(struct session_in *s, const struct in_frame *f)
{
	if (s->state == IN_HELLO)
		return (struct in_step){ .verb = IN_IGNORE };
	const enum resync wrong = in_sequence(s, f->env, s->seq);
	if (wrong != RESYNC_NONE)
		return resync(s, wrong, f->now_ms);
	if (s->state != IN_SNAPSHOT)
		return resync(s, RESYNC_ORDER, f->now_ms);
	if (f->first->snap_end.count != s->snap_taken)
		return resync(s, RESYNC_COUNT, f->now_ms);
	s->state = IN_LIVE;
	s->received_ms = f->now_ms;
	return (struct in_step){ .verb = IN_END };
}

static struct in_step
in_beat(struct session_in *s, const struct in_frame *f)
{
	if (s->state == IN_HELLO) {
		if (f->first->beat.nonce != s->nonce)
			return (struct in_step){ .verb = IN_IGNORE };
		/* It has begun the snapshot for this nonce: the beginning was lost. */
		if (f->first->beat.ready)
			return resync(s, RESYNC_GAP, f->now_ms);
		/*
		 * Alive, not ready: it will send the snapshot by itself. HELLO again only after a
		 * timeout.
		 */
		s->epoch = f->env->epoch;
		s->seq = s->acked = f->env->seq;
		s->hello_at_ms = f->now_ms + SESSION_PRODUCER_TIMEOUT_MS;
		s->answer_due = true;
		return (struct in_step){ .verb = IN_IGNORE };
	}
	const enum resync wrong = in_sequence(s, f->env, s->seq);
	if (wrong != RESYNC_NONE)
		return resync(s, wrong, f->now_ms);
	if (f->first->beat.exact && s->state == IN_LIVE
	    && (f->first->beat.count != f->v->count || f->first->beat.hash != f->v->hash))
		return resync(s, RESYNC_HASH, f->now_ms);
	if (f->first->beat.exact && s->state != IN_LIVE)	/* it has sent its SNAP_END, which was lost */
		return resync(s, RESYNC_GAP, f->now_ms);
	s->received_ms = f->now_ms;
	s->answer_due = true;
	if (s->state == IN_LIVE)	/* proven sound: the next fault is a new one */
		s->attempts = 0;
	return (struct in_step){ .verb = IN_IGNORE };
}

static struct in_step
in_close(struct session_in *s, const struct in_frame *f)
{
	const bool ours =
	    s->state == IN_HELLO ? f->first->close.nonce == s->nonce : f->env->epoch == s->epoch;
	if (!ours)
		return (struct in_step){ .verb = IN_IGNORE };
	return resync(s, RESYNC_CLOSED, f->now_ms);
}

/*
 * The mirror stays; only the session is over. The next HELLO waits, longer each time, so that a
 * fault makes no storm.
 */
static struct in_step
resync(struct session_in *s, enum resync reason, int64_t now_ms)
{
	s->state = IN_DOWN;
	s->epoch = 0;
	s->answer_due = false;
	s->hello_at_ms = s->attempts == 0 ? now_ms : now_ms + hello_delay(s);
	return (struct in_step){ .verb = IN_RESYNC, .reason = reason };
}

static enum resync
in_sequence(const struct session_in *s, const struct envelope *env, uint64_t expected)
{
	if (env->epoch != s->epoch)
		return RESYNC_EPOCH;
	if (env->seq > expected)
		return RESYNC_GAP;
	if (env->seq < expected)
		return RESYNC_REPEAT;
	return RESYNC_NONE;
}

static int64_t
hello_delay(struct session_in *s)
{
	const uint32_t doublings = s->attempts < 6 ? s->attempts : 6;
	int64_t delay = (int64_t)SESSION_HELLO_MIN_MS << doublings;

	if (delay > SESSION_HELLO_MAX_MS)
		delay = SESSION_HELLO_MAX_MS;
	return random_jitter(&s->random, delay);
}
