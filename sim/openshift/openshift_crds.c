/* sim/openshift/openshift_crds.c - sim/openshift/openshift_crds.yaml, put in by CMake. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "openshift_private.h"
#include "sim/base/sim_json.h"
#include "sim/base/sim_yaml.h"
#include "sim/cluster/sim_controllers.h"
#include "sim/kube/discovery/sim_registry.h"
#include "sim/kube/store/sim_objects.h"

static const char crds[] = {
#include "openshift_crds.inc"
};

static bool is_served(const struct simulator *, const json_t *);

bool
openshift_crds_install(struct simulator *s, char *err, size_t size)
{
	const struct sim_resource *const r =
	    sim_registry_find(s->registry, "apiextensions.k8s.io", "v1", "customresourcedefinitions");
	json_auto_t *all = sim_yaml_parse_all(crds, sizeof(crds), err, size);
	bool fine = all != NULL;
	size_t i;
	json_t *crd;

	json_array_foreach(all, i, crd)
		fine = fine && (is_served(s, crd) || sim_object_create(s, r, crd, err, size) != NULL);
	sim_controllers_run(s->controllers);
	return fine;
}

static bool
is_served(const struct simulator *s, const json_t *crd)
{
	return sim_registry_kind(s->registry, sim_json_text_at(crd, "spec.group"),
		   sim_json_text_at(crd, "spec.names.kind"))
	    != NULL;
}
