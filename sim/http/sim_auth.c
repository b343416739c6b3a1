/* sim/http/sim_auth.c - bearer tokens and client certificates. */
#include "sim_auth.h"

#include <errno.h>
#include <event2/http.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "keytab.h"
#include "obj.h"
#include "server/tls_server.h"
#include "sim/sim_options.h"

struct sim_auth {
	uint32_t		 magic;
#define AUTH_MAGIC	0x41555448u
	const char		*file;
	bool			 certificates, plain_http;
	struct timespec		 changed;
	struct keytab		*tokens;	/* each with its user, a text of AUTH_USER_MAX */
};

static bool load(struct sim_auth *, char *, size_t);

struct sim_auth *
sim_auth_new(const struct sim_options *o, char *err, size_t size)
{
	struct sim_auth *a;

	OBJ_NEW(a, AUTH_MAGIC);
	a->file = o->token_file;
	a->certificates = o->client_ca != NULL;
	a->plain_http = o->tls_cert == NULL;
	a->tokens = keytab_new(AUTH_USER_MAX);
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
	keytab_free(&a->tokens);
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
		const uint32_t id = keytab_find(a->tokens, header + 7, strlen(header + 7));

		if (id != KEYTAB_NONE)
			memcpy(user, keytab_value(a->tokens, id), AUTH_USER_MAX);
		return id != KEYTAB_NONE;
	}
	return a->plain_http
	    || (a->certificates
		&& tls_server_client(evhttp_connection_get_bufferevent(evhttp_request_get_connection(req)),
		    user, AUTH_USER_MAX));
}

const char *
sim_auth_first_token(const struct sim_auth *a)
{
	return keytab_key(a->tokens, 0, NULL);
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
	keytab_free(&a->tokens);
	a->tokens = keytab_new(AUTH_USER_MAX);
	a->changed = st.st_mtim;
	while (fgets(line, sizeof(line), f) != NULL) {
		char *rest = line;
		const char *const token = strsep(&rest, ",\r\n");
		const char *const user = rest != NULL ? strsep(&rest, ",\r\n") : NULL;

		bool added;

		if (user == NULL || token[0] == '\0' || token[0] == '#')
			continue;
		const uint32_t id = keytab_add(a->tokens, token, strlen(token), &added);
		if (added)
			snprintf(keytab_value(a->tokens, id), AUTH_USER_MAX, "%s", user);
	}
	fclose(f);
	return true;
}
