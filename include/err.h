/* include/err.h - every error that crosses a function: its name, and its text. */
#ifndef MUSTER_ERR_H
#define MUSTER_ERR_H

#include <stdbool.h>
#include <stddef.h>

/* ID, text for people */
#define ERRORS(E)								\
	E(OK,          "ok")	\
	E(AGAIN,       "not now")	\
	E(TIMEOUT,     "no answer in time")	\
	E(NETWORK,     "connection failed")	\
	E(TLS,         "TLS verification failed")	\
	E(LIMITED,     "rate limited by the server")	\
	E(SERVER,      "server error")	\
	E(UNKNOWN,     "outcome unknown")	\
	E(TOO_BIG,     "larger than the limit")	\
	E(MALFORMED,   "not well-formed")	\
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

/* The reason into err, for a check that ends with it; always false. */
bool err_refuse(char *err, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Exit codes carry meaning, as in s6: the supervisor decides by them (docs/supervision.md). */
enum {
	EXIT_CONFIG  = 100,	/* will never work until the configuration changes: not restarted */
	EXIT_TRANSIENT = 111,	/* a temporary failure of the system: try again */
};

#endif
