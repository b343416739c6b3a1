/* actors/provider/brake.c - the rules of brake.h. Pure. */
#include "brake.h"

#include "obj.h"

static const struct {
	const char	*label, *text;
} reasons[BRAKE_REASON_MAX] = {
#define BRAKE_ROW(ID, label, text) [BRAKE_##ID] = { label, text },
	BRAKE_REASONS(BRAKE_ROW)
#undef BRAKE_ROW
};

static bool lost_half(uint32_t, uint32_t);

void
brake_init(struct brake *b, uint32_t most, int64_t window_ms)
{
	MUST(most >= 1 && most <= BRAKE_CALLS_MAX && window_ms > 0);
	*b = (struct brake){ .most = most, .window_ms = window_ms };
}

void
brake_listed(struct brake *b, uint32_t entries, int64_t now_ms)
{
	const bool doubtful = b->listed && lost_half(b->accepted, entries);

	b->listed = true;
	if (!doubtful) {
		b->accepted = entries;
		b->shrunk = false;
	} else if (!b->shrunk || lost_half(b->shrunk_to, entries)) {
		/* The first of its size. A list that shrank again starts over. */
		b->shrunk = true;
		b->shrunk_to = entries;
		b->shrunk_ms = now_ms;
	} else if (now_ms - b->shrunk_ms >= BRAKE_CONFIRM_MS) {
		b->accepted = entries;
		b->shrunk = false;
	}
}

void
brake_deleted(struct brake *b)
{
	if (b->accepted > 0)
		b->accepted--;
}

struct brake_verdict
brake_check(const struct brake *b, bool mirror_fresh, int64_t now_ms)
{
	MUST(b->most > 0);
	if (!mirror_fresh)
		return (struct brake_verdict){ BRAKE_STALE, INT64_MAX };
	if (!b->listed)
		return (struct brake_verdict){ BRAKE_UNREAD, INT64_MAX };
	if (b->shrunk)
		return (struct brake_verdict){ BRAKE_SHRUNK, INT64_MAX };
	if (b->ncalls == b->most && now_ms - b->calls[b->next] < b->window_ms)
		return (struct brake_verdict){ BRAKE_RATE, b->calls[b->next] + b->window_ms };
	return (struct brake_verdict){ BRAKE_RELEASED, 0 };
}

void
brake_called(struct brake *b, int64_t now_ms)
{
	MUST(b->ncalls < b->most || now_ms - b->calls[b->next] >= b->window_ms);
	b->calls[b->next] = now_ms;		/* the oldest of the last `most` makes room */
	b->next = (b->next + 1) % b->most;
	if (b->ncalls < b->most)
		b->ncalls++;
}

const char *
brake_label(enum brake_reason r)
{
	return (unsigned)r < BRAKE_REASON_MAX ? reasons[r].label : "?";
}

const char *
brake_text(enum brake_reason r)
{
	return (unsigned)r < BRAKE_REASON_MAX ? reasons[r].text : "?";
}

static bool
lost_half(uint32_t before, uint32_t now)
{
	return before > BRAKE_SMALL && now < before - before / 2;
}
