/*
 * supervisor/settings_check.h - what an enabled actor cannot start without: settings without a
 * default that could work, and settings of which exactly one is set.
 */
#ifndef MUSTER_SETTINGS_CHECK_H
#define MUSTER_SETTINGS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

/* enabled: mask of roles. False: err has the file, the line, the actor, what is wrong and what to do. */
bool settings_check(const struct config *c, uint64_t enabled, char *err, size_t size);

#endif
