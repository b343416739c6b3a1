/*
 * actors/capa-annotator/deployment_view.c - a MachineDeployment and what it refers to, as the
 * mirrors have them.
 */
#include <stdio.h>
#include <string.h>

#include "annotator.h"
#include "clock.h"
#include "obj.h"

enum { TARGET_MAX = OBJECT_KEY_MAX + 1 };

struct enqueue_arg {
	struct reconciler	*r;
	const struct change	*c;
};

static void read_object(struct deployment_view *);
static void read_template(struct deployment_view *, struct annotator *);
static void read_cluster(struct deployment_view *, struct annotator *);
static enum capa_presence read_reference(
    struct annotator *, unsigned, const struct capa_object *, union msg_body *);
static struct wire_str put_target(char *, unsigned, const struct capa_object *);
static struct wire_str put_type(char *, struct wire_str, struct wire_str);
static void enqueue_owner(void *, const char *, size_t);
static void split_key(struct deployment_view *);

/* The resources of what a MachineDeployment refers to; rows of the kinds. */
static const char *const resources[ANNOTATOR_KIND_MAX] = {
	[ANNOTATOR_DEPLOYMENTS] = ANNOTATOR_OBJECTS, [ANNOTATOR_TEMPLATES] = "awsmachinetemplates",
	[ANNOTATOR_CLUSTERS] = "clusters", [ANNOTATOR_AWS_CLUSTERS] = "awsclusters",
	[ANNOTATOR_CONTROL_PLANES] = "awsmanagedcontrolplanes",
};

void
deployment_view_plan(struct deployment_view *v, struct annotator *a, const struct work *w)
{
	const int64_t now_ms = clock_mono_ms();
	const struct journal_entry *const entry = journal_find(a->r.journal, w->key, w->len);

	memset(&v->in, 0, sizeof(v->in));
	v->work = w;
	v->exists = actor_read(a->r.actor, LINK_KUBE_CAPA, w->key, w->len, &v->object, &v->body);
	if (!v->exists)
		return;
	split_key(v);
	v->in.synced = reconcile_synced(&a->r);
	v->in.leading = a->r.leading;
	v->in.refused = entry != NULL && entry->refused;
	v->in.hold_ms = a->r.kinds[ANNOTATOR_DEPLOYMENTS].hold_until_ms - now_ms;
	v->in.partition = a->identity.partition;
	read_object(v);
	read_template(v, a);
	read_cluster(v, a);
	capa_plan(&v->in, &v->plan);
	if (v->plan.verb != CAPA_FIND)
		return;
	v->in.answer = catalogue_find(a->catalogue, v->plan.region, v->plan.type, now_ms, &v->in.type);
	v->in.found = true;
	region_walk_want(a, v->plan.region);
	capa_plan(&v->in, &v->plan);
}

void
deployment_view_index(const struct deployment_view *v, struct annotator *a)
{
	const struct wire_str owner = { .p = v->work->key, .len = (uint32_t)v->work->len };
	char target[TARGET_MAX];

	ref_index_set(a->refs, owner, REF_TEMPLATE,
	    put_target(target, ANNOTATOR_TEMPLATES, &v->template_ref));
	ref_index_set(a->refs, owner, REF_CLUSTER, put_target(target, ANNOTATOR_CLUSTERS, &v->cluster_ref));
	ref_index_set(a->refs, owner, REF_REGION_OBJECT, put_target(target, v->region_row, &v->region_ref));
	/* A leader that loses its Lease for a moment does not read all regions again. */
	if (!v->in.leading && !v->in.deleting)
		return;
	/* Only what the catalogue was asked for: a region that is none, or another partition's, is not. */
	const struct wire_str region = { .p = v->plan.region.p, .len = v->in.found ? v->plan.region.len : 0 };
	ref_index_set(a->refs, owner, REF_TYPE, put_type(target, region, v->plan.type));
	const int n = snprintf(target, sizeof(target), ANNOTATOR_REGIONS "%.*s", (int)region.len, region.p);
	ref_index_set(a->refs, owner, REF_REGION,
	    (struct wire_str){ .p = target, .len = region.len > 0 ? (uint32_t)n : 0 });
}

void
deployment_view_keys(struct reconciler *r, const struct change *c)
{
	struct enqueue_arg arg = { r, c };

	if (c->type == MSG_MACHINE_DEPLOYMENT)
		reconcile_enqueue(r, c->key.p, c->key.len, c);
	else
		ref_index_each(annotator_of(r)->refs, c->key, enqueue_owner, &arg);
}

void
deployment_view_type_changed(struct annotator *a, const char *region, struct wire_str type)
{
	char target[TARGET_MAX];

	deployment_view_target_changed(a, put_type(target, wire_str_of(region), type));
}

void
deployment_view_target_changed(struct annotator *a, struct wire_str target)
{
	const struct change none = { .trace = 0 };
	struct enqueue_arg arg = { &a->r, &none };

	ref_index_each(a->refs, target, enqueue_owner, &arg);
}

static void
enqueue_owner(void *arg, const char *owner, size_t len)
{
	const struct enqueue_arg *const to = arg;

	reconcile_enqueue(to->r, owner, len, to->c);
}

/* ---- Reading ---- */

static void
split_key(struct deployment_view *v)
{
	const char *const ns = v->work->key + strlen(ANNOTATOR_OBJECTS "/");
	const char *const slash = strchr(ns, '/');

	MUST(slash != NULL);
	snprintf(v->ns, sizeof(v->ns), "%.*s", (int)(slash - ns), ns);
	snprintf(v->name, sizeof(v->name), "%s", slash + 1);
}

static void
read_object(struct deployment_view *v)
{
	const struct body_machine_deployment *const b = &v->body.machine_deployment;
	struct capa_input *const in = &v->in;

	in->deleting = b->deleted.len > 0;
	in->namespace = wire_str_of(v->ns);
	in->cluster_name = b->cluster;
	in->infrastructure = (struct capa_reference){ .api_version = b->infra_version,
		.api_group = b->infra_group, .kind = b->infra_kind, .name = b->infra_name,
		.namespace = b->infra_ns };
	map_get(b->region, "region", &in->region_annotation);
	for (unsigned k = 0; k < CAPA_KEY_MAX; k++) {
		const char *const key = strchr(capa_key_name((enum capa_key)k), '/') + 1;
		const bool ours = strncmp(capa_key_name((enum capa_key)k), CAPA_CAPACITY,
		    strlen(CAPA_CAPACITY)) == 0;

		if (!map_get(ours ? b->capacity : b->openshift, key, &in->current[k]))
			in->current[k] = (struct wire_str){ .p = NULL };
		else if (in->current[k].p == NULL)
			in->current[k].p = "";
	}
}

static void
read_template(struct deployment_view *v, struct annotator *a)
{
	if (capa_template_of(&v->in.infrastructure, v->in.namespace, &v->template_ref) != CAPA_REFERENCE_GOOD)
		return;
	v->in.template = read_reference(a, ANNOTATOR_TEMPLATES, &v->template_ref, &v->template);
	if (v->in.template == CAPA_PRESENT)
		v->in.instance_type = v->template.aws_template.type;
}

static void
read_cluster(struct deployment_view *v, struct annotator *a)
{
	const struct body_capi_cluster *const c = &v->cluster.capi_cluster;

	v->cluster_ref = (struct capa_object){ .namespace = v->in.namespace, .name = v->in.cluster_name };
	v->region_ref = (struct capa_object){ .name = { .len = 0 } };
	if (v->in.cluster_name.len == 0)
		return;
	v->in.cluster = read_reference(a, ANNOTATOR_CLUSTERS, &v->cluster_ref, &v->cluster);
	if (v->in.cluster != CAPA_PRESENT)
		return;
	const enum capa_region_kind kind = capa_region_of(
	    &(struct capa_reference){ c->infra_version, c->infra_group, c->infra_kind, c->infra_name,
		c->infra_ns },
	    &(struct capa_reference){ c->control_version, c->control_group, c->control_kind,
		c->control_name, c->control_ns },
	    v->in.namespace, &v->region_ref);
	if (kind == CAPA_REGION_NONE)
		return;
	const bool managed = kind == CAPA_REGION_MANAGED;
	v->region_row = managed ? ANNOTATOR_CONTROL_PLANES : ANNOTATOR_AWS_CLUSTERS;
	v->in.region_object = read_reference(a, v->region_row, &v->region_ref, &v->region);
	if (v->in.region_object == CAPA_PRESENT)
		v->in.region = managed ? v->region.aws_control_plane.region : v->region.aws_cluster.region;
}

static enum capa_presence
read_reference(struct annotator *a, unsigned kind, const struct capa_object *ref, union msg_body *out)
{
	char key[TARGET_MAX];
	const struct wire_str target = put_target(key, kind, ref);
	struct change object;

	if (target.len > 0 && actor_read(a->r.actor, LINK_KUBE_CAPA, key, target.len, &object, out))
		return CAPA_PRESENT;
	switch (a->r.kinds[kind].state) {
	case KIND_STATE_LISTING:
		return CAPA_UNREAD;
	case KIND_STATE_FORBIDDEN:
		return CAPA_FORBIDDEN;
	default:
		return CAPA_ABSENT;
	}
}

/* ---- Targets of references ---- */

/* "": a name that no object can have. */
static struct wire_str
put_target(char *buf, unsigned kind, const struct capa_object *object)
{
	const struct wire_str ns = object->namespace, name = object->name;
	char space[64], own[254];
	const bool fits = name.len > 0 && name.len < sizeof(own) && ns.len > 0 && ns.len < sizeof(space);

	buf[0] = '\0';
	if (!fits)
		return wire_str_of("");
	snprintf(space, sizeof(space), "%.*s", (int)ns.len, ns.p);
	snprintf(own, sizeof(own), "%.*s", (int)name.len, name.p);
	return object_key(buf, TARGET_MAX, resources[kind], space, own) ? wire_str_of(buf) : wire_str_of("");
}

static struct wire_str
put_type(char *buf, struct wire_str region, struct wire_str type)
{
	if (region.len == 0 || type.len == 0 || type.len > CATALOGUE_NAME_MAX)
		return wire_str_of("");
	const int n = snprintf(buf, TARGET_MAX, "types/%.*s/%.*s", (int)region.len, region.p, (int)type.len,
	    type.p);
	return (struct wire_str){ .p = buf, .len = (uint32_t)n };
}
