/*
 * cli/ask.h - one question to musterd, one answer (supervisor/control.h).
 *
 * The answer comes from another process: it is bounded in size and time, and nothing of it is believed here.
 */
#ifndef MUSTER_ASK_H
#define MUSTER_ASK_H

#include <stddef.h>

#include "actors/metrics/roster.h"
#include "cli.h"

enum { ASK_TIMEOUT_MS = 5000, ASK_ANSWER_MAX = 1024 * 1024, ASK_WHY_MAX = 512 };

/* The answer line without its newline, allocated; NULL with the reason and what to do about it in why. */
char *ask(const char *run_dir, const char *request, char why[ASK_WHY_MAX]);
/* Asks for the status and reads it. *answer, when wanted, is the line as it came (allocated). */
struct roster *ask_status(const char *run_dir, char **answer, char why[ASK_WHY_MAX]);
/* Asks, and tells on stderr when that fails or the answer is an error: the whole of a small command. */
int ask_order(const struct command *c, const struct cli *cli, const char *request);

#endif
