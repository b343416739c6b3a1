/*
 * actors/runtime/actor_identity.c - what an actor was started with: its name, directory, loop and settings.
 * Apart from actor.c, which has the process, because the simulated runtime (tests/dst) uses it, too.
 */
#include <stdlib.h>
#include <string.h>

#include "actor_private.h"
#include "obj.h"

enum role
actor_role(const struct actor *a)
{
	return a->boot.role;
}

uint64_t
actor_incarnation(const struct actor *a)
{
	return a->boot.incarnation;
}

const char *
actor_run_dir(const struct actor *a)
{
	return a->boot.run_dir;
}

const char *
actor_instance(const struct actor *a)
{
	return a->boot.instance;
}

struct event_base *
actor_base(struct actor *a)
{
	return a->base;
}

const char *
actor_setting(const struct actor *a, const char *key)
{
	const char *value = settings_get(a->settings, key);

	MUST(value != NULL);	/* the supervisor sends every key of the schema */
	return value;
}

int64_t
actor_setting_i64(const struct actor *a, const char *key)
{
	const char *value = actor_setting(a, key);

	if (strcmp(value, "true") == 0)
		return 1;
	return strtoll(value, NULL, 10);	/* "false" is 0; numbers were checked by the configuration */
}
