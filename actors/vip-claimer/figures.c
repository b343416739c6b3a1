/* actors/vip-claimer/figures.c - the metrics of Clusters and claims (V10), with the original's labels. */
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "clock.h"
#include "obj.h"
#include "stat.h"

enum { LABELS_MAX = 700 };

/* Claims of one role in one namespace. */
struct figure {
	uint32_t	claims, ready;
};

static const char *reason_of(const struct cluster_view *, const struct vip_plan *);
static bool put_class(char[LABELS_MAX], const struct cluster_view *);
static bool put_role(char[LABELS_MAX], const struct cluster_view *);
static void tally(struct claimer *, const char *, const struct cluster_note *);
static void publish(const char *, const struct figure *);

struct keytab *
figures_new(void)
{
	return keytab_new(sizeof(struct figure));
}

void
figures_planned(const struct cluster_view *v, enum vip_verb verb, int64_t began_us)
{
	static const char *const results[VIP_VERB_MAX] = {
		[VIP_NOTHING] = "success", [VIP_WAIT] = "waiting", [VIP_WARN] = "warning",
		[VIP_CREATE_CLAIM] = "claim", [VIP_ADOPT_CLAIM] = "adopt", [VIP_PATCH_CLUSTER] = "patch",
	};
	char labels[LABELS_MAX] = "";

	if (v->in.cluster.class_name.len == 0 || !put_class(labels, v))
		return;
	stat_observe(stat_get(STAT_VIP_RECONCILE_TIME, labels), (double)(clock_mono_us() - began_us) / 1e6);
	if (stat_label(labels, sizeof(labels), "result", results[verb]))
		stat_add(stat_get(STAT_VIP_RECONCILES, labels), 1);
}

void
figures_warned(const struct cluster_view *v, const struct vip_plan *p)
{
	char labels[LABELS_MAX] = "";

	if (put_role(labels, v) && put_class(labels, v)
	    && stat_label(labels, sizeof(labels), "reason", reason_of(v, p)))
		stat_add(stat_get(STAT_VIP_ERRORS, labels), 1);
}

void
figures_allocated(const struct cluster_view *v)
{
	const int64_t took_us = v->in.now_us - v->in.claim.created_us;
	char labels[LABELS_MAX] = "";

	if (!put_role(labels, v) || !put_class(labels, v))
		return;
	stat_add(stat_get(STAT_VIP_ALLOCATIONS, labels), 1);
	if (v->in.now_us > 0 && v->in.claim.created_us > 0)
		stat_observe(stat_get(STAT_VIP_TIME, labels), took_us > 0 ? (double)took_us / 1e6 : 0);
}

static const char *
reason_of(const struct cluster_view *v, const struct vip_plan *p)
{
	const unsigned facts = p->view.facts;

	if (p->event == VIP_NO_POOL)
		return "no_pool";
	if ((facts & VIP_CLAIM) != 0 && (facts & VIP_CLAIM_OWNED) == 0)
		return "foreign_claim";
	if (v->in.address.present)
		return "bad_address";
	if ((facts & VIP_CLAIM_NOT_READY) != 0)
		return "not_ready";
	if ((facts & VIP_LATE) == 0)
		return "other";
	return (facts & VIP_CLAIM_POOL_EMPTY) != 0 ? "pool_exhausted" : "timeout";
}

static bool
put_role(char labels[LABELS_MAX], const struct cluster_view *v)
{
	return stat_label(labels, LABELS_MAX, "role", vip_role_label(v->in.role));
}

static bool
put_class(char labels[LABELS_MAX], const struct cluster_view *v)
{
	char class[254];

	snprintf(class, sizeof(class), "%.*s", (int)v->in.cluster.class_name.len, v->in.cluster.class_name.p);
	return stat_label(labels, LABELS_MAX, "cluster_class", class);
}

/* ---- Claims ---- */

void
figures_claims(struct claimer *c)
{
	size_t len;

	KEYTAB_EACH(c->figures, id)
		*(struct figure *)keytab_value(c->figures, id) = (struct figure){ 0 };
	KEYTAB_EACH(c->notes, id)
		tally(c, keytab_key(c->notes, id, &len), keytab_value(c->notes, id));
	KEYTAB_EACH(c->figures, id) {
		const struct figure *const f = keytab_value(c->figures, id);

		publish(keytab_key(c->figures, id, NULL), f);
		if (f->claims == 0)
			keytab_remove(c->figures, id);
	}
}

static void
tally(struct claimer *c, const char *key, const struct cluster_note *note)
{
	const char *const ns = strchr(key, '/') + 1, *const end = strchr(ns, '/');
	char labels[LABELS_MAX], namespace[64];

	snprintf(namespace, sizeof(namespace), "%.*s", (int)(end - ns), ns);
	for (enum vip_role role = 0; role < VIP_ROLE_MAX; role++) {
		labels[0] = '\0';
		if (!note->roles[role].claimed
		    || !stat_label(labels, sizeof(labels), "role", vip_role_label(role))
		    || !stat_label(labels, sizeof(labels), "namespace", namespace))
			continue;
		struct figure *const f =
		    keytab_value(c->figures, keytab_add(c->figures, labels, strlen(labels), NULL));
		f->claims++;
		f->ready += note->roles[role].ready;
	}
}

/* A namespace whose last claim went has no series any more. */
static void
publish(const char *labels, const struct figure *f)
{
	const struct {
		enum stat_id	id;
		uint32_t	value;
	} rows[] = { { STAT_VIP_CLAIMS, f->claims }, { STAT_VIP_CLAIMS_READY, f->ready },
		{ STAT_VIP_CLAIMS_PENDING, f->claims - f->ready } };

	for (size_t i = 0; i < NITEMS(rows); i++) {
		if (f->claims > 0)
			stat_set(stat_get(rows[i].id, labels), rows[i].value);
		else
			stat_drop(stat_get(rows[i].id, labels));
	}
}
