/* sim/sim.c - the parts put together; now, and names that nobody else has. */
#include "sim.h"

#include <stdio.h>

#include "sim/http/sim_kubeconfig.h"
#include "sim/kube/sim_api.h"
#include "sim/http/sim_audit.h"
#include "sim/http/sim_auth.h"
#include "clock.h"
#include "sim/http/sim_control.h"
#include "sim/cluster/sim_controllers.h"
#include "sim/faults/sim_faults.h"
#include "kube/time.h"
#include "sim/cluster/sim_load.h"
#include "obj.h"
#include "sim_options.h"
#include "random.h"
#include "sim/kube/discovery/sim_registry.h"
#include "sim/http/sim_server.h"
#include "sim/kube/store/sim_store.h"
#include "sim/http/sim_tls.h"
#include "sim/kube/store/sim_watch.h"
#include "sim/cluster/sim_cluster.h"

static bool fill(struct sim *, char *, size_t);
static bool listen_on(struct sim *, char *, size_t);
static void on_change(const struct change *, void *);

bool
sim_open(struct sim *s, struct event_base *base, const struct options *o, char *why, size_t size)
{
	*s = (struct sim){ .base = base, .options = o, .seed = (uint64_t)o->seed };
	s->depot = depot_new(on_change, s);
	s->registry = registry_new(s->depot);
	s->faults = faults_new();
	s->audit = audit_new();
	s->watches = watches_new(s);
	s->controllers = controllers_new(s);
	s->world = world_new(s);
	s->auth = auth_new(o, why, size);
	return s->auth != NULL && fill(s, why, size) && listen_on(s, why, size)
	    && (o->write_kubeconfig == NULL || access_write(o, s->auth, server_url(s->kube), why, size));
}

void
sim_close(struct sim *s)
{
	/* The servers first: their connections hold everything else. */
	server_free(&s->kube);
	server_free(&s->control);
	tls_free(&s->tls);
	world_free(&s->world);
	controllers_free(&s->controllers);
	watches_free(&s->watches);
	audit_free(&s->audit);
	faults_free(&s->faults);
	auth_free(&s->auth);
	registry_free(&s->registry);
	depot_free(&s->depot);
}

const char *
sim_now(char buf[SIM_TIME_MAX])
{
	time_format(clock_wall_ms() * 1000, buf, SIM_TIME_MAX);
	return buf;
}

const char *
sim_uid(struct sim *s, char buf[SIM_UID_MAX])
{
	const uint64_t a = random_next(&s->seed), b = random_next(&s->seed);

	/* Version 4, variant 1. */
	snprintf(buf, SIM_UID_MAX, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
	    (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
	    (unsigned)(0x8000 | (b >> 48 & 0x3fff)), (unsigned long long)(b & 0xffffffffffff));
	return buf;
}

const char *
sim_suffix(struct sim *s, char buf[SIM_SUFFIX_MAX])
{
	/* No vowels, so no words; no 0, 1 and 3, so no mistakes: as apiserver's names.go. */
	static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";

	for (int i = 0; i < SIM_SUFFIX_MAX - 1; i++)
		buf[i] = alphabet[random_below(&s->seed, sizeof(alphabet) - 1)];
	buf[SIM_SUFFIX_MAX - 1] = '\0';
	return buf;
}

/* What is there when the first client comes. */
static bool
fill(struct sim *s, char *why, size_t size)
{
	const struct options *const o = s->options;

	load_namespaces(s);
	for (size_t i = 0; i < o->ncrds; i++) {
		if (!load_crds(s, o->crds[i], why, size))
			return false;
	}
	controllers_settle(s->controllers);
	world_populate(s->world, (size_t)o->nodes);
	if (o->openshift && !world_begin_openshift(s->world, why, size))
		return false;
	if (o->churn > 0)
		world_churn(s->world, o->churn);
	return true;
}

static bool
listen_on(struct sim *s, char *why, size_t size)
{
	const struct options *const o = s->options;

	if (o->tls_cert != NULL) {
		s->tls = tls_new(o->tls_cert, o->tls_key, o->client_ca, why, size);
		if (s->tls == NULL)
			return false;
	}
	s->kube = server_new(s->base, o->kube, s->tls, api_serve, s, why, size);
	if (s->kube != NULL)
		s->control = server_new(s->base, o->control, NULL, control_serve, s, why, size);
	return s->control != NULL;
}

static void
on_change(const struct change *c, void *arg)
{
	struct sim *const s = arg;

	controllers_note(s->controllers, c);
	watches_wake(s->watches);
}
