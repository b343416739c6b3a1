/*
 * kube/kubeconfig_yaml.c - a YAML tree behind a few typed questions.
 *
 * Only known keys are followed, so that documents made to explode do not. yaml_json, which follows
 * everything, counts.
 */
#include "kubeconfig_yaml.h"

#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "obj.h"
#include "utf8.h"

enum { DEPTH_MAX = 32, ANCHORS_MAX = 256, JSON_DEPTH_MAX = 16, JSON_NODES_MAX = 4096 };

#define NO_LINE	0

/* YAML 1.1, as kubectl reads it. */
static const struct {
	const char	*text;
	bool		 value;
} flags[] = {
	{ "true", true }, { "True", true }, { "TRUE", true },
	{ "yes", true }, { "Yes", true }, { "YES", true }, { "on", true }, { "On", true }, { "ON", true },
	{ "false", false }, { "False", false }, { "FALSE", false },
	{ "no", false }, { "No", false }, { "NO", false }, { "off", false }, { "Off", false }, { "OFF", false },
};

static char *folder_of(const char *);
static bool is_plain(const struct yaml_value *);
static bool is_key(const struct yaml_value *, const char *);
static json_t *to_json(struct yaml_file *, const struct yaml_value *, int, int *);
static json_t *scalar_to_json(const struct yaml_value *);

bool
yaml_file_open(struct yaml_file *f, const char *path, const char *text, size_t len, char *err,
    size_t size, bool *failed)
{
	*f = (struct yaml_file){ .path = obj_strdup(path), .folder = folder_of(path), .err = err,
		.size = size, .failed = failed };
	static const struct yaml_limits limits = { .depth = DEPTH_MAX, .anchors = ANCHORS_MAX };
	f->tree = yaml_tree_read(text, len, &limits);
	const struct yaml_tree *const t = f->tree;
	const struct yaml_value mistake = { .line = t->mistake_line };	/* only its line is shown */
	if (t->mistake == YAML_SYNTAX)
		yaml_refuse(f, &mistake, "not YAML: %s", t->mistake_text);
	else if (t->mistake != YAML_FINE)
		yaml_refuse(f, &mistake, "more than %d levels or %d anchors", DEPTH_MAX, ANCHORS_MAX);
	else if (t->ndocuments > 1)
		yaml_refuse(f, t->documents[1].root, "a second document starts here; a kubeconfig is one");
	return !*f->failed;
}

void
yaml_file_close(struct yaml_file *f)
{
	yaml_tree_free(&f->tree);
	free(f->path);
	free(f->folder);
	*f = (struct yaml_file){ .path = NULL };
}

const struct yaml_value *
yaml_file_root(struct yaml_file *f)
{
	const struct yaml_value *const root =
	    f->tree != NULL && f->tree->ndocuments > 0 ? f->tree->documents[0].root : NULL;

	if (root == NULL || yaml_value_null(root))
		return NULL;
	if (root->kind != YAML_MAP)
		yaml_refuse(f, root, "a kubeconfig is a mapping (apiVersion, clusters, users, contexts)");
	return *f->failed ? NULL : root;
}

const struct yaml_value *
yaml_get(struct yaml_file *f, const struct yaml_value *map, const char *key)
{
	const struct yaml_value *found = NULL;

	if (map == NULL || *f->failed)
		return NULL;
	for (size_t i = 0; i < map->count; i++) {
		const struct yaml_value *const name = map->members[i].key;

		if (is_key(name, "<<"))
			yaml_refuse(f, name, "a merge key (<<) is not supported; write the values out");
		if (!is_key(name, key))
			continue;
		if (found != NULL)
			yaml_refuse(f, name, "%s stands here a second time", key);
		found = map->members[i].value;
	}
	return *f->failed || found == NULL || yaml_value_null(found) ? NULL : found;
}

const struct yaml_value *
yaml_get_map(struct yaml_file *f, const struct yaml_value *map, const char *key)
{
	const struct yaml_value *const n = yaml_get(f, map, key);

	if (n != NULL && n->kind != YAML_MAP)
		yaml_refuse(f, n, "%s must be a mapping", key);
	return *f->failed ? NULL : n;
}

const struct yaml_value *
yaml_get_list(struct yaml_file *f, const struct yaml_value *map, const char *key)
{
	const struct yaml_value *const n = yaml_get(f, map, key);

	if (n != NULL && n->kind != YAML_LIST)
		yaml_refuse(f, n, "%s must be a list", key);
	return *f->failed ? NULL : n;
}

const char *
yaml_get_text(struct yaml_file *f, const struct yaml_value *map, const char *key)
{
	const struct yaml_value *const n = yaml_get(f, map, key);

	return n == NULL ? NULL : yaml_text(f, n, key);
}

bool
yaml_get_flag(struct yaml_file *f, const struct yaml_value *map, const char *key)
{
	const struct yaml_value *const n = yaml_get(f, map, key);

	if (n == NULL)
		return false;
	for (size_t i = 0; is_plain(n) && i < NITEMS(flags); i++) {
		if (strcmp(n->text, flags[i].text) == 0)
			return flags[i].value;
	}
	yaml_refuse(f, n, "%s must be true or false", key);
	return false;
}

const struct yaml_value *
yaml_item(struct yaml_file *f, const struct yaml_value *list, size_t i)
{
	return list == NULL || *f->failed || i >= list->count ? NULL : list->members[i].value;
}

const char *
yaml_text(struct yaml_file *f, const struct yaml_value *node, const char *key)
{
	if (node->kind != YAML_TEXT) {
		yaml_refuse(f, node, "%s must be a text", key);
		return NULL;
	}
	if (utf8_span(node->text, node->len, utf8_control) < node->len) {
		yaml_refuse(f, node, "%s holds a line break or a control character", key);
		return NULL;
	}
	return node->text;
}

json_t *
yaml_json(struct yaml_file *f, const struct yaml_value *node)
{
	int budget = JSON_NODES_MAX;

	return *f->failed ? NULL : to_json(f, node, JSON_DEPTH_MAX, &budget);
}

void
yaml_refuse(struct yaml_file *f, const struct yaml_value *node, const char *fmt, ...)
{
	va_list ap;

	if (*f->failed)
		return;
	*f->failed = true;
	const int n = node == NULL || node->line == NO_LINE
	    ? snprintf(f->err, f->size, "%s: ", f->path)
	    : snprintf(f->err, f->size, "%s:%d: ", f->path, node->line);
	va_start(ap, fmt);
	if (n >= 0 && (size_t)n < f->size)
		vsnprintf(f->err + n, f->size - (size_t)n, fmt, ap);
	va_end(ap);
}

static char *
folder_of(const char *path)
{
	char *const copy = obj_strdup(path);
	const char *const folder = dirname(copy);
	char *const here = folder[0] == '/' ? NULL : getcwd(NULL, 0);
	char *absolute = NULL;

	MUST(asprintf(&absolute, "%s%s%s", here == NULL ? "" : here, here == NULL ? "" : "/", folder) != -1);
	free(here);
	free(copy);
	return absolute;
}

static bool
is_plain(const struct yaml_value *n)
{
	return n->kind == YAML_TEXT && n->plain;
}

static bool
is_key(const struct yaml_value *n, const char *key)
{
	return n->kind == YAML_TEXT && n->len == strlen(key) && memcmp(n->text, key, n->len) == 0;
}

static json_t *
to_json(struct yaml_file *f, const struct yaml_value *n, int depth, int *budget)
{
	if (depth == 0 || --*budget < 0) {
		yaml_refuse(f, n, "too deep or too large (%d levels, %d values)", JSON_DEPTH_MAX,
		    JSON_NODES_MAX);
		return NULL;
	}
	if (n->kind == YAML_TEXT)
		return scalar_to_json(n);
	json_t *const out = n->kind == YAML_LIST ? json_array() : json_object();
	if (n->kind == YAML_LIST) {
		for (size_t i = 0; !*f->failed && yaml_item(f, n, i) != NULL; i++)
			json_array_append_new(out, to_json(f, yaml_item(f, n, i), depth - 1, budget));
	} else {
		for (size_t i = 0; i < n->count && !*f->failed; i++) {
			const char *const key = yaml_text(f, n->members[i].key, "a key");

			if (key != NULL)
				json_object_set_new(
				    out, key, to_json(f, n->members[i].value, depth - 1, budget));
		}
	}
	if (!*f->failed)
		return out;
	json_decref(out);
	return NULL;
}

/* A plain scalar that JSON would read as something else than text is that. */
static json_t *
scalar_to_json(const struct yaml_value *n)
{
	const char *const text = n->text;
	json_t *value = NULL;

	if (yaml_value_null(n))
		return json_null();
	if (is_plain(n) && text[0] != '"' && text[0] != '[' && text[0] != '{')
		value = json_loadb(text, n->len, JSON_DECODE_ANY, NULL);
	return value != NULL ? value : json_stringn(text, n->len);
}
