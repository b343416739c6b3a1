/* actors/provider/intent.c - the rules of intent.h. Pure. */
#include "intent.h"

#include "kube/time.h"

_Static_assert(TIME_TEXT_MAX + 1 + 16 <= INTENT_TEXT_MAX, "the text of an intent");

void
intent_begin(struct intent *i, const struct fence_lease *lease, int64_t cluster_us, uint64_t unique)
{
	*i = (struct intent){ .since_ms = lease->since_ms };
	size_t len = time_format(cluster_us, i->text, sizeof(i->text));
	i->text[len++] = ' ';
	for (unsigned shift = 64; shift > 0; shift -= 4)
		i->text[len++] = "0123456789abcdef"[unique >> (shift - 4) & 0xf];
	i->text[len] = '\0';
}

void
intent_called(struct intent *i, bool unknown, int64_t now_ms)
{
	i->sent = unknown;
	i->settled_ms = now_ms + FENCE_SETTLE_MS;
}

void
intent_end(struct intent *i)
{
	i->ended = true;
}

enum intent_state
intent_state(const struct intent *i, struct wire_str stored, const struct fence_lease *lease)
{
	if (stored.len == 0)
		return INTENT_NONE;
	/* Another may have led in between, and have sent the call under this intent or one that followed. */
	const bool ours = wire_str_is(stored, i->text) && lease->since_ms == i->since_ms;
	if (ours && i->ended)
		return INTENT_ENDED;
	return ours && !i->sent ? INTENT_OPEN : INTENT_SENT;
}

int64_t
intent_settled_ms(const struct intent *i, const struct fence_lease *lease, int64_t started_ms)
{
	const int64_t others_ms = fence_settled_ms(lease, started_ms);

	return i->sent && i->settled_ms > others_ms ? i->settled_ms : others_ms;
}
