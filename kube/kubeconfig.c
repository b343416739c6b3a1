/* kube/kubeconfig.c - which files, which context; or the service account of a Pod. */
#include "kubeconfig.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kubeconfig_private.h"
#include "obj.h"

enum { TEXT_SHOWN_MAX = 160, NAMESPACE_MAX = 63 };

/* All files of one loading, first one first. */
struct loading {
	struct yaml_file	files[KUBECONFIG_FILES_MAX];
	size_t			count;
	bool			failed;
	char			*err;
	size_t			 size;
};

/* An entry of clusters, users or contexts. */
struct named_section {
	struct yaml_file	*file;
	const struct yaml_value	*map;
};

static void add_list(struct loading *, const char *);
static void add_file(struct loading *, const char *, bool);
static void add_text(struct loading *, const char *, const char *, size_t);
static void check_kind(struct yaml_file *);
static void refuse(struct loading *, const char *, ...) __attribute__((format(printf, 2, 3)));
static struct kubeconfig *choose(struct loading *, const char *);
static const char *current_context(struct loading *);
static struct named_section find(struct loading *, const char *, const char *, const char *);
static struct named_section need(
    struct loading *, const struct named_section *, const char *, const char *, const char *);
static const char *list_contexts(struct loading *, char *, size_t);
static void read_namespace(struct kubeconfig *, const char *);

struct kubeconfig *
kubeconfig_load(const struct kubeconfig_source *src, char *err, size_t size)
{
	struct loading l = { .err = err, .size = size };
	char *standard = NULL;

	if (src->path != NULL && src->path[0] != '\0') {
		add_file(&l, src->path, false);
	} else if (src->list != NULL && src->list[0] != '\0') {
		add_list(&l, src->list);
	} else if (src->home != NULL && src->home[0] != '\0') {
		MUST(asprintf(&standard, "%s/.kube/config", src->home) != -1);
		add_file(&l, standard, false);
	} else {
		refuse(&l, "no kubeconfig: name one, or set KUBECONFIG or HOME");
	}
	free(standard);
	return choose(&l, src->context);
}

struct kubeconfig *
kubeconfig_parse(const char *name, const char *text, size_t len, const char *context, char *err, size_t size)
{
	struct loading l = { .err = err, .size = size };

	add_text(&l, name, text, len);
	return choose(&l, context);
}

struct kubeconfig *
kubeconfig_in_cluster(const struct kubeconfig_pod *pod, char *err, size_t size)
{
	const char *const dir = pod->dir == NULL ? KUBECONFIG_SERVICE_ACCOUNT : pod->dir;
	const char *why = NULL;
	struct kubeconfig *k;

	if (pod->host == NULL || pod->host[0] == '\0' || pod->port == NULL || pod->port[0] == '\0') {
		snprintf(err, size,
		    "not in a Pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
		return NULL;
	}
	OBJ_NEW(k, KUBECONFIG_MAGIC);
	const bool v6 = strchr(pod->host, ':') != NULL;
	char *url = NULL;
	MUST(asprintf(&url, "https://%s%s%s:%s", v6 ? "[" : "", pod->host, v6 ? "]" : "", pod->port) != -1);
	k->where = obj_strdup("in-cluster");
	k->server = kubeconfig_server(url, true, &why);
	free(url);
	MUST(asprintf(&k->ca_file, "%s/ca.crt", dir) != -1);
	MUST(asprintf(&k->token_file, "%s/token", dir) != -1);
	if (k->server == NULL) {
		snprintf(err, size,
		    "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT make no address: %s", why);
		kubeconfig_free(&k);
		return NULL;
	}
	read_namespace(k, dir);
	return k;
}

void
kubeconfig_free(struct kubeconfig **kp)
{
	struct kubeconfig *k;

	if (*kp == NULL)
		return;
	OBJ_TAKE(k, kp, KUBECONFIG_MAGIC);
	char **const texts[] = { &k->where, &k->server, &k->namespace, &k->tls_server_name, &k->proxy_url,
		&k->ca_file, &k->cert_file, &k->key_file, &k->token_file, &k->username, &k->password };
	struct bytes *const secrets[] = { &k->ca_data, &k->cert_data, &k->key_data, &k->token };
	for (size_t i = 0; i < NITEMS(texts); i++)
		bytes_wipe_text(texts[i]);
	for (size_t i = 0; i < NITEMS(secrets); i++)
		bytes_wipe(secrets[i]);
	kubeconfig_exec_free(&k->exec);
	OBJ_FREE(k);
}

/* A colon list; of several files those that do not exist are passed over, as long as one does. */
static void
add_list(struct loading *l, const char *list)
{
	const bool several = strchr(list, ':') != NULL;

	for (const char *at = list; *at != '\0' && !l->failed;) {
		const size_t len = strcspn(at, ":");
		char *path = NULL;

		MUST(asprintf(&path, "%.*s", (int)len, at) != -1);
		if (len > 0)
			add_file(l, path, several);
		free(path);
		at += len + (at[len] == ':');
	}
	if (!l->failed && l->count == 0)
		refuse(l, "%s: none of these files exists", list);
}

static void
add_file(struct loading *l, const char *path, bool may_miss)
{
	struct bytes text = { NULL, 0 };

	if (bytes_read_file(&text, path, KUBECONFIG_FILE_MAX))
		add_text(l, path, text.data, text.len);
	else if (errno == EFBIG)
		refuse(l, "%s: larger than %d bytes, the limit of a kubeconfig", path, KUBECONFIG_FILE_MAX);
	else if (errno == EINVAL)
		refuse(l, "%s: not a regular file", path);
	else if (errno != ENOENT || !may_miss)
		refuse(l, "%s: cannot read the kubeconfig: %s", path, strerror(errno));
	bytes_wipe(&text);
}

static void
add_text(struct loading *l, const char *path, const char *text, size_t len)
{
	if (l->count == KUBECONFIG_FILES_MAX) {
		refuse(l, "KUBECONFIG: more than %d files", KUBECONFIG_FILES_MAX);
		return;
	}
	if (len > KUBECONFIG_FILE_MAX) {
		refuse(l, "%s: larger than %d bytes, the limit of a kubeconfig", path, KUBECONFIG_FILE_MAX);
		return;
	}
	struct yaml_file *const f = &l->files[l->count++];
	if (yaml_file_open(f, path, text, len, l->err, l->size, &l->failed))
		check_kind(f);
}

static void
check_kind(struct yaml_file *f)
{
	static const struct {
		const char	*key, *want;
	} rows[] = { { "apiVersion", "v1" }, { "kind", "Config" } };
	const struct yaml_value *const root = yaml_file_root(f);

	for (size_t i = 0; i < NITEMS(rows); i++) {
		const char *const text = yaml_get_text(f, root, rows[i].key);

		if (text != NULL && strcmp(text, rows[i].want) != 0)
			yaml_refuse(f, yaml_get(f, root, rows[i].key), "not a kubeconfig: its %s is not %s",
			    rows[i].key, rows[i].want);
	}
}

static void
refuse(struct loading *l, const char *fmt, ...)
{
	va_list ap;

	if (l->failed)
		return;
	l->failed = true;
	va_start(ap, fmt);
	vsnprintf(l->err, l->size, fmt, ap);
	va_end(ap);
}

/* NULL if something was wrong before, or is now. Ends the loading. */
static struct kubeconfig *
choose(struct loading *l, const char *given)
{
	const char *const name = given != NULL && given[0] != '\0' ? given : current_context(l);
	struct kubeconfig *k;
	char shown[TEXT_SHOWN_MAX];

	OBJ_NEW(k, KUBECONFIG_MAGIC);
	if (!l->failed && name == NULL)
		refuse(l, "%s: no current-context, and none was named (there is: %s)", l->files[0].path,
		    list_contexts(l, shown, sizeof(shown)));
	const struct named_section context = find(l, "contexts", "context", name);
	if (!l->failed && context.map == NULL)
		refuse(l, "%s: context \"%s\": no such context (there is: %s)", l->files[0].path, name,
		    list_contexts(l, shown, sizeof(shown)));
	if (!l->failed) {
		const char *const cluster = yaml_get_text(context.file, context.map, "cluster");
		const char *const user = yaml_get_text(context.file, context.map, "user");
		const char *const namespace = yaml_get_text(context.file, context.map, "namespace");
		const struct named_section c = need(l, &context, name, "cluster", cluster);
		const struct named_section u = need(l, &context, name, "user", user);

		if (!l->failed)
			kubeconfig_fill_cluster(k, c.file, c.map, cluster);
		if (!l->failed)
			kubeconfig_fill_user(k, u.file, u.map, user);
		if (namespace != NULL && namespace[0] != '\0')
			k->namespace = obj_strdup(namespace);
	}
	MUST(context.file != NULL || l->failed);
	if (l->failed)
		kubeconfig_free(&k);
	else
		MUST(asprintf(&k->where, "%s: context \"%s\"", context.file->path, name) != -1);
	for (size_t i = 0; i < l->count; i++)
		yaml_file_close(&l->files[i]);
	return k;
}

static const char *
current_context(struct loading *l)
{
	for (size_t i = 0; i < l->count; i++) {
		struct yaml_file *const f = &l->files[i];
		const char *const name = yaml_get_text(f, yaml_file_root(f), "current-context");

		if (name != NULL && name[0] != '\0')
			return name;
	}
	return NULL;
}

/* The first file that has an entry of that name has it all. */
static struct named_section
find(struct loading *l, const char *list, const char *member, const char *want)
{
	struct named_section found = { NULL, NULL };

	for (size_t i = 0; i < l->count && found.map == NULL && !l->failed && want != NULL; i++) {
		struct yaml_file *const f = &l->files[i];
		const struct yaml_value *const items = yaml_get_list(f, yaml_file_root(f), list), *n;

		for (size_t at = 0; (n = yaml_item(f, items, at)) != NULL; at++) {
			if (n->kind != YAML_MAP) {
				yaml_refuse(f, n, "an item of %s must be a mapping", list);
				break;
			}
			const char *const name = yaml_get_text(f, n, "name");
			if (name == NULL || strcmp(name, want) != 0)
				continue;
			if (found.file != NULL)
				yaml_refuse(f, n, "%s \"%s\" stands here a second time", member, name);
			found = (struct named_section){ f, yaml_get_map(f, n, member) };
			if (!l->failed && found.map == NULL)
				yaml_refuse(f, n, "%s \"%s\" is empty", member, name);
		}
	}
	return found;
}

static struct named_section
need(struct loading *l, const struct named_section *context, const char *name, const char *kind,
    const char *want)
{
	char list[16];

	if (l->failed)
		return (struct named_section){ NULL, NULL };
	MUST(context->file != NULL);
	if (want == NULL || want[0] == '\0') {
		refuse(l, "%s: context \"%s\": it names no %s", context->file->path, name, kind);
		return (struct named_section){ NULL, NULL };
	}
	snprintf(list, sizeof(list), "%ss", kind);
	const struct named_section e = find(l, list, kind, want);
	if (!l->failed && e.map == NULL)
		refuse(l, "%s: context \"%s\": there is no %s \"%s\"", context->file->path, name, kind, want);
	return e;
}

static const char *
list_contexts(struct loading *l, char *buf, size_t size)
{
	size_t used = 0;

	snprintf(buf, size, "none");
	for (size_t i = 0; i < l->count; i++) {
		struct yaml_file *const f = &l->files[i];
		const struct yaml_value *const items = yaml_get_list(f, yaml_file_root(f), "contexts"), *n;

		for (size_t at = 0; (n = yaml_item(f, items, at)) != NULL; at++) {
			const char *const name =
			    n->kind == YAML_MAP ? yaml_get_text(f, n, "name") : NULL;

			if (name != NULL && used < size)
				used += (size_t)snprintf(buf + used, size - used, "%s%s",
				    used > 0 ? ", " : "", name);
		}
	}
	return buf;
}

static void
read_namespace(struct kubeconfig *k, const char *dir)
{
	struct bytes text = { NULL, 0 };
	char *path = NULL;

	MUST(asprintf(&path, "%s/namespace", dir) != -1);
	if (bytes_read_file(&text, path, NAMESPACE_MAX + 1)) {
		text.data[strcspn(text.data, " \t\r\n")] = '\0';
		if (text.data[0] != '\0')
			k->namespace = obj_strdup(text.data);
	}
	bytes_wipe(&text);
	free(path);
}
