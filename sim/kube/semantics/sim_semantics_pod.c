/*
 * sim/kube/semantics/sim_semantics_pod.c - the rules of Pods, as far as a cluster without kubelets
 * needs them.
 *
 * Checked: that there are containers, their names and images, and that an update changes only what
 * may change. What the real server checks beyond that (volumes, probes, security) is let through.
 */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_field_errors.h"
#include "sim_semantics_rules.h"

static const char *const container_lists[] = { "initContainers", "containers", "ephemeralContainers" };

static void complete_container(json_t *container);
static void complete_volume(json_t *volume);
static void tolerate(json_t *spec, const char *key);
static const char *qos_of(const json_t *spec);
static void check_containers(json_t *errors, const json_t *spec);
static void check_unchanged(json_t *errors, const json_t *spec, const json_t *before);
static json_t *comparable(const json_t *spec);

void
sim_pod_complete(json_t *object)
{
	json_t *spec = json_object_get(object, "spec"), *item;
	size_t i;

	for (size_t k = 0; k < NITEMS(container_lists); k++)
		json_array_foreach(json_object_get(spec, container_lists[k]), i, item)
			complete_container(item);
	json_array_foreach(json_object_get(spec, "volumes"), i, item)
		complete_volume(item);
	/* The old name and the new one are one. */
	if (json_object_get(spec, "serviceAccountName") == NULL && json_object_get(spec,
	    "serviceAccount") != NULL)
		json_object_set(spec, "serviceAccountName", json_object_get(spec, "serviceAccount"));
	if (json_object_get(spec, "serviceAccountName") != NULL)
		json_object_set(spec, "serviceAccount", json_object_get(spec, "serviceAccountName"));
}

/* Of a new Pod: its first status, and what admission adds (priority, tolerations for dead nodes). */
void
sim_pod_prepare(const struct sim_write_params *a, json_t *object, const json_t *old)
{
	json_t *spec = sim_json_branch(object, "spec"), *status;

	if (old != NULL) {
		status = json_object_get(object, "status");
		if (strcmp(a->subresource, "status") == 0) {
			take_member(sim_metadata_of(object), meta_of(old), "ownerReferences");
			if (json_object_get(status, "qosClass") == NULL)
				take_member(status, json_object_get(old, "status"), "qosClass");
		}
		return;
	}
	json_object_set_new(object, "status", json_pack("{s:s, s:s}", "phase", "Pending", "qosClass",
	    qos_of(spec)));
	if (json_object_get(spec, "priority") == NULL)
		json_object_set_new(spec, "priority", json_integer(0));
	if (json_object_get(spec, "preemptionPolicy") == NULL)
		json_object_set_new(spec, "preemptionPolicy", json_string("PreemptLowerPriority"));
	tolerate(spec, "node.kubernetes.io/not-ready");
	tolerate(spec, "node.kubernetes.io/unreachable");
}

void
sim_pod_check(json_t *errors, const struct sim_write_params *a, const json_t *object, const json_t *old)
{
	const json_t *spec = json_object_get(object, "spec");

	if (strcmp(a->subresource, "status") == 0)
		return;
	check_containers(errors, spec);
	if (old != NULL)
		check_unchanged(errors, spec, json_object_get(old, "spec"));
}

static void
complete_container(json_t *container)
{
	const char *image = sim_json_text(container, "image"), *slash = strrchr(image, '/');
	const char *tag = strrchr(slash == NULL ? image : slash, ':');
	const bool latest = strchr(image, '@') == NULL && (tag == NULL || strcmp(tag, ":latest") == 0);
	json_t *resources = json_object_get(container, "resources"), *limits = json_object_get(resources,
	    "limits"), *value;
	const char *key;

	if (json_object_get(container, "imagePullPolicy") == NULL)
		json_object_set_new(container, "imagePullPolicy",
		    json_string(latest ? "Always" : "IfNotPresent"));
	JSON_EACH(limits, key, value)
		if (json_object_get(sim_json_branch(resources, "requests"), key) == NULL)
			json_object_set(sim_json_branch(resources, "requests"), key, value);
}

/* A volume that has nothing but a name is an empty directory. */
static void
complete_volume(json_t *volume)
{
	if (json_object_size(volume) == 1 && json_object_get(volume, "name") != NULL)
		json_object_set_new(volume, "emptyDir", json_object());
}

static void
tolerate(json_t *spec, const char *key)
{
	size_t i;
	json_t *toleration;

	json_array_foreach(sim_json_list(spec, "tolerations"), i, toleration) {
		const char *effect = sim_json_text(toleration, "effect");

		if ((strcmp(sim_json_text(toleration, "key"), key) == 0
		    || *sim_json_text(toleration, "key") == '\0')
		    && (strcmp(effect, "NoExecute") == 0 || *effect == '\0'))
			return;
	}
	json_array_append_new(json_object_get(spec, "tolerations"),
	    json_pack("{s:s, s:s, s:s, s:i}", "key", key, "operator", "Exists", "effect", "NoExecute",
	    "tolerationSeconds", 300));
}

static const char *
qos_of(const json_t *spec)
{
	static const char *const needed[] = { "cpu", "memory" };
	bool any = false, all = true;
	size_t i;
	json_t *container;

	json_array_foreach(json_object_get(spec, "containers"), i, container) {
		const json_t *limits = sim_json_at(container, "resources.limits"),
		    *requests = sim_json_at(container, "resources.requests");

		for (size_t k = 0; k < NITEMS(needed); k++) {
			any = any || json_object_get(limits, needed[k]) != NULL
			    || json_object_get(requests, needed[k]) != NULL;
			all = all && json_object_get(limits, needed[k]) != NULL
			    && same_member(limits, requests, needed[k]);
		}
	}
	return !any ? "BestEffort" : all ? "Guaranteed" : "Burstable";
}

static void
check_containers(json_t *errors, const json_t *spec)
{
	const json_t *containers = json_object_get(spec, "containers");
	size_t i;
	json_t *container;

	if (json_array_size(containers) == 0)
		sim_field_error(errors, FIELD_REQUIRED, "spec.containers", NULL, "%s", "");
	json_array_foreach(containers, i, container) {
		const char *name = sim_json_text(container, "name");
		char field[64];

		snprintf(field, sizeof(field), "spec.containers[%zu].name", i);
		if (*name == '\0')
			sim_field_error(errors, FIELD_REQUIRED, field, NULL, "%s", "");
		else
			sim_name_check(errors, field, name, NAME_LABEL, false);
		for (size_t k = 0; k < i; k++)
			if (same_member(json_array_get(containers, k), container, "name"))
				sim_field_error_text(errors, FIELD_DUPLICATE, field, name, "%s", "");
		snprintf(field, sizeof(field), "spec.containers[%zu].image", i);
		if (*sim_json_text(container, "image") == '\0')
			sim_field_error(errors, FIELD_REQUIRED, field, NULL, "%s", "");
	}
}

/* The real server adds a diff of its inner form to the text. */
static void
check_unchanged(json_t *errors, const json_t *spec, const json_t *before)
{
	json_auto_t *now = comparable(spec), *then = comparable(before);

	if (!json_equal(now, then))
		sim_field_error(errors, FIELD_FORBIDDEN, "spec", NULL,
		    "pod updates may not change fields other than `spec.containers[*].image`,"
		    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
		    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
		    "set to 1 if it was previously negative)");
}

/* The spec without what may change. */
static json_t *
comparable(const json_t *spec)
{
	json_t *copy = json_deep_copy(spec), *container;
	size_t i;

	json_object_del(copy, "activeDeadlineSeconds");
	json_object_del(copy, "tolerations");
	for (size_t k = 0; k < NITEMS(container_lists); k++)
		json_array_foreach(json_object_get(copy, container_lists[k]), i, container)
			json_object_del(container, "image");
	return copy;
}
