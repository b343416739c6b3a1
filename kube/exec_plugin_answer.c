/* kube/exec_plugin_answer.c - ExecCredential, both ways. The checks are client-go's. */
#include "exec_plugin_answer.h"

#include <string.h>

#include "err.h"
#include "kubeconfig_private.h"
#include "obj.h"
#include "time.h"

enum { CA_FILE_MAX = 1024 * 1024 };

static bool check(struct exec_answer *, const char *, const json_t *, char *, size_t);
static bool check_status(struct exec_answer *, const json_t *, char *, size_t);
static bool get_text(const json_t *, const char *, struct bytes *, char *, size_t);
static void wipe_strings(json_t *);
static json_t *cluster_info(const struct kubeconfig *);
static void add_text(json_t *, const char *, const char *);

bool
exec_answer_parse(struct exec_answer *a, const char *api_version, const char *json, size_t len, char *err,
    size_t size)
{
	json_error_t e;
	json_t *const root = json_loadb(json, len, JSON_REJECT_DUPLICATES, &e);

	*a = (struct exec_answer){ .expires_us = TIME_UNSET_US };
	if (root == NULL)
		/* not e.text, which quotes what it met */
		return err_refuse(err, size, "it printed no JSON (line %d, column %d)", e.line, e.column);
	const bool ok = check(a, api_version, root, err, size);
	if (!ok)
		exec_answer_wipe(a);
	wipe_strings(json_object_get(root, "status"));
	json_decref(root);
	return ok;
}

void
exec_answer_wipe(struct exec_answer *a)
{
	bytes_wipe(&a->token);
	bytes_wipe(&a->cert);
	bytes_wipe(&a->key);
	a->expires_us = TIME_UNSET_US;
}

char *
exec_info(const struct kubeconfig *k)
{
	json_t *const spec = json_object();
	json_t *const root = json_pack("{ss ss so}", "kind", "ExecCredential", "apiVersion",
	    k->exec->api_version, "spec", spec);

	MUST(root != NULL);
	if (k->exec->provide_cluster_info)
		json_object_set_new(spec, "cluster", cluster_info(k));
	json_object_set_new(spec, "interactive", json_false());
	char *const text = json_dumps(root, JSON_COMPACT);
	MUST(text != NULL);
	json_decref(root);
	return text;
}

static bool
check(struct exec_answer *a, const char *api_version, const json_t *root, char *err, size_t size)
{
	const char *const kind = json_string_value(json_object_get(root, "kind"));
	const char *const version = json_string_value(json_object_get(root, "apiVersion"));
	const json_t *const status = json_object_get(root, "status");

	if (kind == NULL || strcmp(kind, "ExecCredential") != 0)
		return err_refuse(err, size, "its answer is not of kind ExecCredential");
	if (version == NULL || strcmp(version, api_version) != 0)
		return err_refuse(err, size,
		    "its answer is not of the apiVersion that the kubeconfig names, %s", api_version);
	if (status == NULL || json_is_null(status))
		return err_refuse(err, size, "its answer has no status");
	if (!json_is_object(status))
		return err_refuse(err, size, "its answer's status is not an object");
	return check_status(a, status, err, size);
}

static bool
check_status(struct exec_answer *a, const json_t *status, char *err, size_t size)
{
	const json_t *const expires = json_object_get(status, "expirationTimestamp");

	if (!get_text(status, "token", &a->token, err, size)
	    || !get_text(status, "clientCertificateData", &a->cert, err, size)
	    || !get_text(status, "clientKeyData", &a->key, err, size))
		return false;
	if (expires != NULL && !json_is_null(expires)
	    && (!json_is_string(expires)
		|| !time_parse(json_string_value(expires), json_string_length(expires), &a->expires_us)))
		return err_refuse(err, size, "status.expirationTimestamp is not a time (RFC 3339)");
	if ((a->cert.data == NULL) != (a->key.data == NULL))
		return err_refuse(err, size,
		    "status has only one of clientCertificateData and clientKeyData");
	if (a->token.data == NULL && a->cert.data == NULL)
		return err_refuse(err, size, "status has neither a token nor a certificate with its key");
	if (a->token.data != NULL && !kubeconfig_token_valid(a->token.data, a->token.len))
		return err_refuse(err, size, "status.token holds a blank or a character that cannot be sent");
	return true;
}

/* "" is as good as absent. */
static bool
get_text(const json_t *status, const char *key, struct bytes *to, char *err, size_t size)
{
	const json_t *const value = json_object_get(status, key);

	if (value == NULL || json_is_null(value))
		return true;
	if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value))
		return err_refuse(err, size, "status.%s is not a text", key);
	if (json_string_length(value) > 0)
		bytes_set(to, json_string_value(value), json_string_length(value));
	return true;
}

static void
wipe_strings(json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		if (json_is_string(value))
			explicit_bzero(
			    (char *)(uintptr_t)json_string_value(value), json_string_length(value));
	}
}

static json_t *
cluster_info(const struct kubeconfig *k)
{
	json_t *const cluster = json_object();
	struct bytes ca = { NULL, 0 }, text = { NULL, 0 };

	add_text(cluster, "server", k->server);
	add_text(cluster, "tls-server-name", k->tls_server_name);
	if (k->insecure)
		json_object_set_new(cluster, "insecure-skip-tls-verify", json_true());
	if (k->ca_data.data != NULL)
		bytes_set(&ca, k->ca_data.data, k->ca_data.len);
	else if (k->ca_file != NULL)
		bytes_read_file(&ca, k->ca_file, CA_FILE_MAX);
	if (ca.data != NULL) {
		bytes_to_base64(&text, ca.data, ca.len);
		add_text(cluster, "certificate-authority-data", text.data);
	}
	add_text(cluster, "proxy-url", k->proxy_url);
	if (k->disable_compression)
		json_object_set_new(cluster, "disable-compression", json_true());
	if (k->exec->cluster_config != NULL)
		json_object_set(cluster, "config", k->exec->cluster_config);
	bytes_wipe(&ca);
	bytes_wipe(&text);
	return cluster;
}

static void
add_text(json_t *object, const char *key, const char *text)
{
	if (text != NULL)
		MUST(json_object_set_new(object, key, json_string(text)) == 0);
}
