/* include/err.h - every error that crosses a function: its name, and its text. */
#ifndef MUSTER_ERR_H
#define MUSTER_ERR_H

/* ID, text for people */
#define ERRORS(E)								\
	E(OK,          "ok")	\
	E(AGAIN,       "not now")	\
	E(TIMEOUT,     "no answer in time")	\
	E(NETWORK,     "connection failed")	\
	E(TLS,         "TLS verification failed")	\
	E(LIMITED,     "rate limited by the server")	\
	E(SERVER,      "server error")	\
	E(STALE,       "view is older than our own write")	\
	E(UNKNOWN,     "outcome unknown")	\
	E(TOO_BIG,     "larger than the limit")	\
	E(MALFORMED,   "not well-formed")	\
	E(SCHEMA,      "peer has another schema")	\
	E(DENIED,      "not allowed")	\
	E(NOT_FOUND,   "not found")	\
	E(INVALID,     "invalid value")	\
	E(NO_MEMORY,   "out of memory")

enum err {
#define ERR_ENUM(ID, text) E_##ID,
	ERRORS(ERR_ENUM)
#undef ERR_ENUM
	E_MAX
};

const char *err_name(enum err e);	/* "TOO_BIG" */
const char *err_text(enum err e);	/* "larger than the limit" */

/* Exit codes carry meaning, as in s6: the supervisor decides by them (docs/supervision.md). */
enum {
	EXIT_CONFIG  = 100,	/* will never work until the configuration changes: not restarted */
	EXIT_TRANSIENT = 111,	/* a temporary failure of the system: try again */
};

#endif
