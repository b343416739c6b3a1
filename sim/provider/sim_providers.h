/*
 * sim/provider/sim_providers.h - the provider APIs of one simulator: each with its address, its model and
 * its machines.
 */
#ifndef MUSTER_SIM_PROVIDERS_H
#define MUSTER_SIM_PROVIDERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/sim.h"
#include "sim_provider.h"
#include "sim_provider_options.h"

struct sim_machines;
struct sim_providers;

/* What the folder of a provider defines. */
struct sim_provider_kind {
	const struct sim_provider_spec	*spec;
	/* The model that the routes get; join: its machines become Nodes here. */
	void				*(*open)(struct simulator *s, bool join);
	void				(*close)(void *model);
	/* NULL: it has none. */
	struct sim_machines		*(*machines)(void *model);
	/* What the provider has, whatever its lists show: for tests. A new reference. */
	json_t				*(*state)(void *model);
	/* A setting of the model; false: there is none of that name, or it may not be that. May be NULL. */
	bool				(*set)(void *model, const char *key, const json_t *value);
	const struct sim_provider_rules	*rules;		/* NULL: none */
};

/* Those that the options name, listening. NULL with a text in why. */
struct sim_providers *sim_providers_new(struct simulator *s, char *why, size_t size);
void sim_providers_free(struct sim_providers **pp);
const char *sim_provider_name(enum sim_provider_id id);
/* NULL: it is not served. */
const char *sim_providers_url(const struct sim_providers *p, enum sim_provider_id id);

/* GET /providers of the control endpoint, and one command of POST /providers. NULL with a text in why. */
json_t *sim_providers_report(const struct sim_providers *p);
json_t *sim_providers_command(struct sim_providers *p, const json_t *command, char *why, size_t size);

#endif
