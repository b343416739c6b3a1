/* sim/kube/verbs/sim_write_request.c - from a call to an ask. */
#include "sim_write_request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema_pb.h"
#include "sim/base/sim_yaml.h"

static const char *param(const struct call *, const char *);
static void fail_body(struct call *, const char *);

void
write_ask_open(struct write_ask *w, struct call *c)
{
	w->ask = (struct ask){
		.resource = c->resource,
		.namespace = c->route.ns,
		.name = c->route.name,
		.subresource = c->route.subresource,
		.field_manager = param(c, "fieldManager"),
		.user_agent = c->user_agent,
		.force = call_flag(c, "force"),
		.dry_run = strcmp(param(c, "dryRun"), "All") == 0,
		.field_validation = param(c, "fieldValidation"),
		.now = sim_now(w->now),
		.new_uid = sim_uid(c->sim, w->uid),
		.suffix = sim_suffix(c->sim, w->suffix),
		.warnings = json_array(),
	};
}

void
write_ask_close(struct write_ask *w)
{
	json_decref(w->ask.warnings);
}

void
write_warn(struct call *c, const struct write_ask *w)
{
	size_t i;
	json_t *text;
	char header[1024];

	json_array_foreach(w->ask.warnings, i, text) {
		char *const quoted = json_dumps(text, JSON_ENCODE_ANY);

		snprintf(header, sizeof(header), "299 - %s", quoted);
		call_add_header(c, "Warning", header);
		free(quoted);
	}
}

json_t *
write_body(struct call *c)
{
	const char *const type = call_header(c, "Content-Type");
	const size_t n = strcspn(type, "; ");
	size_t len;
	const char *const text = call_body(c, &len);
	json_t *body = NULL;
	json_error_t wrong;
	char err[512] = "";

	if (n == 0 || strncasecmp(type, "application/json", n) == 0) {
		body = json_loadb(text, len, 0, &wrong);
		snprintf(err, sizeof(err), "%s", body == NULL ? wrong.text : "");
	} else if (strncasecmp(type, "application/yaml", n) == 0) {
		body = yaml_parse(text, len, err, sizeof(err));
	} else if (strncasecmp(type, "application/vnd.kubernetes.protobuf", n) == 0) {
		body = schema_read_protobuf(text, len);
		snprintf(err, sizeof(err), "%s",
		    body == NULL ? "not a protobuf message of a known kind" : "");
	} else {
		call_fail(c, 415, "UnsupportedMediaType",
		    "the body of the request was in an unknown format - accepted media types include: "
		    "application/json, application/yaml, application/vnd.kubernetes.protobuf");
		return NULL;
	}
	if (json_is_object(body))
		return body;
	json_decref(body);
	fail_body(c, err[0] != '\0' ? err : "the body is not an object");
	return NULL;
}

struct write_key
write_key(const struct call *c, const json_t *object)
{
	struct write_key key;

	snprintf(key.text, sizeof(key.text), "%s%s%s",
	    c->resource->namespaced ? json_text_at(object, "metadata.namespace") : "",
	    c->resource->namespaced ? "/" : "", json_text_at(object, "metadata.name"));
	return key;
}

static void
fail_body(struct call *c, const char *why)
{
	call_fail(c, 400, "BadRequest",
	    "the object provided is unrecognized (must be of type %s): couldn't get "
	    "version/kind; json parse error: %s",
	    c->resource->kind, why);
}

static const char *
param(const struct call *c, const char *name)
{
	const char *const value = call_param(c, name);

	return value != NULL ? value : "";
}
