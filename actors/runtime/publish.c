/* actors/runtime/publish.c - an actor's metrics are keyed state like everything else: one key per series. */
#include <stdio.h>
#include <string.h>

#include "actor_private.h"
#include "log.h"
#include "obj.h"

static void publish(const struct stat_view *, void *);
static void deliver_own(struct actor *, const char *, const union msg_body *, bool);

void
stats_publish(struct actor *a)
{
	stat_changed(publish, a);
}

static void
publish(const struct stat_view *v, void *arg)
{
	struct actor *a = arg;
	char key[LINK_STORE_KEY_MAX + 1];
	const union msg_body body = { .stat = {
		.family = wire_str_of(v->family), .kind = (uint64_t)v->kind, .help = wire_str_of(v->help),
		.labels = wire_str_of(v->labels), .value = v->value, .count = v->count,
		.buckets = { .p = v->buckets, .len = (uint32_t)v->nbuckets },
	} };

	const int n = snprintf(key, sizeof(key), "%s{%s}", v->family, v->labels);
	if (n < 0 || (size_t)n >= sizeof(key)) {
		log_warnx("series has too long a name and is not published", KV_S(KEY, v->family));
		return;
	}
	deliver_own(a, key, &body, v->gone);
	if (v->gone)
		actor_retract(a, LINK_STATS, key, 0);
	else
		MUST(actor_publish(a, LINK_STATS, key, "", "", MSG_STAT, &body, 0) == E_OK);
}

/* The actor that collects stats has a mirror of every other; its own series are dispatched directly. */
static void
deliver_own(struct actor *a, const char *key, const union msg_body *body, bool gone)
{
	if (!link_connects(LINK_STATS, a->boot.role))
		return;
	const struct change c = {
		.kind = gone ? CHANGE_GONE : CHANGE_UPDATED, .link = LINK_STATS, .from = a->boot.role,
		.key = wire_str_of(key), .uid = wire_str_of(""), .rv = wire_str_of(""),
		.type = MSG_STAT, .value = body,
	};
	actor_dispatch(a, &c);
}
