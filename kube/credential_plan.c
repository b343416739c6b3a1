/* kube/credential_plan.c - when to read what again. Pure. */
#include "credential_plan.h"

#include "time.h"

static int64_t next_files(const struct credential_times *);
static int64_t next_plugin(const struct credential_times *);
static int64_t pause_after(int);

unsigned
credential_due(const struct credential_times *t, int64_t now_ms)
{
	return (next_files(t) <= now_ms ? CREDENTIAL_DUE_FILES : 0u)
	    | (next_plugin(t) <= now_ms ? CREDENTIAL_DUE_PLUGIN : 0u);
}

int64_t
credential_expiry(int64_t now_ms, int64_t wall_us, int64_t expires_us)
{
	if (expires_us == TIME_UNSET_US)
		return CREDENTIAL_NEVER;
	const int64_t left_ms = (expires_us - wall_us) / 1000;
	return now_ms + (left_ms > CREDENTIAL_PLUGIN_MIN_MS ? left_ms : CREDENTIAL_PLUGIN_MIN_MS);
}

static int64_t
next_files(const struct credential_times *t)
{
	if (!t->has_files)
		return CREDENTIAL_NEVER;
	return t->files_at + (t->files_refused ? CREDENTIAL_FILES_MIN_MS : CREDENTIAL_FILES_MS);
}

static int64_t
next_plugin(const struct credential_times *t)
{
	if (!t->has_plugin || t->running)
		return CREDENTIAL_NEVER;
	if (t->failures > 0)
		return t->failed_at + pause_after(t->failures);
	if (t->answered_at < 0)
		return INT64_MIN;
	const int64_t earliest = t->answered_at + CREDENTIAL_PLUGIN_MIN_MS;
	if (t->plugin_refused)
		return earliest;
	if (t->expires_at == CREDENTIAL_NEVER)
		return CREDENTIAL_NEVER;
	const int64_t renew = t->expires_at - CREDENTIAL_LEEWAY_MS;
	return renew > earliest ? renew : earliest;
}

static int64_t
pause_after(int failures)
{
	int64_t ms = CREDENTIAL_RETRY_MS;

	while (--failures > 0 && ms < CREDENTIAL_RETRY_MAX_MS)
		ms *= 2;
	return ms < CREDENTIAL_RETRY_MAX_MS ? ms : CREDENTIAL_RETRY_MAX_MS;
}
