/* supervisor/spec.c - child specs from the checked configuration. */
#include "spec.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "actors/provider/fence.h"
#include "config/value.h"
#include "err.h"
#include "lifeline.h"
#include "log.h"
#include "obj.h"
#include "settings_check.h"
#include "spec_paths.h"
#include "watch.h"

/* The section and the settings of leader election, as errors name them. */
#define WATCHER		"kube-watcher"
#define LEADER_ELECT	"leader-elect"
#define LEASE_DURATION	"leader-elect-lease-duration"

static bool check_lease(const struct config *, uint64_t, char *, size_t);
static bool decide(const struct config *, struct spec_set *, char *, size_t);
static bool fill(const struct config *, const struct spec_search *, enum child_id, struct spec_set *,
    char *, size_t);
static bool supervisor_settings(const struct config *, uid_t, struct spec_set *, char *, size_t);
static bool set_user(const struct config *, uid_t, struct spec_set *, char *, size_t);
static char *find_program(const struct spec_search *, const char *);
static void warn_memory(const struct spec_set *);
static const char *file_of(const struct config *);

struct spec_set *
spec_load(const struct config *c, const struct spec_search *s, char *err, size_t size)
{
	struct spec_set *set;

	OBJ_NEW(set, SPEC_SET_MAGIC);
	bool ok = decide(c, set, err, size) && supervisor_settings(c, s->euid, set, err, size);
	for (unsigned i = 0; ok && i < CHILD_MAX; i++) {
		if (set->children[i].enabled)
			ok = fill(c, s, (enum child_id)i, set, err, size);
	}
	if (!ok) {
		spec_free(&set);
		return NULL;
	}
	if (set->confine)
		spec_paths_warn(set);
	warn_memory(set);
	return set;
}

void
spec_free(struct spec_set **sp)
{
	struct spec_set *set;

	if (*sp == NULL)
		return;
	OBJ_TAKE(set, sp, SPEC_SET_MAGIC);
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		free(set->children[i].program);
		free(set->children[i].config);
		for (size_t p = 0; p < set->children[i].npaths; p++)
			free(set->children[i].paths[p].dir);
	}
	OBJ_FREE(set);
}

bool
spec_actors(const struct config *c, struct needs_answer *out, char *err, size_t size)
{
	uint64_t wanted = 0, forbidden = 0;

	for (unsigned i = 0; i < CHILD_MAX; i++) {
		const enum role r = child_table[i].role;
		const enum config_enabled set = config_enabled(c, role_name(r));

		if (set == CONFIG_ON || (set == CONFIG_UNSET && child_table[i].default_on))
			wanted |= UINT64_C(1) << r;
		if (set == CONFIG_OFF)
			forbidden |= UINT64_C(1) << r;
	}
	if (!needs_resolve(needs_table, wanted, forbidden, out)) {
		const struct need *const n = &out->conflict;

		return err_refuse(err, size, "%s:%d: actor %s needs %s (%s), which is switched off here; "
		    "enable %s or disable %s", file_of(c), config_enabled_line(c, role_name(n->needs)),
		    role_name(n->who), role_name(n->needs), n->why, role_name(n->needs), role_name(n->who));
	}
	return check_lease(c, out->enabled, err, size) && settings_check(c, out->enabled, err, size);
}

/*
 * A mutation starts only if the lease outlives its timeout, and a leader acts for 2/3 of the lease: with a
 * shorter one no mutation would ever start (contract A8).
 */
static bool
check_lease(const struct config *c, uint64_t enabled, char *err, size_t size)
{
	const int64_t lease_ms = config_get_i64(c, WATCHER, LEASE_DURATION);
	char lease[32], call[32], least[32];

	if (config_get_i64(c, WATCHER, LEADER_ELECT) == 0 || lease_ms * 2 > FENCE_MUTATION_MS * 3)
		return true;
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		const enum role r = child_table[i].role;

		if (!child_table[i].mutates_provider || (enabled >> r & 1) == 0)
			continue;
		value_print_duration(lease_ms, lease, sizeof(lease));
		value_print_duration(FENCE_MUTATION_MS, call, sizeof(call));
		value_print_duration(FENCE_MUTATION_MS / 2 * 3, least, sizeof(least));
		return err_refuse(err, size, "%s:%d: " WATCHER "." LEASE_DURATION " of %s is too short for "
		    "actor %s: with " WATCHER "." LEADER_ELECT " (line %d) a call that changes something at "
		    "its provider takes up to %s and must end within 2/3 of the lease; set " LEASE_DURATION
		    " to more than %s, or " LEADER_ELECT " to false if there is one replica",
		    file_of(c), config_line(c, WATCHER, LEASE_DURATION), lease, role_name(r),
		    config_line(c, WATCHER, LEADER_ELECT), call, least);
	}
	return true;
}

static bool
decide(const struct config *c, struct spec_set *set, char *err, size_t size)
{
	struct needs_answer answer;

	if (!spec_actors(c, &answer, err, size))
		return false;
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		const enum role r = child_table[i].role;
		const struct need *const n = &answer.because[r];

		set->children[i].enabled = (answer.enabled >> r & 1) != 0;
		if (n->who != ROLE_NONE)
			log_info("actor enabled, because another needs it", KV_S(ACTOR, role_name(r)),
			    KV_S(NEEDS, role_name(n->who)), KV_S(WHY, n->why));
	}
	return true;
}

static bool
supervisor_settings(const struct config *c, uid_t euid, struct spec_set *set, char *err, size_t size)
{
	set->beat_ms = config_get_i64(c, "supervisor", "beat-interval");
#ifdef MUSTER_SANITIZE
	/* Everything is several times slower here; a value that somebody chose stays. */
	if (config_line(c, "supervisor", "beat-interval") == 0)
		set->beat_ms *= 3;
#endif
	set->stop_ms = config_get_i64(c, "supervisor", "stop-timeout");
	const char *const confine = config_get(c, "supervisor", "confine");
	set->confine = strcmp(confine, "none") != 0;
#ifndef MUSTER_SANITIZE		/* LeakSanitizer traces all threads when a process ends */
	set->own_syscalls = strcmp(confine, "seccomp") == 0;
#endif
	return set_user(c, euid, set, err, size);
}

/*
 * Root has to choose: Landlock does not judge who connects to a socket, so an actor that runs as
 * root can reach every daemon of the machine that trusts root.
 */
static bool
set_user(const struct config *c, uid_t euid, struct spec_set *set, char *err, size_t size)
{
	const char *const user = config_get(c, "supervisor", "user");
	const int line = config_line(c, "supervisor", "user");

	if (user[0] == '\0' && euid == 0)
		return err_refuse(err, size, "%s: supervisor.user is not set, and root starts musterd: its "
		    "actors would run as root. Set supervisor.user (or --user, where flags are the "
		    "configuration) to an unprivileged user, or to root to accept that", file_of(c));
	if (user[0] == '\0')
		return true;

	const struct passwd *const pw = getpwnam(user);
	if (pw == NULL)
		return err_refuse(err, size, "%s:%d: supervisor.user: no user \"%s\" on this machine",
		    file_of(c), line, user);
	if (euid != 0 && pw->pw_uid != euid)
		return err_refuse(err, size, "%s:%d: supervisor.user: only root can run actors as \"%s\"; "
		    "start musterd as root or as that user", file_of(c), line, user);
	set->change_user = euid == 0 && pw->pw_uid != 0;
	set->uid = pw->pw_uid;
	set->gid = pw->pw_gid;
	return true;
}

static bool
fill(const struct config *c, const struct spec_search *s, enum child_id id, struct spec_set *set,
    char *err, size_t size)
{
	const struct child_row *const row = &child_table[id];
	struct child_spec *const spec = &set->children[id];
	const char *const name = role_name(row->role);

	spec->program = find_program(s, row->program);
	if (spec->program == NULL)
		return err_refuse(err, size,
		    "actor %s: its program %s is neither in %s nor in %s; install it there, "
		    "or disable the actor",
		    name, row->program, s->dirs[0], s->dirs[1]);
	spec->config = config_flat(c, name);
	if (strlen(spec->config) + strlen("config ") > LIFELINE_MAX)
		return err_refuse(err, size, "actor %s: its section is %zu bytes long, at most %zu fit", name,
		    strlen(spec->config), (size_t)LIFELINE_MAX - strlen("config "));
	spec->data_limit = (uint64_t)row->data_mib << 20;
	const char *const section = row->each_section != NULL ? row->each_section : name;
	if (row->each_of != NULL)
		spec->data_limit += (uint64_t)config_get_i64(c, section, row->each_of) * row->each_kib << 10;

	if (!spec_paths_add(c, set, row, spec))
		return err_refuse(err, size, "actor %s: more than %d credentials and files", name,
		    SPEC_PATHS_MAX);
	return true;
}

static char *
find_program(const struct spec_search *s, const char *program)
{
	for (size_t i = 0; i < NITEMS(s->dirs); i++) {
		char *const path = spec_path_in(s->dirs[i], program);

		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

/* Since Kubernetes 1.28 an OOM kill takes every process of the container: our limits must bite first. */
static void
warn_memory(const struct spec_set *set)
{
	char text[32];
	uint64_t sum = 0;

	for (unsigned i = 0; i < CHILD_MAX; i++)
		sum += set->children[i].data_limit;
	fd_read_file("/sys/fs/cgroup/memory.max", text, sizeof(text));
	const uint64_t container = strtoull(text, NULL, 10);	/* "max" reads as 0 */
	if (container != 0 && sum >= container)
		log_warnx(
		    "the actors' memory limits together exceed the container's: one leak can end them all",
		    KV_I(BYTES, sum), KV_I(LIMIT, container),
		    KV_S(HINT, "raise the container's memory limit"));
}

static const char *
file_of(const struct config *c)
{
	return config_path(c) != NULL ? config_path(c) : "(built-in defaults)";
}
