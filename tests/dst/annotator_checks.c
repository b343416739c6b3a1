/*
 * tests/dst/annotator_checks.c - what must hold of everything that capa-annotator requests: patches,
 * Events and pages of EC2.
 */
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "obj.h"
#include "world_annotator.h"

enum {
	/* A key can wait so long for the end of its write, or for its turn, before it is planned. */
	PLANNED_MS = 20 * 1000, PLANNED_QUIET_MS = 1000,
	/* Attempts of one page, until the walk has failed: three, new credentials, another clock. */
	ATTEMPTS_MAX = 5,
};

static void check_patch(struct capaw *, struct runtime_actor *, uint32_t, const struct write_request *);
static void check_event(struct capaw *, struct runtime_actor *, uint32_t, const struct write_request *);
static bool patches_only_ours(const json_t *);
static uint8_t form_of(const struct capaw *, const struct capaw_reader *, const struct capaw_view *);
static json_t *without_ours(const json_t *);
static struct capaw_life *life_of(struct capaw *, const struct runtime_actor *);
static void note_wishes(struct capaw *, struct runtime_actor *);
static const char *walk_reason(const struct capaw_reader *, int64_t);
static void begin_walk(struct capaw *, struct capaw_reader *, const struct http_exchange *);
static void complete_walk(struct capaw *, struct capaw_reader *, const struct capaw_catalogue *);

/* ---- Writes ---- */

void
capaw_requested(struct harness *h, struct runtime_actor *ra, const struct write_request *r)
{
	struct capaw *const w = (struct capaw *)h;
	const uint32_t n = r->name != NULL ? capaw_deployment_number(r->name) : CAPAW_NONE;

	if (r->op == OP_GET)
		return;
	if (n == CAPAW_NONE || strcmp(r->resource, kind_table[KIND_MACHINE_DEPLOYMENT].resource) != 0)
		sim_fail(h->sim, "%s requests %s of %s", ra->name, op_table[r->op].name, r->resource);
	else if (r->op == OP_EVENT)
		check_event(w, ra, n, r);
	else if (r->op == OP_MERGE)
		check_patch(w, ra, n, r);
	else
		sim_fail(h->sim, "%s requests %s of a MachineDeployment", ra->name, op_table[r->op].name);
}

/* It sets the annotations that follow from what the process has received, and from a complete catalogue. */
static void
check_patch(struct capaw *w, struct runtime_actor *ra, uint32_t n, const struct write_request *r)
{
	json_t *const patch = json_loadb(r->body, r->body_len, 0, NULL);
	const json_t *const metadata = json_object_get(patch, "metadata");
	struct capaw_view v;
	const char *key;
	json_t *value;

	capaw_read(w, ra, n, &v);
	if (!patches_only_ours(patch)) {
		sim_fail(w->h.sim, "a patch of %s has more than our annotations: %.*s", r->name,
		    (int)r->body_len, (const char *)r->body);
	} else if (!v.exists || v.missing != NULL) {
		sim_fail(w->h.sim, "a patch of %s, and %s: %.*s", r->name,
		    v.exists ? v.missing : "it does not exist", (int)r->body_len, (const char *)r->body);
	} else {
		const uint8_t form = form_of(w, &life_of(w, ra)->regions[v.region], &v);

		json_object_foreach(json_object_get(metadata, "annotations"), key, value) {
			if (json_is_null(value))
				json_object_del(v.annotations, key);
			else
				json_object_set(v.annotations, key, value);
		}
		const char *const wrong = form == 0 ? "no complete catalogue has the type"
		    : capaw_annotations_differ(v.annotations, v.type, form);
		if (wrong != NULL)
			sim_fail(w->h.sim, "a patch of %s for %s in %s is wrong (%s): %.*s", r->name,
			    capaw_type_name(v.type), capaw_region_names[v.region], wrong, (int)r->body_len,
			    (const char *)r->body);
	}
	json_decref(v.annotations);
	json_decref(patch);
}

static bool
patches_only_ours(const json_t *patch)
{
	const json_t *const metadata = json_object_get(patch, "metadata");
	const json_t *const annotations = json_object_get(metadata, "annotations");
	const size_t version = json_object_get(metadata, "resourceVersion") != NULL;
	const char *key;
	json_t *value;

	if (json_object_size(patch) != 1 || json_object_size(metadata) != 1 + version
	    || json_object_size(annotations) == 0)
		return false;
	json_object_foreach((json_t *)(uintptr_t)annotations, key, value) {
		if (!capaw_our_key(key))
			return false;
	}
	return true;
}

/* In the last complete catalogue of that life; 0: it has none, or not this type. */
static uint8_t
form_of(const struct capaw *w, const struct capaw_reader *reader, const struct capaw_view *v)
{
	return reader->catalogue == CAPAW_NONE || v->type == CAPAW_TYPES
	    ? 0 : w->regions[v->region].all[reader->catalogue].forms[v->type];
}

/* A type is called unknown only by a complete and fresh catalogue, never because a walk has failed. */
static void
check_event(struct capaw *w, struct runtime_actor *ra, uint32_t n, const struct write_request *r)
{
	json_t *const body = json_loadb(r->body, r->body_len, 0, NULL);
	const char *const reason = json_string_value(json_object_get(body, "reason"));
	struct sim *const sim = w->h.sim;
	struct capaw_view v;

	MUST(reason != NULL);
	w->events++;
	SIM_TRACE(sim, "%s: Event %.*s", ra->name, (int)r->body_len, (const char *)r->body);
	capaw_read(w, ra, n, &v);
	if (strcmp(reason, "FailedUpdate") == 0 && (!v.exists || v.missing != NULL)) {
		sim_fail(sim, "an Event of %s states an unknown type, and %s", r->name,
		    v.exists ? v.missing : "it does not exist");
	} else if (strcmp(reason, "FailedUpdate") == 0) {
		const struct capaw_reader *const reader = &life_of(w, ra)->regions[v.region];

		if (reader->catalogue == CAPAW_NONE)
			sim_fail(sim, "an unknown type in %s, and no catalogue is complete",
			    capaw_region_names[v.region]);
		else if (form_of(w, reader, &v) != 0)
			sim_fail(sim, "%s is called unknown, and the catalogue of %s has it",
			    capaw_type_name(v.type), capaw_region_names[v.region]);
		else if (sim->now_ms - reader->completed_ms >= CAPAW_TTL_MS)
			sim_fail(sim, "a catalogue that is too old calls a type unknown");
		else if (reader->requests > ATTEMPTS_MAX)
			sim_fail(sim, "a type is called unknown after a walk that failed");
	} else if (v.exists && v.missing == NULL) {
		sim_fail(sim, "%s has the Event %s, and nothing is missing", r->name, reason);
	}
	json_decref(v.annotations);
	json_decref(body);
}

/* Everything else of the object stays: other annotations, and entries of labels that are not ours. */
void
capaw_executed(struct harness *h, const struct flight *f, const json_t *before)
{
	struct capaw *const w = (struct capaw *)h;
	char was[512], is[512];

	if (f->answer.outcome != OUTCOME_OK || f->request.op != OP_MERGE || before == NULL)
		return;
	const struct cluster_object *const o = cluster_find(&h->cluster, f->request.kind, f->request.name);
	MUST(o != NULL && o->json != NULL);
	w->effective += !json_equal(o->json, before);
	json_t *const rest = without_ours(o->json), *const old = without_ours(before);
	if (!json_equal(rest, old))
		sim_fail(h->sim, "a patch of %s changes what is not ours", f->request.name);
	json_decref(rest);
	json_decref(old);
	capaw_foreign_labels(was, sizeof(was), before);
	capaw_foreign_labels(is, sizeof(is), o->json);
	if (strcmp(was, is) != 0)
		sim_fail(h->sim, "a patch of %s makes the labels %s of others to %s", f->request.name, was,
		    is);
}

static json_t *
without_ours(const json_t *object)
{
	json_t *const rest = json_deep_copy(object);
	json_t *const metadata = json_object_get(rest, "metadata");
	json_t *const annotations = json_object_get(metadata, "annotations");
	const char *key;
	json_t *value;
	void *next;

	json_object_del(metadata, "resourceVersion");
	json_object_foreach_safe(annotations, next, key, value) {
		if (capaw_our_key(key))
			json_object_del(annotations, key);
	}
	if (json_object_size(annotations) == 0)
		json_object_del(metadata, "annotations");
	return rest;
}

/* ---- What a life of the actor has received ---- */

static struct capaw_life *
life_of(struct capaw *w, const struct runtime_actor *ra)
{
	struct capaw_life *const life = &w->lives[ra->tree];

	if (life->incarnation == ra->incarnation)
		return life;
	*life = (struct capaw_life){ .incarnation = ra->incarnation };
	for (uint32_t r = 0; r < CAPAW_REGIONS; r++) {
		life->regions[r].catalogue = CAPAW_NONE;
		life->regions[r].left_ms = -PLANNED_MS;
	}
	for (uint32_t i = 0; i < CAPAW_DEPLOYMENTS; i++)
		life->wanted[i] = CAPAW_NONE;
	return life;
}

void
capaw_changed(struct harness *h, struct runtime_actor *ra, const struct change *c)
{
	struct capaw *const w = (struct capaw *)h;

	if (ra != h->trees[ra->tree].actor)
		return;
	struct capaw_life *const life = life_of(w, ra);
	if (c->type == MSG_LEADER) {
		const bool leads = c->kind != CHANGE_GONE && c->value->leader.leading;

		life->lost_ms = life->leading && !leads ? h->sim->now_ms : life->lost_ms;
		life->leading = leads;
	}
	/* While a kind is not there it may drop all regions; not while it does not lead. */
	for (uint32_t r = 0; r < CAPAW_REGIONS; r++)
		life->regions[r].may_walk |= c->type == MSG_KIND;
	note_wishes(w, ra);
}

/* Which regions and types its MachineDeployments have, as it has received them. */
static void
note_wishes(struct capaw *w, struct runtime_actor *ra)
{
	struct capaw_life *const life = life_of(w, ra);
	bool wanted[CAPAW_REGIONS] = { false };
	struct capaw_view v;

	for (uint32_t i = 0; i < CAPAW_DEPLOYMENTS; i++) {
		capaw_read(w, ra, i, &v);
		json_decref(v.annotations);
		const uint32_t now = v.exists && v.missing == NULL ? v.region : CAPAW_NONE;
		if (life->wanted[i] != CAPAW_NONE && life->wanted[i] != now)
			life->regions[life->wanted[i]].left_ms = w->h.sim->now_ms;
		life->wanted[i] = now;
		if (now == CAPAW_NONE)
			continue;
		struct capaw_reader *const r = &life->regions[v.region];
		wanted[v.region] = true;
		if (r->catalogue != CAPAW_NONE && r->missing_ms[v.type] == 0
		    && (v.type == CAPAW_TYPES || w->regions[v.region].all[r->catalogue].forms[v.type] == 0))
			r->missing_ms[v.type] = w->h.sim->now_ms;
	}
	for (uint32_t r = 0; r < CAPAW_REGIONS; r++)
		life->regions[r].may_walk |= !wanted[r];
}

/* ---- Pages ---- */

void
capaw_leaves(struct harness *h, const struct http_exchange *x)
{
	struct capaw *const w = (struct capaw *)h;
	const uint32_t region = capaw_request_region(x);
	struct capaw_life *const life = life_of(w, x->from);

	if (!life->leading && h->sim->now_ms - life->lost_ms > CAPAW_TIMEOUT_MS)
		sim_fail(h->sim, "%s calls %s, and does not lead", x->from->name, x->host);
	if (region == CAPAW_NONE)
		return;
	struct capaw_reader *const r = &life->regions[region];
	if (r->requests++ == 0 && strcmp(r->last, x->body) == 0 && r->walking && !r->may_walk)
		sim_fail(h->sim, "%s requests a page of %s again that it has read", x->from->name, x->host);
	if (strstr(x->body, "NextToken=") == NULL && !r->walking)
		begin_walk(w, r, x);
}

/* A walk begins: there is no catalogue, it is old, the walk before failed, or a type is not in it. */
static void
begin_walk(struct capaw *w, struct capaw_reader *r, const struct http_exchange *x)
{
	const char *const reason = walk_reason(r, w->h.sim->now_ms);

	SIM_TRACE(w->h.sim, "%s reads %s: %s", x->from->name, x->host, reason != NULL ? reason : "no reason");
	if (reason == NULL)
		sim_fail(w->h.sim, "%s reads all pages of %s without a cause", x->from->name, x->host);
	r->walking = true;
	r->began_ms = w->h.sim->now_ms;
}

static const char *
walk_reason(const struct capaw_reader *r, int64_t now_ms)
{
	if (r->catalogue == CAPAW_NONE || r->may_walk)
		return "it has no catalogue";
	if (now_ms - r->completed_ms >= CAPAW_TTL_MS)
		return "its catalogue is old";
	/* The next one that is in the region may be planned after the last one that was. */
	if (now_ms - r->left_ms < PLANNED_MS)
		return "somebody has just left the region";
	for (uint32_t t = 0; t <= CAPAW_TYPES && now_ms - r->completed_ms >= CAPAW_EARLY_MS; t++) {
		if (r->missing_ms[t] != 0 && !r->served[t])
			return "a type is not in its catalogue";
	}
	return NULL;
}

void
capaw_delivered(struct runtime *rt, const struct http_exchange *x)
{
	struct capaw *const w = rt->world;
	const uint32_t region = capaw_request_region(x);
	bool last;
	const uint32_t catalogue = capaw_answered_catalogue(x, &last);

	if (region == CAPAW_NONE || x->from->incarnation != x->incarnation)
		return;
	struct capaw_reader *const r = &life_of(w, x->from)->regions[region];
	snprintf(r->last, sizeof(r->last), "%s", catalogue != CAPAW_NONE ? x->body : "");
	if (catalogue == CAPAW_NONE)
		return;
	r->requests = 0;
	if (!last)
		return;
	w->completed++;
	r->catalogue = catalogue;
	complete_walk(w, r, &w->regions[region].all[catalogue]);
	note_wishes(w, x->from);
}

/* What was wanted long enough before the walk began is served by it: it justifies no other one. */
static void
complete_walk(struct capaw *w, struct capaw_reader *r, const struct capaw_catalogue *c)
{
	const bool quiet = w->h.settled;
	const int64_t planned_ms = r->began_ms - (quiet ? PLANNED_QUIET_MS : PLANNED_MS);

	/* What was dropped had the types that were wanted, too. */
	if (r->may_walk || r->began_ms - r->left_ms < PLANNED_MS)
		memset(r->served, 0, sizeof(r->served));
	for (uint32_t t = 0; t <= CAPAW_TYPES; t++) {
		if (r->may_walk || (t < CAPAW_TYPES && c->forms[t] != 0)) {
			r->missing_ms[t] = 0;
			r->served[t] = false;
		} else if (r->missing_ms[t] != 0 && r->missing_ms[t] < planned_ms) {
			r->served[t] = true;
		}
	}
	r->completed_ms = w->h.sim->now_ms;
	r->walking = r->may_walk = false;
}
