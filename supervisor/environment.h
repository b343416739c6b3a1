/*
 * supervisor/environment.h - every environment variable that an actor can get, and which actors get it.
 *
 * E(name, TYPE, to): a row is one variable of musterd's own environment; what has no row reaches no actor.
 * ONLY(ROLE): it belongs to that actor, and so do the files that it names: no other actor gets the variable
 * or can open them.
 *
 * TYPE		its value		what the actors that get it may read
 * TEXT		any text		-
 * PATH		a file or a folder	that, as it is when the actor starts
 * FILE		absolute path of a file	its folder: Kubernetes replaces it by renaming `..data` in there
 */
#ifndef MUSTER_ENVIRONMENT_H
#define MUSTER_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "actors.h"

#define TO_ALL		{ .to = VARIABLE_ALL, .role = ROLE_NONE }
#define TO_CALLERS	{ .to = VARIABLE_CALLERS, .role = ROLE_NONE }
#define ONLY(ID)	{ .to = VARIABLE_ONLY, .role = ROLE_##ID }

#ifndef MUSTER_TEST_ACTORS
#define TEST_ENVIRONMENT(E)
#endif

/*
 * The address of a proxy may contain a password. A role may have rows here before its program exists, as
 * in roles.h.
 */
#define ENVIRONMENT(E)								\
	E("PATH", TEXT, TO_ALL)							\
	E("TZ", TEXT, TO_ALL)							\
	E("LANG", TEXT, TO_ALL)							\
	E("SSL_CERT_FILE", PATH, TO_ALL)						\
	E("SSL_CERT_DIR", PATH, TO_ALL)						\
	E("HOME", TEXT, TO_ALL)							\
	E("KUBECONFIG", TEXT, TO_ALL)						\
	E("KUBERNETES_SERVICE_HOST", TEXT, TO_ALL)					\
	E("KUBERNETES_SERVICE_PORT", TEXT, TO_ALL)					\
	E("ASAN_OPTIONS", TEXT, TO_ALL)						\
	E("UBSAN_OPTIONS", TEXT, TO_ALL)						\
	E("LSAN_OPTIONS", TEXT, TO_ALL)						\
	E("LLVM_PROFILE_FILE", TEXT, TO_ALL)					\
	E("HTTP_PROXY", TEXT, TO_CALLERS)						\
	E("HTTPS_PROXY", TEXT, TO_CALLERS)						\
	E("NO_PROXY", TEXT, TO_CALLERS)						\
	E("http_proxy", TEXT, TO_CALLERS)						\
	E("https_proxy", TEXT, TO_CALLERS)						\
	E("no_proxy", TEXT, TO_CALLERS)						\
	E("AWS_ROLE_ARN", TEXT, ONLY(CAPA_ANNOTATOR))				\
	E("AWS_ROLE_SESSION_NAME", TEXT, ONLY(CAPA_ANNOTATOR))			\
	E("AWS_WEB_IDENTITY_TOKEN_FILE", FILE, ONLY(CAPA_ANNOTATOR))		\
	E("AWS_REGION", TEXT, ONLY(CAPA_ANNOTATOR))				\
	E("AWS_ENDPOINT_URL", TEXT, ONLY(CAPA_ANNOTATOR))			\
	E("AWS_ENDPOINT_URL_STS", TEXT, ONLY(CAPA_ANNOTATOR))			\
	E("AWS_ENDPOINT_URL_EC2", TEXT, ONLY(CAPA_ANNOTATOR))			\
	E("AWS_CA_BUNDLE", FILE, ONLY(CAPA_ANNOTATOR))				\
	TEST_ENVIRONMENT(E)

enum variable_type { VARIABLE_TEXT, VARIABLE_PATH, VARIABLE_FILE };

enum variable_to {
	VARIABLE_ALL,
	VARIABLE_CALLERS,	/* actors that make HTTP calls: their row has TCP_CONNECT */
	VARIABLE_ONLY,		/* the one of that role */
};

struct variable {
	const char		*name;
	enum variable_type	 type;
	struct {
		enum variable_to	to;
		enum role		role;
	} reach;
};

enum {
#define VARIABLE_ONE(name, type, to) + 1
	VARIABLE_MAX = 0 ENVIRONMENT(VARIABLE_ONE)
#undef VARIABLE_ONE
};
extern const struct variable environment_table[VARIABLE_MAX];

/* Whether the actor of that row gets the variable. */
bool environment_reaches(const struct variable *v, const struct child_row *row);
/*
 * The values of the variables of that type that the actor gets, of which each is set and not empty: call
 * with *at = 0 until NULL comes. *v: the row.
 */
const char *environment_next(enum variable_type type, const struct child_row *row, size_t *at,
    const struct variable **v);
/* The whole environment of one actor, ends with NULL; for environment_free. */
char **environment_make(const struct child_row *row);
void environment_free(char **env);

#endif
