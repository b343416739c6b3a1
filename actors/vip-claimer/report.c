/* actors/vip-claimer/report.c - what the leader logs about a plan, and the Events that it sends (V12). */
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "log.h"
#include "obj.h"

static void report_allocated(struct claimer *, const struct cluster_view *);
static void log_step(const struct cluster_view *, const struct vip_plan *, const char *);
static void send_event(struct claimer *, const struct cluster_view *, const char *, enum vip_event,
    const char *);

void
report_plan(struct claimer *c, const struct cluster_view *v, struct cluster_note *note,
    const struct vip_plan *p)
{
	const enum vip_role role = v->in.role;
	const uint64_t hash = hash64_more(hash64(p->message, strlen(p->message)), &p->verb, sizeof(p->verb));

	if (!c->r.leading)
		return;
	if (note->roles[role].patched && (p->view.facts & VIP_SET_BY_US) != 0) {
		note->roles[role].patched = false;
		report_allocated(c, v);
	}
	if (p->verb == VIP_PATCH_CLUSTER && p->event == VIP_ALLOCATED)
		note->roles[role].patched = true;
	if (p->verb == VIP_NOTHING || note->roles[role].logged == hash) {
		if (p->verb == VIP_NOTHING)
			note->roles[role].logged = note->roles[role].warned = 0;
		return;
	}
	note->roles[role].logged = hash;
	log_step(v, p, p->verb == VIP_WARN ? "a Cluster waits for its address" : "address of a Cluster");
	if (p->verb != VIP_WARN || note->roles[role].warned == hash)
		return;
	note->roles[role].warned = hash;
	figures_warned(v, p);
	send_event(c, v, "Warning", p->event, p->message);
}

/* The patch has arrived: now it is true. */
static void
report_allocated(struct claimer *c, const struct cluster_view *v)
{
	char note[VIP_MESSAGE_SIZE];
	const struct vip_plan done = { .verb = VIP_NOTHING, .why = "the address is set",
		.view = { .pool_name = v->in.claim.pool_name } };

	snprintf(note, sizeof(note), "address %.*s of pool %.*s for %s", (int)v->in.address.address.len,
	    v->in.address.address.p, (int)v->in.claim.pool_name.len, v->in.claim.pool_name.p,
	    vip_role_label(v->in.role));
	log_step(v, &done, "address of a Cluster");
	figures_allocated(v);
	send_event(c, v, "Normal", VIP_ALLOCATED, note);
}

static void
log_step(const struct cluster_view *v, const struct vip_plan *p, const char *message)
{
	const struct vip_input *const in = &v->in;
	const struct wire_str pool = p->view.pool_name, address = in->address.address;
	const struct wire_str class = in->cluster.class_name;

	char cluster[sizeof(v->ns) + sizeof(v->name)];
	snprintf(cluster, sizeof(cluster), "%s/%s", v->ns, v->name);
	log_emit(p->verb == VIP_WARN ? LEVEL_WARN : LEVEL_INFO, 0, message,
	    LOG_KVS(KV_S(CLUSTER, cluster), KV_SN(CLASS, class.p, class.len),
	    KV_SN(POOL, pool.p, pool.len), KV_S(CLAIM, v->claim_name), KV_SN(ADDRESS, address.p, address.len),
	    KV_S(VERB, vip_verb_name(p->verb)),
	    KV_S(WHY, p->message[0] != '\0' ? p->message : p->why),
	    KV_S(REASON, vip_event_reason(p->verb == VIP_WARN ? p->event : VIP_EVENT_NONE))));
}

static void
send_event(struct claimer *c, const struct cluster_view *v, const char *type, enum vip_event event,
    const char *note)
{
	struct reconcile_write about = { .kind = VIP_KIND_CLUSTERS, .action = "Allocate",
		.trace = log_get_trace() };

	snprintf(about.ns, sizeof(about.ns), "%s", v->ns);
	snprintf(about.name, sizeof(about.name), "%s", v->name);
	snprintf(about.uid, sizeof(about.uid), "%.*s", (int)v->in.cluster.uid.len, v->in.cluster.uid.p);
	reconcile_event(&c->r, &about, type, vip_event_reason(event), wire_str_of(note));
}
