/*
 * sim/openshift/openshift_crds.h - the definitions of the OpenShift kinds, which the program
 * carries with it.
 */
#ifndef MUSTER_OPENSHIFT_CRDS_H
#define MUSTER_OPENSHIFT_CRDS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/sim.h"

/* Those that are not served yet are, when it returns. False with a text in err. */
bool openshift_crds_install(struct simulator *s, char *err, size_t size);

#endif
