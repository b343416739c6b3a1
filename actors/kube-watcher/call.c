/* actors/kube-watcher/call.c - the HTTP request of each operation. */
#include "call.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "keytab.h"
#include "obj.h"

#define MANAGER_PREFIX	"muster-"

typedef const char *body_fn(const struct call_params *, json_t **);
static body_fn put_object, put_json_patch, put_delete, put_eviction;

static const struct request_form {
	const char	*method, *content_type;
	body_fn		*body;		/* NULL: none */
	bool		 named;		/* the path has the object's name */
	bool		 manager;	/* fieldManager goes along */
} request_for_op[OP_MAX] = {
	[OP_CREATE]    = { "POST",   "application/json",                       put_object,     false, true },
	[OP_UPDATE]    = { "PUT",    "application/json",                       put_object,     true,  true },
	[OP_MERGE]     = { "PATCH",  "application/merge-patch+json",           put_object,     true,  true },
	[OP_JSON]      = { "PATCH",  "application/json-patch+json",            put_json_patch, true,  true },
	[OP_STRATEGIC] = { "PATCH",  "application/strategic-merge-patch+json", put_object,     true,  true },
	[OP_APPLY]     = { "PATCH",  "application/apply-patch+yaml",           put_object,     true,  true },
	[OP_DELETE]    = { "DELETE", "application/json",                       put_delete,     true,  false },
	[OP_EVICT]     = { "POST",   "application/json",                       put_eviction,   true,  false },
	[OP_GET]       = { "GET",    NULL,                                     NULL,           true,  false },
	[OP_LIST]      = { "GET",    NULL,                                     NULL,           false, false },
};

static bool make_path(const struct call_params *, const struct request_form *, struct call_http *);
static const char *read_grace(const struct call_params *, json_t **);
static json_t *preconditions(const struct call_params *);

char *
call_copy(struct call_params *a, enum role sender, const struct body_write *w)
{
	const struct {
		struct wire_str	  from;
		const char	**to;
	} texts[] = {
		{ w->group,       &a->group },       { w->version, &a->version },
		{ w->resource,    &a->resource },    { w->ns,      &a->ns },
		{ w->name,        &a->name },        { w->uid,     &a->uid },
		{ w->subresource, &a->subresource }, { w->rv,      &a->rv },
		{ w->labels,      &a->labels },      { w->fields,  &a->fields },
	};
	size_t size = w->body.len + 1;

	for (size_t i = 0; i < NITEMS(texts); i++)
		size += texts[i].from.len + 1;
	char *const all = obj_alloc(size), *at = all;
	for (size_t i = 0; i < NITEMS(texts); i++) {
		if (texts[i].from.len > 0)
			memcpy(at, texts[i].from.p, texts[i].from.len);
		*texts[i].to = at;
		at += texts[i].from.len + 1;
	}
	if (w->body.len > 0)
		memcpy(at, w->body.p, w->body.len);
	a->body = at;
	a->body_len = w->body.len;
	a->sender = sender;
	a->op = (enum op)w->op;
	a->cont = "";
	return all;
}

uint64_t
call_object(const struct call_params *a)
{
	const char *const parts[] = { a->group, a->resource, a->ns, a->name };
	uint64_t hash = 0;

	for (size_t i = 0; i < NITEMS(parts); i++)
		hash = hash64_more(hash, parts[i], strlen(parts[i]) + 1);
	return hash;
}

const char *
call_make(const struct call_params *a, struct call_http *out)
{
	const struct request_form *const v = &request_for_op[a->op];
	json_t *body = NULL;

	*out = (struct call_http){ .method = v->method, .content_type = v->content_type };
	MUST(v->method != NULL);	/* Events go another way */
	if (a->version[0] == '\0')
		return "version: missing, and kube-watcher does not read this resource";
	if (!make_path(a, v, out))
		return "labels, fields: the selectors are too long for a path";
	const char *const wrong = v->body == NULL ? NULL : v->body(a, &body);
	if (wrong == NULL && body != NULL) {
		out->body = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY);
		MUST(out->body != NULL);
		out->body_len = strlen(out->body);
	}
	json_decref(body);
	return wrong;
}

void
call_free(struct call_http *c)
{
	if (c->body != NULL)
		explicit_bzero(c->body, c->body_len);	/* it may be a Secret */
	free(c->body);
	c->body = NULL;
}

static bool
make_path(const struct call_params *a, const struct request_form *v, struct call_http *out)
{
	const char *const fixed = op_table[a->op].subresource;
	char manager[64], limit[16];

	snprintf(manager, sizeof(manager), MANAGER_PREFIX "%s", role_name(a->sender));
	snprintf(limit, sizeof(limit), "%d", CALL_LIST_PAGE);
	const bool list = a->op == OP_LIST;
	const struct {
		const char	*key, *value;
	} query[] = {
		{ "fieldManager",  v->manager ? manager : "" },
		{ "force",         a->op == OP_APPLY ? "true" : "" },
		{ "labelSelector", list ? a->labels : "" },
		{ "fieldSelector", list ? a->fields : "" },
		{ "limit",         list ? limit : "" },
		{ "continue",      list ? a->cont : "" },
	};
	bool ok = path_make(out->path, sizeof(out->path), &(struct kube_path){
		.group = group_served(a->group), .version = a->version, .resource = a->resource, .ns = a->ns,
		.name = v->named ? a->name : "",
		.subresource = !v->named ? "" : fixed[0] != '\0' ? fixed : a->subresource,
	});
	for (size_t i = 0; ok && i < NITEMS(query); i++) {
		if (query[i].value != NULL && query[i].value[0] != '\0')
			ok = path_query(out->path, sizeof(out->path), query[i].key, query[i].value);
	}
	return ok;
}

/* ---- Bodies ---- */

static const char *
put_object(const struct call_params *a, json_t **out)
{
	*out = json_loadb(a->body, a->body_len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(*out))
		return "body: not a JSON object";
	if (a->uid[0] == '\0' && a->rv[0] == '\0')
		return NULL;
	json_t *metadata = json_object_get(*out, "metadata");
	if (metadata == NULL) {
		metadata = json_object();
		json_object_set_new(*out, "metadata", metadata);
	}
	if (!json_is_object(metadata))
		return "body: metadata is not an object";
	json_t *const pre = preconditions(a);
	json_object_update(metadata, pre);
	json_decref(pre);
	return NULL;
}

/*
 * A `test` that fails is answered with 422, as invalid content is. A field that the server compares
 * anyway is answered with 409.
 */
static const char *
put_json_patch(const struct call_params *a, json_t **out)
{
	const char *key;
	json_t *value;

	*out = json_loadb(a->body, a->body_len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_array(*out))
		return "body: not a JSON array";
	json_t *const pre = preconditions(a);
	json_object_foreach(pre, key, value) {
		char path[64];

		snprintf(path, sizeof(path), "/metadata/%s", key);
		json_array_append_new(
		    *out, json_pack("{s:s, s:s, s:O}", "op", "add", "path", path, "value", value));
	}
	json_decref(pre);
	return NULL;
}

static const char *
put_delete(const struct call_params *a, json_t **out)
{
	json_t *grace;

	const char *const wrong = read_grace(a, &grace);
	if (wrong != NULL)
		return wrong;
	*out = json_pack("{s:s, s:s, s:s, s:o*}", "kind", "DeleteOptions", "apiVersion", "v1",
	    "propagationPolicy", "Background", "gracePeriodSeconds", grace);
	MUST(*out != NULL);
	if (a->uid[0] != '\0' || a->rv[0] != '\0')
		json_object_set_new(*out, "preconditions", preconditions(a));
	return NULL;
}

/* *grace: NULL when the body is empty, and the object's own applies. */
static const char *
read_grace(const struct call_params *a, json_t **grace)
{
	*grace = NULL;
	if (a->body_len == 0)
		return NULL;
	json_auto_t *options = json_loadb(a->body, a->body_len, JSON_REJECT_DUPLICATES, NULL);
	json_t *const given = json_object_get(options, "gracePeriodSeconds");
	if (json_object_size(options) != 1 || !json_is_integer(given))
		return "body: of an eviction and a deletion it is {\"gracePeriodSeconds\": N} or empty";
	if (json_integer_value(given) < 0 || json_integer_value(given) > INT32_MAX)
		return "body: gracePeriodSeconds is out of range";
	*grace = json_incref(given);
	return NULL;
}

static const char *
put_eviction(const struct call_params *a, json_t **out)
{
	json_t *options;

	const char *const wrong = put_delete(a, &options);
	if (wrong != NULL)
		return wrong;
	*out = json_pack("{s:s, s:s, s:{s:s, s:s}, s:o}", "apiVersion", "policy/v1", "kind", "Eviction",
	    "metadata", "name", a->name, "namespace", a->ns, "deleteOptions", options);
	MUST(*out != NULL);
	return NULL;
}

static json_t *
preconditions(const struct call_params *a)
{
	json_t *const p = json_object();

	if (a->uid[0] != '\0')
		json_object_set_new(p, "uid", json_string(a->uid));
	if (a->rv[0] != '\0')
		json_object_set_new(p, "resourceVersion", json_string(a->rv));
	return p;
}
