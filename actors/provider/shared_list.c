/* actors/provider/shared_list.c - the rules of shared_list.h. */
#include "shared_list.h"

#include "obj.h"

void
shared_list_open(struct shared_list *s)
{
	*s = (struct shared_list){ .waiting = keytab_new(0) };
}

void
shared_list_close(struct shared_list *s)
{
	keytab_free(&s->waiting);
}

bool
shared_list_usable(const struct shared_list *s, uint64_t after, int64_t max_age_ms, int64_t now_ms)
{
	return s->number > after && now_ms - s->began_ms < max_age_ms;
}

void
shared_list_join(struct shared_list *s, const struct work *w, struct reconcile_step *step, int64_t now_ms)
{
	if (!s->in_flight && now_ms >= s->pause_ms)
		return;
	step->form = STEP_WAIT;
	step->verb = "wait";
	step->after_ms = s->in_flight ? 0 : s->pause_ms - now_ms;
	step->why = s->in_flight ? "a list is in flight" : "the last list failed";
	if (s->in_flight)
		keytab_add(s->waiting, w->key, w->len, NULL);
}

void
shared_list_begin(struct shared_list *s, int64_t now_ms)
{
	MUST(!s->in_flight);
	s->in_flight = true;
	s->begun++;
	s->begins_ms = now_ms;
}

void
shared_list_end(struct shared_list *s, struct actor *a, bool complete, bool retry, int64_t now_ms)
{
	MUST(s->in_flight);
	s->in_flight = false;
	if (complete) {
		s->number = s->begun;
		s->began_ms = s->begins_ms;
	}
	if (complete || retry) {
		s->failures = 0;
		s->pause_ms = 0;
	} else {
		const int64_t pause_ms = (int64_t)LIST_RETRY_MIN_MS << (s->failures < 6 ? s->failures : 6);

		s->failures++;
		s->pause_ms = now_ms + (pause_ms < LIST_RETRY_MAX_MS ? pause_ms : LIST_RETRY_MAX_MS);
	}
	KEYTAB_EACH(s->waiting, id) {
		size_t len;
		const char *const key = keytab_key(s->waiting, id, &len);

		actor_enqueue(a, key, len, WORK_LIVE, 0);
		keytab_remove(s->waiting, id);
	}
}
