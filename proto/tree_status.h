/*
 * proto/tree_status.h - the supervisor's answer to `status`, read and checked: metrics gets it
 * as a record, `muster status` over the control socket.
 *
 * It comes from another process: what is missing or of the wrong type is refused whole. Strings are
 * views, valid until tree_status_free; they may hold any UTF-8, so whoever prints them escapes them.
 */
#ifndef MUSTER_TREE_STATUS_H
#define MUSTER_TREE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TREE_STATUS_ACTORS_MAX = 256,
	TREE_STATUS_DEATHS_MAX = 16,
	TREE_STATUS_NAME_MAX = 64,
	TREE_STATUS_OUTPUT_MAX = 10
};

struct tree_status_death {
	const char	*cause;
	int64_t		 count;
};

struct tree_status_actor {
	const char	*name, *state;
	const char	*last_exit;		/* NULL: it never ended */
	int64_t		 pid, incarnation, restarts, uptime_s, rss_kib, mailbox;
	bool		 synced;
	/* The rest may be absent: NULL, -1, false, none. */
	const char	*status;
	const char	*last_output[TREE_STATUS_OUTPUT_MAX];	/* lines; after them NULL */
	int64_t		 next_start_ms, beat_age_ms, deaths;
	bool		 core, enabled;		/* enabled, when absent: not "off" */
};

struct tree_status {
	uint32_t	 magic;
	void		*json;			/* what the strings stand in */
	const char	*state, *version;
	int64_t		 pid, uptime_s;
	struct tree_status_death deaths[TREE_STATUS_DEATHS_MAX];	/* by cause; may be none */
	size_t		 ndeaths;
	size_t		 nactors;
	struct tree_status_actor actors[];
};

/* NULL when refused; then `why` has the cause. */
struct tree_status *tree_status_parse(const char *json, size_t len, char *why, size_t size);
void tree_status_free(struct tree_status **tp);

bool tree_status_running(const struct tree_status_actor *a);
const struct tree_status_actor *tree_status_find(const struct tree_status *t, const char *name);
/* Everything that should run does: the difference between exit 0 and exit 3 of `muster status`. */
bool tree_status_healthy(const struct tree_status *t);

#endif
