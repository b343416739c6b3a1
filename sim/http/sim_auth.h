/*
 * sim/http/sim_auth.h - who asks. Tokens come from a file of lines `token,user,uid[,"group,group"]`, as
 * kube-apiserver's
 * --token-auth-file; unlike there the file is read again when it changes, so that rotation can be
 * tested.
 */
#ifndef MUSTER_SIM_AUTH_H
#define MUSTER_SIM_AUTH_H

#include <stdbool.h>
#include <stddef.h>

struct auth;
struct evhttp_request;
struct options;

enum { AUTH_USER_MAX = 128 };

/* NULL with a text in err. */
struct auth *auth_new(const struct options *o, char *err, size_t size);
void auth_free(struct auth **ap);
/*
 * False: 401. Without any means of identification configured everybody is the administrator; and so
 * is who shows none over plain HTTP, as with the insecure port that apiservers once had: client-go
 * sends no credentials there.
 */
bool auth_identify(struct auth *a, struct evhttp_request *req, char user[AUTH_USER_MAX]);
/* The first token of the file, for the kubeconfig; NULL: none. */
const char *auth_some_token(const struct auth *a);

#endif
