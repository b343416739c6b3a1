/*
 * supervisor/peers.c - the records to each actor: its identity, its peers, the log level, the state of
 * the tree.
 *
 * All of it is state, not events: a child that does not read its lifeline now has the latest value
 * sent as soon as it does, and the supervisor never waits for it.
 *
 * A token belongs to one consumer and one producer: only these two get it, in their peer records,
 * never in argv, environment or log. So a producer holds nothing with which another one could be
 * deceived.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "confine.h"
#include "lifeline.h"
#include "links.h"
#include "obj.h"
#include "random.h"
#include "tree.h"

enum { SYSCALLS_TEXT = 64 };

static void syscalls_text(char[SYSCALLS_TEXT], unsigned);
static bool connects_to(const struct child *, const struct child *, bool);
static bool send_peer(const struct child *, const struct child *);
static const char *reachable(const struct child *);
static bool send_tree(const struct child *);
static void token_text(const struct child *, const struct child *, char[TOKEN_HEX + 1]);

void
peers_mint(struct child *consumer)
{
	if (consumer->tokens == NULL)
		consumer->tokens = obj_alloc(CHILD_MAX * sizeof(*consumer->tokens));
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		struct secret *const token = &consumer->tokens[i];

		if (!connects_to(consumer, &consumer->tree->children[i], false))
			continue;
		token->len = TOKEN_BYTES;
		random_secret(token->bytes, TOKEN_BYTES);
	}
}

void
peers_wipe(struct child *consumer)
{
	if (consumer->tokens != NULL)
		explicit_bzero(consumer->tokens, CHILD_MAX * sizeof(*consumer->tokens));
	free(consumer->tokens);
	consumer->tokens = NULL;
}

void
peers_changed(struct child *about)
{
	TREE_EACH(about->tree, to) {
		if (to->pid != 0 && peers_linked(to, about))
			to->peers_dirty |= UINT64_C(1) << about->row->role;
	}
}

bool
peers_boot(struct child *to)
{
	struct tree *const t = to->tree;
	char syscalls[SYSCALLS_TEXT];

	syscalls_text(syscalls, t->deps.own_syscalls ? confine_syscall_sets(to->row) : 0);
	bool ok = lifeline_send(to->lifeline.fd,
	    "boot name=%s incarnation=%llu run-dir=%s level=%s format=%s beat-ms=%lld instance=%s"
	    " syscalls=%s",
	    to->name, (unsigned long long)to->incarnation, t->setup.run_dir, log_level_name(to->level),
	    t->setup.format == LOG_JSON ? "json" : "console", (long long)t->specs->beat_ms, t->instance,
	    syscalls);

	ok = ok && lifeline_send(to->lifeline.fd, "config %s", to->spec->config);
	TREE_EACH(t, about) {
		if (about->spec->enabled && peers_linked(to, about))
			ok = ok && send_peer(to, about);
	}
	to->tree_dirty = to->row->receives_tree;
	return ok && lifeline_send(to->lifeline.fd, "go");
}

void
peers_flush(struct child *to)
{
	struct tree *const t = to->tree;
	bool taken = true;

	if (to->lifeline.fd == -1)
		return;
	for (unsigned i = 0; taken && to->peers_dirty != 0 && i < CHILD_MAX; i++) {
		const uint64_t bit = UINT64_C(1) << child_table[i].role;

		if ((to->peers_dirty & bit) != 0 && (taken = send_peer(to, &t->children[i])))
			to->peers_dirty &= ~bit;
	}
	if (taken && to->level_dirty
	    && (taken = lifeline_send(to->lifeline.fd, "level %s", log_level_name(to->level))))
		to->level_dirty = false;
	if (taken && to->tree_dirty && (taken = send_tree(to)))
		to->tree_dirty = false;
	watch_events(&to->lifeline, taken ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

void
peers_flush_all(struct tree *t)
{
	TREE_EACH(t, ch) {
		if (ch->peers_dirty != 0 || ch->level_dirty || ch->tree_dirty)
			peers_flush(ch);
	}
}

bool
peers_linked(const struct child *a, const struct child *b)
{
	return connects_to(a, b, false) || connects_to(b, a, false);
}

bool
peers_reads(const struct child *consumer, const struct child *producer)
{
	return connects_to(consumer, producer, true);
}

/* As `syscalls` in the record `boot`. */
static void
syscalls_text(char text[SYSCALLS_TEXT], unsigned sets)
{
	static const struct {
		const char	*name;
		unsigned	 bit;
	} rows[] = {
#define SET_ROW(ID, text, bit_) { "," text, SYSCALL_SET_##ID },
		SYSCALL_SETS(SET_ROW)
	};
	char *at = stpcpy(text, sets == 0 ? "any" : "own");

	for (size_t i = 0; i < NITEMS(rows); i++) {
		if ((sets & rows[i].bit) != 0)
			at = stpcpy(at, rows[i].name);
	}
}

static bool
connects_to(const struct child *from, const struct child *to, bool only_gating)
{
	for (unsigned l = 0; l < LINK_MAX; l++) {
		if ((link_table[l].gating || !only_gating) && link_binds((enum link)l, to->row->role)
		    && link_connects((enum link)l, from->row->role))
			return true;
	}
	return false;
}

static bool
send_peer(const struct child *to, const struct child *about)
{
	char expected[TOKEN_HEX + 1], presented[TOKEN_HEX + 1];

	token_text(about, to, expected);
	token_text(to, about, presented);
	const bool ok = lifeline_send(to->lifeline.fd, "peer %s %llu %s %s %s", about->name,
	    (unsigned long long)about->incarnation, expected, presented, reachable(about));
	explicit_bzero(expected, sizeof(expected));
	explicit_bzero(presented, sizeof(presented));
	if (ok)
		log_debug("peer record sent", KV_S(ACTOR, to->name), KV_S(PEER, about->name),
		    KV_I(INCARNATION, about->incarnation), KV_S(STATE, reachable(about)));
	return ok;
}

static const char *
reachable(const struct child *ch)
{
	if (ch->pid != 0 && ch->bound_ms != 0)
		return "up";
	return ch->pid != 0 || ch->spec->enabled ? "down" : "off";
}

static bool
send_tree(const struct child *to)
{
	static char json[LIFELINE_MAX - sizeof("tree ")];

	if (status_json(to->tree, json, sizeof(json)) == 0)
		return true;	/* it does not fit a record; the next, smaller one will */
	return lifeline_send(to->lifeline.fd, "tree %s", json);
}

/* What the consumer presents to the producer, as hexadecimal; "-": it may not connect, or has no process. */
static void
token_text(const struct child *consumer, const struct child *producer, char out[TOKEN_HEX + 1])
{
	static const char digits[] = "0123456789abcdef";
	const struct secret *const s =
	    consumer->tokens == NULL ? NULL : &consumer->tokens[child_find(producer->row->role)];

	if (s == NULL || s->len == 0) {
		memcpy(out, "-", sizeof("-"));
		return;
	}
	for (size_t i = 0; i < TOKEN_BYTES; i++) {
		out[2 * i] = digits[s->bytes[i] >> 4];
		out[2 * i + 1] = digits[s->bytes[i] & 15];
	}
	out[TOKEN_HEX] = '\0';
}
