/* sim/kube/verbs/sim_write_request.c - from a request to the parameters of a write. */
#include "sim_write_request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sim/base/sim_json.h"
#include "sim/base/sim_yaml.h"
#include "sim/kube/schema/sim_schema_pb.h"

static void fail_body(struct sim_request *, const char *);

void
sim_write_request_open(struct sim_write_request *w, struct sim_request *c)
{
	w->params = (struct sim_write_params){
		.resource = c->resource,
		.namespace = c->route.ns,
		.name = c->route.name,
		.subresource = c->route.subresource,
		.field_manager = sim_request_text(c, "fieldManager"),
		.user_agent = c->user_agent,
		.force = sim_request_flag(c, "force"),
		.dry_run = strcmp(sim_request_text(c, "dryRun"), "All") == 0,
		.field_validation = sim_request_text(c, "fieldValidation"),
		.now = sim_now(w->now),
		.new_uid = sim_uid(c->sim, w->uid),
		.suffix = sim_suffix(c->sim, w->suffix),
		.warnings = json_array(),
	};
}

void
sim_write_request_close(struct sim_write_request *w)
{
	json_decref(w->params.warnings);
}

void
sim_write_warn(struct sim_request *c, const struct sim_write_request *w)
{
	size_t i;
	json_t *text;
	char header[1024];

	json_array_foreach(w->params.warnings, i, text) {
		char *const quoted = json_dumps(text, JSON_ENCODE_ANY);

		snprintf(header, sizeof(header), "299 - %s", quoted);
		sim_request_add_header(c, "Warning", header);
		free(quoted);
	}
}

json_t *
sim_write_body(struct sim_request *c)
{
	const char *const type = sim_request_header(c, "Content-Type");
	const size_t n = strcspn(type, "; ");
	size_t len;
	const char *const text = sim_request_body(c, &len);
	json_t *body = NULL;
	json_error_t wrong;
	char err[512] = "";

	if (n == 0 || strncasecmp(type, "application/json", n) == 0) {
		body = json_loadb(text, len, 0, &wrong);
		snprintf(err, sizeof(err), "%s", body == NULL ? wrong.text : "");
	} else if (strncasecmp(type, "application/yaml", n) == 0) {
		body = sim_yaml_parse(text, len, err, sizeof(err));
	} else if (strncasecmp(type, "application/vnd.kubernetes.protobuf", n) == 0) {
		body = sim_schema_read_protobuf(text, len);
		snprintf(err, sizeof(err), "%s",
		    body == NULL ? "not a protobuf message of a known kind" : "");
	} else {
		sim_request_fail(c, 415, "UnsupportedMediaType",
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

static void
fail_body(struct sim_request *c, const char *why)
{
	sim_request_fail(c, 400, "BadRequest",
	    "the object provided is unrecognized (must be of type %s): couldn't get "
	    "version/kind; json parse error: %s",
	    c->resource->kind, why);
}
