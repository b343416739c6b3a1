/*
 * sim/kube/printers/sim_table_builtin.c - columns of the built-in kinds but Pods, as kube-apiserver
 * 1.35 prints them.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim_table.h"

static json_t *node_status(const json_t *, int64_t);
static json_t *node_roles(const json_t *, int64_t);
static json_t *node_internal_ip(const json_t *, int64_t);
static json_t *node_external_ip(const json_t *, int64_t);
static json_t *event_last_seen(const json_t *, int64_t);
static json_t *event_first_seen(const json_t *, int64_t);
static json_t *event_object(const json_t *, int64_t);
static json_t *event_source(const json_t *, int64_t);
static json_t *event_message(const json_t *, int64_t);
static json_t *event_count(const json_t *, int64_t);
static json_t *count_data(const json_t *, int64_t);
static json_t *budget_min(const json_t *, int64_t);
static json_t *budget_max(const json_t *, int64_t);
static json_t *budget_allowed(const json_t *, int64_t);
static json_t *created_at(const json_t *, int64_t);

#define NAME	{ "Name", "string", "name", .cell = sim_table_name }
#define AGE	{ "Age", "string", .cell = sim_table_age }
#define END	{ .name = NULL }

const struct sim_column sim_table_nodes[] = {
	NAME,
	{ "Status", "string", .cell = node_status },
	{ "Roles", "string", .cell = node_roles },
	AGE,
	{ "Version", "string", .path = "status.nodeInfo.kubeletVersion" },
	{ "Internal-IP", "string", .priority = 1, .cell = node_internal_ip },
	{ "External-IP", "string", .priority = 1, .cell = node_external_ip },
	{ "OS-Image", "string", .priority = 1, .path = "status.nodeInfo.osImage", .absent = "<unknown>" },
	{ "Kernel-Version", "string", .priority = 1, .path = "status.nodeInfo.kernelVersion", .absent = "<unknown>" },
	{ "Container-Runtime", "string", .priority = 1, .path = "status.nodeInfo.containerRuntimeVersion",
	    .absent = "<unknown>" },
	END,
};
const struct sim_column sim_table_events[] = {
	{ "Last Seen", "string", .cell = event_last_seen },
	{ "Type", "string", .path = "type" },
	{ "Reason", "string", .path = "reason" },
	{ "Object", "string", .cell = event_object },
	{ "Subobject", "string", .priority = 1, .path = "involvedObject.fieldPath" },
	{ "Source", "string", .priority = 1, .cell = event_source },
	{ "Message", "string", .cell = event_message },
	{ "First Seen", "string", .priority = 1, .cell = event_first_seen },
	{ "Count", "string", .priority = 1, .cell = event_count },
	{ "Name", "string", "name", .priority = 1, .cell = sim_table_name },
	END,
};
const struct sim_column sim_table_namespaces[] = {
	NAME, { "Status", "string", .path = "status.phase" }, AGE, END,
};
const struct sim_column sim_table_secrets[] = {
	NAME, { "Type", "string", .path = "type" }, { "Data", "string", .cell = count_data }, AGE, END,
};
const struct sim_column sim_table_config_maps[] = {
	NAME, { "Data", "string", .cell = count_data }, AGE, END,
};
const struct sim_column sim_table_leases[] = {
	NAME, { "Holder", "string", .path = "spec.holderIdentity" }, AGE, END,
};
const struct sim_column sim_table_budgets[] = {
	NAME,
	{ "Min Available", "string", .cell = budget_min },
	{ "Max Unavailable", "string", .cell = budget_max },
	{ "Allowed Disruptions", "integer", .cell = budget_allowed },
	AGE, END,
};
const struct sim_column sim_table_crds[] = {
	NAME, { "Created At", "date", .cell = created_at }, END,
};
const struct sim_column sim_table_plain[] = { NAME, AGE, END };

static json_t *address(const json_t *, const char *);
static const char *condition(const json_t *, const char *);
static json_t *whole_or_percent(const json_t *, const char *);

static json_t *
node_status(const json_t *node, int64_t now_us)
{
	const char *const ready = condition(node, "Ready");

	(void)now_us;
	return json_sprintf("%s%s",
	    ready[0] == '\0'                 ? "Unknown"
		: strcmp(ready, "True") == 0 ? "Ready"
					     : "NotReady",
	    json_is_true(sim_json_at(node, "spec.unschedulable")) ? ",SchedulingDisabled" : "");
}

static json_t *
node_roles(const json_t *node, int64_t now_us)
{
	static const char prefix[] = "node-role.kubernetes.io/";
	const char *roles[64];
	size_t n = 0;
	const char *key;
	json_t *value;
	struct sim_buf b = { 0 };

	(void)now_us;
	JSON_EACH(sim_json_at(node, "metadata.labels"), key, value) {
		if (n == NITEMS(roles))
			break;
		if (strncmp(key, prefix, sizeof(prefix) - 1) == 0 && key[sizeof(prefix) - 1] != '\0')
			roles[n++] = key + sizeof(prefix) - 1;
		else if (strcmp(key, "kubernetes.io/role") == 0 && json_string_length(value) > 0)
			roles[n++] = json_string_value(value);
	}
	if (n == 0)
		return json_string("<none>");
	qsort(roles, n, sizeof(roles[0]), sim_json_compare_texts);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(roles[i], roles[i - 1]) != 0)
			sim_buf_printf(&b, "%s%s", i > 0 ? "," : "", roles[i]);
	}
	json_t *const text = json_string(b.bytes);
	sim_buf_free(&b);
	return text;
}

static json_t *
node_internal_ip(const json_t *node, int64_t now_us)
{
	(void)now_us;
	return address(node, "InternalIP");
}

static json_t *
node_external_ip(const json_t *node, int64_t now_us)
{
	(void)now_us;
	return address(node, "ExternalIP");
}

static json_t *
event_first_seen(const json_t *event, int64_t now_us)
{
	const char *const first = sim_json_text(event, "firstTimestamp");

	return sim_table_since(first[0] != '\0' ? first : sim_json_text(event, "eventTime"), now_us);
}

static json_t *
event_last_seen(const json_t *event, int64_t now_us)
{
	const char *const last = sim_json_text(event, "lastTimestamp");

	if (json_is_object(json_object_get(event, "series")))
		return sim_table_since(sim_json_text_at(event, "series.lastObservedTime"), now_us);
	return last[0] != '\0' ? sim_table_since(last, now_us) : event_first_seen(event, now_us);
}

static json_t *
event_object(const json_t *event, int64_t now_us)
{
	const char *const name = sim_json_text_at(event, "involvedObject.name");
	char *const kind = obj_strdup(sim_json_text_at(event, "involvedObject.kind"));

	(void)now_us;
	for (char *p = kind; *p != '\0'; p++)
		*p = (char)tolower((unsigned char)*p);
	json_t *const text = json_sprintf("%s%s%s", kind, name[0] != '\0' ? "/" : "", name);
	free(kind);
	return text;
}

static json_t *
event_source(const json_t *event, int64_t now_us)
{
	const char *component = sim_json_text_at(event, "source.component");
	const char *host = sim_json_text_at(event, "source.host");

	(void)now_us;
	if (component[0] == '\0')
		component = sim_json_text(event, "reportingComponent");
	if (host[0] == '\0')
		host = sim_json_text(event, "reportingInstance");
	return json_sprintf("%s%s%s", component, host[0] != '\0' ? ", " : "", host);
}

static json_t *
event_message(const json_t *event, int64_t now_us)
{
	const char *const message = sim_json_text(event, "message");
	const size_t skip = strspn(message, " \t\r\n");
	size_t len = strlen(message);

	(void)now_us;
	while (len > skip && strchr(" \t\r\n", message[len - 1]) != NULL)
		len--;
	return json_stringn(message + skip, len - skip);
}

static json_t *
event_count(const json_t *event, int64_t now_us)
{
	const int64_t count = sim_json_int_at(event, "count", 0);

	(void)now_us;
	if (json_is_object(json_object_get(event, "series")))
		return json_integer(sim_json_int_at(event, "series.count", 0));
	return json_integer(count != 0 ? count : 1);
}

static json_t *
count_data(const json_t *object, int64_t now_us)
{
	(void)now_us;
	return json_integer((json_int_t)json_object_size(json_object_get(object, "data"))
	    + (json_int_t)json_object_size(json_object_get(object, "binaryData")));
}

static json_t *
budget_min(const json_t *budget, int64_t now_us)
{
	(void)now_us;
	return whole_or_percent(budget, "spec.minAvailable");
}

static json_t *
budget_max(const json_t *budget, int64_t now_us)
{
	(void)now_us;
	return whole_or_percent(budget, "spec.maxUnavailable");
}

static json_t *
budget_allowed(const json_t *budget, int64_t now_us)
{
	(void)now_us;
	return json_integer(sim_json_int_at(budget, "status.disruptionsAllowed", 0));
}

static json_t *
created_at(const json_t *object, int64_t now_us)
{
	(void)now_us;
	return json_string(sim_json_text_at(object, "metadata.creationTimestamp"));
}

static json_t *
address(const json_t *node, const char *type)
{
	size_t i;
	json_t *a;

	json_array_foreach(sim_json_at(node, "status.addresses"), i, a) {
		if (strcmp(sim_json_text(a, "type"), type) == 0)
			return json_string(sim_json_text(a, "address"));
	}
	return json_string("<none>");
}

/* Its status; "": there is none of that type. */
static const char *
condition(const json_t *object, const char *type)
{
	size_t i;
	json_t *c;

	json_array_foreach(sim_json_at(object, "status.conditions"), i, c) {
		if (strcmp(sim_json_text(c, "type"), type) == 0)
			return sim_json_text(c, "status");
	}
	return "";
}

static json_t *
whole_or_percent(const json_t *object, const char *path)
{
	const json_t *const value = sim_json_at(object, path);

	if (json_is_integer(value))
		return json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return json_string(json_is_string(value) ? json_string_value(value) : "N/A");
}
