/* sim/provider/sim_providers_private.h - one provider API that is served. */
#ifndef MUSTER_SIM_PROVIDERS_PRIVATE_H
#define MUSTER_SIM_PROVIDERS_PRIVATE_H

#include "sim_providers.h"

struct sim_server;

struct provider_service {
	const struct sim_provider_kind	*kind;		/* NULL: it is not served */
	void				*model;
	struct sim_provider		*provider;
	struct sim_server		*server;
};

struct sim_providers {
	uint32_t			 magic;
#define PROVIDERS_MAGIC	0x50525653u
	const char			*audit_path;	/* NULL: no log is written */
	struct sim_provider_audit	 audit;
	struct provider_service		 all[SIM_PROVIDER_MAX];
};

#endif
