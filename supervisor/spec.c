/* supervisor/spec.c - child specs from the checked configuration. */
#include "spec.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lifeline.h"
#include "log.h"
#include "obj.h"

/* For the callback of config_each_credential. */
struct grant {
	struct child_spec	*spec;
	bool			 full;
};

static bool decide(const struct config *, struct spec_set *, char *, size_t);
static bool fill(const struct config *, const struct spec_search *, enum child_id,
    struct child_spec *, char *, size_t);
static bool supervisor_settings(const struct config *, uid_t, struct spec_set *, char *, size_t);
static bool set_user(const struct config *, uid_t, struct spec_set *, char *, size_t);
static char *find_program(const struct spec_search *, const char *);
static char *flatten(const struct config *, const char *);
static void on_credential(const char *, void *);
static bool add_cluster(const struct config *, const char *, struct child_spec *);
static bool add_folder(struct child_spec *, const char *, bool);
static char *path_in(const char *, const char *);
static bool add_path(struct child_spec *, const char *, bool);
static void warn_shared(const struct spec_set *);
static const char *exposed(const struct child_spec *, const struct child_spec *);
static bool within(const char *, const char *);
static void warn_memory(const struct spec_set *);
static bool refuse(char *, size_t, const char *, ...) __attribute__((format(printf, 3, 4)));
static const char *file_of(const struct config *);

struct spec_set *
spec_load(const struct config *c, const struct spec_search *s, char *err, size_t size)
{
	struct spec_set *set;

	OBJ_NEW(set, SPEC_SET_MAGIC);
	bool ok = decide(c, set, err, size) && supervisor_settings(c, s->euid, set, err, size);
	for (unsigned i = 0; ok && i < CHILD_MAX; i++) {
		if (set->children[i].enabled)
			ok = fill(c, s, (enum child_id)i, &set->children[i], err, size);
	}
	if (!ok) {
		spec_free(&set);
		return NULL;
	}
	if (set->confine)
		warn_shared(set);
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
	if (!needs_resolve(wanted, forbidden, out)) {
		const struct need *const n = &out->conflict;

		return refuse(err, size, "%s:%d: actor %s needs %s (%s), which is switched off here; "
		    "enable %s or disable %s", file_of(c), config_enabled_line(c, role_name(n->needs)),
		    role_name(n->who), role_name(n->needs), n->why, role_name(n->needs), role_name(n->who));
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
	set->confine = strcmp(config_get(c, "supervisor", "confine"), "landlock") == 0;
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
		return refuse(err, size, "%s: supervisor.user is not set, and root starts musterd: its "
		    "actors would run as root. Set supervisor.user (or --user, where flags are the "
		    "configuration) to an unprivileged user, or to root to accept that", file_of(c));
	if (user[0] == '\0')
		return true;

	const struct passwd *const pw = getpwnam(user);
	if (pw == NULL)
		return refuse(err, size, "%s:%d: supervisor.user: no user \"%s\" on this machine",
		    file_of(c), line, user);
	if (euid != 0 && pw->pw_uid != euid)
		return refuse(err, size, "%s:%d: supervisor.user: only root can run actors as \"%s\"; "
		    "start musterd as root or as that user", file_of(c), line, user);
	set->change_user = euid == 0 && pw->pw_uid != 0;
	set->uid = pw->pw_uid;
	set->gid = pw->pw_gid;
	return true;
}

static bool
fill(const struct config *c, const struct spec_search *s, enum child_id id, struct child_spec *spec,
    char *err, size_t size)
{
	const struct child_row *const row = &child_table[id];
	const char *const name = role_name(row->role);
	struct grant grant = { .spec = spec };

	spec->program = find_program(s, row->program);
	if (spec->program == NULL)
		return refuse(err, size,
		    "actor %s: its program %s is neither in %s nor in %s; install it there, "
		    "or disable the actor",
		    name, row->program, s->dirs[0], s->dirs[1]);
	spec->config = flatten(c, name);
	if (strlen(spec->config) + strlen("config ") > LIFELINE_MAX)
		return refuse(err, size, "actor %s: its section is %zu bytes long, at most %zu fit", name,
		    strlen(spec->config), (size_t)LIFELINE_MAX - strlen("config "));
	spec->data_limit = (uint64_t)row->data_mib << 20;
	const char *const section = row->each_section != NULL ? row->each_section : name;
	if (row->each_of != NULL)
		spec->data_limit += (uint64_t)config_get_i64(c, section, row->each_of) * row->each_kib << 10;

	config_each_credential(c, name, on_credential, &grant);
	for (size_t i = 0; i < NITEMS(row->files) && row->files[i] != NULL; i++)
		grant.full |= !add_path(spec, config_get(c, name, row->files[i]), true);
	if (row->cluster)
		grant.full |= !add_cluster(c, name, spec);
	if (grant.full)
		return refuse(err, size, "actor %s: more than %d credentials and files", name,
		    SPEC_PATHS_MAX);
	return true;
}

static char *
find_program(const struct spec_search *s, const char *program)
{
	for (size_t i = 0; i < NITEMS(s->dirs); i++) {
		char *path;

		if (asprintf(&path, "%s/%s", s->dirs[i], program) == -1)
			obj_panic("asprintf", __FILE__, __LINE__, __func__);
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

static char *
flatten(const struct config *c, const char *section)
{
	const size_t len = config_flat(c, section, NULL, 0);
	char *const text = obj_alloc(len + 1);

	config_flat(c, section, text, len + 1);
	return text;
}

static void
on_credential(const char *path, void *arg)
{
	struct grant *const g = arg;

	g->full |= !add_path(g->spec, path, false);
}

/*
 * Where a client finds its credential (docs/kubernetes.md): the service account's mount,
 * and without a setting the files of $KUBECONFIG, or the one in the home. Certificates and plugins
 * elsewhere have settings of their own; a plugin may be a script, and start programs of the system.
 */
static bool
add_cluster(const struct config *c, const char *section, struct child_spec *spec)
{
	bool fits = add_path(spec, "/var/run/secrets/kubernetes.io/serviceaccount/token", false)
	    && add_folder(spec, config_get(c, section, "credential-dir"), false)
	    && add_folder(spec, config_get(c, section, "exec-plugin-dir"), true);
	if (config_get(c, section, "exec-plugin-dir")[0] != '\0')
		fits = fits && add_folder(spec, "/usr", true) && add_folder(spec, "/bin", true);
	const char *const home = getenv("HOME"), *list = getenv("KUBECONFIG");

	if (config_get(c, section, "kubeconfig")[0] != '\0' || getenv("KUBERNETES_SERVICE_HOST") != NULL)
		return fits;
	const bool listed = list != NULL && list[0] != '\0';
	char *const paths = listed ? obj_strdup(list) : path_in(home, ".kube/config");
	char *save = NULL;
	for (char *file = strtok_r(paths, ":", &save); file != NULL; file = strtok_r(NULL, ":", &save))
		fits &= add_path(spec, file, false);
	free(paths);
	return fits;
}

static char *
path_in(const char *folder, const char *name)
{
	char *path;

	MUST(asprintf(&path, "%s/%s", folder == NULL ? "" : folder, name) != -1);
	return path;
}

static bool
add_folder(struct child_spec *spec, const char *dir, bool run)
{
	if (dir[0] == '\0')
		return true;
	if (spec->npaths == SPEC_PATHS_MAX)
		return false;
	spec->paths[spec->npaths++] = (struct spec_path){ .dir = obj_strdup(dir), .run = run };
	return true;
}

/* The folder of that file; an empty setting names none. */
static bool
add_path(struct child_spec *spec, const char *file, bool write)
{
	const char *const slash = strrchr(file, '/');

	if (slash == NULL)
		return true;
	if (spec->npaths == SPEC_PATHS_MAX)
		return false;
	char *const dir = obj_strdup(file);
	dir[slash == file ? 1 : slash - file] = '\0';
	spec->paths[spec->npaths++] = (struct spec_path){ .dir = dir, .write = write };
	return true;
}

/* Two actors with credentials in one folder, or one below the other's, can read each other's. */
static void
warn_shared(const struct spec_set *set)
{
	for (unsigned a = 0; a < CHILD_MAX; a++) {
		for (unsigned b = 0; b < CHILD_MAX; b++) {
			const char *const dir = a == b ? NULL : exposed(&set->children[a], &set->children[b]);

			if (dir != NULL)
				log_warnx(
				    "an actor can open a credential of another, because of where it lies",
				    KV_S(ACTOR, role_name(child_table[a].role)),
				    KV_S(PEER, role_name(child_table[b].role)), KV_S(PATH, dir),
				    KV_S(HINT, "give each credential a folder of its own"));
		}
	}
}

/* The folder of `reader` that holds a credential of `owner`; NULL: there is none. */
static const char *
exposed(const struct child_spec *reader, const struct child_spec *owner)
{
	for (size_t i = 0; i < reader->npaths; i++) {
		for (size_t j = 0; j < owner->npaths; j++) {
			if (!owner->paths[j].write && within(owner->paths[j].dir, reader->paths[i].dir))
				return reader->paths[i].dir;
		}
	}
	return NULL;
}

static bool
within(const char *path, const char *dir)
{
	const size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/' || dir[len - 1] == '/');
}

/* Since Kubernetes 1.28 an OOM kill takes every process of the container: our limits must bite first. */
static void
warn_memory(const struct spec_set *set)
{
	char text[32] = "";
	uint64_t sum = 0;

	for (unsigned i = 0; i < CHILD_MAX; i++)
		sum += set->children[i].data_limit;
	const int fd = open("/sys/fs/cgroup/memory.max", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return;
	const ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	const uint64_t container = n > 0 ? strtoull(text, NULL, 10) : 0;	/* "max" reads as 0 */
	if (container != 0 && sum >= container)
		log_warnx(
		    "the actors' memory limits together exceed the container's: one leak can end them all",
		    KV_I(BYTES, sum), KV_I(LIMIT, container),
		    KV_S(HINT, "raise the container's memory limit"));
}

static bool
refuse(char *err, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, size, fmt, ap);
	va_end(ap);
	return false;
}

static const char *
file_of(const struct config *c)
{
	return config_path(c) != NULL ? config_path(c) : "(built-in defaults)";
}
