/*
 * config/settings.h - every setting that exists: the one schema of the configuration file.
 *
 * S(section, key, TYPE, default, min, max, help): add a row, and the parser, the error texts, the
 * default file and the reference follow. A(ID, help): an actor that may stand under `actors:`, named
 * by its role; each takes `enabled` too. After a change: `muster check --print-defaults` and
 * `--print-reference` write deploy/muster.yaml and docs/configuration.md (a test compares them).
 *
 * TYPE		text in the file		min, max
 * STR		any text			bytes (min 0: may be empty)
 * PATH		absolute path			bytes
 * CREDENTIAL	absolute path of a file with a secret; the secret itself has no way in	bytes
 * ADDR		host:port or :port; port 0: any	-
 * INT		decimal				number
 * BOOL		true or false			-
 * DURATION	500ms, 10s, 1h30m, 0		ms
 * LEVEL	debug, info, warn, error	-
 * FORMAT	json, console			-
 * CHOICE(w)	a word of w, "one|two"		-
 */
#ifndef MUSTER_SETTINGS_H
#define MUSTER_SETTINGS_H

#define SECONDS(n)	((n) * INT64_C(1000))
#define MINUTES(n)	((n) * INT64_C(60000))

#ifdef MUSTER_TEST_ACTORS
#include "../tests/actors/settings.def"
#else
#define TEST_SECTIONS(A)
#define TEST_SETTINGS(S)
#endif

#define ACTOR_SECTIONS(A)							\
	A(METRICS, "Serves the figures of all actors, and the health checks.")

/* run-dir: the path of a socket below it has at most 107 bytes (supervision.md 3, ipc). */
#define SETTINGS(S)								\
	S(SUPERVISOR, "run-dir", PATH, "", 0, 80,				\
	    "Folder of sockets and lock. Empty: $MUSTER_RUN_DIR, or /run/muster for root, "	\
	    "or $XDG_RUNTIME_DIR/muster.")					\
	S(SUPERVISOR, "log-level", LEVEL, "info", 0, 0,				\
	    "How much is logged, by the supervisor and by every actor.")	\
	S(SUPERVISOR, "log-format", FORMAT, "json", 0, 0,			\
	    "One JSON object per line, or text for people.")			\
	S(SUPERVISOR, "beat-interval", DURATION, "10s", 100, MINUTES(5),	\
	    "An actor shows signs of life this often; after three missed it is restarted.") \
	S(SUPERVISOR, "stop-timeout", DURATION, "27s", SECONDS(1), MINUTES(10),	\
	    "All stages of a stop together. Keep it 3s under the grace period of the pod.") \
	S(SUPERVISOR, "user", STR, "", 0, 32,					\
	    "Actors run as this user, if root starts musterd. Empty: the user who starts it.") \
	S(SUPERVISOR, "confine", CHOICE("landlock|none"), "landlock", 0, 0,	\
	    "Landlock lets each actor open only its own files.")		\
	S(METRICS, "metrics-bind-address", ADDR, ":8080", 0, 0,			\
	    "Where /metrics is served.")					\
	S(METRICS, "health-probe-bind-address", ADDR, ":9440", 0, 0,		\
	    "Where /healthz and /readyz are served.")				\
	TEST_SETTINGS(S)

#endif
