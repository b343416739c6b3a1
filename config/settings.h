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
 * FILE		absolute path of a file without a secret, which the actor may read	bytes
 * ADDR		host:port or :port; port 0: any	min 0: or "0" or off, which is none
 * DOMAIN	example.com			bytes
 * LABEL	my-name: one label of a domain	bytes
 * URL		https://example.com/v2; http:// only to this machine	bytes
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
	A(LKE_CLAIMER, "Gives each NodeClaim one machine of an LKE node pool, existing or new.") \
	A(VPSIE_CLAIMER, "Keeps one VM of VPSie per VPSieNode, and the VPSieNodes of each NodeGroup.") \
	A(CAPA_ANNOTATOR, "Annotates MachineDeployments on AWS, so that they can be scaled from zero.") \
	A(VIP_CLAIMER, "Gives each Cluster of a ClusterClass the address of its control plane.") \
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
	S(SUPERVISOR, "confine", CHOICE("seccomp|landlock|none"), "seccomp", 0, 0,	\
	    "Landlock lets each actor open only its own files; seccomp: that, and only the system "	\
	    "calls that it needs.")		\
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
	    "How long the others wait for a leader that no longer renews. "		\
	    "More than 12s if an actor changes anything at a provider.")	\
	S(KUBE_WATCHER, "lease-name", STR, "muster", 1, 253,			\
	    "Name of the Lease.")						\
	S(KUBE_WATCHER, "lease-namespace", STR, "", 0, 63,			\
	    "Its namespace. Empty: the one of the credential, else default.")	\
	S(KUBE_WATCHER, "writes-per-second", INT, "0", 0, 10000,		\
	    "Most of all actors' writes a second together, and of their live reads; "	\
	    "twice as many in a burst. 0: as many as the API server takes.")	\
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
	S(LKE_CLAIMER, "api-url", STR, "https://api.linode.com", 1, 1024,	\
	    "The Linode API, without the version.")				\
	S(LKE_CLAIMER, "api-version", CHOICE("v4|v4beta"), "v4beta", 0, 0,	\
	    "Its version. Only v4beta has the tier of a cluster: with v4 every cluster is Standard.")	\
	S(LKE_CLAIMER, "token-file", CREDENTIAL, "", 0, 1024,			\
	    "A token with the scopes lke:read_write and linodes:read_write. Needed.")	\
	S(LKE_CLAIMER, "cluster-id", INT, "0", 0, INT64_MAX,			\
	    "The LKE cluster. 0: it is found by cluster-name.")			\
	S(LKE_CLAIMER, "cluster-name", STR, "", 0, 64,				\
	    "Label of the LKE cluster, of which there must be exactly one. Empty: cluster-id names it.") \
	S(LKE_CLAIMER, "tag-style", CHOICE("colon|equals"), "colon", 0, 0,	\
	    "How tags are written, key:value or key=value. Both are recognised always.")	\
	S(LKE_CLAIMER, "create-deadline", DURATION, "10s", 0, MINUTES(60),	\
	    "A claim without a machine for so long gets the condition Launched=Unknown; work goes on.")	\
	S(LKE_CLAIMER, "tag-verification-timeout", DURATION, "5s", SECONDS(1), MINUTES(10),	\
	    "How long the tag of a claim may take to appear before it is written again.")	\
	S(LKE_CLAIMER, "orphan-ttl", DURATION, "5m", SECONDS(1), MINUTES(1440),	\
	    "A machine of our pools that is older and that no claim needs is removed.")	\
	S(LKE_CLAIMER, "registration-timeout", DURATION, "15m", 0, MINUTES(1440),	\
	    "A claim whose Node has not joined after so long is deleted. 0: never.")	\
	S(LKE_CLAIMER, "launch-timeout", DURATION, "5m", 0, MINUTES(1440),	\
	    "A claim without a machine after so long is deleted: it stops Karpenter. 0: never.")	\
	S(LKE_CLAIMER, "drain-timeout", DURATION, "0s", 0, MINUTES(1440),	\
	    "The machine goes after so long, drained or not. 0: as the claim itself has it.")	\
	S(LKE_CLAIMER, "resync-interval", DURATION, "2m", SECONDS(1), MINUTES(60),	\
	    "How often pools and machines are listed while nothing has to be done.")	\
	S(LKE_CLAIMER, "catalogue-ttl", DURATION, "24h", MINUTES(1), MINUTES(10080),	\
	    "How old the instance types, their prices and their availability may be.")	\
	S(LKE_CLAIMER, "lists-per-minute", INT, "200", 1, 100000,		\
	    "Limit of calls that read a list in pages, as the API has it.")	\
	S(LKE_CLAIMER, "calls-per-minute", INT, "1600", 1, 100000,		\
	    "Limit of all other calls, as the API has it.")			\
	S(LKE_CLAIMER, "deletions-per-minute", INT, "20", 1, 64,		\
	    "Claims and machines that it deletes by its own decision.")		\
	S(LKE_CLAIMER, "vm-memory-overhead", INT, "75", 0, 500,			\
	    "Thousandths of a machine's memory that its kernel does not show.")	\
	S(LKE_CLAIMER, "max-nodes", INT, "5000", 100, 100000,			\
	    "Machines to expect at most: the memory limit grows with it.")	\
	S(VPSIE_CLAIMER, "api-url", URL, "https://api.vpsie.com/v2", 1, 255,	\
	    "The VPSie API. A file `url` in credential-dir wins.")		\
	S(VPSIE_CLAIMER, "auth-header", CHOICE("authorization|vpsie-auth"), "authorization", 0, 0,	\
	    "Header of the token: Authorization: Bearer, or Vpsie-Auth.")	\
	S(VPSIE_CLAIMER, "credential-dir", PATH, "", 0, 1024,			\
	    "Folder with the files token, or clientId and clientSecret, and optionally url. "	\
	    "A change is used without a restart; it has no default.")		\
	S(VPSIE_CLAIMER, "discovery-interval", DURATION, "10s", 100, MINUTES(10),	\
	    "How often machines are listed while a VPSieNode waits for its own.")	\
	S(VPSIE_CLAIMER, "resync-interval", DURATION, "5m", 0, MINUTES(1440),	\
	    "How often they are listed while nobody waits: somebody may delete one. 0: never.")	\
	S(VPSIE_CLAIMER, "provisioning-timeout", DURATION, "15m", SECONDS(1), MINUTES(1440),	\
	    "From status.createdAt; then a VPSieNode without a machine is Failed.")	\
	S(VPSIE_CLAIMER, "joining-timeout", DURATION, "15m", SECONDS(1), MINUTES(1440),	\
	    "From status.provisionedAt; then one without a Node that is ready is Failed.")	\
	S(VPSIE_CLAIMER, "failed-ttl", DURATION, "0s", 0, MINUTES(10080),	\
	    "After it a Failed VPSieNode is deleted, with its machine. 0: never.")	\
	S(VPSIE_CLAIMER, "drain-timeout", DURATION, "10m", 0, MINUTES(1440),	\
	    "Limit of a drain; the machine is deleted then. 0: none.")		\
	S(VPSIE_CLAIMER, "confirm-interval", DURATION, "30s", 100, MINUTES(60),	\
	    "Two observations that a machine is gone, or a time is over, are at least so far apart.")	\
	S(VPSIE_CLAIMER, "clock-skew", DURATION, "1m", 0, MINUTES(60),		\
	    "The provider's clock may be so much behind the cluster's.")	\
	S(VPSIE_CLAIMER, "requests-per-minute", INT, "100", 1, 60000,		\
	    "Rate of all calls of the VPSie API; a fifth of it in a burst.")	\
	S(VPSIE_CLAIMER, "max-nodes", INT, "20000", 100, 1000000,		\
	    "Nodes and machines to expect at most: the memory limit grows with it.")	\
	S(CAPA_ANNOTATOR, "catalogue-ttl", DURATION, "24h", SECONDS(1), MINUTES(10080),	\
	    "How old the instance types of a region may be before they are read again.")	\
	S(CAPA_ANNOTATOR, "unknown-type-interval", DURATION, "5m", SECONDS(1), MINUTES(1440),	\
	    "A type that they do not have justifies one early reading, so long after the last.")	\
	S(CAPA_ANNOTATOR, "credential-slack", DURATION, "5m", 0, MINUTES(60),	\
	    "Credentials are renewed so long before they expire, but not in the first half of their time.") \
	S(CAPA_ANNOTATOR, "request-timeout", DURATION, "30s", SECONDS(1), MINUTES(5),	\
	    "Limit of one request to AWS.")					\
	S(CAPA_ANNOTATOR, "retry-interval", DURATION, "1s", 10, MINUTES(10),	\
	    "Before a request that failed is repeated; it doubles with each failure in a row.")	\
	S(CAPA_ANNOTATOR, "retry-interval-max", DURATION, "5m", 10, MINUTES(1440),	\
	    "The longest time between two attempts, also after a refusal.")	\
	S(CAPA_ANNOTATOR, "requests-per-second", INT, "5", 1, 1000,		\
	    "Rate of requests to EC2 in each region; twice as many in a burst.")	\
	S(CAPA_ANNOTATOR, "max-machinedeployments", INT, "20000", 100, 1000000,	\
	    "MachineDeployments to expect at most: the memory limit grows with it.")	\
	S(VIP_CLAIMER, "enable-runtime-extension", BOOL, "true", 0, 0,		\
	    "Serve the hooks of Cluster API. Without them addresses are still given, but perhaps too late.") \
	S(VIP_CLAIMER, "hook-bind-address", ADDR, ":9443", 1, 1,		\
	    "Where the hooks are served, over HTTPS.")				\
	S(VIP_CLAIMER, "tls-dir", PATH, "", 0, 1024,				\
	    "Folder with tls.crt and tls.key, as a kubernetes.io/tls Secret mounts. A change is used "	\
	    "without a restart. Needed for the hooks; it has no default.")	\
	S(VIP_CLAIMER, "client-ca-file", FILE, "", 0, 1024,		\
	    "Only clients with a certificate of this CA may call the hooks. Empty: all.")	\
	S(VIP_CLAIMER, "extension-name", LABEL, "vip-allocator", 1, 44,		\
	    "The hooks are NAME-before-create and NAME-generate-patches.")	\
	S(VIP_CLAIMER, "before-create-timeout", DURATION, "55s", SECONDS(1), MINUTES(1440),	\
	    "How old a claim without an address is before a Warning has the cause. It still waits.")	\
	S(VIP_CLAIMER, "default-port", INT, "6443", 1, 65535,			\
	    "Port of the endpoint of a Cluster that has none.")			\
	S(VIP_CLAIMER, "max-clusters", INT, "20000", 100, 1000000,		\
	    "Clusters, claims and addresses to expect at most: the memory limit grows with it.")	\
	S(METRICS, "metrics-bind-address", ADDR, ":8080", 0, 0,			\
	    "Where /metrics is served.")					\
	S(METRICS, "health-probe-bind-address", ADDR, ":9440", 0, 0,		\
	    "Where /healthz and /readyz are served, over plain HTTP.")		\
	S(METRICS, "tls-dir", PATH, "", 0, 1024,				\
	    "Folder of certificate and key, as a kubernetes.io/tls Secret mounts: /metrics is "	\
	    "served over HTTPS. A change is used without a restart. Empty: plain HTTP.")	\
	S(METRICS, "tls-cert-name", STR, "tls.crt", 1, 253,			\
	    "The certificate in tls-dir.")					\
	S(METRICS, "tls-key-name", STR, "tls.key", 1, 253,			\
	    "Its key in tls-dir.")						\
	TEST_SETTINGS(S)

#endif
