/*
 * actors/kube-watcher/access.h - every request of this process to the API server goes out here, and
 * only here is the credential used.
 *
 * Watches, reads, writes and the Lease have connections of their own: a busy pool must not starve a
 * renewal, a burst of writes must not delay an event or a list. A 401, or a
 * server without our trust, re-reads the credential and tries once more; while an exec plugin has not
 * answered, calls wait, and their deadlines run. A call leaves with what is left of its time, and a
 * fenced one only while the Lease is held for longer than that: also when it is sent a second time.
 */
#ifndef MUSTER_WATCHER_ACCESS_H
#define MUSTER_WATCHER_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http.h"
#include "kube/credential.h"
#include "lease.h"

struct access;
struct actor;
struct event_base;

enum access_lane { ACCESS_WATCHES, ACCESS_READS, ACCESS_CALLS, ACCESS_LEASE, ACCESS_LANES };

/* Path and body are copied; the other texts are constants. */
struct access_call {
	enum access_lane  lane;
	const char	 *method;
	const char	 *path;		/* with its query, from the root of the API: kube/path.h */
	const char	 *accept, *content_type;	/* NULL: JSON; none */
	const void	 *body;
	size_t		  body_len;
	int64_t		  timeout_ms;	/* HTTP_NO_DEADLINE: a watch, which its caller ends */
	bool		  fenced;	/* a mutation: leaves only while the Lease outlives its timeout */
	bool		  gzip;		/* lists only: a watch has a gzip member per event */
	void		(*on_start)(int status, const char *content_type, void *arg);
	bool		(*on_data)(const void *data, size_t len, void *arg);
	void		(*done)(const struct http_response *r, void *arg);
	void		 *arg;
};

/*
 * Before the ZeroMQ context exists: finds the credential and forks the plugin's helper. The text in
 * err is for the person who wrote the configuration.
 */
struct access_source {
	const char	*kubeconfig, *context;	/* "": the usual places of clients */
};
struct access *access_open(const struct access_source *src, char *err, size_t size);
/* What the person can do about that text of access_open, or about a credential that is not renewed. */
const char *access_hint(const char *why, const char *otherwise);
/* With the loop: from here on calls can be made. lost: the credential's helper is dead, start over. */
void access_start(struct access *x, struct event_base *base, void (*lost)(void *), void *arg);
/* The Lease that fenced calls need; NULL, and until then: none of them leaves. */
void access_fence(struct access *x, const struct lease *l);
void access_free(struct access **xp);

/* Never 0. `done` comes from the loop, once, unless cancelled. */
uint64_t access_send(struct access *x, const struct access_call *ask);
void access_cancel(struct access *x, uint64_t id);
/* Cancels it if no byte of it has left; else false. */
bool access_withdraw(struct access *x, uint64_t id);

const char *access_namespace(const struct access *x);	/* of the credential, or "" */
const char *access_server(const struct access *x);
/* The cluster's wall clock: the last Date header and the time since then; ours until one came. */
int64_t access_cluster_us(const struct access *x);
/* *offset_ms: what the actors are to have (cluster_clock.h); true: it has changed. */
bool access_cluster_moved(struct access *x, int64_t *offset_ms);

#endif
