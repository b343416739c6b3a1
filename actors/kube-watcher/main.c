/*
 * actors/kube-watcher/main.c - the one process with the cluster credential: it reads each object once,
 * and writes for all actors.
 *
 *	apiserver => access => informer (per kind) => publisher => one link per actor
 *	apiserver <= access <= service <= WRITE of an actor; only while elect holds the Lease
 */
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "actor.h"
#include "clock.h"
#include "discover.h"
#include "elect.h"
#include "groups.h"
#include "log.h"
#include "obj.h"
#include "publisher.h"
#include "informer.h"
#include "service.h"

enum { TICK_MS = 1000, LAST_WRITES_MS = 5000 };

struct watcher {
	struct actor		*actor;
	struct access		*access;
	struct publisher		*publisher;
	struct discover		*discover;
	struct elect		*elect;
	struct service		*service;
	struct informer		*informers[KIND_MAX];
	struct reflector_server	 server;
	int64_t			 ending_ms;	/* 0: not ending */
	bool			 releasing;
};

static void on_helper_lost(void *);
static void on_found(enum kind, const struct discovery_result *, void *);
static void on_missed(void *);
static void on_leadership(void *);
static void on_released(void *);
static const char *lease_namespace(const struct watcher *);
static void release(struct watcher *);

static void
prepare(struct actor *a, void *self)
{
	struct watcher *const w = self;
	const struct access_source source = {
		.kubeconfig = actor_setting(a, "kubeconfig"), .context = actor_setting(a, "context"),
	};
	char err[KUBECONFIG_ERROR_MAX];

	w->actor = a;
	w->access = access_open(&source, err, sizeof(err));
	if (w->access == NULL)
		fatalx("no access to the cluster", KV_S(WHY, err), KV_S(HINT, access_hint(err,
		    "set actors.kube-watcher.kubeconfig, or run in a Pod with a service account")));
}

static void
start(struct actor *a, void *self)
{
	struct watcher *const w = self;
	uint64_t wanted = 0;

	groups_init(actor_setting(a, "insight-group"));
	access_start(w->access, actor_base(a), on_helper_lost, w);
	w->publisher = publisher_new(a);
	w->service = service_new(&(struct service_deps){
		.actor = a, .access = w->access, .informers = w->informers,
		.readers = publisher_enabled(w->publisher),
		.per_second = (double)actor_setting_i64(a, "writes-per-second"),
	});
	const struct informer_deps deps = {
		.actor = a, .access = w->access, .publisher = w->publisher, .server = &w->server,
		.ns = actor_setting(a, "namespace"), .discover = on_missed, .arg = w,
	};
	for (unsigned k = 0; k < KIND_MAX; k++) {
		if (publisher_readers(w->publisher, (enum kind)k) == 0)
			continue;
		wanted |= UINT64_C(1) << k;
		w->informers[k] = informer_new(&deps, (enum kind)k);
	}
	w->elect = elect_new(a, w->access, w->publisher, &(struct elect_setup){
		.elect = actor_setting_i64(a, "leader-elect") != 0,
		.duration_ms = actor_setting_i64(a, "leader-elect-lease-duration"),
		.name = actor_setting(a, "lease-name"), .ns = lease_namespace(w),
	}, on_leadership, w);
	service_set_lease(w->service, elect_lease(w->elect));
	w->discover = discover_new(a, w->access, wanted, on_found, w);
	log_info("reading the cluster", KV_S(HOST, access_server(w->access)),
	    KV_I(COUNT, __builtin_popcountll(wanted)));
	for (unsigned k = 0; k < KIND_MAX; k++) {
		if (w->informers[k] != NULL)
			informer_run(w->informers[k]);
	}
}

static void
on_write(struct actor *a, void *self, const struct write_in *in)
{
	struct watcher *const w = self;

	(void)a;
	service_write(w->service, in);
}

static void
on_session_ended(struct actor *a, void *self, enum role from)
{
	struct watcher *const w = self;

	(void)a;
	service_session_ended(w->service, from);
}

static void
tick(struct actor *a, void *self, int64_t now_ms)
{
	struct watcher *const w = self;
	const struct lease_view lead = lease_view(elect_lease(w->elect), now_ms);
	unsigned kinds, synced;
	uint64_t objects = 0;
	char text[160], skipped[200] = "";	/* as much as a status line has room for */

	for (unsigned k = 0; k < KIND_MAX; k++) {
		const struct informer *const r = w->informers[k];
		const size_t n = strlen(skipped);

		objects += r == NULL ? 0 : informer_count(r);
		if (r == NULL || informer_skipped(r) == 0)
			continue;
		informer_skipped_text(r, text, sizeof(text));
		snprintf(skipped + n, sizeof(skipped) - n, "%s%s", n == 0 ? "; skipped: " : ", ", text);
	}
	elect_tick(w->elect);
	publisher_count(w->publisher, &kinds, &synced);
	actor_status(a, "%s, %u of %u kinds synced, %llu objects%s%s%s",
	    lead.leading ? "leading" : "standing by", synced, kinds, (unsigned long long)objects, skipped,
	    discover_error(w->discover)[0] == '\0' ? "" : "; ", discover_error(w->discover));
	if (w->ending_ms == 0 || w->releasing)
		return;
	if (service_settled(w->service)) {
		release(w);
	} else if (now_ms >= w->ending_ms) {
		log_warnx("a write may still be on its way: the Lease is not given back, it runs out");
		actor_exit(a, 0);
	}
}

/* The Lease goes back as the last act, when nothing of ours is under way: the next leader need not wait. */
static void
ending(struct actor *a, void *self)
{
	struct watcher *const w = self;

	(void)a;
	service_set_lease(w->service, NULL);		/* nothing new */
	w->ending_ms = clock_mono_ms() + LAST_WRITES_MS;
	if (service_settled(w->service))
		release(w);
}

static void
stop(struct actor *a, void *self)
{
	struct watcher *const w = self;

	(void)a;
	discover_free(&w->discover);
	for (unsigned k = 0; k < KIND_MAX; k++)
		informer_free(&w->informers[k]);
	service_free(&w->service);
	elect_free(&w->elect);
	publisher_free(&w->publisher);
	access_free(&w->access);
}

static void
on_helper_lost(void *arg)
{
	struct watcher *const w = arg;

	actor_exit(w->actor, EXIT_TRANSIENT);
}

static void
on_found(enum kind k, const struct discovery_result *r, void *arg)
{
	struct watcher *const w = arg;

	informer_discovered(w->informers[k], r->state == DISCOVERY_FOUND, r->version, r->namespaced);
}

static void
on_missed(void *arg)
{
	struct watcher *const w = arg;

	discover_soon(w->discover);
}

static void
on_leadership(void *arg)
{
	struct watcher *const w = arg;

	service_drive(w->service);
}

static const char *
lease_namespace(const struct watcher *w)
{
	const char *const set = actor_setting(w->actor, "lease-namespace");

	if (set[0] != '\0')
		return set;
	return access_namespace(w->access)[0] != '\0' ? access_namespace(w->access) : "default";
}

static void
release(struct watcher *w)
{
	if (w->releasing)
		return;
	w->releasing = true;
	elect_stop(w->elect, on_released, w);
}

static void
on_released(void *arg)
{
	struct watcher *const w = arg;

	actor_exit(w->actor, 0);
}

static const struct actor_spec spec = {
	.name = "kube-watcher", .state_size = sizeof(struct watcher),
	.prepare = prepare, .start = start, .tick = tick, .tick_ms = TICK_MS,
	.on_write = on_write, .on_session_ended = on_session_ended, .ending = ending, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}
