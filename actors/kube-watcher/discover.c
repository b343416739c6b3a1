/*
 * actors/kube-watcher/discover.c - rounds of discovery: /api, /apis, and on old servers one
 * document per group version.
 *
 * Never: "absent" because of a document that could not be read. What stays unknown is requested again.
 */
#include "discover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "clock.h"
#include "groups.h"
#include "kube/status.h"
#include "log.h"
#include "obj.h"
#include "timer.h"

enum { TIMEOUT_MS = 30 * 1000 };

static const char *const roots[] = { "/api", "/apis" };

struct discover {
	uint32_t		 magic;
#define DISCOVER_MAGIC	0x44495343u
	struct access		*access;
	discover_found		*found;
	void			*arg;
	struct event		*timer;
	struct discovery_want	 wants[KIND_MAX];
	enum kind		 kinds[KIND_MAX];
	size_t			 nwants;
	struct discovery	 documents;
	size_t			 root;		/* the next of the two to request */
	char			 path[256];	/* under way; "": none */
	uint64_t		 call;
	int64_t			 retry_ms;
	char			 error[300];	/* of the last round that failed, until one does not */
};

static void step(struct discover *);
static void on_done(const struct http_response *, void *);
static void read_document(struct discover *, const struct http_response *);
static void finish(struct discover *);
static void on_timer(evutil_socket_t, short, void *);

struct discover *
discover_new(struct actor *a, struct access *x, uint64_t wanted, discover_found *found, void *arg)
{
	struct discover *d;

	OBJ_NEW(d, DISCOVER_MAGIC);
	d->access = x;
	d->found = found;
	d->arg = arg;
	d->retry_ms = DISCOVER_RETRY_MS;
	for (unsigned k = 0; k < KIND_MAX; k++) {
		if ((wanted >> k & 1) == 0)
			continue;
		d->kinds[d->nwants] = (enum kind)k;
		d->wants[d->nwants++] = (struct discovery_want){
			.group = group_served(kind_table[k].group),
			.resource = kind_table[k].resource, .versions = kind_table[k].versions,
		};
	}
	d->timer = evtimer_new(actor_base(a), on_timer, d);
	MUST(d->timer != NULL);
	return d;
}

void
discover_free(struct discover **dp)
{
	struct discover *d;

	if (*dp == NULL)
		return;
	OBJ_TAKE(d, dp, DISCOVER_MAGIC);
	if (d->call != 0)
		access_cancel(d->access, d->call);
	event_free(d->timer);
	OBJ_FREE(d);
}

/*
 * From the loop, not from here: the caller is inside a step of the informer that gets the result.
 * After a failed round the timer is set already.
 */
void
discover_soon(struct discover *d)
{
	if (d->call == 0 && d->error[0] == '\0')
		timer_set(d->timer, 0, 0);
}

const char *
discover_error(const struct discover *d)
{
	return d->error;
}

static void
step(struct discover *d)
{
	if (d->root < NITEMS(roots)) {
		snprintf(d->path, sizeof(d->path), "%s", roots[d->root++]);
	} else if (!discovery_next(&d->documents, d->path, sizeof(d->path))) {
		finish(d);
		return;
	}
	d->call = access_send(d->access, &(struct access_call){
		.lane = ACCESS_READS, .method = "GET", .path = d->path, .accept = DISCOVERY_ACCEPT,
		.gzip = true, .timeout_ms = TIMEOUT_MS, .done = on_done, .arg = d,
	});
}

static void
on_done(const struct http_response *r, void *arg)
{
	struct discover *const d = arg;

	d->call = 0;
	read_document(d, r);
	/* Without an answer the rest would fail as well. */
	if (r->status == 0)
		finish(d);
	else
		step(d);
}

static void
read_document(struct discover *d, const struct http_response *r)
{
	if (r->status == 200
	    && discovery_read(&d->documents, d->path, r->body, r->body_len, d->error, sizeof(d->error)))
		return;
	if (r->status == 0) {
		snprintf(d->error, sizeof(d->error), "%s", r->error);
	} else if (r->status != 200 && r->status != 404) {
		struct kube_status s;

		status_read(&s, r->status, r->body, r->body_len);
		snprintf(d->error, sizeof(d->error), "GET %.100s: %d %.150s", d->path, r->status, s.message);
	}
	discovery_failed(&d->documents, d->path, r->status == 404);
}

static void
finish(struct discover *d)
{
	bool absent = false, unknown = false;

	d->path[0] = '\0';
	for (size_t i = 0; i < d->nwants; i++) {
		struct discovery_result result;

		discovery_result(&d->documents, i, &result);
		absent |= result.state == DISCOVERY_ABSENT;
		unknown |= result.state == DISCOVERY_UNKNOWN;
		if (result.state != DISCOVERY_UNKNOWN)
			d->found(d->kinds[i], &result, d->arg);
	}
	if (!unknown) {
		d->error[0] = '\0';
		d->retry_ms = DISCOVER_RETRY_MS;
		timer_set(d->timer, absent ? DISCOVER_ABSENT_MS : DISCOVER_CALM_MS, 0);
		return;
	}
	log_warnx("discovery failed; trying again", KV_S(WHY, d->error),
	    KV_I(NEXT_MS, d->retry_ms), KV_S(HOST, access_server(d->access)));
	timer_set(d->timer, d->retry_ms, 0);
	d->retry_ms = d->retry_ms * 2 > DISCOVER_ABSENT_MS ? DISCOVER_ABSENT_MS : d->retry_ms * 2;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct discover *const d = arg;

	(void)fd, (void)what;
	if (d->call != 0)
		return;
	d->root = 0;
	discovery_init(&d->documents, d->wants, d->nwants);
	step(d);
}
