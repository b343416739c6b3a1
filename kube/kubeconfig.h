/*
 * kube/kubeconfig.h - how to reach a cluster and as whom: one context of a kubeconfig, or the
 * service account of a Pod. Everything is resolved and checked here, once; later code finds no
 * contradiction.
 *
 * Files are merged as kubectl does: of two entries with one name the first file's counts, whole;
 * the first current-context counts. Relative paths are relative to their file. `*-data` beats a
 * file, tokenFile beats token (which stays as the fallback while the file cannot be read).
 *
 * Untrusted: at most KUBECONFIG_FILE_MAX bytes per file; YAML aliases cost nothing, because only
 * known places are visited. Errors are `file:line: ...` or `file: context "x": ...` and never hold
 * the value of a secret field.
 */
#ifndef MUSTER_KUBECONFIG_H
#define MUSTER_KUBECONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kubeconfig_bytes.h"

enum {
	KUBECONFIG_FILE_MAX  = 1024 * 1024,
	KUBECONFIG_FILES_MAX = 32,
	KUBECONFIG_ERROR_MAX = 512,
};

#define KUBECONFIG_SERVICE_ACCOUNT	"/var/run/secrets/kubernetes.io/serviceaccount"

struct kubeconfig_exec {
	char	 *command;		/* with a slash: absolute; without: searched in PATH */
	char	**args;			/* without the command; up to NULL */
	char	**env;			/* "NAME=value", up to NULL */
	char	 *api_version;		/* client.authentication.k8s.io/v1 or /v1beta1 */
	char	 *install_hint;		/* or NULL */
	bool	  provide_cluster_info;
	json_t	 *cluster_config;	/* the cluster's extension .../exec, or NULL */
};

/* A NULL pointer, or bytes without data: not given. */
struct kubeconfig {
	uint32_t	 magic;
	char		*where;			/* for messages: `/path: context "x"`, or "in-cluster" */
	char		*server;		/* http(s)://host[:port][/prefix], no slash at the end */
	char		*namespace;		/* of the context, or of the Pod */
	char		*tls_server_name, *proxy_url;
	bool		 insecure, disable_compression;
	struct bytes	 ca_data, cert_data, key_data;
	/* Absolute, or NULL. */
	char		*ca_file, *cert_file, *key_file, *token_file;
	struct bytes	 token;
	char		*username, *password;
	struct kubeconfig_exec *exec;		/* NULL: none */
};

/* The environment is handed in, so that nothing here depends on who calls. */
struct kubeconfig_source {
	const char	*path;		/* this one file; NULL: see next */
	const char	*list;		/* $KUBECONFIG: colon list; NULL or "": see next */
	const char	*home;		/* ~/.kube/config */
	const char	*context;	/* NULL or "": current-context */
};

struct kubeconfig_pod {
	const char	*host, *port;	/* KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT */
	const char	*dir;		/* NULL: KUBECONFIG_SERVICE_ACCOUNT */
};

/* NULL with a text in err: that is configuration, waiting does not help. */
struct kubeconfig *kubeconfig_load(const struct kubeconfig_source *src, char *err, size_t size);
/* NULL with a text also when this is no Pod (no host). */
struct kubeconfig *kubeconfig_in_cluster(const struct kubeconfig_pod *pod, char *err, size_t size);
/* One file's bytes; `name` stands for its path (relative paths in it are relative to its folder). */
struct kubeconfig *kubeconfig_parse(const char *name, const char *text, size_t len, const char *context,
    char *err, size_t size);
void kubeconfig_free(struct kubeconfig **kp);

#endif
