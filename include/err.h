/* include/err.h - every error that crosses a function: its name, what it says, whether waiting helps. */
#ifndef MUSTER_ERR_H
#define MUSTER_ERR_H

#include <stdbool.h>

/* ID, text for people, retry (true: weather, the queue tries again; false: somebody must change something) */
#define ERRORS(E)								\
	E(OK,          "ok",                                          false)	\
	E(AGAIN,       "not now",                                     true)	\
	E(TIMEOUT,     "no answer in time",                           true)	\
	E(NETWORK,     "connection failed",                           true)	\
	E(TLS,         "TLS verification failed",                     true)	\
	E(LIMITED,     "asked to slow down",                          true)	\
	E(SERVER,      "server error",                                true)	\
	E(STALE,       "view is older than our own write",            true)	\
	E(UNKNOWN,     "outcome unknown",                             true)	\
	E(TOO_BIG,     "larger than the limit",                       false)	\
	E(MALFORMED,   "not well-formed",                             false)	\
	E(SCHEMA,      "peer speaks another schema",                  false)	\
	E(DENIED,      "not allowed",                                 false)	\
	E(NOT_FOUND,   "not found",                                   false)	\
	E(INVALID,     "invalid value",                               false)	\
	E(NO_MEMORY,   "out of memory",                               false)

enum err {
#define ERR_ENUM(ID, text, retry) E_##ID,
	ERRORS(ERR_ENUM)
#undef ERR_ENUM
	E_MAX
};

const char *err_name(enum err e);	/* "TOO_BIG" */
const char *err_text(enum err e);	/* "larger than the limit" */
bool err_retry(enum err e);

/* Exit codes carry meaning, as in s6: the supervisor decides by them (supervision.md 2.5). */
enum {
	EXIT_CONFIG  = 100,	/* will never work until the configuration changes: not restarted */
	EXIT_WEATHER = 111,	/* the system failed me: try again */
};

#endif
