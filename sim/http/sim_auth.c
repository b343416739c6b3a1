/* sim/http/sim_auth.c - bearer tokens and client certificates. */
#include "sim_auth.h"

#include <errno.h>
#include <event2/http.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "obj.h"
#include "sim/sim_options.h"
#include "sim_tls.h"

struct auth_token {
	char	*token, *user;
};

struct sim_auth {
	uint32_t		 magic;
#define AUTH_MAGIC	0x41555448u
	const char		*file;
	bool			 certificates, plain_http;
	struct timespec		 changed;
	struct auth_token	*tokens;
	size_t			 n;
};

static bool load(struct sim_auth *, char *, size_t);
static void forget(struct sim_auth *);
static const char *by_token(const struct sim_auth *, const char *);

struct sim_auth *
sim_auth_new(const struct sim_options *o, char *err, size_t size)
{
	struct sim_auth *a;

	OBJ_NEW(a, AUTH_MAGIC);
	a->file = o->token_file;
	a->certificates = o->client_ca != NULL;
	a->plain_http = o->tls_cert == NULL;
	if (a->file != NULL && !load(a, err, size))
		sim_auth_free(&a);
	return a;
}

void
sim_auth_free(struct sim_auth **ap)
{
	struct sim_auth *a;

	if (*ap == NULL)
		return;
	OBJ_TAKE(a, ap, AUTH_MAGIC);
	forget(a);
	OBJ_FREE(a);
}

bool
sim_auth_identify(struct sim_auth *a, struct evhttp_request *req, char user[AUTH_USER_MAX])
{
	const char *const header = evhttp_find_header(evhttp_request_get_input_headers(req), "Authorization");
	struct stat st;
	char err[256];

	snprintf(user, AUTH_USER_MAX, "system:admin");
	if (a->file == NULL && !a->certificates)
		return true;
	/* A file that is gone or broken for a moment leaves the last good one in force. */
	if (a->file != NULL && stat(a->file, &st) == 0
	    && (st.st_mtim.tv_sec != a->changed.tv_sec || st.st_mtim.tv_nsec != a->changed.tv_nsec))
		load(a, err, sizeof(err));
	if (header != NULL && strncasecmp(header, "Bearer ", 7) == 0) {
		const char *const name = by_token(a, header + 7);

		if (name != NULL)
			snprintf(user, AUTH_USER_MAX, "%s", name);
		return name != NULL;
	}
	return a->plain_http
	    || (a->certificates
		&& sim_tls_client(evhttp_connection_get_bufferevent(evhttp_request_get_connection(req)),
		    user, AUTH_USER_MAX));
}

const char *
sim_auth_first_token(const struct sim_auth *a)
{
	return a->n > 0 ? a->tokens[0].token : NULL;
}

static bool
load(struct sim_auth *a, char *err, size_t size)
{
	FILE *const f = fopen(a->file, "re");
	char line[4096];
	struct stat st;

	if (f == NULL || fstat(fileno(f), &st) == -1) {
		snprintf(err, size, "%s: %s", a->file, strerror(errno));
		if (f != NULL)
			fclose(f);
		return false;
	}
	forget(a);
	a->changed = st.st_mtim;
	while (fgets(line, sizeof(line), f) != NULL) {
		char *rest = line;
		const char *const token = strsep(&rest, ",\r\n");
		const char *const user = rest != NULL ? strsep(&rest, ",\r\n") : NULL;

		if (user == NULL || token[0] == '\0' || token[0] == '#')
			continue;
		a->tokens = obj_realloc(a->tokens, (a->n + 1) * sizeof(*a->tokens));
		a->tokens[a->n++] = (struct auth_token){ obj_strdup(token), obj_strdup(user) };
	}
	fclose(f);
	return true;
}

static void
forget(struct sim_auth *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->tokens[i].token);
		free(a->tokens[i].user);
	}
	free(a->tokens);
	a->tokens = NULL;
	a->n = 0;
}

static const char *
by_token(const struct sim_auth *a, const char *token)
{
	for (size_t i = 0; i < a->n; i++) {
		if (strcmp(a->tokens[i].token, token) == 0)
			return a->tokens[i].user;
	}
	return NULL;
}
