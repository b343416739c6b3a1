/*
 * actors/vip-claimer/write.c - the bodies of the reconciler's writes, the same in v1beta1 and
 * v1beta2. Pure.
 */
#include "kube/json_span.h"

#include "json.h"
#include "obj.h"
#include "vip.h"

static void put_label(struct json *, const struct vip_input *);
static void put_owner(struct json *, const char *, const struct vip_input *);
static void put_endpoint(struct json *, const struct vip_input *);
static void put_variables(struct json *, const struct vip_input *);
static void put_variable(struct json *, struct json_span, struct wire_str);
static bool is_named(struct json_span, const char *);
static void put(struct json *, const char *, struct wire_str);

size_t
vip_body_claim(char *buf, size_t size, const char *api, const char *cluster_api, const struct vip_input *s,
    const struct vip_view *v)
{
	struct json j = { .buf = buf, .size = size };

	MUST(v->pool != NULL);
	json_open(&j, NULL, '{');
	json_str(&j, "apiVersion", api);
	json_str(&j, "kind", "IPAddressClaim");
	json_open(&j, "metadata", '{');
	json_str(&j, "name", v->claim_name);
	put(&j, "namespace", s->cluster.namespace);
	/* The IPAM provider skips a claim that names a paused Cluster (V8). */
	if (!s->cluster.paused)
		put_label(&j, s);
	put_owner(&j, cluster_api, s);
	json_close(&j, '}');
	json_open(&j, "spec", '{');
	json_open(&j, "poolRef", '{');
	json_str(&j, "apiGroup", VIP_IPAM_GROUP);
	json_str(&j, "kind", vip_pool_kind(v->pool));
	put(&j, "name", v->pool->name);
	json_close(&j, '}');
	json_close(&j, '}');
	json_close(&j, '}');
	return json_end(&j);
}

size_t
vip_body_adopt(char *buf, size_t size, const char *cluster_api, const struct vip_input *s)
{
	struct json j = { .buf = buf, .size = size };

	json_open(&j, NULL, '{');
	json_open(&j, "metadata", '{');
	put(&j, "resourceVersion", s->claim.resource_version);
	if (!s->cluster.paused)
		put_label(&j, s);
	/* A merge patch replaces the list: only one that is empty. */
	if (s->claim.owners == 0)
		put_owner(&j, cluster_api, s);
	json_close(&j, '}');
	json_close(&j, '}');
	return json_end(&j);
}

size_t
vip_body_cluster(char *buf, size_t size, const struct vip_input *s)
{
	struct json j = { .buf = buf, .size = size };

	json_open(&j, NULL, '{');
	json_open(&j, "metadata", '{');
	put(&j, "resourceVersion", s->cluster.resource_version);
	if (s->role == VIP_INGRESS) {
		json_open(&j, "annotations", '{');
		put(&j, VIP_INGRESS_VIP, s->address.address);
		json_close(&j, '}');
		if (vip_is_ipv4(s->address.address)) {
			json_open(&j, "labels", '{');
			put(&j, VIP_INGRESS_VIP, s->address.address);
			json_close(&j, '}');
		}
	}
	json_close(&j, '}');
	if (s->role == VIP_CONTROL_PLANE) {
		json_open(&j, "spec", '{');
		put_endpoint(&j, s);
		if (s->class.declares_variable)
			put_variables(&j, s);
		json_close(&j, '}');
	}
	json_close(&j, '}');
	return json_end(&j);
}

bool
vip_variable_is(struct wire_str variables, struct wire_str address)
{
	struct json_members list = json_members_of((struct json_span){ variables.p, variables.len });

	for (struct json_span e, value, text; variables.len > 0 && json_elements_next(&list, &e);) {
		if (is_named(e, VIP_VARIABLE))
			return json_span_find(e, "value", &value) && json_span_text(value, &text)
			    && text.len == address.len && memcmp(text.p, address.p, text.len) == 0;
	}
	return false;
}

static void
put_label(struct json *j, const struct vip_input *s)
{
	json_open(j, "labels", '{');
	put(j, VIP_CLUSTER_NAME, s->cluster.name);
	json_close(j, '}');
}

static void
put_owner(struct json *j, const char *cluster_api, const struct vip_input *s)
{
	json_open(j, "ownerReferences", '[');
	json_open(j, NULL, '{');
	json_str(j, "apiVersion", cluster_api);
	json_str(j, "kind", "Cluster");
	put(j, "name", s->cluster.name);
	put(j, "uid", s->cluster.uid);
	json_bool(j, "controller", true);
	json_bool(j, "blockOwnerDeletion", true);
	json_close(j, '}');
	json_close(j, ']');
}

/* Both: Cluster API takes a host without a port for an endpoint that is not set. */
static void
put_endpoint(struct json *j, const struct vip_input *s)
{
	json_open(j, "controlPlaneEndpoint", '{');
	put(j, "host", s->address.address);
	json_int(j, "port", s->cluster.port > 0 ? s->cluster.port : s->default_port);
	json_close(j, '}');
}

/* A merge patch replaces the whole list: the others are written as they stand. */
static void
put_variables(struct json *j, const struct vip_input *s)
{
	const struct wire_str old = s->cluster.variables;
	struct json_members list = json_members_of((struct json_span){ old.p, old.len });
	bool placed = false;

	json_open(j, "topology", '{');
	json_open(j, "variables", '[');
	for (struct json_span e; old.len > 0 && json_elements_next(&list, &e);) {
		const bool ours = is_named(e, VIP_VARIABLE);

		if (ours)
			put_variable(j, e, s->address.address);
		else
			json_raw(j, NULL, e.p, e.len);
		placed |= ours;
	}
	if (!placed) {
		json_open(j, NULL, '{');
		json_str(j, "name", VIP_VARIABLE);
		put(j, "value", s->address.address);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

/* Its other members, as definitionFrom of v1beta1, stay. */
static void
put_variable(struct json *j, struct json_span old, struct wire_str address)
{
	struct json_members m = json_members_of(old);

	json_open(j, NULL, '{');
	json_str(j, "name", VIP_VARIABLE);
	put(j, "value", address);
	for (struct json_span key, value; json_members_next(&m, &key, &value);) {
		if (span_is(key.p, key.len, "definitionFrom"))
			json_raw(j, "definitionFrom", value.p, value.len);
	}
	json_close(j, '}');
}

static bool
is_named(struct json_span element, const char *name)
{
	struct json_span value, text;

	return json_span_find(element, "name", &value) && json_span_text(value, &text)
	    && span_is(text.p, text.len, name);
}

static void
put(struct json *j, const char *name, struct wire_str s)
{
	json_strn(j, name, s.p, s.len);
}
