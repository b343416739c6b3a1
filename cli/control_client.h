/*
 * cli/control_client.h - sends one request to musterd and reads one answer (supervisor/control.c).
 *
 * The answer comes from another process: it is bounded in size and time, and checked where it is parsed.
 */
#ifndef MUSTER_CONTROL_CLIENT_H
#define MUSTER_CONTROL_CLIENT_H

#include <stddef.h>

#include "tree_status.h"
#include "cli.h"

enum { CONTROL_TIMEOUT_MS = 5000, CONTROL_ANSWER_MAX = 1024 * 1024, CONTROL_WHY_MAX = 512 };

/* The answer line without its newline, allocated; NULL with the reason and what to do about it in why. */
char *control_request(const char *run_dir, const char *request, char why[CONTROL_WHY_MAX]);
/* Requests and parses the status. *answer, unless NULL, is the line as received (allocated). */
struct tree_status *control_status(const char *run_dir, char **answer, char why[CONTROL_WHY_MAX]);
/* Sends a request; an error, of the request or in the answer, is printed. Returns the exit code. */
int control_command(const struct command *c, const struct cli *cli, const char *request);

#endif
