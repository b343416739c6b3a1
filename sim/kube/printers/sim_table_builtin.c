/*
 * sim/kube/printers/sim_table_builtin.c - columns of the built-in kinds but Pods, as kube-apiserver
 * 1.35 prints them.
 */
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim_table.h"

static sim_cell_fn node_status, node_roles, event_last_seen, event_first_seen, event_object,
    event_source, event_message, event_count, count_data;

#define NAME	{ "Name", "string", "name", .path = ".metadata.name" }
#define AGE	{ "Age", "string", .cell = sim_table_age }
#define END	{ .name = NULL }
#define ADDRESS(type)	".status.addresses[?(@.type==\"" type "\")].address"

const struct sim_column sim_table_nodes[] = {
	NAME,
	{ "Status", "string", .cell = node_status },
	{ "Roles", "string", .cell = node_roles },
	AGE,
	{ "Version", "string", .path = ".status.nodeInfo.kubeletVersion" },
	{ "Internal-IP", "string", .priority = 1, .path = ADDRESS("InternalIP"), .absent = "<none>" },
	{ "External-IP", "string", .priority = 1, .path = ADDRESS("ExternalIP"), .absent = "<none>" },
	{ "OS-Image", "string", .priority = 1, .path = ".status.nodeInfo.osImage", .absent = "<unknown>" },
	{ "Kernel-Version", "string", .priority = 1, .path = ".status.nodeInfo.kernelVersion", .absent = "<unknown>" },
	{ "Container-Runtime", "string", .priority = 1, .path = ".status.nodeInfo.containerRuntimeVersion",
	    .absent = "<unknown>" },
	END,
};
const struct sim_column sim_table_events[] = {
	{ "Last Seen", "string", .cell = event_last_seen },
	{ "Type", "string", .path = ".type" },
	{ "Reason", "string", .path = ".reason" },
	{ "Object", "string", .cell = event_object },
	{ "Subobject", "string", .priority = 1, .path = ".involvedObject.fieldPath" },
	{ "Source", "string", .priority = 1, .cell = event_source },
	{ "Message", "string", .cell = event_message },
	{ "First Seen", "string", .priority = 1, .cell = event_first_seen },
	{ "Count", "string", .priority = 1, .cell = event_count },
	{ "Name", "string", "name", .priority = 1, .path = ".metadata.name" },
	END,
};
const struct sim_column sim_table_namespaces[] = {
	NAME, { "Status", "string", .path = ".status.phase" }, AGE, END,
};
const struct sim_column sim_table_secrets[] = {
	NAME, { "Type", "string", .path = ".type" }, { "Data", "string", .cell = count_data }, AGE, END,
};
const struct sim_column sim_table_config_maps[] = {
	NAME, { "Data", "string", .cell = count_data }, AGE, END,
};
const struct sim_column sim_table_leases[] = {
	NAME, { "Holder", "string", .path = ".spec.holderIdentity" }, AGE, END,
};
const struct sim_column sim_table_budgets[] = {
	NAME,
	{ "Min Available", "string", .path = ".spec.minAvailable", .absent = "N/A" },
	{ "Max Unavailable", "string", .path = ".spec.maxUnavailable", .absent = "N/A" },
	{ "Allowed Disruptions", "integer", .path = ".status.disruptionsAllowed" },
	AGE, END,
};
const struct sim_column sim_table_crds[] = {
	NAME, { "Created At", "date", .path = ".metadata.creationTimestamp" }, END,
};
const struct sim_column sim_table_plain[] = { NAME, AGE, END };

static json_t *
node_status(const struct sim_table_row *row)
{
	const json_t *const conditions = sim_json_at(row->object, "status.conditions");
	const char *const ready = sim_json_text(sim_json_find(conditions, "type", "Ready"), "status");

	return json_sprintf("%s%s",
	    ready[0] == '\0'                 ? "Unknown"
		: strcmp(ready, "True") == 0 ? "Ready"
					     : "NotReady",
	    json_is_true(sim_json_at(row->object, "spec.unschedulable")) ? ",SchedulingDisabled" : "");
}

static json_t *
node_roles(const struct sim_table_row *row)
{
	static const char prefix[] = "node-role.kubernetes.io/";
	const char *roles[64];
	size_t n = 0;
	const char *key;
	json_t *value;
	struct sim_buf b = { 0 };

	JSON_EACH(sim_json_at(row->object, "metadata.labels"), key, value) {
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
event_first_seen(const struct sim_table_row *row)
{
	const char *const first = sim_json_text(row->object, "firstTimestamp");

	return sim_table_since(first[0] != '\0' ? first : sim_json_text(row->object, "eventTime"),
	    row->now_us);
}

static json_t *
event_last_seen(const struct sim_table_row *row)
{
	const char *const last = sim_json_text(row->object, "lastTimestamp");

	if (json_is_object(json_object_get(row->object, "series")))
		return sim_table_since(sim_json_text_at(row->object, "series.lastObservedTime"), row->now_us);
	return last[0] != '\0' ? sim_table_since(last, row->now_us) : event_first_seen(row);
}

static json_t *
event_object(const struct sim_table_row *row)
{
	const char *const name = sim_json_text_at(row->object, "involvedObject.name");
	json_auto_t *kind = sim_json_lower(sim_json_text_at(row->object, "involvedObject.kind"));

	return json_sprintf("%s%s%s", json_string_value(kind), name[0] != '\0' ? "/" : "", name);
}

static json_t *
event_source(const struct sim_table_row *row)
{
	const char *component = sim_json_text_at(row->object, "source.component");
	const char *host = sim_json_text_at(row->object, "source.host");

	if (component[0] == '\0')
		component = sim_json_text(row->object, "reportingComponent");
	if (host[0] == '\0')
		host = sim_json_text(row->object, "reportingInstance");
	return json_sprintf("%s%s%s", component, host[0] != '\0' ? ", " : "", host);
}

static json_t *
event_message(const struct sim_table_row *row)
{
	const char *const message = sim_json_text(row->object, "message");
	const size_t skip = strspn(message, " \t\r\n");
	size_t len = strlen(message);

	while (len > skip && strchr(" \t\r\n", message[len - 1]) != NULL)
		len--;
	return json_stringn(message + skip, len - skip);
}

static json_t *
event_count(const struct sim_table_row *row)
{
	const int64_t count = sim_json_int_at(row->object, "count", 0);

	if (json_is_object(json_object_get(row->object, "series")))
		return json_integer(sim_json_int_at(row->object, "series.count", 0));
	return json_integer(count != 0 ? count : 1);
}

static json_t *
count_data(const struct sim_table_row *row)
{
	return json_integer((json_int_t)json_object_size(json_object_get(row->object, "data"))
	    + (json_int_t)json_object_size(json_object_get(row->object, "binaryData")));
}
