/* sim/sim_options.h - the command line of muster-sim. */
#ifndef MUSTER_SIM_OPTIONS_H
#define MUSTER_SIM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/provider/sim_provider_options.h"

enum { OPTIONS_CRDS_MAX = 64, OPTIONS_WHY_MAX = 256 };

struct sim_options {
	const char	*kube, *control;	/* ADDRESS:PORT */
	const char	*crds[OPTIONS_CRDS_MAX];
	size_t		 ncrds;
	const char	*write_kubeconfig;
	const char	*tls_cert, *tls_key, *client_ca, *token_file;
	long		 nodes, node_bytes;
	double		 speed;			/* of the simulated time */
	double		 churn;			/* changes a second */
	long		 seed;
	bool		 openshift;
	long		 masters, infra, workers;	/* Nodes of an OpenShift, by role */
	const char	*release;		/* the version it begins with */
	struct sim_provider_options	 providers[SIM_PROVIDER_MAX];
	const char	*provider_audit;	/* the file of the audit log of all of them */
	bool		 help, version;
};

/* False with the reason in why. */
bool sim_options_read(struct sim_options *o, int argc, char **argv, char why[OPTIONS_WHY_MAX]);
const char *sim_options_help(void);

#endif
