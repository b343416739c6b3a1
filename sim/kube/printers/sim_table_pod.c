/*
 * sim/kube/printers/sim_table_pod.c - the columns of Pods: readiness, reason and restarts gathered
 * from the containers.
 */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_duration.h"
#include "sim_table.h"

enum { REASON_MAX = 256 };

struct pod_summary {
	char		 reason[REASON_MAX];
	int64_t		 restarts, ready, total;
	const char	*last_restart;		/* RFC 3339: later is greater as text */
};

static sim_cell_fn ready, status, restarts, gates;

const struct sim_column sim_table_pods[] = {
	{ "Name", "string", "name", .path = ".metadata.name" },
	{ "Ready", "string", .cell = ready },
	{ "Status", "string", .cell = status },
	{ "Restarts", "string", .cell = restarts },
	{ "Age", "string", .cell = sim_table_age },
	{ "IP", "string", .priority = 1, .path = ".status.podIP", .absent = "<none>" },
	{ "Node", "string", .priority = 1, .path = ".spec.nodeName", .absent = "<none>" },
	{ "Nominated Node", "string", .priority = 1, .path = ".status.nominatedNodeName", .absent = "<none>" },
	{ "Readiness Gates", "string", .priority = 1, .cell = gates },
	{ .name = NULL },
};

static struct pod_summary summarise(const json_t *);
static bool initialising(const json_t *, struct pod_summary *);
static void check_containers(const json_t *, struct pod_summary *);
static void note_restarts(const json_t *, struct pod_summary *);
static void describe_terminated(const json_t *, const char *, char *);
static bool has_condition(const json_t *, const char *, const char *);
static bool is_sidecar(const json_t *, const char *);

static json_t *
ready(const struct sim_table_row *row)
{
	const struct pod_summary s = summarise(row->object);

	return json_sprintf("%lld/%lld", (long long)s.ready, (long long)s.total);
}

static json_t *
status(const struct sim_table_row *row)
{
	return json_string(summarise(row->object).reason);
}

static json_t *
restarts(const struct sim_table_row *row)
{
	const struct pod_summary s = summarise(row->object);
	char age[SIM_DURATION_MAX];

	if (s.restarts == 0 || s.last_restart[0] == '\0')
		return json_sprintf("%lld", (long long)s.restarts);
	return json_sprintf("%lld (%s ago)", (long long)s.restarts,
	    sim_duration_since(s.last_restart, row->now_us, age));
}

static json_t *
gates(const struct sim_table_row *row)
{
	const json_t *const list = sim_json_at(row->object, "spec.readinessGates");
	size_t i, open = 0;
	json_t *gate;

	json_array_foreach(list, i, gate)
		open += has_condition(row->object, sim_json_text(gate, "conditionType"), "True");
	if (json_array_size(list) == 0)
		return json_string("<none>");
	return json_sprintf("%zu/%zu", open, json_array_size(list));
}

static struct pod_summary
summarise(const json_t *pod)
{
	const char *const phase = sim_json_text_at(pod, "status.phase");
	const char *const why = sim_json_text_at(pod, "status.reason");
	struct pod_summary s = { .last_restart = "",
		.total = (int64_t)json_array_size(sim_json_at(pod, "spec.containers")) };
	size_t i;
	json_t *c;

	snprintf(s.reason, sizeof(s.reason), "%s", why[0] != '\0' ? why : phase);
	c = sim_json_find(sim_json_at(pod, "status.conditions"), "type", "PodScheduled");
	if (strcmp(sim_json_text(c, "reason"), "SchedulingGated") == 0)
		snprintf(s.reason, sizeof(s.reason), "SchedulingGated");
	json_array_foreach(sim_json_at(pod, "spec.initContainers"), i, c)
		s.total += strcmp(sim_json_text(c, "restartPolicy"), "Always") == 0;
	if (!initialising(pod, &s) || has_condition(pod, "Initialized", "True"))
		check_containers(pod, &s);
	if (sim_json_at(pod, "metadata.deletionTimestamp") == NULL)
		return s;
	if (strcmp(why, "NodeLost") == 0)
		snprintf(s.reason, sizeof(s.reason), "Unknown");
	else if (strcmp(phase, "Failed") != 0 && strcmp(phase, "Succeeded") != 0)
		snprintf(s.reason, sizeof(s.reason), "Terminating");
	return s;
}

/* True while an init container is still at work or has failed; see the reason. */
static bool
initialising(const json_t *pod, struct pod_summary *s)
{
	const json_t *const statuses = sim_json_at(pod, "status.initContainerStatuses");
	struct pod_summary sidecars = *s;
	size_t i;
	json_t *c;

	json_array_foreach(statuses, i, c) {
		const json_t *const ended = sim_json_at(c, "state.terminated");
		const char *const waiting = sim_json_text_at(c, "state.waiting.reason");
		const bool sidecar = is_sidecar(pod, sim_json_text(c, "name"));

		note_restarts(c, s);
		if (sidecar)
			note_restarts(c, &sidecars);
		if (ended != NULL && sim_json_int_at(ended, "exitCode", 0) == 0)
			continue;
		if (sidecar && json_is_true(json_object_get(c, "started"))) {
			s->ready += json_is_true(json_object_get(c, "ready"));
			continue;
		}
		if (ended != NULL)
			describe_terminated(ended, "Init:", s->reason);
		else if (waiting[0] != '\0' && strcmp(waiting, "PodInitializing") != 0)
			snprintf(s->reason, sizeof(s->reason), "Init:%s", waiting);
		else
			snprintf(s->reason, sizeof(s->reason), "Init:%zu/%zu", i,
			    json_array_size(sim_json_at(pod, "spec.initContainers")));
		return true;
	}
	/* Once all have run only those that keep running count. */
	s->restarts = sidecars.restarts;
	s->last_restart = sidecars.last_restart;
	return false;
}

static void
check_containers(const json_t *pod, struct pod_summary *s)
{
	const json_t *const statuses = sim_json_at(pod, "status.containerStatuses");
	char error[REASON_MAX] = "";
	bool running = false;

	for (size_t i = json_array_size(statuses); i-- > 0;) {
		const json_t *const c = json_array_get(statuses, i);
		const json_t *const ended = sim_json_at(c, "state.terminated");
		const char *const waiting = sim_json_text_at(c, "state.waiting.reason");

		note_restarts(c, s);
		if (waiting[0] != '\0') {
			snprintf(s->reason, sizeof(s->reason), "%s", waiting);
		} else if (ended != NULL) {
			describe_terminated(ended, "", s->reason);
			if (sim_json_int_at(ended, "exitCode", 0) != 0)
				memcpy(error, s->reason, sizeof(error));
		} else if (json_is_true(json_object_get(c, "ready"))
		    && sim_json_at(c, "state.running") != NULL) {
			running = true;
			s->ready++;
		}
	}
	if (strcmp(s->reason, "Completed") != 0)
		return;
	if (running && has_condition(pod, "Ready", "True"))
		snprintf(s->reason, sizeof(s->reason), "Running");
	else if (error[0] != '\0')
		memcpy(s->reason, error, sizeof(error));
	else if (running)
		snprintf(s->reason, sizeof(s->reason), "NotReady");
}

static void
note_restarts(const json_t *container, struct pod_summary *s)
{
	const char *const at = sim_json_text_at(container, "lastState.terminated.finishedAt");

	s->restarts += sim_json_int_at(container, "restartCount", 0);
	if (strcmp(at, s->last_restart) > 0)
		s->last_restart = at;
}

static void
describe_terminated(const json_t *ended, const char *prefix, char *reason)
{
	const char *const why = sim_json_text(ended, "reason");
	const int64_t signal = sim_json_int_at(ended, "signal", 0);

	if (why[0] != '\0')
		snprintf(reason, REASON_MAX, "%s%s", prefix, why);
	else if (signal != 0)
		snprintf(reason, REASON_MAX, "%sSignal:%lld", prefix, (long long)signal);
	else
		snprintf(reason, REASON_MAX, "%sExitCode:%lld", prefix,
		    (long long)sim_json_int_at(ended, "exitCode", 0));
}

static bool
has_condition(const json_t *pod, const char *type, const char *wanted)
{
	const json_t *const c = sim_json_find(sim_json_at(pod, "status.conditions"), "type", type);

	return strcmp(sim_json_text(c, "status"), wanted) == 0;
}

static bool
is_sidecar(const json_t *pod, const char *name)
{
	const json_t *const c = sim_json_find(sim_json_at(pod, "spec.initContainers"), "name", name);

	return strcmp(sim_json_text(c, "restartPolicy"), "Always") == 0;
}
