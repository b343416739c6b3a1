/* sim/openshift/openshift_release.c - ClusterVersion and MachineConfigs. */
#include "openshift_release.h"

#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "openshift_node.h"
#include "random.h"
#include "sim/base/sim_json.h"

/* The role stands between. Only rendered configs have a version. */
static const struct {
	const char	*before, *after;
} sources[] = { { "00-", "" }, { "01-", "-kubelet" }, { "99-", "-ssh" } };

static json_t *history_entry(const char *, const char *, bool);
static json_t *image_of(const char *);
static void set_conditions(json_t *, bool, const char *);

json_t *
openshift_version_new(const char *version, const char *now)
{
	json_t *const cv = json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s}, s:{s:{s:s, s:o}, s:[o], s:i, s:s}}",
	    "apiVersion", CONFIG_GROUP "/v1", "kind", "ClusterVersion", "metadata", "name", "version",
	    "spec", "clusterID", "5e1f2a90-0000-4000-8000-51a0c1d57e20", "channel", "stable-sim", "status",
	    "desired", "version", version, "image", image_of(version), "history",
	    history_entry(version, now, true), "observedGeneration", 1, "versionHash", "sim");

	MUST(cv != NULL);
	set_conditions(cv, false, now);
	return cv;
}

void
openshift_version_begin(json_t *cv, const char *version, const char *now)
{
	json_t *const status = sim_json_branch(cv, "status");
	json_t *const history = json_object_get(status, "history");
	json_t *const last = json_array_get(history, 0);

	if (json_is_null(json_object_get(last, "completionTime")))
		json_object_set_new(last, "completionTime", json_string(now));
	json_array_insert_new(history, 0, history_entry(version, now, false));
	json_object_set_new(
	    status, "desired", json_pack("{s:s, s:o}", "version", version, "image", image_of(version)));
	json_object_set_new(sim_json_branch(cv, "spec"), "desiredUpdate",
	    json_pack("{s:s, s:o}", "version", version, "image", image_of(version)));
	set_conditions(cv, true, now);
}

bool
openshift_version_finish(json_t *cv, const char *now)
{
	json_t *const last = json_array_get(sim_json_at(cv, "status.history"), 0);

	if (last == NULL || strcmp(sim_json_text(last, "state"), "Completed") == 0)
		return false;
	json_object_set_new(last, "state", json_string("Completed"));
	json_object_set_new(last, "completionTime", json_string(now));
	set_conditions(cv, false, now);
	return true;
}

const char *
openshift_config_rendered_name(const char *pool, uint64_t serial, char buf[CONFIG_NAME_MAX])
{
	uint64_t seed = serial;

	for (const char *p = pool; *p != '\0'; p++)
		seed = seed * 131 + (unsigned char)*p;
	const uint64_t high = random_next(&seed), low = random_next(&seed);
	snprintf(buf, CONFIG_NAME_MAX, "rendered-%.253s-%016llx%016llx", pool, (unsigned long long)high,
	    (unsigned long long)low);
	return buf;
}

json_t *
openshift_config_rendered(const char *name, const char *version)
{
	json_t *const config = json_pack(
	    "{s:s, s:s, s:{s:s, s:{s:s, s:s}}, s:{s:o, s:s, s:b, s:[], s:{s:{s:s}}}}", "apiVersion",
	    MCO_GROUP "/v1", "kind", "MachineConfig", "metadata", "name", name, "annotations",
	    MCO_KEY("release-image-version"), version, MCO_KEY("generated-by-controller-version"),
	    "5157a2d1c0ffee00", "spec", "osImageURL", image_of(version), "kernelType", "default",
	    "fips", 0, "kernelArguments", "config", "ignition", "version", "3.5.0");

	MUST(config != NULL);
	return config;
}

json_t *
openshift_config_source(const char *role, size_t i)
{
	char name[CONFIG_NAME_MAX];

	if (i >= NITEMS(sources))
		return NULL;
	snprintf(name, sizeof(name), "%s%.253s%s", sources[i].before, role, sources[i].after);
	json_t *const config = json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:{s:{s:s}}}}", "apiVersion",
	    MCO_GROUP "/v1", "kind", "MachineConfig", "metadata", "name", name, "labels", MCO_KEY("role"),
	    role, "spec", "config", "ignition", "version", "3.5.0");
	MUST(config != NULL);
	return config;
}

static json_t *
history_entry(const char *version, const char *now, bool completed)
{
	return json_pack("{s:s, s:s, s:o, s:s, s:o, s:b}", "state", completed ? "Completed" : "Partial",
	    "startedTime", now, "completionTime", completed ? json_string(now) : json_null(), "version",
	    version, "image", image_of(version), "verified", 1);
}

static json_t *
image_of(const char *version)
{
	return json_sprintf("registry.sim.internal/release:%s", version);
}

static void
set_conditions(json_t *cv, bool progressing, const char *now)
{
	const char *const version = sim_json_text_at(cv, "status.desired.version");

	json_object_set_new(sim_json_branch(cv, "status"), "conditions",
	    json_pack("[{s:s, s:s, s:s, s:s, s:o}, {s:s, s:s, s:s}, {s:s, s:s, s:s, s:o}]",
		"type", "Available", "status", "True", "lastTransitionTime",
		sim_json_text_at(json_array_get(sim_json_at(cv, "status.history"), 0),
		    "startedTime"), "reason",
		"Done", "message", json_sprintf("Serving %s", version),
		"type", "Failing", "status", "False", "lastTransitionTime", now,
		"type", "Progressing", "status", progressing ? "True" : "False", "lastTransitionTime", now,
		"message", progressing ? json_sprintf("Working towards %s", version)
				       : json_sprintf("Cluster version is %s", version)));
}
