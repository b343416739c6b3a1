/* actors/capa-annotator/references.c - follows the references of CAPI objects to those of AWS. Pure. */
#include "capa.h"

#include <string.h>

#include "obj.h"

#define INFRASTRUCTURE_GROUP	"infrastructure.cluster.x-k8s.io"
#define CONTROL_PLANE_GROUP	"controlplane.cluster.x-k8s.io"

static bool is_kind(const struct capa_reference *, const char *, const char *);
static struct wire_str group_of(const struct capa_reference *);
static bool equals(struct wire_str, const char *);
static struct capa_object object_of(const struct capa_reference *, struct wire_str);

enum capa_reference_check
capa_template_of(const struct capa_reference *r, struct wire_str namespace, struct capa_object *out)
{
	*out = (struct capa_object){ .name = { .len = 0 } };
	if (r->name.len == 0)
		return CAPA_REFERENCE_EMPTY;
	if (!is_kind(r, INFRASTRUCTURE_GROUP, "AWSMachineTemplate"))
		return CAPA_REFERENCE_OTHER;
	*out = object_of(r, namespace);
	return CAPA_REFERENCE_GOOD;
}

/* In EKS the AWSManagedCluster has no region: the control plane has. Old clusters refer to that one twice. */
enum capa_region_kind
capa_region_of(const struct capa_reference *infrastructure, const struct capa_reference *control_plane,
    struct wire_str namespace, struct capa_object *out)
{
	const bool managed = is_kind(infrastructure, INFRASTRUCTURE_GROUP, "AWSManagedCluster");
	const bool twice = is_kind(infrastructure, CONTROL_PLANE_GROUP, "AWSManagedControlPlane");

	*out = (struct capa_object){ .name = { .len = 0 } };
	if (is_kind(infrastructure, INFRASTRUCTURE_GROUP, "AWSCluster")) {
		*out = object_of(infrastructure, namespace);
		return CAPA_REGION_CLUSTER;
	}
	if ((managed || twice) && is_kind(control_plane, CONTROL_PLANE_GROUP, "AWSManagedControlPlane"))
		*out = object_of(control_plane, namespace);
	else if (twice)
		*out = object_of(infrastructure, namespace);
	return out->name.len > 0 ? CAPA_REGION_MANAGED : CAPA_REGION_NONE;
}

/* A reference without a name is of no kind. */
static bool
is_kind(const struct capa_reference *r, const char *group, const char *kind)
{
	return r->name.len > 0 && equals(r->kind, kind) && equals(group_of(r), group);
}

static struct wire_str
group_of(const struct capa_reference *r)
{
	if (r->api_group.len > 0)
		return r->api_group;
	struct wire_str group = r->api_version;
	const char *const slash = group.len == 0 ? NULL : memchr(group.p, '/', group.len);
	group.len = slash == NULL ? 0 : (uint32_t)(slash - group.p);
	return group;
}

static bool
equals(struct wire_str a, const char *b)
{
	return wire_str_compare(a, wire_str_of(b)) == 0;
}

static struct capa_object
object_of(const struct capa_reference *r, struct wire_str namespace)
{
	return (struct capa_object){
		.namespace = r->namespace.len > 0 ? r->namespace : namespace, .name = r->name };
}
