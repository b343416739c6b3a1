/*
 * actors/kube-watcher/lease.c - leader election. Pure: monotonic time comes in, wall time only passes
 * through.
 */
#include "lease.h"

#include <string.h>

#include "obj.h"
#include "random.h"

static struct lease_step stop_step(struct lease *, int64_t, int64_t);
static struct lease_step lead_step(struct lease *, int64_t, int64_t);
static struct lease_step ask(struct lease *, enum lease_verb, int64_t);
static struct lease_step write_record(
    struct lease *, enum lease_verb, const struct lease_record *, int64_t);
static struct lease_step wait_until(const struct lease *, int64_t, int64_t);
static struct lease_record claim(const struct lease *, int64_t);
static void on_read(struct lease *, enum lease_result, const struct lease_seen *, int64_t);
static void on_written(struct lease *, enum lease_result, const struct lease_seen *, int64_t);
static void on_released(struct lease *, enum lease_result, int64_t);
static void remember(struct lease *, const struct lease_seen *, int64_t);
static void failed_to_write(struct lease *, int64_t);
static void read_later(struct lease *, int64_t);
static bool may_take(const struct lease *, int64_t);
static bool is_ours(const struct lease *);
static bool is_free(const struct lease *);
static bool has_expired(const struct lease *, int64_t);
static bool has_led_long(const struct lease_record *);
static bool is_leading(const struct lease *, int64_t);

void
lease_init(struct lease *l, const struct lease_config *c, uint64_t seed, int64_t now_ms)
{
	const size_t len = strlen(c->identity);

	MUST(len > 0 && len <= LEASE_HOLDER_MAX);
	MUST(!c->elect || c->duration_ms >= LEASE_SHORTEST_MS);
	*l = (struct lease){
		.elect = c->elect, .duration_ms = c->duration_ms, .random = seed,
		.renew_ms = c->duration_ms * 2 / 3, .retry_ms = c->duration_ms * 2 / 15,
		.until_ms = c->elect ? INT64_MIN : INT64_MAX, .since_ms = now_ms, .clean = true,
		.resumed = true, .get_next = true, .next_ms = now_ms,
	};
	memcpy(l->identity, c->identity, len);
}

struct lease_step
lease_next(struct lease *l, int64_t now_ms, int64_t wall_us)
{
	if (l->asked != LEASE_WAIT)
		return wait_until(l, INT64_MAX, now_ms);
	if (l->stopping)
		return stop_step(l, now_ms, wall_us);
	if (!l->elect)
		return (struct lease_step){ .verb = LEASE_WAIT, .at_ms = INT64_MAX };
	if (now_ms < l->next_ms)
		return wait_until(l, l->next_ms, now_ms);
	return lead_step(l, now_ms, wall_us);
}

void
lease_answered(struct lease *l, enum lease_result result, const struct lease_seen *seen, int64_t now_ms)
{
	const enum lease_verb asked = l->asked;

	MUST(asked != LEASE_WAIT && (result != LEASE_OK || seen != NULL));
	l->asked = LEASE_WAIT;
	if (asked == LEASE_GET)
		on_read(l, result, seen, now_ms);
	else if (l->releasing)
		on_released(l, result, now_ms);
	else
		on_written(l, result, seen, now_ms);
}

void
lease_changed(struct lease *l, int64_t now_ms)
{
	if (!l->elect || l->stopping || is_leading(l, now_ms))
		return;
	l->hinted = l->asked == LEASE_GET;	/* its answer may be older than the change */
	l->get_next = true;
	if (l->next_ms > now_ms)
		l->next_ms = now_ms;
}

void
lease_stop(struct lease *l, int64_t now_ms)
{
	l->stopping = true;
	l->until_ms = INT64_MIN;
	l->next_ms = now_ms;
}

struct lease_view
lease_view(const struct lease *l, int64_t now_ms)
{
	return (struct lease_view){
		.leading = is_leading(l, now_ms),
		.holder = l->elect ? l->known && !l->missing ? l->seen.record.holder : "" : l->identity,
		.term = l->term, .since_ms = l->since_ms, .until_ms = l->until_ms, .clean = l->clean,
	};
}

bool
lease_covers(const struct lease *l, int64_t timeout_ms, int64_t now_ms)
{
	return is_leading(l, now_ms) && l->until_ms - now_ms > timeout_ms;
}

int64_t
lease_mutation_ms(const struct lease *l)
{
	const int64_t half_ms = l->renew_ms / 2;

	return l->elect && half_ms < LEASE_MUTATION_MAX_MS ? half_ms : LEASE_MUTATION_MAX_MS;
}

/* ---- The next request ---- */

static struct lease_step
lead_step(struct lease *l, int64_t now_ms, int64_t wall_us)
{
	if (l->get_next)
		return ask(l, LEASE_GET, now_ms);
	if (!may_take(l, now_ms)) {
		if (l->hinted)
			return ask(l, LEASE_GET, now_ms);
		read_later(l, now_ms);
		return wait_until(l, l->next_ms, now_ms);
	}
	const struct lease_record r = claim(l, wall_us);
	return write_record(l, l->missing ? LEASE_CREATE : LEASE_UPDATE, &r, now_ms);
}

static struct lease_step
stop_step(struct lease *l, int64_t now_ms, int64_t wall_us)
{
	if (l->stopped || !l->elect || !l->known || l->missing || l->release_tries >= LEASE_RELEASE_TRIES
	    || (!l->get_next && !is_ours(l)) || (l->resumed && now_ms - l->since_ms < LEASE_LINGER_MS)) {
		l->stopped = true;
		return (struct lease_step){ .verb = LEASE_STOPPED };
	}
	if (l->get_next)
		return ask(l, LEASE_GET, now_ms);
	const struct lease_record r = {
		.duration_s = 1, .transitions = l->seen.record.transitions, .acquire_us = wall_us,
		.renew_us = wall_us,
	};
	l->releasing = true;
	l->release_tries++;
	return write_record(l, LEASE_UPDATE, &r, now_ms);
}

static struct lease_step
ask(struct lease *l, enum lease_verb verb, int64_t now_ms)
{
	l->asked = verb;
	l->asked_ms = now_ms;
	l->hinted = false;
	return (struct lease_step){ .verb = verb, .timeout_ms = l->renew_ms / 2 };
}

static struct lease_step
write_record(struct lease *l, enum lease_verb verb, const struct lease_record *r, int64_t now_ms)
{
	struct lease_step s = ask(l, verb, now_ms);

	s.record = *r;
	s.rv = verb == LEASE_UPDATE ? l->seen.rv : NULL;
	return s;
}

/* At the latest when leading ends, which has to be published. */
static struct lease_step
wait_until(const struct lease *l, int64_t at_ms, int64_t now_ms)
{
	if (is_leading(l, now_ms) && l->until_ms < at_ms)
		at_ms = l->until_ms;
	return (struct lease_step){ .verb = LEASE_WAIT, .at_ms = at_ms };
}

/* The record that makes us the holder; our own is only renewed. */
static struct lease_record
claim(const struct lease *l, int64_t wall_us)
{
	const struct lease_record *old = &l->seen.record;
	struct lease_record r = {
		.duration_s = l->duration_ms / 1000, .acquire_us = wall_us, .renew_us = wall_us,
	};

	memcpy(r.holder, l->identity, sizeof(r.holder));
	if (is_ours(l) && !l->missing) {
		r.acquire_us = old->acquire_us;
		r.transitions = old->transitions;
	} else if (l->known && old->transitions >= 0 && old->transitions < INT32_MAX) {
		r.transitions = old->transitions + 1;
	}
	return r;
}

/* ---- Answers ---- */

static void
on_read(struct lease *l, enum lease_result result, const struct lease_seen *seen, int64_t now_ms)
{
	if (result != LEASE_OK && result != LEASE_MISSING) {
		l->release_tries += l->stopping;
		read_later(l, now_ms);
		return;
	}
	if (result == LEASE_OK)
		remember(l, seen, now_ms);
	else if (!l->missing)
		l->changed_ms = now_ms;		/* it may have been renewed just before it was deleted */
	if (result == LEASE_OK && !is_ours(l) && is_leading(l, now_ms))
		l->until_ms = now_ms;		/* somebody has taken it from us */
	l->missing = result == LEASE_MISSING;
	l->get_next = false;
	l->got = true;
	l->next_ms = now_ms;
}

/*
 * A renewal counts from when it was sent: later the server cannot have accepted it. An answer that comes too
 * late to go on leading without a gap changes nothing.
 */
static void
on_written(struct lease *l, enum lease_result result, const struct lease_seen *seen, int64_t now_ms)
{
	const int64_t until_ms = l->asked_ms + l->renew_ms;
	const bool was_leading = l->until_ms > l->asked_ms;

	if (result != LEASE_OK || strcmp(seen->record.holder, l->identity) != 0) {
		failed_to_write(l, now_ms);
		return;
	}
	const bool resumed = !l->missing && is_ours(l);
	const bool led_long = has_led_long(&l->seen.record);
	const bool released = l->missing ? !l->known : is_free(l);
	remember(l, seen, now_ms);
	l->missing = false;
	if (l->stopping || now_ms >= until_ms || (was_leading && !is_leading(l, now_ms))) {
		failed_to_write(l, now_ms);
		return;
	}
	if (!was_leading) {
		l->since_ms = now_ms;
		l->resumed = resumed;
		l->clean = resumed ? led_long : released;
	}
	l->term = seen->record.transitions > 0 ? (uint64_t)seen->record.transitions : 0;
	l->until_ms = until_ms;
	l->got = false;
	l->next_ms = l->asked_ms + l->retry_ms;
}

static void
on_released(struct lease *l, enum lease_result result, int64_t now_ms)
{
	l->releasing = false;
	l->stopped = result == LEASE_OK || result == LEASE_MISSING;
	l->get_next = true;
	l->next_ms = now_ms;
}

/* What counts is when *we* saw it change. */
static void
remember(struct lease *l, const struct lease_seen *seen, int64_t now_ms)
{
	if (!l->known || l->missing || seen->digest != l->seen.digest)
		l->changed_ms = now_ms;
	l->known = true;
	l->seen = *seen;
}

/* A blind renewal that failed is followed by a GET at once; one after a GET waits its turn. */
static void
failed_to_write(struct lease *l, int64_t now_ms)
{
	const bool got = l->got;

	read_later(l, now_ms);
	if (!got)
		l->next_ms = now_ms;
}

static void
read_later(struct lease *l, int64_t now_ms)
{
	int64_t delay_ms = l->retry_ms;

	/* So that several who want it do not ask in step: 1 to 2.2 times. */
	if (!is_leading(l, now_ms))
		delay_ms += (int64_t)random_below(&l->random, (uint64_t)(l->retry_ms * 6 / 5 + 1));
	l->get_next = true;
	l->got = false;
	l->next_ms = now_ms + delay_ms;
}

/* ---- What the record means ---- */

/* Whoever held it before it was deleted may still act, and we need not have seen who that was. */
static bool
may_take(const struct lease *l, int64_t now_ms)
{
	if (has_expired(l, now_ms) || !l->known)
		return true;
	return l->missing ? is_leading(l, now_ms) : is_ours(l) || is_free(l);
}

static bool
is_ours(const struct lease *l)
{
	return l->known && strcmp(l->seen.record.holder, l->identity) == 0;
}

static bool
is_free(const struct lease *l)
{
	return !l->known || l->seen.record.holder[0] == '\0';
}

/* The duration in the record, and never less than our own: its writer may not be who acts. */
static bool
has_expired(const struct lease *l, int64_t now_ms)
{
	const int64_t recorded_s = l->seen.record.duration_s;
	const bool longer = recorded_s <= LEASE_SANE_MS / 1000 && recorded_s * 1000 > l->duration_ms;

	return now_ms - l->changed_ms > (longer ? recorded_s * 1000 : l->duration_ms);
}

/* By the holder's own clock: so what the holder before it sent has arrived long ago. */
static bool
has_led_long(const struct lease_record *r)
{
	return r->acquire_us > 0 && r->renew_us - r->acquire_us >= LEASE_CLEAN_US;
}

static bool
is_leading(const struct lease *l, int64_t now_ms)
{
	return l->until_ms > now_ms;
}
