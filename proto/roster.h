/*
 * proto/roster.h - the supervisor's answer to `status`, read and checked: metrics gets it
 * as a record, `muster status` over the control socket.
 *
 * It comes from another process: what is missing or of the wrong type is refused whole. Strings are
 * views, valid until roster_free; they may hold any UTF-8, so whoever prints them escapes them.
 */
#ifndef MUSTER_ROSTER_H
#define MUSTER_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROSTER_ACTORS_MAX = 256, ROSTER_DEATHS_MAX = 16, ROSTER_NAME_MAX = 64, ROSTER_WORDS_MAX = 10 };

struct roster_death {
	const char	*cause;
	int64_t		 count;
};

struct roster_actor {
	const char	*name, *state;
	const char	*last_exit;		/* NULL: it never ended */
	int64_t		 pid, incarnation, restarts, uptime_s, rss_kib, mailbox;
	bool		 synced;
	/* The rest may be absent: NULL, -1, false, none. */
	const char	*status;
	const char	*last_words[ROSTER_WORDS_MAX];	/* lines; after them NULL */
	int64_t		 next_start_ms, beat_age_ms, deaths;
	bool		 core, enabled;		/* enabled, when absent: not "off" */
};

struct roster {
	uint32_t	 magic;
	void		*json;			/* what the strings stand in */
	const char	*state, *version;
	int64_t		 pid, uptime_s;
	struct roster_death deaths[ROSTER_DEATHS_MAX];	/* of all actors, by cause; may be absent */
	size_t		 ndeaths;
	size_t		 nactors;
	struct roster_actor actors[];
};

/* NULL when refused; then why says what is wrong with it. */
struct roster *roster_parse(const char *json, size_t len, char *why, size_t size);
void roster_free(struct roster **tp);

bool roster_running(const struct roster_actor *a);
const struct roster_actor *roster_find(const struct roster *t, const char *name);
/* Everything that should run does: the difference between exit 0 and exit 3 of `muster status`. */
bool roster_healthy(const struct roster *t);

#endif
