/* actors/vip-claimer/wire.c - reads hook requests. Pure. */
#include "wire.h"

#include <string.h>

#include "ascii.h"
#include "kube/json_check.h"
#include "kube/json_span.h"
#include "kube/time.h"
#include "obj.h"
#include "text_buffer.h"

#define CORE_GROUP	"cluster.x-k8s.io/"
#define TEMPLATE_KIND	"ClusterTemplate"	/* the end of it */

enum need { OPTIONAL, REQUIRED };
enum { NAME_MAX_LEN = 253, HOST_MAX_LEN = 512, PORT_MAX = 65535, TEXT_MAX_LEN = 4096 };

static const struct {
	const char	*name, *part, *suffix;
} hooks[VIP_HOOK_MAX] = {
#define VIP_HOOK_ROW(ID, name_, part_, suffix_)	\
	[VIP_HOOK_##ID] = { .name = (name_), .part = (part_), .suffix = (suffix_) },
	VIP_HOOKS(VIP_HOOK_ROW)
#undef VIP_HOOK_ROW
};

/* An object of the request. The first error stays, and every getter after it returns "absent". */
struct at {
	struct vip_request	*request;
	const char		*path;
	struct json_span	 span;
};

static bool is_hook(const char *, enum vip_hook, const char *);
static bool read_body(struct vip_request *, const char *, size_t, struct at *);
static void check_kind(const struct at *, enum vip_hook);
static void read_cluster(const struct at *, struct vip_cluster *);
static void check_version(const struct at *);
static void read_topology(const struct at *, struct vip_cluster *);
static void read_endpoint(const struct at *, struct vip_cluster *);
static void read_builtin(const struct at *, struct vip_cluster *);
static void read_items(const struct at *, struct vip_cluster *);
static void read_item(const struct at *, struct vip_cluster *);
static bool is_cluster_template(const struct at *, const struct at *);
static unsigned depth_of(const struct at *);
static bool member(const struct at *, const char *, enum need, char, const char *, struct json_span *);
static bool object(const struct at *, const char *, enum need, const char *, struct at *);
static bool list(const struct at *, const char *, struct json_members *);
static bool text(const struct at *, const char *, enum need, size_t, struct wire_str *);
static void name(const struct at *, const char *, enum need, struct wire_str *);
static void fail(const struct at *, const char *, const char *);

enum vip_hook
vip_wire_route(const char *path, const char *extension)
{
	static const char prefix[] = "/" VIP_HOOKS_API "/";
	enum vip_hook h = VIP_HOOK_DISCOVERY;

	if (strncmp(path, prefix, sizeof(prefix) - 1) != 0)
		return VIP_HOOK_MAX;
	path += sizeof(prefix) - 1;
	for (; h < VIP_HOOK_MAX && !is_hook(path, h, extension); h++)
		continue;
	return h;
}

static bool
is_hook(const char *path, enum vip_hook h, const char *extension)
{
	const size_t part = strlen(hooks[h].part), own = strlen(extension);

	if (strncmp(path, hooks[h].part, part) != 0)
		return false;
	path += part;
	if (h == VIP_HOOK_DISCOVERY)
		return path[0] == '\0';
	return path[0] == '/' && strncmp(path + 1, extension, own) == 0
	    && strcmp(path + 1 + own, hooks[h].suffix) == 0;
}

const char *
vip_hook_name(enum vip_hook h)
{
	return (unsigned)h < VIP_HOOK_MAX ? hooks[h].name : "?";
}

const char *
vip_hook_suffix(enum vip_hook h)
{
	return (unsigned)h < VIP_HOOK_MAX ? hooks[h].suffix : "?";
}

bool
vip_request_read(enum vip_hook h, const char *body, size_t len, struct vip_request *out)
{
	struct at root, cluster;

	*out = (struct vip_request){ .cluster = { .present = true } };
	if (!read_body(out, body, len, &root))
		return false;
	check_kind(&root, h);
	if (h == VIP_HOOK_CREATE && object(&root, "cluster", REQUIRED, "cluster", &cluster)) {
		read_cluster(&cluster, &out->cluster);
	} else if (h == VIP_HOOK_PATCHES) {
		read_builtin(&root, &out->cluster);
		read_items(&root, &out->cluster);
		if (out->cluster.name.len == 0)
			fail(&root, "items", "neither they nor variable builtin name the Cluster");
	}
	return out->err[0] == '\0';
}

static bool
read_body(struct vip_request *r, const char *body, size_t len, struct at *root)
{
	struct text_buffer t = { .p = r->err, .size = sizeof(r->err) };
	size_t at = 0;

	*root = (struct at){ .request = r, .path = "", .span = { body, len } };
	const char *const wrong = len > VIP_REQUEST_MAX ? "the body is larger than 20 MiB"
							: json_check(body, len, &at);
	if (wrong != NULL) {
		text_put(&t, wrong);
		text_put(&t, ", at byte ");
		text_put_int(&t, (int64_t)at);
		return false;
	}
	while (root->span.p[0] != '{' && memchr(" \t\r\n", root->span.p[0], 4) != NULL)
		root->span = (struct json_span){ root->span.p + 1, root->span.len - 1 };
	if (root->span.p[0] == '{')
		return true;
	text_put(&t, "not a JSON object");
	return false;
}

/* They may be left out, but a request of another hook or version is not taken for this one. */
static void
check_kind(const struct at *root, enum vip_hook h)
{
	const struct wire_str hook = wire_str_of(vip_hook_name(h)), request = wire_str_of("Request");
	struct wire_str api = wire_str_of(VIP_HOOKS_API), kind;

	text(root, "apiVersion", OPTIONAL, TEXT_MAX_LEN, &api);
	if (!wire_str_is(api, VIP_HOOKS_API))
		fail(root, "apiVersion", "not " VIP_HOOKS_API);
	if (text(root, "kind", OPTIONAL, TEXT_MAX_LEN, &kind)
	    && (kind.len != hook.len + request.len || memcmp(kind.p, hook.p, hook.len) != 0
		|| memcmp(kind.p + hook.len, request.p, request.len) != 0))
		fail(root, "kind", "the request of another hook");
}

/* ---- BeforeClusterCreate ---- */

static void
read_cluster(const struct at *at, struct vip_cluster *c)
{
	struct at meta, spec;
	struct wire_str time;

	check_version(at);
	if (object(at, "metadata", REQUIRED, "cluster.metadata", &meta)) {
		name(&meta, "name", REQUIRED, &c->name);
		name(&meta, "namespace", REQUIRED, &c->namespace);
		text(&meta, "uid", OPTIONAL, VIP_UID_MAX, &c->uid);
		c->deleting = text(&meta, "deletionTimestamp", OPTIONAL, TEXT_MAX_LEN, &time);
		if (text(&meta, "creationTimestamp", OPTIONAL, TEXT_MAX_LEN, &time)
		    && !time_parse(time.p, time.len, &c->created_us))
			fail(&meta, "creationTimestamp", "not a time");
	}
	if (object(at, "spec", OPTIONAL, "cluster.spec", &spec)) {
		read_topology(&spec, c);
		read_endpoint(&spec, c);
	}
}

/* A version that is not read here may have its fields in other places. */
static void
check_version(const struct at *at)
{
	struct wire_str api, kind;

	if (text(at, "apiVersion", OPTIONAL, TEXT_MAX_LEN, &api) && !wire_str_is(api, CORE_GROUP "v1beta1")
	    && !wire_str_is(api, CORE_GROUP "v1beta2"))
		fail(at, "apiVersion", "neither " CORE_GROUP "v1beta1 nor v1beta2");
	if (text(at, "kind", OPTIONAL, TEXT_MAX_LEN, &kind) && !wire_str_is(kind, "Cluster"))
		fail(at, "kind", "not Cluster");
}

static void
read_topology(const struct at *spec, struct vip_cluster *c)
{
	struct at topology, class_ref;

	if (!object(spec, "topology", OPTIONAL, "cluster.spec.topology", &topology))
		return;
	if (object(&topology, "classRef", OPTIONAL, "cluster.spec.topology.classRef", &class_ref)) {
		name(&class_ref, "name", OPTIONAL, &c->class_name);
		name(&class_ref, "namespace", OPTIONAL, &c->class_namespace);
	} else {
		name(&topology, "class", OPTIONAL, &c->class_name);
		name(&topology, "classNamespace", OPTIONAL, &c->class_namespace);
	}
}

static void
read_endpoint(const struct at *spec, struct vip_cluster *c)
{
	struct at endpoint;
	struct json_span port;

	if (!object(spec, "controlPlaneEndpoint", OPTIONAL, "cluster.spec.controlPlaneEndpoint", &endpoint))
		return;
	text(&endpoint, "host", OPTIONAL, HOST_MAX_LEN, &c->host);
	if (!member(&endpoint, "port", OPTIONAL, '\0', "", &port))
		return;
	for (size_t i = 0; i < port.len; i++) {
		if (ascii_digit(port.p[i]))
			c->port = c->port * 10 + (port.p[i] - '0');
		if (!ascii_digit(port.p[i]) || c->port > PORT_MAX) {
			fail(&endpoint, "port", "not the number of a port");
			return;
		}
	}
}

/* ---- GeneratePatches ---- */

/* Cluster API sends builtin.cluster; the holder of the infrastructure cluster names it, too. */
static void
read_builtin(const struct at *root, struct vip_cluster *c)
{
	struct json_members variables;
	struct at v = { .request = root->request, .path = "variables" }, value, cluster;
	struct wire_str variable = wire_str_of("");

	if (!list(root, "variables", &variables))
		return;
	while (json_elements_next(&variables, &v.span)) {
		if (v.span.p[0] != '{') {
			fail(root, "variables", "one is not an object");
			return;
		}
		if (!text(&v, "name", OPTIONAL, TEXT_MAX_LEN, &variable) || !wire_str_is(variable, "builtin"))
			continue;
		if (object(&v, "value", REQUIRED, "variables.builtin", &value)
		    && object(&value, "cluster", OPTIONAL, "variables.builtin.cluster", &cluster)) {
			name(&cluster, "name", REQUIRED, &c->name);
			name(&cluster, "namespace", REQUIRED, &c->namespace);
			text(&cluster, "uid", OPTIONAL, VIP_UID_MAX, &c->uid);
		}
		return;
	}
}

static void
read_items(const struct at *root, struct vip_cluster *c)
{
	struct json_members items;
	struct at item = { .request = root->request, .path = "items" };

	if (!list(root, "items", &items))
		return;
	while (root->request->err[0] == '\0' && json_elements_next(&items, &item.span)) {
		if (item.span.p[0] != '{')
			fail(root, "items", "one is not an object");
		else
			read_item(&item, c);
	}
}

static void
read_item(const struct at *item, struct vip_cluster *c)
{
	struct vip_request *const r = item->request;
	struct at holder, template;
	struct wire_str kind, holder_name, holder_namespace;

	if (!object(item, "holderReference", REQUIRED, "items.holderReference", &holder)
	    || !object(item, "object", REQUIRED, "items.object", &template)
	    || !text(&holder, "kind", REQUIRED, NAME_MAX_LEN, &kind))
		return;
	if (wire_str_is(kind, "Cluster")) {
		holder_name = holder_namespace = wire_str_of("");
		name(&holder, "name", REQUIRED, &holder_name);
		name(&holder, "namespace", REQUIRED, &holder_namespace);
		if (c->name.len == 0) {
			c->name = holder_name;
			c->namespace = holder_namespace;
		} else if (!wire_str_same(c->name, holder_name)
		    || !wire_str_same(c->namespace, holder_namespace)) {
			fail(&holder, "name", "not the Cluster that variable builtin names");
		}
	}
	if (!is_cluster_template(&holder, &template))
		return;
	if (r->ntemplates == VIP_ITEMS_MAX) {
		fail(item, "object", "too many infrastructure cluster templates");
		return;
	}
	struct vip_template *const t = &r->templates[r->ntemplates++];
	text(item, "uid", REQUIRED, VIP_UID_MAX, &t->uid);
	t->depth = depth_of(&template);
}

/* The template of the infrastructure cluster: not the one of the control plane, nor of machines. */
static bool
is_cluster_template(const struct at *holder, const struct at *template)
{
	const size_t end = sizeof(TEMPLATE_KIND) - 1;
	struct wire_str kind, path;

	return text(template, "kind", REQUIRED, NAME_MAX_LEN, &kind) && kind.len > end
	    && memcmp(kind.p + kind.len - end, TEMPLATE_KIND, end) == 0
	    && (!text(holder, "fieldPath", OPTIONAL, TEXT_MAX_LEN, &path)
		|| wire_str_is(path, "spec.infrastructureRef"));
}

static unsigned
depth_of(const struct at *template)
{
	struct at a, b, spec;

	if (!object(template, "spec", OPTIONAL, "items.object.spec", &a))
		return 0;
	if (!object(&a, "template", OPTIONAL, "items.object.spec.template", &b))
		return 1;
	return object(&b, "spec", OPTIONAL, "items.object.spec.template.spec", &spec) ? 3 : 2;
}

/* ---- Getters. False: absent, null, or wrong ---- */

/* first: of its JSON; NUL: a number. */
static bool
member(const struct at *at, const char *member_name, enum need need, char first, const char *wrong,
    struct json_span *out)
{
	if (at->request->err[0] != '\0')
		return false;
	if (!json_span_find(at->span, member_name, out) || span_is(out->p, out->len, "null")) {
		if (need == REQUIRED)
			fail(at, member_name, "missing");
		return false;
	}
	if (first == '\0' || out->p[0] == first)
		return true;
	fail(at, member_name, wrong);
	return false;
}

static bool
object(const struct at *at, const char *member_name, enum need need, const char *path, struct at *out)
{
	*out = (struct at){ .request = at->request, .path = path };
	return member(at, member_name, need, '{', "not an object", &out->span);
}

static bool
list(const struct at *at, const char *member_name, struct json_members *out)
{
	struct json_span span;

	if (!member(at, member_name, OPTIONAL, '[', "not a list", &span))
		return false;
	*out = json_members_of(span);
	return true;
}

/* "" is absent. Names, uids and addresses have no escapes. */
static bool
text(const struct at *at, const char *member_name, enum need need, size_t max, struct wire_str *out)
{
	struct json_span span, content;

	if (!member(at, member_name, need, '"', "not a text", &span))
		return false;
	if (!json_span_text(span, &content)) {
		fail(at, member_name, "has an escape");
		return false;
	}
	if (content.len > max || (content.len == 0 && need == REQUIRED)) {
		fail(at, member_name, content.len == 0 ? "empty" : "too long");
		return false;
	}
	if (content.len == 0)
		return false;
	*out = (struct wire_str){ .p = content.p, .len = (uint32_t)content.len };
	return true;
}

/* Of an object: it becomes part of a key, and stands in messages. */
static void
name(const struct at *at, const char *member_name, enum need need, struct wire_str *out)
{
	struct wire_str found;

	if (!text(at, member_name, need, NAME_MAX_LEN, &found))
		return;
	for (uint32_t i = 0; i < found.len; i++) {
		const char c = found.p[i];

		if (!ascii_digit(c) && !ascii_letter(c) && c != '-' && c != '.') {
			fail(at, member_name, "not the name of an object");
			return;
		}
	}
	*out = found;
}

static void
fail(const struct at *at, const char *member_name, const char *cause)
{
	struct text_buffer t = { .p = at->request->err, .size = sizeof(at->request->err) };

	if (at->request->err[0] != '\0')
		return;
	text_put(&t, at->path);
	text_put(&t, at->path[0] != '\0' ? "." : "");
	text_put(&t, member_name);
	text_put(&t, ": ");
	text_put(&t, cause);
}
