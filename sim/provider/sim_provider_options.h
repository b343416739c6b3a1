/*
 * sim/provider/sim_provider_options.h - the provider APIs that muster-sim can serve, and the options of each.
 *
 * A row is all that the command line, the help text, the line on stdout and the start need: the folder of
 * that name defines `const struct sim_provider_kind sim_NAME_kind` (sim_providers.h).
 */
#ifndef MUSTER_SIM_PROVIDER_OPTIONS_H
#define MUSTER_SIM_PROVIDER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* ID, name (of its option, of faults and of the audit log), a line for --help */
#define SIM_PROVIDERS(P)							\
	P(VMS, vms, "the provider of test-claimer: VMs with a tag")		\
	P(LINODE, linode, "Linode: LKE clusters of both tiers, node pools, instances")	\
	P(VPSIE, vpsie, "VPSie: managed clusters, node groups, workers, VMs")	\
	P(AWS, aws, "AWS: STS with web identity, instance types of EC2")

enum sim_provider_id {
#define SIM_PROVIDER_ENUM(ID, name, help) SIM_PROVIDER_##ID,
	SIM_PROVIDERS(SIM_PROVIDER_ENUM)
#undef SIM_PROVIDER_ENUM
	SIM_PROVIDER_MAX
};

enum { SIM_PROVIDER_TOKENS_MAX = 16 };

struct sim_provider_options {
	const char	*address;	/* ADDRESS:PORT; NULL: it is not served */
	const char	*tokens[SIM_PROVIDER_TOKENS_MAX];	/* TOKEN=ID */
	size_t		 ntokens;
	bool		 join;		/* its machines become Nodes of the simulated cluster */
};

#endif
