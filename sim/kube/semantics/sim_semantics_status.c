/* sim/kube/semantics/sim_semantics_status.c - Status objects as kube-apiserver writes them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_semantics.h"
#include "sim_semantics_rules.h"

static json_t *about_name(int code, const char *reason, const struct sim_resource *r, const char *name,
    const char *what);
static void set_text(json_t *object, const char *key, const char *text);

json_t *
sim_semantics_failure(int code, const char *reason, const char *message, const struct sim_resource *r,
    const char *name, json_t *causes)
{
	json_t *status = json_pack("{s:s, s:s, s:{}, s:s, s:s}", "kind", "Status", "apiVersion", "v1",
	    "metadata", "status", "Failure", "message", message);
	json_t *details = json_object();

	set_text(status, "reason", reason);
	if (r != NULL) {
		set_text(details, "name", name);
		set_text(details, "group", r->group);
		set_text(details, "kind", r->plural);
	}
	if (causes != NULL)
		json_object_set_new(details, "causes", causes);
	if (r != NULL || causes != NULL)
		json_object_set(status, "details", details);
	json_decref(details);
	json_object_set_new(status, "code", json_integer(code));
	return status;
}

json_t *
sim_semantics_not_found(const struct sim_resource *r, const char *name)
{
	return about_name(404, "NotFound", r, name, "not found");
}

json_t *
sim_semantics_already_exists(const struct sim_resource *r, const char *name)
{
	return about_name(409, "AlreadyExists", r, name, "already exists");
}

json_t *
sim_status_bad_request(const char *format, ...)
{
	char *message;
	va_list args;

	va_start(args, format);
	MUST(vasprintf(&message, format, args) >= 0);
	va_end(args);
	json_t *status = sim_semantics_failure(400, "BadRequest", message, NULL, "", NULL);

	free(message);
	return status;
}

json_t *
sim_status_other_namespace(void)
{
	return sim_status_bad_request("the namespace of the provided object does not match the namespace "
	    "sent on the request");
}

json_t *
sim_status_conflict(const struct sim_resource *r, const char *called, const char *name,
    const char *format, ...)
{
	const struct sim_resource named = { .group = r->group, .plural = called };
	char *why, *message;
	va_list args;

	va_start(args, format);
	MUST(vasprintf(&why, format, args) >= 0);
	va_end(args);
	MUST(asprintf(&message, "Operation cannot be fulfilled on %s%s%s \"%s\": %s", called,
	    *r->group == '\0' ? "" : ".", r->group, name, why) > 0);
	json_t *status = sim_semantics_failure(409, "Conflict", message, &named, name, NULL);

	free(message);
	free(why);
	return status;
}

static json_t *
about_name(int code, const char *reason, const struct sim_resource *r, const char *name, const char *what)
{
	char *message;

	MUST(asprintf(&message, "%s%s%s \"%s\" %s", r->plural, *r->group == '\0' ? "" : ".", r->group,
	    name, what) > 0);
	json_t *status = sim_semantics_failure(code, reason, message, r, name, NULL);

	free(message);
	return status;
}

static void
set_text(json_t *object, const char *key, const char *text)
{
	if (text != NULL && *text != '\0')
		json_object_set_new(object, key, json_string(text));
}
