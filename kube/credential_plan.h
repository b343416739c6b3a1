/*
 * kube/credential_plan.h - when to read what again. Pure: times of the monotonic clock in ms, handed in.
 *
 * Files: every 60 s and at once after a 401, but not twice within a second. A plugin: when nothing is
 * held, shortly before the held credential ends, and after a 401; not twice within 10 s of its own last
 * answer (a burst of 401s for one old token is one refusal), and after failures with growing pauses.
 */
#ifndef MUSTER_CREDENTIAL_PLAN_H
#define MUSTER_CREDENTIAL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CREDENTIAL_FILES_MS      = 60 * 1000,
	CREDENTIAL_FILES_MIN_MS  = 1000,
	CREDENTIAL_LEEWAY_MS     = 10 * 1000,	/* before the end, as client-go */
	CREDENTIAL_PLUGIN_MIN_MS = 10 * 1000,
	CREDENTIAL_FRESH_MS      = 10 * 1000,	/* so long a 401 may be about what was held before */
	CREDENTIAL_RETRY_MS      = 1000,	/* doubles ... */
	CREDENTIAL_RETRY_MAX_MS  = 60 * 1000,	/* ... up to this */
};
#define CREDENTIAL_NEVER	INT64_MAX

/* Bits of what is due. */
enum { CREDENTIAL_DUE_FILES = 1, CREDENTIAL_DUE_PLUGIN = 2 };

struct credential_times {
	bool	has_files, has_plugin;
	bool	running;		/* the plugin is */
	int64_t	files_at;		/* read last */
	bool	files_refused, plugin_refused;	/* by a 401, and not read or run again since */
	int64_t	answered_at;		/* the plugin's last answer; -1: none is held */
	int64_t	expires_at;		/* of that answer; CREDENTIAL_NEVER: unknown */
	int64_t	failed_at;
	int	failures;		/* in a row */
};

unsigned credential_due(const struct credential_times *t, int64_t now_ms);
/*
 * The end of an answer on the monotonic clock. A wrong wall clock must not end it at once: it lives
 * at least 10 s.
 */
int64_t credential_expiry(int64_t now_ms, int64_t wall_us, int64_t expires_us);

#endif
