/* sim/kube/semantics/sim_semantics_status.c - Status objects as kube-apiserver writes them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_field_errors.h"
#include "sim_semantics.h"
#include "sim_semantics_rules.h"

static json_t *about_name(int code, const char *reason, const struct sim_resource *r, const char *name,
    const char *what);
static void set_text(json_t *object, const char *key, const char *text);

json_t *
sim_semantics_failure_of(int code, const char *reason, const struct sim_resource *r, const char *name,
    json_t *causes, const char *format, ...)
{
	char *message;
	va_list args;

	va_start(args, format);
	MUST(vasprintf(&message, format, args) != -1);
	va_end(args);
	json_t *status = json_pack("{s:s, s:s, s:{}, s:s, s:o}", "kind", "Status", "apiVersion", "v1",
	    "metadata", "status", "Failure", "message", sim_json_utf8(message));
	free(message);
	set_text(status, "reason", reason);
	if (r != NULL) {
		json_t *details = sim_json_branch(status, "details");

		set_text(details, "name", name);
		set_text(details, "group", r->group);
		set_text(details, "kind", r->plural);
	}
	if (causes != NULL)
		json_object_set_new(sim_json_branch(status, "details"), "causes", causes);
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
	va_list args;

	va_start(args, format);
	json_auto_t *why = json_vsprintf(format, args);
	va_end(args);
	return sim_semantics_failure_of(409, "Conflict", &named, name, NULL,
	    "Operation cannot be fulfilled on %s%s%s \"%s\": %s", called, *r->group == '\0' ? "" : ".",
	    r->group, name, json_string_value(why));
}

static json_t *
about_name(int code, const char *reason, const struct sim_resource *r, const char *name, const char *what)
{
	char *const quoted = sim_go_quote(name);
	json_t *const status = sim_semantics_failure_of(code, reason, r, name, NULL, "%s%s%s %s %s",
	    r->plural, *r->group == '\0' ? "" : ".", r->group, quoted, what);

	free(quoted);
	return status;
}

static void
set_text(json_t *object, const char *key, const char *text)
{
	if (text != NULL && *text != '\0')
		json_object_set_new(object, key, sim_json_utf8(text));
}
