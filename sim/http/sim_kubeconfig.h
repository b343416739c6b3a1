/* sim/http/sim_kubeconfig.h - a kubeconfig for this server. */
#ifndef MUSTER_SIM_KUBECONFIG_H
#define MUSTER_SIM_KUBECONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "sim_auth.h"
#include "sim/sim_options.h"

/* Written whole or not at all. False with a text in err. */
bool sim_kubeconfig_write(const struct sim_options *o, const struct sim_auth *a, const char *url,
    char *err, size_t size);

#endif
