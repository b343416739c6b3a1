/*
 * sim/openshift/openshift_release.h - what the cluster should run: the ClusterVersion and the
 * MachineConfigs.
 */
#ifndef MUSTER_OPENSHIFT_RELEASE_H
#define MUSTER_OPENSHIFT_RELEASE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_GROUP	"config.openshift.io"

enum { CONFIG_NAME_MAX = 320 };

/* The ClusterVersion of a cluster that was installed with that version. */
json_t *openshift_version_new(const char *version, const char *now);
/* An update begins: Partial, newest first. What was Partial before ends so. */
void openshift_version_begin(json_t *cv, const char *version, const char *now);
/* history[0] is Completed from now on; false: it was already. */
bool openshift_version_finish(json_t *cv, const char *now);

/* "rendered-worker-<32 digits>": another one for each serial. */
const char *openshift_config_rendered_name(const char *pool, uint64_t serial, char buf[CONFIG_NAME_MAX]);
json_t *openshift_config_rendered(const char *name, const char *version);
/* The i-th of those that a rendered config of that role is made of; NULL: there are no more. */
json_t *openshift_config_source(const char *role, size_t i);

#endif
