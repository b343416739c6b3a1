/* actors/vpsie-claimer/request.c - paths and bodies of the VPSie API. Pure. */
#include "request.h"

#include <string.h>

#include "ascii.h"
#include "form.h"
#include "json.h"
#include "obj.h"

/* A text that grows; what does not fit makes it full. */
struct path {
	char	*buf;
	size_t	 len;
	bool	 full, bad;
};

static void put(struct path *, const char *);
static void put_number(struct path *, int64_t);
static void put_identifier(struct path *, struct wire_str);
static void put_path(struct path *, enum vpsie_call, const struct vpsie_target *);
static size_t put_body(enum vpsie_call, const struct vpsie_target *, char[VPSIE_BODY_MAX]);

static const struct {
	const char	*method;
	bool		 vms;
} calls[VPSIE_CALL_MAX] = {
#define VPSIE_CALL_ROW(ID, m, v) [CALL_##ID] = { .method = (m), .vms = (v) },
	VPSIE_CALLS(VPSIE_CALL_ROW)
};

const char *
vpsie_base_parse(const char *url, struct vpsie_base *out)
{
	const size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
	size_t len = strlen(url);

	if (scheme == 0)
		return "the URL does not begin with https://";
	if (len >= VPSIE_URL_MAX)
		return "the URL is too long";
	for (size_t i = 0; i < len; i++) {
		if (url[i] <= ' ' || url[i] > '~' || memchr("?#@", url[i], 3) != NULL)
			return "the URL has a character that does not belong there";
	}
	while (len > scheme && url[len - 1] == '/')
		len--;
	const char *const slash = memchr(url + scheme, '/', len - scheme);
	const size_t host = slash == NULL ? len : (size_t)(slash - url), path = len - host;
	if (host == scheme)
		return "the URL has no host";
	*out = (struct vpsie_base){ .host = "" };
	memcpy(out->host, url, host);
	if (path == 0 || (path == strlen("/apps/v2") && memcmp(slash, "/apps/v2", path) == 0)) {
		memcpy(out->clusters, "/apps/v2", sizeof("/apps/v2"));
		memcpy(out->vms, "/api/v2", sizeof("/api/v2"));
	} else {
		memcpy(out->clusters, slash, path);
		memcpy(out->vms, slash, path);
	}
	return NULL;
}

const char *
vpsie_request(const struct vpsie_base *base, enum vpsie_call call, const struct vpsie_target *t,
    struct vpsie_request *out)
{
	struct path p = { .buf = out->path };

	MUST((unsigned)call < VPSIE_CALL_MAX);
	out->path[0] = out->body[0] = '\0';
	out->method = calls[call].method;
	put(&p, calls[call].vms ? base->vms : base->clusters);
	put_path(&p, call, t);
	if (p.bad)
		return "an identifier or a number is missing, or cannot be a part of a path";
	if (p.full)
		return "the path is too long";
	out->body_len = put_body(call, t, out->body);
	const bool has_body = call == CALL_MAKE_GROUP || call == CALL_DELETE_WORKER || call == CALL_TOKEN;
	if (has_body && out->body_len == 0)
		return "the body is too long";
	out->content_type = !has_body ? NULL
	    : call == CALL_TOKEN  ? "application/x-www-form-urlencoded"
				  : "application/json";
	return NULL;
}

static void
put_path(struct path *p, enum vpsie_call call, const struct vpsie_target *t)
{
	switch (call) {
	case CALL_LIST_VMS:
		put(p, "/vm?offset=");
		put_number(p, t->offset);
		put(p, "&limit=");
		put_number(p, VPSIE_PAGE);
		break;
	case CALL_READ_VM:
	case CALL_DELETE_VM:
		put(p, "/vm/");
		/* Only a read may use the identifier: the SDK deletes by a body that needs a password. */
		if (t->id > 0 || call == CALL_DELETE_VM) {
			p->bad |= t->id <= 0;
			put_number(p, t->id);
		} else {
			put_identifier(p, t->identifier);
		}
		break;
	case CALL_READ_CLUSTER:
		put(p, "/k8s/cluster/byId/");
		put_identifier(p, t->cluster);
		break;
	case CALL_LIST_GROUPS:
		put(p, "/k8s/node/groups/byClusterId/");
		put_identifier(p, t->cluster);
		break;
	case CALL_MAKE_GROUP:
		put(p, "/k8s/cluster/add/group");
		p->bad |= t->cluster.len == 0 || t->group_name.len == 0 || t->kube_size <= 0;
		break;
	case CALL_ADD_WORKER:
		put(p, "/k8s/cluster/byId/");
		put_identifier(p, t->cluster);
		put(p, "/add/slave/group/");
		p->bad |= t->group_id <= 0;
		put_number(p, t->group_id);
		break;
	case CALL_DELETE_WORKER:
		put(p, "/k8s/cluster/byId/");
		put_identifier(p, t->cluster);
		put(p, "/delete/slave");
		p->bad |= t->identifier.len == 0;
		break;
	case CALL_TOKEN:
		put(p, "/auth/from/api");
		p->bad |= t->client_id.len == 0 || t->client_secret.len == 0;
		break;
	case VPSIE_CALL_MAX:
		break;
	}
}

static size_t
put_body(enum vpsie_call call, const struct vpsie_target *t, char out[VPSIE_BODY_MAX])
{
	struct json j = { .buf = out, .size = VPSIE_BODY_MAX };
	size_t len = 0;

	if (call == CALL_TOKEN) {
		const struct wire_str id = t->client_id, secret = t->client_secret;

		form_put(out, VPSIE_BODY_MAX, &len, "clientId=", id.p, id.len);
		form_put(out, VPSIE_BODY_MAX, &len, "&clientSecret=", secret.p, secret.len);
		return len < VPSIE_BODY_MAX ? len : 0;
	}
	if (call != CALL_MAKE_GROUP && call != CALL_DELETE_WORKER)
		return 0;
	json_open(&j, NULL, '{');
	if (call == CALL_MAKE_GROUP) {
		json_strn(&j, "clusterIdentifier", t->cluster.p, t->cluster.len);
		json_strn(&j, "groupName", t->group_name.p, t->group_name.len);
		json_int(&j, "KubeSizeID", t->kube_size);
	} else {
		json_strn(&j, "identifier", t->identifier.p, t->identifier.len);
	}
	json_close(&j, '}');
	return json_end(&j);
}

static void
put(struct path *p, const char *text)
{
	const size_t n = strlen(text);

	p->full |= p->len + n >= VPSIE_PATH_MAX;
	if (p->full)
		return;
	memcpy(p->buf + p->len, text, n + 1);
	p->len += n;
}

static void
put_number(struct path *p, int64_t n)
{
	char digits[24] = { '\0' };
	size_t at = sizeof(digits) - 1;

	p->bad |= n < 0;
	n = n < 0 ? 0 : n;
	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	put(p, digits + at);
}

/* UUIDs, and whatever else needs no encoding: a slash or a dot segment would be another path. */
static void
put_identifier(struct path *p, struct wire_str s)
{
	char text[129];

	p->bad |= s.len == 0 || s.len >= sizeof(text);
	for (uint32_t i = 0; i < s.len; i++) {
		const char c = s.p[i];

		p->bad |= !ascii_letter(c) && !ascii_digit(c) && c != '-' && c != '_';
	}
	if (p->bad)
		return;
	memcpy(text, s.p, s.len);
	text[s.len] = '\0';
	put(p, text);
}
