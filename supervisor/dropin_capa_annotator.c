/*
 * supervisor/dropin_capa_annotator.c - capa-annotator: the flags of the original (contract F5, FR8).
 *
 * Its other flags, those of klog, are taken without effect, but for -v. The web identity comes from the
 * environment, as in the original.
 */
#include <stdlib.h>
#include <string.h>

#include "dropin_common.h"
#include "obj.h"

/* The original's: in a rolling update from one to the other, only one of them writes. */
#define LEASE	"capa-annotator-leader"
/* The level of -v from which on the original logs what we log as debug. */
enum { VERBOSE = 3 };

#define NO_LOG	"muster logs to stderr, one JSON object per line"

#define FLAGS(F)	/* ID, name, initial, section, key, idle, help */		\
	F(METRICS, "metrics-bind-address", TEXT, ":8080", "metrics", "metrics-bind-address", NULL,	\
	    "Where /metrics is served, over plain HTTP; 0: nowhere.")			\
	F(NAMESPACE, "namespace", TEXT, "", "kube-watcher", "namespace", NULL,		\
	    "Annotate MachineDeployments of this namespace only. Empty: of all.")	\
	DROPIN_LEADER(F, LEASE)								\
	F(DURATION, "leader-elect-lease-duration", TEXT, "120s", "kube-watcher",	\
	    "leader-elect-lease-duration", NULL,					\
	    "How long the others wait for a leader that no longer renews.")		\
	F(LEASE_NS, "leader-elect-resource-namespace", TEXT, "", "kube-watcher",	\
	    "lease-namespace", NULL,							\
	    "Namespace of the Lease. Empty: the one of the credential.")		\
	DROPIN_HEALTH(F, "health-addr", ":9440")					\
	DROPIN_KUBECONFIG(F)								\
	F(VERBOSITY, "v", TEXT, "0", NULL, NULL, NULL, "From 3 on: log debug lines, too.")	\
	F(TO_STDERR, "logtostderr", BOOL, "true", NULL, NULL, NO_LOG, DROPIN_IDLE)		\
	F(ALSO_STDERR, "alsologtostderr", BOOL, "false", NULL, NULL, NO_LOG, DROPIN_IDLE)	\
	DROPIN_OWN(F)

enum flag {
	FLAGS(DROPIN_ENUM)
	FLAG_MAX
};

static const struct dropin_flag flags[FLAG_MAX] = { FLAGS(DROPIN_ROW) };

static const struct dropin_gone gone[] = {
	{ "feature-gates",
	    "--feature-gates was removed with the Machine API (FR8.6): leave the flag out, "
	    "see docs/capa-annotator.md" },
};

static dropin_step adapt;

const struct dropin_program dropin_capa_annotator = {
	.name = "capa-annotator",
	.flags = flags, .nflags = NITEMS(flags), .gone = gone, .ngone = NITEMS(gone),
	.print_flag = FLAG_PRINT, .adapt = adapt,
};

static enum dropin_end
adapt(struct dropin *d)
{
	const char *const level = dropin_text(d, FLAG_VERBOSITY);
	char *end;
	const long verbosity = strtol(level, &end, 10);

	if (level[0] == '\0' || *end != '\0')
		return dropin_refuse(d, DROPIN_WRONG,
		    "invalid value \"%.100s\" for flag -v: parse error", level);
	dropin_default_addresses(d, FLAG_METRICS, FLAG_HEALTH);
	dropin_set(d, "kube-watcher", "lease-name", LEASE);
	dropin_set(d, "supervisor", "log-level", verbosity >= VERBOSE ? "debug" : "info");
	/* A section enables its actor. */
	dropin_set(d, "capa-annotator", "catalogue-ttl", "24h");
	dropin_make_absolute(d, FLAG_KUBECONFIG);
	return DROPIN_OK;
}
