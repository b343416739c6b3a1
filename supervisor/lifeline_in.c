/* supervisor/lifeline_in.c - receives the records of actors and handles them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "actor_query.h"
#include "lifeline.h"
#include "links.h"
#include "obj.h"
#include "tree.h"

enum {
	RECORDS_PER_TURN = 32,		/* of one actor; then the others have their turn */
	RECORDS_LAST     = 1024,	/* of a dead child */
};

static bool receive_record(struct child *);
typedef void handler(struct child *, const struct note *);
static handler on_bound, on_synced, on_beat, on_report, on_extend, on_status, on_answer;
static void bad_record(struct child *);

static handler *const handlers[NOTE_MAX] = {
	[NOTE_BOUND] = on_bound, [NOTE_SYNCED] = on_synced, [NOTE_UNSYNCED] = on_synced,
	[NOTE_BEAT] = on_beat, [NOTE_REPORT] = on_report, [NOTE_EXTEND] = on_extend,
	[NOTE_STATUS] = on_status, [NOTE_ANSWER] = on_answer,
};

void
lifeline_in_ready(void *child, uint32_t events)
{
	struct child *const ch = child;

	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
		for (int i = 0; i < RECORDS_PER_TURN && receive_record(ch); i++)
			;
	}
	if ((events & EPOLLOUT) != 0)
		peers_flush(ch);
}

void
lifeline_in_drain(struct child *ch)
{
	for (int i = 0; i < RECORDS_LAST && receive_record(ch); i++)
		;
}

/* False: there is no record now. After an end of file the watchdog decides about the process. */
static bool
receive_record(struct child *ch)
{
	static char record[LIFELINE_MAX + 1];
	struct note note;

	if (ch->lifeline.fd == -1)
		return false;
	const long len = lifeline_recv(ch->lifeline.fd, record, sizeof(record));
	if (len == 0 || (len == -1 && errno != EAGAIN && errno != EMSGSIZE)) {
		watch_close(&ch->lifeline);
		return false;
	}
	if (len == -1 && errno == EAGAIN)
		return false;
	if (len == -1 || !notify_parse(record, (size_t)len, &note))
		bad_record(ch);
	else
		handlers[note.kind](ch, &note);
	return true;
}

static void
on_bound(struct child *ch, const struct note *n)
{
	(void)n;
	act_feed(ch, EV_BOUND);
}

static void
on_synced(struct child *ch, const struct note *n)
{
	const bool synced = n->kind == NOTE_SYNCED;

	if (ch->synced == synced)
		return;
	ch->synced = synced;
	ch->tree->changed = true;
	log_info(synced ? "actor is synced" : "actor lost its sync", KV_S(ACTOR, ch->name),
	    KV_I(INCARNATION, ch->incarnation), KV_I(UPTIME_MS, ch->tree->now_ms - ch->started_ms));
}

static void
on_beat(struct child *ch, const struct note *n)
{
	ch->beat_ms = ch->tree->now_ms;
	ch->mailbox = n->number;
}

static void
on_status(struct child *ch, const struct note *n)
{
	if (strcmp(ch->status, n->text) == 0)
		return;
	memcpy(ch->status, n->text, sizeof(ch->status));
	ch->tree->text_changed = true;
}

static void
on_answer(struct child *ch, const struct note *n)
{
	actor_query_answer(ch, n->number, n->body, n->body_len);
}

/*
 * A peer that proved who it is and then sent what it may not: the sender is restarted, the reporter
 * lives on. A reporter that goes on beyond the limit may be the broken one: then it is restarted
 * itself. `-` is a sender without a session: it is logged, and nobody can be blamed.
 */
static void
on_report(struct child *ch, const struct note *n)
{
	struct child *const who = n->role == ROLE_NONE ? NULL : tree_child(ch->tree, n->role);

	if (n->role == ROLE_NONE) {
		ch->tree->unknown_senders++;
		log_warnx("a sender without a session sent a bad frame", KV_S(ACTOR, ch->name),
		    KV_S(REASON, n->text));
		return;
	}
	if (who == NULL || who == ch || who->pid == 0 || who->incarnation != n->number
	    || !peers_linked(ch, who)) {
		log_warnx("report ignored: it names no running peer of the reporter", KV_S(ACTOR, ch->name),
		    KV_S(PEER, role_name(n->role)), KV_I(INCARNATION, n->number), KV_S(REASON, n->text));
		return;
	}
	if (!policy_report_allowed(&ch->reports[child_find(n->role)], ch->tree->now_ms)) {
		log_warnx("actor reports the same peer too often; the reporter restarts, not the peer",
		    KV_S(ACTOR, ch->name), KV_I(INCARNATION, ch->incarnation), KV_S(PEER, who->name),
		    KV_S(REASON, n->text), KV_I(LIMIT, POLICY_REPORTS));
		act_feed(ch, EV_REPORT_LIMIT);
		return;
	}
	log_warnx("actor was reported by a peer; restarting it", KV_S(ACTOR, who->name),
	    KV_I(INCARNATION, n->number), KV_S(PEER, ch->name), KV_S(REASON, n->text));
	act_feed(who, EV_REPORTED);
}

static void
on_extend(struct child *ch, const struct note *n)
{
	const struct tree *const t = ch->tree;

	if ((ch->state != ST_STOPPING && ch->state != ST_CYCLING) || ch->extended || t->killed_all)
		return;
	const int64_t left_ms = t->stopping ? t->stop_by_ms - ch->deadline_ms : -1;
	const int64_t more_ms =
	    policy_extend_ms((int64_t)n->number, tree_later_ms(t, ch->row->stop_stage), left_ms);

	ch->extended = true;
	ch->deadline_ms += more_ms;
	log_info("actor requested more time to stop", KV_S(ACTOR, ch->name), KV_I(DURATION_MS, n->number),
	    KV_I(LIMIT, more_ms));
}

/* Logged once per incarnation: a flood of them must not become a flood of lines. */
static void
bad_record(struct child *ch)
{
	if (ch->bad_records++ == 0)
		log_warnx("malformed lifeline record",
		    KV_S(ACTOR, ch->name), KV_I(PID, ch->pid), KV_I(INCARNATION, ch->incarnation));
}
