/* actors/reconcile/reconcile_kinds.c - the state of each kind, who leads, what that enqueues, the status. */
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "obj.h"
#include "reconcile.h"

#define INSTALL_OURS	"kubectl apply -f deploy/crds"

static void enqueue_all(struct reconciler *);
static void enqueue_one(const struct change *, void *);
static void log_kind_state(struct reconcile_kind_state *, const struct reconcile_kind *);
static bool report_obstacle(struct reconciler *, int64_t);

unsigned
reconcile_kind_by_message(const struct reconcile_spec *s, enum msg m)
{
	unsigned k = 0;

	while (k < s->nkinds && s->kinds[k].message != m)
		k++;
	return k;
}

unsigned
reconcile_kind_by_resource(const struct reconcile_spec *s, struct wire_str resource)
{
	unsigned k = 0;

	while (k < s->nkinds && wire_str_compare(wire_str_of(s->kinds[k].resource), resource) != 0)
		k++;
	return k;
}

bool
reconcile_synced(const struct reconciler *r)
{
	return r->synced == (1u << r->spec->nlinks) - 1;
}

/* ---- Messages ---- */

void
reconcile_on_object(struct actor *a, void *self, const struct change *c)
{
	struct reconciler *const r = self;
	const unsigned k = reconcile_kind_by_message(r->spec, c->type);

	(void)a;
	if (k < r->spec->nkinds) {
		r->kinds[k].objects += c->kind == CHANGE_ADDED;
		r->kinds[k].objects -= c->kind == CHANGE_GONE;
	}
	r->spec->keys(r, c);
}

void
reconcile_on_kind(struct actor *a, void *self, const struct change *c)
{
	struct reconciler *const r = self;
	const struct body_kind *const b = &c->value->kind;
	const unsigned n = reconcile_kind_by_resource(r->spec, b->resource);

	(void)a;
	if (n == r->spec->nkinds || c->kind == CHANGE_GONE)
		return;
	struct reconcile_kind_state *const k = &r->kinds[n];
	k->state = (enum kind_state)b->state;
	snprintf(k->group, sizeof(k->group), "%.*s", (int)b->group.len, b->group.p);
	snprintf(k->api, sizeof(k->api), "%.*s/%.*s", (int)b->group.len, b->group.p, (int)b->version.len,
	    b->version.p);
	log_kind_state(k, &r->spec->kinds[n]);
	journal_clear_refused(r->journal);
	enqueue_all(r);
}

/* A missing CRD is logged once; that it was installed is logged if it was missing before. */
static void
log_kind_state(struct reconcile_kind_state *k, const struct reconcile_kind *row)
{
	if (k->enabled && !row->optional && k->state == KIND_STATE_ABSENT && !k->absent_logged)
		log_warnx("CRD not installed: nothing of this kind is written", KV_S(RESOURCE, row->resource),
		    KV_S(VALUE, k->group), KV_S(HINT, row->install != NULL ? row->install : INSTALL_OURS));
	if (k->enabled && k->state == KIND_STATE_SYNCED && k->absent_logged)
		log_info("CRD installed", KV_S(RESOURCE, row->resource));
	k->absent_logged = k->state == KIND_STATE_ABSENT;
}

/* Renewals arrive here every few seconds: only the beginning of leadership enqueues. */
void
reconcile_on_leader(struct actor *a, void *self, const struct change *c)
{
	struct reconciler *const r = self;
	const bool before = r->leading;

	(void)a;
	r->leading = c->kind != CHANGE_GONE && c->value->leader.leading;
	if (r->leading && !before)
		enqueue_all(r);
}

/*
 * Also after every restart of the producer: keys that waited for a current mirror go on, and writes
 * that failed because kube-watcher was stopping are planned again.
 */
void
reconcile_on_synced(struct actor *a, void *self, const struct change *c)
{
	struct reconciler *const r = self;
	struct change found;
	union msg_body value;

	for (unsigned i = 0; i < r->spec->nlinks; i++)
		r->synced |= (unsigned)(r->spec->links[i] == c->link) << i;
	if (actor_read(a, r->spec->links[0], ":leader", strlen(":leader"), &found, &value))
		r->leading = value.leader.leading;
	enqueue_all(r);
}

/* ---- Keys ---- */

void
reconcile_enqueue(struct reconciler *r, const char *key, size_t len, const struct change *c)
{
	const bool initial = r->enqueues_all || c->initial;
	struct journal_entry *const entry = journal_find(r->journal, key, len);

	if (entry != NULL && !r->enqueues_all)
		journal_changed(entry);
	actor_enqueue(r->actor, key, len, initial ? WORK_INITIAL : WORK_LIVE, c->trace);
}

/* A key that several links have gets the trace of the last of them. */
static void
enqueue_all(struct reconciler *r)
{
	if (!reconcile_synced(r))
		return;
	r->enqueues_all = true;
	for (unsigned i = 0; i < r->spec->nlinks; i++)
		actor_each(r->actor, r->spec->links[i], enqueue_one, r);
	r->enqueues_all = false;
}

static void
enqueue_one(const struct change *c, void *arg)
{
	struct reconciler *const r = arg;

	if (c->type != MSG_KIND && c->type != MSG_LEADER)
		r->spec->keys(r, c);
}

/* ---- Status ---- */

void
reconcile_tick(struct actor *a, void *self, int64_t now_ms)
{
	struct reconciler *const r = self;
	const char *const noun = r->spec->noun;
	unsigned objects = 0;

	reconcile_end_if_idle(r);
	if (report_obstacle(r, now_ms))
		return;
	for (unsigned k = 0; k < r->spec->nkinds; k++)
		objects += r->spec->kinds[k].counted ? r->kinds[k].objects : 0;
	if (!r->leading)
		actor_status(a, "not leading, %u %s", objects, noun);
	else if (r->inflight == 0)
		actor_status(a, "%u %s", objects, noun);
	else
		actor_status(a, "%u %s, %u writes in flight", objects, noun, r->inflight);
}

/* Reports the first obstacle to writing, if there is one. */
static bool
report_obstacle(struct reconciler *r, int64_t now_ms)
{
	for (unsigned i = 0; i < r->spec->nlinks; i++) {
		if ((r->synced >> i & 1) == 0) {
			actor_status(r->actor, "waiting for the first snapshot from %s",
			    role_name(link_table[r->spec->links[i]].binder));
			return true;
		}
	}
	for (unsigned n = 0; n < r->spec->nkinds; n++) {
		const struct reconcile_kind_state *const k = &r->kinds[n];
		const struct reconcile_kind *const row = &r->spec->kinds[n];
		const char *const resource = row->resource;

		if (k->enabled && !row->optional && k->state == KIND_STATE_ABSENT) {
			actor_status(r->actor, "waiting for the CRD %s.%s: %s", resource, k->group,
			    row->install != NULL ? row->install : INSTALL_OURS);
			return true;
		}
		if (k->enabled && now_ms < k->hold_until_ms) {
			actor_status(r->actor, "the cluster forbids writing %s.%s: deploy/rbac.yaml",
			    resource, k->group);
			return true;
		}
	}
	return false;
}
