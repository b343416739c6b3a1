/*
 * supervisor/dropin_node_state.c - node-state-controller: the flags of openshift-update-experience's
 * manager.
 *
 * node-state itself has no flag, as in the original: insight needs it, which enables it and logs
 * it. Never: a listener that is less protected than what a flag explicitly requires.
 */
#include <string.h>

#include "dropin_common.h"
#include "obj.h"

/* The original's: in a rolling update from one to the other, only one of them writes. */
#define LEASE	"f729794d.muller.dev"
/* Its manifest gives the pod 10 s to end. */
#define STOP	"7s"

#define NO_HOOK	"neither the original nor muster has a webhook"

#define FLAGS(F)	/* ID, name, initial, section, key, idle, help */		\
	F(NODE, "enable-node-controller", BOOL, "true", "insight", "nodes", NULL,	\
	    "Keep a NodeProgressInsight for each node. Enables node-state.")		\
	F(POOL, "enable-machine-config-pool-controller", BOOL, "true", "insight", "pools", NULL,	\
	    "Keep a MachineConfigPoolProgressInsight for each pool. Enables node-state.")	\
	F(VERSION, "enable-cluster-version-controller", BOOL, "true", NULL, NULL, NULL,	\
	    "Taken, but muster keeps no ClusterVersionProgressInsight.")		\
	F(OPERATOR, "enable-cluster-operator-controller", BOOL, "true", NULL, NULL, NULL,	\
	    "Taken, but muster keeps no ClusterOperatorProgressInsight.")		\
	F(METRICS, "metrics-bind-address", TEXT, "0", "metrics", "metrics-bind-address", NULL,	\
	    "Where /metrics is served; 0: nowhere.")					\
	F(SECURE, "metrics-secure", BOOL, "false", NULL, NULL, NULL,			\
	    "Serve /metrics over HTTPS; needs --metrics-cert-path.")			\
	F(CERT_PATH, "metrics-cert-path", TEXT, "", "metrics", "tls-dir", NULL,		\
	    "Folder of the certificate for /metrics; it is served over HTTPS then, unless "	\
	    "--metrics-secure=false.")							\
	F(CERT_NAME, "metrics-cert-name", TEXT, "tls.crt", "metrics", "tls-cert-name", NULL,	\
	    "The certificate in --metrics-cert-path.")					\
	F(CERT_KEY, "metrics-cert-key", TEXT, "tls.key", "metrics", "tls-key-name", NULL,	\
	    "Its key in --metrics-cert-path.")						\
	DROPIN_HEALTH(F, "health-probe-bind-address", ":8081")				\
	DROPIN_LEADER(F, LEASE)								\
	DROPIN_KUBECONFIG(F)								\
	F(HTTP2, "enable-http2", BOOL, "false", NULL, NULL, "muster's listeners speak HTTP/1.1",	\
	    DROPIN_IDLE)							\
	F(HOOK_PATH, "webhook-cert-path", TEXT, "", NULL, NULL, NO_HOOK, DROPIN_IDLE)	\
	F(HOOK_NAME, "webhook-cert-name", TEXT, "tls.crt", NULL, NULL, NO_HOOK, DROPIN_IDLE)	\
	F(HOOK_KEY, "webhook-cert-key", TEXT, "tls.key", NULL, NULL, NO_HOOK, DROPIN_IDLE)	\
	DROPIN_ZAP(F)									\
	DROPIN_OWN(F)

enum flag {
	FLAGS(DROPIN_ENUM)
	FLAG_MAX
};

static const struct dropin_flag flags[FLAG_MAX] = { FLAGS(DROPIN_ROW) };

static const struct dropin_gone gone[] = {
	{ "enable-node-state-controller",
	    "--enable-node-state-controller was removed: node-state is enabled by --enable-node-controller "
	    "(and by --enable-machine-config-pool-controller), both true by default; leave the flag out, "
	    "see docs/migration.md" },
};

static dropin_step adapt, check_controllers, check_metrics, set_log;

const struct dropin_program dropin_node_state = {
	.name = "node-state-controller",
	.flags = flags, .nflags = NITEMS(flags), .gone = gone, .ngone = NITEMS(gone),
	.print_flag = FLAG_PRINT, .adapt = adapt,
};

static enum dropin_end
adapt(struct dropin *d)
{
	static dropin_step *const steps[] = { check_controllers, check_metrics, set_log };
	enum dropin_end end = DROPIN_OK;

	for (size_t i = 0; end == DROPIN_OK && i < NITEMS(steps); i++)
		end = steps[i](d);
	dropin_set(d, "kube-watcher", "lease-name", LEASE);
	dropin_set(d, "supervisor", "stop-timeout", STOP);
	dropin_make_absolute(d, FLAG_KUBECONFIG);
	return end;
}

static enum dropin_end
check_controllers(struct dropin *d)
{
	const bool version = dropin_on(d, FLAG_VERSION), operators = dropin_on(d, FLAG_OPERATOR);

	if (!dropin_on(d, FLAG_NODE) && !dropin_on(d, FLAG_POOL))
		return dropin_refuse(d, DROPIN_REFUSED,
		    "%s: enable --enable-node-controller or --enable-machine-config-pool-controller",
		    version || operators ? "muster does not have a controller for what is enabled"
					 : "all four controllers are disabled, so there is nothing to do");
	if (version || operators)
		dropin_note(d, (struct dropin_note){ .warn = true,
		    .text = "these insights are not kept by muster",
		    .about = !operators ? "ClusterVersionProgressInsight"
			: !version ? "ClusterOperatorProgressInsight"
				   : "ClusterVersionProgressInsight, ClusterOperatorProgressInsight",
		    .hint = "switch their enable flags off here; whoever needs them runs the original with "
			    "only those two, see docs/migration.md" });
	return DROPIN_OK;
}

/*
 * The original serves HTTPS unless a flag turns it off, with a certificate that it makes itself
 * when it is given none. muster makes none: where a flag requires HTTPS and there is no
 * certificate, the start is refused; with neither there is plain HTTP and a warning.
 */
static enum dropin_end
check_metrics(struct dropin *d)
{
	struct dropin_value *const address = &d->flags.values[FLAG_METRICS];
	struct dropin_value *const secure = &d->flags.values[FLAG_SECURE];
	struct dropin_value *const folder = &d->flags.values[FLAG_CERT_PATH];
	const bool certificate = folder->text[0] != '\0';

	dropin_default_addresses(d, FLAG_METRICS, FLAG_HEALTH);
	if (strcmp(address->text, "0") == 0)
		return DROPIN_OK;
	if (dropin_on(d, FLAG_SECURE) && !certificate)
		return dropin_refuse(d, DROPIN_REFUSED,
		    "--metrics-secure=true with --metrics-bind-address=%.100s needs --metrics-cert-path: "
		    "muster makes no certificate of its own. Give the folder of one, or bind to 127.0.0.1 "
		    "with --metrics-secure=false, or switch it off with --metrics-bind-address=0",
		    address->text);
	/* As in the original, whose server reads no certificate then. */
	if (secure->given && !dropin_on(d, FLAG_SECURE))
		folder->text = "";
	else if (!certificate)
		dropin_note(d, (struct dropin_note){ .warn = true,
		    .text = "metrics are served over plain HTTP, to everybody who can reach the address",
		    .about = flags[FLAG_SECURE].name,
		    .hint = "the original's default is HTTPS; give --metrics-cert-path, or "
			    "--metrics-secure=false for HTTP" });
	return DROPIN_OK;
}

static enum dropin_end
set_log(struct dropin *d)
{
	return dropin_zap(d, DROPIN_ZAP_FLAGS);
}
