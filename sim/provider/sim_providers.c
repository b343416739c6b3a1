/* sim/provider/sim_providers.c - starts the provider APIs that the options name, and ends them. */
#include "sim_providers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/http/sim_server.h"
#include "sim/sim_options.h"
#include "sim_providers_private.h"

#define PROVIDER_EXTERN(ID, name, help) extern const struct sim_provider_kind sim_##name##_kind;
SIM_PROVIDERS(PROVIDER_EXTERN)
#undef PROVIDER_EXTERN

static const struct sim_provider_kind *const kinds[SIM_PROVIDER_MAX] = {
#define PROVIDER_KIND(ID, name, help) [SIM_PROVIDER_##ID] = &sim_##name##_kind,
	SIM_PROVIDERS(PROVIDER_KIND)
#undef PROVIDER_KIND
};

static bool open_audit(struct sim_providers *, const char *, char *, size_t);
static bool start(struct sim_providers *, struct simulator *, enum sim_provider_id, char *, size_t);
static void add_token(struct sim_provider *, const char *);

struct sim_providers *
sim_providers_new(struct simulator *s, char *why, size_t size)
{
	struct sim_providers *p;

	OBJ_NEW(p, PROVIDERS_MAGIC);
	bool started = open_audit(p, s->options->provider_audit, why, size);
	for (int i = 0; i < SIM_PROVIDER_MAX; i++) {
		if (started && s->options->providers[i].address != NULL)
			started = start(p, s, (enum sim_provider_id)i, why, size);
	}
	if (!started)
		sim_providers_free(&p);
	return p;
}

void
sim_providers_free(struct sim_providers **pp)
{
	struct sim_providers *p;

	if (*pp == NULL)
		return;
	OBJ_TAKE(p, pp, PROVIDERS_MAGIC);
	for (size_t i = 0; i < NITEMS(p->all); i++) {
		struct provider_service *const one = &p->all[i];

		if (one->kind == NULL)
			continue;
		/* The server first: its connections hold the calls. */
		sim_server_free(&one->server);
		sim_provider_free(&one->provider);
		one->kind->close(one->model);
	}
	if (p->audit.out != NULL)
		fclose(p->audit.out);
	OBJ_FREE(p);
}

const char *
sim_provider_name(enum sim_provider_id id)
{
	return kinds[id]->spec->name;
}

const char *
sim_providers_url(const struct sim_providers *p, enum sim_provider_id id)
{
	return p->all[id].server != NULL ? sim_server_url(p->all[id].server) : NULL;
}

static bool
open_audit(struct sim_providers *p, const char *path, char *why, size_t size)
{
	if (path == NULL)
		return true;
	p->audit_path = path;
	p->audit.out = fopen(path, "we");
	if (p->audit.out == NULL)
		snprintf(why, size, "--provider-audit: %s: %s", path, strerror(errno));
	return p->audit.out != NULL;
}

static bool
start(struct sim_providers *p, struct simulator *s, enum sim_provider_id id, char *why, size_t size)
{
	const struct sim_provider_options *const o = &s->options->providers[id];
	struct provider_service *const one = &p->all[id];

	one->kind = kinds[id];
	one->model = one->kind->open(s, o->join);
	one->provider = sim_provider_new(one->kind->spec, &(struct sim_provider_deps){ .base = s->base,
	    .faults = s->faults, .audit = &p->audit, .model = one->model,
	    .rules = one->kind->rules });
	for (size_t i = 0; i < o->ntokens; i++)
		add_token(one->provider, o->tokens[i]);
	one->server = sim_server_new(s->base, o->address, s->tls, sim_provider_serve, one->provider, why,
	    size);
	return one->server != NULL;
}

/* TOKEN=ID, as sim_options.c has checked. A token may have equals signs, as base64 has. */
static void
add_token(struct sim_provider *provider, const char *pair)
{
	char *const token = obj_strdup(pair);
	char *const equals = strrchr(token, '=');

	*equals = '\0';
	sim_provider_add_token(provider, token, equals + 1);
	free(token);
}
