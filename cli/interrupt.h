/*
 * cli/interrupt.h - when a command that repeats must end: Ctrl-C, SIGTERM, or its output has no reader
 * any more.
 */
#ifndef MUSTER_INTERRUPT_H
#define MUSTER_INTERRUPT_H

#include <stdbool.h>

/* From now on these signals only set a flag, and SIGPIPE does not kill. */
void interrupt_catch(void);
bool interrupt_caught(void);
/* Waits for at most wait_ms; true: end now. */
bool interrupt_wait(int output_fd, int wait_ms);

#endif
