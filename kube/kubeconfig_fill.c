/*
 * kube/kubeconfig_fill.c - one cluster and one user of a kubeconfig, checked, into struct
 * kubeconfig.
 *
 * The rules are those of client-go's validation; where it lets two contradicting settings pass,
 * they are named here.
 */
#include <string.h>

#include "kubeconfig_private.h"
#include "obj.h"

enum field_type { FIELD_TEXT, FIELD_PATH, FIELD_DATA, FIELD_TOKEN, FIELD_FLAG };

struct field {
	const char	*key;
	enum field_type	 type;
	size_t		 offset;	/* of a char *, a struct bytes (data, token) or a bool */
};

#define IN(member)	offsetof(struct kubeconfig, member)
static const struct field cluster_fields[] = {
	{ "server",                     FIELD_TEXT, IN(server) },
	{ "tls-server-name",            FIELD_TEXT, IN(tls_server_name) },
	{ "proxy-url",                  FIELD_TEXT, IN(proxy_url) },
	{ "insecure-skip-tls-verify",   FIELD_FLAG, IN(insecure) },
	{ "disable-compression",        FIELD_FLAG, IN(disable_compression) },
	{ "certificate-authority",      FIELD_PATH, IN(ca_file) },
	{ "certificate-authority-data", FIELD_DATA, IN(ca_data) },
};
static const struct field user_fields[] = {
	{ "client-certificate",         FIELD_PATH, IN(cert_file) },
	{ "client-certificate-data",    FIELD_DATA, IN(cert_data) },
	{ "client-key",                 FIELD_PATH, IN(key_file) },
	{ "client-key-data",            FIELD_DATA, IN(key_data) },
	{ "token",                      FIELD_TOKEN, IN(token) },
	{ "tokenFile",                  FIELD_PATH, IN(token_file) },
	{ "username",                   FIELD_TEXT, IN(username) },
	{ "password",                   FIELD_TEXT, IN(password) },
};
#undef IN

#define IN(member)	offsetof(struct kubeconfig_exec, member)
static const struct field exec_fields[] = {
	{ "command",            FIELD_TEXT, IN(command) },
	{ "apiVersion",         FIELD_TEXT, IN(api_version) },
	{ "installHint",        FIELD_TEXT, IN(install_hint) },
	{ "provideClusterInfo", FIELD_FLAG, IN(provide_cluster_info) },
};
#undef IN

/* To act as somebody else is not supported; to ignore it would be to act as another user than configured. */
static const char *const impersonation[] = { "as", "as-uid", "as-groups", "as-user-extra" };

static void read_fields(void *, const struct field *, size_t, struct yaml_file *, const struct yaml_value *);
static void read_field(void *, const struct field *, struct yaml_file *, const struct yaml_value *);
static char *resolve(const struct yaml_file *, const char *);
static void read_exec(struct kubeconfig *, struct yaml_file *, const struct yaml_value *, const char *);
static void check_exec(struct kubeconfig_exec *, struct yaml_file *, const struct yaml_value *, const char *);
static void check_mode(
    const struct kubeconfig_exec *, struct yaml_file *, const struct yaml_value *, const char *);
static char **read_args(struct yaml_file *, const struct yaml_value *);
static char **read_env(struct yaml_file *, const struct yaml_value *);
static char *read_variable(struct yaml_file *, const struct yaml_value *);
static char **new_texts(const struct yaml_value *);
static void read_extension(struct kubeconfig_exec **, struct yaml_file *, const struct yaml_value *);
static void forget_user(struct kubeconfig *);

void
kubeconfig_fill_cluster(
    struct kubeconfig *k, struct yaml_file *f, const struct yaml_value *map, const char *name)
{
	const char *why = NULL;

	read_fields(k, cluster_fields, NITEMS(cluster_fields), f, map);
	if (k->server == NULL)
		yaml_refuse(f, map, "cluster \"%s\" has no server", name);
	if (*f->failed)
		return;
	if (k->ca_data.data != NULL)
		bytes_wipe_text(&k->ca_file);
	const bool ca = k->ca_file != NULL || k->ca_data.data != NULL;
	char *const server = kubeconfig_server(k->server, ca || k->insecure, &why);
	if (server == NULL)
		yaml_refuse(f, yaml_get(f, map, "server"), "server of cluster \"%s\": %s", name, why);
	free(k->server);
	k->server = server;
	if (k->insecure && ca)
		yaml_refuse(f, map, "cluster \"%s\" has insecure-skip-tls-verify and a certificate "
		    "authority; remove one of them", name);
	why = k->proxy_url == NULL ? NULL : kubeconfig_proxy_fault(k->proxy_url);
	if (why != NULL)
		yaml_refuse(f, yaml_get(f, map, "proxy-url"), "proxy-url of cluster \"%s\": %s", name, why);
	read_extension(&k->exec, f, map);
}

void
kubeconfig_fill_user(
    struct kubeconfig *k, struct yaml_file *f, const struct yaml_value *map, const char *name)
{
	read_fields(k, user_fields, NITEMS(user_fields), f, map);
	for (size_t i = 0; i < NITEMS(impersonation); i++) {
		const struct yaml_value *const n = yaml_get(f, map, impersonation[i]);

		if (n != NULL)
			yaml_refuse(f, n, "user \"%s\" acts as somebody else (%s); that is not supported: "
			    "use a user of its own", name, impersonation[i]);
	}
	if (k->cert_data.data != NULL)
		bytes_wipe_text(&k->cert_file);
	if (k->key_data.data != NULL)
		bytes_wipe_text(&k->key_file);
	const bool cert = k->cert_file != NULL || k->cert_data.data != NULL;
	const bool key = k->key_file != NULL || k->key_data.data != NULL;
	if (cert != key)
		yaml_refuse(f, map, "user \"%s\" has a client %s without its %s", name,
		    cert ? "certificate" : "key", cert ? "key" : "certificate");
	const bool token = k->token.data != NULL || k->token_file != NULL;
	if (token && k->username != NULL)
		yaml_refuse(f, map, "user \"%s\" has a token and a username; only one is allowed", name);
	if (k->username == NULL && k->password != NULL)
		yaml_refuse(f, map, "user \"%s\" has a password without a username", name);
	if (k->username != NULL && strchr(k->username, ':') != NULL)
		yaml_refuse(f, map, "the username of user \"%s\" holds a colon", name);
	const struct yaml_value *const provider = yaml_get(f, map, "auth-provider");
	if (provider != NULL)
		yaml_refuse(f, provider, "user \"%s\" has an auth-provider: Kubernetes removed them in 1.26; "
		    "use an exec plugin (gke-gcloud-auth-plugin, kubelogin, ...)", name);
	read_exec(k, f, map, name);
	/* As kubectl: what is configured by name outranks the plugin; nothing secret goes over plain HTTP. */
	if (token || k->username != NULL)
		kubeconfig_exec_free(&k->exec);
	if (!*f->failed && strncmp(k->server, "http://", 7) == 0)
		forget_user(k);
}

void
kubeconfig_exec_free(struct kubeconfig_exec **ep)
{
	struct kubeconfig_exec *const e = *ep;

	if (e == NULL)
		return;
	for (char **a = e->args; a != NULL && *a != NULL; a++)
		bytes_wipe_text(a);
	for (char **v = e->env; v != NULL && *v != NULL; v++)
		bytes_wipe_text(v);
	free(e->args);
	free(e->env);
	free(e->command);
	free(e->api_version);
	free(e->install_hint);
	json_decref(e->cluster_config);
	free(e);
	*ep = NULL;
}

static void
read_fields(void *into, const struct field *fields, size_t count, struct yaml_file *f,
    const struct yaml_value *map)
{
	for (size_t i = 0; i < count; i++)
		read_field(into, &fields[i], f, map);
}

static void
read_field(void *into, const struct field *field, struct yaml_file *f, const struct yaml_value *map)
{
	void *const at = (char *)into + field->offset;
	const struct yaml_value *const n = yaml_get(f, map, field->key);

	if (field->type == FIELD_FLAG) {
		*(bool *)at = yaml_get_flag(f, map, field->key);
		return;
	}
	if (n != NULL && field->type == FIELD_DATA && n->kind == YAML_TEXT) {
		/* base64 may be folded over lines: its decoder checks it, not yaml_text */
		if (n->len > 0 && !bytes_from_base64(at, n->text, n->len))
			yaml_refuse(f, n, "%s is not base64", field->key);
		return;
	}
	const char *const text = yaml_get_text(f, map, field->key);
	if (text == NULL || text[0] == '\0')
		return;
	if (field->type == FIELD_PATH)
		*(char **)at = resolve(f, text);
	else if (field->type == FIELD_TEXT)
		*(char **)at = obj_strdup(text);
	else if (!kubeconfig_token_valid(text, strlen(text)))
		yaml_refuse(f, n, "%s holds a blank or a character that cannot be sent", field->key);
	else
		bytes_set(at, text, strlen(text));
}

static char *
resolve(const struct yaml_file *f, const char *text)
{
	char *path = NULL;

	if (text[0] == '/')
		return obj_strdup(text);
	MUST(asprintf(&path, "%s/%s", f->folder, text) != -1);
	return path;
}

static void
read_exec(struct kubeconfig *k, struct yaml_file *f, const struct yaml_value *user, const char *name)
{
	const struct yaml_value *const map = yaml_get_map(f, user, "exec");

	if (map == NULL) {
		kubeconfig_exec_free(&k->exec);		/* the cluster's extension was for a plugin */
		return;
	}
	if (k->exec == NULL)
		k->exec = obj_alloc(sizeof(*k->exec));
	struct kubeconfig_exec *const e = k->exec;
	read_fields(e, exec_fields, NITEMS(exec_fields), f, map);
	e->args = read_args(f, map);
	e->env = read_env(f, map);
	check_exec(e, f, map, name);
}

static void
check_exec(struct kubeconfig_exec *e, struct yaml_file *f, const struct yaml_value *map, const char *name)
{
	static const char group[] = "client.authentication.k8s.io/";

	if (e->command == NULL)
		yaml_refuse(f, map, "exec of user \"%s\" has no command", name);
	else if (e->api_version == NULL)
		yaml_refuse(f, map, "exec of user \"%s\" has no apiVersion", name);
	else if (strncmp(e->api_version, group, strlen(group)) != 0
	    || (strcmp(e->api_version + strlen(group), "v1") != 0
		&& strcmp(e->api_version + strlen(group), "v1beta1") != 0))
		yaml_refuse(f, yaml_get(f, map, "apiVersion"),
		    "exec of user \"%s\": apiVersion must be %sv1 or %sv1beta1", name, group, group);
	else
		check_mode(e, f, map, name);
	if (*f->failed || e->command == NULL || strchr(e->command, '/') == NULL || e->command[0] == '/')
		return;
	char *const path = resolve(f, e->command);
	free(e->command);
	e->command = path;
}

static void
check_mode(const struct kubeconfig_exec *e, struct yaml_file *f, const struct yaml_value *map,
    const char *name)
{
	const struct yaml_value *const n = yaml_get(f, map, "interactiveMode");
	const char *const mode = yaml_get_text(f, map, "interactiveMode");

	if (*f->failed)
		return;
	if (mode == NULL || mode[0] == '\0') {
		if (strstr(e->api_version, "/v1beta1") == NULL)
			yaml_refuse(f, map, "exec of user \"%s\" has no interactiveMode, which v1 requires: "
			    "set Never or IfAvailable", name);
	} else if (strcmp(mode, "Always") == 0) {
		yaml_refuse(f, n, "exec of user \"%s\" requires a terminal (interactiveMode: Always), which "
		    "a daemon has not; use a plugin that can do without", name);
	} else if (strcmp(mode, "Never") != 0 && strcmp(mode, "IfAvailable") != 0) {
		yaml_refuse(f, n, "exec of user \"%s\": interactiveMode must be Never or IfAvailable", name);
	}
}

static char **
read_args(struct yaml_file *f, const struct yaml_value *map)
{
	const struct yaml_value *const list = yaml_get_list(f, map, "args"), *n;
	char **const args = new_texts(list);

	for (size_t i = 0; (n = yaml_item(f, list, i)) != NULL; i++) {
		/* an argument may have lines */
		if (n->kind != YAML_TEXT || strlen(n->text) != n->len) {
			yaml_refuse(f, n, "args must be texts without NUL");
			break;
		}
		args[i] = obj_strdup(n->text);
	}
	return args;
}

static char **
read_env(struct yaml_file *f, const struct yaml_value *map)
{
	const struct yaml_value *const list = yaml_get_list(f, map, "env"), *n;
	char **const env = new_texts(list);

	for (size_t i = 0; (n = yaml_item(f, list, i)) != NULL; i++) {
		env[i] = read_variable(f, n);
		if (env[i] == NULL)
			break;
	}
	return env;
}

/* "NAME=value" from { name, value }. */
static char *
read_variable(struct yaml_file *f, const struct yaml_value *n)
{
	char *text = NULL;

	if (n->kind != YAML_MAP) {
		yaml_refuse(f, n, "env must be a list of name and value");
		return NULL;
	}
	const char *const name = yaml_get_text(f, n, "name");
	const char *const value = yaml_get_text(f, n, "value");
	if (!*f->failed && (name == NULL || name[0] == '\0' || strchr(name, '=') != NULL))
		yaml_refuse(f, n, "env: a variable has a name, without '='");
	if (*f->failed)
		return NULL;
	MUST(asprintf(&text, "%s=%s", name, value == NULL ? "" : value) != -1);
	return text;
}

/* Room for every item and the NULL behind them. */
static char **
new_texts(const struct yaml_value *list)
{
	return obj_alloc(((list == NULL ? 0 : list->count) + 1) * sizeof(char *));
}

/* What the cluster passes to a plugin, kept until it is known whether there is one. */
static void
read_extension(struct kubeconfig_exec **ep, struct yaml_file *f, const struct yaml_value *map)
{
	const struct yaml_value *const list = yaml_get_list(f, map, "extensions"), *n;

	for (size_t i = 0; (n = yaml_item(f, list, i)) != NULL; i++) {
		if (n->kind != YAML_MAP)
			continue;
		const char *const name = yaml_get_text(f, n, "name");
		const struct yaml_value *const value = yaml_get(f, n, "extension");
		if (name == NULL || value == NULL || strcmp(name, "client.authentication.k8s.io/exec") != 0)
			continue;
		if (*ep == NULL)
			*ep = obj_alloc(sizeof(**ep));
		json_decref((*ep)->cluster_config);
		(*ep)->cluster_config = yaml_json(f, value);
	}
}

static void
forget_user(struct kubeconfig *k)
{
	bytes_wipe(&k->token);
	bytes_wipe(&k->cert_data);
	bytes_wipe(&k->key_data);
	bytes_wipe_text(&k->cert_file);
	bytes_wipe_text(&k->key_file);
	bytes_wipe_text(&k->token_file);
	bytes_wipe_text(&k->username);
	bytes_wipe_text(&k->password);
	kubeconfig_exec_free(&k->exec);
}
