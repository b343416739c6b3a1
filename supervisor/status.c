/*
 * supervisor/status.c - the tree as JSON, for `muster status` and for the actors that receive it.
 *
 * Other people's scripts read the first keys of each object: never rename or drop one, new ones go
 * behind them.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "needs.h"
#include "log_writer.h"
#include "tree.h"
#include "version.h"

/* One entry of the list of deaths, and one actor without its last lines, takes less. */
enum { DEATH_BYTES = 256, ACTOR_BYTES = 1024 };

static bool shown(const struct child *);
static void put_supervisor(struct json *, const struct tree *);
static void put_child(struct json *, const struct child *, size_t);
static void put_words(struct json *, const struct child *, size_t);
static void put_needs(struct json *, enum role);
static void put_deaths(struct json *, const struct tree *);

size_t
status_json(const struct tree *t, char *buf, size_t size)
{
	struct json j = { .buf = buf, .size = size };

	json_open(&j, NULL, '{');
	put_supervisor(&j, t);
	json_open(&j, "actors", '[');
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		if (shown(&t->children[i]))
			put_child(&j, &t->children[i], (CHILD_MAX - i) * ACTOR_BYTES);
	}
	json_close(&j, ']');
	put_deaths(&j, t);
	json_close(&j, '}');
	return json_end(&j);
}

/* Off, never ran, and not in the configuration: not shown. */
static bool
shown(const struct child *ch)
{
	return ch->spec->enabled || ch->incarnation > 0 || ch->row->default_on
	    || config_mentioned(ch->tree->config, ch->name);
}

static void
put_supervisor(struct json *j, const struct tree *t)
{
	json_open(j, "supervisor", '{');
	json_int(j, "pid", getpid());
	json_str(j, "state", tree_state_name(t));
	json_int(j, "uptime_s", (t->now_ms - t->started_ms) / 1000);
	json_str(j, "version", MUSTER_VERSION);

	json_bool(j, "confined", t->deps.confine);
	json_bool(j, "syscalls_restricted", t->deps.own_syscalls);
	json_int(j, "log_lines_dropped", (int64_t)log_writer.dropped);
	json_int(j, "unknown_senders", (int64_t)t->unknown_senders);
	json_int(j, "deaths", (int64_t)t->tally.total);
	json_open(j, "deaths_by_cause", '{');
	for (unsigned c = 0; c < CAUSE_MAX; c++) {
		if (policy_cause_is_death((enum cause)c))
			json_int(j, policy_cause_name((enum cause)c), (int64_t)t->tally.count[c]);
	}
	json_close(j, '}');
	json_close(j, '}');
}

/* reserve: bytes that are kept for what comes behind it. */
static void
put_child(struct json *j, const struct child *ch, size_t reserve)
{
	const int64_t now_ms = ch->tree->now_ms;
	const bool lives = ch->pid != 0;
	const bool due = ch->state == ST_BACKOFF && ch->deadline_ms > now_ms;

	json_open(j, NULL, '{');
	json_str(j, "name", ch->name);
	json_int(j, "pid", ch->pid);
	json_str(j, "state", fsm_state_name(ch->state));
	json_int(j, "incarnation", (int64_t)ch->incarnation);
	json_int(j, "restarts", ch->incarnation > 0 ? (int64_t)ch->incarnation - 1 : 0);
	json_str(j, "last_exit", ch->last_exit[0] != '\0' ? ch->last_exit : NULL);
	json_int(j, "uptime_s", lives ? (now_ms - ch->started_ms) / 1000 : 0);
	json_int(j, "rss_kib", child_rss_kib(ch));
	json_bool(j, "synced", ch->synced);
	json_int(j, "mailbox", (int64_t)ch->mailbox);

	json_bool(j, "enabled", ch->spec->enabled);
	json_int(j, "stage", ch->row->stage);
	json_bool(j, "core", ch->row->core);
	json_int(j, "deaths", (int64_t)ch->deaths);
	json_int(j, "next_start_ms", due ? ch->deadline_ms - now_ms : 0);
	json_int(j, "beat_age_ms", lives && ch->beat_ms != 0 ? now_ms - ch->beat_ms : 0);
	json_int(j, "bad_records", (int64_t)ch->bad_records);
	json_str(j, "level", log_level_name(ch->level));
	json_str(j, "status", ch->status);
	put_needs(j, ch->row->role);
	if (ch->last_output[0] != '\0')
		put_words(j, ch, reserve);
	json_close(j, '}');
}

/* All of them or none: the last lines of one actor must not take the room of the others. */
static void
put_words(struct json *j, const struct child *ch, size_t reserve)
{
	struct json with = *j;
	const char *words = ch->last_output;

	with.size = j->size > reserve + j->len ? j->size - reserve : j->len;
	json_open(&with, "last_output", '[');
	for (size_t len; *words != '\0'; words += len + (words[len] == '\n')) {
		len = strcspn(words, "\n");
		json_strn(&with, NULL, words, len);
	}
	json_close(&with, ']');
	if (with.full)
		return;
	with.size = j->size;
	*j = with;
}

static void
put_needs(struct json *j, enum role who)
{
	const uint64_t needs = needs_of(who);

	json_open(j, "needs", '[');
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if ((needs >> r & 1) != 0)
			json_str(j, NULL, role_name((enum role)r));
	}
	json_close(j, ']');
}

/* The latest first, as many as fit. */
static void
put_deaths(struct json *j, const struct tree *t)
{
	const struct death *d;

	json_open(j, "last_deaths", '[');
	for (unsigned i = 0; (d = tally_last(&t->tally, i)) != NULL && j->size - j->len > DEATH_BYTES; i++) {
		json_open(j, NULL, '{');
		json_str(j, "name", role_name(d->role));
		json_int(j, "incarnation", (int64_t)d->incarnation);
		json_str(j, "cause", policy_cause_name(d->cause));
		json_int(j, "uptime_ms", d->uptime_ms);
		json_int(j, "age_s", (t->now_ms - d->at_ms) / 1000);
		json_close(j, '}');
	}
	json_close(j, ']');
}
