/* sim/sim.c - the parts put together; the time, uids and name suffixes. */
#include "sim.h"

#include <stdio.h>

#include "clock.h"
#include "kube/time.h"
#include "obj.h"
#include "random.h"
#include "server/tls_server.h"
#include "sim/capi/sim_ipam.h"
#include "sim/cluster/sim_cluster.h"
#include "sim/cluster/sim_controllers.h"
#include "sim/faults/sim_faults.h"
#include "sim/http/sim_audit.h"
#include "sim/http/sim_auth.h"
#include "sim/http/sim_server.h"
#include "sim/kube/discovery/sim_registry.h"
#include "sim/kube/sim_api.h"
#include "sim/kube/store/sim_store.h"
#include "sim/kube/store/sim_watch.h"
#include "sim/provider/sim_providers.h"
#include "sim_options.h"

static bool fill(struct simulator *, char *, size_t);
static bool listen_on(struct simulator *, char *, size_t);
static void on_change(const struct sim_change *, void *);

bool
sim_open(struct simulator *s, struct event_base *base, const struct sim_options *o, char *why, size_t size)
{
	*s = (struct simulator){ .base = base, .options = o, .seed = (uint64_t)o->seed };
	s->store = sim_store_new(on_change, s);
	s->registry = sim_registry_new(s->store);
	s->faults = sim_faults_new();
	s->audit = sim_audit_new();
	s->watches = sim_watches_new(s);
	s->controllers = sim_controllers_new(s);
	s->cluster = sim_cluster_new(s);
	s->ipam = sim_ipam_new(s);
	s->auth = sim_auth_new(o, why, size);
	return s->auth != NULL && fill(s, why, size) && listen_on(s, why, size)
	    && (o->write_kubeconfig == NULL
	    || sim_kubeconfig_write(o, s->auth, sim_server_url(s->kube), why, size));
}

void
sim_close(struct simulator *s)
{
	/* The servers first: their connections hold everything else. */
	sim_server_free(&s->kube);
	sim_server_free(&s->control);
	sim_providers_free(&s->providers);
	tls_server_free(&s->tls);
	sim_ipam_free(&s->ipam);
	sim_cluster_free(&s->cluster);
	sim_controllers_free(&s->controllers);
	sim_watches_free(&s->watches);
	sim_audit_free(&s->audit);
	sim_faults_free(&s->faults);
	sim_auth_free(&s->auth);
	sim_registry_free(&s->registry);
	sim_store_free(&s->store);
}

const char *
sim_now(char buf[SIM_TIME_MAX])
{
	time_format(clock_wall_ms() * 1000, buf, SIM_TIME_MAX);
	return buf;
}

const char *
sim_uid(struct simulator *s, char buf[SIM_UID_MAX])
{
	const uint64_t a = random_next(&s->seed), b = random_next(&s->seed);

	/* Version 4, variant 1. */
	snprintf(buf, SIM_UID_MAX, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
	    (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
	    (unsigned)(0x8000 | (b >> 48 & 0x3fff)), (unsigned long long)(b & 0xffffffffffff));
	return buf;
}

const char *
sim_suffix(struct simulator *s, char buf[SIM_SUFFIX_MAX])
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
fill(struct simulator *s, char *why, size_t size)
{
	const struct sim_options *const o = s->options;

	sim_load_namespaces(s);
	for (size_t i = 0; i < o->ncrds; i++) {
		if (!sim_load_crds(s, o->crds[i], why, size))
			return false;
	}
	sim_controllers_run(s->controllers);
	sim_cluster_populate(s->cluster, (size_t)o->nodes);
	if (o->openshift && !sim_cluster_begin_openshift(s->cluster, why, size))
		return false;
	if (o->churn > 0)
		sim_cluster_churn(s->cluster, o->churn);
	return true;
}

static bool
listen_on(struct simulator *s, char *why, size_t size)
{
	const struct sim_options *const o = s->options;

	if (o->tls_cert != NULL) {
		s->tls = tls_server_new(&(struct tls_server_files){ .cert = o->tls_cert, .key = o->tls_key,
					    .client_ca = o->client_ca, .clients = TLS_CLIENTS_ADMITTED },
		    why, size);
		if (s->tls == NULL)
			return false;
	}
	s->kube = sim_server_new(s->base, o->kube, s->tls, sim_api_serve, s, why, size);
	if (s->kube != NULL)
		s->control = sim_server_new(s->base, o->control, NULL, sim_control_serve, s, why, size);
	if (s->control != NULL)
		s->providers = sim_providers_new(s, why, size);
	return s->providers != NULL;
}

static void
on_change(const struct sim_change *c, void *arg)
{
	struct simulator *const s = arg;

	sim_controllers_enqueue(s->controllers, c);
	sim_watches_wake(s->watches);
}
