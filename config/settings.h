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
 * ADDR		host:port or :port; port 0: any	min 0: or "0" or off, which is none
 * DOMAIN	example.com			bytes
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
	A(KUBE_WATCHER, "Reads the cluster for all actors and writes for them: holds its credential.") \
	A(NODE_STATE, "Evaluates every node once, and publishes what changed to the actors downstream.") \
	A(INSIGHT, "Keeps one NodeProgressInsight per node and one per MachineConfigPool.") \
	A(METRICS, "Serves the figures of all actors, and the health checks.")

/* run-dir: the path of a socket below it has at most 107 bytes (struct sockaddr_un). */
#define SETTINGS(S)								\
	S(SUPERVISOR, "run-dir", PATH, "", 0, 80,				\
	    "Folder of sockets and lock. Empty: $MUSTER_RUN_DIR, or /run/muster for root, "	\
	    "or $XDG_RUNTIME_DIR/muster.")					\
	S(SUPERVISOR, "log-level", LEVEL, "info", 0, 0,				\
	    "How much is logged, by the supervisor and by every actor.")	\
	S(SUPERVISOR, "log-format", FORMAT, "json", 0, 0,			\
	    "One JSON object per line, or text for people.")			\
	S(SUPERVISOR, "beat-interval", DURATION, "10s", 100, MINUTES(5),	\
	    "How often an actor sends a beat; after three missed it is restarted.") \
	S(SUPERVISOR, "stop-timeout", DURATION, "27s", SECONDS(1), MINUTES(10),	\
	    "All stages of a stop together. Keep it 3s under the grace period of the pod.") \
	S(SUPERVISOR, "user", STR, "", 0, 32,					\
	    "Actors run as this user. Empty: the user who starts musterd; "	\
	    "root must choose, and may choose root.")				\
	S(SUPERVISOR, "confine", CHOICE("landlock|none"), "landlock", 0, 0,	\
	    "Landlock lets each actor open only its own files.")		\
	S(KUBE_WATCHER, "kubeconfig", CREDENTIAL, "", 0, 1024,			\
	    "How to reach the cluster. Empty: the service account inside a Pod, "		\
	    "else $KUBECONFIG or ~/.kube/config.")				\
	S(KUBE_WATCHER, "context", STR, "", 0, 253,				\
	    "Context of the kubeconfig. Empty: its current-context.")		\
	S(KUBE_WATCHER, "credential-dir", PATH, "", 0, 1024,			\
	    "Folder of certificates, keys and tokens that the kubeconfig names, if they lie elsewhere.") \
	S(KUBE_WATCHER, "exec-plugin-dir", PATH, "", 0, 1024,			\
	    "Folder of an exec plugin: it may run what is there and in /usr. Without it none can start.") \
	S(KUBE_WATCHER, "namespace", STR, "", 0, 63,				\
	    "Read namespaced objects of this namespace only. Empty: of all.")	\
	S(KUBE_WATCHER, "leader-elect", BOOL, "false", 0, 0,			\
	    "Write only while holding the Lease. Needed as soon as there are two replicas.") \
	S(KUBE_WATCHER, "leader-elect-lease-duration", DURATION, "15s", SECONDS(3), MINUTES(10),	\
	    "How long the others wait for a leader that no longer renews.")	\
	S(KUBE_WATCHER, "lease-name", STR, "muster", 1, 253,			\
	    "Name of the Lease.")						\
	S(KUBE_WATCHER, "lease-namespace", STR, "", 0, 63,			\
	    "Its namespace. Empty: the one of the credential, else default.")	\
	S(KUBE_WATCHER, "writes-per-second", INT, "50", 1, 10000,		\
	    "Rate of all actors' writes together; twice as many in a burst.")	\
	S(KUBE_WATCHER, "max-objects", INT, "20000", 100, 1000000,		\
	    "Objects to expect at most: the memory limit grows with it.")	\
	S(KUBE_WATCHER, "insight-group", DOMAIN, "openshift.muller.dev", 1, 253,	\
	    "API group of the insight kinds, as their CRDs have it.")		\
	S(NODE_STATE, "metrics-node-label", CHOICE("auto|on|off"), "auto", 0, 0,	\
	    "Label `node` on the evaluation metrics. auto: only up to 500 nodes.")	\
	S(NODE_STATE, "max-nodes", INT, "20000", 100, 1000000,			\
	    "Nodes to expect at most: the memory limit grows with it.")		\
	S(INSIGHT, "nodes", BOOL, "true", 0, 0,					\
	    "Keep a NodeProgressInsight for each node that a pool owns.")	\
	S(INSIGHT, "pools", BOOL, "true", 0, 0,					\
	    "Keep a MachineConfigPoolProgressInsight for each pool.")		\
	S(INSIGHT, "max-nodes", INT, "20000", 100, 1000000,			\
	    "Nodes to expect at most: the memory limit grows with it.")		\
	S(METRICS, "metrics-bind-address", ADDR, ":8080", 0, 0,			\
	    "Where /metrics is served; it is plain HTTP.")			\
	S(METRICS, "health-probe-bind-address", ADDR, ":9440", 0, 0,		\
	    "Where /healthz and /readyz are served.")				\
	TEST_SETTINGS(S)

#endif
