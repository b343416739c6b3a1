/* kube/kubeconfig_private.h - a kubeconfig while it is read. */
#ifndef MUSTER_KUBECONFIG_PRIVATE_H
#define MUSTER_KUBECONFIG_PRIVATE_H

#include "kubeconfig.h"
#include "kubeconfig_yaml.h"

enum { KUBECONFIG_MAGIC = 0x4b434647 };

/*
 * From the mapping under `cluster:` or `user:` into k. `name` is the entry's, for errors, which
 * go to f. The user comes second: what it needs depends on the server.
 */
void kubeconfig_fill_cluster(
    struct kubeconfig *k, struct yaml_file *f, const struct yaml_value *map, const char *name);
void kubeconfig_fill_user(
    struct kubeconfig *k, struct yaml_file *f, const struct yaml_value *map, const char *name);
void kubeconfig_exec_free(struct kubeconfig_exec **ep);

/* http(s)://host[:port][/prefix] without slash at the end; NULL: what is wrong is in *why. */
char *kubeconfig_server(const char *text, bool tls, const char **why);
/* NULL: it is fine; else what is wrong with it. */
const char *kubeconfig_proxy_fault(const char *url);
/* Visible ASCII only: anything else would break the header it goes into. */
bool kubeconfig_token_valid(const char *token, size_t len);

#endif
