/* sim/access.h - a kubeconfig for this server. */
#ifndef MUSTER_SIM_ACCESS_H
#define MUSTER_SIM_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "auth.h"
#include "options.h"

/* Written whole or not at all. False with a text in err. */
bool access_write(const struct options *o, const struct auth *a, const char *url, char *err, size_t size);

#endif
