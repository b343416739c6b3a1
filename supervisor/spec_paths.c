/*
 * supervisor/spec_paths.c - which folders an actor may enter: those of its credentials, of the files that it
 * writes, of the files that its environment variables name, and those of a client of the cluster.
 */
#include "spec_paths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "child.h"
#include "environment.h"
#include "log.h"
#include "obj.h"

static bool add_variables(const struct spec_set *, const struct child_row *, struct child_spec *);
static void check_file(const struct spec_set *, const char *, const char *, const char *);
static bool add_cluster(const struct config *, const char *, struct child_spec *);
static bool add_folder(struct child_spec *, const char *, bool);
static bool add_path(struct child_spec *, const char *, bool);
static bool add(struct child_spec *, struct spec_path);
static const char *exposed(const struct child_spec *, const struct child_spec *);
static bool within(const char *, const char *);

bool
spec_paths_add(const struct config *c, const struct spec_set *set, const struct child_row *row,
    struct child_spec *spec)
{
	const char *const name = role_name(row->role);
	const char *path;
	bool fits = true;

	for (size_t i = 0; (path = config_credential(c, name, i)) != NULL; i++)
		fits &= add_path(spec, path, false);
	for (size_t i = 0; i < NITEMS(row->files) && row->files[i] != NULL; i++)
		fits &= add_path(spec, config_get(c, name, row->files[i]), true);
	fits &= add_variables(set, row, spec);
	if (row->folder != NULL)
		fits &= add_folder(spec, config_get(c, name, row->folder), false);
	if (row->cluster)
		fits &= add_cluster(c, name, spec);
	return fits;
}

/* Two actors with credentials in one folder, or one below the other's, can read each other's. */
void
spec_paths_warn(const struct spec_set *set)
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

char *
spec_path_in(const char *folder, const char *name)
{
	char *path;

	MUST(asprintf(&path, "%s/%s", folder == NULL ? "" : folder, name) != -1);
	return path;
}

/*
 * What is wrong with such a file is a matter of this actor alone: musterd and the others go on. A value that
 * is no absolute path may be the secret itself, so it is not logged.
 */
static bool
add_variables(const struct spec_set *set, const struct child_row *row, struct child_spec *spec)
{
	const struct variable *v;
	const char *file;
	bool fits = true;

	for (size_t at = 0; (file = environment_next(VARIABLE_FILE, row, &at, &v)) != NULL;) {
		if (file[0] != '/') {
			log_warnx("an environment variable has to name a file by its absolute path: "
				  "the actor cannot open it",
			    KV_S(ACTOR, role_name(row->role)), KV_S(KEY, v->name),
			    KV_S(HINT, "correct the variable and restart musterd"));
			continue;
		}
		check_file(set, role_name(row->role), v->name, file);
		fits &= add_path(spec, file, false);
	}
	return fits;
}

static void
check_file(const struct spec_set *set, const char *actor, const char *variable, const char *file)
{
	const struct child_deps user = { .change_user = set->change_user, .uid = set->uid, .gid = set->gid };

	errno = child_open_error(&user, file);
	if (errno != 0)
		log_warn("the actor cannot read the file that an environment variable names",
		    KV_S(ACTOR, actor), KV_S(KEY, variable), KV_S(PATH, file),
		    KV_S(HINT, "make it readable for the user of the actors and restart the actor, "
			       "or correct the variable and restart musterd"));
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
	char *const paths = listed ? obj_strdup(list) : spec_path_in(home, ".kube/config");
	char *save = NULL;
	for (char *file = strtok_r(paths, ":", &save); file != NULL; file = strtok_r(NULL, ":", &save))
		fits &= add_path(spec, file, false);
	free(paths);
	return fits;
}

static bool
add_folder(struct child_spec *spec, const char *dir, bool run)
{
	return dir[0] == '\0' || add(spec, (struct spec_path){ .dir = obj_strdup(dir), .run = run });
}

/* The folder of that file; an empty setting names none. */
static bool
add_path(struct child_spec *spec, const char *file, bool write)
{
	const char *const slash = strrchr(file, '/');

	if (slash == NULL)
		return true;
	char *const dir = obj_strdup(file);
	dir[slash == file ? 1 : slash - file] = '\0';
	return add(spec, (struct spec_path){ .dir = dir, .write = write });
}

/* Takes path.dir. */
static bool
add(struct child_spec *spec, struct spec_path path)
{
	if (spec->npaths == SPEC_PATHS_MAX) {
		free(path.dir);
		return false;
	}
	spec->paths[spec->npaths++] = path;
	return true;
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
