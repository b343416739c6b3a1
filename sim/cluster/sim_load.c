/* sim/cluster/sim_load.c - from files into the store. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/base/sim_yaml.h"
#include "sim/kube/discovery/sim_registry.h"
#include "sim/kube/store/sim_objects.h"
#include "sim/sim.h"

enum { FILE_MAX = 64 * 1024 * 1024, PATH_LEN = 4096 };

static bool load_file(struct simulator *, const char *, char *, size_t);
static char *read_file(const char *, size_t *, char *, size_t);
static int is_manifest(const struct dirent *);

void
sim_load_namespaces(struct simulator *s)
{
	static const char *const names[] = { "default", "kube-node-lease", "kube-public", "kube-system" };
	const struct sim_resource *const r = sim_registry_find(s->registry, "", "v1", "namespaces");

	for (size_t i = 0; i < NITEMS(names); i++) {
		json_auto_t *ns = json_pack("{s:s, s:s, s:{s:s, s:{s:s}}}", "apiVersion", "v1",
		    "kind", "Namespace", "metadata", "name", names[i], "labels",
		    "kubernetes.io/metadata.name", names[i]);
		char err[256] = "";

		MUST(sim_object_create(s, r, ns, err, sizeof(err)) != NULL);
	}
}

bool
sim_load_crds(struct simulator *s, const char *path, char *err, size_t size)
{
	struct stat st;
	struct dirent **entries;
	char file[PATH_LEN];
	bool fine = true;

	if (stat(path, &st) == -1) {
		snprintf(err, size, "%s: %s", path, strerror(errno));
		return false;
	}
	if (!S_ISDIR(st.st_mode))
		return load_file(s, path, err, size);
	const int n = scandir(path, &entries, is_manifest, alphasort);
	if (n == -1) {
		snprintf(err, size, "%s: %s", path, strerror(errno));
		return false;
	}
	for (int i = 0; i < n; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		fine = fine && load_file(s, file, err, size);
		free(entries[i]);
	}
	free(entries);
	return fine;
}

static bool
load_file(struct simulator *s, const char *path, char *err, size_t size)
{
	const struct sim_resource *const crds =
	    sim_registry_find(s->registry, "apiextensions.k8s.io", "v1", "customresourcedefinitions");
	char why[1024] = "";
	size_t len, i;
	json_t *document;

	char *const text = read_file(path, &len, err, size);
	if (text == NULL)
		return false;
	json_auto_t *all = sim_yaml_parse_all(text, len, why, sizeof(why));
	free(text);
	bool fine = all != NULL;
	json_array_foreach(all, i, document) {
		if (!fine || strcmp(sim_json_text(document, "kind"), "CustomResourceDefinition") != 0)
			continue;
		/* Nobody answers a conversion webhook here. */
		json_object_set_new(sim_json_branch(document, "spec"), "conversion",
		    json_pack("{s:s}", "strategy", "None"));
		json_object_del(document, "status");
		fine = sim_object_create(s, crds, document, why, sizeof(why)) != NULL;
	}
	if (!fine)
		snprintf(err, size, "%s: %s", path, why);
	return fine;
}

static char *
read_file(const char *path, size_t *len, char *err, size_t size)
{
	FILE *const f = fopen(path, "re");
	struct stat st;
	char *text = NULL;

	if (f == NULL || fstat(fileno(f), &st) == -1 || st.st_size > FILE_MAX) {
		snprintf(err, size, "%s: %s", path,
		    f != NULL && st.st_size > FILE_MAX ? "too large" : strerror(errno));
		goto out;
	}
	text = obj_alloc((size_t)st.st_size + 1);
	*len = fread(text, 1, (size_t)st.st_size, f);
out:
	if (f != NULL)
		fclose(f);
	return text;
}

static int
is_manifest(const struct dirent *e)
{
	const char *const dot = strrchr(e->d_name, '.');

	return dot != NULL && e->d_name[0] != '.'
	    && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}
