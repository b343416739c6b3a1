/* actors/vip-claimer/answer.c - the answers of the hooks. Pure. */
#include <string.h>

#include "json.h"
#include "obj.h"
#include "wire.h"

enum { PATCH_MAX = 4096 };		/* a host of 512 characters, all escaped */

static void begin(struct json *, enum vip_hook, bool);
static void put_handler(struct json *, const char *, enum vip_hook);
static size_t write_patch(char[PATCH_MAX], const struct vip_patch_plan *, unsigned);
static size_t base64(char *, const char *, size_t);
static size_t finish(struct json *);

/* Every field that Cluster API would fill in itself is given: an older one must not read another default. */
size_t
vip_answer_discovery(char buf[VIP_ANSWER_MAX], const char *extension)
{
	struct json j = { .buf = buf, .size = VIP_ANSWER_MAX };

	begin(&j, VIP_HOOK_DISCOVERY, true);
	json_str(&j, "message", "");
	json_open(&j, "handlers", '[');
	put_handler(&j, extension, VIP_HOOK_CREATE);
	put_handler(&j, extension, VIP_HOOK_PATCHES);
	json_close(&j, ']');
	json_close(&j, '}');
	return finish(&j);
}

size_t
vip_answer_gate(char buf[VIP_ANSWER_MAX], const struct vip_gate *g)
{
	struct json j = { .buf = buf, .size = VIP_ANSWER_MAX };

	begin(&j, VIP_HOOK_CREATE, true);
	json_str(&j, "message", g->pass ? "" : g->message);
	json_int(&j, "retryAfterSeconds", g->pass ? 0 : g->retry_s);
	json_close(&j, '}');
	return finish(&j);
}

size_t
vip_answer_patches(char buf[VIP_ANSWER_MAX], const struct vip_patch_plan *p, const struct vip_request *r)
{
	struct json j = { .buf = buf, .size = VIP_ANSWER_MAX };
	char patch[PATCH_MAX], encoded[PATCH_MAX / 3 * 4 + 5];

	begin(&j, VIP_HOOK_PATCHES, p->result != VIP_PATCHES_FAIL);
	json_str(&j, "message", p->result == VIP_PATCHES_FAIL ? p->message : "");
	json_open(&j, "items", '[');
	for (unsigned i = 0; p->result == VIP_PATCHES_GIVE && i < r->ntemplates; i++) {
		const size_t len = write_patch(patch, p, r->templates[i].depth);

		json_open(&j, NULL, '{');
		json_strn(&j, "uid", r->templates[i].uid.p, r->templates[i].uid.len);
		json_str(&j, "patchType", "JSONPatch");
		json_strn(&j, "patch", encoded, base64(encoded, patch, len));
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	return finish(&j);
}

static void
begin(struct json *j, enum vip_hook h, bool success)
{
	static const char *const kinds[VIP_HOOK_MAX] = {
#define VIP_HOOK_RESPONSE(ID, name, part, suffix) [VIP_HOOK_##ID] = name "Response",
		VIP_HOOKS(VIP_HOOK_RESPONSE)
#undef VIP_HOOK_RESPONSE
	};

	json_open(j, NULL, '{');
	json_str(j, "apiVersion", VIP_HOOKS_API);
	json_str(j, "kind", kinds[h]);
	json_str(j, "status", success ? "Success" : "Failure");
}

static void
put_handler(struct json *j, const char *extension, enum vip_hook h)
{
	char handler[VIP_NAME_SIZE];
	const size_t len = strlen(extension), suffix = strlen(vip_hook_suffix(h));

	MUST(len + suffix < sizeof(handler));
	memcpy(handler, extension, len);
	memcpy(handler + len, vip_hook_suffix(h), suffix + 1);
	json_open(j, NULL, '{');
	json_str(j, "name", handler);
	json_open(j, "requestHook", '{');
	json_str(j, "apiVersion", VIP_HOOKS_API);
	json_str(j, "hook", vip_hook_name(h));
	json_close(j, '}');
	json_int(j, "timeoutSeconds", VIP_HOOK_TIMEOUT_S);
	json_str(j, "failurePolicy", "Fail");
	json_close(j, '}');
}

/* RFC 6902 adds a member only to an object that is there: what is missing of its path comes with it. */
static size_t
write_patch(char buf[PATCH_MAX], const struct vip_patch_plan *p, unsigned depth)
{
	static const char *const paths[] = {
		"/spec", "/spec/template", "/spec/template/spec", "/spec/template/spec/controlPlaneEndpoint",
	};
	static const char *const names[] = { NULL, "template", "spec", "controlPlaneEndpoint" };
	struct json j = { .buf = buf, .size = PATCH_MAX };

	MUST(depth < NITEMS(paths));
	json_open(&j, NULL, '[');
	json_open(&j, NULL, '{');
	json_str(&j, "op", "add");
	json_str(&j, "path", paths[depth]);
	json_open(&j, "value", '{');
	for (unsigned i = depth + 1; i < NITEMS(names); i++)
		json_open(&j, names[i], '{');
	json_strn(&j, "host", p->host.p, p->host.len);
	json_int(&j, "port", p->port);
	for (unsigned i = depth; i < NITEMS(names); i++)
		json_close(&j, '}');
	json_close(&j, '}');
	json_close(&j, ']');
	return finish(&j);
}

static size_t
base64(char *out, const char *bytes, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *const b = (const unsigned char *)bytes;
	size_t n = 0;

	for (size_t i = 0; i < len; i += 3) {
		const uint32_t three = (uint32_t)b[i] << 16 | (uint32_t)(i + 1 < len ? b[i + 1] : 0) << 8
		    | (i + 2 < len ? b[i + 2] : 0);

		out[n++] = digits[three >> 18];
		out[n++] = digits[three >> 12 & 63];
		out[n++] = (char)(i + 1 < len ? digits[three >> 6 & 63] : '=');
		out[n++] = (char)(i + 2 < len ? digits[three & 63] : '=');
	}
	return n;
}

/* What is written has limits (wire.h), so it fits. */
static size_t
finish(struct json *j)
{
	const size_t len = json_end(j);

	MUST(len > 0);
	return len;
}
