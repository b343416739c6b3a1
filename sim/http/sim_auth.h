/*
 * sim/http/sim_auth.h - authentication. Tokens come from a file of lines
 * `token,user,uid[,"group,group"]`, as kube-apiserver's --token-auth-file; unlike there the file is
 * read again when it changes, so that rotation can be tested.
 */
#ifndef MUSTER_SIM_AUTH_H
#define MUSTER_SIM_AUTH_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/sim_options.h"

struct sim_auth;
struct evhttp_request;

enum { AUTH_USER_MAX = 128 };

/* NULL with a text in err. */
struct sim_auth *sim_auth_new(const struct sim_options *o, char *err, size_t size);
void sim_auth_free(struct sim_auth **ap);
/*
 * False: 401. Without any means of identification configured every client is the administrator; and so
 * is one without credentials over plain HTTP, as with the insecure port that apiservers once had: client-go
 * sends no credentials there.
 */
bool sim_auth_identify(struct sim_auth *a, struct evhttp_request *req, char user[AUTH_USER_MAX]);
/* The first token of the file, for the kubeconfig; NULL: none. */
const char *sim_auth_first_token(const struct sim_auth *a);

/* A kubeconfig for this server, written whole or not at all. False with a text in err. */
bool sim_kubeconfig_write(const struct sim_options *o, const struct sim_auth *a, const char *url,
    char *err, size_t size);

#endif
