/*
 * cli/quit.h - when a command that goes on and on should end: Ctrl-C, SIGTERM, or nobody reads its
 * output any more.
 */
#ifndef MUSTER_QUIT_H
#define MUSTER_QUIT_H

#include <stdbool.h>

/* From now on these signals are only noted, and SIGPIPE does not kill. */
void quit_catch(void);
bool quit_caught(void);
/* Waits, but not longer than that; true: end now. */
bool quit_wanted(int output_fd, int wait_ms);

#endif
